"""The text of documents that were read before, some at a time and in any order.

Where a source cannot give single documents cheaply (compressed files, tables, web archives), those
that will be wanted are copied to a file in the working directory, in one pass. Memory holds what
was asked for, and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from roughly.documents.selection import SELECTED, Places, can_seek, read_selected
from roughly.storage.arrow_file import ArrowFile, arrow_writer
from roughly.storage.scratch import IN_MEMORY, Scratch
from roughly.verification.column import Columns

if TYPE_CHECKING:
    from roughly.documents import Documents
    from roughly.storage.collection import Stored

Rows = npt.NDArray[np.int64]

# Text that is read, and shingled, at once: a window's, as it stands in its file.
_BATCH_BYTES = 3 << 21

# Rows whose places are looked up before those columns are let go: each may touch four pages.
_LOOKED_UP = 1 << 10


class Texts(Protocol):
    """Where the text of documents is read again."""

    def prepare(self, rows: Rows) -> None:
        """Says which rows (ascending) may be asked for, all at once."""

    def read(self, rows: Rows) -> Iterator[pa.RecordBatch]:
        """`content` and `html` of these rows, ascending, in some batches."""

    def close(self) -> None:
        """Deletes copies of text."""


class Contents:
    """The documents of a segment, from where they came."""

    def __init__(self, documents: Documents, segment: Stored, directory: Path) -> None:
        self._documents = documents
        self._columns = Columns(segment)
        self._looked_up = 0  # rows, since the columns were let go
        self._scratch = Scratch(directory)
        self._path = directory / "contents.arrow"
        self._copied: Rows = np.zeros(0, dtype=np.int64)  # ascending
        self._starts: Rows = np.zeros(1, dtype=np.int64)  # of the file's batches, and the end
        self._file: ArrowFile | None = None
        self._seekable = np.array([can_seek(s) for s in documents.sources], dtype=bool)

    @property
    def disk_bytes(self) -> int:
        """Bytes of the copy."""
        return self._path.stat().st_size if self._file is not None else 0

    def prepare(self, rows: Rows) -> None:
        """Says which rows (ascending) may be asked for, all at once."""
        if self._seekable.all():
            return
        if self._seekable.any():
            source = self._columns.numbers("source", rows)
            rows = rows[~self._seekable[source]]
        self.close()
        starts = [0]
        with arrow_writer(self._path, SELECTED) as writer:
            places = self._places(rows, self._scratch)
            for batch in read_selected(self._documents, places, _BATCH_BYTES):
                writer.write(batch)
                starts.append(starts[-1] + len(batch))
        self._copied, self._starts = rows, np.array(starts, dtype=np.int64)
        self._file = ArrowFile(self._path)

    def read(self, rows: Rows) -> Iterator[pa.RecordBatch]:
        """`content` and `html` of these rows, ascending, in some batches."""
        if not self._seekable.all():
            copied = self._seekable[self._columns.numbers("source", rows)] == 0
            # In stretches that come from one of the two places.
            cuts = np.flatnonzero(np.diff(copied)) + 1
            for part, from_copy in (
                zip(np.split(rows, cuts), copied[np.concatenate(([0], cuts))], strict=True)
                if len(rows)
                else ()
            ):
                yield from self._from_copy(part) if from_copy else self._from_source(part)
            return
        yield from self._from_source(rows)

    def close(self) -> None:
        """Deletes the copy."""
        if self._file is not None:
            self._file.close()
            self._file = None
            for path in self._path.parent.glob(self._path.name + "*"):
                path.unlink()

    def _from_source(self, rows: Rows) -> Iterator[pa.RecordBatch]:
        return read_selected(self._documents, self._places(rows), _BATCH_BYTES)

    def _from_copy(self, rows: Rows) -> Iterator[pa.RecordBatch]:
        assert self._file is not None
        at = np.searchsorted(self._copied, rows)
        if not np.array_equal(self._copied[np.minimum(at, len(self._copied) - 1)], rows):
            raise AssertionError("documents are read that were not prepared")
        batch = np.searchsorted(self._starts, at, "right") - 1
        for part in np.split(at, np.flatnonzero(np.diff(batch)) + 1):
            number = int(np.searchsorted(self._starts, part[0], "right")) - 1
            chosen = pa.array(part - self._starts[number])
            yield self._file.batch(number).take(chosen)
        self._file.release()

    def _places(self, rows: Rows, scratch: Scratch = IN_MEMORY) -> Places:
        columns = [
            self._columns.numbers(name, rows, scratch)
            for name in ("source", "position", "begin", "end")
        ]
        self._looked_up += len(rows)
        if self._looked_up >= _LOOKED_UP:
            self._looked_up = 0
            self._columns.release()
        return Places(*columns)


class StoredContents:
    """The same for documents whose text is kept in their segment."""

    def __init__(self, segment: Stored) -> None:
        self._segment = segment
        self._columns = Columns(segment)

    def prepare(self, rows: Rows) -> None:
        """Nothing to do."""

    def read(self, rows: Rows) -> Iterator[pa.RecordBatch]:
        """As Contents.read."""
        if len(rows):
            html = self._columns.take("html", rows)
            yield pa.record_batch([self._segment.text(rows), html], schema=SELECTED)

    def close(self) -> None:
        """Nothing to do."""


class JoinedContents:
    """The documents of two segments, those of the second numbered from `base` on."""

    def __init__(self, first: Texts, second: Texts, base: int) -> None:
        self._first = first
        self._second = second
        self._base = base

    def prepare(self, rows: Rows) -> None:
        """As Contents.prepare."""
        for contents, some in self._divided(rows):
            contents.prepare(some)

    def read(self, rows: Rows) -> Iterator[pa.RecordBatch]:
        """As Contents.read."""
        for contents, some in self._divided(rows):
            if len(some):
                yield from contents.read(some)

    def _divided(self, rows: Rows) -> tuple[tuple[Texts, Rows], tuple[Texts, Rows]]:
        cut = int(np.searchsorted(rows, self._base))
        return (self._first, rows[:cut]), (self._second, rows[cut:] - self._base)

    def close(self) -> None:
        """As Contents.close."""
        self._first.close()
        self._second.close()
