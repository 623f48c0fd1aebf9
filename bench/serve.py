"""`python -m bench serve`: the HTTP service over loopback, beside a bare ASGI endpoint.

`seen` by one simhash: full load from 16 connections, half of the simhashes known, in turns with a
bare endpoint on the same server, which is what any Python service could reach. `seen` in batches:
64-bit numbers, 10,000 a request, at many stored; half of them known, and every answer is compared.
`find`: a page of 5 kB over one connection, beside the same call in this process.

Load and service share the machine's cores. CPU time a request is what other programs on the machine
disturb least; the targets are for a quiet one.
"""

import argparse
import contextlib
import http.client
import json
import os
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import roughly
from bench.find import make_corpus, queries
from bench.hamming_data import moved, random_simhashes
from bench.load import CONNECTIONS, TOKEN, Load, cpu_seconds, run_load
from bench.report import Check, Result, Section, Table
from bench.session import Session, add_output_options
from bench.web import DOCUMENTS as UNIT

K = 3
RATE_WANTED = 10_000.0  # requests a second
MEDIAN_WANTED = 1.0  # ms
BATCH_WANTED = 200_000.0  # simhashes a second
FIND_WANTED = 2.0  # ms more than the library
BATCH = 10_000
KNOWN = 1000  # simhashes that every second request asks for


@dataclass(frozen=True)
class Running:
    """A service and its processes."""

    port: int
    supervisor: int

    def processes(self, kind: str) -> list[int]:
        path = Path(f"/proc/{self.supervisor}/task/{self.supervisor}/children")
        return [
            pid
            for pid in map(int, path.read_text().split())
            if kind.encode() in Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[3:]
        ]

    def cpu(self) -> tuple[float, float]:
        """Seconds of all workers, and of the writer."""
        return (
            sum(map(cpu_seconds, self.processes("worker"))),
            sum(map(cpu_seconds, self.processes("writer"))),
        )

    def counted(self, name: str) -> int:
        """One of its counters."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port)
        connection.request("GET", "/metrics")
        text = connection.getresponse().read().decode()
        connection.close()
        found = re.search(rf"^{name} (\d+)$", text, re.MULTILINE)
        assert found, text
        return int(found[1])


@contextlib.contextmanager
def serving(corpus: Path, workers: int, *options: str) -> Iterator[Running]:
    """A service of its own processes."""
    words = [sys.executable, "-m", "roughly", "serve", str(corpus), "--port", "0"]
    process = subprocess.Popen(
        [*words, "--workers", str(workers), *options],
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"ROUGHLY_TOKEN": TOKEN},
    )
    assert process.stderr is not None
    try:
        said = ""
        while not (found := re.search(r"at http://127.0.0.1:(\d+)/", said)):
            line = process.stderr.readline()
            if not line:
                raise RuntimeError(said)
            said += line
        # Whatever else it says must not fill the pipe.
        reading = threading.Thread(target=process.stderr.read)
        reading.start()
        try:
            yield Running(int(found[1]), process.pid)
        finally:
            process.terminate()
            reading.join()
    finally:
        process.terminate()
        process.wait()
        process.stderr.close()


@contextlib.contextmanager
def bare_endpoint() -> Iterator[tuple[int, int]]:
    """Port and process of one."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen([sys.executable, "-m", "bench.bare", str(port)])
    try:
        for _ in range(200):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                break
            time.sleep(0.1)
        yield port, process.pid
    finally:
        process.terminate()
        process.wait()


