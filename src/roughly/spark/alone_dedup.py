"""A deduplication done by one task with the local engine, when its documents are few.

The texts come to it in the order of the input, and it does what `roughly.dedup` does, sketching
included, in one thread and bounded memory, in a directory of its executor: no sketch is shuffled,
and no text is joined with a pair.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from roughly.deduplication.rule import Rule
from roughly.deduplication.run import deduplicate
from roughly.documents import open_documents
from roughly.sketcher import Sketcher
from roughly.spark.alone import executor_folder
from roughly.spark.sketching import plain_arguments

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from roughly.parameters import Parameters

# Bytes of all texts that one task takes: some 200,000 documents of 5 kB.
TEXTS = 1 << 30
REMOVALS = "removed string, kept string, kind string, resemblance double, containment double"
# What it may use meanwhile; the rest lies in files.
_MEMORY_BYTES = 1 << 30


def removals_alone(
    texts: DataFrame, order: list[str], rule: Rule, parameters: Parameters, content_type: str
) -> DataFrame:
    """All removals of readable texts whose input order is given."""
    one = texts.repartition(1).sortWithinPartitions(*order).select("id", "date", "text")
    find = partial(_find, rule, plain_arguments(parameters), content_type)
    return one.mapInArrow(find, REMOVALS)


def _find(
    rule: Rule, arguments: dict[str, object], content_type: str, arrow: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    first = next(arrow, None)
    if first is None:
        return

    def batches() -> Iterator[pa.RecordBatch]:
        yield first
        yield from arrow

    with tempfile.TemporaryDirectory(prefix="roughly-", dir=executor_folder()) as folder:
        documents = open_documents(
            pa.RecordBatchReader.from_batches(first.schema, batches()),
            text_field="text",
            id_field="id",
            date_field="date",
            content_type=content_type,
        )
        found = deduplicate(
            documents,
            rule,
            Sketcher(**arguments),  # type: ignore[arg-type]
            Path(folder),
            threads=1,
            memory_bytes=_MEMORY_BYTES,
        )
        names = [field.split()[0] for field in REMOVALS.split(", ")]
        yield from found.removals().select(names).to_batches()
