"""What a corpus already has: documents by their key, (id, date), and by their content.

Only documents that are there count, not those that were removed.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from roughly.documents.unique_id import hash_ids
from roughly.storage.collection import Collection, Rows

Hashes = npt.NDArray[np.uint64]


class Known:
    """The documents of a collection, to be looked up."""

    def __init__(self, collection: Collection) -> None:
        self._collection = collection

    def has(self, ids: pa.Array, dates: pa.Array) -> npt.NDArray[np.bool_]:
        """Which of these keys a document has."""
        return np.isin(_keys(ids, dates), self._key_hashes)

    def rows_of_content(self, hashes: Hashes, html: npt.NDArray[np.bool_]) -> Rows:
        """For each content hash a row that has it, read as HTML or as text alike; -1 for none."""
        content, rows = self._contents
        found = np.full(len(hashes), -1, np.int64)
        if not len(rows):
            return found
        at = np.searchsorted(content[:, 0], hashes[:, 0])
        at[at == len(rows)] = 0
        same = (content[at] == hashes).all(axis=1)
        found[same] = rows[at[same]]
        alike = np.asarray(self._collection.take("html", found[same])) == html[same]
        found[np.flatnonzero(same)[~alike]] = -1
        return found

    @cached_property
    def _key_hashes(self) -> Hashes:
        rows = self._collection.live_rows.astype(np.int64)
        return _keys(self._collection.take("id", rows), self._collection.take("date", rows))

    @cached_property
    def _contents(self) -> tuple[Hashes, Rows]:
        rows = self._collection.live_rows.astype(np.int64)
        content = self._collection.hashes("content")[rows]
        order = np.argsort(content[:, 0], kind="stable")
        return content[order], rows[order]


def _keys(ids: pa.Array, dates: pa.Array) -> Hashes:
    # No id and no date has a zero byte inside: ids are lines of text.
    return hash_ids(pc.binary_join_element_wise(ids, pc.fill_null(dates, ""), "\0"))
