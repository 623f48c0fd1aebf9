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


def number_column(
    batch: pa.RecordBatch | pa.Table, name: str, kind: type = np.int64
) -> npt.NDArray[Any]:
    """A column of numbers without nulls."""
    return np.ascontiguousarray(batch.column(name).to_numpy(zero_copy_only=False)).astype(
        kind, copy=False
    )


def one_array(column: pa.ChunkedArray) -> pa.Array:
    """A column of a group, which may have come in pieces, as a whole."""
    return (
        column.chunk(0)
        if column.num_chunks == 1
        else pa.concat_arrays(column.chunks or [pa.array([], column.type)])
    )


def byte_column(column: pa.Array) -> tuple[npt.NDArray[np.uint8], Offsets]:
    """A binary column's bytes, and where each value begins."""
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


def word_column(column: pa.Array) -> tuple[Values, Offsets]:
    """A binary column of 64-bit words: all of them, and where each value's begin."""
    data, offsets = byte_column(column)
    # A copy, for words must lie where words may lie.
    return np.frombuffer(data.tobytes(), np.uint64), offsets // 8


def binary_column(values: npt.NDArray[Any], offsets: Offsets) -> pa.Array:
    """Back again: values and where each row's begin, as a binary column."""
    data = np.ascontiguousarray(values)
    ends = (offsets * data.itemsize).astype(np.int32)
    buffers = [None, pa.py_buffer(ends), pa.py_buffer(data)]
    return pa.Array.from_buffers(pa.binary(), len(offsets) - 1, buffers)


def hash_column(halves: Values) -> pa.Array:
    """Hashes of two halves, a row each, as 16 bytes."""
    flat = np.ascontiguousarray(halves).ravel()
    return binary_column(flat, np.arange(len(halves) + 1, dtype=np.int64) * 2)


def sketch_set(
    parameters: Parameters, values: Values, offsets: Offsets, size: Any, level: Any
) -> _core.SketchSet:
    """Sketches of some documents, numbered as they come."""
    count = len(offsets) - 1
    name, number = parameters.selection
    return _core.SketchSet(
        [(values, offsets)] if count else [],
        1 << max(count - 1, 0).bit_length(),
        np.arange(count, dtype=np.uint32),
        np.ascontiguousarray(size, dtype=np.uint32),
        np.ascontiguousarray(level, dtype=np.uint8),
        number if name == "min" else 0,
        words=parameters.words > 0,
    )
