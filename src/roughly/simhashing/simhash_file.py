"""Files of simhashes with the ids of their documents, in four forms by the end of their names.

    .parquet                columns id, simhash (unsigned 64 bits, null: none), tokens; the
                            parameters as metadata
    .jsonl, .ndjson, .json  {"id": "...", "simhash": "16 hexadecimal digits" or null, "tokens": 12}
    .u64, .bin              8 bytes each, little-endian: no ids, and documents without a simhash
                            are left out
    anything else, plain    the digits, or - for none, a tab, the id; the id may be missing

A file is written whole or not at all. Reading takes all of it into memory, 8 bytes a simhash and
the ids; the two text forms may be compressed (.gz, .zst, .bz2) when they are read.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from roughly.documents.file import printable, reason
from roughly.errors import DocumentError
from roughly.simhashing.parameters import SimhashParameters
from roughly.storage.durable import remove, temporary, writing

if TYPE_CHECKING:
    import numpy.typing as npt

    from roughly.simhashing.simhasher import SimhashBatch

Form = Literal["parquet", "jsonl", "binary", "plain"]

SCHEMA = pa.schema(
    [
        pa.field("id", pa.string(), nullable=False),  # of the document
        pa.field("simhash", pa.uint64()),  # null: the document has no features
        pa.field("tokens", pa.uint32(), nullable=False),  # of the document, stop words included
    ]
)
_KEY = b"roughly.simhash"
_NONE = "-"
_COMPRESSED = (".gz", ".zst", ".bz2")
_PLAIN_LINE = re.compile(rb"(?:[0-9a-fA-F]{16}|-)(?:\t|\r?$)")
_SPECIAL = r'["\\\x00-\x1f]'  # what a JSON string cannot hold as it is
_ROW_GROUP = 1 << 20


@dataclass(frozen=True, slots=True)
class SimhashTable:
    """Simhashes with the ids of their documents, in the order of the file."""

    simhashes: npt.NDArray[np.uint64]  # of no meaning where `empty` says so
    empty: npt.NDArray[np.bool_]  # which documents have no simhash
    ids: pa.ChunkedArray | None  # text; None if the file has none
    parameters: SimhashParameters | None  # None if the file does not say

    def __len__(self) -> int:
        return len(self.simhashes)

    def id(self, row: int) -> str:
        """The id of a row, or its number from 1, as a line of a file has it."""
        found = None if self.ids is None else self.ids[row].as_py()
        return f"#{row + 1}" if found is None else str(found)


def form_of(path: str | Path) -> Form:
    """The form that a name asks for."""
    name = str(path).lower()
    for end in _COMPRESSED:
        name = name.removesuffix(end)
    if name.endswith(".parquet"):
        return "parquet"
    if name.endswith((".u64", ".bin")):
        return "binary"
    return "jsonl" if name.endswith((".jsonl", ".ndjson", ".json")) else "plain"


# --- writing --------------------------------------------------------------------------------------


class SimhashWriter:
    """Takes batch after batch. One thread at a time."""

    def __init__(self, stream: IO[bytes], form: Form, parameters: SimhashParameters) -> None:
        self._stream = stream
        self._form = form
        self._parquet: Any = None
        if form == "parquet":
            import pyarrow.parquet as pq

            metadata = {_KEY: json.dumps(asdict(parameters)).encode()}
            self._parquet = pq.ParquetWriter(
                stream, SCHEMA.with_metadata(metadata), compression="zstd"
            )

    def write(self, ids: pa.Array, batch: SimhashBatch) -> None:
        """The simhashes of the documents with these ids."""
        if self._parquet is not None:
            tokens = pa.array(batch.tokens, pa.uint32())
            table = pa.table([ids.cast(pa.string()), batch.to_arrow(), tokens], schema=SCHEMA)
            self._parquet.write_table(table, row_group_size=_ROW_GROUP)
            return
        if self._form == "binary":
            self._stream.write(batch.simhashes[~batch.empty].astype("<u8").tobytes())
            return
        digits = hexadecimal(batch.simhashes)
        join: Any = pc.binary_join_element_wise
        if self._form == "jsonl":
            quoted = pc.if_else(batch.empty, "null", join('"', digits, '"', ""))
            tokens = pa.array(batch.tokens).cast(pa.string())
            middle, last = ', "simhash": ', ', "tokens": '
            rows = join('{"id": ', _quoted(ids), middle, quoted, last, tokens, "}\n", "")
        else:
            # A tab or a line's end within an id would break the line.
            harmless = pc.replace_substring_regex(ids.cast(pa.string()), r"[\t\r\n]", " ")
            rows = join(pc.if_else(batch.empty, _NONE, digits), "\t", harmless, "\n", "")
        for text in _joined(rows):
            self._stream.write(text)

    def close(self) -> None:
        if self._parquet is not None:
            self._parquet.close()


@contextlib.contextmanager
def simhash_writer(path: Path, parameters: SimhashParameters) -> Iterator[SimhashWriter]:
    """A file to write to, in the form that its name asks for; on leaving it is there, whole."""
    if str(path).lower().endswith(_COMPRESSED):
        raise DocumentError(
            f"{printable(str(path))}: will not write: compressed simhashes are not to be had",
            hint="random bits do not become smaller; .parquet is the smallest form",
        )
    real = Path(os.path.realpath(path))  # a link remains one
    if real.exists() and not real.is_file():
        # A device or a pipe has to stay one; what cannot be opened says why.
        with writing(path), open(real, "wb") as file:
            yield from _written(file, path, parameters)
        return
    part = temporary(real)
    try:
        with writing(path):
            with open(part, "wb") as file:
                yield from _written(file, path, parameters)
            os.replace(part, real)
    except BaseException:
        remove(part)
        raise


def _written(file: IO[bytes], path: Path, parameters: SimhashParameters) -> Iterator[SimhashWriter]:
    writer = SimhashWriter(file, form_of(path), parameters)
    yield writer
    writer.close()


def hexadecimal(simhashes: npt.NDArray[np.uint64]) -> pa.Array:
    """Each as 16 digits; of at most 100 million, as a batch has."""
    digits = simhashes.astype(">u8").tobytes().hex().encode()
    offsets = np.arange(0, 16 * len(simhashes) + 1, 16, dtype=np.int32)
    return pa.StringArray.from_buffers(len(simhashes), pa.py_buffer(offsets), pa.py_buffer(digits))


def _quoted(ids: pa.Array) -> pa.Array:
    ids = ids.cast(pa.string())
    special = pc.match_substring_regex(ids, _SPECIAL)
    quoted = pc.binary_join_element_wise('"', ids, '"', "")
    if not pc.any(special).as_py():
        return quoted
    escaped = [json.dumps(id, ensure_ascii=False) for id in ids.filter(special).to_pylist()]
    return pc.replace_with_mask(quoted, special, pa.array(escaped, pa.string()))


def _joined(rows: pa.Array) -> Iterator[bytes]:
    rows = rows.cast(pa.large_string())
    offsets = np.frombuffer(rows.buffers()[1], np.int64)
    begin, end = offsets[rows.offset], offsets[rows.offset + len(rows)]
    if end > begin:
        yield rows.buffers()[2][int(begin) : int(end)].to_pybytes()


# --- reading --------------------------------------------------------------------------------------


def is_simhash_file(path: str | Path) -> bool:
    """Whether a file holds simhashes, by its first row; False for what cannot be read."""
    try:
        form = form_of(path)
        if form == "parquet":
            import pyarrow.parquet as pq

            return "simhash" in pq.read_schema(path).names
        if form == "binary":
            return os.path.isfile(path) and os.path.getsize(path) % 8 == 0
        with pa.input_stream(str(path), compression="detect") as stream:
            lines = stream.read(1 << 16).split(b"\n")
        if form == "plain":
            # A dash alone is none, but many a text begins with one.
            telling = next((line for line in lines if line.strip() not in (b"", b"-")), lines[0])
            return _PLAIN_LINE.match(telling) is not None
        row = json.loads(lines[0])
        return isinstance(row, dict) and "simhash" in row
    except (OSError, ValueError, pa.ArrowException):
        return False


def read_simhashes(path: str | Path) -> SimhashTable:
    """All simhashes of a file. Raises DocumentError for what is no such file."""
    shown = printable(str(path))
    try:
        form = form_of(path)
        if form == "parquet":
            return _read_parquet(str(path), shown)
        if form == "binary":
            return _read_binary(str(path), shown)
        return _read_jsonl(str(path), shown) if form == "jsonl" else _read_plain(str(path), shown)
    except FileNotFoundError as error:
        raise DocumentError(
            f"{shown}: cannot read: no such file",
            hint="make simhashes of documents with: roughly simhash INPUT... -o FILE",
        ) from error
    except OSError as error:
        raise DocumentError(f"{shown}: cannot read: {reason(error)}") from error
    except pa.ArrowException as error:
        raise _wrong(shown, " ".join(str(error).split())[:200]) from error


def parameters_of(schema: pa.Schema) -> SimhashParameters | None:
    """What a table says of how its simhashes were made."""
    metadata = (schema.metadata or {}).get(_KEY)
    return None if metadata is None else SimhashParameters(**json.loads(metadata))


def together(tables: Sequence[SimhashTable]) -> SimhashTable:
    """Several files as one. Raises if they say that they were made in different ways."""
    if len(tables) == 1:
        return tables[0]
    known = [table.parameters for table in tables if table.parameters is not None]
    for parameters in known[1:]:
        known[0].check_same(parameters)
    ids = None
    if any(table.ids is not None for table in tables):
        columns = [
            pa.chunked_array([pa.nulls(len(table), pa.string())])
            if table.ids is None
            else table.ids
            for table in tables
        ]
        ids = pa.chunked_array(
            [chunk for column in columns for chunk in column.chunks], pa.string()
        )
    return SimhashTable(
        np.concatenate([table.simhashes for table in tables]),
        np.concatenate([table.empty for table in tables]),
        ids,
        known[0] if known else None,
    )


def _read_parquet(path: str, shown: str) -> SimhashTable:
    import pyarrow.parquet as pq

    schema = pq.read_schema(path)
    if "simhash" not in schema.names:
        raise _wrong(shown, f"it has the columns {', '.join(schema.names)}, wanted simhash")
    columns = [name for name in ("id", "simhash") if name in schema.names]
    table = pq.read_table(path, columns=columns)
    ids = table["id"].cast(pa.string()) if "id" in columns else None
    parameters = parameters_of(schema)
    column = table["simhash"]
    if pa.types.is_integer(column.type):
        empty = np.asarray(pc.is_null(column))
        filled = pc.fill_null(column, 0).to_numpy()
        # Many programs have signed numbers only: the same 64 bits.
        return SimhashTable(filled.astype(np.uint64, casting="unsafe"), empty, ids, parameters)
    simhashes, empty = _decoded(column, shown)
    return SimhashTable(simhashes, empty, ids, parameters)


def _read_binary(path: str, shown: str) -> SimhashTable:
    size = os.path.getsize(path)
    if size % 8:
        raise _wrong(shown, f"it has {size:,} bytes, wanted a multiple of 8")
    values = np.fromfile(path, "<u8").astype(np.uint64, copy=False)
    return SimhashTable(values, np.zeros(len(values), np.bool_), None, None)


def _read_jsonl(path: str, shown: str) -> SimhashTable:
    import pyarrow.json as pj

    schema = pa.schema([("id", pa.string()), ("simhash", pa.string())])
    options = pj.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore")
    with pa.input_stream(path, compression="detect") as stream:
        table = pj.read_json(stream, parse_options=options)
    simhashes, empty = _decoded(table["simhash"], shown)
    ids = table["id"]
    return SimhashTable(simhashes, empty, None if ids.null_count == len(ids) else ids, None)


def _read_plain(path: str, shown: str) -> SimhashTable:
    with pa.input_stream(path, compression="detect") as stream:
        data = stream.read()
    lines = data.replace(b"\r\n", b"\n")
    if lines and not lines.endswith(b"\n"):
        lines += b"\n"
    if b"\t" not in lines:
        column = pa.array(lines.decode("utf-8", "replace").splitlines(), pa.string())
        simhashes, empty = _decoded(pa.chunked_array([column]), shown)
        return SimhashTable(simhashes, empty, None, None)
    rows = [line.partition("\t") for line in lines.decode("utf-8", "replace").split("\n")[:-1]]
    column = pa.array([row[0] for row in rows], pa.string())
    simhashes, empty = _decoded(pa.chunked_array([column]), shown)
    ids = pa.chunked_array([pa.array([row[2] for row in rows], pa.string())])
    return SimhashTable(simhashes, empty, ids, None)


_VALUE = np.full(256, 255, np.uint8)
_VALUE[np.frombuffer(b"0123456789abcdef", np.uint8)] = np.arange(16)
_VALUE[np.frombuffer(b"ABCDEF", np.uint8)] = np.arange(10, 16)


def _decoded(
    column: pa.ChunkedArray, shown: str
) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.bool_]]:
    """The numbers that digits stand for; null and `-` are none."""
    empty = np.asarray(pc.fill_null(pc.equal(column, _NONE), True))
    digits = pc.if_else(pa.array(empty), "0" * 16, column).cast(pa.large_string())
    wrong = np.flatnonzero(np.asarray(pc.binary_length(digits)) != 16)
    values: npt.NDArray[np.uint8] = np.zeros((0, 16), np.uint8)
    if not len(wrong):
        text = b"".join(_joined(pa.concat_arrays(digits.chunks))) if len(digits) else b""
        values = _VALUE[np.frombuffer(text, np.uint8)].reshape(-1, 16)
        wrong = np.flatnonzero((values > 15).any(axis=1))
    if len(wrong):
        row = int(wrong[0])
        raise _wrong(shown, f"row {row + 1:,}: {printable(str(column[row]))[:40]!r} is none")
    packed = values[:, ::2] << 4 | values[:, 1::2]
    return np.ascontiguousarray(packed).view(">u8").reshape(-1).astype(np.uint64), empty


def _wrong(shown: str, why: str) -> DocumentError:
    return DocumentError(
        f"{shown}: no simhashes: {why}",
        hint="make them with: roughly simhash INPUT... -o FILE",
    )
