"""Sketches of a collection in input order, wherever they lie, as the core's joins want them.

A row is a document's number in input order. The sketches may be mapped from files; `release` lets
their pages go, and nothing here copies them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from roughly import _core
from roughly.parameters import Parameters
from roughly.sketch import SketchBatch
from roughly.storage.scratch import IN_MEMORY, Scratch, stretches
from roughly.storage.sketch_table import shingles_in

if TYPE_CHECKING:
    from roughly.storage.collection import Stored

PairTable = npt.NDArray[np.uint32]  # columns a, b, common, sampled; a < b
Rows = npt.NDArray[np.uint32]
Chunk = tuple[npt.NDArray[np.uint64], npt.NDArray[np.int64]]  # values, offsets

_NOBODY = np.uint32(0xFFFFFFFF)

RESIDENT_BYTES = 1 << 26

# Documents whose sketches are looked at before their pages are let go, some 8 MB; or more, so that
# there are not too many steps.
STEP_DOCUMENTS = 1 << 12
_MOST_STEPS = 256


@dataclass(frozen=True, slots=True)
class Sketches:
    """Set sketches: all, mod, min or adaptive."""

    parameters: Parameters
    chunks: list[Chunk]
    chunk_rows: int  # rows in every chunk but the last, a power of two
    size: npt.NDArray[np.uint32]  # of every row: distinct shingles
    level: npt.NDArray[np.uint8]
    release: Callable[[], None] = field(default=lambda: None)
    places: list[tuple[Path, int]] = field(default_factory=list)  # of the chunks' values in files
    shingles_only: bool = False  # whether words of short documents play no part

    @classmethod
    def of_segment(cls, segment: Stored, scratch: Scratch = IN_MEMORY) -> Sketches:
        """Those of a segment; where each begins lies in scratch: eight bytes a document."""
        chunks = []
        every = scratch.zeros(len(segment) + segment.parts, np.int64)
        at = 0
        for part in range(segment.parts):
            values, offsets = segment.chunk(part)
            # Where sketches begin is wanted all the time and all over: in place, every file would
            # have some pages in memory.
            own = every[at : at + len(offsets)]
            own[:] = offsets
            at += len(offsets)
            chunks.append((values, own))
            segment.release_part(part)  # A part that is opened is read, to check it.
        return cls(
            segment.parameters,
            chunks,
            segment.part_rows,
            segment.size,
            segment.level,
            segment.release,
            [segment.values_place(n) for n in range(segment.parts)],
        )

    @classmethod
    def of_batch(cls, batch: SketchBatch) -> Sketches:
        columns = batch.columns
        rows = 1 << max(len(batch) - 1, 0).bit_length()
        chunks = [(columns.values, columns.offsets)] if len(batch) else []
        return cls(batch.parameters, chunks, rows, columns.size, columns.level)

    def __len__(self) -> int:
        return len(self.size)

    @property
    def smallest(self) -> int:
        """The K of min:K sketches, else 0."""
        name, number = self.parameters.selection
        return number if name == "min" else 0

    def kept(self) -> npt.NDArray[np.uint32]:
        """Elements in every row's sketch."""
        counts = [piece for _, piece in self.kept_pieces()]
        return np.concatenate(counts) if counts else np.zeros(0, np.uint32)

    def kept_pieces(self) -> Iterator[tuple[int, npt.NDArray[np.uint32]]]:
        """The same chunk by chunk, each with its first row."""
        without_words = self.shingles_only and self.parameters.words
        for number, (values, offsets) in enumerate(self.chunks):
            if without_words:
                counts = shingles_in(values, offsets)
                _core.release_buffer(values)  # They were looked at.
            else:
                counts = np.diff(offsets).astype(np.uint32)
            yield number * self.chunk_rows, counts

    def documents_in(self, size: int) -> int:
        """About how many documents' sketches have so many bytes, even where they are largest: a
        step's, at least."""
        # Long documents may lie together. Few of them do not matter: a step has more.
        largest = [
            values.nbytes / max(len(offsets) - 1, STEP_DOCUMENTS) for values, offsets in self.chunks
        ]
        return max(STEP_DOCUMENTS, int(size / max([*largest, 1])))

    def bytes_of(self, rows: Rows) -> int:
        """Of the sketches of these rows."""
        pieces = ((offsets, within) for _, (_, offsets), within in self._pieces(rows))
        return 8 * sum(int((offsets[w + 1] - offsets[w]).sum()) for offsets, w in pieces)

    def of_rows(self, rows: Rows) -> Sketches:
        """The sketches of these rows by themselves, numbered in this order, in memory."""
        counts = np.zeros(len(rows), np.int64)
        pieces = list(self._pieces(rows))
        for of_chunk, (_, offsets), within in pieces:
            counts[of_chunk] = offsets[within + 1] - offsets[within]
        begins = np.append(0, np.cumsum(counts))
        values = np.zeros(begins[-1], np.uint64)
        for of_chunk, (source, offsets), within in pieces:
            some = counts[of_chunk]
            # Of every element its place within its sketch.
            place = np.arange(some.sum()) - np.repeat(np.cumsum(some) - some, some)
            values[np.repeat(begins[of_chunk], some) + place] = source[
                np.repeat(offsets[within], some) + place
            ]
            _core.release_buffer(source)
        return Sketches(
            self.parameters,
            [(values, begins)] if len(rows) else [],
            1 << max(len(rows) - 1, 0).bit_length(),
            self.size[rows],
            self.level[rows],
            shingles_only=self.shingles_only,
        )

    def _pieces(self, rows: Rows) -> Iterator[tuple[Rows, Chunk, npt.NDArray[np.int64]]]:
        """Chunk by chunk which of these rows it has, and where in it they are."""
        order = np.argsort(rows, kind="stable").astype(np.uint32)
        chunk_of = rows[order] // self.chunk_rows
        for some in np.split(order, np.flatnonzero(np.diff(chunk_of)) + 1) if len(rows) else []:
            number = int(rows[some[0]]) // self.chunk_rows
            within = rows[some].astype(np.int64) - number * self.chunk_rows
            yield some, self.chunks[number], within

    def taking_part(
        self, rows: Rows, resident_bytes: int = RESIDENT_BYTES, scratch: Scratch = IN_MEMORY
    ) -> _core.SketchSet:
        """The sketches of these rows, numbered in this order. If all are more than
        `resident_bytes`, single ones that are wanted here and there are read from their files:
        touching them in place would bring all of them into memory."""
        values = sum(values.nbytes for values, _ in self.chunks)
        files = _open_files(self.places) if values > resident_bytes else []
        return _core.SketchSet(
            self.chunks,
            self.chunk_rows,
            rows,
            self.size,
            self.level,
            self.smallest,
            files,
            words=self.parameters.words > 0,
            shingles_only=self.shingles_only,
            visits=self._visits(rows, scratch),
        )

    def _visits(self, rows: Rows, scratch: Scratch) -> Rows | None:
        """Where these rows are among themselves, in the order in which they lie; None if that is
        theirs, or if a row is there twice."""
        pieces = list(stretches(len(rows)))
        if all((np.diff(rows[a : b + 1].astype(np.int64)) >= 0).all() for a, b in pieces):
            return None
        place: Rows = scratch.full(len(self), _NOBODY, np.uint32)
        for begin, end in pieces:
            place[rows[begin:end]] = np.arange(begin, end, dtype=np.uint32)
        visits: Rows = scratch.zeros(len(rows), np.uint32)
        at = 0
        for begin, end in stretches(len(self)):
            some = place[begin:end]
            some = some[some != _NOBODY]
            visits[at : at + len(some)] = some
            at += len(some)
        return visits if at == len(rows) else None


def _open_files(places: list[tuple[Path, int]]) -> list[tuple[int, int]]:
    """Descriptors and first bytes; none if the system does not allow that many. They belong to the
    set that is made of them."""
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = len(places) + 256
    if soft != resource.RLIM_INFINITY and soft < wanted:
        if hard != resource.RLIM_INFINITY and hard < wanted:
            return []
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    return [(os.open(path, os.O_RDONLY | os.O_CLOEXEC), first) for path, first in places]


def steps(documents: int, least: int = STEP_DOCUMENTS) -> Iterator[tuple[int, int]]:
    """Stretches of documents, one after the other."""
    step = max(least, documents // _MOST_STEPS)
    for begin in range(0, documents, step):
        yield begin, min(documents, begin + step)
