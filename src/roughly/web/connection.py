"""A client's connection: uvicorn's, with bounds on what comes before a request is complete.

uvicorn bounds neither the size of headers nor the time they take, and says what is malformed in
plain text. Here both end with an error of the shape that all errors have. `sweep` is to be called
now and then: it closes connections on which nothing complete came for too long, or whose client
takes no answers, without a timer for each request.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Any, cast

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol
from uvicorn.server import ServerState

from roughly.web.error import HttpError
from roughly.web.gate import JSON_HEADERS
from roughly.web.limit import Limits


def connection_class(limits: Limits) -> type[HttpToolsProtocol]:
    """The protocol of a service with these limits."""

    class Connection(HttpToolsProtocol):
        head_bytes = 0  # that came and were neither a whole head nor a piece of a body
        idle_since = 0.0  # when it was opened, or its last answer was complete
        unread = 0  # bytes of answers that the client had not taken when last looked at
        unread_since = 0.0  # when they last became fewer

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            self.idle_since = self.unread_since = self.loop.time()
            self.open_cycles: deque[Any] = deque()  # requests without a whole answer
            super().connection_made(transport)
            if len(self.connections) > limits.connections:
                self.refuse(HttpError("busy", f"connections: more than {limits.connections}"))

        def data_received(self, data: bytes) -> None:
            self.head_bytes += len(data)
            super().data_received(data)
            if self.head_bytes > limits.head_bytes:
                self.refuse(
                    HttpError(
                        "headers_too_large",
                        f"headers: too large: more than {limits.head_bytes:,} bytes",
                    )
                )

        def on_headers_complete(self) -> None:
            self.head_bytes = 0
            super().on_headers_complete()
            self.open_cycles.append(self.cycle)
            # Trailers, which come behind a body, are no headers: nobody reads this list.
            self.headers = []

        def on_body(self, body: bytes) -> None:
            self.head_bytes = 0
            super().on_body(body)

        def on_message_complete(self) -> None:
            self.head_bytes = 0
            super().on_message_complete()

        def on_response_complete(self) -> None:
            self.idle_since = self.loop.time()
            self.open_cycles.popleft()
            super().on_response_complete()

        def connection_lost(self, exc: Exception | None) -> None:
            # uvicorn tells only the last of several requests that nobody waits for its answer.
            for cycle in self.open_cycles:
                cycle.disconnected = True
                cycle.message_event.set()
            super().connection_lost(exc)

        def send_400_response(self, msg: str) -> None:
            self.refuse(HttpError("bad_request", "request: not understood: no valid HTTP/1.1"))

        def refuse(self, error: HttpError) -> None:
            """Answers outside of any request, and closes."""
            if self.transport.is_closing():
                return
            body = error.body()
            lines = [STATUS_LINE[error.status]]
            for name, value in (
                *JSON_HEADERS,
                (b"content-length", b"%d" % len(body)),
                (b"connection", b"close"),
            ):
                lines += [name, b": ", value, b"\r\n"]
            self.transport.write(b"".join([*lines, b"\r\n", body]))
            self.transport.close()

        def sweep(self, now: float) -> None:
            """Closes it if it waits for a request, or the rest of one's headers, for too long; or
            if the client takes nothing of its answers, which would stay here."""
            unread = self.transport.get_write_buffer_size()
            if unread < self.unread or not unread:
                self.unread_since = now
            self.unread = unread
            if now - self.unread_since > limits.idle_seconds:
                self.transport.abort()
                return
            waits = self.cycle is None or self.cycle.response_complete
            if waits and now - self.idle_since > limits.idle_seconds:
                if self.head_bytes > 0:
                    self.refuse(
                        HttpError(
                            "timeout",
                            f"headers: incomplete after {limits.idle_seconds:g} s",
                        )
                    )
                else:
                    self.transport.close()

    return Connection


def sweep(state: ServerState) -> None:
    """Looks at all connections once."""
    now = asyncio.get_running_loop().time()
    for connection in list(state.connections):
        cast(Any, connection).sweep(now)
