"""Load for a service: many connections that ask `seen` for one simhash after the other, every
second one of them known, and how long answers took.

wrk does it where it is installed: it takes a few microseconds a request, so that the service and
not the load is measured. Elsewhere a process of Python's own does, which takes some more.
"""

import json
import re
import selectors
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

TOKEN = "bench"
CONNECTIONS = 16
_UNITS = {"us": 1e-3, "ms": 1.0, "s": 1e3}

# Every second simhash is one of those that are known, the others are random.
_SCRIPT = """
local known = {{ {known} }}
local count, most = 0, 4294967295
local headers = {{ ["Authorization"] = "Bearer {token}", ["Content-Type"] = "application/json" }}
init = function(arguments) math.randomseed({seed}) end
request = function()
    count = count + 1
    local simhash
    if count % 2 == 0 then simhash = known[count / 2 % #known + 1]
    else simhash = string.format("%08x%08x", math.random(0, most), math.random(0, most)) end
    return wrk.format("POST", "/api/seen", headers, '{{"simhash":"' .. simhash .. '"}}')
end
"""


@dataclass(frozen=True)
class Load:
    """What came of it."""

    requests: int
    seconds: float
    median_ms: float
    late_ms: float  # the 99th percentile
    failed: int  # answers that were not 200

    @property
    def rate(self) -> float:
        return self.requests / self.seconds


def run_load(port: int, known: list[int], seconds: float, seed: int) -> Load:
    """Full load for some seconds."""
    if shutil.which("wrk"):
        return _run_wrk(port, known, seconds, seed)
    arguments = json.dumps([port, known, seconds, seed])
    run = subprocess.run(
        [sys.executable, "-m", "bench.load"],
        input=arguments,
        capture_output=True,
        text=True,
        check=True,
    )
    return Load(*json.loads(run.stdout))


def _run_wrk(port: int, known: list[int], seconds: float, seed: int) -> Load:
    with tempfile.NamedTemporaryFile("w", suffix=".lua") as file:
        names = ",".join(f'"{x:016x}"' for x in known)
        file.write(_SCRIPT.format(known=names, token=TOKEN, seed=seed))
        file.flush()
        words = ["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{seconds:.0f}s", "--latency"]
        words += ["-s", file.name, f"http://127.0.0.1:{port}/"]
        run = subprocess.run(words, capture_output=True, text=True, check=True)
    return read_wrk(run.stdout)


def read_wrk(text: str) -> Load:
    """What wrk prints."""

    def milliseconds(share: str) -> float:
        found = re.search(rf"^\s*{share}%\s+([\d.]+)(us|ms|s)\s*$", text, re.MULTILINE)
        assert found, text
        return float(found[1]) * _UNITS[found[2]]

    total = re.search(r"(\d+) requests in ([\d.]+)s", text)
    assert total, text
    failed = sum(map(int, re.findall(r"Non-2xx or 3xx responses: (\d+)", text)))
    for line in re.findall(r"Socket errors: (.*)", text):
        failed += sum(map(int, re.findall(r"\d+", line)))
    return Load(int(total[1]), float(total[2]), milliseconds("50"), milliseconds("99"), failed)


def own_load(port: int, known: list[int], seconds: float, seed: int) -> Load:
    """The same without wrk: one thread, all connections in one selector."""
    head = (
        f"POST /api/seen HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {TOKEN}\r\n"
        "Content-Type: application/json\r\nContent-Length: 30\r\n\r\n"
    ).encode()
    # Of two seeds, so that they are others than those that are known, of whatever seed these are.
    fresh = np.random.default_rng([seed, 1]).integers(0, 2**64, 1 << 20, np.uint64).tolist()
    selector = selectors.DefaultSelector()
    sent: dict[socket.socket, float] = {}
    held: dict[socket.socket, bytes] = {}  # of an answer, so far
    count = failed = 0

    def ask(each: socket.socket) -> None:
        nonlocal count
        count += 1
        x = known[count // 2 % len(known)] if count % 2 == 0 else fresh[count // 2 % len(fresh)]
        sent[each] = time.perf_counter()
        each.send(head + b'{"simhash":"%016x"}' % x)

    for _ in range(CONNECTIONS):
        opened = socket.create_connection(("127.0.0.1", port))
        opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        selector.register(opened, selectors.EVENT_READ)
        ask(opened)
    took: list[float] = []
    begin = time.perf_counter()
    while (now := time.perf_counter()) - begin < seconds:
        for key, _ in selector.select(1):
            each = key.fileobj
            assert isinstance(each, socket.socket)
            data = held.pop(each, b"") + each.recv(1 << 16)
            if not _complete(data):
                held[each] = data
                continue
            took.append(now - sent[each])
            failed += not data.startswith(b"HTTP/1.1 200")
            ask(each)
    spent = time.perf_counter() - begin
    for key in list(selector.get_map().values()):
        key.fileobj.close()  # type: ignore[union-attr]
    median, late = np.percentile(np.array(took) * 1000, [50, 99]).tolist()
    return Load(len(took), spent, median, late, failed)


def _complete(data: bytes) -> bool:
    """Whether this is a whole answer."""
    head, found, body = data.partition(b"\r\n\r\n")
    length = re.search(rb"content-length: (\d+)", head)
    return bool(found) and length is not None and len(body) >= int(length[1])


def cpu_seconds(process: int) -> float:
    """User and system time of a process so far."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(") ")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100


if __name__ == "__main__":
    found = own_load(*json.load(sys.stdin))
    print(json.dumps([found.requests, found.seconds, found.median_ms, found.late_ms, found.failed]))
