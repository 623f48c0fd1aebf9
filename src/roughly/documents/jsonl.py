"""JSON Lines: an object a line. The core reads whole blocks of lines into columns.

Blank lines are no records. A line that is no object, or has no text, is skipped and named by its
line number. A block is cut at the last line end, so one long line is one block.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from roughly import _core
from roughly.documents.batch import Piece
from roughly.documents.block import Block, blocks, longer
from roughly.documents.category import NO_CATEGORY
from roughly.documents.field import Fields, MissingField, Wanted, check_present, choose
from roughly.documents.reading import Reading
from roughly.documents.skipped import DAMAGED_COMPRESSION, NO_TEXT
from roughly.documents.source import HEAD_BYTES, Source

# Lines looked at for names; records of one file rarely differ in them.
_SAMPLE_LINES = 100

# Kinds of value, as the core numbers them.
_MISSING, _STRING, _NULL, _SCALAR, _NESTED = range(5)
_TEXTLESS = {
    _MISSING: "has no field",
    _NULL: "null in field",
    _NESTED: "an object or a list in field",
}


def fields_of(source: Source, wanted: Wanted) -> Fields:
    """The fields that the first lines have."""
    head, names, textual, empty = _sample(source)
    if not names and wanted.text is None:
        if not head.removeprefix(b"\xef\xbb\xbf").strip():
            return Fields("text")  # nothing to read, by whatever name
        first = head.lstrip()[:40].split(b"\n")[0].decode(errors="replace")
        raise MissingField(
            f"{source.name}: is not JSON Lines: it begins with {first!r}",
            hint="an object a line is wanted; of a list, jq -c '.[]' FILE makes that",
        )
    return choose(wanted, names, textual, source.name, empty=empty)


def _sample(source: Source) -> tuple[bytes, list[str], list[str], list[str]]:
    """The beginning of a file, the names that its first records have, those of text, and those
    that are null in all of them."""
    with source.open() as stream:
        head = stream.read(HEAD_BYTES)
        while b"\n" not in head and not stream.ended:
            head = longer(head, stream, "a first line")
    names: dict[str, None] = {}
    textual: dict[str, None] = {}
    filled: set[str] = set()
    sample = head.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")
    for line in sample.split("\n")[:_SAMPLE_LINES]:
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(record, dict):
            names |= dict.fromkeys(record)
            textual |= {name: None for name, value in record.items() if isinstance(value, str)}
            filled |= {name for name, value in record.items() if value is not None}
    return head, list(names), list(textual), [name for name in names if name not in filled]


def read_jsonl(number: int, source: Source, reading: Reading) -> Iterator[Piece]:
    """The documents of one file, a block of lines at a time; at its end an error if the file was
    named and no record has a field that the caller named."""
    assert source.fields is not None
    fields = source.fields
    names = fields.names()
    absent = {} if source.found else reading.wanted.named()
    objects = 0
    position = line = 0
    for block in blocks(source, reading, _cut):
        data, at, size = _whole_lines(block)
        columns = _core.jsonl_columns(data, names, size)
        begin, end, error = columns.line_begin, columns.line_end, columns.error
        n = len(begin)
        content, kind = _column(columns, names.index(fields.text))
        bad = (error != 0) | ((kind != _STRING) & (kind != _SCALAR))
        if absent:
            read = error == 0
            objects += int(read.sum())
            absent = {
                role: name
                for role, name in absent.items()
                if not (read & (_column(columns, names.index(name))[1] != _MISSING)).any()
            }
        # The line end belongs to its record; the last line may have none.
        piece = Piece(
            number,
            source.name,
            np.arange(position, position + n, dtype=np.int64),
            begin + at,
            np.minimum(end + 1, len(data)) + at,
            content,
        )
        if fields.id is not None:
            piece.id = _optional(columns, names.index(fields.id))
        if fields.date is not None:
            piece.date = _optional(columns, names.index(fields.date))
        if fields.category is not None:
            piece.category = _categories(columns, names.index(fields.category))
        if bad.any():
            _report(data, line, begin, error, kind, bad, source, fields.text, reading)
            piece = _kept(piece, ~bad)
        position += n
        line += _lines(data, begin, end, size)
        damage = block.damage
        # Whoever has the piece keeps what it needs; these all hold the block or its columns.
        del block, data, columns, content, kind, begin, end, error, bad
        yield piece
        del piece
        if damage is not None:
            name = f"{source.name}, after line {line:,}"
            reading.skipped.add(name, DAMAGED_COMPRESSION, damage)
    if absent and objects:
        check_present(absent, _sample(source)[1], source.name)


def _whole_lines(block: Block) -> tuple[bytes, int, int]:
    """The lines of a block, where they begin, and how many bytes of them are whole lines. The half
    line that follows is the next block's or was cut by damage."""
    data, at, size = block.data, block.at, block.end
    if block.damage is not None:
        size = data.rfind(b"\n") + 1
    if at == 0 and data.startswith(b"\xef\xbb\xbf"):
        data, at, size = data[3:], 3, size - 3
    return data, at, size


