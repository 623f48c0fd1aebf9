"""What a corpus holds, how it was made, and what it takes on disk."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from roughly.clustering.workplace import disk_bytes
from roughly.corpus.manifest import FORESTS, SEGMENTS
from roughly.corpus.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class Sweep:
    """The documents of one date."""

    date: str | None  # a day at most: times of day are put together
    documents: int


@dataclass(frozen=True, slots=True)
class SegmentInformation:
    """What was added at once."""

    name: str
    documents: int  # with those that were removed since
    removed: int
    date: str | None  # that was given for documents without one
    bytes: int


@dataclass(frozen=True, slots=True)
class Information:
    """All of it."""

    path: str
    documents: int
    removed: int
    sweeps: list[Sweep]  # by date, those without one first
    segments: list[SegmentInformation]
    parameters: dict[str, Any]  # of the sketches
    settings: dict[str, Any]  # of the clustering: thresholds, floors, method
    text: bool
    bytes: dict[str, int]  # on disk: segments, forest, other

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        return asdict(self)


def information(snapshot: Snapshot) -> Information:
    """Of one state of a corpus."""
    manifest, collection = snapshot.manifest, snapshot.collection
    segments = []
    for number, entry in enumerate(manifest.segments):
        begin = collection.first_row(number)
        inside = np.searchsorted(collection.removed, [begin, begin + entry.documents])
        size = disk_bytes(snapshot.path / SEGMENTS / entry.name)
        segments.append(
            SegmentInformation(
                entry.name, entry.documents, int(inside[1] - inside[0]), entry.date, size
            )
        )
    sizes = {
        "segments": sum(segment.bytes for segment in segments),
        "forest": disk_bytes(snapshot.forest) if manifest.forest else 0,
        "other": _other_bytes(snapshot.path),
    }
    settings = manifest.settings
    shown = {
        "threshold": float(settings.threshold),
        "floor": float(settings.floor),
        "containment": None if settings.containment is None else float(settings.containment),
        "containment_floor": None
        if settings.containment_floor is None
        else float(settings.containment_floor),
        "method": settings.method,
        "linkage": settings.linkage,
        "exact": settings.exact,
        "condition": settings.condition.to_dict(),
        "discount": None if settings.discount is None else str(settings.discount),
    }
    return Information(
        str(snapshot.path),
        manifest.documents,
        manifest.removed,
        _sweeps(snapshot),
        segments,
        asdict(manifest.parameters),
        shown,
        manifest.text,
        sizes,
    )


def _sweeps(snapshot: Snapshot) -> list[Sweep]:
    collection = snapshot.collection
    counts: dict[str | None, int] = {}
    for part in range(collection.parts):
        begin, end = collection.rows(part)
        rows = np.arange(begin, end)[collection.live[begin:end]]
        days = pc.utf8_slice_codeunits(collection.take("date", rows), 0, len("2026-11-15"))
        for each in pa.array(days).value_counts().to_pylist():
            counts[each["values"]] = counts.get(each["values"], 0) + each["counts"]
        collection.release()
    return [Sweep(day, counts[day]) for day in sorted(counts, key=lambda day: day or "")]


def _other_bytes(path: Path) -> int:
    """Tables, the report, and what is left of other states."""
    own = {path / SEGMENTS, path / FORESTS}
    return sum(
        disk_bytes(entry) if entry.is_dir() else entry.stat().st_size
        for entry in path.iterdir()
        if entry not in own
    )
