"""The input without the documents that go, written back in its own format, and the removals beside.

One file or stream becomes one file; several files, a directory or a pattern become a directory with
the same names below it. Everything is written under a temporary name first and renamed when all of
it is there; nothing is overwritten unless the caller insists, and an input never.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import shutil
import sys
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING

import numpy as np

from roughly.clustering.sketching import Progress, no_progress
from roughly.deduplication.byte_output import copy_kept
from roughly.deduplication.removed_range import RemovedRanges, removed_ranges
from roughly.documents.file import printable
from roughly.documents.source import COMPRESSIONS, format_of_name
from roughly.errors import DocumentError, ParameterError
from roughly.parameters import threads_or_all
from roughly.storage.durable import temporary, writing
from roughly.storage.scratch import IN_MEMORY, Scratch

if TYPE_CHECKING:
    from roughly.deduplication.decision import Removals
    from roughly.documents import Documents
    from roughly.documents.source import Source
    from roughly.verification.column import Columns

_STREAMED = ("jsonl", "csv", "tsv", "warc", "arc", "text")
STANDARD_OUTPUT = "-"

Advance = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class Output:
    """Where a result is written to."""

    path: Path  # the file or directory, as it was named; `-` is standard output
    stream: bool  # whether it is standard output, a pipe or a device: nothing can lie beside it
    folder: bool  # whether it is a directory
    targets: list[Path]  # of each source its file: `path`, or a path below it
    force: bool

    @property
    def real(self) -> Path:
        """Where that is: a link remains one."""
        return Path(os.path.realpath(self.path))

    @property
    def unfinished(self) -> Path:
        """Where a run that writes here works; if it is there, an earlier one was stopped."""
        return self.path.with_name(f"{self.path.name}.unfinished")

    @property
    def removals(self) -> Path:
        return self.path.with_name(f"{self.path.name}.removals.jsonl")


def plan_output(
    documents: Documents,
    out: str,
    force: bool,
    root: str | None = None,
    corpus: Path | None = None,
) -> Output:
    """Where everything will go, after making sure that it may. `root` is the directory that the
    documents are all files of, if they were named so; nothing is written into `corpus`."""
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
    if not path.name or path.name == "..":
        path = Path(os.path.realpath(out))
    if not folder:
        _check_name(sources[0], out)
    output = Output(path, False, folder, _targets(sources, path, root) if folder else [path], force)
    _refuse_inputs(sources, output, out)
    if corpus is not None:
        _refuse_corpus(corpus, output, out)
    for each in (output.path, output.removals):
        _refuse_to_overwrite(each, output)
    return output


def _is_stream(path: Path) -> bool:
    """A pipe or a device, which must stay one."""
    return path.exists() and not path.is_file() and not path.is_dir()


def _check_name(source: Source, out: str) -> None:
    """A name that says another format than its content would have misleads whoever reads it."""
    said = format_of_name(out)
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


def _refuse_to_overwrite(path: Path, output: Output) -> None:
    if not os.path.lexists(path):
        return
    is_output = path == output.path
    if is_output and output.folder != path.is_dir():
        seen, wanted = ("a file", "a directory") if output.folder else ("a directory", "a file")
        raise DocumentError(
            f"{printable(str(path))}: will not write: it is {seen}, wanted {wanted}"
        )
    if output.force or (is_output and output.folder and not any(path.iterdir())):
        return
    if not is_output and output.unfinished.is_dir():
        return  # it was written last before the run was stopped
    what = "the directory is not empty" if is_output and output.folder else "the file exists"
    raise DocumentError(
        f"{printable(str(path))}: will not write: {what}",
        hint="choose another name, or overwrite it with --force",
    )


def write_output(
    documents: Documents,
    removals: Removals,
    columns: Columns,
    removal_lines: Iterable[bytes],
    output: Output,
    progress: Progress = no_progress,
    scratch: Scratch = IN_MEMORY,
) -> None:
    """Writes documents without those that go to where it was planned, and the removals beside."""
    sources, ranges = documents.sources, _ranges(documents, removals, columns, scratch)
    advance = progress("write", documents.size_bytes, "B")
    if output.stream:
        with contextlib.ExitStack() as opened:
            file: IO[bytes] = sys.stdout.buffer
            if str(output.path) != STANDARD_OUTPUT:
                opened.enter_context(writing(output.path))
                file = opened.enter_context(open(output.path, "wb"))
            file.flush()
            _copy(sources[0], ranges[0], file, sources[0].compression, advance, own=False)
            file.flush()
        return
    part, removals_part = temporary(output.real), temporary(output.removals)
    try:
        with ThreadPoolExecutor(1) as beside, writing(output.path):
            output.real.parent.mkdir(parents=True, exist_ok=True)
            # The system copies meanwhile.
            removals_written = beside.submit(_write_lines, removals_part, removal_lines)
            if output.folder:
                _write_folder(sources, ranges, output, part, advance)
            else:
                with open(part, "wb") as file:
                    compression = _compression_of(output.path, sources[0])
                    _copy(sources[0], ranges[0], file, compression, advance)
        with writing(output.removals):
            removals_written.result()
            os.replace(removals_part, output.removals)
        with writing(output.path):
            _put_in_place(part, output)
    finally:
        with contextlib.suppress(OSError):
            removals_part.unlink()
        with contextlib.suppress(OSError):
            shutil.rmtree(part) if part.is_dir() else part.unlink()


def _write_lines(path: Path, lines: Iterable[bytes]) -> None:
    with open(path, "wb") as file:
        file.writelines(lines)


def _put_in_place(part: Path, output: Output) -> None:
    if not output.folder or not output.path.exists() or not any(output.path.iterdir()):
        os.replace(part, output.real)
        return
    for folder, _, names in os.walk(part):
        target = output.path / os.path.relpath(folder, part)
        target.mkdir(exist_ok=True)
        for name in names:
            os.replace(os.path.join(folder, name), target / name)


def _compression_of(target: Path, source: Source) -> str:
    """By the name; a name that says neither format nor compression leaves the input's."""
    ending = os.path.splitext(target.name.lower())[1]
    if ending in COMPRESSIONS:
        return COMPRESSIONS[ending]
    return "" if format_of_name(target.name) is not None else source.compression


