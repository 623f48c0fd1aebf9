"""The benchmark of the service measures what it says: its load is answered, and what wrk prints is
read right."""

from pathlib import Path

import pytest

import roughly
from bench import serve
from bench.load import own_load, read_wrk, run_load
from bench.report import failures
from tests.optional import FULL

WRK = """\
Running 2s test @ http://127.0.0.1:8091/
  1 threads and 16 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     5.61ms    9.83ms 101.32ms   92.47%
  Latency Distribution
     50%  950.00us
     75%    6.05ms
     90%   11.16ms
     99%    1.20s
  12345 requests in 2.50s, 1.61MB read
  Socket errors: connect 0, read 2, write 0, timeout 1
  Non-2xx or 3xx responses: 5
Requests/sec:   4937.12
"""


def test_what_wrk_prints() -> None:
    found = read_wrk(WRK)
    assert (found.requests, found.seconds, found.rate) == (12345, 2.5, 4938.0)
    assert (found.median_ms, found.late_ms) == pytest.approx((0.95, 1200.0))
    assert found.failed == 8


@pytest.mark.parametrize("run", [run_load, own_load] if FULL else [own_load])
def test_load_is_answered_half_of_it_known(run: object, tmp_path: Path) -> None:
    corpus = roughly.Corpus.create(tmp_path / "a.roughly")
    corpus.add([("https://example.com/", "one page, a few words")])
    known = [1, 1 << 40]
    with serve.serving(corpus.path, 1) as service:
        found = run(service.port, known, 1.0, 7)  # type: ignore[operator]
        new = service.counted("roughly_seen_new_total")
    assert found.requests > 20 and found.failed == 0
    assert abs(new - found.requests / 2) <= 18


@pytest.mark.skipif(not FULL, reason="takes half a minute")
def test_all_of_it(tmp_path: Path) -> None:
    corpus = tmp_path / "small.roughly"
    roughly.Corpus.create(corpus).add([("https://example.com/", "one page, a few words")])
    sections = [
        serve.run_single(corpus, 1, 1.0, 1),
        serve.run_batches(corpus, 20_000, 4, tmp_path),
    ]
    assert failures(sections) == []
