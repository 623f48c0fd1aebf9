"""The documents that a deduplication looks at: those of the input, and before them those of a
corpus that the input is held against, if there is one.

A row of the pool is a row of the corpus, or `base` and more: a row of the input. The rows between
the corpus's last one and `base` are nobody's, and take no part in anything: they make both segments
consist of chunks of the same length.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from roughly.clustering.sketches import Sketches
from roughly.condition import NO_CONDITION, Attributes, Condition
from roughly.storage.scratch import IN_MEMORY, Scratch
from roughly.verification.contents import JoinedContents, StoredContents, Texts

if TYPE_CHECKING:
    from roughly.storage.collection import Stored

Hashes = npt.NDArray[np.uint64]  # two columns

_Chunk = tuple[npt.NDArray[np.uint64], npt.NDArray[np.int64]]


class Pool:
    """The documents of a segment, and of another one before it."""

    def __init__(
        self,
        segment: Stored,
        contents: Texts,
        corpus: Stored | None = None,
        condition: Condition = NO_CONDITION,
        scratch: Scratch = IN_MEMORY,
    ) -> None:
        self.condition = condition
        self.scratch = scratch
        self.segment = segment
        self.corpus = corpus
        self.parameters = segment.parameters
        self.chunk_rows = segment.part_rows
        self.base = 0
        self.contents = contents
        if corpus is not None:
            # Both are powers of two, so the chunks of one can be cut into those of the other.
            self.chunk_rows = min(segment.part_rows, corpus.part_rows)
            self.base = -(-len(corpus) // self.chunk_rows) * self.chunk_rows
            self.contents = JoinedContents(StoredContents(corpus), contents, self.base)

    def __len__(self) -> int:
        """Rows, with those that are nobody's."""
        return self.base + len(self.segment)

    @cached_property
    def size(self) -> npt.NDArray[np.uint32]:
        """Of each row the number of distinct shingles."""
        return self._together("size")

    @cached_property
    def level(self) -> npt.NDArray[np.uint8]:
        """Of each row the level of its sketch."""
        return self._together("level")

    @cached_property
    def tokens(self) -> npt.NDArray[np.uint32]:
        """Of each row the number of tokens."""
        found: npt.NDArray[np.uint32] = self._in_scratch("tokens", np.uint32)
        return found

    @cached_property
    def text_bytes(self) -> npt.NDArray[np.int64]:
        """Of each row the bytes of its text."""
        found: npt.NDArray[np.int64] = self._in_scratch("bytes", np.int64)
        return found

    @cached_property
    def attributes(self) -> Attributes:
        """Of each row what the condition on pairs looks at."""
        own = Attributes.of(self.segment, self.condition)
        if self.corpus is None:
            return own
        known = Attributes.of(self.corpus, self.condition)
        return Attributes.joined([known, own], [self._gap, 0])

    def hashes(self, name: str) -> Hashes:
        """Of each row the two halves of a hash, as a segment has them."""
        own = self.segment.hashes(name)
        if self.corpus is None:
            return own
        return np.concatenate((self.corpus.hashes(name), np.zeros((self._gap, 2), "u8"), own))

    def hash_pieces(self, name: str) -> Iterator[tuple[int, npt.NDArray[Any]]]:
        """The same part by part, each with its first row; in place until the next one."""
        if self.corpus is not None:
            yield from self.corpus.hash_pieces(name)
        for begin, hashes in self.segment.hash_pieces(name):
            yield self.base + begin, hashes

    def column(self, name: str) -> pa.ChunkedArray:
        """A column of numbers."""
        own = self.segment.column(name)
        if self.corpus is None:
            return own
        gap = pa.array(np.zeros(self._gap, own.type.to_pandas_dtype()))
        return pa.chunked_array([*self.corpus.column(name).chunks, gap, *own.chunks], own.type)

    def sketches(self) -> Sketches:
        """The sketches of all rows, in place, without words: only shingles make a document go."""
        own = Sketches.of_segment(self.segment, self.scratch)
        if self.corpus is None:
            return replace(own, shingles_only=True)
        chunks: list[_Chunk] = []
        places: list[tuple[Path, int]] = []
        known = Sketches.of_segment(self.corpus, self.scratch)
        for segment, sketches in ((self.corpus, known), (None, own)):
            for chunk, place in zip(sketches.chunks, sketches.places, strict=True):
                for some, first in _cut(chunk, self.chunk_rows):
                    chunks.append(some)
                    places.append((place[0], place[1] + first * some[0].itemsize))
            if segment is not None and self._gap:
                values, offsets = chunks[-1]
                chunks[-1] = values, np.concatenate((offsets, np.repeat(offsets[-1:], self._gap)))
        return Sketches(
            self.parameters,
            chunks,
            self.chunk_rows,
            self.size,
            self.level,
            self.release,
            places,
            shingles_only=True,
        )

    def release(self) -> None:
        """Takes all files out of this process's memory."""
        self.scratch.release()
        self.segment.release()
        if self.corpus is not None:
            self.corpus.release()

    @property
    def _gap(self) -> int:
        """Rows that are nobody's."""
        return self.base - (0 if self.corpus is None else len(self.corpus))

    def _in_scratch(self, name: str, dtype: npt.DTypeLike) -> Any:
        """A column of numbers that is wanted here and there."""
        found = self.scratch.zeros(len(self), dtype)
        begin = 0
        for chunk in self.column(name).chunks:
            found[begin : begin + len(chunk)] = chunk.to_numpy()
            begin += len(chunk)
        self.release()
        return found

    def _together(self, name: str) -> npt.NDArray[Any]:
        own: npt.NDArray[Any] = getattr(self.segment, name)
        if self.corpus is None:
            return own
        return np.concatenate((getattr(self.corpus, name), np.zeros(self._gap, own.dtype), own))


def _cut(chunk: _Chunk, rows: int) -> list[tuple[_Chunk, int]]:
    """A chunk in pieces of some rows, each with the number of its first value in the chunk."""
    values, offsets = chunk
    if len(offsets) <= rows + 1:
        return [(chunk, 0)]
    pieces = []
    for begin in range(0, len(offsets) - 1, rows):
        own = offsets[begin : begin + rows + 1]
        first, last = int(own[0]), int(own[-1])
        pieces.append(((values[first:last], own - own[0]), first))
    return pieces
