"""Clustering with words, against the brute-force oracle on random collections of short documents:
both floors, masses by rules of few documents, any memory and threads, and counted on the text."""

import tempfile
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import roughly
from roughly import Sketcher
from roughly.clustering.common import common_shingles
from roughly.clustering.join import MassRule
from roughly.clustering.outcome import Outcome
from roughly.clustering.settings import settings_for
from tests.cluster_oracle import Document, expect, short_collections
from tests.optional import FULL
from tests.test_cluster_run import (
    NO_MASSES,
    Way,
    assert_as_expected,
    assert_tables,
    rules,
    run,
    shares,
    ways,
)
from tests.test_join import pair_counts

some = settings(max_examples=80 if FULL else 8)

# select and words: all words of nearly all documents, of some, of hardly any.
sketchings = st.sampled_from(
    [
        ("all", 256),
        ("all", 40),
        ("all", 12),
        ("adaptive:20", 20),
        ("adaptive:20", 9),
        ("adaptive:60", 40),
        ("adaptive:200", 200),
    ]
)


@some
@given(
    short_collections(),
    sketchings,
    st.sampled_from([1, 2, 5]),
    st.tuples(shares, shares),
    st.one_of(st.none(), st.tuples(shares, shares)),
    rules,
    ways,
)
def test_clusters_are_those_of_brute_force(
    documents: list[Document],
    sketching: tuple[str, int],
    w: int,
    of_resemblance: tuple[Fraction, Fraction],
    of_containment: tuple[Fraction, Fraction] | None,
    rule: MassRule,
    way: Way,
) -> None:
    select, words = sketching
    sketcher = Sketcher(w, select, words=words)
    floor, threshold = sorted(of_resemblance)
    of_pairs: tuple[Any, Any] = (None, None)
    if of_containment:
        of_pairs = (max(of_containment), min(of_containment))
    wanted = replace(settings_for(sketcher.parameters, threshold, floor, *of_pairs), mass=rule)
    with tempfile.TemporaryDirectory() as directory:
        found = run(documents, sketcher, wanted, Path(directory), way)
        expected = expect(documents, sketcher, wanted)
        assert_as_expected(found, expected)
        for other in (floor, (floor + threshold) / 2, threshold, Fraction(1)):
            at = found.at(other, of_pairs[0])
            masses = rule != NO_MASSES
            assert list(at) == expected.clusters(other, of_pairs[0], masses)
            assert_tables(at, expected, documents)
        loaded = Outcome.load(Path(directory))
        assert_as_expected(replace(found, outcome=loaded), expected)


def complete(document: Document, sketcher: Sketcher, measure: str) -> set[int]:
    """All elements that count for a measure."""
    whole = Sketcher.of(sketcher.parameters, "all").sketch(document["text"], "text")
    values = set(whole.fingerprints.tolist())
    return {v for v in values if measure == "resemblance" or v < 1 << 63}


@settings(max_examples=60 if FULL else 4)
@given(short_collections(), sketchings, st.sampled_from([2, 5]), st.booleans())
def test_exact_pairs(
    documents: list[Document], sketching: tuple[str, int], w: int, contains: bool
) -> None:
    """Pairs that sketches found, counted with words or without on the text."""
    sketcher = Sketcher(w, sketching[0], words=sketching[1])
    options: dict[str, Any] = {"containment": 0.8} if contains else {}
    found, exact = (
        roughly.cluster(
            documents, 0.5, sketcher=sketcher, content_type="text", exact=counted, **options
        )
        for counted in (False, True)
    )
    by_id = {d["id"]: d for d in documents}

    def counts(row: dict[str, Any]) -> tuple[int, int]:
        measure = "resemblance" if row["containment"] is None else "containment"
        a, b = (complete(by_id[row[side]], sketcher, measure) for side in "ab")
        whole = len(a | b) if measure == "resemblance" else min(len(a), len(b))
        return len(a & b), whole

    wanted = set()
    for row in found.pairs().to_pylist():
        common, whole = counts(row)
        floor = Fraction(4, 10) if row["containment"] is None else Fraction(7, 10)
        if common >= floor * whole:
            wanted.add((row["a"], row["b"], row["containment"] is None, common, whole))
    rows = exact.pairs().to_pylist()
    assert all((r["common"], r["sampled"]) == counts(r) for r in rows)
    assert wanted <= {
        (r["a"], r["b"], r["containment"] is None, r["common"], r["sampled"]) for r in rows
    }


