"""From what a user names to sources: a file, a pattern, a directory (all files below it), or `-`.

Files come in a fixed order: as named; within a directory or a pattern by name, as bytes. A file
that was named twice is read twice. Below a directory symbolic links are followed where they lead
out of it: what lies in it is read there, under the name it has without links, and once. What can be
read only once is copied to a temporary file, because documents are read more than once.
"""

from __future__ import annotations

import glob
import os
import shutil
import stat
import sys
import tempfile
import weakref
from collections.abc import Iterator
from typing import BinaryIO
from urllib.parse import quote

from roughly.documents.file import nearby, printable, reason
from roughly.documents.skipped import NOT_OPENED, Skipped
from roughly.documents.source import Format, Source, file_source
from roughly.errors import DocumentError, ParameterError
from roughly.url import is_url

_PATTERN = frozenset("*?[")


def find_sources(
    words: list[str], wanted: Format | None, skipped: Skipped, base: str | None = None
) -> list[Source]:
    """The sources that the words name, in their order. With a `base` files are called by that and
    their path inside of what was named: so the same page has one name wherever its mirror lies."""
    found = [(word, source) for word in words for source in _sources(word, wanted, skipped)]
    if base is not None:
        base = _checked_base(base)
        for word, source in found:
            if source.path is not None and not source.spooled:
                source.called = _called(base, os.path.relpath(source.path, _root(word)))
    return [source for _, source in found]


def _checked_base(base: str) -> str:
    if is_url(base) and ("?" in base or "#" in base):
        raise ParameterError(
            f"base: has parameters or a fragment: {base!r}, wanted a URL that paths can follow"
        )
    return base if not base or base.endswith("/") else f"{base}/"


def _root(word: str) -> str:
    """The directory that paths are inside of: what was named, or what a file or a pattern lies
    in."""
    if os.path.isdir(word):
        return word
    if os.path.exists(word):
        return os.path.dirname(word) or os.curdir
    fixed = word[: min(word.index(sign) for sign in _PATTERN & set(word))]
    return os.path.dirname(fixed) or os.curdir


def _called(base: str, path: str) -> str:
    """In a URL everything is escaped that is no plain sign of a path."""
    if not is_url(base):
        return printable(f"{base}{path}")
    return base + quote(
        os.fsencode(path).replace(os.fsencode(os.sep), b"/"), safe="/!$&'()*+,;=:@~"
    )


def _sources(word: str, wanted: Format | None, skipped: Skipped) -> Iterator[Source]:
    if word == "-":
        yield _spooled(_standard_input(), "-", wanted)
    elif os.path.isdir(word):
        yield from _below(word, wanted, skipped)
    elif os.path.exists(word):
        if stat.S_ISREG(os.stat(word).st_mode):
            yield file_source(word, wanted=wanted)
        else:
            yield _spooled_file(word, wanted)
    elif _PATTERN & set(word):
        yield from _matches(word, wanted, skipped)
    else:
        raise DocumentError(f"{printable(word)}: cannot read: no such file", hint=nearby(word))


def _matches(pattern: str, wanted: Format | None, skipped: Skipped) -> Iterator[Source]:
    paths = sorted(glob.glob(pattern, recursive=True), key=os.fsencode)
    if not paths:
        raise DocumentError(
            f"{printable(pattern)}: cannot read: the pattern matches no file",
            hint="* matches within one directory, ** in all below",
        )
    # `**` lists a directory and all that is in it, over and over where a link leads back: then the
    # files alone are wanted, each as an entry of its true directory once.
    deep = "**" in pattern
    seen: set[tuple[str, str]] = set()
    for path in paths:
        if os.path.isdir(path):
            if not deep:
                yield from _below(path, wanted, skipped)
            continue
        if deep:
            folder, name = os.path.split(path)
            entry = os.path.realpath(folder), name
            if entry in seen:
                continue
            seen.add(entry)
        yield from _found(path, wanted, skipped)


