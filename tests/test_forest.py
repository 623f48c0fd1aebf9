"""Forests and clusters against plain graph search."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from roughly import _core
from roughly.clustering.forest import forest_links

pytestmark = pytest.mark.core

Pair = tuple[int, int, int, int]

N = 9
pairs = st.dictionaries(
    st.tuples(st.integers(0, N - 1), st.integers(0, N - 1)).filter(lambda p: p[0] < p[1]),
    st.tuples(st.integers(0, 6), st.integers(1, 6)).map(lambda p: (min(p), max(p))),
).map(lambda found: sorted((a, b, x, n) for (a, b), (x, n) in found.items()))


def table(rows: list[Pair]) -> np.ndarray:
    return np.array(rows, dtype=np.uint32).reshape(-1, 4)


def forest(rows: list[Pair]) -> list[Pair]:
    return [tuple(map(int, row)) for row in _core.spanning_forest(table(rows), N)]  # type: ignore[misc]


def reachable(rows: list[Pair], threshold: Fraction) -> list[int]:
    """The smallest document that can be reached from each, by search."""
    links = [(a, b) for a, b, x, n in rows if Fraction(x, n) >= threshold]
    first = []
    for start in range(N):
        seen, todo = {start}, [start]
        while todo:
            at = todo.pop()
            for a, b in links:
                other = b if a == at else a if b == at else at
                if other not in seen:
                    seen.add(other)
                    todo.append(other)
        first.append(min(seen))
    return first


@given(pairs, st.fractions(Fraction(1, 10), 1, max_denominator=10))
def test_the_forest_has_the_clusters_of_all_pairs(rows: list[Pair], threshold: Fraction) -> None:
    links = forest(rows)
    ratio = (threshold.numerator, threshold.denominator)
    assert set(links) <= set(rows)
    assert _core.components(table(links), N, *ratio).tolist() == reachable(rows, threshold)
    assert _core.components(table(rows), N, *ratio).tolist() == reachable(rows, threshold)


@given(pairs)
def test_the_forest_has_no_circle_and_is_ordered(rows: list[Pair]) -> None:
    links = forest(rows)
    assert len(links) == N - len(set(reachable(rows, Fraction(0))))
    keys = [(-Fraction(x, n), a, b) for a, b, x, n in links]
    assert keys == sorted(keys)


@given(pairs, st.randoms(use_true_random=False))
def test_the_order_of_pairs_does_not_matter(rows: list[Pair], rng: object) -> None:
    shuffled = list(rows)
    rng.shuffle(shuffled)  # type: ignore[attr-defined]
    assert forest(shuffled) == forest(rows)


@given(pairs, st.integers(1, 4), st.sampled_from([1, 200, 1 << 20]))
def test_pairs_in_files_are_taken_a_range_at_a_time(
    rows: list[Pair], at_once: int, room: int
) -> None:
    """However little room there is, equal weights included: the same links in the same order."""
    tables = [table(rows[n : n + at_once]) for n in range(0, len(rows), at_once)]
    found = [row for links in forest_links(lambda: tables, N, room) for row in links.tolist()]
    assert list(map(tuple, found)) == forest(rows)


@given(pairs)
def test_documents_that_were_put_together(rows: list[Pair]) -> None:
    sets = _core.DocumentSets(N)
    for row in rows:
        sets.add(table([row]))
    assert sets.first().tolist() == reachable(rows, Fraction(0))


@given(pairs, pairs)
def test_the_forest_of_a_union_is_that_of_the_forests(one: list[Pair], two: list[Pair]) -> None:
    known = {row[:2] for row in one}
    two = [row for row in two if row[:2] not in known]
    assert forest(one + two) == forest(forest(one) + forest(two))


def test_ties_go_to_the_first_pair() -> None:
    """A triangle of equal weights, written as different fractions: the last pair is left out."""
    assert forest([(0, 1, 1, 2), (0, 2, 2, 4), (1, 2, 3, 6)]) == [(0, 1, 1, 2), (0, 2, 2, 4)]


def test_a_document_beyond_the_last() -> None:
    with pytest.raises(ValueError, match="beyond the last"):
        _core.spanning_forest(table([(0, N, 1, 2)]), N)


@given(pairs, st.fractions(Fraction(1, 10), 1, max_denominator=10))
def test_stars_never_chain(rows: list[Pair], threshold: Fraction) -> None:
    weight = {(a, b): Fraction(x, n) for a, b, x, n in rows}
    wanted: list[int] = []
    for b in range(N):
        centres = [
            (-weight[a, b], a)
            for a in range(b)
            if wanted[a] == a and weight.get((a, b), 0) >= threshold
        ]
        wanted.append(min(centres)[1] if centres else b)
    ratio = (threshold.numerator, threshold.denominator)
    assert _core.stars(table(rows), N, *ratio).tolist() == wanted
