"""Lost and found: where pages went that a later sweep does not have at their URL.

`lost_pages` answers for every page that vanished between two sweeps, all at once, so that no page
is taken for the new place of two. `lost_page` follows one page from the sweep that saw it last to
the latest, from place to place; it looks at as many other lost pages as might claim the same
places.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from roughly.corpus.assignment import EVEN, Claim, Kind, assign, chances
from roughly.corpus.evidence import Evidence, Rows, compare_rows, gather
from roughly.corpus.likeness import nearness, same_name
from roughly.corpus.sweeps import NOWHERE, Sweeps
from roughly.errors import ParameterError

if TYPE_CHECKING:
    from roughly.storage.collection import Collection

# Places that are named beside the best one.
_ALTERNATIVES = 5
# Of a page that nothing later is like: it may have changed beyond recognition.
_SURE_THAT_GONE = 0.95


@dataclass(frozen=True, slots=True)
class Move:
    """What became of one lost page, or one of its parts."""

    old: str  # URL
    new: str | None  # None if gone
    kind: Kind
    resemblance: float | None  # of the old document and the new one, estimated
    containment: float | None  # share of the old one that is in the new one
    confidence: float

    def to_dict(self) -> dict[str, Any]:
        """The fields of a JSON line."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Step:
    """One move of a page that was followed, with what else it could have been."""

    from_date: str
    to_date: str
    moves: list[Move]  # one, or one a part
    alternatives: list[Move]  # best first


@dataclass(frozen=True, slots=True)
class Trace:
    """A page from the first sweep that had it to where it is now."""

    url: str  # as it was added
    first_seen: str
    last_seen: str  # at this URL
    latest: str  # date of the latest sweep
    changed: str | None  # last date at which the page at this URL was not as before
    steps: list[Step]

    moves: list[Move]  # from this URL to where the page is now; several if it was split at last

    @property
    def still_there(self) -> bool:
        return self.last_seen == self.latest

    @property
    def found(self) -> bool:
        """Whether the page is anywhere in the latest sweep, as far as can be told."""
        return self.moves[0].new is not None

    def rows(self) -> list[dict[str, Any]]:
        """A JSON object a place, with the way there and what else it could be."""
        dates = {"last_seen": self.last_seen, "latest": self.latest}
        way = [
            {"from_date": step.from_date, "to_date": step.to_date} | move.to_dict()
            for step in self.steps
            for move in step.moves
        ]
        others = [move.to_dict() for step in self.steps[-1:] for move in step.alternatives]
        return [
            move.to_dict() | dates | {"steps": way, "alternatives": others} for move in self.moves
        ]


def lost_pages(
    collection: Collection, sweeps: Sweeps, begin: int, end: int, even: float = EVEN
) -> list[Move]:
    """What became of every page of one sweep that a later one has not, in order of URL. `even` is
    the strength at which a claim is as likely wrong as right."""
    if not begin < end:
        raise ParameterError(
            f"dates: not in order: {sweeps.dates[begin]} to {sweeps.dates[end]}",
            hint="give the earlier one to --from",
        )
    step = _Step(collection, sweeps, begin, end)
    lost = step.vanished
    evidence = step.evidence(lost, step.new_pages)
    claims = step.assign(evidence, lost, step.new_pages, even)
    moves = [step.move(claim, lost, step.new_pages, evidence) for claim in claims]
    return sorted(moves, key=lambda move: move.old)  # parts stay in their order


def lost_page(collection: Collection, sweeps: Sweeps, page: int) -> Trace:
    """Follows one page to the latest sweep."""
    seen = np.flatnonzero(sweeps.row[page] != NOWHERE)
    last = int(seen[-1])
    steps: list[Step] = []
    at, current, visited = last, page, {page}
    places: list[int] = [int(sweeps.row[page, last])]
    while at < len(sweeps) - 1:
        step = _next_step(collection, sweeps, current, at)
        if step is None:
            moves = [_gone(sweeps, current, at)]
            steps.append(Step(sweeps.dates[at], sweeps.dates[-1], moves, []))
            places = []
            break
        found, current, places = step
        steps.append(found)
        if current in visited:  # back where it was: that page is there until it vanishes again
            break
        visited.add(current)
        at = int(np.flatnonzero(sweeps.row[current] != NOWHERE)[-1])
    rows = [int(sweeps.row[page, sweep]) for sweep in seen]
    return Trace(
        sweeps.name(rows[-1]),
        sweeps.dates[int(seen[0])],
        sweeps.dates[last],
        sweeps.dates[-1],
        _last_change(collection, sweeps, seen, rows),
        steps,
        _summary(collection, sweeps, rows[-1], places, steps),
    )


def _summary(
    collection: Collection, sweeps: Sweeps, row: int, places: Sequence[int], steps: Sequence[Step]
) -> list[Move]:
    """All steps as one: as sure as all of them together, and as much the same as all of them."""
    name = sweeps.name(row)
    if not places:
        return [Move(name, None, "gone", None, None, steps[-1].moves[0].confidence)]
    sure = 1.0
    kind: Kind = "same"
    for step in steps:
        sure *= step.moves[0].confidence
        kind = step.moves[0].kind if step.moves[0].kind != "same" else kind
    found = []
    for place in places:
        resemblance, containment = compare_rows(collection, row, place)
        found.append(Move(name, sweeps.name(place), kind, resemblance, containment, round(sure, 3)))
    return found


