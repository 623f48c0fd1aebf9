"""The dedup rule against a plain greedy over exact sets of shingles, on small collections."""

import random
from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple
from unittest.mock import patch

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

import roughly
from roughly import Sketcher
from roughly.clustering.join import Join, MassRule
from roughly.deduplication import candidates
from roughly.verification import window
from tests.reference import measure, sketch
from tests.reference.shingle import shingles
from tests.reference.simhash import simhash
from tests.reference.token import words

SELECTIONS = ["all", "mod:2", "min:9", "adaptive:4", "adaptive:20", "adaptive:200"]
RATIOS = ["0.3", "0.5", "0.7", "0.75", "1"]


class Document(NamedTuple):
    id: str
    text: str
    date: str | None


class Removal(NamedTuple):
    removed: str
    kept: str
    kind: str
    resemblance: Fraction | None
    containment: Fraction | None
    distance: int | None = None  # for methods that look at simhashes


class Wanted(NamedTuple):
    """A condition on pairs of documents, in plain words."""

    method: str = "shingles"
    distance: int = 3
    size_ratio: Fraction | None = None
    category: Callable[[Document], str] | None = None


@st.composite
def corpora(draw: st.DrawFn) -> list[Document]:
    """Families of texts: bases of few words, and copies of them with some words changed, cut off or
    put in front, some in capitals; some without a word."""
    word = st.sampled_from("a b c d e f g h".split())
    bases = draw(st.lists(st.lists(word, max_size=14), min_size=1, max_size=3))
    texts: list[str] = []
    for _ in range(draw(st.integers(0, 9))):
        tokens = list(draw(st.sampled_from(bases)))
        change = draw(st.sampled_from(["none", "none", "word", "cut", "add", "capital", "point"]))
        if change == "word" and tokens:
            tokens[draw(st.integers(0, len(tokens) - 1))] = draw(word)
        elif change == "cut":
            tokens = tokens[draw(st.integers(0, 3)) :]
        elif change == "add":
            tokens = draw(st.lists(word, max_size=4)) + tokens
        text = " ".join(tokens)
        texts.append({"capital": text.upper(), "point": text + "."}.get(change, text))
    date = st.none() | st.sampled_from(["2024", "2024-05", "2025-01-01", "2026-11-15T08:30:00"])
    return [Document(f"{n:02}", text, draw(date)) for n, text in enumerate(texts)]


def keep_order(documents: list[Document], keep: str) -> list[int]:
    rows = range(len(documents))
    if keep == "longest":
        return sorted(rows, key=lambda n: -len(words(documents[n].text.encode(), "text")))
    if keep == "newest":
        newest = sorted({d.date or "" for d in documents}, reverse=True)
        return sorted(rows, key=lambda n: newest.index(documents[n].date or ""))
    return list(rows)


def greedy(
    documents: list[Document],
    parameters: sketch.Parameters,
    threshold: Fraction,
    contained: Fraction | None,
    keep: str,
    estimate: bool,
    known: int = 0,
    wanted: Wanted = Wanted(),  # noqa: B008
) -> list[Removal]:
    """The rule of docs/dedup.md, a document after the other. The first `known` are those of a
    corpus, which come before the others and stay."""
    tenth = Fraction(1, 10)
    floor = threshold if estimate else max(threshold - tenth, threshold / 2)
    contained_floor = contained
    if contained is not None and not estimate:
        contained_floor = max(contained - tenth, contained / 2)
    data = [document.text.encode() for document in documents]
    tokens = [words(each, "text") for each in data]
    sets = [set(shingles(each, parameters.w)) for each in tokens]
    sketches = [sketch.sketch(each, parameters) for each in data]
    simhashes = [simhash(each) for each in tokens]

    def far(new: int, old: int) -> int | None:
        a, b = simhashes[new], simhashes[old]
        return None if a is None or b is None else (a ^ b).bit_count()

    def comparable(new: int, old: int) -> bool:
        if wanted.size_ratio is not None:
            sizes = sorted((len(sets[new]), len(sets[old])))
            if sizes[0] < wanted.size_ratio * sizes[1]:
                return False
        bits = far(new, old)
        return wanted.method == "shingles" or (bits is not None and bits <= wanted.distance)

    def pair(new: int, old: int) -> tuple[Fraction, Fraction | None] | None:
        """Resemblance, and containment of new in old, if the sketches call for them."""
        if not sketches[new].values or not sketches[old].values:
            return None
        r = measure.estimate_resemblance(sketches[new], sketches[old])
        c = back = None
        if parameters.select != "min":
            c = measure.estimate_containment(sketches[new], sketches[old])
            back = measure.estimate_containment(sketches[old], sketches[new])
        likely = r is not None and r >= floor
        if contained_floor is not None:
            likely |= max(c or 0, back or 0) >= contained_floor
        if not likely:
            return None
        if estimate:
            return r or Fraction(0), c
        return measure.resemblance(sets[new], sets[old]), measure.containment(sets[new], sets[old])

    kept: list[int] = []
    removals: dict[int, Removal] = {}
    kept += keep_order(documents[:known], keep)
    for new in (known + row for row in keep_order(documents[known:], keep)):
        best: tuple[Any, ...] | None = None
        for old in kept:
            if wanted.category and wanted.category(documents[new]) != wanted.category(
                documents[old]
            ):
                continue
            if not tokens[new] or not tokens[old]:
                if data[new] == data[old] and best is None:
                    best = 2, Fraction(1), old, "identical", Fraction(1), Fraction(1)
                continue
            if tokens[new] == tokens[old]:
                kind = "identical" if data[new] == data[old] else "lexical"
                if best is None or best[0] < 2:
                    best = 2, Fraction(1), old, kind, Fraction(1), Fraction(1)
                continue
            if not comparable(new, old):
                continue
            if wanted.method == "simhash":
                # The shares are no reason but evidence, by sketches.
                r = measure.estimate_resemblance(sketches[new], sketches[old])
                c = measure.estimate_containment(sketches[new], sketches[old])
                reason = 1, -(far(new, old) or 0), old, "near", r, c
                if best is None or reason[:2] > best[:2]:
                    best = reason
                continue
            found = pair(new, old)
            if found is None:
                continue
            r, c = found
            if r >= threshold:
                reason = 1, r, old, "shingle" if r == 1 else "near", r, c
            elif contained is not None and c is not None and c >= contained:
                reason = 0, c, old, "contained", r, c
            else:
                continue
            if best is None or reason[:2] > best[:2]:
                best = reason
        if best is None:
            kept.append(new)
        else:
            _, _, old, kind, r, c = best
            bits = None if wanted.method == "shingles" else far(new, old)
            removals[new] = Removal(documents[new].id, documents[old].id, kind, r, c, bits)
    return [removals[row] for row in sorted(removals)]


