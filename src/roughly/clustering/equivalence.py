"""Documents that are equivalent leave before the join and come back with their representative.

Three kinds, each finer than the next: identical (the same bytes), lexical (the same canonical
form), shingle (the same sketch, of enough elements to mean something). A representative is the
first of its group in document order.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from roughly.clustering.collection import Collection
from roughly.sketch import EQUIVALENT_SAMPLES

Rows = npt.NDArray[np.int64]

# Codes in `Groups.kind`; a representative has none.
KINDS = (None, "identical", "lexical", "shingle", "empty")
NONE, IDENTICAL, LEXICAL, SHINGLE, EMPTY = range(5)


@dataclass(frozen=True, slots=True)
class Groups:
    """For every document its representative, and how it is equivalent to it."""

    representative: Rows  # a row of the collection; its own for a representative
    kind: npt.NDArray[np.uint8]  # index into KINDS

    @property
    def representatives(self) -> Rows:
        """The rows that are joined, ascending."""
        own: Rows = np.flatnonzero(self.representative == np.arange(len(self.representative)))
        return own


def equivalents(collection: Collection) -> Groups:
    """Collapses identical, lexically equivalent and shingle-equivalent documents.

    Documents without a token are one group, of kind `empty` unless their bytes agree.
    """
    rows = np.arange(len(collection), dtype=np.int64)
    by_content = _first_of_equal(collection.content, rows)
    by_form = _first_of_equal(collection.canonical, rows)
    kind = np.zeros(len(rows), dtype=np.uint8)
    kind[by_form != rows] = LEXICAL
    empty = collection.sketches.size == 0
    kind[(by_form != rows) & empty] = EMPTY
    # Identical to the representative itself, or to somebody that is not: the former counts.
    kind[(by_form != rows) & (by_content == by_content[by_form])] = IDENTICAL

    kept = np.diff(collection.sketches.offsets)
    rich = np.flatnonzero((by_form == rows) & (kept >= EQUIVALENT_SAMPLES))
    same_size = np.column_stack([collection.sketch[rich], collection.sketches.size[rich]])
    by_sketch = rich[_first_of_equal(same_size, np.arange(len(rich)))]
    representative = rows.copy()
    representative[rich] = by_sketch
    kind[rich[by_sketch != rich]] = SHINGLE
    # Who is equivalent to a document that is itself only shingle-equivalent is no more than that.
    kind[(kind != NONE) & (representative[by_form] != by_form)] = SHINGLE
    return Groups(representative[by_form], kind)


def _first_of_equal(keys: npt.NDArray[np.uint64], rows: Rows) -> Rows:
    """For every row of `keys` the first row that is equal."""
    if len(keys) == 0:
        return rows
    order = np.lexsort([rows, *keys.T[::-1]])
    ordered = keys[order]
    starts = np.concatenate([[True], np.any(ordered[1:] != ordered[:-1], axis=1)])
    group = np.cumsum(starts) - 1
    first = np.empty(len(rows), dtype=np.int64)
    first[order] = order[starts][group]
    return first
