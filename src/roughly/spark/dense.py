"""Dense masses of a rung, whose pairs are too many: two links of each of their documents.

The rule is that of roughly.clustering.dense. Documents of a mass are given their places in its
circle, and are joined with those at certain distances along it; these pairs are counted where
their sketches come together, in rounds, so that only documents that lack links go on.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from roughly.clustering.dense import LINKS, TRIES_ENDS, distances, least_reached, most_tries
from roughly.condition import Condition
from roughly.parameters import Parameters
from roughly.spark.block import BLOCK_BITS
from roughly.spark.column import number_column
from roughly.spark.counting import FEW, counted
from roughly.spark.join import reach

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from roughly.spark.checkpoint import Checkpoints

# A document, how many links and which hub it has, and at which place somebody is compared with it.
_AIMS = "number long, label long, team long, hub long, links int, place long, rank int"


@dataclass(frozen=True)
class Rung:
    """Documents (number, size, level, values, and what the condition looks at) that are compared
    at a threshold; `name` is what its tables begin with."""

    documents: DataFrame
    parameters: Parameters
    threshold: Fraction
    condition: Condition
    name: str
    checkpoints: Checkpoints


@dataclass(frozen=True)
class Torn:
    """What a rung makes of the masses."""

    parted: bool  # whether there are pairs to be looked for in masses that are not dense
    dense: DataFrame | None  # the labels of dense masses, if there are any
    links: DataFrame | None  # of these: a, b, common, sampled, besides those to hubs


def torn_masses(rung: Rung, masses: DataFrame, most_pairs: int) -> Torn:
    """Which masses are dense, and their links. `masses` have number, label and team, null for
    none."""
    from pyspark.sql import functions as F

    torn = _torn(masses)
    size, least = F.col("documents"), least_reached(most_pairs)
    large = F.sum(F.when(size >= least, size))
    many, documents = torn.agg(F.count("label"), large).head()
    if not documents:
        return Torn(many > 0, None, None)
    held = masses.join(torn.where(size >= least), "label", "left_semi")
    hub = F.expr("nullif(team, number)").alias("hub")
    placed = _placed(held.select("number", "label", "team", hub))
    places = rung.checkpoints.keep(f"{rung.name}-places", placed)
    circles = _Circles(rung, places, documents)
    dense = rung.checkpoints.keep(f"{rung.name}-dense", circles.dense(least))
    found = dense.count()
    if not found:
        return Torn(True, None, None)
    return Torn(many > found, dense, circles.links(dense))


def _torn(masses: DataFrame) -> DataFrame:
    """Masses that are not all of one team: label, documents."""
    from pyspark.sql import functions as F

    each = masses.groupBy("label").agg(
        F.count("number").alias("documents"),
        F.count("team").alias("teamed"),
        F.min("team").alias("first"),
        F.max("team").alias("last"),
    )
    return each.where("teamed < documents or first < last").select("label", "documents")


def _placed(held: DataFrame) -> DataFrame:
    """Documents with their places in their masses, and how many have these. No task has all of a
    mass, only a number for every block of it."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    held = held.withColumn("block", F.shiftright("number", BLOCK_BITS))
    counts, of_mass = held.groupBy("label", "block").count(), Window.partitionBy("label")
    begin = F.sum("count").over(of_mass.orderBy("block")) - F.col("count")
    size = F.sum("count").over(of_mass).alias("documents")
    begins = counts.select("label", "block", begin.alias("begin"), size)
    of_block = Window.partitionBy("label", "block").orderBy("number")
    place = (F.col("begin") + F.row_number().over(of_block) - 1).alias("place")
    placed = held.join(begins, ["label", "block"])
    return placed.select("number", "label", "team", "hub", place, "documents")


