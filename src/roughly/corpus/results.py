"""A clustering as tables that other programs read: documents, clusters and pairs, as Parquet.

`results.json` has the size and the checksum of each of them, and of the report beside them, so that
`verify` can tell whether they are still what was written.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from roughly import _core
from roughly.documents.file import printable, reason
from roughly.errors import RoughlyError
from roughly.pipeline import give_back_memory
from roughly.storage.checked import CheckedMap, checked_writer, sidecar
from roughly.storage.durable import sync, temporary, writing

if TYPE_CHECKING:
    from roughly.clustering import Clusters

NAMES = ("documents.parquet", "clusters.parquet", "pairs.parquet")
REPORT = "report.html"
_SEAL = "results.json"
_SEALS = (_SEAL, sidecar(Path(_SEAL)).name)
RESULTS = (*NAMES, REPORT, *_SEALS)


def write_results(clusters: Clusters, directory: Path) -> None:
    """Writes the three tables, each in place of an earlier one. `seal_results` must follow."""
    _unseal(directory)
    _write(directory / NAMES[0], clusters.document_schema, clusters.document_batches())
    _write(directory / NAMES[1], clusters.cluster_schema, clusters.cluster_batches())
    _write(directory / NAMES[2], clusters.pair_schema, clusters.pair_batches())


def remove_results(directory: Path) -> list[str]:
    """Removes what is no longer true of a corpus; returns the names of tables and report."""
    there = [name for name in (*NAMES, REPORT) if (directory / name).exists()]
    with writing(directory):
        _unseal(directory)
        for name in there:
            (directory / name).unlink()
        sync(directory)
    return there


def _unseal(directory: Path) -> None:
    """First, and on the disk: tables without it may be missing, with it they must not be."""
    with writing(directory):
        for name in _SEALS:
            (directory / name).unlink(missing_ok=True)
        sync(directory)


def seal_results(directory: Path) -> None:
    """Notes what the tables and the report are; the last step of writing them."""
    sums = {name: _sum(directory / name) for name in (*NAMES, REPORT)}
    with checked_writer(directory / _SEAL) as file:
        file.write(json.dumps(sums, indent=1).encode() + b"\n")


def result_problems(directory: Path) -> Iterator[str]:
    """What is wrong with them, a line a file."""
    if not (directory / _SEAL).exists():
        return
    try:
        sums = json.loads(bytes(CheckedMap(directory / _SEAL).view()))
    except RoughlyError as error:
        yield error.message
        return
    for name, (size, checksum) in sums.items():
        path = directory / name
        try:
            found = _sum(path)
        except OSError as error:
            yield f"{printable(str(path))}: damaged: {reason(error)}"
            continue
        if found != [size, checksum]:
            yield (
                f"{printable(str(path))}: damaged: {found[0]:,} bytes with the checksum"
                f" {found[1]:08x}, wanted {size:,} with {checksum:08x}"
            )


def _sum(path: Path) -> list[int]:
    size = checksum = 0
    with path.open("rb") as file:
        while data := file.read(1 << 22):
            size += len(data)
            checksum = _core.crc32c(data, checksum)
    return [size, checksum]


def _write(path: Path, schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> None:
    part = temporary(path)
    with writing(path):
        with pq.ParquetWriter(part, schema, compression="zstd") as writer:
            for batch in batches:
                writer.write_batch(batch)
        sync(part)
        part.replace(path)
    give_back_memory()
