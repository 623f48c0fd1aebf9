"""What counts as found: how much documents must resemble a query, contain of it, or have in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import get_args

from roughly.errors import ParameterError
from roughly.search.query import Query
from roughly.search.searcher import Direction, Threshold, check_searchable, ratio

# Where neither is asked for: as `roughly compare` calls two documents near, or one contained.
DEFAULT_THRESHOLD = "0.5"
DEFAULT_CONTAINMENT = "0.8"


@dataclass(frozen=True, slots=True)
class Rule:
    """What counts as found. None: not asked for."""

    threshold: Threshold | None
    containment: Threshold | None
    direction: Direction = "both"

    @classmethod
    def of(
        cls,
        query: Query,
        threshold: Threshold | None,
        containment: Threshold | None,
        direction: Direction = "both",
    ) -> Rule:
        """The defaults, if nothing is asked for. Raises what these sketches cannot tell."""
        check_searchable(query.parameters, containment is not None)
        _check_direction(direction, threshold, containment)
        if threshold is None and containment is None:
            can_contain = query.parameters.selection[0] != "min"
            containment = DEFAULT_CONTAINMENT if can_contain else None
            threshold = DEFAULT_THRESHOLD
        for name, value in (("threshold", threshold), ("containment", containment)):
            if value is not None:
                ratio(name, value)
        return cls(threshold, containment, direction)

    @property
    def contained(self) -> bool:
        return self.containment is not None and self.direction != "contains"

    @property
    def contains(self) -> bool:
        return self.containment is not None and self.direction != "contained"

    def least_size(self, query: Query) -> float:
        """Shingles without which a document neither resembles nor contains the query."""
        shares = [ratio("", each) for each in (self.threshold, self.containment) if each]
        return min(n / d for n, d in shares) * query.size


def _check_direction(
    direction: str, threshold: Threshold | None, containment: Threshold | None
) -> None:
    if direction not in get_args(Direction):
        raise ParameterError(
            f"direction: unknown: {direction!r}, wanted one of {', '.join(get_args(Direction))}"
        )
    if direction != "both" and threshold is not None and containment is None:
        raise ParameterError(
            f"direction: nothing to apply to: {direction!r}, and containment is not asked for",
            hint="say how much must be contained with --containment C",
        )
