"""The input without the documents that go, written back in its own format, and the removals beside.

One file or stream becomes one file; several files, a directory or a pattern become a directory with
the same names below it. Everything is written under a temporary name first and renamed when all of
it is on the disk; nothing is overwritten unless the caller insists, and an input never.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import shutil
import sys
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING

import numpy as np

from roughly.clustering.sketching import Progress, no_progress
from roughly.deduplication.byte_output import copy_kept
from roughly.deduplication.placing import (
    is_marked,
    mark,
    part_beside,
    part_inside,
    writing_part,
)
from roughly.deduplication.removed_range import RemovedRanges, removed_ranges
from roughly.documents.file import printable
from roughly.documents.selection import changed
from roughly.documents.source import COMPRESSIONS, format_of_name
from roughly.errors import DocumentError, ParameterError
from roughly.parameters import threads_or_all
from roughly.storage.durable import sync, sync_below, temporary, writing
from roughly.storage.scratch import IN_MEMORY, Scratch

if TYPE_CHECKING:
    from roughly.deduplication.removal import Decision, Rows
    from roughly.documents import Documents
    from roughly.documents.source import Source
    from roughly.verification.column import Columns

_STREAMED = ("jsonl", "csv", "tsv", "warc", "arc", "text")
STANDARD_OUTPUT = "-"
# How often it is looked how far the removals are.
_LOOK_S = 0.1

Advance = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class Output:
    """Where a result is written to."""

    path: Path  # the file or directory, as it was named; `-` is standard output
    stream: bool  # whether it is standard output, a pipe or a device: nothing can lie beside it
    folder: bool  # whether it is a directory
    targets: list[Path]  # of each source its file: `path`, or a path below it
    force: bool
    decided: str = ""  # what decides it, if a run that is stopped can go on

    @property
    def real(self) -> Path:
        """Where that is: a link remains one."""
        return Path(os.path.realpath(self.path))

    @property
    def unfinished(self) -> Path:
        """Where a run that writes here works; if it is there, an earlier one was stopped."""
        return self.path.with_name(f"{self.path.name}.unfinished")

    @property
    def ended(self) -> Path:
        """What becomes of that when the run ends, and is then removed."""
        return temporary(self.unfinished)

    @property
    def removals(self) -> Path:
        return self.path.with_name(f"{self.path.name}.removals.jsonl")

    def is_own(self, path: Path) -> bool:
        """Whether this run made what is there, and was stopped before it had tidied up."""
        known = bool(self.decided) and not self.force
        return known and is_marked(self.unfinished, path, self.decided)

    @property
    def scratch(self) -> list[Path]:
        """All places that a run which writes here may write to before."""
        parts = [part_beside(self.real), part_inside(self.real), part_beside(self.removals)]
        return [self.unfinished, self.ended, *parts]


@dataclass(slots=True)
class Written:
    """How the sources became files."""

    anew: int = 0  # that were compressed or coded anew, without what could not be read
    absent: int = 0  # that could not be opened


def leave_out(documents: Documents, out: str) -> None:
    """What a run that was stopped has left is no document, if a directory that is read holds the
    output."""
    if not out or out == STANDARD_OUTPUT:
        return
    output = Output(_path(out), False, False, [], False)
    both = [each for each in (output.real, output.removals) if is_marked(output.unfinished, each)]
    own = {id(source) for source in _below(documents.sources, output.scratch + both)}
    documents.sources[:] = [
        source for source in documents.sources if not (source.found and id(source) in own)
    ]


def _below(sources: list[Source], places: list[Path]) -> list[Source]:
    """Which sources are one of some places, or lie in one."""
    there = {os.path.realpath(place) for place in places if os.path.lexists(place)}
    if not there:
        return []
    reals = ((source, Path(os.path.realpath(source.path or ""))) for source in sources)
    return [s for s, real in reals if not there.isdisjoint(map(str, (real, *real.parents)))]


def _path(out: str) -> Path:
    path = Path(out)
    return path if path.name and path.name != ".." else Path(os.path.realpath(out))


def plan_output(
    documents: Documents,
    out: str,
    force: bool,
    root: str | None = None,
    corpus: Path | None = None,
    decided: str = "",
) -> Output:
    """Where everything will go, after making sure that it may. `root` is the directory that the
    documents are all files of, if they were named so; nothing is written into `corpus`; `decided`
    says all that decides what is written, of a run that works in `Output.unfinished` and can go on
    there."""
    sources = documents.sources
    for source in sources:
        if source.path is None:
            raise ParameterError(
                f"{source.name}: cannot be written back: they are in memory, wanted files",
                hint="take what stays of them: documents[result.mask()], or list(result) for ids",
            )
    folder = len(sources) != 1 or sources[0].found
    if not out:
        raise ParameterError("output: no name: '', wanted a file or a directory")
    path = Path(out)
    if out == STANDARD_OUTPUT or _is_stream(path):
        if folder or sources[0].format not in _STREAMED:
            what = "several files" if folder else sources[0].format
            where = "standard output" if out == STANDARD_OUTPUT else "a pipe or a device"
            raise ParameterError(
                f"{printable(out)}: cannot write {what} to {where}:"
                " wanted one file of lines or records",
                hint="name a directory" if folder else "name a file",
            )
        return Output(path, True, False, [path], force)
    path = _path(out)
    if not folder:
        _check_name(sources[0], out)
    targets = _targets(sources, path, root) if folder else [path]
    output = Output(path, False, folder, targets, force, decided)
    _refuse_inputs(sources, output, out)
    if corpus is not None:
        _refuse_corpus(corpus, output, out)
    shutil.rmtree(output.ended, ignore_errors=True)  # of a run that was killed as it ended
    _refuse_to_overwrite(output, "choose another name, or overwrite it with --force")
    return output


def _is_stream(path: Path) -> bool:
    """A pipe or a device, which must stay one."""
    return path.exists() and not path.is_file() and not path.is_dir()


def _check_name(source: Source, out: str) -> None:
    """A name that says another format than its content would have misleads whoever reads it."""
    said = format_of_name(out)
    if source.spooled and not source.size_bytes and said not in ("parquet", "arrow"):
        return  # nothing came, which may be anything that needs no bytes
    if said is not None and said != source.format and "text" not in (said, source.format):
        raise ParameterError(
            f"{printable(out)}: will not write: the name says {said}, the documents are"
            f" {source.format}",
            hint=f"the input's format is written back; choose a name that ends in .{source.format}",
        )


def _targets(sources: list[Source], folder: Path, root: str | None) -> list[Path]:
    """The sources' paths below the root, else below the deepest directory that holds them all."""
    paths = [os.path.abspath(source.path or "") for source in sources]
    if root is not None and os.path.isdir(root):
        top = os.path.abspath(root)
    else:
        top = os.path.commonpath([os.path.dirname(path) for path in paths]) if paths else ""
    targets = [folder / os.path.relpath(path, top) for path in paths]
    if len(set(targets)) < len(targets):
        twice = next(t for n, t in enumerate(targets) if t in targets[:n])
        name = printable(str(twice.relative_to(folder)))
        raise ParameterError(
            f"{name}: cannot be written back: it is among the inputs twice",
            hint="name every file once",
        )
    return targets


