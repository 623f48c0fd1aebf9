"""The masses of alike documents are as alike as they are said to be."""

from itertools import combinations
from pathlib import Path

import pytest

import roughly
from bench import mass
from bench.report import failures
from bench.shingle import shingles, words_fastest
from tests.optional import FULL


def texts(kind: mass.Kind, documents: int) -> list[str]:
    found = mass.batches(kind, documents)
    return [content.decode() for batch in found for content in batch["content"].to_pylist()]


@pytest.mark.parametrize(("name", "common", "union"), [("alike", 160, 200), ("template", 108, 240)])
def test_any_two_resemble_exactly(name: str, common: int, union: int) -> None:
    documents = texts(mass.KINDS[name], 30)
    assert {roughly.resemblance(a, b, w=5) for a, b in combinations(documents, 2)} == {
        common / union
    }
    for a, b in combinations(documents[:5], 2):
        one, two = set(shingles(words_fastest(a))), set(shingles(words_fastest(b)))
        assert (len(one & two), len(one | two)) == (common, union)
        assert len(one) < 200  # sketches of adaptive:200 are whole


def test_unrelated_ones_share_nothing_and_have_the_same_sizes() -> None:
    sets = [set(shingles(words_fastest(text))) for text in texts(mass.UNRELATED, 40)]
    assert [len(found) for found in sets[:4]] == [180, 174, 180, 174]
    assert not any(one & two for one, two in combinations(sets, 2))


def test_documents_do_not_depend_on_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    before = {name: texts(kind, 50) for name, kind in mass.KINDS.items()}
    monkeypatch.setattr(mass, "BATCH_ROWS", 7)
    assert before == {name: texts(kind, 50) for name, kind in mass.KINDS.items()}


@pytest.mark.parametrize("name", mass.KINDS)
def test_clusters(name: str, tmp_path: Path) -> None:
    found = mass.cluster(tmp_path, name, 300)
    assert mass.check_clusters(mass.KINDS[name], found).passed
    other = {"alike": mass.TEMPLATE, "template": mass.ALIKE, "unrelated": mass.ALIKE}[name]
    assert not mass.check_clusters(other, found).passed


@pytest.mark.skipif(not FULL, reason="starts processes that take seconds")
def test_the_run(tmp_path: Path) -> None:
    section = mass.run(500, tmp_path)
    assert not failures([section])
    assert [result.wanted for result in section.results] == [3, None, 3, 20, None, 1.05]
    assert not list(tmp_path.iterdir())
