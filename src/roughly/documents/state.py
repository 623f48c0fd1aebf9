"""Whether files are still what they were: who reads a source a second time takes from it what it
knows of the first."""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy as np

from roughly.documents.selection import changed
from roughly.documents.source import Source

_ABSENT = (-1, -1)


class States:
    """Of every source how large it is and when it was written to, as it was when this was made."""

    def __init__(self, sources: Sequence[Source]) -> None:
        self._sources = sources
        values = (value for source in sources for value in _state(source))
        self._known = np.fromiter(values, np.int64, 2 * len(sources)).reshape(-1, 2)

    def is_absent(self, number: int) -> bool:
        """Whether the file could not be opened, so that nothing of it was read."""
        return bool(self._known[number, 0] < 0)

    def check(self, number: int) -> None:
        """Raises if a source is not what it was."""
        source = self._sources[number]
        if _state(source) != tuple(self._known[number].tolist()):
            raise changed(source)

    def check_all(self) -> None:
        """The same for every source."""
        for number in range(len(self._sources)):
            self.check(number)


def _state(source: Source) -> tuple[int, int]:
    """Its size and when it was written to."""
    if source.path is None:
        return 0, 0
    try:
        status = os.stat(source.path)
    except OSError:
        return _ABSENT
    if not os.access(source.path, os.R_OK):
        return _ABSENT
    # Of those files of the system that have no size the time says nothing either.
    return (status.st_size, status.st_mtime_ns) if status.st_size else (0, 0)
