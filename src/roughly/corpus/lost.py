"""Lost and found: where pages went that a later sweep does not have at their URL.

`lost_pages` answers for every page that vanished between two sweeps, all at once, so that no page
is taken for the new place of two. `lost_page` follows one page from the sweep that saw it last to
the latest, from place to place; it looks at as many other lost pages as might claim the same
places. Documents go by their rows; who is whose version tell the `Pages`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from roughly.corpus.assignment import EVEN, Claim, Kind, assign, chances
from roughly.corpus.commonness import Counter, Scan
from roughly.corpus.evidence import Evidence, Rows, compare_rows, gather
from roughly.corpus.likeness import nearness, same_name
from roughly.corpus.sweeps import NOWHERE, Pages
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
    resemblance: float | None  # of the old document and the new one; estimated, or counted
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


# Rows of documents before and after -> their resemblances, and how much of the former is in the
# latter.
Measuring = Callable[[Rows, Rows], list[tuple[float, float]]]


def lost_pages(
    collection: Collection,
    pages: Pages,
    begin: int,
    end: int,
    even: float = EVEN,
    measuring: Measuring | None = None,
) -> list[Move]:
    """What became of every page of one sweep that a later one has not, in order of URL. `even` is
    the strength at which a claim is as likely wrong as right; `measuring` measures what is claimed,
    which is estimated unless given."""
    if not begin < end:
        raise ParameterError(
            f"dates: not in order: {pages.dates[begin]} to {pages.dates[end]}",
            hint="give the earlier one to --from",
        )
    old, sought = pages.rows_of(begin), pages.rows_of(end)
    step = _Step(collection, pages, begin, end, Scan(collection, old, sought), measuring)
    lost = step.vanished(old)
    evidence = step.evidence(lost, sought)
    claims = assign(evidence, len(lost), *step.circumstances(evidence, lost, sought), even)
    moves = step.moves(claims, lost, sought, evidence)
    return sorted(moves, key=lambda move: move.old)  # parts stay in their order


def lost_page(
    collection: Collection,
    pages: Pages,
    row: int,
    counter: Callable[[int, int], Counter] | None = None,
    measuring: Measuring | None = None,
) -> Trace:
    """Follows one page, of which a row is some version, to the latest sweep. `counter` makes what
    counts elements of two sweeps; unless given, everything is read for that. For `measuring` see
    `lost_pages`."""
    if counter is None:

        def counter(begin: int, end: int) -> Counter:
            return Scan(collection, pages.rows_of(begin), pages.rows_of(end))

    versions = pages.versions(row)
    seen = np.flatnonzero(versions != NOWHERE)
    rows = versions[seen]
    steps: list[Step] = []
    at, current, places = int(seen[-1]), int(rows[-1]), [int(rows[-1])]
    while at < len(pages.dates) - 1:
        # The first of the sweeps that come, as some may have missed it.
        later = (
            _Step(collection, pages, at, end, counter(at, end), measuring).follow(current)
            for end in range(at + 1, len(pages.dates))
        )
        step, places = next((each for each in later if each is not None), (None, []))
        if step is None:
            gone = Move(pages.name(current), None, "gone", None, None, _SURE_THAT_GONE)
            steps.append(Step(pages.dates[at], pages.dates[-1], [gone], []))
            break
        steps.append(step)
        versions = pages.versions(places[0])
        at = int(np.flatnonzero(versions != NOWHERE)[-1])
        if len(places) == 1:
            places = [int(versions[at])]
        current = int(versions[at])
    hashes = collection.take("canonical", rows).to_pylist()
    changes = [n for n in range(1, len(rows)) if hashes[n] != hashes[n - 1]]
    return Trace(
        pages.name(int(rows[-1])),
        pages.dates[int(seen[0])],
        pages.dates[int(seen[-1])],
        pages.dates[-1],
        pages.dates[int(seen[changes[-1]])] if changes else None,
        steps,
        _summary(collection, pages, int(rows[-1]), places, steps, measuring),
    )


def _summary(
    collection: Collection,
    pages: Pages,
    row: int,
    places: Sequence[int],
    steps: Sequence[Step],
    measuring: Measuring | None,
) -> list[Move]:
    """All steps as one: as sure as all of them together, and as much the same as all of them."""
    name = pages.name(row)
    if not places:
        return [Move(name, None, "gone", None, None, steps[-1].moves[0].confidence)]
    sure = 1.0
    kind: Kind = "same"
    for step in steps:
        sure *= step.moves[0].confidence
        kind = step.moves[0].kind if step.moves[0].kind != "same" else kind
    if measuring is None:
        measures = [compare_rows(collection, row, place) for place in places]
    else:
        measures = measuring(np.full(len(places), row), np.array(places, np.int64))
    return [
        Move(name, pages.name(place), kind, *measured, round(sure, 3))
        for place, measured in zip(places, measures, strict=True)
    ]


@dataclass(frozen=True, slots=True)
class _Step:
    """Two sweeps."""

    collection: Collection
    pages: Pages
    begin: int
    end: int
    counter: Counter
    measuring: Measuring | None = None

    def vanished(self, rows: Rows) -> Rows:
        """Those of the earlier sweep whose page the later one has not."""
        found: Rows = rows[self.pages.elsewhere(rows, self.end) == NOWHERE]
        return found

    def evidence(self, lost: Rows, sought: Rows, *, backwards: bool = False) -> Evidence:
        """Of documents of the earlier sweep in the later one; `backwards` the other way round."""
        counter = self.counter.backwards() if backwards else self.counter
        return gather(self.collection, counter, lost, sought)

    def circumstances(self, evidence: Evidence, lost: Rows, sought: Rows) -> tuple[Any, Any, Any]:
        """Of the documents sought, which page was there already; of the pairs, whether the names
        are the same and how near the addresses."""
        there = np.zeros(len(sought), bool)
        some = np.unique(evidence.new)
        there[some] = self.pages.elsewhere(sought[some], self.begin) != NOWHERE
        names, near = np.zeros(len(evidence), bool), np.zeros(len(evidence))
        for pair in range(len(evidence)):
            one = self.pages.name(int(lost[evidence.old[pair]]))
            other = self.pages.name(int(sought[evidence.new[pair]]))
            names[pair], near[pair] = same_name(one, other), nearness(one, other)
        return there, names, near

    def moves(
        self, claims: Sequence[Claim], lost: Rows, sought: Rows, evidence: Evidence
    ) -> list[Move]:
        """What is claimed, in its order."""
        pairs = [claim.pair for claim in claims if claim.pair is not None]
        if self.measuring is None:
            measures = [evidence.estimates(pair) for pair in pairs]
        else:
            measures = self.measuring(lost[evidence.old[pairs]], sought[evidence.new[pairs]])
        measured = iter(measures)
        found = []
        for claim in claims:
            old = self.pages.name(int(lost[claim.old]))
            if claim.new is None or claim.pair is None:
                found.append(Move(old, None, "gone", None, None, claim.confidence))
                continue
            new = self.pages.name(int(sought[claim.new]))
            found.append(Move(old, new, claim.kind, *next(measured), claim.confidence))
        return found

    def follow(self, row: int) -> tuple[Step, list[int]] | None:
        """Where the page of one row went, and the rows of all places. Others that might have gone
        to the same places are asked too, and where these might have gone."""
        own = np.array([row])
        old, sought = self.pages.rows_of(self.begin), self.pages.rows_of(self.end)
        found = self.evidence(own, sought)
        if not len(found):
            return None
        near = sought[np.unique(found.new)]
        claimants = old[np.unique(self.evidence(near, old, backwards=True).new)]
        claimants = self.vanished(np.unique(self.pages.elsewhere(claimants, self.begin)))
        lost = np.unique(np.concatenate([own, claimants]))
        evidence = self.evidence(lost, sought)
        # A page that a sweep has twice counts once.
        some = sought[np.unique(evidence.new)]
        proper = self.pages.elsewhere(some, self.end)
        if (proper != some).any():
            sought = np.unique(proper)
            evidence = self.evidence(lost, sought)
        there, names, nears = self.circumstances(evidence, lost, sought)
        position = int(np.searchsorted(lost, row))
        claims = [c for c in assign(evidence, len(lost), there, names, nears) if c.old == position]
        if claims[0].new is None:
            return None
        named = {claim.new for claim in claims}
        others = [c for c in chances(evidence, position, there, names) if c.new not in named]
        moves = self.moves(claims, lost, sought, evidence)
        alternatives = self.moves(others[:_ALTERNATIVES], lost, sought, evidence)
        dates = self.pages.dates
        step = Step(dates[self.begin], dates[self.end], moves, alternatives)
        return step, [int(sought[claim.new]) for claim in claims if claim.new is not None]
