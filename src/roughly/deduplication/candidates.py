"""Pairs of documents that may be near duplicates, by their sketches, and how much is known of them.

A pair's documents are known by their position in `rows`, the documents that take part, in keep
order. Every pair is found whose estimate reaches a floor, with one exception: in a mass, where very
many documents resemble the same one, their hub (src/core/mass.hpp), the pairs among them are left
out at first. Nearly all of them go because of the hub, and the pairs of documents that go decide
nothing. `extend` adds the pairs of those that stay all the same, so nothing is lost in the end, and
the work stays far below the square of the mass.
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
from roughly.clustering.join import Budget, Join, MassRule, Measure
from roughly.clustering.sketches import RESIDENT_BYTES, PairTable, Sketches
from roughly.clustering.sketching import Progress, no_progress
from roughly.errors import ParameterError

if TYPE_CHECKING:
    from roughly.deduplication.rule import Rule
    from roughly.storage.segment import Segment

Rows = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.int64]

# Smaller masses than those of clusters count: whoever goes because of a hub needs no other pairs.
MASS = MassRule(least_frequency=8)

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


class CandidateFinder:
    """The pairs of some rows of a segment. If estimates decide, all of them count as exact."""

    def __init__(
        self,
        segment: Segment,
        rows: Rows,
        rule: Rule,
        *,
        threads: int,
        memory_bytes: int,
        scratch: Path,
    ) -> None:
        self._segment = segment
        self._rows = rows
        self._rule = rule
        self._floor, self._containment_floor = rule.floors(segment.parameters)
        self._estimate = rule.estimate
        self._threads = threads
        self._sketches = Sketches.of_segment(segment)
        self._join = Join(
            self._sketches,
            rows.astype(np.uint32),
            threads=threads,
            budget=Budget(memory_bytes // 8, memory_bytes // 16, RESIDENT_BYTES),
            scratch=scratch,
        )
        self._pairs = 0
        self._most_pairs = memory_bytes // (2 * _PAIR_BYTES)
        self._whole = self._whole_sketches()
        self._hubs = self._join.hubs(rule.threshold, MASS)
        self._masses = _Masses(self._hubs)

    def find(self, progress: Progress = no_progress) -> Candidates:
        """All pairs but those within masses."""
        joins = len(self._join.levels) * (1 if self._containment_floor is None else 2)
        # Each document comes by twice in each of them.
        advance = progress("pairs", 2 * len(self._rows) * joins, "documents")
        found = self._tables("resemblance", self._floor, self._rule.threshold, advance)
        found.append(self._join.hub_links(self._hubs))
        pairs = np.concatenate(found)
        if self._containment_floor is not None:
            least = self._rule.containment
            floor = self._containment_floor
            more = np.concatenate(self._tables("containment", floor, least, advance))
            more = more[~np.isin(_keys(more), _keys(pairs))]
            pairs = np.concatenate((pairs, self._join.measure("resemblance", more)))
        return self._known(pairs)

    def extend(self, candidates: Candidates, fate: npt.NDArray[np.uint8]) -> bool:
        """Adds the pairs within masses of documents that stay, some of them at a time; whether
        there were any left."""
        chosen = self._masses.choose(fate == _KEPT)
        if not len(chosen):
            return False
        added = [self._known(self._reaching(pairs)) for pairs in self._masses.pairs(chosen)]
        every = [candidates, *added]
        candidates.pairs = np.concatenate([each.pairs for each in every])
        candidates.exact = np.concatenate([each.exact for each in every])
        candidates.parts = np.concatenate([each.parts for each in every])
        return True

    def _tables(
        self,
        measure: Measure,
        floor: Fraction,
        threshold: Fraction | None,
        advance: Callable[[int], None],
    ) -> list[PairTable]:
        tables = [np.zeros((0, 4), np.uint32)]
        for level in self._join.levels:
            # Where both sketches are whole nothing below the threshold can be of use.
            known = level == 0 and threshold is not None and self._level_0_is_whole
            least = threshold if known and threshold is not None else floor
            for table in self._join.pairs(measure, least, level, self._hubs, advance):
                tables.append(table)
                self._pairs += len(table)
                if self._pairs > self._most_pairs:
                    raise _too_many(self._pairs, floor, self._rule)
        return tables

    @property
    def _level_0_is_whole(self) -> bool:
        parameters = self._segment.parameters
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
        if estimated and self._segment.parameters.selection[0] != "min":
            parts = self._parts(pairs)
        if not self._estimate:
            exact = (self._whole[a] & self._whole[b]).astype(np.uint8)
            known = exact != 0
            sizes = self._segment.size
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
        whole: npt.NDArray[np.bool_] = self._sketches.kept() == self._segment.size
        whole &= self._segment.level == 0
        return whole if self._segment.parameters.bits == 64 else np.zeros_like(whole)


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


def _too_many(pairs: int, floor: Fraction, rule: Rule) -> ParameterError:
    return ParameterError(
        f"memory: not enough for the pairs to look at: more than {pairs:,} reach {float(floor):g}",
        hint="allow more memory (--memory), or choose another threshold"
        + ("" if rule.estimate else "; --estimate looks at fewer"),
    )


def _reach(pairs: PairTable, floor: Fraction) -> npt.NDArray[np.bool_]:
    # Both sides are below 2^64, for a ratio's parts are below 2^32.
    wide = pairs.astype(np.uint64)
    p, q = np.uint64(floor.numerator), np.uint64(floor.denominator)
    reach: npt.NDArray[np.bool_] = (wide[:, 2] * q >= wide[:, 3] * p) & (wide[:, 3] > 0)
    return reach


def _keys(pairs: PairTable) -> npt.NDArray[np.uint64]:
    return pairs[:, 0].astype(np.uint64) << np.uint64(32) | pairs[:, 1]
