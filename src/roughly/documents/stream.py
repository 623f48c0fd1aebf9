"""The bytes of a file, decompressed; damage ends a stretch of them, not the reading.

A Stream delivers everything before the damage, says in `damage` what happened, and `resume` goes on
at the next gzip member or zstd frame that can be decoded: web archives have one for each record.
Offsets count the decompressed bytes as delivered, so that a second reading finds the same ones.
One thread at a time; but any thread may ask for `file_offset`.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, BinaryIO, Protocol

from roughly.documents.file import reason

# Compressed bytes for one step. Highly repetitive input grows a thousandfold, and zstd has no limit
# on what one step gives, so its steps are small.
_GZIP_STEP_BYTES = 1 << 16
_ZSTD_STEP_BYTES = 1 << 14
# Decompressed bytes that one step of gzip may give.
_OUTPUT_BYTES = 1 << 20
# What a candidate member must decode to, or end before, to be taken for one.
_TRIAL_BYTES = 1 << 16

GZIP_MAGIC = b"\x1f\x8b\x08"
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
# Frames that a decoder leaves out (zstd, RFC 8878): 16 magics, then a length. One of them holds the
# dictionary that the records of a web archive were compressed with (.warc.zst).
_SKIPPABLE_ZSTD = b"\x2a\x4d\x18"
_DICTIONARY_ZSTD = b"\x5d" + _SKIPPABLE_ZSTD


class Decoder(Protocol):
    """One member or frame on its way out of a compressor's hands."""

    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, /) -> bytes: ...