def _lines(data: bytes, begin: npt.NDArray[np.int64], end: npt.NDArray[np.int64], size: int) -> int:
    """Lines in the first `size` bytes. Where every line begins after the one before, there is no
    blank one and nothing to count."""
    if len(begin) and begin[0] == 0 and (begin[1:] == end[:-1] + 1).all() and end[-1] + 1 >= size:
        return len(begin)
    return data.count(b"\n", 0, size)


def _cut(data: bytes, last: bool) -> int:
    return len(data) if last else data.rfind(b"\n") + 1


def _column(columns: _core.JsonlColumns, index: int) -> tuple[pa.Array, npt.NDArray[np.uint8]]:
    offsets, data, kind = columns.column(index)
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(data)]
    return pa.Array.from_buffers(pa.large_binary(), len(kind), buffers), kind


def _optional(columns: _core.JsonlColumns, index: int) -> pa.Array:
    """A column whose missing and null values are null. A copy: whoever keeps it does not keep all
    columns, of which the texts are most."""
    offsets, data, kind = columns.column(index)
    absent = (kind == _MISSING) | (kind == _NULL)
    valid = pa.py_buffer(np.packbits(~absent, bitorder="little")) if absent.any() else None
    buffers = [valid, pa.py_buffer(offsets.copy()), pa.py_buffer(data.tobytes())]
    return pa.Array.from_buffers(pa.large_binary(), len(kind), buffers)


def _categories(columns: _core.JsonlColumns, index: int) -> pa.Array:
    """The same, with what is no category where the value is a list or an object."""
    values, kind = _optional(columns, index), _column(columns, index)[1]
    nested = kind == _NESTED
    if not nested.any():
        return values
    import pyarrow.compute as pc

    return pc.if_else(pa.array(nested), NO_CATEGORY, values)


def _kept(piece: Piece, good: npt.NDArray[np.bool_]) -> Piece:
    mask = pa.array(good)
    return Piece(
        piece.source,
        piece.name,
        piece.position[good],
        piece.begin[good],
        piece.end[good],
        piece.content.filter(mask),
        None if piece.id is None else piece.id.filter(mask),
        None if piece.date is None else piece.date.filter(mask),
        None if piece.category is None else piece.category.filter(mask),
    )


def _report(
    data: bytes,
    line: int,
    begin: npt.NDArray[np.int64],
    error: npt.NDArray[np.uint8],
    kind: npt.NDArray[np.uint8],
    bad: npt.NDArray[np.bool_],
    source: Source,
    text: str,
    reading: Reading,
) -> None:
    """Counts the lines that cannot be read; those that can still be named get their line number."""
    skipped = reading.skipped
    rows = np.flatnonzero(bad)
    named = rows[: max(1, skipped.room)]
    for row in named.tolist():
        at = int(begin[row])
        before = line + data.count(b"\n", 0, at)
        name = f"{source.name}, line {before + 1:,}"
        if error[row]:
            shown = data[at : at + 40].split(b"\n")[0].decode("utf-8", "replace")
            skipped.add(name, "not a JSON object", f"{shown!r}")
        else:
            skipped.add(name, NO_TEXT, f"{_TEXTLESS[int(kind[row])]} {text!r}")
    rest = rows[len(named) :]
    skipped.add_more("not a JSON object", int((error[rest] != 0).sum()))
    skipped.add_more(NO_TEXT, int((error[rest] == 0).sum()))
