"""One place that documents come from: a file, or something in memory; and what format it has.

The format is told by the name's ending, else by the first bytes. Reading never changes a source,
and the same source read again gives the same records, unless somebody changed the file.
"""

from __future__ import annotations

import csv
import io
import itertools
import json
import os
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from roughly.documents.field import DATE, ID, TEXT
from roughly.documents.file import printable
from roughly.documents.stream import Stream, compression_of, file_size, head_of
from roughly.errors import ParameterError

if TYPE_CHECKING:
    from roughly.documents.field import Fields

Format = Literal["text", "jsonl", "csv", "tsv", "parquet", "arrow", "warc", "arc"]
FORMATS: tuple[Format, ...] = ("text", "jsonl", "csv", "tsv", "parquet", "arrow", "warc", "arc")

# What names say about compression.
COMPRESSIONS = {".gz": "gzip", ".gzip": "gzip", ".zst": "zstd", ".zstd": "zstd"}
# `.json` is not here: it may be JSON Lines or one large value, and the first line tells.
_FORMATS: dict[str, Format] = {
    **dict.fromkeys((".jsonl", ".ndjson", ".jsonlines"), "jsonl"),
    ".csv": "csv",
    **dict.fromkeys((".tsv", ".tab"), "tsv"),
    **dict.fromkeys((".parquet", ".pq"), "parquet"),
    **dict.fromkeys((".arrow", ".arrows", ".feather", ".ipc"), "arrow"),
    **dict.fromkeys((".warc", ".wet", ".wat"), "warc"),
    ".arc": "arc",
    **dict.fromkeys((".txt", ".text", ".md", ".rst", ".html", ".htm", ".xhtml"), "text"),
}

# How files begin that a program compressed whose files are not read.
_OTHERS = {
    # A word may begin like its mark; a block or the end follows, with digits of pi or of its root.
    "bzip2": rb"BZh[1-9](?:1AY&SY|\x17rE8P\x90)",
    "xz": rb"\xfd7zXZ\0",
    "lz4": rb"\x04\x22\x4d\x18",
    "zip": rb"PK\x03\x04",
    "7z": rb"7z\xbc\xaf\x27\x1c",
}

# Enough to know a format and to guess fields.
HEAD_BYTES = 1 << 16
# Rows behind the first that are looked at to tell whether it is CSV.
_LOOKED_AT = 20


class WrongForm(OSError):
    """A file of a format that is read, in a form that is not; `hint` says what to make of it."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.hint = hint


@dataclass(slots=True, eq=False, weakref_slot=True)
class Source:
    """A file, or (path None) the value `data` that a caller handed over."""

    name: str  # as in ids and in messages; valid UTF-8, printable
    path: str | None = None
    called: str | None = None  # the id of a file that is one document, if that is not its name
    data: Any = None  # a table, a reader or an iterable
    found: bool = False  # found in a directory or by a pattern rather than named
    wanted: Format | None = None  # the format that the caller says it has
    spooled: bool = False  # copied to a temporary file, which is its path
    fields: Fields | None = None  # which columns are read; known once the source was looked at
    _format: Format | None = field(default=None, repr=False)
    _compression: str | None = field(default=None, repr=False)

    @property
    def format(self) -> Format | Literal["memory"]:
        """What the records are; looks into the file if its name says nothing."""
        if self.path is None:
            return "memory"
        if self._format is None:
            self._detect()
        assert self._format is not None
        return self._format

    @property
    def is_text_by_default(self) -> bool:
        """Whether it was named, but neither its name nor its first bytes say what it is."""
        named = self.path is not None and not self.found and self.wanted is None
        return named and self.format == "text" and format_of_name(self.path or "") is None

    @property
    def compression(self) -> str:
        """gzip, zstd or nothing, by the first bytes: names lie about that. If they are neither that
        nor text nor a format's, the name is believed: they may be what is damaged."""
        if self.path is None:
            return ""
        if self._compression is None:
            with open(self.path, "rb") as file:
                head = file.read(512)
            self._compression = compression_of(head)
            unknown = _is_binary(head) and format_of_head(head) == "text"
            if not self._compression and unknown:
                end = os.path.splitext(self.path.lower())[1]
                self._compression = COMPRESSIONS.get(end, "")
        return self._compression

    @property
    def size_bytes(self) -> int:
        """Bytes on disk, for progress; 0 for what is in memory."""
        return file_size(self.path) if self.path is not None else 0

    def open(self) -> Stream:
        """The decompressed bytes, which `begin` and `end` of a document count."""
        assert self.path is not None
        return Stream(self.path, self.compression)

    def _detect(self) -> None:
        assert self.path is not None
        by_name = self.wanted or format_of_name(self.path)
        if by_name:
            self._format = by_name
        else:
            self._compression, head = head_of(self.path, HEAD_BYTES)
            self._format = format_of_head(head)
            if self._format == "text" and not self.found:
                _refuse_other_compressions(head)
                self._format = _delimited_format(head) or "text"
            if self._format == "text" and _ending(self.path) == ".json":
                self._format = "jsonl"  # whose reader says what is wrong with it
            if self.spooled and not head:
                self._format = "jsonl"  # nothing came: no lines rather than one empty text


