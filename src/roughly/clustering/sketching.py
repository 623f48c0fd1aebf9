"""Phase 1: documents to a segment, which goes on behind the last complete part after a kill."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from roughly import _core
from roughly.documents.skipped import Skipped, Unread
from roughly.pipeline import give_back_memory, sketched
from roughly.storage.segment import Segment, SegmentWriter
from roughly.storage.steps import Steps

if TYPE_CHECKING:
    import pyarrow as pa

    from roughly.documents import Documents
    from roughly.sketcher import Sketcher

# name of a phase, its total, the unit of that -> a function to be told of every step
Progress = Callable[[str, int | None, str], Callable[[int], None]]


def no_progress(name: str, total: int | None, unit: str) -> Callable[[int], None]:
    return lambda done: None


def identity(documents: Documents, sketcher: Sketcher) -> dict[str, Any]:
    """What a segment depends on: two runs with the same may share it."""
    inputs: list[list[Any]] = []
    for source in documents.sources:
        if source.path is None:
            inputs.append([source.name])
            continue
        try:
            status = os.stat(source.path)
            # A copy of standard input is made anew each time: what is in it counts.
            mark = _checksum(source.path) if source.spooled else status.st_mtime_ns
            inputs.append([source.name, status.st_size, mark])
        except OSError:
            inputs.append([source.name, None])
    return {
        "sketch": asdict(sketcher.parameters),
        "inputs": inputs,
        "reading": documents.options,
    }


def _checksum(path: str) -> int:
    total = 0
    with open(path, "rb") as file:
        while data := file.read(1 << 24):
            total = _core.crc32c(data, total)
    return total


def write_segment(
    documents: Documents,
    sketcher: Sketcher,
    directory: Path,
    steps: Steps,
    *,
    text: bool,
    threads: int,
    progress: Progress = no_progress,
) -> Segment:
    """The segment of all documents, or what an earlier run has made of it."""
    if steps.done("segment"):
        segment = Segment(directory)
        if all(steps.done(f"part-{part:05}") for part in range(segment.parts)):
            return segment
    advance = progress("sketch", documents.size_bytes or None, "B")
    with SegmentWriter(directory, sketcher.parameters, text=text, steps=steps) as writer:
        done = 0
        for batch, columns in sketched(behind(documents, writer.rows_done), sketcher, threads):
            writer.add(batch, columns)
            read = documents.bytes_read
            advance(read - done)
            done = read
        names = [source.name for source in documents.sources]
        segment = writer.finish(names, plain_skipped(documents.skipped))
    give_back_memory()
    return segment


def behind(batches: Iterable[pa.RecordBatch], rows: int) -> Iterator[pa.RecordBatch]:
    """The documents behind the first `rows`."""
    for batch in batches:
        if rows >= len(batch):
            rows -= len(batch)
            continue
        yield batch.slice(rows) if rows else batch
        rows = 0


def plain_skipped(skipped: Skipped) -> dict[str, Any]:
    """What was not read, as JSON has it."""
    return {
        "reasons": dict(skipped.reasons),
        "first": [list(unread) for unread in skipped.first],
        "ignored": dict(skipped.ignored),
        "repeated_ids": skipped.repeated_ids,
        "unread_dates": skipped.unread_dates,
    }


def read_skipped(plain: dict[str, Any]) -> Skipped:
    """The same, back from JSON."""
    return Skipped(
        False,
        Counter(plain["reasons"]),
        [Unread(*unread) for unread in plain["first"]],
        Counter(plain["ignored"]),
        plain["repeated_ids"],
        plain["unread_dates"],
    )
