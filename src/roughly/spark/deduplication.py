"""The dedup rule on Spark: who goes, who stays, and why. The answer is that of `roughly.dedup`.

    documents -> sketches -> numbered in keep order -> equivalents -> candidate pairs, counted
    -> rounds of the rule -> idle ones that stay are opened, and again -> reasons

Whoever seems to resemble an earlier one, its hub, will most likely go: pairs of two such *idle*
documents are left out, and looked at only for those of them that stay all the same. So a mass of
alike documents costs a pair for each, not the square.

Where the texts are few, one task does it all instead (alone_dedup.py), unless there is a corpus or
a condition.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from roughly.clustering.join import MassRule
from roughly.condition import NO_CONDITION, make_condition
from roughly.corpus import Corpus
from roughly.deduplication.against import check_corpus, simhash_of_corpus, sketcher_of_corpus
from roughly.deduplication.rule import Rule, Threshold, make_rule
from roughly.errors import ParameterError
from roughly.parameters import Parameters
from roughly.simhashing.simhasher import Simhasher
from roughly.sketcher import Sketcher
from roughly.spark.alone_dedup import removals_alone
from roughly.spark.attribute import attribute_columns
from roughly.spark.checkpoint import Checkpoints, Progress
from roughly.spark.choice import contained, first_of_hubs, likely, with_best
from roughly.spark.clusters import Sizes
from roughly.spark.exact import at_least, counted_by_sketch, counted_exactly
from roughly.spark.frequency import with_frequencies
from roughly.spark.greedy import removed_of
from roughly.spark.join import JoinRule, Level, joined_pairs, levels_of
from roughly.spark.mass import find_hubs
from roughly.spark.pool import POSITION, Pool, make_pool
from roughly.spark.reason import followers, named, simhash_reasons
from roughly.spark.session import check_spark
from roughly.spark.sketching import Fields, checked_sum, fields_of, readable, sketched

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

# Two documents are a mass here, as in roughly.deduplication.candidates.
_MASS = MassRule(least_frequency=2)
# Teams whose documents have no pairs with each other; no document has these numbers.
_IDLE, _PINNED = -2, -3


def dedup(
    documents: DataFrame,
    threshold: Threshold | None = None,
    *,
    keep: str | None = None,
    order_field: str | None = None,
    containment: Threshold | None = None,
    estimate: bool = False,
    method: str | None = None,
    distance: int | None = None,
    size_ratio: Threshold | None = None,
    within: str | None = None,
    simhasher: Simhasher | None = None,
    against: str | os.PathLike[str] | Corpus | None = None,
    sketcher: Sketcher | None = None,
    **options: Any,
) -> SparkDeduplicated:
    """Finds the documents that can go because one much like them stays, as `roughly.dedup` does,
    with the same parameters.

    A DataFrame has no order of its own: `order_field` names the column whose order is that of the
    input, without two equal values; keep="first" needs it, and where the others leave two
    documents equal it decides, or else the id. All executors must have the corpus of `against`
    under its path. Other options are those of `roughly.spark.clustering.cluster_by`.
    """
    if sketcher is not None and not isinstance(sketcher, Sketcher):
        raise ParameterError(f"sketcher: wrong type: {type(sketcher).__name__}, wanted a Sketcher")
    condition = make_condition(method, distance, size_ratio, within, simhasher)
    corpus = Corpus(os.fspath(against)) if isinstance(against, str | os.PathLike) else against
    if corpus is None:
        sketcher = (Sketcher() if sketcher is None else sketcher).without_words()
    else:
        sketcher = sketcher_of_corpus(corpus, sketcher)
        stored = simhash_of_corpus(corpus)
        if simhasher is None and condition.simhash is not None and stored is not None:
            condition = replace(condition, simhash=stored)
        check_corpus(corpus, condition, estimate)
    rule = make_rule(threshold, containment, keep, estimate, sketcher, condition)
    return dedup_by(rule, documents, sketcher, order_field, corpus, **options)


def dedup_by(
    rule: Rule,
    documents: DataFrame,
    sketcher: Sketcher,
    order_field: str | None = None,
    corpus: Corpus | None = None,
    *,
    content_type: str = "auto",
    text_field: str | None = None,
    id_field: str | None = None,
    date_field: str | None = None,
    checkpoint: str | None = None,
    progress: Progress | None = None,
    sizes: Sizes | None = None,
) -> SparkDeduplicated:
    """The same by a rule that is made already."""
    check_spark()
    condition = rule.condition
    fields = fields_of(
        documents, text_field, id_field, date_field, content_type, condition.category_field
    )
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
    if corpus is not None:
        known = corpus.manifest
        run["against"] = f"{Path(corpus.path).absolute()}: {known.segments} less {known.removed}"
    checkpoints = Checkpoints(documents.sparkSession, checkpoint, run, progress)
    texts = _with_position(readable(documents, fields, _more(order_field)), order_field)
    sizes = sizes or Sizes()
    few = checked_sum(texts, "octet_length(text)") <= sizes.texts
    if few and corpus is None and condition == NO_CONDITION:
        order = [POSITION, "id"]
        alone = removals_alone(texts, order, rule, sketcher.parameters, content_type)
        removals = checkpoints.keep("removals", alone)
        return SparkDeduplicated(documents, fields, removals, checkpoints)
    made = sketched(texts, sketcher, fields, (POSITION,), condition, shingles_only=True)
    sketches = checkpoints.keep("sketches", made)
    pool = make_pool(sketches, texts, _keep_order(rule), corpus, condition, checkpoints)
    parameters = replace(sketcher.parameters, words=0)
    finder = _Finder(pool, parameters, rule, fields, checkpoints, sizes)
    return SparkDeduplicated(documents, fields, finder.removals(), checkpoints)


def _more(order_field: str | None) -> tuple[Any, ...]:
    from pyspark.sql import functions as F

    return () if order_field is None else (F.col(f"`{order_field}`").alias(POSITION),)


def _with_position(texts: DataFrame, order_field: str | None) -> DataFrame:
    from pyspark.sql import functions as F

    return texts if order_field is not None else texts.withColumn(POSITION, F.lit(0))


def _keep_order(rule: Rule) -> list[Column]:
    """The order in which documents are taken, but for ties."""
    from pyspark.sql import functions as F

    if rule.keep == "longest":
        return [F.col("tokens").desc()]
    if rule.keep == "newest":
        return [F.coalesce(F.col("date"), F.lit("")).desc()]
    return []


@dataclass(frozen=True)
class SparkDeduplicated:
    """What a deduplication found, as DataFrames."""

    input: DataFrame
    fields: Fields
    _removals: DataFrame
    checkpoints: Checkpoints

    def removals(self) -> DataFrame:
        """A row a document that goes: removed, kept (ids), kind, resemblance, containment (of the
        removed one in the kept one; null where sketches cannot tell); by the methods simhash and
        both distance, and if they were held against a corpus kept_in, as `roughly.dedup`."""
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


@dataclass(frozen=True)
class _Finder:
    """One deduplication, over documents that are sketched and numbered in keep order."""

    pool: Pool
    parameters: Parameters
    rule: Rule
    fields: Fields
    checkpoints: Checkpoints
    sizes: Sizes

    def removals(self) -> DataFrame:
        keep = self.checkpoints.keep
        groups = keep("equivalents", self._groups())
        rule, pool = self.rule, self.pool
        if rule.condition.method == "simhash":
            reasons = simhash_reasons(
                pool,
                groups,
                self.parameters,
                rule.condition,
                self.checkpoints,
                self.sizes.fitting,
            )
            return keep("removals", named(reasons, pool, rule.condition))
        more = attribute_columns(rule.condition)
        own = groups.where("number = representative").select("number")
        plain = pool.sketches(more, own)
        parameters, long_list = self.parameters, self.sizes.long_list
        counted = with_frequencies(plain, parameters, _MASS, long_list, more)
        documents = keep("frequencies", counted)
        levels = levels_of(documents)
        hubs = find_hubs(
            documents,
            parameters,
            rule.threshold,
            _MASS,
            "hubs-tried",
            self.checkpoints,
            rule.condition,
        )
        hubs = keep("hubs", hubs).selectExpr("b as number", "a as hub")
        idle = hubs.where(f"number >= {pool.pinned}")
        found, dropped = self._pairs(documents, levels, idle.select("number"), None, "pairs-0")
        number, opened = 0, 1
        while True:
            edges = found.where(self._removes())
            gone = removed_of(edges, f"removed-{number}", self.checkpoints, self.sizes.fitting)
            staying = idle.join(gone, "number", "left_anti")
            chosen = keep(f"opened-{number}", first_of_hubs(staying, opened))
            if chosen.isEmpty():
                # Those that stay for all that get their other pairs with the corpus, too.
                wide = dropped.join(gone.selectExpr("number as b"), "b", "left_anti")
                wide = keep(f"wide-{number}", wide.select("a", "b"))
                if wide.isEmpty():
                    break
                number += 1
                found = found.unionByName(self._counted(wide, documents, f"pairs-{number}"))
                dropped = dropped.join(wide.select("b").distinct(), "b", "left_anti")
                continue
            number, opened = number + 1, opened * 4
            waiting = idle.join(chosen, "number", "left_anti")
            among = documents.join(idle.select("number"), "number", "left_semi")
            lowest = min(self.rule.floor_at(level.level, self.parameters) for level in levels)
            fresh, _ = self._pairs(
                among, levels_of(among), waiting.select("number"), lowest, f"pairs-{number}"
            )
            found = found.unionByName(fresh)
            idle = keep(f"idle-{number}", waiting)
        return keep("removals", named(self._reasons(groups, found, gone), pool, rule.condition))

    def _groups(self) -> DataFrame:
        """Who has the same canonical form as an earlier one, and the same category where that
        counts: number, representative, identical. An empty document is equivalent to one of the
        same bytes only. Those of a corpus that another one there stands for are left out."""
        from pyspark.sql import functions as F

        within = [] if self.rule.condition.within is None else ["category"]
        form = F.when(F.col("size") == 0, F.col("content")).otherwise(F.col("canonical"))
        rows = self.pool.ordered.select("number", "content", form.alias("form"), "size", *within)
        rows = rows.withColumn("empty", F.col("size") == 0)
        first = F.min(F.struct("number", "content")).alias("first")
        same = ["form", "empty", *within]
        groups = rows.join(rows.groupBy(*same).agg(first), same).select(
            "number",
            F.col("first.number").alias("representative"),
            (F.col("content") == F.col("first.content")).alias("identical"),
        )
        return groups.where(f"number >= {self.pool.pinned} or number = representative")

    def _pairs(
        self,
        documents: DataFrame,
        levels: list[Level],
        idle: DataFrame,
        lowest: Fraction | None,
        name: str,
    ) -> tuple[DataFrame, DataFrame]:
        """Candidate pairs, but those of two idle documents, or of two of the corpus, counted; and
        those that were dropped, because a document has better ones with the corpus."""
        from pyspark.sql import functions as F

        rule, parameters, pinned = self.rule, self.parameters, self.pool.pinned
        condition = rule.condition
        teams = idle.select("number", F.lit(_IDLE).cast("long").alias("team"))
        if pinned:
            known = documents.where(f"number < {pinned}").select("number")
            teams = teams.unionByName(known.withColumn("team", F.lit(_PINNED).cast("long")))
        floor, containment_floor = rule.floors(parameters)
        least = lowest
        if least is None:
            least = min((rule.floor_at(level.level, parameters) for level in levels), default=floor)
        join = JoinRule(parameters, "resemblance", least, condition=condition)
        choose = partial(likely, rule, parameters, lowest)
        met = f"{name}-met"
        found = joined_pairs(documents, join, levels, met, self.checkpoints, teams, choose)
        keys = with_best(found, pinned)
        if containment_floor is not None:
            whole = parameters.bits == 64 and parameters.selection[0] in ("all", "adaptive")
            top = rule.containment if whole and lowest is None else None
            join = JoinRule(parameters, "containment", containment_floor, condition=condition)
            held = joined_pairs(
                documents,
                join,
                levels,
                f"{name}-held",
                self.checkpoints,
                teams,
                partial(contained, containment_floor, top),
            )
            keys = keys.unionByName(with_best(held, pinned))
            keys = keys.groupBy("a", "b").agg(F.max("best").alias("best"))
        keys = self.checkpoints.keep(f"{name}-found", keys)
        counted = self._counted(keys.where("best").select("a", "b"), documents, name)
        return counted, keys.where("not best").select("a", "b")

    def _counted(self, keys: DataFrame, documents: DataFrame, name: str) -> DataFrame:
        """The table of some pairs, counted."""
        from pyspark.sql import functions as F

        parameters, keep = self.parameters, self.checkpoints.keep
        if self.rule.estimate:
            return keep(name, counted_by_sketch(keys, documents, parameters))
        numbers = keys.select(F.explode(F.array("a", "b")).alias("number")).distinct()
        texts = self.pool.texts(numbers)
        return keep(name, counted_exactly(keys, documents, texts, parameters, self.fields))

    def _removes(self) -> Column:
        """Whether a pair removes its later document, if the earlier one stays."""
        return self._near() | self._held("part_b")

    def _near(self) -> Column:
        return at_least("common", "sampled", self.rule.threshold)

    def _held(self, part: str) -> Column:
        from pyspark.sql import functions as F

        if self.rule.containment is None:
            return F.lit(False)
        return (F.col(part) > 0) & at_least("common", part, self.rule.containment)

    def _reasons(self, groups: DataFrame, pairs: DataFrame, gone: DataFrame) -> DataFrame:
        """Of everybody who goes the best of those that stay, and why."""
        from pyspark.sql import functions as F

        lost = gone.withColumnRenamed("number", "representative")
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
        # Members whose representative stays go because of it.
        return followers(groups, gone).unionByName(why)
