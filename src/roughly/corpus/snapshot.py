"""One state of a corpus, as its manifest tells it. Its files stay for as long as anybody holds the
snapshot, whatever is added, removed or compacted meanwhile.
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa

from roughly.clustering.outcome import Outcome
from roughly.corpus.manifest import FORESTS, HINT, SEGMENTS, checksum_of, read_manifest
from roughly.documents.file import printable
from roughly.errors import DamageError
from roughly.search.restriction import StoredSimhashes
from roughly.search.searcher import Searcher, Shelf
from roughly.storage.arrow_file import ArrowFile, arrow_writer
from roughly.storage.checked import CheckedMap
from roughly.storage.collection import Collection, Rows
from roughly.storage.lock import ReaderLock
from roughly.storage.segment import Segment

# Below the forest: rows of the collection that were removed.
REMOVED = "removed.arrow"
_REMOVED = pa.schema([pa.field("row", pa.uint32(), nullable=False)])


class Snapshot:
    """What a reader sees: the manifest, and what it names. `shared` keeps it from being deleted."""

    def __init__(self, path: Path, *, shared: bool = True) -> None:
        self.path = path
        # First the lock, then the manifest: what that names is not deleted from here on.
        self._lock = ReaderLock(path) if shared else None
        self.manifest = read_manifest(path)

    @cached_property
    def collection(self) -> Collection:
        """All documents."""
        manifest = self.manifest
        segments = [Segment(self.path / SEGMENTS / entry.name) for entry in manifest.segments]
        for segment, entry in zip(segments, manifest.segments, strict=True):
            if len(segment) != entry.documents:
                raise DamageError(
                    f"{printable(str(segment.directory))}: damaged: it has {len(segment):,}"
                    f" documents, wanted {entry.documents:,}",
                    hint=HINT,
                )
        return Collection(
            segments, self._removed(), parameters=manifest.parameters, text=manifest.text
        )

    @cached_property
    def searcher(self) -> Searcher:
        """Looks documents up in all segments."""
        return searcher_for(self.collection)

    @cached_property
    def simhashes(self) -> StoredSimhashes:
        """Looks documents up by their simhashes."""
        return StoredSimhashes(self.collection)

    @cached_property
    def outcome(self) -> Outcome:
        """Document order, groups, pairs and forests."""
        if self.manifest.forest is None:
            return Outcome.empty()
        # A file that is missing must not pass for one that was not needed.
        check_files(self.forest, self.manifest.forest_checksum)
        return Outcome.load(self.path, f"{FORESTS}/{self.manifest.forest}")

    @property
    def forest(self) -> Path:
        """The directory of its forest."""
        return self.path / FORESTS / (self.manifest.forest or "")

    def close(self) -> None:
        """Lets its files go."""
        if self._lock is not None:
            self._lock.close()

    def _removed(self) -> Rows:
        if not self.manifest.removed:
            return np.zeros(0, np.int64)
        path = self.forest / REMOVED
        rows: Rows = ArrowFile(path).table()["row"].to_numpy().astype(np.int64)
        if len(rows) != self.manifest.removed:
            raise DamageError(
                f"{printable(str(path))}: damaged: it has {len(rows):,} rows, wanted"
                f" {self.manifest.removed:,}",
                hint=HINT,
            )
        return rows


def searcher_for(collection: Collection) -> Searcher:
    """Looks documents up in the indexes of all segments."""
    shelves = []
    for number, segment in enumerate(collection.segments):
        first = collection.first_row(number)
        begin, end = np.searchsorted(collection.removed, (first, first + len(segment)))
        removed = None
        if end > begin:
            removed = np.zeros(len(segment), bool)
            removed[collection.removed[begin:end] - first] = True
        shelves.append(Shelf.of(segment, first, removed))
    return Searcher(shelves)


def write_removed(folder: Path, rows: Rows) -> None:
    """Writes down who was removed, in a forest's directory; nothing if nobody was."""
    if len(rows):
        with arrow_writer(folder / REMOVED, _REMOVED) as writer:
            column = pa.array(np.asarray(rows, np.uint32))
            writer.write(pa.record_batch([column], schema=_REMOVED))


def check_files(directory: Path, checksum: int) -> None:
    """Raises if a directory has other checked files than were recorded, or a damaged one."""
    if checksum_of(directory) != checksum:
        for beside in sorted(directory.glob("*.crc32c")):
            CheckedMap(beside.with_suffix(""))  # says which file it is, if one is damaged
        raise DamageError(
            f"{printable(str(directory))}: damaged: it has other files than recorded", hint=HINT
        )
