"""In how many documents each feature is, counted by executors: the table of tf-idf weights.

Every task counts its documents; the counts are summed up, and the table, which is as large as the
vocabulary, comes to the driver: it goes to every executor again with the simhasher that it weighs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from roughly.simhashing.frequency import DocumentFrequencies
from roughly.simhashing.simhasher import Simhasher
from roughly.spark.sketching import Fields, read_batch

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def feature_frequencies(
    documents: DataFrame, simhasher: Simhasher, fields: Fields, at_least: int
) -> DocumentFrequencies:
    """The frequencies of the features of readable documents that `at_least` so many have."""
    from pyspark.sql import functions as F

    count = partial(_count, simhasher, fields.content_type)
    parts = documents.select("id", "date", "text").mapInArrow(count, "feature long, documents long")
    sums = parts.groupBy("feature").agg(F.sum("documents").alias("documents"))
    table = sums.where(F.col("feature").isNull() | (F.col("documents") >= at_least)).toArrow()
    features = table.column("feature")
    # The row without a feature has the number of documents.
    every = table.filter(features.is_null()).column("documents")
    known = table.filter(features.is_valid())
    hashes = known.column("feature").to_numpy().view(np.uint64)
    order = np.argsort(hashes)
    counts = known.column("documents").to_numpy()[order].astype(np.uint32)
    total = int(every[0].as_py()) if len(every) else 0
    parameters = replace(simhasher.parameters, weights="count")
    return DocumentFrequencies(parameters, hashes[order], counts, total)


def _count(
    simhasher: Simhasher, content_type: str, arrow: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    counter = simhasher.frequency_counter(threads=1)
    for rows in arrow:
        if len(rows):
            counter.add(read_batch(rows, content_type))
    found = counter.result()
    features = pa.concat_arrays([pa.array(found.features.view(np.int64)), pa.nulls(1, pa.int64())])
    counts = np.append(found.counts.astype(np.int64), found.documents)
    yield pa.RecordBatch.from_pydict({"feature": features, "documents": counts})
