"""Who resembles many documents at once: candidates from the segments' indexes, then measured.

The indexes are mapped and checked as a whole, since many documents touch most of them; a single
document is looked up by `roughly.search`, which reads only what it needs.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from roughly import _core
from roughly.clustering.sketches import Rows
from roughly.corpus.mass_update import measured
from roughly.documents.file import printable
from roughly.errors import DamageError
from roughly.storage.checked import CheckedMap
from roughly.storage.collection import Collection
from roughly.storage.segment import Segment
from roughly.storage.segment_index import SegmentIndex, index_path

Numbers = npt.NDArray[np.int64]
Pairs = npt.NDArray[np.uint32]

# Documents that are looked up together.
_AT_ONCE = 1 << 14
# Candidates that are measured together.
_MEASURED = 1 << 17

_HALF, _LOWER = np.uint64(32), np.uint64((1 << 32) - 1)

_FILES = (("directory", 8), ("entries", 8), ("lists", 4), ("rows", 4), ("copies", 4))


class TooMany(Exception):
    """More rows would have to be looked at than were allowed."""


def resembling(
    collection: Collection,
    rows: Rows,
    group_of: npt.NDArray[np.uint32],
    numbers: Numbers,
    floor: Fraction,
    *,
    most_rows: int,
    threads: int,
) -> Iterator[Pairs]:
    """For representatives, which `rows` are, of some numbers: pairs with whoever may resemble them
    at the floor, measured; of two of these numbers both find the other. `group_of` has for every
    row the number of its group's representative, or NO_GROUP."""
    with contextlib.ExitStack() as stack:
        indexes = []
        for number, segment in enumerate(collection.segments):
            first = collection.first_row(number)
            own_groups = np.ascontiguousarray(group_of[first : first + len(segment)])
            indexes.append((stack.enter_context(_Mapped(segment, threads)), own_groups))
        for begin in range(0, len(numbers), _AT_ONCE):
            some = numbers[begin : begin + _AT_ONCE]
            # A group may have members in several segments.
            found = [
                index.candidates(collection, rows, some, own_groups, floor, most_rows)
                for index, own_groups in indexes
            ]
            keys = [(table[:, 0].astype(np.uint64) << _HALF) | table[:, 1] for table in found]
            each = np.unique(np.concatenate(keys)) if keys else np.zeros(0, np.uint64)
            pairs = np.zeros((len(each), 4), np.uint32)
            pairs[:, 0] = some[(each >> _HALF).astype(np.int64)]
            pairs[:, 1] = each & _LOWER
            for at in range(0, len(pairs), _MEASURED):
                part = pairs[at : at + _MEASURED]
                yield measured(collection, rows, "resemblance", part, threads)


class _Mapped:
    """The index of a segment in memory, checked."""

    def __init__(self, segment: Segment, threads: int) -> None:
        self._index = SegmentIndex(segment)
        self._threads = threads
        self._maps: list[CheckedMap] = []
        self._arrays: Any = tuple(
            self._map(segment, name).array(f"<u{width}", 0, self._maps[-1].size // width)
            for name, width in _FILES
        )

    def _map(self, segment: Segment, name: str) -> CheckedMap:
        file = CheckedMap(index_path(segment.directory, name))
        file.verify(self._threads)
        self._maps.append(file)
        return file

    def __enter__(self) -> _Mapped:
        return self

    def __exit__(self, *_: object) -> None:
        for file in self._maps:
            file.release()

    def candidates(
        self,
        collection: Collection,
        rows: Rows,
        numbers: Numbers,
        group_of: npt.NDArray[np.uint32],
        floor: Fraction,
        most_rows: int,
    ) -> Pairs:
        own = rows[numbers].astype(np.int64)
        values, offsets = collection.sketch_elements(own)
        name, number = collection.parameters.selection
        facts = self._index.facts
        try:
            found, complete = _core.probe_index(
                self._arrays,
                (facts.bucket_bits, facts.value_bits),
                (floor.numerator, floor.denominator),
                number if name == "min" else 0,
                values,
                offsets,
                np.ascontiguousarray(collection.size[own]),
                np.ascontiguousarray(collection.level[own]),
                numbers.astype(np.uint32),
                group_of,
                most_rows,
                self._threads,
            )
        except IndexError as error:
            raise DamageError(
                f"{printable(str(self._index.directory))}: damaged: {error}",
                hint="restore it from a copy, or make it again",
            ) from error
        if not complete:
            raise TooMany
        return found
