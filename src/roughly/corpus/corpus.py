"""A corpus: the directory NAME.roughly with documents, sketches, forests and results.

    corpus.json       what it is made of (manifest.py)
    segments/000001/  documents, sketches, text (roughly.storage.segment)
    forest/           document order, pairs, links (roughly.clustering.run)
    lock              held by the one writer

Any number of processes may read it.
"""

from __future__ import annotations

import os
import shutil
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from roughly.clustering import cluster_documents
from roughly.clustering.clusters import Clusters, Linkage
from roughly.clustering.run import FOREST, Outcome
from roughly.clustering.sketching import Progress, no_progress, read_skipped
from roughly.corpus.manifest import (
    MANIFEST,
    Manifest,
    SegmentEntry,
    checksum_of,
    is_corpus,
    read_manifest,
)
from roughly.documents.file import printable
from roughly.errors import DamageError, DocumentError, RoughlyError
from roughly.parameters import threads_or_all
from roughly.storage.arrow_file import ArrowFile
from roughly.storage.checked import CheckedMap
from roughly.storage.durable import make_directory, writing
from roughly.storage.index_writer import write_index
from roughly.storage.lock import WriterLock
from roughly.storage.segment import Segment

if TYPE_CHECKING:
    from fractions import Fraction

    from roughly.clustering.settings import Settings
    from roughly.documents import Documents
    from roughly.sketcher import Sketcher

_SEGMENTS = "segments"
# What a run keeps until its corpus is complete.
_JOURNAL = ("steps.json", "steps")
# What is made of a corpus for others to read.
_RESULTS = ("documents.parquet", "clusters.parquet", "pairs.parquet", "report.html")


class Corpus:
    """A corpus on disk, to be read."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.manifest = read_manifest(self.path)

    def __len__(self) -> int:
        """Documents."""
        return self.manifest.documents

    def __repr__(self) -> str:
        return f"Corpus({str(self.path)!r}, {len(self)} documents)"

    @cached_property
    def segment(self) -> Segment:
        return Segment(self.path / _SEGMENTS / self.manifest.segments[0].name)

    @cached_property
    def outcome(self) -> Outcome:
        # A file that is missing must not pass for one that was not needed.
        _check_files(self.path / FOREST, self.manifest.forest_checksum)
        return Outcome.load(self.path)

    def clusters(
        self,
        threshold: float | str | Fraction | None = None,
        containment: float | str | Fraction | None = None,
        linkage: Linkage = "single",
        threads: int | None = None,
    ) -> Clusters:
        """The clusters at any thresholds from the floors up; those it was made with unless given.
        Giving only a threshold leaves containment as it was made."""
        settings = self.manifest.settings
        found = Clusters(
            self.segment,
            self.outcome,
            settings,
            settings.threshold,
            settings.containment,
            "single",
            read_skipped(self.segment.skipped),
            self.manifest.phases,
            threads_or_all(threads),
            self,
        )
        if containment is None and linkage == "single":
            containment = settings.containment
        return found.at(
            settings.threshold if threshold is None else threshold, containment, linkage
        )

    def verify(self, threads: int | None = None) -> list[str]:
        """Checks every byte; what is wrong, a line a file."""
        problems = self.segment.verify(threads)
        for beside in sorted((self.path / FOREST).glob("*.arrow.crc32c")):
            try:
                ArrowFile(beside.with_suffix("")).verify(threads)
            except RoughlyError as error:
                problems.append(error.message)
        try:
            return problems or self._inconsistencies()
        except RoughlyError as error:
            return [error.message]

    def _inconsistencies(self) -> list[str]:
        """Numbers and files that do not fit each other."""
        shown = printable(str(self.path))
        _check_files(self.segment.directory, self.manifest.segments[0].checksum)
        outcome, rows = self.outcome, len(self.segment)
        if not len(outcome.order) == rows == len(self):
            return [f"{shown}: damaged: {len(outcome.order)} documents in order, wanted {rows}"]
        distinct = len(outcome.groups.representatives)
        beyond = [
            name
            for name, links in (
                ("resemblance", outcome.links),
                ("containment", outcome.containment_links),
            )
            if len(links) and links[:, :2].max() >= distinct
        ]
        return [f"{shown}: damaged: a link of {name} leads nowhere" for name in beyond]


def _check_files(directory: Path, checksum: int) -> None:
    if checksum_of(directory) != checksum:
        for beside in sorted(directory.glob("*.crc32c")):
            CheckedMap(beside.with_suffix(""))  # says which file it is, if one is damaged
        raise DamageError(
            f"{printable(str(directory))}: damaged: it has other files than recorded",
            hint="restore it from a copy, or cluster the documents again",
        )


def create_corpus(
    documents: Documents,
    sketcher: Sketcher,
    settings: Settings,
    path: str | Path,
    *,
    text: bool = True,
    memory_bytes: int,
    threads: int,
    force: bool = False,
    progress: Progress = no_progress,
    finish: Any = None,
) -> Corpus:
    """Clusters documents into a new corpus, or goes on with a run that did not finish. `finish` is
    called with the clusters before the corpus counts as complete."""
    directory = Path(path)
    if not force:
        _refuse_corpus(directory)
    if directory.exists() and not _is_ours(directory):
        raise DocumentError(
            f"{printable(str(path))}: will not write: there is something else",
            hint="choose another name",
        )
    _leave_out(documents, directory)
    make_directory(directory)
    with WriterLock(directory):
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
            progress=progress,
        )
        write_index(found.segment, memory_bytes=memory_bytes, threads=threads, progress=progress)
        if finish is not None:
            finish(found)
        for path in (directory / FOREST).glob("estimated-*"):
            path.unlink()  # the exact pairs are there
        segment = found.segment
        checksum = checksum_of(segment.directory)
        Manifest(
            sketcher.parameters,
            settings,
            [SegmentEntry(segment.directory.name, len(segment), checksum)],
            checksum_of(directory / FOREST),
            list(found.phases),
        ).write(directory)
        for name in _JOURNAL:
            journal = directory / name
            if journal.is_dir():
                shutil.rmtree(journal)
            else:
                journal.unlink(missing_ok=True)
    return Corpus(directory)


def _leave_out(documents: Documents, directory: Path) -> None:
    """A directory that is read may hold the corpus: what a run makes there is no input of it."""
    inside = os.path.join(os.path.abspath(directory), "")
    documents.sources[:] = [
        source
        for source in documents.sources
        if not (source.found and os.path.abspath(source.path or "").startswith(inside))
    ]


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
    with writing(directory):
        names = {entry.name for entry in directory.iterdir()}
    names -= {name for name in names if name.startswith(".") and name.endswith(".part")}
    # Anybody may have a directory called "segments": it is not for us to clear.
    known = {*_JOURNAL, *_RESULTS, "lock", _SEGMENTS, FOREST}
    left = "lock" in names and names <= known
    return not names or left or bool(names & {MANIFEST, _JOURNAL[0]})


def _clear(directory: Path) -> None:
    # The manifest first: what is left after a kill is no corpus. The journal last, and its head at
    # the very end: without it what is left is cleared again.
    for name in (MANIFEST, *_RESULTS, _SEGMENTS, FOREST, *reversed(_JOURNAL)):
        path = directory / name
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
