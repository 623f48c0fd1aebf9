"""The ids that came with simhashes, by their position in a SeenIndex, so that a duplicate's answer
can name what it duplicates.

    names           records: position, simhash, size, CRC32C of the name; the name in UTF-8
    names.offsets   for each position where its record begins, counted from 1; 0 if it has no name

Records are appended, then their offsets written, both before the answer goes out. A record tells
whose it is, so that what a power loss left half done is never taken for another's name.
"""

from __future__ import annotations

import os
import struct
from pathlib import Path

from roughly import _core

_RECORD = struct.Struct("<QQII")
_OFFSET = struct.Struct("<Q")
LONGEST_NAME = 1 << 13  # bytes; longer ones are not kept


class SeenNames:
    """The names beside an index; for its one writer."""

    def __init__(self, directory: Path) -> None:
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
        self._data = os.open(directory / "names", flags, 0o666)
        self._offsets = os.open(directory / "names.offsets", flags, 0o666)
        self._end = os.fstat(self._data).st_size

    def put(self, first: int, simhashes: list[int], names: list[str | None]) -> None:
        """Names for the positions from `first` on."""
        records, offsets, end = [], [], self._end
        for position, (simhash, name) in enumerate(zip(simhashes, names, strict=True), first):
            text = b"" if name is None else name.encode("utf-8", "surrogatepass")
            if name is None or len(text) > LONGEST_NAME:
                offsets.append(0)
                continue
            offsets.append(end + 1)
            records.append(_RECORD.pack(position, simhash, len(text), _core.crc32c(text)) + text)
            end += len(records[-1])
        if records:
            _write(self._data, b"".join(records), self._end)
            _write(self._offsets, struct.pack(f"<{len(offsets)}Q", *offsets), first * _OFFSET.size)
            self._end = end

    def get(self, position: int, simhash: int) -> str | None:
        """The name of an entry, if it has one."""
        stored = os.pread(self._offsets, _OFFSET.size, position * _OFFSET.size)
        if len(stored) < _OFFSET.size or not (offset := _OFFSET.unpack(stored)[0]):
            return None
        data = os.pread(self._data, _RECORD.size + LONGEST_NAME, offset - 1)
        if len(data) < _RECORD.size:
            return None
        own, value, size, checksum = _RECORD.unpack_from(data)
        text = data[_RECORD.size : _RECORD.size + size]
        if (own, value) != (position, simhash) or _core.crc32c(text) != checksum:
            return None
        return text.decode("utf-8", "surrogatepass")

    def sync(self) -> None:
        os.fsync(self._data)
        os.fsync(self._offsets)

    def close(self) -> None:
        self.sync()
        os.close(self._data)
        os.close(self._offsets)


def _write(descriptor: int, data: bytes, place: int) -> None:
    view = memoryview(data)
    while view:
        done = os.pwrite(descriptor, view, place)
        view, place = view[done:], place + done
