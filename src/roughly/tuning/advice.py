"""Which threshold to take, and why.

With labels: where F1 is best. Without: nobody can say what is a near duplicate to you, so the level
is one at which little is decided, close to the default: few pairs lie around it, so that neither
the error of estimates nor a slightly other choice changes much.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

from roughly.simhashing.evaluation import Share
from roughly.tuning.curve import Point, Width, best
from roughly.tuning.level import Level

DEFAULT = 0.5
_FROM, _TO = 0.3, 0.9
_FEW = 0.05  # of all pairs: so few that it does not matter
_FEW_LABELS = 50
_CLEARLY = 0.01  # more F1


@dataclass(frozen=True, slots=True)
class Advice:
    """A threshold and the reason, in a sentence or two."""

    threshold: float
    why: str

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def by_labels(points: Sequence[Point], widths: Sequence[Width] = ()) -> Advice:
    """Where F1 is best."""
    chosen = best(points)
    if chosen.precision is None or chosen.recall is None or not chosen.true:
        return Advice(DEFAULT, "no labelled near duplicate reaches any threshold; the default")
    judged = max(each.true + each.false for each in points)
    few = (
        f"; only {judged} labelled pairs reach any level, so read the intervals"
        if judged < _FEW_LABELS
        else ""
    )
    return Advice(
        chosen.threshold,
        f"best F1 on the labelled pairs, {chosen.f1:.3f}: precision {_interval(chosen.precision)},"
        f" recall {_interval(chosen.recall)}{few}{_better(chosen, widths)}",
    )


def _better(chosen: Point, widths: Sequence[Width]) -> str:
    """Another width, where it is clearly better."""
    other = max(widths, key=lambda each: each.best.f1, default=None)
    if other is None or other.best.f1 < chosen.f1 + _CLEARLY:
        return ""
    return (
        f"; shingles of -w {other.w} reach {other.best.f1:.3f}, at threshold"
        f" {other.best.threshold:g}"
    )


def _interval(found: Share) -> str:
    return f"{found.value:.3f} ({found.low:.3f} to {found.high:.3f})"


def by_gap(levels: Sequence[Level]) -> Advice:
    """A level around which few pairs lie."""
    pairs = levels[0].pairs if levels else 0
    if not pairs:
        return Advice(DEFAULT, "no two documents resemble each other at the floor; the default")
    around = {
        upper.threshold: lower.here + upper.here
        for lower, upper in pairwise(levels)
        if _FROM <= upper.threshold <= _TO
    }
    if not around:
        return Advice(DEFAULT, "the levels that were looked at do not reach it; the default")
    least = min(around.values())
    enough = max(2 * least, int(_FEW * pairs))
    chosen = min(
        (each for each in around if around[each] <= enough),
        # Of two that are as near, the one that merges less.
        key=lambda each: (round(abs(each - DEFAULT), 6), -each),
    )
    share = 100 * around[chosen] / pairs
    return Advice(
        chosen,
        f"{around[chosen]:,} of {pairs:,} pairs ({share:.1f}%) lie within 0.05 of it, so that"
        " little is decided by a slightly other choice; look at the pairs above and below it, or"
        " label some and give --labels",
    )
