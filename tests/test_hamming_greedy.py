"""The dedup rule for values within k bits of one another, against the rule written down plainly."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from roughly import _core

pytestmark = pytest.mark.core

# Values that are near one another, and far ones.
values = st.lists(
    st.tuples(
        st.builds(
            lambda base, flips: base ^ sum(1 << bit for bit in flips),
            st.sampled_from([0, (1 << 64) - 1, 0x0123456789ABCDEF]),
            st.sets(st.integers(0, 63), max_size=6),
        ),
        st.integers(0, 12),
    ),
    max_size=30,
)


@given(
    values,
    st.integers(0, 10),
    st.integers(0, 11),
    st.none() | st.sampled_from([Fraction(1), Fraction(2, 3), Fraction(1, 10)]),
    st.integers(0, 30),
    st.integers(1, 30),
    st.sampled_from(["plain", ""]),
)
def test_who_stays(
    rows: list[tuple[int, int]],
    k: int,
    blocks: int,
    ratio: Fraction | None,
    pinned: int,
    step: int,
    simd: str,
) -> None:
    kept: list[int] = []
    expected = []
    for number, (value, size) in enumerate(rows):
        found = []
        for old in kept:
            other, other_size = rows[old]
            alike = ratio is None or min(size, other_size) >= ratio * max(size, other_size)
            if alike and (value ^ other).bit_count() <= k:
                found.append(((value ^ other).bit_count(), old))
        if number < pinned or not found:
            kept.append(number)
        if number >= pinned:
            expected.append(min(found) if found else (65, -1))

    limits = (0, 0) if ratio is None else ratio.as_integer_ratio()
    greedy = _core.HammingGreedy(k, 1 + min(blocks, k), len(rows), limits, simd)
    simhash = np.array([value for value, _ in rows], np.uint64)
    size = np.array([size for _, size in rows], np.uint32)
    greedy.keep(simhash[:pinned], size[:pinned])
    answers = []
    for begin in range(pinned, len(rows), step):
        part = slice(begin, begin + step)
        position, nearest, distance = greedy.take(simhash[part], size[part])
        for where, value, far in zip(position, nearest, distance, strict=True):
            assert where < 0 or value == simhash[where]
            answers.append((int(far), int(where)))
    assert answers == expected


def test_a_mass_is_held_once() -> None:
    """All values within two bits of the first: one stays, whatever their number."""
    base = np.uint64(0x0F0F0F0F0F0F0F0F)
    flips = np.array([0, *(1 << a | 1 << b for a in range(64) for b in range(a, 64))], np.uint64)
    some = np.resize(base ^ flips, 100_000)
    greedy = _core.HammingGreedy(3, 2, len(some))
    position, _, _ = greedy.take(some, np.ones(len(some), np.uint32))
    assert position[0] == -1 and not position[1:].any()


def test_columns_that_do_not_belong_together() -> None:
    greedy = _core.HammingGreedy(3, 2, 10)
    one, two = np.zeros(1, np.uint64), np.zeros(2, np.uint32)
    for call in (greedy.keep, greedy.take):
        with pytest.raises(ValueError, match="greedy: columns that do not belong together"):
            call(one, two)
