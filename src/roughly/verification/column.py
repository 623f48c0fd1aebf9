"""Single values of columns of segments, for rows in any order; only the parts that hold them are
read."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from roughly.storage.scratch import IN_MEMORY, Scratch, stretches

if TYPE_CHECKING:
    from roughly.storage.collection import Stored

Rows = npt.NDArray[np.int64]

# Values of more parts than these are taken with no more than one part in memory at a time.
_PARTS_AT_ONCE = 64


class Columns:
    """The columns of a segment or a collection."""

    def __init__(self, segment: Stored) -> None:
        self._segment = segment
        self._columns: dict[str, pa.ChunkedArray] = {}  # in place, in the segment's files
        self._chunks: dict[str, list[npt.NDArray[Any]]] = {}

    def take(self, name: str, rows: Rows) -> pa.Array:
        """The values of these rows, in memory, in their order."""
        column = self._columns.get(name)
        if column is None:
            column = self._columns[name] = self._segment.column(name)
        if not len(rows):
            return pa.array([], column.type)
        if len(rows) > 1 and (rows[1:] < rows[:-1]).any():
            order = np.argsort(rows, kind="stable")
            back = np.empty(len(rows), dtype=np.int64)
            back[order] = np.arange(len(rows))
            return self.take(name, rows[order]).take(pa.array(back))
        part = rows // self._segment.part_rows
        starts = np.concatenate(([0], np.flatnonzero(np.diff(part)) + 1))
        found = []
        for some in np.split(rows, starts[1:]):
            number = int(some[0]) // self._segment.part_rows
            inside = pa.array(some - number * self._segment.part_rows)
            found.append(column.chunk(number).take(inside))
            if len(starts) > _PARTS_AT_ONCE:
                self._segment.release_part(number)
        return found[0] if len(found) == 1 else pa.concat_arrays(found)

    def numbers(self, name: str, rows: Rows, scratch: Scratch = IN_MEMORY) -> npt.NDArray[Any]:
        """The same as numbers."""
        chunks = self._chunks.get(name)
        if chunks is None:
            column = self._segment.column(name)
            # In place, too: numbers without nulls.
            chunks = self._chunks[name] = [np.asarray(chunk) for chunk in column.chunks]
        found: npt.NDArray[Any]
        found = scratch.zeros(len(rows), chunks[0].dtype if chunks else np.int64)
        for begin, end in stretches(len(rows)):
            part, inside = np.divmod(rows[begin:end], self._segment.part_rows)
            some = found[begin:end]
            if (part[1:] < part[:-1]).any():
                order = np.argsort(part, kind="stable")
                values = np.empty_like(some)
                self._pick(chunks, part[order], inside[order], values)
                some[order] = values
            else:
                self._pick(chunks, part, inside, some)
        return found

    @staticmethod
    def _pick(
        chunks: list[npt.NDArray[Any]], part: Rows, inside: Rows, found: npt.NDArray[Any]
    ) -> None:
        """Values of parts that ascend."""
        cuts = (np.flatnonzero(np.diff(part)) + 1).tolist()
        for begin, end in pairwise([0, *cuts, len(part)]):
            if begin < end:
                found[begin:end] = chunks[part[begin]][inside[begin:end]]

    def release(self) -> None:
        """Takes what was read out of this process's memory."""
        self._segment.release()
