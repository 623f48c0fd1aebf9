"""Lost and found: where pages went that are not at their URL any more.

`lost_pages` answers for every page that vanished between two sweeps, or whose URL was reused, all
at once, so that no page is taken for the new place of two. `lost_page` follows the text of one page
to the latest sweep, from place to place; it looks at as many other lost pages as might claim the
same places. Documents go by their rows; who is whose version tell the `Pages`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from roughly.corpus.assignment import EVEN, Kind, still_itself
from roughly.corpus.commonness import Counter, Scan
from roughly.corpus.evidence import Advance, Rows, compare_rows, no_advance
from roughly.corpus.sweeps import NOWHERE, Pages, check_order
from roughly.corpus.two_sweeps import Measuring, Move, Step, TwoSweeps

if TYPE_CHECKING:
    from roughly.storage.collection import Collection

_Followed = tuple[Step, list[int]]  # and the rows of all places; none if it is gone


@dataclass(frozen=True, slots=True)
class Trace:
    """A page from the first sweep that had it to where it is now."""

    url: str  # as it was added
    first_seen: str
    last_seen: str  # at this URL
    latest: str  # date of the latest sweep
    changed: str | None  # last date at which the page at this URL was not as before
    reused: str | None  # date since which its URL has another text, if the text is elsewhere
    # Of what is at the URL now to the last version before that was another; 1 if there is none.
    resemblance_there: float | None  # None if the URL is not in the latest sweep
    steps: list[Step]

    moves: list[Move]  # from this URL to where the page is now; several if it was split at last

    @property
    def still_there(self) -> bool:
        """Whether its URL is, with whatever text."""
        return self.last_seen == self.latest

    @property
    def found(self) -> bool:
        """Whether the page is anywhere in the latest sweep, as far as can be told."""
        return self.moves[0].new is not None

    def rows(self) -> list[dict[str, Any]]:
        """A JSON object a place, with the way there and what else it could be."""
        facts = {
            "last_seen": self.last_seen,
            "latest": self.latest,
            "reused_since": self.reused,
            "resemblance_there": self.resemblance_there,
        }
        way = [
            {"from_date": step.from_date, "to_date": step.to_date} | move.to_dict()
            for step in self.steps
            for move in step.moves
        ]
        others = [move.to_dict() for step in self.steps[-1:] for move in step.alternatives]
        return [
            move.to_dict() | facts | {"steps": way, "alternatives": others} for move in self.moves
        ]


def lost_pages(
    collection: Collection,
    pages: Pages,
    begin: int,
    end: int,
    even: float = EVEN,
    measuring: Measuring | None = None,
    advance: Advance = no_advance,
) -> list[Move]:
    """What became of every page of one sweep that a later one has not, or has another text at the
    URL of, in order of URL. `even` is the strength at which a claim is as likely wrong as right;
    `measuring` measures what is claimed, which is estimated unless given. `advance` is told of
    every page of the earlier sweep, twice."""
    check_order(pages.dates, begin, end)
    old, sought = pages.rows_of(begin), pages.rows_of(end)
    step = TwoSweeps(collection, pages, begin, end, Scan(collection, old, sought), measuring)
    found = step.find(old, sought, even, advance)
    moves = step.moves(found.claims, found)
    return sorted(moves, key=lambda move: move.old)  # parts stay in their order


def found_again(
    collection: Collection, pages: Pages, missing: Rows, end: int, taken: set[str]
) -> list[Move]:
    """Of documents that were lost before the last sweep but one, those that are on pages which the
    later sweep has and the one before has not; `taken` are pages that others went to."""
    sought = pages.rows_of(end)
    before = np.union1d(pages.rows_of(end - 1), missing)
    step = TwoSweeps(collection, pages, end - 1, end, Scan(collection, before, sought))
    born = sought[pages.elsewhere(sought, end - 1) == NOWHERE]
    born = born[[pages.name(row) not in taken for row in born.tolist()]]
    if not len(born) or not len(missing):
        return []
    # From the few that are new to the many that are missing.
    evidence = step.evidence(born, missing, backwards=True).turned()
    found = step.judged(missing, np.zeros(len(missing), bool), born, evidence)
    claims = [claim for claim in found.claims if claim.new is not None]
    return step.moves(claims, found)


def lost_page(
    collection: Collection,
    pages: Pages,
    row: int,
    counter: Callable[[int, int], Counter] | None = None,
    measuring: Measuring | None = None,
) -> Trace:
    """Follows one page, of which a row is some version, to the latest sweep: what was last seen at
    its URL, or, if another text is there, what was there before. `counter` makes what counts
    elements of two sweeps; unless given, everything is read for that. For `measuring` see
    `lost_pages`."""
    walk = _Walk(collection, pages, counter, measuring)
    versions = pages.versions(row)
    seen = np.flatnonzero(versions != NOWHERE)
    rows = versions[seen]
    hashes = collection.take("canonical", rows).to_pylist()
    changes = [n for n in range(1, len(rows)) if hashes[n] != hashes[n - 1]]
    last = len(rows) - 1
    still_there = int(seen[-1]) == len(pages.dates) - 1
    reused = resemblance = None
    steps: list[Step] = []
    places = [int(rows[-1])]
    if still_there:
        at_own = 1.0, 1.0
        if changes:
            at_own = walk.measured(int(rows[changes[-1] - 1]), [int(rows[-1])])[0]
        resemblance = at_own[0]
        for n in reversed(changes):
            left = walk.leaves(int(rows[n - 1]), int(seen[n - 1]), int(seen[n]))
            if left is not None:
                reused, last = pages.dates[int(seen[n])], n - 1
                steps, places = walk.follow(int(rows[last]), int(seen[last]), left)
                break
        else:
            name = pages.name(int(rows[-1]))
            moves = [Move(name, name, "same", *at_own, still_itself(*at_own))]
    else:
        steps, places = walk.follow(int(rows[-1]), int(seen[-1]))
    if steps:
        moves = walk.summary(int(rows[last]), places, steps, reused is not None)
    return Trace(
        pages.name(int(rows[-1])),
        pages.dates[int(seen[0])],
        pages.dates[int(seen[-1])],
        pages.dates[-1],
        pages.dates[int(seen[changes[-1]])] if changes else None,
        reused,
        resemblance,
        steps,
        moves,
    )


def page_between(
    collection: Collection,
    pages: Pages,
    row: int,
    begin: int,
    end: int,
    counter: Counter,
    measuring: Measuring | None = None,
) -> list[Move] | None:
    """What became of the page of a row between two sweeps: one move, or one a part; to its own URL
    if it is there. None if the earlier sweep does not have it."""
    own = int(pages.versions(row)[begin])
    if own == NOWHERE:
        return None
    step = TwoSweeps(collection, pages, begin, end, counter, measuring)
    there = int(pages.versions(row)[end])
    if there == NOWHERE or len(step.rewritten(np.array([own]))):
        found = step.follow(own)
        if found is not None:
            return found[0].moves
    name = pages.name(own)
    measured = _Walk(collection, pages, None, measuring).measured(own, [there])[0]
    return [Move(name, pages.name(there), "same", *measured, still_itself(*measured))]


@dataclass(frozen=True, slots=True)
class _Walk:
    """From sweep to sweep."""

    collection: Collection
    pages: Pages
    counter: Callable[[int, int], Counter] | None
    measuring: Measuring | None

    def between(self, begin: int, end: int) -> TwoSweeps:
        if self.counter is not None:
            counter = self.counter(begin, end)
        else:
            rows = self.pages.rows_of(begin), self.pages.rows_of(end)
            counter = Scan(self.collection, *rows)
        return TwoSweeps(self.collection, self.pages, begin, end, counter, self.measuring)

    def leaves(self, row: int, begin: int, end: int) -> _Followed | None:
        """Where the text of a page went whose URL another sweep has with another text; nothing if
        it was not reused."""
        step = self.between(begin, end)
        return step.follow(row) if len(step.rewritten(np.array([row]))) else None

    def follow(
        self, row: int, at: int, left: _Followed | None = None
    ) -> tuple[list[Step], list[int]]:
        """All steps of a page that was there at one sweep, and the rows where it is at last; `left`
        is the first step, if it is known."""
        steps: list[Step] = []
        places = [row]
        while True:
            if left is None:
                row, at, left = self._stays(row, at)
                if len(places) == 1:
                    places = [row]
                if left is None and at == len(self.pages.dates) - 1:
                    return steps, places
            step, places = left or self._next(row, at)
            steps.append(step)
            if not places:
                return steps, []
            row, at, left = places[0], self.pages.dates.index(step.to_date), None

    def _stays(self, row: int, at: int) -> tuple[int, int, _Followed | None]:
        """The last version of a page at its URL and its sweep, and where it went if the URL was
        reused."""
        versions = self.pages.versions(row)
        for sweep in np.flatnonzero(versions != NOWHERE).tolist():
            if sweep > at:
                left = self.leaves(row, at, sweep)
                if left is not None:
                    return row, at, left
                row, at = int(versions[sweep]), sweep
        return row, at, None

    def _next(self, row: int, at: int) -> _Followed:
        """Where a page went that vanished: the first of the sweeps that come, as some may have
        missed it."""
        gone: list[Step] = []
        for end in range(at + 1, len(self.pages.dates)):
            found = self.between(at, end).follow(row)
            assert found is not None  # its URL is not there
            if found[1]:
                return found
            gone.append(found[0])
        # What comes nearest is told.
        nearest = min(gone, key=lambda step: step.moves[0].confidence)
        return replace(nearest, to_date=self.pages.dates[-1]), []

    def measured(self, row: int, places: Sequence[int]) -> list[tuple[float, float]]:
        """Resemblance and containment of a document in others."""
        if self.measuring is None:
            return [compare_rows(self.collection, row, place) for place in places]
        return self.measuring(np.full(len(places), row), np.array(places, np.int64))

    def summary(
        self, row: int, places: Sequence[int], steps: Sequence[Step], reused: bool
    ) -> list[Move]:
        """All steps as one: as sure as all of them together, and as much the same as all of
        them."""
        name = self.pages.name(row)
        if not places:
            return [Move(name, None, "gone", None, None, steps[-1].moves[0].confidence, reused)]
        sure = 1.0
        kind: Kind = "same"
        for step in steps:
            sure *= step.moves[0].confidence
            kind = step.moves[0].kind if step.moves[0].kind != "same" else kind
        return [
            Move(name, self.pages.name(place), kind, *measured, round(sure, 3), reused)
            for place, measured in zip(places, self.measured(row, places), strict=True)
        ]


__all__ = [
    "Measuring",
    "Move",
    "Step",
    "Trace",
    "found_again",
    "lost_page",
    "lost_pages",
    "page_between",
]
