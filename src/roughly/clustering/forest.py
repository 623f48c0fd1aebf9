"""Maximum spanning forests, built while the pairs come in.

The forest of a union is the forest of the forests: whatever the number of pairs, what is kept are
fewer links than there are documents, and some pairs that wait to be taken in.
"""

from __future__ import annotations

import numpy as np

from roughly import _core
from roughly.clustering.sketches import PairTable

NO_PAIRS: PairTable = np.zeros((0, 4), np.uint32)

# Pairs that wait until they are taken in: 16 bytes each.
_WAITING = 1 << 21


class Forest:
    """The forest of the pairs added so far."""

    def __init__(self, documents: int, waiting: int = _WAITING) -> None:
        self._documents = documents
        self._links: PairTable = NO_PAIRS
        self._waiting: list[PairTable] = []
        self._count = 0
        self._limit = waiting

    def add(self, pairs: PairTable) -> None:
        self._waiting.append(pairs)
        self._count += len(pairs)
        # As many as there are links, or the links would be sorted again for every few pairs.
        if self._count > max(self._limit, len(self._links)):
            self._take_in()

    def links(self) -> PairTable:
        """The links, heaviest first."""
        if self._waiting:
            self._take_in()
        return self._links

    def _take_in(self) -> None:
        pairs = np.concatenate([self._links, *self._waiting])
        self._waiting.clear()
        self._count = 0
        self._links = _core.spanning_forest(pairs, self._documents)
