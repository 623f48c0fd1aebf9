"""Deduplication by simhashes, by both methods, and of comparable documents only: against the plain
rule on small collections, within one and against a corpus."""

import contextlib
import random
import tempfile
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import roughly
from roughly import Simhasher, Sketcher
from roughly.clustering.join import Join, MassRule
from roughly.clustering.settings import settings_for
from roughly.condition import make_condition
from roughly.corpus import Corpus, create_corpus
from roughly.deduplication import candidates, simhash_decision, simhash_join
from roughly.documents import open_documents
from tests.optional import FULL
from tests.reference import sketch
from tests.test_dedup import RATIOS, Document, Wanted, corpora, found_by, greedy, mass

HOSTS = ["", "http://a.example/", "http://b.example/", "https://A.example:8080/x?"]
LANGUAGES = [None, "en", "de"]
# So many partners in the corpus that none is dropped.
ALL = 1000


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


@contextlib.contextmanager
def work(small: bool, masses: MassRule, best: int = 8) -> Iterator[None]:
    """How the work is divided: results must not depend on that."""
    with contextlib.ExitStack() as stack:
        for module, name, value in (
            (simhash_join, "_DOCUMENTS", 3),
            (simhash_join, "_PAIRS", 4),
            (simhash_join, "_MEASURED_PAIRS", 2),
            (simhash_decision, "_STEP", 2),
        ):
            if small:
                stack.enter_context(patch.object(module, name, value))
        stack.enter_context(patch.object(candidates, "MASS", masses))
        stack.enter_context(patch.object(Join, "seems_massed", return_value=True))
        stack.enter_context(patch.object(candidates, "_BEST", best))
        yield


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
    small: bool,
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
    with work(small, masses):
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
    st.booleans(),
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
    small: bool,
) -> None:
    check(documents, select, threshold, contained, keep, estimate, w, masses, wanted, small)


@given(
    placed(st.integers(0, 2**32).map(mass)),
    st.sampled_from(["all", "mod:2", "adaptive:4", "adaptive:10"]),
    st.sampled_from(["0.4", "0.5", "0.6", "0.7"]),
    st.none() | st.sampled_from(["0.6", "0.8"]),
    st.sampled_from(["first", "longest"]),
    st.booleans(),
    st.sampled_from([MassRule(), MassRule(2, 1, 1), MassRule(2, 8, 4)]),
    conditions,
    st.booleans(),
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
    small: bool,
) -> None:
    check(documents, select, threshold, contained, keep, estimate, 1, masses, wanted, small)


def turned(seed: int) -> list[Document]:
    """The same words in orders that have more or less in common: all of one simhash."""
    chance = random.Random(seed)
    words = [f"w{n}" for n in range(chance.choice([8, 16, 24]))]
    texts: list[list[str]] = [words]
    for _ in range(chance.randint(4, 25)):
        text = list(chance.choice(texts))
        for _ in range(chance.choice([0, 1, 1, 2, 6])):
            a, b, c = sorted(chance.randint(0, len(text)) for _ in range(3))
            text = text[:a] + text[b:c] + text[a:b] + text[c:]
        texts.append(text)
    return [Document(f"{n:02}", " ".join(text), None) for n, text in enumerate(texts)]


@given(
    placed(st.integers(0, 2**32).map(turned)),
    st.sampled_from(["all", "adaptive:4", "adaptive:10"]),
    st.sampled_from(["0.4", "0.6", "0.8"]),
    st.none() | st.sampled_from(["0.6", "0.8"]),
    st.sampled_from(["first", "longest"]),
    st.booleans(),
    st.sampled_from([MassRule(), MassRule(2, 1, 1)]),
    conditions,
    st.booleans(),
)
def test_the_rule_for_one_simhash(
    documents: list[Document],
    select: str,
    threshold: str,
    contained: str | None,
    keep: str,
    estimate: bool,
    masses: MassRule,
    wanted: Wanted,
    small: bool,
) -> None:
    check(documents, select, threshold, contained, keep, estimate, 2, masses, wanted, small)


@contextlib.contextmanager
def corpus_of(
    documents: list[Document], sketcher: Sketcher, wanted: Wanted, text: bool = True
) -> Iterator[Corpus]:
    within = wanted.category and wanted.category.__name__
    method: Any = wanted.method
    condition = make_condition(method, None, wanted.size_ratio, within)
    threshold = None if method == "simhash" else "0.5"
    with tempfile.TemporaryDirectory() as folder:
        yield create_corpus(
            open_documents(
                given_with(documents) or empty_table(),
                content_type="text",
                category_field=condition.category_field,
            ),
            sketcher,
            settings_for(sketcher.parameters, threshold, condition=condition),
            Path(folder) / "c.roughly",
            text=text,
            memory_bytes=1 << 22,
            threads=1,
        )


