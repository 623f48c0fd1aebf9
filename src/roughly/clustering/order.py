"""Document order: by date, undated first, then by id as bytes.

It does not depend on how documents were read, so neither does anything that is made in this order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from roughly.clustering.sketches import Rows

if TYPE_CHECKING:
    from roughly.storage.collection import Stored


def document_order(documents: Stored) -> Rows:
    """The rows of all documents that are there, in document order."""
    ids, dates, rows = documents.ids(), documents.dates(), documents.live_rows
    if len(rows) == len(ids):
        return ordered(ids, dates)
    live = np.zeros(len(ids), bool)
    live[rows] = True
    mask = pa.array(live)
    order: Rows = rows[ordered(ids.filter(mask), dates.filter(mask))]
    return order


def ordered(ids: pa.ChunkedArray, dates: pa.ChunkedArray) -> Rows:
    """The rows in document order. Arrow compares strings by their bytes."""
    if _ascending(ids, dates):
        return np.arange(len(ids), dtype=np.uint32)
    table = pa.table({"date": pc.fill_null(dates, ""), "id": ids})
    keys = [("date", "ascending"), ("id", "ascending")]
    order: Rows = pc.sort_indices(table, sort_keys=keys).to_numpy().astype(np.uint32)
    return order


def _ascending(ids: pa.ChunkedArray, dates: pa.ChunkedArray) -> bool:
    """Whether the rows are in order already: undated, each id behind the one before."""
    if dates.null_count != len(dates):
        return False
    last: bytes | None = None
    for chunk in ids.chunks:
        if not len(chunk):
            continue
        first = chunk[0].as_py().encode()
        if last is not None and first <= last:
            return False
        in_order = pc.all(pc.less(chunk.slice(0, len(chunk) - 1), chunk.slice(1)), min_count=0)
        if not in_order.as_py():
            return False
        last = chunk[-1].as_py().encode()
    return True
