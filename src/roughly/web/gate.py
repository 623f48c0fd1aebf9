"""What every request passes, whatever it asks for: the names this service answers to, who may
write, how many are worked on at once, the headers of every answer, the shape of errors, counting.

The gate is an ASGI application around all others. It answers nothing itself but errors. Work on the
corpus goes through `work`: in a thread, bounded in number and in time.
"""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
import logging
import re
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from roughly.errors import RoughlyError
from roughly.web.error import HttpError, http_error
from roughly.web.limit import Gone, Headers, Limits, Receive
from roughly.web.metric import OTHER, Metrics
from roughly.web.view import Views

Scope = dict[str, Any]
Send = Callable[[Any], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]
T = TypeVar("T")

logger = logging.getLogger("roughly.web")

_POLICY = (
    b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self';"
    b" form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
SECURITY_HEADERS = [
    (b"content-security-policy", _POLICY),
    (b"x-content-type-options", b"nosniff"),
    # "no-referrer" would have forms sent from the origin null; links outside say noreferrer.
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
]
# For programs that show a token: nothing of it can be shown in a page.
SHORT_HEADERS = [
    (b"content-type", b"application/json"),
    (b"x-content-type-options", b"nosniff"),
    (b"cache-control", b"no-store"),
]
JSON_HEADERS = [
    *SECURITY_HEADERS,
    (b"cache-control", b"no-store"),
    (b"content-type", b"application/json"),
]
_HOST = re.compile(r"(?:\[([0-9a-f:.]+)\]|([^\[\]:@]+))(?::[0-9]{0,5})?")
# Hosts that were looked at and found right; names come from clients, so not without bound.
_REMEMBERED = 64


class Gate:
    """Around the application of a service."""

    def __init__(
        self,
        inner: Application,
        views: Views,
        *,
        token: str | None,
        hosts: tuple[str, ...],
        limits: Limits,
        metrics: Metrics,
        error_page: Callable[[HttpError], str],
        threads: int,
    ) -> None:
        self.inner = inner
        self.views = views
        self.limits = limits
        self.metrics = metrics
        self._bearer = None if token is None else f"Bearer {token}".encode()
        self._names = {"localhost", *(host.lower() for host in hosts)}
        self._right_hosts: set[bytes] = set()
        self._error_page = error_page
        self._threads = ThreadPoolExecutor(threads, "roughly-work")
        self._working = 0
        self._of_client: Counter[str] = Counter()
        self._other = metrics.routes[OTHER]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.inner(scope, receive, send)
            return
        if scope["type"] != "http":
            return
        begin = time.perf_counter()
        self.metrics.begin()
        scope["gate"] = self
        scope["counted"] = self._other
        status = 499

        async def sending(message: Any) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            scope["fields"] = self._checked(scope)
            try:
                await self.inner(scope, receive, sending)
            except RoughlyError as error:
                raise http_error(error) from error
            except HttpError:
                raise
            except Gone:
                pass
            except Exception as error:
                logger.exception("%s %s", scope["method"], scope["path"])
                raise HttpError(
                    "internal", f"{type(error).__name__}: not expected", "a fault of roughly"
                ) from error
        except HttpError as error:
            if status == 499:  # Nothing was sent yet.
                await self._answer_error(scope, error, sending)
        finally:
            self.metrics.end(scope["counted"], status, time.perf_counter() - begin)

    def _checked(self, scope: Scope) -> Headers:
        """The headers, if the request may come in at all."""
        given = scope["headers"]
        headers: Headers = dict(given)
        host = headers.get(b"host", b"")
        if host not in self._right_hosts:
            self._check_host(host)
        if len(headers) != len(given) and sum(name == b"host" for name, _ in given) > 1:
            raise HttpError("bad_request", "host: given twice: wanted one", close=True)
        origin = headers.get(b"origin")
        # A page of another site may send a form here; it must not start anything.
        foreign = origin is not None and origin.partition(b"://")[2] != host
        if foreign and scope["method"] not in ("GET", "HEAD"):
            raise HttpError(
                "cross_origin",
                f"origin: not this service: {_shown(origin or b'')}, wanted {_shown(host)}",
                "only its own pages may do that; programs send no Origin header",
            )
        return headers

    def _check_host(self, host: bytes) -> None:
        """A name that somebody else's DNS gives to this machine is not ours; an address is."""
        found = _HOST.fullmatch(host.decode("latin-1").lower())
        name = "" if found is None else found[1] or found[2]
        try:
            ipaddress.ip_address(name)
        except ValueError:
            if name not in self._names:
                raise HttpError(
                    "misdirected",
                    f"host: not this service: {_shown(host)}, wanted an address or"
                    f" {', '.join(sorted(self._names))}",
                    "name it with: roughly serve --allow-host NAME",
                ) from None
        if len(self._right_hosts) < _REMEMBERED:
            self._right_hosts.add(host)

    def check_token(self, headers: Headers) -> None:
        """Raises unless this request may write."""
        if self._bearer is None:
            raise HttpError(
                "read_only",
                "service: read-only: it was started without a token",
                "start it with: roughly serve CORPUS --token TOKEN",
            )
        given = headers.get(b"authorization")
        # The scheme is written in any case; the token is not.
        if given is None or not hmac.compare_digest(given[:7].title() + given[7:], self._bearer):
            raise HttpError(
                "unauthorised",
                "authorization: " + ("missing" if given is None else "not the right token"),
                "send the header Authorization: Bearer TOKEN",
            )

    async def work(self, scope: Scope, what: Callable[[], T]) -> T:
        """Runs it in a thread, if there is room; raises when it takes too long. It is then left to
        end by itself and keeps its room until it does."""
        limits, client = self.limits, (scope.get("client") or ("", 0))[0]
        if self._working >= limits.work:
            raise HttpError("busy", f"service: busy: {self._working} requests are worked on")
        if self._of_client[client] >= limits.work_of_client:
            raise HttpError(
                "too_many",
                f"requests: too many: {self._of_client[client]} of {client} are worked on",
                "wait for answers before asking more",
            )
        self._working += 1
        self._of_client[client] += 1

        def done(_: Any) -> None:
            self._working -= 1
            self._of_client[client] -= 1
            if not self._of_client[client]:
                del self._of_client[client]

        future = asyncio.get_running_loop().run_in_executor(self._threads, what)
        future.add_done_callback(done)
        finished, _ = await asyncio.wait((future,), timeout=limits.work_seconds)
        if not finished:
            future.add_done_callback(_forget)
            raise HttpError(
                "busy",
                f"request: given up: it took more than {limits.work_seconds:g} s",
                "ask for less, or start the service with --work-seconds",
            )
        return future.result()

    async def _answer_error(self, scope: Scope, error: HttpError, send: Send) -> None:
        path = scope["path"]
        wants_page = (
            b"text/html" in dict(scope["headers"]).get(b"accept", b"")
            and not path.startswith("/api/")
            and not path.endswith(".json")
        )
        if wants_page:
            body = self._error_page(error).encode("utf-8", "replace")
            headers = [*SECURITY_HEADERS, (b"content-type", b"text/html; charset=utf-8")]
        else:
            body, headers = error.body(), JSON_HEADERS
        await answer(send, body, [*headers, *error.headers()], error.status, scope["method"])


async def answer(
    send: Send,
    body: bytes,
    headers: list[tuple[bytes, bytes]],
    status: int = 200,
    method: str = "GET",
) -> None:
    """Sends a whole answer."""
    length = (b"content-length", b"%d" % len(body))
    await send({"type": "http.response.start", "status": status, "headers": [*headers, length]})
    await send({"type": "http.response.body", "body": b"" if method == "HEAD" else body})


def _forget(future: asyncio.Future[Any]) -> None:
    """Nobody waits any more; what it raised was not lost on anybody."""
    if not future.cancelled():
        future.exception()


def _shown(value: bytes) -> str:
    return repr(value[:100].decode("latin-1"))
