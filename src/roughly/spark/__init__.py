"""The same answers from many machines: DataFrame in, DataFrame out, by Apache Spark.

    from roughly import spark
    found = spark.cluster(frame, threshold=0.5)
    found.documents().write.parquet("clusters")

Sketches come of the same core on every executor; joins, shuffles and spilling are Spark's. Needs
the extra [spark] and Java 17.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from roughly.spark.session import SparkError, check_spark, open_session

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from roughly.sketcher import Sketcher

__all__ = ["SparkError", "cluster", "open_session", "sketch"]


def cluster(documents: DataFrame, *arguments: Any, **options: Any) -> Any:
    """Groups documents that resemble each other; see `roughly.spark.clustering.cluster`."""
    check_spark()
    from roughly.spark.clustering import cluster as run

    return run(documents, *arguments, **options)


def sketch(
    documents: DataFrame,
    sketcher: Sketcher | None = None,
    *,
    content_type: str = "auto",
    text_field: str | None = None,
    id_field: str | None = None,
    date_field: str | None = None,
) -> DataFrame:
    """The sketches of documents: id, date, size (distinct shingles), tokens, level, kept (how many
    elements), the hashes content, canonical and sketch (16 bytes each), and values, the elements
    of 8 bytes each, little-endian."""
    check_spark()
    from roughly.sketcher import Sketcher
    from roughly.spark.sketching import fields_of, readable, sketched

    fields = fields_of(documents, text_field, id_field, date_field, content_type)
    return sketched(readable(documents, fields), sketcher or Sketcher(), fields)
