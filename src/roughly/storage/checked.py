"""Files that notice damage: every block of 64 KiB has its CRC32C in a file beside, NAME.crc32c.

A file appears whole or not at all, with its checksums. Nothing that a CheckedMap gives out has not
been checked: a block is checked when it is first touched. A writer belongs to one thread; any
thread may use a map. The layout is in docs/format.md.
"""

from __future__ import annotations

import contextlib
import io
import os
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from roughly import _core
from roughly.documents.file import printable, reason
from roughly.errors import DamageError, DocumentError
from roughly.parameters import threads_or_all
from roughly.storage.durable import remove, temporary, writing

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

BLOCK_BYTES = 65536

_MAGIC = b"RGHLYCRC"
_VERSION = 1
# magic, format version, bytes in a block, bytes in the file
_HEADER = struct.Struct("<8sIIQ")
_SUM = struct.Struct("<I")

# As much is summed up and then written at once as the processor's cache has room for.
_PUT_BYTES = 8 * BLOCK_BYTES

_HINT = "restore it from a copy, or make it again"


def sidecar(path: Path) -> Path:
    """Where a file's checksums are."""
    return path.with_name(f"{path.name}.crc32c")


class CheckedFile(io.BufferedIOBase):
    """A binary file that is written from its beginning to its end and sums up each block.
    `path` is the name it will have, for errors."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with writing(path):
            self._file = io.FileIO(temporary(path), "w")
        self._pending = bytearray()  # less than a block
        self._sums: list[npt.NDArray[np.uint32]] = []
        self._written = 0

    def writable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._written + len(self._pending)

    def write(self, data: Any) -> int:
        view = memoryview(data).cast("B")
        size = len(view)
        if self._pending:
            missing = BLOCK_BYTES - len(self._pending)
            self._pending += view[:missing]
            view = view[missing:]
            if len(self._pending) < BLOCK_BYTES:
                return size
            self._put(self._pending)
            self._pending = bytearray()
        whole = len(view) // BLOCK_BYTES * BLOCK_BYTES
        if whole:
            self._put(view[:whole])
        self._pending += view[whole:]
        return size

    def checksums(self) -> bytes:
        """The content of the sidecar; nothing can be written after this."""
        if self._pending:
            self._put(self._pending)
            self._pending = bytearray()
        header = _HEADER.pack(_MAGIC, _VERSION, BLOCK_BYTES, self._written)
        body = header + b"".join(sums.astype("<u4").tobytes() for sums in self._sums)
        return body + _SUM.pack(_core.crc32c(body))

    def close(self) -> None:
        with writing(self._path):
            self._file.close()
        super().close()

    def _put(self, blocks: bytearray | memoryview) -> None:
        data = memoryview(blocks)
        for begin in range(0, len(data), _PUT_BYTES):
            some = data[begin : begin + _PUT_BYTES]
            self._sums.append(_core.crc32c_blocks(some, BLOCK_BYTES, 1))
            self._written += len(some)
            with writing(self._path):
                while some:
                    some = some[self._file.write(some) :]


@contextlib.contextmanager
def checked_writer(path: Path) -> Iterator[CheckedFile]:
    """A binary file to write to. On leaving it and its checksums get their names, the checksums
    first; if anything is raised inside, there is nothing. To survive a power cut, `Steps.record`
    or `durable.sync` must follow."""
    beside = sidecar(path)
    part, beside_part = temporary(path), temporary(beside)
    try:
        with CheckedFile(path) as file:
            yield file
            sums = file.checksums()
        with writing(path):
            beside_part.write_bytes(sums)
            os.replace(beside_part, beside)
            os.replace(part, path)
    except BaseException:
        remove(part)
        remove(beside_part)
        raise


class CheckedMap:
    """A checked file in memory, to be read: every block is checked when it is first touched."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._sums = read_sums(path)
        with _reading(path), open(path, "rb") as file:
            found = os.fstat(file.fileno()).st_size
            if found != self._sums[0]:
                raise _damaged(path, f"it has {found:,} bytes, wanted {self._sums[0]:,}")
            self._data = _core.map_file(file.fileno(), found)
        self.size = found
        self._view = self._data.data
        self._checked = bytearray(len(self._sums[1]))  # 1 for every block that was

    def view(self, begin: int = 0, end: int | None = None) -> memoryview:
        """Those bytes, checked."""
        end = self.size if end is None else end
        if not 0 <= begin <= end <= self.size:
            raise _damaged(
                self.path, f"bytes {begin:,} to {end:,} are wanted, the file has {self.size:,}"
            )
        if begin < end:
            self._check(begin // BLOCK_BYTES, (end - 1) // BLOCK_BYTES + 1, 1)
        return self._view[begin:end]

    def check(self, begins: npt.NDArray[np.int64], ends: npt.NDArray[np.int64]) -> None:
        """Checks the bytes from each beginning to its end, where that is behind it."""
        import numpy as np

        some = ends > begins
        begins, ends = begins[some], ends[some]
        if not len(begins):
            return
        if begins.min() < 0 or ends.max() > self.size:
            raise _damaged(
                self.path,
                f"bytes {begins.min():,} to {ends.max():,} are wanted, the file has {self.size:,}",
            )
        first, last = begins // BLOCK_BYTES, (ends - 1) // BLOCK_BYTES
        checked = np.frombuffer(self._checked, np.uint8)
        # Most lie in one block or two; whoever has others between these is looked at.
        left = (checked[first] & checked[last]) == 0
        left |= last - first > 1
        for begin, end in zip(first[left].tolist(), last[left].tolist(), strict=True):
            self._check(begin, end + 1, 1)

    def array(self, dtype: npt.DTypeLike, begin_bytes: int, count: int) -> npt.NDArray[Any]:
        """`count` values from there on, read-only and in place."""
        import numpy as np

        size = count * np.dtype(dtype).itemsize
        return np.frombuffer(self.view(begin_bytes, begin_bytes + size), dtype)

    def verify(self, threads: int | None = None) -> None:
        """Checks everything, whether it was checked before or not."""
        self._checked = bytearray(len(self._checked))
        self._check(0, len(self._checked), threads_or_all(threads))

    @property
    def data(self) -> npt.NDArray[np.uint8]:
        """All bytes, not checked: for whoever has `view` check what is read of them."""
        return self._data

    def release(self) -> None:
        """Takes the file out of this process's memory. Everything given out stays valid, and what
        was checked counts as checked."""
        _core.release_pages(self._data)

    def close(self) -> None:
        """Lets go of the file; it stays in memory as long as anything given out does."""
        import numpy as np

        self._data = np.empty(0, np.uint8)
        self._view = memoryview(b"")
        self.size = 0

    def _check(self, begin: int, end: int, threads: int) -> None:
        """Checks the blocks from `begin` to `end` that were not checked, in runs."""
        while (begin := self._checked.find(0, begin, end)) >= 0:
            stop = self._checked.find(1, begin, end)
            stop = end if stop < 0 else stop
            run = self._view[begin * BLOCK_BYTES : stop * BLOCK_BYTES]
            seen = _core.crc32c_blocks(run, BLOCK_BYTES, threads)
            wanted = self._sums[1][begin:stop]
            differing = (seen != wanted).nonzero()[0]
            if len(differing):
                block = int(differing[0])
                raise _damaged(
                    self.path,
                    f"block at byte {(begin + block) * BLOCK_BYTES} has CRC32C"
                    f" {seen[block]:08x}, wanted {wanted[block]:08x}",
                )
            self._checked[begin:stop] = b"\1" * (stop - begin)
            begin = stop


def read_sums(path: Path) -> tuple[int, npt.NDArray[np.uint32]]:
    """The size of a file and its blocks' checksums, as the sidecar has them."""
    import numpy as np

    beside = sidecar(path)
    try:
        with _reading(beside):
            data = beside.read_bytes()
    except DamageError as error:
        if path.exists():
            raise
        raise _damaged(path, "it is missing") from error
    body = data[: -_SUM.size]
    if len(data) < _HEADER.size + _SUM.size or data[-_SUM.size :] != _SUM.pack(_core.crc32c(body)):
        raise _damaged(beside, "it does not have its own checksum")
    magic, version, block_bytes, size = _HEADER.unpack_from(body)
    if (magic, version, block_bytes) != (_MAGIC, _VERSION, BLOCK_BYTES):
        raise _damaged(
            beside,
            f"it begins with {magic!r}, version {version}, blocks of {block_bytes} bytes,"
            f" wanted {_MAGIC!r}, version {_VERSION}, blocks of {BLOCK_BYTES}",
        )
    sums = np.frombuffer(body, "<u4", offset=_HEADER.size)
    if len(sums) != -(-size // BLOCK_BYTES):
        raise _damaged(beside, f"it has {len(sums)} checksums for a file of {size:,} bytes")
    return size, sums


@contextlib.contextmanager
def _reading(path: Path) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError as error:
        raise _damaged(path, "it is missing") from error
    except OSError as error:
        raise DocumentError(f"{printable(str(path))}: cannot read: {reason(error)}") from error


def _damaged(path: Path, why: str) -> DamageError:
    return DamageError(f"{printable(str(path))}: damaged: {why}", hint=_HINT)
