"""Who goes, who stays, and why: the phases of a deduplication after its documents are sketched.

    keep order -> equivalent documents -> candidate pairs -> rounds of the rule -> reasons

What is held in memory is some tens of bytes a document and as much a candidate pair; text is read
again for those documents that need it. Documents of a corpus that the input is held against come
first and stay: no pair of two of them is looked at.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from roughly import _core
from roughly.clustering.room import DEDUPLICATION_BYTES, room_beside
from roughly.clustering.sketching import Progress, no_progress
from roughly.deduplication.against import taking_part
from roughly.deduplication.candidates import CandidateFinder, Candidates
from roughly.deduplication.equivalence import Groups, confirm, find_groups
from roughly.pipeline import give_back_memory
from roughly.verification.exact import Verifier

if TYPE_CHECKING:
    from pathlib import Path

    from roughly.deduplication.pool import Pool
    from roughly.deduplication.rule import Rule
    from roughly.sketcher import Sketcher

Rows = npt.NDArray[np.int64]

# Why a document goes, in the order of `Removals.kind`.
KINDS = ("identical", "lexical", "shingle", "near", "contained")
IDENTICAL, LEXICAL, SHINGLE, NEAR, CONTAINED = range(5)

_REMOVED = 2

# pairs, exact, parts, place, last, threshold, containment, margin: as the core's kernel takes them
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


def decide(
    pool: Pool,
    rule: Rule,
    sketcher: Sketcher,
    threads: int,
    memory_bytes: int,
    scratch: Path,
    progress: Progress = no_progress,
) -> Removals:
    """Applies the rule to the documents of a pool."""
    order, pinned = taking_part(pool, rule.keep)
    room = room_beside(memory_bytes, len(pool), DEDUPLICATION_BYTES)
    apart = np.zeros(0, dtype=np.int64)
    while True:
        groups = find_groups(pool, order, apart, pinned)
        rows = order[groups.representatives]
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
        pool.contents.prepare(np.flatnonzero(prepared))
        text_bytes = np.asarray(pool.column("bytes"))
        pool.release()
        advance = progress("confirm", len(groups.members), "documents")
        identical, equivalent = confirm(groups, pool, order, text_bytes, threads, advance)
        if equivalent.all():
            break
        apart = np.union1d(apart, groups.members[~equivalent])
    pool.release()
    give_back_memory()  # that of the texts
    place = groups.representatives.astype(np.uint32)
    last = place.copy()
    # Members are ascending, so of several the last one is written last.
    last[groups.of] = groups.members
    verifier = Verifier(pool, pool.contents, sketcher, threads)
    while True:
        columns = _columns(candidates, place, last, rule)
        fate, wanted = _core.greedy_decide(*columns)
        if len(wanted):
            asked = rows[candidates.pairs[wanted, :2]]
            if not prepared[asked].all():
                prepared[asked] = True
                pool.contents.prepare(np.flatnonzero(prepared))
            advance = progress("count", len(wanted), "pairs")
            _count(candidates, wanted, rows, verifier, advance)
        elif not (finder.reopen(candidates, fate) or finder.widen(candidates, fate, progress)):
            break
    return _removals(groups, candidates, columns, fate, order, identical, pool)


def _count(
    candidates: Candidates,
    wanted: npt.NDArray[np.uint64],
    rows: Rows,
    verifier: Verifier,
    advance: Callable[[int], None],
) -> None:
    """Counts the wanted pairs exactly, in place."""
    a, b = rows[candidates.pairs[wanted, 0]], rows[candidates.pairs[wanted, 1]]
    common, size_a, size_b = verifier.count(a, b, advance, shingles_only=True)
    candidates.pairs[wanted, 2] = common
    candidates.pairs[wanted, 3] = size_a + size_b - common
    candidates.parts[wanted, 0], candidates.parts[wanted, 1] = size_a, size_b
    candidates.exact[wanted] = 1


def _wanted_rows(
    groups: Groups, candidates: Candidates, order: Rows, rows: Rows, every: int
) -> npt.NDArray[np.bool_]:
    """Which of all rows may be asked for their text, as far as is known."""
    wanted = np.zeros(every, dtype=bool)
    wanted[order[groups.members]] = True
    wanted[rows[groups.of]] = True
    wanted[rows[candidates.pairs[candidates.exact == 0, :2]]] = True
    return wanted


def _columns(
    candidates: Candidates, place: npt.NDArray[np.uint32], last: npt.NDArray[np.uint32], rule: Rule
) -> _Columns:
    """What the core's kernel takes."""
    containment = (0, 0)
    if rule.containment is not None:
        containment = rule.containment.numerator, rule.containment.denominator
    threshold = rule.threshold.numerator, rule.threshold.denominator
    known = candidates.pairs, candidates.exact, candidates.parts
    return (*known, place, last, threshold, containment, rule.margin)


def _removals(
    groups: Groups,
    candidates: Candidates,
    columns: _Columns,
    fate: npt.NDArray[np.uint8],
    order: Rows,
    identical: npt.NDArray[np.bool_],
    pool: Pool,
) -> Removals:
    # A representative that stays is the best reason its members can have: no document that was
    # kept before it resembles them, and nothing resembles them more.
    lost = fate[groups.of] == _REMOVED
    follow = np.flatnonzero(~lost)
    kind = np.where(identical[follow], IDENTICAL, LEXICAL)
    # The others go for the same kind of reason as their representative, perhaps a better one.
    gone = np.flatnonzero(fate == _REMOVED)
    documents = np.concatenate((gone, groups.of[lost])).astype(np.uint32)
    places = np.concatenate((groups.representatives[gone], groups.members[lost])).astype(np.uint32)
    reasons = _core.greedy_reasons(*columns, fate, documents, places)
    pairs = candidates.pairs[reasons[:, 0]].astype(np.int64)
    later = pairs[:, 1] == documents
    kept = np.where(later, pairs[:, 0], pairs[:, 1])
    parts = candidates.parts[reasons[:, 0]]
    part = np.where(later, parts[:, 1], parts[:, 0])
    with np.errstate(divide="ignore", invalid="ignore"):
        containment = np.where(part > 0, pairs[:, 2] / part, np.nan)
    near_kind = np.where(pairs[:, 2] == pairs[:, 3], SHINGLE, NEAR)
    near_kind[reasons[:, 1] != 0] = CONTAINED

    removed = np.concatenate((order[groups.members[follow]], order[places]))
    by_row = np.argsort(removed)
    one = np.ones(len(follow))
    staying = np.concatenate(
        (groups.representatives[groups.of[follow]], groups.representatives[kept])
    )
    return make_removals(
        pool,
        removed[by_row],
        order[staying][by_row],
        np.concatenate((kind, near_kind))[by_row],
        np.concatenate((one, pairs[:, 2] / pairs[:, 3]))[by_row],
        np.concatenate((one, containment))[by_row],
    )


def make_removals(
    pool: Pool,
    removed: Rows,
    kept: Rows,
    kind: npt.NDArray[np.int64],
    resemblance: npt.NDArray[np.float64],
    containment: npt.NDArray[np.float64],
) -> Removals:
    """The removals of some rows of a pool, ascending, for others that stay."""
    in_corpus = kept < pool.base
    return Removals(
        removed - pool.base,
        kept - np.where(in_corpus, 0, pool.base),
        in_corpus,
        kind.astype(np.uint8),
        resemblance,
        containment,
        None if pool.condition.simhash is None else pool.attributes.distance(removed, kept),
    )
