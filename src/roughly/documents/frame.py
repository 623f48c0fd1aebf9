"""Documents that a Python caller has: Arrow tables and readers, pandas and polars frames, Hugging
Face datasets, and iterables of strings, (id, text) pairs or dicts, or of tables, whose rows count
as those of one table.

None of these libraries is imported: each is known by what it can do. What can be iterated only once
(a generator, a record batch reader) is copied to a temporary Arrow file when it is opened, because
documents are read more than once; everything else is read where it is.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import Any

import pyarrow as pa

from roughly.documents.batch import Piece
from roughly.documents.category import category_value
from roughly.documents.field import (
    Fields,
    Wanted,
    check_present,
    choose,
    fieldless,
)
from roughly.documents.file import reason
from roughly.documents.path import delete_with, temporary_file
from roughly.documents.reading import Reading
from roughly.documents.source import Source
from roughly.documents.table import Rows, fields_of_schema, is_textual, nested
from roughly.errors import DocumentError, ParameterError

NAME = "documents"

# Rows taken at once from what does not say how large its rows are.
_CHUNK_ROWS = 4096
# Dicts looked at for names.
_SAMPLE_ITEMS = 100
# Of tables looked at for types, which are in memory meanwhile.
_SAMPLE_BYTES = 1 << 26

_WANTED = (
    "a path or pattern, a list of texts or of Paths, a table or frame, or an iterable of strings, "
    "(id, text) pairs, dicts or tables"
)


def _hint(data: Any) -> str | None:
    """What to make of what is no documents."""
    if isinstance(data, Mapping) and hasattr(data, "column_names"):
        return f"choose one of its parts: {', '.join(map(str, data))}"
    if isinstance(data, Mapping) and data and all(isinstance(v, list) for v in data.values()):
        return "make a table of its columns: pyarrow.table(documents)"
    if isinstance(data, bytes | Mapping):
        return "put it into a list: [document]"
    return "collect it first: documents.collect()" if hasattr(data, "collect") else None


def _file_hint(file: Any) -> str:
    """What to pass for an open file."""
    name = getattr(file, "name", None)
    if isinstance(name, str) and os.path.exists(name):
        return f"pass its path: {name!r}"
    return "pass its path, or a list of texts: of one text, [file.read()]"


def memory_source(data: Any, wanted: Wanted, batch_bytes: int) -> Source:
    """What a caller handed over, as a source that can be read again and again."""
    if _is_file(data) and not _is_table(data):
        # Its lines could be taken for texts, and those of JSON Lines are none.
        raise ParameterError(
            f"documents: cannot read: an open file ({type(data).__name__}), wanted its path",
            hint=_file_hint(data),
        )
    if isinstance(data, bytes | Mapping) or not (
        isinstance(data, Iterable) or hasattr(data, "__arrow_c_stream__")
    ):
        raise ParameterError(
            f"documents: cannot read: {type(data).__name__}, wanted {_WANTED}", hint=_hint(data)
        )
    if isinstance(data, pa.Array | pa.ChunkedArray):
        data = pa.table({"text": data})
    if hasattr(data, "__arrow_c_stream__") and hasattr(data, "dtype"):  # one column of a frame
        data = pa.table({"text": pa.chunked_array(data)})
    if isinstance(data, pa.RecordBatch):
        data = pa.table(data)
    if isinstance(data, list | tuple) and data and _is_part(data[0]):
        data = _one_table(data)
    if hasattr(data, "__arrow_c_stream__") and not hasattr(data, "__len__"):
        reader = _stream(data)
        return _spooled_tables(reader, reader.schema, wanted)
    source = Source(NAME, data=data)
    if not _is_table(data) and iter(data) is data:
        items, first = _peeked(data)
        if first and _is_part(first[0]):
            looked, schema, empty = _looked_at(items)
            return _spooled_tables(itertools.chain(looked, items), schema, wanted, empty)
        fields = _fields_of_items(first, wanted)
        parts = _item_batches(items, fields, wanted, batch_bytes)
        return _spooled(_item_schema(fields), parts, _item_fields(fields))
    return source


def memory_fields(source: Source, wanted: Wanted) -> Fields:
    """The fields of a table's schema, or of the first dicts."""
    data = source.data
    empty = hasattr(data, "__len__") and not len(data)
    if _is_dataset(data):
        return fields_of_schema(_schema_of_dataset(data), wanted, source.name, empty)
    if _is_pandas(data):
        names = [str(name) for name in data.columns]
        # An empty column of objects counts as text: which of them it is, the name must say. So it
        # must of others without values: pandas makes them float64.
        textual, valueless = [], []
        for number, (name, type) in enumerate(zip(names, data.dtypes, strict=True)):
            if _is_pandas_text(type):
                textual.append(name)
            elif data.iloc[:, number].isna().all():
                valueless.append(name)
        absent = {role: name for role, name in wanted.named().items() if name not in names}
        check_present(absent, names, source.name)
        return choose(wanted, names, textual, source.name, _pandas_nested(data), valueless)
    if isinstance(data, pa.Table):
        return fields_of_schema(_looked_at([data])[1], wanted, source.name, empty)
    if hasattr(data, "__arrow_c_stream__"):
        return fields_of_schema(_stream(data).schema, wanted, source.name, empty)
    items, first = _peeked(iter(data))
    if first and _is_part(first[0]):
        _, schema, empty = _looked_at(items)
        return fields_of_schema(schema, wanted, source.name, empty)
    return _fields_of_items(first, wanted)


