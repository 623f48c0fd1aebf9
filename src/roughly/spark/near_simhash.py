"""Pairs by simhash on Spark: documents that are comparable and differ in at most k bits, as
roughly.clustering.near_simhash finds them.

Every simhash is joined once, however many documents have it. It is cut into blocks; two that differ
in k bits agree in all blocks but k, so they meet under one choice of the other blocks. How many
blocks there are is chosen such that few others meet there. Very many documents that a condition
cannot tell apart are linked to the first of them alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from roughly.condition import SIMHASH_BITS, Condition
from roughly.spark.column import number_column

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from roughly.spark.checkpoint import Checkpoints

# Simhashes that meet another one by chance, at most on average, and rows that one becomes at most.
_BY_CHANCE = 64
_MOST_CHOICES = 500
_KEYS = "choice int, key long, simhash long"


def simhash_links(documents: DataFrame, condition: Condition, least: int) -> DataFrame:
    """Links to hubs (a, b, common, sampled) of documents of which `least` or more cannot be told
    apart. `documents` have number, size, simhash and what else the condition looks at."""
    from pyspark.sql import functions as F

    keys = ["simhash"] if condition.within is None else ["simhash", "category"]
    keys += [] if condition.size_ratio is None else ["size"]
    rows = documents.where("simhash is not null").select("number", *keys)
    groups = rows.groupBy(*keys).agg(F.min("number").alias("a"), F.count("number").alias("count"))
    members = rows.join(groups.where(F.col("count") >= least), keys).where("number <> a")
    bits = F.lit(SIMHASH_BITS).cast("long")
    return members.select(
        "a", F.col("number").alias("b"), bits.alias("common"), bits.alias("sampled")
    )


def simhash_pairs(
    documents: DataFrame, links: DataFrame, condition: Condition, checkpoints: Checkpoints
) -> DataFrame:
    """All comparable pairs (a, b, common, sampled) among those that have no hub: common are the
    bits that agree."""
    from pyspark.sql import functions as F

    more = ["size"] if condition.within is None else ["size", "category"]
    rows = documents.where("simhash is not null").select("number", "simhash", *more)
    rows = rows.join(links.select(F.col("b").alias("number")), "number", "left_anti")
    values = checkpoints.keep("simhashes", rows.select("simhash").distinct())
    met = values_within(values, condition.distance)
    one, other = (rows.toDF(*(f"{name}_{side}" for name in rows.columns)) for side in "ab")
    pairs = met.join(one, met["x"] == one["simhash_a"]).join(other, met["y"] == other["simhash_b"])
    pairs = pairs.where((F.col("x") != F.col("y")) | (F.col("number_a") < F.col("number_b")))
    if condition.within is not None:
        pairs = pairs.where("category_a = category_b")
    if condition.size_ratio is not None:
        pairs = pairs.where(_like_size(*condition.size_ratio.as_integer_ratio()))
    bits = SIMHASH_BITS - F.bit_count(F.col("x").bitwiseXOR(F.col("y")))
    return pairs.select(
        F.least("number_a", "number_b").alias("a"),
        F.greatest("number_a", "number_b").alias("b"),
        bits.cast("long").alias("common"),
        F.lit(SIMHASH_BITS).cast("long").alias("sampled"),
    )


def values_within(values: DataFrame, k: int) -> DataFrame:
    """Pairs (x, y) of distinct simhashes that differ in at most k bits, x < y, and each with
    itself."""
    from pyspark.sql import functions as F

    own = values.select(F.col("simhash").alias("x"), F.col("simhash").alias("y"))
    if not k:
        return own
    blocks = block_count(values.count(), k)
    keys = values.mapInArrow(partial(_keys, blocks, k), _KEYS)
    one = keys.select("choice", "key", F.col("simhash").alias("x"))
    other = keys.select("choice", "key", F.col("simhash").alias("y"))
    differ = F.bit_count(F.col("x").bitwiseXOR(F.col("y")))
    met = one.join(other, ["choice", "key"]).where((F.col("x") < F.col("y")) & (differ <= k))
    return own.unionByName(met.select("x", "y").distinct())


def block_count(values: int, k: int) -> int:
    """Blocks that simhashes are cut into: so many that few meet by chance."""
    blocks = k + 1
    while values >> (SIMHASH_BITS * (blocks - k) // blocks) > _BY_CHANCE:
        if comb(blocks + 1, k) > _MOST_CHOICES:
            break
        blocks += 1
    return blocks


def choices(blocks: int, k: int) -> list[int]:
    """Masks of the bits of all blocks but k, for every choice of these."""
    ends = [SIMHASH_BITS * n // blocks for n in range(blocks + 1)]
    masks = [((1 << ends[n + 1]) - 1) ^ ((1 << ends[n]) - 1) for n in range(blocks)]
    return [sum(some) for some in combinations(masks, blocks - k)]


def _keys(blocks: int, k: int, arrow: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    masks = choices(blocks, k)
    for batch in arrow:
        values = number_column(batch, "simhash")
        for number, mask in enumerate(masks):
            kept: npt.NDArray[Any] = values.view(np.uint64) & np.uint64(mask)
            yield pa.RecordBatch.from_pydict(
                {
                    "choice": np.full(len(values), number, np.int32),
                    "key": kept.view(np.int64),
                    "simhash": values,
                }
            )


def _like_size(p: int, q: int) -> Column:
    """Whether the smaller document has at least p/q of the larger one's shingles."""
    from pyspark.sql import functions as F

    wide = "decimal(20,0)"
    less, more = F.least("size_a", "size_b").cast(wide), F.greatest("size_a", "size_b").cast(wide)
    return less * F.lit(q).cast(wide) >= more * F.lit(p).cast(wide)
