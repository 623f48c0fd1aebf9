"""Pairs of documents that may be near duplicates, by their sketches, and how much is known of them.

A pair's documents are known by their position in `rows`, the documents that take part, in keep
order. Every pair is found whose estimate reaches a floor, with one exception. Whoever surely
resembles an earlier one at the threshold, its hub, will most likely go, and the pairs of two that
go decide nothing: such documents are *idle*, and pairs of two idle ones may be left out. The others
are *open*. In masses of alike documents hubs are looked for before (src/core/mass.hpp), else they
are found with the pairs (src/core/level_join.hpp). `reopen` opens idle ones that stay all the same
and adds their pairs, so nothing is lost in the end: of two documents that stay, and of one that
stays and one that goes, the pair has been looked at. So the work stays far below the square of a
family of alike documents.

Pairs that do not meet the rule's condition are no pairs here.

The first documents may be pinned: they stay in any case, and no pair of two of them is made. They
may be near duplicates of each other, and one of them is reason enough to go: so of the pairs with
pinned ones each document has the few of the largest estimates. Those that stay for all that get the
others, by `widen`, so that everybody who must go does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from roughly import _core
from roughly.clustering.join import NO_LEAST, Budget, Join, Leaders, MassRule, Measure
from roughly.clustering.sketches import RESIDENT_BYTES, PairTable
from roughly.clustering.sketching import Progress, no_progress
from roughly.errors import ParameterError
from roughly.pipeline import give_back_memory
from roughly.storage.scratch import Scratch, stretches

if TYPE_CHECKING:
    from roughly.deduplication.pool import Pool
    from roughly.deduplication.rule import Rule
    from roughly.deduplication.simhash_join import SimhashJoin

Rows = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.int64]
Rows32 = npt.NDArray[np.uint32]
Levels = npt.NDArray[np.integer[Any]]

# A hub spares pairs of documents that go, so a few heads are enough: whoever finds no hub among
# them has some pairs more, which cost less than to look at further heads.
MASS = MassRule(keys=4, heads=2)

# Groups whose documents have no pairs with each other.
_IDLE, _PINNED = 0, 1

# Of each document the pairs with pinned ones that are looked at first.
_BEST = 8
# Pairs that are gathered before all but the best are dropped.
_GATHERED_PAIRS = 1 << 20
_KEPT = 1
# What a pair takes for a moment, while tables are put together.
_PAIR_BYTES = 64


class Candidates:
    """Pairs and what is known of them; counting a pair exactly changes it in place."""

    def __init__(self, pairs: int, scratch: Scratch, more: int = 0) -> None:
        """So many, to be filled in, and room for `more`."""
        room = pairs + more
        self._scratch = scratch
        self._count = pairs
        self._pairs: PairTable = scratch.zeros(4 * room, np.uint32).reshape(-1, 4)
        self._exact: npt.NDArray[np.uint8] = scratch.zeros(room, np.uint8)
        self._parts: npt.NDArray[np.uint32] = scratch.zeros(2 * room, np.uint32).reshape(-1, 2)

    @property
    def pairs(self) -> PairTable:
        """Their documents and counts."""
        return self._pairs[: self._count]

    @property
    def exact(self) -> npt.NDArray[np.uint8]:
        """1 where the counts are no estimate."""
        return self._exact[: self._count]

    @property
    def parts(self) -> npt.NDArray[np.uint32]:
        """Sampled elements of a and of b; 0 where that is not known."""
        return self._parts[: self._count]

    def add(self, others: Candidates) -> None:
        """Puts other pairs behind these."""
        begin, end = self._count, self._count + len(others.pairs)
        if end > len(self._exact):
            # With room for those that are found later: to move all takes longer than to find these.
            moved = Candidates(end, self._scratch, end // 4)
            moved._fill(0, self)
            self._pairs, self._exact, self._parts = moved._pairs, moved._exact, moved._parts
        self._count = end
        self._fill(begin, others)

    def _fill(self, begin: int, others: Candidates) -> None:
        end = begin + len(others.pairs)
        self._pairs[begin:end] = others.pairs
        self._exact[begin:end] = others.exact
        self._parts[begin:end] = others.parts


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
        self._join = self._make_join(memory_bytes, scratch)
        self._pairs = 0
        self._memory_bytes = memory_bytes
        self._whole = self._whole_sketches()
        self._hubs = self._find_hubs()
        if rule.condition.filters:
            self._choose_comparable_hubs()
        # Whose pairs with each other are left out, before they are looked for.
        self._groups: Rows32 = pool.scratch.full(len(rows), _core.NO_HUB, np.uint32)
        self._hubs[:pinned] = _core.NO_HUB
        self._mark_idle()
        self._opened = 1  # of the idle ones with one hub, at a time
        self._thinned = np.zeros(len(rows), dtype=bool)  # pairs with pinned ones were dropped

    def _find_hubs(self) -> Rows32:
        """Those of masses. Where hubs are found with the pairs, too, these are enough for small
        families, and take less time."""
        threshold, join = self._rule.threshold, self._join
        leading = self._surely_at(0) is not None
        if leading and isinstance(join, Join) and not join.seems_massed(threshold, MASS):
            none: Rows32 = self._pool.scratch.full(len(self._rows), _core.NO_HUB, np.uint32)
            return none
        return join.hubs(threshold, MASS)

    def _surely_at(self, level: int) -> Fraction | None:
        """The estimate at a level from which on a document has a hub; None where that is not reason
        enough to go."""
        if self._rule.condition.filters:
            return None
        return self._rule.surely_at(level, self._pool.parameters)

    def _make_join(self, memory_bytes: int, scratch: Path) -> Join | SimhashJoin:
        """What finds pairs; those that do not meet the condition may be among them."""
        rows: Rows32 = self._pool.scratch.copy(self._rows, np.uint32)
        attributes, pinned = self._pool.attributes, self._pinned
        budget = Budget(memory_bytes // 8, memory_bytes // 16, RESIDENT_BYTES)
        if attributes.condition.method == "both":
            from roughly.deduplication.simhash_join import SimhashJoin

            return SimhashJoin(
                self._sketches,
                rows,
                attributes,
                pinned=pinned,
                threads=self._threads,
                budget=budget,
                scratch=scratch,
            )
        return Join(
            self._sketches,
            rows,
            threads=self._threads,
            budget=budget,
            scratch=scratch,
            sparing=True,
            category=attributes.category,
            least_size=self._least_size,
        )

    @property
    def _least_size(self) -> Fraction:
        """The share of the larger document's shingles that the smaller one must have: where
        complete sets decide, fewer cannot reach the threshold."""
        by_sets = not self._estimate and self._pool.parameters.bits == 64
        return self._rule.threshold if by_sets and self._rule.containment is None else NO_LEAST

    def find(self, progress: Progress = no_progress) -> Candidates:
        """All pairs but those of two idle documents, and all but the best with pinned ones."""
        pairs = self._joined(progress)
        self._mark_idle()
        idle = self._groups == _IDLE
        decide = ~(idle[pairs[:, 0]] & idle[pairs[:, 1]])  # others were found before both were
        self._take_room(int(decide.sum()) - len(pairs), self._floor)
        return self._known(pairs[decide], more=int(decide.sum()) // 4)

    def _joined(self, progress: Progress, only: npt.NDArray[np.bool_] | None = None) -> PairTable:
        """All pairs that a join finds, measured; or `only` those of some documents with pinned
        ones, none dropped."""
        joins = len(self._join.levels) * (1 if self._containment_floor is None else 2)
        # Each document comes by twice in each of them.
        advance = progress("pairs", 2 * len(self._rows) * joins, "documents")
        pairs = self._table("resemblance", advance, only)
        if self._containment_floor is not None:
            more = self._table("containment", advance, only)
            more = more[~np.isin(_keys(more), _keys(pairs))]
            pairs = np.concatenate((pairs, self._join.measure("resemblance", more)))
        return pairs

    def _mark_idle(self) -> None:
        """Those that have a hub by now."""
        for begin, end in stretches(len(self._rows)):
            self._groups[begin:end][self._hubs[begin:end] != _core.NO_HUB] = _IDLE
        self._groups[: self._pinned] = _PINNED

    def idle_kept(self, fate: npt.NDArray[np.uint8]) -> int:
        """How many idle documents stay."""
        return int(np.count_nonzero((self._groups == _IDLE) & (fate == _KEPT)))

    def reopen(self, candidates: Candidates, fate: npt.NDArray[np.uint8]) -> bool:
        """Opens idle documents that stay, some of them at a time, and adds their pairs; whether
        there were any left."""
        idle = self._groups == _IDLE
        chosen = self._first_of_hubs(np.flatnonzero(idle & (fate == _KEPT)))
        if not len(chosen):
            return False
        self._opened *= 8
        give_back_memory()  # that of the texts that were counted
        least = [self._floor_at("resemblance", level) for level in self._join.levels]
        # Pairs with open ones are there already.
        pairs = self._join.partners("resemblance", min(least), chosen, idle)
        pairs = self._comparable(pairs)
        of_row = self._pool.level
        level = np.maximum(of_row[self._rows[pairs[:, 0]]], of_row[self._rows[pairs[:, 1]]])
        pairs = self._likely(pairs, level)
        if self._containment_floor is not None:
            floor = self._containment_floor
            more = self._comparable(self._join.partners("containment", floor, chosen, idle))
            more = more[~np.isin(_keys(more), _keys(pairs))]
            pairs = np.concatenate((pairs, self._join.measure("resemblance", more)))
        self._take_room(len(pairs), self._floor)
        candidates.add(self._known(pairs))
        self._groups[chosen] = self._hubs[chosen] = _core.NO_HUB
        return True

    def _first_of_hubs(self, documents: Numbers) -> Rows32:
        """The first of those with the same hub, for they may make the later ones go; more each
        time, so that there are few times."""
        of_hub = documents[np.argsort(self._hubs[documents], kind="stable")]
        hubs = self._hubs[of_hub]
        first = np.arange(len(of_hub)) - np.searchsorted(hubs, hubs) < self._opened
        return np.sort(of_hub[first]).astype(np.uint32)

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
        pairs = self._joined(progress, wide)
        fresh = pairs[~np.isin(_keys(pairs), _keys(candidates.pairs))]
        candidates.add(self._known(fresh))
        return True

    def _table(
        self,
        measure: Measure,
        advance: Callable[[int], None],
        only: npt.NDArray[np.bool_] | None,
    ) -> PairTable:
        tables = [np.zeros((0, 4), np.uint32)]
        gathered = 0
        for level in self._join.levels:
            floor = self._floor_at(measure, level)
            for table in self._pairs_at(measure, floor, level, advance, only is None):
                table = self._comparable(table)
                if measure == "resemblance":
                    table = self._likely(table, np.array([level]))
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

    def _pairs_at(
        self,
        measure: Measure,
        floor: Fraction,
        level: int,
        advance: Callable[[int], None],
        leading: bool,
    ) -> Iterator[PairTable]:
        """The pairs that meet at a level. With `leading` those that turn out to have a hub become
        idle, if a hub is reason enough to go."""
        surely = self._surely_at(level)
        if leading and surely is not None and isinstance(self._join, Join):
            self._mark_idle()
            leaders = Leaders(self._hubs, surely)
            return self._join.pairs(
                measure, floor, level, advance=advance, groups=self._groups, leaders=leaders
            )
        return self._join.pairs(measure, floor, level, advance=advance, groups=self._groups)

    def _floor_at(self, measure: Measure, level: int) -> Fraction:
        """The estimate from which on a pair that meets at a level is looked at."""
        if measure == "resemblance":
            return self._rule.floor_at(level, self._pool.parameters)
        assert self._containment_floor is not None and self._rule.containment is not None
        # Where both sketches are whole nothing below the threshold can be of use.
        known = level == 0 and self._level_0_is_whole
        return self._rule.containment if known else self._containment_floor

    def _comparable(self, pairs: PairTable) -> PairTable:
        """Without those that do not meet the rule's condition."""
        if not self._rule.condition.filters:
            return pairs
        a, b = self._rows[pairs[:, 0]], self._rows[pairs[:, 1]]
        return pairs[self._pool.attributes.comparable(a, b)]

    def _choose_comparable_hubs(self) -> None:
        """Nobody goes because of a hub that it is not comparable with: the first with the same one
        that is of the same category, and of like size, will do."""
        attributes, hubs = self._pool.attributes, self._hubs
        members = np.flatnonzero(hubs != _core.NO_HUB)
        apart = ~attributes.comparable(self._rows[hubs[members]], self._rows[members])
        members = members[apart]
        keys = [hubs[members], *attributes.alike(self._rows[members])]
        order = np.lexsort(keys)
        starts = np.ones(len(order), dtype=bool)
        starts[1:] = np.any([key[order[1:]] != key[order[:-1]] for key in keys], axis=0)
        first = members[order[starts]]
        hubs[members[order]] = first[np.cumsum(starts) - 1]
        hubs[first] = _core.NO_HUB

    def _likely(self, pairs: PairTable, level: Levels) -> PairTable:
        """Without those that hardly reach the threshold, by their resemblance and the number of
        elements it is estimated from, and those below the floor of their level: the same pairs
        whoever has found them. `level` is that at which each meets, or all do."""
        if self._estimate or self._pool.parameters.selection[0] != "adaptive":
            return pairs
        least = np.maximum(self._rule.least_at(level, pairs[:, 3]), self._floors[level])
        return pairs[pairs[:, 2] / pairs[:, 3] >= least]

    @cached_property
    def _floors(self) -> npt.NDArray[np.float64]:
        """Of the resemblance, by level."""
        floors = np.zeros(max(self._join.levels, default=0) + 1)
        for level in self._join.levels:
            floors[level] = self._rule.floor_at(level, self._pool.parameters)
        return floors

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
                f" {float(floor):g}, room for {room:,} in the {self._memory_bytes >> 20:,} MiB that"
                " the documents leave",
                hint="allow more memory (--memory), or choose another threshold"
                + ("" if self._rule.estimate else "; --estimate looks at fewer"),
            )

    @property
    def _level_0_is_whole(self) -> bool:
        parameters = self._pool.parameters
        return parameters.bits == 64 and parameters.selection[0] in ("all", "adaptive")

    def _known(self, pairs: PairTable, more: int = 0) -> Candidates:
        count = len(pairs)
        made = Candidates(count, self._pool.scratch, more)
        kept, exact, parts = made.pairs, made.exact, made.parts
        kept[:] = pairs  # counted in place, later
        exact[:] = 1
        estimated = self._estimate or self._containment_floor is not None
        if estimated and self._pool.parameters.selection[0] != "min":
            parts[:] = self._parts(kept)
        sizes = self._pool.size
        for begin, end in stretches(0 if self._estimate else count):
            a, b = (self._rows[kept[begin:end, column]] for column in (0, 1))
            known = self._whole[a] & self._whole[b]
            exact[begin:end] = known
            some = parts[begin:end]
            some[known, 0], some[known, 1] = sizes[a[known]], sizes[b[known]]
        return made

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
        whole = np.zeros(len(self._pool), dtype=bool)
        if self._pool.parameters.bits != 64:
            return whole
        for begin, kept in self._sketches.kept_pieces():
            some = slice(begin, begin + len(kept))
            whole[some] = (kept == self._pool.size[some]) & (self._pool.level[some] == 0)
        return whole


def _keys(pairs: PairTable) -> npt.NDArray[np.uint64]:
    return pairs[:, 0].astype(np.uint64) << np.uint64(32) | pairs[:, 1]