def read_memory(number: int, source: Source, reading: Reading) -> Iterator[Piece]:
    """The documents, in the order of their rows."""
    assert source.fields is not None
    data, fields = source.data, source.fields
    parts: Iterable[pa.RecordBatch | pa.Table]
    if _is_dataset(data):
        columns = data.select_columns(fields.names()).with_format("arrow")
        parts = columns.iter(batch_size=_CHUNK_ROWS)
    elif _is_pandas(data):
        parts = _pandas_chunks(data, fields)
    elif isinstance(data, pa.Table):
        parts = data.to_batches()
    elif hasattr(data, "__arrow_c_stream__"):
        parts = _stream(data)
    elif _is_part(next(iter(data), None)):
        parts = (batch for _, table in _tables(data, fields) for batch in table.to_batches())
    else:
        parts = _item_batches(data, fields, reading.wanted, reading.batch_bytes)
        fields = _item_fields(fields)
    rows = Rows(number, source, fields, reading)
    for part in parts:
        if len(part):
            yield rows.piece(part)


def _is_file(data: Any) -> bool:
    """An open file. What reads one in parts, as pandas does, has no lines."""
    return all(callable(getattr(data, name, None)) for name in ("read", "readline"))


def _is_table(data: Any) -> bool:
    return hasattr(data, "__arrow_c_stream__") or _is_dataset(data) or _is_pandas(data)


def _stream(data: Any) -> pa.RecordBatchReader:
    return pa.RecordBatchReader.from_stream(data)


def _is_part(item: Any) -> bool:
    """A table or a frame as an item of several. A reader is none: it gives its rows once."""
    frame = hasattr(item, "__arrow_c_stream__") and hasattr(item, "columns")
    return frame or isinstance(item, pa.RecordBatch)


def _table(item: Any, number: int) -> pa.Table:
    if not _is_part(item):
        raise ParameterError(
            f"documents: item {number:,} is of type {type(item).__name__}, wanted a table as the "
            "first is",
            hint="give tables alone, or texts, pairs and dicts alone",
        )
    try:
        return item if isinstance(item, pa.Table) else pa.table(item)
    except pa.ArrowException as error:
        why = str(error).split("\n")[0]
        raise ParameterError(
            f"documents: item {number:,} cannot be made an Arrow table: {why}"
        ) from error


