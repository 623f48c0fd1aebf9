"""One writer for a directory, and readers whose files must not go.

Locks are the operating system's (flock), so they go with the process that holds them, however that
ends. A writer has DIRECTORY/lock, whose file stays. Readers share a lock on the directory itself:
it keeps nobody from writing, only from deleting what they may still read.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType

from roughly.documents.file import printable
from roughly.errors import BusyError
from roughly.storage.durable import make_directory, writing


class WriterLock:
    """Holds a directory while inside a `with`; another process, or this one, gets BusyError. The
    directory is made if it is not there."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._descriptor: int | None = None

    def __enter__(self) -> WriterLock:
        path = self.directory / "lock"
        make_directory(self.directory)
        with writing(path):
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            with writing(path):
                try:
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError as error:
                    raise self._busy(descriptor) from error
                if not is_at(descriptor, path):  # who had it has ended, and removed it
                    raise self._busy(descriptor)
                os.ftruncate(descriptor, 0)
                os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
        except BaseException:
            os.close(descriptor)
            raise
        self._descriptor = descriptor
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _busy(self, descriptor: int) -> BusyError:
        # Whoever has just taken it may not have written this yet.
        holder = os.pread(descriptor, 20, 0).decode("ascii", "replace").strip()
        who = f"process {holder}" if holder.isdigit() else "another process"
        return BusyError(
            f"{printable(str(self.directory))}: in use: {who} is writing to it",
            hint="wait until it has ended, or choose another place",
        )


class ReaderLock:
    """Shares a directory with other readers until `close`, or until nobody has this any more. Where
    the system has no such locks, it holds nothing."""

    def __init__(self, directory: Path) -> None:
        self._close: Callable[[], object] = _nothing
        with contextlib.suppress(OSError):
            descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            self._close = weakref.finalize(self, os.close, descriptor)
            fcntl.flock(descriptor, fcntl.LOCK_SH)

    def close(self) -> None:
        """Lets go; a second time does nothing."""
        self._close()


def is_at(descriptor: int, path: Path) -> bool:
    """Whether an open file, or directory, still has this name."""
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(path))
    except FileNotFoundError:
        return False


def _nothing() -> None:
    pass


@contextlib.contextmanager
def no_readers(directory: Path) -> Iterator[bool]:
    """Whether nobody reads the directory; if so, nobody begins to while inside the `with`."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            alone = True
        except OSError:
            alone = False
        yield alone
    finally:
        os.close(descriptor)
