"""A stream in blocks that end where a record ends; damage ends a block early."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from roughly.documents.reading import Reading
from roughly.documents.source import Source
from roughly.documents.stream import Stream

# A record without an end is no record: a quote that nobody closed, a file that has no lines.
RECORD_BYTES = 1 << 30


class LongRecord(OSError):
    """A record that is longer than any is read."""

    def __init__(self, what: str) -> None:
        super().__init__(f"{what} of more than {RECORD_BYTES:,} bytes")


@dataclass(frozen=True, slots=True)
class Block:
    """Whole records, up to `end`; what follows comes again in the next block."""

    data: bytes
    end: int
    at: int  # offset of the first byte in the decompressed stream
    damage: str | None  # what ended the stretch: the last record may be a part of one


def blocks(
    source: Source, reading: Reading, cut: Callable[[bytes, bool], int], resume: bool = True
) -> Iterator[Block]:
    """Blocks of about `reading.batch_bytes`. `cut(data, last)` says where the last whole record of
    `data` ends; 0 asks for more data; `last` says that no more comes. `resume` goes on after
    damage."""
    with source.open() as stream:
        reading.stream = stream
        while True:
            at = stream.offset
            data = stream.read(reading.batch_bytes)
            while not (end := cut(data, stream.ended)) and not stream.ended:
                data = longer(data, stream, "a record")
            last = stream.ended
            if not last:
                stream.unread(data[end:])
            block = Block(data, end, at, stream.damage)
            del data
            if end or block.damage is not None:
                yield block
            del block  # while the next one is read nobody needs it here
            if last and not (resume and stream.resume()):
                break
    reading.stream = None


def longer(data: bytes, stream: Stream, what: str) -> bytes:
    """The beginning of a record with more of it, or all that there is; LongRecord if it has more
    than a record may have."""
    if len(data) > RECORD_BYTES:
        raise LongRecord(what)
    # Twice as much, so that joining stays linear.
    return data + stream.read(min(len(data), RECORD_BYTES + 1 - len(data)))
