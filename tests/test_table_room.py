"""Tables of many documents with little memory: pages of files go as soon as they were read, and
pairs come many at a time."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import roughly
from roughly import Sketcher
from roughly.clustering import common
from roughly.clustering.expansion import Expansion
from roughly.clustering.outcome import read_pairs, write_pairs
from roughly.clustering.room import CORPUS_BYTES
from roughly.documents import open_documents
from roughly.storage.collection import Collection
from roughly.storage.segment_writer import SegmentWriter
from roughly.storage.steps import Steps
from roughly.verification.column import Columns
from tests.test_mapping import needs_proc, of_files

MIB = 1 << 20


def long_id(number: int) -> str:
    return f"{number:05}" * 1600


def many_parts(folder: Path) -> Collection:
    """128 parts, each with ids of 125 KiB."""
    rows = [{"id": long_id(n), "text": f"word{n}", "date": "2026"} for n in range(2048)]
    documents, sketcher = open_documents(rows), Sketcher()
    with Steps(folder, {}, durable=False) as steps:
        writer = SegmentWriter(
            folder / "segment", sketcher.parameters, text=False, steps=steps, part_rows=16
        )
        for batch in documents:
            writer.add(batch, sketcher.sketch_documents(batch).columns)
        return Collection([writer.finish([], {})])


@needs_proc
def test_a_column_of_many_parts_leaves_no_pages(tmp_path: Path) -> None:
    """Neither when its parts are checked nor when values are taken from all over them."""
    collection = many_parts(tmp_path)
    columns = Columns(collection)
    before = of_files()
    assert columns.take("id", np.array([7]))[0].as_py() == long_id(7)
    assert of_files() < before + 2 * MIB
    rows = np.random.default_rng(1).permutation(2048)
    found = columns.take("id", rows)
    assert of_files() < before + 2 * MIB
    # Where dates are read, the system maps what lies around them as well.
    assert columns.take("date", rows).unique().to_pylist() == ["2026"]
    assert of_files() < before + 2 * MIB
    assert [id[:5] for id in found.to_pylist()] == [f"{row:05}" for row in rows.tolist()]


@needs_proc
@pytest.mark.parametrize("table", ["document_batches", "cluster_batches", "pair_batches"])
def test_a_table_leaves_no_pages(table: str) -> None:
    texts = [" ".join(f"w{n // 2}x{i}" for i in range(30)) + f" end{n}" for n in range(2000)]
    found = roughly.cluster([{"id": long_id(n), "text": t} for n, t in enumerate(texts)])
    found.segment.release()
    before = of_files()
    batches: Iterator[pa.RecordBatch] = getattr(found, table)()
    assert sum(len(batch) for batch in batches) >= 1000
    assert of_files() < before + 4 * MIB


def test_short_tables_of_pairs_come_together(tmp_path: Path) -> None:
    """The same pairs in the same order; long tables are cut."""
    rng = np.random.default_rng(2)
    lengths = [*rng.integers(0, 50, 5000).tolist(), 300_000, 0, 7]
    tables = [rng.integers(0, 1000, (length, 4), np.uint32) for length in lengths]
    write_pairs(tmp_path / "pairs.arrow", tables)
    found = list(read_pairs(tmp_path / "pairs.arrow"))
    assert (np.concatenate(found) == np.concatenate(tables)).all()
    assert all(1 << 16 <= len(table) < 1 << 17 for table in found[:-1])
    write_pairs(tmp_path / "none.arrow", [])
    assert sum(map(len, read_pairs(tmp_path / "none.arrow"))) == 0


def test_the_largest_clusters() -> None:
    sizes = [2, 5, 3, 5, 1, 4, 2]
    rows = [
        {"id": f"{n}-{i}", "text": " ".join(f"w{n}x{j}" for j in range(40 + i))}
        for n, size in enumerate(sizes)
        for i in range(size)
    ]
    for linkage in ("single", "star"):
        found = roughly.cluster(rows, linkage=linkage)  # type: ignore[arg-type]
        order = [("size", "descending"), ("cluster", "ascending")]
        for most in (0, 3, 100):
            assert found.largest(most) == found.clusters().sort_by(order).slice(0, most)
    assert found.largest(3).column("representative").to_pylist() == ["1-0", "3-0", "5-0"]
    assert len(roughly.cluster([]).largest(3)) == 0


def test_common_shingles_keep_to_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """That of the clusters unless another is given; what they are does not depend on it."""
    budgets = []

    class Watched(Expansion):
        def __init__(self, *args: Any, budget_bytes: int, **named: Any) -> None:
            budgets.append(budget_bytes)
            super().__init__(*args, budget_bytes=budget_bytes, **named)

    monkeypatch.setattr(common, "Expansion", Watched)
    texts = [" ".join(f"w{n % m}" for m in range(1, 40)) + f" own{n}" for n in range(200)]
    found = roughly.cluster(texts, memory="512M")
    wanted = common.common_shingles(found, 9)
    assert len(wanted) == 9
    assert common.common_shingles(found, 9, 40_000) == wanted
    assert budgets == [(512 * MIB - 200 * CORPUS_BYTES) // 4, (40_000 - 200 * CORPUS_BYTES) // 4]
