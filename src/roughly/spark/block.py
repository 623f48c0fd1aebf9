"""Blocks of documents and what they send each other: the shuffles of the divided plan.

A block is 4,096 documents, by their numbers. What concerns single documents is done by a task that
has their block; what goes to another block, or to whoever sees to some keys, travels as binary
values of very many records, each with the number of whom it is for. So Spark moves few rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from roughly.spark.column import Numbers, aligned, binary_column, byte_column

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, GroupedData

BLOCK_BITS = 12
# Records for somebody: `receiver` is a block, or a bucket of keys.
MESSAGES = "receiver long, data binary"
# A row's bytes: Spark hands rows to Python by number, thousands at once.
_ROW_BYTES = 1 << 16
# Buckets for every task of a shuffle, so that chance gives all tasks about as many.
_BUCKETS_A_TASK = 4


def by_block(documents: DataFrame) -> GroupedData:
    """Documents in their blocks. Always all columns, for then Spark shuffles them once for several
    uses."""
    from pyspark.sql import functions as F

    return documents.withColumn("block", F.shiftright("number", BLOCK_BITS)).groupBy("block")


def bucket_count(documents: DataFrame) -> int:
    """Into how many buckets keys are divided."""
    tasks = documents.sparkSession.conf.get("spark.sql.shuffle.partitions")
    return int(str(tasks)) * _BUCKETS_A_TASK


def bucket_of(keys: npt.NDArray[np.uint64], buckets: int) -> Numbers:
    """The buckets of keys that are mixed well."""
    return ((keys >> np.uint64(32)) * np.uint64(buckets) >> np.uint64(32)).astype(np.int64)


def messages(receiver: Numbers, records: npt.NDArray[Any]) -> pa.Table:
    """Records as rows of MESSAGES, in their order for each receiver."""
    # Numbers of 16 bits are sorted without comparing them.
    few = len(receiver) and receiver.min() >= 0 and receiver.max() < 1 << 16
    order = np.argsort(receiver.astype(np.uint16) if few else receiver, kind="stable")
    receiver, records = receiver[order], records[order]
    place = np.arange(len(receiver))
    begins = np.flatnonzero(np.concatenate(([True], receiver[1:] != receiver[:-1])))
    begins = begins[: len(receiver)]
    place -= np.repeat(begins, np.diff([*begins, len(receiver)]))
    most = max(_ROW_BYTES // records.itemsize, 1)
    cuts = np.flatnonzero(place % most == 0)
    return pa.table(
        {
            "receiver": pa.array(receiver[cuts]),
            "data": binary_column(records, np.append(cuts, len(records)).astype(np.int64)),
        }
    )


def records_of(rows: pa.Table, kind: Any) -> npt.NDArray[Any]:
    """All records that came, of a type."""
    data, _ = byte_column(rows.column("data"))
    return aligned(data).view(kind)
