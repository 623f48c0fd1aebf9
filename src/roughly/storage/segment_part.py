"""One part of a segment: its files, their columns, and how they are written.

A part holds a fixed number of documents (the last one fewer) in input order. Its text goes to disk
as it comes, its sketches too once they are many, so that memory holds a bounded amount of either;
everything gets its name when the part is complete. A PartWriter belongs to one thread.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from roughly import _core
from roughly.parameters import Parameters
from roughly.storage.arrow_file import arrow_writer
from roughly.storage.durable import remove, temporary, writing
from roughly.storage.sketch_table import Sketched

# Text in a record batch, of which one is decompressed to read a document.
TEXT_BYTES = 1 << 20
# Sketches of a part that are held in memory; more wait in a file.
SPILL_BYTES = 1 << 26

# Where each record batch of the text begins, as rows of the part; in the metadata of `documents`.
TEXT_ROWS = b"roughly.text_rows"

_HASH = pa.binary(16)

# What is taken over from the batches that `roughly.documents` reads.
READ = ("id", "date", "html", "encoding", "source", "position", "begin", "end")
# What is taken over from the core's columns, a value a document.
_SKETCHED = ("tokens", "content", "canonical", "size", "level", "sketch")

DOCUMENTS = pa.schema(
    [
        # as in roughly.documents
        pa.field("id", pa.string(), nullable=False),
        pa.field("date", pa.string()),
        pa.field("html", pa.bool_(), nullable=False),
        pa.field("encoding", pa.dictionary(pa.int8(), pa.string()), nullable=False),
        pa.field("source", pa.int32(), nullable=False),
        pa.field("position", pa.int64(), nullable=False),
        pa.field("begin", pa.int64(), nullable=False),
        pa.field("end", pa.int64(), nullable=False),
        # number of tokens
        pa.field("tokens", pa.uint32(), nullable=False),
        # bytes of the content, as UTF-8
        pa.field("bytes", pa.uint32(), nullable=False),
        # equivalence hashes of the content and of the canonical form, high byte first
        pa.field("content", _HASH, nullable=False),
        pa.field("canonical", _HASH, nullable=False),
    ]
)
SKETCHES = pa.schema(
    [
        # fingerprints kept, ascending; for perm:K the minima
        pa.field(
            "sketch", pa.large_list(pa.field("item", pa.uint64(), nullable=False)), nullable=False
        ),
        # number of distinct shingles
        pa.field("size", pa.uint32(), nullable=False),
        # i of the modulus 2^i of adaptive sketches, else 0
        pa.field("level", pa.uint8(), nullable=False),
        # equivalence hash of the sketch, high byte first
        pa.field("sketch_hash", _HASH, nullable=False),
    ]
)
# What only some segments have: there is a file of it if one of these columns is wanted.
ATTRIBUTES = pa.schema(
    [
        pa.field("simhash", pa.uint64()),  # null: the document has no features
        pa.field("category", pa.string()),  # null: it has none
    ]
)
# the text as UTF-8, markup still inside
TEXT = pa.schema([pa.field("content", pa.large_binary(), nullable=False)])


def part_path(directory: Path, kind: str, part: int) -> Path:
    """Of `documents`, `sketches`, `attributes` or `text`."""
    return directory / f"{kind}-{part:05}.arrow"


def part_kinds(text: bool, attributes: Collection[str]) -> list[str]:
    """The files that a part has."""
    wanted = {"documents": True, "sketches": True, "text": text, "attributes": bool(attributes)}
    return [kind for kind, there in wanted.items() if there]


def sketch_metadata(parameters: Parameters) -> dict[bytes, bytes]:
    """What the sketches were made with, as `SketchBatch.to_arrow` has it."""
    found = asdict(parameters).items()
    return {f"roughly.{name}".encode(): str(value).encode() for name, value in found}


class Piece(NamedTuple):
    """Some documents; it holds their text only if that is wanted."""

    documents: list[pa.Array]  # the columns READ
    attributes: list[pa.Array]  # those of ATTRIBUTES that are wanted
    bytes: npt.NDArray[np.uint32]
    text: pa.Array | None
    columns: Sketched
    begin: int  # rows of `columns`
    end: int

    @property
    def rows(self) -> int:
        return self.end - self.begin

    def part(self, begin: int, end: int) -> Piece:
        """Some of the documents of a whole one."""
        return Piece(
            [column.slice(begin, end - begin) for column in self.documents],
            [column.slice(begin, end - begin) for column in self.attributes],
            self.bytes[begin:end],
            None if self.text is None else self.text.slice(begin, end - begin),
            self.columns,
            begin,
            end,
        )


class PartWriter:
    """Takes the pieces of one part; `finish` makes the files, `abort` leaves none."""

    def __init__(
        self,
        directory: Path,
        part: int,
        parameters: Parameters,
        text: bool,
        attributes: Sequence[str],
        buffer: ValueBuffer,
    ) -> None:
        kinds = part_kinds(text, attributes)
        self._attributes = attributes
        self._paths = {kind: part_path(directory, kind, part) for kind in kinds}
        self._metadata = sketch_metadata(parameters)
        self._columns: dict[str, list[Any]] = {name: [] for name in (*READ, "bytes", *_SKETCHED)}
        self._columns |= {name: [] for name in attributes}
        self._lengths: list[npt.NDArray[np.int64]] = []
        self._open = contextlib.ExitStack()
        self._text: _TextWriter | None = None
        if text:
            writer = self._open.enter_context(arrow_writer(self._paths["text"], TEXT, "zstd"))
            self._text = _TextWriter(writer)
        spilled = temporary(directory / f"values-{part:05}")
        self._values = _Values(spilled, self._open, buffer)

    def add(self, piece: Piece) -> None:
        if self._text is not None:
            self._text.add(piece.text)
        columns, rows = piece.columns, slice(piece.begin, piece.end)
        offsets = columns.offsets[piece.begin : piece.end + 1]
        self._values.add(columns.values[offsets[0] : offsets[-1]])
        self._lengths.append(np.diff(offsets))
        for name, column in zip(READ, piece.documents, strict=True):
            self._columns[name].append(column)
        for name, column in zip(self._attributes, piece.attributes, strict=True):
            self._columns[name].append(column)
        self._columns["bytes"].append(piece.bytes)
        # Copies: otherwise each of them would keep the sketches in memory.
        for name in _SKETCHED:
            self._columns[name].append(getattr(columns, name)[rows].copy())

    def finish(self) -> list[Path]:
        """Writes what is left; returns the part's files."""
        try:
            metadata: dict[Any, Any] = {}
            if self._text is not None:
                self._text.finish()
                metadata[TEXT_ROWS] = ",".join(map(str, self._text.rows)).encode()
            values = self._values.finish()
            self._write("documents", DOCUMENTS.with_metadata(metadata), self._documents())
            schema = SKETCHES.with_metadata(self._metadata)
            self._write("sketches", schema, self._sketches(values))
            if self._attributes:
                schema = pa.schema([ATTRIBUTES.field(name) for name in self._attributes])
                columns = [pa.concat_arrays(self._columns[name]) for name in self._attributes]
                self._write("attributes", schema, columns)
        except BaseException:
            self.abort()
            raise
        self._open.close()
        return list(self._paths.values())

    def abort(self) -> None:
        """Lets go of everything; temporary files go."""
        # What is thrown inside the writers tells them that their files are not wanted.
        with contextlib.suppress(_Aborted), self._open:
            raise _Aborted

    def _write(self, kind: str, schema: pa.Schema, columns: list[pa.Array]) -> None:
        with arrow_writer(self._paths[kind], schema) as writer:
            writer.write(pa.RecordBatch.from_arrays(columns, schema=schema))

    def _documents(self) -> list[pa.Array]:
        return [
            *(pa.concat_arrays(self._columns[name]) for name in READ),
            *(pa.array(self._column(name)) for name in ("tokens", "bytes")),
            *(_hashes(self._column(name)) for name in ("content", "canonical")),
        ]

    def _sketches(self, values: pa.Array) -> list[pa.Array]:
        lengths = np.concatenate(self._lengths)
        offsets = np.zeros(len(lengths) + 1, np.int64)
        np.cumsum(lengths, out=offsets[1:])
        return [
            pa.LargeListArray.from_arrays(pa.array(offsets), values, SKETCHES.field("sketch").type),
            *(pa.array(self._column(name)) for name in ("size", "level")),
            _hashes(self._column("sketch")),
        ]

    def _column(self, name: str) -> npt.NDArray[Any]:
        return np.concatenate(self._columns[name])


