"""Documents with the same canonical form, and of one category where that counts: the first of them
in keep order stands for all.

They have the same shingles, so what holds for one holds for all of them. Hashes only propose: each
member's text is read again and compared with its representative's, byte for byte (identical), else
token for token (lexical). What turns out to be different stands for itself. An empty document is
equivalent to one of the same bytes only. Of a corpus that keeps no text the whole hashes, of 128
bits, must do.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from roughly import _core
from roughly.clustering.equivalence import ROOM_BYTES, Column, Pieces, first_of_pieces
from roughly.storage.scratch import stretches
from roughly.verification.window import WINDOWS_AT_ONCE, Sizes, Window, in_windows

if TYPE_CHECKING:
    from roughly.deduplication.pool import Hashes, Pool

Rows = npt.NDArray[np.int64]
Places = npt.NDArray[np.int64]

_NO_PLACE = np.uint32(0xFFFFFFFF)
# Members whose texts are compared one after the other.
_STEP = 1 << 18
# An odd number, to make 64 bits of two halves: a collision costs a comparison, no document.
_MIX = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, slots=True)
class Groups:
    """Who stands for whom, in places of the keep order."""

    representatives: Places  # ascending: those that stand for themselves
    members: Places  # ascending: the others,
    of: npt.NDArray[np.intp]  # and of each the number of its representative in `representatives`


def find_groups(
    pool: Pool, order: Rows, apart: Places, pinned: int = 0, room_bytes: int = ROOM_BYTES
) -> Groups:
    """Groups by hash. Places in `apart` stand for themselves. The first `pinned` places stay in
    any case: those of them that another one stands for are left out."""
    scratch = pool.scratch
    first = first_of_pieces(forms_in_order(pool, order), len(order), room_bytes, scratch=scratch)
    first[apart] = apart
    _part_different(pool, order, first[:pinned])
    own = np.zeros(len(first), dtype=bool)
    for begin, end in stretches(len(first)):
        own[begin:end] = first[begin:end] == np.arange(begin, end, dtype=np.uint32)
    representatives: Places = scratch.flatnonzero(own)
    np.logical_not(own, out=own)
    own[:pinned] = False
    members: Places = scratch.flatnonzero(own)
    of: Places = scratch.zeros(len(members), np.int64)
    for begin, end in stretches(len(members)):
        of[begin:end] = np.searchsorted(representatives, first[members[begin:end]])
    return Groups(representatives, members, of)


def forms_in_order(pool: Pool, order: Rows) -> Column:
    """The hashes of documents' canonical forms, or where these are empty of their bytes, with their
    places in keep order."""
    # Of rows that take no part there is none.
    place = pool.scratch.full(len(pool), _NO_PLACE, np.uint32)
    for begin, end in stretches(len(order)):
        place[order[begin:end]] = np.arange(begin, end, dtype=np.uint32)

    def pieces() -> Pieces:
        for name, empty in (("canonical", False), ("content", True)):
            if empty and pool.size.all():
                continue
            for begin, hashes in pool.hash_pieces(name):
                some = slice(begin, begin + len(hashes))
                wanted = np.flatnonzero(
                    ((pool.size[some] == 0) == empty) & (place[some] != _NO_PLACE)
                )
                own = hashes[wanted].astype(np.uint64)
                if pool.condition.within is not None:
                    own = pool.attributes.keyed(own, begin + wanted)
                yield place[some][wanted], own

    return pieces


def _part_different(pool: Pool, order: Rows, first: npt.NDArray[np.uint32]) -> None:
    """Nobody reads the texts of pinned documents to tell them from each other: those whose whole
    hashes differ stand for themselves."""
    seconds = np.flatnonzero(first != np.arange(len(first)))
    if len(seconds):
        hashes = _form_hashes(pool)
        same = hashes[order[seconds]] == hashes[order[first[seconds]]]
        seconds = seconds[~same.all(axis=1)]
        first[seconds] = seconds


def form_keys(pool: Pool) -> npt.NDArray[np.uint64]:
    """64 bits for each row, the same for those that may be equivalent."""
    keys: npt.NDArray[np.uint64] = np.zeros(len(pool), np.uint64)
    if pool.condition.within is not None:
        hashes = _form_hashes(pool)
        return hashes[:, 0] * _MIX ^ hashes[:, 1]
    for name, wanted in (("canonical", pool.size != 0), ("content", pool.size == 0)):
        if not wanted.any():
            continue
        for begin, hashes in pool.hash_pieces(name):
            some = slice(begin, begin + len(hashes))
            own = hashes[:, 0].astype(np.uint64) * _MIX ^ hashes[:, 1].astype(np.uint64)
            np.copyto(keys[some], own, where=wanted[some])
    return keys


def _form_hashes(pool: Pool) -> Hashes:
    """The hash of each row's canonical form, or where that is empty of its bytes."""
    hashes = pool.hashes("canonical")
    empty = np.flatnonzero(pool.size == 0)
    if len(empty):
        hashes[empty] = pool.hashes("content")[empty]
    if pool.condition.within is None:
        return hashes
    return pool.attributes.keyed(hashes, np.arange(len(hashes)))


