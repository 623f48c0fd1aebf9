"""Record batches of documents, always of one schema, from whatever a format reader yields.

A reader yields a Row for one document that it decoded itself (a file, a web archive's record), or
a Piece: columns of many documents, taken over without touching each. Here both get what all formats
share: valid UTF-8, HTML or text, a date in ISO form, an id that is unique. Batches depend on the
documents and `batch_bytes` alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from roughly import _core
from roughly.documents.category import category_texts
from roughly.documents.charset import decode
from roughly.documents.encoding_label import ENCODINGS
from roughly.documents.file import is_html
from roughly.documents.skipped import Skipped
from roughly.documents.unique_id import UniqueIds, numbered

Integers = npt.NDArray[np.int64]

# One dictionary for all batches, so that they can be put together as they are.
_ENCODING_NAMES = pa.array(ENCODINGS)
_CODE = {name: code for code, name in enumerate(ENCODINGS)}
_UTF8 = _CODE["utf-8"]

SCHEMA = pa.schema(
    [
        # unique in one reading; the record's own, else the path, else `path#row`
        pa.field("id", pa.string(), nullable=False),
        # ISO 8601, in UTC
        pa.field("date", pa.string()),
        # the text as UTF-8, markup still inside
        pa.field("content", pa.large_binary(), nullable=False),
        # whether that is HTML
        pa.field("html", pa.bool_(), nullable=False),
        # the encoding it had, by the Encoding standard's name
        pa.field("encoding", pa.dictionary(pa.int8(), pa.string()), nullable=False),
        # index into Documents.sources
        pa.field("source", pa.int32(), nullable=False),
        # number of the record in its source, from 0; unread ones count
        pa.field("position", pa.int64(), nullable=False),
        # the record as bytes of Source.open(), with its line end or its padding; for tables and
        # what is in memory, its row and the next
        pa.field("begin", pa.int64(), nullable=False),
        pa.field("end", pa.int64(), nullable=False),
    ]
)

# The same with the category, where one was asked for; null where a record has none.
SCHEMA_WITH_CATEGORY = SCHEMA.append(pa.field("category", pa.string()))

_SPACE_OR_MARK = np.zeros(256, dtype=bool)
_SPACE_OR_MARK[list(b"<\t\n\f\r \xef")] = True


class Row(NamedTuple):
    """One document, decoded."""

    source: int
    position: int
    begin: int
    end: int
    id: str
    date: str | None
    text_utf8: bytes
    html: bool
    encoding: str


@dataclass(slots=True)
class Piece:
    """Some documents of one source. Columns may have any Arrow type that holds their kind."""

    source: int
    name: str  # the source's, for ids that are missing
    position: Integers
    begin: Integers
    end: Integers
    content: pa.Array  # text or bytes, no nulls
    id: pa.Array | None = None  # text, bytes, numbers; nulls and empty ones are missing
    date: pa.Array | None = None  # text, numbers, dates; nulls are missing
    category: pa.Array | None = None  # text, numbers, truth values; nulls are missing


def batches(
    documents: Iterable[Row | Piece],
    content_type: str,
    batch_bytes: int,
    skipped: Skipped,
    schema: pa.Schema = SCHEMA,
) -> Iterator[pa.RecordBatch]:
    """The documents in their order, in batches of about `batch_bytes` of content; `schema` is
    SCHEMA or SCHEMA_WITH_CATEGORY."""
    unique = UniqueIds()
    parts = _finished(documents, content_type, batch_bytes, skipped, schema)
    for batch in _gathered(parts, batch_bytes):
        ids = unique.rename(batch.column(0))
        skipped.repeated_ids = unique.repeated
        yield pa.RecordBatch.from_arrays([ids, *batch.columns[1:]], schema=schema)


def _finished(
    documents: Iterable[Row | Piece],
    content_type: str,
    batch_bytes: int,
    skipped: Skipped,
    schema: pa.Schema,
) -> Iterator[pa.RecordBatch]:
    rows: list[Row] = []
    size = 0
    for item in documents:
        if isinstance(item, Row):
            rows.append(item)
            size += len(item.text_utf8)
            if size < batch_bytes:
                continue
        if rows:
            yield _of_rows(rows, schema)
            rows, size = [], 0
        if isinstance(item, Piece) and len(item.position):
            yield _of_piece(item, content_type, skipped, schema)
    if rows:
        yield _of_rows(rows, schema)


def _gathered(parts: Iterable[pa.RecordBatch], batch_bytes: int) -> Iterator[pa.RecordBatch]:
    """Small parts together, large ones divided; what has about the right size is not copied."""
    pending: list[pa.RecordBatch] = []
    size = 0
    for part in parts:
        for piece, piece_size in _divided(part, batch_bytes):
            if pending and size + piece_size > batch_bytes:
                yield _together(pending)
                pending, size = [], 0
            pending.append(piece)
            size += piece_size
    if pending:
        yield _together(pending)


def _together(parts: list[pa.RecordBatch]) -> pa.RecordBatch:
    return parts[0] if len(parts) == 1 else pa.concat_batches(parts)


def _divided(batch: pa.RecordBatch, batch_bytes: int) -> Iterator[tuple[pa.RecordBatch, int]]:
    offsets = _offsets(batch.column(2))
    total = int(offsets[-1] - offsets[0])
    if total <= 2 * batch_bytes:
        yield batch, total
        return
    row = 0
    while row < len(batch):
        limit = offsets[row] + batch_bytes
        end = max(row + 1, int(np.searchsorted(offsets, limit, "right")) - 1)
        yield batch.slice(row, end - row), int(offsets[end] - offsets[row])
        row = end


def _of_rows(rows: list[Row], schema: pa.Schema) -> pa.RecordBatch:
    """Documents without fields, so without a category."""
    source, position, begin, end, id, date, text, html, encoding = zip(*rows, strict=True)
    return _batch(
        pa.array(id, pa.string()),
        pa.array(date, pa.string()),
        pa.array(text, pa.large_binary()),
        pa.array(html, pa.bool_()),
        np.array([_CODE[name] for name in encoding], dtype=np.int8),
        np.array(source, dtype=np.int32),
        (np.array(position), np.array(begin), np.array(end)),
        [pa.nulls(len(rows), pa.string())] if schema is SCHEMA_WITH_CATEGORY else [],
    )


def _of_piece(
    piece: Piece, content_type: str, skipped: Skipped, schema: pa.Schema
) -> pa.RecordBatch:
    n = len(piece.position)
    content, html, encoding = decoded(piece.content, content_type)
    date = pa.nulls(n, pa.string())
    if piece.date is not None:
        from roughly.documents.date import iso_dates

        date, failed = iso_dates(piece.date)
        skipped.unread_dates += failed
    more = []
    if schema is SCHEMA_WITH_CATEGORY:
        category = pa.nulls(n, pa.string())
        if piece.category is not None:
            category, failed = category_texts(piece.category)
            skipped.unread_categories += failed
        more.append(category)
    return _batch(
        _ids(piece),
        date,
        content,
        html,
        encoding,
        np.full(n, piece.source, dtype=np.int32),
        (piece.position, piece.begin, piece.end),
        more,
    )


def _batch(
    id: pa.Array,
    date: pa.Array,
    content: pa.Array,
    html: pa.Array,
    encoding: npt.NDArray[np.int8],
    source: npt.NDArray[np.int32],
    where: tuple[Integers, Integers, Integers],
    more: list[pa.Array],
) -> pa.RecordBatch:
    encodings = pa.DictionaryArray.from_arrays(pa.array(encoding), _ENCODING_NAMES)
    numbers = [pa.array(column, pa.int64()) for column in where]
    columns = [id, date, content, html, encodings, pa.array(source), *numbers, *more]
    return pa.RecordBatch.from_arrays(columns, schema=SCHEMA_WITH_CATEGORY if more else SCHEMA)


def decoded(
    content: pa.Array, content_type: str
) -> tuple[pa.Array, pa.Array, npt.NDArray[np.int8]]:
    """The columns content, html and encoding: text as it is, and bytes that are UTF-8 too. They are
    checked as a whole, and looked at one by one only if that fails. What a document's neighbours
    are makes no difference."""
    encoding = np.full(len(content), _UTF8, dtype=np.int8)
    if not (pa.types.is_string(content.type) or pa.types.is_large_string(content.type)):
        content = _binary(content)
        if not _are_utf8(content):
            return _decoded_singly(content, content_type)
    content = _binary(content)
    return content, pa.array(_html(content, content_type)), encoding


def _binary(content: pa.Array) -> pa.Array:
    return content if pa.types.is_large_binary(content.type) else content.cast(pa.large_binary())


def _are_utf8(content: pa.Array) -> bool:
    """Whether all of these bytes are, each value by itself."""
    buffers = content.buffers()
    text = pa.Array.from_buffers(pa.large_string(), len(content), buffers, offset=content.offset)
    try:
        text.validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


def _decoded_singly(
    content: pa.Array, content_type: str
) -> tuple[pa.Array, pa.Array, npt.NDArray[np.int8]]:
    texts = content.to_pylist()
    encoding = np.full(len(texts), _UTF8, dtype=np.int8)
    for row, data in enumerate(texts):
        if not _is_utf8(data):
            decoded = decode(data, html=is_html(data, content_type))
            texts[row], encoding[row] = decoded.text_utf8, _CODE[decoded.encoding]
    html = pa.array([is_html(text, content_type) for text in texts], pa.bool_())
    return pa.array(texts, pa.large_binary()), html, encoding


def _is_utf8(data: bytes) -> bool:
    if data.isascii():
        return True
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _html(content: pa.Array, content_type: str) -> npt.NDArray[np.bool_]:
    """HTML or text, for each document. Only what begins with `<`, white space or a byte order mark
    can be HTML, so most texts cost one look at their first byte."""
    if content_type != "auto":
        return np.full(len(content), is_html(b"", content_type), dtype=bool)
    offsets = _offsets(content)
    html = np.zeros(len(content), dtype=bool)
    data = content.buffers()[2]
    if data is None or not data.size:
        return html
    first = np.minimum(offsets[:-1], data.size - 1)
    begins = _SPACE_OR_MARK[np.frombuffer(data, np.uint8)[first]] & (offsets[1:] > offsets[:-1])
    view = memoryview(data)
    for row in np.flatnonzero(begins).tolist():
        begin, end = int(offsets[row]), int(offsets[row + 1])
        # An XML declaration is followed for 1,024 bytes; white space may go on for ever.
        head = bytes(view[begin : min(end, begin + 2048)])
        if len(head) < end - begin and not head.lstrip(b"\xef\xbb\xbf\t\n\f\r ")[1024:]:
            head = bytes(view[begin:end])
        html[row] = _core.sniff_html(head)
    return html


def _offsets(content: pa.Array) -> Integers:
    """Where documents begin in the data buffer of a large binary array; one more than rows."""
    offsets = np.frombuffer(content.buffers()[1], np.int64)
    return offsets[content.offset : content.offset + len(content) + 1]


def _ids(piece: Piece) -> pa.Array:
    if piece.id is None:
        return numbered(piece.name, piece.position)
    given = _text(piece.id)
    if _all_there(given):
        return given
    import pyarrow.compute as pc

    missing = pc.or_kleene(pc.is_null(given), pc.equal(given, ""))
    return pc.if_else(missing, numbered(piece.name, piece.position), given)


def _all_there(given: pa.Array) -> bool:
    """Whether none of these strings is null or empty."""
    if given.null_count:
        return False
    offsets = np.frombuffer(given.buffers()[1], np.int32)
    offsets = offsets[given.offset : given.offset + len(given) + 1]
    return bool((offsets[1:] > offsets[:-1]).all())


def _can_be_string(column: pa.Array) -> bool:
    """Whether `_as_string` can be used."""
    if not pa.types.is_large_binary(column.type) or column.offset or not len(column):
        return False
    return bool(_offsets(column)[-1] < 1 << 31) and _are_utf8(column)


def _as_string(column: pa.Array) -> pa.Array:
    """What a cast would make; but a cast loads all of Arrow's functions, which takes 30 ms."""
    valid, _, data = column.buffers()
    offsets = pa.py_buffer(_offsets(column).astype(np.int32))
    return pa.Array.from_buffers(pa.string(), len(column), [valid, offsets, data])


def _text(column: pa.Array) -> pa.Array:
    """A column of ids as text, whatever its type."""
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if _can_be_string(column):
        return _as_string(column)
    try:
        return column.cast(pa.string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        values = [
            value.decode("utf-8", "replace") if isinstance(value, bytes) else value
            for value in column.to_pylist()
        ]
        return pa.array([None if value is None else str(value) for value in values], pa.string())
