"""What a request may ask of the service: bytes, time, work at once. Beyond that it is refused with
413, 408, 429 or 503 and everybody else is served as before.

Bodies are read here: counted while they come, unpacked no further than allowed, and given up when
they come too slowly.
"""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from typing import Any

from roughly.web.error import HttpError

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Headers = dict[bytes, bytes]

# What is read and thrown away of a body that is refused, so that the sender comes to read why.
_DRAINED_BYTES = 1 << 26
_DRAIN_SECONDS = 2.0
# A compressed body from this size on is unpacked in a thread: others must not wait for it.
_LARGE_BYTES = 1 << 14
# Parts of a gzip file; what is behind each is copied, so very many would take very long.
_MEMBERS = 64


@dataclass(frozen=True, slots=True)
class Limits:
    """The bounds of one service."""

    body_bytes: int = 16 << 20  # of a request as it comes
    unpacked_bytes: int = 64 << 20  # of a body after decompression
    head_bytes: int = 64 << 10  # of a request's line and headers
    receive_seconds: float = 30.0  # for a request's headers, and for its body, to come
    idle_seconds: float = 30.0  # a connection may be open without a request
    work_seconds: float = 60.0  # until an answer is given up
    work: int = 64  # requests that need the corpus and are worked on, or wait for it, at once
    work_of_client: int = 48  # of these, from one address
    connections: int = 1000  # open at once, of one worker
    batch: int = 1 << 17  # simhashes, documents or results of one request
    waiting_simhashes: int = 1 << 20  # of all requests of a worker that wait for the writer
    grace_seconds: float = 30.0  # for requests in flight when the service is stopped


class Gone(Exception):
    """The client went away before its request was complete."""


def check_length(headers: Headers, limits: Limits) -> None:
    """Refuses a body by what its headers say, before any of it is read."""
    length = headers.get(b"content-length")
    if length is not None and int(length) > limits.body_bytes:
        raise _too_large("body", limits.body_bytes)


async def read_body(receive: Receive, headers: Headers, limits: Limits) -> bytes:
    """The body, unpacked if it is compressed."""
    try:
        check_length(headers, limits)
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Gone
        body: bytes = message.get("body", b"")
        if message.get("more_body"):
            body = await _read_on(receive, body, limits)
    except HttpError as error:
        if error.code == "too_large" and b"expect" not in headers:
            await _drain(receive)
        raise
    if len(body) > limits.body_bytes:
        raise _too_large("body", limits.body_bytes)
    encoding = headers.get(b"content-encoding")
    if encoding is None or encoding == b"identity":
        return body
    if encoding.lower() not in (b"gzip", b"x-gzip"):
        raise HttpError(
            "unsupported",
            f"content-encoding: unknown: {encoding.decode('latin-1')!r}, wanted gzip",
            "send the body as it is, or compressed with gzip",
        )
    if len(body) > _LARGE_BYTES:
        return await asyncio.to_thread(unpacked, body, limits.unpacked_bytes)
    return unpacked(body, limits.unpacked_bytes)


async def _read_on(receive: Receive, first: bytes, limits: Limits) -> bytes:
    parts, size = [first], len(first)
    try:
        async with asyncio.timeout(limits.receive_seconds):
            while True:
                if size > limits.body_bytes:
                    raise _too_large("body", limits.body_bytes)
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise Gone
                parts.append(message.get("body", b""))
                size += len(parts[-1])
                if not message.get("more_body"):
                    break
    except TimeoutError:
        raise HttpError(
            "timeout",
            f"body: incomplete: {size:,} bytes came within {limits.receive_seconds:g} s",
            "send it faster, or in smaller pieces",
            close=True,
        ) from None
    return b"".join(parts)


async def _drain(receive: Receive) -> None:
    size = 0
    try:
        async with asyncio.timeout(_DRAIN_SECONDS):
            while size < _DRAINED_BYTES:
                message = await receive()
                size += len(message.get("body", b""))
                if message["type"] == "http.disconnect" or not message.get("more_body"):
                    return
    except TimeoutError:
        pass


def unpacked(body: bytes, most: int) -> bytes:
    """What gzip packed, one member or several; never more than `most` bytes are made of it."""
    parts, size = [], 0
    for _ in range(_MEMBERS):
        member = zlib.decompressobj(16 + zlib.MAX_WBITS)
        try:
            # A byte more than is allowed tells whether there is more.
            parts.append(member.decompress(body, most - size + 1))
        except zlib.error as error:
            raise HttpError("bad_request", f"body: cannot be unpacked: {error}") from None
        size += len(parts[-1])
        if size > most:
            raise _too_large("unpacked body", most)
        if not member.eof:
            raise HttpError("bad_request", "body: cannot be unpacked: it is cut short")
        body = member.unused_data
        if not body:
            return b"".join(parts)
    raise HttpError("bad_request", f"body: cannot be unpacked: more than {_MEMBERS} gzip members")


def _too_large(what: str, most: int) -> HttpError:
    return HttpError(
        "too_large",
        f"{what}: too large: more than {most:,} bytes",
        "send it in several requests, or start the service with higher limits",
        close=True,
    )