def _below(folder: str, wanted: Format | None, skipped: Skipped) -> Iterator[Source]:
    """All files below a directory, each directory's entries by name, none entered twice."""
    seen: set[tuple[int, int]] = set()
    trees: _Trees | None = None  # wanted with the first link
    pending: list[str | os.DirEntry[str]] = [folder]
    while pending:
        entry = pending.pop()
        path = os.fspath(entry)
        try:
            if isinstance(entry, os.DirEntry):
                if entry.is_symlink():
                    trees = trees or _Trees(folder)
                    if trees.have(entry):
                        skipped.ignored["link to what is read anyway"] += 1
                        continue
                elif trees is not None and trees.read(entry):
                    skipped.ignored["read under the name of a link"] += 1
                    continue
                if not entry.is_dir():
                    yield from _found(entry, wanted, skipped)
                    continue
            # Without links this is needed too: a directory may be mounted at two places.
            status = os.stat(path)
            if (status.st_dev, status.st_ino) in seen:
                continue
            seen.add((status.st_dev, status.st_ino))
            if _is_corpus(path):
                if path == folder:
                    raise DocumentError(
                        f"{printable(path)}: a corpus, wanted documents",
                        hint="name what it was made of, or ask it: roughly cluster CORPUS",
                    )
                skipped.ignored["corpus"] += 1
                continue
            with os.scandir(path) as entries:
                inside = sorted(entries, key=_name_bytes, reverse=True)
            pending.extend(inside)
        except OSError as error:
            skipped.add(printable(path), NOT_OPENED, reason(error))


def _name_bytes(entry: os.DirEntry[str]) -> bytes:
    return os.fsencode(entry.name)


class _Trees:
    """What is read: directories with all below them, the one that was named and those that links
    led to; and single files that links led to."""

    def __init__(self, folder: str) -> None:
        named = os.path.realpath(folder)
        self._roots = {named}
        self._above = set(_upwards(named))
        self._files: set[str] = set()
        # Of those files: most others need not be asked for their path.
        self._names: set[str] = set()

    def have(self, link: os.DirEntry[str]) -> bool:
        """Whether a link leads to what is read without it, or to a directory around the named one.
        If not, and it leads to a directory, that is one of them from now on."""
        target = os.path.realpath(link, strict=True)
        if target in self._above or not self._roots.isdisjoint(_upwards(target)):
            return True
        if link.is_dir():
            self._roots.add(target)
        elif link.is_file():
            self._files.add(target)
            self._names.add(os.path.basename(target))
        return False

    def read(self, file: os.DirEntry[str]) -> bool:
        """Whether a link to this file was read before its directory was come to."""
        return file.name in self._names and os.path.realpath(file) in self._files


def _upwards(path: str) -> Iterator[str]:
    """A real path and the directories that it lies in."""
    yield path
    while (parent := os.path.dirname(path)) != path:
        yield parent
        path = parent


def _is_corpus(folder: str) -> bool:
    """What roughly makes of documents is not documents."""
    return os.path.isfile(os.path.join(folder, "corpus.json")) and os.path.isdir(
        os.path.join(folder, "segments")
    )


def _found(
    entry: str | os.DirEntry[str], wanted: Format | None, skipped: Skipped
) -> Iterator[Source]:
    """A file that is there; what is no regular one is ignored."""
    path = os.fspath(entry)
    try:
        # What lists a directory mostly knows this without asking for each file.
        known = isinstance(entry, os.DirEntry) and entry.is_file()
        regular = known or stat.S_ISREG(os.stat(path).st_mode)
    except OSError as error:
        skipped.add(printable(path), NOT_OPENED, reason(error))
        return
    if regular:
        yield file_source(path, found=True, wanted=wanted)
    else:
        skipped.ignored["not a regular file"] += 1


def _standard_input() -> BinaryIO:
    try:
        return sys.stdin.buffer
    except AttributeError as error:
        raise DocumentError("-: cannot read standard input: it is closed") from error


def _spooled_file(path: str, wanted: Format | None) -> Source:
    """A pipe or a device, as the shell's <(command) gives."""
    try:
        with open(path, "rb") as file:
            return _spooled(file, printable(path), wanted)
    except OSError as error:
        raise DocumentError(f"{printable(path)}: cannot read: {reason(error)}") from error


def _spooled(file: BinaryIO, name: str, wanted: Format | None) -> Source:
    path = temporary_file()
    try:
        with open(path, "wb") as copy:
            shutil.copyfileobj(file, copy, 1 << 20)
    except (OSError, ValueError) as error:
        os.unlink(path)
        raise DocumentError(
            f"{name}: cannot be copied to a temporary file: {reason(error)}",
            hint="documents are read twice; set TMPDIR to where there is room",
        ) from error
    source = Source(name, path, wanted=wanted, spooled=True)
    delete_with(source, path)
    return source


def temporary_file() -> str:
    """A new empty file, which the caller deletes."""
    handle, path = tempfile.mkstemp(prefix="roughly-")
    os.close(handle)
    return path


def delete_with(owner: object, path: str) -> None:
    """Deletes a temporary file when `owner` goes, at the latest when Python ends."""
    weakref.finalize(owner, _delete, path)


def _delete(path: str) -> None:
    # Already gone is as good.
    try:
        os.unlink(path)
    except OSError:
        return
