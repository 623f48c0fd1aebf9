"""Pairs counted on their sketches, which come to where the pairs are.

A pair is counted in the block of its second document. Every block asks for the sketches that its
pairs need, each once, however many pairs it is in; Spark joins them to it, and the core counts. A
document that very many blocks ask for is a skewed join, which Spark knows how to divide. Where all
blocks ask for few, what they ask for is sent to every executor instead, and sketches that nobody
wants stay where they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from roughly.condition import NO_CONDITION, Condition
from roughly.parameters import Parameters
from roughly.spark.attribute import attribute_columns, attributes_in
from roughly.spark.block import BLOCK_BITS, MESSAGES, messages, records_of
from roughly.spark.column import Numbers, number_column, sketch_set, word_column

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from roughly.spark.checkpoint import Checkpoints

# Sketches that are asked for which every executor hears of: 16 bytes each.
FEW = 1 << 19

# of a table of pairs and the levels at which they meet: which are wanted
Choose = Callable[[npt.NDArray[np.uint32], Numbers], npt.NDArray[np.bool_]]

PAIRS = "a long, b long, common long, sampled long"
# A pair in the block of its second document: the first one, the second one's place in the block,
# and a rank. So pairs are numbers, and sorted by them.
RANK_BITS = 5
_SECOND = (1 << BLOCK_BITS) - 1
_FIRST_SHIFT = BLOCK_BITS + RANK_BITS
_PAIR_BYTES = 8

_WANTED = "asker long, number long"


@dataclass(frozen=True)
class Counted:
    """Pairs of one block, counted: a pair of two numbers, its rank, and both documents' sizes."""

    a: Numbers
    b: Numbers
    rank: Numbers
    sizes: tuple[Numbers, Numbers]
    counts: npt.NDArray[np.uint32]  # as PairTable; the documents have other numbers there
    level: Numbers

    def __getitem__(self, some: npt.NDArray[np.bool_] | Numbers) -> Counted:
        sizes = self.sizes[0][some], self.sizes[1][some]
        columns = self.a[some], self.b[some], self.rank[some]
        return Counted(*columns, sizes, self.counts[some], self.level[some])

    def columns(self) -> dict[str, Numbers]:
        """The columns of PAIRS."""
        common, sampled = self.counts[:, 2].astype(np.int64), self.counts[:, 3].astype(np.int64)
        return {"a": self.a, "b": self.b, "common": common, "sampled": sampled}


Finish = Callable[[Counted], dict[str, Numbers]]


def pair_messages(a: Numbers, b: Numbers, rank: Numbers | int = 0) -> pa.Table:
    """Pairs for the blocks of their second documents."""
    code = (a << _FIRST_SHIFT) | ((b & _SECOND) << RANK_BITS) | rank
    return messages(b >> BLOCK_BITS, code)


def counted(
    pairs: DataFrame,
    documents: DataFrame,
    parameters: Parameters,
    measure: str,
    choose: Choose | None = None,
    condition: Condition = NO_CONDITION,
    finish: Finish = Counted.columns,
    schema: str = PAIRS,
    few: bool = False,
) -> DataFrame:
    """Pairs (a, b) counted: all that meet a condition, or those of them that are chosen by their
    counts and the level at which they meet. `few` says that they have up to FEW documents."""
    sent = pairs.select("a", "b").mapInArrow(_send, MESSAGES)
    return counted_messages(
        sent, documents, parameters, measure, choose, condition, finish, schema, few
    )


def kept_messages(sent: DataFrame, name: str, checkpoints: Checkpoints) -> tuple[DataFrame, bool]:
    """`pair_messages` as a table, every pair once, and whether they are few."""
    from pyspark.sql import functions as F

    kept = checkpoints.keep(name, sent.groupBy("receiver").applyInArrow(_once, MESSAGES))
    sent_bytes = kept.agg(F.coalesce(F.sum(F.length("data")), F.lit(0))).head()[0]
    return kept, 2 * int(sent_bytes) // _PAIR_BYTES <= FEW


def counted_messages(
    sent: DataFrame,
    documents: DataFrame,
    parameters: Parameters,
    measure: str,
    choose: Choose | None = None,
    condition: Condition = NO_CONDITION,
    finish: Finish = Counted.columns,
    schema: str = PAIRS,
    few: bool = False,
) -> DataFrame:
    """The same of `pair_messages`, in which a pair may be several times."""
    from pyspark.sql import functions as F

    pairs = sent.groupBy("receiver")
    wanted = pairs.applyInArrow(_wanted, _WANTED)
    more = attribute_columns(condition) if condition.filters else []
    sketches = documents.select("number", "size", "level", "values", *more)
    sketches = sketches.join(F.broadcast(wanted) if few else wanted, "number")
    both = pairs.cogroup(sketches.groupBy("asker"))
    return both.applyInArrow(_counting(parameters, measure, choose, condition, finish), schema)


def _send(arrow: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in arrow:
        if len(batch):
            sent = pair_messages(number_column(batch, "a"), number_column(batch, "b"))
            yield from sent.to_batches()


def _once(rows: pa.Table) -> pa.Table:
    """The pairs of a block without repetition."""
    return pair_messages(*_pairs_of(rows))


def _pairs_of(rows: pa.Table) -> tuple[Numbers, Numbers, Numbers]:
    """Of every pair once: both documents and its least rank."""
    code = np.sort(records_of(rows, np.int64))
    pair = code >> RANK_BITS
    code = code[np.concatenate(([True], pair[1:] != pair[:-1]))]
    block = int(rows.column("receiver")[0].as_py()) << BLOCK_BITS
    b = ((code >> RANK_BITS) & _SECOND) + block
    return code >> _FIRST_SHIFT, b, code & ((1 << RANK_BITS) - 1)


def _wanted(rows: pa.Table) -> pa.Table:
    """The documents whose sketches a block asks for."""
    a, b, _ = _pairs_of(rows)
    numbers = np.unique(np.concatenate((a, b)))
    block = np.full(len(numbers), rows.column("receiver")[0].as_py(), np.int64)
    return pa.table({"asker": pa.array(block), "number": pa.array(numbers)})


def _counting(
    parameters: Parameters,
    measure: str,
    choose: Choose | None,
    condition: Condition,
    finish: Finish,
) -> Callable[[pa.Table, pa.Table], pa.Table]:
    """What counts the pairs of a block, given the sketches of all their documents."""

    def count(rows: pa.Table, sketches: pa.Table) -> pa.Table:
        a, b, rank = _pairs_of(rows)
        values, offsets = word_column(sketches.column("values"))
        number, size, level = (number_column(sketches, n) for n in ("number", "size", "level"))
        order = np.argsort(number)
        table = np.zeros((len(a), 4), np.uint32)
        for side, documents in enumerate((a, b)):
            table[:, side] = np.searchsorted(number, documents, sorter=order)
        if condition.filters:
            attributes = attributes_in(sketches, condition)
            met = attributes.comparable(order[table[:, 0]], order[table[:, 1]])
            a, b, rank, table = a[met], b[met], rank[met], table[met]
        sets = sketch_set(parameters, values, offsets, size, level, order)
        counts = sets.measure(measure, table, 1)
        first, second = order[table[:, 0]], order[table[:, 1]]
        found = Counted(
            a,
            b,
            rank,
            (size[first], size[second]),
            counts,
            np.maximum(level[first], level[second]),
        )
        if choose is not None:
            found = found[choose(found.counts, found.level)]
        return pa.table({name: pa.array(column) for name, column in finish(found).items()})

    return count
