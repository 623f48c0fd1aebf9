"""corpus.json: what a corpus is made of. It is written last and replaced as a whole, so a directory
with one is a corpus, complete, and a directory without one is at most a run that did not finish.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from roughly import _core
from roughly.clustering.clock import Phase
from roughly.clustering.settings import Settings
from roughly.documents.file import printable, reason
from roughly.errors import DamageError, DocumentError, MismatchError
from roughly.parameters import Parameters
from roughly.storage.durable import write_durably

MANIFEST = "corpus.json"
FORMAT = 1


@dataclass(frozen=True, slots=True)
class SegmentEntry:
    """One segment of a corpus."""

    name: str  # of its directory, below segments/
    documents: int
    checksum: int  # of its files' checksums, see `checksum_of`


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a corpus is made of."""

    parameters: Parameters  # of the sketches
    settings: Settings  # of the clustering
    segments: list[SegmentEntry]
    forest_checksum: int
    phases: list[Phase] = field(default_factory=list)  # what clustering took

    @property
    def documents(self) -> int:
        return sum(segment.documents for segment in self.segments)

    def write(self, directory: Path) -> None:
        plain = {
            "format": FORMAT,
            "parameters": asdict(self.parameters),
            "settings": self.settings.to_dict(),
            "segments": [asdict(segment) for segment in self.segments],
            "forest_checksum": self.forest_checksum,
            "phases": [asdict(phase) for phase in self.phases],
        }
        write_durably(directory / MANIFEST, _encoded(plain))


def _encoded(plain: dict[str, Any]) -> bytes:
    """JSON that carries its own checksum."""
    checksum = f"{_core.crc32c(json.dumps(plain, indent=1).encode()):08x}"
    return json.dumps({"crc32c": checksum} | plain, indent=1).encode() + b"\n"


def checksum_of(directory: Path) -> int:
    """CRC32C over the names and the checksums of all checked files in a directory: two directories
    with the same hold the same."""
    total = 0
    for path in sorted(directory.glob("*.crc32c")):
        # Without the checksum at its end: what it sums up would cancel out.
        total = _core.crc32c(path.name.encode() + path.read_bytes()[:-4], total)
    return total


def is_corpus(path: str | Path) -> bool:
    """Whether there is a finished corpus."""
    return (Path(path) / MANIFEST).is_file()


def is_unfinished(path: str | Path) -> bool:
    """Whether there is a run that has not made its corpus yet."""
    return not is_corpus(path) and (Path(path) / "steps.json").is_file()


def read_manifest(directory: Path) -> Manifest:
    """Raises an error that says what to do if there is none, or none that can be read."""
    path = directory / MANIFEST
    try:
        text = path.read_bytes()
    except FileNotFoundError:
        hint = "make one with: roughly cluster INPUT... -o CORPUS"
        if is_unfinished(directory):
            hint = "its run did not finish: give the same command again to go on with it"
        raise DocumentError(
            f"{printable(str(directory))}: no corpus: there is no {MANIFEST}", hint=hint
        ) from None
    except OSError as error:
        raise DocumentError(f"{printable(str(path))}: cannot read: {reason(error)}") from error
    try:
        plain = json.loads(text)
        del plain["crc32c"]
        if _encoded(plain) != text:
            raise ValueError("it is not as it was written")
        found = plain["format"]
        if found != FORMAT:
            raise MismatchError(
                f"{printable(str(path))}: cannot read: it has format {found}, wanted {FORMAT}",
                hint="open it with the version of roughly that made it",
            )
        return Manifest(
            Parameters(**plain["parameters"]),
            Settings.from_dict(plain["settings"]),
            [SegmentEntry(**segment) for segment in plain["segments"]],
            plain["forest_checksum"],
            [Phase(**phase) for phase in plain["phases"]],
        )
    except (ValueError, KeyError, TypeError) as error:
        raise DamageError(
            f"{printable(str(path))}: damaged: {type(error).__name__}: {error}",
            hint="restore it from a copy, or cluster the documents again",
        ) from error
