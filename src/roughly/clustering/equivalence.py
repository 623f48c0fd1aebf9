"""Documents that are equivalent leave before the join and come back with their representative.

Three kinds, each finer than the next: identical (the same bytes), lexical (the same canonical
form), shingle (the same sketch, of enough elements to mean something). A representative is the
first of its group in document order.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from roughly.sketch import EQUIVALENT_SAMPLES

Positions = npt.NDArray[np.uint32]  # in document order
Hashes = npt.NDArray[np.uint64]  # two columns
Column = Callable[[], Hashes]

# Codes in `Groups.kind`; a representative has none.
KINDS = (None, "identical", "lexical", "shingle", "empty")
NONE, IDENTICAL, LEXICAL, SHINGLE, EMPTY = range(5)


@dataclass(frozen=True, slots=True)
class Groups:
    """For every document its representative, and how it is equivalent to it."""

    representative: Positions  # its own for a representative
    kind: npt.NDArray[np.uint8]  # index into KINDS

    @property
    def representatives(self) -> Positions:
        """The documents that are joined, ascending."""
        own = self.representative == np.arange(len(self.representative), dtype=np.uint32)
        return np.flatnonzero(own).astype(np.uint32)


def equivalents(
    content: Column,
    canonical: Column,
    sketch: Column,
    size: npt.NDArray[np.uint32],
    kept: npt.NDArray[np.uint32],
    by_sketch: bool = True,
) -> Groups:
    """Collapses identical, lexically equivalent and shingle-equivalent documents, all given in
    document order: hashes of their text, canonical form and sketch, each asked for when it is
    needed, their distinct shingles, and the elements of their sketches.

    Documents without a token are one group, of kind `empty` unless their bytes agree. Without
    `by_sketch` the same sketch is no reason: it may come of documents that differ a little.
    """
    positions = np.arange(len(size), dtype=np.uint32)
    by_form = first_of_equal(canonical())
    by_content = first_of_equal(content())
    kind = np.zeros(len(size), dtype=np.uint8)
    kind[by_form != positions] = LEXICAL
    kind[(by_form != positions) & (size == 0)] = EMPTY
    # Identical to the representative itself, or to somebody that is not: the former counts.
    kind[(by_form != positions) & (by_content == by_content[by_form])] = IDENTICAL

    rich = np.flatnonzero((by_form == positions) & (kept >= EQUIVALENT_SAMPLES) & by_sketch)
    first = rich[first_of_equal(sketch()[rich], size[rich])].astype(np.uint32)
    representative = positions.copy()
    representative[rich] = first
    kind[rich[first != rich]] = SHINGLE
    # Who is equivalent to a document that is itself only shingle-equivalent is no more than that.
    kind[(kind != NONE) & (representative[by_form] != by_form)] = SHINGLE
    return Groups(representative[by_form], kind)


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
