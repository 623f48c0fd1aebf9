"""Removals are made by shingles alone: words of short documents change nothing, neither with a
sketcher that has them nor against a corpus whose sketches hold them."""

from fractions import Fraction
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import roughly
from roughly import Sketcher
from roughly.clustering.join import Join, MassRule
from roughly.deduplication import candidates
from roughly.storage.segment_writer import SegmentWriter
from tests.cluster_oracle import short_collections
from tests.optional import FULL
from tests.reference.sketch import Parameters
from tests.test_dedup import RATIOS, Document, found_by, given_as, greedy
from tests.test_dedup_against import ALL, corpus_of, named

documents = short_collections().map(
    lambda found: [Document(d["id"], d["text"], d["date"]) for d in found]
)
rules = st.tuples(
    st.sampled_from(RATIOS),
    st.none() | st.sampled_from(RATIOS),
    st.sampled_from(["first", "longest", "newest"]),
    st.booleans(),
)
Rule = tuple[str, str | None, str, bool]


def options(rule: Rule) -> dict[str, Any]:
    threshold, contained, keep, estimate = rule
    return {
        "threshold": float(threshold),
        "containment": None if contained is None else float(contained),
        "keep": keep,
        "estimate": estimate,
        "content_type": "text",
    }


@settings(max_examples=80 if FULL else 5)
@given(documents, rules, st.sampled_from([MassRule(), MassRule(2, 1, 1), MassRule(2, 8, 4)]))
def test_removals_do_not_depend_on_words(
    given_: list[Document], rule: Rule, masses: MassRule
) -> None:
    with (
        patch.object(candidates, "MASS", masses),
        patch.object(Join, "seems_massed", return_value=True),
    ):
        default, worded, bare = (
            found_by(roughly.dedup(given_as(given_), sketcher=sketcher, **options(rule)))
            for sketcher in (None, Sketcher(w=5, words=200), Sketcher(w=5))
        )
    assert default == worded == bare
    threshold, contained, keep, estimate = rule
    least = None if contained is None else Fraction(contained)
    parameters = Parameters(5, 64, "adaptive", 200, 0)
    assert bare == greedy(given_, parameters, Fraction(threshold), least, keep, estimate)


@settings(max_examples=60 if FULL else 3)
@given(
    documents,
    documents,
    rules,
    st.sampled_from([("adaptive:200", 200, 5), ("adaptive:20", 20, 2), ("all", 30, 2)]),
    st.booleans(),
    st.sampled_from([(4, 1 << 12), (1 << 12, 2), (1, 1)]),
)
def test_against_a_corpus_with_words(
    known: list[Document],
    new: list[Document],
    rule: Rule,
    sketching: tuple[str, int, int],
    mixed: bool,
    part_rows: tuple[int, int],
) -> None:
    """The plain rule on shingles, the documents of the corpus first."""
    select, words, w = sketching
    if mixed:
        new = new + [document._replace(id=f"x{document.id}") for document in known[::2]]
    known, new = named(known, "k"), named(new, "n")
    threshold, contained, keep, estimate = rule
    least = None if contained is None else Fraction(contained)
    name, _, number = select.partition(":")
    parameters = Parameters(w, 64, name, int(number or 0), 0)  # type: ignore[arg-type]
    expected = greedy(
        known + new, parameters, Fraction(threshold), least, keep, estimate, known=len(known)
    )
    with (
        corpus_of(known, Sketcher(w, select, words=words), part_rows=part_rows[0]) as corpus,
        patch.dict(SegmentWriter.__init__.__kwdefaults__, part_rows=part_rows[1]),
        patch.object(candidates, "_BEST", ALL),
    ):
        result = roughly.dedup(given_as(new), against=corpus, **options(rule))
        assert found_by(result) == expected
    gone = {removal.removed for removal in expected}
    assert list(result) == [document.id for document in new if document.id not in gone]


@pytest.mark.parametrize("estimate", [True, False])
def test_a_ring_of_middle_length(estimate: bool) -> None:
    """The same shingles from another beginning: other tokens, and so other words, are no matter."""
    tokens = [f"w{i}" for i in range(120)]
    ring = [*tokens[50:], *tokens[:54]]
    texts = [
        " ".join([*tokens, *tokens[:4]]),
        " ".join([*tokens[30:], *tokens[:34]]),
        " ".join(ring),
    ]
    sketches = [Sketcher().sketch(text, "text") for text in texts]
    assert len({each.size for each in sketches}) == 1 and sketches[0].words
    with corpus_of([Document("k", texts[0], None)], Sketcher()) as corpus:
        result = roughly.dedup(texts[1:], against=corpus, estimate=estimate)
        rows = result.removals().to_pylist()
    assert [(row["kept"], row["kind"], row["resemblance"]) for row in rows] == [
        ("k", "shingle", 1.0),
        ("k", "shingle", 1.0),
    ]


def test_headlines_stay() -> None:
    """Four of six words in common, and no shingle: near for a clustering, not for dedup."""
    texts = ["rain in the north today", "rain in the south today"]
    assert roughly.dedup(texts, 0.3).removed == 0
    assert roughly.cluster(texts, 0.5).sizes().tolist() == [2]
    with corpus_of([Document("k", texts[0], None)], Sketcher()) as corpus:
        assert roughly.dedup(texts[1:], 0.3, against=corpus).removed == 0
        assert roughly.dedup(texts[:1], 0.3, against=corpus).removed == 1
