"""Sketches of some documents, column by column, as the core makes them: so that sketches that are
stored already can be written again beside new ones.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from roughly.sketch import WORD_MARK

Values = npt.NDArray[np.uint64]
Offsets = npt.NDArray[np.int64]
Hashes = npt.NDArray[np.uint64]  # two columns


class Sketched(Protocol):
    """What a segment is written from; `_core.SketchColumns` is one."""

    @property
    def values(self) -> Values: ...
    @property
    def offsets(self) -> Offsets: ...
    @property
    def size(self) -> npt.NDArray[np.uint32]: ...
    @property
    def tokens(self) -> npt.NDArray[np.uint32]: ...
    @property
    def level(self) -> npt.NDArray[np.uint8]: ...
    @property
    def content(self) -> Hashes: ...
    @property
    def canonical(self) -> Hashes: ...
    @property
    def sketch(self) -> Hashes: ...


class SketchTable(NamedTuple):
    """One that is made of parts."""

    values: Values
    offsets: Offsets
    size: npt.NDArray[np.uint32]
    tokens: npt.NDArray[np.uint32]
    level: npt.NDArray[np.uint8]
    content: Hashes
    canonical: Hashes
    sketch: Hashes


def merged(first: Sketched, second: Sketched, is_first: npt.NDArray[np.bool_]) -> SketchTable:
    """Two tables as one, in which the rows of the first stand where `is_first` says."""
    place = np.empty(len(is_first), np.int64)
    place[is_first] = np.arange(len(first.size))
    place[~is_first] = len(first.size) + np.arange(len(second.size))
    lengths = np.concatenate((np.diff(first.offsets), np.diff(second.offsets)))
    begins = np.concatenate((first.offsets[:-1], second.offsets[:-1] + len(first.values)))
    offsets = np.zeros(len(is_first) + 1, np.int64)
    np.cumsum(lengths[place], out=offsets[1:])
    # Element k of row i of the result is element k of row place[i].
    where = np.arange(offsets[-1]) + np.repeat(begins[place] - offsets[:-1], lengths[place])
    columns = [
        np.concatenate((getattr(first, name), getattr(second, name)))[place]
        for name in SketchTable._fields[2:]
    ]
    return SketchTable(np.concatenate((first.values, second.values))[where], offsets, *columns)


def shingles_in(
    values: npt.NDArray[np.uint64], offsets: npt.NDArray[np.int64]
) -> npt.NDArray[np.uint32]:
    """Of sketches that may have words, the number of elements of each that are none."""
    before = np.zeros(len(values) + 1, np.int64)
    np.cumsum(values < np.uint64(WORD_MARK), out=before[1:])
    return np.diff(before[offsets]).astype(np.uint32)


def without_words(
    values: npt.NDArray[np.uint64], offsets: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.int64]]:
    """The same sketches, without the words of short documents."""
    kept = shingles_in(values, offsets)
    begin, end = offsets[0], offsets[-1]
    shingles = values[begin:end]
    ends = np.cumsum(kept, dtype=np.int64)
    return shingles[shingles < np.uint64(WORD_MARK)], np.concatenate(([0], ends))
