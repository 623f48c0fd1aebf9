"""Connected components of a graph that may be larger than a machine: for every document of an edge
the first one of its component.

Alternating rounds of large-star and small-star (Kiveris and others, 2014): large-star links every
larger neighbour of a node to the smallest of node and neighbours, small-star the smaller ones and
the node itself. Nothing changes when all edges are stars around their smallest. Rounds stop early:
when the edges that are left fit in one task a union-find there finishes.
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

_COMPONENTS = "number long, component long"


def components(edges: DataFrame, name: str, checkpoints: Checkpoints, fitting: int) -> DataFrame:
    """number and component, the number of its first document, of everybody who has an edge."""
    from pyspark.sql import functions as F

    edges = edges.select("a", "b")
    if edges.count() <= fitting:
        return checkpoints.keep(name, edges.coalesce(1).mapInArrow(_union_find, _COMPONENTS))
    edges = checkpoints.keep(f"{name}-0", edges.dropDuplicates())
    before, number = None, 0
    while (count := edges.count()) > fitting:
        fact = (count, edges.agg(F.sum(F.hash("a", "b").cast("long"))).head()[0])
        if fact == before:
            # Stars already: every edge goes from the first of a component to another one.
            stars = edges.select(F.col("b").alias("number"), F.col("a").alias("component"))
            own = edges.select(F.col("a").alias("number"), F.col("a").alias("component"))
            return checkpoints.keep(name, stars.unionByName(own.dropDuplicates()))
        before = fact
        number += 1
        edges = checkpoints.keep(f"{name}-{number}", small_star(large_star(edges)))
    return checkpoints.keep(name, edges.coalesce(1).mapInArrow(_union_find, _COMPONENTS))


def large_star(edges: DataFrame) -> DataFrame:
    """Every larger neighbour of a node, linked to the smallest of the node and its neighbours.
    Edges go from the smaller to the larger."""
    from pyspark.sql import functions as F

    both = edges.unionByName(edges.selectExpr("b as a", "a as b"))
    smallest = both.groupBy("a").agg(F.least(F.col("a"), F.min("b")).alias("first"))
    moved = edges.join(smallest, "a").where("first <> b")
    return moved.selectExpr("first as a", "b").dropDuplicates()


def small_star(edges: DataFrame) -> DataFrame:
    """Every smaller neighbour of a node, and the node, linked to the smallest of them."""
    from pyspark.sql import functions as F

    smallest = edges.groupBy("b").agg(F.min("a").alias("first"))
    joined = edges.join(smallest, "b")
    smaller = joined.where("first <> a").selectExpr("first as a", "a as b")
    own = smallest.selectExpr("first as a", "b")
    return smaller.unionByName(own).dropDuplicates()


def _union_find(arrow: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    parts = [np.stack([number_column(batch, n) for n in "ab"], axis=1) for batch in arrow]
    if not parts or not sum(map(len, parts)):
        return
    documents, small = np.unique(np.concatenate(parts), return_inverse=True)
    table = np.zeros((small.size // 2, 4), np.uint32)
    table[:, :2] = small.reshape(-1, 2)
    first = _core.components(table, len(documents), 0, 1)
    yield pa.RecordBatch.from_pydict({"number": documents, "component": documents[first]})