class Stream:
    """A file's bytes from the beginning; see the top of this file."""

    def __init__(self, path: str, compression: str) -> None:
        self.damage: str | None = None
        """Why the stretch ended before the file did."""
        self.damaged_bytes = 0
        """Bytes delivered from the member that is damaged: perhaps not what was written."""
        self.offset = 0
        """Bytes delivered so far."""
        self._file: BinaryIO = open(path, "rb", buffering=0)  # noqa: SIM115
        self._taken = 0  # where in the file it is; the file itself may be closed meanwhile
        self._codec = _CODECS[compression]() if compression else None
        self._decoder: Decoder | None = None  # None between members
        self._input = b""  # read from the file, not yet decoded
        self._member_at = 0  # where in the file the member in hand begins
        self._member_bytes = 0  # what it has delivered
        self._unread = b""
        self.ended = False
        """Nothing more comes in this stretch."""

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    @property
    def file_offset(self) -> int:
        """Bytes taken from the file."""
        return self._taken - len(self._input)

    def read(self, size: int) -> bytes:
        """At least `size` bytes, and not many more; fewer at the end of the stretch, then none."""
        parts = [self._unread] if self._unread else []
        left = size - len(self._unread)
        self._unread = b""
        while left > 0 and not self.ended:
            part = self._next(left)
            parts.append(part)
            left -= len(part)
        data = parts[0] if len(parts) == 1 else b"".join(parts)
        self.offset += len(data)
        return data

    def unread(self, data: bytes) -> None:
        """Gives back the last bytes that were read; not after the end."""
        self.offset -= len(data)
        if self._codec is None:
            self._taken = self._file.seek(-len(data), os.SEEK_CUR)
        else:
            self._unread = data

    def resume(self) -> bool:
        """Goes on after damage, at the next member that can be decoded; False if there is none."""
        if self.damage is None or self._codec is None:
            return False
        at = self._find_member(self._member_at + 1)
        if at is None:
            return False
        self._taken = self._file.seek(at)
        self._input = b""
        self._decoder = None
        self.damage = None
        self.damaged_bytes = 0
        self.ended = False
        return True

    def _next(self, wanted: int) -> bytes:
        """The next bytes; none and `ended` at the end of the stretch."""
        if self._codec is None:
            data = self._read_file(wanted)
            self.ended = not data
            return data
        while True:
            if not self._input:
                self._input = self._read_file(self._codec.step_bytes)
            if self._decoder is None:
                self._begin_member()
            if self.ended:
                return b""
            if not self._input:
                return self._end(f"the {self._codec.unit} is cut short")
            assert self._decoder is not None
            before = self._input
            try:
                data = self._decoder.decompress(before)
            except self._codec.errors as error:
                return self._end(str(error).rstrip(".") or "corrupt", before)
            self._member_bytes += len(data)
            if self._decoder.eof:
                self._input = self._decoder.unused_data
                self._decoder = None
            else:
                self._input = getattr(self._decoder, "unconsumed_tail", b"")
            if data:
                return data

    def _begin_member(self) -> None:
        """A decoder for the member that begins here; the end of the file ends the stretch."""
        codec = self._codec
        assert codec is not None
        while True:
            if codec.padded:
                self._input = self._input.lstrip(b"\0")
            if not self._input:
                self._input = self._read_file(codec.step_bytes)
                if not self._input:
                    self.ended = True
                    return
                continue
            head = self._peek(8)
            if not codec.skip_frame(head, self._take):
                break
        self._member_at = self._file.tell() - len(self._input)
        self._member_bytes = 0
        if codec.is_member(head):
            self._decoder = codec.decoder()
        else:
            self._end(f"wanted a {codec.unit}, found {head!r}")

    def _peek(self, size: int) -> bytes:
        while len(self._input) < size and (more := self._read_file(size)):
            self._input += more
        return self._input[:size]

    def _take(self, size: int) -> bytes:
        data = self._peek(size)
        self._input = self._input[len(data) :]
        return data

    def _read_file(self, size: int) -> bytes:
        try:
            data = self._file.read(size) or b""
            self._taken += len(data)
            return data
        except OSError as error:
            self.damage = f"cannot read on: {reason(error)}"
            self._codec = None  # no resuming on a file that does not answer
            self.ended = True
            return b""

    def _end(self, damage: str, failed: bytes | None = None) -> bytes:
        """Ends the stretch. What the step that failed had already decoded is lost with it, so the
        member is decoded again up to there, and the failing piece byte by byte."""
        if self.damage is None:
            self.damage = damage
        self.ended = True
        self.damaged_bytes = self._member_bytes
        codec = self._codec
        if failed is None or codec is None:
            return b""
        failed_at = self._file.tell() - len(failed)
        self._file.seek(self._member_at)
        decoder = codec.careful_decoder()
        parts: list[bytes] = []
        done = 0
        position = self._member_at
        try:
            while position < failed_at + len(failed):
                size = 1 if position >= failed_at else min(codec.step_bytes, failed_at - position)
                part = decoder.decompress(self._file.read(size))
                position += size
                done += len(part)
                if done > self._member_bytes:
                    parts.append(part[-(done - self._member_bytes) :])
        except codec.errors:
            pass
        self.damaged_bytes = done
        return b"".join(parts)

    def _find_member(self, start: int) -> int | None:
        """The first place from `start` on where a member begins and decodes."""
        codec = self._codec
        assert codec is not None
        overlap = len(codec.magic) - 1
        self._file.seek(start)
        window_at, window = start, b""
        while more := self._file.read(1 << 20):
            window += more
            at = -1
            while (at := window.find(codec.magic, at + 1)) >= 0:
                if self._decodes(window_at + at):
                    return window_at + at
            window_at += len(window) - overlap
            window = window[-overlap:]
            self._file.seek(window_at + overlap)
        return None

    def _decodes(self, at: int) -> bool:
        codec = self._codec
        assert codec is not None
        self._file.seek(at)
        head = self._file.read(8)
        if not codec.is_member(head):
            return False
        decoder = codec.careful_decoder()
        data, size = head, 0
        try:
            while data and not decoder.eof and size < _TRIAL_BYTES:
                size += len(decoder.decompress(data))
                data = self._file.read(1 << 12)
        except codec.errors:
            return False
        # A last member that is cut short still holds what came before the cut.
        return True


