"""Arrays of a run that are as long as its documents are many: in files that have no name.

The system writes their pages to the disk and takes them from memory when it needs room, so they do
not count against what a run may use. They are gone when nobody uses them any more, or when the
process ends, however it does. What is small stays in memory.
"""

from __future__ import annotations

import sys
import tempfile
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from roughly import _core
from roughly.storage.durable import reserve

# An array of fewer bytes is kept in memory.
LEAST_BYTES = 1 << 18
# Values that are worked on at once.
_STEP = 1 << 18


class Scratch:
    """Makes such arrays, in a folder that has room for them; the system's own unless given."""

    def __init__(self, folder: Path | None = None, least_bytes: int | None = None) -> None:
        self._folder = folder
        self._least = LEAST_BYTES if least_bytes is None else least_bytes
        self._arrays: list[weakref.ref[npt.NDArray[Any]]] = []
        self.disk_bytes = 0
        """The most that was on disk at once."""

    def zeros(self, count: int, dtype: npt.DTypeLike) -> Any:
        """Zeros, to be written to."""
        size = count * np.dtype(dtype).itemsize
        if size < max(self._least, 1):
            return np.zeros(count, dtype)
        with tempfile.TemporaryFile(prefix="roughly-", dir=self._folder) as file:
            reserve(file.fileno(), size, self._folder or Path(tempfile.gettempdir()))
            made: npt.NDArray[Any] = _core.map_scratch(file.fileno(), size).view(dtype)
        self._arrays = [each for each in self._arrays if each() is not None]
        self._arrays.append(weakref.ref(made))
        there = (each() for each in self._arrays)
        total = sum(array.nbytes for array in there if array is not None)
        self.disk_bytes = max(self.disk_bytes, total)
        return made

    def full(self, count: int, value: Any, dtype: npt.DTypeLike) -> Any:
        """Many times the same value."""
        made = self.zeros(count, dtype)
        made.fill(value)
        return made

    def arange(self, count: int, dtype: npt.DTypeLike) -> Any:
        """The numbers from 0 on."""
        made = self.zeros(count, dtype)
        for begin, end in stretches(count):
            made[begin:end] = np.arange(begin, end, dtype=dtype)
        return made

    def copy(self, values: npt.NDArray[Any], dtype: npt.DTypeLike | None = None) -> Any:
        """The same values."""
        made = self.zeros(len(values), values.dtype if dtype is None else dtype)
        made[:] = values
        return made

    def take(
        self,
        values: npt.NDArray[Any],
        places: npt.NDArray[np.integer[Any]],
        dtype: npt.DTypeLike | None = None,
    ) -> Any:
        """`values[places]`."""
        made = self.zeros(len(places), values.dtype if dtype is None else dtype)
        for begin, end in stretches(len(places)):
            made[begin:end] = values[places[begin:end]]
        return made

    def flatnonzero(self, marks: npt.NDArray[np.bool_], dtype: npt.DTypeLike = np.int64) -> Any:
        """Where the marks are."""
        made = self.zeros(int(np.count_nonzero(marks)), dtype)
        at = 0
        for begin, end in stretches(len(marks)):
            some = np.flatnonzero(marks[begin:end])
            made[at : at + len(some)] = some + begin
            at += len(some)
        return made

    def release(self) -> None:
        """Takes them out of this process's memory; they stay valid."""
        for each in self._arrays:
            array = each()
            if array is not None:
                _core.release_pages(array.view(np.uint8))


# For whoever has few documents, or no folder.
IN_MEMORY = Scratch(least_bytes=sys.maxsize)


def stretches(count: int, step: int | None = None) -> Iterator[tuple[int, int]]:
    """Beginnings and ends of so many values, one stretch after the other."""
    step = _STEP if step is None else step
    for begin in range(0, count, step):
        yield begin, min(begin + step, count)
