"""Masses: hubs and their links, and the pairs inside masses that higher thresholds need.

The rule is that of src/core/mass.hpp and roughly.clustering.mass. Spark finds the heads of every
key (the first few documents that have it, cut off before they are shuffled), joins documents with
them by key, and counts the sketches; the first head that is reached is the hub.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from roughly.clustering.join import MassRule
from roughly.clustering.mass import rungs
from roughly.parameters import Parameters
from roughly.spark.column import byte_column, number_column, sketch_set, word_column
from roughly.spark.frequency import places, with_frequencies
from roughly.spark.join import JoinRule, counted, hub_teams, joined_pairs, levels_of, reach

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from roughly.spark.checkpoint import Checkpoints

_KEYS = "number long, size long, key long, rank int"


def find_hubs(
    documents: DataFrame, parameters: Parameters, threshold: Fraction, rule: MassRule
) -> DataFrame:
    """Links to hubs: a (the hub), b, common, sampled. `documents` have frequencies."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    columns = documents.select("number", "size", "level", "values", "frequencies")
    keys = columns.mapInArrow(partial(_keys, parameters, rule), _KEYS)
    by_key = Window.partitionBy("key").orderBy("number")
    heads = (
        keys.withColumn("place", F.row_number().over(by_key))
        .where(F.col("place") <= rule.heads)
        .select("key", F.col("number").alias("a"), F.col("size").alias("head_size"))
    )
    tries = keys.join(heads, "key").where(F.col("a") < F.col("number"))
    less, more = F.least("size", "head_size"), F.greatest("size", "head_size")
    wide = "decimal(20,0)"
    possible = less.cast(wide) * F.lit(threshold.denominator).cast(wide) >= more.cast(wide) * F.lit(
        threshold.numerator
    ).cast(wide)
    tries = (
        tries.where(possible)
        .groupBy("a", F.col("number").alias("b"))
        .agg(F.min("rank").alias("rank"))
    )
    links = counted(tries, documents, parameters, "resemblance", reach(threshold))
    best = F.min(F.struct("rank", "a", "common", "sampled")).alias("best")
    return links.groupBy("b").agg(best).select("best.a", "b", "best.common", "best.sampled")


def _keys(
    parameters: Parameters, rule: MassRule, arrow: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    for batch in arrow:
        values, offsets = word_column(batch.column("values"))
        if not len(values):
            continue
        size = number_column(batch, "size")
        sketches = sketch_set(parameters, values, offsets, size, number_column(batch, "level"))
        frequencies, _ = byte_column(batch.column("frequencies"))
        sketches.use_frequencies([np.ascontiguousarray(frequencies)])
        keys, begins = sketches.mass_keys(rule.least_frequency, rule.keys, 0, len(batch), 1)
        begins = np.asarray(begins)
        lengths = np.diff(begins)
        yield pa.RecordBatch.from_pydict(
            {
                "number": np.repeat(number_column(batch, "number"), lengths),
                "size": np.repeat(size, lengths),
                "key": np.asarray(keys).view(np.int64),
                "rank": places(begins).astype(np.int32),
            }
        )


def teams_of(links: DataFrame) -> DataFrame:
    """Who is not compared with whom, by links to hubs."""
    return hub_teams(links.selectExpr("b as number", "a as hub"))


def pairs_inside(
    documents: DataFrame,
    links: DataFrame,
    parameters: Parameters,
    threshold: Fraction,
    rule: MassRule,
    checkpoints: Checkpoints,
) -> Iterator[DataFrame]:
    """The pairs that are left out at the threshold, whose hub links are given, and are needed at
    the rungs above it (roughly.clustering.mass)."""
    from pyspark.sql import functions as F

    plain = documents.select("number", "size", "level", "kept", "values")
    for rung in rungs(threshold):
        if links.isEmpty():
            return
        name = f"rung-{rung.numerator}-{rung.denominator}"
        members = links.select(F.explode(F.array("a", "b")).alias("number")).distinct()
        inner = checkpoints.keep(
            f"{name}-documents", with_frequencies(plain.join(members, "number"))
        )
        inner_links = checkpoints.keep(f"{name}-hubs", find_hubs(inner, parameters, rung, rule))
        found = joined_pairs(
            inner,
            JoinRule(parameters, "resemblance", rung),
            levels_of(inner),
            teams_of(inner_links),
        )
        every = inner_links.unionByName(found)
        # Only those with a common hub; others were found before.
        hub_a = links.selectExpr("b as a", "a as hub_a")
        hub_b = links.selectExpr("b", "a as hub_b")
        yield checkpoints.keep(
            f"{name}-pairs",
            every.join(hub_a, "a")
            .join(hub_b, "b")
            .where("hub_a = hub_b")
            .select("a", "b", "common", "sampled"),
        )
        links = inner_links
