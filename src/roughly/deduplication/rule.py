"""The dedup rule's parameters, and the order in which documents are taken.

Documents are taken in keep order. One goes if and only if a document that stays and comes before it
reaches the threshold with it, or contains it. Thresholds are exact ratios: 0.7 is 7/10. A condition
may leave fewer pairs of documents to the rule, or put the distance of simhashes for the threshold.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from roughly.clustering.settings import bits_threshold
from roughly.condition import NO_CONDITION, Condition
from roughly.errors import ParameterError
from roughly.parameters import exact_ratio
from roughly.storage.scratch import IN_MEMORY, Scratch

if TYPE_CHECKING:
    from roughly.parameters import Parameters
    from roughly.sketcher import Sketcher
    from roughly.storage.collection import Stored

Keep = Literal["first", "longest", "newest"]
Threshold = float | str | Fraction
Counts = npt.NDArray[np.integer[Any]]
Levels = npt.NDArray[np.integer[Any]]
KEEP: tuple[Keep, ...] = ("first", "longest", "newest")
THRESHOLD = 0.7

# A pair is looked at if its estimate lies no more than this below the threshold,
_BELOW = Fraction(1, 10)
# or so many standard errors, where sketches say enough of them: one estimate in 4,000 is lower.
_ERRORS = 3.5
# A pair may be the best reason to go if its estimate is too low by so many: next to none are more.
BEST_ERRORS = 5.0


@dataclass(frozen=True, slots=True)
class Rule:
    """Who goes."""

    threshold: Fraction  # of the resemblance
    containment: Fraction | None  # of the later document in the earlier one; None: does not count
    keep: Keep
    estimate: bool  # sketches decide; otherwise complete sets of shingles
    condition: Condition = NO_CONDITION  # which pairs count, and by which method

    def floors(self, parameters: Parameters) -> tuple[Fraction, Fraction | None]:
        """The estimates from which on a pair is looked at: those of resemblance, containment."""
        if self.estimate or (parameters.select == "all" and parameters.bits == 64):
            return self.threshold, self.containment
        containment = None if self.containment is None else _lower(self.containment)
        return _lower(self.threshold), containment

    def least_at(self, level: Levels, sampled: Counts) -> npt.NDArray[np.float64]:
        """The resemblance from which on pairs of adaptive sketches that meet at some levels are
        looked at, by how many elements it is estimated from: a sample without replacement of one
        in 2^level."""
        ratio = float(self.threshold)
        variance = ratio * (1 - ratio) * (1 - 0.5 ** level.astype(float)) / np.maximum(sampled, 1)
        least: npt.NDArray[np.float64] = ratio - _ERRORS * np.sqrt(variance)
        return least

    def floor_at(self, level: int, parameters: Parameters) -> Fraction:
        """The least of that at a level: two documents have T elements or more, but for chance."""
        floor, _ = self.floors(parameters)
        name, number = parameters.selection
        if self.estimate or name != "adaptive" or parameters.bits != 64:
            return floor
        if level == 0:
            return self.threshold  # both sketches are whole
        least = self.least_at(np.array([level]), np.array([number]))
        return max(floor, Fraction(int(least[0] * 1000), 1000))

    def surely_at(self, level: int, parameters: Parameters) -> Fraction | None:
        """The estimate at a level from which on documents most likely reach the threshold: by
        adaptive sketches, of T elements or more, one in 25 of those that are there does not. None
        for sketches that do not say of how many elements an estimate is."""
        name, number = parameters.selection
        if self.estimate or name == "all" or (name == "adaptive" and level == 0):
            return self.threshold
        if name != "adaptive":
            return None
        error = float(self.threshold) - self.least_at(np.array([level]), np.array([number]))[0]
        return min(self.threshold + Fraction(int(error * 500), 1000), Fraction(1))


def _lower(ratio: Fraction) -> Fraction:
    return max(ratio - _BELOW, ratio / 2)


def make_rule(
    threshold: Threshold | None,
    containment: Threshold | None,
    keep: str | None,
    estimate: bool,
    sketcher: Sketcher,
    condition: Condition = NO_CONDITION,
) -> Rule:
    """The rule that a caller asks for, checked."""
    if condition.method == "simhash":
        _refuse_shares(threshold, containment, estimate)
        threshold = bits_threshold(condition.distance)
    order: Keep = "first" if containment is None else "longest"
    if keep is not None:
        for known in KEEP:
            if keep == known:
                order = known
                break
        else:
            wanted = ", ".join(map(repr, KEEP))
            raise ParameterError(f"keep: unknown value: {keep!r}, wanted one of {wanted}")
    name = sketcher.parameters.selection[0]
    if name == "perm":
        raise ParameterError(
            f"select: cannot deduplicate by {sketcher.select} sketches: they are no sets,"
            " wanted all, mod:M, min:K or adaptive:T"
        )
    if name == "min" and containment is not None:
        raise ParameterError(
            f"containment: cannot be told from {sketcher.select} sketches",
            hint="select adaptive:T, mod:M or all",
        )
    return Rule(
        exact_ratio("threshold", THRESHOLD if threshold is None else threshold),
        None if containment is None else exact_ratio("containment", containment),
        order,
        bool(estimate),
        condition,
    )


def _refuse_shares(
    threshold: Threshold | None, containment: Threshold | None, estimate: bool
) -> None:
    """Where simhashes alone decide, nothing that is said of shingles can."""
    given = {"threshold": threshold, "containment": containment, "estimate": estimate or None}
    for name, value in given.items():
        if value is not None:
            raise ParameterError(
                f"{name}: nothing to apply to: documents are compared by simhash alone, exactly",
                hint="say how many bits may differ (-k, distance), or choose the method both",
            )


def keep_order(segment: Stored, keep: Keep, scratch: Scratch = IN_MEMORY) -> npt.NDArray[np.int64]:
    """The rows of all documents that are there in keep order; ties by position."""
    order = _order_of_rows(segment, keep, scratch)
    if segment.documents == len(segment):
        return order
    there = np.zeros(len(segment), bool)
    there[segment.live_rows] = True
    return order[there[order]]


def _order_of_rows(segment: Stored, keep: Keep, scratch: Scratch) -> npt.NDArray[np.int64]:
    order: npt.NDArray[np.int64]
    if keep == "longest":
        order = scratch.copy(np.argsort(~segment.tokens, kind="stable"))
        return order
    if keep == "newest":
        import pyarrow.compute as pc

        # As texts dates are in the order of time, and nothing comes before all of them.
        dates = pc.fill_null(segment.dates(), "")
        ranks = pc.rank(dates, "descending", tiebreaker="dense")
        order = scratch.copy(np.argsort(np.asarray(ranks), kind="stable"))
        return order
    order = scratch.arange(len(segment), np.int64)
    return order
