"""Pairs counted exactly, on complete sets of shingles of documents that are read again."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

import numpy as np
import numpy.typing as npt

from roughly import _core
from roughly.sketcher import Sketcher
from roughly.verification.window import WINDOWS_AT_ONCE, Window, in_windows

if TYPE_CHECKING:
    import pyarrow as pa

    from roughly.verification.contents import Texts

Rows = npt.NDArray[np.int64]
Counts = npt.NDArray[np.uint32]


class Documents(Protocol):
    """A segment, or what looks like one."""

    def column(self, name: str) -> pa.ChunkedArray:
        """A column of all documents."""


class Verifier:
    """Counts pairs of documents."""

    def __init__(
        self,
        documents: Documents,
        contents: Texts,
        sketcher: Sketcher,
        threads: int,
        text_bytes: Rows | None = None,
    ) -> None:
        """`text_bytes` has the bytes of every document's text, if they are known already."""
        self._contents = contents
        self._sketcher = Sketcher(sketcher.w, "all", sketcher.seed, words=sketcher.words)
        self._threads = threads
        if text_bytes is None:
            text_bytes = np.asarray(documents.column("bytes")).astype(np.int64)
        self._bytes = text_bytes

    def prepare(self, rows: Rows) -> None:
        """Says which rows (ascending) may be asked for."""
        self._contents.prepare(rows)

    def close(self) -> None:
        """Deletes copies of text."""
        self._contents.close()

    def count(
        self,
        a: Rows,
        b: Rows,
        advance: Callable[[int], None] = lambda n: None,
        shingles_only: bool = False,
        along: int = 0,
    ) -> tuple[Counts, Counts, Counts]:
        """Of each pair of rows the shingles of both, of a and of b; with the words of short
        documents, if they have any, unless only shingles are asked for. The last `along` pairs are
        counted only where that takes no more reading; sizes of 0 tell where it would have."""
        found = tuple(np.zeros(len(a), np.uint32) for _ in range(3))
        workers = min(self._threads, WINDOWS_AT_ONCE)

        def count(window: Window) -> None:
            self._count(window, found, self._threads // workers, shingles_only)

        in_windows(self._contents, a, b, self._bytes, count, workers, advance, along)
        return found[0], found[1], found[2]

    def _count(
        self, window: Window, found: tuple[Counts, ...], threads: int, shingles_only: bool
    ) -> None:
        values, offsets, sizes = self._shingles(window.batches, threads)
        window.batches.clear()
        table = np.zeros((len(window.pairs), 4), dtype=np.uint32)
        table[:, 0], table[:, 1] = window.a, window.b
        every = np.arange(len(sizes), dtype=np.uint32)
        chunk_rows = 1 << max(len(sizes) - 1, 0).bit_length()
        level = np.zeros(len(sizes), np.uint8)
        words = self._sketcher.words > 0
        sets = _core.SketchSet([(values, offsets)], chunk_rows, every, sizes, level, 0, words=words)
        measure = "contained" if shingles_only else "resemblance"
        counted = sets.measure(measure, table, threads)
        if words and not shingles_only:
            sizes = np.diff(offsets).astype(np.uint32)
        common, size_a, size_b = found
        common[window.pairs] = counted[:, 2]
        size_a[window.pairs], size_b[window.pairs] = sizes[window.a], sizes[window.b]

    def _shingles(
        self, batches: list[pa.RecordBatch], threads: int
    ) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.int64], Counts]:
        """All documents' sets, one after the other."""
        parts = [self._sketcher.sketch_columns(each, threads) for each in batches]
        if len(parts) == 1:
            return parts[0].values, parts[0].offsets, parts[0].size
        offsets, end = [np.zeros(1, np.int64)], 0
        for part in parts:
            offsets.append(part.offsets[1:] + end)
            end += len(part.values)
        values = np.concatenate([part.values for part in parts])
        return values, np.concatenate(offsets), np.concatenate([part.size for part in parts])
