"""What a growing index consists of, in DIRECTORY/seen.json: its segments and its logs, in order.

One line of JSON, and a line with its CRC32C. It is replaced as a whole, so that a killed process
leaves the old state or the new one; files that it does not name are leftovers.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

from roughly import _core
from roughly.documents.file import printable, reason
from roughly.errors import DamageError, DocumentError
from roughly.storage.durable import finished_names, remove, remove_leftovers, write_durably

NAME = "seen.json"
_VERSION = 1


@dataclass(slots=True)
class Manifest:
    """The state of the index, apart from what its files hold."""

    bits: int
    k: int
    next_number: int = 1  # for the name of the next file
    segments: list[tuple[str, int]] = field(default_factory=list)  # file, simhashes
    logs: list[str] = field(default_factory=list)  # the last one is being written
    synced: dict[str, int] = field(default_factory=dict)  # bytes of each log that are on the disk

    def new_name(self, kind: str) -> str:
        number = self.next_number
        self.next_number += 1
        return f"{kind}-{number:06}"

    def write(self, directory: Path) -> None:
        body = json.dumps(
            {
                "format": _VERSION,
                "bits": self.bits,
                "k": self.k,
                "next": self.next_number,
                "segments": self.segments,
                "logs": self.logs,
                "synced": {name: self.synced.get(name, 0) for name in self.logs},
            }
        ).encode()
        write_durably(directory / NAME, body + f"\n{_core.crc32c(body):08x}\n".encode())


def read_manifest(directory: Path) -> Manifest:
    path = directory / NAME
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        raise DocumentError(f"{printable(str(path))}: cannot read: {reason(error)}") from error
    if len(lines) != 3 or lines[1] != f"{_core.crc32c(lines[0]):08x}".encode():
        raise damaged(path, "it does not have its own checksum")
    found = json.loads(lines[0])
    if found["format"] != _VERSION:
        raise DamageError(
            f"{printable(str(path))}: cannot read: its format has version {found['format']}, wanted"
            f" {_VERSION}",
            hint="use the version of roughly that made it",
        )
    segments = [(name, count) for name, count in found["segments"]]
    synced = found.get("synced", {})
    return Manifest(found["bits"], found["k"], found["next"], segments, found["logs"], synced)


def refuse_others(directory: Path) -> None:
    """Raises unless an index is there, or can be made there: nothing is put among the files of
    anything else, and files of an index without its manifest, which is written before them, are
    damage."""
    shown = printable(str(directory))
    if directory.exists() and not directory.is_dir():
        raise DocumentError(f"{shown}: no index: it is no directory", hint="name a directory")
    names = finished_names(directory) if directory.exists() else set()
    if NAME in names or names <= {"lock"}:
        return
    if any(name.startswith(("log-", "segment-")) for name in names):
        raise damaged(directory / NAME, "it is missing")
    raise DocumentError(
        f"{shown}: no index: the directory has other files, as {printable(min(names - {'lock'}))}",
        hint="name a new directory, or an empty one",
    )


def damaged(path: Path, why: str) -> DamageError:
    return DamageError(
        f"{printable(str(path))}: damaged: {why}", hint="restore the index from a copy"
    )


def remove_unnamed(directory: Path, manifest: Manifest) -> None:
    """Removes what a killed process left; for the directory's one writer."""
    remove_leftovers(directory)
    named = {*manifest.logs}
    for segment, _ in manifest.segments:
        named |= {segment, f"{segment}.crc32c"}
    for kind in ("log", "segment"):
        for path in directory.glob(f"{kind}-*"):
            if path.name not in named:
                remove(path)