def _one_table(items: Sequence[Any]) -> pa.Table:
    """Tables in memory put together, without copying them where they have the same columns."""
    tables = [_table(item, number) for number, item in enumerate(items, 1)]
    same = all(table.schema.equals(tables[0].schema) for table in tables)
    if not same:
        filled = {
            name for table in tables for name, column in _columns(table) if _has_value(column)
        }
        tables = [_without_types(table, filled) for table in tables]
    try:
        return pa.concat_tables(tables, promote_options="none" if same else "permissive")
    except pa.ArrowException as error:
        why = str(error).split("\n")[0]
        raise ParameterError(
            f"documents: the tables do not go together: {why}",
            hint="tables with the same columns are wanted: read others by themselves",
        ) from error


def _columns(table: pa.Table) -> Iterator[tuple[str, pa.ChunkedArray]]:
    return zip(table.schema.names, table.columns, strict=True)


def _has_value(column: pa.ChunkedArray) -> bool:
    has: bool = column.null_count < len(column)
    return has


def _without_types(table: pa.Table, names: Container[str]) -> pa.Table:
    """The table with nulls for those of the named columns that have no value: their type says
    nothing, and need not go with that of other tables."""
    for number, (name, column) in enumerate(_columns(table)):
        if name in names and not _has_value(column):
            table = table.set_column(number, name, pa.nulls(len(column)))
    return table


def _looked_at(items: Iterable[Any]) -> tuple[list[Any], pa.Schema, bool]:
    """The first tables, up to where the type of each column is known; their schema, and whether
    they have no rows. The columns are those of the first one with rows; a column without a value
    has the type that it has in the next one with a value."""
    looked: list[Any] = []
    schema = pa.schema([])
    unknown: set[str] = set()
    empty = True
    size = 0
    for number, item in enumerate(items, 1):
        looked.append(item)
        table = _table(item, number)
        size += table.nbytes
        if number == 1 or (empty and len(table)):
            schema, empty = table.schema, not len(table)
            unknown = {name for name, column in _columns(table) if not _has_value(column)}
            # The type of a text that is null throughout may be believed: it is no guess.
            unknown -= {field.name for field in schema if len(table) and is_textual(field.type)}
        for name, column in _columns(table):
            if name in unknown and _has_value(column):
                unknown.remove(name)
                schema = schema.set(schema.names.index(name), pa.field(name, column.type))
        if not empty and (not unknown or size > _SAMPLE_BYTES):
            break
    for number, field in enumerate(schema):
        if field.name in unknown and pa.types.is_floating(field.type):
            schema = schema.set(number, pa.field(field.name, pa.null()))
    return looked, schema, empty


def _tables(items: Iterable[Any], fields: Fields) -> Iterator[tuple[int, pa.Table]]:
    """The columns that are read of each item with rows, which must have all of them; and its
    number."""
    for number, item in enumerate(items, 1):
        table = _table(item, number)
        if not len(table):
            continue
        names = table.schema.names
        for role, name in fields.named().items():
            if name not in names:
                raise ParameterError(
                    f"documents: no column {name!r} for the {role} in item {number:,}: "
                    f"its columns are {', '.join(names[:20])}",
                    hint="tables of one kind are wanted: read others by themselves",
                )
        # By number: of two columns of one name the first is taken.
        yield number, table.select([names.index(name) for name in fields.names()])


def _is_dataset(data: Any) -> bool:
    """A Hugging Face dataset, in memory, mapped or streamed."""
    return all(hasattr(data, n) for n in ("with_format", "iter", "features", "select_columns"))


def _schema_of_dataset(data: Any) -> pa.Schema:
    if data.features is not None:
        schema: pa.Schema = data.features.arrow_schema
        return schema
    # A streamed dataset may not know its columns before its first row.
    first = next(iter(data.with_format("arrow").iter(batch_size=1)), None)
    return pa.schema([]) if first is None else first.schema


def _is_pandas(data: Any) -> bool:
    return all(hasattr(data, name) for name in ("iloc", "columns", "dtypes", "to_dict"))


def _is_pandas_text(type: Any) -> bool:
    kind = str(type)
    return kind in ("object", "category") or kind.startswith(("str", "large_string"))


