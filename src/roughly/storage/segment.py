"""A segment: a directory that holds documents and their sketches, in input order, for ever.

    documents-NNNNN.arrow   id, date, where the document came from, its size and its hashes
    sketches-NNNNN.arrow    sketch, size, level, hash of the sketch
    text-NNNNN.arrow        the text, if it is kept
    attributes-NNNNN.arrow  simhash and category, those of them that are wanted
    segment.json            what all parts have in common; written last, so it makes the segment

Part n holds the rows from n * part_rows on. segment_writer.py writes them. A segment never changes;
any thread may read it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from roughly.documents.file import printable
from roughly.errors import DamageError, MismatchError, ParameterError, RoughlyError
from roughly.parameters import Parameters
from roughly.storage.arrow_file import ArrowFile
from roughly.storage.checked import CheckedMap
from roughly.storage.segment_index import SegmentIndex
from roughly.storage.segment_part import (
    ATTRIBUTES,
    DOCUMENTS,
    SKETCHES,
    part_kinds,
    part_path,
    sketch_metadata,
    text_batches,
    text_rows,
)

FORMAT = 1
PART_ROWS = 1 << 12

MANIFEST = "segment.json"

# Hashes that are looked for among all: by these bits most others are passed over.
_LOOK_MASK = np.uint64((1 << 20) - 1)

# In which file a column is.
_SCHEMAS = {"documents": DOCUMENTS, "sketches": SKETCHES, "attributes": ATTRIBUTES}
_KIND = {name: kind for kind, schema in _SCHEMAS.items() for name in schema.names}

Values = npt.NDArray[np.uint64]
Offsets = npt.NDArray[np.int64]


def column_type(name: str) -> pa.DataType:
    """The type of a column of documents, sketches or attributes."""
    return _SCHEMAS[_KIND[name]].field(name).type


class Segment:
    """Documents and their sketches, to be read. Arrays are in place, in the files, where nothing
    else is said; what is read of them is checked first."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        manifest = _manifest(directory)
        self.parameters = Parameters(**manifest["parameters"])
        self.part_rows: int = manifest["part_rows"]
        self.has_text: bool = manifest["text"]
        self.attributes: dict[str, Any] = manifest.get("attributes", {})
        """Columns beside the usual ones, and where each comes from."""
        self.sources: list[str] = manifest["sources"]
        self.skipped: dict[str, Any] = manifest["skipped"]
        self._rows: int = manifest["rows"]
        self._files: dict[tuple[str, int], ArrowFile] = {}
        self._arrays: dict[tuple[str, int], npt.NDArray[Any]] = {}  # what part_array has made
        self._touched: set[tuple[str, int]] = set()  # of these, since they were last released
        self._touched_bytes = 0

    def __len__(self) -> int:
        return self._rows

    def __repr__(self) -> str:
        return f"Segment({str(self.directory)!r}, {len(self)} documents)"

    @property
    def documents(self) -> int:
        """Documents that are there: all of them."""
        return self._rows

    @property
    def content_bytes(self) -> int:
        """Of all of them, as UTF-8."""
        total = 0
        for part in range(self.parts):
            total += int(np.asarray(self.part_column(part, "bytes")).sum())
            self._file(_KIND["bytes"], part).release()
        return total

    @property
    def live_rows(self) -> npt.NDArray[np.uint32]:
        """Their rows."""
        return np.arange(self._rows, dtype=np.uint32)

    @property
    def parts(self) -> int:
        """How many there are."""
        return -(-self._rows // self.part_rows)

    def rows(self, part: int) -> tuple[int, int]:
        """The first row of a part, and the first behind it."""
        begin = part * self.part_rows
        return begin, min(begin + self.part_rows, self._rows)

    def chunk(self, part: int) -> tuple[Values, Offsets]:
        """The sketches of a part: their elements, and where each begins in them."""
        lists = self.part_column(part, "sketch")
        return lists.values.to_numpy(), lists.offsets.to_numpy()

    def kept(self, part: int) -> npt.NDArray[np.uint32]:
        """How many elements the sketches of a part have."""
        file = self._file("sketches", part)
        begin, end = self.rows(part)
        lists = file.lists(0, "sketch") if file.num_batches == 1 else pa.array([])
        if len(lists) != end - begin:
            raise _wrong_rows(file.path, len(lists), end - begin)
        counts: npt.NDArray[np.uint32] = np.diff(lists.offsets.to_numpy()).astype(np.uint32)
        return counts

    def kept_pieces(self) -> Iterator[tuple[int, npt.NDArray[np.uint32]]]:
        """The same of all parts, each with its first row."""
        for part in range(self.parts):
            yield part * self.part_rows, self.kept(part)
            self._file("sketches", part).release()

    def sketches_of(self, part: int, rows: Offsets) -> list[Values]:
        """The elements of some sketches of a part, in place; only these are checked."""
        file = self._file("sketches", part)
        lists = file.lists(0, "sketch")
        offsets, values = lists.offsets.to_numpy(), lists.values
        begins, ends = offsets[rows], offsets[rows + 1]
        if (buffer := values.buffers()[1]) is not None:
            file.check(buffer, 8 * begins, 8 * ends)
        data = values.to_numpy()
        pairs = zip(begins.tolist(), ends.tolist(), strict=True)
        return [data[begin:end] for begin, end in pairs]

    def values_place(self, part: int) -> tuple[Path, int]:
        """In which file the elements of `chunk` are, and from which byte on."""
        file = self._file("sketches", part)
        values = self.part_column(part, "sketch").values.buffers()[1]
        return file.path, file.offset_of(values) if values is not None else 0

    def sketch_places(self, part: int) -> tuple[int, int]:
        """From which bytes of that file on the elements are, and the offsets of the sketches."""
        file = self._file("sketches", part)
        lists = self.part_column(part, "sketch")
        values = lists.values.buffers()[1]
        return (
            file.offset_of(values) if values is not None and values.size else 0,
            file.offset_of(lists.buffers()[1]) + 8 * lists.offset,
        )

    @cached_property
    def size(self) -> npt.NDArray[np.uint32]:
        """Of all documents, in memory: the number of distinct shingles."""
        return self._whole("size", np.uint32)

    @cached_property
    def level(self) -> npt.NDArray[np.uint8]:
        """Of all documents, in memory: the level of adaptive sketches, else 0."""
        return self._whole("level", np.uint8)

    @cached_property
    def tokens(self) -> npt.NDArray[np.uint32]:
        """Of all documents, in memory: the number of tokens."""
        return self._whole("tokens", np.uint32)

    def hashes(self, name: str) -> npt.NDArray[np.uint64]:
        """Of all documents, in memory: the two halves of the equivalence hash of the `content`, of
        the `canonical` form, or of the `sketch`."""
        found = np.empty((self._rows, 2), np.uint64)
        for begin, hashes in self.hash_pieces(name):
            found[begin : begin + len(hashes)] = hashes
        return found

    def hash_pieces(self, name: str) -> Iterator[tuple[int, npt.NDArray[Any]]]:
        """The same part by part, each with its first row; in place until the next one."""
        name = "sketch_hash" if name == "sketch" else name
        for part in range(self.parts):
            yield part * self.part_rows, self.part_array(part, name)
            self._file(_KIND[name], part).release()

    def rows_hashed(self, name: str, wanted: Values) -> Offsets:
        """Rows whose hash in a column has one of these for its first half, ascending."""
        # As they lie in the file, so that nothing has to be turned round.
        stored = np.unique(wanted.byteswap())
        look = np.zeros(_LOOK_MASK + 1, bool)
        look[stored & _LOOK_MASK] = True
        found = [np.zeros(0, np.int64)]
        for part in range(self.parts):
            first = self.part_array(part, name)[:, 0].view(np.uint64)
            maybe = np.flatnonzero(look[first & _LOOK_MASK])
            at = np.searchsorted(stored, first[maybe])
            at[at == len(stored)] = 0
            found.append(maybe[stored[at] == first[maybe]] + part * self.part_rows)
            self._file(_KIND[name], part).release()
        return np.concatenate(found)

    def ids(self) -> pa.ChunkedArray:
        return self.column("id")

    def dates(self) -> pa.ChunkedArray:
        return self.column("date")

    def column(self, name: str) -> pa.ChunkedArray:
        """A column of all documents, a chunk a part."""
        chunks = []
        for part in range(self.parts):
            chunks.append(self.part_column(part, name))
            # All of it was read, to check it; pages that are looked at come back.
            self._file(_KIND[name], part).release()
        return pa.chunked_array(chunks, column_type(name))

    def part_column(self, part: int, name: str) -> pa.Array:
        """A column of the documents of one part."""
        return self._checked_rows(self._file(_KIND[name], part), part, name)

    def part_array(self, part: int, name: str) -> npt.NDArray[Any]:
        """The same for columns of numbers, of booleans, or of hashes, which are two halves."""
        found = self._arrays.get((name, part))
        if found is None:
            column = self.part_column(part, name)
            if pa.types.is_fixed_size_binary(column.type):
                data = np.frombuffer(column.buffers()[1], ">u8", 2 * len(column))
                found = data.reshape(-1, 2)
            else:
                found = column.to_numpy(zero_copy_only=False)
            self._arrays[name, part] = found
        self._file(_KIND[name], part)  # it is touched
        return found

    def text(self, rows: npt.NDArray[np.int64]) -> pa.Array:
        """The texts of some documents, in memory. Their rows must ascend."""
        if not self.has_text:
            raise ParameterError(
                f"{printable(str(self.directory))}: cannot read text: none was kept",
                hint="keep the text when the documents are added",
            )
        rows = np.asarray(rows, np.int64)
        if len(rows) and (rows[0] < 0 or rows[-1] >= self._rows or (np.diff(rows) < 0).any()):
            raise ParameterError(f"rows: out of order or range: wanted 0 to {self._rows} ascending")
        found = [pa.array([], pa.large_binary())]
        parts = rows // self.part_rows
        for part in np.unique(parts).tolist():
            inside = rows[parts == part] - part * self.part_rows
            begins = text_rows(self._file("documents", part).schema.metadata)
            file = self._file("text", part)
            for batch, some in text_batches(inside, begins):
                found.append(file.batch(batch).column(0).take(pa.array(some)))
            file.release()
        return pa.concat_arrays(found)

    def release(self) -> None:
        """Takes all files out of this process's memory. Everything given out stays valid."""
        self._touched.clear()
        self._touched_bytes = 0
        for file in list(self._files.values()):
            file.release()

    def release_part(self, part: int) -> None:
        """The same for the files of one part: for whoever goes through them all, one by one."""
        for kind in set(_KIND.values()):
            file = self._files.get((kind, part))
            if file is not None:
                file.release()

    @property
    def touched_bytes(self) -> int:
        """The size of the files that were read since the last `release`."""
        return self._touched_bytes

    def verify(self, threads: int | None = None) -> list[str]:
        """Checks every byte; what is wrong, a line a file."""
        problems = []
        try:
            CheckedMap(self.directory / MANIFEST).verify(threads)
        except RoughlyError as error:
            problems.append(error.message)
        for part in range(self.parts):
            for kind in part_kinds(self.has_text, self.attributes):
                try:
                    self._verify_file(kind, part, threads)
                except RoughlyError as error:
                    problems.append(error.message)
        return problems + self._index_problems(threads)

    def close(self) -> None:
        """Lets go of all files; what was read of them stays valid."""
        self._arrays.clear()
        for file in self._files.values():
            file.close()
        self._files.clear()

    def _index_problems(self, threads: int | None) -> list[str]:
        if not any(self.directory.glob("index*")):
            return []
        try:
            return SegmentIndex(self).verify(threads)
        except RoughlyError as error:
            return [error.message]

    def _verify_file(self, kind: str, part: int, threads: int | None) -> None:
        # Opened anew: it may have changed since it was.
        file = ArrowFile(part_path(self.directory, kind, part))
        file.verify(threads)
        if kind == "text":
            begin, end = self.rows(part)
            rows = sum(file.batch(i).num_rows for i in range(file.num_batches))
            if rows != end - begin:
                raise _wrong_rows(file.path, rows, end - begin)
        else:
            self._checked_rows(file, part, file.schema.names[0])
        made_with = sketch_metadata(self.parameters)
        if kind == "sketches" and dict(file.schema.metadata or {}) != made_with:
            raise DamageError(
                f"{printable(str(file.path))}: damaged: it was made with other parameters"
            )

    def _whole(self, name: str, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
        found = np.empty(self._rows, dtype)
        for part in range(self.parts):
            begin, end = self.rows(part)
            found[begin:end] = self.part_column(part, name).to_numpy()
            self._file(_KIND[name], part).release()
        found.flags.writeable = False
        return found

    def _checked_rows(self, file: ArrowFile, part: int, name: str) -> pa.Array:
        begin, end = self.rows(part)
        column = file.column(0, name) if file.num_batches == 1 else []
        if len(column) != end - begin:
            raise _wrong_rows(file.path, len(column), end - begin)
        return column

    def _file(self, kind: str, part: int) -> ArrowFile:
        file = self._files.get((kind, part))
        if file is None:
            file = ArrowFile(part_path(self.directory, kind, part))
            self._files[kind, part] = file
        if (kind, part) not in self._touched:
            self._touched.add((kind, part))
            self._touched_bytes += file.size
        return file


def _manifest(directory: Path) -> dict[str, Any]:
    path = directory / MANIFEST
    manifest: dict[str, Any] = json.loads(bytes(CheckedMap(path).view()))
    if manifest["format"] != FORMAT:
        raise MismatchError(
            f"{printable(str(path))}: cannot read: its format is {manifest['format']},"
            f" wanted {FORMAT}",
            hint="use the version of roughly that wrote it",
        )
    return manifest


def _wrong_rows(path: Path, seen: int, wanted: int) -> DamageError:
    return DamageError(
        f"{printable(str(path))}: damaged: it has {seen:,} documents, wanted {wanted:,}"
    )
