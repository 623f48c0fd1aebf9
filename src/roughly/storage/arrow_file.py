"""Arrow IPC files that notice damage.

Any program that reads Arrow files reads these; here they are checked files as well. Record batches
lie in the file as in memory: reading one copies nothing unless it is compressed, and what is read
stays valid as long as somebody holds it. Any thread may use an ArrowFile.
"""

from __future__ import annotations

import contextlib
import struct
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from roughly.documents.file import printable
from roughly.errors import DamageError
from roughly.storage.checked import CheckedMap, checked_writer

# What the Arrow format puts last: the length of the footer and this.
_END = struct.Struct("<i6s")
_MAGIC = b"ARROW1"
# A message's place in the footer: its offset, the length of its header, the length of its body.
_BLOCK = struct.Struct("<qi4xq")
# Fields of the tables in Arrow's File.fbs and Message.fbs, by their number: of the footer, the
# messages it lists; of a message, what it brings; of a record batch, how that is compressed.
_DICTIONARIES, _RECORD_BATCHES = 2, 3
_HEADER = 2
_COMPRESSION = 3

# Higher levels save a few per cent and take several times as long.
_ZSTD_LEVEL = 1


class _Message(NamedTuple):
    """Where a record batch or a dictionary stands in the file."""

    begin: int
    body: int  # where its header ends
    end: int


@contextlib.contextmanager
def arrow_writer(
    path: Path, schema: pa.Schema, compression: Literal["zstd"] | None = None
) -> Iterator[pa.RecordBatchFileWriter]:
    """An object whose `write` takes record batches; on leaving the file is there, whole."""
    codec = None if compression is None else pa.Codec(compression, _ZSTD_LEVEL)
    options = pa.ipc.IpcWriteOptions(compression=codec, use_threads=False)
    with checked_writer(path) as file:
        writer = pa.ipc.new_file(file, schema, options=options)
        yield writer
        writer.close()


class ArrowFile:
    """An Arrow file in memory, to be read."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._map = CheckedMap(path)
        self._lock = threading.Lock()  # a reader reads its dictionaries at the first batch
        # Columns in place, by their batch, name, and whether all of their values were checked:
        # making one takes as long as reading hundreds of its values.
        self._columns: dict[tuple[int, str, bool], pa.Array] = {}
        dictionaries, self._batches = self._footer()
        for message in dictionaries:
            self._map.view(message.begin, message.end)
        buffer = pa.py_buffer(self._map.data)
        self._address: int = buffer.address
        self._reader = pa.ipc.open_file(buffer)
        self.schema: pa.Schema = self._reader.schema

    @property
    def size(self) -> int:
        """Bytes of the file."""
        return self._map.size

    @property
    def num_batches(self) -> int:
        return len(self._batches)

    def batch(self, i: int) -> pa.RecordBatch:
        """Record batch i, checked."""
        message = self._batches[i]
        self._map.view(message.begin, message.end)
        with self._lock:
            return self._reader.get_batch(i)

    def column(self, i: int, name: str) -> pa.Array:
        """One column of record batch i. Of a batch that is not compressed only this is checked and
        read from the disk."""
        if (found := self._columns.get((i, name, True))) is not None:
            return found
        message = self._batches[i]
        self._map.view(message.begin, message.body)
        compressed = self._is_compressed(message)
        if compressed:
            self._map.view(message.begin, message.end)
        with self._lock:
            column = self._reader.get_batch(i).column(name)
        for buffer in column.buffers():
            if buffer is None or not buffer.size:
                continue
            begin = buffer.address - self._address
            if message.body <= begin <= message.end:
                self._map.view(begin, begin + buffer.size)
        if not compressed:
            self._columns[i, name, True] = column
        return column

    def lists(self, i: int, name: str) -> pa.Array:
        """A column of lists of a batch that is not compressed, of which only where they begin is
        checked; `check` is for those of their values that are read."""
        if (found := self._columns.get((i, name, False))) is not None:
            return found
        message = self._batches[i]
        self._map.view(message.begin, message.body)
        with self._lock:
            column = self._reader.get_batch(i).column(name)
        begins = column.buffers()[1]
        place = self.offset_of(begins)
        self._map.view(place, place + begins.size)
        self._columns[i, name, False] = column
        return column

    def check(
        self, buffer: pa.Buffer, begins: npt.NDArray[np.int64], ends: npt.NDArray[np.int64]
    ) -> None:
        """Checks some stretches of bytes of a buffer of a batch that is not compressed."""
        place = self.offset_of(buffer)
        self._map.check(place + begins, place + ends)

    def offset_of(self, buffer: pa.Buffer) -> int:
        """Where a buffer of a batch that is not compressed lies in the file."""
        return int(buffer.address) - self._address

    def table(self) -> pa.Table:
        batches = [self.batch(i) for i in range(self.num_batches)]
        return pa.Table.from_batches(batches, self.schema)

    def verify(self, threads: int | None = None) -> None:
        """Checks everything."""
        self._map.verify(threads)

    def release(self) -> None:
        """Takes the file out of this process's memory; what was read stays valid."""
        self._map.release()

    def close(self) -> None:
        """Lets go of the file; it stays in memory as long as anything read from it does."""
        del self._reader
        self._columns.clear()
        self._map.close()

    def _footer(self) -> tuple[list[_Message], list[_Message]]:
        """Where the dictionaries and the record batches are; pyarrow does not tell."""
        size = self._map.size
        end = size - _END.size
        length, magic = _END.unpack(self._map.view(max(end, 0), size)) if end >= 0 else (0, b"")
        if magic != _MAGIC or not 0 < length <= end:
            raise DamageError(f"{printable(str(self.path))}: damaged: it is no Arrow file")
        footer = self._map.view(end - length, end)
        table = _Table(footer, 0)
        return table.blocks(_DICTIONARIES), table.blocks(_RECORD_BATCHES)

    def _is_compressed(self, message: _Message) -> bool:
        # Before the table stand a mark and the length of the header.
        header = _Table(self._map.view(message.begin, message.body), 8).table(_HEADER)
        return header.place(_COMPRESSION) is not None


class _Table:
    """A table of a flatbuffer: as much of that format as is needed to find the messages."""

    def __init__(self, data: memoryview, reference: int) -> None:
        self._data = data
        self._begin = reference + self._number("<I", reference)

    def place(self, field: int) -> int | None:
        """Where a field's value is, or None if the table does not have it."""
        vtable = self._begin - self._number("<i", self._begin)
        entry = 4 + 2 * field
        has = entry < self._number("<H", vtable) and self._number("<H", vtable + entry)
        return self._begin + has if has else None

    def table(self, field: int) -> _Table:
        place = self.place(field)
        assert place is not None
        return _Table(self._data, place)

    def blocks(self, field: int) -> list[_Message]:
        place = self.place(field)
        if place is None:
            return []
        begin = place + self._number("<I", place)
        count = self._number("<I", begin)
        packed = self._data[begin + 4 : begin + 4 + count * _BLOCK.size]
        return [
            _Message(offset, offset + header, offset + header + body)
            for offset, header, body in _BLOCK.iter_unpack(packed)
        ]

    def _number(self, kind: str, place: int) -> int:
        number: int = struct.unpack_from(kind, self._data, place)[0]
        return number
