"""Web archives compressed as the standards want it: every record a member or frame of its own.

Records come as bytes in any pieces. A record whose head says no length cannot be told from what
follows: it and all that follows, up to the next break, are one member.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Protocol

# As in the reader: no head of a record is longer.
_HEAD_BYTES = 1 << 16
_END_OF_HEAD = re.compile(rb"\r?\n\r?\n")
_LENGTH = re.compile(
    rb"^content-length:[ \t]*([0-9]{1,15})[ \t]*\r?$", re.IGNORECASE | re.MULTILINE
)
_ARC_HEAD = re.compile(rb"[^\n]* ([0-9]{1,15})\r?\n")


class Compressor(Protocol):
    """What zlib and zstandard give for one member."""

    def compress(self, data: bytes, /) -> bytes: ...
    def flush(self) -> bytes: ...


class RecordMembers:
    """Turns records into members."""

    def __init__(self, arc: bool, compressor: Callable[[], Compressor]) -> None:
        self._arc = arc
        self._make = compressor
        self._member: Compressor | None = None
        self._left = 0  # bytes of the body that are still to come; -1: it has no known end
        self._head = b""  # of a head that is not complete

    def add(self, data: bytes | memoryview) -> bytes:
        """The next bytes of the records; some compressed ones."""
        made: list[bytes] = []
        view = memoryview(self._head + bytes(data) if self._head else bytes(data))
        self._head = b""
        at = 0
        while at < len(view):
            if self._member is not None:
                at = self._go_on(view, at, made)
                if at == len(view):
                    break
            size, length = self._next_head(bytes(view[at : at + _HEAD_BYTES]))
            if size == 0:
                self._head = bytes(view[at:])
                break
            self._member = self._make()
            made.append(self._member.compress(bytes(view[at : at + size])))
            self._left = length
            at += size
        return b"".join(made)

    def end(self) -> bytes:
        """Ends the record in hand, whether it is complete or not: what follows is another one."""
        made = []
        if self._member is not None:
            made.append(self._member.flush())
        elif self._head:
            member = self._make()
            made += [member.compress(self._head), member.flush()]
        self._member, self._head = None, b""
        return b"".join(made)

    def _go_on(self, view: memoryview, at: int, made: list[bytes]) -> int:
        """Body and padding of the record in hand."""
        assert self._member is not None
        end = len(view) if self._left < 0 else min(len(view), at + self._left)
        if self._left > 0:
            self._left -= end - at
        while self._left == 0 and end < len(view) and view[end] in b"\r\n":
            end += 1
        made.append(self._member.compress(bytes(view[at:end])))
        if end < len(view):
            made.append(self._member.flush())
            self._member = None
        return end

    def _next_head(self, data: bytes) -> tuple[int, int]:
        """Bytes of the head at the beginning, and how long the body is (-1: nobody knows); no bytes
        if more of them are needed."""
        if self._arc:
            line = _ARC_HEAD.match(data)
            if line:
                return len(line[0]), int(line[1])
            more = b"\n" not in data
        else:
            end = _END_OF_HEAD.search(data)
            if end:
                length = _LENGTH.search(data, 0, end.start() + 2)
                return end.end(), int(length[1]) if length else -1
            more = True
        return (0, 0) if more and len(data) < _HEAD_BYTES else (len(data), -1)