def run_single(corpus: Path, workers: int, seconds: float, rounds: int) -> Section:
    section = Section(
        "seen", f"one simhash a request, {CONNECTIONS} connections, {workers} workers, k = {K}"
    )
    known = random_simhashes(KNOWN, 1).tolist()
    ours: list[tuple[Load, float, float]] = []
    bare: list[tuple[Load, float]] = []
    with (
        tempfile.TemporaryDirectory() as folder,
        serving(corpus, workers, "--seen", f"{folder}/seen") as service,
        bare_endpoint() as (port, process),
    ):
        octets = np.array(known, "<u8").tobytes()
        ask_batch(service.port, octets)
        for turn in range(rounds):
            before = cpu_seconds(process)
            load = run_load(port, known, seconds, 2 * turn)
            bare.append((load, (cpu_seconds(process) - before) / load.requests))
            worker, writer = service.cpu()
            new = service.counted("roughly_seen_new_total")
            load = run_load(service.port, known, seconds, 2 * turn + 1)
            worker_after, writer_after = service.cpu()
            ours.append(
                (
                    load,
                    (worker_after - worker) / load.requests,
                    (writer_after - writer) / load.requests,
                )
            )
            new = service.counted("roughly_seen_new_total") - new
            # Of what is in flight at the end the load knows nothing.
            right = abs(new - load.requests / 2) <= CONNECTIONS
            section.checks += [
                Check(f"round {turn + 1}: half were new", right, f"{new:,} of {load.requests:,}"),
                Check(f"round {turn + 1}: all were answered", load.failed == 0),
            ]
        again = np.frombuffer(ask_batch(service.port, octets), "<i8")
        section.checks.append(Check("what was known still is", bool((again >= 0).all())))
    best = max(ours, key=lambda each: each[0].rate)
    best_bare = max(bare, key=lambda each: each[0].rate)
    worker_us = min(each[1] for each in ours) * 1e6
    writer_us = min(each[2] for each in ours) * 1e6
    bare_us = min(each[1] for each in bare) * 1e6
    section.tables.append(
        Table(
            ["", "requests/s", "median ms", "99% ms", "CPU us", "of the writer"],
            [
                [name, load.rate, load.median_ms, load.late_ms, *cpu]
                for name, load, cpu in (
                    ("bare ASGI endpoint", best_bare[0], (bare_us, None)),
                    ("seen", best[0], (worker_us, writer_us)),
                )
            ],
        )
    )
    section.results += [
        Result("seen, requests a second", best[0].rate, "/s", ">=", RATE_WANTED),
        Result("seen, median", best[0].median_ms, "ms", "<", MEDIAN_WANTED),
        Result("seen beside the bare endpoint, CPU time", (worker_us + writer_us) / bare_us, "x"),
    ]
    section.notes.append("The best of the rounds; CPU time a request is the least of any.")
    return section


def ask_batch(
    port: int, octets: bytes, connection: http.client.HTTPConnection | None = None
) -> bytes:
    """The answer of `seen` about 64-bit numbers."""
    opened = connection or http.client.HTTPConnection("127.0.0.1", port)
    headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/octet-stream"}
    opened.request("POST", "/api/seen", octets, headers)
    answer = opened.getresponse()
    body = answer.read()
    if answer.status != 200:
        raise RuntimeError(f"{answer.status}: {body[:200]!r}")
    if connection is None:
        opened.close()
    return body


