"""An HTTP response as a crawler stored it: its head, and its payload without transfer encodings.

Crawlers keep what servers sent, and servers declare what they do not do: a payload that is not
chunked or not compressed although its head says so is taken as it is.
"""

from __future__ import annotations

import re
import zlib
from contextlib import suppress
from functools import lru_cache
from typing import NamedTuple

_CHUNK = re.compile(rb"[ \t]*([0-9A-Fa-f]{1,15})[ \t]*(?:;[^\r\n]*)?\r?\n")
_CHARSET = re.compile(r"charset\s*=\s*[\"']?\s*([^\s\"';,]+)", re.IGNORECASE)
# By name, because a head has dozens of lines and splitting them all costs more than the rest.
_HEADER = re.compile(
    r"\n(content-(?:type|encoding|length)|transfer-encoding|warc-(?:type|date|target-uri|truncated))"
    r"[ \t]*:[ \t]*((?:[^\r\n]*[^\s])?)",
    re.IGNORECASE | re.ASCII,
)
_END_OF_HEAD = re.compile(rb"\r?\n\r?\n")


class Head(NamedTuple):
    """What a response says about itself."""

    headers: dict[str, str]  # by name, in lower case
    size_bytes: int  # of the head, with the empty line that ends it

    @property
    def content_type(self) -> str:
        """The Content-Type, parameters included."""
        return self.headers.get("content-type", "")


class DamagedPayload(Exception):
    """A compressed payload that ends early or cannot be decoded; `decoded` is what came before."""

    def __init__(self, message: str, decoded: bytes) -> None:
        super().__init__(message)
        self.decoded = decoded


def head_of_response(block: bytes) -> Head | None:
    """The head of a stored response; None if it is no HTTP."""
    if not block.startswith(b"HTTP/"):
        return None
    end = _END_OF_HEAD.search(block)
    size = end.end() if end else len(block)
    return Head(headers(block[:size]), size)


def headers(head: bytes) -> dict[str, str]:
    """Those lines of an HTTP or WARC head that are ever asked for. Of a repeated one the first
    counts; of a value folded over lines, the first line."""
    found = _HEADER.findall(head.decode("utf-8", "replace"))
    return {name.lower(): value for name, value in reversed(found)}


@lru_cache(maxsize=1024)
def media_type(content_type: str) -> str:
    """`Text/HTML; charset=x` -> `text/html`"""
    return content_type.partition(";")[0].strip().lower()


@lru_cache(maxsize=1024)
def charset_of(content_type: str) -> str | None:
    """The charset parameter."""
    found = _CHARSET.search(content_type)
    return found[1] if found else None


def payload_of(head: Head, body: bytes) -> bytes:
    """The payload, without chunks and without compression."""
    if "chunked" in head.headers.get("transfer-encoding", "").lower():
        body = unchunked(body)
    codings = head.headers.get("content-encoding")
    for coding in reversed(codings.lower().split(",")) if codings else ():
        body = _decompressed(coding.strip(), body)
    return body


def unchunked(body: bytes) -> bytes:
    """Chunks put together; from where there is no chunk, the bytes as they are."""
    parts: list[bytes] = []
    at = 0
    while match := _CHUNK.match(body, at):
        size = int(match[1], 16)
        if size == 0:
            return b"".join(parts)
        begin = match.end()
        parts.append(body[begin : begin + size])
        at = begin + size
        if body.startswith(b"\r\n", at):
            at += 2
        elif body.startswith(b"\n", at):
            at += 1
    return b"".join((*parts, body[at:]))


def _decompressed(coding: str, body: bytes) -> bytes:
    if not body or coding in ("", "identity"):
        return body
    if coding in ("gzip", "x-gzip"):
        return _inflated(body, 31) if body.startswith(b"\x1f\x8b") else body
    if coding == "deflate":
        # Meant is zlib's format; some servers send the bare stream. Its head is divisible by 31.
        wrapped = body[0] & 0x0F == 8 and int.from_bytes(body[:2], "big") % 31 == 0
        return _inflated(body, 15 if wrapped else -15)
    if coding == "zstd":
        return _zstd(body) if body.startswith(b"\x28\xb5\x2f\xfd") else body
    if coding == "br":
        return _brotli(body)
    raise DamagedPayload(f"unknown content encoding {coding!r}", b"")


def _inflated(body: bytes, window: int) -> bytes:
    decoder = zlib.decompressobj(window)
    parts: list[bytes] = []
    try:
        parts.append(decoder.decompress(body))
    except zlib.error as error:
        # In small steps up to the error: what came before is text.
        decoder = zlib.decompressobj(window)
        with suppress(zlib.error):
            parts.extend(decoder.decompress(body[i : i + 64]) for i in range(0, len(body), 64))
        raise DamagedPayload(f"compressed payload: {error}", b"".join(parts)) from error
    if not decoder.eof:
        raise DamagedPayload("compressed payload: cut short", b"".join(parts))
    return b"".join(parts)


def _zstd(body: bytes) -> bytes:
    import zstandard

    decoder = zstandard.ZstdDecompressor().decompressobj()
    try:
        data = decoder.decompress(body)
    except zstandard.ZstdError as error:
        raise DamagedPayload(f"compressed payload: {error}", b"") from error
    if not decoder.eof:
        raise DamagedPayload("compressed payload: cut short", data)
    return data


def _brotli(body: bytes) -> bytes:
    import pyarrow as pa

    parts = []
    try:
        with pa.CompressedInputStream(pa.BufferReader(body), "brotli") as stream:
            while part := stream.read(1 << 16):
                parts.append(part)
    except OSError as error:
        raise DamagedPayload(f"compressed payload: {error}", b"".join(parts)) from error
    return b"".join(parts)
