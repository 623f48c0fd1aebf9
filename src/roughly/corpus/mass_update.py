"""Hubs after a change, as a clustering of everything by the same frequencies would give them.

The hub of a document depends on its keys and on their heads, so only those are looked at again who
are new, whose representative changed, or who have a key whose heads changed. Mostly these are few,
and known from the heads alone; otherwise the keys of all documents are read.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from roughly import _core
from roughly.clustering.frozen import Frequent, Heads, keys_of
from roughly.clustering.join import Hubs, MassRule
from roughly.clustering.outcome import reaching
from roughly.clustering.sketches import PairTable, Rows
from roughly.corpus.renumbering import NOBODY, Numbers, Renumbering
from roughly.storage.collection import Collection

_Keys = tuple[npt.NDArray[np.uint64], npt.NDArray[np.int64]]


# So many documents may be looked at again, or this share of all.
_MOST_AGAIN, _SHARE_AGAIN = 1 << 15, 32


class TooManyAgain(Exception):
    """The heads of very large masses changed: clustering everything is less work."""


class Entries(NamedTuple):
    """Heads by the numbers of representatives: key by key, in document order."""

    keys: npt.NDArray[np.uint64]
    numbers: Numbers

    def sorted(self) -> Entries:
        order = np.lexsort((self.numbers, self.keys))
        return Entries(self.keys[order], self.numbers[order])

    def first(self, most: int) -> Entries:
        """The first of each key, of sorted ones, each once."""
        keys, numbers = self
        again = np.zeros(len(keys), bool)
        again[1:] = (keys[1:] == keys[:-1]) & (numbers[1:] == numbers[:-1])
        keys, numbers = keys[~again], numbers[~again]
        starts = np.flatnonzero(np.concatenate(([True], keys[1:] != keys[:-1])))
        starts = starts[starts < len(keys)]
        place = np.arange(len(keys)) - np.repeat(starts, np.diff([*starts, len(keys)]))
        return Entries(keys[place < most], numbers[place < most])


class MassUpdate:
    """Finds the hubs of representatives after a change."""

    def __init__(
        self,
        after: Collection,
        renumbering: Renumbering,
        frequent: Frequent,
        rule: MassRule,
        threshold: Fraction,
        threads: int,
    ) -> None:
        self._after = after
        self._r = renumbering
        self._frequent = frequent
        self._rule = rule
        self._threshold = threshold
        self._threads = threads
        self._last: tuple[Numbers, _Keys] | None = None

    def update(self, hubs: Hubs, heads: Heads) -> tuple[Hubs, Numbers, Entries]:
        """From those before to those after: the hubs, who was looked at again, and the heads."""
        count = len(self._r.rows)
        mapped = np.full(count, _core.NO_HUB, np.uint32)
        lost = np.zeros(count, bool)
        there = np.flatnonzero((self._r.of_old != NOBODY) & (hubs != _core.NO_HUB))
        hub_now = self._r.of_old[hubs[there]]
        lost[self._r.of_old[there[hub_now == NOBODY]]] = True
        has = hub_now != NOBODY
        mapped[self._r.of_old[there[has]]] = hub_now[has]
        touched = np.union1d(self._r.fresh, self._r.moved)
        entries, affected = self._heads(heads, touched)
        again = np.union1d(np.union1d(touched, affected), np.flatnonzero(lost))
        if len(again) > len(touched) + max(_MOST_AGAIN, count // _SHARE_AGAIN):
            raise TooManyAgain
        mapped[again] = self._found(again, entries)
        return mapped, again, entries

    def _heads(self, heads: Heads, touched: Numbers) -> tuple[Entries, Numbers]:
        """The heads after, and the documents with a key whose heads changed."""
        number_of = np.full(len(self._after), NOBODY, np.int64)
        number_of[self._r.old_rows] = self._r.of_old
        old = Entries(heads.keys, number_of[heads.rows])
        moved = np.isin(old.numbers, self._r.moved)
        if (old.numbers == NOBODY).any() or (moved.any() and not self._r.keeps_order):
            # Others take the place of heads that are gone, or stand elsewhere.
            return self._all_heads(old)
        keys, offsets = self._keys(touched)
        own = Entries(keys, np.repeat(touched, np.diff(offsets)))
        concerned = np.isin(old.keys, np.unique(keys))
        among = Entries(
            np.concatenate((old.keys[concerned], own.keys)),
            np.concatenate((old.numbers[concerned], own.numbers)),
        )
        first = among.sorted().first(self._rule.heads)
        changed = _differing(Entries(old.keys[concerned], old.numbers[concerned]), first)
        is_changed = np.isin(old.keys, changed)
        of_key, counts = np.unique(old.keys[is_changed], return_counts=True)
        entries = Entries(
            np.concatenate((old.keys[~concerned], first.keys)),
            np.concatenate((old.numbers[~concerned], first.numbers)),
        ).sorted()
        if (counts >= self._rule.heads).any():
            # More documents may have such a key than its heads.
            return entries, self._having(of_key)
        return entries, np.unique(old.numbers[is_changed])

    def _all_heads(self, old: Entries) -> tuple[Entries, Numbers]:
        keys, offsets = self._all_keys()
        owner = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
        entries = Entries(keys, owner).sorted().first(self._rule.heads)
        # As they stood before: the same heads in another order are other hubs.
        changed = _differing(old, entries)
        return entries, np.unique(owner[np.isin(keys, changed)])

    def _having(self, wanted: npt.NDArray[np.uint64]) -> Numbers:
        """Who has one of these keys."""
        keys, offsets = self._all_keys()
        owner = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
        return np.unique(owner[np.isin(keys, wanted)])

    def _all_keys(self) -> _Keys:
        """Of all representatives, part by part."""
        rows = self._r.rows
        order = np.argsort(rows, kind="stable")
        parts = rows[order] // self._after.part_rows
        found: list[npt.NDArray[np.uint64]] = [np.zeros(0, np.uint64)]
        lengths = np.zeros(len(rows), np.int64)
        for some in np.split(order, np.flatnonzero(np.diff(parts)) + 1) if len(rows) else ():
            part = int(rows[some[0]]) // self._after.part_rows
            # Of the whole part, which lies in a row; then of those that are wanted.
            values, begins = self._after.chunk(part)
            keys, offsets = keys_of(values, begins, self._frequent, self._rule, self._threads)
            inside = rows[some].astype(np.int64) - part * self._after.part_rows
            counts = np.diff(offsets)[inside]
            found.append(keys[np.repeat(offsets[:-1][inside], counts) + _ranges(counts)])
            lengths[some] = counts
            self._after.release()
        # From the order of rows to that of numbers.
        begins = np.zeros(len(rows), np.int64)
        begins[order] = np.concatenate(([0], np.cumsum(lengths[order])))[:-1]
        offsets = np.concatenate(([0], np.cumsum(lengths)))
        where = np.arange(offsets[-1]) + np.repeat(begins - offsets[:-1], lengths)
        return np.concatenate(found)[where], offsets

    def _keys(self, numbers: Numbers) -> _Keys:
        # Mostly the same ones are asked for twice: who is new.
        if self._last is None or not np.array_equal(self._last[0], numbers):
            values, offsets = self._after.sketch_elements(self._r.rows[numbers].astype(np.int64))
            found = keys_of(values, offsets, self._frequent, self._rule, self._threads)
            self._last = numbers, found
        return self._last[1]

    def _found(self, numbers: Numbers, heads: Entries) -> Hubs:
        """The hubs of some representatives."""
        keys, offsets = self._keys(numbers)
        owner = np.repeat(np.arange(len(numbers)), np.diff(offsets))
        begin = np.searchsorted(heads.keys, keys, "left")
        count = np.searchsorted(heads.keys, keys, "right") - begin
        place = np.repeat(begin, count) + _ranges(count)
        tried, head = np.repeat(owner, count), heads.numbers[place]
        # Those that come before it, and have about its size.
        size = self._after.size[self._r.rows].astype(np.uint64)
        less = np.minimum(size[numbers[tried]], size[head])
        more = np.maximum(size[numbers[tried]], size[head])
        p, q = self._threshold.numerator, self._threshold.denominator
        can = (head < numbers[tried]) & (less * np.uint64(q) >= more * np.uint64(p))
        tried, head = tried[can], head[can]
        pairs = np.zeros((len(tried), 4), np.uint32)
        pairs[:, 0], pairs[:, 1] = head, numbers[tried]
        counted = measured(self._after, self._r.rows, "resemblance", pairs, self._threads)
        good = (counted[:, 3] > 0) & reaching(counted, self._threshold)
        found = np.full(len(numbers), _core.NO_HUB, np.uint32)
        # Backwards, so that the first one that does is written last.
        at = np.flatnonzero(good)[::-1]
        found[tried[at]] = head[at]
        return found


def measured(
    after: Collection, rows: Rows, measure: str, pairs: PairTable, threads: int
) -> PairTable:
    """Pairs of representatives, which `rows` are, counted on their sketches alone."""
    some, inside = np.unique(pairs[:, :2], return_inverse=True)
    own = rows[some].astype(np.int64)
    values, offsets = after.sketch_elements(own)
    chunk_rows = 1 << max(len(some) - 1, 0).bit_length()
    name, number = after.parameters.selection
    every = np.arange(len(some), dtype=np.uint32)
    sets = _core.SketchSet(
        [(values, offsets)] if len(some) else [],
        chunk_rows,
        every,
        np.ascontiguousarray(after.size[own]),
        np.ascontiguousarray(after.level[own]),
        number if name == "min" else 0,
        words=after.parameters.words > 0,
    )
    local = np.zeros((len(pairs), 4), np.uint32)
    local[:, :2] = inside.reshape(-1, 2)
    counted = sets.measure(measure, local, threads).copy()
    counted[:, :2] = pairs[:, :2]
    return counted


def _differing(one: Entries, two: Entries) -> npt.NDArray[np.uint64]:
    """Keys that do not have the same heads in both, in the same order; keys ascend in both."""
    changed = [np.zeros(0, np.uint64)]
    keys = np.union1d(one.keys, two.keys)
    begins = [np.searchsorted(entries.keys, keys) for entries in (one, two)]
    ends = [np.searchsorted(entries.keys, keys, "right") for entries in (one, two)]
    same_count = ends[0] - begins[0] == ends[1] - begins[1]
    changed.append(keys[~same_count])
    alike = [np.isin(e.keys, keys[same_count]) for e in (one, two)]
    differing = one.numbers[alike[0]] != two.numbers[alike[1]]
    changed.append(one.keys[alike[0]][differing])
    return np.unique(np.concatenate(changed))


def _ranges(counts: Numbers) -> Numbers:
    """0, 1, ... of each count, one after the other."""
    ends = np.cumsum(counts)
    total = int(ends[-1]) if len(ends) else 0
    return np.arange(total) - np.repeat(ends - counts, counts)
