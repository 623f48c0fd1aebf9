"""Making a segment's index with little memory: the same bytes, whatever the memory, and what is
done at once keeps to it."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from roughly import Sketcher, _core
from roughly.documents import open_documents
from roughly.storage import index_writer, scratch
from roughly.storage.index_writer import write_index
from roughly.storage.segment import Segment
from roughly.storage.segment_writer import SegmentWriter
from roughly.storage.steps import Steps

MIB = 1 << 20


def some_segment(folder: Path) -> Segment:
    """Documents with common words, every fifth a copy of an earlier one."""
    rng = np.random.default_rng(1)
    texts = [" ".join(f"w{n}" for n in rng.integers(0, 40, 30)) for _ in range(800)]
    texts += [texts[n] for n in rng.integers(0, 50, 200).tolist()]
    documents, sketcher = open_documents(texts), Sketcher(w=2, select="all", words=40)
    with Steps(folder, {}, durable=False) as steps:
        writer = SegmentWriter(
            folder / "segment", sketcher.parameters, text=False, steps=steps, part_rows=128
        )
        for batch in documents:
            writer.add(batch, sketcher.sketch_documents(batch).columns)
        return writer.finish([], {})


def index_bytes(folder: Path, memory_bytes: int) -> dict[str, bytes]:
    segment = some_segment(folder)
    write_index(segment, memory_bytes=memory_bytes, threads=2, durable=False)
    assert segment.verify() == []
    return {path.name: path.read_bytes() for path in segment.directory.glob("index*")}


def test_the_same_bytes_with_little_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A few rows and one partition at a time, all arrays in files."""
    wanted = index_bytes(tmp_path / "much", 512 * MIB)
    assert len(wanted["index-copies.bin"]) > 4 * 200
    monkeypatch.setattr(scratch, "LEAST_BYTES", 1)
    monkeypatch.setattr(scratch, "_STEP", 37)
    assert index_bytes(tmp_path / "little", 50_000) == wanted


def test_sizes_of_partitions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same whether postings are in memory or in a file: those that each has."""
    seen: list[list[int]] = []

    def together(sizes: list[int], most: int) -> list[tuple[int, int]]:
        seen.append(sizes)
        return [(n, n + 1) for n in range(len(sizes))]

    monkeypatch.setattr(index_writer, "_together", together)
    assert index_bytes(tmp_path / "much", 512 * MIB) == index_bytes(tmp_path / "little", 50_000)
    assert seen[0] == seen[1]
    values = [some_segment(tmp_path / "again").chunk(part) for part in range(7)]
    assert 0 < sum(seen[0]) < sum(len(chunk) for chunk, _ in values)
    assert len(seen[0]) == _core.PARTITIONS


@given(st.lists(st.integers(0, 10), min_size=1, max_size=80), st.integers(0, 30))
def test_partitions_that_are_inverted_together(sizes: list[int], most: int) -> None:
    """All, one after the other; as many as there is room for."""
    found = list(index_writer._together(sizes, most))
    assert [n for first, last in found for n in range(first, last)] == list(range(len(sizes)))
    for first, last in found:
        assert last == first + 1 or (last - first <= 32 and sum(sizes[first:last]) <= most)
    for first, last in found[:-1]:
        assert last - first == 32 or sum(sizes[first : last + 1]) > most