class _LimitedDecoder:
    """Gives at most _OUTPUT_BYTES at a step; the rest of the input waits in `unconsumed_tail`."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner
        self.eof = False
        self.unused_data = b""
        self.unconsumed_tail = b""

    def decompress(self, data: bytes, /) -> bytes:
        result: bytes = self._inner.decompress(data, _OUTPUT_BYTES)
        if len(result) == _OUTPUT_BYTES and not self._inner.unconsumed_tail:
            # All input is taken and some output may be held back: a few hundred bytes.
            result += self._inner.decompress(b"", _OUTPUT_BYTES)
        self.eof = self._inner.eof
        self.unused_data = self._inner.unused_data
        self.unconsumed_tail = self._inner.unconsumed_tail
        return result


class _Gzip:
    """gzip by ISA-L: 628 MB/s where zlib gives 257 (one member of text, Zen 4)."""

    unit = "gzip member"
    magic = GZIP_MAGIC
    step_bytes = _GZIP_STEP_BYTES
    padded = True  # archives on tape are filled up with NULs

    def __init__(self) -> None:
        import zlib

        from isal import isal_zlib

        # `error` is a class, whatever its stub says.
        self._fast: Any = isal_zlib
        self.errors: tuple[type[Exception], ...] = (self._fast.error, zlib.error)
        self._careful = zlib

    def is_member(self, head: bytes) -> bool:
        # The three highest flags are reserved and zero.
        return head.startswith(GZIP_MAGIC) and len(head) > 3 and head[3] < 0x20

    def skip_frame(self, head: bytes, take: Callable[[int], bytes]) -> bool:
        return False

    def decoder(self) -> Decoder:
        return _LimitedDecoder(self._fast.decompressobj(31))

    def careful_decoder(self) -> Decoder:
        """Gives every byte it can before an error; for salvage, where speed is no matter."""
        return self._careful.decompressobj(31)


class _Zstd:
    unit = "zstd frame"
    magic = ZSTD_MAGIC
    step_bytes = _ZSTD_STEP_BYTES
    padded = False

    def __init__(self) -> None:
        import zstandard

        self.errors: tuple[type[Exception], ...] = (zstandard.ZstdError,)
        self._zstandard = zstandard
        self._dictionary: Any = None

    def is_member(self, head: bytes) -> bool:
        return head.startswith(ZSTD_MAGIC)

    def skip_frame(self, head: bytes, take: Callable[[int], bytes]) -> bool:
        if len(head) < 8 or head[1:4] != _SKIPPABLE_ZSTD or head[0] & 0xF0 != 0x50:
            return False
        take(8)
        content = take(int.from_bytes(head[4:8], "little"))
        if head[:4] == _DICTIONARY_ZSTD and self._dictionary is None:
            if content.startswith(ZSTD_MAGIC):
                content = self._zstandard.ZstdDecompressor().decompressobj().decompress(content)
            self._dictionary = self._zstandard.ZstdCompressionDict(content)
        return True

    def decoder(self) -> Decoder:
        # Windows of up to 2 GiB, as `zstd --long=31` makes them.
        return self._zstandard.ZstdDecompressor(
            dict_data=self._dictionary, max_window_size=1 << 31
        ).decompressobj()

    careful_decoder = decoder


_CODECS: dict[str, Callable[[], _Gzip | _Zstd]] = {"gzip": _Gzip, "zstd": _Zstd}


def head_of(path: str, size: int) -> tuple[str, bytes]:
    """A file's compression, by its first bytes, and the first `size` bytes of what is inside."""
    with open(path, "rb") as file:
        head = file.read(size)
    compression = compression_of(head)
    if not compression:
        return "", head
    with Stream(path, compression) as stream:
        return compression, stream.read(size)[:size]


def compression_of(head: bytes) -> str:
    """The compression that a file's first bytes show: gzip, zstd or none."""
    if head.startswith(GZIP_MAGIC):
        return "gzip"
    skippable = len(head) > 3 and head[1:4] == _SKIPPABLE_ZSTD and head[0] & 0xF0 == 0x50
    return "zstd" if head.startswith(ZSTD_MAGIC) or skippable else ""


def file_size(path: str) -> int:
    """A file's size in bytes; 0 if it cannot be known, as that only feeds a progress bar."""
    try:
        return os.stat(path).st_size
    except OSError:
        return 0
