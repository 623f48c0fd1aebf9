"""How many documents have each element, given back to the documents that have it.

The counters are those of src/core/frequency.hpp: 2^bits of them, bits by the number of all
elements. A block of documents counts its own elements and sends them to whoever counts theirs, as
binary values of very many, one for each range of counters; sums come back the same way. So Spark
moves few rows, and an element that all documents have is one number a block.

Whoever has a block's sketches and their frequencies in hand also says what the search for masses
looks at: keys and signatures, some hundred bytes of a document, so that it reads no sketches.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from roughly import _core
from roughly.clustering.join import MassRule
from roughly.parameters import Parameters
from roughly.spark.attribute import TYPES
from roughly.spark.block import by_block
from roughly.spark.column import (
    MIX,
    Numbers,
    Values,
    binary_column,
    byte_column,
    number_column,
    sketch_set,
    word_column,
)
from roughly.spark.signature import WORDS, signatures

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# As in src/core/frequency.cpp.
_LEAST_BITS, _MOST_BITS, _LARGEST = 16, 40, 255

# A list of more documents is divided into stripes, which meet in pairs, each pair a task's work.
LONG_LIST = 20_000

# How many elements one task sums up at once; so counters of a stretch have 23 bits or fewer.
_TOGETHER_BITS = 22
_PLAIN = ("number", "size", "level", "kept", "values")
_CELLS = "block long, stretch int, slots binary, counts binary"
_SUMS = "block long, stretch int, sums binary"
_COUNTED = "number long, size long, level int, kept int, values binary, frequencies binary"
_COUNTED += ", long_keys binary, stripes binary, keys binary, upper long, signature binary"


def frequency_bits(elements: int) -> int:
    """The bits of a counter's number, for so many elements."""
    return min(max(elements.bit_length() + 1, _LEAST_BITS), _MOST_BITS)


def with_frequencies(
    documents: DataFrame,
    parameters: Parameters,
    rule: MassRule,
    long_list: int = LONG_LIST,
    more: Sequence[str] = (),
) -> DataFrame:
    """Documents (number, size, level, kept, values, and `more` attributes) with a byte of frequency
    for every element; those of their elements that very many have, mixed, with the stripes of their
    lists; and the keys by which masses are found, with their signatures."""
    from pyspark.sql import functions as F

    elements = int(documents.agg(F.coalesce(F.sum("kept"), F.lit(0))).head()[0])
    bits = frequency_bits(elements)
    stretch_bits = max(elements.bit_length() - _TOGETHER_BITS, 0)
    blocks = by_block(documents.select(*_PLAIN, *more))
    cells = blocks.applyInArrow(_cells(bits, stretch_bits), _CELLS)
    sums = cells.groupBy("stretch").applyInArrow(_sums, _SUMS)
    both = blocks.cogroup(sums.groupBy("block"))
    schema = ", ".join([_COUNTED, *(f"{name} {TYPES[name]}" for name in more)])
    gather = _gathered(bits, long_list, parameters, rule, [*_PLAIN, *more])
    return both.applyInArrow(gather, schema)


def _slots(bits: int, values: Values) -> Values:
    """The counters of some elements."""
    return values * MIX >> np.uint64(64 - bits)


def _cells(bits: int, stretch_bits: int) -> Callable[[pa.Table], pa.Table]:
    """The counts of a block, a row for each stretch of counters that it has any of."""

    def cells(block: pa.Table) -> pa.Table:
        values, _ = word_column(block.column("values"))
        slots, counts, _ = _core.distinct(_slots(bits, values), bits)
        stretches, begins = np.unique(slots >> np.uint64(bits - stretch_bits), return_index=True)
        offsets = np.append(begins, len(slots)).astype(np.int64)
        inside = slots & np.uint64((1 << (bits - stretch_bits)) - 1)
        number = block.column("block")[0].as_py()
        return pa.table(
            {
                "block": pa.array(np.full(len(stretches), number, np.int64)),
                "stretch": pa.array(stretches.astype(np.int32)),
                "slots": binary_column(inside.astype(np.uint32), offsets),
                "counts": binary_column(np.minimum(counts, 0xFFFF).astype(np.uint16), offsets),
            }
        )

    return cells


def _sums(cells: pa.Table) -> pa.Table:
    """The counts of all blocks, summed up: a number for each counter that a block has sent."""
    data, ends = byte_column(cells.column("slots"))
    slots = data.view(np.uint32)
    counts = byte_column(cells.column("counts"))[0].view(np.uint16)
    table = np.bincount(slots, counts).astype(np.uint32)
    return pa.table(
        {
            "block": cells.column("block"),
            "stretch": cells.column("stretch"),
            "sums": binary_column(table[slots], ends // 4),
        }
    )


def _gathered(
    bits: int, long_list: int, parameters: Parameters, rule: MassRule, names: list[str]
) -> Callable[[pa.Table, pa.Table], pa.Table]:
    """The documents of a block with the sums of their elements, which come in stretches."""

    def gathered(block: pa.Table, sums: pa.Table) -> pa.Table:
        values, offsets = word_column(block.column("values"))
        _, _, place = _core.distinct(_slots(bits, values), bits)
        found, _ = byte_column(sums.sort_by("stretch").column("sums"))
        counts = found.view(np.uint32)[place].astype(np.int64)
        long = counts > long_list
        ends = np.concatenate(([0], np.cumsum(long)))[offsets]
        frequencies = np.minimum(counts, _LARGEST).astype(np.uint8)
        size, level = number_column(block, "size"), number_column(block, "level")
        sketches = sketch_set(parameters, values, offsets, size, level)
        sketches.use_frequencies([frequencies])
        keys, begins = sketches.mass_keys(rule.least_frequency, rule.keys, 0, len(size), 1)
        folded, upper = signatures(values, offsets, level)
        ends_of_folded = np.arange(len(size) + 1, dtype=np.int64) * WORDS
        return pa.table(
            {
                **{name: block.column(name) for name in names},
                "frequencies": binary_column(frequencies, offsets),
                "long_keys": binary_column(values[long] * MIX, ends),
                "stripes": binary_column(-(-counts[long] // long_list), ends),
                "keys": binary_column(np.asarray(keys), np.asarray(begins)),
                "upper": pa.array(upper),
                "signature": binary_column(folded.ravel(), ends_of_folded),
            }
        )

    return gathered


def stripes_of(keys: Values, long_keys: Values, stripes: Numbers) -> Numbers:
    """In how many stripes the list of each key is divided; 1 for most."""
    found: npt.NDArray[np.int64] = np.ones(len(keys), np.int64)
    if not len(long_keys):
        return found
    known, first = np.unique(long_keys, return_index=True)
    at = np.searchsorted(known, keys)
    at[at == len(known)] = 0
    hit = known[at] == keys
    found[hit] = stripes[first[at[hit]]]
    return found
