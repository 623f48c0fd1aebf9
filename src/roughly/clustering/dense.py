"""Dense masses: at a threshold at which some of a mass's pairs reach, and these are very many.

The documents of a mass stand in a circle, in document order, and each is compared with others at
certain distances along it, few of all. One comparison of each tells how many of all pairs would
have to be listed; and where they are too many, two links of each document stand for them: that to
its hub, and others found in the same way, in the more tries the fewer of the pairs reach.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from roughly import _core
from roughly.clustering.join import Hubs, Join
from roughly.clustering.sketches import PairTable, steps

LINKS = 2
"""That a document of a dense mass has, unless it is compared in vain."""

TRIES_ENDS = (2, 8, 32, 128, 256)
"""Whoever lacks links after so many comparisons is compared with more, as far as `most_tries`."""

Places = npt.NDArray[np.int64]
_Tries = npt.NDArray[np.uint16]

_GOLDEN = 0x9E3779B97F4A7C15
_AT_ONCE = 1 << 14


def distances(documents: int) -> list[int]:
    """How far along a circle of so many those are with whom each is compared, one after the other:
    less than half of the way around, so that no two documents meet twice."""
    half = (documents - 1) // 2
    scattered = (((n * _GOLDEN) % (1 << 64)) >> 32 for n in range(1, TRIES_ENDS[-1] + 1))
    # A dictionary has each once, in this order.
    return list(dict.fromkeys(1 + (part * half >> 32) for part in scattered)) if half > 0 else []


def least_reached(most_pairs: int) -> int:
    """How many of n documents reach with another one each, who are not of one team, in a dense
    mass: then they have more than `most_pairs` each, of all n (n - 1) / 2 pairs the same share."""
    return 2 * most_pairs + 1


def most_tries(documents: int, reached: int) -> int:
    """With how many others each document of a dense mass is compared for links, if so many reached:
    four of these reach on average, unless they are very rare."""
    return min(max(-(-4 * documents // reached), 32), TRIES_ENDS[-1])


class Circles:
    """Masses by their numbers, NO_HUB for none."""

    def __init__(self, masses: Hubs) -> None:
        order = np.argsort(masses, kind="stable")
        self._members: Places = order[masses[order] != _core.NO_HUB]
        _, begins, sizes = np.unique(masses[self._members], return_index=True, return_counts=True)
        self._begins: Places = begins
        self._sizes: Places = sizes
        self._documents = len(masses)

    def tries(self, join: Join, threshold: Fraction, most_pairs: int, teams: Hubs) -> _Tries:
        """Of everybody whose mass is dense the most comparisons, else 0. Pairs of one team are not
        listed."""
        found = np.zeros(self._documents, np.uint16)
        least = least_reached(most_pairs)
        for begin, size in zip(self._begins.tolist(), self._sizes.tolist(), strict=True):
            far = np.array(distances(size), np.int64)
            if size < least or not len(far):
                continue
            reached = 0
            for first, last in steps(size, _AT_ONCE):
                places = np.arange(first, last)
                # At all distances: documents that are alike may stand at certain ones.
                pairs = self._measured(join, begin, size, places, far[places % len(far), None])
                own = teams[pairs[:, :2]]
                apart = (own[:, 0] != own[:, 1]) | (own[:, 0] == _core.NO_HUB)
                reached += int((join.reaching(pairs, threshold) & apart).sum())
            if reached >= least:
                found[self._members[begin : begin + size]] = most_tries(size, reached)
        return found

    def links(
        self, join: Join, threshold: Fraction, tries: _Tries, hubs: Hubs
    ) -> Iterator[PairTable]:
        """Links of those that are in a dense mass, besides those to hubs."""
        for begin, size in zip(self._begins.tolist(), self._sizes.tolist(), strict=True):
            far = np.array(distances(size)[: int(tries[self._members[begin]])], np.int64)
            for first, last in steps(size if len(far) else 0, _AT_ONCE):
                places = np.arange(first, last)
                yield from self._found(join, threshold, begin, size, places, far, hubs)

    def _found(
        self,
        join: Join,
        threshold: Fraction,
        begin: int,
        size: int,
        places: Places,
        far: Places,
        hubs: Hubs,
    ) -> Iterator[PairTable]:
        """The first links that each of these has, besides that to its hub."""
        links = (hubs[self._members[begin + places]] != _core.NO_HUB).astype(np.int64)
        tried = 0
        for end in TRIES_ENDS:
            if not len(places) or tried >= len(far):
                return
            pairs = self._measured(join, begin, size, places, far[np.newaxis, tried:end])
            reached = join.reaching(pairs, threshold) & (hubs[pairs[:, 1]] != pairs[:, 0])
            reached = reached.reshape(len(places), -1)
            reached &= links[:, np.newaxis] + np.cumsum(reached, axis=1) <= LINKS
            yield pairs[reached.reshape(-1)]
            links = links + reached.sum(axis=1)
            lacking = links < LINKS
            places, links, tried = places[lacking], links[lacking], end

    def _measured(
        self, join: Join, begin: int, size: int, places: Places, far: Places
    ) -> PairTable:
        """The pairs of documents at these places of a circle and those at all of the distances that
        each row of `far` has, one for everybody or one for each."""
        one, two = np.broadcast_arrays(places[:, np.newaxis], (places[:, np.newaxis] + far) % size)
        pairs = np.zeros((one.size, 4), np.uint32)
        pairs[:, 0] = self._members[begin + np.minimum(one, two).reshape(-1)]
        pairs[:, 1] = self._members[begin + np.maximum(one, two).reshape(-1)]
        return join.measure("resemblance", pairs)
