"""Compaction: all segments become one, without the documents that were removed, and the corpus is
clustered as if it were new. With another seed its stored text is sketched again.

It is one change like any other: killed at any moment it leaves the corpus as it was.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from roughly.clustering.clock import Clock
from roughly.clustering.sketching import Progress, no_progress
from roughly.clustering.workplace import disk_bytes
from roughly.corpus.forests import sketcher_for, whole_forest
from roughly.corpus.manifest import FORESTS, SEGMENTS, SegmentEntry, checksum_of
from roughly.documents.batch import SCHEMA
from roughly.documents.file import printable
from roughly.errors import ParameterError
from roughly.storage.collection import Collection, Rows
from roughly.storage.index_writer import write_index
from roughly.storage.segment import Segment
from roughly.storage.segment_part import READ
from roughly.storage.segment_writer import SegmentWriter
from roughly.storage.steps import Steps
from roughly.url import lookup_keys

if TYPE_CHECKING:
    from roughly.corpus.change import Change
    from roughly.parameters import Parameters

# Text that is copied at once.
_BATCH_BYTES = 1 << 24


@dataclass(slots=True)
class Compacted:
    """What a compaction did."""

    documents: int = 0
    segments: int = 0  # that were made one
    removed: int = 0  # documents that are gone for good
    bytes_before: int = 0
    bytes_after: int = 0
    stale: list[str] = field(default_factory=list)


def compact_corpus(
    change: Change,
    seed: int | None,
    *,
    threads: int,
    memory_bytes: int,
    progress: Progress = no_progress,
) -> Compacted:
    """Makes one segment of all; sketched anew from the stored text if there is a seed."""
    before, manifest = change.before.collection, change.before.manifest
    parameters = manifest.parameters
    if seed is not None:
        if not manifest.text:
            raise ParameterError(
                f"{printable(str(change.path))}: cannot sketch again: the corpus keeps no text",
                hint="make the corpus again from its documents, without --no-text",
            )
        parameters = replace(parameters, seed=seed)
    clock = Clock()
    compacted = Compacted(
        before.documents, len(before.segments), len(before.removed), _bytes_of(change)
    )
    if not before.documents:
        compacted.stale = change.commit(
            replace(
                manifest,
                parameters=parameters,
                segments=[],
                forest=None,
                forest_checksum=0,
                removed=0,
                phases=[],
            )
        )
        return compacted
    with clock("sketch"):
        segment = _merged_segment(change, before, parameters, threads, progress)
        write_index(
            segment,
            memory_bytes=memory_bytes,
            threads=threads,
            progress=progress,
            canonical=lookup_keys,
            durable=False,  # the commit sees to that
        )
    after = Collection([segment])
    folder = change.new_forest()
    whole_forest(
        change,
        after,
        manifest.settings,
        folder,
        threads=threads,
        memory_bytes=memory_bytes,
        progress=progress,
        clock=clock,
    )
    # Of several sweeps none can speak for all: their documents keep the dates that they were given.
    dates = {entry.date for entry in manifest.segments}
    entry = SegmentEntry(
        segment.directory.name,
        len(segment),
        checksum_of(segment.directory),
        dates.pop() if len(dates) == 1 else None,
    )
    compacted.stale = change.commit(
        replace(
            manifest,
            parameters=parameters,
            segments=[entry],
            forest=folder.name,
            forest_checksum=checksum_of(folder),
            removed=0,
            phases=clock.phases,
        )
    )
    return compacted


def bytes_on_disk(change: Change) -> int:
    """What the documents and the forest of a corpus take now."""
    return _bytes_of(change)


def _bytes_of(change: Change) -> int:
    return sum(disk_bytes(change.path / folder) for folder in (SEGMENTS, FORESTS))


def _merged_segment(
    change: Change,
    collection: Collection,
    parameters: Parameters,
    threads: int,
    progress: Progress,
) -> Segment:
    sketcher = sketcher_for(parameters)
    again = parameters != collection.parameters
    rows = collection.live_rows.astype(np.int64)
    first_source = np.concatenate(
        ([0], np.cumsum([len(segment.sources) for segment in collection.segments]))
    )
    advance = progress("sketch" if again else "copy", len(rows), "documents")
    with (
        Steps(change.work, {}, durable=False) as steps,
        SegmentWriter(
            change.new_segment(),
            parameters,
            text=collection.has_text,
            steps=steps,
            part_rows=collection.part_rows,
            attributes=collection.attributes,
        ) as writer,
    ):
        for some in _stretches(collection, rows):
            batch = _documents(collection, some, first_source)
            if again:
                writer.add(batch, sketcher.sketch_documents(batch, threads).columns)
            else:
                writer.add(batch, collection.sketches(some))
            collection.release()
            advance(len(some))
        return writer.finish(collection.sources, collection.skipped)


def _stretches(collection: Collection, rows: Rows) -> Iterator[Rows]:
    """The rows in pieces of one part each whose text is not too long."""
    for part in np.unique(rows // collection.part_rows).tolist():
        own = rows[rows // collection.part_rows == part]
        ends = np.cumsum(np.asarray(collection.take("bytes", own)).astype(np.int64))
        cuts = np.flatnonzero(np.diff(ends // _BATCH_BYTES)) + 1
        yield from np.split(own, cuts)


def _documents(collection: Collection, rows: Rows, first_source: Rows) -> pa.RecordBatch:
    """Documents as they were read, from where they are stored."""
    columns = {name: collection.take(name, rows) for name in READ}
    number, _ = collection.segment_of(int(rows[0]))
    source = np.asarray(columns["source"]) + first_source[number]
    columns["source"] = pa.array(source.astype(np.int32))
    if collection.has_text:
        columns["content"] = collection.text(rows)
    else:
        # Only the lengths are wanted of a text that is not kept.
        lengths = np.asarray(collection.take("bytes", rows)).astype(np.int64)
        columns["content"] = _blank(lengths)
    batch = pa.RecordBatch.from_arrays([columns[name] for name in SCHEMA.names], schema=SCHEMA)
    for name in collection.attributes:
        batch = batch.append_column(name, collection.take(name, rows))
    return batch


def _blank(lengths: Rows) -> pa.Array:
    offsets = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
    data = pa.py_buffer(bytes(int(offsets[-1])))
    return pa.LargeBinaryArray.from_buffers(
        pa.large_binary(), len(lengths), [None, pa.py_buffer(offsets), data]
    )
