"""What is left after sketching, done by one task with the local engine, when its sketches are few.

Dividing a join over many tasks costs a dozen shuffles, each element of each sketch a row in most of
them; a core joins some hundred million elements in the time that takes. So one task gathers the
sketches in a directory of its executor and runs the same phases there as `roughly.cluster`, in
bounded memory and one thread. Its rows, of several tables, come out as one table with a `part`.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from roughly.clustering.clusters import Clusters, Linkage
from roughly.clustering.equivalence import KINDS
from roughly.clustering.outcome import MEASURES
from roughly.clustering.run import run_phases
from roughly.clustering.settings import Settings
from roughly.documents.skipped import Skipped
from roughly.parameters import Parameters
from roughly.spark.attribute import attribute_columns
from roughly.spark.column import number_column, word_column
from roughly.storage.collection import Collection
from roughly.storage.segment import Segment
from roughly.storage.segment_writer import SegmentWriter
from roughly.storage.sketch_table import SketchTable
from roughly.storage.steps import Steps

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# Elements of all sketches that one task joins: half a gigabyte, some 240,000 documents of 5 kB. It
# takes less than a minute; the divided plan several times the work.
ALONE = 1 << 26
# What it may use meanwhile; the rest lies in files.
_MEMORY_BYTES = 1 << 29

_GATHERED = ("id", "date", "size", "tokens", "level", "content", "canonical", "sketch", "values")
_DOCUMENT = (
    "number long, id string, date string, representative long, kind string, first long,"
    " cluster long, first_id string, why string, resemblance double, containment double"
)
_PAIR = "a long, b long, common long, sampled long, mass boolean"
_TABLE = f"part string, {_DOCUMENT}, {_PAIR}"
_TYPES = {"long": pa.int64(), "string": pa.string(), "double": pa.float64(), "boolean": pa.bool_()}
_SCHEMA = pa.schema([(n, _TYPES[t]) for n, t in (field.split() for field in _TABLE.split(", "))])


def finished(
    sketches: DataFrame, parameters: Parameters, settings: Settings, linkage: Linkage = "single"
) -> DataFrame:
    """All results of some sketches, to be taken apart by `part_of`."""
    one = sketches.select(*_GATHERED, *attribute_columns(settings.condition)).coalesce(1)
    return one.mapInArrow(partial(_finish, parameters, settings, linkage), _TABLE)


def part_of(table: DataFrame, part: str) -> DataFrame:
    """`documents`; or `pairs-` or `links-` and a measure."""
    fields = _DOCUMENT if part == "documents" else _PAIR
    names = [field.split()[0] for field in fields.split(", ")]
    return table.where(table["part"] == part).select(*names)


def _finish(
    parameters: Parameters,
    settings: Settings,
    linkage: Linkage,
    arrow: Iterator[pa.RecordBatch],
) -> Iterator[pa.RecordBatch]:
    # Where the executor spills, which is meant for as much.
    place = os.environ.get("SPARK_LOCAL_DIRS", "").split(",")[0] or None
    with tempfile.TemporaryDirectory(prefix="roughly-", dir=place) as folder:
        directory = Path(folder)
        with Steps(directory, {}, durable=False) as steps:
            segment = _gathered(arrow, parameters, settings, directory / "segment", steps)
            if not len(segment):
                return
            outcome = run_phases(
                segment, settings, directory, steps, threads=1, memory_bytes=_MEMORY_BYTES
            )
        found = Clusters(
            Collection([segment]),
            outcome,
            settings,
            settings.threshold,
            settings.containment,
            linkage,
            Skipped(False),
            [],
            1,
        )
        yield from _documents(found)
        yield from _pairs(found)
        segment.close()


def _gathered(
    arrow: Iterator[pa.RecordBatch],
    parameters: Parameters,
    settings: Settings,
    directory: Path,
    steps: Steps,
) -> Segment:
    """The sketches as a segment, without texts."""
    attributes: dict[str, Any] = {}
    if settings.condition.simhash is not None:
        attributes["simhash"] = asdict(settings.condition.simhash)
    if settings.condition.within is not None:
        attributes["category"] = settings.condition.within
    with SegmentWriter(
        directory, parameters, text=False, steps=steps, attributes=attributes
    ) as writer:
        for batch in arrow:
            rows = len(batch)
            if not rows:
                continue
            values, offsets = word_column(batch.column("values"))
            content, canonical, sketch = (
                word_column(batch.column(name))[0].reshape(-1, 2)
                for name in ("content", "canonical", "sketch")
            )
            table = SketchTable(
                values,
                offsets,
                number_column(batch, "size", np.uint32),
                number_column(batch, "tokens", np.uint32),
                number_column(batch, "level", np.uint8),
                content,
                canonical,
                sketch,
            )
            writer.add(_read(batch), table)
        return writer.finish([], {})


def _read(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Ids and dates as documents that were read; nothing else of those is looked at."""
    rows = len(batch)
    zero = np.zeros(rows, np.int64)
    encodings = pa.DictionaryArray.from_arrays(pa.array(zero.astype(np.int8)), pa.array(["UTF-8"]))
    return pa.RecordBatch.from_pydict(
        {
            "id": batch.column("id").cast(pa.string()),
            "date": batch.column("date").cast(pa.string()),
            "content": pa.array([b""] * rows, pa.large_binary()),
            "html": pa.array(zero.astype(bool)),
            "encoding": encodings,
            "source": pa.array(zero.astype(np.int32)),
            **{name: pa.array(zero) for name in ("position", "begin", "end")},
            **_attributes(batch),
        }
    )