def _pandas_nested(frame: Any) -> dict[str, str]:
    """The columns that can be neither dates nor categories by their first values, each with its
    type."""
    found: dict[str, str] = {}
    for number, name in enumerate(frame.columns):
        sample = frame.iloc[:_SAMPLE_ITEMS, number]
        try:
            found |= nested([str(name)], [_pandas_column(sample).type])
        except pa.ArrowException:
            found[str(name)] = str(sample.dtype)  # a type that Arrow does not have
    return found


def _pandas_chunks(frame: Any, fields: Fields) -> Iterator[pa.Table]:
    """Some rows at a time: a whole frame of Python strings would be copied at once otherwise."""
    # By number: of two columns of one name the first is taken.
    place = {str(name): number for number, name in reversed(list(enumerate(frame.columns)))}
    for start in range(0, len(frame), _CHUNK_ROWS):
        rows = frame.iloc[start : start + _CHUNK_ROWS]
        columns = {name: _pandas_column(rows.iloc[:, place[name]]) for name in fields.names()}
        category = fields.category
        if category is not None and category not in (fields.text, fields.id, fields.date):
            columns[category] = _pandas_categories(rows.iloc[:, place[category]])
        yield pa.table(columns)


def _pandas_column(column: Any) -> pa.Array:
    try:
        array = pa.array(column, from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError, UnicodeEncodeError):
        # Values of several types: each by itself, and what is neither text nor bytes is none.
        return pa.array([_utf8(value) for value in column], pa.large_binary())
    return array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array


def _pandas_categories(column: Any) -> pa.Array:
    """A column of objects is taken value by value: Arrow would find a type for each chunk that all
    its values fit, and 1 beside 1.5 would be 1.0."""
    if str(column.dtype) != "object":
        return _pandas_column(column)
    values = zip(column, column.isna(), strict=True)
    found = [None if missing else category_value(value) for value, missing in values]
    return pa.array(found, pa.large_binary())


# Items become rows of these columns, whatever the items are; the last where it is asked for.
_ITEM_SCHEMA = pa.schema([("text", pa.large_binary()), ("id", pa.string()), ("date", pa.string())])
_ITEM_FIELDS = Fields("text", "id", "date")
_CATEGORY = pa.field("category", pa.large_binary())


def _item_schema(fields: Fields) -> pa.Schema:
    return _ITEM_SCHEMA if fields.category is None else _ITEM_SCHEMA.append(_CATEGORY)


def _item_fields(fields: Fields) -> Fields:
    """Which columns of those rows are read; `fields` are those of the items."""
    category = None if fields.category is None else _CATEGORY.name
    return replace(_ITEM_FIELDS, category=category, text_label=fields.text)


def _peeked(items: Iterator[Any]) -> tuple[Iterator[Any], list[Any]]:
    """All items, and the first ones; of tables, which may be large, one."""
    first = list(itertools.islice(items, 1))
    if first and not _is_part(first[0]):
        first += itertools.islice(items, _SAMPLE_ITEMS - 1)
    return itertools.chain(first, items), first


def _fields_of_items(first: list[Any], wanted: Wanted) -> Fields:
    records = [item for item in first if isinstance(item, Mapping)]
    if not records:
        if first and wanted.category is not None:
            raise fieldless(wanted.category, NAME, "texts and pairs")
        return _ITEM_FIELDS
    names = dict.fromkeys(str(name) for record in records for name in record)
    textual = dict.fromkeys(
        str(n)
        for record in records
        for n, value in record.items()
        if isinstance(value, str | bytes)
    )
    filled = {str(n) for record in records for n, value in record.items() if value is not None}
    empty = [name for name in names if name not in filled]
    return choose(wanted, list(names), list(textual), NAME, empty=empty)


