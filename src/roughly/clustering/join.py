"""All pairs of documents that resemble, or contain, each other at a floor: phases 2 and 3.

A `Join` is made of some rows of the sketches, in document order, and numbers them from 0. Its
memory is bounded: frequencies lie in a scratch file, postings in memory only while they are few,
and they are joined in as many parts as the budget asks for. The pairs do not depend on that.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from roughly import _core
from roughly.clustering.clock import Clock
from roughly.clustering.frequency import by_chunk, count_frequencies
from roughly.clustering.sketches import PairTable, Rows, Sketches, steps
from roughly.condition import Attributes
from roughly.pipeline import give_back_memory
from roughly.storage.checked import CheckedMap, checked_writer, sidecar
from roughly.storage.scratch import Scratch, stretches

Measure = Literal["resemblance", "containment"]
Hubs = npt.NDArray[np.uint32]  # NO_HUB where a document has none

_Entries = npt.NDArray[np.uint32]  # a posting is a row: key in its bucket, document, position
_Ends = npt.NDArray[np.uint64]  # where each bucket of a run ends
# Categories, simhashes, distance, ratio of sizes; see src/core/sketch_set.hpp.
_Column = npt.NDArray[np.uint64] | None
_Condition = tuple[_Column, _Column, int, tuple[int, int]]
_ENTRY_BYTES = 12
_SIGNATURE_BYTES = 8 * _core.SIGNATURE_WORDS

_NO_SIGNATURES = np.zeros((0, _core.SIGNATURE_WORDS), np.uint64)
NO_HUBS: Hubs = np.zeros(0, np.uint32)
NO_PAIRS: PairTable = np.zeros((0, 4), np.uint32)

# Documents that are compared with others, in place all over the files, before the pages of these
# are let go.
_PROBE_DOCUMENTS = 1 << 12


# One document of so many is in a sample: an odd number that no period of an input has.
_SAMPLED_OF = 61
# So many of a mass of a thousand are there.
_SAMPLED_MASS = 16

# More than any document has.
ALL_PAIRS = 1 << 32
# Documents of all sizes are compared.
NO_LEAST = Fraction(0)


class MassRule(NamedTuple):
    """What makes a mass (src/core/mass.hpp): a key is one of a document's first `keys` elements
    that `least_frequency` documents or more have; each has `heads` to compare others with. At a
    higher threshold a mass whose documents have more than `most_pairs` each there, by a sample, is
    dense (roughly.clustering.mass)."""

    least_frequency: int = 100
    keys: int = 8
    heads: int = 4
    most_pairs: int = 256


class Leaders(NamedTuple):
    """Where pairs of two documents that each have a leader are not wanted: who has which, NO_HUB
    for none. Whoever surely resembles an earlier one without gets it while pairs are found."""

    of: Hubs
    surely: Fraction


@dataclass(frozen=True, slots=True)
class Budget:
    """Bytes that a join may take for a while."""

    table: int  # counters of frequencies, then signatures of heads: before there are postings
    postings: int  # postings that are joined together; up to six times that while they are
    resident: int  # sketches that are used in place; more are read from their files

    @classmethod
    def of_memory(cls, memory_bytes: int) -> Budget:
        """Shares of the memory that a run may use."""
        return cls(memory_bytes // 3, memory_bytes // 16, memory_bytes // 8)


class Join:
    """Some rows of the sketches, in document order. `least_contained` is how many elements a sketch
    must have to be found contained, unless it is whole: of fewer, all may be there by chance.
    `sparing` counts frequencies with a quarter of the counters: what is joined first is chosen a
    little less well, and the pairs are the same.
    With `attributes` of all rows of the sketches only comparable documents are pairs, or have each
    other for a hub; with a `category` of each row those of one, and with a `least_size` those of
    which the smaller has at least that share of the larger one's distinct shingles."""

    def __init__(
        self,
        sketches: Sketches,
        rows: Rows,
        *,
        threads: int,
        budget: Budget,
        scratch: Path | None = None,
        clock: Clock | None = None,
        least_contained: int = 0,
        sparing: bool = False,
        category: npt.NDArray[np.uint64] | None = None,
        least_size: Fraction = NO_LEAST,
        attributes: Attributes | None = None,
    ) -> None:
        self._given_rows = rows
        self._attributes = attributes
        self._least_size = least_size
        condition: _Condition | None = None
        if attributes is not None:
            condition = attributes.plain()
        elif category is not None or least_size:
            condition = (category, None, 0, _ratio(least_size))
        if _are_few(sketches, rows, budget):
            # By themselves: in place they would have a page of a file each.
            if condition is not None:
                categories, simhashes, distance, ratio = condition
                condition = _taken(categories, rows), _taken(simhashes, rows), distance, ratio
            sketches, rows = sketches.of_rows(rows), np.arange(len(rows), dtype=np.uint32)
        self._sketches = sketches
        self._rows = rows
        self._threads = threads
        self._budget = budget
        self._scratch = scratch
        self._arrays = Scratch(scratch)
        self._least_contained = least_contained
        self._sparing = sparing
        self._clock = Clock() if clock is None else clock
        self._set = sketches.taking_part(rows, budget.resident, self._arrays)
        if condition is not None:
            self._set.use_condition(*condition)
        # Their postings are made at once, and take up to twice as much for a moment.
        self._step = sketches.documents_in(min(budget.resident, budget.postings // 4))
        self._join_step = self._step if self._set.reads_files else _PROBE_DOCUMENTS
        # No fewer elements than each document has at this level and coarser ones; 0 where it has no
        # partner there.
        self._bounds: Rows = np.zeros(0, np.uint32)
        self._bounds_level = 0
        self._signatures = _NO_SIGNATURES  # of the levels so far, in one place
        self.disk_bytes = 0
        """The most that was on disk at once."""
        with self._clock("sort"):
            self._count_frequencies()

    def __len__(self) -> int:
        return len(self._rows)

    def hubs(self, threshold: Fraction, rule: MassRule | None = None) -> Hubs:
        """For documents of masses the one that stands for them, see `MassRule`."""
        masses = self._finished(MassRule() if rule is None else rule, self._budget.table)
        hubs: Hubs = self._arrays.full(len(self), _core.UNKNOWN_HUB, np.uint32)
        self._find_hubs(masses, threshold, hubs)
        return hubs

    def seems_massed(self, threshold: Fraction, rule: MassRule) -> bool:
        """Whether many of a sample of the documents have one hub, or many of them have any: a look
        at all others is worth while then, for whoever finds the same pairs without."""
        # Not those that follow each other, which may be a family.
        masses = self._finished(rule, self._budget.table, every=_SAMPLED_OF)
        hubs: Hubs = self._arrays.full(len(self), _core.UNKNOWN_HUB, np.uint32)
        self._find_hubs(masses, threshold, hubs)
        looked_at = hubs[hubs != _core.UNKNOWN_HUB]
        sizes = np.unique(looked_at[looked_at != _core.NO_HUB], return_counts=True)[1]
        return bool(len(sizes)) and bool(
            sizes.max() >= _SAMPLED_MASS or 10 * sizes.sum() >= len(looked_at)
        )

    def rising_hubs(
        self, thresholds: Iterable[Fraction], rule: MassRule
    ) -> Iterator[tuple[Hubs, PairTable]]:
        """The hubs at several thresholds, each higher than the one before, and `hub_links`: most of
        what was found for one holds for the next."""
        # These are there while pairs are joined.
        masses = self._finished(rule, self._budget.postings // 2)
        sizes = self._sketches.size[self._rows]
        asked = np.full(len(self), _core.UNKNOWN_HUB, np.uint32)
        links = NO_PAIRS
        for threshold in thresholds:
            sides = np.sort(sizes[links[:, :2]], axis=1)
            holds = _reach(sides[:, 0], sides[:, 1], threshold)
            holds &= _reach(links[:, 2], links[:, 3], threshold)
            asked[links[~holds, 1]] = links[~holds, 0]
            self._find_hubs(masses, threshold, asked)
            links = np.concatenate((links[holds], self.hub_links(asked)))
            links = links[np.argsort(links[:, 1])]
            asked.fill(_core.NO_HUB)
            hubs = asked.copy()
            hubs[links[:, 1]] = links[:, 0]
            yield hubs, links

    def _masses(self, rule: MassRule, *, by_category: bool = True, every: int = 1) -> _core.Masses:
        """With the heads of all keys."""
        masses = _core.Masses(
            self._set, rule.least_frequency, rule.keys, rule.heads, by_category, every
        )
        for begin, end in steps(len(self), self._step):
            masses.add(begin, end, self._threads)
            self._release(begin, end)
        return masses

    def _finished(self, rule: MassRule, signature_bytes: int, every: int = 1) -> _core.Masses:
        with self._clock("pairs"):
            masses = self._masses(rule, every=every)
            masses.finish(signature_bytes, self._threads)
            self._release_all()
        return masses

    def _find_hubs(self, masses: _core.Masses, threshold: Fraction, hubs: Hubs) -> None:
        with self._clock("pairs"):
            for begin, end in steps(len(self), self._step):
                masses.find_hubs(_ratio(threshold), begin, end, self._threads, hubs)
                self._release(begin, end)

    def hub_links(self, hubs: Hubs) -> PairTable:
        """The pairs of documents and their hubs, which `pairs` leaves out."""
        members = np.flatnonzero(hubs != _core.NO_HUB).astype(np.uint32)
        pairs = np.zeros((len(members), 4), np.uint32)
        pairs[:, 0], pairs[:, 1] = hubs[members], members
        return self.measure("resemblance", pairs)

    def partners(
        self,
        measure: Measure,
        floor: Fraction,
        documents: Rows,
        marked: npt.NDArray[np.bool_],
    ) -> PairTable:
        """Every pair that reaches the floor of two of these documents, or of one of them and a
        marked one. All documents are looked at, so there should be few of the former."""
        found = [NO_PAIRS]
        marks = marked.view(np.uint8)
        finder = _core.PartnerFinder(self._set, measure, _ratio(floor), documents, marks)
        for begin, end in steps(len(self), self._step):
            found.append(finder.find(begin, end, self._threads))
            self._release(begin, end)
        return np.concatenate(found)

    def measure(self, measure: Measure, pairs: PairTable) -> PairTable:
        """The same pairs, counted."""
        counted = self._set.measure(measure, np.ascontiguousarray(pairs), self._threads)
        self._release_all()
        return counted

    def reaching(self, pairs: PairTable, threshold: Fraction) -> npt.NDArray[np.bool_]:
        """Which of these pairs, which `measure` has counted by resemblance, are comparable and
        reach a threshold."""
        found = _reach(pairs[:, 2], pairs[:, 3], threshold) & (pairs[:, 3] > 0)
        if self._attributes is not None:
            rows = self._given_rows
            found &= self._attributes.comparable(rows[pairs[:, 0]], rows[pairs[:, 1]])
        return found

    @cached_property
    def levels(self) -> list[int]:
        """The levels of the sketches; each has a join of its own."""
        return levels_of(self._sketches, self._rows)

    def pairs(
        self,
        measure: Measure,
        floor: Fraction,
        level: int,
        hubs: Hubs = NO_HUBS,
        advance: Callable[[int], None] = lambda n: None,
        groups: Hubs = NO_HUBS,
        leaders: Leaders | None = None,
    ) -> Iterator[PairTable]:
        """Every pair that meets at this level and reaches the floor, once, in tables, except those
        of documents with the same hub and of one with its hub, or those of documents of the same
        group (a number, NO_HUB for none), if groups are given instead; and perhaps those of two
        that have leaders. `advance` is told of documents done; each comes by twice. One call is
        done before the next."""
        documents = len(self)
        if level < self._bounds_level or not len(self._bounds):
            self._bounds = self._kept()
        smallest_native, visited = self._natives(level)
        if smallest_native is None:
            advance(2 * documents)
            return
        self._bounds_level = level
        if self._least_size and visited:
            self._leave_out_small(level)
        give_back_memory()  # that of the level before
        counts = self._arrays.zeros(documents, np.uint32)
        groups = self.groups_of(hubs) if not len(groups) else groups
        seen = documents if self._has_room_for_signatures else 0
        if len(self._signatures) < seen:
            self._signatures = np.empty((seen, _core.SIGNATURE_WORDS), np.uint64)
        signatures = self._signatures
        ratio = _ratio(floor)
        led = Leaders(NO_HUBS, Fraction(1)) if leaders is None else leaders
        with _PostingRuns(self._budget, self._scratch) as runs:
            for begin, end in steps(documents, self._step):
                with self._clock("sort"):
                    made = self._set.postings(
                        measure,
                        ratio,
                        level,
                        begin,
                        end,
                        smallest_native,
                        visited,
                        self._threads,
                        counts,
                        self._bounds,
                        signatures,
                    )
                    runs.add(*made)
                self._release(begin, end)
                advance(end - begin)
            beside = self._frequency_bytes + self._arrays.disk_bytes
            self.disk_bytes = max(self.disk_bytes, runs.disk_bytes + beside)
            parts = runs.parts()
            told = 0
            for number, (first, last) in enumerate(parts):
                with self._clock("sort"):
                    _core.release_all_pages()  # The index comes in their place.
                    index = _core.LevelIndex(
                        self._set,
                        measure,
                        ratio,
                        level,
                        runs.slices(first, last),
                        counts,
                        signatures,
                        hubs,
                        groups,
                        self._least_contained,
                        first,
                        last,
                        self._threads,
                    )
                    if number + 1 < len(parts):
                        runs.release()
                    else:
                        runs.close()
                    give_back_memory()  # What it was made of.
                for begin, end in steps(documents, self._join_step):
                    with self._clock("pairs"):
                        found = index.probe(begin, end, self._threads, led.of, _ratio(led.surely))
                    self._release(begin, end)
                    if len(found):
                        yield found
                    done = (number * documents + end) // len(parts)
                    advance(done - told)
                    told = done
                del index
                give_back_memory()  # Before the next one is made.
        if level == self.levels[-1]:
            self._signatures = _NO_SIGNATURES

    @property
    def _has_room_for_signatures(self) -> bool:
        """They spare most looks at sketches that are far below the floor, all over the files."""
        return len(self) * _SIGNATURE_BYTES <= self._budget.postings // 2

    def groups_of(self, hubs: Hubs) -> Hubs:
        """Whose pairs are not looked for: a hub and those that have it, except hubs with another
        hub."""
        groups: Hubs = self._arrays.copy(hubs)
        for begin, end in stretches(len(hubs)):
            own = hubs[begin:end]
            own = own[own != _core.NO_HUB]
            own = own[hubs[own] == _core.NO_HUB]
            groups[own] = own
        return groups

    def _kept(self) -> Rows:
        """Elements in the sketch of each document."""
        of_row = self._arrays.zeros(len(self._sketches), np.uint32)
        for begin, counts in self._sketches.kept_pieces():
            of_row[begin : begin + len(counts)] = counts
        kept: Rows = self._arrays.take(of_row, self._rows)
        return kept

    def _natives(self, level: int) -> tuple[int | None, bool]:
        """Of documents at a level the fewest elements that one has, if one has any; and whether
        there are documents at finer levels."""
        smallest, visited = None, False
        for begin, end in stretches(len(self)):
            levels = self._sketches.level[self._rows[begin:end]]
            visited |= bool((levels < level).any())
            counts = self._bounds[begin:end][levels == level]
            counts = counts[counts > 0]
            if len(counts):
                least = int(counts.min())
                smallest = least if smallest is None else min(smallest, least)
        return smallest, visited

    def _leave_out_small(self, level: int) -> None:
        """Visitors that are too small for every native of a level: those of coarser levels are
        larger still, for adaptive sketches have their levels by size, and others only one."""
        native, sizes = [], self._sketches.size
        for begin, end in stretches(len(self)):
            rows = self._rows[begin:end]
            own = sizes[rows[self._sketches.level[rows] == level]]
            native.append(int(own.min()) if len(own) else np.iinfo(np.uint32).max)
        least = -(-min(native) * self._least_size.numerator // self._least_size.denominator)
        for begin, end in stretches(len(self)):
            self._bounds[begin:end][sizes[self._rows[begin:end]] < least] = 0

    def _count_frequencies(self) -> None:
        self._frequency_bytes = sum(len(values) for values, _ in self._sketches.chunks)
        self._frequencies = count_frequencies(
            self._sketches,
            self._set,
            documents=len(self),
            table_bytes=self._budget.table,
            threads=self._threads,
            step=self._step,
            scratch=self._scratch,
            sparing=self._sparing,
        )
        self._set.use_frequencies(by_chunk(self._sketches, self._frequencies))

    def _release(self, begin: int, end: int) -> None:
        """Lets the pages of files go that were touched for these documents: their own, or all if
        others' sketches are used in place too."""
        if self._set.reads_files:
            self._set.release(begin, end)
        else:
            self._release_all()

    def _release_all(self) -> None:
        self._sketches.release()
        _core.release_pages(self._frequencies)


def _are_few(sketches: Sketches, rows: Rows, budget: Budget) -> bool:
    """Whether rows are a small part of those that the sketches have, and fit in memory."""
    most = budget.resident // 4
    if 4 * len(rows) > len(sketches) or 8 * len(rows) > most:
        return False
    return sketches.bytes_of(rows) <= most


def _taken(column: _Column, rows: Rows) -> _Column:
    return None if column is None else column[rows]


def levels_of(sketches: Sketches, rows: Rows) -> list[int]:
    """The levels of the sketches of some rows."""
    found: set[int] = set()
    for begin, end in stretches(len(rows)):
        found.update(np.unique(sketches.level[rows[begin:end]]).tolist())
    return sorted(found)


class _PostingRuns:
    """The postings of one level: runs of documents, by bucket; on disk if they are many."""

    def __init__(self, budget: Budget, scratch: Path | None) -> None:
        self._limit = budget.postings
        self._scratch = scratch
        self._held: list[tuple[_Entries, _Ends]] = []
        self._held_bytes = 0
        self._written: list[tuple[CheckedMap, int, _Ends]] = []  # file, first byte, ends
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._sizes = np.zeros(_core.POSTING_BUCKETS, np.int64)
        self.disk_bytes = 0

    def __enter__(self) -> _PostingRuns:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Drops the postings."""
        self._held.clear()
        for file, _begin, _ends in self._written:
            file.close()
        self._written.clear()
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None

    def add(self, entries: _Entries, ends: _Ends) -> None:
        ended = ends.astype(np.int64)
        self._sizes += ended
        self._sizes[1:] -= ended[:-1]
        if len(entries):
            self._held.append((entries, ends))
            self._held_bytes += entries.nbytes
            if self._held_bytes > self._limit:
                self._to_disk()

    def parts(self) -> list[tuple[int, int]]:
        """Ranges of buckets that are joined together."""
        parts, first, size = [], 0, 0
        for bucket, entries in enumerate(self._sizes.tolist()):
            if size and size + entries * _ENTRY_BYTES > self._limit:
                parts.append((first, bucket))
                first, size = bucket, 0
            size += entries * _ENTRY_BYTES
        return [*parts, (first, len(self._sizes))]

    def slices(self, first: int, last: int) -> list[tuple[_Entries, _Ends]]:
        """Of every run the entries of some buckets, and where each bucket ends."""
        found: list[tuple[_Entries, _Ends]] = []
        for entries, ends in self._held:
            begin, end = _range(ends, first, last)
            found.append((entries[begin:end], ends[first:last] - np.uint64(begin)))
        for file, at, ends in self._written:
            begin, end = _range(ends, first, last)
            values = file.array(np.uint32, at + begin * _ENTRY_BYTES, 3 * (end - begin))
            found.append((values.reshape(-1, 3), ends[first:last] - np.uint64(begin)))
        return found

    def release(self) -> None:
        for file, _begin, _ends in self._written:
            file.release()

    def _to_disk(self) -> None:
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="postings-", dir=self._scratch)
        path = Path(self._folder.name) / f"{len(self._written):05}.run"
        with checked_writer(path) as file:
            for entries, _ in self._held:
                file.write(entries.data.cast("B"))
        run, begin = CheckedMap(path), 0
        for entries, ends in self._held:
            self._written.append((run, begin, ends))
            begin += entries.nbytes
        self.disk_bytes += path.stat().st_size + sidecar(path).stat().st_size
        self._held.clear()
        self._held_bytes = 0


def _range(ends: _Ends, first: int, last: int) -> tuple[int, int]:
    return int(ends[first - 1]) if first else 0, int(ends[last - 1])


def _reach(
    parts: npt.NDArray[np.uint32], wholes: npt.NDArray[np.uint32], share: Fraction
) -> npt.NDArray[np.bool_]:
    """Which parts are at least that share of their wholes."""
    # Both sides are below 2^64, for a ratio's parts are below 2^32.
    p, q = np.uint64(share.numerator), np.uint64(share.denominator)
    found: npt.NDArray[np.bool_] = parts.astype(np.uint64) * q >= p * wholes.astype(np.uint64)
    return found


def _ratio(floor: Fraction) -> tuple[int, int]:
    return floor.numerator, floor.denominator
