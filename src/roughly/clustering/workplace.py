"""A directory to work in that goes when nobody needs it any more."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from pathlib import Path


class Workplace:
    """A temporary directory as long as this object lives."""

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="roughly-"))
        weakref.finalize(self, shutil.rmtree, self.path, True)


def disk_bytes(directory: Path) -> int:
    """Bytes of all files below a directory."""
    return sum(file.stat().st_size for file in directory.rglob("*") if file.is_file())