def empty_table() -> pa.Table:
    return pa.table({name: pa.array([], pa.string()) for name in ("id", "text", "language")})


@settings(max_examples=300 if FULL else 15)
@given(
    placed(st.integers(0, 2**32).map(mass) | corpora()),
    st.integers(0, 30),
    st.sampled_from(["all", "mod:2", "adaptive:4", "adaptive:200"]),
    st.sampled_from(["0.4", "0.6", "0.75"]),
    st.none() | st.sampled_from(["0.6", "0.8"]),
    st.sampled_from(["first", "longest", "newest"]),
    st.booleans(),
    st.sampled_from([(MassRule(), ALL), (MassRule(2, 1, 1), 1)]),
    conditions,
    st.booleans(),
)
def test_the_rule_against_a_corpus(
    documents: list[Document],
    cut: int,
    select: str,
    threshold: str,
    contained: str | None,
    keep: str,
    estimate: bool,
    division: tuple[MassRule, int],
    wanted: Wanted,
    small: bool,
) -> None:
    # An id with a sign in front is no URL, so the signs stand behind.
    known = [each._replace(id=each.id + "-k") for each in documents[:cut]]
    new = [each._replace(id=each.id + "-n") for each in documents[cut:]]
    name, _, number = select.partition(":")
    parameters = sketch.Parameters(1, 64, name, int(number or 0), 0)  # type: ignore[arg-type]
    alone = wanted.method == "simhash"
    least = None if contained is None or alone else Fraction(contained)
    rules = (parameters, Fraction(threshold), least, keep, estimate)
    expected = greedy(known + new, *rules, known=len(known), wanted=wanted)
    shares: dict[str, Any] = {}
    if not alone:
        shares = {"threshold": threshold, "containment": least, "estimate": estimate}
    masses, best = division
    with (
        corpus_of(known, Sketcher(w=1, select=select), wanted) as corpus,
        work(small, masses, best),
    ):
        result = roughly.dedup(
            given_with(new) or empty_table(),
            keep=keep,
            against=corpus,
            content_type="text",
            **shares,
            **options(wanted),
        )
        found = found_by(result)
        assert result.same_site + result.cross_site <= result.removed
    assert [each.removed for each in found] == [each.removed for each in expected]
    if alone or best == ALL:
        assert found == expected
        return
    # The first good reason in the corpus will do, if it is one.
    by_id = {document.id: document for document in known + new}
    for removal in found:
        pair = [by_id[removal.kept], by_id[removal.removed]]
        assert [removal] == greedy(pair, *rules, known=1, wanted=wanted)


@pytest.mark.parametrize("kind", ["template", "shuffled", "near"])
def test_no_square_of_pairs_is_measured(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages of one template whose simhashes are far apart; of the same words in other orders; and
    all but the same ones."""
    count, chance = 1500, random.Random(2)
    words = [f"w{n}" for n in range(200)]

    def text() -> str:
        if kind == "template":
            return " ".join(words + [f"x{chance.randrange(10**6)}" for _ in range(50)])
        if kind == "shuffled":
            return " ".join(chance.sample(words, len(words)))
        return " ".join([*words, f"x{chance.randrange(10**6)}"])

    texts = [text() for _ in range(count)]
    measured = 0
    real = simhash_join.SimhashJoin.measure

    def measure(self: simhash_join.SimhashJoin, how: Any, pairs: Any) -> Any:
        nonlocal measured
        measured += len(pairs)
        return real(self, how, pairs)

    monkeypatch.setattr(simhash_join.SimhashJoin, "measure", measure)
    monkeypatch.setattr(simhash_join, "_MEASURED_PAIRS", 10_000)
    result = roughly.dedup(texts, 0.5, method="both")
    assert measured < 40 * count  # a thirtieth of the square, at most
    simhashes = [Simhasher().simhash(each) for each in texts]
    kept = [simhash for simhash, stays in zip(simhashes, result.stays, strict=True) if stays]
    if kind == "shuffled":
        assert len(set(simhashes)) == 1 and len(kept) == count
        return
    # All resemble one another, so the rule is that of the simhashes.
    expected: list[int] = []
    for simhash in simhashes:
        assert simhash is not None
        if all((simhash ^ other).bit_count() > 3 for other in expected):
            expected.append(simhash)
    assert kept == expected
