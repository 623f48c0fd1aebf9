"""Documents numbered from 0 in an order: a sort of Spark's, then a count a partition.

The numbers depend on the order alone, not on how Spark divided the rows; what comes back to the
driver is one count a partition.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from roughly.spark.checkpoint import Checkpoints

# Spark's monotonically_increasing_id has the row in its partition in the lower bits.
_ROW_BITS = 33


def numbered(documents: DataFrame, by: list[Any], name: str, checkpoints: Checkpoints) -> DataFrame:
    """The same rows with their `number`; no two are equal in `by`."""
    from pyspark.sql import functions as F

    at = F.monotonically_increasing_id()
    placed = checkpoints.keep(name, documents.orderBy(*by).withColumn("at", at))
    partition = F.shiftright("at", _ROW_BITS).alias("partition")
    counts = {row["partition"]: row["count"] for row in placed.groupBy(partition).count().collect()}
    begin, begins = 0, {}
    for number, count in sorted(counts.items()):
        begins[int(number)] = begin
        begin += count
    # As Arrow, which Spark takes for known rows, not for a job to be done wherever it is used.
    columns = {"partition": list(begins), "begin": list(begins.values())}
    kind = pa.schema([("partition", pa.int64()), ("begin", pa.int64())])
    table = placed.sparkSession.createDataFrame(pa.table(columns, schema=kind))
    row = F.col("at").bitwiseAND((1 << _ROW_BITS) - 1)
    return (
        placed.withColumn("partition", F.shiftright("at", _ROW_BITS))
        .join(F.broadcast(table), "partition")
        .withColumn("number", F.col("begin") + row)
        .drop("partition", "begin", "at")
    )


def with_values(documents: DataFrame, sketches: DataFrame) -> DataFrame:
    """Numbered documents (id and more) with the values of their sketches instead of the ids. So
    these are not sorted, and those that are not wanted stay where they are."""
    # By a table of the documents, which are small without values: so these are not sorted.
    return sketches.select("id", "values").join(documents.hint("shuffle_hash"), "id").drop("id")


def document_order() -> list[Any]:
    """By date, undated first, then by id as bytes, which is how Spark compares strings."""
    from pyspark.sql import functions as F

    return [F.coalesce(F.col("date"), F.lit("")), F.col("id")]
