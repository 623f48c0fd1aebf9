"""Documents: anything that holds documents, read as often as asked into the same record batches.

`open_documents` takes what a Python caller has, `open_inputs` the words of a command line. Opening
looks only at names; reading is one pass in bounded memory (about `batch_bytes` a few times over, or
one document if that is larger). Each pass counts anew what it could not read; `skipped` is that of
the latest. One thread at a time.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any

import pyarrow as pa

from roughly.documents.batch import SCHEMA, SCHEMA_WITH_CATEGORY, Piece, Row, batches
from roughly.documents.field import Fields, MissingField, Wanted, fieldless
from roughly.documents.file import CONTENT_TYPES, reason
from roughly.documents.path import find_sources
from roughly.documents.reading import Reading
from roughly.documents.skipped import NOT_OPENED, UNREADABLE, Skipped
from roughly.documents.source import Source, WrongForm, known_format
from roughly.errors import DocumentError, ParameterError

# Large enough that a batch keeps several threads busy, small enough for the cache of a server.
BATCH_BYTES = 7 << 20

Chosen = Callable[[pa.RecordBatch, int], pa.BooleanArray]


class Documents:
    """Documents to iterate over, as pyarrow.RecordBatch of `schema`."""

    def __init__(
        self,
        sources: list[Source],
        wanted: Wanted,
        content_type: str,
        strict: bool,
        batch_bytes: int,
        found: Skipped,
        base: str | None = None,
    ) -> None:
        self.schema = SCHEMA if wanted.category is None else SCHEMA_WITH_CATEGORY
        """Of the batches; the last column is `category` where that was asked for."""
        self.sources = sources
        """Where documents come from; `source` of a document counts in it."""
        self.date: str | None = None
        """What documents without a date of their own get."""
        self.chosen: Chosen | None = None
        """Which documents a pass has, if not all: of a batch, and of the number of its first."""
        self.batch_bytes = batch_bytes
        """About how much text a batch has."""
        self._wanted = wanted
        self._content_type = content_type
        self._strict = strict
        self._base = base
        self._found = found  # what could not even be listed
        self._reading = self._new_reading()

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        """A new pass over all sources."""
        reading = self._reading = self._new_reading()
        found = batches(
            self._read(reading),
            self._content_type,
            self.batch_bytes,
            reading.skipped,
            self.schema,
        )
        if self.chosen is not None:
            found = _chosen(found, self.chosen)
        return found if self.date is None else _dated(found, self.date)

    @property
    def category_field(self) -> str | None:
        """The field that was asked for as `category`."""
        return self._wanted.category

    @property
    def skipped(self) -> Skipped:
        """What the latest pass could not read, up to where it is."""
        return self._reading.skipped

    @property
    def size_bytes(self) -> int:
        """Bytes that a pass takes from disk; 0 if everything is in memory."""
        return sum(source.size_bytes for source in self.sources)

    @property
    def bytes_read(self) -> int:
        """Bytes that the latest pass has taken from disk so far."""
        return self._reading.bytes_read

    @property
    def options(self) -> dict[str, Any]:
        """What a pass depends on besides its sources, as plain values."""
        found = {"fields": self._wanted.named(), "content_type": self._content_type}
        more = {"date": self.date, "base": self._base, "strict": self._strict or None}
        return found | {name: value for name, value in more.items() if value is not None}

    @property
    def guesses(self) -> dict[Fields, list[Source]]:
        """Which fields are read, and from which sources; looks into those not yet read."""
        found: dict[Fields, list[Source]] = {}
        for source in self.sources:
            try:
                fields = self._fields(source)
            except (OSError, pa.ArrowException, DocumentError):
                continue  # reading will report it
            if fields is not None:
                found.setdefault(fields, []).append(source)
        return found

    def _new_reading(self) -> Reading:
        skipped = Skipped(self._strict)
        skipped.reasons.update(self._found.reasons)
        skipped.first.extend(self._found.first)
        skipped.ignored.update(self._found.ignored)
        return Reading(self._wanted, self._content_type, self.batch_bytes, skipped)

    def _fields(self, source: Source) -> Fields | None:
        module, look, _ = _FORMATS[source.format]
        if look is not None and source.fields is None:
            source.fields = _reader(module, look)(source, self._wanted)
        return source.fields

    def _read(self, reading: Reading) -> Iterator[Row | Piece]:
        for number, source in enumerate(self.sources):
            begun = False
            try:
                self._fields(source)
                module, _, read = _FORMATS[source.format]
                for item in _reader(module, read)(number, source, reading):
                    begun = True
                    yield item
            except MissingField as error:
                # What was named must be understood; what was found may be something else.
                if not source.found:
                    raise
                reading.skipped.add(source.name, "no such field", error.message, error.hint)
            except (OSError, pa.ArrowException) as error:
                # What was handed over, or the one file that was named: nothing is left to read.
                alone = len(self.sources) == 1 and not source.found and not begun
                hint = error.hint if isinstance(error, WrongForm) else None
                if source.path is None or alone:
                    message = f"{source.name}: cannot read: {reason(error)}"
                    raise DocumentError(message, hint) from error
                opened = os.access(source.path, os.R_OK)
                why = UNREADABLE if opened else NOT_OPENED
                reading.skipped.add(source.name, why, reason(error), hint)
            finally:
                reading.stream = None
            reading.bytes_done += source.size_bytes

    def __repr__(self) -> str:
        names = ", ".join(source.name for source in self.sources[:3])
        more = f", and {len(self.sources) - 3:,} more" if len(self.sources) > 3 else ""
        return f"<Documents of {names}{more}>"


def _chosen(found: Iterator[pa.RecordBatch], chosen: Chosen) -> Iterator[pa.RecordBatch]:
    first = 0
    for batch in found:
        some = batch.filter(chosen(batch, first))
        first += len(batch)
        if len(some):
            yield some


def _dated(found: Iterator[pa.RecordBatch], date: str) -> Iterator[pa.RecordBatch]:
    import pyarrow.compute as pc

    at = SCHEMA.get_field_index("date")
    for batch in found:
        dates = pc.fill_null(batch.column(at), date)
        yield batch.set_column(at, SCHEMA.field(at), dates)


@cache
def _reader(module: str, name: str) -> Callable[..., Any]:
    """A function of a format's module, loaded when the format occurs."""
    function: Callable[..., Any] = getattr(
        importlib.import_module(f"roughly.documents.{module}"), name
    )
    return function


