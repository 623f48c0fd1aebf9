"""The input without the documents that go, written back in its own format, and the removals beside.

Everything is written under a temporary name first and renamed when all of it is on the disk and
the input is still what it was when it was first read.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import shutil
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING

import numpy as np

from roughly.clustering.sketching import Progress, no_progress
from roughly.deduplication.byte_output import copy_kept
from roughly.deduplication.output_plan import STANDARD_OUTPUT, Output, refuse_to_overwrite
from roughly.deduplication.placing import mark, part_beside, part_inside, writing_part
from roughly.deduplication.removed_range import RemovedRanges, removed_ranges
from roughly.documents.source import COMPRESSIONS, format_of_name
from roughly.parameters import threads_or_all
from roughly.storage.durable import sync, sync_below, writing
from roughly.storage.scratch import IN_MEMORY, Scratch

if TYPE_CHECKING:
    from roughly.deduplication.removal import Decision, Rows
    from roughly.documents import Documents
    from roughly.documents.source import Source
    from roughly.documents.state import States
    from roughly.verification.column import Columns

# How often it is looked how far the removals are.
_LOOK_S = 0.1

Advance = Callable[[int], None]


@dataclass(slots=True)
class Written:
    """How the sources became files."""

    anew: int = 0  # that were compressed or coded anew, without what could not be read


def write_output(
    documents: Documents,
    states: States,
    decision: Decision,
    columns: Columns,
    removal_lines: Iterable[bytes],
    output: Output,
    progress: Progress = no_progress,
    scratch: Scratch = IN_MEMORY,
) -> Written:
    """Writes documents without those that go to where it was planned, and the removals beside:
    `removal_lines` are of the decision, and made meanwhile. `states` are those of the documents'
    sources before they were first read."""
    written = Written()
    ranges = _ranges(documents, decision.removed, columns, scratch)
    advance = progress("write", documents.size_bytes, "B")
    if output.stream:
        _write_stream(documents.sources[0], states, ranges[0], output, advance, written)
        return written
    filled = output.folder and output.real.is_dir() and not output.is_own(output.path)
    part = part_inside(output.real) if filled else part_beside(output.real)
    removals_part = part_beside(output.real_removals)
    with (
        writing_part(part, output.path, output.folder),
        writing_part(removals_part, output.removals, False),
    ):
        with (
            _beside(removals_part, output.removals, removal_lines, decision) as lines,
            writing(output.path),
        ):

            def advance_unless_failed(done: int) -> None:
                if lines.done():
                    lines.result()  # without these nobody wants the output
                advance(done)

            gone = _write(
                documents.sources, states, ranges, output, part, advance_unless_failed, written
            )
            _wait(lines, decision, progress)
        with writing(output.path):
            sync_below(part) if output.folder else sync(part)
        with writing(output.removals):
            sync(removals_part)
        states.check_all()
        if output.decided and not output.force:
            there = [path for path in (output.path, output.removals) if output.is_own(path)]
            mark(output.unfinished, output.decided, [part, removals_part, *there])
        refuse_to_overwrite(output, "move it away")  # what came while this ran
        _put_in_place(part, removals_part, output, gone if filled else None)
    return written


def _write_stream(
    source: Source,
    states: States,
    removed: RemovedRanges,
    output: Output,
    advance: Advance,
    written: Written,
) -> None:
    """To standard output, a pipe or a device."""
    with contextlib.ExitStack() as opened:
        file: IO[bytes] = sys.stdout.buffer
        if str(output.path) != STANDARD_OUTPUT:
            opened.enter_context(writing(output.path))
            file = opened.enter_context(open(output.path, "wb"))
        file.flush()
        states.check_all()
        _copy(source, removed, file, source.compression, advance, written, own=False)
        file.flush()
    states.check_all()


@contextlib.contextmanager
def _beside(
    part: Path, path: Path, lines: Iterable[bytes], decision: Decision
) -> Iterator[Future[None]]:
    """Inside, lines of the decision are written to what will be a file: the system copies
    meanwhile. If anything fails there, nobody waits for the rest of them."""
    stopped = threading.Event()
    with ThreadPoolExecutor(1) as thread:
        try:
            yield thread.submit(_write_lines, part, path, lines, stopped)
        except BaseException:
            decision.give_up()
            stopped.set()
            raise


def _write_lines(part: Path, path: Path, lines: Iterable[bytes], stopped: threading.Event) -> None:
    """Of a file that will be called `path`."""
    with writing(path), open(part, "wb") as file:
        for some in lines:
            if stopped.is_set():
                return
            file.write(some)


def _wait(lines: Future[None], decision: Decision, progress: Progress) -> None:
    """For the removals, which may take longer than to copy what stays."""
    if wait([lines], _LOOK_S).not_done:
        told = decision.counted
        advance = progress("count", max(decision.wanted - told, 0), "pairs")
        while wait([lines], _LOOK_S).not_done:
            counted = decision.counted
            advance(counted - told)
            told = counted
    lines.result()


def _replace(part: Path, path: Path) -> None:
    """Whoever may read the file that was there may read the new one, and nobody else."""
    if path.is_file():
        shutil.copymode(path, part)
    os.replace(part, path)


def _put_in_place(part: Path, removals_part: Path, output: Output, gone: list[Path] | None) -> None:
    """The removals first: with the output all is there. A directory that is there is filled, and
    loses files that are `gone`."""
    with writing(output.removals):
        _replace(removals_part, output.real_removals)
    with writing(output.path):
        if gone is not None:
            _fill(part, output.real, gone)
        elif not output.is_own(output.path):
            _replace(part, output.real)
        for folder in {output.real.parent, output.real_removals.parent}:
            sync(folder)


def _fill(part: Path, folder: Path, gone: list[Path]) -> None:
    """Moves all that is below one directory to another. `gone` are files that do not stay: an
    earlier output may have them."""
    for source, _, names in os.walk(part):
        target = folder / os.path.relpath(source, part)
        target.mkdir(exist_ok=True)
        for name in names:
            _replace(Path(source, name), target / name)  # a link there leads to somebody's file
    for path in gone:
        path.unlink(missing_ok=True)
    sync_below(folder)


def _compression_of(target: Path, source: Source) -> str:
    """By the name; a name that says neither format nor compression leaves the input's."""
    ending = os.path.splitext(target.name.lower())[1]
    if ending in COMPRESSIONS:
        return COMPRESSIONS[ending]
    return "" if format_of_name(target.name) is not None else source.compression


