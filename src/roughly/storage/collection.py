"""All documents of a corpus: several segments, read as if they were one, less what was removed.

A row of the collection is (number of its part, counted over all segments) * part_rows + its row in
that part. The last part of a segment may be short; the rows between its end and the next segment
are holes: nobody's. Columns, sizes and sketches have empty values there, so that everything that is
indexed by rows works unchanged. `live` tells who is there: neither a hole nor removed. Nothing here
changes; any thread may read it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from roughly.errors import MismatchError, ParameterError
from roughly.parameters import Parameters
from roughly.storage.segment import PART_ROWS, Offsets, Segment, Values, column_type
from roughly.storage.sketch_table import SketchTable

Rows = npt.NDArray[np.int64]

_NONE_REMOVED: Rows = np.zeros(0, np.int64)


class Collection:
    """The segments of a corpus in their order. `parameters` and `text` are for one without any."""

    def __init__(
        self,
        segments: Sequence[Segment],
        removed: Rows = _NONE_REMOVED,
        *,
        parameters: Parameters | None = None,
        text: bool = False,
    ) -> None:
        self.segments = list(segments)
        self.removed = removed
        """Rows that were removed, ascending."""
        if parameters is None:
            if not segments:
                raise ParameterError("segments: none: wanted one, or the parameters of sketches")
            parameters = segments[0].parameters
        self.parameters = parameters
        self.part_rows = segments[0].part_rows if segments else PART_ROWS
        for segment in segments:
            if (segment.parameters, segment.part_rows) != (parameters, self.part_rows):
                raise MismatchError(
                    f"{segment.directory}: cannot stand beside the others: it is of"
                    f" {segment.parameters}, {segment.part_rows} rows a part, wanted {parameters},"
                    f" {self.part_rows}"
                )
        self.attributes: dict[str, Any] = dict(segments[0].attributes) if segments else {}
        """Columns beside the usual ones that all segments have, and where each comes from."""
        for segment in segments[1:]:
            if segment.attributes != self.attributes:
                raise MismatchError(
                    f"{segment.directory}: cannot stand beside the others: it has"
                    f" {segment.attributes}, wanted {self.attributes}"
                )
        self.has_text = all(s.has_text for s in segments) if segments else text
        # The first part of each segment, and how many parts there are.
        counts = [segment.parts for segment in segments]
        self._first_parts = [0, *accumulate(counts)]

    def __len__(self) -> int:
        """Rows, with holes and those that were removed."""
        for number in reversed(range(len(self.segments))):
            if len(self.segments[number]):
                return self.first_row(number) + len(self.segments[number])
        return 0

    def __repr__(self) -> str:
        return f"Collection({len(self.segments)} segments, {self.documents} documents)"

    @property
    def documents(self) -> int:
        """Documents that are there."""
        return sum(map(len, self.segments)) - len(self.removed)

    @property
    def content_bytes(self) -> int:
        """Of these, as UTF-8."""
        (gone,) = self.arrays(["bytes"], self.removed)
        return sum(segment.content_bytes for segment in self.segments) - int(gone.sum())

    @property
    def parts(self) -> int:
        """How many there are."""
        return self._first_parts[-1]

    @cached_property
    def live(self) -> npt.NDArray[np.bool_]:
        """Of every row whether a document is there."""
        found = np.zeros(len(self), bool)
        for number, segment in enumerate(self.segments):
            begin = self.first_row(number)
            found[begin : begin + len(segment)] = True
        found[self.removed] = False
        found.flags.writeable = False
        return found

    @cached_property
    def live_rows(self) -> npt.NDArray[np.uint32]:
        """The rows of all documents that are there, ascending."""
        return np.flatnonzero(self.live).astype(np.uint32)

    def first_row(self, segment: int) -> int:
        """The row with which the segment of that number begins."""
        return self._first_parts[segment] * self.part_rows

    def segment_of(self, row: int) -> tuple[int, int]:
        """The number of the segment that has a row, and the row in it."""
        part = row // self.part_rows
        number = bisect_right(self._first_parts, part) - 1
        return number, row - self.first_row(number)

    def rows(self, part: int) -> tuple[int, int]:
        """The first row of a part, and the first behind its documents."""
        segment, own = self._part(part)
        begin, end = segment.rows(own)
        return part * self.part_rows, part * self.part_rows + end - begin

    def chunk(self, part: int) -> tuple[Values, Offsets]:
        """The sketches of a part: their elements, and where each begins in them."""
        segment, own = self._part(part)
        values, offsets = segment.chunk(own)
        gap = self._gap(part)
        if gap:
            offsets = np.concatenate((offsets, np.repeat(offsets[-1:], gap)))
        return values, offsets

    def values_place(self, part: int) -> tuple[Path, int]:
        """In which file the elements of `chunk` are, and from which byte on."""
        segment, own = self._part(part)
        return segment.values_place(own)

    @cached_property
    def size(self) -> npt.NDArray[np.uint32]:
        """Of all rows, in memory: the number of distinct shingles."""
        return self._whole("size", np.uint32)

    @cached_property
    def kept(self) -> npt.NDArray[np.uint32]:
        """Of all rows, in memory: the elements of the sketch."""
        found = np.zeros(len(self), np.uint32)
        for part in range(self.parts):
            begin, end = self.rows(part)
            segment, own = self._part(part)
            found[begin:end] = segment.kept(own)
        found.flags.writeable = False
        return found

    @cached_property
    def level(self) -> npt.NDArray[np.uint8]:
        """Of all rows, in memory: the level of adaptive sketches, else 0."""
        return self._whole("level", np.uint8)

    @cached_property
    def tokens(self) -> npt.NDArray[np.uint32]:
        """Of all rows, in memory: the number of tokens."""
        return self._whole("tokens", np.uint32)

    def hashes(self, name: str) -> npt.NDArray[np.uint64]:
        """Of all rows, in memory: the two halves of an equivalence hash, as a segment has them."""
        found = np.zeros((len(self), 2), np.uint64)
        for number, segment in enumerate(self.segments):
            begin = self.first_row(number)
            found[begin : begin + len(segment)] = segment.hashes(name)
        return found

    def hash_pieces(self, name: str) -> Iterator[tuple[int, npt.NDArray[Any]]]:
        """The same part by part, each with its first row; in place until the next one."""
        for number, segment in enumerate(self.segments):
            for begin, hashes in segment.hash_pieces(name):
                yield self.first_row(number) + begin, hashes

    def kept_pieces(self) -> Iterator[tuple[int, npt.NDArray[np.uint32]]]:
        """How many elements sketches have, part by part, each with its first row."""
        for number, segment in enumerate(self.segments):
            for begin, kept in segment.kept_pieces():
                yield self.first_row(number) + begin, kept

    def rows_hashed(self, name: str, wanted: Values) -> Rows:
        """Rows whose hash in a column has one of these for its first half, ascending."""
        found = [np.zeros(0, np.int64)]
        for number, segment in enumerate(self.segments):
            found.append(segment.rows_hashed(name, wanted) + self.first_row(number))
        return np.concatenate(found)

    def ids(self) -> pa.ChunkedArray:
        return self.column("id")

    def dates(self) -> pa.ChunkedArray:
        return self.column("date")

    def column(self, name: str) -> pa.ChunkedArray:
        """A column of all rows, a chunk a part. Holes have 0, or nothing."""
        chunks = [chunk for segment in self.segments for chunk in segment.column(name).chunks]
        padded = [_padded(chunk, self._gap(part)) for part, chunk in enumerate(chunks)]
        return pa.chunked_array(padded, column_type(name))

    def part_column(self, part: int, name: str) -> pa.Array:
        """A column of the documents of one part, without holes."""
        segment, own = self._part(part)
        return segment.part_column(own, name)

    def take(self, name: str, rows: Rows) -> pa.Array:
        """The values of some rows, in memory, in their order; only their parts are read."""
        if not len(rows):
            return pa.array([], column_type(name))
        found, places = [], []
        for segment, part, inside, at in self._by_part(rows):
            found.append(segment.part_column(part, name).take(pa.array(inside)))
            places.append(at)
        order = np.concatenate(places)
        back = np.empty(len(order), np.int64)
        back[order] = np.arange(len(order))
        return pa.concat_arrays(found).take(pa.array(back))

    def values(self, name: str, rows: Rows) -> list[Any]:
        """The same as Python's values: the faster way for a few rows."""
        found = []
        for row in rows.tolist():
            segment, part = self._part(row // self.part_rows)
            found.append(segment.part_column(part, name)[row % self.part_rows].as_py())
        return found

    def arrays(self, names: Sequence[str], rows: Rows) -> list[npt.NDArray[Any]]:
        """The same of several columns of numbers, booleans or hashes, these as two halves."""
        kinds = [column_type(name) for name in names]
        found: list[npt.NDArray[Any]] = [
            np.empty((len(rows), 2), np.uint64)
            if pa.types.is_fixed_size_binary(kind)
            else np.empty(len(rows), kind.to_pandas_dtype())
            for kind in kinds
        ]
        for segment, part, inside, at in self._by_part(rows):
            for name, values in zip(names, found, strict=True):
                values[at] = segment.part_array(part, name)[inside]
        return found

    def sketches(self, rows: Rows) -> SketchTable:
        """The sketches of some rows, in their order, copied, with all that is stored of them."""
        names = ("size", "tokens", "level", "content", "canonical", "sketch_hash")
        return SketchTable(*self.sketch_elements(rows), *self.arrays(names, rows))

    def sketch_elements(self, rows: Rows) -> tuple[Values, Offsets]:
        """The elements of their sketches alone, and where each begins."""
        values = [np.zeros(0, np.uint64)] * (len(rows) + 1)  # the first is nobody's
        for segment, part, inside, at in self._by_part(rows):
            pieces = segment.sketches_of(part, inside)
            for place, piece in zip(at.tolist(), pieces, strict=True):
                values[place + 1] = piece
        offsets = np.cumsum([len(piece) for piece in values], dtype=np.int64)
        return np.concatenate(values), offsets

    def text(self, rows: Rows) -> pa.Array:
        """The texts of some documents, in memory. Their rows must ascend."""
        rows = np.asarray(rows, np.int64)
        bounds = [self.first_row(number) for number in range(len(self.segments))]
        # Whoever asks for rows behind the last one hears of it from the last segment.
        cuts = [*np.searchsorted(rows, bounds[1:]).tolist(), len(rows)]
        found, begin = [pa.array([], pa.large_binary())], 0
        for segment, first, end in zip(self.segments, bounds, cuts, strict=False):
            if end > begin or not segment.has_text:
                found.append(segment.text(rows[begin:end] - first))
            begin = end
        return pa.concat_arrays(found)

    def release(self) -> None:
        """Takes all files out of this process's memory. Everything given out stays valid."""
        for segment in self.segments:
            segment.release()

    def release_part(self, part: int) -> None:
        """The same for the files of one part: for whoever goes through them all, one by one."""
        segment, own = self._part(part)
        segment.release_part(own)

    def release_beyond(self, most: int) -> None:
        """The same, if more than so many bytes may be there."""
        if sum(segment.touched_bytes for segment in self.segments) > most:
            self.release()

    def verify(self, threads: int | None = None) -> list[str]:
        """Checks every byte; what is wrong, a line a file."""
        return [line for segment in self.segments for line in segment.verify(threads)]

    def close(self) -> None:
        """Lets go of all files; what was read of them stays valid."""
        for segment in self.segments:
            segment.close()

    @property
    def sources(self) -> list[str]:
        """The names of all sources, segment by segment."""
        return [name for segment in self.segments for name in segment.sources]

    @property
    def skipped(self) -> dict[str, Any]:
        """What was not read, of all segments together."""
        total: dict[str, Any] = {
            "reasons": {},
            "first": [],
            "ignored": {},
            "repeated_ids": 0,
            "unread_dates": 0,
        }
        for segment in self.segments:
            for name in ("reasons", "ignored"):
                for reason, count in segment.skipped.get(name, {}).items():
                    total[name][reason] = total[name].get(reason, 0) + count
            total["first"] += segment.skipped.get("first", [])
            for name in ("repeated_ids", "unread_dates"):
                total[name] += segment.skipped.get(name, 0)
        return total

    def _by_part(self, rows: Rows) -> Iterator[tuple[Segment, int, Rows, Rows]]:
        """Rows part by part: the segment, the part's number in it, rows inside the part, ascending,
        and where these stand among those that were given."""
        rows = np.asarray(rows, np.int64)
        order = np.argsort(rows, kind="stable")
        inside = rows[order]
        parts = inside // self.part_rows
        inside -= parts * self.part_rows
        edges = (np.flatnonzero(np.diff(parts)) + 1).tolist()
        for begin, end in pairwise([0, *edges, len(rows)] if len(rows) else []):
            yield *self._part(int(parts[begin])), inside[begin:end], order[begin:end]

    def _part(self, part: int) -> tuple[Segment, int]:
        number = bisect_right(self._first_parts, part) - 1
        return self.segments[number], part - self._first_parts[number]

    def _gap(self, part: int) -> int:
        """Holes behind a part; none behind the last one."""
        begin, end = self.rows(part)
        return 0 if part == self.parts - 1 else self.part_rows - (end - begin)

    def _whole(self, name: str, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
        if len(self.segments) == 1:
            own: npt.NDArray[Any] = getattr(self.segments[0], name)
            return own  # one array for both
        found = np.zeros(len(self), dtype)
        for number, segment in enumerate(self.segments):
            begin = self.first_row(number)
            found[begin : begin + len(segment)] = getattr(segment, name)
        found.flags.writeable = False
        return found


# Either can be clustered, reported, or held against.
Stored = Segment | Collection


def _padded(chunk: pa.Array, gap: int) -> pa.Array:
    if not gap:
        return chunk
    kind = chunk.type
    if pa.types.is_integer(kind) or pa.types.is_boolean(kind):
        empty = pa.array(np.zeros(gap, bool)).cast(kind)
    elif pa.types.is_string(kind):
        empty = pa.array([""] * gap, kind)
    else:
        empty = pa.nulls(gap, kind)
    return pa.concat_arrays([chunk, empty])
