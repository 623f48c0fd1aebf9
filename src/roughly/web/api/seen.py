"""POST /api/seen: was a page with such a simhash seen? If not, it is from now on.

One simhash, many, a document, or many as 64-bit numbers without JSON around them. This is what a
crawler asks for every page, so it takes the short way: no thread, no schema on the way out; what
many connections ask at the same moment goes to the writer as one question.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Annotated, Any, TypeVar

import msgspec
import numpy as np

from roughly.simhashing.simhasher import Simhasher
from roughly.web.api.endpoint import (
    CONTENT_TYPES,
    VERSION,
    Asked,
    ContentType,
    Endpoint,
    Raw,
    check_method,
    converted,
    decoded,
    given_document,
    media_type,
    query_fields,
    unsupported,
    wanted_one,
)
from roughly.web.channel import ROW, Channel
from roughly.web.error import HttpError, plain
from roughly.web.gate import SECURITY_HEADERS, SHORT_HEADERS, Gate, Scope, Send, answer
from roughly.web.limit import Headers, Receive, read_body
from roughly.web.metric import NEW, SEEN, Metrics
from roughly.web.seen_name import LONGEST_NAME

T = TypeVar("T")
Hex = Annotated[str, msgspec.Meta(pattern="^[0-9A-Fa-f]{1,16}$")]
Name = Annotated[str, msgspec.Meta(min_length=1, max_length=LONGEST_NAME // 4)]
OCTETS = "application/octet-stream"
_OCTET_HEADERS = [
    *SECURITY_HEADERS,
    (b"cache-control", b"no-store"),
    (b"content-type", OCTETS.encode()),
]
# Documents up to this size are hashed in the event loop: it takes less than to change threads.
_SMALL_BYTES = 1 << 15
_SHORT_LIST = 1000
# What nearly every request is; the rest goes through the decoder, which says what is wrong.
_PLAIN = re.compile(rb'\s*\{\s*"simhash"\s*:\s*"([0-9A-Fa-f]{1,16})"\s*\}\s*')
_ROWS = np.dtype([("position", "<i8"), ("simhash", "<u8"), ("distance", "u1")])


class SeenRequest(Asked):
    """One of simhash, simhashes and content. With an id (ids), or null in its place, the answer
    names what was seen by the id that it came with."""

    simhash: Hex | None = None
    simhashes: list[Hex | None] | None = None
    """Null for a document that has no simhash: it is like no other, and not added."""
    content: str | None = None
    content_type: ContentType = "auto"
    id: Name | None = None
    ids: list[Name | None] | None = None


class SeenParameters(msgspec.Struct):
    """Bits in which simhashes may differ, and bits that they have."""

    k: int
    bits: int


class SeenAnswer(msgspec.Struct, kw_only=True):
    """Whether it was seen, and the nearest that was. For many: a list of each."""

    seen: bool | list[bool]
    match: str | list[str | None] | None
    distance: int | list[int | None] | None
    position: int | list[int | None] | None
    simhash: str | None = None
    """What the content has."""
    match_id: str | list[str | None] | None = None
    version: str = VERSION
    parameters: SeenParameters


class Seen:
    """Answers it, as an ASGI application."""

    def __init__(self, channel: Channel | None, metrics: Metrics, number: int) -> None:
        self._channel = channel
        self._metrics = metrics
        self._number = number
        self._decoder = msgspec.json.Decoder(SeenRequest)
        self._tail = b""
        self._tail_of: Any = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope["counted"] = self._number
        check_method(scope, "POST")
        gate: Gate = scope["gate"]
        headers: Headers = scope["fields"]
        gate.check_token(headers)
        channel = self._channel
        if channel is None or channel.state is None:
            raise HttpError("busy", "writer: not there: it is being started", "ask again")
        if channel.state is not self._tail_of:
            self._tail = _tail(channel)
            self._tail_of = channel.state
        body = await read_body(receive, headers, gate.limits)
        kind = media_type(headers)
        if kind == OCTETS:
            found = await self._many(channel, body, gate)
            out = np.frombuffer(found, _ROWS)["position"].astype("<i8").tobytes()
            await answer(send, out, _OCTET_HEADERS)
            return
        if kind == "application/json":
            match = _PLAIN.fullmatch(body) if len(body) < _SMALL_BYTES else None
            if match is not None:
                made = await self._one(channel, int(match[1], 16), None, None)
            else:
                asked = await self._decoded(body, scope, gate)
                made = await self._asked(channel, asked, scope, gate)
        elif kind in CONTENT_TYPES:
            asked = converted(query_fields(scope["query_string"]), SeenRequest)
            asked.content = Raw(body, CONTENT_TYPES[kind])
            made = await self._asked(channel, asked, scope, gate)
        else:
            raise unsupported(kind, True, f" or {OCTETS}")
        await answer(send, made, SHORT_HEADERS)

    async def _decoded(self, body: bytes, scope: Scope, gate: Gate) -> SeenRequest:
        def made() -> SeenRequest:
            found: SeenRequest = decoded(self._decoder, body)
            return found

        return made() if len(body) <= _SMALL_BYTES else await gate.work(scope, made)

    async def _asked(self, channel: Channel, asked: SeenRequest, scope: Scope, gate: Gate) -> bytes:
        wanted_one(simhash=asked.simhash, simhashes=asked.simhashes, content=asked.content)
        if asked.simhash is not None:
            _alone(asked.ids, "ids", "simhashes")
            return await self._one(channel, int(asked.simhash, 16), asked.id, None)
        if asked.content is not None:
            _alone(asked.ids, "ids", "simhashes")
            simhash = await _simhash(asked, scope, gate)
            if simhash is None:
                return b'{"seen":false,"match":null,"distance":null,"position":null,' + self._tail
            return await self._one(channel, simhash, asked.id, simhash)
        _alone(asked.id, "id", "simhash")
        return await self._listed(channel, asked, scope, gate)

    async def _one(
        self, channel: Channel, simhash: int, name: str | None, told: int | None
    ) -> bytes:
        """The answer for one; `told` is its simhash if the client does not know it."""
        _check_bits(channel, simhash)
        (position, match, distance), match_id = await channel.seen_one(simhash, name)
        self._metrics.add(SEEN, 1)
        more = b"" if told is None else b'"simhash":"%016x",' % told
        if match_id is not None:
            more += b'"match_id":' + msgspec.json.encode(plain(match_id)) + b","
        if position < 0:
            self._metrics.add(NEW, 1)
            head = b'{"seen":false,"match":null,"distance":null,"position":null,'
        else:
            head = b'{"seen":true,"match":"%016x","distance":%d,"position":%d,' % (
                match,
                distance,
                position,
            )
        return head + more + self._tail

    async def _many(self, channel: Channel, octets: bytes, gate: Gate) -> bytes:
        """Rows for 64-bit numbers."""
        if len(octets) % 8:
            raise HttpError(
                "bad_request", f"body: cut short: {len(octets):,} bytes, wanted 8 a simhash"
            )
        _check_count(len(octets) // 8, gate)
        assert channel.state is not None
        if channel.state.bits < 64 and len(octets):
            _check_bits(channel, int(np.frombuffer(octets, "<u8").max()))
        found = await channel.seen_many(octets)
        self._count(np.frombuffer(found, _ROWS))
        return found

    async def _listed(
        self, channel: Channel, asked: SeenRequest, scope: Scope, gate: Gate
    ) -> bytes:
        """The answer for a list; long ones are read and told in a thread."""
        assert asked.simhashes is not None
        simhashes, names = asked.simhashes, asked.ids
        _check_count(len(simhashes), gate)
        if names is not None and len(names) != len(simhashes):
            raise HttpError(
                "bad_request", f"ids: {len(names):,} of them, wanted {len(simhashes):,}"
            )

        async def done(what: Callable[[], T]) -> T:
            return what() if len(simhashes) < _SHORT_LIST else await gate.work(scope, what)

        there, octets, largest = await done(lambda: _numbers(simhashes))
        _check_bits(channel, largest)
        ids: list[str | None] = []
        if names is None:
            rows = await channel.seen_many(octets)
        else:
            given = [names[row] for row in there]
            rows, ids = msgspec.msgpack.decode(await channel.named_many(octets, given))
        self._count(np.frombuffer(rows, _ROWS))
        parameters = _parameters(channel)
        named = None if names is None else ids
        return await done(lambda: _told(len(simhashes), there, rows, named, parameters))

    def _count(self, rows: Any) -> None:
        self._metrics.add(SEEN, len(rows))
        self._metrics.add(NEW, int((rows["position"] < 0).sum()))


def _numbers(simhashes: list[str | None]) -> tuple[list[int], bytes, int]:
    """Where there are simhashes, these as octets, and the largest."""
    there = [row for row, each in enumerate(simhashes) if each is not None]
    values = [int(each, 16) for each in simhashes if each is not None]
    return there, np.array(values, "<u8").tobytes(), max(values, default=0)


def _told(
    count: int,
    there: list[int],
    rows: bytes,
    ids: list[str | None] | None,
    parameters: SeenParameters,
) -> bytes:
    """The answer for a list."""
    seen = [False] * count
    match: list[str | None] = [None] * count
    distances: list[int | None] = [None] * count
    positions: list[int | None] = [None] * count
    match_ids: list[str | None] | None = None if ids is None else [None] * count
    for place, (position, simhash, distance) in zip(there, ROW.iter_unpack(rows), strict=True):
        if position >= 0:
            seen[place], match[place] = True, f"{simhash:016x}"
            distances[place], positions[place] = distance, position
    if match_ids is not None:
        for place, name in zip(there, ids or (), strict=True):
            match_ids[place] = None if name is None else plain(name)
    found = SeenAnswer(
        seen=seen,
        match=match,
        distance=distances,
        position=positions,
        match_id=match_ids,
        parameters=parameters,
    )
    return msgspec.json.encode(found)


async def _simhash(asked: SeenRequest, scope: Scope, gate: Gate) -> int | None:
    """The simhash of a document, made as the corpus makes them if it has any."""

    def made() -> int | None:
        condition = gate.views.now().corpus.manifest.settings.condition
        simhasher = condition.simhasher or Simhasher()
        given = given_document(asked.content or "", asked.content_type)
        text = given.text_utf8.decode("utf-8", "surrogatepass")
        return simhasher.simhash(text, "html" if given.html else "text")

    size = len(asked.content.data) if isinstance(asked.content, Raw) else len(asked.content or "")
    return made() if size <= _SMALL_BYTES else await gate.work(scope, made)


def _parameters(channel: Channel) -> SeenParameters:
    assert channel.state is not None
    return SeenParameters(channel.state.k, channel.state.bits)


def _tail(channel: Channel) -> bytes:
    """What every answer about one simhash ends with."""
    parameters = msgspec.json.encode(_parameters(channel))
    return b'"version":"%s","parameters":%s}' % (VERSION.encode(), parameters)


def _check_bits(channel: Channel, simhash: int) -> None:
    if channel.state is not None and simhash >> channel.state.bits:
        raise HttpError(
            "bad_request",
            f"simhash: out of range: {simhash:x}, wanted at most {channel.state.bits} bits",
        )


def _check_count(count: int, gate: Gate) -> None:
    if count > gate.limits.batch:
        raise HttpError(
            "too_large",
            f"simhashes: too many: {count:,}, wanted at most {gate.limits.batch:,}",
            "send them in several requests",
        )


def _alone(value: object, name: str, other: str) -> None:
    if value is not None:
        raise HttpError("bad_request", f"{name}: stands beside {other} alone")


ENDPOINT = Endpoint(
    "POST",
    "/api/seen",
    SeenRequest,
    SeenAnswer,
    None,
    "Whether simhashes, or a document, were seen; what was not is added",
    content="content",
    write=True,
    octets=True,
)
