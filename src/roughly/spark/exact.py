"""Pairs counted exactly, on the complete sets of shingles of their texts, which are joined again.

Pairs of two sketches that are complete already are counted on these: they say the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from roughly.clustering.join import Measure
from roughly.parameters import Parameters
from roughly.sketcher import Sketcher
from roughly.spark.column import Numbers, sketch_set
from roughly.spark.counting import Counted, counted
from roughly.spark.sketching import Fields, read_batch

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

# Of a pair: elements of both, of either, of a, of b.
COUNTED = "a long, b long, common long, sampled long, part_a long, part_b long"
_COLUMNS = COUNTED.replace(" long", "").split(", ")


def counted_exactly(
    pairs: DataFrame,
    documents: DataFrame,
    texts: DataFrame,
    parameters: Parameters,
    fields: Fields,
    measure: Measure = "resemblance",
) -> DataFrame:
    """Pairs (a, b) with exact counts; for containment without words. `documents` have number, size,
    level, kept and values, `texts` number, text and html, null where it is not known."""
    from pyspark.sql import functions as F

    whole = (F.col("level") == 0) & (F.col("kept") >= F.col("size"))
    if parameters.bits != 64 or parameters.selection[0] == "perm":
        whole = F.lit(False)  # those of 40 bits are too likely to collide, minima are no sets
    marks = documents.select("number", whole)
    marked = pairs.select("a", "b")
    for side in "ab":
        marked = marked.join(marks.toDF(side, f"whole_{side}"), side)
    by = "contained" if parameters.words and measure == "containment" else "resemblance"
    both = F.col("whole_a") & F.col("whole_b")
    known = counted(
        marked.where(both),
        documents,
        parameters,
        by,
        finish=_with_parts,
        schema=COUNTED,
    )
    asked = marked.where(~both).select("a", "b")
    for side in "ab":
        asked = asked.join(texts.toDF(side, f"text_{side}", f"html_{side}"), side)
    p = parameters
    count = partial(_count, p.w, p.words, p.seed, by, fields.content_type)
    return known.unionByName(asked.mapInArrow(count, COUNTED))


@dataclass(frozen=True)
class Recount:
    """Counts pairs of a clustering again, on the texts of its documents."""

    documents: DataFrame  # number, size, level, kept, values
    texts: DataFrame  # number, text, html
    parameters: Parameters
    fields: Fields

    def pairs(self, pairs: DataFrame, measure: Measure, floor: Fraction) -> DataFrame:
        """Pairs (a, b, mass) that reach the floor: with common and sampled, before mass."""
        from pyspark.sql import functions as F

        counted = counted_exactly(
            pairs.select("a", "b"),
            self.documents,
            self.texts,
            self.parameters,
            self.fields,
            measure,
        )
        sampled = F.least("part_a", "part_b") if measure == "containment" else F.col("sampled")
        counted = counted.withColumn("sampled", sampled).select("a", "b", "common", "sampled")
        reached = counted.where(at_least("common", "sampled", floor) & (F.col("sampled") > 0))
        return reached.join(pairs.select("a", "b", "mass"), ["a", "b"])

    def links(self, links: DataFrame, threshold: Fraction) -> DataFrame:
        """Links to hubs that reach a threshold in truth, as they are."""
        marked = links.selectExpr("a", "b", "true as mass")
        held = self.pairs(marked, "resemblance", threshold).select("a", "b")
        return links.join(held, ["a", "b"]).select("a", "b", "common", "sampled")


def at_least(common: str, whole: str, ratio: Fraction) -> Column:
    """common / whole >= ratio, without rounding."""
    from pyspark.sql import functions as F

    wide = "decimal(20,0)"
    left = F.col(common).cast(wide) * F.lit(ratio.denominator).cast(wide)
    return left >= F.col(whole).cast(wide) * F.lit(ratio.numerator).cast(wide)


def counted_by_sketch(pairs: DataFrame, documents: DataFrame, parameters: Parameters) -> DataFrame:
    """Pairs (a, b) with the counts of their sketches; the parts are 0 where these cannot tell."""
    from pyspark.sql import functions as F

    near = counted(pairs.select("a", "b"), documents, parameters, "resemblance")
    if parameters.selection[0] == "min":
        none = F.lit(0).cast("long")
        return near.withColumn("part_a", none).withColumn("part_b", none).select(*_COLUMNS)
    for side, turn in (("b", False), ("a", True)):
        asked = near.select("a", "b")
        if turn:
            asked = asked.selectExpr("b as a", "a as b")
        inside = counted(asked, documents, parameters, "contained")
        if turn:
            inside = inside.selectExpr("b as a", "a as b", "sampled")
        inside = inside.select("a", "b", F.col("sampled").alias(f"part_{side}"))
        near = near.join(inside, ["a", "b"])
    return near.select(*_COLUMNS)


def _with_parts(found: Counted) -> dict[str, Numbers]:
    return found.columns() | {"part_a": found.sizes[0], "part_b": found.sizes[1]}


def _count(
    w: int,
    words: int,
    seed: int,
    measure: str,
    content_type: str,
    arrow: Iterator[pa.RecordBatch],
) -> Iterator[pa.RecordBatch]:
    sketcher = Sketcher(w=w, select="all", seed=seed, words=words)
    for batch in arrow:
        rows = len(batch)
        if not rows:
            continue
        texts = pa.concat_arrays([batch.column("text_a"), batch.column("text_b")])
        nothing = pa.nulls(2 * rows, pa.string())
        source = pa.RecordBatch.from_pydict({"text": texts, "id": nothing, "date": nothing})
        read = read_batch(source, content_type)
        known = pa.concat_arrays([batch.column("html_a"), batch.column("html_b")])
        html = pc.coalesce(known, read.column("html"))
        read = read.set_column(read.schema.get_field_index("html"), "html", html)
        columns = sketcher.sketch_columns(read, threads=1)
        level = np.zeros(2 * rows, np.uint8)
        sets = sketch_set(sketcher.parameters, columns.values, columns.offsets, columns.size, level)
        table = np.zeros((rows, 4), np.uint32)
        table[:, 0], table[:, 1] = np.arange(rows), np.arange(rows, 2 * rows)
        table = sets.measure(measure, table, 1)
        sizes = columns.size.astype(np.int64)
        counts = table.astype(np.int64)
        numbers = [counts[:, 2], counts[:, 3], sizes[:rows], sizes[rows:]]
        made = [batch.column("a"), batch.column("b"), *numbers]
        yield pa.RecordBatch.from_pydict(dict(zip(_COLUMNS, made, strict=True)))