def _write_folder(
    sources: list[Source],
    ranges: list[RemovedRanges],
    output: Output,
    part: Path,
    advance: Advance,
) -> None:
    """Every source that still has something, in its own compression."""
    if part.is_dir():
        shutil.rmtree(part)
    part.mkdir()
    for number, source in enumerate(sources):
        if source.format == "text" and len(ranges[number]):
            continue
        target = part / output.targets[number].relative_to(output.path)
        target.parent.mkdir(parents=True, exist_ok=True)
        if not _is_readable(source):
            continue  # counted and named as a source that cannot be read
        with open(target, "wb") as file:
            _copy(source, ranges[number], file, source.compression, advance)


def _is_readable(source: Source) -> bool:
    assert source.path is not None
    return os.access(source.path, os.R_OK)


def _copy(
    source: Source,
    removed: RemovedRanges,
    file: IO[bytes],
    compression: str,
    advance: Advance,
    own: bool = True,
) -> None:
    """`own` files are new, and none but this writes to them."""
    if source.format == "parquet" and len(removed):
        from roughly.deduplication.table_output import copy_parquet

        copy_parquet(source, removed, file)
        advance(source.size_bytes)
    elif source.format == "arrow" and (len(removed) or compression != source.compression):
        from roughly.deduplication.table_output import copy_arrow

        copy_arrow(source, removed, file, compression)
        advance(source.size_bytes)
    elif source.format == "parquet":
        copy_kept(source, removed, file, source.compression, 1, advance, own)
    else:
        copy_kept(source, removed, file, compression, threads_or_all(None), advance, own)


def _ranges(
    documents: Documents, removals: Removals, columns: Columns, scratch: Scratch
) -> list[RemovedRanges]:
    """Of each source the bytes, or rows, of documents that go."""
    source, begin, end = (
        columns.numbers(name, removals.removed, scratch) for name in ("source", "begin", "end")
    )
    columns.release()
    edges = np.searchsorted(source, np.arange(len(documents.sources) + 1))
    return [
        removed_ranges(begin[a:b], end[a:b], scratch) for a, b in itertools.pairwise(edges.tolist())
    ]
