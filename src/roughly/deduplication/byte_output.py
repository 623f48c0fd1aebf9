"""A file without some of its bytes: JSON Lines, CSV, web archives and texts, plain or compressed.

Bytes are copied in large pieces, not record by record. A file that loses nothing and keeps its
compression is copied as it is. What could not be decompressed is not there to be copied: the
reading has counted and named it, and what comes before and after it stays apart.

Plain bytes go into a file of one's own in blocks, by several threads: the system lets one of them
write to a file at a time, and the others read meanwhile.
"""

from __future__ import annotations

import os
import queue
import shutil
import threading
from collections.abc import Callable, Iterator
from typing import IO, TYPE_CHECKING, Any, Protocol

from roughly import _core
from roughly.deduplication.record_member import Compressor, RecordMembers
from roughly.documents.file import reason
from roughly.documents.selection import changed
from roughly.pipeline import read_ahead, share

if TYPE_CHECKING:
    from roughly.deduplication.removed_range import RemovedRanges
    from roughly.documents.source import Source

# Some kernels take three times as long for the bytes of larger writes.
_BLOCK_BYTES = 1 << 19
# Blocks of files that have their room beforehand, for which that does not hold; a thread's own
# cache holds one.
_PLAIN_BLOCK_BYTES = 1 << 20
# Threads that copy: while one writes, a second has the time to read.
_COPYING = 2
# Held back of web archives, until it is known that their members are good: 8 MiB.
_HELD_BLOCKS = 16
# As many pieces as the system takes in one call.
_PIECES = 1024
# ISA-L's middle level: about as small as gzip -3 at many times its speed.
_GZIP_LEVEL = 2
_ZSTD_LEVEL = 3


Advance = Callable[[int], None]


class _Sink(Protocol):
    """Where kept bytes go."""

    def add(self, pieces: list[memoryview]) -> None: ...
    def damage(self) -> None:
        """The bytes before this and after it do not belong together."""

    def end(self) -> None: ...


def copy_kept(
    source: Source,
    removed: RemovedRanges,
    file: IO[bytes],
    compression: str,
    threads: int,
    advance: Advance = lambda n: None,
    own: bool = False,
) -> None:
    """Writes the bytes of a source that are not removed; `advance` is told of bytes of its file.
    `own` says that `file` is new and nobody else writes to it, so that its parts may come in any
    order."""
    assert source.path is not None
    as_it_is = not len(removed) and compression == source.compression
    if own and (as_it_is or not (compression or source.compression)):
        try:
            return _copy_plain(source, removed, file, advance)
        except _CannotReadOn:
            file.truncate(0)  # what is before that place is copied in order
    if as_it_is:
        with open(source.path, "rb", buffering=0) as whole:
            file.flush()
            shutil.copyfileobj(whole, file, _BLOCK_BYTES)
        advance(source.size_bytes)
        return
    sink = _sink(source, file, compression, threads)
    last_byte, told, end = b"", 0, 0
    for at, data, read in read_ahead(_blocks(source)):
        advance(read - told)
        told = read
        if data is None:
            if source.format == "jsonl" and last_byte not in (b"", b"\n"):
                sink.add([memoryview(b"\n")])  # half a line must not become part of the next
            sink.damage()
            continue
        view = memoryview(data)
        end = at + len(view)
        pieces = [view[b - at : e - at] for b, e in removed.kept(at, end)]
        if pieces:
            sink.add(pieces)
            last_byte = bytes(pieces[-1][-1:])
    if len(removed) and end < removed.end[-1]:
        raise changed(source)
    sink.end()


class _CannotReadOn(Exception):
    """The system does not give some of a source's bytes."""


