"""`python -m bench.bare PORT`: the least an ASGI application can do, as a measure for a service: it
reads the body and answers a constant as long as an answer of `seen`, on the same server."""

import sys
from collections.abc import Awaitable, Callable
from typing import Any

import uvicorn

_BODY = b"x" * 118
_HEADERS = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(_BODY))]


async def app(
    scope: dict[str, Any],
    receive: Callable[[], Awaitable[Any]],
    send: Callable[[Any], Awaitable[None]],
) -> None:
    """Answers whatever it is asked."""
    await receive()
    await send({"type": "http.response.start", "status": 200, "headers": _HEADERS})
    await send({"type": "http.response.body", "body": _BODY})


if __name__ == "__main__":
    uvicorn.run(
        app,  # type: ignore[arg-type]
        port=int(sys.argv[1]),
        loop="uvloop",
        http="httptools",
        lifespan="off",
        access_log=False,
        log_level="error",
    )
