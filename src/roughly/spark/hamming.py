"""The batch Hamming join of the 2007 paper (3.3): all pairs of a query and a stored simhash within
k bits. Tables are made of the queries and sent to every executor; the stored simhashes pass by in
chunks, each where it lies, and are never shuffled.

The queries must fit in an executor's memory, as in the paper (a million of them are 8 MB, and as
much again for each of the tables); they come in pieces otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import numpy as np
import pyarrow as pa

from roughly import _core
from roughly.errors import ParameterError
from roughly.hamming.cost import join_blocks
from roughly.hamming.design import check_k
from roughly.spark.column import Values, number_column

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_BITS = 64
MOST_QUERIES = 64_000_000  # half a gigabyte of simhashes on every executor

# The tables of this worker's last broadcast: a worker has many tasks of one join.
_made: dict[tuple[str, int], tuple[Any, Values]] = {}


def hamming_join(
    queries: DataFrame, stored: DataFrame, k: int = 3, *, simhash_field: str = "simhash"
) -> DataFrame:
    """query and stored (ids), query_simhash, stored_simhash, distance: a row a pair. Both have an
    id and a simhash, 64 bits as a signed number, as `simhash` makes them; nulls have no pairs."""
    from pyspark.sql import functions as F

    check_k(k)
    for name, frame in (("queries", queries), ("stored", stored)):
        for column in ("id", simhash_field):
            if column not in frame.columns:
                raise ParameterError(
                    f"{name}: no column {column!r}: there are {', '.join(map(repr, frame.columns))}"
                )
    value = F.col(f"`{simhash_field}`").cast("long")
    asked = queries.select(F.col("id").cast("string"), value.alias("simhash")).dropna()
    there = stored.select(F.col("id").cast("string"), value.alias("simhash")).dropna()
    count = asked.count()
    if count > MOST_QUERIES:
        raise ParameterError(
            f"queries: too many to be sent to every executor: {count:,}, wanted {MOST_QUERIES:,}"
            " or less",
            hint="join a part of them at a time, or let the larger side be the stored one",
        )
    distinct = asked.select("simhash").distinct().toArrow()
    values = np.sort(distinct.column("simhash").to_numpy().view(np.uint64))
    session = queries.sparkSession
    sent = session.sparkContext.broadcast(values)
    found = there.mapInArrow(
        partial(_probe, sent, uuid4().hex, k),
        "stored string, stored_simhash long, query_simhash long, distance int",
    )
    named = asked.select(F.col("id").alias("query"), F.col("simhash").alias("query_simhash"))
    return found.join(named, "query_simhash").select(
        "query", "stored", "query_simhash", "stored_simhash", "distance"
    )


def _probe(
    sent: Any, name: str, k: int, arrow: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    tables, asked = _tables(sent, name, k)
    for batch in arrow:
        if not len(batch) or not len(asked):
            continue
        values = number_column(batch, "simhash").view(np.uint64)
        rows = np.asarray(tables.probe(values, 0, 1)).astype(np.int64)
        stored, query = values[rows[:, 0]], asked[rows[:, 1]]
        bits = np.bitwise_count(stored ^ query)
        yield pa.RecordBatch.from_pydict(
            {
                "stored": batch.column("id").take(pa.array(rows[:, 0])),
                "stored_simhash": stored.view(np.int64),
                "query_simhash": query.view(np.int64),
                "distance": bits.astype(np.int32),
            }
        )


def _tables(sent: Any, name: str, k: int) -> tuple[Any, Values]:
    if (name, k) not in _made:
        _made.clear()
        asked = np.ascontiguousarray(sent.value)
        blocks = join_blocks(len(asked), _BITS, k)
        _made[name, k] = (_core.HammingJoin(asked, _BITS, k, blocks, 1), asked)
    return _made[name, k]