def _write(
    sources: list[Source],
    states: States,
    ranges: list[RemovedRanges],
    output: Output,
    part: Path,
    advance: Advance,
    written: Written,
) -> list[Path]:
    """Every source that still has something, in its own compression; those that have nothing."""
    gone = []
    for number, source in enumerate(sources):
        states.check(number)
        if not output.folder:
            target, compression = part, _compression_of(output.path, source)
        else:
            if states.is_absent(number):
                continue  # counted and named when it was to be read
            if source.format == "text" and len(ranges[number]):
                gone.append(output.targets[number])
                continue
            target = part / output.targets[number].relative_to(output.path)
            target.parent.mkdir(parents=True, exist_ok=True)
            compression = source.compression
        with open(target, "wb") as file:
            _copy(source, ranges[number], file, compression, advance, written)
    return gone


def _copy(
    source: Source,
    removed: RemovedRanges,
    file: IO[bytes],
    compression: str,
    advance: Advance,
    written: Written,
    own: bool = True,
) -> None:
    """`own` files are new, and none but this writes to them."""
    if source.format == "parquet" and len(removed):
        from roughly.deduplication.table_output import copy_parquet

        copy_parquet(source, removed, file)
        written.anew += 1
        advance(source.size_bytes)
    elif source.format == "arrow" and (len(removed) or compression != source.compression):
        from roughly.deduplication.table_output import copy_arrow

        copy_arrow(source, removed, file, compression)
        written.anew += 1
        advance(source.size_bytes)
    else:
        threads = threads_or_all(None)
        if source.format == "parquet":
            compression = source.compression
        if not copy_kept(source, removed, file, compression, threads, advance, own):
            written.anew += 1


def _ranges(
    documents: Documents, removed: Rows, columns: Columns, scratch: Scratch
) -> list[RemovedRanges]:
    """Of each source the bytes, or rows, of documents that go."""
    source, begin, end = (
        columns.numbers(name, removed, scratch) for name in ("source", "begin", "end")
    )
    columns.release()
    edges = np.searchsorted(source, np.arange(len(documents.sources) + 1))
    return [
        removed_ranges(begin[a:b], end[a:b], scratch) for a, b in itertools.pairwise(edges.tolist())
    ]
