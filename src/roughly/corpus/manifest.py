"""corpus.json: what a corpus is made of. It is replaced as a whole, when everything that it names
is on the disk: a directory with one is a corpus, complete, and a directory without one is at most a
run that did not finish. What a corpus's directory holds besides is left of a writer that was
killed, or still read by somebody.
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
SEGMENTS = "segments"
FORESTS = "forest"
FORMAT = 2

HINT = "restore it from a copy, or cluster the documents again"


@dataclass(frozen=True, slots=True)
class SegmentEntry:
    """One segment of a corpus."""

    name: str  # of its directory, below segments/
    documents: int  # with those that were removed
    checksum: int  # of its files' checksums, see `checksum_of`
    date: str | None = None  # what was given for documents that have none of their own


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a corpus is made of."""

    parameters: Parameters  # of the sketches
    settings: Settings  # of the clustering
    text: bool  # whether the text of documents is kept
    segments: list[SegmentEntry]
    forest: str | None  # name of its directory, below forest/; None as long as nothing was added
    forest_checksum: int = 0
    removed: int = 0  # documents of the segments that are not there any more
    phases: list[Phase] = field(default_factory=list)  # what clustering took

    @property
    def documents(self) -> int:
        """Documents that are there."""
        return sum(segment.documents for segment in self.segments) - self.removed

    def write(self, directory: Path) -> None:
        """Makes this the state of the corpus."""
        plain = {
            "format": FORMAT,
            "parameters": asdict(self.parameters),
            "settings": self.settings.to_dict(),
            "text": self.text,
            "segments": [asdict(segment) for segment in self.segments],
            "forest": self.forest,
            "forest_checksum": self.forest_checksum,
            "removed": self.removed,
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
    except NotADirectoryError:
        raise DocumentError(
            f"{printable(str(directory))}: no corpus: it is a file, wanted a directory",
            hint="a corpus is a directory, made with: roughly cluster INPUT... -o CORPUS",
        ) from None
    except OSError as error:
        raise DocumentError(f"{printable(str(path))}: cannot read: {reason(error)}") from error
    try:
        plain = json.loads(text)
        del plain["crc32c"]
        if _encoded(plain) != text:
            raise ValueError("it is not as it was written")
        found = plain.pop("format")
        if found != FORMAT:
            raise MismatchError(
                f"{printable(str(path))}: cannot read: it has format {found}, wanted {FORMAT}",
                hint="open it with the version of roughly that made it",
            )
        return Manifest(
            **plain
            | {
                "parameters": Parameters(**plain["parameters"]),
                "settings": Settings.from_dict(plain["settings"]),
                "segments": [SegmentEntry(**segment) for segment in plain["segments"]],
                "phases": [Phase(**phase) for phase in plain["phases"]],
            }
        )
    except MismatchError:
        raise
    except (ValueError, KeyError, TypeError) as error:
        raise DamageError(
            f"{printable(str(path))}: damaged: {type(error).__name__}: {error}", hint=HINT
        ) from error
