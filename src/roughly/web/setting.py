"""What a service is started with. The supervisor hands it to its processes as JSON on their
standard input, where no other user can read the token; the input stays open for as long as the
supervisor lives, so that no process outlives it.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable

import msgspec

from roughly.web.limit import Limits

# In the service's folder.
WRITER_SOCKET = "writer"


class Setting(msgspec.Struct, frozen=True, kw_only=True):
    """All of it, as the supervisor knows it."""

    corpus: str
    seen: str  # directory of the SeenIndex
    host: str = "127.0.0.1"
    port: int = 8080
    token: str | None = None  # None: read-only
    allow_hosts: tuple[str, ...] = ()
    workers: int = 1
    distance: int | None = None  # of `seen`: k, 3 for a new index
    limits: Limits = Limits()


class Start(msgspec.Struct, frozen=True, kw_only=True):
    """What one process is told."""

    setting: Setting
    folder: str  # private to the service: counters, the writer's socket
    descriptor: int  # of the socket to listen at
    row: int  # of the counters


def receive_start() -> Start:
    """What the supervisor says first."""
    return msgspec.json.decode(sys.stdin.buffer.readline(), type=Start)


def when_supervisor_ends(stop: Callable[[], object]) -> None:
    """Calls `stop` in a thread of its own when the supervisor is gone, however it went."""

    def wait() -> None:
        while os.read(0, 1 << 10):
            pass
        stop()

    threading.Thread(target=wait, name="roughly-lifeline", daemon=True).start()


def tell_ready() -> None:
    """Tells the supervisor that this process can be asked."""
    os.write(1, b"ready\n")
