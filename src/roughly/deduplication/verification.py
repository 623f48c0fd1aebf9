"""Pairs counted exactly, on complete sets of shingles of documents that are read again."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from roughly import _core
from roughly.deduplication.window import windows
from roughly.sketcher import Sketcher

if TYPE_CHECKING:
    import pyarrow as pa

    from roughly.deduplication.candidates import Candidates
    from roughly.deduplication.contents import Contents

Rows = npt.NDArray[np.int64]


def count_exactly(
    candidates: Candidates,
    wanted: npt.NDArray[np.uint64],
    rows: Rows,
    contents: Contents,
    size: npt.NDArray[np.int64],
    sketcher: Sketcher,
    threads: int,
    advance: Callable[[int], None] = lambda n: None,
) -> None:
    """Counts the `wanted` pairs. `rows` are the documents that take part; `size` has the bytes of
    every row's text."""
    whole = Sketcher(w=sketcher.w, select="all", seed=sketcher.seed)
    pairs = candidates.pairs
    a, b = rows[pairs[wanted, 0]], rows[pairs[wanted, 1]]
    for window in windows(contents, a, b, size):
        values, offsets, sizes = _shingles(window.batches, whole, threads)
        table = np.zeros((len(window.pairs), 4), dtype=np.uint32)
        table[:, 0], table[:, 1] = window.a, window.b
        level = np.zeros(len(sizes), dtype=np.uint8)
        counted = _core.measure_pairs(values, offsets, sizes, level, table, 0, threads)
        chosen = wanted[window.pairs]
        pairs[chosen, 2:] = counted[:, 2:]
        candidates.parts[chosen, 0] = sizes[window.a]
        candidates.parts[chosen, 1] = sizes[window.b]
        candidates.exact[chosen] = 1
        advance(len(chosen))


def _shingles(
    batches: list[pa.RecordBatch], sketcher: Sketcher, threads: int
) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.int64], npt.NDArray[np.uint32]]:
    parts = [sketcher.sketch_documents(batch, threads).columns for batch in batches]
    if len(parts) == 1:
        return parts[0].values, parts[0].offsets, parts[0].size
    offsets, end = [np.zeros(1, np.int64)], 0
    for part in parts:
        offsets.append(part.offsets[1:] + end)
        end += len(part.values)
    values = np.concatenate([part.values for part in parts])
    return values, np.concatenate(offsets), np.concatenate([part.size for part in parts])
