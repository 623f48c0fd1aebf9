"""The benchmark of `find` measures what it says: its documents are alike where they should be, and
its queries find what they were made of."""

from itertools import combinations
from pathlib import Path

import pytest

import roughly
from bench import find, shingled_web, web
from bench.report import failures


def texts(first: int, rows: int) -> list[str]:
    batch = shingled_web.batch(3000, first, rows, 1)
    return [content.decode() for content in batch["content"].to_pylist()]


def test_documents_do_not_depend_on_batches() -> None:
    assert texts(0, 40) == [*texts(0, 13), *texts(13, 27)]


def test_what_is_shared_is_what_was_planned() -> None:
    """Documents of one content are the same; any other two share a notice and a site at most: five
    blocks of ten words of 33 or more."""
    found = web.places(3000, 0, 200)
    some = texts(0, 200)
    assert all(33 * 80 <= len(text) <= 90 * 80 for text in some)
    for a, b in combinations(range(200), 2):
        if found.content[a] == found.content[b]:
            assert some[a] == some[b]
        elif found.original[a] != found.original[b] and b < 40:
            assert roughly.resemblance(some[a], some[b], content_type="text") < 0.2


def test_queries_are_like_their_documents() -> None:
    stored = dict(
        zip(shingled_web.batch(300, 0, 300, 1)["id"].to_pylist(), range(300), strict=True)
    )
    for id, text in find.queries(300, 5):
        original = shingled_web.batch(300, stored[id], 1, 1)["content"][0].as_py().decode()
        assert 0.6 < roughly.resemblance(original, text, content_type="text") < 0.95


def test_it_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(find, "find_spec", lambda name: None)
    sections = find.run(600, 300, 10, tmp_path)
    assert [section.name for section in sections] == ["find"]
    assert not failures(sections)
