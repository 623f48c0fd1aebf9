"""Between workers and the writer: framed messages over a Unix socket, and the workers' end of it.

A frame is a head (payload bytes, kind, number) and a payload; an answer has the number of its
question. What many requests ask at the same moment goes to the writer as one frame, which costs it
hardly more than one question. While there is no writer, or it cannot answer, questions fail at once
with `busy`.
"""

from __future__ import annotations

import asyncio
import contextlib
import struct
from collections.abc import Callable, Iterator
from typing import Any, cast

import msgspec

from roughly.web.error import HttpError

HEAD = struct.Struct("<IBI")
# Of each simhash: the position of its match or -1, the match's simhash, its distance.
ROW = struct.Struct("<qQB")
# READY: writer to worker, who it is. SEEN: 64-bit simhashes; rows. NAMED: the same with an id for
# each, and the ids of the matches. CALL: anything else. ERROR: the answer of what failed.
READY, SEEN, NAMED, CALL, ERROR = range(5)
# Beyond what any request may hold: such a frame is no frame.
LARGEST_FRAME = 1 << 30

_AGAIN_SECONDS = 0.05  # between attempts to reach the writer


class WriterState(msgspec.Struct, array_like=True):
    """What a writer says about itself."""

    k: int
    bits: int


class Failure(msgspec.Struct, array_like=True):
    """Why a question has no answer."""

    code: str
    message: str
    hint: str | None = None


def frame(kind: int, number: int, payload: bytes) -> bytes:
    """A message as it travels."""
    return HEAD.pack(len(payload), kind, number) + payload


class Frames:
    """Cuts what comes into frames."""

    def __init__(self) -> None:
        self._data = bytearray()

    def feed(self, data: bytes) -> Iterator[tuple[int, int, bytes]]:
        """(kind, number, payload) of every frame that is complete now."""
        held = self._data
        held += data
        place = 0
        while len(held) - place >= HEAD.size:
            size, kind, number = HEAD.unpack_from(held, place)
            if size > LARGEST_FRAME:
                raise ValueError(f"frame: too large: {size:,} bytes")
            end = place + HEAD.size + size
            if end > len(held):
                break
            yield kind, number, bytes(held[place + HEAD.size : end])
            place = end
        del held[:place]


Row = tuple[int, int, int]
_Take = Callable[[int, bytes], None]


