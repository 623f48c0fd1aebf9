"""A real service for tests: `roughly serve` as its own processes, on a free port."""

import asyncio
import contextlib
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx

import roughly

TOKEN = "a-token-for-tests"
FOX = (
    "the quick brown fox jumps over the lazy dog and runs away from the big bad wolf"
    " in the dark forest tonight"
)
SOUP = (
    "something completely different about cooking soup with carrots onions celery"
    " and a bit of salt and pepper"
)
# The same text at two addresses, a page that changed, and one like no other.
DOCUMENTS = [
    ("https://example.com/a", "2026-01-01", FOX),
    ("https://example.com/b", "2026-01-01", f"{FOX} again"),
    ("https://example.com/c", "2026-01-01", SOUP),
    ("https://example.com/a", "2026-02-01", FOX.replace("dog", "cat")),
    ("https://example.com/b", "2026-02-01", f"{FOX} again"),
    ("https://example.com/soup", "2026-02-01", SOUP),
]


def make_corpus(path: Path) -> Path:
    """A corpus of two sweeps."""
    corpus = roughly.Corpus.create(path)
    for sweep in ("2026-01-01", "2026-02-01"):
        corpus.add(
            [
                {"id": id, "date": date, "text": text}
                for id, date, text in DOCUMENTS
                if date == sweep
            ]
        )
    return path


class Service:
    """A service that runs."""

    def __init__(self, process: subprocess.Popen[bytes], address: str) -> None:
        self.process = process
        self.address = address

    def client(self, token: str | None = TOKEN, **options: object) -> httpx.Client:
        headers = {} if token is None else {"authorization": f"Bearer {token}"}
        return httpx.Client(base_url=self.address, headers=headers, timeout=60, **options)  # type: ignore[arg-type]

    def children(self, kind: str) -> list[int]:
        """Processes that the supervisor started and that run now: of kind worker or writer."""
        path = f"/proc/{self.process.pid}/task/{self.process.pid}/children"
        found = []
        for pid in map(int, Path(path).read_text().split()):
            with contextlib.suppress(OSError):
                words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
                if kind.encode() in words[3:]:
                    found.append(pid)
        return found

    def end(self, number: int = signal.SIGTERM, seconds: float = 60) -> int:
        """Ends it; its exit status."""
        self.process.send_signal(number)
        return self.process.wait(seconds)


@contextlib.contextmanager
def service(corpus: Path, *options: str, token: str | None = TOKEN) -> Iterator[Service]:
    """Starts one and waits until it answers; ends it at the end."""
    environment = {key: value for key, value in os.environ.items() if key != "ROUGHLY_TOKEN"}
    if token is not None:
        environment["ROUGHLY_TOKEN"] = token
    words = [sys.executable, "-m", "roughly", "serve", str(corpus), "--port", "0", *options]
    # A file, not a pipe: nobody reads while the service runs.
    with tempfile.TemporaryFile("w+") as told:
        process = subprocess.Popen(words, stderr=told, env=environment)
        try:
            end = time.monotonic() + 120
            while True:
                told.seek(0)
                said = told.read()
                if found := re.search(r"at (http://\S+?)/ ", said):
                    break
                assert process.poll() is None and time.monotonic() < end, said
                time.sleep(0.05)
            yield Service(process, found[1])
        finally:
            if process.poll() is None:
                process.terminate()
                process.wait(60)
            told.seek(0)
            said = told.read()
            assert "Traceback" not in said, said


class InProcess:
    """Asks an application without a socket or a process; one request at a time."""

    def __init__(self, app: object, address: str = "http://127.0.0.1") -> None:
        self._app = app
        self._address = address

    def request(self, method: str, path: str, **options: Any) -> httpx.Response:
        async def ask() -> httpx.Response:
            transport = httpx.ASGITransport(app=self._app)  # type: ignore[arg-type]
            async with httpx.AsyncClient(transport=transport, base_url=self._address) as client:
                return await client.request(method, path, **options)

        return asyncio.run(ask())

    def get(self, path: str, **options: Any) -> httpx.Response:
        return self.request("GET", path, **options)

    def post(self, path: str, **options: Any) -> httpx.Response:
        return self.request("POST", path, **options)