def _item_batches(
    items: Iterable[Any], fields: Fields, wanted: Wanted, batch_bytes: int
) -> Iterator[pa.RecordBatch]:
    """The items as rows; at their end an error if no dict had a field that the caller named."""
    absent = wanted.named()
    names: list[str] | None = None  # of the first dict
    schema = _item_schema(fields)
    rows: list[tuple[Any, ...]] = []
    size = 0
    for item in items:
        if absent and isinstance(item, Mapping):
            names = [str(name) for name in item] if names is None else names
            absent = {role: name for role, name in absent.items() if name not in item}
        row: tuple[Any, ...] = _row(item, fields)
        if fields.category is not None:
            value = item.get(fields.category) if isinstance(item, Mapping) else None
            row = (*row, category_value(value))
        rows.append(row)
        size += len(row[0] or b"") + 1
        if size >= batch_bytes:
            yield _item_batch(rows, schema)
            rows, size = [], 0
    if rows:
        yield _item_batch(rows, schema)
    if names is not None:
        check_present(absent, names, NAME)


def _item_batch(rows: list[tuple[Any, ...]], schema: pa.Schema) -> pa.RecordBatch:
    columns = zip(zip(*rows, strict=True), schema.types, strict=True)
    arrays = [pa.array(values, type) for values, type in columns]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _row(item: Any, fields: Fields) -> tuple[bytes | None, str | None, str | None]:
    """Text, id and date of one item; the text is None where there is none."""
    if isinstance(item, str | bytes):
        return _utf8(item), None, None
    if isinstance(item, Mapping):
        id = None if fields.id is None else item.get(fields.id)
        day = None if fields.date is None else item.get(fields.date)
        return _utf8(item.get(fields.text)), _label(id), _label(day)
    if isinstance(item, tuple | list) and len(item) == 2:
        return _utf8(item[1]), _label(item[0]), None
    return None, None, None


def _utf8(value: Any) -> bytes | None:
    if isinstance(value, bytes):
        return value
    if not isinstance(value, str):
        return None
    try:
        return value.encode()
    except UnicodeEncodeError:
        # Halves of surrogate pairs: together they are a character, alone they are none.
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").encode()


def _label(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        text = value
    else:
        text = value.isoformat() if isinstance(value, date) else str(value)
    encoded = _utf8(text)
    return None if encoded is None else encoded.decode()


def _spooled_tables(
    items: Iterable[Any], schema: pa.Schema, wanted: Wanted, empty: bool = False
) -> Source:
    """Tables that come once: the columns that are read, in the types that `schema` says; `empty`:
    which are those of tables without rows."""
    fields = fields_of_schema(schema, wanted, NAME, empty)
    columns = [schema.field(schema.names.index(name)) for name in fields.names()]
    kept = pa.schema([(column.name, _kept_type(column.type)) for column in columns])

    def parts() -> Iterator[pa.RecordBatch]:
        for number, part in _tables(items, fields):
            try:
                yield from _without_types(part, kept.names).cast(kept).to_batches()
            except pa.ArrowException as error:
                types = [
                    f"{name!r} is {have}, wanted {want}"
                    for name, have, want in zip(
                        part.schema.names, part.schema.types, kept.types, strict=True
                    )
                    if have != want
                ]
                raise ParameterError(
                    f"documents: item {number:,} has columns of other types than the first: "
                    f"{', '.join(types)}",
                    hint="cast them to one schema",
                ) from error

    return _spooled(kept, parts(), fields)


def _kept_type(type: pa.DataType) -> pa.DataType:
    """An Arrow file has one dictionary of a column for all batches, which these need not have. Of
    values that are yet to come, all but lists and objects can be written as text."""
    if pa.types.is_null(type):
        return pa.string()
    return type.value_type if pa.types.is_dictionary(type) else type


def _spooled(schema: pa.Schema, parts: Iterable[pa.RecordBatch], fields: Fields) -> Source:
    path = temporary_file()
    source = Source(NAME, path, wanted="arrow", fields=fields)
    delete_with(source, path)
    try:
        with pa.OSFile(path, "wb") as file, pa.ipc.new_file(file, schema) as writer:
            for part in parts:
                writer.write_batch(part)
    except OSError as error:
        raise DocumentError(
            f"{NAME}: cannot be copied to a temporary file: {reason(error)}",
            hint="documents are read twice; set TMPDIR to where there is room, or give a list",
        ) from error
    return source
