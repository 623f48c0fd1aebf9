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
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

    from roughly.corpus import Corpus
    from roughly.simhashing.frequency import DocumentFrequencies
    from roughly.simhashing.simhasher import Simhasher
    from roughly.sketcher import Sketcher

__all__ = [
    "SparkError",
    "cluster",
    "dedup",
    "frequencies",
    "hamming_join",
    "open_session",
    "read_corpus",
    "simhash",
    "sketch",
    "write_corpus",
]


def cluster(documents: DataFrame, *arguments: Any, **options: Any) -> Any:
    """Groups documents that resemble each other; see `roughly.spark.clustering.cluster`."""
    check_spark()
    from roughly.spark.clustering import cluster as run

    return run(documents, *arguments, **options)


def dedup(documents: DataFrame, *arguments: Any, **options: Any) -> Any:
    """The documents without near duplicates; see `roughly.spark.deduplication.dedup`."""
    check_spark()
    from roughly.spark.deduplication import dedup as run

    return run(documents, *arguments, **options)


def simhash(
    documents: DataFrame,
    simhasher: Simhasher | None = None,
    *,
    content_type: str = "auto",
    text_field: str | None = None,
    id_field: str | None = None,
) -> DataFrame:
    """The simhashes of documents: id and simhash, its 64 bits as a signed number; null where a
    document has no features."""
    check_spark()
    from roughly.simhashing.simhasher import Simhasher
    from roughly.spark.sketching import fields_of, readable, simhashed

    fields = fields_of(documents, text_field, id_field, None, content_type)
    return simhashed(readable(documents, fields), simhasher or Simhasher(), fields)


def frequencies(
    documents: DataFrame,
    simhasher: Simhasher | None = None,
    at_least: int = 1,
    *,
    content_type: str = "auto",
    text_field: str | None = None,
    id_field: str | None = None,
) -> DocumentFrequencies:
    """In how many documents each feature of a simhasher is, of those that `at_least` so many have:
    weights for tf-idf, as `Simhasher.frequencies`."""
    check_spark()
    from roughly.parameters import check_integer
    from roughly.simhashing.simhasher import Simhasher
    from roughly.spark.feature_frequency import feature_frequencies
    from roughly.spark.sketching import fields_of, readable

    check_integer("at_least", at_least, 1, 1 << 32)
    fields = fields_of(documents, text_field, id_field, None, content_type)
    return feature_frequencies(
        readable(documents, fields), simhasher or Simhasher(), fields, at_least
    )


def hamming_join(
    queries: DataFrame, stored: DataFrame, k: int = 3, *, simhash_field: str = "simhash"
) -> DataFrame:
    """All pairs of a query and a stored simhash within k bits; see `roughly.spark.hamming`."""
    check_spark()
    from roughly.spark.hamming import hamming_join as run

    return run(queries, stored, k, simhash_field=simhash_field)


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


def write_corpus(found: Any, documents: DataFrame, path: str | Path, **options: Any) -> Corpus:
    """A corpus directory on the driver's machine of what `cluster` found in these documents; see
    `roughly.spark.corpus.write_corpus`."""
    from roughly.spark.corpus import write_corpus as run

    return run(found, documents, path, **options)


def read_corpus(session: SparkSession, path: str | Path) -> DataFrame:
    """The documents of a corpus directory that all executors can reach: id, date, text."""
    check_spark()
    from roughly.spark.corpus import read_corpus as run

    return run(session, path)
