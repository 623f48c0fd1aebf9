"""Who goes, who stays, and why: the phases of a deduplication after its documents are sketched.

    keep order -> equivalent documents -> candidate pairs -> rounds of the rule -> reasons

Rounds count what decides who goes. Which of the documents that stay is the best reason of each is
counted after that, when somebody asks.

What is held in memory is some tens of bytes a document and as much a candidate pair; text is read
again for those documents that need it. Documents of a corpus that the input is held against come
first and stay: no pair of two of them is looked at.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from roughly import _core
from roughly.clustering.room import DEDUPLICATION_BYTES, room_beside
from roughly.clustering.sketching import Progress, no_progress
from roughly.deduplication.against import taking_part
from roughly.deduplication.candidates import CandidateFinder, Candidates
from roughly.deduplication.equivalence import Groups, confirm, find_groups
from roughly.deduplication.removal import (
    CONTAINED,
    IDENTICAL,
    LEXICAL,
    NEAR,
    SHINGLE,
    Decision,
    Removals,
    make_removals,
)
from roughly.deduplication.rule import BEST_ERRORS
from roughly.pipeline import give_back_memory
from roughly.storage.scratch import Scratch, stretches
from roughly.verification.exact import Verifier

if TYPE_CHECKING:
    from pathlib import Path

    from roughly.deduplication.pool import Pool
    from roughly.deduplication.rule import Rule
    from roughly.sketcher import Sketcher

Rows = npt.NDArray[np.int64]

_UNDECIDED, _KEPT, _REMOVED = 0, 1, 2

# Pairs that are counted before memory is given back: that costs 2.5 ms and 25 MB of new pages each
# time, and with 2^12 instead was done four times as often for a peak that was no lower.
_COUNTED_PAIRS = 1 << 14

# pairs, exact, parts, place, last, threshold, containment, errors: as the core's kernel takes them
_Columns = tuple[
    npt.NDArray[np.uint32],
    npt.NDArray[np.uint8],
    npt.NDArray[np.uint32],
    npt.NDArray[np.uint32],
    npt.NDArray[np.uint32],
    tuple[int, int],
    tuple[int, int],
    float,
]


def decide(
    pool: Pool,
    rule: Rule,
    sketcher: Sketcher,
    threads: int,
    memory_bytes: int,
    scratch: Path,
    progress: Progress = no_progress,
) -> Decision:
    """Applies the rule to the documents of a pool."""
    order, pinned = taking_part(pool, rule.keep)
    room = room_beside(memory_bytes, len(pool), DEDUPLICATION_BYTES)
    apart = np.zeros(0, dtype=np.int64)
    while True:
        groups = find_groups(pool, order, apart, pinned, room // 8)
        rows: Rows = pool.scratch.take(order, groups.representatives)
        pool.release()
        finder = CandidateFinder(
            pool,
            rows,
            rule,
            pinned=int(np.searchsorted(groups.representatives, pinned)),
            threads=threads,
            memory_bytes=room,
            scratch=scratch,
        )
        candidates = finder.find(progress)
        give_back_memory()  # the join's, before texts are read
        prepared = _wanted_rows(groups, candidates, order, rows, len(pool))
        pool.contents.prepare(pool.scratch.flatnonzero(prepared))
        text_bytes = pool.text_bytes
        pool.release()
        give_back_memory()
        advance = progress("confirm", len(groups.members), "documents")
        identical, equivalent = confirm(groups, pool, order, text_bytes, threads, advance)
        if equivalent.all():
            break
        apart = np.union1d(apart, groups.members[~equivalent])
        del finder, candidates
    pool.release()
    give_back_memory()  # that of the texts
    last: npt.NDArray[np.uint32] = pool.scratch.copy(groups.representatives, np.uint32)
    # Members are ascending, so of several the last one is written last.
    last[groups.of] = groups.members
    verifier = Verifier(pool, pool.contents, sketcher, threads, text_bytes)
    counter = _Counter(candidates, rows, verifier, pool, prepared)
    field = _Field.of(candidates, groups, last, rule, pool.scratch)
    while True:
        fate, wanted, likely = _core.greedy_decide(*field.columns, reasons=False)
        fate = field.spread(fate, len(rows))
        if len(wanted):
            counter.count(field, wanted, likely, progress)
        if len(wanted) and finder.idle_kept(fate) < np.count_nonzero(fate == _UNDECIDED) // 4:
            continue
        # What those that stay are to be held against is looked for once, for most of them.
        if finder.reopen(candidates, fate) or (
            not len(wanted) and finder.widen(candidates, fate, progress)
        ):
            del field
            field = _Field.of(candidates, groups, last, rule, pool.scratch)
        elif not len(wanted):
            break
    del finder

    def find_removals(progress: Progress) -> Removals:
        while True:
            _, wanted, likely = _core.greedy_decide(*field.columns, reasons=True)
            if not len(wanted):
                found = _removals(groups, candidates, field, fate, order, identical, pool)
                pool.release()
                give_back_memory()
                return found
            counter.count(field, wanted, likely, progress)

    return Decision(_gone(groups, fate, order, pool), find_removals)


def _gone(groups: Groups, fate: npt.NDArray[np.uint8], order: Rows, pool: Pool) -> Rows:
    """The rows of the input that go, ascending."""
    places = groups.representatives[fate == _REMOVED]
    gone: Rows = pool.scratch.zeros(len(groups.members) + len(places), np.int64)
    for begin, end in stretches(len(groups.members)):
        gone[begin:end] = order[groups.members[begin:end]]
    gone[len(groups.members) :] = order[places]
    gone -= pool.base
    gone.sort()
    return gone


class _Counter:
    """Counts pairs exactly."""

    def __init__(
        self,
        candidates: Candidates,
        rows: Rows,
        verifier: Verifier,
        pool: Pool,
        prepared: npt.NDArray[np.bool_],
    ) -> None:
        """`prepared`: which rows may be asked for their text already."""
        self._candidates = candidates
        self._rows = rows
        self._verifier = verifier
        self._pool = pool
        self._prepared = prepared

    def count(
        self,
        field: _Field,
        wanted: npt.NDArray[np.uint64],
        likely: npt.NDArray[np.uint64],
        progress: Progress,
    ) -> None:
        """Counts the wanted pairs, and those likely ones whose documents are read for them."""
        candidates, rows = self._candidates, self._rows
        self._prepare(rows[candidates.pairs[wanted, :2]])
        pairs = np.concatenate((wanted, likely))
        a, b = rows[candidates.pairs[pairs, 0]], rows[candidates.pairs[pairs, 1]]
        self._pool.release()  # Texts take its room,
        give_back_memory()  # and that of those before.
        advance = progress("count", len(wanted), "pairs")
        done = 0

        def told(count: int) -> None:
            nonlocal done
            advance(count)
            done += count
            if done >= _COUNTED_PAIRS:
                done = 0
                give_back_memory()  # Texts of all sizes leave much of it in pieces.

        found = self._verifier.count(a, b, told, shingles_only=True, along=len(likely))
        counted = np.ones(len(pairs), dtype=bool)
        counted[len(wanted) :] = found[1][len(wanted) :] > 0
        pairs = pairs[counted]
        common, size_a, size_b = (values[counted] for values in found)
        candidates.pairs[pairs, 2] = common
        candidates.pairs[pairs, 3] = size_a + size_b - common
        candidates.parts[pairs, 0], candidates.parts[pairs, 1] = size_a, size_b
        candidates.exact[pairs] = 1
        field.columns[0][pairs, 2:] = candidates.pairs[pairs, 2:]

    def _prepare(self, asked: Rows) -> None:
        if not self._prepared[asked].all():
            self._prepared[asked] = True
            self._pool.contents.prepare(self._pool.scratch.flatnonzero(self._prepared))


def _wanted_rows(
    groups: Groups, candidates: Candidates, order: Rows, rows: Rows, every: int
) -> npt.NDArray[np.bool_]:
    """Which of all rows may be asked for their text, as far as is known."""
    wanted = np.zeros(every, dtype=bool)
    for begin, end in stretches(len(groups.members)):
        wanted[order[groups.members[begin:end]]] = True
        wanted[rows[groups.of[begin:end]]] = True
    for begin, end in stretches(len(candidates.pairs)):
        open_ = candidates.exact[begin:end] == 0
        wanted[rows[candidates.pairs[begin:end][open_, :2]]] = True
    return wanted


@dataclass(frozen=True, slots=True)
class _Field:
    """The documents that have a pair, numbered anew: all others stay, and take no room here."""

    documents: npt.NDArray[np.uint32]  # ascending
    columns: _Columns  # what the core's kernel takes

    @classmethod
    def of(
        cls,
        candidates: Candidates,
        groups: Groups,
        last: npt.NDArray[np.uint32],
        rule: Rule,
        scratch: Scratch,
    ) -> _Field:
        pairs = scratch.zeros(4 * len(candidates.pairs), np.uint32).reshape(-1, 4)
        documents = _core.number_anew(candidates.pairs, len(groups.representatives), pairs)
        containment = (0, 0)
        if rule.containment is not None:
            containment = rule.containment.numerator, rule.containment.denominator
        threshold = rule.threshold.numerator, rule.threshold.denominator
        place = scratch.take(groups.representatives, documents, np.uint32)
        known = pairs, candidates.exact, candidates.parts
        own_last = scratch.take(last, documents)
        return cls(documents, (*known, place, own_last, threshold, containment, BEST_ERRORS))

    def spread(self, fate: npt.NDArray[np.uint8], documents: int) -> npt.NDArray[np.uint8]:
        """What becomes of all documents."""
        every = np.full(documents, _KEPT, np.uint8)
        every[self.documents] = fate
        return every


def _removals(
    groups: Groups,
    candidates: Candidates,
    field: _Field,
    fate: npt.NDArray[np.uint8],
    order: Rows,
    identical: npt.NDArray[np.bool_],
    pool: Pool,
) -> Removals:
    # A representative that stays is the best reason its members can have: no document that was
    # kept before it resembles them, and nothing resembles them more.
    lost = np.zeros(len(groups.of), dtype=bool)
    for begin, end in stretches(len(lost)):
        lost[begin:end] = fate[groups.of[begin:end]] == _REMOVED
    # The others go for the same kind of reason as their representative, perhaps a better one.
    gone = np.flatnonzero(fate == _REMOVED)
    documents = np.concatenate((gone, groups.of[lost])).astype(np.uint32)
    places = np.concatenate((groups.representatives[gone], groups.members[lost])).astype(np.uint32)
    numbers = np.searchsorted(field.documents, documents).astype(np.uint32)
    reasons = _core.greedy_reasons(*field.columns, fate[field.documents], numbers, places)
    found = _Found(pool, len(lost) - int(lost.sum()) + len(documents))
    follow = np.flatnonzero(~lost)
    for begin, end in stretches(len(follow)):
        some = follow[begin:end]
        found.add(
            order[groups.members[some]],
            order[groups.representatives[groups.of[some]]],
            np.where(identical[some], IDENTICAL, LEXICAL),
            np.ones(len(some)),
            np.ones(len(some)),
        )
    for begin, end in stretches(len(documents)):
        number, contained = reasons[begin:end].T
        pairs = candidates.pairs[number].astype(np.int64)
        later = pairs[:, 1] == documents[begin:end]
        kept = np.where(later, pairs[:, 0], pairs[:, 1])
        parts = candidates.parts[number]
        part = np.where(later, parts[:, 1], parts[:, 0])
        with np.errstate(divide="ignore", invalid="ignore"):
            containment = np.where(part > 0, pairs[:, 2] / part, np.nan)
        kind = np.where(pairs[:, 2] == pairs[:, 3], SHINGLE, NEAR)
        kind[contained != 0] = CONTAINED
        staying = order[groups.representatives[kept]]
        shares = pairs[:, 2] / pairs[:, 3], containment
        found.add(order[places[begin:end]], staying, kind, *shares)
    return found.removals()


class _Found:
    """Removals in any order."""

    def __init__(self, pool: Pool, count: int) -> None:
        kinds = (np.int64, np.int64, np.uint8, np.float64, np.float64)
        self._pool = pool
        self._columns = [pool.scratch.zeros(count, kind) for kind in kinds]
        self._end = 0

    def add(self, *columns: npt.NDArray[Any]) -> None:
        """Rows that go, those that stay, kinds, resemblance and containment of some of them."""
        end = self._end + len(columns[0])
        for column, values in zip(self._columns, columns, strict=True):
            column[self._end : end] = values
        self._end = end

    def removals(self) -> Removals:
        """All of them, in input order."""
        by_row = np.argsort(self._columns[0], kind="stable")
        return make_removals(
            self._pool, *(self._pool.scratch.take(column, by_row) for column in self._columns)
        )
