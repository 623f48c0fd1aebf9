"""Files that are whole or not there, also after the machine stopped, and errors that say why not.

Every file is written under a temporary name beside its own, `.NAME.part`, and then renamed. What a
killed process leaves are such temporary files alone: `remove_leftovers` takes them away.
"""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Callable, Iterator
from pathlib import Path

from roughly import _core
from roughly.documents.file import printable, reason
from roughly.errors import DocumentError

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_PART = ".part"


def cannot_write(what: str | Path, error: OSError, aside: str = "") -> DocumentError:
    """The error that tells what could not be written, why, and what to do."""
    full = error.errno in _FULL
    return DocumentError(
        f"{printable(str(what))}: cannot write: {reason(error)}{aside}",
        hint="make room, or choose another place" if full else "choose a place you may write to",
    )


@contextlib.contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turns what the system says inside into the error of `cannot_write`."""
    try:
        yield
    except OSError as error:
        raise cannot_write(path, error) from error


def make_directory(path: Path) -> None:
    """Makes a directory and those above it, where they are missing."""
    with writing(path):
        path.mkdir(parents=True, exist_ok=True)


def reserve(descriptor: int, size: int, where: Path) -> None:
    """Gives a file its size and its room. A mapped file without room would kill the process."""
    with writing(where):
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(descriptor, 0, size)
            return
        zeros = bytes(min(size, 1 << 20))
        for begin in range(0, size, len(zeros)):
            os.pwrite(descriptor, zeros[: size - begin], begin)


def temporary(path: Path) -> Path:
    """The name a file has while it is written. Always the same: a second try replaces the first."""
    return path.with_name(f".{path.name}{_PART}")


def finished_names(directory: Path) -> set[str]:
    """What is in a directory, but for files that were being written."""
    with writing(directory):
        names = {entry.name for entry in directory.iterdir()}
    return {name for name in names if not (name.startswith(".") and name.endswith(_PART))}


def remove(path: Path) -> None:
    """Removes a file if it is there and can be removed."""
    with contextlib.suppress(OSError):
        path.unlink()


def remove_leftovers(directory: Path) -> None:
    """Removes the temporary files of a process that was killed; for the directory's one writer."""
    if directory.is_dir():
        for path in directory.glob(f".*{_PART}"):
            remove(path)


def sync(path: Path) -> None:
    """Waits until a file, or a directory's names, are on the disk."""
    _wait_for(os.fsync, path)


def sync_below(folder: Path) -> None:
    """Waits until everything below a directory is on the disk, however many files it has."""
    _wait_for(_core.sync_file_system, folder)


def _wait_for(done: Callable[[int], None], path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        done(descriptor)
    finally:
        os.close(descriptor)


def write_durably(path: Path, data: bytes, durable: bool = True) -> None:
    """Replaces a small file. Until all of it is on the disk, whatever is there stays as it is."""
    part = temporary(path)
    try:
        with writing(path):
            with part.open("wb") as file:
                file.write(data)
                file.flush()
                if durable:
                    os.fsync(file.fileno())
            os.replace(part, path)
            if durable:
                sync(path.parent)
    except BaseException:
        remove(part)
        raise
