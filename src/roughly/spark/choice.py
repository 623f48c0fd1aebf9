"""Which of the pairs that a deduplication finds are looked at, and when, by the rules of
roughly.deduplication.candidates.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from roughly.clustering.outcome import reaching
from roughly.deduplication.rule import Rule
from roughly.parameters import Parameters

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# Of each document the pairs with the corpus that are looked at first, as there.
_BEST = 8


def likely(
    rule: Rule,
    parameters: Parameters,
    lowest: Fraction | None,
    table: npt.NDArray[np.uint32],
    level: npt.NDArray[np.int64],
) -> npt.NDArray[np.bool_]:
    """Which pairs by resemblance are looked at (roughly.deduplication.candidates): those that reach
    the floor of their level, or `lowest` if that is given, and may well reach the threshold."""
    good = table[:, 3] > 0
    for each in np.unique(level).tolist():
        here = level == each
        floor = rule.floor_at(each, parameters) if lowest is None else lowest
        good[here] &= reaching(table[here], floor)
    if not rule.estimate and parameters.selection[0] == "adaptive":
        share = table[:, 2] / np.maximum(table[:, 3], 1)
        good &= share >= rule.least_at(level, table[:, 3])
    return good


def contained(
    floor: Fraction,
    whole: Fraction | None,
    table: npt.NDArray[np.uint32],
    level: npt.NDArray[np.int64],
) -> npt.NDArray[np.bool_]:
    """Which pairs by containment are looked at; at level 0 those that reach `whole`."""
    good = (table[:, 3] > 0) & reaching(table, floor)
    if whole is not None:
        good &= (level > 0) | reaching(table, whole)
    chosen: npt.NDArray[np.bool_] = good
    return chosen


def with_best(pairs: DataFrame, pinned: int) -> DataFrame:
    """Pairs (a, b) and `best`: whether it is one of the best that b has with the corpus, or of two
    documents of the input."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    if not pinned:
        return pairs.select("a", "b", F.lit(True).alias("best"))
    known = F.col("a") < pinned
    rank = Window.partitionBy("b", known).orderBy(F.expr("-(common / sampled)"), "a")
    best = ~known | (F.row_number().over(rank) <= _BEST)
    return pairs.where(f"b >= {pinned}").select("a", "b", best.alias("best"))


def first_of_hubs(staying: DataFrame, opened: int) -> DataFrame:
    """The first few of those with the same hub, for they may make the later ones go."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    place = F.row_number().over(Window.partitionBy("hub").orderBy("number"))
    return staying.withColumn("place", place).where(F.col("place") <= opened).select("number")
