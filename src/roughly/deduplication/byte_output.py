"""A file without some of its bytes: JSON Lines, CSV, web archives and texts, plain or compressed.

Bytes are copied in large pieces, not record by record. A file that loses nothing and keeps its
compression is copied as it is. What could not be decompressed is not there to be copied: the
reading has counted and named it, and what comes before and after it stays apart.

Plain bytes go into a file of one's own in blocks, by several threads: the system lets one of them
write to a file at a time, and the others read meanwhile.
"""

from __future__ import annotations

import contextlib
import errno
import os
import queue
import re
import sys
import threading
from collections.abc import Callable, Iterator
from io import FileIO
from typing import IO, TYPE_CHECKING, Any, Protocol

from roughly import _core
from roughly.deduplication.record_member import Compressor, RecordMembers
from roughly.documents.file import reason
from roughly.documents.selection import changed
from roughly.errors import DocumentError
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
# Smaller outputs may stay in the cache: the next program soon reads them.
_PAST_CACHE_BYTES = 1 << 26
_RWF_DONTCACHE = 0x80  # of linux/fs.h; Python has no name for it
# Whoever ends a stretch waits for the one before. The cache takes a stretch in 15 to 45 ms (above),
# so a disk that keeps a thread waiting as long as that brings nothing.
_STRETCH_BYTES, _PATIENCE_S = 1 << 25, 0.025
# What a file system, or a Python, says that does not know the flag.
_CANNOT = (errno.ENOSYS, errno.EPERM, errno.EINVAL, errno.EOPNOTSUPP)
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
) -> bool:
    """Writes the bytes of a source that are not removed, and returns whether these are all of the
    others, be they ever so damaged: else it was compressed anew, or not all of it could be read.
    `advance` is told of bytes of its file. `own` says that `file` is new and nobody else writes to
    it, so that its parts may come in any order."""
    assert source.path is not None
    as_it_is = not len(removed) and compression == source.compression
    if own and (as_it_is or not (compression or source.compression)):
        try:
            _copy_plain(source, removed, file, advance)
            return True
        except _CannotReadOn:
            file.truncate(0)  # what is before that place is copied in order
    if as_it_is:
        with _opened(source) as whole:
            file.flush()
            while block := _read_on(source, whole):
                file.write(block)
        advance(source.size_bytes)
        return True
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
    return False


@contextlib.contextmanager
def _reading(source: Source) -> Iterator[None]:
    """What the system says inside is no fault of the output."""
    try:
        yield
    except OSError as error:
        raise DocumentError(f"{source.name}: cannot read it again: {reason(error)}") from error


def _opened(source: Source) -> FileIO:
    assert source.path is not None
    with _reading(source):
        return open(source.path, "rb", buffering=0)


def _read_on(source: Source, file: FileIO) -> bytes:
    with _reading(source):
        return file.read(_BLOCK_BYTES) or b""


class _CannotReadOn(Exception):
    """The system does not give some of a source's bytes."""


def _copy_plain(source: Source, removed: RemovedRanges, file: IO[bytes], advance: Advance) -> None:
    """A file's own bytes without those removed, into a new file."""
    assert source.path is not None
    buffers: queue.SimpleQueue[memoryview] = queue.SimpleQueue()
    telling = threading.Lock()
    with _opened(source) as whole:
        size = os.fstat(whole.fileno()).st_size
        if not size:
            raise _CannotReadOn  # or one of those files of the system that have no size
        if len(removed) and size < removed.end[-1]:
            raise changed(source)
        kept_bytes = size - removed.size
        _core.allocate(file.fileno(), kept_bytes)
        target = _NewFile(file.fileno(), kept_bytes)

        def copy(block: tuple[int, list[tuple[int, int]], int]) -> None:
            length, kept, to = block
            if kept:
                begin, end = kept[0][0], kept[-1][1]
                buffer = buffers.get()
                view = buffer[: end - begin]
                if not _read_at(whole.fileno(), view, begin):
                    raise changed(source)
                target.write([view[b - begin : e - begin] for b, e in kept], to)
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
        target.finish()


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


class _NewFile:
    """A file that several threads write to, each at its own places.

    A large one goes past the system's cache as long as the disk keeps up. To find memory for the
    cache may take longer (1.1 GB on a virtual machine: 0.5 to 1.5 s, against 0.3), and drives out
    what others have there. Such a write tells of no failure, so that is asked for: what was not
    written must not be taken for an output."""

    def __init__(self, file: int, size: int) -> None:
        self._file = file
        self._flags = _past_cache() if size >= _PAST_CACHE_BYTES else 0
        self._has_passed_cache = False

    def write(self, pieces: list[memoryview], at: int) -> None:
        for begin in range(0, len(pieces), _PIECES):
            some = pieces[begin : begin + _PIECES]
            while some:
                written = self._write_some(some, at)
                at += written
                # Mostly all: less if there was a signal, or if the disk is about to be full.
                while some and written >= len(some[0]):
                    written -= len(some.pop(0))
                if some:
                    some[0] = some[0][written:]

    def _write_some(self, pieces: list[memoryview], at: int) -> int:
        """Bytes that were written."""
        if not self._flags:
            return os.pwritev(self._file, pieces, at)
        try:
            written = os.pwritev(self._file, pieces, at, self._flags)
        except (OSError, NotImplementedError) as error:
            if getattr(error, "errno", errno.ENOSYS) not in _CANNOT:
                raise
            self._flags = 0
            return os.pwritev(self._file, pieces, at)
        self._has_passed_cache = True
        stretch = (at + written) // _STRETCH_BYTES
        if stretch > max(at // _STRETCH_BYTES, 1):
            waited = _core.wait_until_written(self._file, (stretch - 1) * _STRETCH_BYTES)
            if waited > _PATIENCE_S:
                self._flags = 0
        return written

    def finish(self) -> None:
        """Once everything is written: OSError if the disk did not take some of what passed the
        cache."""
        if self._has_passed_cache:
            os.fdatasync(self._file)


def _past_cache() -> int:
    """The flag where the system has it: Linux from 6.16 on, which reads nothing stale after it
    (mended by 095f627add86)."""
    if sys.platform != "linux":
        return 0
    version = re.match(r"(\d+)\.(\d+)", os.uname().release)
    return _RWF_DONTCACHE if version and (int(version[1]), int(version[2])) >= (6, 16) else 0


def _blocks(source: Source) -> Iterator[tuple[int, bytes | None, int]]:
    """The decompressed bytes, each block with its place, and how far the file was read; None where
    some were lost."""
    # The member that damage ends may hold anything: readers of web archives do not believe it.
    doubted = source.format in ("warc", "arc")
    with _reading(source), source.open() as stream:
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
