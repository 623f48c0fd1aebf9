"""Banded MinHash on Spark as common recipes have it, to be compared with: a Python function a
document, 128 permutations, bands, a group for each value of a band, and connected components by
large-star and small-star.

The shingles are five words. 25 bands of 5 rows (125 of the 128) have their steepest point near a
resemblance of 0.5. Nothing here uses roughly.
"""

import re
from collections.abc import Iterator
from typing import Any
from zlib import crc32

import numpy as np

PERMUTATIONS, BANDS, ROWS = 128, 25, 5
WIDTH = 5
_PRIME = np.uint64((1 << 61) - 1)
_WORD = re.compile(r"\w+")

_random = np.random.RandomState(1)
# Products wrap around at 2^64 before the remainder is taken, as usual.
_A = _random.randint(1, int(_PRIME), PERMUTATIONS, dtype=np.uint64)
_B = _random.randint(0, int(_PRIME), PERMUTATIONS, dtype=np.uint64)


def signature(text: str) -> np.ndarray:
    """The minima of all permutations."""
    words = _WORD.findall(text.lower())
    count = max(len(words) - WIDTH + 1, 1)
    shingles = {" ".join(words[i : i + WIDTH]) for i in range(count)}
    hashes = np.fromiter((crc32(s.encode()) for s in shingles), np.uint64, len(shingles))
    return ((hashes[:, None] * _A + _B) % _PRIME).min(axis=0)


def bands_of(row: Any) -> Iterator[tuple[tuple[int, bytes], int]]:
    """Of a document (number, text): each band with its value, and the document."""
    minima = signature(row["text"])
    for band in range(BANDS):
        yield (band, minima[band * ROWS : (band + 1) * ROWS].tobytes()), row["number"]


def components(frame: Any) -> dict[int, int]:
    """number -> the smallest number of its component, of documents that share a band."""
    from pyspark.sql import functions as F

    session = frame.sparkSession
    buckets = frame.rdd.flatMap(bands_of).groupByKey().mapValues(sorted)
    edges = buckets.flatMap(lambda pair: [(pair[1][0], other) for other in pair[1][1:]])
    table = session.createDataFrame(edges, "a long, b long").distinct().localCheckpoint()
    before = None
    while True:
        both = table.union(table.select("b", "a"))
        smallest = both.groupBy("a").agg(F.least(F.col("a"), F.min("b")).alias("first"))
        larger = table.join(smallest, "a").where("first <> b").selectExpr("first as a", "b")
        larger = larger.distinct().localCheckpoint()
        least = larger.groupBy("b").agg(F.min("a").alias("first"))
        moved = larger.join(least, "b").where("first <> a").selectExpr("first as a", "a as b")
        table = moved.union(least.selectExpr("first as a", "b")).distinct().localCheckpoint()
        fact = table.agg(F.count("*"), F.sum(F.hash("a", "b").cast("long"))).head()
        if fact == before:
            break
        before = fact
    return {row["b"]: row["a"] for row in table.collect()}
