"""What a run holds in memory of every document: it must be no more than room.py reckons with.

Everything that is as long as the documents are many goes to files here, and what is done some at a
time is done a few at a time. What is allocated is counted for some documents and for three times as
many, all different: the difference is what documents take. (Counted are the arrays of NumPy and the
objects of Python, not what the core has.)
"""

import gc
import random
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from roughly import Sketcher
from roughly.clustering import run as run_module
from roughly.clustering.room import CLUSTERING_BYTES, CORPUS_BYTES, DEDUPLICATION_BYTES
from roughly.clustering.run import run_phases
from roughly.clustering.settings import settings_for
from roughly.clustering.sketching import write_segment
from roughly.deduplication import decision
from roughly.deduplication.decision import decide
from roughly.deduplication.pool import Pool
from roughly.deduplication.rule import make_rule
from roughly.documents import Documents, open_documents
from roughly.storage import scratch
from roughly.storage.index_writer import write_index
from roughly.storage.scratch import Scratch
from roughly.storage.segment import Segment
from roughly.storage.steps import Steps
from roughly.verification.contents import Contents

FEW, MANY = 1 << 14, 3 << 14
MEMORY = 1 << 22
# Files of 4,096 documents each, and what else Python has of them.
PART_BYTES = 6

SKETCHER = Sketcher(w=3)


@pytest.fixture(autouse=True)
def little(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scratch, "LEAST_BYTES", 1)
    monkeypatch.setattr(scratch, "_STEP", 1 << 8)
    # The same for few and for many.
    for module in (run_module, decision):
        monkeypatch.setattr(module, "room_beside", lambda *_: MEMORY)


def made_segment(count: int, folder: Path, in_twos: bool = False) -> tuple[Documents, Segment]:
    """Documents of eight words that nobody else has, or only one other document, in an order that
    is not that of their ids."""
    rng = random.Random(5)
    texts = [rng.randbytes(24).hex(" ", 3) for _ in range(count)]
    if in_twos:
        texts[1::2] = [f"{text} more" for text in texts[: count // 2 * 2 : 2]]
    ids = [f"{number * 7919 % count:08}" for number in range(count)]
    documents = open_documents(pa.table({"id": ids, "text": texts}), content_type="text")
    folder.mkdir()
    steps = Steps(folder, {}, durable=False)
    segment = write_segment(documents, SKETCHER, folder / "s", steps, text=False, threads=1)
    return documents, segment


def bytes_a_document(run: Callable[[Documents, Segment, Path], None], folder: Path) -> float:
    peaks = []
    for count in (1, FEW, MANY):  # What is done once, such as importing, counts for the first.
        documents, segment = made_segment(count, folder / str(count))
        gc.collect()
        tracemalloc.start()
        run(documents, segment, folder / str(count))
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    return (peaks[2] - peaks[1]) / (MANY - FEW)


def test_dedup(tmp_path: Path) -> None:
    def run(documents: Documents, segment: Segment, folder: Path) -> None:
        contents = Contents(documents, segment, folder)
        rule = make_rule(0.7, None, None, False, SKETCHER)
        pool = Pool(segment, contents, scratch=Scratch(folder))
        assert len(decide(pool, rule, SKETCHER, 1, MEMORY, folder).removals()) == 0

    assert bytes_a_document(run, tmp_path) < DEDUPLICATION_BYTES + PART_BYTES


def test_dedup_while_it_writes(tmp_path: Path) -> None:
    """Who goes is known and why is not, where half of all documents go."""
    held = []
    for count in (2, FEW, MANY):
        folder = tmp_path / str(count)
        documents, segment = made_segment(count, folder, in_twos=True)
        gc.collect()
        tracemalloc.start()
        pool = Pool(segment, Contents(documents, segment, folder), scratch=Scratch(folder))
        rule = make_rule(0.7, None, None, False, SKETCHER)
        decided = decide(pool, rule, SKETCHER, 1, MEMORY, folder)
        gc.collect()
        held.append(tracemalloc.get_traced_memory()[0])
        tracemalloc.stop()
        assert (decided.removed == np.arange(1, count, 2)).all()
        assert (decided.removals().kept == np.arange(0, count, 2)).all()
    assert (held[2] - held[1]) / (MANY - FEW) < DEDUPLICATION_BYTES


def test_cluster(tmp_path: Path) -> None:
    def run(documents: Documents, segment: Segment, folder: Path) -> None:
        settings = settings_for(SKETCHER.parameters)
        steps = Steps(folder / "run", {}, durable=False)
        found = run_phases(segment, settings, folder / "run", steps, threads=1, memory_bytes=MEMORY)
        assert len(found.order) == len(segment)
        assert np.array_equal(found.groups.representative, np.arange(len(segment)))

    assert bytes_a_document(run, tmp_path) < CLUSTERING_BYTES + PART_BYTES


def test_the_index(tmp_path: Path) -> None:
    def run(documents: Documents, segment: Segment, folder: Path) -> None:
        write_index(segment, memory_bytes=MEMORY, threads=1, durable=False)

    assert bytes_a_document(run, tmp_path) < CORPUS_BYTES + PART_BYTES
