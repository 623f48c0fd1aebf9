"""Pairs of documents of one category, however many categories there are: a join like
`clustering.join.Join`, made of joins of some categories each.

The same page may be on every host. Its documents resemble one another, and as they are of many
categories no pair of them counts, but one join of all would find every pair. So a large category is
joined by itself, small ones together while they are few documents, and whoever is alone in its
category not at all. Pairs of two categories that come of this must still be left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from roughly import _core
from roughly.clustering.join import Budget, Hubs, Join, MassRule, Measure
from roughly.clustering.sketches import RESIDENT_BYTES, PairTable, Rows, Sketches

Numbers = npt.NDArray[np.int64]

# Small categories are joined together up to so many documents, or elements of their sketches.
_DOCUMENTS = 1 << 10
_ELEMENTS = 1 << 22
# Of so few parts the joins are kept: each has a file as large as an eighth of all sketches.
_KEPT_JOINS = 4


class CategoryJoin:
    """Some rows of the sketches, in keep order, each of a category."""

    def __init__(
        self,
        sketches: Sketches,
        rows: Rows,
        category: npt.NDArray[np.uint64],
        *,
        threads: int,
        memory_bytes: int,
        scratch: Path,
    ) -> None:
        self._sketches = sketches
        self._rows = rows
        self._threads = threads
        self._memory_bytes = memory_bytes
        self._scratch = scratch
        self._set = sketches.taking_part(rows)
        self._level = sketches.level[rows]
        self._kept = sketches.kept()[rows].astype(np.int64)
        self._parts = list(self._divided(category))
        self._joins: dict[int, Join] = {}

    @property
    def levels(self) -> list[int]:
        """The levels of the sketches."""
        return [int(level) for level in np.unique(self._level)]

    def hubs(self, threshold: Fraction, rule: MassRule | None = None) -> Hubs:
        """As Join.hubs; a hub may be of another category."""
        found = np.full(len(self._rows), _core.NO_HUB, np.uint32)
        for number, part in enumerate(self._parts):
            hubs = self._join(number).hubs(threshold, rule)
            has = hubs != _core.NO_HUB
            found[part[has]] = part[hubs[has]]
        return found

    def pairs(
        self,
        measure: Measure,
        floor: Fraction,
        level: int,
        advance: Callable[[int], None],
        groups: Hubs,
    ) -> Iterator[PairTable]:
        """As Join.pairs."""
        for number, part in enumerate(self._parts):
            if (self._level[part] == level).any():
                join = self._join(number)
                for table in join.pairs(measure, floor, level, groups=groups[part]):
                    yield _numbered(table, part)
            advance(2 * len(part))
        advance(2 * (len(self._rows) - sum(map(len, self._parts))))

    def partners(
        self,
        measure: Measure,
        floor: Fraction,
        documents: Rows,
        marked: npt.NDArray[np.bool_],
    ) -> PairTable:
        """As Join.partners."""
        wanted = np.zeros(len(self._rows), dtype=bool)
        wanted[documents] = True
        found = [np.zeros((0, 4), np.uint32)]
        for number, part in enumerate(self._parts):
            chosen = np.flatnonzero(wanted[part]).astype(np.uint32)
            if len(chosen):
                table = self._join(number).partners(measure, floor, chosen, marked[part])
                found.append(_numbered(table, part))
        return np.concatenate(found)

    def measure(self, measure: Measure, pairs: PairTable) -> PairTable:
        """As Join.measure."""
        counted = self._set.measure(measure, np.ascontiguousarray(pairs), self._threads)
        self._sketches.release()
        return counted

    def _divided(self, category: npt.NDArray[np.uint64]) -> Iterator[Numbers]:
        """The documents that are joined together, ascending."""
        order = np.argsort(category, kind="stable")
        cuts = np.flatnonzero(np.diff(category[order])) + 1
        elements = np.concatenate(([0], np.cumsum(self._kept[order])))
        waiting: list[Numbers] = []
        documents = size = 0
        for begin, end in zip([0, *cuts.tolist()], [*cuts.tolist(), len(order)], strict=True):
            if end - begin < 2:
                continue
            more = int(elements[end] - elements[begin])
            if waiting and (documents + end - begin > _DOCUMENTS or size + more > _ELEMENTS):
                yield np.sort(np.concatenate(waiting))
                waiting, documents, size = [], 0, 0
            waiting.append(order[begin:end])
            documents, size = documents + end - begin, size + more
        if waiting:
            yield np.sort(np.concatenate(waiting))

    def _join(self, number: int) -> Join:
        """The join of a part, whose documents are numbered from 0."""
        if number in self._joins:
            return self._joins[number]
        part = self._parts[number]
        sketches, rows = self._sketches, self._rows[part]
        table = self._memory_bytes // 8
        if len(part) <= _DOCUMENTS and (elements := int(self._kept[part].sum())) <= _ELEMENTS:
            sketches, rows = _copied(sketches, rows), np.arange(len(part), dtype=np.uint32)
            table = 16 * elements
        join = Join(
            sketches,
            rows,
            threads=self._threads,
            budget=Budget(table, self._memory_bytes // 16, RESIDENT_BYTES),
            scratch=self._scratch,
        )
        if len(self._parts) <= _KEPT_JOINS:
            self._joins[number] = join
        return join


def _copied(sketches: Sketches, rows: Rows) -> Sketches:
    """The sketches of some rows, by themselves in memory."""
    found: list[Any] = [np.zeros(0, np.uint64)]
    for row in rows.tolist():
        values, offsets = sketches.chunks[row // sketches.chunk_rows]
        at = row % sketches.chunk_rows
        found.append(values[offsets[at] : offsets[at + 1]])
    offsets = np.cumsum([len(values) for values in found], dtype=np.int64)
    chunk = np.concatenate(found), offsets
    sketches.release()
    chunk_rows = 1 << max(len(rows) - 1, 0).bit_length()
    return Sketches(
        sketches.parameters, [chunk], chunk_rows, sketches.size[rows], sketches.level[rows]
    )


def _numbered(table: PairTable, part: Numbers) -> PairTable:
    """Pairs of a part's documents as those of all."""
    pairs = table.copy()
    pairs[:, :2] = part[table[:, :2]]
    return pairs
