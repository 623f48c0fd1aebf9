"""What makes a segment searchable: files beside its parts, read piece by piece.

    index-directory, -entries, -lists   for every sketch element the rows of documents that have it
    index-rows, index-copies            size and level of every row; rows with the very same sketch
    index-urls, index-contents          hashes of ids and of contents, each with its row
    index-sketches                      where the sketches of each part are
    index.json                          what all of these have in common; written last

All are checked files; docs/format.md has their bytes. An index never changes; any thread may read
it. What is read was checked before: damage raises DamageError, never a wrong answer.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator
from functools import cached_property, partial
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from roughly import _core
from roughly.documents.file import printable
from roughly.errors import DamageError, DocumentError, MismatchError, RoughlyError
from roughly.storage.checked import CheckedMap, read_sums

FORMAT = 1
MANIFEST = "index.json"

# In the order in which the core wants the first five.
FILES = ("directory", "entries", "lists", "rows", "copies", "urls", "contents", "sketches")
_OF_POSTINGS = FILES[:5]

# A sixtieth of all, and read for every element and every candidate. They are mapped as long as they
# are small, which saves a fifth of a search's time: memory must not grow with the collection.
_MAPPED = ("directory", "rows")
MAPPED_BYTES = 1 << 25

# A row's record: distinct shingles, elements kept, place of its copies, level, words, elements at
# the levels above it; words are not among the elements.
ROW = np.dtype(
    [
        ("size", "<u4"),
        ("kept", "<u4"),
        ("copies", "<u4"),
        ("level", "u1"),
        ("words", "u1"),
        ("coarser", "<u2", (_core.COARSER_LEVELS,)),
    ]
)

# Records that are read together.
_PIECE = 1 << 16

NO_DOCUMENT = (1 << 32) - 1

_HINT = "restore it from a copy, or make it again"

Rows = npt.NDArray[np.uint32]
Values = npt.NDArray[np.uint64]


class Indexed(Protocol):
    """What an index must know of its segment."""

    @property
    def directory(self) -> Path: ...
    @property
    def part_rows(self) -> int: ...
    @property
    def parts(self) -> int: ...
    def __len__(self) -> int: ...


def index_path(directory: Path, name: str) -> Path:
    """Of one of FILES."""
    return directory / f"index-{name}.bin"


class Level(NamedTuple):
    """The documents of one level; sketches that are not adaptive have level 0."""

    level: int
    documents: int
    least_kept: int  # elements of a sketch, of those that have not few; NO_DOCUMENT for none
    least_size: int  # distinct shingles
    most_size: int


class Facts(NamedTuple):
    """What index.json says."""

    rows: int
    postings: int  # without those of copies
    bucket_bits: int  # 0 if there are none: sketches of perm:K are no sets
    value_bits: int
    levels: list[Level]
    least_met: list[int]  # as in the core, by level
    small: int  # documents with few elements

    @classmethod
    def read(cls, directory: Path) -> Facts:
        path = directory / MANIFEST
        plain: dict[str, Any] = json.loads(bytes(CheckedMap(path).view()))
        found = plain.pop("format")
        if found != FORMAT:
            raise MismatchError(
                f"{printable(str(path))}: cannot read: its format is {found}, wanted {FORMAT}",
                hint="use the version of roughly that wrote it",
            )
        levels = [Level(*each) for each in plain.pop("levels")]
        return cls(**plain, levels=levels)

    def encoded(self) -> bytes:
        plain = {"format": FORMAT} | self._asdict()
        return json.dumps(plain).encode() + b"\n"


def has_index(directory: Path) -> bool:
    """Whether a segment's index is complete."""
    return (directory / MANIFEST).is_file()


def open_blocks(path: Path) -> _core.BlockFile:
    """A checked file, to be read piece by piece."""
    size, sums = read_sums(path)
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        raise DamageError(f"{printable(str(path))}: damaged: it is missing", hint=_HINT) from None
    except OSError as error:
        raise DocumentError(f"{printable(str(path))}: cannot read: {error.strerror}") from error
    found = os.fstat(descriptor).st_size
    if found != size:
        os.close(descriptor)
        raise DamageError(
            f"{printable(str(path))}: damaged: it has {found:,} bytes, wanted {size:,}", hint=_HINT
        )
    return _core.BlockFile(printable(str(path)), descriptor, size, sums)


@contextlib.contextmanager
def reading() -> Iterator[None]:
    """Turns what the core says of a damaged block into the error that everybody knows."""
    try:
        yield
    except _core.DamagedBlock as error:
        raise DamageError(str(error), hint=_HINT) from error


