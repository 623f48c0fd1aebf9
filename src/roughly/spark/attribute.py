"""What a condition on pairs (roughly.condition) looks at, as columns beside the sketches.

`category` is a text, "" for none; `simhash` has its 64 bits as a signed number, null where a
document has none. They travel with the sketches, so that pairs are looked at where these come
together, and no join is done for them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from roughly.condition import HOST, Attributes, Condition, category_hashes
from roughly.simhashing.simhasher import Simhasher
from roughly.spark.column import number_column
from roughly.url import host_of

TYPES = {"category": "string", "simhash": "long"}


def attribute_columns(condition: Condition) -> list[str]:
    """The columns that a condition needs."""
    found = [] if condition.within is None else ["category"]
    return found if condition.simhash is None else [*found, "simhash"]


def read_attributes(
    batch: pa.RecordBatch, condition: Condition, simhasher: Simhasher | None
) -> dict[str, pa.Array]:
    """These columns of documents that were read."""
    found: dict[str, pa.Array] = {}
    if condition.within is not None:
        host = condition.within == HOST
        names = host_of(batch.column("id")) if host else batch.column("category")
        found["category"] = pc.fill_null(names, "")
    if simhasher is not None:
        made = simhasher.simhash_documents(batch, threads=1)
        found["simhash"] = pa.array(made.simhashes.view(np.int64), pa.int64(), mask=made.empty)
    return found


def attributes_in(table: pa.RecordBatch | pa.Table, condition: Condition) -> Attributes:
    """The attributes of the rows of a table, which has these columns and `size`."""
    category = simhash = has_simhash = None
    if condition.within is not None:
        category = category_hashes(table.column("category"))
    if condition.simhash is not None:
        column: Any = table.column("simhash")
        has_simhash = np.asarray(pc.is_valid(column).to_numpy(zero_copy_only=False), bool)
        simhash = np.asarray(pc.fill_null(column, 0).to_numpy(), np.int64).view(np.uint64)
    size = number_column(table, "size", np.uint32)
    return Attributes(condition, size, simhash, has_simhash, category)
