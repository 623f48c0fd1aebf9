"""Stars: clusters in which every member resembles the centre, so that none grows by a chain."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import numpy.typing as npt

from roughly import _core
from roughly.clustering.comparable import comparable, comparable_hubs
from roughly.clustering.join import NO_PAIRS, Budget, Hubs, Join
from roughly.clustering.outcome import Outcome, reaching
from roughly.clustering.settings import Settings
from roughly.clustering.sketches import PairTable, Rows, Sketches
from roughly.condition import Attributes
from roughly.parameters import LEAST_MEMORY


def stars(
    sketches: Sketches,
    rows: Rows,
    outcome: Outcome,
    settings: Settings,
    threshold: Fraction,
    threads: int,
    attributes: Attributes | None = None,
) -> npt.NDArray[np.uint32]:
    """For every representative, which `rows` are, the centre of its star. `attributes` are those of
    the settings' condition, if it has any.

    Inside a mass only the pairs with its hub are known. As long as the hub is a centre no others
    are needed, for then nobody else of the mass is one. Where it is not, the centres among its mass
    are compared with the rest of it, until nothing changes.
    """
    documents, hubs = len(rows), outcome.hubs
    ratio = threshold.numerator, threshold.denominator
    known = [table[reaching(table, threshold)] for table in outcome.pairs("resemblance")]
    if settings.method == "hamming":
        pairs = np.concatenate([NO_PAIRS, *known])
        return _by_simhash(pairs, _core.stars(pairs, documents, *ratio), hubs)
    if threshold > settings.threshold and (hubs != _core.NO_HUB).any():
        # Then a hub need not resemble its mass any more.
        hubs, inside = _joined_inside(
            sketches, rows, hubs, settings, threshold, threads, attributes
        )
        known.append(inside)
    pairs = np.concatenate([NO_PAIRS, *known])
    centres = _core.stars(pairs, documents, *ratio)
    taking_part = sketches.taking_part(rows)
    masses = np.argsort(hubs, kind="stable")
    hub_of = hubs[masses]
    asked = np.zeros(documents, bool)
    at_once = 1
    while len(hubs):
        own = np.flatnonzero((centres == np.arange(documents)) & (hubs != _core.NO_HUB) & ~asked)
        own = own[centres[hubs[own]] != hubs[own]]
        if not len(own):
            break
        # The first of a mass take others with them, so that most of the rest need not be asked.
        own = _first_of_each(own, hubs[own], at_once)
        at_once *= 2
        asked[own] = True
        more: list[PairTable] = []
        for centre in own.tolist():
            begin, end = np.searchsorted(hub_of, [hubs[centre], hubs[centre] + 1])
            later = masses[begin:end]
            later = later[later > centre]
            table = np.zeros((len(later), 4), np.uint32)
            table[:, 0], table[:, 1] = centre, later
            counted = taking_part.measure("resemblance", table, threads)
            counted = counted[reaching(counted, threshold)]
            more += [counted] if attributes is None else comparable(attributes, [counted], rows)
        pairs = np.concatenate([pairs, *more])
        centres = _core.stars(pairs, documents, *ratio)
    return centres


def _by_simhash(
    pairs: PairTable, centres: npt.NDArray[np.uint32], hubs: Hubs
) -> npt.NDArray[np.uint32]:
    """Those of documents that have a hub too: these have its partners, by the same weights, so
    none of them is a centre, and one whose hub is no centre either takes the nearest of the hub's
    centres that comes before it, of equally near ones the first."""
    centres = centres.copy()
    held = np.flatnonzero(hubs != _core.NO_HUB)
    centres[held] = hubs[held]
    asked = np.unique(hubs[held])
    asked = asked[centres[asked] != asked]
    both = np.concatenate([pairs, pairs[:, [1, 0, 2, 3]]])
    both = both[np.isin(both[:, 0], asked) & (centres[both[:, 1]] == both[:, 1])]
    both = both[np.lexsort((both[:, 1], -both[:, 2].astype(np.int64), both[:, 0]))]
    for hub in asked.tolist():
        begin, end = np.searchsorted(both[:, 0], [hub, hub + 1])
        free = np.flatnonzero(hubs == hub)
        for centre in both[begin:end, 1].tolist():
            centres[free[free > centre]] = centre
            free = free[free < centre]
    return centres


def _joined_inside(
    sketches: Sketches,
    rows: Rows,
    hubs: Hubs,
    settings: Settings,
    threshold: Fraction,
    threads: int,
    attributes: Attributes | None,
) -> tuple[Hubs, PairTable]:
    """The pairs of those that had a hub, at a higher threshold, and the hubs they have there."""
    members = np.flatnonzero(hubs != _core.NO_HUB).astype(np.uint32)
    budget = Budget.of_memory(LEAST_MEMORY)
    join = Join(sketches, rows[members], threads=threads, budget=budget, attributes=attributes)
    inner = join.hubs(threshold, settings.mass)
    links = join.hub_links(inner)
    if attributes is not None:
        inner, links = comparable_hubs(attributes, inner, links, rows[members])
    found = [links]
    for level in join.levels:
        tables = join.pairs("resemblance", threshold, level, inner)
        found += tables if attributes is None else comparable(attributes, tables, rows[members])
    pairs = np.concatenate(found)
    pairs[:, :2] = members[pairs[:, :2]]
    outer: Hubs = np.full(len(rows), _core.NO_HUB, np.uint32)
    has = inner != _core.NO_HUB
    outer[members[has]] = members[inner[has]]
    return outer, pairs


def _first_of_each(
    numbers: npt.NDArray[np.int64], groups: npt.NDArray[np.uint32], count: int
) -> npt.NDArray[np.int64]:
    """The first `count` numbers of each group."""
    order = np.argsort(groups, kind="stable")
    _, begins, sizes = np.unique(groups[order], return_index=True, return_counts=True)
    place = np.arange(len(order)) - np.repeat(begins, sizes)
    return np.sort(numbers[order[place < count]])
