"""The bytes of a source that go, as ranges; and what is left of its blocks without them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from roughly.storage.scratch import IN_MEMORY, Scratch, stretches

Integers = npt.NDArray[np.int64]

# As numbers of Python at once: each takes many times what it takes in an array.
_RANGES = 1 << 12


@dataclass(frozen=True, slots=True)
class RemovedRanges:
    """Ascending ranges that do not overlap, none next to another. For tables they count rows."""

    begin: Integers
    end: Integers

    def __len__(self) -> int:
        return len(self.begin)

    @property
    def size(self) -> int:
        """How much goes."""
        parts = stretches(len(self))
        return sum(int((self.end[a:b] - self.begin[a:b]).sum()) for a, b in parts)

    def kept(self, begin: int, end: int) -> Iterator[tuple[int, int]]:
        """What is left from `begin` to `end`."""
        first = int(np.searchsorted(self.end, begin, "right"))
        last = int(np.searchsorted(self.begin, end, "left"))
        for at in range(first, last, _RANGES):
            some = slice(at, min(at + _RANGES, last))
            for gone, back in zip(self.begin[some].tolist(), self.end[some].tolist(), strict=True):
                if begin < gone:
                    yield begin, gone
                begin = back
        if begin < end:
            yield begin, end

    def mask(self, begin: int, end: int) -> npt.NDArray[np.bool_]:
        """For each number from `begin` to `end` whether it is left."""
        mask = np.zeros(end - begin, dtype=bool)
        for start, stop in self.kept(begin, end):
            mask[start - begin : stop - begin] = True
        return mask


def removed_ranges(begin: Integers, end: Integers, scratch: Scratch = IN_MEMORY) -> RemovedRanges:
    """Ranges that ascend and do not overlap, those next to each other put together."""
    if not len(begin):
        return RemovedRanges(begin, end)
    apart = np.ones(len(begin) + 1, dtype=bool)
    for first, last in stretches(len(begin) - 1):
        apart[first + 1 : last + 1] = begin[first + 1 : last + 1] != end[first:last]
    return RemovedRanges(
        scratch.take(begin, scratch.flatnonzero(apart[:-1])),
        scratch.take(end, scratch.flatnonzero(apart[1:])),
    )