@dataclass(frozen=True)
class _Circles:
    """Places (number, label, team, hub, place, documents) of so many documents in all."""

    rung: Rung
    places: DataFrame
    count: int

    def dense(self, least: int) -> DataFrame:
        """The masses in which so many reach, who are not of one team: label, and how many
        comparisons each document has at most."""
        from pyspark.sql import functions as F

        every = self.places.selectExpr("*", "0 as links", f"{TRIES_ENDS[-1]} as most")
        tries = self._tries(every, None).where("team is null or not (team <=> other_team)")
        reached = self._reaching(tries, 1)
        labels = self.places.selectExpr("number as b", "label", "documents")
        counts = (
            reached.join(labels, "b")
            .groupBy("label", "documents")
            .agg(F.count("b").alias("reached"))
        )
        found = counts.where(F.col("reached") >= least)
        return found.mapInArrow(_most, "label long, most int")

    def links(self, dense: DataFrame) -> DataFrame:
        """The first links that each document of dense masses has, besides that to its hub."""
        from pyspark.sql import functions as F

        rung, keep = self.rung, self.rung.checkpoints.keep
        links = F.when(F.isnull("hub"), 0).otherwise(1).alias("links")
        lacking = self.places.join(dense, "label").select("*", links)
        found: list[DataFrame] = []
        for tried, end in pairwise((0, *TRIES_ENDS)):
            # In a pair of a document and its hub that is the first.
            others = self._tries(lacking, (tried, end)).where("not (hub <=> a)")
            tries = keep(f"{rung.name}-tried-{end}", others)
            if found and tries.isEmpty():
                break
            reached = self._reaching(tries, end - tried).join(tries, ["a", "b"])
            made = keep(f"{rung.name}-links-{end}", _first_links(reached))
            found.append(made.select("a", "b", "common", "sampled"))
            lacking = _lacking(lacking, made)
        whole = found[0]
        for table in found[1:]:
            whole = whole.unionByName(table)
        return whole

    def _tries(self, documents: DataFrame, some: tuple[int, int] | None) -> DataFrame:
        """Each of these documents with those at some of the distances, or at one of its own:
        number, links, rank, the pair a and b, the hub of b, and both teams."""
        from pyspark.sql import functions as F

        aims = documents.mapInArrow(partial(_aims, some), _AIMS)
        names = ["label", "place", "number as other", "hub as other_hub", "team as other_team"]
        others = self.places.selectExpr(*names)
        hub = F.expr("if(number < other, other_hub, hub)").alias("hub")
        pair = F.least("number", "other").alias("a"), F.greatest("number", "other").alias("b")
        met = aims.join(others, ["label", "place"])
        return met.select("number", "links", "rank", *pair, hub, "team", "other_team")

    def _reaching(self, pairs: DataFrame, tries: int) -> DataFrame:
        """Pairs, so many for each document, that are comparable and reach the threshold."""
        rung, few = self.rung, 2 * self.count * tries <= FEW
        reached = reach(rung.threshold)
        by = "resemblance"
        return counted(pairs, rung.documents, rung.parameters, by, reached, rung.condition, few=few)


def _first_links(reached: DataFrame) -> DataFrame:
    """As many as each document still lacks, in the order of its tries."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    nth = F.row_number().over(Window.partitionBy("number").orderBy("rank"))
    made = reached.withColumn("nth", nth).where(F.col("links") + F.col("nth") <= LINKS)
    return made.select("number", "a", "b", "common", "sampled")


def _lacking(documents: DataFrame, made: DataFrame) -> DataFrame:
    """Those of the documents that have too few links with these, too."""
    from pyspark.sql import functions as F

    more = documents.join(made.groupBy("number").count(), "number", "left")
    links = (F.col("links") + F.coalesce("count", F.lit(0))).cast("int")
    return more.withColumn("links", links).drop("count").where(F.col("links") < LINKS)


def _most(arrow: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Of dense masses how many comparisons each document has at most."""
    for batch in arrow:
        rows = zip(*(number_column(batch, name) for name in ("documents", "reached")), strict=True)
        most = pa.array([most_tries(int(size), int(reached)) for size, reached in rows], pa.int32())
        yield pa.RecordBatch.from_pydict({"label": batch.column("label"), "most": most})


def _aims(
    some: tuple[int, int] | None, arrow: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """With which places of their circles documents are compared: at some of the distances, as far
    as each goes, or at one that depends on the place."""
    for batch in arrow:
        size, place = number_column(batch, "documents"), number_column(batch, "place")
        sizes, of_row = np.unique(size, return_inverse=True)
        far = [distances(documents) for documents in sizes.tolist()]
        counts = np.array([len(each) for each in far], np.int64)
        begins = (np.cumsum(counts) - counts)[of_row]
        counts = counts[of_row]
        if some is None:
            row = np.flatnonzero(counts)
            nth = place[row] % counts[row]
        else:
            ends = np.minimum(np.minimum(counts, number_column(batch, "most")), some[1])
            row = np.repeat(np.arange(len(batch)), np.maximum(ends - some[0], 0))
            nth = some[0] + np.arange(len(row)) - np.searchsorted(row, row)
        distance = np.array([d for each in far for d in each], np.int64)[begins[row] + nth]
        names = ("number", "label", "team", "hub", "links")
        columns = {name: batch.column(name).take(row) for name in names}
        columns["place"] = pa.array((place[row] + distance) % size[row])
        columns["rank"] = pa.array(nth.astype(np.int32))
        yield pa.RecordBatch.from_pydict(columns)