class SegmentIndex:
    """The index of a segment, to be read. Files are opened when they are first wanted."""

    def __init__(self, segment: Indexed) -> None:
        self.directory = segment.directory
        self._part_rows, self._parts = segment.part_rows, segment.parts
        self.facts = Facts.read(self.directory)
        if self.facts.rows != len(segment):
            raise DamageError(
                f"{printable(str(self.directory / MANIFEST))}: damaged: it is of"
                f" {self.facts.rows:,} documents, wanted {len(segment):,}",
                hint=_HINT,
            )
        self._files: dict[str, _core.BlockFile] = {}
        self.most_mapped = MAPPED_BYTES
        """Bytes of files that are mapped when they are first wanted; others are read in pieces."""

    def __repr__(self) -> str:
        return f"SegmentIndex({str(self.directory)!r}, {self.facts.postings} postings)"

    @property
    def has_postings(self) -> bool:
        """Whether its sketches are sets, so that elements can be looked up."""
        return self.facts.bucket_bits > 0

    @cached_property
    def inverted(self) -> _core.InvertedIndex:
        """The postings; what it raises of damage wants `reading` around it."""
        facts = self.facts
        least = np.full(
            max((each.level for each in facts.levels), default=0) + 1, NO_DOCUMENT, "u4"
        )
        for each in facts.levels:
            least[each.level] = each.least_kept
        return _core.InvertedIndex(
            [self._file(name) for name in _OF_POSTINGS],
            # Not a method: the core's objects take no part in the search for cycles.
            partial(_open_sketches, self.directory, self._file("sketches")),
            self._part_rows,
            (facts.bucket_bits, facts.value_bits),
            facts.rows,
            least,
            np.array(facts.least_met, np.uint32),
            facts.small > 0,
        )

    def map(self) -> None:
        """Maps the entries, for a great many searches: one then costs half as much, and memory may
        hold as much of the file as the system has room for."""
        self._file("entries").map()

    def postings(self, fingerprints: Values) -> Rows:
        """For each element how many rows have it; rows with the very same sketch count once."""
        with reading():
            return self.inverted.count(fingerprints)

    def sketch(self, row: int) -> Values:
        """The elements of a row's sketch."""
        with reading():
            return self.inverted.sketch(row)

    def records(self, rows: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Of some rows, in any order: size, kept, copies, level (ROW)."""
        found = np.zeros(len(rows), ROW)
        with reading():
            file = self._file("rows")
            for i, row in enumerate(rows.tolist()):
                found[i] = file.read(row * ROW.itemsize, ROW.itemsize).view(ROW)[0]
        return found

    def all_records(self) -> npt.NDArray[Any]:
        """Of all rows, in memory: size, kept, copies, level (ROW)."""
        with reading():
            file = self._file("rows")
            return file.read(0, ROW.itemsize * self.facts.rows).view(ROW)

    def record_pieces(self) -> Iterator[tuple[int, npt.NDArray[Any]]]:
        """Of all rows, some at a time: the first row, and the records."""
        for begin in range(0, self.facts.rows, _PIECE):
            count = min(_PIECE, self.facts.rows - begin)
            with reading():
                read = self._file("rows").read(begin * ROW.itemsize, count * ROW.itemsize)
            yield begin, read.view(ROW)

    def rows_of_url(self, url: str) -> Rows:
        """Rows whose id, as the index was told to write it, has the hash of this one; ascending.
        Whoever asks compares the ids."""
        return self._rows_of("urls", np.array([url_hash(url)], np.uint64))[1]

    def rows_of_names(self, hashes: Values) -> tuple[Rows, Rows]:
        """For many hashes as `url_hash` makes them: which of them, and a row that has it."""
        return self._rows_of("urls", hashes)

    def rows_of_content(self, hashes: Values) -> tuple[Rows, Rows]:
        """For first halves of content hashes: which of them, and a row that has it, ascending by
        both. Whoever asks compares the whole hashes."""
        return self._rows_of("contents", hashes)

    def verify(self, threads: int | None = None) -> list[str]:
        """Checks every byte; what is wrong, a line a file."""
        problems = []
        for path in (self.directory / MANIFEST, *(index_path(self.directory, n) for n in FILES)):
            try:
                CheckedMap(path).verify(threads)
            except RoughlyError as error:
                problems.append(error.message)
        return problems or self._inconsistencies()

    def _rows_of(self, name: str, hashes: Values) -> tuple[Rows, Rows]:
        with reading():
            file, count = self._file(name), self.facts.rows
            found = file.search(count, np.ascontiguousarray(hashes, np.uint64)).reshape(-1, 2)
            rows = [file.read(8 * count + 4 * int(at), 4).view("<u4")[0] for at in found[:, 1]]
        return found[:, 0].astype(np.uint32), np.array(rows, np.uint32)

    def _inconsistencies(self) -> list[str]:
        """Numbers that do not fit each other."""
        facts = self.facts
        ends = 8 * ((1 << facts.bucket_bits) + 1) if self.has_postings else 0
        wanted = {
            "directory": ends,
            "rows": ROW.itemsize * facts.rows,
            "urls": 12 * facts.rows,
            "contents": 12 * facts.rows,
            "sketches": 16 * self._parts,
        }
        problems = []
        for name, size in wanted.items():
            found = self._file(name).size
            if found != size:
                problems.append(self._wrong(name, f"it has {found:,} bytes, wanted {size:,}"))
        if self.has_postings and not problems:
            directory = CheckedMap(index_path(self.directory, "directory")).array(
                "<u8", 0, ends // 8
            )
            entries = self._file("entries").size // 8
            if directory[0] != 0 or directory[-1] != entries or (np.diff(directory) < 0).any():
                problems.append(self._wrong("directory", "its buckets are not in order"))
        return problems

    def _wrong(self, name: str, why: str) -> str:
        return f"{printable(str(index_path(self.directory, name)))}: damaged: {why}"

    def _file(self, name: str) -> _core.BlockFile:
        file = self._files.get(name)
        if file is None:
            file = self._files[name] = open_blocks(index_path(self.directory, name))
            if name in _MAPPED and file.size <= self.most_mapped:
                self.most_mapped -= file.size
                file.map()
        return file


def _open_sketches(
    directory: Path, places: _core.BlockFile, part: int
) -> tuple[_core.BlockFile, int, int]:
    """The file of a part's sketches, and where in it their elements and offsets begin."""
    from roughly.storage.segment_part import part_path

    values, offsets = places.read(16 * part, 16).view("<u8").tolist()
    return open_blocks(part_path(directory, "sketches", part)), values, offsets


def url_hash(url: str) -> int:
    """The first half of the equivalence hash of an id."""
    return int(_core.content_hash(url.encode("utf-8", "surrogatepass"))[:16], 16)
