"""How many documents of two sweeps have an element of a sketch, and which.

`Scan` reads all sketches of both sweeps, which is the way for many elements; `LookUp` asks the
postings of the segments, which is the way for a few thousand. Both say the same of what is rare.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
import numpy.typing as npt

from roughly.search.searcher import QueryColumns

if TYPE_CHECKING:
    from roughly.search.searcher import Searcher
    from roughly.storage.collection import Collection

Rows = npt.NDArray[np.int64]
Values = npt.NDArray[np.uint64]
Counts = npt.NDArray[np.int32]

# What more documents of a sweep have is common: nobody asks how common, nor who has it.
COMMON = 32
# Rows that are looked up for one element, some dozens for each of some sweeps. What has more is
# taken for common.
_LOOKED_UP = 1024


class Counter(Protocol):
    """Tells how common elements are."""

    def count(self, elements: Values, place: Rows | None = None) -> tuple[Counts, Counts, Counts]:
        """For ascending elements: how many documents of the earlier and of the later sweep have
        each (two rows of counts, exact up to COMMON); and, of documents with a place (of every row
        a number, or -1), which elements are whose: positions of elements, and places. Common
        elements may be missing there."""

    def backwards(self) -> Counter:
        """The same with the sweeps exchanged."""


@dataclass(frozen=True, slots=True)
class Scan:
    """By reading everything, part by part."""

    collection: Collection
    old: Rows  # all rows of the earlier sweep
    new: Rows

    def backwards(self) -> Scan:
        return Scan(self.collection, self.new, self.old)

    def count(self, elements: Values, place: Rows | None = None) -> tuple[Counts, Counts, Counts]:
        collection = self.collection
        counts: Counts = np.zeros((2, len(elements)), np.int32)
        member = np.zeros((2, len(collection)), bool)
        member[0, self.old] = True
        member[1, self.new] = True
        hits, holders = [np.zeros(0, np.int32)], [np.zeros(0, np.int32)]
        told_by = min(24, max(16, len(elements).bit_length() + 4))
        shift = np.uint64(collection.parameters.bits - told_by)
        first_bits = np.zeros(1 << told_by, bool)
        first_bits[elements >> shift] = True
        for part in range(collection.parts if len(elements) else 0):
            begin, end = collection.rows(part)
            if not member[:, begin:end].any():
                continue
            values, offsets = collection.chunk(part)
            values = values[: offsets[end - begin]]
            # Most elements are nobody's that is looked for: their first bits tell.
            some = np.flatnonzero(first_bits[values >> shift])
            at = np.searchsorted(elements, values[some])
            at[at == len(elements)] = 0
            known = np.flatnonzero(elements[at] == values[some])
            at = at[known]
            row = begin + np.searchsorted(offsets[: end - begin + 1], some[known], "right") - 1
            for sweep in (0, 1):
                np.add.at(counts[sweep], at[member[sweep, row]], 1)
            if place is not None:
                wanted = (place[row] >= 0) & (counts[1, at] <= COMMON)
                hits.append(at[wanted].astype(np.int32))
                holders.append(place[row[wanted]].astype(np.int32))
            collection.release()
        return counts, np.concatenate(hits), np.concatenate(holders)


@dataclass(frozen=True, slots=True)
class LookUp:
    """By the postings."""

    searcher: Searcher
    number: npt.NDArray[np.int32]  # of every row: its sweep
    begin: int
    end: int

    def backwards(self) -> LookUp:
        return LookUp(self.searcher, self.number, self.end, self.begin)

    def count(self, elements: Values, place: Rows | None = None) -> tuple[Counts, Counts, Counts]:
        counts: Counts = np.zeros((2, len(elements)), np.int32)
        total = np.zeros(len(elements), np.int64)
        for shelf in self.searcher.shelves:
            total += shelf.index.postings(elements)
        few = np.flatnonzero(total <= _LOOKED_UP)
        counts[:, total > _LOOKED_UP] = COMMON + 1
        # Whoever contains a document of one element has that element.
        single = QueryColumns(
            elements[few],
            np.arange(len(few) + 1),
            np.ones(len(few), np.uint32),
            np.zeros(len(few), np.uint8),
        )
        table = self.searcher.neighbours(
            single, containment_floor=1, direction="contained", least_contained=1
        )
        at, row = few[table[:, 0]], table[:, 1].astype(np.int64)
        for n, sweep in enumerate((self.begin, self.end)):
            counts[n, few] = 0
            np.add.at(counts[n], at[self.number[row] == sweep], 1)
        wanted = np.flatnonzero(place[row] >= 0) if place is not None else np.zeros(0, np.int64)
        holders = place[row[wanted]] if place is not None else wanted
        return counts, at[wanted].astype(np.int32), holders.astype(np.int32)