# Format -> module, the function that finds its fields (none: it has no fields), and its reader.
_FORMATS: dict[str, tuple[str, str | None, str]] = {
    "text": ("text_file", None, "read_text_file"),
    "jsonl": ("jsonl", "fields_of", "read_jsonl"),
    "csv": ("delimited", "delimited_fields", "read_delimited"),
    "tsv": ("delimited", "delimited_fields", "read_delimited"),
    "parquet": ("table", "parquet_fields", "read_parquet"),
    "arrow": ("table", "arrow_fields", "read_arrow"),
    "warc": ("warc", None, "read_warc"),
    "arc": ("warc", None, "read_warc"),
    "memory": ("frame", "memory_fields", "read_memory"),
}


def open_documents(
    source: Any,
    *,
    text_field: str | None = None,
    id_field: str | None = None,
    date_field: str | None = None,
    category_field: str | None = None,
    base: str | None = None,
    format: str | None = None,
    content_type: str = "auto",
    strict: bool = False,
    batch_bytes: int = BATCH_BYTES,
) -> Documents:
    """Opens what holds documents.

    `source` is one str or Path: a file, a pattern or a directory; a list of str: texts; a list of
    Path: files; else an Arrow table or reader, a pandas or polars frame, a Hugging Face dataset, or
    any iterable of strings, (id, text) pairs, dicts or tables. `format` names the format of files
    where neither their names nor their first bytes tell it. Files that are one document each are
    called by their path; with a `base`, by that and their path inside of what was named. With
    `category_field` the batches have one more column, `category`.
    """
    wanted = Wanted(text_field, id_field, date_field, category_field)
    named = _paths(source)
    if named is None and base is not None:
        raise ParameterError("base: is for files: wanted a path, a pattern or a directory")
    if named is not None:
        return _of_paths(named, wanted, base, format, content_type, strict, batch_bytes)
    from roughly.documents.frame import memory_source

    known_format(format)
    _check(content_type, batch_bytes)
    sources = [memory_source(source, wanted, batch_bytes)]
    return Documents(sources, wanted, content_type, strict, batch_bytes, Skipped())


def open_inputs(
    words: Sequence[str],
    *,
    text_field: str | None = None,
    id_field: str | None = None,
    date_field: str | None = None,
    category_field: str | None = None,
    base: str | None = None,
    format: str | None = None,
    content_type: str = "auto",
    strict: bool = False,
    batch_bytes: int = BATCH_BYTES,
) -> Documents:
    """Opens what a command line names: files, patterns, directories, and `-`, standard input."""
    wanted = Wanted(text_field, id_field, date_field, category_field)
    return _of_paths(list(words), wanted, base, format, content_type, strict, batch_bytes)


def _paths(source: Any) -> list[str] | None:
    """The paths that a source names, if it names paths."""
    if isinstance(source, str | os.PathLike):
        return [os.fspath(source)]
    if isinstance(source, list | tuple) and source:
        if all(isinstance(item, os.PathLike) for item in source):
            return [os.fspath(item) for item in source]
        if any(isinstance(item, os.PathLike) for item in source):
            raise ParameterError(
                "documents: paths and other items in one list, wanted one or the other",
                hint="a str in a list is a text; write Path(...) for a file",
            )
    return None


def _of_paths(
    words: list[str],
    wanted: Wanted,
    base: str | None,
    format: str | None,
    content_type: str,
    strict: bool,
    batch_bytes: int,
) -> Documents:
    _check(content_type, batch_bytes)
    found = Skipped(strict)
    sources = find_sources(words, known_format(format), found, base)
    if wanted.category is not None:
        _check_fields(sources, wanted.category)
    return Documents(sources, wanted, content_type, strict, batch_bytes, found, base)


def _check_fields(sources: list[Source], category: str) -> None:
    """Raises if a file that was named has no fields, or none of those that were found has. A
    directory may hold both kinds: what has no fields there has no category."""
    without: Source | None = None
    some = False
    for source in sources:
        if some and source.found:
            continue  # its format need not be known yet
        try:
            has_fields = _FORMATS[source.format][1] is not None
        except OSError:
            continue  # reading will report it
        some = some or has_fields
        if not has_fields and (without is None or not source.found):
            without = source
            if not source.found:
                break
    if without is not None and not (some and without.found):
        what = "text files" if without.format == "text" else "web archives"
        raise fieldless(category, without.name, what)


def _check(content_type: str, batch_bytes: int) -> None:
    if content_type not in CONTENT_TYPES:
        names = ", ".join(map(repr, CONTENT_TYPES))
        raise ParameterError(f"content_type: unknown value: {content_type!r}, wanted {names}")
    if batch_bytes < 1:
        raise ParameterError(f"batch_bytes: out of range: {batch_bytes}, wanted at least 1")
