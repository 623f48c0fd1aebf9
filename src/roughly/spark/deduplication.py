"""The dedup rule on Spark: who goes, who stays, and why. The answer is that of `roughly.dedup`.

    documents -> sketches -> numbered in keep order -> equivalents -> candidate pairs, counted
    -> rounds of the rule -> idle ones that stay are opened, and again -> reasons

Whoever seems to resemble an earlier one, its hub, will most likely go: pairs of two such *idle*
documents are left out, and looked at only for those of them that stay all the same. So a mass of
alike documents costs a pair for each, not the square.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from roughly.clustering.join import MassRule
from roughly.clustering.outcome import reaching
from roughly.deduplication.rule import Rule, Threshold, make_rule
from roughly.errors import ParameterError
from roughly.parameters import Parameters
from roughly.sketcher import Sketcher
from roughly.spark.checkpoint import Checkpoints, Progress
from roughly.spark.clustering import Sizes, checked_elements
from roughly.spark.exact import counted_by_sketch, counted_exactly
from roughly.spark.frequency import with_frequencies
from roughly.spark.greedy import removed_of
from roughly.spark.join import NO_HUB, JoinRule, Level, joined_pairs, levels_of
from roughly.spark.mass import find_hubs
from roughly.spark.order import numbered
from roughly.spark.session import check_spark
from roughly.spark.sketching import Fields, fields_of, readable, sketched

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

# Two documents are a mass here, as in roughly.deduplication.candidates.
_MASS = MassRule(least_frequency=2)
_IDLE = 0
_POSITION = "position"


def dedup(
    documents: DataFrame,
    threshold: Threshold | None = None,
    *,
    keep: str | None = None,
    order_field: str | None = None,
    containment: Threshold | None = None,
    estimate: bool = False,
    sketcher: Sketcher | None = None,
    content_type: str = "auto",
    text_field: str | None = None,
    id_field: str | None = None,
    date_field: str | None = None,
    checkpoint: str | None = None,
    progress: Progress | None = None,
    sizes: Sizes | None = None,
) -> SparkDeduplicated:
    """Finds the documents that can go because one much like them stays, as `roughly.dedup` does.

    A DataFrame has no order of its own: `order_field` names the column whose order is that of the
    input, without two equal values; keep="first" needs it, and where the others leave two
    documents equal it decides, or else the id. For the rest see `roughly.spark.clustering.cluster`.
    """
    check_spark()
    if sketcher is not None and not isinstance(sketcher, Sketcher):
        raise ParameterError(f"sketcher: wrong type: {type(sketcher).__name__}, wanted a Sketcher")
    sketcher = Sketcher() if sketcher is None else sketcher
    sketcher = sketcher.without_words()
    rule = make_rule(threshold, containment, keep, estimate, sketcher)
    fields = fields_of(documents, text_field, id_field, date_field, content_type)
    if order_field is None and rule.keep == "first":
        raise ParameterError(
            "keep: no order to take the first by: a DataFrame has none of its own",
            hint="name a column of the input's order (order_field), or keep 'longest' or 'newest'",
        )
    if order_field is not None and order_field not in documents.columns:
        raise ParameterError(
            f"documents: no column {order_field!r}: there are"
            f" {', '.join(map(repr, documents.columns))}"
        )
    run = {"sketch": str(sketcher.parameters), "fields": str(fields), "order": order_field}
    run |= {"rule": str(rule)}
    checkpoints = Checkpoints(documents.sparkSession, checkpoint, run, progress)
    texts = _with_position(readable(documents, fields, _more(order_field)), order_field)
    sketches = checkpoints.keep("sketches", sketched(texts, sketcher, fields, (_POSITION,)))
    checked_elements(sketches, checkpoints)
    ordered = numbered(sketches, _keep_order(rule), "ordered", checkpoints)
    finder = _Finder(
        ordered, texts, sketcher.parameters, rule, fields, checkpoints, sizes or Sizes()
    )
    return SparkDeduplicated(documents, fields, finder.removals(), checkpoints)


def _more(order_field: str | None) -> tuple[Any, ...]:
    from pyspark.sql import functions as F

    return () if order_field is None else (F.col(f"`{order_field}`").alias(_POSITION),)


def _with_position(texts: DataFrame, order_field: str | None) -> DataFrame:
    from pyspark.sql import functions as F

    return texts if order_field is not None else texts.withColumn(_POSITION, F.lit(0))


def _keep_order(rule: Rule) -> list[Column]:
    from pyspark.sql import functions as F

    ties = [F.col(_POSITION), F.col("id")]
    if rule.keep == "longest":
        return [F.col("tokens").desc(), *ties]
    if rule.keep == "newest":
        return [F.coalesce(F.col("date"), F.lit("")).desc(), *ties]
    return ties


@dataclass(frozen=True)
class SparkDeduplicated:
    """What a deduplication found, as DataFrames."""

    input: DataFrame
    fields: Fields
    _removals: DataFrame
    checkpoints: Checkpoints

    def removals(self) -> DataFrame:
        """A row a document that goes: removed, kept (ids), kind, resemblance, containment (of the
        removed one in the kept one; null where sketches cannot tell)."""
        return self._removals

    def documents(self) -> DataFrame:
        """The rows of the input that stay, as they are; what has no text stays, too."""
        from pyspark.sql import functions as F

        gone = self._removals.select(F.col("removed"))
        name = F.col(f"`{self.fields.id}`").cast("string")
        return self.input.join(gone, name == gone["removed"], "left_anti")

    def close(self) -> None:
        """Deletes the tables, unless they are in a checkpoint directory that was named."""
        self.checkpoints.close()


def _likely(
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


def _contained(
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


@dataclass(frozen=True)
class _Finder:
    """One deduplication, over documents that are sketched and numbered in keep order."""

    ordered: DataFrame
    texts: DataFrame  # id, text
    parameters: Parameters
    rule: Rule
    fields: Fields
    checkpoints: Checkpoints
    sizes: Sizes

    def removals(self) -> DataFrame:
        keep = self.checkpoints.keep
        groups = keep("equivalents", self._groups())
        own = groups.where("number = representative").select("number")
        plain = self.ordered.select("number", "size", "level", "kept", "values")
        documents = keep(
            "frequencies", with_frequencies(plain.join(own, "number"), self.sizes.long_list)
        )
        levels = levels_of(documents)
        hubs = keep(
            "hubs", find_hubs(documents, self.parameters, self.rule.threshold, _MASS)
        ).selectExpr("b as number", "a as hub")
        idle = hubs
        found = self._pairs(documents, levels, idle.select("number"), None, "pairs-0")
        number, opened = 0, 1
        while True:
            edges = found.where(self._removes())
            gone = removed_of(edges, f"removed-{number}", self.checkpoints, self.sizes.fitting)
            staying = idle.join(gone, "number", "left_anti")
            chosen = keep(f"opened-{number}", _first_of_hubs(staying, opened))
            if chosen.isEmpty():
                break
            number, opened = number + 1, opened * 4
            waiting = idle.join(chosen, "number", "left_anti")
            among = documents.join(idle.select("number"), "number", "left_semi")
            lowest = min(self.rule.floor_at(level.level, self.parameters) for level in levels)
            more = self._pairs(
                among, levels_of(among), waiting.select("number"), lowest, f"pairs-{number}"
            )
            found = found.unionByName(more)
            idle = keep(f"idle-{number}", waiting)
        return keep("removals", self._reasons(groups, found, gone))

    def _groups(self) -> DataFrame:
        """Who has the same canonical form as an earlier one: number, representative, identical. An
        empty document is equivalent to one of the same bytes only."""
        from pyspark.sql import functions as F

        form = F.when(F.col("size") == 0, F.col("content")).otherwise(F.col("canonical"))
        rows = self.ordered.select("number", "content", form.alias("form"), "size")
        rows = rows.withColumn("empty", F.col("size") == 0)
        first = F.min(F.struct("number", "content")).alias("first")
        firsts = rows.groupBy("form", "empty").agg(first)
        return rows.join(firsts, ["form", "empty"]).select(
            "number",
            F.col("first.number").alias("representative"),
            (F.col("content") == F.col("first.content")).alias("identical"),
        )

    def _pairs(
        self,
        documents: DataFrame,
        levels: list[Level],
        idle: DataFrame,
        lowest: Fraction | None,
        name: str,
    ) -> DataFrame:
        """Candidate pairs, but those of two idle documents, counted."""
        from pyspark.sql import functions as F

        rule, parameters = self.rule, self.parameters
        teams = idle.select(
            "number",
            F.lit(NO_HUB).cast("long").alias("hub"),
            F.lit(_IDLE).cast("long").alias("team"),
        )
        floor, containment_floor = rule.floors(parameters)
        least = lowest
        if least is None:
            least = min((rule.floor_at(level.level, parameters) for level in levels), default=floor)
        join = JoinRule(parameters, "resemblance", least)
        choose = partial(_likely, rule, parameters, lowest)
        keys = joined_pairs(documents, join, levels, teams, choose).select("a", "b")
        if containment_floor is not None:
            whole = parameters.bits == 64 and parameters.selection[0] in ("all", "adaptive")
            top = rule.containment if whole and lowest is None else None
            join = JoinRule(parameters, "containment", containment_floor)
            held = joined_pairs(
                documents, join, levels, teams, partial(_contained, containment_floor, top)
            )
            keys = keys.unionByName(held.select("a", "b")).dropDuplicates()
        keys = self.checkpoints.keep(f"{name}-found", keys)
        if rule.estimate:
            return self.checkpoints.keep(name, counted_by_sketch(keys, documents, parameters))
        numbers = keys.select(F.explode(F.array("a", "b")).alias("number")).distinct()
        named = self.ordered.select("number", "id").join(numbers, "number")
        texts = named.join(self.texts.select("id", "text"), "id").select("number", "text")
        return self.checkpoints.keep(
            name, counted_exactly(keys, documents, texts, parameters, self.fields)
        )

    def _removes(self) -> Column:
        """Whether a pair removes its later document, if the earlier one stays."""
        return self._near() | self._held("part_b")

    def _near(self) -> Column:
        return _at_least("common", "sampled", self.rule.threshold)

    def _held(self, part: str) -> Column:
        from pyspark.sql import functions as F

        if self.rule.containment is None:
            return F.lit(False)
        return (F.col(part) > 0) & _at_least("common", part, self.rule.containment)

    def _reasons(self, groups: DataFrame, pairs: DataFrame, gone: DataFrame) -> DataFrame:
        """Of everybody who goes the best of those that stay, and why."""
        from pyspark.sql import functions as F

        lost = gone.withColumnRenamed("number", "representative")
        # Members whose representative stays go because of it.
        follow = (
            groups.where("number <> representative")
            .join(lost, "representative", "left_anti")
            .select(
                "number",
                F.col("representative").alias("kept"),
                F.when(F.col("identical"), "identical").otherwise("lexical").alias("kind"),
                F.lit(1.0).alias("resemblance"),
                F.lit(1.0).alias("containment"),
            )
        )
        sides = pairs.selectExpr(
            "b as representative", "a as other", "common", "sampled", "part_b as part"
        )
        sides = sides.unionByName(
            pairs.selectExpr(
                "a as representative", "b as other", "common", "sampled", "part_a as part"
            )
        )
        near, held = self._near(), self._held("part")
        share = F.when(near, F.expr("common / sampled")).otherwise(F.expr("common / part"))
        ranked = F.struct(
            (~near).alias("contained"),
            (-share).alias("less"),
            F.col("other"),
            "common",
            "sampled",
            "part",
        )
        best = (
            groups.join(lost, "representative")
            .join(sides, "representative")
            .where(F.col("other") < F.col("number"))
            .join(gone.withColumnRenamed("number", "other"), "other", "left_anti")
            .where(near | held)
            .groupBy("number")
            .agg(F.min(ranked).alias("best"))
            .select("number", "best.*")
        )
        kind = (
            F.when(F.col("contained"), "contained")
            .when(F.col("common") == F.col("sampled"), "shingle")
            .otherwise("near")
        )
        inside = F.when(F.col("part") > 0, F.expr("common / part"))
        why = best.select(
            "number",
            F.col("other").alias("kept"),
            kind.alias("kind"),
            F.expr("common / sampled").alias("resemblance"),
            inside.alias("containment"),
        )
        names = self.ordered.select("number", "id")
        return (
            follow.unionByName(why)
            .join(names.toDF("number", "removed"), "number")
            .join(names.toDF("kept", "kept_id"), "kept")
            .select("removed", F.col("kept_id").alias("kept"), "kind", "resemblance", "containment")
        )


def _at_least(common: str, whole: str, ratio: Fraction) -> Column:
    """common / whole >= ratio, without rounding."""
    from pyspark.sql import functions as F

    wide = "decimal(20,0)"
    left = F.col(common).cast(wide) * F.lit(ratio.denominator).cast(wide)
    return left >= F.col(whole).cast(wide) * F.lit(ratio.numerator).cast(wide)


def _first_of_hubs(staying: DataFrame, opened: int) -> DataFrame:
    """The first few of those with the same hub, for they may make the later ones go."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    place = F.row_number().over(Window.partitionBy("hub").orderBy("number"))
    return staying.withColumn("place", place).where(F.col("place") <= opened).select("number")
