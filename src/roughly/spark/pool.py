"""The documents that a deduplication on Spark looks at, numbered in keep order: those of a corpus
that the input is held against, if there is one, come first, and stay.

The executors read the corpus where it lies, so all of them must have its directory under the same
path; texts of it are read only for the pairs that are counted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from roughly.condition import HOST, Condition
from roughly.corpus import Corpus
from roughly.spark.attribute import TYPES, attribute_columns
from roughly.spark.checkpoint import Checkpoints
from roughly.spark.column import binary_column, hash_column, number_column
from roughly.spark.order import numbered
from roughly.spark.sketching import SKETCHES
from roughly.storage.sketch_table import without_words
from roughly.url import host_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

POSITION = "position"
_ROW = "row"
_TEXTS = "number long, text binary, html boolean"
# Documents of a corpus that a task reads at once.
_STEP = 1 << 12


@dataclass(frozen=True)
class Pool:
    """Documents in keep order."""

    ordered: DataFrame  # number, and what `sketched` gives
    inputs: DataFrame  # id and text of the input
    pinned: int = 0  # the first so many are those of the corpus
    directory: str | None = None  # of the corpus

    def texts(self, numbers: DataFrame) -> DataFrame:
        """number, text and html, null where it is not known, of some documents."""
        from pyspark.sql import functions as F

        rows = [] if self.directory is None else [_ROW]
        named = self.ordered.select("number", "id", *rows).join(numbers, "number")
        own = named.where(F.col("number") >= self.pinned)
        own = own.join(self.inputs.select("id", "text"), "id").select(
            "number", F.col("text").cast("binary"), F.lit(None).cast("boolean").alias("html")
        )
        if self.directory is None:
            return own
        known = named.where(F.col("number") < self.pinned).select("number", _ROW)
        return own.unionByName(known.mapInArrow(partial(_read_texts, self.directory), _TEXTS))


def make_pool(
    sketches: DataFrame,
    inputs: DataFrame,
    order: list[Any],
    corpus: Corpus | None,
    condition: Condition,
    checkpoints: Checkpoints,
) -> Pool:
    """The pool of sketches of the input, which have a position, and of a corpus. `order` is the
    keep order, but for ties."""
    from pyspark.sql import functions as F

    ties = [F.col(POSITION), F.col("id")]
    if corpus is None:
        return Pool(numbered(sketches, [*order, *ties], "ordered", checkpoints), inputs)
    directory = str(Path(corpus.path).absolute())
    known = _known_sketches(sketches.sparkSession, directory, corpus, condition)
    kind = sketches.schema[POSITION].dataType
    known = known.withColumn(POSITION, F.lit(None).cast(kind))
    both = sketches.withColumn(_ROW, F.lit(None).cast("long")).unionByName(known)
    first = F.col(_ROW).isNull()
    # A row of the corpus is its position; it decides before an id does.
    ordered = numbered(both, [first, *order, F.col(_ROW), *ties], "ordered", checkpoints)
    return Pool(ordered, inputs, corpus.collection.documents, directory)


def _known_sketches(
    session: SparkSession, directory: str, corpus: Corpus, condition: Condition
) -> DataFrame:
    """What `sketched` gives, and the rows, of the documents of a corpus."""
    rows = session.range(0, len(corpus.collection), 1).withColumnRenamed("id", _ROW)
    more = [f"{name} {TYPES[name]}" for name in attribute_columns(condition)]
    schema = ", ".join([SKETCHES, *more, f"{_ROW} long"])
    return rows.mapInArrow(partial(_read_sketches, directory, condition), schema)


def _read_sketches(
    directory: str, condition: Condition, arrow: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    stored = Corpus(directory).collection
    for batch in arrow:
        every = number_column(batch, _ROW)
        every = every[stored.live[every]]
        for begin in range(0, len(every), _STEP):
            rows = every[begin : begin + _STEP]
            table, ids = stored.sketches(rows), stored.take("id", rows)
            values, offsets = table.values, table.offsets
            if stored.parameters.words:  # only shingles make a document go
                values, offsets = without_words(values, offsets)
            made = {
                "id": ids,
                "date": stored.take("date", rows),
                "size": table.size.astype(np.int64),
                "tokens": table.tokens.astype(np.int64),
                "level": table.level.astype(np.int32),
                "kept": np.diff(offsets).astype(np.int32),
                "content": hash_column(table.content),
                "canonical": hash_column(table.canonical),
                "sketch": hash_column(table.sketch),
                "values": binary_column(values, offsets),
            }
            if condition.within is not None:
                host = condition.within == HOST
                names = host_of(ids) if host else stored.take("category", rows)
                made["category"] = pc.fill_null(names, "")
            if condition.simhash is not None:
                made["simhash"] = stored.take("simhash", rows).view(pa.int64())
            yield pa.RecordBatch.from_pydict(made | {_ROW: rows})
            stored.release()


def _read_texts(directory: str, arrow: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    stored = Corpus(directory).collection
    for batch in arrow:
        order = np.argsort(number_column(batch, _ROW), kind="stable")
        rows, numbers = number_column(batch, _ROW)[order], number_column(batch, "number")[order]
        for begin in range(0, len(rows), _STEP):
            some = slice(begin, begin + _STEP)
            yield pa.RecordBatch.from_pydict(
                {
                    "number": numbers[some],
                    "text": stored.text(rows[some]).cast(pa.binary()),
                    "html": stored.take("html", rows[some]),
                }
            )
            stored.release()
