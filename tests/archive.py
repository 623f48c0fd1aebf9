"""Web archives to test readers on, written here byte by byte rather than by a library."""

import gzip

HTML = b"<html><head><title>T</title></head><body><p>%s</p></body></html>"


def http(body: bytes, *headers: bytes, status: bytes = b"200 OK") -> bytes:
    """A response as a crawler stores it."""
    return b"\r\n".join((b"HTTP/1.1 " + status, *headers)) + b"\r\n\r\n" + body


def warc(
    block: bytes,
    uri: str = "http://example.com/",
    kind: bytes = b"response",
    type: bytes = b"application/http; msgtype=response",
    date: bytes = b"2026-11-15T08:30:00Z",
    *extra: bytes,
) -> bytes:
    """One WARC record."""
    head = [
        b"WARC/1.0",
        b"WARC-Type: " + kind,
        b"WARC-Record-ID: <urn:uuid:00000000-0000-0000-0000-000000000000>",
        b"WARC-Date: " + date,
        *([b"WARC-Target-URI: " + uri.encode()] if uri else []),
        b"Content-Type: " + type,
        *extra,
        b"Content-Length: %d" % len(block),
    ]
    return b"\r\n".join(head) + b"\r\n\r\n" + block + b"\r\n\r\n"


def page(number: int, words: int = 3) -> bytes:
    """A response record with a page of its own text and URL."""
    text = b" ".join(b"page%dword%d" % (number, word) for word in range(words))
    head = b"Content-Type: text/html; charset=utf-8"
    return warc(http(HTML % text, head), f"http://example.com/{number}")


def arc(block: bytes, uri: str = "http://example.com/", date: str = "20261115083000") -> bytes:
    """One ARC record, version 1."""
    return f"{uri} 192.0.2.1 {date} text/html {len(block)}\n".encode() + block + b"\n"


ARC_HEAD = arc(
    b"1 0 Test\nURL IP-address Archive-date Content-type Archive-length\n", "filedesc://t"
)


def members(records: list[bytes]) -> bytes:
    """Each record its own gzip member, as web archives are compressed."""
    return b"".join(gzip.compress(record, mtime=0) for record in records)
