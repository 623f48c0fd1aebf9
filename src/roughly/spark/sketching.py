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

from roughly.condition import NO_CONDITION, Condition
from roughly.documents.batch import SCHEMA, SCHEMA_WITH_CATEGORY, Piece, batches
from roughly.documents.skipped import Skipped
from roughly.errors import ParameterError
from roughly.parameters import Parameters
from roughly.sketcher import Sketcher
from roughly.spark.attribute import TYPES, attribute_columns, read_attributes
from roughly.spark.column import binary_column, hash_column
from roughly.spark.session import SparkError
from roughly.storage.sketch_table import without_words

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
    category: str | None = None


def fields_of(
    documents: DataFrame,
    text_field: str | None,
    id_field: str | None,
    date_field: str | None,
    content_type: str,
    category: str | None = None,
) -> Fields:
    """The columns to read; `date` is taken if there is one and no other is named."""
    there = documents.columns
    date = "date" if date_field is None and "date" in there else date_field
    wanted = Fields(text_field or "text", id_field or "id", date, content_type, category)
    for name in (wanted.text, wanted.id, wanted.date, wanted.category):
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


def readable(documents: DataFrame, fields: Fields, more: tuple[Any, ...] = ()) -> DataFrame:
    """The documents that have a text: id, date, text, category if there is one, and `more` columns
    as they are."""
    from pyspark.sql import functions as F

    if fields.category is not None:
        more = (F.col(f"`{fields.category}`").alias("category"), *more)
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
    documents: DataFrame,
    sketcher: Sketcher,
    fields: Fields,
    more: tuple[str, ...] = (),
    condition: Condition = NO_CONDITION,
    shingles_only: bool = False,
) -> DataFrame:
    """The sketches of readable documents, with what equivalence is told by, what a condition looks
    at (attribute.py), and `more` columns as they are; without words if shingles alone count."""
    kept = [f for f in documents.schema if f.name in more]
    extra = [f"{name} {TYPES[name]}" for name in attribute_columns(condition)]
    extra += [f"{f.name} {f.dataType.simpleString()}" for f in kept]
    make = partial(
        _sketch_batches,
        _plain(sketcher.parameters),
        fields.content_type,
        more,
        condition,
        shingles_only and sketcher.words > 0,
    )
    given = ["category"] if fields.category is not None else []
    rows = documents.select("id", "date", "text", *given, *more)
    return rows.mapInArrow(make, ", ".join([SKETCHES, *extra]))


def simhashed(documents: DataFrame, simhasher: Simhasher, fields: Fields) -> DataFrame:
    """id and simhash of readable documents; null where a document has none."""
    make = partial(_simhash_batches, simhasher, fields.content_type)
    return documents.select("id", "date", "text").mapInArrow(make, "id string, simhash long")


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
    """Rows of a DataFrame (id, date, text, maybe category) as `roughly.documents` would have read
    them."""
    numbers = np.arange(len(rows), dtype=np.int64)
    piece = Piece(0, "row", numbers, numbers, numbers + 1, rows.column("text"), rows.column("id"))
    if rows.column("date").null_count < len(rows):
        piece.date = rows.column("date")
    schema = SCHEMA
    if "category" in rows.schema.names:
        piece.category, schema = rows.column("category"), SCHEMA_WITH_CATEGORY
    (read,) = batches([piece], content_type, _TOGETHER_BYTES, Skipped(False), schema)
    return read


def _sketch_batches(
    arguments: dict[str, Any],
    content_type: str,
    more: tuple[str, ...],
    condition: Condition,
    cut: bool,
    arrow: Iterator[pa.RecordBatch],
) -> Iterator[pa.RecordBatch]:
    sketcher, simhasher = Sketcher(**arguments), condition.simhasher
    for rows in arrow:
        if not len(rows):
            continue
        batch = read_batch(rows, content_type)
        columns = sketcher.sketch_documents(batch, threads=1).columns
        values, offsets = columns.values, columns.offsets
        if cut:
            values, offsets = without_words(values, offsets)
        yield pa.RecordBatch.from_pydict(
            {
                "id": rows.column("id"),  # null if it was, which `count_elements` tells of
                "date": batch.column("date"),
                "size": columns.size.astype(np.int64),
                "tokens": columns.tokens.astype(np.int64),
                "level": columns.level.astype(np.int32),
                "kept": np.diff(offsets).astype(np.int32),
                "content": hash_column(columns.content),
                "canonical": hash_column(columns.canonical),
                "sketch": hash_column(columns.sketch),
                "values": binary_column(values, offsets),
                **read_attributes(batch, condition, simhasher),
                **{name: rows.column(name) for name in more},
            }
        )


def _simhash_batches(
    simhasher: Simhasher, content_type: str, arrow: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    for rows in arrow:
        if not len(rows):
            continue
        batch = read_batch(rows, content_type)
        made = simhasher.simhash_documents(batch, threads=1)
        signed = pa.array(made.simhashes.view(np.int64), pa.int64(), mask=made.empty)
        yield pa.RecordBatch.from_pydict({"id": batch.column("id"), "simhash": signed})
