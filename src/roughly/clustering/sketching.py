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
from roughly.storage.segment import Segment
from roughly.storage.segment_writer import SegmentWriter
from roughly.storage.steps import Steps

if TYPE_CHECKING:
    import pyarrow as pa

    from roughly.documents import Documents
    from roughly.simhashing.simhasher import Simhasher
    from roughly.sketcher import Sketcher

# name of a phase, its total, the unit of that -> a function to be told of every step
Progress = Callable[[str, int | None, str], Callable[[int], None]]


def no_progress(name: str, total: int | None, unit: str) -> Callable[[int], None]:
    return lambda done: None


def identity(
    documents: Documents, sketcher: Sketcher, simhasher: Simhasher | None = None
) -> dict[str, Any]:
    """What a segment depends on: two runs with the same may share it."""
    inputs: list[list[Any]] = []
    for source in documents.sources:
        if source.path is None:
            inputs.append([source.name])
            continue
        try:
            status = os.stat(source.path)
            if not os.access(source.path, os.R_OK):
                raise PermissionError
            # A copy of standard input is made anew each time: what is in it counts.
            mark = _checksum(source.path) if source.spooled else status.st_mtime_ns
            # What was found is read with more care than what was named.
            inputs.append([source.name, status.st_size, mark, source.found, source.wanted])
        except OSError:
            inputs.append([source.name, None])
    simhash = {} if simhasher is None else {"simhash": asdict(simhasher.parameters)}
    return simhash | {
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
    simhasher: Simhasher | None = None,
) -> Segment:
    """The segment of all documents, or what an earlier run has made of it; with simhashes if there
    is a simhasher, and with categories if the documents are read with them."""
    if steps.done("segment"):
        segment = Segment(directory)
        if all(steps.done(f"part-{part:05}") for part in range(segment.parts)):
            return segment
    advance = progress("sketch", documents.size_bytes or None, "B")
    attributes = attributes_of(documents, simhasher)
    simhashing = None if simhasher is None else simhasher.simhash_documents
    with SegmentWriter(
        directory, sketcher.parameters, text=text, steps=steps, attributes=attributes
    ) as writer:
        done = 0
        unread = behind(documents, writer.rows_done)
        for taken in sketched(unread, sketcher, writer.taken, threads, simhashing):
            writer.put(taken)
            read = documents.bytes_read
            advance(read - done)
            done = read
        names = [source.name for source in documents.sources]
        segment = writer.finish(names, plain_skipped(documents.skipped))
    give_back_memory()
    return segment


def attributes_of(documents: Documents, simhasher: Simhasher | None) -> dict[str, Any]:
    """The columns beside the usual ones that documents will have in a segment."""
    found: dict[str, Any] = {}
    if simhasher is not None:
        found["simhash"] = asdict(simhasher.parameters)
    if documents.category_field is not None:
        found["category"] = documents.category_field
    return found


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