def _refuse_inputs(sources: list[Source], output: Output, out: str) -> None:
    taken = {*output.targets, output.path, output.removals}
    there = {_identity(path): path for path in taken if path.exists()}
    for source in sources:
        found = there.get(_identity(Path(source.path or "")))
        if found is not None:
            raise ParameterError(
                f"{printable(out)}: will not write: {source.name} is one of the inputs",
                hint="choose another name",
            )
    for source in _below(sources, output.scratch):
        raise ParameterError(
            f"{printable(out)}: will not write: {source.name} lies where it is written first",
            hint="choose another name",
        )


def _refuse_corpus(corpus: Path, output: Output, out: str) -> None:
    where = corpus.resolve()
    if where in (output.real, *output.real.parents):
        raise ParameterError(
            f"{printable(out)}: will not write: it is in the corpus {printable(str(corpus))}",
            hint="choose another name",
        )


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _refuse_to_overwrite(output: Output, hint: str) -> None:
    for path in (output.path, output.removals):
        if os.path.lexists(path) and not output.is_own(path):
            _refuse_what_is_there(path, output, hint)


def _refuse_what_is_there(path: Path, output: Output, hint: str) -> None:
    is_output = path == output.path
    if is_output and output.folder != path.is_dir():
        seen, wanted = ("a file", "a directory") if output.folder else ("a directory", "a file")
        raise DocumentError(
            f"{printable(str(path))}: will not write: it is {seen}, wanted {wanted}"
        )
    if output.force or (is_output and output.folder and _is_empty(output.real)):
        return
    what = "the directory is not empty" if is_output and output.folder else "the file exists"
    raise DocumentError(
        f"{printable(str(path))}: will not write: {what}",
        hint=hint,
    )


