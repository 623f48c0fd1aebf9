"""Deduplication by simhashes, by both methods, and of comparable documents only: against the plain
rule on small collections, within one and against a corpus."""

from fractions import Fraction
from typing import Any
from unittest.mock import patch

from hypothesis import given
from hypothesis import strategies as st

import roughly
from roughly import Sketcher
from roughly.clustering.join import MassRule
from roughly.deduplication import candidates
from tests.reference import sketch
from tests.test_dedup import RATIOS, Document, Wanted, corpora, found_by, greedy, mass

HOSTS = ["", "http://a.example/", "http://b.example/", "https://A.example:8080/x?"]
LANGUAGES = [None, "en", "de"]


def host(document: Document) -> str:
    """Of the ids made here."""
    return {"a": "a", "A": "a", "b": "b"}.get(document.id.partition("://")[2][:1], "")


def language(document: Document) -> str:
    """The field of documents that `given_with` makes."""
    return LANGUAGES[len(document.id) * 7 % 5 % 3] or ""


@st.composite
def placed(draw: st.DrawFn, source: st.SearchStrategy[list[Document]]) -> list[Document]:
    """Documents on some hosts."""
    return [
        document._replace(id=draw(st.sampled_from(HOSTS)) + document.id + draw(ends))
        for document in draw(source)
    ]


ends = st.sampled_from(["", "x", "xx", "xxx"])

conditions = st.builds(
    Wanted,
    st.sampled_from(["shingles", "both", "both", "simhash", "simhash"]),
    st.sampled_from([0, 1, 3, 6, 10]),
    st.none() | st.sampled_from([Fraction(1), Fraction(9, 10), Fraction(1, 2)]),
    st.sampled_from([None, None, host, language]),
)


def given_with(documents: list[Document]) -> list[dict[str, Any]]:
    return [{**each._asdict(), "language": language(each) or None} for each in documents]


def options(wanted: Wanted) -> dict[str, Any]:
    return {
        "method": wanted.method,
        "distance": None if wanted.method == "shingles" else wanted.distance,
        "size_ratio": wanted.size_ratio,
        "within": wanted.category and wanted.category.__name__,
    }


def check(
    documents: list[Document],
    select: str,
    threshold: str,
    contained: str | None,
    keep: str,
    estimate: bool,
    w: int,
    masses: MassRule,
    wanted: Wanted,
) -> None:
    name, _, number = select.partition(":")
    parameters = sketch.Parameters(w, 64, name, int(number or 0), 0)  # type: ignore[arg-type]
    alone = wanted.method == "simhash"
    least = None if contained is None or alone else Fraction(contained)
    expected = greedy(
        documents, parameters, Fraction(threshold), least, keep, estimate, wanted=wanted
    )
    shares: dict[str, Any] = {}
    if not alone:
        shares = {"threshold": threshold, "containment": least, "estimate": estimate}
    with patch.object(candidates, "MASS", masses):
        result = roughly.dedup(
            given_with(documents),
            keep=keep,
            sketcher=Sketcher(w=w, select=select),
            content_type="text",
            **shares,
            **options(wanted),
        )
    assert found_by(result) == expected
    assert sum(result.counts.values()) == result.removed
    by_id = {document.id: host(document) for document in documents}
    sites = [(by_id[each.removed], by_id[each.kept]) for each in expected]
    assert result.same_site == sum(a == b != "" for a, b in sites)
    assert result.cross_site == sum(a != b and "" not in (a, b) for a, b in sites)


@given(
    placed(corpora().filter(bool)),
    st.sampled_from(["all", "mod:2", "adaptive:4", "adaptive:200"]),
    st.sampled_from(RATIOS),
    st.none() | st.sampled_from(RATIOS),
    st.sampled_from(["first", "longest", "newest"]),
    st.booleans(),
    st.sampled_from([1, 2, 5]),
    st.sampled_from([MassRule(), MassRule(2, 1, 1), MassRule(1, 2, 1)]),
    conditions,
)
def test_the_rule(
    documents: list[Document],
    select: str,
    threshold: str,
    contained: str | None,
    keep: str,
    estimate: bool,
    w: int,
    masses: MassRule,
    wanted: Wanted,
) -> None:
    check(documents, select, threshold, contained, keep, estimate, w, masses, wanted)


@given(
    placed(st.integers(0, 2**32).map(mass)),
    st.sampled_from(["all", "mod:2", "adaptive:4", "adaptive:10"]),
    st.sampled_from(["0.4", "0.5", "0.6", "0.7"]),
    st.none() | st.sampled_from(["0.6", "0.8"]),
    st.sampled_from(["first", "longest"]),
    st.booleans(),
    st.sampled_from([MassRule(), MassRule(2, 1, 1), MassRule(2, 8, 4)]),
    conditions,
)
def test_the_rule_in_masses(
    documents: list[Document],
    select: str,
    threshold: str,
    contained: str | None,
    keep: str,
    estimate: bool,
    masses: MassRule,
    wanted: Wanted,
) -> None:
    check(documents, select, threshold, contained, keep, estimate, 1, masses, wanted)
