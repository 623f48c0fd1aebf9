"""`python -m bench.room WORK --documents N`: the memory that a job takes, and where it takes most.

WORK is cluster, corpus (with its index, tables and report), broder97 or dedup. Documents are short
ones of `bench/shingled_web.py`, generated while they are read. Memory is looked at 200 times a
second: anonymous memory, which no system can take back, and all that is resident, with pages of
mapped files, which it can. Printed are the peaks of both, and the functions in which they grew.
"""

import argparse
import json
import os
import re
import sys
import tempfile
import threading
import time
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import TracebackType

import numpy as np
import pyarrow as pa

import roughly
from bench import process, shingled_web, web
from bench.block_text import GOLDEN, numbered, record_batch
from bench.engine import Stream
from roughly.documents.batch import SCHEMA

MIB = 1 << 20
# Blocks of ten words that a document has, on average: some 26 shingles.
_BLOCKS = 3
_FIGURES = re.compile(r"^(RssAnon|RssFile|RssShmem):\s+(\d+) kB", re.MULTILINE)


class MemoryPeak:
    """The most memory that the process had while the block ran."""

    def __init__(self) -> None:
        self.anonymous = 0
        self.resident = 0
        self.anonymous_at = ""
        self.resident_at = ""
        self.phases: dict[str, tuple[int, int]] = {}  # both, of each function of the outermost
        self._main = threading.main_thread().ident or 0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> "MemoryPeak":
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._ended.set()
        self._thread.join()

    def _watch(self) -> None:
        with open("/proc/self/status", "rb", buffering=0) as file:
            while not self._ended.wait(0.005):
                file.seek(0)
                found = {n: int(kb) << 10 for n, kb in _FIGURES.findall(file.read().decode())}
                anonymous = found["RssAnon"] + found["RssShmem"]
                resident = anonymous + found["RssFile"]
                place = self._place()
                where = " > ".join(place)
                phase = " > ".join(place[:7])
                most = self.phases.get(phase, (0, 0))
                self.phases[phase] = max(most[0], anonymous), max(most[1], resident)
                if anonymous > self.anonymous:
                    self.anonymous, self.anonymous_at = anonymous, where
                if resident > self.resident:
                    self.resident, self.resident_at = resident, where

    def _place(self) -> list[str]:
        """The functions that run, outermost first."""
        frame = sys._current_frames().get(self._main)
        names = []
        while frame is not None:
            if "/roughly/" in frame.f_code.co_filename:
                stem = Path(frame.f_code.co_filename).stem
                names.append(f"{stem}.{frame.f_code.co_name}:{frame.f_lineno}")
            frame = frame.f_back
        return names[::-1]


def batches(documents: int, seed: int = 0, batch_rows: int = 4000) -> Iterator[pa.RecordBatch]:
    """Documents of 20 to 40 words, alike as those of `bench/web.py` are: what differs within a
    cluster is the last word. In the schema of `roughly.documents`."""
    for first in range(0, documents, batch_rows):
        found = web.places(documents, first, min(batch_rows, documents - first))
        own = numbered(16 * seed + 1, found.original)
        count = _BLOCKS - 1 + (own % np.uint64(3)).astype(np.int64)
        ends = np.cumsum(count)
        keys = np.repeat(own - (ends - count).astype(np.uint64) * GOLDEN, count)
        text = shingled_web.text_of(keys + np.arange(len(keys), dtype=np.uint64) * GOLDEN)
        words = text.view(np.uint64)
        last = ends * shingled_web.BLOCK_WORDS - 1
        words[last] = words[last + np.where(found.change, -1 - found.change, 0)]
        yield record_batch(
            first, web.urls(found, first), text, ends * shingled_web.KIND.block_bytes
        )


def work(name: str, stream: Stream, folder: Path, memory: str) -> str:
    """Does it; what it found, in words."""
    if name == "dedup":
        removed = roughly.dedup(stream, content_type="text", text_field="content", memory=memory)
        return f"{removed!r}, {_digest(_removals(removed))}"
    if name == "corpus":
        from roughly.clustering.settings import settings_for
        from roughly.corpus.creation import make_corpus
        from roughly.corpus.results import write_results
        from roughly.documents import open_documents
        from roughly.parameters import memory_or_half
        from roughly.report.cluster_report import gather
        from roughly.sketcher import Sketcher

        sketcher = Sketcher()
        said = []

        def finish(clusters: roughly.Clusters) -> None:
            write_results(clusters, folder / "corpus")
            gather(clusters)
            said.append(repr(clusters))

        make_corpus(
            open_documents(stream, text_field="content", content_type="text"),
            sketcher,
            settings_for(sketcher.parameters),
            folder / "corpus",
            text=False,
            memory_bytes=memory_or_half(memory),
            threads=2,
            finish=finish,
        )
        return said[0]
    preset = None if name == "cluster" else name
    found = roughly.cluster(
        stream, preset=preset, content_type="text", text_field="content", memory=memory
    )
    found.sizes()
    sketches = found.segment.segments[0].directory.glob("sketches-*.arrow")
    size = sum(path.stat().st_size for path in sketches)
    temporary = found.outcome.facts["disk_bytes"] / size
    digest = _digest(found.document_batches())
    return f"{found!r}, {digest}, temporary files {temporary:.2f} times the sketches"


def _digest(tables: Iterable[pa.RecordBatch | pa.Table]) -> str:
    """How many rows there are, and a checksum of them: two runs with the same found the same."""
    rows = total = 0
    for table in tables:
        rows += len(table)
        for column in table.columns:
            chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
            for chunk in chunks:
                # Without what it is a part of.
                for buffer in pa.concat_arrays([chunk]).buffers():
                    total = zlib.crc32(b"" if buffer is None else buffer, total)
    return f"{rows:,} rows with the checksum {total:08x}"


def _removals(found: roughly.Deduplicated) -> Iterator[pa.Table]:
    from roughly.deduplication.removal_file import removal_tables

    return removal_tables(found._removals, found._columns)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("work", choices=("cluster", "corpus", "broder97", "dedup"))
    parser.add_argument("--documents", type=int, required=True)
    parser.add_argument("--memory", default="512M")
    parser.add_argument("--where", action="store_true", help="the peaks of every function")
    options = parser.parse_args()
    stream = Stream(options.documents, lambda: batches(options.documents))
    assert next(iter(stream)).schema == SCHEMA
    with tempfile.TemporaryDirectory(prefix="bench-", dir=os.environ.get("TMPDIR")) as name:
        folder = Path(name)
        tempfile.tempdir = name
        begin, cpu = time.perf_counter(), time.process_time()
        said = ""
        with process.DiskPeak(folder) as disk, MemoryPeak() as peak:
            try:
                said = work(options.work, stream, folder, options.memory)
            except roughly.RoughlyError as error:
                said = str(error)
        spent = time.perf_counter() - begin, time.process_time() - cpu
    if options.where:
        for place, (anonymous, resident) in peak.phases.items():
            print(f"{anonymous / MIB:8.0f} {resident / MIB:8.0f}  {place}")
    print(
        json.dumps(
            {
                "work": options.work,
                "documents": options.documents,
                "memory": options.memory,
                "anonymous_mib": round(peak.anonymous / MIB),
                "anonymous_at": peak.anonymous_at,
                "resident_mib": round(peak.resident / MIB),
                "resident_at": peak.resident_at,
                "disk_mib": round(disk.bytes / MIB),
                "wall_s": round(spent[0]),
                "cpu_s": round(spent[1], 1),
                "found": said,
            },
            indent=1,
        )
    )


if __name__ == "__main__":
    main()
