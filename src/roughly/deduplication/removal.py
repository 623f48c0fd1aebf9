"""Who goes, and why: what a deduplication decides, whatever it decides by.

Who goes is known first. The best reason of each may need further counting, which whoever writes
the output need not wait for: it is done when the removals are first asked for.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from roughly.clustering.sketching import Progress, no_progress

if TYPE_CHECKING:
    from typing import Any

    from roughly.deduplication.pool import Pool

Rows = npt.NDArray[np.int64]

# Why a document goes, in the order of `Removals.kind`.
KINDS = ("identical", "lexical", "shingle", "near", "contained")
IDENTICAL, LEXICAL, SHINGLE, NEAR, CONTAINED = range(5)


@dataclass(frozen=True, slots=True)
class Removals:
    """The documents that go, a row each, in input order."""

    removed: Rows  # rows of the input
    kept: Rows  # the document that stays in its place: a row of the input,
    in_corpus: npt.NDArray[np.bool_]  # or, where this says so, of the corpus
    kind: npt.NDArray[np.uint8]  # a number in KINDS
    resemblance: npt.NDArray[np.float64]  # NaN where sketches cannot tell
    containment: npt.NDArray[np.float64]  # of removed in kept; NaN where sketches cannot tell
    # bits in which simhashes differ, if the method looks at these; NO_SIMHASH if there is none
    distance: npt.NDArray[np.uint8] | None = None

    def __len__(self) -> int:
        return len(self.removed)


def make_removals(
    pool: Pool,
    removed: Rows,
    kept: Rows,
    kind: npt.NDArray[np.integer[Any]],
    resemblance: npt.NDArray[np.float64],
    containment: npt.NDArray[np.float64],
) -> Removals:
    """The removals of some rows of a pool, ascending, for others that stay."""
    in_corpus = kept < pool.base
    distance = None
    if pool.condition.simhash is not None:
        distance = pool.attributes.distance(removed, kept)
    if pool.base:
        removed, kept = removed - pool.base, kept - np.where(in_corpus, 0, pool.base)
    kinds = kind.astype(np.uint8, copy=False)
    return Removals(removed, kept, in_corpus, kinds, resemblance, containment, distance)


class GivenUp(Exception):
    """Nobody wants the removals any more."""


class Decision:
    """Who goes, and the removals, which are found when they are first asked for; from any thread,
    until `give_up`."""

    def __init__(self, removed: Rows, find: Callable[[Progress], Removals]) -> None:
        """`removed`: rows of the input, ascending."""
        self.removed = removed
        self.wanted = 0
        """What is to be counted for the reasons, as far as is known,"""
        self.counted = 0
        """and what was."""
        self._find: Callable[[Progress], Removals] | None = find
        self._removals: Removals | None = None
        self._finding = threading.Lock()
        self._given_up = False

    @classmethod
    def of(cls, removals: Removals) -> Decision:
        """One whose reasons are known already."""
        return cls(removals.removed, lambda progress: removals)

    def removals(self, progress: Progress = no_progress) -> Removals:
        """Who goes, and why."""
        with self._finding:
            if self._removals is None:
                assert self._find is not None
                self._check()
                self._removals = self._find(self._watched(progress))
                self._find = None  # and all that it needed
            return self._removals

    def give_up(self) -> None:
        """Ends a search for reasons in another thread: GivenUp is raised there."""
        self._given_up = True

    def _check(self) -> None:
        if self._given_up:
            raise GivenUp

    def _watched(self, progress: Progress) -> Progress:
        """The same, but whoever tells of progress is stopped when nobody waits for the rest."""

        def phase(name: str, total: int | None, unit: str) -> Callable[[int], None]:
            advance = progress(name, total, unit)
            self.wanted += total or 0

            def watched(done: int) -> None:
                self._check()
                self.counted += done
                advance(done)

            return watched

        return phase
