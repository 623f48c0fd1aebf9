"""The distinct ones of many numbers, held against numpy's."""

import numpy as np
import pytest

from roughly import _core


@pytest.mark.parametrize("count", [0, 1, 47, 48, 1000, 70_000, 300_000])
@pytest.mark.parametrize("bits", [1, 8, 27, 40, 64])
def test_what_numpy_finds(count: int, bits: int) -> None:
    """Small ones are sorted by insertion, large ones in pieces."""
    random = np.random.default_rng(count + bits)
    numbers = random.integers(0, 2**64, count, np.uint64, endpoint=False) >> np.uint64(64 - bits)
    numbers[: count // 3] = numbers[count // 3 : 2 * (count // 3)]
    expected = np.unique(numbers, return_inverse=True, return_counts=True)
    found, counts, places = _core.distinct(numbers, bits)
    assert np.array_equal(found, expected[0])
    assert np.array_equal(places, expected[1])
    assert np.array_equal(counts, expected[2])


@pytest.mark.parametrize(("numbers", "bits"), [([4], 2), ([0, 1 << 40], 40), ([1], 0), ([1], 65)])
def test_numbers_must_have_their_bits(numbers: list[int], bits: int) -> None:
    with pytest.raises(ValueError, match=r"numbers: |bits: "):
        _core.distinct(np.array(numbers, np.uint64), bits)
