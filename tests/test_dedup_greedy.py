"""The greedy kernel on random pairs, against the rule written down plainly."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from roughly import _core

pytestmark = pytest.mark.core

UNDECIDED, KEPT, REMOVED = range(3)
NONE = 2**64 - 1


@st.composite
def graphs(draw: st.DrawFn) -> tuple[int, list[tuple[int, int, int, int, int]]]:
    """Documents, and pairs a < b with common shingles and the sizes of both."""
    count = draw(st.integers(0, 8))
    numbers = [(a, b) for b in range(count) for a in range(b)]
    chosen = draw(st.lists(st.sampled_from(numbers), unique=True)) if numbers else []
    pairs = []
    for a, b in draw(st.permutations(chosen)):
        common = draw(st.integers(0, 6))
        pairs.append(
            (a, b, common, common + draw(st.integers(0, 3)), common + draw(st.integers(0, 3)))
        )
    return count, pairs


@given(
    graphs(),
    st.sampled_from([Fraction(1, 2), Fraction(7, 10), Fraction(1)]),
    st.none() | st.sampled_from([Fraction(2, 3), Fraction(1)]),
    st.sampled_from([0.0, 1.0, 3.5]),
    st.data(),
)
def test_fates_and_reasons(
    graph: tuple[int, list[tuple[int, int, int, int, int]]],
    threshold: Fraction,
    containment: Fraction | None,
    errors: float,
    data: st.DataObject,
) -> None:
    count, pairs = graph
    table = np.array(
        [(a, b, common, x + y - common) for a, b, common, x, y in pairs], np.uint32
    ).reshape(-1, 4)
    parts = np.array([(x, y) for _, _, _, x, y in pairs], np.uint32).reshape(-1, 2)
    place = np.arange(count, dtype=np.uint32) * 2
    limits = (
        (threshold.numerator, threshold.denominator),
        (0, 0) if containment is None else (containment.numerator, containment.denominator),
        errors,
    )

    def reason(new: int, kept: list[int]) -> tuple[int, bool, int] | None:
        """The best of the kept documents: its pair, whether by containment only, itself."""
        found = []
        for number, (a, b, common, x, y) in enumerate(pairs):
            if new not in (a, b):
                continue
            old, own = (a, y) if new == b else (b, x)
            if old not in kept:
                continue
            union = x + y - common
            near = Fraction(common, union) if union else Fraction(0)
            share = Fraction(common, own) if own else Fraction(0)
            if union == 0 or near >= threshold:
                # Two empty sets are as alike as can be; documents without a shingle have no pairs.
                found.append((1, near, -old, number))
            elif containment is not None and share >= containment:
                found.append((0, share, -old, number))
        if not found:
            return None
        kind, _, old, number = max(found)
        return number, kind == 0, -old

    if any(x + y - common == 0 for _, _, common, x, y in pairs):
        return
    kept: list[int] = []
    expected = []
    for new in range(count):
        expected.append(KEPT if reason(new, kept) is None else REMOVED)
        if expected[-1] == KEPT:
            kept.append(new)

    # At first some pairs are estimates, which say something else, and too little by so many
    # standard errors and one element at most.
    exact = np.array([data.draw(st.booleans()) for _ in pairs], np.uint8)
    shown = table.copy()
    for number in np.flatnonzero(exact == 0).tolist():
        common, union = table[number, 2:].tolist()
        ratio = max(common / max(union, 1), 0.5)
        error = errors * math.sqrt(ratio * (1 - ratio) * union) + 1
        least = max(0, math.ceil(common - error))
        shown[number, 2] = data.draw(st.integers(least, union))
    last = np.full(count, 2 * count, np.uint32)
    reasons = False
    for _ in range(2 * len(pairs) + 3):
        fate, wanted, likely = _core.greedy_decide(
            shown, exact, parts, place, last, *limits, reasons
        )
        for found, right in zip(fate.tolist(), expected, strict=True):
            assert found in (right, UNDECIDED), "no guess decides"
        if not len(wanted):
            assert fate.tolist() == expected
            if reasons:
                break
            reasons = True  # who goes is known: now for why
            continue
        for some in (wanted, likely):
            assert (exact[some] == 0).all() and (np.diff(some.astype(np.int64)) > 0).all()
        assert not np.intersect1d(wanted, likely).size
        # Whether likely ones are counted, too, decides nothing.
        counted = wanted
        if len(likely):
            along = [data.draw(st.booleans()) for _ in likely]
            counted = np.concatenate((wanted, likely[np.array(along)]))
        exact[counted] = 1
        shown[counted] = table[counted]
    assert reasons and not len(wanted)
    assert fate.tolist() == expected

    gone = np.flatnonzero(fate == REMOVED).astype(np.uint32)
    columns = (shown, exact, parts, place, last, *limits)
    own = _core.greedy_reasons(*columns, fate, gone, place[gone])
    late = _core.greedy_reasons(*columns, fate, gone, np.full(len(gone), 2 * count, np.uint32))
    for document, (pair, contained), (later, later_contained) in zip(
        gone.tolist(), own.tolist(), late.tolist(), strict=True
    ):
        before = [old for old in kept if old < document]
        best = reason(document, before)
        assert best is not None and (pair, bool(contained)) == best[:2]
        best = reason(document, kept)
        assert best is not None and (later, bool(later_contained)) == best[:2]


def test_columns_that_do_not_belong_together() -> None:
    pairs = np.array([[0, 1, 1, 2]], np.uint32)
    exact, parts = np.ones(1, np.uint8), np.ones((1, 2), np.uint32)
    place, last = np.arange(2, dtype=np.uint32), np.arange(2, dtype=np.uint32)
    half, none, errors = (1, 2), (0, 0), 0.0
    columns = (pairs, exact, parts, place, last, half, none, errors)
    fate, wanted, likely = _core.greedy_decide(*columns, reasons=True)
    assert (fate.tolist(), wanted.tolist(), likely.tolist()) == ([KEPT, REMOVED], [], [])
    for wrong in (
        (pairs[:, [1, 0, 2, 3]].copy(), exact, parts, place, last),
        (pairs + np.uint32(1), exact, parts, place, last),
        (pairs, exact[:0], parts, place, last),
        (pairs, exact, parts, place, last[:1]),
    ):
        with pytest.raises(ValueError, match="candidates: columns that do not belong together"):
            _core.greedy_decide(*wrong, half, none, errors, True)  # type: ignore[call-arg]
    with pytest.raises(ValueError, match="candidates: columns"):
        _core.greedy_decide(pairs, exact, parts[:0], place, last, half, half, errors, True)
    with pytest.raises(ValueError, match="documents: beyond the last one"):
        _core.greedy_reasons(*columns, fate, np.array([2], np.uint32), place[:1])
    far = _core.greedy_reasons(*columns, fate, np.array([1], np.uint32), np.zeros(1, np.uint32))
    assert far.tolist() == [[NONE, 0]], "nobody comes before the first place"


def test_documents_with_pairs_are_numbered_anew() -> None:
    random = np.random.default_rng(7)
    for count in (2, 64, 65, 1000):
        ends = np.sort(random.integers(0, count, (count // 2 + 1, 2)), axis=1)
        pairs = np.column_stack((ends, random.integers(0, 9, ends.shape))).astype(np.uint32)
        made = np.zeros_like(pairs)
        documents = _core.number_anew(pairs, count, made)
        wanted, numbers = np.unique(ends, return_inverse=True)
        assert documents.tolist() == wanted.tolist()
        assert made[:, :2].tolist() == numbers.reshape(ends.shape).tolist()
        assert made[:, 2:].tolist() == pairs[:, 2:].tolist()
    with pytest.raises(ValueError, match="below the count"):
        _core.number_anew(pairs, int(ends.max()), made)
    with pytest.raises(ValueError, match="room"):
        _core.number_anew(pairs, count, made[1:])
    with pytest.raises(TypeError):  # It would be written to a copy.
        _core.number_anew(pairs, count, made.astype(np.int64))
    assert len(_core.number_anew(pairs[:0], count, made[:0])) == 0
