"""Removing documents: they are gone from everything at once, and from the disk with the next
compaction. Whoever they stood for, or held together, is joined anew.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from roughly.clustering.clock import Clock
from roughly.clustering.sketching import Progress, no_progress
from roughly.corpus.forests import changed_forest
from roughly.corpus.known import Known
from roughly.corpus.manifest import checksum_of
from roughly.corpus.snapshot import write_removed
from roughly.documents.file import printable
from roughly.errors import ParameterError
from roughly.storage.collection import Collection

if TYPE_CHECKING:
    from roughly.corpus.change import Change


@dataclass(slots=True)
class Removed:
    """What was removed."""

    documents: int = 0
    missing: list[str] = field(default_factory=list)  # names that no document has, of that date
    stale: list[str] = field(default_factory=list)  # tables that told of the state before


def remove_documents(
    change: Change,
    names: Iterable[str],
    date: str | None,
    *,
    strict: bool = False,
    threads: int,
    memory_bytes: int,
    progress: Progress = no_progress,
) -> Removed:
    """Removes all documents of these ids, or those of one date."""
    before, manifest = change.before.collection, change.before.manifest
    rows, missing = Known(before).rows_named(list(dict.fromkeys(names)), date)
    if strict and missing:
        raise ParameterError(
            f"{printable(missing[0])}: cannot remove: no such document"
            + (f" of {date}" if date else ""),
            hint="without strict (--strict) it is told and left out",
        )
    removed = Removed(len(rows), missing)
    if not len(rows):
        return removed
    clock = Clock()
    after = Collection(
        before.segments,
        np.union1d(before.removed, rows).astype(np.int64),
        parameters=before.parameters,
        text=manifest.text,
    )
    folder = change.new_forest()
    changed_forest(
        change,
        after,
        folder,
        recount=False,
        threads=threads,
        memory_bytes=memory_bytes,
        progress=progress,
        clock=clock,
    )
    write_removed(folder, after.removed)
    removed.stale = change.commit(
        replace(
            manifest,
            forest=folder.name,
            forest_checksum=checksum_of(folder),
            removed=len(after.removed),
            phases=clock.phases,
        )
    )
    return removed
