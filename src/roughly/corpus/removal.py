"""Removing documents: they are gone from everything at once, and from the disk with the next
compaction. Whoever they stood for, or held together, is joined anew.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from roughly.clustering.clock import Clock
from roughly.clustering.sketching import Progress, no_progress
from roughly.corpus.forests import whole_forest
from roughly.corpus.manifest import checksum_of
from roughly.corpus.snapshot import write_removed
from roughly.documents.file import printable
from roughly.errors import ParameterError
from roughly.storage.collection import Collection, Rows

if TYPE_CHECKING:
    from roughly.corpus.change import Change


@dataclass(slots=True)
class Removed:
    """What was removed."""

    documents: int = 0
    missing: list[str] = field(default_factory=list)  # names that no document has
    stale: list[str] = field(default_factory=list)  # tables that told of the state before


def rows_named(
    collection: Collection, names: Iterable[str], date: str | None
) -> tuple[Rows, list[str]]:
    """The rows of all documents of these ids (at one date, if it is given), ascending; and the
    names that none has."""
    wanted = list(dict.fromkeys(names))
    values = pa.array(wanted, pa.string())
    found, seen = [np.zeros(0, np.int64)], set()
    for part in range(collection.parts):
        begin, end = collection.rows(part)
        rows = np.arange(begin, end)
        rows = rows[collection.live[begin:end]]
        ids = collection.take("id", rows)
        hit = np.asarray(pc.is_in(ids, values))
        if date is not None and hit.any():
            dates = collection.take("date", rows)
            hit &= np.asarray(pc.fill_null(pc.equal(dates, date), False))
        found.append(rows[hit])
        seen.update(ids.filter(pa.array(hit)).to_pylist())
    return np.concatenate(found), [name for name in wanted if name not in seen]


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
    rows, missing = rows_named(before, names, date)
    if strict and missing:
        raise ParameterError(
            f"{printable(missing[0])}: cannot remove: no such document",
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
