"""An endpoint of the API: what it is asked with, what it answers, and how both travel.

Both are msgspec structs, from which the OpenAPI description is made too, so description and program
cannot disagree. A request's fields come from its path, its query string and, of a POST, its JSON;
where a document is asked about, the body may also be that document as it is. `run` works in a
thread, on one state of the corpus.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any, Literal
from urllib.parse import parse_qsl

import msgspec

from roughly.documents.file import Document, document, is_html
from roughly.errors import RoughlyError
from roughly.web.error import HttpError, http_error
from roughly.web.gate import JSON_HEADERS, Gate, Scope, Send, answer
from roughly.web.limit import Headers, Receive, check_length, read_body
from roughly.web.view import View, Views

VERSION = version("roughly")
ContentType = Literal["auto", "html", "text"]
_QUERY_FIELDS = 100
# What a text may come as: the type of a body -> how its content is read.
CONTENT_TYPES: dict[str, ContentType] = {
    "text/plain": "text",
    "text/html": "html",
    "application/xhtml+xml": "html",
}
# One encoder a thread would be needed if it kept anything between calls; it does not.
_ENCODER = msgspec.json.Encoder()


class Asked(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """The fields of a request; one that is not known is refused, lest a slip goes unseen."""


class Parameters(msgspec.Struct, kw_only=True):
    """How the corpus was sketched and clustered."""

    algorithm: int
    w: int
    bits: int
    select: str
    words: int
    features: str
    threshold: float
    floor: float
    containment: float | None
    containment_floor: float | None
    method: str
    exact: bool
    text: bool


class Answer(msgspec.Struct, kw_only=True):
    """What every answer carries besides what was asked for."""

    version: str = VERSION
    parameters: Parameters | None = None


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One route of the API."""

    method: Literal["GET", "POST"]
    path: str  # as Starlette writes it
    asked: type[Asked]
    answer: type[msgspec.Struct]
    run: Callable[[View, Any], Answer] | None  # None: an application of its own answers
    summary: str
    content: str | None = None  # the field that a body which is no JSON stands for
    write: bool = False  # needs the token
    octets: bool = False  # takes and gives 64-bit numbers too

    @property
    def route(self) -> str:
        """Its name among the metrics."""
        return self.path.partition("{")[0].rstrip("/")


class Raw(msgspec.Struct):
    """A document as its bytes came."""

    data: bytes
    content_type: ContentType


class Service:
    """Serves one endpoint as an ASGI application."""

    def __init__(self, endpoint: Endpoint, views: Views, number: int) -> None:
        self._endpoint = endpoint
        self._views = views
        self._number = number
        self._decoder = msgspec.json.Decoder(endpoint.asked)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        gate: Gate = scope["gate"]
        scope["counted"] = self._number
        check_method(scope, self._endpoint.method)
        headers: Headers = scope["fields"]
        body = b""
        if self._endpoint.method == "POST":
            check_length(headers, gate.limits)
            body = await read_body(receive, headers, gate.limits)
        made = await gate.work(scope, lambda: self._made(scope, headers, body))
        await answer(send, made, JSON_HEADERS, method=scope["method"])

    def _made(self, scope: Scope, headers: Headers, body: bytes) -> bytes:
        asked = self._asked(scope, headers, body)
        view = self._views.now()
        assert self._endpoint.run is not None
        try:
            found = self._endpoint.run(view, asked)
        except RoughlyError as error:
            raise http_error(error) from error
        found.parameters = msgspec.convert(view.parameters, Parameters)
        return _ENCODER.encode(found)

    def _asked(self, scope: Scope, headers: Headers, body: bytes) -> Any:
        fields: dict[str, Any] = query_fields(scope["query_string"]) | scope["path_params"]
        endpoint = self._endpoint
        if endpoint.method == "GET":
            return converted(fields, endpoint.asked)
        kind = media_type(headers)
        if kind == "application/json":
            if fields:
                raise HttpError(
                    "bad_request",
                    f"query: fields beside a JSON body: {', '.join(sorted(fields))}",
                    "put them into the JSON",
                )
            return decoded(self._decoder, body)
        if endpoint.content is None or kind not in CONTENT_TYPES:
            raise unsupported(kind, endpoint.content is not None)
        asked = converted(fields, endpoint.asked)
        setattr(asked, endpoint.content, Raw(body, CONTENT_TYPES[kind]))
        return asked


def check_method(scope: Scope, wanted: str) -> None:
    """Raises for any other method; a HEAD is a GET whose body is left out."""
    if scope["method"] != wanted and (wanted, scope["method"]) != ("GET", "HEAD"):
        raise HttpError(
            "not_allowed",
            f"method: not allowed: {scope['method']}, wanted {wanted}",
            allow="GET, HEAD" if wanted == "GET" else wanted,
        )


def media_type(headers: Headers) -> str:
    """The type of a body, without its parameters."""
    given = headers.get(b"content-type", b"application/json")
    return given.partition(b";")[0].strip().lower().decode("latin-1")


def unsupported(kind: str, content: bool, more: str = "") -> HttpError:
    """The error for a body of a type that is not understood."""
    wanted = "application/json" + (", text/plain or text/html" if content else "") + more
    return HttpError("unsupported", f"content-type: not understood: {kind!r}, wanted {wanted}")


def query_fields(query: bytes) -> dict[str, str]:
    """The fields of a query string; of one that comes twice the last."""
    try:
        pairs = parse_qsl(
            query.decode("latin-1"), keep_blank_values=True, max_num_fields=_QUERY_FIELDS
        )
    except ValueError:
        raise HttpError("bad_request", f"query: more than {_QUERY_FIELDS} fields") from None
    return dict(pairs)


def converted(fields: dict[str, Any], kind: type[Any]) -> Any:
    """Fields of a query string as a request."""
    try:
        return msgspec.convert(fields, kind, strict=False)
    except msgspec.ValidationError as error:
        raise HttpError("bad_request", f"query: not understood: {_told(error)}") from None


def decoded(decoder: msgspec.json.Decoder[Any], body: bytes) -> Any:
    """JSON as a request."""
    try:
        return decoder.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise HttpError("bad_request", f"body: not understood: {_told(error)}") from None
    except RecursionError:
        raise HttpError("bad_request", "body: not understood: nested too deeply") from None


def given_document(content: str | Raw, content_type: ContentType, name: str = "-") -> Document:
    """What was sent as a document."""
    if isinstance(content, Raw):
        kind = content_type if content_type != "auto" else content.content_type
        return document(name, content.data, kind)
    data = content.encode("utf-8", "surrogatepass")
    return Document(name, data, data, is_html(data, content_type), "utf-8", "utf-8")


def wanted_one(**given: object) -> None:
    """Raises unless exactly one of these fields is there."""
    there = [name for name, value in given.items() if value is not None]
    if len(there) != 1:
        raise HttpError(
            "bad_request",
            f"{' and '.join(there) or 'body'}: not to be answered: wanted one of"
            f" {', '.join(given)}",
        )


def _told(error: Exception) -> str:
    text = str(error)
    return text if text.startswith("JSON") else text[:1].lower() + text[1:]
