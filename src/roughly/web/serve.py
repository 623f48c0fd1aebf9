"""The supervisor of a service: it binds the socket, starts the one writer and the HTTP workers,
starts again what dies, and ends them in order.

It does nothing else, and loads nothing heavy: what it holds survives everything its processes do.
Workers end first, having answered what they were asked, then the writer, which has then nothing
left to do but to put everything on the disk.
"""

from __future__ import annotations

import contextlib
import ipaddress
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import msgspec

from roughly.documents.file import printable, reason
from roughly.errors import DocumentError, ParameterError
from roughly.web.setting import WRITER_SOCKET, Setting, Start

# A process that dies as soon as it starts is started again more and more slowly.
_FIRST_PAUSE, _LONGEST_PAUSE = 0.05, 5.0
_SETTLED_SECONDS = 10.0
_START_SECONDS = 600.0  # a large index takes long to load


@dataclass
class _Child:
    """A process that should run."""

    kind: str  # worker or writer
    row: int
    descriptor: int
    process: subprocess.Popen[bytes] | None = None
    started: float = 0.0
    ready: bool = False
    pause: float = _FIRST_PAUSE
    again: float = field(default=0.0)  # when it may be started again


def serve(setting: Setting, say: Callable[[str], None]) -> int:
    """Runs a service until a signal ends it; the exit status. `say` tells people."""
    check(setting)
    listener = _bound(setting.host, setting.port)
    with listener, tempfile.TemporaryDirectory(prefix="roughly-") as folder:
        # Bound here, so that a writer that is started again listens where the last one did.
        inside = socket.socket(socket.AF_UNIX)
        children = []
        if setting.token is not None:
            inside.bind(os.path.join(folder, WRITER_SOCKET))
            inside.listen(128)
            children.append(_Child("writer", 0, inside.fileno()))
        children += [_Child("worker", row, listener.fileno()) for row in range(setting.workers)]
        with inside, _signals() as wake:
            return _Supervisor(setting, folder, children, wake).run(
                lambda: say(_where(listener, setting))
            )


def check(setting: Setting) -> None:
    """Raises what must not be served."""
    if setting.token is None and not _is_loopback(setting.host):
        raise ParameterError(
            f"--host: not without a token: {printable(setting.host)} can be reached from outside,"
            " wanted 127.0.0.1",
            hint="give --token TOKEN, or leave out --host",
        )
    if setting.token is not None and not (
        setting.token.isascii() and setting.token.isprintable() and len(setting.token.split()) == 1
    ):
        raise ParameterError("--token: not a token: wanted printable ASCII without spaces")


class _Supervisor:
    def __init__(
        self, setting: Setting, folder: str, children: list[_Child], wake: socket.socket
    ) -> None:
        self._setting = setting
        self._folder = folder
        self._children = children
        self._wake = wake
        self._stop = False

    def run(self, on_ready: Callable[[], None]) -> int:
        status = 0
        try:
            for child in self._children:
                self._start(child)
            for child in self._children:
                if (failed := self._await_ready(child)) is not None:
                    return failed
            if not self._stop:
                on_ready()
            while not self._stop:
                self._sleep(self._tend())
        finally:
            status = self._end()
        return status

    def _start(self, child: _Child) -> None:
        child.process = subprocess.Popen(
            [sys.executable, "-m", "roughly.web.process", child.kind],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            pass_fds=(child.descriptor,),
            # Ctrl-C is for the supervisor alone.
            start_new_session=True,
        )
        start = Start(
            setting=self._setting,
            folder=self._folder,
            descriptor=child.descriptor,
            row=child.row,
        )
        child.started, child.ready = time.monotonic(), False
        assert child.process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            child.process.stdin.write(msgspec.json.encode(start) + b"\n")
            child.process.stdin.flush()

    def _await_ready(self, child: _Child) -> int | None:
        """Its exit status if it ended instead."""
        assert child.process is not None and child.process.stdout is not None
        end = time.monotonic() + _START_SECONDS
        while not self._stop and time.monotonic() < end:
            said = child.process.stdout.fileno()
            readable, _, _ = select.select([said, self._wake.fileno()], [], [], 1.0)
            if said in readable:
                if os.read(said, 100):
                    child.ready = True
                    return None
                return child.process.wait() or 2
            self._take_signals()
        return None

    def _tend(self) -> float:
        """Starts again what died; seconds until there may be something to do."""
        now = time.monotonic()
        next_look = 60.0
        for child in self._children:
            if child.process is not None and child.process.poll() is not None:
                if now - child.started > _SETTLED_SECONDS:
                    child.pause = _FIRST_PAUSE
                child.again = now + child.pause
                child.pause = min(child.pause * 2, _LONGEST_PAUSE)
                _close(child.process)
                child.process = None
            if child.process is None:
                if child.again <= now:
                    self._start(child)
                else:
                    next_look = min(next_look, child.again - now)
        return next_look

    def _sleep(self, seconds: float) -> None:
        select.select([self._wake], [], [], seconds)
        self._take_signals()

    def _take_signals(self) -> None:
        with contextlib.suppress(BlockingIOError):
            while numbers := self._wake.recv(100):
                if set(numbers) & {signal.SIGTERM, signal.SIGINT}:
                    self._stop = True

    def _end(self) -> int:
        """Ends all, the last of the list last; 1 if one had to be killed."""
        # Longer than what they give their requests.
        patience = self._setting.limits.grace_seconds + 5
        workers = [child for child in self._children if child.kind == "worker"]
        others = [child for child in self._children if child not in workers]
        clean = all([self._end_some(workers, patience), self._end_some(others, patience)])
        return 0 if clean else 1

    def _end_some(self, children: list[_Child], patience: float) -> bool:
        running = [child.process for child in children if child.process is not None]
        for process in running:
            process.terminate()
        end, clean = time.monotonic() + patience, True
        for process in running:
            try:
                process.wait(max(0.0, end - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                clean = False
            _close(process)
        return clean


def _close(process: subprocess.Popen[bytes]) -> None:
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            with contextlib.suppress(BrokenPipeError):
                stream.close()


@contextlib.contextmanager
def _signals() -> Iterator[socket.socket]:
    """Signals as bytes to read: those that end the service, and the death of a process."""
    read, write = socket.socketpair()
    read.setblocking(False)
    write.setblocking(False)
    before = signal.set_wakeup_fd(write.fileno(), warn_on_full_buffer=False)
    numbers = (signal.SIGTERM, signal.SIGINT, signal.SIGCHLD)
    handlers = [signal.signal(number, lambda *_: None) for number in numbers]
    try:
        yield read
    finally:
        for number, handler in zip(numbers, handlers, strict=True):
            signal.signal(number, handler)
        signal.set_wakeup_fd(before)
        read.close()
        write.close()


def _bound(host: str, port: int) -> socket.socket:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, _, _, _, address = found[0]
        listener = socket.socket(family, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(1024)
    except (OSError, OverflowError) as error:
        raise DocumentError(
            f"{printable(host)}:{port}: cannot listen there: {reason(error)}",
            hint="choose another place with --host and --port",
        ) from error
    return listener


def _is_loopback(host: str) -> bool:
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _where(listener: socket.socket, setting: Setting) -> str:
    host, port = listener.getsockname()[:2]
    shown = f"[{host}]" if ":" in host else host
    may = "read-only: no --token was given" if setting.token is None else "writes need the token"
    return f"serving {printable(setting.corpus)} at http://{shown}:{port}/ ({may}); Ctrl-C ends it"
