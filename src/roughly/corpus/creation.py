"""Making a corpus: an empty one, or all at once from documents, by a run that can be continued."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from roughly import _core
from roughly.clustering import cluster_documents
from roughly.clustering.outcome import FOREST
from roughly.clustering.room import CORPUS_BYTES, room_beside
from roughly.clustering.sketching import Progress, no_progress
from roughly.corpus.change import WORK
from roughly.corpus.manifest import (
    FORESTS,
    MANIFEST,
    SEGMENTS,
    Manifest,
    SegmentEntry,
    checksum_of,
    is_corpus,
)
from roughly.corpus.results import RESULTS
from roughly.documents.file import printable
from roughly.errors import DocumentError
from roughly.pipeline import give_back_memory
from roughly.storage.collection import Collection
from roughly.storage.durable import finished_names, make_directory, sync
from roughly.storage.index_writer import write_index
from roughly.storage.lock import WriterLock
from roughly.url import lookup_keys

if TYPE_CHECKING:
    from roughly.clustering.settings import Settings
    from roughly.documents import Documents
    from roughly.sketcher import Sketcher

# What a run keeps until its corpus is complete.
_JOURNAL = ("steps.json", "steps")


def make_empty(
    directory: Path, sketcher: Sketcher, settings: Settings, *, text: bool, force: bool
) -> None:
    """A corpus without documents."""
    _refuse(directory, force)
    make_directory(directory)
    with WriterLock(directory):
        _refuse(directory, force)
        _clear(directory)
        Manifest(sketcher.parameters, settings, text, [], None).write(directory)
        sync(directory.absolute().parent)


def make_corpus(
    documents: Documents,
    sketcher: Sketcher,
    settings: Settings,
    directory: Path,
    *,
    text: bool = True,
    memory_bytes: int,
    threads: int,
    force: bool = False,
    progress: Progress = no_progress,
    finish: Any = None,
) -> None:
    """Clusters documents into a new corpus, or goes on with a run that did not finish. `finish` is
    called with the clusters before the corpus counts as complete."""
    _refuse(directory, force)
    leave_out(documents, directory)
    make_directory(directory)
    with WriterLock(directory), _core.ResidentLimit(memory_bytes):
        if not force:
            _refuse_corpus(directory)  # One that another process has just completed.
        if force or not (directory / _JOURNAL[0]).exists():
            # What cannot be read at all must not cost what is there.
            next(iter(documents), None)
            _clear(directory)  # What is there without a journal is left of a corpus.
        found = cluster_documents(
            documents,
            sketcher,
            settings,
            directory,
            text=text,
            memory_bytes=memory_bytes,
            threads=threads,
            document_bytes=CORPUS_BYTES,
            progress=progress,
        )
        assert isinstance(found.segment, Collection)
        (segment,) = found.segment.segments
        write_index(
            segment,
            memory_bytes=room_beside(memory_bytes, len(segment), CORPUS_BYTES),
            threads=threads,
            progress=progress,
            canonical=lookup_keys,
        )
        segment.release()
        give_back_memory()
        if finish is not None:
            finish(found)
        forest = directory / FOREST
        for path in forest.glob("estimated-*"):
            path.unlink()  # the exact pairs are there
        checksum = checksum_of(segment.directory)
        for folder in (SEGMENTS, FORESTS, "."):
            sync(directory / folder)
        Manifest(
            sketcher.parameters,
            settings,
            text,
            [SegmentEntry(segment.directory.name, len(segment), checksum, documents.date)],
            forest.name,
            checksum_of(forest),
            0,
            list(found.phases),
        ).write(directory)
        sync(directory.absolute().parent)
        for name in _JOURNAL:
            journal = directory / name
            if journal.is_dir():
                shutil.rmtree(journal)
            else:
                journal.unlink(missing_ok=True)


def leave_out(documents: Documents, directory: Path) -> None:
    """A directory that is read may hold the corpus: what a run makes there is no input of it."""
    inside = os.path.join(os.path.abspath(directory), "")
    documents.sources[:] = [
        source
        for source in documents.sources
        if not (source.found and os.path.abspath(source.path or "").startswith(inside))
    ]


def _refuse(directory: Path, force: bool) -> None:
    if not force:
        _refuse_corpus(directory)
    if directory.exists() and not _is_ours(directory):
        raise DocumentError(
            f"{printable(str(directory))}: will not write: there is something else",
            hint="choose another name",
        )


def _refuse_corpus(directory: Path) -> None:
    if is_corpus(directory):
        raise DocumentError(
            f"{printable(str(directory))}: will not write: the corpus exists",
            hint="choose another name, or make it anew with --force",
        )


def _is_ours(directory: Path) -> bool:
    """A corpus, a run, what is left of one, or an empty directory."""
    if not directory.is_dir():
        return False
    names = finished_names(directory)
    # Anybody may have a directory called "segments": it is not for us to clear.
    known = {*_JOURNAL, *RESULTS, "lock", WORK, SEGMENTS, FORESTS}
    left = "lock" in names and names <= known
    return not names or left or bool(names & {MANIFEST, _JOURNAL[0]})


def _clear(directory: Path) -> None:
    # The manifest first: what is left after a kill is no corpus. The journal last, and its head at
    # the very end: without it what is left is cleared again.
    for name in (MANIFEST, *reversed(RESULTS), WORK, SEGMENTS, FORESTS, *reversed(_JOURNAL)):
        path = directory / name
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