def _copy_plain(source: Source, removed: RemovedRanges, file: IO[bytes], advance: Advance) -> None:
    """A file's own bytes without those removed, into a new file."""
    assert source.path is not None
    buffers: queue.SimpleQueue[memoryview] = queue.SimpleQueue()
    telling = threading.Lock()
    with open(source.path, "rb", buffering=0) as whole:
        size = os.fstat(whole.fileno()).st_size
        if not size:
            raise _CannotReadOn  # or one of those files of the system that have no size
        if len(removed) and size < removed.end[-1]:
            raise changed(source)
        _core.allocate(file.fileno(), size - removed.size)

        def copy(block: tuple[int, list[tuple[int, int]], int]) -> None:
            length, kept, to = block
            if kept:
                begin, end = kept[0][0], kept[-1][1]
                buffer = buffers.get()
                view = buffer[: end - begin]
                if not _read_at(whole.fileno(), view, begin):
                    raise changed(source)
                _write_at(file.fileno(), [view[b - begin : e - begin] for b, e in kept], to)
                buffers.put(buffer)
            with telling:
                advance(length)

        def blocks() -> Iterator[tuple[int, list[tuple[int, int]], int]]:
            """How long each is, what is kept of it, and where that goes to."""
            to = 0
            for begin in range(0, size, _PLAIN_BLOCK_BYTES):
                end = min(begin + _PLAIN_BLOCK_BYTES, size)
                kept = list(removed.kept(begin, end))
                yield end - begin, kept, to
                to += sum(e - b for b, e in kept)

        workers = min(_COPYING, -(-size // _PLAIN_BLOCK_BYTES))
        for _ in range(workers):
            buffers.put(memoryview(bytearray(min(_PLAIN_BLOCK_BYTES, size))))
        share(blocks(), copy, workers)


def _read_at(file: int, view: memoryview, at: int) -> bool:
    """Fills the view; False where the file ends before."""
    try:
        while len(view):
            count = os.preadv(file, [view], at)
            if not count:
                return False
            view, at = view[count:], at + count
    except OSError as error:
        raise _CannotReadOn(reason(error)) from error
    return True


def _write_at(file: int, pieces: list[memoryview], at: int) -> None:
    for begin in range(0, len(pieces), _PIECES):
        some = pieces[begin : begin + _PIECES]
        while some:
            written = os.pwritev(file, some, at)
            at += written
            # Mostly all: less if there was a signal, or if the disk is about to be full.
            while some and written >= len(some[0]):
                written -= len(some.pop(0))
            if some:
                some[0] = some[0][written:]


def _blocks(source: Source) -> Iterator[tuple[int, bytes | None, int]]:
    """The decompressed bytes, each block with its place, and how far the file was read; None where
    some were lost."""
    # The member that damage ends may hold anything: readers of web archives do not believe it.
    doubted = source.format in ("warc", "arc")
    with source.open() as stream:
        while True:
            held: list[tuple[int, bytes]] = []
            while True:
                at = stream.offset
                data = stream.read(_BLOCK_BYTES)
                if not data:
                    break
                held.append((at, data))
                if len(held) > _HELD_BLOCKS or not doubted:
                    yield *held.pop(0), stream.file_offset
            end = stream.offset - (stream.damaged_bytes if stream.damage is not None else 0)
            for at, data in held:
                yield at, data[: max(0, end - at)], stream.file_offset
            # In CSV nobody knows where a row begins after that: the reader stops there too.
            if source.format in ("csv", "tsv") or not stream.resume():
                return
            yield stream.offset, None, stream.file_offset


def _sink(source: Source, file: IO[bytes], compression: str, threads: int) -> _Sink:
    if not compression:
        return _Plain(file)
    if source.format in ("warc", "arc"):
        members = RecordMembers(source.format == "arc", _compressor(compression, 0))
        return _Members(file, members)
    return _Whole(file, _compressor(compression, threads)())


class _Plain:
    def __init__(self, file: IO[bytes]) -> None:
        file.flush()
        self._file = file.fileno()

    def add(self, pieces: list[memoryview]) -> None:
        for begin in range(0, len(pieces), _PIECES):
            _write_all(self._file, pieces[begin : begin + _PIECES])

    def damage(self) -> None:
        pass

    def end(self) -> None:
        pass


def _write_all(file: int, pieces: list[memoryview]) -> None:
    written = os.writev(file, pieces)
    for number, piece in enumerate(pieces):
        if written < len(piece):
            # Rare: a signal, a pipe, or a disk that is about to be full.
            return _write_all(file, [piece[written:], *pieces[number + 1 :]])
        written -= len(piece)
    return None


class _Whole:
    """One member for all."""

    def __init__(self, file: IO[bytes], compressor: Compressor) -> None:
        self._file = file
        self._compressor = compressor

    def add(self, pieces: list[memoryview]) -> None:
        for piece in pieces:
            self._file.write(self._compressor.compress(piece))  # type: ignore[arg-type]

    def damage(self) -> None:
        pass

    def end(self) -> None:
        self._file.write(self._compressor.flush())


class _Members:
    """A member for each record."""

    def __init__(self, file: IO[bytes], members: RecordMembers) -> None:
        self._file = file
        self._members = members

    def add(self, pieces: list[memoryview]) -> None:
        for piece in pieces:
            self._file.write(self._members.add(piece))

    def damage(self) -> None:
        self._file.write(self._members.end())

    end = damage


def _compressor(compression: str, threads: int) -> Callable[[], Compressor]:
    """A function that makes one; `threads` 0 is for small members."""
    if compression == "gzip":
        from isal import isal_zlib

        fast: Any = isal_zlib
        return lambda: fast.compressobj(_GZIP_LEVEL, fast.DEFLATED, 16 + 15)
    import zstandard

    maker = zstandard.ZstdCompressor(level=_ZSTD_LEVEL, threads=threads, write_checksum=True)
    return maker.compressobj
