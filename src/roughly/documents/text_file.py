"""A file that is one document: text or HTML in any encoding, its path the id."""

from __future__ import annotations

from collections.abc import Iterator

from roughly.documents.batch import Row
from roughly.documents.file import document
from roughly.documents.reading import Reading
from roughly.documents.source import Source
from roughly.documents.stream import Stream, compression_of


def read_text_file(number: int, source: Source, reading: Reading) -> Iterator[Row]:
    """The document. A file that was found rather than named must look like text: directories hold
    pictures and archives too."""
    data = _content(source, reading)
    if data is None:
        return
    read = document(source.name, data, reading.content_type)
    if source.found and read.how == "fallback":
        reading.skipped.ignored["not text"] += 1
        return
    yield Row(number, 0, 0, len(data), source.name, None, read.text_utf8, read.html, read.encoding)


def _content(source: Source, reading: Reading) -> bytes | None:
    """The file's bytes, decompressed; None if they are damaged. Opened once, as there may be a
    million files."""
    assert source.path is not None
    with open(source.path, "rb", buffering=0) as file:
        data = file.read()
    compression = compression_of(data)
    if not compression:
        return data
    with Stream(source.path, compression) as stream:
        parts = []
        while part := stream.read(1 << 20):
            parts.append(part)
        if stream.damage is not None:
            reading.skipped.add(source.name, "damaged compression", stream.damage)
            return None
    return b"".join(parts)
