"""Pairs inside masses, so that clusters are right at higher thresholds too.

Documents with the same hub are linked through it at the threshold, and their pairs are left out.
At a higher threshold the hub's links may be too weak. So the masses are joined again, by
themselves, at each rung of a ladder of thresholds, with the hubs that they have there: the clusters
are exact at the threshold and at every rung, and in between they miss links of a rung at most.

Where a rung cuts a mass, so that very many of its pairs reach, but not those with the hubs, it is
dense (roughly.clustering.dense): some links of each document stand for all of the pairs, and the
mass remains one for the rungs above.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from roughly import _core
from roughly.clustering.dense import Circles
from roughly.clustering.join import Hubs, Join, MassRule
from roughly.clustering.sketches import PairTable, Rows

_Names = npt.NDArray[np.uint64]

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


def are_inside(
    hubs: Hubs, a: npt.NDArray[np.integer[Any]], b: npt.NDArray[np.integer[Any]]
) -> npt.NDArray[np.bool_]:
    """Which pairs are inside a mass, where others may be left out: of a hub and a document that has
    it, or of two that have the same."""
    if not len(hubs):
        return np.zeros(len(a), bool)
    of_a, of_b = hubs[a], hubs[b]
    inside: npt.NDArray[np.bool_] = (of_b == a) | ((of_a == of_b) & (of_b != _core.NO_HUB))
    return inside


def pairs_inside(
    join_of: Callable[[Rows], Join],
    rows: Rows,
    hubs: Hubs,
    threshold: Fraction,
    rule: MassRule,
    check: Check,
    masses_before: Hubs | None = None,
) -> Iterator[PairTable]:
    """The pairs that are left out at `threshold`, whose hubs are given, and are needed at the rungs
    above. `join_of` makes the join of some rows. `masses_before` numbers the masses of documents
    with hubs where the threshold is a rung itself: hubs alone do not tell them there."""
    held = np.flatnonzero(hubs != _core.NO_HUB)
    # Of two documents of one mass the pair has not been looked for; or it has been found, as a link
    # of a dense one.
    hub = hubs[held]
    mass = hub if masses_before is None else masses_before[held]
    known: _Names = np.zeros(0, np.uint64)
    joined: Rows | None = None
    above = rungs(threshold)
    for number, rung in enumerate(above):
        if not len(held):
            return
        members = np.union1d(held, hub).astype(np.uint32)
        if joined is None or not np.array_equal(members, joined):
            join, joined = join_of(rows[members]), members
            rising = join.rising_hubs(above[number:], rule)
        inner, links = check(*next(rising), rows[members], rung)
        inside = np.searchsorted(members, held)
        masses = np.full(len(members), _core.NO_HUB, np.uint32)
        masses[inside] = mass
        teams = join.groups_of(inner)
        torn = _torn(masses, teams)
        circles = Circles(np.where(torn, masses, _core.NO_HUB).astype(np.uint32))
        tries = circles.tries(join, rung, rule.most_pairs, teams)
        dense = tries > 0
        teams[dense] = masses[dense]
        tables = [[links], circles.links(join, rung, tries, inner)]
        if (torn & ~dense).any():
            every = (join.pairs("resemblance", rung, n, inner, groups=teams) for n in join.levels)
            tables += every
        made = [known]
        for pairs in itertools.chain.from_iterable(tables):
            own = masses[pairs[:, :2]]
            fresh = pairs[(own[:, 0] == own[:, 1]) & (own[:, 0] != _core.NO_HUB)]
            of_dense = dense[fresh[:, 0]]
            fresh[:, :2] = members[fresh[:, :2]]
            names = _names(fresh)
            new = ~_is_in(known, names)
            made.append(names[new & of_dense])
            if new.any():
                yield fresh[new]
        known = np.sort(np.concatenate(made))
        # A dense mass remains one; others are divided by their hubs here.
        stays = (inner[inside] != _core.NO_HUB) | dense[inside]
        held, mass, inside = held[stays], mass[stays], inside[stays]
        whole = dense[inside]
        hub = np.where(whole, hub[stays], members[np.where(whole, 0, inner[inside])])
        parts = np.where(whole, _core.NO_HUB, inner[inside]).astype(np.uint64)
        parts |= mass.astype(np.uint64) << np.uint64(32)
        mass = np.unique(parts, return_inverse=True)[1].astype(np.uint32)


def _torn(masses: Hubs, teams: Hubs) -> npt.NDArray[np.bool_]:
    """Who is in a mass that is not all of one team: no hub stands for all of its pairs."""
    held = np.flatnonzero(masses != _core.NO_HUB)
    _, first, of_mass = np.unique(masses[held], return_index=True, return_inverse=True)
    apart = (teams[held] == _core.NO_HUB) | (teams[held] != teams[held[first[of_mass]]])
    torn = np.zeros(len(masses), bool)
    torn[held] = (np.bincount(of_mass, apart) > 0)[of_mass]
    return torn


def _names(pairs: PairTable) -> _Names:
    """A number for every pair of documents."""
    return (pairs[:, 0].astype(np.uint64) << np.uint64(32)) | pairs[:, 1]


def _is_in(known: _Names, names: _Names) -> npt.NDArray[np.bool_]:
    """Which of them are known; those are sorted."""
    at = np.searchsorted(known, names)
    found = np.zeros(len(names), bool)
    there = at < len(known)
    found[there] = known[at[there]] == names[there]
    return found
