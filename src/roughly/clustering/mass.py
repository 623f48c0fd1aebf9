"""Pairs inside masses, so that clusters are right at higher thresholds too.

Documents with the same hub are linked through it at the threshold, and their pairs are left out.
At a higher threshold the hub's links may be too weak. So the masses are joined again, by
themselves, at each rung of a ladder of thresholds, with the hubs that they have there: the clusters
are exact at the threshold and at every rung, and in between they miss links of a rung at most.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction

import numpy as np

from roughly import _core
from roughly.clustering.join import Hubs, Join, MassRule
from roughly.clustering.sketches import PairTable, Rows

_RUNG = Fraction(1, 10)

# Hubs and their links at a threshold, those of them that hold.
Check = Callable[[Hubs, PairTable, Rows, Fraction], tuple[Hubs, PairTable]]


def no_check(
    hubs: Hubs, links: PairTable, rows: Rows, threshold: Fraction
) -> tuple[Hubs, PairTable]:
    """All of them."""
    return hubs, links


def rungs(threshold: Fraction) -> list[Fraction]:
    """The thresholds above one at which clusters are exact too."""
    found = []
    while (threshold := threshold + _RUNG) < 1:
        found.append(threshold)
    return found


def pairs_inside(
    join_of: Callable[[Rows], Join],
    rows: Rows,
    hubs: Hubs,
    threshold: Fraction,
    rule: MassRule,
    check: Check,
) -> Iterator[PairTable]:
    """The pairs that are left out at `threshold`, whose hubs are given, and are needed at the rungs
    above. `join_of` makes the join of some rows."""
    for rung in rungs(threshold):
        held = np.flatnonzero(hubs != _core.NO_HUB)
        members = np.union1d(held, hubs[held]).astype(np.uint32)
        if not len(members):
            return
        join = join_of(rows[members])
        inner = join.hubs(rung, rule)
        inner, links = check(inner, join.hub_links(inner), rows[members], rung)
        tables = [links]
        for level in join.levels:
            tables += join.pairs("resemblance", rung, level, inner)
        for table in tables:
            pairs = table.copy()
            pairs[:, :2] = members[pairs[:, :2]]
            a, b = hubs[pairs[:, 0]], hubs[pairs[:, 1]]
            # Others were found before.
            fresh = pairs[(a == b) & (a != _core.NO_HUB)]
            if len(fresh):
                yield fresh
        outer = np.full(len(rows), _core.NO_HUB, np.uint32)
        has = inner != _core.NO_HUB
        outer[members[has]] = members[inner[has]]
        hubs = outer
