"""Ids that are unique within one reading: the second document with an id becomes `id#2`.

What is kept of an id is 64 bits of its hash, in sorted runs: 8 bytes a document (24 for a repeat).
All but RUN_VALUES of them (32 MiB) lie in a temporary file that the system maps and may drop from
memory.
Two ids with the same 64 bits (one chance in 37,000 among ten million) are taken for a repeat: the
second is renamed without need, and still unique. One thread at a time.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from roughly import _core

Hashes = npt.NDArray[np.uint64]
Rows = npt.NDArray[np.int64]

# Values of a run; a full one goes to disk.
RUN_VALUES = 1 << 22


class UniqueIds:
    """The ids of one reading, in its order."""

    def __init__(self, run_values: int = RUN_VALUES) -> None:
        self.repeated = 0
        self._run_values = run_values
        self._levels: list[Hashes] = []  # sorted, each at least twice as long as the next
        self._runs: list[Hashes] = []  # sorted, mapped from disk

    def rename(self, ids: pa.Array) -> pa.Array:
        """The next ids, with a number added to each that was there before. The result is that of
        taking them one by one, whatever the batches."""
        hashes = hash_ids(ids)
        order = np.argsort(hashes, kind="stable")
        ordered = hashes[order]
        fresh = np.ones(len(ordered), dtype=bool)
        fresh[1:] = ordered[1:] != ordered[:-1]
        fresh &= ~self._known(ordered)
        if fresh.all():
            self._add(ordered)
            return ids
        values = ids.to_pylist()
        rows = np.sort(order[~fresh]).tolist()
        self.repeated += len(rows)
        names = self._names([values[row] for row in rows], ordered[fresh])
        if names is None:
            self.repeated -= len(rows)
            return pa.array([self._renamed(value) for value in values], pa.string())
        for row, name in zip(rows, names, strict=True):
            values[row] = name
        return pa.array(values, pa.string())

    def add(self, ids: pa.Array) -> None:
        """Ids that were used elsewhere."""
        self._add(np.unique(hash_ids(ids)) if len(ids) else np.zeros(0, np.uint64))

    def has(self, ids: pa.Array) -> npt.NDArray[np.bool_]:
        """Which of these were there before."""
        return self._known(hash_ids(ids))

    def _names(self, ids: list[str], fresh: Hashes) -> list[str] | None:
        """Names for repeated ids, all at once; None if one of them is taken, which is rare: a
        document brought it along."""
        number = self._next_numbers(list(dict.fromkeys(ids)))
        names, marks = [], []
        for id in ids:
            names.append(f"{id}#{number[id]}")
            marks.append(_mark(id, number[id]))
            number[id] += 1
        hashes = hash_ids(pa.array(names, pa.string()))
        together = np.sort(np.concatenate((fresh, hashes)))
        if self._known(hashes).any() or (together[1:] == together[:-1]).any():
            return None
        self._add(together)
        self._add(np.sort(hash_ids(pa.array(marks, pa.string()))))
        return names

    def _renamed(self, id: str) -> str:
        """One id, by the same rule."""
        value = hash_ids(pa.array([id], pa.string()))
        name = id
        if self._known(value)[0]:
            self.repeated += 1
            number = self._next_numbers([id])[id]
            while True:
                name = f"{id}#{number}"
                value = hash_ids(pa.array([name], pa.string()))
                self._add(hash_ids(pa.array([_mark(id, number)], pa.string())))
                if not self._known(value)[0]:
                    break
                number += 1
        self._add(value)
        return name

    def _next_numbers(self, ids: list[str]) -> dict[str, int]:
        """The number that each id is due. A mark is kept for each number that was used; they have
        no gaps, so the end is found by doubling and halving, and no id needs a counter."""
        low = np.ones(len(ids), dtype=np.int64)
        high = np.full(len(ids), 2, dtype=np.int64)
        rows = np.arange(len(ids))
        while len(rows):
            rows = rows[self._marked(ids, rows, high)]
            low[rows] = high[rows]
            high[rows] *= 2
        while len(rows := np.flatnonzero(high - low > 1)):
            middle = (low + high) // 2
            used = self._marked(ids, rows, middle)
            low[rows[used]] = middle[rows[used]]
            high[rows[~used]] = middle[rows[~used]]
        return dict(zip(ids, high.tolist(), strict=True))

    def _marked(self, ids: list[str], rows: Rows, number: Rows) -> npt.NDArray[np.bool_]:
        marks = [_mark(ids[row], int(number[row])) for row in rows.tolist()]
        return self._known(hash_ids(pa.array(marks, pa.string())))

    def _known(self, values: Hashes) -> npt.NDArray[np.bool_]:
        known = np.zeros(len(values), dtype=bool)
        for run in (*self._levels, *self._runs):
            at = np.searchsorted(run, values)
            at[at == len(run)] = 0
            known |= run[at] == values
        return known

    def _add(self, values: Hashes) -> None:
        if not len(values):
            return
        self._levels.append(values)
        while len(self._levels) > 1 and 2 * len(self._levels[-1]) >= len(self._levels[-2]):
            self._levels.append(_merged(self._levels.pop(), self._levels.pop()))
        if len(self._levels[0]) >= self._run_values:
            self._runs.append(_on_disk(self._levels.pop(0)))


def _mark(id: str, number: int) -> str:
    """A name that no document has: ids are lines of text."""
    return f"{id}\0{number}"


def hash_ids(ids: pa.Array) -> Hashes:
    """64 bits of each id's equivalence hash."""
    return np.ascontiguousarray(_core.content_hashes(ids, 1)[:, 1])


def _merged(a: Hashes, b: Hashes) -> Hashes:
    # A stable sort of two sorted runs is a merge.
    values = np.concatenate((b, a))
    values.sort(kind="stable")
    return values


def _on_disk(values: Hashes) -> Hashes:
    # Unlinked at once: the map keeps it alive, and nothing is left behind.
    with tempfile.TemporaryFile(prefix="roughly-") as file:
        values.tofile(file)
        file.flush()
        return _core.map_file(file.fileno(), values.nbytes).view(np.uint64)


def numbered(prefix: str, position: npt.NDArray[np.int64]) -> pa.Array:
    """`path#row` for each row; rows are counted from 1, as editors count lines."""
    import pyarrow.compute as pc

    join: Callable[..., pa.Array] = pc.binary_join_element_wise
    return join(prefix, pa.array(position + 1).cast(pa.string()), "#")
