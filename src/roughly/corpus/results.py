"""A clustering as tables that other programs read: documents, clusters and pairs, as Parquet."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from roughly.storage.durable import sync, temporary, writing

if TYPE_CHECKING:
    from roughly.clustering import Clusters

NAMES = ("documents.parquet", "clusters.parquet", "pairs.parquet")


def write_results(clusters: Clusters, directory: Path) -> None:
    """Writes the three tables, each in place of an earlier one."""
    of_clusters = clusters.clusters()
    _write(directory / NAMES[0], clusters.document_schema, clusters.document_batches())
    _write(directory / NAMES[1], of_clusters.schema, of_clusters.to_batches())
    _write(directory / NAMES[2], clusters.pair_schema, clusters.pair_batches())


def _write(path: Path, schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> None:
    part = temporary(path)
    with writing(path):
        with pq.ParquetWriter(part, schema, compression="zstd") as writer:
            for batch in batches:
                writer.write_batch(batch)
        sync(part)
        part.replace(path)
