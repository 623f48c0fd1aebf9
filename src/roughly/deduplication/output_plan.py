"""Where an output goes, after making sure that it may: nothing is overwritten unless the caller
insists, and an input never.

One file or stream becomes one file; several files, a directory or a pattern become a directory with
the same names below it.
"""

from __future__ import annotations

import itertools
import os
import shutil
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from roughly.deduplication.placing import is_marked, part_beside, part_inside
from roughly.documents.file import printable, reason
from roughly.documents.source import COMPRESSIONS, WrongForm, format_of_name
from roughly.errors import DocumentError, ParameterError
from roughly.storage.durable import temporary

if TYPE_CHECKING:
    from roughly.documents import Documents
    from roughly.documents.source import Source

# Endings of compressions that are not written.
_OTHER_COMPRESSIONS = (".bz2", ".xz", ".lzma", ".lz4", ".br", ".zip", ".7z", ".snappy")
_STREAMED = ("jsonl", "csv", "tsv", "warc", "arc", "text")
STANDARD_OUTPUT = "-"


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

    @property
    def real_removals(self) -> Path:
        """The same as `real`."""
        return Path(os.path.realpath(self.removals))

    def is_own(self, path: Path) -> bool:
        """Whether this run made what is there, and was stopped before it had tidied up."""
        known = bool(self.decided) and not self.force
        return known and is_marked(self.unfinished, path, self.decided)

    @property
    def scratch(self) -> list[Path]:
        """All places that a run which writes here may write to before."""
        parts = [part_beside(self.real), part_inside(self.real), part_beside(self.real_removals)]
        return [self.unfinished, self.ended, *parts]


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
    path = path if path.name and path.name != ".." else Path(os.path.realpath(out))
    if not path.name:
        raise ParameterError(
            f"{printable(out)}: will not write: nothing can lie beside it",
            hint="name a file or a directory below it",
        )
    return path


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
    if not folder:
        _look_into(sources[0])
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
    shutil.rmtree(output.ended, ignore_errors=True)  # of a run that was killed as it ended
    _refuse_inputs(sources, output, out)
    if corpus is not None:
        _refuse_corpus(corpus, output, out)
    refuse_to_overwrite(output, "choose another name, or overwrite it with --force")
    return output


def _look_into(source: Source) -> None:
    """Its format is known after this."""
    try:
        _ = source.format, source.compression
    except OSError as error:
        hint = error.hint if isinstance(error, WrongForm) else None
        raise DocumentError(f"{source.name}: cannot read: {reason(error)}", hint) from error


def _is_stream(path: Path) -> bool:
    """A pipe or a device, which must stay one."""
    return path.exists() and not path.is_file() and not path.is_dir()


def _check_name(source: Source, out: str) -> None:
    """A name that says another format than its content would have misleads whoever reads it."""
    said, ending = format_of_name(out), os.path.splitext(out.lower())[1]
    if ending in _OTHER_COMPRESSIONS or (source.format == "parquet" and ending in COMPRESSIONS):
        wanted = "none" if source.format == "parquet" else ".gz, .zst or none"
        raise ParameterError(
            f"{printable(out)}: will not write: the name says a compression that {source.format} is"
            f" not written with, wanted {wanted}",
            hint="choose a name without it",
        )
    if source.spooled and not source.size_bytes and said not in ("parquet", "arrow"):
        return  # nothing came, which may be anything that needs no bytes
    # Text may be called what it likes, as long as it can be lines.
    as_text = said == "text" or (source.format == "text" and said in ("jsonl", "csv", "tsv"))
    if said is not None and said != source.format and not as_text:
        raise ParameterError(
            f"{printable(out)}: will not write: the name says {said}, the documents are"
            f" {source.format}",
            hint=f"the input's format is written back; choose a name that ends in .{source.format}",
        )


def _targets(sources: list[Source], folder: Path, root: str | None) -> list[Path]:
    """The sources' paths below the root, else below the deepest directory that holds them all; what
    came from a pipe directly below."""
    paths = [None if each.spooled else os.path.abspath(each.path or "") for each in sources]
    folders = [os.path.dirname(path) for path in paths if path is not None]
    if root is not None and os.path.isdir(root):
        top = os.path.abspath(root)
    else:
        top = os.path.commonpath(folders) if folders else ""
    targets = [
        folder / (_name_of_pipe(source) if path is None else os.path.relpath(path, top))
        for source, path in zip(sources, paths, strict=True)
    ]
    if len(set(targets)) < len(targets):
        twice = Counter(targets).most_common(1)[0][0]
        name = printable(str(twice.relative_to(folder)))
        raise ParameterError(
            f"{name}: cannot be written back: it would be of two inputs",
            hint="name every file once",
        )
    return targets


def _name_of_pipe(source: Source) -> str:
    name = "stdin" if source.name == "-" else os.path.basename(source.name)
    ending = "" if source.format == "text" else f".{source.format}"
    packed = next((end for end, each in COMPRESSIONS.items() if each == source.compression), "")
    return name + ending + packed


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


def refuse_to_overwrite(output: Output, hint: str) -> None:
    """Raises if there is something that this run has no leave to overwrite, and has not made."""
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
    if not is_output and path.is_dir():
        raise DocumentError(f"{printable(str(path))}: will not write: it is a directory")
    if output.force or (is_output and output.folder and _is_empty(output.real)):
        if is_output and output.folder:
            _refuse_conflicts(output)
        return
    what = "the directory is not empty" if is_output and output.folder else "the file exists"
    raise DocumentError(
        f"{printable(str(path))}: will not write: {what}",
        hint=hint,
    )


def _refuse_conflicts(output: Output) -> None:
    """Where a file is to be, or may have been in an earlier output, no directory can be, and where
    a directory is to be no file."""
    folders: set[Path] = set()
    for target in output.targets:
        folders.update(itertools.takewhile(lambda each: each != output.path, target.parents))
        if target.is_dir() and not target.is_symlink():
            raise DocumentError(
                f"{printable(str(target))}: will not write: it is a directory, wanted a file",
                hint="move it away, or choose another name",
            )
    for folder in folders:
        if os.path.lexists(folder) and not folder.is_dir():
            raise DocumentError(
                f"{printable(str(folder))}: will not write: it is a file, wanted a directory",
                hint="move it away, or choose another name",
            )


def _is_empty(folder: Path) -> bool:
    """But for what a run that was killed wrote there first."""
    return all(path == part_inside(folder) for path in folder.iterdir())
