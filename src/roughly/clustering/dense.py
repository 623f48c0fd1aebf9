"""Dense masses: at a threshold at which some of a mass's pairs reach, and these are very many.

The documents of a mass stand in a circle, in document order, and each is compared with others at
certain distances along it, few of all. That tells how many of all pairs reach; and where they are
too many to be listed, two links of each document stand for them: that to its hub, and others found
in the same way. Links to documents all over the circle hold together whoever has any, as good as
always.
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

TRIES_ENDS = (2, 8, 32)
"""Whoever lacks links after so many comparisons is compared with more, at most with the last."""

Places = npt.NDArray[np.int64]
_Mask = npt.NDArray[np.bool_]

_GOLDEN = 0x9E3779B97F4A7C15
_AT_ONCE = 1 << 14


def distances(documents: int) -> list[int]:
    """How far along a circle of so many those are with whom each is compared, one after the other:
    less than half of the way around, so that no two documents meet twice."""
    half = (documents - 1) // 2
    scattered = (((n * _GOLDEN) % (1 << 64)) >> 32 for n in range(1, TRIES_ENDS[-1] + 1))
    # A dictionary has each once, in this order.
    return list(dict.fromkeys(1 + (part * half >> 32) for part in scattered)) if half > 0 else []


def is_dense(reached: int, most_pairs: int) -> bool:
    """Whether a mass of n documents, of whose n pairs at the first distance so many reach, has more
    than `most_pairs` a document: of all n (n - 1) / 2 pairs the same share."""
    return reached >= least_reached(most_pairs)


def least_reached(most_pairs: int) -> int:
    """From how many on it is dense."""
    return 2 * most_pairs + 1


class Circles:
    """Masses by their numbers, NO_HUB for none."""

    def __init__(self, masses: Hubs) -> None:
        order = np.argsort(masses, kind="stable")
        self._members: Places = order[masses[order] != _core.NO_HUB]
        _, begins, sizes = np.unique(masses[self._members], return_index=True, return_counts=True)
        self._begins: Places = begins
        self._sizes: Places = sizes
        self._documents = len(masses)

    def dense(self, join: Join, threshold: Fraction, most_pairs: int) -> _Mask:
        """Whose mass is dense."""
        found = np.zeros(self._documents, bool)
        for begin, size in zip(self._begins.tolist(), self._sizes.tolist(), strict=True):
            if is_dense(size, most_pairs) and (far := distances(size)):
                reached = 0
                for first, last in steps(size, _AT_ONCE):
                    places = np.arange(first, last)
                    pairs = self._measured(join, begin, size, places, far[:1])
                    reached += int(join.reaching(pairs, threshold).sum())
                found[self._members[begin : begin + size]] = is_dense(reached, most_pairs)
        return found

    def links(
        self, join: Join, threshold: Fraction, dense: _Mask, hubs: Hubs
    ) -> Iterator[PairTable]:
        """Links of those that are in a dense mass, besides those to hubs."""
        for begin, size in zip(self._begins.tolist(), self._sizes.tolist(), strict=True):
            if not dense[self._members[begin]]:
                continue
            for first, last in steps(size, _AT_ONCE):
                places = np.arange(first, last)
                yield from self._found(join, threshold, begin, size, places, hubs)

    def _found(
        self, join: Join, threshold: Fraction, begin: int, size: int, places: Places, hubs: Hubs
    ) -> Iterator[PairTable]:
        """The first links that each of these has, besides that to its hub."""
        links = (hubs[self._members[begin + places]] != _core.NO_HUB).astype(np.int64)
        far, tried = distances(size), 0
        for end in TRIES_ENDS:
            pairs = self._measured(join, begin, size, places, far[tried:end])
            reached = join.reaching(pairs, threshold) & (hubs[pairs[:, 1]] != pairs[:, 0])
            reached = reached.reshape(len(places), -1)
            reached &= links[:, np.newaxis] + np.cumsum(reached, axis=1) <= LINKS
            yield pairs[reached.reshape(-1)]
            links = links + reached.sum(axis=1)
            lacking = links < LINKS
            places, links, tried = places[lacking], links[lacking], end
            if not len(places):
                return

    def _measured(
        self, join: Join, begin: int, size: int, places: Places, far: list[int]
    ) -> PairTable:
        """The pairs of documents at these places of a circle and those at all of the distances."""
        others = (places[:, np.newaxis] + np.array(far, np.int64)) % size
        one, two = np.repeat(places, len(far)), others.reshape(-1)
        pairs = np.zeros((len(one), 4), np.uint32)
        pairs[:, 0] = self._members[begin + np.minimum(one, two)]
        pairs[:, 1] = self._members[begin + np.maximum(one, two)]
        return join.measure("resemblance", pairs)
