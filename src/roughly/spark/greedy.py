"""The dedup rule over pairs: documents are taken in order, and one goes if and only if an earlier
one that stays removes it.

In rounds: whoever no earlier undecided document could remove stays, and all that it removes go. A
round takes both out of the pairs that are left; when these fit in one task the core decides the
rest. So two documents that go never matter to each other, and nothing goes by a chain.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from roughly import _core
from roughly.spark.column import number_column

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from roughly.spark.checkpoint import Checkpoints

_REMOVED = 2


def removed_of(pairs: DataFrame, name: str, checkpoints: Checkpoints, fitting: int) -> DataFrame:
    """The numbers of all that go, by pairs (a, b) of which a removes b if a stays; a < b."""
    left = checkpoints.keep(f"{name}-0", pairs.select("a", "b"))
    gone, number = None, 0
    while left.count() > fitting:
        number += 1
        later = left.selectExpr("b as a").distinct()
        staying = left.select("a").distinct().join(later, "a", "left_anti")
        going = checkpoints.keep(
            f"{name}-gone-{number}", left.join(staying, "a").selectExpr("b as number").distinct()
        )
        gone = going if gone is None else gone.unionByName(going)
        left = left.join(going.withColumnRenamed("number", "b"), "b", "left_anti")
        left = left.join(going.withColumnRenamed("number", "a"), "a", "left_anti")
        left = checkpoints.keep(f"{name}-{number}", left.select("a", "b"))
    rest = left.coalesce(1).mapInArrow(_decide, "number long")
    return checkpoints.keep(name, rest if gone is None else gone.unionByName(rest))


def _decide(arrow: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    parts = [np.stack([number_column(batch, n) for n in "ab"], axis=1) for batch in arrow]
    if not sum(map(len, parts)):
        return
    documents, small = np.unique(np.concatenate(parts), return_inverse=True)
    pairs = np.ones((small.size // 2, 4), np.uint32)  # all reach a threshold of 1
    pairs[:, :2] = small.reshape(-1, 2)
    place = np.arange(len(documents), dtype=np.uint32)
    exact = np.ones(len(pairs), np.uint8)
    parts_of = np.zeros((len(pairs), 2), np.uint32)
    fate, _, _ = _core.greedy_decide(
        pairs, exact, parts_of, place, place, (1, 1), (0, 0), 0.0, False
    )
    yield pa.RecordBatch.from_pydict({"number": documents[fate == _REMOVED]})
