"""What each threshold would merge, counted from one clustering with a low floor.

Pairs are of documents that are not equivalent already: identical and lexically equal documents
belong together at every threshold, and are counted apart.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from roughly.clustering.outcome import reaching
from roughly.clustering.sketches import PairTable, Sketches
from roughly.estimate import resemblance_interval

if TYPE_CHECKING:
    from roughly.clustering import Clusters

STEP = Fraction(1, 20)

# Pairs of a level that its predicted error is taken from.
_MEASURED = 200


@dataclass(frozen=True, slots=True)
class Level:
    """One threshold."""

    threshold: float
    pairs: int  # that reach it, by their estimates
    here: int  # of these, those that do not reach the next level
    clusters: int  # of two documents or more, single linkage
    documents: int  # in these
    surplus: int  # what would go if one of each cluster stayed
    largest: int  # documents in the largest cluster
    error: float | None  # half of the 95% interval of pairs here, on average; None: no pairs

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def thresholds(floor: Fraction) -> list[Fraction]:
    """From the floor to 1."""
    first = -(-floor // STEP)
    found = [STEP * n for n in range(int(first), int(1 / STEP) + 1)]
    return found if found and found[0] == floor else [floor, *found]


def levels(found: Clusters) -> list[Level]:
    """All levels from the floor of a clustering on, lowest first."""
    asked = thresholds(found.floor)
    counts = np.zeros(len(asked), dtype=np.int64)
    bands: list[list[PairTable]] = [[] for _ in asked]
    for table in found.outcome.pairs("resemblance"):
        for number, some in enumerate(by_level(table, asked)):
            counts[number] += len(some)
            room = _MEASURED - sum(map(len, bands[number]))
            if len(some) and room > 0:
                bands[number].append(some[:room])
    result = []
    for number, threshold in enumerate(asked):
        at = found.at(threshold)
        sizes = at.sizes()
        result.append(
            Level(
                float(threshold),
                int(counts[number:].sum()),
                int(counts[number]),
                len(sizes),
                int(sizes.sum()),
                int(sizes.sum()) - len(sizes),
                int(sizes.max(initial=0)),
                _error(found, bands[number]),
            )
        )
    return result


def by_level(table: PairTable, asked: list[Fraction]) -> list[PairTable]:
    """Pairs by the highest level that they reach."""
    reached = np.zeros(len(table), dtype=np.int64)
    for threshold in asked:
        reached += reaching(table, threshold)
    return [table[reached == number + 1] for number in range(len(asked))]


def _error(found: Clusters, band: list[PairTable]) -> float | None:
    """As wide as the intervals of these pairs are to either side."""
    if not band:
        return None
    rows = found.outcome.order[found.outcome.groups.representatives]
    size, kept = found.segment.size, Sketches.of_segment(found.segment).kept()
    halves = []
    for a, b, common, sampled in np.concatenate(band).tolist():
        # Short documents are kept whole, words and all.
        sizes = (int(max(size[rows[each]], kept[rows[each]])) for each in (a, b))
        interval = resemblance_interval(common, sampled, *sizes)
        halves.append((interval.high - interval.low) / 2)
    return sum(halves) / len(halves)
