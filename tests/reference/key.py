"""The keys that a seed gives (docs/algorithm.md, 2)."""

from collections.abc import Iterator
from functools import cache
from itertools import islice
from typing import NamedTuple

P = 2**61 - 1
MASK_64 = 2**64 - 1
EQUIVALENCE_SEED = 0x726F7567686C7931


class Keys(NamedTuple):
    """The keys of section 2 under their letters there."""

    k: int
    k1: int
    k2: int
    r: int
    u: int
    x0: int
    x1: int
    seed: int

    def permutations(self, count: int) -> list[tuple[int, int]]:
        """(a_j, b_j) for j < count; they continue the stream behind the other keys."""
        stream = after_keys(self.seed)
        return [(next(stream), next(stream) | 1) for _ in range(count)]


def words(seed: int) -> Iterator[int]:
    """`word()`: the values of splitmix64 from the state `seed`."""
    state = seed
    while True:
        state = (state + 0x9E3779B97F4A7C15) & MASK_64
        z = state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK_64
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK_64
        yield z ^ (z >> 31)


def element(stream: Iterator[int]) -> int:
    """`element()`: the next of the stream that is an invertible number mod p."""
    return next(e for word in stream if (e := word >> 3) not in (0, P))


@cache
def keys(seed: int) -> Keys:
    stream = words(seed)
    k, k1, k2, r, u = (element(stream) for _ in range(5))
    return Keys(k, k1, k2, r, u, next(stream), next(stream), seed)


def after_keys(seed: int) -> Iterator[int]:
    """The stream behind x1."""
    stream = words(seed)
    for _ in range(5):
        element(stream)
    return islice(stream, 2, None)


class EquivalenceKeys(NamedTuple):
    """q of the high and of the low half, and the words e_0 .. e_261."""

    q_high: int
    q_low: int
    e: tuple[int, ...]


@cache
def equivalence_keys() -> EquivalenceKeys:
    stream = words(EQUIVALENCE_SEED)
    high, low = element(stream), element(stream)
    return EquivalenceKeys(high, low, tuple(next(stream) >> 32 for _ in range(262)))
