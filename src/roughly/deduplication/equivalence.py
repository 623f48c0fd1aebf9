"""Documents with the same canonical form: the first of them in keep order stands for all.

They have the same shingles, so what holds for one holds for all of them. Hashes only propose: each
member's text is read again and compared with its representative's, byte for byte (identical), else
token for token (lexical). What turns out to be different stands for itself. An empty document is
equivalent to one of the same bytes only.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from roughly import _core
from roughly.verification.window import windows

if TYPE_CHECKING:
    from roughly.storage.segment import Segment
    from roughly.verification.contents import Contents

Rows = npt.NDArray[np.int64]
Places = npt.NDArray[np.int64]

# An odd number, to make 64 bits of two halves: a collision costs a comparison, no document.
_MIX = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, slots=True)
class Groups:
    """Who stands for whom, in places of the keep order."""

    representatives: Places  # ascending: those that stand for themselves
    members: Places  # ascending: the others,
    of: npt.NDArray[np.intp]  # and of each the number of its representative in `representatives`


def find_groups(segment: Segment, order: Rows, apart: Places) -> Groups:
    """Groups by hash. Places in `apart` stand for themselves."""
    keys = _keys(segment)[order]
    by_key = np.argsort(keys, kind="stable")
    starts = np.ones(len(keys), dtype=bool)
    starts[1:] = keys[by_key[1:]] != keys[by_key[:-1]]
    first = np.empty(len(keys), dtype=np.int64)
    first[by_key] = by_key[starts][np.cumsum(starts) - 1]
    first[apart] = apart
    own = first == np.arange(len(first))
    representatives = np.flatnonzero(own)
    members = np.flatnonzero(~own)
    return Groups(representatives, members, np.searchsorted(representatives, first[members]))


def _keys(segment: Segment) -> npt.NDArray[np.uint64]:
    """64 bits for each row, the same for those that may be equivalent."""
    halves = segment.hashes("canonical")
    keys = halves[:, 0] * _MIX ^ halves[:, 1]
    empty = np.flatnonzero(segment.size == 0)
    if len(empty):
        halves = segment.hashes("content")[empty]
        keys[empty] = halves[:, 0] * _MIX ^ halves[:, 1]
    return keys


def confirm(
    groups: Groups,
    segment: Segment,
    order: Rows,
    contents: Contents,
    size: npt.NDArray[np.int64],
    threads: int,
    advance: Callable[[int], None] = lambda n: None,
) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """Of each member whether its bytes are its representative's; and whether it is equivalent."""
    a, b = order[groups.representatives[groups.of]], order[groups.members]
    identical = np.zeros(len(a), dtype=bool)
    equivalent = np.zeros(len(a), dtype=bool)
    for window in windows(contents, a, b, size):
        batch = pa.concat_batches(window.batches)
        content = batch.column("content")
        same = np.array(_equal(content, window.a, window.b))
        html = np.asarray(batch.column("html"))
        empty = segment.tokens[b[window.pairs]] == 0
        # The same bytes, once read as HTML and once as text, are two texts.
        sure = same & ((html[window.a] == html[window.b]) | empty)
        open_ = np.flatnonzero(~sure & ~empty)
        sure[open_] = _equal_forms(content, html, window.a[open_], window.b[open_], threads)
        equivalent[window.pairs] = sure
        identical[window.pairs] = same & sure
        advance(len(same))
    return identical, equivalent


def _equal_forms(
    content: pa.Array, html: npt.NDArray[np.bool_], a: Rows, b: Rows, threads: int
) -> npt.NDArray[np.bool_]:
    """Whether documents have the same canonical form."""
    if not len(a):
        return np.zeros(0, dtype=bool)
    rows = np.unique(np.concatenate((a, b)))
    kinds = [np.flatnonzero(html[rows] == kind) for kind in (True, False)]
    forms = [
        _forms(content.take(pa.array(rows[chosen])), name, threads)
        for chosen, name in zip(kinds, ("html", "text"), strict=True)
    ]
    place = np.empty(len(rows), dtype=np.int64)
    place[np.concatenate(kinds)] = np.arange(len(rows))
    form = pa.concat_arrays(forms)
    a, b = place[np.searchsorted(rows, a)], place[np.searchsorted(rows, b)]
    return _equal(form, a, b)


def _equal(values: pa.Array, a: Rows, b: Rows) -> npt.NDArray[np.bool_]:
    return np.asarray(pc.equal(values.take(pa.array(a)), values.take(pa.array(b))))


def _forms(content: pa.Array, content_type: str, threads: int) -> pa.Array:
    data, offsets = _core.token_batch([content], content_type, threads)
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(data)]
    return pa.Array.from_buffers(pa.large_binary(), len(content), buffers)
