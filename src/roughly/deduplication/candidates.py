"""Pairs of documents that may be near duplicates, by their sketches, and how much is known of them.

A pair's documents are known by their position in `rows`, the documents that take part, in keep
order. Every pair is found whose estimate reaches a floor, with one exception: in a mass, where very
many documents resemble the same one, their hub (src/core/mass.hpp), the pairs among them are left
out at first. Nearly all of them go because of the hub, and the pairs of documents that go decide
nothing. `extend` adds the pairs of those that stay all the same, so nothing is lost in the end, and
the work stays far below the square of the mass.

The first documents may be pinned: they stay in any case, and no pair of two of them is made. They
may be near duplicates of each other, and one of them is reason enough to go: so of the pairs with
pinned ones each document has its hub's and the few of the largest estimates. Those that stay for
all that get the others, by `extend` and `widen`, so that everybody who must go does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from roughly import _core
from roughly.clustering.join import Budget, Hubs, Join, MassRule, Measure
from roughly.clustering.sketches import RESIDENT_BYTES, PairTable
from roughly.clustering.sketching import Progress, no_progress
from roughly.errors import ParameterError

if TYPE_CHECKING:
    from roughly.deduplication.pool import Pool
    from roughly.deduplication.rule import Rule

Rows = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.int64]

# Smaller masses than those of clusters count: whoever goes because of a hub needs no other pairs.
MASS = MassRule(least_frequency=8)

# Of each document the pairs with pinned ones that are looked at first.
_BEST = 8
# Pairs that are gathered before all but the best are dropped.
_GATHERED_PAIRS = 1 << 20
# Pairs within masses that are measured at once.
_STEP_PAIRS = 1 << 22
_KEPT = 1
# What a pair takes for a moment, while tables are put together.
_PAIR_BYTES = 64


@dataclass(slots=True)
class Candidates:
    """Pairs and what is known of them; counting a pair exactly changes it in place."""

    pairs: PairTable
    exact: npt.NDArray[np.uint8]  # 1 where the counts are no estimate
    parts: npt.NDArray[np.uint32]  # sampled elements of a and of b; 0 where that is not known

    def add(self, others: list[Candidates]) -> None:
        """Puts other pairs behind these."""
        every = [self, *others]
        self.pairs = np.concatenate([each.pairs for each in every])
        self.exact = np.concatenate([each.exact for each in every])
        self.parts = np.concatenate([each.parts for each in every])


class CandidateFinder:
    """The pairs of some rows of a pool, of which the first `pinned` stay in any case. If estimates
    decide, all of them count as exact."""

    def __init__(
        self,
        pool: Pool,
        rows: Rows,
        rule: Rule,
        *,
        pinned: int,
        threads: int,
        memory_bytes: int,
        scratch: Path,
    ) -> None:
        self._pool = pool
        self._rows = rows
        self._pinned = pinned
        self._rule = rule
        self._floor, self._containment_floor = rule.floors(pool.parameters)
        self._estimate = rule.estimate
        self._threads = threads
        self._sketches = pool.sketches()
        self._join = Join(
            self._sketches,
            rows.astype(np.uint32),
            threads=threads,
            budget=Budget(memory_bytes // 8, memory_bytes // 16, RESIDENT_BYTES),
            scratch=scratch,
        )
        self._pairs = 0
        self._memory_bytes = memory_bytes
        self._whole = self._whole_sketches()
        hubs = self._join.hubs(rule.threshold, MASS)
        self._masses = _Masses(hubs)
        self._links = hubs.copy()
        self._links[:pinned] = _core.NO_HUB
        self._hubs = _without_pinned_pairs(hubs, pinned)
        self._thinned = np.zeros(len(rows), dtype=bool)  # pairs with pinned ones were dropped

    def find(self, progress: Progress = no_progress) -> Candidates:
        """All pairs but those within masses, and all but the best with pinned documents."""
        return self._known(self._joined(self._join.hub_links(self._links), progress))

    def _joined(
        self,
        links: PairTable,
        progress: Progress,
        only: npt.NDArray[np.bool_] | None = None,
    ) -> PairTable:
        """These links, and all pairs that a join finds, measured; or `only` those of some documents
        with pinned ones, none dropped."""
        joins = len(self._join.levels) * (1 if self._containment_floor is None else 2)
        # Each document comes by twice in each of them.
        advance = progress("pairs", 2 * len(self._rows) * joins, "documents")
        found = self._table("resemblance", self._floor, self._rule.threshold, advance, only)
        pairs = np.concatenate((found, links))
        if self._containment_floor is not None:
            least = self._rule.containment
            floor = self._containment_floor
            more = self._table("containment", floor, least, advance, only)
            more = more[~np.isin(_keys(more), _keys(pairs))]
            pairs = np.concatenate((pairs, self._join.measure("resemblance", more)))
        return pairs

    def extend(self, candidates: Candidates, fate: npt.NDArray[np.uint8]) -> bool:
        """Adds the pairs within masses of documents that stay, some of them at a time; whether
        there were any left."""
        open_ = fate == _KEPT
        open_[: self._pinned] = False
        chosen = self._masses.choose(open_)
        if not len(chosen):
            return False
        added = []
        for pairs in self._masses.pairs(chosen):
            reaching = self._reaching(pairs)
            self._take_room(len(reaching), self._floor)
            added.append(self._known(reaching))
        candidates.add(added)
        return True

    def widen(
        self,
        candidates: Candidates,
        fate: npt.NDArray[np.uint8],
        progress: Progress = no_progress,
    ) -> bool:
        """Adds the pairs with pinned documents that were dropped of those that stay; whether there
        were any."""
        wide = self._thinned & (fate == _KEPT)
        if not wide.any():
            return False
        self._thinned &= ~wide
        pairs = self._joined(np.zeros((0, 4), np.uint32), progress, wide)
        fresh = pairs[~np.isin(_keys(pairs), _keys(candidates.pairs))]
        candidates.add([self._known(fresh)])
        return True

    def _table(
        self,
        measure: Measure,
        floor: Fraction,
        threshold: Fraction | None,
        advance: Callable[[int], None],
        only: npt.NDArray[np.bool_] | None,
    ) -> PairTable:
        tables = [np.zeros((0, 4), np.uint32)]
        gathered = 0
        for level in self._join.levels:
            # Where both sketches are whole nothing below the threshold can be of use.
            known = level == 0 and threshold is not None and self._level_0_is_whole
            least = threshold if known and threshold is not None else floor
            for table in self._join.pairs(measure, least, level, self._hubs, advance):
                if only is not None:
                    table = table[(table[:, 0] < self._pinned) & only[table[:, 1]]]
                elif self._pinned:
                    table = table[table[:, 1] >= self._pinned]
                tables.append(table)
                gathered += len(table)
                self._take_room(len(table), floor)
                if only is None and gathered > max(_GATHERED_PAIRS, len(tables[0])):
                    tables, gathered = [self._thinned_out(tables)], 0
        return np.concatenate(tables) if only is not None else self._thinned_out(tables)

    def _thinned_out(self, tables: list[PairTable]) -> PairTable:
        """The same pairs, but of each document only the best with pinned ones."""
        pairs = np.concatenate(tables)
        if not self._pinned:
            return pairs
        of_pinned = pairs[:, 0] < self._pinned
        some = pairs[of_pinned]
        order = np.lexsort((some[:, 0], -(some[:, 2] / some[:, 3]), some[:, 1]))
        later = some[order, 1]
        best = np.arange(len(later)) - np.searchsorted(later, later) < _BEST
        self._thinned[later[~best]] = True
        self._take_room(-int((~best).sum()), self._floor)
        return np.concatenate((pairs[~of_pinned], some[order[best]]))

    def _take_room(self, pairs: int, floor: Fraction) -> None:
        """Counts pairs; too many are an error before memory runs out."""
        self._pairs += pairs
        room = self._memory_bytes // (2 * _PAIR_BYTES)
        if self._pairs > room:
            raise ParameterError(
                f"memory: not enough for the pairs to look at: {self._pairs:,} or more reach"
                f" {float(floor):g}, room for {room:,} in {self._memory_bytes >> 20:,} MiB",
                hint="allow more memory (--memory), or choose another threshold"
                + ("" if self._rule.estimate else "; --estimate looks at fewer"),
            )

    @property
    def _level_0_is_whole(self) -> bool:
        parameters = self._pool.parameters
        return parameters.bits == 64 and parameters.selection[0] in ("all", "adaptive")

    def _reaching(self, pairs: PairTable) -> PairTable:
        """Those of the pairs that reach a floor, measured."""
        measured = self._join.measure("resemblance", pairs)
        reach = _reach(measured, self._floor)
        if self._containment_floor is not None:
            contained = self._join.measure("containment", pairs)
            reach |= _reach(contained, self._containment_floor)
        return measured[reach]

    def _known(self, pairs: PairTable) -> Candidates:
        pairs = np.array(pairs, order="C")  # counted in place, later
        a, b = self._rows[pairs[:, 0]], self._rows[pairs[:, 1]]
        exact = np.ones(len(pairs), dtype=np.uint8)
        parts = np.zeros((len(pairs), 2), dtype=np.uint32)
        estimated = self._estimate or self._containment_floor is not None
        if estimated and self._pool.parameters.selection[0] != "min":
            parts = self._parts(pairs)
        if not self._estimate:
            exact = (self._whole[a] & self._whole[b]).astype(np.uint8)
            known = exact != 0
            sizes = self._pool.size
            parts[known, 0], parts[known, 1] = sizes[a[known]], sizes[b[known]]
        return Candidates(pairs, exact, parts)

    def _parts(self, pairs: PairTable) -> npt.NDArray[np.uint32]:
        """How many elements each document of a pair has at the coarser of their levels."""
        sketches = self._sketches.taking_part(self._rows.astype(np.uint32))
        swapped = np.ascontiguousarray(pairs[:, [1, 0, 2, 3]])
        of_b = sketches.measure("contained", pairs, self._threads)[:, 3]
        of_a = sketches.measure("contained", swapped, self._threads)[:, 3]
        self._sketches.release()
        return np.column_stack((of_a, of_b))

    def _whole_sketches(self) -> npt.NDArray[np.bool_]:
        """Which are complete sets of shingles; those of 40 bits are too likely to collide."""
        whole: npt.NDArray[np.bool_] = self._sketches.kept() == self._pool.size
        whole &= self._pool.level == 0
        return whole if self._pool.parameters.bits == 64 else np.zeros_like(whole)


class _Masses:
    """Documents by their hub, and for which of them all pairs within the mass have been made."""

    def __init__(self, hubs: npt.NDArray[np.uint32]) -> None:
        members = np.flatnonzero(hubs != _core.NO_HUB)
        self._members: Numbers = members[np.argsort(hubs[members], kind="stable")]
        of_member = hubs[self._members]
        self._starts = np.flatnonzero(np.diff(of_member.astype(np.int64), prepend=-1))
        self._sizes = np.diff(np.append(self._starts, len(of_member)))
        self._mass = np.repeat(np.arange(len(self._starts)), self._sizes)  # of each member
        self._done = np.zeros(len(hubs), dtype=bool)
        self._most = 1

    def choose(self, kept: npt.NDArray[np.bool_]) -> Numbers:
        """Numbers in `members` of some that stay and are not done: the first ones of every mass,
        for they may make the later ones go; more each time, so that there are few times."""
        left = np.flatnonzero(kept[self._members] & ~self._done[self._members])
        firsts = np.searchsorted(self._mass[left], self._mass[left])
        chosen: Numbers = left[np.arange(len(left)) - firsts < self._most]
        self._most *= 2
        return chosen

    def pairs(self, chosen: Numbers) -> Iterator[PairTable]:
        """The pairs of chosen members with all others of their mass, each once, not measured."""
        documents = self._members[chosen]
        now = np.zeros(len(self._done), dtype=bool)
        now[documents] = True
        sizes = self._sizes[self._mass[chosen]]
        ends = np.cumsum(sizes)
        begin, before = 0, 0
        while begin < len(chosen):
            end = max(begin + 1, int(np.searchsorted(ends, before + _STEP_PAIRS, "right")))
            some = sizes[begin:end]
            starts = self._starts[self._mass[chosen[begin:end]]]
            offsets = np.arange(some.sum()) - np.repeat(np.cumsum(some) - some, some)
            one = np.repeat(documents[begin:end], some)
            two = self._members[np.repeat(starts, some) + offsets]
            fresh = (one != two) & ~self._done[two] & ~(now[two] & (two < one))
            table = np.zeros((int(fresh.sum()), 4), np.uint32)
            table[:, 0] = np.minimum(one, two)[fresh]
            table[:, 1] = np.maximum(one, two)[fresh]
            yield table
            begin, before = end, int(ends[end - 1])
        self._done |= now


def _without_pinned_pairs(hubs: Hubs, pinned: int) -> Hubs:
    """Hubs for the join, which leaves out the pairs of documents with the same one: pinned ones get
    one in common, except in masses that others belong to."""
    shared = np.unique(hubs[pinned:])
    shared = shared[shared != _core.NO_HUB]
    alone = ~np.isin(hubs[:pinned], shared)
    alone[shared[shared < pinned]] = False
    together = np.flatnonzero(alone)
    hubs = hubs.copy()
    if len(together):
        hubs[together] = together[0]
        hubs[together[0]] = _core.NO_HUB
    return hubs


def _reach(pairs: PairTable, floor: Fraction) -> npt.NDArray[np.bool_]:
    # Both sides are below 2^64, for a ratio's parts are below 2^32.
    wide = pairs.astype(np.uint64)
    p, q = np.uint64(floor.numerator), np.uint64(floor.denominator)
    reach: npt.NDArray[np.bool_] = (wide[:, 2] * q >= wide[:, 3] * p) & (wide[:, 3] > 0)
    return reach


def _keys(pairs: PairTable) -> npt.NDArray[np.uint64]:
    return pairs[:, 0].astype(np.uint64) << np.uint64(32) | pairs[:, 1]