def run_batches(corpus: Path, stored_count: int, batches: int, folder: Path) -> Section:
    section = Section(
        "seen in batches", f"{stored_count:,} stored, {BATCH:,} a request, k = {K}, two connections"
    )
    stored = random_simhashes(stored_count, 1)
    directory = folder / f"seen-{stored_count}"
    if not directory.exists():
        with roughly.SeenIndex(directory, K) as index:
            index.add(stored)
            index.wait()
    with serving(corpus, 1, "--seen", str(directory)) as service:
        ask_batch(service.port, random_simhashes(BATCH, 5).tobytes())
        asked, places = [], []
        for number in range(batches):
            values = random_simhashes(BATCH, 100 + number)
            random = np.random.default_rng(number)
            places.append(random.choice(stored_count, BATCH // 2, replace=False))
            values[::2] = moved(stored[places[-1]], 2, 500 + number)
            asked.append(values)
        answers: list[bytes] = [b""] * batches

        def ask(first: int) -> None:
            opened = http.client.HTTPConnection("127.0.0.1", service.port)
            for number in range(first, batches, 2):
                answers[number] = ask_batch(service.port, asked[number].tobytes(), opened)
            opened.close()

        worker, writer = service.cpu()
        begin = time.perf_counter()
        threads = [threading.Thread(target=ask, args=(first,)) for first in (0, 1)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        seconds = time.perf_counter() - begin
        worker_after, writer_after = service.cpu()
    count = batches * BATCH
    right = all(
        (np.frombuffer(answer, "<i8")[::2] == where).all()
        and (np.frombuffer(answer, "<i8")[1::2] == -1).mean() > 0.999
        for answer, where in zip(answers, places, strict=True)
    )
    section.checks.append(Check("half known, half new", right))
    by_cpu = count / max(writer_after - writer, 1e-9)
    section.tables.append(
        Table(
            ["", "a second", "a CPU second of the writer", "worker CPU us"],
            [["simhashes", count / seconds, by_cpu, (worker_after - worker) / count * 1e6]],
        )
    )
    section.results += [
        Result("seen in batches", count / seconds, "/s", ">=", BATCH_WANTED),
        Result("seen in batches, by the writer's CPU time", by_cpu, "/s", ">=", BATCH_WANTED),
    ]
    return section


def run_find(corpus: Path, documents: int, count: int) -> Section:
    section = Section("find", f"{documents:,} documents, a page of 5 kB, one connection")
    asked = queries(documents, count + 100)
    opened = roughly.Corpus(corpus)
    library: list[float] = []
    over_http: list[float] = []
    own_cpu = 0.0
    right = True
    with serving(corpus, 1) as service:
        connection = http.client.HTTPConnection("127.0.0.1", service.port)
        before = service.cpu()[0]
        for _, text in asked:
            begin, begin_cpu = time.perf_counter(), time.thread_time()
            found = opened.find(text, content_type="text")
            middle = time.perf_counter()
            own_cpu += time.thread_time() - begin_cpu
            connection.request(
                "POST",
                "/api/find",
                json.dumps({"content": text, "content_type": "text"}),
                {"Content-Type": "application/json"},
            )
            answer = json.loads(connection.getresponse().read())
            end = time.perf_counter()
            library.append(middle - begin)
            over_http.append(end - middle)
            right &= [each.id for each in found] == [each["id"] for each in answer["documents"]]
        connection.close()
        worker_cpu = service.cpu()[0] - before
    section.checks.append(Check("the same documents over HTTP", right))
    own = statistics.median(library[100:]) * 1000
    other = statistics.median(over_http[100:]) * 1000
    own_ms, worker_ms = own_cpu / len(asked) * 1000, worker_cpu / len(asked) * 1000
    section.tables.append(
        Table(
            ["", "median ms", "mean CPU ms"],
            [["library", own, own_ms], ["over HTTP", other, worker_ms]],
        )
    )
    section.results += [
        Result("find over HTTP, more than in the library", other - own, "ms", "<=", FIND_WANTED),
        Result("the same, by CPU time", worker_ms - own_ms, "ms", "<=", FIND_WANTED),
    ]
    return section


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m bench serve",
        description="The HTTP service over loopback, beside a bare ASGI endpoint.",
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("--workers", type=int, default=2, help="HTTP processes for `seen` by one simhash")
    add("--seconds", type=float, default=10, help="of full load, for each of the two")
    add("--rounds", type=int, default=3)
    add("--stored", type=int, default=100_000_000, help="simhashes before the batches")
    add("--batches", type=int, default=100)
    add("--documents", type=int, default=100 * UNIT, help="in the corpus of `find`")
    add("--queries", type=int, default=300)
    add("--folder", type=Path, help="where corpora and indexes are made, and stay")
    add("--only", choices=("single", "batches", "find"), help="one of the three")
    add_output_options(parser)
    arguments = parser.parse_args(argv)
    session = Session(f"{arguments.stored:,} simhashes, {arguments.documents:,} documents", "serve")
    with tempfile.TemporaryDirectory() as temporary:
        folder = (arguments.folder or Path(temporary)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        small = folder / "small.roughly"
        if not small.exists():
            roughly.Corpus.create(small).add([("https://example.com/", "one page, a few words")])
        if arguments.only in (None, "single"):
            session.add(run_single(small, arguments.workers, arguments.seconds, arguments.rounds))
        if arguments.only in (None, "batches"):
            session.add(run_batches(small, arguments.stored, arguments.batches, folder))
        if arguments.only in (None, "find"):
            corpus = folder / f"find-{arguments.documents}.roughly"
            if not corpus.exists():
                make_corpus(arguments.documents, corpus)
            session.add(run_find(corpus, arguments.documents, arguments.queries))
    return session.finish(arguments.json, arguments.record)


if __name__ == "__main__":
    sys.exit(main())
