"""Making a corpus: an empty one, or all at once from documents, by a run that can be continued."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from roughly import _core
from roughly.clustering import SEGMENT, Clusters, cluster_documents
from roughly.clustering.outcome import FOREST
from roughly.clustering.room import CORPUS_BYTES, room_beside
from roughly.clustering.sketching import Progress, no_progress
from roughly.clustering.whole import run_parameters
from roughly.corpus.change import WORK, Change
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
from roughly.corpus.snapshot import Snapshot
from roughly.documents.file import printable
from roughly.errors import DamageError, DocumentError, RoughlyError
from roughly.pipeline import give_back_memory
from roughly.storage.collection import Collection
from roughly.storage.durable import finished_names, make_directory, sync, writing
from roughly.storage.index_writer import write_index
from roughly.storage.lock import WriterLock
from roughly.storage.steps import JOURNAL, begun_with, remove_journal
from roughly.url import lookup_keys

if TYPE_CHECKING:
    from roughly.clustering.settings import Settings
    from roughly.documents import Documents
    from roughly.sketcher import Sketcher

# Told of the clusters.
Finish = Callable[[Clusters], None]


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
    finish: Finish = lambda found: None,
) -> None:
    """Clusters documents into a new corpus, or goes on with a run that did not finish. With `force`
    it takes the place of another one when it is complete. `finish` is called with the clusters: of
    a new corpus before it counts as complete."""
    leave_out(documents, directory)
    parameters = run_parameters(documents, sketcher, settings, text)
    if not force and _has_ended(directory, parameters):
        with WriterLock(directory):
            remove_journal(directory)
        return
    _refuse(directory, force)
    with _core.ResidentLimit(memory_bytes):
        run = _Run(documents, sketcher, settings, text, memory_bytes, threads, progress)
        if force and _is_sound(directory):
            _make_in_place_of(run, directory, finish)
        else:
            _make_anew(run, directory, force, finish)


def _make_anew(run: _Run, directory: Path, force: bool, finish: Finish) -> None:
    was_there = os.path.lexists(directory)
    make_directory(directory)
    with WriterLock(directory):
        if not force:
            _refuse_corpus(directory)  # One that another process has just completed.
        if force or not (directory / JOURNAL[0]).exists():
            # What cannot be read at all must not cost what is there, nor leave anything.
            try:
                next(iter(run.documents), None)
            except BaseException:
                if not was_there:
                    with contextlib.suppress(OSError):
                        (directory / "lock").unlink()
                        directory.rmdir()
                raise
            _clear(directory)  # What is there without a journal is left of a corpus.
        found = run.make(directory)
        finish(found)
        for folder in (SEGMENTS, FORESTS, "."):
            sync(directory / folder)
        run.manifest(found, directory / SEGMENT, directory / FOREST).write(directory)
        sync(directory.absolute().parent)
        remove_journal(directory)


def _make_in_place_of(run: _Run, directory: Path, finish: Finish) -> None:
    """As one change of the corpus that is there: it stays until the new one is complete. Its
    results are written after that, and can be had again."""
    with Change(directory) as change:
        found = run.make(change.work)
        segment, forest = change.new_segment(), change.new_forest()
        with writing(directory):
            os.replace(change.work / SEGMENT, segment)
            os.replace(change.work / FOREST, forest)
        change.commit(run.manifest(found, segment, forest))
        after = Snapshot(directory, shared=False)
        outcome = replace(after.outcome, facts=found.outcome.facts)
        try:
            finish(replace(found, segment=after.collection, outcome=outcome))
        except RoughlyError as error:
            name = printable(str(directory))
            kept = f"the corpus is complete, and its tables are written by: roughly cluster {name}"
            hint = kept if error.hint is None else f"{error.hint}; {kept}"
            raise type(error)(error.message, hint) from error
        finally:
            after.close()
            change.collect()


@dataclass(frozen=True, slots=True)
class _Run:
    """All that decides a corpus."""

    documents: Documents
    sketcher: Sketcher
    settings: Settings
    text: bool
    memory_bytes: int
    threads: int
    progress: Progress

    def make(self, directory: Path) -> Clusters:
        """The segment, its index and the forest, in a directory; goes on with what is there."""
        found = cluster_documents(
            self.documents,
            self.sketcher,
            self.settings,
            directory,
            text=self.text,
            memory_bytes=self.memory_bytes,
            threads=self.threads,
            document_bytes=CORPUS_BYTES,
            progress=self.progress,
        )
        assert isinstance(found.segment, Collection)
        (segment,) = found.segment.segments
        write_index(
            segment,
            memory_bytes=room_beside(self.memory_bytes, len(segment), CORPUS_BYTES),
            threads=self.threads,
            progress=self.progress,
            canonical=lookup_keys,
        )
        segment.release()
        give_back_memory()
        for path in (directory / FOREST).glob("estimated-*"):
            path.unlink()  # the exact pairs are there
        return found

    def manifest(self, found: Clusters, segment: Path, forest: Path) -> Manifest:
        """Of what was made, where it is now."""
        entry = SegmentEntry(
            segment.name, found.segment.documents, checksum_of(segment), self.documents.date
        )
        return Manifest(
            self.sketcher.parameters,
            self.settings,
            self.text,
            [entry],
            forest.name,
            checksum_of(forest),
            0,
            list(found.phases),
        )


def _has_ended(directory: Path, parameters: dict[str, Any]) -> bool:
    """Whether it is the corpus of this very run, which was stopped before it had tidied up. Nobody
    has changed it: changes begin with that."""
    return is_corpus(directory) and begun_with(directory, parameters)


def _is_sound(directory: Path) -> bool:
    """Whether there is a corpus that can be kept until another one takes its place. One of another
    format can, too, by whoever reads that: it is an error."""
    if not is_corpus(directory):
        return False
    try:
        Snapshot(directory, shared=False).close()
    except DamageError:
        return False
    return True


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
    known = {*JOURNAL, *RESULTS, "lock", WORK, SEGMENTS, FORESTS}
    left = "lock" in names and names <= known
    return not names or left or bool(names & {MANIFEST, JOURNAL[0]})


def _clear(directory: Path) -> None:
    # The manifest first: what is left after a kill is no corpus. The journal last, and its head at
    # the very end: without it what is left is cleared again.
    for name in (MANIFEST, *reversed(RESULTS), WORK, SEGMENTS, FORESTS, *reversed(JOURNAL)):
        path = directory / name
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
