"""What became of the pages of one sweep by another: who is looked for, and by what evidence.

Looked for are pages that vanished: the later sweep does not have their URL. And pages whose URL was
*reused*: it is there with another text. A page is taken for such a one if hardly anything of what
only it said is left at its URL, and clearly more is elsewhere; if nothing is elsewhere, it was
rewritten, and is where it was. Both compete for their new places.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from roughly.corpus.assignment import EVEN, SECOND_PART, Claim, Kind, assign, chances, strengths
from roughly.corpus.commonness import Counter
from roughly.corpus.evidence import (
    Advance,
    Evidence,
    Rows,
    added_shares,
    compare_pairs,
    gather,
    no_advance,
)
from roughly.corpus.likeness import nearness, same_name
from roughly.corpus.sweeps import NOWHERE, Pages

if TYPE_CHECKING:
    from roughly.storage.collection import Collection

# Places that are named beside the best one.
_ALTERNATIVES = 5
# A page that resembles what was at its URL so much needs no closer look.
_ALIKE = 0.5
# The strength of what is left at a reused URL is less than that of a claim that is as likely wrong
# as right; elsewhere there must be twice as much.
_LEFT = EVEN
_ELSEWHERE = 2 * EVEN

# Rows of documents before and after -> their resemblances, and how much of the former is in the
# latter.
Measuring = Callable[[Rows, Rows], list[tuple[float, float]]]


@dataclass(frozen=True, slots=True)
class Move:
    """What became of one lost page, or one of its parts."""

    old: str  # URL
    new: str | None  # None if gone
    kind: Kind
    resemblance: float | None  # of the old document and the new one; estimated, or counted
    containment: float | None  # share of the old one that is in the new one
    confidence: float
    reused: bool = False  # the old URL is there, with another text

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
class Found:
    """What became of some pages."""

    lost: Rows  # of the earlier sweep, ascending: vanished, or their URL was reused
    reused: npt.NDArray[np.bool_]  # of these
    sought: Rows
    evidence: Evidence
    there: npt.NDArray[np.bool_]  # of those sought: the page was there already
    names: npt.NDArray[np.bool_]  # of the pairs: the paths end in the same name
    claims: list[Claim]


@dataclass(frozen=True, slots=True)
class TwoSweeps:
    """An earlier and a later one."""

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

    def rewritten(self, rows: Rows, advance: Advance = no_advance) -> Rows:
        """Those whose URL has a text in the later sweep that is not much like theirs."""
        present = self.pages.elsewhere(rows, self.end)
        rows, present = rows[present != NOWHERE], present[present != NOWHERE]
        pairs = np.column_stack([rows, present])
        alike = compare_pairs(self.collection, pairs, advance)[:, 0]
        found: Rows = rows[alike < _ALIKE]
        return found

    def find(
        self, rows: Rows, sought: Rows, even: float = EVEN, advance: Advance = no_advance
    ) -> Found:
        """What became of those of some pages that are not at their URL any more. `advance` is told
        of every page twice: when it was looked for at its URL, and elsewhere."""
        vanished = self.vanished(rows)
        advance(len(vanished))
        lost = np.union1d(vanished, self.rewritten(rows, advance))
        advance(len(rows) - len(lost))
        evidence = gather(self.collection, self.counter, lost, sought, advance)
        lost, reused, evidence = self._without_stayed(lost, sought, evidence)
        return self.judged(lost, reused, sought, evidence, even)

    def judged(
        self,
        lost: Rows,
        reused: npt.NDArray[np.bool_],
        sought: Rows,
        evidence: Evidence,
        even: float = EVEN,
    ) -> Found:
        """What the evidence amounts to."""
        there, names, near = self.circumstances(evidence, lost, sought, lost[reused])
        claims = assign(evidence, len(lost), there, names, near, even)
        whole = self._not_split(claims, lost, sought)
        if whole:
            claims = assign(evidence, len(lost), there, names, near, even, whole)
        # What is nowhere else was rewritten where it is.
        claims = [claim for claim in claims if claim.new is not None or not reused[claim.old]]
        return Found(lost, reused, sought, evidence, there, names, claims)

    def _without_stayed(
        self, lost: Rows, sought: Rows, evidence: Evidence
    ) -> tuple[Rows, npt.NDArray[np.bool_], Evidence]:
        """Without pages of which enough is left at their URL, and without what is left there."""
        present = self.pages.elsewhere(lost, self.end)
        changed = present != NOWHERE
        if not changed.any():
            return lost, changed, evidence
        strength = strengths(evidence, np.zeros(len(sought), bool)).strength
        own = changed[evidence.old]
        places = self.pages.elsewhere(sought[evidence.new[own]], self.end)
        own[own] = places == present[evidence.old[own]]
        left = np.zeros(len(lost))
        np.maximum.at(left, evidence.old[own], strength[own])
        stays = changed & (left >= _LEFT)
        pairs = ~own & ~stays[evidence.old]
        pairs &= ~changed[evidence.old] | (strength >= _ELSEWHERE)
        position = np.cumsum(~stays) - 1
        return lost[~stays], changed[~stays], evidence.only(pairs, position)

    def _not_split(self, claims: Sequence[Claim], lost: Rows, sought: Rows) -> set[int]:
        """Pages of which a second part would only have text that the first has too."""
        parts: dict[int, list[int]] = defaultdict(list)
        for claim in claims:
            if claim.kind == "split" and claim.new is not None:
                parts[claim.old].append(int(sought[claim.new]))
        asked = [(int(lost[old]), places) for old, places in parts.items()]
        added = added_shares(self.collection, self.counter, asked)
        return {
            old
            for old, shares in zip(parts, added, strict=True)
            if any(share < SECOND_PART for share in shares[1:])
        }

    def evidence(self, lost: Rows, sought: Rows, *, backwards: bool = False) -> Evidence:
        """Of documents of the earlier sweep in the later one; `backwards` the other way round."""
        counter = self.counter.backwards() if backwards else self.counter
        return gather(self.collection, counter, lost, sought)

    def circumstances(
        self, evidence: Evidence, lost: Rows, sought: Rows, reused: Rows
    ) -> tuple[Any, Any, Any]:
        """Of the documents sought, which page was there already; of the pairs, whether the names
        are the same and how near the addresses."""
        there = np.zeros(len(sought), bool)
        some = np.unique(evidence.new)
        before = self.pages.elsewhere(sought[some], self.begin)
        # What stands at a reused URL was not there.
        there[some] = (before != NOWHERE) & ~np.isin(before, reused)
        names, near = np.zeros(len(evidence), bool), np.zeros(len(evidence))
        for pair in range(len(evidence)):
            one = self.pages.name(int(lost[evidence.old[pair]]))
            other = self.pages.name(int(sought[evidence.new[pair]]))
            names[pair], near[pair] = same_name(one, other), nearness(one, other)
        return there, names, near

    def moves(self, claims: Sequence[Claim], found: Found) -> list[Move]:
        """What is claimed, in its order."""
        evidence = found.evidence
        pairs = [claim.pair for claim in claims if claim.pair is not None]
        if self.measuring is None:
            measures = [evidence.estimates(pair) for pair in pairs]
        else:
            old, new = found.lost[evidence.old[pairs]], found.sought[evidence.new[pairs]]
            measures = self.measuring(old, new)
        measured = iter(measures)
        moves = []
        for claim in claims:
            name = self.pages.name(int(found.lost[claim.old]))
            if claim.new is None or claim.pair is None:
                moves.append(Move(name, None, "gone", None, None, claim.confidence))
                continue
            place = self.pages.name(int(found.sought[claim.new]))
            reused = bool(found.reused[claim.old])
            move = Move(name, place, claim.kind, *next(measured), claim.confidence, reused)
            moves.append(move)
        return moves

    def follow(self, row: int) -> tuple[Step, list[int]] | None:
        """Where the page of one row went, and the rows of all places, none if it is gone; nothing
        if it is where it was. Others that might have gone to the same places are asked too, and
        where these might have gone."""
        own = np.array([row])
        old, sought = self.pages.rows_of(self.begin), self.pages.rows_of(self.end)
        near = sought[np.unique(self.evidence(own, sought).new)]
        claimants = old[np.unique(self.evidence(near, old, backwards=True).new)]
        claimants = self.pages.elsewhere(claimants, self.begin)
        asked = np.union1d(own, claimants)
        found = self.find(asked, sought)
        # A page that a sweep has twice counts once.
        some = sought[np.unique(found.evidence.new)]
        proper = self.pages.elsewhere(some, self.end)
        if (proper != some).any():
            found = self.find(asked, np.unique(proper))
        position = int(np.searchsorted(found.lost, row))
        here = position < len(found.lost) and found.lost[position] == row
        claims = [claim for claim in found.claims if here and claim.old == position]
        if not claims:
            return None
        named = {claim.new for claim in claims}
        room = round(1 - claims[0].confidence, 3)
        others = [
            replace(other, confidence=min(other.confidence, room))
            for other in chances(found.evidence, position, found.there, found.names)
            if other.new not in named
        ]
        moves = self.moves(claims, found)
        alternatives = self.moves(others[:_ALTERNATIVES], found)
        dates = self.pages.dates
        step = Step(dates[self.begin], dates[self.end], moves, alternatives)
        return step, [int(found.sought[c.new]) for c in claims if c.new is not None]