class _Aborted(Exception):
    pass


class _TextWriter:
    """Puts texts together to record batches that end with the document that fills them."""

    def __init__(self, writer: pa.RecordBatchFileWriter) -> None:
        self._writer = writer
        self._waiting: list[pa.Array] = []
        self._size = 0
        self._row = 0
        self.rows: list[int] = []  # where each batch begins

    def add(self, text: pa.Array) -> None:
        offsets = text_offsets(text)
        row = 0
        while row < len(text):
            limit = offsets[row] + TEXT_BYTES - self._size
            end = min(int(np.searchsorted(offsets, limit, "left")), len(text))
            end = max(end, row + 1)
            self._waiting.append(text.slice(row, end - row))
            self._size += int(offsets[end] - offsets[row])
            if self._size >= TEXT_BYTES:
                self.finish()
            row = end

    def finish(self) -> None:
        if not self._waiting:
            return
        texts = self._waiting
        column = _cut_out(texts[0]) if len(texts) == 1 else pa.concat_arrays(texts)
        self._writer.write(pa.RecordBatch.from_arrays([column], schema=TEXT))
        self.rows.append(self._row)
        self._row += len(column)
        self._waiting, self._size = [], 0


class ValueBuffer:
    """Where the sketches of a part wait: one place for all parts, so that they are put together as
    they come and memory is not cut into pieces. One part after the other has it, until its files
    are written."""

    def __init__(self) -> None:
        self.values = np.empty(0, np.uint64)

    def take(self, count: int, kept: int) -> npt.NDArray[np.uint64]:
        """The place with room for so many values; the first `kept` stay."""
        if count > len(self.values):
            grown = np.empty(max(count, min(2 * count, SPILL_BYTES // 8)), np.uint64)
            grown[:kept] = self.values[:kept]
            self.values = grown
        return self.values


class _Values:
    """The sketches of a part, one after the other: in memory, or in a file once they are many."""

    def __init__(self, path: Path, open_files: contextlib.ExitStack, buffer: ValueBuffer) -> None:
        self._path = path
        self._open = open_files
        self._buffer = buffer
        self._held = 0  # values that are in memory
        self._file: BinaryIO | None = None
        self._count = 0

    def add(self, values: npt.NDArray[np.uint64]) -> None:
        self._count += len(values)
        if 8 * (self._held + len(values)) >= SPILL_BYTES:
            self._spill()
            self._write(values)
            return
        end = self._held + len(values)
        self._buffer.take(end, self._held)[self._held : end] = values
        self._held = end

    def finish(self) -> pa.Array:
        if self._file is None:
            # In place, so it must be written before the next part has the buffer.
            return pa.array(self._buffer.values[: self._held])
        self._spill()
        mapped = _core.map_file(self._file.fileno(), 8 * self._count)
        return pa.Array.from_buffers(pa.uint64(), self._count, [None, pa.py_buffer(mapped)])

    def _spill(self) -> None:
        self._write(self._buffer.values[: self._held])
        self._held = 0

    def _write(self, values: npt.NDArray[np.uint64]) -> None:
        with writing(self._path):
            if self._file is None:
                self._open.callback(remove, self._path)
                self._file = self._open.enter_context(self._path.open("w+b"))
            self._file.write(values.data.cast("B"))
            self._file.flush()


def text_offsets(text: pa.Array) -> npt.NDArray[np.int64]:
    """Of a large_binary array, which may be a slice: where each row begins in its data."""
    buffer = text.buffers()[1]
    if not len(text):
        return np.zeros(1, np.int64)
    return np.frombuffer(buffer, np.int64)[text.offset : text.offset + len(text) + 1]


def _cut_out(text: pa.Array) -> pa.Array:
    """The same without what a slice has around it, which Arrow would write in part."""
    offsets = text_offsets(text)
    begin, size = int(offsets[0]), int(offsets[-1] - offsets[0])
    data = text.buffers()[2].slice(begin, size) if size else pa.py_buffer(b"")
    buffers = [None, pa.py_buffer(offsets - begin), data]
    return pa.LargeBinaryArray.from_buffers(pa.large_binary(), len(text), buffers)


def text_rows(metadata: Mapping[bytes, bytes] | None) -> npt.NDArray[np.int64]:
    """Where each record batch of a part's text begins, from the metadata of its documents."""
    listed = (metadata or {}).get(TEXT_ROWS, b"").split(b",")
    return np.array([int(row) for row in listed if row], np.int64)


def text_batches(
    rows: npt.NDArray[np.int64], begins: npt.NDArray[np.int64]
) -> Iterator[tuple[int, npt.NDArray[np.int64]]]:
    """The record batches that hold some rows (ascending) of a part, each with its rows in it."""
    batch = np.searchsorted(begins, rows, "right") - 1
    edges = np.flatnonzero(np.diff(batch)) + 1
    for found in np.split(rows, edges) if len(rows) else []:
        at = int(np.searchsorted(begins, found[0], "right")) - 1
        yield at, found - begins[at]


def _hashes(halves: npt.NDArray[np.uint64]) -> pa.Array:
    data = pa.py_buffer(halves.astype(">u8"))
    return pa.FixedSizeBinaryArray.from_buffers(_HASH, len(halves), [None, data])
