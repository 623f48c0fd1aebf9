"""What two sketches have in common, counted in blocks: every instruction set = Python's sets."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from roughly import _core
from tests.core import LEVELS

pytestmark = pytest.mark.core

LARGEST = (1 << 64) - 1
# Neighbours, so that blocks end at the same element or at one of either side, and extremes.
elements = st.one_of(st.integers(0, 60), st.integers(LARGEST - 9, LARGEST), st.integers(0, LARGEST))


def common(simd: str, sketches: list[set[int]]) -> list[int]:
    """Of each sketch and the next one."""
    ascending = [np.array(sorted(sketch), np.uint64) for sketch in sketches]
    sizes = np.array([len(sketch) for sketch in sketches], np.uint32)
    values = np.concatenate(ascending)
    offsets = np.append(0, np.cumsum(sizes)).astype(np.int64)
    rows = np.arange(len(sketches), dtype=np.uint32)
    chunk_rows = 1 << max(len(sketches) - 1, 0).bit_length()
    level = np.zeros(len(sketches), np.uint8)
    pairs = np.zeros((len(sketches) - 1, 4), np.uint32)
    pairs[:, 0], pairs[:, 1] = rows[:-1], rows[1:]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ROUGHLY_SIMD", simd)
        made = _core.SketchSet([(values, offsets)], chunk_rows, rows, sizes, level, 0)
    counted: list[int] = made.measure("resemblance", pairs, 1)[:, 2].tolist()
    return counted


@pytest.mark.parametrize("simd", LEVELS)
@given(st.lists(st.sets(elements, max_size=80), min_size=2, max_size=5))
def test_of_any_sketches(simd: str, sketches: list[set[int]]) -> None:
    wanted = [len(a & b) for a, b in pairwise(sketches)]
    assert common(simd, sketches) == wanted


@pytest.mark.parametrize("simd", LEVELS)
def test_of_long_sketches(simd: str) -> None:
    """Longer than all blocks that are counted at once, alike, apart, and one behind the other."""
    generator = np.random.default_rng(8)
    numbers = [int(n) for n in generator.integers(0, LARGEST, 5000, np.uint64)]
    low, high = set(range(1000)), set(range(1000, 2003))
    sketches = [set(numbers), set(numbers[:3001]), set(numbers[2990:]), low, high, low | high]
    wanted = [len(a & b) for a, b in pairwise(sketches)]
    assert common(simd, sketches) == wanted
