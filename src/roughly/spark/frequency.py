"""How many documents have each element, given back to the documents that have it.

The counters are those of src/core/frequency.hpp: 2^bits of them, bits by the number of all
elements. Spark counts them (an aggregate that is combined before it is shuffled) and joins the
counts with the elements; a counter that very many share is a skewed join, which Spark splits.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from roughly.spark.column import Values, binary_column, number_column, word_column

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# As in src/core/sketch_set.hpp and frequency.cpp.
MIX = np.uint64(0x9E3779B97F4A7C15)
_LEAST_BITS, _MOST_BITS, _LARGEST = 16, 40, 255

# A list of more documents is divided into stripes, which meet in pairs, each pair a task's work.
LONG_LIST = 20_000

_ELEMENTS = "slot long, number long, place int"
_COUNTED = "number long, size long, level int, kept int, values binary, frequencies binary"
_COUNTED += ", long_keys binary, stripes binary"


def frequency_bits(elements: int) -> int:
    """The bits of a counter's number, for so many elements."""
    return min(max(elements.bit_length() + 1, _LEAST_BITS), _MOST_BITS)


def with_frequencies(documents: DataFrame, long_list: int = LONG_LIST) -> DataFrame:
    """Documents (number, size, level, kept, values) with a byte of frequency for every element, and
    those of their elements that very many have, mixed, with the stripes of their lists."""
    from pyspark.sql import functions as F

    elements = int(documents.agg(F.coalesce(F.sum("kept"), F.lit(0))).head()[0])
    spread = partial(_elements, frequency_bits(elements))
    every = documents.select("number", "values").mapInArrow(spread, _ELEMENTS)
    counts = every.groupBy("slot").count().where("count > 1")
    # Whoever is not there has frequency 1.
    shared = every.join(counts, "slot").select(
        "number",
        F.shiftleft(F.col("place").cast("long"), 40).bitwiseOR(F.col("count")).alias("at"),
    )
    by_document = shared.groupBy("number").agg(F.collect_list("at").alias("shared"))
    joined = documents.select("number", "size", "level", "kept", "values").join(
        by_document, "number", "left"
    )
    return joined.mapInArrow(partial(_gathered, long_list), _COUNTED)


def _elements(bits: int, arrow: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """An element a row: its counter, its document, its place among the document's."""
    for batch in arrow:
        values, offsets = word_column(batch.column("values"))
        lengths = np.diff(offsets)
        yield pa.RecordBatch.from_pydict(
            {
                "slot": (values * MIX >> np.uint64(64 - bits)).astype(np.int64),
                "number": np.repeat(number_column(batch, "number"), lengths),
                "place": places(offsets).astype(np.int32),
            }
        )


def _gathered(long_list: int, arrow: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in arrow:
        values, offsets = word_column(batch.column("values"))
        counts = np.ones(len(values), np.int64)
        shared = batch.column("shared")
        at = shared.flatten().to_numpy(zero_copy_only=False)
        lengths = shared.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
        if len(at):
            counts[np.repeat(offsets[:-1], lengths) + (at >> 40)] = at & ((1 << 40) - 1)
        long = counts > long_list
        ends = np.concatenate(([0], np.cumsum(long)))[offsets]
        yield pa.RecordBatch.from_pydict(
            {
                **{n: batch.column(n) for n in ("number", "size", "level", "kept", "values")},
                "frequencies": binary_column(np.minimum(counts, _LARGEST).astype("u1"), offsets),
                "long_keys": binary_column(values[long] * MIX, ends),
                "stripes": binary_column(-(-counts[long] // long_list), ends),
            }
        )


def places(offsets: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """0, 1, 2, ... within every row."""
    count = int(offsets[-1])
    made: npt.NDArray[np.int64] = np.arange(count) - np.repeat(offsets[:-1], np.diff(offsets))
    return made


def stripes_of(keys: Values, long_keys: Values, stripes: npt.NDArray[np.int64]) -> Values:
    """In how many stripes the list of each key is divided; 1 for most."""
    found = np.ones(len(keys), np.uint64)
    if not len(long_keys):
        return found
    known, first = np.unique(long_keys, return_index=True)
    at = np.searchsorted(known, keys)
    at[at == len(known)] = 0
    hit = known[at] == keys
    found[hit] = stripes[first[at[hit]]].astype(np.uint64)
    return found
