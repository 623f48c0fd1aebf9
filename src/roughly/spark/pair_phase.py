"""The pairs of a clustering, by whatever its settings say: a join of sketches, simhashes, or the
presets of the 1997 paper; those that meet its condition, and counted again where they are to be
exact. The same pairs as `roughly.clustering.run` finds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from roughly.clustering.join import Measure
from roughly.clustering.run import LEAST_CONTAINED
from roughly.clustering.settings import Settings
from roughly.parameters import Parameters
from roughly.spark.checkpoint import Checkpoints
from roughly.spark.clusters import Sizes
from roughly.spark.counting import counted
from roughly.spark.exact import Recount
from roughly.spark.expansion import expanded_pairs, super_pairs
from roughly.spark.join import JoinRule, joined_pairs, levels_of, measure_of, reach, teams_of
from roughly.spark.mass import find_hubs, no_check, pairs_inside
from roughly.spark.near_simhash import simhash_links, simhash_pairs

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(frozen=True)
class FoundPairs:
    """Pairs (a, b, common, sampled, mass) by resemblance, or by simhash, and by containment."""

    links: DataFrame  # to hubs: a, b, common, sampled
    resembling: DataFrame
    containing: DataFrame | None


@dataclass(frozen=True)
class PairPhase:
    """Finds pairs among representatives: number, size, level, kept, values and the condition's
    attributes; for a join with frequencies, too."""

    documents: DataFrame
    parameters: Parameters
    settings: Settings
    checkpoints: Checkpoints
    sizes: Sizes
    recount: Recount | None = None  # counts them exactly

    def run(self) -> FoundPairs:
        """All pairs down to the floors."""
        if self.settings.method == "join":
            return self._joined()
        if self.settings.method == "hamming":
            return self._by_simhash()
        pairs = self._expanded()
        if self.settings.condition.filters:
            # Counted only for the condition's sake: by how many elements they met is what counts.
            keys = pairs.select("a", "b")
            condition = self.settings.condition
            measure = measure_of(self.parameters)
            met = counted(keys, self.documents, self.parameters, measure, None, condition)
            pairs = pairs.join(met.select("a", "b"), ["a", "b"])
        found = self._kept("resemblance", [pairs.selectExpr("*", "false as mass")])
        return FoundPairs(found.select("a", "b", "common", "sampled").limit(0), found, None)

    def _expanded(self) -> DataFrame:
        settings = self.settings
        if settings.method == "super":
            return super_pairs(
                self.documents,
                self.parameters,
                settings.super_length,
                settings.super_agreeing,
                settings.condition,
            )
        return expanded_pairs(self.documents, settings.floor, settings.cut_off)

    def _by_simhash(self) -> FoundPairs:
        condition, keep = self.settings.condition, self.checkpoints.keep
        least = self.settings.mass.least_frequency
        links = keep("hubs", simhash_links(self.documents, condition, least))
        pairs = simhash_pairs(self.documents, links, condition, self.checkpoints)
        found = [links.selectExpr("*", "true as mass"), pairs.selectExpr("*", "false as mass")]
        return FoundPairs(links, self._kept("resemblance", found), None)

    def _joined(self) -> FoundPairs:
        documents, parameters, settings = self.documents, self.parameters, self.settings
        condition = settings.condition
        check = no_check if self.recount is None else self.recount.links
        hubs = find_hubs(
            documents,
            parameters,
            settings.threshold,
            settings.mass,
            "hubs-tried",
            self.checkpoints,
            condition,
        )
        links = self.checkpoints.keep("hubs", check(hubs, settings.threshold))
        levels = levels_of(documents)
        teams = None if links.isEmpty() else teams_of(links)

        def join(rule: JoinRule) -> DataFrame:
            name = f"pairs-{rule.measure}-met"
            found = joined_pairs(documents, rule, levels, name, self.checkpoints, teams)
            return found.selectExpr("*", "false as mass")

        inside = pairs_inside(
            documents,
            links,
            parameters,
            settings.threshold,
            settings.mass,
            self.checkpoints,
            self.sizes.masses,
            condition,
            check,
        )
        found = [
            links.selectExpr("*", "true as mass"),
            *(table.selectExpr("*", "false as mass") for table in inside),
            join(JoinRule(parameters, "resemblance", settings.floor, condition=condition)),
        ]
        resembling = self._kept("resemblance", found)
        if settings.containment_floor is None:
            return FoundPairs(links, resembling, None)
        floor = settings.containment_floor
        least = 0 if settings.exact else LEAST_CONTAINED
        held = counted(links.select("a", "b"), documents, parameters, "containment", reach(floor))
        found = [
            held.selectExpr("*", "true as mass"),
            join(JoinRule(parameters, "containment", floor, least, condition)),
        ]
        return FoundPairs(links, resembling, self._kept("containment", found))

    def _kept(self, measure: Measure, found: list[DataFrame]) -> DataFrame:
        """The table of all pairs by a measure."""
        whole = found[0]
        for table in found[1:]:
            whole = whole.unionByName(table)
        if self.recount is None:
            return self.checkpoints.keep(f"pairs-{measure}", whole)
        estimated = self.checkpoints.keep(f"estimated-{measure}", whole)
        floor = self.settings.floor
        if measure == "containment" and self.settings.containment_floor is not None:
            floor = self.settings.containment_floor
        counted = self.recount.pairs(estimated, measure, floor)
        return self.checkpoints.keep(f"pairs-{measure}", counted)
