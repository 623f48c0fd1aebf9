"""A service under full load from clients of all manners: quick, slow, gone before their answer,
with bodies that are too large or no JSON. No fault, memory that does not grow, and nothing that was
acknowledged is lost.

`ROUGHLY_REQUESTS` says how many requests; `make soak` gives many.
"""

import contextlib
import gzip
import http.client
import json
import os
import random
import re
import socket
import struct
import threading
import time
from collections import Counter
from pathlib import Path

import httpx
import pytest

from roughly.hamming import SeenIndex
from tests.optional import FULL
from tests.service import FOX, TOKEN, Service, make_corpus, service

REQUESTS = int(os.environ.get("ROUGHLY_REQUESTS", 40_000 if FULL else 1_500))
CLIENTS = 12
BEARER = {"Authorization": f"Bearer {TOKEN}"}
JSON = {"Content-Type": "application/json"}
# What a worker or the writer may grow by between the middle and the end of a run; a simhash takes
# some tens of bytes in the index.
GROWTH_BYTES = 24 << 20


class Client(threading.Thread):
    """Asks in all manners until its share is done."""

    def __init__(self, address: str, seed: int, requests: int) -> None:
        super().__init__()
        host, _, port = address.removeprefix("http://").partition(":")
        self._place = host, int(port)
        self._random = random.Random(seed)
        self._requests = requests
        self.acknowledged: list[int] = []
        self.statuses: Counter[int] = Counter()
        self.strange: list[str] = []

    def run(self) -> None:
        manners = [
            *[self._seen] * 60,
            *[self._batch] * 5,
            *[self._find] * 10,
            *[self._cut] * 10,
            *[self._malformed] * 6,
            *[self._oversize] * 2,
            *[self._slow] * 2,
            *[self._other] * 5,
        ]
        self._connection = self._connect()
        while self._requests > 0:
            self._requests -= 1
            try:
                self._random.choice(manners)()
            except (OSError, http.client.HTTPException):
                # Refused, or closed under our hands after an error was told.
                self._connection.close()
                self._connection = self._connect()
        self._connection.close()

    def _connect(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection(*self._place, timeout=60)

    def _ask(self, method: str, path: str, body: bytes | None, headers: dict[str, str]) -> bytes:
        self._connection.request(method, path, body, headers)
        answer = self._connection.getresponse()
        data = answer.read()
        self.statuses[answer.status] += 1
        if answer.status >= 400:
            told = json.loads(data)["error"]
            if not told["code"] or not told["message"]:
                self.strange.append(repr(data))
            return b""
        return data

    def _seen(self) -> None:
        x = self._random.getrandbits(64)
        if self._ask("POST", "/api/seen", b'{"simhash":"%016x"}' % x, BEARER | JSON):
            self.acknowledged.append(x)

    def _batch(self) -> None:
        values = [self._random.getrandbits(64) for _ in range(self._random.randrange(1, 200))]
        kind = {"Content-Type": "application/octet-stream"}
        content = struct.pack(f"<{len(values)}Q", *values)
        if self._ask("POST", "/api/seen", content, BEARER | kind):
            self.acknowledged += values

    def _find(self) -> None:
        body = gzip.compress(json.dumps({"content": FOX, "evidence": 2}).encode())
        packed = {"Content-Encoding": "gzip"}
        found = self._ask("POST", "/api/find", body, JSON | packed)
        if found and len(json.loads(found)["documents"]) != 4:
            self.strange.append(repr(found))

    def _cut(self) -> None:
        """Goes away in the middle of a request, or before its answer."""
        x = self._random.getrandbits(64)
        body = b'{"simhash":"%016x"}' % x
        lines = [f"{name}: {value}\r\n" for name, value in (BEARER | JSON).items()]
        head = f"POST /api/seen HTTP/1.1\r\nHost: localhost\r\n{''.join(lines)}"
        whole = f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body
        with socket.create_connection(self._place, timeout=60) as opened:
            opened.sendall(whole[: self._random.randrange(len(whole) + 1)])
            if self._random.random() < 0.5:
                opened.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    def _malformed(self) -> None:
        junk = self._random.randbytes(self._random.randrange(300))
        if self._random.random() < 0.3:
            with socket.create_connection(self._place, timeout=60) as opened:
                opened.sendall(junk)
            return
        kind = self._random.choice(["application/json", "text/html", "application/octet-stream"])
        path = self._random.choice(["/api/find", "/api/compare", "/api/collapse", "/api/add"])
        packed = {"Content-Encoding": "gzip"} if self._random.random() < 0.3 else {}
        self._ask("POST", path, junk, BEARER | packed | {"Content-Type": kind})

    def _oversize(self) -> None:
        if self._random.random() < 0.5:
            body, packed = gzip.compress(b"x" * 5_000_000), {"Content-Encoding": "gzip"}
        else:
            body, packed = b"x" * 300_000, {}
        self._ask("POST", "/api/find", body, {"Content-Type": "text/plain"} | packed)

    def _slow(self) -> None:
        with socket.create_connection(self._place, timeout=60) as opened:
            for letter in b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"[:20]:
                opened.sendall(bytes([letter]))
                time.sleep(0.005)

    def _other(self) -> None:
        path = self._random.choice(
            ["/", "/health", "/metrics", "/api/clusters?threshold=0.7", "/api/nothing", "/%00"]
        )
        headers = {"Accept": "text/html"} if path == "/" else {}
        self._connection.request("GET", path, headers=headers)
        answer = self._connection.getresponse()
        answer.read()
        self.statuses[answer.status] += 1


def resident(running: Service) -> dict[int, int]:
    """Bytes of memory of each process."""
    found = {}
    for pid in [*running.children("worker"), *running.children("writer")]:
        status = Path(f"/proc/{pid}/status").read_text()
        size = re.search(r"^RssAnon:\s+(\d+) kB", status, re.MULTILINE)
        assert size
        found[pid] = int(size[1]) << 10
    return found


def load(running: Service, first_seed: int, requests: int) -> list[Client]:
    clients = [
        Client(running.address, first_seed + seed, requests // CLIENTS) for seed in range(CLIENTS)
    ]
    for client in clients:
        client.start()
    for client in clients:
        client.join()
    return clients


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc")
def test_full_load_of_all_manners(tmp_path: Path) -> None:
    corpus = make_corpus(tmp_path / "web.roughly")
    options = ("--workers", "2", "--max-body", "200K", "--max-unpacked", "1M")
    with service(corpus, *options) as running:
        clients = load(running, 0, REQUESTS // 2)
        middle = resident(running)
        clients += load(running, 100, REQUESTS // 2)
        end = resident(running)
        with running.client() as client:
            counted = client.get("/metrics").text
        acknowledged = [x for each in clients for x in each.acknowledged]
        assert end.keys() == middle.keys(), "a process died"
        grown = {pid: end[pid] - middle[pid] for pid in end}
        allowed = GROWTH_BYTES + 200 * len(acknowledged)
        assert all(size < allowed for size in grown.values()), grown
        assert 'status="500"' not in counted
        with contextlib.suppress(httpx.TransportError), running.client() as client:
            assert client.get("/health").status_code == 200
        assert running.end() == 0
    statuses: Counter[int] = sum((each.statuses for each in clients), Counter())
    assert not [line for each in clients for line in each.strange]
    assert set(statuses) <= {200, 400, 404, 408, 413, 415, 429, 503}, statuses
    assert {200, 400, 404, 413} <= set(statuses)
    assert statuses[200] > REQUESTS // 2
    with SeenIndex(corpus / "seen") as index:
        found = index.match_or_add(acknowledged)
        assert (found[0] >= 0).all() and (found[2] == 0).all()
