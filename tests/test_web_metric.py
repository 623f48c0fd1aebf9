"""What the service counts, of many processes in one file."""

from __future__ import annotations

from pathlib import Path

from roughly.web.metric import Metrics


def test_a_process_that_starts_leaves_the_requests_of_others_in_flight(tmp_path: Path) -> None:
    first = Metrics(("/a",), tmp_path / "metrics", rows=2)
    first.use_row(0)
    first.begin()
    second = Metrics(("/a",), tmp_path / "metrics", rows=2)
    second.use_row(1)
    second.begin()
    assert "roughly_requests_in_flight 2\n" in second.text()
    first.end(first.routes["/a"], 200, 0.001)
    assert "roughly_requests_in_flight 1\n" in second.text()
    assert 'roughly_requests_total{route="/a",status="200"} 1\n' in second.text()


def test_who_takes_the_row_of_a_killed_process_has_nothing_in_flight(tmp_path: Path) -> None:
    killed = Metrics(("/a",), tmp_path / "metrics", rows=2)
    killed.use_row(1)
    killed.begin()
    killed.end(killed.routes["/a"], 200, 0.001)
    killed.begin()
    next_one = Metrics(("/a",), tmp_path / "metrics", rows=2)
    next_one.use_row(1)
    assert "roughly_requests_in_flight 0\n" in next_one.text()
    assert 'roughly_requests_total{route="/a",status="200"} 1\n' in next_one.text()
