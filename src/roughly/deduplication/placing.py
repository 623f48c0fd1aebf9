"""How an output is written under another name before it gets its own, and whose it is if that is
cut short.

Nothing is overwritten unasked, and no two runs write to one file. A run that was stopped while it
put its files in their places finds them there when it is started again: its directory has a mark
that names them, by what a file keeps when it is renamed and loses when somebody writes to it.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

from roughly.documents.file import printable
from roughly.errors import BusyError
from roughly.storage.durable import temporary, write_durably, writing
from roughly.storage.lock import is_at

MARK = "placing"

_File = tuple[int, int, int]  # its number in its file system, its size, when it was written


def mark(directory: Path, decided: str, files: Iterable[Path]) -> None:
    """Says that these are files of the run in this directory, and what decides it."""
    found = sorted(each for each in map(_identity, files) if each is not None)
    text = json.dumps({"decided": decided, "files": found})
    write_durably(directory / MARK, text.encode())


def is_marked(directory: Path, path: Path, decided: str | None = None) -> bool:
    """Whether a file, or a directory, is one of those of a run in this directory; one that was
    decided by this, if that is given."""
    try:
        said = json.loads((directory / MARK).read_bytes())
        files = {tuple(each) for each in said["files"]}
        return decided in (None, said["decided"]) and _identity(path) in files
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _identity(path: Path) -> _File | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns


def part_beside(real: Path) -> Path:
    """Where what will be this file, or this new directory, is written to."""
    return temporary(real)


def part_inside(real: Path) -> Path:
    """Where what will be in this directory is written to: it may be a file system of its own."""
    return real / temporary(real).name


@contextlib.contextmanager
def writing_part(part: Path, target: Path, folder: bool) -> Iterator[None]:
    """Inside it is there, empty, and nobody else writes to it; at the end it is not there. Errors
    name the target."""
    with writing(target):
        part.parent.mkdir(parents=True, exist_ok=True)
        if os.path.lexists(part) and (part.is_symlink() or part.is_dir() != folder):
            _remove(part)  # of a run that was killed, or nobody's
        if folder:
            part.mkdir(exist_ok=True)
        kind = os.O_RDONLY if folder else os.O_RDWR | os.O_CREAT
        descriptor = os.open(part, kind | os.O_NOFOLLOW, 0o666)
        if not folder and target.is_file():
            os.fchmod(descriptor, stat.S_IMODE(target.stat().st_mode))
    try:
        _lock(descriptor, part, target)
        try:
            with writing(target):
                if folder:
                    for entry in part.iterdir():
                        _remove(entry)
                else:
                    os.ftruncate(descriptor, 0)
            yield
        finally:
            with contextlib.suppress(OSError):
                if is_at(descriptor, part):
                    _remove(part)
    finally:
        os.close(descriptor)


def _lock(descriptor: int, part: Path, target: Path) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        free = is_at(descriptor, part)
    except BlockingIOError:
        free = False
    except OSError:
        return  # a file system without locks
    if not free:
        raise BusyError(
            f"{printable(str(target))}: in use: another process is writing to it",
            hint="wait until it has ended, or choose another place",
        )


def _remove(path: Path) -> None:
    shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
