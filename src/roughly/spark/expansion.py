"""Pairs by the presets of the 1997 paper on Spark: full expansion, and super shingles.

Every document becomes a row an element (or super shingle); an element that more documents have than
the cut-off allows is left out; documents under the same one meet, and how often they do is counted.
As in the paper all pairs under an element are made, so the cut-off is what bounds the work.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from roughly.clustering.super_shingle import tagged_super_shingles
from roughly.condition import NO_CONDITION, Condition
from roughly.parameters import Parameters
from roughly.spark.attribute import attributes_in
from roughly.spark.column import number_column, word_column
from roughly.spark.exact import at_least

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_OCCURRENCES = "element long, number long"


def expanded_pairs(documents: DataFrame, floor: Fraction, cut_off: int) -> DataFrame:
    """Pairs (a, b, common, sampled) that reach the floor, but for elements that more than `cut_off`
    documents have. `documents` have number, kept and values, of one level."""
    from pyspark.sql import functions as F

    rows = documents.select("number", "values").mapInArrow(_elements, _OCCURRENCES)
    # Few, as a rule: Spark sends them to every executor then.
    common = rows.groupBy("element").count().where(F.col("count") > cut_off).select("element")
    met = _meeting(rows.join(common, "element", "left_anti"))
    for side in "ab":
        kept = documents.select(F.col("number").alias(side), F.col("kept").alias(f"kept_{side}"))
        met = met.join(kept, side)
    sampled = (F.col("kept_a") + F.col("kept_b") - F.col("common")).cast("long")
    pairs = met.select("a", "b", "common", sampled.alias("sampled"))
    return pairs.where(at_least("common", "sampled", floor))


def super_pairs(
    documents: DataFrame,
    parameters: Parameters,
    length: int,
    agreeing: int,
    condition: Condition = NO_CONDITION,
) -> DataFrame:
    """Pairs of which `agreeing` super shingles or more agree: a, b, how many do, of how many."""
    from pyspark.sql import functions as F

    groups = parameters.selection[1] // length
    make = partial(_super_shingles, parameters, length, condition)
    met = _meeting(documents.mapInArrow(make, _OCCURRENCES))
    pairs = met.where(F.col("common") >= agreeing)
    return pairs.withColumn("sampled", F.lit(groups).cast("long"))


def _meeting(rows: DataFrame) -> DataFrame:
    """How many elements every two documents have in common: a, b, common."""
    from pyspark.sql import functions as F

    one, other = rows.toDF("element", "a"), rows.toDF("element", "b")
    met = one.join(other, "element").where("a < b")
    return met.groupBy("a", "b").agg(F.count(F.lit(1)).alias("common"))


def _elements(arrow: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in arrow:
        values, offsets = word_column(batch.column("values"))
        number = np.repeat(number_column(batch, "number"), np.diff(offsets))
        yield pa.RecordBatch.from_pydict({"element": values.view(np.int64), "number": number})


def _super_shingles(
    parameters: Parameters, length: int, condition: Condition, arrow: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    for batch in arrow:
        values, offsets = word_column(batch.column("values"))
        category = None
        if condition.within is not None:
            category = attributes_in(batch, condition).category
        tagged, ends = tagged_super_shingles(parameters, values, offsets, length, category)
        number = np.repeat(number_column(batch, "number"), np.diff(ends))
        yield pa.RecordBatch.from_pydict({"element": tagged.view(np.int64), "number": number})
