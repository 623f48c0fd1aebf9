"""Documents that are equivalent leave before the join and come back with their representative.

Three kinds, each finer than the next: identical (the same bytes), lexical (the same canonical
form), shingle (the same sketch, of enough elements to mean something). A representative is the
first of its group in document order. Hashes are looked at in as many passes as the room asks for,
each pass taking those of one range; what stays in memory is two bytes a document, with scratch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from roughly.sketch import EQUIVALENT_SAMPLES
from roughly.storage.scratch import IN_MEMORY, Scratch, stretches

Positions = npt.NDArray[np.uint32]  # in document order
Hashes = npt.NDArray[np.uint64]  # two columns
# Some documents after the others: their positions and their hashes.
Pieces = Iterable[tuple[Positions, Hashes]]
Column = Callable[[], Pieces]

# Codes in `Groups.kind`; a representative has none.
KINDS = (None, "identical", "lexical", "shingle", "empty")
NONE, IDENTICAL, LEXICAL, SHINGLE, EMPTY = range(5)

# Bytes for the hashes that are compared at once, and what each of them takes meanwhile.
ROOM_BYTES = 1 << 26
_ROW_BYTES = 128
# An odd number: its multiples modulo 2^64 are spread evenly, where halves of hashes have 61 bits.
_SPREAD = np.uint64(0x9E3779B97F4A7C15)
# Documents that are looked at together where all of them are.
_STEP = 1 << 16


@dataclass(frozen=True, slots=True)
class Groups:
    """For every document its representative, and how it is equivalent to it."""

    representative: Positions  # its own for a representative
    kind: npt.NDArray[np.uint8]  # index into KINDS

    @property
    def representatives(self) -> Positions:
        """The documents that are joined, ascending."""
        return self.representatives_in(IN_MEMORY)

    def representatives_in(self, scratch: Scratch) -> Positions:
        """The same."""
        own = np.zeros(len(self.representative), bool)
        for begin, end in stretches(len(own)):
            own[begin:end] = self.representative[begin:end] == np.arange(
                begin, end, dtype=np.uint32
            )
        found: Positions = scratch.flatnonzero(own, np.uint32)
        return found


def equivalents(
    content: Column,
    canonical: Column,
    sketch: Column,
    size: npt.NDArray[np.uint32],
    kept: npt.NDArray[np.unsignedinteger[Any]],
    by_sketch: bool = True,
    room_bytes: int = ROOM_BYTES,
    scratch: Scratch = IN_MEMORY,
) -> Groups:
    """Collapses identical, lexically equivalent and shingle-equivalent documents: of hashes of
    their text, canonical form and sketch, each read as often as is needed, their distinct shingles,
    and the elements of their sketches, both in document order.

    Documents without a token are one group, of kind `empty` unless their bytes agree. Without
    `by_sketch` the same sketch is no reason: it may come of documents that differ a little.
    """
    count = len(size)
    by_form = first_of_pieces(canonical, count, room_bytes, scratch=scratch)
    by_content = first_of_pieces(content, count, room_bytes, scratch=scratch)
    kind = np.zeros(count, dtype=np.uint8)
    rich = np.zeros(count, dtype=bool)
    for begin, end in stretches(count, _STEP):
        some, form, kinds = slice(begin, end), by_form[begin:end], kind[begin:end]
        moved = form != np.arange(begin, end, dtype=np.uint32)
        kinds[moved] = LEXICAL
        kinds[moved & (size[some] == 0)] = EMPTY
        # Identical to the representative itself, or to somebody that is not: the former counts.
        kinds[moved & (by_content[some] == by_content[form])] = IDENTICAL
        rich[some] = ~moved & (kept[some] >= EQUIVALENT_SAMPLES)
    if not by_sketch:
        return Groups(by_form, kind)
    del by_content
    first = first_of_pieces(sketch, count, room_bytes, rich, size, scratch)
    for begin, end in stretches(count, _STEP):
        form, kinds = by_form[begin:end], kind[begin:end]
        kinds[rich[begin:end] & (first[begin:end] != form)] = SHINGLE
        # Who is equivalent to a document that is itself only shingle-equivalent is no more than
        # that.
        kinds[(kinds != NONE) & (first[form] != form)] = SHINGLE
        form[:] = first[form]
    return Groups(by_form, kind)


def whole(make: Callable[[], Hashes]) -> Column:
    """A column of hashes that are made at once, in document order."""

    def pieces() -> Pieces:
        hashes = make()
        yield np.arange(len(hashes), dtype=np.uint32), hashes

    return pieces


def first_of_pieces(
    column: Column,
    count: int,
    room_bytes: int,
    only: npt.NDArray[np.bool_] | None = None,
    number: npt.NDArray[np.uint32] | None = None,
    scratch: Scratch = IN_MEMORY,
) -> Positions:
    """For every document the first one whose hash, and number, is the same; itself for those that
    are not among `only`."""
    first: Positions = scratch.arange(count, np.uint32)
    room_bytes = max(room_bytes, _ROW_BYTES)
    passes = max(-(-count * _ROW_BYTES // room_bytes), 1)
    bounds = [(n << 64) // passes for n in range(passes + 1)]
    for low, high in pairwise(bounds):
        # About a pass's share of them, for hashes are random.
        most = 5 * room_bytes // (4 * _ROW_BYTES)
        _collapse(column(), low, high - 1, most, only, number, first)
    # One that had been the first so far may have followed another one later.
    for begin, end in stretches(count, _STEP):
        some = first[begin:end]
        while not np.array_equal(further := first[some], some):
            some[:] = further
    return first


def _collapse(
    pieces: Pieces,
    low: int,
    high: int,
    limit: int,
    only: npt.NDArray[np.bool_] | None,
    number: npt.NDArray[np.uint32] | None,
    first: Positions,
) -> None:
    """Sets in `first` who follows whom among the hashes from `low` to `high`, by their first half,
    spread.
    Whoever follows somebody is done with: of hashes that many documents have one is kept."""
    waiting: list[tuple[Positions, Hashes]] = []
    rows = 0

    def settle() -> None:
        nonlocal waiting, rows
        positions = np.concatenate([piece[0] for piece in waiting])
        hashes = np.concatenate([piece[1] for piece in waiting])
        waiting.clear()
        if (positions[1:] < positions[:-1]).any():
            order = np.argsort(positions)
            positions, hashes = positions[order], hashes[order]
        found = first_of_equal(hashes, None if number is None else number[positions])
        follows = found != np.arange(len(found), dtype=np.uint32)
        first[positions[follows]] = positions[found[follows]]
        waiting = [(positions[~follows], hashes[~follows])]
        rows = len(waiting[0][0])

    for positions, hashes in pieces:
        spread = hashes[:, 0].astype(np.uint64, copy=False) * _SPREAD
        chosen = (spread >= np.uint64(low)) & (spread <= np.uint64(high))
        if only is not None:
            chosen &= only[positions]
        waiting.append((positions[chosen], hashes[chosen].astype(np.uint64, copy=False)))
        rows += len(waiting[-1][0])
        if rows > limit:
            settle()
            limit = max(limit, 2 * rows)
    if waiting:
        settle()


def first_of_equal(hashes: Hashes, number: npt.NDArray[np.uint32] | None = None) -> Positions:
    """For every row the first row that is equal, in its hash and its number."""
    count = len(hashes)
    order = np.argsort(hashes[:, 0], kind="stable").astype(np.uint32)
    keys = [hashes[:, 0], hashes[:, 1], *(() if number is None else (number,))]
    same_head = hashes[order[1:], 0] == hashes[order[:-1], 0]
    equal = same_head.copy()
    for key in keys[1:]:
        equal &= key[order[1:]] == key[order[:-1]]
    if not np.array_equal(equal, same_head):
        # Half of a hash in common: rows that are equal need not stand together.
        order = np.lexsort(keys[::-1]).astype(np.uint32)
        equal = np.ones(max(count - 1, 0), dtype=bool)
        for key in keys:
            equal &= key[order[1:]] == key[order[:-1]]
    starts = np.ones(count, dtype=bool)
    starts[1:] = ~equal
    first = np.empty(count, dtype=np.uint32)
    first[order] = order[starts][np.cumsum(starts) - 1]
    return first
