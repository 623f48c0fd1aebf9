"""A query against the stored text: candidates counted exactly, and, where sketches are blind, all
documents. Text is read in pieces of some megabytes; nothing grows with the collection."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from roughly.search.query import Query, sketcher_of
from roughly.search.searcher import Searcher
from roughly.sketch import WORD_MARK

if TYPE_CHECKING:
    from roughly.search.recall import Recall
    from roughly.storage.collection import Collection

Rows = npt.NDArray[np.int64]

# Fewer samples than these are settled by the text: with 12 of them, of a document that contains
# four fifths of the query less than half is seen once in 250 times.
FEW = 12

_PIECE_BYTES = 1 << 25
_PIECE_ROWS = 1 << 12


def count_exactly(
    collection: Collection,
    query: Query,
    rows: Rows,
    threads: int,
    advance: Callable[[int], None] = lambda done: None,
) -> Rows:
    """For rows, ascending: how many of the query's shingles they have, and their own number; and
    the same of words, of which there may be none."""
    wanted = query.all_elements()
    sketcher = sketcher_of(query.parameters, "all")
    counts = np.zeros((len(rows), 4), np.int64)
    at = 0
    for some in _pieces(collection, rows):
        html = collection.take("html", some)
        batch = pa.record_batch({"content": collection.text(some), "html": html})
        columns = sketcher.sketch_columns(batch, threads)
        place = np.searchsorted(wanted, columns.values)
        found = np.zeros(len(columns.values), bool)
        if len(wanted):
            found = wanted[np.minimum(place, len(wanted) - 1)] == columns.values
        end = at + len(some)
        counts[at:end, 0] = _sums(found, columns.offsets)
        counts[at:end, 1] = columns.size
        if query.parameters.words:
            is_word = columns.values >= np.uint64(WORD_MARK)
            counts[at:end, 2] = _sums(found & is_word, columns.offsets)
            counts[at:end, 3] = _sums(is_word, columns.offsets)
            counts[at:end, 0] -= counts[at:end, 2]
        advance(len(some))
        at = end
    return counts


def _sums(flags: npt.NDArray[np.bool_], offsets: Rows) -> Rows:
    """How many of each list are set."""
    before = np.zeros(len(flags) + 1, np.int64)
    np.cumsum(flags, out=before[1:])
    return before[offsets[1:]] - before[offsets[:-1]]


def blind_rows(searcher: Searcher, query: Query, least_size: float, recall: Recall) -> Rows:
    """Live rows that sketches may miss: documents of `least_size` shingles or more at whose level
    the query has too few elements, and, if documents inside the query are looked for, those that
    have too few themselves where they meet it."""
    found = [np.zeros(0, np.int64)]
    unseen = recall.unseen_levels("contained") | recall.unseen_levels("resembles")
    least, most = recall.least_seen()
    for shelf in searcher.shelves:
        for begin, rows in shelf.index.record_pieces():
            blind = unseen[rows["level"]] & (rows["size"] >= max(least_size, 1))
            if least:
                kept = _kept_at(rows, query.level)
                blind |= (kept < np.minimum(least, rows["size"])) & (rows["size"] <= most)
            if shelf.removed is not None:
                numbers = np.arange(begin, begin + len(rows))
                blind &= (shelf.removed[numbers // 8] >> (numbers % 8)) & 1 == 0
            found.append(np.flatnonzero(blind) + begin + shelf.first_row)
    return np.concatenate(found)


def _kept_at(records: npt.NDArray[Any], level: int) -> Rows:
    """How many elements documents have at a level, or at their own if that is coarser."""
    kept: Rows = records["kept"].astype(np.int64)
    above = level - records["level"].astype(np.int64)
    coarser = records["coarser"]
    for step in range(coarser.shape[1]):
        kept = np.where(above == step + 1, coarser[:, step], kept)
    return np.where(above > coarser.shape[1], 0, kept)


def _pieces(collection: Collection, rows: Rows) -> Iterator[Rows]:
    """Rows whose text is read at once."""
    for begin in range(0, len(rows), _PIECE_ROWS):
        some = rows[begin : begin + _PIECE_ROWS]
        ends = np.cumsum(np.asarray(collection.take("bytes", some)).astype(np.int64))
        at = 0
        while at < len(some):
            done = int(ends[at - 1]) if at else 0
            end = max(at + 1, int(np.searchsorted(ends, done + _PIECE_BYTES, "right")))
            yield some[at:end]
            at = end
