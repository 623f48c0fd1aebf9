"""The 1997 paper's own phases 2 and 3: all pairs under every shingle that is not too common.

Documents are sorted by <fingerprint, document>, lists of more documents than the cut-off allows are
left out, and the pairs under the others are counted. The pairs in a stretch of first documents are
expanded together, as many as the budget allows, so they never go to disk.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from roughly import _core
from roughly.clustering.clock import Clock
from roughly.clustering.sketches import PairTable, Rows, Sketches, steps
from roughly.storage.checked import CheckedMap, checked_writer, sidecar
from roughly.storage.scratch import Scratch

_Lists = tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint64]]  # documents, and where lists end

# An occurrence while it is sorted, twice.
_OCCURRENCE_BYTES = 32
# What is kept for an expanded pair, and for the document that it begins with.
_PAIR_BYTES = 4
_DOCUMENT_BYTES = 16


class Common(NamedTuple):
    """An element that many documents have."""

    element: int
    documents: int
    first: int  # of them, as the sketches' rows are taken


class Expansion:
    """Some rows of the sketches, in document order, under their elements."""

    def __init__(
        self,
        sketches: Sketches,
        rows: Rows,
        *,
        cut_off: int,
        threads: int,
        budget_bytes: int,
        scratch: Path | None = None,
        most_common: int = 0,
        advance: Callable[[int], None] = lambda n: None,
        clock: Clock | None = None,
    ) -> None:
        self._clock = Clock() if clock is None else clock
        self._sketches = sketches
        self._threads = threads
        self._budget_bytes = budget_bytes
        self._scratch = scratch
        arrays = Scratch(scratch)
        self._set = sketches.taking_part(rows, scratch=arrays)
        self._documents = len(rows)
        self._lists: list[_Lists] = []
        self._held = 0  # of these the first so many are in memory, all others in files
        self._held_bytes = 0
        self._maps: list[CheckedMap] = []
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self.elements = 0
        self.cut_elements = 0
        """Elements that were left out because too many documents have them."""
        self.commonest: list[Common] = []
        self.disk_bytes = 0
        of_row = arrays.zeros(len(sketches), np.uint32)
        for begin, counts in sketches.kept_pieces():
            of_row[begin : begin + len(counts)] = counts
        self._counts: Rows = arrays.take(of_row, rows)
        del of_row
        self._release()
        self._expansions: npt.NDArray[np.uint64] = arrays.zeros(self._documents, np.uint64)
        self.disk_bytes += arrays.disk_bytes
        self._collect(cut_off, most_common, advance)

    def __enter__(self) -> Expansion:
        return self

    def __exit__(self, *_: object) -> None:
        self._lists.clear()
        for file in self._maps:
            file.close()
        if self._folder is not None:
            self._folder.cleanup()

    @property
    def expanded(self) -> int:
        """Pairs in all lists, those of several lists counted for each."""
        return int(self._expansions.sum())

    def pairs(
        self, floor: Fraction, advance: Callable[[int], None] = lambda n: None
    ) -> Iterator[PairTable]:
        """Every pair that reaches the floor, once, in tables. `advance` is told of documents."""
        ratio = floor.numerator, floor.denominator
        begin = 0
        while begin < self._documents:
            end = self._end_of_range(begin)
            with self._clock("pairs"):
                found = self._set.expand(
                    self._lists,
                    self._held,
                    self._counts,
                    self._expansions,
                    ratio,
                    begin,
                    end,
                    self._threads,
                )
            self._release()
            if len(found):
                yield found
            advance(end - begin)
            begin = end

    def _end_of_range(self, begin: int) -> int:
        """Behind the documents from there on whose pairs the budget allows: one at least."""
        left = self._budget_bytes
        for first, last in steps(self._documents - begin):
            some = self._expansions[begin + first : begin + last]
            ends = np.cumsum(some * np.uint64(_PAIR_BYTES) + np.uint64(_DOCUMENT_BYTES))
            fit = int(np.searchsorted(ends, np.uint64(left), "right"))
            if fit < len(some):
                return begin + max(first + fit, 1)
            left -= int(ends[-1])
        return self._documents

    def _collect(self, cut_off: int, most_common: int, advance: Callable[[int], None]) -> None:
        total = sum(len(values) for values, _ in self._sketches.chunks)
        buckets = _core.POSTING_BUCKETS
        groups = min(max(-(-total * _OCCURRENCE_BYTES // max(self._budget_bytes, 1)), 1), buckets)
        bounds = [buckets * n // groups for n in range(groups + 1)]
        told = 0
        least = self._sketches.documents_in(self._budget_bytes // 8)
        for number, (first, last) in enumerate(pairwise(bounds)):
            with self._clock("sort"):
                collector = _core.ListCollector(first, last, cut_off, most_common)
                for begin, end in steps(self._documents, least):
                    collector.add(self._set, begin, end, self._threads)
                    self._release()
                documents, ends, commonest, elements, cut = collector.finish(self._threads)
                self._set.add_expansions((documents, ends), self._expansions)
            self.elements += elements
            self.cut_elements += cut
            self.commonest += [Common(*each) for each in commonest]
            self._keep((documents, ends))
            self._release()
            done = self._documents * (number + 1) // groups
            advance(done - told)
            told = done
        self.commonest.sort(key=lambda common: (-common.documents, common.element))
        del self.commonest[most_common:]

    def _keep(self, lists: _Lists) -> None:
        documents, ends = lists
        self._held_bytes += documents.nbytes + ends.nbytes
        if self._held_bytes <= self._budget_bytes // 4:
            self._lists.append(lists)
            self._held += 1
            return
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="lists-", dir=self._scratch)
        path = Path(self._folder.name) / f"{len(self._maps):05}.run"
        with checked_writer(path) as file:
            file.write(ends.data.cast("B"))
            file.write(documents.data.cast("B"))
        run = CheckedMap(path)
        self._maps.append(run)
        self.disk_bytes += path.stat().st_size + sidecar(path).stat().st_size
        self._lists.append(
            (run.array(np.uint32, ends.nbytes, len(documents)), run.array(np.uint64, 0, len(ends)))
        )

    def _release(self) -> None:
        self._sketches.release()
        for file in self._maps:
            file.release()
