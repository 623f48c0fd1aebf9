"""Categories of documents as they stand in records, as text: equal texts are one category.

Numbers and truth values become their JSON text, in every format the same: `1`, `1.0`, `true`. Null
stands for a record that lacks the field or has null in it. A list, an object, or bytes that are no
UTF-8 are no category: null too, and counted.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import date
from typing import Any

import pyarrow as pa

# What a reader hands on for a list or an object: no UTF-8, so that it is counted as no category.
NO_CATEGORY = b"\xff"


def category_texts(column: pa.Array) -> tuple[pa.Array, int]:
    """A column of any type as categories, and how many values were none."""
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pa.types.is_floating(column.type):
        # Arrow's own text of 1.0 is 1. Few different values make this cheap.
        encoded = column.dictionary_encode()
        names = pa.array([json.dumps(value) for value in encoded.dictionary.to_pylist()])
        texts = pa.DictionaryArray.from_arrays(encoded.indices, names.cast(pa.string()))
        return texts.cast(pa.string()), 0
    try:
        return column.cast(pa.string()), 0
    except pa.ArrowNotImplementedError:  # a type without a text, as a list
        return pa.nulls(len(column), pa.string()), len(column) - column.null_count
    except pa.ArrowInvalid:  # bytes that are no UTF-8, some of them
        read = pa.array([_utf8(value) for value in column.to_pylist()], pa.string())
        return read, read.null_count - column.null_count


def category_value(value: Any) -> bytes | None:
    """One value of a Python caller, for a column of bytes; NO_CATEGORY if it is none."""
    if value is None or isinstance(value, bytes):
        return value
    if isinstance(value, str):
        return value.encode("utf-8", "replace")
    if isinstance(value, float):
        return json.dumps(float(value)).encode()
    if isinstance(value, date):
        return value.isoformat().encode()
    if isinstance(value, Iterable):
        return NO_CATEGORY
    text = str(value)
    return (text.lower() if text in ("True", "False") else text).encode("utf-8", "replace")


def _utf8(value: bytes | None) -> str | None:
    try:
        return None if value is None else value.decode()
    except UnicodeDecodeError:
        return None
