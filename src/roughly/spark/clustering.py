"""The four phases on Spark: sketch, equivalents, pairs, forest; and what they give.

    documents -> sketches -> numbered in document order -> equivalents -> frequencies
    -> hubs of masses -> pairs at every level -> forests -> clusters at the thresholds

The answer is that of `roughly.cluster`: the same pairs, weights and clusters. Every arrow is a
table that is kept (checkpoint.py); nothing that grows with the documents comes to the driver. Where
the sketches are few, one task does all that follows them (alone.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

from roughly.clustering.run import LEAST_CONTAINED
from roughly.clustering.settings import Settings, Threshold, settings_for
from roughly.errors import ParameterError
from roughly.parameters import Parameters
from roughly.sketcher import Sketcher
from roughly.spark.alone import ALONE, finished, part_of
from roughly.spark.alone_dedup import TEXTS
from roughly.spark.checkpoint import Checkpoints, Progress
from roughly.spark.components import components
from roughly.spark.counting import counted
from roughly.spark.equivalence import equivalents
from roughly.spark.forest import FITTING, spanning_forest
from roughly.spark.frequency import LONG_LIST, with_frequencies
from roughly.spark.join import JoinRule, Level, joined_pairs, levels_of, reach, teams_of
from roughly.spark.mass import find_hubs, pairs_inside
from roughly.spark.order import document_order, numbered
from roughly.spark.session import SparkError, check_spark
from roughly.spark.sketching import checked_sum, fields_of, readable, sketched

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(frozen=True)
class Sizes:
    """What decides how the work is divided, never what comes out of it."""

    alone: int = ALONE  # elements of all sketches that one task joins
    texts: int = TEXTS  # bytes of all texts that one task deduplicates
    masses: int = ALONE  # elements of the masses that one task joins
    fitting: int = FITTING  # edges that one task holds
    long_list: int = LONG_LIST  # documents under one element that one task compares


def cluster(
    documents: DataFrame,
    threshold: Threshold | None = None,
    *,
    containment: Threshold | None = None,
    floor: Threshold | None = None,
    containment_floor: Threshold | None = None,
    sketcher: Sketcher | None = None,
    content_type: str = "auto",
    text_field: str | None = None,
    id_field: str | None = None,
    date_field: str | None = None,
    checkpoint: str | None = None,
    progress: Progress | None = None,
    sizes: Sizes | None = None,
) -> SparkClusters:
    """Groups the documents of a DataFrame as `roughly.cluster` does, with the same parameters.

    `documents` has a column `text` (text or bytes), a column `id`, unique, and may have a column
    `date`; other names can be given. `checkpoint` is a directory that all executors can write, in
    which a run that was stopped goes on; a local master needs none. `progress` is called with the
    name of every table that is made, its rows, and the seconds that it took.
    """
    check_spark()
    if sketcher is not None and not isinstance(sketcher, Sketcher):
        raise ParameterError(f"sketcher: wrong type: {type(sketcher).__name__}, wanted a Sketcher")
    sketcher = Sketcher() if sketcher is None else sketcher
    parameters = sketcher.parameters
    settings = settings_for(parameters, threshold, floor, containment, containment_floor)
    fields = fields_of(documents, text_field, id_field, date_field, content_type)
    run = {"sketch": str(parameters), "fields": str(fields), "settings": settings.to_dict()}
    checkpoints = Checkpoints(documents.sparkSession, checkpoint, run, progress)
    sizes = sizes or Sizes()
    made = sketched(readable(documents, fields), sketcher, fields)
    sketches = checkpoints.keep("sketches", made)
    if _checked_elements(sketches, checkpoints) <= sizes.alone:
        whole = checkpoints.keep("finished", finished(sketches, parameters, settings))
        return _taken_apart(whole, parameters, settings, checkpoints, sizes)
    ordered = numbered(sketches.drop("values"), document_order(), "ordered", checkpoints)
    return _phases(sketches, ordered, parameters, settings, checkpoints, sizes)


def _checked_elements(sketches: DataFrame, checkpoints: Checkpoints) -> int:
    """The elements of the table `sketches`, which goes if its ids are wrong: documents that are
    put right are to be sketched anew."""
    try:
        return checked_sum(sketches, "kept")
    except SparkError:
        checkpoints.drop("sketches")
        raise


def _taken_apart(
    whole: DataFrame,
    parameters: Parameters,
    settings: Settings,
    checkpoints: Checkpoints,
    sizes: Sizes,
) -> SparkClusters:
    """What one task has found."""
    documents = part_of(whole, "documents")
    resembling = part_of(whole, "pairs-resemblance")
    forest = part_of(whole, "links-resemblance").drop("mass")
    containing = contained = None
    if settings.containment_floor is not None:
        containing = part_of(whole, "pairs-containment")
        contained = part_of(whole, "links-containment").drop("mass")
    return SparkClusters(
        parameters,
        settings,
        documents.select("number", "id", "date"),
        documents.select("number", "representative", "kind"),
        None,
        resembling.where("mass").selectExpr("b as number"),
        resembling,
        containing,
        forest,
        contained,
        checkpoints,
        sizes,
        documents,
    )


def representatives(sketches: DataFrame, ordered: DataFrame, groups: DataFrame) -> DataFrame:
    """number, size, level, kept and values of those that stand for themselves."""
    own = groups.where("representative = number").select("number")
    plain = ordered.select("id", "number", "size", "level", "kept").join(own, "number")
    return sketches.select("id", "values").join(plain, "id")


def _phases(
    sketches: DataFrame,
    ordered: DataFrame,
    parameters: Parameters,
    settings: Settings,
    checkpoints: Checkpoints,
    sizes: Sizes,
) -> SparkClusters:
    """Phases 2 to 4, over documents that are sketched and numbered."""
    groups = checkpoints.keep("equivalents", equivalents(ordered))
    plain = representatives(sketches, ordered, groups)
    documents = checkpoints.keep("frequencies", with_frequencies(plain, sizes.long_list))
    links = checkpoints.keep(
        "hubs", find_hubs(documents, parameters, settings.threshold, settings.mass)
    )
    levels = levels_of(documents)
    teams = None if links.isEmpty() else teams_of(links)
    masses = links.selectExpr("*", "true as mass")
    found = [
        masses,
        *(
            table.selectExpr("*", "false as mass")
            for table in pairs_inside(
                documents,
                links,
                parameters,
                settings.threshold,
                settings.mass,
                checkpoints,
                sizes.masses,
            )
        ),
        _joined(documents, JoinRule(parameters, "resemblance", settings.floor), levels, teams),
    ]
    resembling = checkpoints.keep("pairs-resemblance", _union(found))
    containing = None
    if settings.containment_floor is not None:
        floor = settings.containment_floor
        rule = JoinRule(parameters, "containment", floor, LEAST_CONTAINED)
        held = counted(links.select("a", "b"), documents, parameters, "containment", reach(floor))
        found = [
            held.selectExpr("*", "true as mass"),
            _joined(documents, rule, levels, teams),
        ]
        containing = checkpoints.keep("pairs-containment", _union(found))
    forest = spanning_forest(resembling, "links-resemblance", checkpoints, sizes.fitting)
    contained = None
    if containing is not None:
        contained = spanning_forest(containing, "links-containment", checkpoints, sizes.fitting)
    return SparkClusters(
        parameters,
        settings,
        ordered.select("number", "id", "date"),
        groups,
        documents.select("number", "size", "level", "values"),
        links.selectExpr("b as number"),
        resembling,
        containing,
        forest,
        contained,
        checkpoints,
        sizes,
    )


def _joined(
    documents: DataFrame, rule: JoinRule, levels: list[Level], teams: DataFrame | None
) -> DataFrame:
    return joined_pairs(documents, rule, levels, teams).selectExpr("*", "false as mass")


def _union(tables: list[DataFrame]) -> DataFrame:
    whole = tables[0]
    for table in tables[1:]:
        whole = whole.unionByName(table)
    return whole


def _reaching(links: DataFrame, threshold: Fraction) -> DataFrame:
    """Links that reach a threshold, without rounding: both sides may have 20 digits."""
    from pyspark.sql import functions as F

    wide = "decimal(20,0)"
    left = F.col("common").cast(wide) * F.lit(threshold.denominator).cast(wide)
    return links.where(left >= F.col("sampled").cast(wide) * F.lit(threshold.numerator).cast(wide))


@dataclass(frozen=True)
class SparkClusters:
    """What clustering found, as DataFrames with the columns of `roughly.Clusters`."""

    parameters: Parameters
    settings: Settings
    names: DataFrame  # number, id, date
    groups: DataFrame  # number, representative, kind
    sketches: DataFrame | None  # of the representatives, unless `finished`
    held: DataFrame  # number, of those that have a hub
    resembling: DataFrame  # pairs of numbers
    containing: DataFrame | None
    forest: DataFrame  # links of numbers
    contained: DataFrame | None
    checkpoints: Checkpoints
    sizes: Sizes
    finished: DataFrame | None = None  # documents with their clusters, if these are known

    def pairs(self) -> DataFrame:
        """A row a pair of representatives down to the floors: a, b, common, sampled, resemblance
        or containment, and mass, whether the pair stands for others."""
        from pyspark.sql import functions as F

        share, none = F.expr("common / sampled"), F.lit(None).cast("double")
        table = self.resembling.withColumn("resemblance", share).withColumn("containment", none)
        if self.containing is not None:
            table = table.unionByName(
                self.containing.withColumn("resemblance", none).withColumn("containment", share)
            )
        return self._named(table).select(
            "a", "b", "common", "sampled", "resemblance", "containment", "mass"
        )

    def links(self) -> DataFrame:
        """A row a link of the maximum spanning forests: a, b, common, sampled, measure."""
        from pyspark.sql import functions as F

        table = self.forest.withColumn("measure", F.lit("resemblance"))
        if self.contained is not None:
            table = table.unionByName(self.contained.withColumn("measure", F.lit("containment")))
        return self._named(table).select("a", "b", "common", "sampled", "measure")

    def documents(self) -> DataFrame:
        """A row a document: id, date, cluster, representative, kind, resemblance and, where it was
        asked for, containment; as `Clusters.documents()`, in any order."""
        return self._documents

    @cached_property
    def _documents(self) -> DataFrame:
        from pyspark.sql import functions as F

        columns = ["id", "date", "cluster", "representative", "kind", "resemblance"]
        if self.settings.containment is not None:
            columns.append("containment")
        if self.finished is not None:
            moved = {"representative": F.col("first_id"), "kind": F.col("why")}
            return self.finished.withColumns(moved).select(*columns)
        first = self._first
        shares = self._shares(first)
        near = F.col("first") != F.col("representative")
        kind = F.when(F.col("number") == F.col("first"), F.lit(None))
        settings = self.settings
        if settings.containment is not None:
            far = near & (F.col("resemblance") < float(settings.threshold))
            share = float(settings.containment)
            kind = kind.when(far & (F.col("containment") >= share), "contained")
            kind = kind.when(far & (F.col("around") >= share), "contains")
        kind = kind.when(near, "near").otherwise(F.col("kind"))
        numbers = numbered(
            first.where("first = number").select("first"),
            ["first"],
            "cluster-order",
            self.checkpoints,
        ).withColumnRenamed("number", "cluster")
        table = (
            first.join(shares, "representative")
            .join(numbers, "first")
            .join(self.names, "number")
            .join(self.names.selectExpr("number as first", "id as first_id"), "first")
        )
        rows = table.withColumn("kind", kind).withColumn("representative", F.col("first_id"))
        return self.checkpoints.keep("documents", rows.select(*columns))

    def clusters(self) -> DataFrame:
        """A row a cluster of two documents or more: cluster, representative, size, weakest_link,
        smallest_resemblance, mass; as `Clusters.clusters()`, in any order."""
        from pyspark.sql import functions as F

        rows = (
            self.documents()
            .groupBy("cluster", "representative")
            .agg(F.count("id").alias("size"), F.min("resemblance").alias("smallest_resemblance"))
        )
        first = self._first
        ids = self.names.selectExpr("number as first", "id as representative")
        strong = _union([table.select("a", "common", "sampled") for table in self._strong()])
        strong = strong.join(first.selectExpr("number as a", "first"), "a")
        weakest = strong.groupBy("first").agg(F.min(F.expr("common / sampled")).alias("weakest"))
        massive = first.join(self.held, "number").select("first").distinct()
        facts = (
            ids.join(weakest, "first", "left")
            .join(massive.withColumn("mass", F.lit(True)), "first", "left")
            .select("representative", "weakest", "mass")
        )
        return (
            rows.where("size > 1")
            .join(facts, "representative")
            .select(
                "cluster",
                "representative",
                "size",
                F.coalesce("weakest", F.lit(1.0)).alias("weakest_link"),
                "smallest_resemblance",
                F.coalesce("mass", F.lit(False)).alias("mass"),
            )
        )

    def close(self) -> None:
        """Deletes the tables, unless they are in a checkpoint directory that was named."""
        self.checkpoints.close()

    def _named(self, table: DataFrame) -> DataFrame:
        """Pairs with ids for numbers."""
        for side in "ab":
            ids = self.names.selectExpr(f"number as {side}", f"id as {side}_id")
            table = table.join(ids, side).drop(side).withColumnRenamed(f"{side}_id", side)
        return table

    def _strong(self) -> list[DataFrame]:
        """The links of both forests that reach their thresholds."""
        found = [_reaching(self.forest, self.settings.threshold)]
        if self.contained is not None and self.settings.containment is not None:
            found.append(_reaching(self.contained, self.settings.containment))
        return found

    @cached_property
    def _first(self) -> DataFrame:
        """number, representative, kind and `first`, the first document of its cluster."""
        from pyspark.sql import functions as F

        if self.finished is not None:
            return self.finished.select("number", "representative", "kind", "first")
        edges = _union([table.select("a", "b") for table in self._strong()])
        found = components(edges, "components", self.checkpoints, self.sizes.fitting)
        roots = found.withColumnRenamed("number", "representative")
        joined = self.groups.join(roots, "representative", "left")
        first = F.coalesce("component", "representative").alias("first")
        return joined.select("number", "representative", "kind", first)

    def _shares(self, first: DataFrame) -> DataFrame:
        """Of every representative what it has in common with the first of its cluster."""
        from pyspark.sql import functions as F

        assert self.sketches is not None
        own = first.where("number = representative")
        apart = own.where("first <> number").selectExpr("first as a", "number as b")
        wanted = {"resemblance": ("resemblance", False)}
        if self.settings.containment is not None:
            wanted |= {"containment": ("contained", False), "around": ("contained", True)}
        shares = own.select("representative")
        for name, (measure, swapped) in wanted.items():
            pairs = apart.selectExpr("b as a", "a as b") if swapped else apart
            table = counted(pairs, self.sketches, self.parameters, measure)
            side = "a" if swapped else "b"
            share = F.expr("common / greatest(sampled, 1)").alias(name)
            table = table.select(F.col(side).alias("representative"), share)
            shares = shares.join(table, "representative", "left")
        return shares.fillna(1.0, list(wanted))
