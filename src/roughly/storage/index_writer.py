"""How a segment's index is made: out of core, in two passes over its sketches' elements.

First the elements of every part are scattered by the leading bits of their keys, into memory or,
if that is too small, into a file; then a few of these partitions at a time are sorted and written.
Rows with the very same sketch are put into the lists once: a page that is there ten thousand times
would else make every one of its elements a list of ten thousand.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

import numpy as np
import numpy.typing as npt

from roughly import _core
from roughly.sketcher import Sketcher
from roughly.storage.checked import checked_writer, sidecar
from roughly.storage.durable import remove, sync, temporary, writing
from roughly.storage.ordering import in_order
from roughly.storage.scratch import Scratch, stretches
from roughly.storage.segment_index import (
    FILES,
    MANIFEST,
    NO_DOCUMENT,
    ROW,
    Facts,
    Level,
    SegmentIndex,
    has_index,
    index_path,
)
from roughly.storage.sketch_copy import write_copies
from roughly.storage.sketch_table import shingles_in, without_words
from roughly.url import lookup_keys

if TYPE_CHECKING:
    import pyarrow as pa

    from roughly.storage.segment import Segment

Progress = Callable[[str, int | None, str], Callable[[int], None]]
Run = tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint32], npt.NDArray[np.uint64]]
# Ids of a batch -> what they are to be found by.
Canonical = Callable[["pa.Array"], "pa.Array"]

# Of a posting: in a run; and while its partition is sorted and put together.
_RUN_BYTES = 12
_INVERT_BYTES = 40
# Partitions that are inverted at once, if memory allows.
_MOST_AT_ONCE = 32
# Of a hash while it is put in order.
_ORDER_BYTES = 48


def _no_progress(name: str, total: int | None, unit: str) -> Callable[[int], None]:
    return lambda done: None


def write_index(
    segment: Segment,
    *,
    memory_bytes: int,
    threads: int,
    progress: Progress = _no_progress,
    canonical: Canonical | None = None,
    durable: bool = True,
) -> SegmentIndex:
    """Makes a complete segment searchable; one that is stays as it is. `canonical` turns ids into
    what `rows_of_url` finds them by, their `lookup_key` unless given. When this returns, everything
    is on the disk unless durable=False."""
    directory = segment.directory
    if has_index(directory) and _is_whole(directory):
        return SegmentIndex(segment)
    sets = segment.parameters.selection[0] != "perm"
    scratch = Scratch(directory)
    copies: npt.NDArray[np.uint32] | None = None
    left_out: npt.NDArray[np.uint8] | None = None
    if sets:
        copies, left_out = write_copies(segment, scratch, memory_bytes // 8)
    else:
        _write(directory, "copies", np.zeros(1, np.uint32))
    _core.give_back_memory()
    rows = scratch.zeros(len(segment), ROW)
    with contextlib.ExitStack() as stack:
        # A run takes memory until it is inverted; a quarter of it is for that.
        runs = _Runs(temporary(directory / "index-runs"), memory_bytes // 4, stack)
        advance = progress("index", 2 * segment.parts, "parts")
        places = []
        for part, run, kept, words, coarser, place in _scattered(segment, left_out, threads, sets):
            begin, end = segment.rows(part)
            rows["kept"][begin:end] = kept
            rows["words"][begin:end] = words
            rows["coarser"][begin:end] = coarser
            places.append(place)
            _core.release_buffer(rows[begin:end])
            if sets:
                runs.add(run)
            segment.release_part(part)
            advance(1)
        postings = runs.postings
        _core.give_back_memory()
        shape = _core.inverted_shape(len(segment), postings) if sets else (0, 0)
        _write_postings(segment, runs, shape, memory_bytes, threads, advance)
    _write(directory, "sketches", np.array(places, "<u8"))
    found = _write_rows(segment, rows, copies)
    facts = Facts(len(segment), postings, *shape, found.levels(), found.least_met(), found.small)
    del rows, copies, left_out
    for name, hashes in (
        ("urls", _id_hashes(segment, canonical, threads, scratch)),
        ("contents", _content_hashes(segment, scratch)),
    ):
        _write_hashes(directory, name, hashes, scratch, memory_bytes // 8)
        scratch.release()
    if durable:
        _sync(directory, [index_path(directory, name) for name in FILES])
    with checked_writer(directory / MANIFEST) as file:
        file.write(facts.encoded())
    if durable:
        _sync(directory, [directory / MANIFEST])
    return SegmentIndex(segment)


def _is_whole(directory: Path) -> bool:
    """Whether no file of an index is missing: one that is makes it anew."""
    paths = (directory / MANIFEST, *(index_path(directory, name) for name in FILES))
    return all(path.is_file() and sidecar(path).is_file() for path in paths)


class Part(NamedTuple):
    """What a part brings."""

    number: int
    run: Run  # its postings
    kept: npt.NDArray[np.uint32]  # elements but words
    words: npt.NDArray[np.uint8]
    coarser: npt.NDArray[np.uint16]
    place: tuple[int, int]  # of its sketches


class _Runs:
    """Scattered postings, in memory or in a file that is gone when the stack is left."""

    def __init__(self, path: Path, memory_bytes: int, stack: contextlib.ExitStack) -> None:
        self._path = path
        self._memory_bytes = memory_bytes
        self._stack = stack
        self._file: BinaryIO | None = None
        self._runs: list[Run] = []
        self._places: list[tuple[int, int, npt.NDArray[np.uint64]]] = []  # first byte, postings
        self._end = 0
        self.postings = 0

    def add(self, run: Run) -> None:
        self.postings += len(run[0])
        if self._file is None and _RUN_BYTES * self.postings > self._memory_bytes:
            self._stack.callback(remove, self._path)
            with writing(self._path):
                self._file = self._stack.enter_context(self._path.open("w+b"))
            for each in self._runs:
                self._spill(each)
            self._runs.clear()
        if self._file is None:
            self._runs.append(run)
        else:
            self._spill(run)

    def sizes(self) -> npt.NDArray[np.int64]:
        """How many postings each partition has."""
        ends = np.zeros(_core.PARTITIONS + 1, np.int64)
        for own in (*(run[2] for run in self._runs), *(place[2] for place in self._places)):
            ends[1:] += own.astype(np.int64)
        return ends[1:] - ends[:-1]

    def slices(self, first: int, last: int) -> list[Run]:
        """Of all of them, in order, the postings of partitions from `first` to `last`, at least.
        They are read: in place, every run would have its pages in memory for a few of each."""
        if self._file is None:
            return self._runs
        places = np.array([(begin, count) for begin, count, _ in self._places])
        cuts = np.array([_range(ends, first, last) for _, _, ends in self._places])
        keys, rows = places[:, :1] + 8 * cuts, (places[:, :1] + 8 * places[:, 1:]) + 4 * cuts
        wanted = np.concatenate((keys, rows))
        with writing(self._path):
            self._file.flush()
            data = _core.read_stretches(
                self._file.fileno(),
                np.ascontiguousarray(wanted[:, 0]),
                np.ascontiguousarray(wanted[:, 1]),
            )
        total = int((cuts[:, 1] - cuts[:, 0]).sum())
        all_keys = np.frombuffer(data, np.uint64, total)
        all_rows = np.frombuffer(data, np.uint32, total, 8 * total)
        runs, at = [], 0
        for (begin, end), (_, _, ends) in zip(cuts.tolist(), self._places, strict=True):
            own = slice(at, at + end - begin)
            cut_ends = np.clip(ends, np.uint64(begin), np.uint64(end)) - np.uint64(begin)
            runs.append((all_keys[own], all_rows[own], cut_ends))
            at += end - begin
        return runs

    def _spill(self, run: Run) -> None:
        assert self._file is not None
        keys, rows, ends = run
        size = keys.nbytes + rows.nbytes
        with writing(self._path):
            self._file.write(keys.data.cast("B"))
            self._file.write(rows.data.cast("B"))
            self._file.write(bytes(-size % 8))
        self._places.append((self._end, len(keys), ends))
        self._end += size + -size % 8


def _range(ends: npt.NDArray[np.uint64], first: int, last: int) -> tuple[int, int]:
    return int(ends[first - 1]) if first else 0, int(ends[last - 1])


def _scattered(
    segment: Segment, left_out: npt.NDArray[np.uint8] | None, threads: int, sets: bool
) -> Iterator[Part]:
    """The parts, in order."""

    def scatter(part: int) -> Part:
        values, offsets = segment.chunk(part)
        begin, end = segment.rows(part)
        skipped = left_out[begin:end] if left_out is not None else np.zeros(0, np.uint8)
        none = np.zeros(0, np.uint64)
        run = (none, np.zeros(0, np.uint32), none)
        coarser = np.zeros((end - begin, _core.COARSER_LEVELS), np.uint16)
        kept, words = np.diff(offsets).astype(np.uint32), np.zeros(end - begin, np.uint8)
        if segment.parameters.words:
            kept = shingles_in(values, offsets)
            words = (np.diff(offsets) - kept).astype(np.uint8)
        if sets:
            run = _core.scatter(values, offsets, begin, skipped, kept)
            if words.any():
                values, offsets = without_words(values, offsets)
            level = np.ascontiguousarray(segment.part_column(part, "level").to_numpy())
            coarser = _core.coarser_levels(values, offsets, level).reshape(coarser.shape)
        return Part(part, run, kept, words, coarser, segment.sketch_places(part))

    with ThreadPoolExecutor(threads) as executor:
        waiting: list[Future[Any]] = []
        for part in range(segment.parts):
            waiting.append(executor.submit(scatter, part))
            if len(waiting) > threads:
                yield waiting.pop(0).result()
        for each in waiting:
            yield each.result()


def _write_postings(
    segment: Segment,
    runs: _Runs,
    shape: tuple[int, int],
    memory_bytes: int,
    threads: int,
    advance: Callable[[int], None],
) -> None:
    directory = segment.directory
    with contextlib.ExitStack() as stack:
        ends, entries, lists = (
            stack.enter_context(checked_writer(index_path(directory, name)))
            for name in ("directory", "entries", "lists")
        )
        if not shape[0]:
            return
        ends.write(np.zeros(1, "<u8"))
        lists.write(np.zeros(_core.LIST_UNIT, np.uint32))
        written, units, done = 0, 1, 0
        for first, last in _together(runs.sizes().tolist(), memory_bytes // 8 // _INVERT_BYTES):
            made = _core.invert(shape, runs.slices(first, last), first, last, units, threads)
            entries.write(made[0])
            ends.write(made[1] + np.uint64(written))
            lists.write(made[2])
            written += len(made[0])
            units += len(made[2]) // _core.LIST_UNIT
            advance(segment.parts * last // _core.PARTITIONS - done)
            done = segment.parts * last // _core.PARTITIONS


def _together(sizes: list[int], most: int) -> Iterator[tuple[int, int]]:
    """Partitions that are inverted at once: with `most` postings or fewer, unless one has more: an
    element that half of all documents have is in one of them."""
    first = held = 0
    for number, size in enumerate(sizes):
        if number > first and (held + size > most or number == first + _MOST_AT_ONCE):
            yield first, number
            first, held = number, 0
        held += size
    yield first, len(sizes)


def _id_hashes(
    segment: Segment, canonical: Canonical | None, threads: int, scratch: Scratch
) -> npt.NDArray[np.uint64]:
    """First halves of the hashes of all ids."""
    sketcher = Sketcher(w=1, select="min:1")
    found: npt.NDArray[np.uint64] = scratch.zeros(len(segment), np.uint64)
    at = 0
    for part, chunk in enumerate(segment.ids().chunks):
        ids = (canonical or lookup_keys)(chunk)
        columns = sketcher.sketch_batch(ids, "text", threads).columns
        found[at : at + len(ids)] = columns.content[:, 0]
        at += len(ids)
        segment.release_part(part)
    return found


def _content_hashes(segment: Segment, scratch: Scratch) -> npt.NDArray[np.uint64]:
    """First halves of the hashes of all documents' bytes."""
    found: npt.NDArray[np.uint64] = scratch.zeros(len(segment), np.uint64)
    for begin, hashes in segment.hash_pieces("content"):
        found[begin : begin + len(hashes)] = hashes[:, 0]
    return found