class Channel(asyncio.Protocol):
    """The workers' end. All of it runs in the event loop."""

    def __init__(self, path: str, waiting_simhashes: int, seconds: float) -> None:
        self._path = path
        self._most = waiting_simhashes
        self._seconds = seconds
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._frames = Frames()
        self._number = self._ones_number = 0
        # number -> what takes the answer, who waits for it, simhashes, since when
        self._asked: dict[int, tuple[_Take, list[asyncio.Future[Any]], int, float]] = {}
        # Simhashes that came one by one since the last frame.
        self._ones: list[int] = []
        self._names: list[str | None] = []
        self._named = False
        self._futures: list[asyncio.Future[Any]] = []
        # Whether a frame of such is with the writer. What comes meanwhile waits for its answer: so
        # frames grow with the load, and all but the first few cost next to nothing.
        self._ones_asked = False
        self._waiting = 0  # simhashes that were sent and not answered
        self.state: WriterState | None = None
        self.on_lost: Callable[[], None] = lambda: None

    async def keep(self) -> None:
        """Connects, and connects again whenever the writer is gone; never ends by itself."""
        while True:
            if self._transport is None:
                with contextlib.suppress(OSError):
                    await self._loop.create_unix_connection(lambda: self, self._path)
            else:
                self._give_up_old()
            await asyncio.sleep(_AGAIN_SECONDS)

    # --- asking -----------------------------------------------------------------------------------

    def seen_one(self, simhash: int, name: str | None = None) -> asyncio.Future[Any]:
        """A row for one simhash; with a name, a row and the name of the match."""
        self._check(1)
        future = self._loop.create_future()
        self._ones.append(simhash)
        self._names.append(name)
        self._named = self._named or name is not None
        self._futures.append(future)
        if len(self._ones) == 1 and not self._ones_asked:
            self._loop.call_soon(self._send_ones)
        return future

    def seen_many(self, simhashes: bytes) -> asyncio.Future[bytes]:
        """Rows for many: 64-bit numbers, little-endian."""
        count = len(simhashes) // 8
        self._check(count)
        future = self._loop.create_future()
        self._ask(SEEN, simhashes, _taker(future), [future], count)
        return future

    def named_many(self, simhashes: bytes, names: list[str | None]) -> asyncio.Future[bytes]:
        """Rows and names of matches, as msgpack has them."""
        count = len(names)
        self._check(count)
        future = self._loop.create_future()
        payload = msgspec.msgpack.encode((simhashes, names))
        self._ask(NAMED, payload, _taker(future), [future], count)
        return future

    def call(self, question: Any) -> asyncio.Future[bytes]:
        """Anything else; the answer as msgpack."""
        self._check(0)
        future = self._loop.create_future()
        self._ask(CALL, msgspec.msgpack.encode(question), _taker(future), [future], 0)
        return future

    def _check(self, count: int) -> None:
        if self.state is None:
            raise HttpError("busy", "writer: not there: it is being started", "ask again")
        if self._waiting + len(self._ones) + count > self._most:
            raise HttpError(
                "busy", f"writer: busy: {self._waiting:,} simhashes wait for it", "ask again"
            )

    def _send_ones(self) -> None:
        if self._ones_asked or not self._ones:
            return
        ones, names, futures = self._ones, self._names, self._futures
        named, self._named = self._named, False
        self._ones, self._names, self._futures = [], [], []
        if self._transport is None:
            _fail(futures, _lost())
            return
        self._ones_asked = True
        values = struct.pack(f"<{len(ones)}Q", *ones)

        def take(kind: int, payload: bytes) -> None:
            if kind == SEEN:
                for future, row in zip(futures, ROW.iter_unpack(payload), strict=True):
                    if not future.done():
                        future.set_result((row, None))
                return
            rows, found = msgspec.msgpack.decode(payload)
            for future, row, name in zip(futures, ROW.iter_unpack(rows), found, strict=True):
                if not future.done():
                    future.set_result((row, name))

        kind, payload = SEEN, values
        if named:
            kind, payload = NAMED, msgspec.msgpack.encode((values, names))
        self._ask(kind, payload, take, futures, len(futures))
        self._ones_number = self._number

    def _ask(
        self,
        kind: int,
        payload: bytes,
        take: _Take,
        futures: list[asyncio.Future[Any]],
        count: int,
    ) -> None:
        assert self._transport is not None
        self._number = (self._number + 1) & 0xFFFFFFFF
        self._waiting += count
        self._asked[self._number] = take, futures, count, self._loop.time()
        self._transport.write(frame(kind, self._number, payload))

    # --- what comes -------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # uvloop has its own kind
        self._frames = Frames()

    def data_received(self, data: bytes) -> None:
        for kind, number, payload in self._frames.feed(data):
            if number == self._ones_number:
                self._ones_asked = False
                self._send_ones()
            if kind == READY:
                self.state = msgspec.msgpack.decode(payload, type=WriterState)
                continue
            take, futures, count, _ = self._asked.pop(number)
            self._waiting -= count
            if kind == ERROR:
                failure = msgspec.msgpack.decode(payload, type=Failure)
                _fail(futures, HttpError(failure.code, failure.message, failure.hint))
            else:
                take(kind, payload)

    def connection_lost(self, error: Exception | None) -> None:
        asked, self._asked = self._asked, {}
        self._transport, self.state, self._waiting = None, None, 0
        self._ones_asked = False
        _fail(self._futures, _lost())
        self._ones, self._names, self._futures = [], [], []
        for _, futures, _, _ in asked.values():
            _fail(futures, _lost())
        self.on_lost()

    def _give_up_old(self) -> None:
        """A writer that does not answer is as good as none; `add` has a bound of its own."""
        now = self._loop.time()
        for _, futures, _, since in self._asked.values():
            if now - since < self._seconds:
                break
            _fail(futures, HttpError("busy", f"writer: no answer within {self._seconds:g} s"))


def _taker(future: asyncio.Future[bytes]) -> _Take:
    """Takes the answer for one who waits."""

    def take(kind: int, payload: bytes) -> None:
        if not future.done():
            future.set_result(payload)

    return take


def _lost() -> HttpError:
    return HttpError(
        "busy",
        "writer: ended before it answered; what was asked may have been written",
        "ask again",
    )


def _fail(futures: list[asyncio.Future[Any]], error: HttpError) -> None:
    for future in futures:
        if not future.done():
            future.set_exception(error)
