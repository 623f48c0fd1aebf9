"""Parquet and Arrow IPC (Feather) files: columns that are there already.

Rows without text are skipped; a row group or a batch that cannot be decoded costs its rows, and the
reading goes on with the next. Parquet files, and Arrow files other than streams, are read in place
and may not be compressed as a whole. The same code reads tables in memory.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from roughly.documents.batch import Piece
from roughly.documents.date import can_be_dates
from roughly.documents.field import Fields, MissingField, Wanted, choose, option
from roughly.documents.reading import Reading
from roughly.documents.skipped import DAMAGED_BATCHES, DAMAGED_ROWS, NO_TEXT
from roughly.documents.source import COMPRESSIONS, Source, WrongForm

# Read of a column at once: without it a row group is held whole, and some files have only one.
_BUFFER_BYTES = 1 << 20
# What pyarrow raises for data that it cannot read.
_ERRORS = (pa.ArrowException, OSError)
_TEXTUAL = (
    *(pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view),
    *(pa.types.is_binary, pa.types.is_large_binary, pa.types.is_binary_view),
)


def fields_of_schema(
    schema: pa.Schema, wanted: Wanted, subject: str, without_rows: bool = False
) -> Fields:
    """The fields of a table; only columns of text or bytes can be the text, and by their names
    those that have no values, whose type says nothing."""
    try:
        names: list[str] = schema.names
    except UnicodeDecodeError as error:
        raise pa.ArrowInvalid(f"the name of a column is damaged: {error}") from error
    columns = list(zip(names, schema.types, strict=True))
    textual = [name for name, type in columns if is_textual(type)]
    empty = [name for name, type in columns if without_rows or pa.types.is_null(type)]
    fields = choose(wanted, names, textual, subject, nested(names, schema.types), empty)
    for role, name in fields.named().items():
        if name not in names:
            raise MissingField(
                f"{subject}: no column {name!r} for the {role}: "
                f"the columns are {', '.join(names[:20])}",
                hint=f"name one of them with {option(role)}",
            )
    return fields


def nested(names: list[str], types: list[pa.DataType]) -> dict[str, str]:
    """The columns that can be neither dates nor categories, each with its type."""
    return {
        name: str(type) for name, type in zip(names, types, strict=True) if not can_be_dates(type)
    }


def is_textual(type: pa.DataType) -> bool:
    """Whether a column of a type holds text or bytes."""
    if pa.types.is_dictionary(type):
        type = type.value_type
    return any(test(type) for test in _TEXTUAL)


class Rows:
    """Turns the batches of one source into pieces, counting rows."""

    def __init__(self, number: int, source: Source, fields: Fields, reading: Reading) -> None:
        self._number = number
        self._source = source
        self._fields = fields
        self._skipped = reading.skipped
        self.row = 0

    def piece(self, batch: pa.RecordBatch | pa.Table) -> Piece:
        """The next rows."""
        position = np.arange(self.row, self.row + len(batch), dtype=np.int64)
        self.row += len(batch)
        content = _array(batch, self._fields.text)
        if not is_textual(content.type):
            content = content.cast(pa.string())
        keep = None
        if content.null_count:
            valid = np.asarray(pc.is_valid(content))
            self._report_nulls(position[~valid])
            keep = pa.array(valid)
            position = position[valid]
            content = content.filter(keep)
        id, date, category = (
            None if name is None else _array(batch, name, keep)
            for name in (self._fields.id, self._fields.date, self._fields.category)
        )
        return Piece(
            self._number,
            self._source.name,
            position,
            position,
            position + 1,
            content,
            id,
            date,
            category,
        )

    def lost(self, rows: int, error: Exception) -> None:
        """Counts rows that could not be decoded and goes on after them."""
        name = f"{self._source.name}, rows {self.row + 1:,} to {self.row + rows:,}"
        if rows == 1:
            name = f"{self._source.name}, row {self.row + 1:,}"
        detail = str(error).split("\n")[0]
        self._skipped.add(name, DAMAGED_ROWS, detail)
        self._skipped.add_more(DAMAGED_ROWS, rows - 1)
        self.row += rows

    def lost_batch(self, error: Exception) -> None:
        """Counts a batch that could not be read: how many rows it had is not known without it, so
        it has the number of one."""
        name = f"{self._source.name}, from row {self.row + 1:,} on"
        self._skipped.add(name, DAMAGED_BATCHES, str(error).split("\n")[0])
        self.row += 1

    def _report_nulls(self, rows: Any) -> None:
        label = self._fields.text_label or self._fields.text
        named = rows[: max(1, self._skipped.room)]
        for row in named.tolist():
            name = f"{self._source.name}, row {row + 1:,}"
            self._skipped.add(name, NO_TEXT, f"null in field {label!r}")
        self._skipped.add_more(NO_TEXT, len(rows) - len(named))


def _array(batch: pa.RecordBatch | pa.Table, name: str, keep: pa.Array | None = None) -> pa.Array:
    # By number: of two columns of one name the first is taken.
    column = batch.column(batch.schema.names.index(name))
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    if isinstance(column, pa.ChunkedArray):  # chunks that do not fit into one array of 32 bits
        column = pa.concat_arrays([chunk.cast(pa.large_binary()) for chunk in column.chunks])
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    elif pa.types.is_string_view(column.type) or pa.types.is_binary_view(column.type):
        column = column.cast(pa.large_binary())  # what pyarrow can filter
    return column if keep is None else column.filter(keep)


def parquet_fields(source: Source, wanted: Wanted) -> Fields:
    """The fields of a Parquet file's schema."""
    if source.compression:
        raise _compressed(source, "a Parquet file")
    with pq.ParquetFile(source.path) as file:
        empty = file.metadata.num_rows == 0
        return fields_of_schema(file.schema_arrow, wanted, source.name, empty)


