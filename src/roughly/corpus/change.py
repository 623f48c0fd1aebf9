"""A change of a corpus: new directories, then one atomic replacement of the manifest.

Nothing that the manifest names is ever written to. What a change makes has names of its own, and
counts for nothing until `commit` has forced it to the disk and replaced the manifest; whatever
happens before, the corpus stays as it was. What the manifest does not name any more goes when
nobody reads the corpus: after the commit, or before the next change.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from types import TracebackType

from roughly.corpus.manifest import FORESTS, MANIFEST, SEGMENTS, Manifest
from roughly.corpus.results import remove_results
from roughly.corpus.snapshot import Snapshot
from roughly.documents.file import printable
from roughly.errors import DocumentError
from roughly.storage.durable import make_directory, remove_leftovers, sync, writing
from roughly.storage.lock import WriterLock, no_readers
from roughly.storage.steps import remove_journal

# Where a change keeps its journal and what it sorts.
WORK = "work"


class Change:
    """Changes a corpus, inside a `with`: its one writer."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = WriterLock(path)
        self._made: list[Path] = []

    def __enter__(self) -> Change:
        if not (self.path / MANIFEST).exists():
            Snapshot(self.path)  # says what is there instead
        self._lock.__enter__()
        try:
            # Without a reader's lock: nobody else deletes anything now.
            self.before = Snapshot(self.path, shared=False)
            self.after: Manifest | None = None
            self.collect()
            remove_journal(self.path)  # of the run that made it, if that was killed at its end
            self.work = self.path / WORK
            shutil.rmtree(self.work, ignore_errors=True)
            make_directory(self.work)
        except BaseException:
            self._lock.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            for made in (*self._made, self.work):
                shutil.rmtree(made, ignore_errors=True)
        finally:
            self._lock.__exit__(kind, error, trace)

    def new_segment(self) -> Path:
        """A directory for a segment."""
        return self._new(SEGMENTS)

    def new_forest(self) -> Path:
        """A directory for a forest."""
        return self._new(FORESTS)

    def commit(self, manifest: Manifest) -> list[str]:
        """Makes that the state of the corpus. Tables and the report that were made of the old one
        are removed first, lest they tell of it; their names are returned."""
        for made in self._made:
            remove_leftovers(made)
            sync_tree(made)
        for folder in (SEGMENTS, FORESTS):
            if (self.path / folder).is_dir():
                sync(self.path / folder)
        stale = remove_results(self.path)
        manifest.write(self.path)
        self._made.clear()
        self.after = manifest
        return stale

    def collect(self) -> None:
        """Deletes what the manifest does not name, unless somebody may still read it."""
        manifest = self.after or self.before.manifest
        named: dict[str, set[str | None]] = {
            SEGMENTS: {entry.name for entry in manifest.segments},
            FORESTS: {manifest.forest},
        }
        unnamed = [
            entry
            for folder, names in named.items()
            if (self.path / folder).is_dir()
            for entry in (self.path / folder).iterdir()
            if entry.name not in names
        ]
        remove_leftovers(self.path)
        if not unnamed:
            return
        with no_readers(self.path) as alone:
            if alone:
                for entry in unnamed:
                    shutil.rmtree(entry, ignore_errors=True)

    def _new(self, folder: str) -> Path:
        make_directory(self.path / folder)
        numbers = [int(e.name) for e in (self.path / folder).iterdir() if e.name.isdigit()]
        path = self.path / folder / f"{max(numbers, default=0) + 1:06}"
        if len(path.name) > 6:
            raise DocumentError(f"{printable(str(path))}: cannot write: too many numbers are taken")
        make_directory(path)
        self._made.append(path)
        return path


def sync_tree(directory: Path) -> None:
    """Waits until the files of a directory, and its names, are on the disk."""
    with writing(directory):
        for path in sorted(directory.iterdir()):
            if path.is_file():
                sync(path)
        sync(directory)
