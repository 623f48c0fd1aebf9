"""What clustering found on Spark, as DataFrames: documents, clusters, pairs and links, with the
columns and the values of `roughly.Clusters`, in any order.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

from roughly.clustering.clusters import Linkage
from roughly.clustering.settings import Settings
from roughly.parameters import Parameters
from roughly.spark.alone import ALONE
from roughly.spark.alone_dedup import TEXTS
from roughly.spark.checkpoint import Checkpoints
from roughly.spark.components import components
from roughly.spark.counting import FEW, counted
from roughly.spark.forest import FITTING
from roughly.spark.frequency import LONG_LIST
from roughly.spark.join import measure_of
from roughly.spark.order import numbered

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


def _union(tables: list[DataFrame]) -> DataFrame:
    whole = tables[0]
    for table in tables[1:]:
        whole = whole.unionByName(table)
    return whole


def reaching_links(links: DataFrame, threshold: Fraction) -> DataFrame:
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
    linkage: Linkage = "single"
    centres: DataFrame | None = None  # of stars: number, component

    def pairs(self) -> DataFrame:
        """A row a pair of representatives down to the floors: a, b, common, sampled, resemblance
        or containment, and mass, whether the pair is inside a mass and stands for others."""
        from pyspark.sql import functions as F

        share, none = F.expr("common / greatest(sampled, 1)"), F.lit(None).cast("double")
        hubs = self.resembling.where("mass").select("a", "b")
        table = self.resembling.join(hubs.toDF("hub_a", "a"), "a", "left")
        table = table.join(hubs.toDF("hub_b", "b"), "b", "left")
        # Marked are the links to hubs; two with the same one are inside, too.
        inside = F.coalesce(F.expr("mass or hub_a = hub_b"), F.lit(False))
        table = table.select("a", "b", "common", "sampled", inside.alias("mass"))
        table = table.withColumn("resemblance", share).withColumn("containment", none)
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
        weakest_link = F.coalesce("weakest", F.lit(1.0))
        if self.linkage == "star":
            weakest_link = F.col("smallest_resemblance")
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
                weakest_link.alias("weakest_link"),
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
        found = [reaching_links(self.forest, self.settings.threshold)]
        if self.contained is not None and self.settings.containment is not None:
            found.append(reaching_links(self.contained, self.settings.containment))
        return found

    @cached_property
    def _first(self) -> DataFrame:
        """number, representative, kind and `first`, the first document of its cluster."""
        from pyspark.sql import functions as F

        if self.finished is not None:
            return self.finished.select("number", "representative", "kind", "first")
        found = self.centres
        if found is None:
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
        wanted = {"resemblance": (measure_of(self.parameters), False)}
        if self.settings.containment is not None:
            wanted |= {"containment": ("contained", False), "around": ("contained", True)}
        # Everybody but the first of a cluster has a link of its forest.
        linked = [self.centres] if self.centres is not None else [self.forest, self.contained]
        few = 2 * sum(table.count() for table in linked if table is not None) <= FEW
        shares = own.select("representative")
        for name, (measure, swapped) in wanted.items():
            pairs = apart.selectExpr("b as a", "a as b") if swapped else apart
            table = counted(pairs, self.sketches, self.parameters, measure, few=few)
            side = "a" if swapped else "b"
            share = F.expr("common / greatest(sampled, 1)").alias(name)
            table = table.select(F.col(side).alias("representative"), share)
            shares = shares.join(table, "representative", "left")
        return shares.fillna(1.0, list(wanted))
