"""Masses: hubs and their links, and the pairs inside masses that higher thresholds need.

The rule is that of src/core/mass.hpp and roughly.clustering.mass. Spark finds the heads of every
key (the first few documents that have it, cut off before they are shuffled), joins documents with
them by key, and counts the sketches; the first head that is reached is the hub.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from roughly.clustering.join import MassRule
from roughly.clustering.mass import rungs
from roughly.condition import NO_CONDITION, Condition
from roughly.parameters import Parameters
from roughly.spark.attribute import attribute_columns
from roughly.spark.column import byte_column, number_column, sketch_set, word_column
from roughly.spark.frequency import places, with_frequencies
from roughly.spark.join import JoinRule, counted, hub_teams, joined_pairs, levels_of, reach

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from roughly.spark.checkpoint import Checkpoints

# Links to hubs and a threshold: those of them that hold.
Check = Callable[["DataFrame", Fraction], "DataFrame"]

_KEYS = "number long, size long, key long, rank int"


def no_check(links: DataFrame, threshold: Fraction) -> DataFrame:
    """All of them."""
    return links


def find_hubs(
    documents: DataFrame,
    parameters: Parameters,
    threshold: Fraction,
    rule: MassRule,
    condition: Condition = NO_CONDITION,
) -> DataFrame:
    """Links to hubs that are comparable: a (the hub), b, common, sampled. `documents` have
    frequencies, and what the condition looks at."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    columns = documents.select("number", "size", "level", "values", "frequencies")
    keys = columns.mapInArrow(partial(_keys, parameters, rule), _KEYS)
    same = ["key"]
    if condition.method == "both":
        # Who has no simhash is comparable with nobody, and no head of others.
        keys = keys.join(documents.where("simhash is not null").select("number"), "number")
    if condition.within is not None:
        keys = keys.join(documents.select("number", "category"), "number")
        same.append("category")
    by_key = Window.partitionBy(*same).orderBy("number")
    heads = (
        keys.withColumn("place", F.row_number().over(by_key))
        .where(F.col("place") <= rule.heads)
        .select(*same, F.col("number").alias("a"), F.col("size").alias("head_size"))
    )
    tries = keys.join(heads, same).where(F.col("a") < F.col("number"))
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
    links = counted(tries, documents, parameters, "resemblance", reach(threshold), condition)
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
    condition: Condition = NO_CONDITION,
    check: Check = no_check,
) -> Iterator[DataFrame]:
    """The pairs that are left out at the threshold, whose hub links are given, and are needed at
    the rungs above it (roughly.clustering.mass). `check` says which links hold at a threshold."""
    from pyspark.sql import functions as F

    more = attribute_columns(condition)
    plain = documents.select("number", "size", "level", "kept", "values", *more)
    for rung in rungs(threshold):
        if links.isEmpty():
            return
        name = f"rung-{rung.numerator}-{rung.denominator}"
        members = links.select(F.explode(F.array("a", "b")).alias("number")).distinct()
        inner = checkpoints.keep(
            f"{name}-documents", with_frequencies(plain.join(members, "number"), more=more)
        )
        inner_links = checkpoints.keep(
            f"{name}-hubs", check(find_hubs(inner, parameters, rung, rule, condition), rung)
        )
        found = joined_pairs(
            inner,
            JoinRule(parameters, "resemblance", rung, condition=condition),
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