def _last_change(
    collection: Collection, sweeps: Sweeps, seen: Rows, rows: Sequence[int]
) -> str | None:
    hashes = collection.take("canonical", np.array(rows, np.int64)).to_pylist()
    changed = [
        sweeps.dates[int(seen[n])] for n in range(1, len(rows)) if hashes[n] != hashes[n - 1]
    ]
    return changed[-1] if changed else None


def _gone(sweeps: Sweeps, page: int, at: int) -> Move:
    name = sweeps.name(int(sweeps.row[page, at]))
    return Move(name, None, "gone", None, None, _SURE_THAT_GONE)


def _next_step(
    collection: Collection, sweeps: Sweeps, page: int, at: int
) -> tuple[Step, int, list[int]] | None:
    """Where a page last seen in one sweep is in the next that has it: the step, the page there and
    the rows of all places."""
    for end in range(at + 1, len(sweeps)):
        step = _Step(collection, sweeps, at, end)
        found = step.follow(page)
        if found is not None:
            return found
    return None


@dataclass(frozen=True, slots=True)
class _Step:
    """Two sweeps."""

    collection: Collection
    sweeps: Sweeps
    begin: int
    end: int

    @property
    def vanished(self) -> Rows:
        """Pages of the old sweep that the new one has not."""
        there = self.sweeps.present
        return np.flatnonzero(there[:, self.begin] & ~there[:, self.end])

    @property
    def new_pages(self) -> Rows:
        return np.flatnonzero(self.sweeps.present[:, self.end])

    def evidence(self, lost: Rows, sought: Rows, *, backwards: bool = False) -> Evidence:
        """Of pages; `backwards` looks for pages of the new sweep in the old one."""
        begin, end = (self.end, self.begin) if backwards else (self.begin, self.end)
        row, there = self.sweeps.row, self.sweeps.present
        return gather(
            self.collection,
            row[lost, begin],
            row[there[:, begin], begin],
            row[there[:, end], end],
            row[sought, end],
        )

    def there_already(self, sought: Rows) -> np.ndarray[Any, np.dtype[np.bool_]]:
        found: np.ndarray[Any, np.dtype[np.bool_]] = self.sweeps.present[sought, self.begin]
        return found

    def assign(
        self, evidence: Evidence, lost: Rows, sought: Rows, even: float = EVEN
    ) -> list[Claim]:
        names, near = self.likeness(evidence, lost, sought)
        return assign(evidence, len(lost), self.there_already(sought), names, near, even)

    def likeness(self, evidence: Evidence, lost: Rows, sought: Rows) -> tuple[Any, Any]:
        pages = self.sweeps.pages
        urls = [
            (pages[lost[old]], pages[sought[new]])
            for old, new in zip(evidence.old.tolist(), evidence.new.tolist(), strict=True)
        ]
        names = np.fromiter((same_name(*pair) for pair in urls), bool, len(urls))
        near = np.fromiter((nearness(*pair) for pair in urls), np.float64, len(urls))
        return names, near

    def move(self, claim: Claim, lost: Rows, sought: Rows, evidence: Evidence) -> Move:
        row, name = self.sweeps.row, self.sweeps.name
        old = name(int(row[lost[claim.old], self.begin]))
        if claim.new is None or claim.pair is None:
            return Move(old, None, "gone", None, None, claim.confidence)
        return Move(
            old,
            name(int(row[sought[claim.new], self.end])),
            claim.kind,
            round(float(evidence.resemblance[claim.pair]), 4),
            round(float(evidence.containment[claim.pair]), 4),
            claim.confidence,
        )

    def follow(self, page: int) -> tuple[Step, int, list[int]] | None:
        """Where one page went, the page there and the rows of all places. Others that might have
        gone to the same places are asked too, and where these might have gone."""
        own = np.array([page])
        found = self.evidence(own, self.new_pages)
        if not len(found):
            return None
        near = self.new_pages[np.unique(found.new)]
        vanished = self.vanished
        claimants = vanished[np.unique(self.evidence(near, vanished, backwards=True).new)]
        lost = np.unique(np.concatenate([own, claimants]))
        evidence = self.evidence(lost, self.new_pages)
        claims = self.assign(evidence, lost, self.new_pages)
        position = int(np.searchsorted(lost, page))
        own_claims = [claim for claim in claims if claim.old == position]
        if own_claims[0].new is None:
            return None
        dates = self.sweeps.dates
        named = {claim.new for claim in own_claims}
        names, _ = self.likeness(evidence, lost, self.new_pages)
        others = [
            claim
            for claim in chances(evidence, position, self.there_already(self.new_pages), names)
            if claim.new not in named
        ]
        moves, alternatives = (
            [self.move(claim, lost, self.new_pages, evidence) for claim in some]
            for some in (own_claims, others[:_ALTERNATIVES])
        )
        step = Step(dates[self.begin], dates[self.end], moves, alternatives)
        pages = [int(self.new_pages[claim.new]) for claim in own_claims if claim.new is not None]
        return step, pages[0], [int(self.sweeps.row[page, self.end]) for page in pages]
