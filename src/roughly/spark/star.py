"""Stars on Spark: clusters in which every member resembles the centre (roughly.clustering.star).

A document is a centre if no earlier centre resembles it: the dedup rule (greedy.py) says who is
none. Of the centres that resemble it, a member belongs to the one that it resembles most. Inside a
mass only pairs with the hub are known: where the hub is no centre, those that are are compared with
the rest of the mass, the first of them first, until nothing changes.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from roughly.condition import Condition
from roughly.parameters import Parameters
from roughly.spark.checkpoint import Checkpoints
from roughly.spark.greedy import removed_of
from roughly.spark.join import counted, reach

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


def stars(
    pairs: DataFrame,
    links: DataFrame,
    sketches: DataFrame,
    parameters: Parameters,
    threshold: Fraction,
    condition: Condition,
    checkpoints: Checkpoints,
    fitting: int,
) -> DataFrame:
    """number and component, the centre, of everybody who is none. `pairs` (a, b, common, sampled)
    reach the threshold, those with hubs, which `links` are, among them."""
    masses = links.selectExpr("b as number", "a as hub")
    asked: DataFrame | None = None
    round_, at_once = 0, 1
    while True:
        gone = removed_of(pairs, f"stars-{round_}", checkpoints, fitting)
        own = masses.join(gone, "number", "left_anti")
        own = own.join(gone.selectExpr("number as hub"), "hub", "left_semi")
        if asked is not None:
            own = own.join(asked, "number", "left_anti")
        first = checkpoints.keep(f"stars-asked-{round_}", _first_of_each(own, at_once))
        if first.isEmpty():
            return checkpoints.keep("stars", _nearest(pairs, gone))
        asked = first.select("number") if asked is None else asked.union(first.select("number"))
        both = first.selectExpr("number as a", "hub").join(
            masses.selectExpr("number as b", "hub"), "hub"
        )
        more = counted(
            both.where("a < b").select("a", "b"),
            sketches,
            parameters,
            "resemblance",
            reach(threshold),
            condition,
        )
        more = checkpoints.keep(f"stars-more-{round_}", more)
        # A pair that was known already says the same twice.
        pairs = pairs.unionByName(more).dropDuplicates(["a", "b"])
        round_, at_once = round_ + 1, 2 * at_once


def simhash_stars(
    pairs: DataFrame, links: DataFrame, checkpoints: Checkpoints, fitting: int, pinned: int = 0
) -> DataFrame:
    """The same of pairs by simhash, `links` not among them: who has a hub has its partners, so it
    belongs to the nearest of the hub, if that is a centre, and of the hub's centres before it. The
    first `pinned` are centres in any case."""
    masses = links.where(f"b >= {pinned}").selectExpr("b as number", "a as hub")
    free = pairs.where(f"b >= {pinned}")
    gone = removed_of(free, "stars-0", checkpoints, fitting)
    turned = pairs.selectExpr("b as a", "a as b", "common", "sampled")
    partners = pairs.unionByName(turned).selectExpr("a as hub", "b as centre", "common")
    own = masses.select("hub").distinct().selectExpr("hub", "hub as centre", "64L as common")
    partners = partners.unionByName(own)
    partners = partners.join(gone.selectExpr("number as centre"), "centre", "left_anti")
    held = masses.join(partners, "hub").where("centre < number")
    best = held.groupBy("number").agg(_heaviest("-common", "centre"))
    nearest = best.select("number", "best.centre").withColumnRenamed("centre", "component")
    return checkpoints.keep("stars", _nearest(free, gone).unionByName(nearest))


def _nearest(pairs: DataFrame, gone: DataFrame) -> DataFrame:
    """Of everybody who is no centre the one that it resembles most, of these the first."""
    known = pairs.join(gone.selectExpr("number as a"), "a", "left_anti")
    known = known.join(gone.selectExpr("number as b"), "b", "left_semi")
    # Fractions of numbers of 32 bits that differ do so in a double.
    best = known.groupBy("b").agg(_heaviest("-(common / sampled)", "a"))
    return best.selectExpr("b as number", "best.a as component")


def _heaviest(less: str, name: str) -> Column:
    from pyspark.sql import functions as F

    return F.min(F.struct(F.expr(less).alias("less"), F.col(name))).alias("best")


def _first_of_each(documents: DataFrame, count: int) -> DataFrame:
    """The first `count` of those with the same hub."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    place = F.row_number().over(Window.partitionBy("hub").orderBy("number"))
    return documents.withColumn("place", place).where(F.col("place") <= count).drop("place")
