"""What a growing index wrote down before it answered: a log of added simhashes.

    8 bytes    RGHLYSEE
    4 bytes    format version, 1
    36 bytes   which boot of the machine the log was begun in, where the system tells
    4 bytes    CRC32C of the header
    frames     4 bytes FRAM, 4 bytes number of simhashes, 4 bytes CRC32C of these 8, the simhashes
               of 8 bytes each, 4 bytes CRC32C of them; or 4 bytes MARK: all before was synced

A frame is one write to the file, so a killed process leaves whole frames and at most one that is
cut short, whose call had not returned. What is wrong with a log is damage, with two exceptions that
only lose calls which may be lost: the last frame may be cut short; and if the machine was started
anew since, everything after the last mark may be missing or wrong. What was synced is neither: the
manifest says how long a log was then, and a shorter one is damaged.
"""

from __future__ import annotations

import os
import struct
from pathlib import Path
from typing import TYPE_CHECKING

from roughly import _core
from roughly.hamming.seen_manifest import damaged
from roughly.storage.durable import sync, writing

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Simhashes = npt.NDArray[np.uint64]

_MAGIC = b"RGHLYSEE"
_VERSION = 1
_HEADER = struct.Struct("<8sI36s")
_FRAME, _MARK = b"FRAM", b"MARK"
_HEAD = struct.Struct("<4sI")
_SUM = struct.Struct("<I")


def this_boot() -> bytes:
    """What names the time since the machine was started; empty where nothing does."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_bytes().strip()[:36]
    except OSError:
        return b""


class SeenLog:
    """A log that is being written; its owner sees to it that only one thread does."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with writing(path):
            flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND
            self._descriptor = os.open(path, flags, 0o666)
        self._size = 0
        self.synced_size = 0  # bytes that are on the disk
        self._mark = False
        self._write(_summed(_HEADER.pack(_MAGIC, _VERSION, this_boot())))

    def append(self, simhashes: Simhashes) -> None:
        """Writes down some simhashes: after this a killed process has not lost them. If it raises,
        none of them are there."""
        if not len(simhashes):
            return
        frame = _summed(_HEAD.pack(_FRAME, len(simhashes))) + _summed(simhashes.tobytes())
        self._write(_MARK + frame if self._mark else frame)
        self._mark = False

    def append_one(self, simhash: int) -> None:
        """The same for one, which is most of what a crawler adds."""
        body = _ONE.pack(simhash)
        frame = _ONE_HEAD + body + _SUM.pack(_core.crc32c(body))
        self._write(_MARK + frame if self._mark else frame)
        self._mark = False

    def sync(self) -> None:
        """Waits until everything is on the disk."""
        with writing(self.path):
            os.fsync(self._descriptor)
        self.synced_size = self._size
        # Written with the next frame: a mark on the disk means that the sync before it was done.
        self._mark = True

    def close(self) -> None:
        with writing(self.path):
            os.close(self._descriptor)

    def _write(self, data: bytes) -> None:
        try:
            written = os.write(self._descriptor, data)
            while written < len(data):
                written += os.write(self._descriptor, data[written:])
        except OSError as error:
            with writing(self.path):
                # Half a frame in the middle would be damage.
                os.ftruncate(self._descriptor, self._size)
                raise error
        self._size += len(data)


def read_log(path: Path, synced_size: int = 0) -> list[Simhashes]:
    """The simhashes of a log, frame by frame; so many bytes of it were synced at least."""
    import numpy as np

    try:
        data = path.read_bytes()
    except FileNotFoundError as error:
        raise damaged(path, "it is missing") from error
    if len(data) < synced_size:
        raise damaged(path, f"it has {len(data):,} bytes, wanted {synced_size:,} or more")
    begin = _HEADER.size + _SUM.size
    if len(data) < begin or not _is_summed(data, 0, _HEADER.size):
        # A log is in use once its header is synced.
        raise damaged(path, "its header does not have its checksum")
    magic, version, boot = _HEADER.unpack_from(data)
    if (magic, version) != (_MAGIC, _VERSION):
        raise damaged(
            path, f"it begins with {magic!r}, version {version}, wanted {_MAGIC!r}, {_VERSION}"
        )
    frames: list[Simhashes] = []
    place = begin
    while place < len(data):
        if data.startswith(_MARK, place):
            place += len(_MARK)
            continue
        body = place + _HEAD.size + _SUM.size
        if body > len(data):
            return frames  # cut short
        why = ""
        kind, count = _HEAD.unpack_from(data, place)
        end = body + 8 * count
        if kind != _FRAME or not _is_summed(data, place, body - _SUM.size):
            why = f"at byte {place:,} no frame begins"
        elif end + _SUM.size > len(data):
            return frames  # cut short
        elif not _is_summed(data, body, end):
            why = f"the frame at byte {place:,} does not have its checksum"
        if why:
            same_boot = bool(boot.strip(b"\0")) and boot == this_boot()
            if same_boot or data.find(_MARK + _FRAME, place) >= 0:
                raise damaged(path, why)
            return frames
        frames.append(np.frombuffer(data, "<u8", count, body).astype(np.uint64))
        place = end + _SUM.size
    return frames


def _summed(data: bytes) -> bytes:
    return data + _SUM.pack(_core.crc32c(data))


def _is_summed(data: bytes, begin: int, end: int) -> bool:
    found: int = _SUM.unpack_from(data, end)[0]
    return found == _core.crc32c(data[begin:end])


_ONE = struct.Struct("<Q")
_ONE_HEAD = _summed(_HEAD.pack(_FRAME, 1))


def begin_log(path: Path, simhashes: Simhashes) -> SeenLog:
    """A new log that has these and is on the disk, its name too."""
    log = SeenLog(path)
    log.append(simhashes)
    log.sync()
    sync(path.parent)
    return log
