"""Rows in the order of their keys, numbers of 64 bits, however many there are: some at a time.

What is taken at a time are rows whose keys have the same leading bits, more or fewer bits as keys
lie closer together or farther apart. Rows of equal keys stay in the order in which they stand.
Keys are read from their first to their last, and where they are mapped their pages go as soon as
they were looked at.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from roughly import _core
from roughly.storage.scratch import stretches

Keys = npt.NDArray[np.uint64]
Rows = npt.NDArray[np.int64]

# Leading bits by which keys are counted, at a time.
_BITS = 12


def in_order(keys: Sequence[Keys], most: int) -> Iterator[tuple[Rows, list[Keys]]]:
    """All rows by their first key, then by the next, with their keys; `most` or fewer at a time,
    one at least. Those with the same first key come together, unless they are more."""
    yield from _in_order(keys, [], 0, 64, max(most, 1))


def _in_order(
    keys: Sequence[Keys], same: list[int], prefix: int, bits: int, most: int
) -> Iterator[tuple[Rows, list[Keys]]]:
    """Of those whose first keys are `same`, and whose next key's bits but for the last `bits` are
    `prefix`."""
    if not bits:
        same, prefix, bits = [*same, prefix], 0, 64
    if len(same) == len(keys):
        # All the same: they are in order.
        for begin, end in stretches(len(keys[0]), most):
            rows = _rows_of(keys, same, begin, end)
            _release(keys, begin, end)
            if len(rows):
                yield begin + rows, [np.full(len(rows), key, np.uint64) for key in same]
        return
    below = max(bits - _BITS, 0)
    first, count = prefix << (bits - below), 1 << (bits - below)
    counts = np.zeros(count, np.int64)
    for begin, end in stretches(len(keys[0])):
        own = keys[len(same)][begin:end][_rows_of(keys, same, begin, end)]
        own = own >> np.uint64(below)
        own = own[(own >= np.uint64(first)) & (own <= np.uint64(first + count - 1))]
        counts += np.bincount((own - np.uint64(first)).astype(np.int64), minlength=count)
        _release(keys, begin, end)
    at, held = 0, 0
    for number, here in enumerate(counts.tolist()):
        if held and held + here > most:
            yield _sorted(keys, same, below, first + at, first + number - 1)
            held = 0
        if not held:
            at = number
        if here > most:
            yield from _in_order(keys, same, first + number, below, most)
        else:
            held += here
    if held:
        yield _sorted(keys, same, below, first + at, first + count - 1)


def _rows_of(keys: Sequence[Keys], same: list[int], begin: int, end: int) -> Rows:
    """Which rows from `begin` to `end` have these first keys, counted from `begin`."""
    chosen = np.ones(end - begin, bool)
    for own, value in zip(keys, same, strict=False):
        chosen &= own[begin:end] == np.uint64(value)
    return np.flatnonzero(chosen)


def _sorted(
    keys: Sequence[Keys], same: list[int], below: int, low: int, high: int
) -> tuple[Rows, list[Keys]]:
    """Those with these first keys, and with a next one whose bits but for the last `below` are from
    `low` to `high`."""
    found = [np.zeros(0, np.int64)]
    values = [[np.zeros(0, np.uint64)] for _ in keys]
    for begin, end in stretches(len(keys[0])):
        some = _rows_of(keys, same, begin, end)
        leading = keys[len(same)][begin:end][some] >> np.uint64(below)
        some = some[(leading >= np.uint64(low)) & (leading <= np.uint64(high))]
        found.append(begin + some)
        for own, key in zip(values, keys, strict=True):
            own.append(key[begin:end][some])
        _release(keys, begin, end)
    rows, whole = np.concatenate(found), [np.concatenate(own) for own in values]
    order = np.lexsort(whole[len(same) :][::-1])
    return rows[order], [own[order] for own in whole]


def _release(keys: Sequence[Keys], begin: int, end: int) -> None:
    for key in keys:
        _core.release_buffer(key[begin:end])
