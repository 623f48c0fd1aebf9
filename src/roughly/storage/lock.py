"""One writer for a directory.

The lock is the operating system's (flock on DIRECTORY/lock), so it goes with the process that holds
it, however that ends; the file stays. Readers need no lock.
"""

from __future__ import annotations

import fcntl
import os
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
