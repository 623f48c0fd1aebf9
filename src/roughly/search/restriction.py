"""Which documents a query is compared with, and how far their simhashes are from its own.

A query meets a condition (roughly.condition) as a document of the collection would: by its size,
its simhash and its category. Of what was found by shingles only those rows are looked at; for a
search by simhash all simhashes are in memory, eight bytes each, read once.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from roughly.condition import HOST, Attributes, Condition, category_hashes
from roughly.url import host_of

if TYPE_CHECKING:
    from roughly.storage.collection import Collection

Numbers = npt.NDArray[np.int64]

# Simhashes that are looked at together; they and what is made of them stay in the cache.
_STEP = 1 << 15


@dataclass(frozen=True, slots=True)
class Restriction:
    """A condition, and what it looks at of the query."""

    condition: Condition
    size: int
    simhash: int | None = None  # None: it has none
    category: int = 0  # a hash of it, if categories count

    def comparable(self, collection: Collection, rows: Numbers) -> npt.NDArray[np.bool_]:
        """Which of these rows the query may be compared with."""
        if not self.condition.filters:
            return np.ones(len(rows), bool)
        return self._attributes(collection, rows).comparable(*_against_last(len(rows)))

    def distances(self, collection: Collection, rows: Numbers) -> npt.NDArray[np.uint8]:
        """Bits in which the simhashes of rows differ from the query's; NO_SIMHASH for none."""
        return self._attributes(collection, rows).distance(*_against_last(len(rows)))

    def _attributes(self, collection: Collection, rows: Numbers) -> Attributes:
        """Of some rows, and of the query behind them."""
        size = np.append(np.asarray(collection.take("size", rows)), np.uint32(self.size))
        simhash = has_simhash = category = None
        if self.condition.simhash is not None:
            column = collection.take("simhash", rows)
            own = np.uint64(self.simhash or 0)
            simhash = np.append(pc.fill_null(column, 0).to_numpy(), own)
            has_simhash = np.append(
                column.is_valid().to_numpy(zero_copy_only=False), self.simhash is not None
            )
        if self.condition.within is not None:
            found = category_hashes(categories(collection, self.condition, rows))
            category = np.append(found, np.uint64(self.category))
        return Attributes(self.condition, size, simhash, has_simhash, category)


def categories(collection: Collection, condition: Condition, rows: Numbers) -> pa.Array:
    """The categories of some rows, null where one has none."""
    if condition.within == HOST:
        return host_of(collection.take("id", rows))
    return collection.take("category", rows)


class StoredSimhashes:
    """All simhashes of a collection; any thread may search them."""

    def __init__(self, collection: Collection) -> None:
        self._collection = collection

    @cached_property
    def _all(self) -> tuple[npt.NDArray[np.uint64], Numbers]:
        """The simhashes that are there, and whose they are."""
        column = self._collection.column("simhash")
        there = np.asarray(column.is_valid()) & self._collection.live
        rows = np.flatnonzero(there)
        found = pc.fill_null(column, 0).to_numpy()[rows], rows
        self._collection.release()
        return found

    def within(self, simhash: int, distance: int) -> tuple[Numbers, npt.NDArray[np.uint8]]:
        """All live rows at most so many bits away, ascending, and how many it is."""
        values, rows = self._all
        wanted = np.uint64(simhash)
        found, bits = [np.zeros(0, np.int64)], [np.zeros(0, np.uint8)]
        for begin in range(0, len(values), _STEP):
            away = np.bitwise_count(values[begin : begin + _STEP] ^ wanted)
            near = np.flatnonzero(away <= distance)
            if len(near):
                found.append(near + begin)
                bits.append(away[near])
        return rows[np.concatenate(found)], np.concatenate(bits)


def _against_last(count: int) -> tuple[Numbers, Numbers]:
    return np.arange(count), np.full(count, count, np.int64)