def read_parquet(number: int, source: Source, reading: Reading) -> Iterator[Piece]:
    """The documents of a Parquet file, row group by row group."""
    assert source.fields is not None
    rows = Rows(number, source, source.fields, reading)
    columns = source.fields.names()
    with pq.ParquetFile(
        source.path, buffer_size=_BUFFER_BYTES, pre_buffer=False, page_checksum_verification=True
    ) as file:
        for group in range(file.num_row_groups):
            summary = file.metadata.row_group(group)
            last = rows.row + summary.num_rows
            size = _rows_of_batch(summary, columns, reading.batch_bytes)
            try:
                for batch in file.iter_batches(size, [group], columns, use_threads=False):
                    yield rows.piece(batch)
            except _ERRORS as error:
                rows.lost(last - rows.row, error)


def _rows_of_batch(summary: Any, columns: list[str], batch_bytes: int) -> int:
    """Rows that make a batch: by the columns' size when decompressed, which is near their size in
    memory for text (dictionaries can make it larger: such batches are divided later)."""
    chunks = (summary.column(index) for index in range(summary.num_columns))
    size: int = sum(c.total_uncompressed_size for c in chunks if c.path_in_schema in columns)
    rows: int = summary.num_rows
    return max(1, batch_bytes * rows // max(1, size))


def arrow_fields(source: Source, wanted: Wanted) -> Fields:
    """The fields of an Arrow file's or stream's schema."""
    with _open_arrow(source) as reader:
        empty = isinstance(reader, pa.ipc.RecordBatchFileReader) and not reader.num_record_batches
        return fields_of_schema(reader.schema, wanted, source.name, empty)


def read_arrow(number: int, source: Source, reading: Reading) -> Iterator[Piece]:
    """The documents of an Arrow IPC file or stream, batch by batch."""
    assert source.fields is not None
    rows = Rows(number, source, source.fields, reading)
    with _open_arrow(source) as reader:
        if isinstance(reader, pa.ipc.RecordBatchFileReader):
            for index in range(reader.num_record_batches):
                try:
                    batch = reader.get_batch(index)
                except _ERRORS as error:
                    rows.lost_batch(error)
                    continue
                yield from _checked(batch, rows, source.fields)
            return
        while True:
            try:
                batch = reader.read_next_batch()
            except StopIteration:
                return
            except _ERRORS as error:
                # What follows in a stream cannot be found without what was lost.
                rows.lost_batch(error)
                return
            yield from _checked(batch, rows, source.fields)


def _checked(batch: pa.RecordBatch, rows: Rows, fields: Fields) -> Iterator[Piece]:
    """A batch, unless it is damaged. Offsets that point outside would be read outside: a file is
    not to be believed."""
    try:
        for name in fields.names():
            batch.column(batch.schema.names.index(name)).validate(full=True)
    except _ERRORS as error:
        rows.lost(len(batch), error)
        return
    yield rows.piece(batch)


def _open_arrow(source: Source) -> Any:
    """A reader of the file form, or of the stream form; in place on disk if not compressed."""
    with source.open() as stream:
        magic = stream.read(6)[:6]
    if magic.startswith(b"FEA1"):
        raise WrongForm(
            "it is a Feather file of version 1, wanted version 2, which is Arrow IPC",
            "write it anew in Python: "
            "pyarrow.feather.write_feather(pyarrow.feather.read_table(OLD), NEW)",
        )
    if source.compression:
        if magic == b"ARROW1":
            raise _compressed(source, "an Arrow file")
        return pa.ipc.open_stream(pa.input_stream(source.path, compression=source.compression))
    file = pa.memory_map(source.path)
    return pa.ipc.open_file(file) if magic == b"ARROW1" else pa.ipc.open_stream(file)


def _compressed(source: Source, what: str) -> WrongForm:
    """The error for a file whose footer says where everything is, and cannot be got at."""
    stem, end = os.path.splitext(source.name)
    target = stem if end.lower() in COMPRESSIONS else f"{source.name}.{source.format}"
    return WrongForm(
        f"it is {what} compressed with {source.compression}, wanted the file itself",
        # The tools are called as what they make.
        f"decompress it: {source.compression} -dc {shlex.quote(source.name)} > "
        f"{shlex.quote(target)}",
    )
