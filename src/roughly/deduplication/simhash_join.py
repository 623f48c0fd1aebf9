"""Pairs that meet both methods' conditions, found by their simhashes: a join like
`clustering.join.Join`, whose pairs also have simhashes within some bits of each other.

Which of the two conditions a pair is found by makes no difference to what is found. Documents that
have much in common by their shingles and are told apart by their simhashes only, as the pages of
one template, are many; those with near simhashes and other shingles are few. So pairs come from the
simhashes, and their sketches are measured then. A document's hub is the nearest of those that stay
if simhashes decide.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from roughly import _core
from roughly.clustering.join import Budget, Hubs, Join, MassRule, Measure
from roughly.clustering.sketches import PairTable, Rows, Sketches
from roughly.condition import SIMHASH_BITS
from roughly.hamming.cost import join_blocks, memory_blocks

if TYPE_CHECKING:
    from roughly.condition import Attributes

Numbers = npt.NDArray[np.int64]

# Documents that are looked at together, and pairs that these have at most if all of their partners
# have one simhash.
_DOCUMENTS = 1 << 12
_PAIRS = 1 << 20
# More pairs than this are not measured one by one: a join passes by those without common elements.
_MEASURED_PAIRS = 1 << 17


class SimhashJoin:
    """Some rows of the sketches, in keep order, of which the first `pinned` stay in any case."""

    def __init__(
        self,
        sketches: Sketches,
        rows: Rows,
        attributes: Attributes,
        *,
        pinned: int,
        threads: int,
        budget: Budget,
        scratch: Path,
    ) -> None:
        assert attributes.simhash is not None and attributes.has_simhash is not None
        self._sketches = sketches
        self._rows = rows
        self._attributes = attributes
        self._pinned = pinned
        self._threads = threads
        self._budget = budget
        self._scratch = scratch
        self._distance = attributes.condition.distance
        self._set = sketches.taking_part(rows)
        self._level = sketches.level[rows]
        self._values = attributes.simhash[rows]
        if attributes.category is not None:
            # Distances within a category remain, others are made large, but for chance.
            self._values = self._values ^ attributes.category[rows]
        self._present = attributes.has_simhash[rows]

    @property
    def levels(self) -> list[int]:
        """The levels of the sketches."""
        return [int(level) for level in np.unique(self._level)]

    def hubs(self, threshold: Fraction, rule: MassRule | None = None) -> Hubs:
        """For documents that go if simhashes decide the one because of which they do."""
        found = np.full(len(self._rows), _core.NO_HUB, np.uint32)
        numbers = np.flatnonzero(self._present)
        first = int(np.searchsorted(numbers, self._pinned))
        blocks = memory_blocks(len(numbers), SIMHASH_BITS, self._distance)
        ratio = self._attributes.condition.size_ratio
        limits = (0, 0) if ratio is None else ratio.as_integer_ratio()
        greedy = _core.HammingGreedy(self._distance, blocks, len(numbers), limits)
        values, sizes = self._values[numbers], self._attributes.size[self._rows[numbers]]
        greedy.keep(values[:first], sizes[:first])
        nearest, _, _ = greedy.take(values[first:], sizes[first:])
        has = nearest >= 0
        found[numbers[first:][has]] = numbers[nearest[has]]
        return found

    def pairs(
        self,
        measure: Measure,
        floor: Fraction,
        level: int,
        advance: Callable[[int], None],
        groups: Hubs,
    ) -> Iterator[PairTable]:
        """Every pair that meets at this level and reaches the floor, once, in tables, except those
        of documents of the same group. Group 0 should be the one of most documents. `advance` is
        told of each document twice."""
        asked = np.flatnonzero((groups != 0) & self._present)
        others = np.flatnonzero(self._present)
        others = others[others >= self._pinned]
        for stored, query in self._near(asked, others):
            a, b = np.minimum(stored, query), np.maximum(stored, query)
            # Of two that are asked for, both find the other.
            once = (groups[stored] == 0) | (stored < query) | (query < self._pinned)
            apart = (groups[a] != groups[b]) | (groups[a] == _core.NO_HUB)
            meets = np.maximum(self._level[a], self._level[b]) == level
            chosen = once & apart & meets
            yield from self._reaching(measure, floor, a[chosen], b[chosen])
        advance(2 * len(self._rows))

    def partners(
        self,
        measure: Measure,
        floor: Fraction,
        documents: Rows,
        marked: npt.NDArray[np.bool_],
    ) -> PairTable:
        """Every pair that reaches the floor of two of these documents, or of one of them and a
        marked one."""
        wanted = np.zeros(len(self._rows), dtype=bool)
        wanted[documents] = True
        near, involved, count = [], np.zeros(len(self._rows), dtype=bool), 0
        others = np.flatnonzero((wanted | marked) & self._present)
        for stored, query in self._near(np.flatnonzero(wanted & self._present), others):
            chosen = (stored != query) & (~wanted[stored] | (stored < query))
            stored, query = stored[chosen], query[chosen]
            count += len(stored)
            involved[stored] = involved[query] = True
            if count <= _MEASURED_PAIRS:
                near.append((np.minimum(stored, query), np.maximum(stored, query)))
        if count > _MEASURED_PAIRS:
            return self._joined(measure, floor, np.flatnonzero(involved), wanted)
        found = [np.zeros((0, 4), np.uint32)]
        for a, b in near:
            found += self._reaching(measure, floor, a, b)
        return np.concatenate(found)

    def _joined(
        self,
        measure: Measure,
        floor: Fraction,
        numbers: Numbers,
        wanted: npt.NDArray[np.bool_],
    ) -> PairTable:
        """The pairs of some documents, of which at least one is wanted, by their shingles; such
        documents have near simhashes and stayed for all that, so they have little in common."""
        join = Join(
            self._sketches,
            self._rows[numbers],
            threads=self._threads,
            budget=self._budget,
            scratch=self._scratch,
            category=self._attributes.category,
        )
        groups = np.where(wanted[numbers], _core.NO_HUB, 0).astype(np.uint32)
        found = [np.zeros((0, 4), np.uint32)]
        for level in join.levels:
            for table in join.pairs(measure, floor, level, groups=groups):
                pairs = table.copy()
                pairs[:, :2] = numbers[table[:, :2]]
                found.append(pairs[self._comparable(pairs[:, 0], pairs[:, 1])])
        return np.concatenate(found)

    def measure(self, measure: Measure, pairs: PairTable) -> PairTable:
        """The same pairs, counted."""
        counted = self._set.measure(measure, np.ascontiguousarray(pairs), self._threads)
        self._sketches.release()
        return counted

    def _near(self, asked: Numbers, others: Numbers) -> Iterator[tuple[Numbers, Numbers]]:
        """One of `others` and one of `asked` with near simhashes, all of them, some at a time."""
        if not len(asked):
            return
        values = self._values[asked]
        blocks = join_blocks(len(asked), SIMHASH_BITS, self._distance)
        tables = _core.HammingJoin(values, SIMHASH_BITS, self._distance, blocks, self._threads)
        most = int(np.unique(values, return_counts=True)[1].max())
        step = min(max(_PAIRS // most, 1), _DOCUMENTS)
        for begin in range(0, len(others), step):
            some = others[begin : begin + step]
            found = tables.probe(self._values[some], 0, self._threads).astype(np.int64)
            stored, query = some[found[:, 0]], asked[found[:, 1]]
            met = self._comparable(stored, query)
            yield stored[met], query[met]

    def _comparable(self, a: npt.NDArray[Any], b: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
        return self._attributes.comparable(self._rows[a], self._rows[b])

    def _reaching(
        self, measure: Measure, floor: Fraction, a: Numbers, b: Numbers
    ) -> list[PairTable]:
        if not len(a):
            return []
        pairs = np.zeros((len(a), 4), np.uint32)
        pairs[:, 0], pairs[:, 1] = a, b
        counted = self.measure(measure, pairs)
        p, q = floor.as_integer_ratio()
        # Thresholds have parts below 2^36, and no document has 2^28 elements.
        common, sampled = counted[:, 2].astype(np.uint64), counted[:, 3].astype(np.uint64)
        reaches = (common * np.uint64(q) >= sampled * np.uint64(p)) & (sampled > 0)
        return [counted[reaches]]