def found_by(result: roughly.Deduplicated) -> list[Removal]:
    def ratio(value: float | None) -> Fraction | None:
        return None if value is None else Fraction(value).limit_denominator(10**6)

    return [
        Removal(
            row["removed"],
            row["kept"],
            row["kind"],
            ratio(row["resemblance"]),
            ratio(row["containment"]),
            row.get("distance"),
        )
        for row in result.removals().to_pylist()
    ]


def given_as(documents: list[Document]) -> Any:
    if not documents:
        return pa.table({"id": pa.array([], pa.string()), "text": pa.array([], pa.string())})
    return [document._asdict() for document in documents]


@given(
    corpora(),
    st.sampled_from(SELECTIONS),
    st.sampled_from(RATIOS),
    st.none() | st.sampled_from(RATIOS),
    st.sampled_from(["first", "longest", "newest"]),
    st.booleans(),
    st.integers(1, 3),
    st.sampled_from([1, 40, 1 << 25]),
    st.sampled_from([1, 2, 5]),
    st.sampled_from([MassRule(), MassRule(2, 1, 1), MassRule(2, 8, 4), MassRule(1, 2, 1)]),
)
def test_the_rule(
    documents: list[Document],
    select: str,
    threshold: str,
    contained: str | None,
    keep: str,
    estimate: bool,
    threads: int,
    window_bytes: int,
    w: int,
    mass: MassRule,
) -> None:
    check(documents, select, threshold, contained, keep, estimate, threads, window_bytes, w, mass)


def mass(seed: int) -> list[Document]:
    """Documents around one text, more or less like it and each other, many of them twice."""
    chance = random.Random(seed)
    base = [f"w{n}" for n in range(chance.choice([10, 24, 40]))]
    texts: list[str] = []
    for number in range(chance.randint(5, 30)):
        if texts and chance.random() < 0.4:
            texts.append(chance.choice(texts))
            continue
        share = chance.choice([0.6, 0.75, 0.9])
        own = [f"o{number}x{n}" for n in range(chance.randint(0, 6))]
        texts.append(" ".join([word for word in base if chance.random() < share] + own))
    return [Document(f"{n:02}", text, None) for n, text in enumerate(texts)]


@given(
    st.integers(0, 2**32).map(mass),
    st.sampled_from(["all", "mod:2", "adaptive:4", "adaptive:10"]),
    st.sampled_from(["0.4", "0.5", "0.6", "0.7"]),
    st.none() | st.sampled_from(["0.6", "0.8"]),
    st.sampled_from(["first", "longest"]),
    st.booleans(),
    st.sampled_from([MassRule(), MassRule(2, 1, 1), MassRule(2, 8, 4)]),
)
def test_the_rule_in_masses(
    documents: list[Document],
    select: str,
    threshold: str,
    contained: str | None,
    keep: str,
    estimate: bool,
    mass: MassRule,
) -> None:
    check(documents, select, threshold, contained, keep, estimate, 2, 100, 1, mass)


def check(
    documents: list[Document],
    select: str,
    threshold: str,
    contained: str | None,
    keep: str,
    estimate: bool,
    threads: int,
    window_bytes: int,
    w: int,
    mass: MassRule,
) -> None:
    if select.startswith("min"):
        contained = None
    name, _, number = select.partition(":")
    parameters = sketch.Parameters(w, 64, name, int(number or 0), 0)  # type: ignore[arg-type]
    least = None if contained is None else Fraction(contained)
    expected = greedy(documents, parameters, Fraction(threshold), least, keep, estimate)
    with (
        patch.object(window, "WINDOW_BYTES", window_bytes),
        patch.object(candidates, "MASS", mass),
        patch.object(Join, "seems_massed", return_value=True),
    ):
        result = roughly.dedup(
            given_as(documents),
            float(threshold),
            keep=keep,
            containment=None if contained is None else float(contained),
            estimate=estimate,
            sketcher=Sketcher(w=w, select=select),
            content_type="text",
            threads=threads,
        )
    found = found_by(result)
    if name == "min" and estimate:
        # What a sample cannot tell is left open, unless the documents are equivalent.
        known = {"identical", "lexical"}
        assert all((f.containment is None) == (f.kind not in known) for f in found)
        expected = [e._replace(containment=None) for e in expected]
        found = [f._replace(containment=None) for f in found]
    assert found == expected
    gone = {removal.removed for removal in expected}
    assert list(result) == [d.id for d in documents if d.id not in gone]
    assert result.stays.tolist() == [d.id not in gone for d in documents]
    assert (len(result), result.documents) == (len(documents) - len(gone), len(documents))
    assert sum(result.counts.values()) == result.removed == len(gone)
