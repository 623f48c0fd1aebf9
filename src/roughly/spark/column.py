"""Columns as they travel between Spark and the core.

Spark has no unsigned numbers and is slow with lists. So a sketch is a binary value of 8 bytes an
element, its frequencies one of a byte an element, a hash one of 16 bytes: each is copied as a
whole, never element by element.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from roughly import _core
from roughly.parameters import Parameters

Values = npt.NDArray[np.uint64]
Offsets = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.int64]

# As in src/core/sketch_set.hpp: what mixes the bits of an element, and what takes that back.
MIX = np.uint64(0x9E3779B97F4A7C15)
UNMIX = np.uint64(pow(0x9E3779B97F4A7C15, -1, 1 << 64))


def number_column(
    batch: pa.RecordBatch | pa.Table, name: str, kind: type = np.int64
) -> npt.NDArray[Any]:
    """A column of numbers without nulls."""
    return np.ascontiguousarray(batch.column(name).to_numpy(zero_copy_only=False)).astype(
        kind, copy=False
    )


def byte_column(column: pa.Array | pa.ChunkedArray) -> tuple[npt.NDArray[np.uint8], Offsets]:
    """A binary column's bytes, and where each value begins; a group's may come in pieces."""
    if isinstance(column, pa.ChunkedArray):
        # Put together here: an Arrow array of bytes ends at 2 GB.
        pieces = [byte_column(piece) for piece in column.chunks] or [byte_column(pa.array([]))]
        if len(pieces) == 1:
            return pieces[0]
        lengths = np.concatenate([np.diff(offsets) for _, offsets in pieces])
        return np.concatenate([data for data, _ in pieces]), np.append(0, np.cumsum(lengths))
    if not len(column):
        return np.zeros(0, np.uint8), np.zeros(1, np.int64)
    if pa.types.is_large_binary(column.type):
        kind: Any = np.int64
    else:
        column, kind = column.cast(pa.binary()), np.int32
    raw = np.frombuffer(column.buffers()[1], kind)
    offsets = raw[column.offset : column.offset + len(column) + 1].astype(np.int64)
    data = column.buffers()[2]
    every = np.zeros(0, np.uint8) if data is None else np.frombuffer(data, np.uint8)
    return every[offsets[0] : offsets[-1]], offsets - offsets[0]


def word_column(column: pa.Array | pa.ChunkedArray) -> tuple[Values, Offsets]:
    """A binary column of 64-bit words: all of them, and where each value's begin."""
    data, offsets = byte_column(column)
    return aligned(data).view(np.uint64), offsets // 8


def aligned(data: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """The same bytes where words may lie."""
    return data if data.ctypes.data % 8 == 0 else data.copy()


def binary_column(values: npt.NDArray[Any], offsets: Offsets) -> pa.Array:
    """Back again: values and where each row's begin, as a binary column."""
    data = np.ascontiguousarray(values)
    ends = (offsets * data.itemsize).astype(np.int32)
    buffers = [None, pa.py_buffer(ends), pa.py_buffer(data.view(np.uint8))]
    return pa.Array.from_buffers(pa.binary(), len(offsets) - 1, buffers)


def hash_column(halves: Values) -> pa.Array:
    """Hashes of two halves, a row each, as 16 bytes."""
    flat = np.ascontiguousarray(halves).ravel()
    return binary_column(flat, np.arange(len(halves) + 1, dtype=np.int64) * 2)


def sketch_set(
    parameters: Parameters,
    values: Values,
    offsets: Offsets,
    size: Any,
    level: Any,
    order: Numbers | None = None,
) -> _core.SketchSet:
    """Sketches of some documents, numbered as they come, or in an order."""
    count = len(offsets) - 1
    rows = np.arange(count) if order is None else order
    name, number = parameters.selection
    return _core.SketchSet(
        [(values, offsets)] if count else [],
        1 << max(count - 1, 0).bit_length(),
        rows.astype(np.uint32),
        np.ascontiguousarray(size, dtype=np.uint32),
        np.ascontiguousarray(level, dtype=np.uint8),
        number if name == "min" else 0,
        words=parameters.words > 0,
    )
