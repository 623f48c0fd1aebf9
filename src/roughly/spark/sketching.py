"""Documents of a DataFrame to sketches and simhashes, by the same core as everywhere else.

A batch of rows crosses to Python as Arrow, is decoded, sniffed and dated as `roughly.documents`
does it, and goes to the core as it is. One thread for a task: Spark has a task for every core.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from roughly.documents.batch import Piece, batches
from roughly.documents.skipped import Skipped
from roughly.errors import ParameterError
from roughly.parameters import Parameters
from roughly.sketcher import Sketcher
from roughly.spark.column import binary_column, hash_column
from roughly.spark.session import SparkError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from roughly.simhashing.simhasher import Simhasher

# values: the sketch, 8 bytes an element, little-endian; kept: how many elements.
SKETCHES = (
    "id string, date string, size long, tokens long, level int, kept int,"
    " content binary, canonical binary, sketch binary, values binary"
)
_TOGETHER_BYTES = 1 << 40  # documents come in batches already


@dataclass(frozen=True)
class Fields:
    """The columns of the documents."""

    text: str = "text"
    id: str = "id"
    date: str | None = None
    content_type: str = "auto"


def fields_of(
    documents: DataFrame,
    text_field: str | None,
    id_field: str | None,
    date_field: str | None,
    content_type: str,
) -> Fields:
    """The columns to read; `date` is taken if there is one and no other is named."""
    there = documents.columns
    wanted = Fields(text_field or "text", id_field or "id", date_field, content_type)
    if date_field is None and "date" in there:
        wanted = Fields(wanted.text, wanted.id, "date", content_type)
    for name in (wanted.text, wanted.id, wanted.date):
        if name is not None and name not in there:
            raise ParameterError(
                f"documents: no column {name!r}: there are {', '.join(map(repr, there))}",
                hint="name the columns: text_field, id_field, date_field",
            )
    if content_type not in ("auto", "html", "text"):
        raise ParameterError(
            f"content_type: unknown: {content_type!r}, wanted 'auto', 'html' or 'text'"
        )
    return wanted


def readable(documents: DataFrame, fields: Fields, more: tuple[str, ...] = ()) -> DataFrame:
    """The documents that have a text: id, date, text, and `more` columns as they are."""
    from pyspark.sql import functions as F

    date = F.lit(None).cast("string") if fields.date is None else F.col(f"`{fields.date}`")
    return documents.where(F.col(f"`{fields.text}`").isNotNull()).select(
        F.col(f"`{fields.id}`").cast("string").alias("id"),
        date.alias("date"),
        F.col(f"`{fields.text}`").alias("text"),
        *more,
    )


def count_elements(sketches: DataFrame) -> int:
    """How many elements all sketches have. Raises unless every document has an id of its own, for
    results name documents by it."""
    from pyspark.sql import functions as F

    nameless = F.count(F.when(F.col("id") == "", 1)).alias("nameless")
    rows, ids = F.count(F.lit(1)).alias("rows"), F.countDistinct("id").alias("ids")
    elements = F.coalesce(F.sum("kept"), F.lit(0)).alias("elements")
    facts = sketches.agg(rows, ids, nameless, elements).head()
    if facts["ids"] < facts["rows"] or facts["nameless"]:
        counts = sketches.groupBy("id").count()
        empty = F.coalesce(F.col("id"), F.lit("")) == ""
        bad = counts.where((F.col("count") > 1) | empty).head()
        raise SparkError(
            f"ids: not unique: {bad['id']!r} stands for {bad['count']} documents, wanted one each",
            hint="name another column (id_field), or make one, for instance of path and row",
        )
    return int(facts["elements"])


def sketched(
    documents: DataFrame, sketcher: Sketcher, fields: Fields, more: tuple[str, ...] = ()
) -> DataFrame:
    """The sketches of readable documents, with what equivalence is told by, and `more` columns as
    they are."""
    kept = [f for f in documents.schema if f.name in more]
    schema = ", ".join([SKETCHES, *(f"{f.name} {f.dataType.simpleString()}" for f in kept)])
    make = partial(_sketch_batches, _plain(sketcher.parameters), fields.content_type, more)
    return documents.select("id", "date", "text", *more).mapInArrow(make, schema)


def simhashed(documents: DataFrame, simhasher: Simhasher, fields: Fields) -> DataFrame:
    """id and simhash of readable documents; null where a document has none."""
    make = partial(_simhash_batches, _arguments(simhasher), fields.content_type)
    return documents.select("id", "date", "text").mapInArrow(make, "id string, simhash long")


def _arguments(simhasher: Simhasher) -> dict[str, Any]:
    """A simhasher's arguments."""
    p = simhasher.parameters
    if p.weights not in ("count", "once") or p.stop_words not in ("none", "english"):
        raise ParameterError(
            f"simhasher: cannot be sent to executors: its weights are {p.weights}, its stop words"
            f" {p.stop_words}; wanted weights of 'count' or 'once', and English stop words or none"
        )
    return {
        "features": p.features,
        "weights": p.weights,
        "stop_words": None if p.stop_words == "none" else p.stop_words,
        "stem": None if p.stem == "none" else p.stem,
        "seed": p.seed,
    }


def _plain(parameters: Parameters) -> dict[str, Any]:
    """A sketcher's arguments, which travel better than a sketcher."""
    return {
        "w": parameters.w,
        "select": parameters.select,
        "words": parameters.words,
        "seed": parameters.seed,
        "bits": parameters.bits,
    }


def read_batch(rows: pa.RecordBatch, content_type: str) -> pa.RecordBatch:
    """Rows of a DataFrame (id, date, text) as `roughly.documents` would have read them."""
    numbers = np.arange(len(rows), dtype=np.int64)
    piece = Piece(0, "row", numbers, numbers, numbers + 1, rows.column("text"), rows.column("id"))
    if rows.column("date").null_count < len(rows):
        piece.date = rows.column("date")
    (read,) = batches([piece], content_type, _TOGETHER_BYTES, Skipped(False))
    return read


def _sketch_batches(
    arguments: dict[str, Any],
    content_type: str,
    more: tuple[str, ...],
    arrow: Iterator[pa.RecordBatch],
) -> Iterator[pa.RecordBatch]:
    sketcher = Sketcher(**arguments)
    for rows in arrow:
        if not len(rows):
            continue
        batch = read_batch(rows, content_type)
        columns = sketcher.sketch_documents(batch, threads=1).columns
        kept = np.diff(columns.offsets)
        yield pa.RecordBatch.from_pydict(
            {
                "id": rows.column("id"),  # null if it was, which `count_elements` tells of
                "date": batch.column("date"),
                "size": columns.size.astype(np.int64),
                "tokens": columns.tokens.astype(np.int64),
                "level": columns.level.astype(np.int32),
                "kept": kept.astype(np.int32),
                "content": hash_column(columns.content),
                "canonical": hash_column(columns.canonical),
                "sketch": hash_column(columns.sketch),
                "values": binary_column(columns.values, columns.offsets),
                **{name: rows.column(name) for name in more},
            }
        )


def _simhash_batches(
    arguments: dict[str, Any], content_type: str, arrow: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    from roughly.simhashing.simhasher import Simhasher

    simhasher = Simhasher(**arguments)
    for rows in arrow:
        if not len(rows):
            continue
        batch = read_batch(rows, content_type)
        made = simhasher.simhash_documents(batch, threads=1)
        signed = pa.array(made.simhashes.view(np.int64), pa.int64(), mask=made.empty)
        yield pa.RecordBatch.from_pydict({"id": batch.column("id"), "simhash": signed})
