"""A file that is one document: text or HTML in any encoding, its path the id."""

from __future__ import annotations

from collections.abc import Iterator

from roughly.documents.batch import Row
from roughly.documents.file import document
from roughly.documents.reading import Reading
from roughly.documents.skipped import DAMAGED_COMPRESSION
from roughly.documents.source import HEAD_BYTES, Source
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
    """The file's bytes, decompressed; None if they are damaged or, by their beginning, no text.
    Opened once, as there may be a million files."""
    assert source.path is not None
    with open(source.path, "rb", buffering=0) as file:
        head = file.read(HEAD_BYTES)
        compression = compression_of(head)
        if not compression:
            if _is_refused(source, head, reading):
                return None
            if len(head) < HEAD_BYTES:
                return head + file.read()
            file.seek(0)  # to read it again is cheaper than to put two large parts together
            return file.read()
    with Stream(source.path, compression) as stream:
        parts = [stream.read(HEAD_BYTES)]
        if stream.damage is None and _is_refused(source, parts[0], reading):
            return None
        while part := stream.read(1 << 20):
            parts.append(part)
        if stream.damage is not None:
            reading.skipped.add(source.name, DAMAGED_COMPRESSION, stream.damage)
            return None
    return b"".join(parts)


def _is_refused(source: Source, head: bytes, reading: Reading) -> bool:
    """Counts a file that was found and does not begin like text, so that films are not read whole
    to learn what they are."""
    if not source.found or _looks_like_text(head, reading.content_type):
        return False
    reading.skipped.ignored["not text"] += 1
    return True


def _looks_like_text(head: bytes, content_type: str) -> bool:
    read = document("", _without_cut_character(head), content_type)
    if b"\0" in head and not read.encoding.startswith(("utf-16", "utf-32")):
        return False
    return read.how != "fallback"


def _without_cut_character(head: bytes) -> bytes:
    """Without the last character if it is one of several bytes in UTF-8: half of one is an error,
    and an error makes text look less like text."""
    for size in (1, 2, 3):
        if head[-size:][:1] >= b"\xc0":
            return head[:-size]
    return head
