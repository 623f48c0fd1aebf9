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
    joined: Rows | None = None
    above = rungs(threshold)
    for number, rung in enumerate(above):
        held = np.flatnonzero(hubs != _core.NO_HUB)
        members = np.union1d(held, hubs[held]).astype(np.uint32)
        if not len(members):
            return
        if joined is None or not np.array_equal(members, joined):
            join, joined = join_of(rows[members]), members
            found = join.rising_hubs(above[number:], rule)
        inner, links = check(*next(found), rows[members], rung)
        outer = np.full(len(rows), _core.NO_HUB, np.uint32)
        has = inner != _core.NO_HUB
        outer[members[has]] = members[inner[has]]
        for pairs in _tables(join, rung, inner, links, _are_whole(hubs, outer)):
            pairs[:, :2] = members[pairs[:, :2]]
            a, b = hubs[pairs[:, 0]], hubs[pairs[:, 1]]
            # Others were found before.
            fresh = pairs[(a == b) & (a != _core.NO_HUB)]
            if len(fresh):
                yield fresh
        hubs = outer


def _tables(
    join: Join, rung: Fraction, hubs: Hubs, links: PairTable, whole: bool
) -> Iterator[PairTable]:
    """The links to hubs at a rung, and all pairs that these do not stand for, unless the masses are
    `whole`: then the pairs are none of theirs."""
    yield links.copy()
    for level in [] if whole else join.levels:
        for table in join.pairs("resemblance", rung, level, hubs):
            yield table.copy()


def _are_whole(below: Hubs, hubs: Hubs) -> bool:
    """Whether all that have one hub `below` have one here too, or are that: the hubs here stand for
    all of their pairs."""
    groups = hubs.copy()
    of_group = np.unique(hubs[hubs != _core.NO_HUB])
    free = of_group[hubs[of_group] == _core.NO_HUB]
    groups[free] = free
    held = np.flatnonzero(below != _core.NO_HUB)
    of_hub = np.zeros(len(below), np.uint32)
    of_hub[below[held]] = groups[held]
    own = groups[held]
    return bool((own != _core.NO_HUB).all() and (own == of_hub[below[held]]).all())