def _write_hashes(
    directory: Path,
    name: str,
    hashes: npt.NDArray[np.uint64],
    scratch: Scratch,
    room_bytes: int,
) -> None:
    rows = scratch.zeros(len(hashes), "<u4")
    end = 0
    with checked_writer(index_path(directory, name)) as file:
        for some, (own,) in in_order([hashes], room_bytes // _ORDER_BYTES):
            file.write(own.astype("<u8"))
            rows[end : end + len(some)] = some
            end += len(some)
        for begin, stop in stretches(len(rows)):
            file.write(np.ascontiguousarray(rows[begin:stop]))


def _write(directory: Path, name: str, values: npt.NDArray[Any]) -> None:
    with checked_writer(index_path(directory, name)) as file:
        file.write(np.ascontiguousarray(values).view(np.uint8).reshape(-1))


class _Levels:
    """What is to be known of rows level by level, gathered some rows at a time."""

    def __init__(self) -> None:
        self.small = 0
        """Documents with few elements."""
        self._known: dict[int, Level] = {}
        # By level, of documents there and of finer levels that are not small: the fewest elements
        # that one of them has there, if it has any; NO_DOCUMENT if none has.
        self._met = np.full(64, NO_DOCUMENT, np.int64)

    def add(self, rows: npt.NDArray[Any]) -> None:
        """The next rows."""
        self.small += int((rows["kept"] < _core.LEAST_LARGE).sum())
        for level in np.unique(rows["level"]).tolist():
            here = rows[rows["level"] == level]
            large = here[here["kept"] >= _core.LEAST_LARGE]
            least = int(large["kept"].min()) if len(large) else NO_DOCUMENT
            sizes = here["size"]
            self._add_level(Level(level, len(here), least, int(sizes.min()), int(sizes.max())))
            if len(large):
                self._meet(level, large)

    def levels(self) -> list[Level]:
        """Those that there are, ascending."""
        return [self._known[level] for level in sorted(self._known)]

    def least_met(self) -> list[int]:
        """As Facts has it."""
        return self._met.tolist()

    def _add_level(self, own: Level) -> None:
        known = self._known.get(own.level)
        if known is not None:
            own = Level(
                own.level,
                own.documents + known.documents,
                min(own.least_kept, known.least_kept),
                min(own.least_size, known.least_size),
                max(own.most_size, known.most_size),
            )
        self._known[own.level] = own

    def _meet(self, level: int, large: npt.NDArray[Any]) -> None:
        # Where they were not counted, there may be one.
        met = np.full(64, 1, np.int64)
        met[:level] = NO_DOCUMENT
        met[level] = large["kept"].min()
        for above in range(min(_core.COARSER_LEVELS, 63 - level)):
            counts = large["coarser"][:, above]
            counts = counts[counts > 0]
            met[level + 1 + above] = counts.min() if len(counts) else NO_DOCUMENT
        np.minimum(self._met, met, out=self._met)


def _write_rows(
    segment: Segment, rows: npt.NDArray[Any], copies: npt.NDArray[np.uint32] | None
) -> _Levels:
    """The rows, of which kept, words and coarser are there."""
    found = _Levels()
    with checked_writer(index_path(segment.directory, "rows")) as file:
        for begin, end in stretches(len(rows)):
            some = rows[begin:end].copy()
            _core.release_buffer(rows[begin:end])
            some["size"], some["level"] = segment.size[begin:end], segment.level[begin:end]
            if copies is not None:
                some["copies"] = copies[begin:end]
            found.add(some)
            file.write(some.view(np.uint8))
    return found


def _sync(directory: Path, paths: list[Path]) -> None:
    for path in paths:
        for each in (path, sidecar(path)):
            with writing(each):
                sync(each)
    with writing(directory):
        sync(directory)
