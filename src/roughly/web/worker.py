"""One HTTP worker: a process with an event loop that accepts connections at the service's socket.

The supervisor (serve.py) starts it through `process.py`. It ends when it is told to, or when the
supervisor is gone, and first answers what it was asked.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import sys
from pathlib import Path

import uvicorn

from roughly.errors import RoughlyError
from roughly.web.app import create_app, make_metrics
from roughly.web.channel import Channel
from roughly.web.connection import connection_class, sweep
from roughly.web.metric import LOST
from roughly.web.setting import (
    WRITER_SOCKET,
    Start,
    receive_start,
    tell_ready,
    when_supervisor_ends,
)

_SWEEP_SECONDS = 1.0


async def serve(start: Start) -> None:
    """Serves until the process is told to end."""
    setting = start.setting
    limits = setting.limits
    metrics = make_metrics(Path(start.folder) / "metrics", setting.workers)
    metrics.use_row(start.row)
    channel = None
    keeping = None
    if setting.token is not None:
        path = str(Path(start.folder) / WRITER_SOCKET)
        channel = Channel(path, limits.waiting_simhashes, limits.work_seconds)
        channel.on_lost = lambda: metrics.add(LOST, 1)
        keeping = asyncio.create_task(channel.keep())
    app = create_app(
        setting.corpus,
        channel=channel,
        token=setting.token,
        hosts=(setting.host, *setting.allow_hosts),
        limits=limits,
        metrics=metrics,
    )
    app.views.now().warm()
    server = uvicorn.Server(
        uvicorn.Config(
            app,
            http=connection_class(limits),
            loop="none",
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_keep_alive=int(limits.idle_seconds) or 1,
            timeout_graceful_shutdown=int(limits.grace_seconds),
        )
    )
    sock = socket.socket(fileno=start.descriptor)
    serving = asyncio.create_task(server.serve([sock]))
    told = False
    while not serving.done():
        await asyncio.wait((serving,), timeout=0.02 if not told else _SWEEP_SECONDS)
        if server.started and not told and (channel is None or channel.state is not None):
            told = True
            tell_ready()
        sweep(server.server_state)
    await serving
    if keeping is not None:
        keeping.cancel()


def main() -> int:
    """The process; its exit status."""
    start = receive_start()
    logging.basicConfig(format="roughly: %(message)s", level=logging.ERROR)
    when_supervisor_ends(lambda: os.kill(os.getpid(), signal.SIGTERM))
    try:
        import uvloop

        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(serve(start))
    except RoughlyError as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        pass
    return 0
