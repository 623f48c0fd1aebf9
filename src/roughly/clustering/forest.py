"""Maximum spanning forests of any number of pairs.

`Forest` is built while the pairs come in: the forest of a union is the forest of the forests, so
what is kept are fewer links than there are documents, and some pairs that wait to be taken in.
`forest_links` reads pairs that lie in files, the heaviest first, as many at once as there is room
for: then what is kept is four bytes a document. Both give the same links.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from roughly import _core
from roughly.clustering.sketches import PairTable

NO_PAIRS: PairTable = np.zeros((0, 4), np.uint32)

# Pairs that wait until they are taken in: 16 bytes each.
_WAITING = 1 << 21

# What a pair takes while it is chosen and sorted.
_PAIR_BYTES = 64
# Pairs by which ranges of weights are chosen, for each range.
_SAMPLES = 256
# Below that, different ratios are different as floats.
_EXACT_BELOW = 1 << 26

_Key = tuple[float, int]  # weight, first document


class Forest:
    """The forest of the pairs added so far."""

    def __init__(self, documents: int, waiting: int = _WAITING) -> None:
        self._documents = documents
        self._links: PairTable = NO_PAIRS
        self._waiting: list[PairTable] = []
        self._count = 0
        self._limit = waiting

    def add(self, pairs: PairTable) -> None:
        self._waiting.append(pairs)
        self._count += len(pairs)
        # As many as there are links, or the links would be sorted again for every few pairs.
        if self._count > max(self._limit, len(self._links)):
            self._take_in()

    def links(self) -> PairTable:
        """The links, heaviest first."""
        if self._waiting:
            self._take_in()
        return self._links

    def _take_in(self) -> None:
        pairs = np.concatenate([self._links, *self._waiting])
        self._waiting.clear()
        self._count = 0
        self._links = _core.spanning_forest(pairs, self._documents)


def forest_links(
    read: Callable[[], Iterable[PairTable]], documents: int, room_bytes: int
) -> Iterator[PairTable]:
    """The links, heaviest first, in tables. `read` gives the same pairs each time."""
    total = largest = 0
    for table in read():
        total += len(table)
        largest = max(largest, int(table[:, 3].max(initial=0)))
    ranges = min(max(-(-total * _PAIR_BYTES // max(room_bytes, 1)), 1), max(total, 1))
    splitters = _splitters(read(), ranges, total, largest < _EXACT_BELOW) if ranges > 1 else []
    sets = _core.DocumentSets(documents)
    for low, high in pairwise([None, *splitters, None]):
        chosen = [NO_PAIRS]
        for table in read():
            inside = np.ones(len(table), bool)
            if low is not None:
                inside &= ~_before(table, low)
            if high is not None:
                inside &= _before(table, high)
            chosen.append(table if inside.all() else table[inside])
        links = sets.add(np.concatenate(chosen))
        if len(links):
            yield links


def _splitters(tables: Iterable[PairTable], ranges: int, total: int, ties: bool) -> list[_Key]:
    """Where all ranges but the first begin, so that about as many pairs are in each. Pairs of one
    weight are parted by their first documents, as they are sorted, if `ties` says that equal floats
    are equal weights."""
    step = max(total // (ranges * _SAMPLES), 1)
    sample: list[_Key] = []
    seen = 0
    for table in tables:
        some = table[-seen % step :: step]
        sample += zip(_weights(some).tolist(), some[:, 0].tolist(), strict=True)
        seen += len(table)
    sample.sort(key=_place)
    chosen = {sample[len(sample) * n // ranges] for n in range(1, ranges)}
    if not ties:
        chosen = {(weight, 0) for weight, _ in chosen}
    return sorted(chosen, key=_place)


def _place(key: _Key) -> _Key:
    return -key[0], key[1]


def _weights(table: PairTable) -> npt.NDArray[np.float64]:
    weights: npt.NDArray[np.float64] = table[:, 2] / np.maximum(table[:, 3], 1)
    return weights


def _before(table: PairTable, key: _Key) -> npt.NDArray[np.bool_]:
    """Which pairs come before a range's beginning."""
    weights = _weights(table)
    found: npt.NDArray[np.bool_] = weights > key[0]
    found |= (weights == key[0]) & (table[:, 0] < key[1])
    return found
