"""Collections at the edge: nothing, one, a million of the same, only short or empty documents."""

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import roughly
from roughly import Sketcher
from roughly.corpus import Corpus
from tests.optional import FULL
from tests.test_corpus import make

MANY = 1_000_000 if FULL else 20_000


def named(texts: list[str]) -> list[dict[str, str]]:
    return [{"id": f"{n:04}", "text": text} for n, text in enumerate(texts)]


@pytest.mark.parametrize("texts", [[], ["one document alone"], [""], ["..."]])
@pytest.mark.parametrize("preset", [None, "broder97", "broder97-super"])
def test_none_or_one(texts: list[str], preset: str | None) -> None:
    found = roughly.cluster(named(texts), preset=preset)
    assert len(found) == 0 and list(found) == [] and found.pairs().num_rows == 0
    assert [row["kind"] for row in found.documents().to_pylist()] == [None] * len(texts)
    assert list(found.at(found.threshold, linkage="star")) == []
    assert found.clusters().num_rows == 0


def test_none_as_a_corpus(tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").write_text("")
    corpus = make(tmp_path / "in.jsonl", tmp_path / "c.roughly")
    assert corpus.verify() == [] and len(corpus) == 0
    found = Corpus(corpus.path).clusters(0.9)
    assert list(found) == [] and found.documents().num_rows == 0


def test_a_million_identical_ones() -> None:
    def texts() -> Iterator[dict[str, str]]:
        for number in range(MANY):
            yield {"id": f"{number:07}", "text": "the same few words for all of them to have"}

    found = roughly.cluster(texts(), memory="512M")
    assert found.clusters().to_pylist() == [
        {
            "cluster": 0,
            "representative": "0000000",
            "size": MANY,
            "weakest_link": 1.0,
            "smallest_resemblance": 1.0,
            "mass": False,
        }
    ]
    kinds = found.documents()["kind"].value_counts().to_pylist()
    assert sorted(kinds, key=lambda k: k["counts"]) == [
        {"values": None, "counts": 1},
        {"values": "identical", "counts": MANY - 1},
    ]
    (members,) = list(found)
    assert len(members) == MANY


def test_one_boilerplate_page() -> None:
    """400 pages of 300 words that share 200: 201 shingles of 5 less at the seam, of 300 each."""
    boilerplate = [f"b{i}" for i in range(200)]
    texts = [" ".join([*boilerplate, *(f"u{n}x{i}" for i in range(100))]) for n in range(400)]
    sketcher = Sketcher(select="all")
    share = 196 / (2 * 296 - 196)
    found = roughly.cluster(named(texts), 0.6, floor=0.55, sketcher=sketcher)
    assert share < 0.55 and list(found) == [] and found.pairs().num_rows == 0
    found = roughly.cluster(named(texts), 0.49, sketcher=sketcher)
    assert found.sizes().tolist() == [400]
    assert found.clusters()["weakest_link"].to_pylist() == [share]
    # A mass: as many links as it takes, and every pair that is written says so.
    pairs = found.pairs()
    assert pairs.num_rows == 399 and set(pairs["mass"].to_pylist()) == {True}


def test_only_short_documents() -> None:
    """Shorter than a shingle: all tokens are one, so they are equal or have nothing in common."""
    texts = ["a", "b", "a b", "A", "b a", "a b!", "a b c", "", "a"]
    found = roughly.cluster(named(texts), 0.1, sketcher=roughly.Sketcher(w=5))
    assert list(found) == [["0000", "0003", "0008"], ["0002", "0005"]]
    kinds = [row["kind"] for row in found.documents().to_pylist()]
    assert kinds == [None, None, None, "lexical", None, "lexical", None, None, "identical"]


def test_only_empty_documents() -> None:
    found = roughly.cluster(named(["", " ", "", "...", " "]), containment=0.9)
    assert found.sizes().tolist() == [5]
    kinds = [row["kind"] for row in found.documents().to_pylist()]
    assert kinds == [None, "empty", "identical", "empty", "empty"]
    assert found.pairs().num_rows == 0


ODD = ["a\tb", "\u2028", "\x00", "' OR 1=1 --", "../../etc", "\U0001f600" * 50, "é", "e\u0301", '"']


def test_odd_ids_come_back(tmp_path: Path) -> None:
    documents = [{"id": name, "text": "the same words for all of them"} for name in ODD]
    (tmp_path / "in.jsonl").write_text("".join(json.dumps(d) + "\n" for d in documents))
    corpus = make(tmp_path / "in.jsonl", tmp_path / "c.roughly")
    assert list(corpus.clusters()) == [sorted(ODD, key=str.encode)]


def test_dates_give_the_order() -> None:
    """The undated come first, then by date, then by id as bytes."""
    documents: list[dict[str, Any]] = [
        {"id": "a", "text": "x y z", "date": "2021-05-01"},
        {"id": "b", "text": "x y z", "date": "1999-12-31"},
        {"id": "d", "text": "x y z", "date": None},
        {"id": "Z", "text": "x y z", "date": "1999-12-31"},
        {"id": "c", "text": "x y z"},
    ]
    for seed in range(5):
        random.Random(seed).shuffle(documents)
        assert list(roughly.cluster(documents)) == [["c", "d", "Z", "b", "a"]]


def test_a_mass_with_all_thresholds() -> None:
    """300 documents that share 98 of 100 words: one cluster up to 98 / 102, then none."""
    texts = [" ".join([*(f"c{i}" for i in range(98)), f"u{n}", f"v{n}"]) for n in range(300)]
    found = roughly.cluster(named(texts), 0.5, sketcher=Sketcher(w=1, select="all"))
    for threshold, clusters in ((0.4, [300]), (0.96, [300]), (0.97, [])):
        assert found.at(threshold).sizes().tolist() == clusters
        assert found.at(threshold, linkage="star").sizes().tolist() == clusters
