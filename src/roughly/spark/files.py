"""Files in, files out, for the command line: whatever Spark reads (local, hdfs, s3a), told apart by
the ends of their names.

Spark's rows have no order of their own; that of files is by their paths, then by where a row stands
in its file.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from roughly.errors import DocumentError, ParameterError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_PACKED = (".gz", ".bz2", ".zst", ".snappy", ".lz4")
_FORMATS = {".parquet": "parquet", ".jsonl": "json", ".json": "json", ".ndjson": "json"}
_FORMATS |= {".orc": "orc", ".csv": "csv"}

ORDER = "roughly_order"


def format_of(paths: list[str]) -> str:
    """The one format of all inputs."""
    found = {_format(path) for path in paths}
    if len(found) > 1:
        raise ParameterError(
            f"inputs: of several formats: {', '.join(sorted(found))}, wanted one",
            hint="give Spark one at a time",
        )
    return found.pop()


def _format(path: str) -> str:
    name = path.rstrip("/*")
    for end in _PACKED:
        name = name.removesuffix(end)
    for end, known in _FORMATS.items():
        if name.endswith(end):
            return known
    raise ParameterError(
        f"{path}: unknown format: its name ends in none of {', '.join(_FORMATS)}",
        hint="name the files, as in 'crawl/*.parquet'",
    )


def read_files(session: SparkSession, paths: list[str]) -> DataFrame:
    """The rows of some files, with a column of their order."""
    from pyspark.errors import PySparkException
    from pyspark.sql import functions as F

    kind = format_of(paths)
    reader = session.read.option("header", True) if kind == "csv" else session.read
    try:
        rows = reader.format(kind).load(paths)
        place = F.struct(
            F.col("_metadata.file_path").alias("path"),
            F.col("_metadata.file_block_start").alias("block"),
            F.monotonically_increasing_id().alias("row"),
        )
        return rows.withColumn(ORDER, place)
    except PySparkException as error:
        reason = str(error).strip().splitlines()[0]
        raise DocumentError(f"{paths[0]}: cannot be read: {reason}") from error


def write_tables(folder: str, tables: Mapping[str, DataFrame], force: bool) -> None:
    """Every table as a folder of Parquet; what is there is an error unless `force`."""
    for name, table in tables.items():
        _write(table, "parquet", f"{folder}/{name}", force)


def write_rows(rows: DataFrame, kind: str, path: str, force: bool) -> None:
    """The rows that stay, in the format of the input."""
    _write(rows.drop(ORDER), kind, path, force)


def _write(table: DataFrame, kind: str, path: str, force: bool) -> None:
    from pyspark.errors import PySparkException

    writer = table.write.mode("overwrite" if force else "error")
    if kind == "csv":
        writer = writer.option("header", True)
    try:
        writer.format(kind).save(path)
    except PySparkException as error:
        reason = str(error).strip().splitlines()[0]
        raise DocumentError(
            f"{path}: cannot be written: {reason}", hint="--force overwrites what is there"
        ) from error