def shuffled(count: int) -> list[Document]:
    """Documents of the same twelve words, each in an order of its own: all words are common, and
    hardly any shingle of five."""
    words = [f"w{i}" for i in range(12)]
    return [
        {
            "id": f"{n:03}",
            "text": " ".join(words[(i * step + n) % 12] for i in range(12)),
            "date": None,
        }
        for n, step in ((n, (1, 5, 7, 11)[n % 4]) for n in range(count))
    ]


@pytest.mark.parametrize("threads", [1, 3])
def test_words_alone_make_a_cluster(threads: int) -> None:
    """Twelve words of 28 elements are common to all, and at least 12 / 28 is reached."""
    documents = shuffled(48)
    bare = roughly.cluster(documents, 0.4, sketcher=Sketcher(w=5), threads=threads)
    found = roughly.cluster(documents, 0.4, threads=threads)
    assert found.sizes().tolist() == [48]
    assert max(bare.sizes().tolist()) < 48
    batch = Sketcher().sketch_batch([d["text"] for d in documents], "text")
    place = {d["id"]: n for n, d in enumerate(documents)}
    for row in found.pairs().to_pylist():
        counted = pair_counts(batch, place[row["a"]], place[row["b"]], "resemblance")
        assert (row["common"], row["sampled"]) == counted


@pytest.mark.parametrize("threads", [1, 2])
def test_a_mass_of_words(threads: int) -> None:
    """By the real rule: 400 notices of one form, whose words are common and whose shingles are not.
    Of 20 shingles and 24 words 12 are those of the form: two of them have 12 of 76 in common."""
    documents = [
        {
            "id": f"{n:03}",
            "text": " ".join(word for i in range(12) for word in (f"form{i}", f"own{n}x{i}")),
        }
        for n in range(400)
    ]
    found = roughly.cluster(documents, 0.15, threads=threads)
    assert found.sizes().tolist() == [400]
    assert found.clusters()["mass"].to_pylist() == [True]
    links = found.outcome.links[:, 2:].tolist()
    assert {tuple(link) for link in links} == {(12, 20 + 24 + 20 + 24 - 12)}
    assert len(found.outcome.links) == 399


def test_common_shingles_are_no_words(tmp_path: Path) -> None:
    """Of shingles one is in all documents; of words five would be."""
    texts = [
        f"same five words all over {' '.join(f'{n}own{i}' for i in range(7))}" for n in range(9)
    ]
    corpus = roughly.Corpus.create(tmp_path / "c")
    corpus.add([{"id": str(n), "text": text} for n, text in enumerate(texts)])
    [most, *others] = common_shingles(corpus.clusters(), 20)
    assert (most.text, most.documents) == ("same five words all over", 9)
    assert not others  # a shingle of one document is not common


def test_little_memory(tmp_path: Path) -> None:
    """Many documents of words, from disk, as with plenty of room."""
    documents = [d | {"text": f"{d['text']} {n // 5}"} for n, d in enumerate(shuffled(60))]
    sketcher = Sketcher()
    wanted = settings_for(sketcher.parameters, "0.5", "0.3", "0.8", "0.4")
    tables = []
    for way in (Way(), Way(memory_bytes=1 << 14, threads=2, batch_rows=7, part_rows=4)):
        folder = tmp_path / str(len(tables))
        folder.mkdir()
        found = run(documents, sketcher, wanted, folder, way)
        pairs = found.pairs().sort_by([(n, "ascending") for n in ("a", "b", "containment")])
        tables.append((found.documents(), found.clusters(), pairs))
    assert tables[0] == tables[1]
    assert len(tables[0][2]) > 300
