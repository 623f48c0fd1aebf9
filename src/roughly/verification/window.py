"""Pairs of documents in windows, so that the text of both sides of every pair is in memory at once.

A window has documents of about WINDOW_BYTES of text. Pairs that hang together follow each other, so
that most documents are read once for all their partners.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from roughly import _core
from roughly.pipeline import share
from roughly.storage.scratch import stretches

if TYPE_CHECKING:
    import pyarrow as pa

    from roughly.verification.contents import Texts

Rows = npt.NDArray[np.int64]
Sizes = npt.NDArray[np.integer[Any]]

# Their shingles take about as much again and half of it.
WINDOW_BYTES = 1 << 21
WINDOWS_AT_ONCE = 2
# Pairs of that part of the documents are few.
_FEW = 16


class Window(NamedTuple):
    """Some pairs with their documents' text."""

    pairs: npt.NDArray[np.intp]  # numbers of the pairs; those that come along follow the others
    a: Rows  # of each pair its first document, a number in `batches` put together
    b: Rows
    batches: list[pa.RecordBatch]  # content and html


class _Plan(NamedTuple):
    """A window that nobody has read yet."""

    pairs: npt.NDArray[np.intp]
    a: Rows
    b: Rows
    rows: Rows  # of its documents, ascending


def in_windows(
    contents: Texts,
    a: Rows,
    b: Rows,
    size: Sizes,
    work: Callable[[Window], None],
    workers: int,
    advance: Callable[[int], None],
    along: int = 0,
) -> None:
    """Does the work of all pairs of rows a and b, so many windows at a time: whoever works on one
    reads it, too. The last `along` pairs only come along: there is no window for them if
    none of the others has the text of both. `size` has the bytes of every row's text, `advance` is
    told of pairs."""
    telling = threading.Lock()
    wanted = len(a) - along

    def told(plan: _Plan) -> None:
        window = Window(plan.pairs, plan.a, plan.b, list(contents.read(plan.rows)))
        work(window)
        window.batches.clear()
        with telling:
            advance(int((window.pairs < wanted).sum()))

    share(_windows(a, b, size, wanted), told, workers)


def _windows(a: Rows, b: Rows, size: Sizes, wanted: int) -> Iterator[_Plan]:
    groups = _groups(a[:wanted], b[:wanted], len(size))
    order = np.lexsort((b[:wanted], a[:wanted], groups))
    followers = _Followers(a, b, groups)
    for begin, end in stretches(wanted):
        yield from _in_order(a, b, size, order[begin:end], followers)


class _Followers:
    """The pairs behind the wanted ones whose documents hang together, by group."""

    def __init__(self, a: Rows, b: Rows, groups: npt.NDArray[np.uint32]) -> None:
        """`groups` has those of the wanted pairs, the first of all."""
        self._a, self._b, self._groups = a, b, groups
        wanted = len(groups)
        known, first = np.unique(np.concatenate((a[:wanted], b[:wanted])), return_index=True)
        of_known = groups[first % wanted] if wanted else groups
        pairs = np.arange(wanted, len(a))
        at = [_places(known, rows[pairs]) for rows in (a, b)]
        together = (at[0] >= 0) & (at[1] >= 0)
        together[together] = of_known[at[0][together]] == of_known[at[1][together]]
        of_pair = of_known[at[0][together]]
        order = np.argsort(of_pair, kind="stable")
        self._pairs = pairs[together][order]
        self._of_pair = of_pair[order]

    def of(self, pairs: npt.NDArray[np.intp], rows: Rows) -> npt.NDArray[np.intp]:
        """Those with both documents among the rows (ascending) of wanted pairs of consecutive
        groups."""
        least, most = self._groups[pairs[0]], self._groups[pairs[-1]]
        begin = int(np.searchsorted(self._of_pair, least))
        end = int(np.searchsorted(self._of_pair, most, "right"))
        some = self._pairs[begin:end]
        there = (_places(rows, self._a[some]) >= 0) & (_places(rows, self._b[some]) >= 0)
        return some[there]


def _places(rows: Rows, asked: Rows) -> npt.NDArray[np.intp]:
    """Where each of some rows stands among others (ascending), -1 if nowhere."""
    if not len(rows):
        return np.full(len(asked), -1)
    at = np.minimum(np.searchsorted(rows, asked), len(rows) - 1)
    return np.where(rows[at] == asked, at, -1)


def _in_order(
    a: Rows, b: Rows, size: Sizes, order: npt.NDArray[np.intp], followers: _Followers
) -> Iterator[_Plan]:
    """The windows of some pairs, in this order."""
    rows = np.column_stack((a[order], b[order])).ravel()
    fresh = np.zeros(len(rows), np.int64)  # bytes of a document where it comes first
    some, first = np.unique(rows, return_index=True)
    fresh[first] = size[some]
    ends = np.cumsum(fresh.reshape(-1, 2).sum(axis=1))
    begin, done = 0, 0
    while begin < len(order):
        end = max(begin + 1, int(np.searchsorted(ends, done + WINDOW_BYTES, "right")))
        pairs = order[begin:end]
        rows = np.unique(np.concatenate((a[pairs], b[pairs])))
        pairs = np.concatenate((pairs, followers.of(pairs, rows)))
        numbers = np.searchsorted(rows, a[pairs]), np.searchsorted(rows, b[pairs])
        yield _Plan(pairs, *numbers, rows)
        begin, done = end, int(ends[end - 1])


def _groups(a: Rows, b: Rows, documents: int) -> npt.NDArray[np.uint32]:
    """Of each pair a number that it shares with those it hangs together with."""
    links = np.zeros((len(a), 4), np.uint32)
    if _FEW * len(a) < documents:
        # Numbered anew, which takes some time and memory for each pair, but none for documents.
        rows, numbers = np.unique(np.concatenate((a, b)), return_inverse=True)
        links[:, 0], links[:, 1] = numbers[: len(a)], numbers[len(a) :]
        documents = len(rows)
    else:
        links[:, 0], links[:, 1] = a, b
    first: npt.NDArray[np.uint32] = _core.components(links, documents, 0, 1)
    return first[links[:, 0]]
