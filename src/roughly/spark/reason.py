"""Why documents go: of each the one that stays in its place, the kind, and the evidence.

Results name documents by their ids; where a corpus is there too they say whose id it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from roughly.condition import Condition
from roughly.parameters import Parameters
from roughly.spark.checkpoint import Checkpoints
from roughly.spark.join import counted
from roughly.spark.near_simhash import simhash_links, simhash_pairs
from roughly.spark.pool import Pool
from roughly.spark.star import simhash_stars

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# Two that cannot be told apart by their simhashes are enough for one to stand for the other.
_TWINS = 2


def followers(groups: DataFrame, gone: DataFrame) -> DataFrame:
    """Equivalent documents whose representative stays go because of it. `groups` are number,
    representative and identical, `gone` the representatives that go."""
    from pyspark.sql import functions as F

    return (
        groups.where("number <> representative")
        .join(gone.selectExpr("number as representative"), "representative", "left_anti")
        .select(
            "number",
            F.col("representative").alias("kept"),
            F.when(F.col("identical"), "identical").otherwise("lexical").alias("kind"),
            F.lit(1.0).alias("resemblance"),
            F.lit(1.0).alias("containment"),
        )
    )


def simhash_reasons(
    pool: Pool,
    groups: DataFrame,
    parameters: Parameters,
    condition: Condition,
    checkpoints: Checkpoints,
    fitting: int,
) -> DataFrame:
    """Who goes where the distance of simhashes decides (roughly.deduplication.simhash_decision):
    number, kept, kind, resemblance, containment. It is the rule of stars by simhash: whoever has an
    earlier one that stays within the distance goes for the nearest of these, or the first."""
    from pyspark.sql import functions as F

    within = [] if condition.within is None else ["category"]
    sketches = pool.ordered.select("number", "size", "level", "values", "simhash", *within)
    links = checkpoints.keep("hubs", simhash_links(sketches, condition, _TWINS))
    pairs = checkpoints.keep("pairs", simhash_pairs(sketches, links, condition, checkpoints))
    nearest = simhash_stars(pairs, links, checkpoints, fitting, pool.pinned)
    follow = followers(groups, nearest)
    near = nearest.join(follow.select("number"), "number", "left_anti")
    asked = near.selectExpr("component as a", "number as b")
    told = counted(asked, sketches, parameters, "resemblance").selectExpr(
        "b as number", "a as kept", "'near' as kind", "common / nullif(sampled, 0) as resemblance"
    )
    if parameters.selection[0] == "min":
        told = told.withColumn("containment", F.lit(None).cast("double"))
    else:
        inside = counted(asked, sketches, parameters, "contained").selectExpr(
            "b as number", "common / nullif(sampled, 0) as containment"
        )
        told = told.join(inside, "number")
    return follow.unionByName(told)


def named(reasons: DataFrame, pool: Pool, condition: Condition) -> DataFrame:
    """Reasons with ids: removed, kept, kind, resemblance, containment; where simhashes play a part
    their distance, null if there is none; where there is a corpus `kept_in`."""
    from pyspark.sql import functions as F

    more = [] if condition.simhash is None else ["simhash"]
    names = pool.ordered.select("number", "id", *more)
    one, other = (
        names.toDF(*(f"removed_{n}" for n in names.columns)),
        names.toDF(*(f"kept_{n}" for n in names.columns)),
    )
    table = reasons.join(one, F.col("number") == F.col("removed_number"))
    table = table.join(other, F.col("kept") == F.col("kept_number"))
    columns = [F.col("removed_id").alias("removed"), F.col("kept_id").alias("kept")]
    columns += [F.col(n) for n in ("kind", "resemblance", "containment")]
    if more:
        differ = F.bit_count(F.col("removed_simhash").bitwiseXOR(F.col("kept_simhash")))
        columns.append(differ.cast("int").alias("distance"))
    if pool.directory is not None:
        place = F.when(F.col("kept") < pool.pinned, "corpus").otherwise("input")
        columns.append(place.alias("kept_in"))
    return table.select(*columns)
