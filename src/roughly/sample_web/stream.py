"""A small stream of pseudo-random numbers (splitmix64) with integer arithmetic only.

The sample web must have the same bytes on every Python version and platform, which the standard
library promises for neither `random` nor `hash`. Two streams made from the same labels are equal;
a different label anywhere gives an unrelated stream.
"""

from collections.abc import Sequence
from typing import TypeVar

Item = TypeVar("Item")

MASK = (1 << 64) - 1
GOLDEN_GAMMA = 0x9E3779B97F4A7C15  # 2^64 divided by the golden ratio, odd: splitmix64's step


def mix(state: int) -> int:
    """The output function of splitmix64: a bijection of 64-bit numbers."""
    state = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    state = ((state ^ (state >> 27)) * 0x94D049BB133111EB) & MASK
    return state ^ (state >> 31)


class Stream:
    """Numbers drawn in a fixed order. Not for use from several threads at once."""

    __slots__ = ("state",)

    def __init__(self, *labels: int) -> None:
        self.state = 0
        for label in labels:
            self.state = mix((self.state + GOLDEN_GAMMA + (label & MASK)) & MASK)

    def word(self) -> int:
        """The next 64-bit number."""
        self.state = (self.state + GOLDEN_GAMMA) & MASK
        return mix(self.state)

    def below(self, bound: int) -> int:
        """A number in [0, bound). The bias of the remainder is under bound / 2^64."""
        return self.word() % bound

    def between(self, low: int, high: int) -> int:
        """A number in [low, high], both ends included."""
        return low + self.word() % (high - low + 1)

    def choice(self, items: Sequence[Item]) -> Item:
        """One of the items."""
        return items[self.word() % len(items)]

    def take(self, items: list[Item]) -> Item:
        """One of the items, removed from the list; their order is not kept."""
        at = self.word() % len(items)
        items[at], items[-1] = items[-1], items[at]
        return items.pop()

    def some(self, items: Sequence[Item], count: int) -> list[Item]:
        """This many different items, in any order."""
        left = list(items)
        return [self.take(left) for _ in range(count)]