def format_of_name(path: str) -> Format | None:
    """The format that a name's ending says, after the ending of a compression."""
    return _FORMATS.get(_ending(path))


def _ending(path: str) -> str:
    stem, end = os.path.splitext(path.lower())
    return os.path.splitext(stem)[1] if end in COMPRESSIONS else end


def format_of_head(head: bytes) -> Format:
    """The format that the first bytes show; text where they show none."""
    if head.startswith(b"PAR1"):
        return "parquet"
    # A file, or a stream: a continuation mark, then the length of the schema.
    if head.startswith(b"ARROW1\0\0") or (head.startswith(b"\xff\xff\xff\xff") and head[8:9]):
        return "arrow"
    if head.startswith(b"FEA1\0\0\0\0"):
        return "arrow"  # Feather of version 1, whose reader says what is wrong with it
    if head.startswith(b"WARC/"):
        return "warc"
    if head.startswith(b"filedesc://"):
        return "arc"
    line = head.removeprefix(b"\xef\xbb\xbf").lstrip().split(b"\n", 1)[0]
    if line.startswith(b"{"):
        # A first line longer than the head is JSON Lines too: nobody formats JSON like that.
        if len(line) >= len(head) - 3 and len(head) == HEAD_BYTES:
            return "jsonl"
        try:
            json.loads(line)
        except ValueError:
            return "text"
        return "jsonl"
    return "text"


def _refuse_other_compressions(head: bytes) -> None:
    for name, begin in _OTHERS.items():
        if re.match(begin, head):
            raise WrongForm(
                f"it is compressed with {name}, wanted gzip, zstd or no compression",
                "decompress it, to a file or into standard input",
            )


def _delimited_format(head: bytes) -> Format | None:
    """CSV or TSV, if the first row has several names, one of them that of a text, and nearly all
    rows after it have as many fields. Where there is but one row, or not even all of that, another
    name must be that of an id or a date: two lines of prose may have as many commas."""
    begin = head.removeprefix(b"\xef\xbb\xbf").lstrip(b"\r\n")
    text = begin.decode("utf-8", "replace")
    for delimiter in ",\t;|":
        rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
        try:
            names = [name.lower() for name in next(rows, [])]
            if not _are_names(names) or not any(name in TEXT for name in names):
                continue
            some = list(itertools.islice(rows, _LOOKED_AT + 1))
        except csv.Error:
            continue
        cut: list[list[str]] = []
        if len(some) <= _LOOKED_AT and len(head) == HEAD_BYTES:
            some, cut = some[:-1], some[-1:]  # which may go on behind the head
        counts = [len(row) for row in some[:_LOOKED_AT] if row]
        fitting = counts.count(len(names))
        if fitting < 2 and not any(name in (*ID, *DATE) for name in names):
            continue
        begun = not counts and any(len(row) <= len(names) for row in cut)
        if begun or (counts and 10 * fitting >= 9 * len(counts)):
            return "tsv" if delimiter == "\t" else "csv"
    return None


def _are_names(row: list[str]) -> bool:
    """Several, of which the first may be empty, as that of numbers of rows is. Behind a comma,
    prose has a space."""
    return len(row) > 1 and all(row[1:]) and all(name == name.strip() for name in row)


def _is_binary(head: bytes) -> bool:
    """Bytes that no text has, as compressed data has in its first hundred."""
    return any(byte < 9 or 13 < byte < 27 for byte in head)


def known_format(name: str | None) -> Format | None:
    """Checks a format that a caller named; None and "auto" leave it to the source."""
    if name is None or name == "auto":
        return None
    for format in FORMATS:
        if format == name:
            return format
    wanted = ", ".join(("auto", *FORMATS))
    raise ParameterError(f"format: unknown value: {name!r}, wanted one of {wanted}")


def file_source(path: str, found: bool = False, wanted: Format | None = None) -> Source:
    """A file as a source. A name that is no UTF-8 is written with escapes."""
    return Source(printable(path), path, found=found, wanted=wanted)
