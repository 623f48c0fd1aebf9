"""Maximum spanning forests of pairs that may be more than one machine holds.

The forest of a union is the forest of the forests. So every task makes the forest of its own pairs,
with the core's kernel, and hands on its links alone; then fewer tasks do the same with these. When
the links that are left fit in one task it makes the last forest. Where they never do, the links are
divided by their components, each of which is in one task.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from roughly import _core
from roughly.spark.column import number_column
from roughly.spark.components import components
from roughly.spark.counting import PAIRS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from roughly.spark.checkpoint import Checkpoints

# Links that one task holds: some 100 bytes each while they are sorted.
FITTING = 4_000_000
# Of a round: how many tasks' links come together in one.
_TOGETHER = 8
_NAMES = ("a", "b", "common", "sampled")
# Pairs that a task gathers before it makes a forest of them.
_WAITING = 1 << 20


def spanning_forest(
    pairs: DataFrame, name: str, checkpoints: Checkpoints, fitting: int = FITTING
) -> DataFrame:
    """The links of the maximum spanning forest of all pairs."""
    links = pairs.select(*_NAMES)
    if links.count() <= fitting:
        return checkpoints.keep(name, links.coalesce(1).mapInArrow(_local_forest, PAIRS))
    partitions = links.rdd.getNumPartitions()
    number = 0
    while True:
        links = checkpoints.keep(f"{name}-{number}", links.mapInArrow(_local_forest, PAIRS))
        count = links.count()
        if partitions <= 1:
            return links
        if count <= fitting:
            return checkpoints.keep(name, links.coalesce(1).mapInArrow(_local_forest, PAIRS))
        if partitions <= _TOGETHER:
            break
        partitions = -(-partitions // _TOGETHER)
        links = links.repartition(partitions, "a")
        number += 1
    found = components(links.select("a", "b"), f"{name}-components", checkpoints, fitting)
    of_link = links.join(found.withColumnRenamed("number", "a"), "a")
    parted = of_link.repartition("component").select(*_NAMES)
    return checkpoints.keep(name, parted.mapInArrow(_local_forest, PAIRS))


def _local_forest(arrow: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The forest of the pairs of one task."""
    held = np.zeros((0, 4), np.int64)
    waiting: list[np.ndarray] = []
    count = 0
    for batch in arrow:
        waiting.append(np.stack([number_column(batch, n) for n in _NAMES], axis=1))
        count += len(batch)
        if count > max(_WAITING, len(held)):
            held = _forest([held, *waiting])
            waiting, count = [], 0
    if count:
        held = _forest([held, *waiting])
    if len(held):
        columns = [np.ascontiguousarray(column) for column in held.T]
        yield pa.RecordBatch.from_pydict(dict(zip(_NAMES, columns, strict=True)))


def _forest(tables: list[np.ndarray]) -> np.ndarray:
    pairs = np.concatenate(tables)
    # The kernel numbers documents in 32 bits; in their order those of a task are numbered anew.
    documents, small = np.unique(pairs[:, :2], return_inverse=True)
    table = np.concatenate((small.reshape(-1, 2), pairs[:, 2:]), axis=1).astype(np.uint32)
    links = _core.spanning_forest(np.ascontiguousarray(table), len(documents)).astype(np.int64)
    links[:, :2] = documents[links[:, :2]]
    return links