def _is_empty(folder: Path) -> bool:
    """But for what a run that was killed wrote there first."""
    return all(path == part_inside(folder) for path in folder.iterdir())


def write_output(
    documents: Documents,
    decision: Decision,
    columns: Columns,
    removal_lines: Iterable[bytes],
    output: Output,
    progress: Progress = no_progress,
    scratch: Scratch = IN_MEMORY,
) -> Written:
    """Writes documents without those that go to where it was planned, and the removals beside:
    `removal_lines` are of the decision, and made meanwhile."""
    written = Written()
    sources = documents.sources
    ranges = _ranges(documents, decision.removed, columns, scratch)
    advance = progress("write", documents.size_bytes, "B")
    if output.stream:
        with contextlib.ExitStack() as opened:
            file: IO[bytes] = sys.stdout.buffer
            if str(output.path) != STANDARD_OUTPUT:
                opened.enter_context(writing(output.path))
                file = opened.enter_context(open(output.path, "wb"))
            file.flush()
            _copy(sources[0], ranges[0], file, sources[0].compression, advance, written, own=False)
            file.flush()
        return written
    filled = output.folder and output.real.is_dir() and not output.is_own(output.path)
    part = part_inside(output.real) if filled else part_beside(output.real)
    removals_part = part_beside(output.removals)
    with (
        writing_part(part, output.path, output.folder),
        writing_part(removals_part, output.removals, False),
    ):
        with ThreadPoolExecutor(1) as beside, writing(output.path):
            stopped = threading.Event()
            # The system copies meanwhile.
            lines = beside.submit(
                _write_lines, removals_part, output.removals, removal_lines, stopped
            )

            def advance_unless_failed(done: int) -> None:
                if lines.done():
                    lines.result()  # without these nobody wants the output
                advance(done)

            try:
                gone = _write(sources, ranges, output, part, advance_unless_failed, written)
                _wait(lines, decision, progress)
            except BaseException:
                # Or the end would wait for all of them.
                decision.give_up()
                stopped.set()
                raise
        with writing(output.path):
            sync_below(part) if output.folder else sync(part)
        with writing(output.removals):
            sync(removals_part)
        if output.decided and not output.force:
            there = [path for path in (output.path, output.removals) if output.is_own(path)]
            mark(output.unfinished, output.decided, [part, removals_part, *there])
        _refuse_to_overwrite(output, "move it away")  # what came while this ran
        with writing(output.removals):
            os.replace(removals_part, output.removals)
        with writing(output.path):
            if filled:
                _fill(part, output.real, gone)
            elif not output.is_own(output.path):
                os.replace(part, output.real)
            for folder in {output.real.parent, Path(os.path.realpath(output.removals.parent))}:
                sync(folder)
    return written


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


def _fill(part: Path, folder: Path, gone: list[Path]) -> None:
    """Moves all that is below one directory to another. `gone` are files that do not stay: an
    earlier output may have them."""
    for source, _, names in os.walk(part):
        target = folder / os.path.relpath(source, part)
        target.mkdir(exist_ok=True)
        for name in names:
            os.replace(os.path.join(source, name), target / name)
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
    ranges: list[RemovedRanges],
    output: Output,
    part: Path,
    advance: Advance,
    written: Written,
) -> list[Path]:
    """Every source that still has something, in its own compression; those that have nothing."""
    gone = []
    for number, source in enumerate(sources):
        if not output.folder:
            target, compression = part, _compression_of(output.path, source)
        else:
            if os.path.exists(source.path or "") and not _is_readable(source):
                written.absent += 1  # counted and named when it was read
                continue
            if source.format == "text" and len(ranges[number]):
                gone.append(output.targets[number])
                continue
            target = part / output.targets[number].relative_to(output.path)
            target.parent.mkdir(parents=True, exist_ok=True)
            compression = source.compression
        with open(target, "wb") as file:
            _copy(source, ranges[number], file, compression, advance, written)
    return gone


def _is_readable(source: Source) -> bool:
    assert source.path is not None
    return os.access(source.path, os.R_OK)


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
    if not _is_readable(source):
        raise changed(source)
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
