"""The one process that writes: it has the `SeenIndex` open, and adds documents to the corpus.

The supervisor (serve.py) starts it through `process.py`. One thread reads what workers ask and
answers it: all simhashes that wait are decided at once, then answered, so an answer tells of what a
killed process does not lose. Documents are added in a second thread, one request after the other.
Told to end, it finishes what it has begun and puts everything on the disk.
"""

from __future__ import annotations

import queue
import selectors
import signal
import socket
import sys
import threading
import time
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np

from roughly.corpus import Corpus
from roughly.errors import RoughlyError
from roughly.hamming.seen import SeenIndex
from roughly.hamming.seen_manifest import NAME as SEEN_MANIFEST
from roughly.hamming.seen_manifest import read_manifest
from roughly.web.channel import (
    CALL,
    ERROR,
    NAMED,
    READY,
    ROW,
    SEEN,
    Failure,
    Frames,
    WriterState,
    frame,
)
from roughly.web.error import http_error
from roughly.web.seen_name import SeenNames
from roughly.web.setting import Setting, receive_start, tell_ready, when_supervisor_ends

_ROWS = np.dtype([("position", "<i8"), ("simhash", "<u8"), ("distance", "u1")])
_READ_BYTES = 1 << 20
_SYNC_SECONDS = 5.0  # what a power loss may take of `seen`, at most
_ADDITIONS = 16  # that wait; more are refused
_DEFAULT_DISTANCE = 3
_FEW = 4
_NO_MATCH = (-1, 0, 65)


