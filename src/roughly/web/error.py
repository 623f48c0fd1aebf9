"""The one shape of every error that the service answers with:

    {"error": {"code": "not_found", "message": "subject: what failed: why", "hint": "..."}}

A code is a word of CODES, and each has one HTTP status; a program goes by the code, a person by the
message. Nothing here depends on the route: errors of pages, of the API and of the connection itself
look the same.
"""

from __future__ import annotations

import msgspec

from roughly.errors import (
    BusyError,
    DamageError,
    DocumentError,
    NotFoundError,
    RoughlyError,
)

# code -> HTTP status
CODES = {
    "bad_request": 400,
    "unauthorised": 401,
    "read_only": 403,
    "cross_origin": 403,
    "not_found": 404,
    "not_allowed": 405,
    "timeout": 408,
    "too_large": 413,
    "unsupported": 415,
    "misdirected": 421,
    "too_many": 429,
    "headers_too_large": 431,
    "internal": 500,
    "damaged": 500,
    "busy": 503,
}
# Seconds after which it makes sense to ask again.
RETRY_SECONDS = 1


class Problem(msgspec.Struct):
    """What went wrong."""

    code: str
    message: str
    hint: str | None = None


class ErrorAnswer(msgspec.Struct):
    """What every answer looks like whose status is 400 or more."""

    error: Problem


class HttpError(Exception):
    """Ends a request with an error of that shape. `close`: the connection cannot be used again,
    because not all of the request was read. `allow`: the methods that a path has."""

    def __init__(
        self,
        code: str,
        message: str,
        hint: str | None = None,
        *,
        close: bool = False,
        allow: str | None = None,
    ) -> None:
        super().__init__(message)
        self.status = CODES[code]
        self.code = code
        self.message = message
        self.hint = hint
        self.close = close
        self._allow = allow

    def body(self) -> bytes:
        """The answer's body."""
        return msgspec.json.encode(ErrorAnswer(Problem(self.code, self.message, self.hint)))

    def headers(self) -> list[tuple[bytes, bytes]]:
        """The answer's headers besides those of its body."""
        found = []
        if self.status == 401:
            found.append((b"www-authenticate", b"Bearer"))
        if self.status in (429, 503):
            found.append((b"retry-after", b"%d" % RETRY_SECONDS))
        if self._allow is not None:
            found.append((b"allow", self._allow.encode()))
        if self.close:
            found.append((b"connection", b"close"))
        return found


def http_error(error: RoughlyError) -> HttpError:
    """An error of the library as one of HTTP. A DocumentError of a request is about a document
    that is not there; files of the server itself are damaged or busy."""
    code = "bad_request"
    if isinstance(error, NotFoundError | DocumentError):
        code = "not_found"
    elif isinstance(error, BusyError):
        code = "busy"
    elif isinstance(error, DamageError):
        code = "damaged"
    return HttpError(code, plain(error.message), error.hint and plain(error.hint))


def plain(text: str) -> str:
    """Text that strict JSON parsers take: names that are no text hold lone surrogates."""
    return text.encode("utf-8", "backslashreplace").decode()
