"""The sealed segments of a growing index: how one is written and opened, when some are merged, and
the nearest simhash in all of them.

A segment is a Hamming index in a file; once it has its name in the manifest it is on the disk and
does not change. Segments are in the order in which their simhashes came.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from roughly import _core
from roughly.hamming.design import MOST_SIMHASHES
from roughly.hamming.index import HammingIndex
from roughly.hamming.seen_manifest import damaged
from roughly.storage.durable import sync

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Simhashes = npt.NDArray[np.uint64]
    # Of each simhash the position, value and distance of its match.
    Matches = tuple[npt.NDArray[np.int64], Simhashes, npt.NDArray[np.uint8]]

# A segment is merged with the one before unless that is this much larger: every query looks into
# each segment, so few matter more than writing seldom.
_MERGE_RATIO = 8
_NONE = 65  # a distance beyond every k


def write_segment(path: Path, values: Simhashes, bits: int, k: int) -> HammingIndex:
    """Makes a segment, and waits until it is on the disk."""
    HammingIndex(values, k, bits=bits, threads=1).save(path)
    for file in (path, path.with_name(f"{path.name}.crc32c"), path.parent):
        sync(file)
    return HammingIndex.open(path, load=True, threads=1)


def open_segment(path: Path, count: int, bits: int, k: int) -> HammingIndex:
    if not path.exists():
        raise damaged(path, "it is missing")
    index = HammingIndex.open(path, k, bits=bits, load=True)
    if len(index) != count:
        raise damaged(path, f"it has {len(index):,} simhashes, wanted {count:,}")
    return index


def segments_to_merge(counts: list[int]) -> int | None:
    """How many segments at the end to merge, if any, given the simhashes of each."""
    if len(counts) < 2 or counts[-2] >= _MERGE_RATIO * counts[-1]:
        return None
    merged, total = 1, counts[-1]
    while merged < len(counts) and counts[-merged - 1] < _MERGE_RATIO * total:
        total += counts[-merged - 1]
        merged += 1
    return merged if total <= MOST_SIMHASHES else None


def nearest_sealed(
    segments: list[HammingIndex], frozen: _core.HammingMemory | None, asked: Simhashes
) -> Matches:
    """The nearest to each in the segments and in what is being sealed after them."""
    import numpy as np

    best: Matches | None = None
    first = 0
    for segment in segments:
        best = _nearer(best, segment._tables.nearest_many(asked, 1), first)
        first += len(segment)
    if frozen is not None:
        best = _nearer(best, frozen.nearest_many(asked), first)
    if best is None:
        size = len(asked)
        none = np.full(size, _NONE, np.uint8)
        best = np.full(size, -1, np.int64), np.zeros(size, np.uint64), none
    return best


def _nearer(best: Matches | None, found: Matches, first: int) -> Matches:
    """Of two matches for each the nearer; equally near ones are older in `best`."""
    import numpy as np

    positions, values, distances = found
    if first:
        positions = np.where(distances < _NONE, positions + first, positions)
    if best is None:
        return positions, values, distances
    nearer = distances < best[2]
    if not nearer.any():
        return best
    return (
        np.where(nearer, positions, best[0]),
        np.where(nearer, values, best[1]),
        np.where(nearer, distances, best[2]),
    )
