"""Signatures lose no pair that reaches a threshold, and tell nearly all others apart."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from roughly import Sketcher
from roughly.spark.mass import _DOCUMENT
from roughly.spark.signature import may_resemble, signatures

COUNT = 48


def sketch(elements: set[int], level: int) -> list[int]:
    return sorted(e for e in elements if e % (1 << level) == 0)


def documents(seed: int, sizes: tuple[int, int]) -> tuple[list[set[int]], list[int], Any]:
    """Some that resemble an earlier one to any degree, or have all of it, at levels 0 to 3, and
    their records."""
    random = np.random.default_rng(seed)
    sets: list[set[int]] = []
    for number in range(COUNT):
        size = int(random.integers(*sizes))
        fresh = set(random.integers(0, 2**63, size).tolist())
        if number % 4:
            common = list(sets[int(random.integers(len(sets)))])
            most = len(common) if number % 4 == 1 else int(random.integers(len(common) + 1))
            taken = common[:most]
            fresh = set(taken) | set(list(fresh)[: len(common) - most])
        sets.append(fresh)
    levels = random.integers(0, 4, COUNT).tolist()
    kept = [sketch(s, level) for s, level in zip(sets, levels, strict=True)]
    offsets = np.cumsum([0, *map(len, kept)])
    values = np.array([e for some in kept for e in some], np.uint64)
    records = np.zeros(COUNT, _DOCUMENT)
    records["kept"], records["level"] = np.diff(offsets), levels
    records["signature"], records["upper"] = signatures(values, offsets, np.array(levels))
    return sets, levels, records


@pytest.mark.parametrize("sizes", [(1, 8), (20, 200), (300, 1500)])
@pytest.mark.parametrize("threshold", [Fraction(1, 2), Fraction(9, 10), Fraction(1)])
def test_no_pair_is_lost(sizes: tuple[int, int], threshold: Fraction) -> None:
    sets, levels, records = documents(sizes[0], sizes)
    a, b = np.triu_indices(COUNT, 1)
    passed = may_resemble(Sketcher().parameters, threshold, records[a], records[b])
    reached = []
    for one, other in zip(a.tolist(), b.tolist(), strict=True):
        level = max(levels[one], levels[other])
        x, y = set(sketch(sets[one], level)), set(sketch(sets[other], level))
        reached.append(bool(x | y) and len(x & y) >= threshold * len(x | y))
    assert sum(reached) > 0
    assert passed[reached].all()


def test_disjoint_ones_are_told_apart() -> None:
    """Of one level or of two that follow each other; not of others."""
    random = np.random.default_rng(1)
    levels = np.arange(60) % 3
    lengths = np.full(60, 300)
    values = np.sort(random.integers(0, 2**60, (60, 300)), axis=1).astype(np.uint64)
    values <<= levels.astype(np.uint64)[:, None]
    records = np.zeros(60, _DOCUMENT)
    records["kept"], records["level"] = lengths, levels
    offsets = np.arange(61) * 300
    records["signature"], records["upper"] = signatures(values.ravel(), offsets, levels)
    a, b = np.triu_indices(60, 1)
    passed = may_resemble(Sketcher().parameters, Fraction(1, 2), records[a], records[b])
    assert (passed == (np.abs(levels[a] - levels[b]) > 1)).all()


def test_every_element_turns_one_bit() -> None:
    """So two sets differ in as many bits at most as in elements, and in an odd number if those
    are odd."""
    values = np.array([5, 9, 5, 9, 12], np.uint64)
    folded, upper = signatures(values, np.array([0, 2, 5]), np.array([0, 0]))
    assert np.bitwise_count(folded[0] ^ folded[1]).sum() == 1
    assert upper.tolist() == [0, 1]
