"""How many documents have each element, given back to the documents that have it.

The counters are those of src/core/frequency.hpp: 2^bits of them, bits by the number of all
elements. A block of documents counts its own elements and sends them to whoever counts theirs, as
binary values of very many, one for each range of counters; sums come back the same way. So Spark
moves few rows, and an element that all documents have is one number a block.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from roughly.spark.attribute import TYPES
from roughly.spark.column import Values, binary_column, one_array, word_column

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# As in src/core/sketch_set.hpp and frequency.cpp.
MIX = np.uint64(0x9E3779B97F4A7C15)
UNMIX = np.uint64(pow(0x9E3779B97F4A7C15, -1, 1 << 64))
_LEAST_BITS, _MOST_BITS, _LARGEST = 16, 40, 255

# A list of more documents is divided into stripes, which meet in pairs, each pair a task's work.
LONG_LIST = 20_000

# Documents of a block, and how many elements one task sums up at once.
_BLOCK_BITS, _TOGETHER_BITS = 12, 22
_PLAIN = ("number", "size", "level", "kept", "values")
_CELLS = "block long, stretch int, slots binary, counts binary"
_SUMS = "block long, stretch int, sums binary"
_COUNTED = "number long, size long, level int, kept int, values binary, frequencies binary"
_COUNTED += ", long_keys binary, stripes binary"


def frequency_bits(elements: int) -> int:
    """The bits of a counter's number, for so many elements."""
    return min(max(elements.bit_length() + 1, _LEAST_BITS), _MOST_BITS)


def with_frequencies(
    documents: DataFrame, long_list: int = LONG_LIST, more: Sequence[str] = ()
) -> DataFrame:
    """Documents (number, size, level, kept, values, and `more` attributes) with a byte of frequency
    for every element, and those of their elements that very many have, mixed, with the stripes of
    their lists."""
    from pyspark.sql import functions as F

    elements = int(documents.agg(F.coalesce(F.sum("kept"), F.lit(0))).head()[0])
    bits = frequency_bits(elements)
    stretch_bits = max(elements.bit_length() - _TOGETHER_BITS, 0)
    columns = documents.select(*_PLAIN, *more)
    # The same for both groupings, so that Spark shuffles the sketches once.
    blocks = columns.withColumn("block", F.shiftright("number", _BLOCK_BITS))
    cells = blocks.groupBy("block").applyInArrow(_cells(bits, stretch_bits), _CELLS)
    sums = cells.groupBy("stretch").applyInArrow(_sums, _SUMS)
    both = blocks.groupBy("block").cogroup(sums.groupBy("block"))
    schema = ", ".join([_COUNTED, *(f"{name} {TYPES[name]}" for name in more)])
    return both.applyInArrow(_gathered(bits, long_list, [*_PLAIN, *more]), schema)


def _slots(bits: int, values: Values) -> Values:
    """The counters of some elements."""
    return values * MIX >> np.uint64(64 - bits)


def _cells(bits: int, stretch_bits: int) -> Callable[[pa.Table], pa.Table]:
    """The counts of a block, a row for each stretch of counters that it has any of."""

    def cells(block: pa.Table) -> pa.Table:
        values, _ = word_column(one_array(block.column("values")))
        slots, counts = np.unique(_slots(bits, values), return_counts=True)
        stretches, begins = np.unique(slots >> np.uint64(bits - stretch_bits), return_index=True)
        offsets = np.append(begins, len(slots)).astype(np.int64)
        return pa.table(
            {
                "block": pa.array(
                    np.full(len(stretches), block.column("block")[0].as_py(), np.int64)
                ),
                "stretch": pa.array(stretches.astype(np.int32)),
                "slots": binary_column(slots, offsets),
                "counts": binary_column(counts.astype(np.int64), offsets),
            }
        )

    return cells


def _sums(cells: pa.Table) -> pa.Table:
    """The counts of all blocks, summed up: a number for each counter that a block has sent."""
    slots, offsets = word_column(one_array(cells.column("slots")))
    counts, _ = word_column(one_array(cells.column("counts")))
    known, place = np.unique(slots, return_inverse=True)
    sums = np.zeros(len(known), np.int64)
    np.add.at(sums, place, counts.view(np.int64))
    return pa.table(
        {
            "block": cells.column("block"),
            "stretch": cells.column("stretch"),
            "sums": binary_column(sums[place], offsets),
        }
    )


def _gathered(
    bits: int, long_list: int, names: list[str]
) -> Callable[[pa.Table, pa.Table], pa.Table]:
    """The documents of a block with the sums of their elements, which come in stretches."""

    def gathered(block: pa.Table, sums: pa.Table) -> pa.Table:
        values, offsets = word_column(one_array(block.column("values")))
        _, place = np.unique(_slots(bits, values), return_inverse=True)
        found, _ = word_column(one_array(sums.sort_by("stretch").column("sums")))
        counts = found.view(np.int64)[place]
        long = counts > long_list
        ends = np.concatenate(([0], np.cumsum(long)))[offsets]
        return pa.table(
            {
                **{name: block.column(name) for name in names},
                "frequencies": binary_column(np.minimum(counts, _LARGEST).astype("u1"), offsets),
                "long_keys": binary_column(values[long] * MIX, ends),
                "stripes": binary_column(-(-counts[long] // long_list), ends),
            }
        )

    return gathered


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
