"""Documents that are generated while they are clustered, and what clustering them takes.

`run_phases` is the one place that calls the engine. `measured` runs it in this process, which
should do nothing else, and says what it took; `in_process` starts such a process.
"""

import importlib
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

import roughly
from bench import process
from bench.memory import peak_bytes
from roughly.documents.batch import SCHEMA

# The engine's phases by the paper's names; forming and merging pairs is one of ours.
PHASES = {
    "sketch": "Sketching",
    "equivalents": "Duplicate elimination",
    "sort": "Shingle merging",
    "pairs": "ID-ID merging",
    "forest": "Cluster formation",
}


class Stream:
    """Documents that are made when they are read, and made again when they are read again; counts
    the seconds that this takes."""

    def __init__(self, documents: int, batches: Callable[[], Iterator[pa.RecordBatch]]) -> None:
        self.seconds = 0.0
        self.cpu_seconds = 0.0
        self.bytes = 0
        self._documents = documents
        self._batches = batches

    def __len__(self) -> int:
        return self._documents

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        batches = self._batches()
        while True:
            begin, cpu = time.perf_counter(), time.thread_time()
            batch = next(batches, None)
            self.seconds += time.perf_counter() - begin
            self.cpu_seconds += time.thread_time() - cpu
            if batch is None:
                return
            self.bytes += batch["content"].nbytes
            yield batch

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        # Readers know a table by this.
        return pa.RecordBatchReader.from_batches(SCHEMA, self).__arrow_c_stream__(requested_schema)


@dataclass(frozen=True)
class Clustering:
    """What the engine says of a run."""

    clusters: int
    clustered: int  # documents in them
    largest: int  # documents
    # CPU seconds by the paper's names of its phases (bench/web1997.py), where they are told apart
    phases: dict[str, float] = field(default_factory=dict)
    elements: int | None = None  # of all sketches
    pairs: int | None = None  # expanded


def run_phases(
    stream: Stream,
    folder: Path,
    *,
    preset: str | None,
    threshold: float,
    floor: float | None = None,
    html: bool = False,
    memory: str | None = None,
) -> Clustering:
    """Clusters the documents of a stream, with temporary files in `folder`: THE CALL OF THE ENGINE.

    What the engine tells of its phases, its elements and its pairs is handed on.
    """
    result = roughly.cluster(
        stream,
        threshold,
        floor=floor,
        preset=preset,
        content_type="html" if html else "text",
        text_field="content",
        memory=memory,
    )
    sizes = result.sizes()
    facts = result.outcome.facts
    phases = {PHASES[phase.name]: phase.cpu_seconds for phase in result.phases}
    phases["Sketching"] -= stream.cpu_seconds
    return Clustering(
        len(sizes),
        int(sizes.sum()),
        int(sizes.max(initial=0)),
        phases,
        facts.get("elements"),
        facts.get("expanded"),
    )


@dataclass(frozen=True)
class Run:
    """A clustering and what it took."""

    documents: int
    bytes: int  # of content
    wall_s: float  # all of it
    cpu_s: float
    generation_s: float  # of that
    generation_cpu_s: float
    peak_bytes: int
    disk_bytes: int
    clustering: Clustering

    @property
    def processing_cpu_s(self) -> float:
        return self.cpu_s - self.generation_cpu_s


def measured(stream: Stream, folder: Path, **options: Any) -> Run:
    """Clusters in this process."""
    with process.DiskPeak(folder) as disk:
        begin, cpu = time.perf_counter(), time.process_time()
        clustering = run_phases(stream, folder, **options)
        wall, cpu = time.perf_counter() - begin, time.process_time() - cpu
    return Run(
        documents=len(stream),
        bytes=stream.bytes,
        wall_s=wall,
        cpu_s=cpu,
        generation_s=stream.seconds,
        generation_cpu_s=stream.cpu_seconds,
        peak_bytes=peak_bytes(),
        disk_bytes=disk.bytes,
        clustering=clustering,
    )


def in_process(module: str, options: dict[str, Any], parent: Path) -> Run:
    """`module.cluster(folder, **options)`, which returns a Run, in a process of its own."""
    with tempfile.TemporaryDirectory(prefix="bench-", dir=parent) as name:
        work = Path(name) / "work"
        work.mkdir()
        result = Path(name) / "result.json"
        words = [module, json.dumps(options), str(work), str(result)]
        # It may take an hour, and nothing is printed before all is done.
        shown = ", ".join(f"{key} {value}" for key, value in options.items())
        print(f"bench: clustering: {shown}", file=sys.stderr, flush=True)
        process.run(
            [sys.executable, "-m", "bench.engine", *words],
            # Temporary files that are put where the system wants them are seen as well.
            {"TMPDIR": str(work)},
        )
        found = json.loads(result.read_text("utf-8"))
    return Run(**{**found, "clustering": Clustering(**found["clustering"])})


if __name__ == "__main__":
    os.environ.pop("ROUGHLY_SIMD", None)
    _, _module, _options, _work, _result = sys.argv
    _run = importlib.import_module(_module).cluster(Path(_work), **json.loads(_options))
    Path(_result).write_text(json.dumps(asdict(_run)), "utf-8")
