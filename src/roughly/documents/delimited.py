"""CSV and TSV: a first row of names, then a record a row; quoted fields may hold line ends.

Where records end is found here, because `begin` and `end` are wanted; what their fields hold is
pyarrow's work, whose rules are followed: a quote opens a field only as its first character, and is
doubled inside one. Rows with too few or too many fields are skipped; empty lines are no rows, not
even before the names. A quote that is never closed makes one row of the rest of the file, and that
is skipped. In a file whose compression is damaged nothing after the damage can be trusted to begin
a row.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.csv

from roughly.documents.batch import Piece
from roughly.documents.block import Block, LongRecord, blocks, longer
from roughly.documents.field import Fields, MissingField, Wanted, choose, option
from roughly.documents.reading import Reading
from roughly.documents.skipped import DAMAGED_COMPRESSION
from roughly.documents.source import HEAD_BYTES, Source

Places = npt.NDArray[np.int64]

_QUOTE, _LF, _CR = b'"\n\r'
# pyarrow counts the bytes of a block in 32 bits.
_ROW_BYTES = (1 << 31) - 2

_UNCLOSED = "quote that is never closed"


def delimited_fields(source: Source, wanted: Wanted) -> Fields:
    """The fields that the first row names."""
    names = _header(source).names
    if not names:
        return Fields("text")  # an empty file has nothing to read, by whatever name
    fields = choose(wanted, names, names, source.name)
    for role, name in fields.named().items():
        if name not in names:
            raise MissingField(
                f"{source.name}: no column {name!r} for the {role}: the first row names "
                f"{', '.join(names[:20])}",
                hint=f"name one of them with {option(role)}",
            )
    return fields


class _Header(NamedTuple):
    names: list[str]  # in the first row
    delimiter: str
    bytes: int  # where that row ends
    damage: str | None  # before the first row was whole


def _header(source: Source) -> _Header:
    with source.open() as stream:
        head = stream.read(HEAD_BYTES)
        while not (first := _first_row(head, source, False)).row and not stream.ended:
            try:
                head = longer(head, stream, "a first row")
            except LongRecord:
                if not _first_row(head, source, True).unclosed:
                    raise
                break
        damage = None if first.row else stream.damage
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise OSError("it is UTF-16, wanted UTF-8")
    if not first.row:
        first = _first_row(head, source, True)
    if first.unclosed and damage is None:
        raise OSError(f"the first row has a {_UNCLOSED}")
    # The csv module takes no field of more than 128 KiB.
    text = first.row.decode("utf-8", "replace")
    try:
        names = next(csv.reader(io.StringIO(text, newline=""), delimiter=first.delimiter), [])
    except csv.Error as error:
        raise OSError(f"the first row is not CSV: {error}") from error
    return _Header(names, first.delimiter, first.at + len(first.row), damage)


class _FirstRow(NamedTuple):
    row: bytes  # none if it goes on behind the data
    at: int  # bytes before it: a byte order mark, empty lines
    delimiter: str
    unclosed: bool  # a quote in it is not closed where the data ends


def _first_row(head: bytes, source: Source, last: bool) -> _FirstRow:
    """The first row of a file that begins like this; `last`: and that is all of it."""
    rows = head.removeprefix(b"\xef\xbb\xbf").lstrip(b"\r\n")
    delimiter = "\t"
    if source.format != "tsv":
        ends = _record_ends(rows, ",", False)[0]
        delimiter = _delimiter(rows[: int(ends[0])] if len(ends) else rows)
    ends, unclosed = _record_ends(rows, delimiter, last)
    row = rows[: int(ends[0])] if len(ends) else b""
    return _FirstRow(row, len(head) - len(rows), delimiter, last and unclosed and len(ends) == 1)


def _delimiter(row: bytes) -> str:
    """The character that the first row has most of; a comma if it has none."""
    bare = re.sub(rb'"[^"]*"', b"", row)
    return max(",;\t|", key=lambda character: bare.count(character.encode()))


def read_delimited(number: int, source: Source, reading: Reading) -> Iterator[Piece]:
    """The documents of one file, a block of rows at a time."""
    assert source.fields is not None
    names, delimiter, header_bytes, damage = _header(source)
    if damage is not None:
        reading.skipped.add(f"{source.name}, before row 1", DAMAGED_COMPRESSION, damage)
        return
    if not names:
        return
    rows = _Rows(number, source, source.fields, names, delimiter, reading)
    try:
        for block in blocks(source, reading, rows.cut, resume=False):
            yield from rows.pieces(block, header_bytes)
            if block.damage is not None:
                name = f"{source.name}, after row {rows.row:,}"
                reading.skipped.add(name, DAMAGED_COMPRESSION, block.damage)
            elif rows.unclosed_bytes:
                name = f"{source.name}, row {rows.row + 1:,}"
                detail = f"it takes the rest of the file, {rows.unclosed_bytes:,} bytes"
                reading.skipped.add(name, _UNCLOSED, detail)
    except LongRecord as error:
        if not rows.unclosed:
            raise
        reading.skipped.add(f"{source.name}, row {rows.row + 1:,}", _UNCLOSED, str(error))


class _Rows:
    """Turns blocks into pieces, counting rows; the header is none."""

    def __init__(
        self,
        number: int,
        source: Source,
        fields: Fields,
        names: list[str],
        delimiter: str,
        reading: Reading,
    ) -> None:
        self.row = 0
        self.unclosed = False  # the block in hand ends in a quoted field
        self.unclosed_bytes = 0  # of the last row, if a quote in it is never closed
        self._ends = np.zeros(0, dtype=np.int64)  # of the rows in the block in hand
        self._number = number
        self._source = source
        self._skipped = reading.skipped
        self._delimiter = delimiter
        # By number: names may be repeated, or empty.
        self._columns = [str(column) for column in range(len(names))]
        self._wanted = [
            None if name is None else self._columns[names.index(name)]
            for name in (fields.text, fields.id, fields.date, fields.category)
        ]

    def cut(self, data: bytes, last: bool) -> int:
        """Where the last whole row ends."""
        self._ends, self.unclosed = _record_ends(data, self._delimiter, last)
        end = int(self._ends[-1]) if len(self._ends) else 0
        if last and self.unclosed:
            self._ends = self._ends[:-1]
            self.unclosed_bytes = end - (int(self._ends[-1]) if len(self._ends) else 0)
        return end

    def pieces(self, block: Block, header_bytes: int) -> Iterator[Piece]:
        """The rows of the block that was cut last, without one whose quote is never closed. If
        damage ended it, a row without a line end is a part of one, and no row."""
        data, at, ends = block.data, block.at, self._ends
        if block.damage is not None and len(ends) and data[int(ends[-1]) - 1] not in (_LF, _CR):
            ends = ends[:-1]
        begins = np.concatenate((np.zeros(1, dtype=np.int64), ends[:-1]))[: len(ends)]
        is_row = _not_empty(data, begins, ends) & (ends + at > header_bytes)
        begins, ends = begins[is_row], ends[is_row]
        if not len(ends):
            return
        position = np.arange(self.row, self.row + len(ends), dtype=np.int64)
        self.row += len(ends)
        rows = pa.py_buffer(data)[int(begins[0]) : int(ends[-1])]
        try:
            table, bad = self._parse_rows(rows, begins, ends)
            keep = np.ones(len(ends), dtype=bool)
            keep[[row for row, _ in bad]] = False
            if table.num_rows != int(keep.sum()):
                raise pa.ArrowInvalid(f"{len(ends):,} rows were read as {table.num_rows:,}")
        except pa.ArrowException as error:
            name = f"{self._source.name}, rows {int(position[0]) + 1:,} to {self.row:,}"
            self._skipped.add(name, "not CSV", str(error).split("\n")[0])
            self._skipped.add_more("not CSV", len(ends) - 1)
            return
        for row, count in bad:
            name = f"{self._source.name}, row {int(position[row]) + 1:,}"
            wanted = len(self._columns)
            self._skipped.add(name, "wrong number of fields", f"{count}, wanted {wanted}")
        if not keep.any():
            return
        content, id, date, category = (
            None if column is None else _array(table, column) for column in self._wanted
        )
        yield Piece(
            self._number,
            self._source.name,
            position[keep],
            begins[keep] + at,
            ends[keep] + at,
            content,
            id,
            date,
            category,
        )

    def _parse_rows(
        self, data: pa.Buffer, begins: Places, ends: Places
    ) -> tuple[pa.Table, list[tuple[int, int]]]:
        """The same as `_parse`; row by row if one of them cannot be told of because it is not
        UTF-8."""
        try:
            return self._parse(data, _is_utf8(data))
        except pa.ArrowInvalid:
            if data.size > _ROW_BYTES or _is_utf8(data):
                raise
        tables, bad = [], []
        for row, (begin, end) in enumerate(zip(begins - begins[0], ends - begins[0], strict=True)):
            try:
                tables.append(self._parse(data[int(begin) : int(end)], False)[0])
            except pa.ArrowInvalid:
                record = data[int(begin) : int(end)].to_pybytes()
                bad.append((row, _field_count(record, self._delimiter)))
        none = pa.table({c: pa.array([], pa.large_binary()) for c in self._wanted if c is not None})
        return pa.concat_tables(tables or [none]), bad

    def _parse(self, data: pa.Buffer, skipping: bool) -> tuple[pa.Table, list[tuple[int, int]]]:
        """The wanted columns, and which rows are not in them: number and fields they have. Without
        `skipping` such a row is an error."""
        if data.size > _ROW_BYTES:
            raise pa.ArrowInvalid(f"a row of {data.size:,} bytes, wanted under {_ROW_BYTES:,}")
        bad: list[tuple[int, int]] = []

        def skip(row: pa.csv.InvalidRow) -> str:
            bad.append((row.number - 1, row.actual_columns))
            return "skip"

        wanted = [column for column in dict.fromkeys(self._wanted) if column is not None]
        table = pa.csv.read_csv(
            pa.BufferReader(data),
            pa.csv.ReadOptions(
                use_threads=False, block_size=data.size + 1, column_names=self._columns
            ),
            pa.csv.ParseOptions(
                delimiter=self._delimiter,
                newlines_in_values=True,
                invalid_row_handler=skip if skipping else None,
            ),
            pa.csv.ConvertOptions(
                include_columns=wanted,
                column_types=dict.fromkeys(wanted, pa.large_binary()),
                strings_can_be_null=False,
            ),
        )
        return table, bad


def _is_utf8(data: pa.Buffer) -> bool:
    offsets = pa.py_buffer(np.array([0, data.size], np.int64))
    text = pa.LargeStringArray.from_buffers(1, offsets, data)
    try:
        text.validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


def _array(table: pa.Table, name: str) -> pa.Array:
    column = table.column(name)
    return column.chunk(0) if column.num_chunks == 1 else pa.concat_arrays(column.chunks)


def _not_empty(data: bytes, begins: Places, ends: Places) -> npt.NDArray[np.bool_]:
    """Which records are more than a line end."""
    raw = np.frombuffer(data, np.uint8)
    if not len(ends):
        return np.zeros(0, dtype=bool)
    first = raw[begins]
    return np.asarray((first != _LF) & ((first != _CR) | (ends - begins > 2)))


def _record_ends(data: bytes, delimiter: str, last: bool) -> tuple[Places, bool]:
    """Where each record of `data` ends, its line end included, and whether the data ends in a
    quoted field. `last`: the end of the data ends a record too."""
    raw = np.frombuffer(data, np.uint8)
    quotes = np.flatnonzero(raw == _QUOTE) if b'"' in data else np.zeros(0, dtype=np.int64)
    if len(quotes) and not _regular(raw, quotes, ord(delimiter)):
        ends, unclosed = _scanned_ends(data, delimiter, last)
    else:
        ends = _line_ends(data, raw, last)
        unclosed = len(quotes) % 2 == 1
        if len(quotes):
            # Inside a quoted field an odd number of quotes has gone before.
            ends = ends[np.searchsorted(quotes, ends) % 2 == 0]
    if last and len(data) and (not len(ends) or ends[-1] < len(data)):
        ends = np.append(ends, len(data))
    return ends, unclosed


def _line_ends(data: bytes, raw: npt.NDArray[np.uint8], last: bool) -> Places:
    ends = np.flatnonzero(raw == _LF) + 1
    if b"\r" not in data:
        return ends
    # A carriage return ends a line unless a line feed follows; at the end of a block, who knows.
    returns = np.flatnonzero(raw == _CR)
    if not last and len(returns) and returns[-1] == len(raw) - 1:
        returns = returns[:-1]
    follower = np.minimum(returns + 1, len(raw) - 1)
    alone = returns[(raw[follower] != _LF)] + 1
    return np.sort(np.concatenate((ends, alone))) if len(alone) else ends


def _regular(raw: npt.NDArray[np.uint8], quotes: Places, delimiter: int) -> bool:
    """Whether counting quotes finds the quoted fields: each first quote of a pair stands where a
    field begins, each second one where a field ends, or next to each other as a doubled quote."""
    before = np.array([_QUOTE, _LF, _CR, delimiter], dtype=np.uint8)
    opening = quotes[0::2]
    inner = opening[1:] if opening[0] == 0 else opening
    if not np.isin(raw[inner - 1], before).all():
        return False
    closing = quotes[1::2]
    if len(closing) and closing[-1] == len(raw) - 1:
        closing = closing[:-1]
    return bool(np.isin(raw[closing + 1], before).all())


def _scanned_ends(data: bytes, delimiter: str, last: bool) -> tuple[Places, bool]:
    """The same, field by field, for quotes in odd places: `5" pipe, 3" pipe`."""
    field = _field_pattern(delimiter)
    ends = []
    unclosed = False
    at = 0
    while at < len(data):
        match = field.match(data, at)
        assert match is not None
        at = match.end()
        closing, stop = match.groups()
        if stop == b"" or (stop == b"\r" and at == len(data) and not last):
            unclosed = closing == b""
            break
        if stop != delimiter.encode():
            ends.append(at)
    return np.array(ends, dtype=np.int64), unclosed


def _field_count(record: bytes, delimiter: str) -> int:
    field = _field_pattern(delimiter)
    count = at = 0
    while (match := field.match(record, at)) is not None:
        count += 1
        at = match.end()
        if match[2] != delimiter.encode():
            break
    return count


@cache
def _field_pattern(delimiter: str) -> re.Pattern[bytes]:
    """A field: the quote that closes it, empty where the data ends before, and what stands behind
    the field."""
    other = re.escape(delimiter).encode()
    return re.compile(
        rb'(?:"(?:[^"]++|"")*+("|\Z))?+[^' + other + rb"\r\n]*+(" + other + rb"|\r\n|\n|\r|\Z)"
    )