def confirm(
    groups: Groups,
    pool: Pool,
    order: Rows,
    size: Sizes,
    threads: int,
    advance: Callable[[int], None] = lambda n: None,
) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """Of each member whether its bytes are its representative's; and whether it is equivalent."""
    identical = np.zeros(len(groups.members), dtype=bool)
    equivalent = np.zeros(len(groups.members), dtype=bool)
    # Those of one representative together, so that it is read for all of them.
    by_representative = np.argsort(groups.of, kind="stable")
    for begin, end in stretches(len(by_representative), _STEP):
        some = by_representative[begin:end]
        found = _confirm(groups, some, pool, order, size, threads, advance)
        identical[some], equivalent[some] = found
    return identical, equivalent


def _confirm(
    groups: Groups,
    some: npt.NDArray[np.intp],
    pool: Pool,
    order: Rows,
    size: Sizes,
    threads: int,
    advance: Callable[[int], None],
) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """The same of some of the members."""
    every = order[groups.representatives[groups.of[some]]], order[groups.members[some]]
    a, b = every
    identical = np.zeros(len(a), dtype=bool)
    equivalent = np.zeros(len(a), dtype=bool)
    textless = np.zeros(len(a), dtype=bool)
    if pool.corpus is not None and not pool.corpus.has_text:
        textless = a < pool.base
        identical[textless], equivalent[textless] = _same_hashes(pool, a[textless], b[textless])
        advance(int(textless.sum()))
    read = np.flatnonzero(~textless)
    a, b = a[read], b[read]
    workers = min(threads, WINDOWS_AT_ONCE)

    def compare(window: Window) -> None:
        batch = window.batches[0]
        if len(window.batches) > 1:
            batch = pa.concat_batches(window.batches)
        content = batch.column("content")
        same = _equal(content, window.a, window.b)
        html = np.asarray(batch.column("html"))
        empty = pool.tokens[b[window.pairs]] == 0
        # The same bytes, once read as HTML and once as text, are two texts.
        sure = same & ((html[window.a] == html[window.b]) | empty)
        open_ = np.flatnonzero(~sure & ~empty)
        forms = window.a[open_], window.b[open_]
        sure[open_] = _equal_forms(content, html, *forms, threads // workers)
        equivalent[read[window.pairs]] = sure
        identical[read[window.pairs]] = same & sure

    in_windows(pool.contents, a, b, size, compare, workers, advance)
    category = pool.attributes.category
    if category is not None:
        # They are in the hashes, which only propose.
        apart = category[every[0]] != category[every[1]]
        identical[apart] = equivalent[apart] = False
    return identical, equivalent


def _same_hashes(
    pool: Pool, a: Rows, b: Rows
) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """Whether the bytes of rows are the same, and whether they are equivalent, by their hashes."""
    forms, contents = _form_hashes(pool), pool.hashes("content")
    equivalent = (forms[a] == forms[b]).all(axis=1)
    return equivalent & (contents[a] == contents[b]).all(axis=1), equivalent


def _equal_forms(
    content: pa.Array, html: npt.NDArray[np.bool_], a: Rows, b: Rows, threads: int
) -> npt.NDArray[np.bool_]:
    """Whether documents have the same canonical form."""
    if not len(a):
        return np.zeros(0, dtype=bool)
    rows = np.unique(np.concatenate((a, b)))
    kinds = [np.flatnonzero(html[rows] == kind) for kind in (True, False)]
    forms = [
        _forms(content, rows[chosen], name, threads)
        for chosen, name in zip(kinds, ("html", "text"), strict=True)
    ]
    place = np.empty(len(rows), dtype=np.int64)
    place[np.concatenate(kinds)] = np.arange(len(rows))
    form = pa.concat_arrays(forms)
    a, b = place[np.searchsorted(rows, a)], place[np.searchsorted(rows, b)]
    return _equal(form, a, b)


def _equal(values: pa.Array, a: Rows, b: Rows) -> npt.NDArray[np.bool_]:
    """Which values are the same, row for row."""
    return _core.same_documents(values, a, b).view(np.bool_)


def _forms(content: pa.Array, rows: Rows, content_type: str, threads: int) -> pa.Array:
    """The forms of these documents."""
    data, offsets = _core.token_batch(content, content_type, threads, rows=rows)
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(data)]
    return pa.Array.from_buffers(pa.large_binary(), len(rows), buffers)