def _attributes(batch: pa.RecordBatch) -> dict[str, pa.Array]:
    """What the condition looks at, as a segment has it."""
    found: dict[str, pa.Array] = {}
    if "simhash" in batch.schema.names:
        found["simhash"] = batch.column("simhash").cast(pa.int64()).view(pa.uint64())
    if "category" in batch.schema.names:
        found["category"] = batch.column("category").cast(pa.string())
    return found


def _documents(found: Clusters) -> Iterator[pa.RecordBatch]:
    groups, first, begin = found.outcome.groups, found.first, 0
    kinds = pa.array(KINDS, pa.string())
    for batch in found.document_batches():
        some = slice(begin, begin + len(batch))
        same = {name: batch.column(name) for name in batch.schema.names}
        yield _part(
            "documents",
            len(batch),
            same
            | {
                "number": np.arange(some.start, some.stop),
                "representative": groups.representative[some].astype(np.int64),
                "kind": kinds.take(pa.array(groups.kind[some])),
                "first": first[some],
                "first_id": same["representative"],
                "why": same["kind"],
            },
        )
        begin = some.stop


def _pairs(found: Clusters) -> Iterator[pa.RecordBatch]:
    """Pairs and links, by the numbers of their documents. Pairs by simhash are as sketches tell."""
    outcome = found.outcome
    numbers, hubs = outcome.groups.representatives.astype(np.int64), outcome.hubs
    for measure in MEASURES:
        pairs = outcome.pairs(measure)
        if found.settings.method == "hamming":
            pairs = map(found.measured, pairs)
        tables = {"pairs": pairs, "links": outcome.link_tables(measure)}
        for name, some in tables.items():
            for table in some:
                a, b, common, sampled = table.astype(np.int64).T
                mass = hubs[b] == a if len(hubs) else np.zeros(len(a), bool)
                columns = {"a": numbers[a], "b": numbers[b], "common": common, "sampled": sampled}
                yield _part(f"{name}-{measure}", len(table), columns | {"mass": mass})


def _part(part: str, rows: int, columns: dict[str, Any]) -> pa.RecordBatch:
    """Rows of one part; nothing where it has no such column."""
    made = columns | {"part": pa.array([part] * rows, pa.string())}
    arrays = [
        pa.array(made[field.name], field.type) if field.name in made else pa.nulls(rows, field.type)
        for field in _SCHEMA
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=_SCHEMA)
