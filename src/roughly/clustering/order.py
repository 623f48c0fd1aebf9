"""Document order: by date, undated first, then by id as bytes.

It does not depend on how documents were read, so neither does anything that is made in this order.
Ids are looked at part by part, and sorted in as many ranges as the room asks for.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from roughly.clustering.sketches import Rows
from roughly.storage.scratch import IN_MEMORY, Scratch

if TYPE_CHECKING:
    from roughly.storage.collection import Stored

# Bytes for the ids that are sorted at once, and what sorting takes beside the bytes of each.
ROOM_BYTES = 1 << 26
_ROW_BYTES = 96
# Documents by which the ranges are chosen, for each range.
_SAMPLES = 64

_Key = tuple[str, str]  # date, id


def document_order(
    documents: Stored, room_bytes: int = ROOM_BYTES, scratch: Scratch = IN_MEMORY
) -> Rows:
    """The rows of all documents that are there, in document order."""
    parts, rows, size = _Parts(documents), documents.documents, 0
    ascending, last = True, None
    for _, dates, ids in parts:
        size += ids.nbytes + dates.nbytes
        if ascending and len(ids):
            first = _key(dates, ids, 0)
            ascending = _ascending(ids, dates) and (last is None or last < first)
            last = _key(dates, ids, len(ids) - 1)
    if ascending:
        rows_there: Rows = scratch.copy(documents.live_rows)
        return rows_there
    ranges = -(-(size + rows * _ROW_BYTES) // max(room_bytes, 1))
    ranges = min(max(ranges, 1), max(rows, 1))
    order: Rows = scratch.zeros(rows, np.uint32)
    end = 0
    for low, high in pairwise([None, *_splitters(parts, ranges, rows), None]):
        found: list[tuple[Rows, pa.Array, pa.Array]] = []
        for numbers, dates, ids in parts:
            inside = _inside(dates, ids, low, high)
            # Copied: what stays in the file would keep its pages here.
            mask = pa.array(inside)
            found.append((numbers[inside], dates.filter(mask), ids.filter(mask)))
        numbers = np.concatenate([piece[0] for piece in found])
        columns = (pa.chunked_array([piece[n] for piece in found], pa.string()) for n in (2, 1))
        order[end : end + len(numbers)] = numbers[ordered(*columns)]
        end += len(numbers)
    return order


def ordered(ids: pa.ChunkedArray, dates: pa.ChunkedArray) -> Rows:
    """The rows in document order. Arrow compares strings by their bytes, and its sort is stable."""
    table = pa.table({"date": pc.fill_null(dates, ""), "id": ids})
    keys = [("date", "ascending"), ("id", "ascending")]
    order: Rows = pc.sort_indices(table, sort_keys=keys).to_numpy().astype(np.uint32)
    return order


class _Parts:
    """The documents that are there, part by part: rows, dates and ids. Can be read again."""

    def __init__(self, documents: Stored) -> None:
        self._documents = documents
        self._live: npt.NDArray[np.bool_] | None = None
        if documents.documents < len(documents):
            self._live = np.zeros(len(documents), bool)
            self._live[documents.live_rows] = True

    def __iter__(self) -> Iterator[tuple[Rows, pa.Array, pa.Array]]:
        documents = self._documents
        for part in range(documents.parts):
            rows = np.arange(*documents.rows(part), dtype=np.uint32)
            dates, ids = documents.part_column(part, "date"), documents.part_column(part, "id")
            if self._live is not None:
                live = self._live[rows]
                rows, mask = rows[live], pa.array(live)
                dates, ids = dates.filter(mask), ids.filter(mask)
            yield rows, pc.fill_null(dates, ""), ids
            documents.release_part(part)


def _key(dates: pa.Array, ids: pa.Array, row: int) -> tuple[bytes, bytes]:
    return dates[row].as_py().encode(), ids[row].as_py().encode()


def _ascending(ids: pa.Array, dates: pa.Array) -> bool:
    """Whether each document stands behind the one before it, of those of one part."""
    one, two = slice(0, len(ids) - 1), slice(1, len(ids))
    same_date = pc.equal(dates[one], dates[two])
    less = pc.and_(same_date, pc.less(ids[one], ids[two]))
    in_order = pc.or_(pc.less(dates[one], dates[two]), less)
    return bool(pc.all(in_order, min_count=0).as_py())


def _splitters(parts: _Parts, ranges: int, rows: int) -> list[_Key]:
    """Where all ranges but the first begin, so that about as many documents are in each."""
    step = max(rows // (ranges * _SAMPLES), 1)
    sample: list[tuple[bytes, bytes]] = []
    skipped = 0
    for _, dates, ids in parts:
        some = range(-skipped % step, len(ids), step)
        sample += [_key(dates, ids, row) for row in some]
        skipped += len(ids)
    sample.sort()
    chosen = [sample[len(sample) * n // ranges] for n in range(1, ranges)]
    return [(date.decode(), id.decode()) for date, id in sorted(set(chosen))]


def _inside(
    dates: pa.Array, ids: pa.Array, low: _Key | None, high: _Key | None
) -> npt.NDArray[np.bool_]:
    """Which documents are not before `low`, but before `high`."""
    inside = np.ones(len(ids), bool)
    if low is not None:
        inside &= ~_before(dates, ids, low)
    if high is not None:
        inside &= _before(dates, ids, high)
    return inside


def _before(dates: pa.Array, ids: pa.Array, key: _Key) -> npt.NDArray[np.bool_]:
    date, id = key
    less = pc.and_(pc.equal(dates, date), pc.less(ids, id))
    return np.asarray(pc.or_(pc.less(dates, date), less))
