"""Rows that have the very same sketch as an earlier one, as the index of a segment has them.

A sketch is told by its hash, and by what else a comparison looks at: level and size. Memory holds
a byte a row, four for each of the most that have one sketch, and what there is room for; hashes and
places lie in scratch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from roughly import _core
from roughly.storage.checked import CheckedFile, checked_writer
from roughly.storage.ordering import Keys, Rows, in_order
from roughly.storage.scratch import Scratch
from roughly.storage.segment_index import index_path

if TYPE_CHECKING:
    from roughly.storage.segment import Segment

# Of a row while its sketch is compared with others.
_ROW_BYTES = 128

Places = npt.NDArray[np.uint32]
Marks = npt.NDArray[np.uint8]


def write_copies(segment: Segment, scratch: Scratch, room_bytes: int) -> tuple[Places, Marks]:
    """Writes the lists of copies. Of every row where its list is (0: it has none), in scratch, and
    whether it is a copy."""
    keys = _keys(segment, scratch)
    place = scratch.zeros(len(segment), np.uint32)
    with checked_writer(index_path(segment.directory, "copies")) as file:
        lists = _Lists(file, place)
        for rows, own in in_order(keys, room_bytes // _ROW_BYTES):
            lists.add(rows, own)
        lists.close()
    _core.release_buffer(place)
    return place, lists.is_copy


def _keys(segment: Segment, scratch: Scratch) -> list[Keys]:
    """Of all rows the halves of the hash, and level and size in one number."""
    keys: list[Keys] = [scratch.zeros(len(segment), np.uint64) for _ in range(3)]
    for begin, hashes in segment.hash_pieces("sketch"):
        some = slice(begin, begin + len(hashes))
        keys[0][some], keys[1][some] = hashes.T
        keys[2][some] = segment.level[some].astype(np.uint64) << np.uint64(32) | segment.size[some]
        for key in keys:
            _core.release_buffer(key[some])
    return keys


class _Lists:
    """The lists, of rows that come in the order of their keys."""

    def __init__(self, file: CheckedFile, place: Places) -> None:
        self.is_copy = np.zeros(len(place), np.uint8)
        self._file = file
        self._place = place
        self._last: list[np.uint64] = []  # the last key
        self._open: list[npt.NDArray[np.uint32]] = []  # rows with the last key
        self._at = 1  # The first word is left free: place 0 means none.
        file.write(np.zeros(1, "<u4"))

    def add(self, rows: Rows, keys: list[Keys]) -> None:
        """The next ones, one at least."""
        differs = np.zeros(len(rows), bool)
        for key in keys:
            differs[1:] |= key[1:] != key[:-1]
        differs[0] = self._last != [key[0] for key in keys]
        self._last = [key[-1] for key in keys]
        starts = np.flatnonzero(differs)
        if not len(starts):
            self._open.append(rows.astype(np.uint32))
            return
        # Those of the last key may not be all of them yet.
        self._open.append(rows[: starts[0]].astype(np.uint32))
        self.close()
        self._write(rows[starts[0] : starts[-1]], starts[:-1] - starts[0])
        self._open = [rows[starts[-1] :].astype(np.uint32)]

    def close(self) -> None:
        """No more rows with the last key."""
        rows = np.concatenate([np.zeros(0, np.uint32), *self._open])
        self._open = []
        self._write(rows, np.zeros(min(len(rows), 1), np.int64))

    def _write(self, rows: npt.NDArray[np.integer], starts: Rows) -> None:
        """Rows of which those from a start to the next have the same key."""
        counts = np.diff(np.append(starts, len(rows))) - 1
        several = np.repeat(counts > 0, counts + 1)
        rows, counts = rows[several].astype(np.uint32), counts[counts > 0]
        # A list is how many copies there are, then they; the first row itself is not among them.
        begins = np.cumsum(counts + 1) - (counts + 1)
        copy = np.ones(len(rows), bool)
        copy[begins] = False
        self.is_copy[rows[copy]] = 1
        self._place[rows[begins]] = self._at + begins
        lists = rows.astype("<u4")
        lists[begins] = counts
        self._file.write(lists)
        self._at += len(lists)
