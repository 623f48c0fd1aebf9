"""Chosen documents of an opened collection, read again: their text, without reading all the rest.

Of JSON Lines that are not compressed only the chosen lines are read, and of files that are one
document only the chosen files; other formats are read from the beginning of each source that has a
chosen document to its last one. What comes back is what the first reading gave, and if a source was
changed in between so that this cannot be, that is an error.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from roughly import _core
from roughly.documents.batch import SCHEMA, decoded
from roughly.documents.collection import Documents
from roughly.documents.file import reason
from roughly.documents.skipped import Skipped
from roughly.errors import DocumentError

if TYPE_CHECKING:
    from roughly.documents.source import Source

Integers = npt.NDArray[np.int64]

SELECTED = pa.schema([SCHEMA.field("content"), SCHEMA.field("html")])


@dataclass(frozen=True, slots=True)
class Places:
    """Where chosen documents stand, in the order of a reading: columns of its batches."""

    source: npt.NDArray[np.int32]
    position: Integers
    begin: Integers
    end: Integers

    def __len__(self) -> int:
        return len(self.source)

    def slice(self, begin: int, end: int) -> Places:
        """The places from `begin` to `end`."""
        return Places(
            self.source[begin:end],
            self.position[begin:end],
            self.begin[begin:end],
            self.end[begin:end],
        )


def can_seek(source: Source) -> bool:
    """Whether chosen documents of a source cost no more than themselves."""
    try:
        return source.format == "text" or (source.format == "jsonl" and not source.compression)
    except OSError:
        return False  # it cannot be opened, and has none


def read_selected(
    documents: Documents, places: Places, batch_bytes: int | None = None
) -> Iterator[pa.RecordBatch]:
    """`content` and `html` of the documents at these places, in their order, in batches of about
    `batch_bytes` of text."""
    size = documents.batch_bytes if batch_bytes is None else batch_bytes
    begin = 0
    while begin < len(places):
        source = documents.sources[places.source[begin]]
        if source.format == "jsonl" and not source.compression:
            end = int(np.searchsorted(places.source, places.source[begin], "right"))
            yield from _of_lines(documents, source, places.slice(begin, end), size)
        else:
            end = _end_of_stretch(documents, places, begin)
            yield from _of_pass(documents, places.slice(begin, end), size)
        begin = end


def _end_of_stretch(documents: Documents, places: Places, begin: int) -> int:
    """Where the next source that can be read line by line begins: one pass serves all before it,
    as there may be a million files."""
    sources = np.unique(places.source[begin:])
    for number in sources.tolist():
        source = documents.sources[number]
        if source.format == "jsonl" and not source.compression:
            return int(np.searchsorted(places.source, number, "left"))
    return len(places)


def _of_lines(
    documents: Documents, source: Source, places: Places, size: int
) -> Iterator[pa.RecordBatch]:
    assert source.path is not None
    assert source.fields is not None
    try:
        with open(source.path, "rb", buffering=0) as file:
            for begin, end in _parts(places.end - places.begin, size):
                part = places.slice(begin, end)
                # A record is a line. Only a file's last one may lack its end, and is the last here.
                texts = _texts(
                    _core.read_stretches(file.fileno(), part.begin, part.end), len(part), source
                )
                columns = list(decoded(texts, documents._content_type)[:2])
                del texts
                batch = [pa.RecordBatch.from_arrays(columns, schema=SELECTED)]
                del columns
                yield batch.pop()  # whoever gets it alone decides how long it stays in memory
    except OSError as error:
        raise DocumentError(f"{source.name}: cannot read it again: {reason(error)}") from error


def _parts(sizes: Integers, most: int) -> Iterator[tuple[int, int]]:
    """Stretches of about `most` bytes, each of a document at least."""
    ends = np.cumsum(sizes)
    begin = 0
    while begin < len(sizes):
        before = int(ends[begin] - sizes[begin])
        end = max(begin + 1, int(np.searchsorted(ends, before + most, "right")))
        yield begin, end
        begin = end


def _texts(lines: bytes, count: int, source: Source) -> pa.Array:
    assert source.fields is not None
    columns = _core.jsonl_columns(lines, [source.fields.text])
    offsets, data, kind = columns.column(0)
    # 1 is a string, 3 a number.
    if len(kind) != count or columns.error.any() or not np.isin(kind, (1, 3)).all():
        raise changed(source)
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(data)]
    return pa.Array.from_buffers(pa.large_binary(), count, buffers)


def _of_pass(documents: Documents, places: Places, size: int) -> Iterator[pa.RecordBatch]:
    """A pass over the sources that are wanted, of which other documents are left out."""
    numbers = np.unique(places.source)
    sources = [documents.sources[number] for number in numbers.tolist()]
    wanted: Any = documents._wanted
    opened = Documents(sources, wanted, documents._content_type, False, size, Skipped())

    def key(begin: int, end: int) -> Integers:
        """Source and position in one number: positions are below 2^40."""
        source = np.searchsorted(numbers, places.source[begin:end]).astype(np.int64)
        made: Integers = (source << 40) | places.position[begin:end]
        return made

    done = 0
    for batch in opened:
        if done == len(places):
            break
        source = batch.column("source").to_numpy().astype(np.int64)
        found = (source << 40) | batch.column("position").to_numpy()
        keys = key(done, done + len(found))
        keys = keys[: int(np.searchsorted(keys, found[-1], "right"))]
        if not len(keys):
            continue
        rows = np.searchsorted(found, keys)
        if not (found[rows] == keys).all():
            break
        done += len(keys)
        chosen = batch.select(SELECTED.names)
        yield chosen if len(rows) == len(batch) else chosen.take(pa.array(rows))
    if done < len(places):
        raise changed(documents.sources[places.source[done]])


def changed(source: Source) -> DocumentError:
    """The error for a source that gives other documents than before."""
    return DocumentError(
        f"{source.name}: cannot read it again: it was changed while it was being read",
        hint="run it again when nobody writes to it",
    )
