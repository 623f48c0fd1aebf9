"""Parquet and Arrow files without some of their rows: same schema, same compression, same order.

Row groups and record batches keep their borders, except that of a very large row group several are
made, so that memory stays bounded. Rows that cannot be decoded are not there to be copied: the
reading has counted and named them.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import IO, TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from roughly.documents.file import reason
from roughly.errors import DocumentError

if TYPE_CHECKING:
    from roughly.deduplication.removed_range import RemovedRanges
    from roughly.documents.source import Source

# A row group that is larger in memory is written as several.
_GROUP_BYTES = 1 << 27
# What pyarrow raises for data that it cannot read.
_ERRORS = (pa.ArrowException, OSError)


def copy_parquet(source: Source, removed: RemovedRanges, file: IO[bytes]) -> None:
    """Writes the rows of a Parquet file that are not removed."""
    with pq.ParquetFile(source.path, pre_buffer=False) as read:
        metadata = read.metadata
        options: dict[str, Any] = {"version": metadata.format_version}
        if metadata.num_row_groups:
            group = metadata.row_group(0)
            columns = [group.column(n) for n in range(group.num_columns)]
            options["compression"] = {c.path_in_schema: _codec(c) for c in columns}
            options["use_dictionary"] = [
                c.path_in_schema for c in columns if c.has_dictionary_page
            ] or False
            # Nanoseconds fit in no other type of the oldest version.
            old = any(c.physical_type == "INT96" for c in columns)
            options["use_deprecated_int96_timestamps"] = old
        with pq.ParquetWriter(file, read.schema_arrow, **options) as writer:
            first = 0
            for number in range(metadata.num_row_groups):
                for part in _groups(source, read, number, first, removed):
                    writer.write_table(part, max(1, len(part)))
                first += metadata.row_group(number).num_rows


def _codec(column: Any) -> str:
    """A column's compression, in the words of a writer."""
    name: str = column.compression
    return {"UNCOMPRESSED": "NONE", "LZ4_RAW": "LZ4"}.get(name, name)


def _groups(
    source: Source, read: pq.ParquetFile, number: int, first: int, removed: RemovedRanges
) -> Iterator[pa.Table]:
    """The rows of a row group that stay, as one table, or as several if they are large."""
    summary = read.metadata.row_group(number)
    rows = max(1, _GROUP_BYTES // 8 * summary.num_rows // max(1, summary.total_byte_size))
    waiting: list[pa.RecordBatch] = []
    size = 0
    try:
        for batch in read.iter_batches(min(rows, max(1, summary.num_rows)), [number]):
            mask = removed.mask(first, first + len(batch))
            first += len(batch)
            kept = batch if mask.all() else batch.filter(pa.array(mask))
            waiting.append(kept)
            size += kept.nbytes
            if size >= _GROUP_BYTES:
                yield pa.Table.from_batches(waiting)
                waiting, size = [], 0
    except _ERRORS as error:
        if _is_readable(source, read, number):
            raise _cannot_copy(source, first, error) from error
    if sum(map(len, waiting)):
        yield pa.Table.from_batches(waiting)


def _is_readable(source: Source, read: pq.ParquetFile, number: int) -> bool:
    """Whether the reading of documents got a row group whose other columns cannot be read."""
    assert source.fields is not None
    try:
        for _ in read.iter_batches(1 << 12, [number], source.fields.names()):
            pass
    except _ERRORS:
        return False
    return True


def copy_arrow(source: Source, removed: RemovedRanges, file: IO[bytes], compression: str) -> None:
    """Writes the rows of an Arrow file or stream that are not removed, in the same form."""
    codec = _body_compression(source)
    with _open_arrow(source) as read:
        is_file = isinstance(read, pa.ipc.RecordBatchFileReader)
        options = pa.ipc.IpcWriteOptions(compression=codec, emit_dictionary_deltas=True)
        sink: Any = pa.PythonFile(file, "w")
        if compression:
            sink = pa.CompressedOutputStream(sink, compression)
        make = pa.ipc.new_file if is_file else pa.ipc.new_stream
        with make(sink, read.schema, options=options) as writer:
            first = 0
            for batch in _batches(source, read, is_file):
                if batch is None:
                    first += 1  # as the reader counts what it cannot decode
                    continue
                try:
                    batch.validate(full=True)
                except pa.ArrowException as error:
                    raise _cannot_copy(source, first, error) from error
                mask = removed.mask(first, first + len(batch))
                first += len(batch)
                writer.write_batch(batch if mask.all() else batch.filter(pa.array(mask)))
        if compression:
            sink.close()


def _batches(source: Source, read: Any, is_file: bool) -> Iterator[pa.RecordBatch | None]:
    """The batches that documents were read from; None for those that cannot be decoded."""
    assert source.fields is not None
    number = 0
    while not is_file or number < read.num_record_batches:
        try:
            batch = read.get_batch(number) if is_file else read.read_next_batch()
            for name in source.fields.names():
                batch.column(batch.schema.names.index(name)).validate(full=True)
        except StopIteration:
            return
        except _ERRORS:
            if not is_file:
                return  # what follows in a stream cannot be found
            batch = None
        number += 1
        yield batch


def _cannot_copy(source: Source, row: int, error: Exception) -> DocumentError:
    return DocumentError(
        f"{source.name}: cannot copy the rows from {row + 1:,} on: {reason(error)}",
        hint="documents were read from them, but other columns are damaged",
    )


def _open_arrow(source: Source) -> Any:
    if source.compression:
        return pa.ipc.open_stream(pa.input_stream(source.path, compression=source.compression))
    file = pa.memory_map(source.path)
    is_file = file.read(6) == b"ARROW1"
    file.seek(0)
    return pa.ipc.open_file(file) if is_file else pa.ipc.open_stream(file)


def _body_compression(source: Source) -> str | None:
    """How the batches of an Arrow file are compressed, which pyarrow does not tell: the first one's
    message says it (Message.fbs: field 2 of Message is the RecordBatch, field 3 of that is its
    BodyCompression, field 0 of that the codec, 0 unless given)."""
    try:
        file: Any = pa.input_stream(source.path, compression=source.compression or None)
        if not source.compression and file.read(8) != b"ARROW1\0\0":
            file = pa.input_stream(source.path, compression=None)
        for message in pa.ipc.MessageReader.open_stream(file):
            if message.type != "record batch":
                continue
            data = message.metadata.to_pybytes()
            header = _follow(data, _field(data, _follow(data, 0), 2) or 0)
            place = _field(data, header, 3)
            if place is None:
                return None
            codec = _field(data, _follow(data, place), 0)
            return "zstd" if codec is not None and data[codec] == 1 else "lz4"
    except _ERRORS:
        return None
    return None


def _follow(data: bytes, place: int) -> int:
    target: int = place + struct.unpack_from("<I", data, place)[0]
    return target


def _field(data: bytes, table: int, number: int) -> int | None:
    """Where a field of a flatbuffer's table stands, if it has it."""
    entries = table - struct.unpack_from("<i", data, table)[0]
    entry = 4 + 2 * number
    if entry >= struct.unpack_from("<H", data, entries)[0]:
        return None
    offset: int = struct.unpack_from("<H", data, entries + entry)[0]
    return table + offset if offset else None