class _Connection:
    """A worker."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
        self.frames = Frames()
        self.out = bytearray()


class _Question(NamedTuple):
    connection: _Connection
    number: int
    simhashes: Any
    names: list[str | None] | None


class _Addition(NamedTuple):
    connection: _Connection
    number: int
    documents: list[dict[str, Any]]
    options: dict[str, Any]


class Writer:
    """Answers workers until it is told to end."""

    def __init__(self, setting: Setting, listener: socket.socket) -> None:
        self._corpus = setting.corpus
        folder = Path(setting.seen)
        self._index = SeenIndex(folder, _distance(folder, setting.distance))
        self._names = SeenNames(folder)
        self._listener = listener
        self._listener.setblocking(False)
        self._selector = selectors.DefaultSelector()
        self._selector.register(listener, selectors.EVENT_READ, None)
        # Written to by signals and by the thread that adds.
        self._woken, self._wake = socket.socketpair()
        for end in (self._woken, self._wake):
            end.setblocking(False)
        self._selector.register(self._woken, selectors.EVENT_READ, None)
        self._additions: queue.Queue[_Addition | None] = queue.Queue(_ADDITIONS)
        self._added: queue.SimpleQueue[tuple[_Connection, bytes]] = queue.SimpleQueue()
        self._adder = threading.Thread(target=self._add_all, name="roughly-add")
        self._ending = self._last = False
        self._connections = 0
        self._synced = time.monotonic()
        self._unsynced = False

    def stop(self) -> None:
        """Ends it soon; may be called from a signal handler."""
        self._ending = True
        self._wake.send(b"\0")

    def stop_when_alone(self) -> None:
        """Ends it when no worker is there any more; from any thread."""
        self._last = True
        self._wake.send(b"\0")

    def run(self) -> None:
        self._adder.start()
        try:
            while not self._ending and (self._connections or not self._last):
                self._turn(self._selector.select(_SYNC_SECONDS))
        finally:
            while True:  # Additions that wait are given up: nobody may wait for them any more.
                try:
                    self._additions.get_nowait()
                except queue.Empty:
                    break
            self._additions.put(None)
            self._adder.join()
            self._tell_added()
            self._names.close()
            self._index.close()

    def _turn(self, events: list[tuple[selectors.SelectorKey, int]]) -> None:
        questions: list[_Question] = []
        for key, mask in events:
            if key.fileobj is self._listener:
                self._accept()
            elif key.fileobj is self._woken:
                self._woken.recv(100)
                self._tell_added()
            else:
                connection: _Connection = key.data
                if mask & selectors.EVENT_WRITE:
                    self._send(connection, b"")
                if mask & selectors.EVENT_READ:
                    questions += self._read(connection)
        if questions:
            self._decide(questions)
        if self._unsynced and time.monotonic() - self._synced > _SYNC_SECONDS:
            self._names.sync()
            self._index.sync()
            self._synced, self._unsynced = time.monotonic(), False

    def _accept(self) -> None:
        try:
            sock, _ = self._listener.accept()
        except OSError:
            return
        sock.setblocking(False)
        connection = _Connection(sock)
        self._connections += 1
        self._selector.register(sock, selectors.EVENT_READ, connection)
        state = WriterState(self._index.k, self._index.bits)
        self._send(connection, frame(READY, 0, msgspec.msgpack.encode(state)))

    def _read(self, connection: _Connection) -> list[_Question]:
        """What a worker asks; documents to add go on to the other thread."""
        try:
            data = connection.sock.recv(_READ_BYTES)
        except BlockingIOError:
            return []
        except OSError:
            data = b""
        if not data:
            self._drop(connection)
            return []
        questions = []
        for kind, number, payload in connection.frames.feed(data):
            if kind == SEEN:
                values = np.frombuffer(payload, "<u8")
                questions.append(_Question(connection, number, values, None))
            elif kind == NAMED:
                simhashes, names = msgspec.msgpack.decode(payload)
                values = np.frombuffer(simhashes, "<u8")
                questions.append(_Question(connection, number, values, names))
            elif kind == CALL:
                documents, options = msgspec.msgpack.decode(payload)
                try:
                    self._additions.put_nowait(_Addition(connection, number, documents, options))
                except queue.Full:
                    failure = Failure("busy", f"writer: busy: {_ADDITIONS} additions wait")
                    self._fail(connection, number, failure)
        return questions

    def _decide(self, questions: list[_Question]) -> None:
        """Answers all of them in the order they came."""
        named = any(each.names is not None for each in questions)
        if not named and sum(len(each.simhashes) for each in questions) <= _FEW:
            for each in questions:
                self._decide_few(each)
            return
        asked = np.concatenate([each.simhashes for each in questions])
        first = len(self._index) if named else 0
        try:
            positions, simhashes, distances = self._index.match_or_add(asked)
            rows = np.empty(len(asked), _ROWS)
            rows["position"], rows["simhash"], rows["distance"] = positions, simhashes, distances
            found = self._named(questions, asked, rows, first) if named else None
        except (OSError, RoughlyError) as error:
            failure = _failure(error)
            for each in questions:
                self._fail(each.connection, each.number, failure)
            return
        self._unsynced = self._unsynced or bool((positions < 0).any())
        begin = 0
        for each in questions:
            end = begin + len(each.simhashes)
            payload = rows[begin:end].tobytes()
            if found is not None and each.names is not None:
                payload = msgspec.msgpack.encode((payload, found[begin:end]))
                self._send(each.connection, frame(NAMED, each.number, payload))
            else:
                self._send(each.connection, frame(SEEN, each.number, payload))
            begin = end

    def _decide_few(self, question: _Question) -> None:
        """The same one by one: arrays cost more than a few simhashes."""
        rows = []
        try:
            for simhash in question.simhashes.tolist():
                match = self._index.seen(simhash)
                self._unsynced = self._unsynced or match is None
                rows.append(ROW.pack(*(_NO_MATCH if match is None else match)))
        except (OSError, RoughlyError) as error:
            self._fail(question.connection, question.number, _failure(error))
            return
        self._send(question.connection, frame(SEEN, question.number, b"".join(rows)))

    def _named(
        self, questions: list[_Question], asked: Any, rows: Any, first: int
    ) -> list[str | None]:
        """Keeps the names of what is new, and gives those of the matches."""
        names: list[str | None] = []
        for each in questions:
            names += [None] * len(each.simhashes) if each.names is None else each.names
        new = np.flatnonzero(rows["position"] < 0)
        self._names.put(first, asked[new].tolist(), [names[row] for row in new.tolist()])
        return [
            None if position < 0 else self._names.get(position, simhash)
            for position, simhash, _ in rows.tolist()
        ]

    # --- adding -----------------------------------------------------------------------------------

    def _add_all(self) -> None:
        """The second thread."""
        while (item := self._additions.get()) is not None:
            try:
                added = Corpus(self._corpus).add(item.documents, **item.options)
                counts = {
                    "documents": added.documents,
                    "known": added.known,
                    "renamed": added.renamed,
                    "there": added.there,
                    "skipped": dict(added.skipped.reasons),
                }
                answer = frame(CALL, item.number, msgspec.msgpack.encode(counts))
            except Exception as error:  # Whatever it is, the writer goes on.
                answer = frame(ERROR, item.number, msgspec.msgpack.encode(_failure(error)))
            self._added.put((item.connection, answer))
            self._wake.send(b"\0")

    def _tell_added(self) -> None:
        while True:
            try:
                connection, answer = self._added.get_nowait()
            except queue.Empty:
                return
            self._send(connection, answer)

    # --- answering --------------------------------------------------------------------------------

    def _fail(self, connection: _Connection, number: int, failure: Failure) -> None:
        self._send(connection, frame(ERROR, number, msgspec.msgpack.encode(failure)))

    def _send(self, connection: _Connection, data: bytes) -> None:
        """What a worker does not take now waits for it; it holds up nobody else."""
        if connection.sock.fileno() < 0:
            return
        if connection.out:
            connection.out += data
            data = bytes(connection.out)
        try:
            sent = connection.sock.send(data)
        except BlockingIOError:
            sent = 0
        except OSError:
            self._drop(connection)
            return
        waited = bool(connection.out)
        connection.out = bytearray(data[sent:])
        if waited != bool(connection.out):
            mask = selectors.EVENT_READ | (selectors.EVENT_WRITE if connection.out else 0)
            self._selector.modify(connection.sock, mask, connection)

    def _drop(self, connection: _Connection) -> None:
        self._selector.unregister(connection.sock)
        connection.sock.close()
        self._connections -= 1


def _distance(folder: Path, asked: int | None) -> int:
    """As asked for, or as the index has it."""
    if asked is None and (folder / SEEN_MANIFEST).exists():
        return read_manifest(folder).k
    return _DEFAULT_DISTANCE if asked is None else asked


def _failure(error: Exception) -> Failure:
    if isinstance(error, RoughlyError):
        told = http_error(error)
        return Failure(told.code, told.message, told.hint)
    if isinstance(error, OSError):
        return Failure("busy", f"writer: cannot write: {error.strerror or error}")
    return Failure("internal", f"writer: {type(error).__name__}: {error}")


def main() -> int:
    """The process; its exit status."""
    start = receive_start()
    try:
        writer = Writer(start.setting, socket.socket(fileno=start.descriptor))
    except RoughlyError as error:
        print(error, file=sys.stderr)
        return 2
    signal.signal(signal.SIGTERM, lambda *_: writer.stop())
    when_supervisor_ends(writer.stop_when_alone)
    tell_ready()
    writer.run()
    return 0
