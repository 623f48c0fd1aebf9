"""Adding documents: a new segment, and a forest that has them too.

Content that the corpus has already is recognised by its hash and takes the stored sketch over; only
what is new is sketched. What is there with the same id and date is not added again (naming.py).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from roughly import _core
from roughly.clustering.clock import Clock
from roughly.clustering.sketching import (
    Progress,
    attributes_of,
    no_progress,
    plain_skipped,
)
from roughly.corpus.forests import changed_forest, sketcher_for
from roughly.corpus.known import Known
from roughly.corpus.manifest import SegmentEntry, checksum_of
from roughly.corpus.naming import Names
from roughly.corpus.snapshot import write_removed
from roughly.documents.date import iso_date
from roughly.documents.skipped import Skipped
from roughly.errors import ParameterError
from roughly.pipeline import read_ahead
from roughly.storage.collection import Collection
from roughly.storage.index_writer import write_index
from roughly.storage.segment import PART_ROWS, Segment
from roughly.storage.segment_writer import SegmentWriter
from roughly.storage.sketch_table import merged
from roughly.storage.steps import Steps
from roughly.url import lookup_keys

if TYPE_CHECKING:
    from roughly.condition import Condition
    from roughly.corpus.change import Change
    from roughly.documents import Documents

# Text of a batch: what is known already lies all over the corpus, and is read batch by batch.
_BATCH_BYTES = 1 << 23


@dataclass(slots=True)
class Added:
    """What was added."""

    documents: int = 0
    known: int = 0  # of these, documents whose content was there before, or came twice
    renamed: int = 0  # of these, documents whose id and date were taken: `id#2`
    there: int = 0  # not added: documents that are there with the same id, date and content
    skipped: Skipped = field(default_factory=Skipped)
    stale: list[str] = field(default_factory=list)  # tables that told of the state before


def checked_date(date: str | None) -> str | None:
    """A date in the form that documents have it."""
    if date is None:
        return None
    found = iso_date(date) if isinstance(date, str) else None
    if found is None:
        raise ParameterError(f"date: not a date: {date!r}, wanted ISO 8601, as 2026-11-15")
    return found


def add_documents(
    change: Change,
    documents: Documents,
    date: str | None,
    *,
    threads: int,
    memory_bytes: int,
    progress: Progress = no_progress,
) -> Added:
    """Adds a segment of all documents; those without a date of their own get `date`."""
    before, manifest = change.before.collection, change.before.manifest
    if manifest.settings.exact and not manifest.text:
        raise ParameterError(
            "exact: cannot add: the corpus keeps no text to count pairs on",
            hint="make the corpus again, without --no-text or without --exact",
        )
    clock = Clock()
    added = Added()
    with clock("sketch") as phase:
        segment = _write_segment(change, documents, date, added, threads, progress)
        phase.rows = added.documents
    if not added.documents:
        return added
    with clock("index"):
        write_index(
            segment,
            memory_bytes=memory_bytes,
            threads=threads,
            progress=progress,
            canonical=lookup_keys,
            durable=False,  # the commit sees to that
        )
    after = Collection([*before.segments, segment], before.removed)
    folder = change.new_forest()
    changed_forest(
        change,
        after,
        folder,
        recount=True,
        threads=threads,
        memory_bytes=memory_bytes,
        progress=progress,
        clock=clock,
    )
    write_removed(folder, after.removed)
    name, checksum = segment.directory.name, checksum_of(segment.directory)
    added.stale = change.commit(
        replace(
            manifest,
            segments=[*manifest.segments, SegmentEntry(name, len(segment), checksum, date)],
            forest=folder.name,
            forest_checksum=checksum_of(folder),
            phases=clock.phases,
        )
    )
    return added


def _write_segment(
    change: Change,
    documents: Documents,
    date: str | None,
    added: Added,
    threads: int,
    progress: Progress,
) -> Segment:
    collection, manifest = change.before.collection, change.before.manifest
    sketcher, known = sketcher_for(manifest.parameters), Known(collection)
    simhasher = manifest.settings.condition.simhasher
    _check_category(documents, manifest.settings.condition)
    part_rows = collection.part_rows if collection.segments else PART_ROWS
    documents.date = date
    documents.batch_bytes = max(documents.batch_bytes, _BATCH_BYTES)
    advance = progress("sketch", documents.size_bytes or None, "B")
    directory = change.new_segment()
    with (
        Steps(change.work, {}, durable=False) as steps,
        SegmentWriter(
            directory,
            manifest.parameters,
            text=manifest.text,
            steps=steps,
            part_rows=part_rows,
            attributes=attributes_of(documents, simhasher),
        ) as writer,
    ):
        done = 0
        names = Names(known)
        for batch in read_ahead(documents):
            hashes = _core.content_hashes(batch.column("content"), threads)
            batch, hashes = names.given(batch, hashes)
            html = np.asarray(batch.column("html"))
            rows = known.rows_of_content(hashes, html)
            fresh = np.flatnonzero(rows < 0)
            new = batch if len(fresh) == len(batch) else batch.take(pa.array(fresh))
            made = sketcher.sketch_documents(new, threads).columns
            if simhasher is not None:
                simhashes = [simhasher.simhash_documents(new, threads).to_arrow()]
                if len(fresh) < len(batch):
                    simhashes.append(collection.take("simhash", rows[rows >= 0]))
                batch = batch.append_column("simhash", _merged(simhashes, rows < 0))
            if not len(batch):
                pass  # all of it is there
            elif len(fresh) < len(batch):
                stored = collection.sketches(rows[rows >= 0])
                writer.add(batch, merged(made, stored, rows < 0))
            else:
                writer.add(batch, made)
            added.documents += len(batch)
            added.known += len(batch) - len(fresh)
            read = documents.bytes_read
            advance(read - done)
            done = read
        added.renamed, added.there = names.renamed, names.there
        added.skipped = documents.skipped
        documents.skipped.repeated_ids += names.renamed
        sources = [source.name for source in documents.sources]
        return writer.finish(sources, plain_skipped(documents.skipped))


def _check_category(documents: Documents, condition: Condition) -> None:
    """Documents that were opened by the caller must be read with the corpus's categories."""
    if documents.category_field != condition.category_field:
        raise ParameterError(
            f"category field: another than the corpus has: {documents.category_field!r}, wanted"
            f" {condition.category_field!r}",
            hint="open the documents with the category field of the corpus",
        )


def _merged(parts: list[pa.Array], of_first: npt.NDArray[np.bool_]) -> pa.Array:
    """One array of two, given who is of the first."""
    place = np.empty(len(of_first), np.int64)
    place[of_first] = np.arange(of_first.sum())
    place[~of_first] = np.arange((~of_first).sum()) + of_first.sum()
    return pa.concat_arrays(parts).take(pa.array(place))
