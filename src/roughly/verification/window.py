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

    pairs: npt.NDArray[np.intp]  # numbers of the pairs
    a: Rows  # of each pair its first document, a number in `batches` put together
    b: Rows
    batches: list[pa.RecordBatch]  # content and html


def in_windows(
    contents: Texts,
    a: Rows,
    b: Rows,
    size: Sizes,
    work: Callable[[Window], None],
    workers: int,
    advance: Callable[[int], None],
) -> None:
    """Does the work of all pairs of rows a and b, so many windows at a time: while one is read
    another is worked on. `size` has the bytes of every row's text, `advance` is told of pairs."""
    telling = threading.Lock()

    def told(window: Window) -> None:
        work(window)
        window.batches.clear()
        with telling:
            advance(len(window.pairs))

    share(_windows(contents, a, b, size), told, workers)


def _windows(contents: Texts, a: Rows, b: Rows, size: Sizes) -> Iterator[Window]:
    """Each read when it is asked for."""
    order = np.lexsort((b, a, _groups(a, b, len(size))))
    for begin, end in stretches(len(order)):
        yield from _in_order(contents, a, b, size, order[begin:end])


def _in_order(
    contents: Texts, a: Rows, b: Rows, size: Sizes, order: npt.NDArray[np.intp]
) -> Iterator[Window]:
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
        rows, numbers = np.unique(np.concatenate((a[pairs], b[pairs])), return_inverse=True)
        batches = list(contents.read(rows))
        yield Window(pairs, numbers[: len(pairs)], numbers[len(pairs) :], batches)
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
