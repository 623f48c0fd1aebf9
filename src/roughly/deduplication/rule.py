"""The dedup rule's parameters, and the order in which documents are taken.

Documents are taken in keep order. One goes if and only if a document that stays and comes before it
reaches the threshold with it, or contains it. Thresholds are exact ratios: 0.7 is 7/10.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from roughly.clustering.settings import exact_ratio
from roughly.errors import ParameterError

if TYPE_CHECKING:
    from roughly.parameters import Parameters
    from roughly.sketcher import Sketcher
    from roughly.storage.collection import Stored

Keep = Literal["first", "longest", "newest"]
Threshold = float | str | Fraction
KEEP: tuple[Keep, ...] = ("first", "longest", "newest")

# Estimates of pairs that reach the threshold lie lower than this in one of some thousand cases at
# adaptive:200 (standard error 0.023 to 0.033 at 0.7).
_BELOW = Fraction(1, 10)


@dataclass(frozen=True, slots=True)
class Rule:
    """Who goes."""

    threshold: Fraction  # of the resemblance
    containment: Fraction | None  # of the later document in the earlier one; None: does not count
    keep: Keep
    estimate: bool  # sketches decide; otherwise complete sets of shingles

    def floors(self, parameters: Parameters) -> tuple[Fraction, Fraction | None]:
        """The estimates from which on a pair is looked at: those of resemblance, containment."""
        if self.estimate or (parameters.select == "all" and parameters.bits == 64):
            return self.threshold, self.containment
        containment = None if self.containment is None else _lower(self.containment)
        return _lower(self.threshold), containment


def _lower(ratio: Fraction) -> Fraction:
    return max(ratio - _BELOW, ratio / 2)


def make_rule(
    threshold: Threshold,
    containment: Threshold | None,
    keep: str | None,
    estimate: bool,
    sketcher: Sketcher,
) -> Rule:
    """The rule that a caller asks for, checked."""
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
        exact_ratio("threshold", threshold),
        None if containment is None else exact_ratio("containment", containment),
        order,
        bool(estimate),
    )


def keep_order(segment: Stored, keep: Keep) -> npt.NDArray[np.int64]:
    """The rows of all documents that are there in keep order; ties by position."""
    order = _order_of_rows(segment, keep)
    if segment.documents == len(segment):
        return order
    there = np.zeros(len(segment), bool)
    there[segment.live_rows] = True
    return order[there[order]]


def _order_of_rows(segment: Stored, keep: Keep) -> npt.NDArray[np.int64]:
    if keep == "longest":
        return np.argsort(-segment.tokens.astype(np.int64), kind="stable")
    if keep == "newest":
        import pyarrow.compute as pc

        # As texts dates are in the order of time, and nothing comes before all of them.
        dates = pc.fill_null(segment.dates(), "")
        ranks = pc.rank(dates, "descending", tiebreaker="dense")
        return np.argsort(np.asarray(ranks), kind="stable")
    return np.arange(len(segment), dtype=np.int64)
