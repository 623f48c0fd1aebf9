"""What a corpus already has: documents by their key, (id, date), by name, and by their content.

Looked up in the segments' indexes. Only documents that are there count, not those that were
removed.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from roughly import _core
from roughly.storage.checked import CheckedMap
from roughly.storage.collection import Collection, Rows
from roughly.storage.segment import Segment
from roughly.storage.segment_index import SegmentIndex, index_path
from roughly.url import is_url, lookup_keys, page_of

Hashes = npt.NDArray[np.uint64]


class Known:
    """The documents of a collection, to be looked up."""

    def __init__(self, collection: Collection) -> None:
        self._collection = collection
        self._tables: dict[str, list[_Table]] = {}

    def has(self, ids: pa.Array, dates: pa.Array) -> npt.NDArray[np.bool_]:
        """Which of these keys a document has."""
        found = np.zeros(len(ids), bool)
        which, rows = self._candidates(ids)
        same = _equal(self._collection.take("id", rows), ids.take(pa.array(which)))
        same &= _equal(self._collection.take("date", rows), dates.take(pa.array(which)))
        found[which[same]] = True
        return found

    def rows_named(self, names: list[str], date: str | None = None) -> tuple[Rows, list[str]]:
        """The rows of all documents with these ids, or URLs of the same page, ascending, or only
        those of one date; and the names that none of them has."""
        which, rows = self._candidates(pa.array(names, pa.string()))
        if date is not None:
            dates = self._collection.take("date", rows)
            of_date = np.asarray(pc.fill_null(pc.equal(dates, date), False))
            which, rows = which[of_date], rows[of_date]
        ids = self._collection.take("id", rows).to_pylist()
        same = np.array(
            [
                id == names[at] or (is_url(names[at]) and page_of(id) == page_of(names[at]))
                for id, at in zip(ids, which.tolist(), strict=True)
            ],
            bool,
        )
        seen = set(which[same].tolist()) if len(same) else set()
        missing = [name for at, name in enumerate(names) if at not in seen]
        return np.unique(rows[same]), missing

    def rows_of_content(self, hashes: Hashes, html: npt.NDArray[np.bool_]) -> Rows:
        """For each content hash a row that has it, read as HTML or as text alike; -1 for none."""
        found = np.full(len(hashes), -1, np.int64)
        for table in self._of("contents"):
            which, rows = table.rows_of(hashes[:, 0])
            there = self._collection.live[rows]
            which, rows = which[there], rows[there]
            content, own_html = self._collection.arrays(("content", "html"), rows)
            same = (content == hashes[which]).all(axis=1) & (own_html == html[which])
            found[which[same]] = rows[same]
        return found

    def _candidates(self, names: pa.Array) -> tuple[Rows, Rows]:
        """Which of the names, and a row that may have it."""
        hashes = _core.content_hashes(lookup_keys(names), 1)[:, 0]
        which, rows = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
        for table in self._of("urls"):
            some, found = table.rows_of(hashes)
            there = self._collection.live[found]
            which.append(some[there])
            rows.append(found[there])
        return np.concatenate(which), np.concatenate(rows)

    def _of(self, name: str) -> list[_Table]:
        if name not in self._tables:
            self._tables[name] = [
                _Table(segment, name, self._collection.first_row(number))
                for number, segment in enumerate(self._collection.segments)
            ]
        return self._tables[name]


class _Table:
    """A table of a segment's index, mapped and checked: many things are looked up in it."""

    def __init__(self, segment: Segment, name: str, first_row: int) -> None:
        count = SegmentIndex(segment).facts.rows
        file = CheckedMap(index_path(segment.directory, name))
        self._hashes: Hashes = file.array("<u8", 0, count)
        self._rows: npt.NDArray[np.uint32] = file.array("<u4", 8 * count, count)
        self._first_row = first_row

    def rows_of(self, hashes: Hashes) -> tuple[Rows, Rows]:
        """Which of them, and a row that has it."""
        begin = np.searchsorted(self._hashes, hashes, "left")
        count = np.searchsorted(self._hashes, hashes, "right") - begin
        ends = np.cumsum(count)
        inside = np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - count, count)
        which = np.repeat(np.arange(len(hashes)), count)
        return which, self._rows[np.repeat(begin, count) + inside].astype(np.int64) + (
            self._first_row
        )


def _equal(one: pa.Array, two: pa.Array) -> npt.NDArray[np.bool_]:
    """Nothing is equal to nothing."""
    same = pc.or_(
        pc.fill_null(pc.equal(one, two), False), pc.and_(pc.is_null(one), pc.is_null(two))
    )
    return np.asarray(same)
