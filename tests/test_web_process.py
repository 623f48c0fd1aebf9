"""The processes of a service: what is acknowledged survives whatever is killed, and in what order
they end. Real processes, real signals."""

import contextlib
import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import httpx
import pytest

import roughly
from roughly.hamming import SeenIndex
from tests.optional import FULL
from tests.service import TOKEN, Service, make_corpus, service

KILLS = 10 if FULL else 2


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    return make_corpus(tmp_path / "web.roughly")


class Asker(threading.Thread):
    """Asks `seen` for random simhashes until it is told to stop; keeps what was acknowledged."""

    def __init__(self, running: Service, seed: int) -> None:
        super().__init__()
        self._running = running
        self._random = random.Random(seed)
        self.acknowledged: list[int] = []
        self.refused = 0
        self.cut = 0  # connections that ended without an answer
        self.strange: list[str] = []
        self.stopping = False

    def run(self) -> None:
        while not self.stopping:
            with self._running.client() as client, contextlib.suppress(httpx.TransportError):
                self._ask(client)
                continue
            self.cut += 1

    def _ask(self, client: httpx.Client) -> None:
        while not self.stopping:
            x = self._random.getrandbits(64)
            found = client.post("/api/seen", json={"simhash": f"{x:016x}"})
            if found.status_code == 200:
                self.acknowledged.append(x)
            elif found.status_code == 503 and found.headers.get("retry-after"):
                self.refused += 1
                assert found.json()["error"]["code"] == "busy"
                time.sleep(0.01)
            else:
                self.strange.append(f"{found.status_code} {found.text}")


def wait_for(running: Service, kind: str, count: int, *, other_than: set[int]) -> None:
    """Waits until that many new processes of a kind run."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        if len(set(running.children(kind)) - other_than) >= count:
            return
        time.sleep(0.05)
    raise AssertionError(f"no new {kind}")


def wait_for_answers(askers: list[Asker], more: int) -> None:
    """Waits until that many more are acknowledged."""
    before = sum(len(asker.acknowledged) for asker in askers)
    end = time.monotonic() + 60
    while sum(len(asker.acknowledged) for asker in askers) < before + more:
        assert time.monotonic() < end, "it does not answer any more"
        time.sleep(0.05)


def wait_until_writable(client: httpx.Client) -> None:
    end = time.monotonic() + 60
    while time.monotonic() < end:
        if client.post("/api/seen", json={"simhashes": []}).status_code == 200:
            return
        time.sleep(0.05)
    raise AssertionError("it does not write any more")


def all_kept(running: Service, simhashes: list[int]) -> bool:
    with running.client() as client:
        wait_until_writable(client)
        wanted = [f"{x:016x}" for x in simhashes]
        found = client.post("/api/seen", json={"simhashes": wanted}).json()
    return found["seen"] == [True] * len(simhashes)


@pytest.mark.parametrize("kind", ["writer", "worker"] if FULL else ["writer"])
def test_a_killed_process_loses_nothing_acknowledged(corpus: Path, kind: str) -> None:
    with service(corpus, "--workers", "2") as running:
        askers = [Asker(running, seed) for seed in range(3)]
        for asker in askers:
            asker.start()
        killed: set[int] = set()
        for _ in range(KILLS):
            wait_for_answers(askers, 10)
            alive = running.children(kind)
            os.kill(alive[0], signal.SIGKILL)
            killed.add(alive[0])
            wait_for(running, kind, len(alive), other_than=killed)
        wait_for_answers(askers, 10)
        for asker in askers:
            asker.stopping = True
        for asker in askers:
            asker.join()
        assert not [line for asker in askers for line in asker.strange]
        acknowledged = [x for asker in askers for x in asker.acknowledged]
        assert all_kept(running, acknowledged)
        if kind == "writer":
            # Workers live on: every connection was answered.
            assert sum(asker.cut for asker in askers) == 0
            assert sum(asker.refused for asker in askers) > 0
        assert running.end() == 0
    with SeenIndex(corpus / "seen") as index:
        assert (index.seen([*acknowledged]) >= 0).all()


def test_ending_it_finishes_what_it_was_asked(corpus: Path) -> None:
    documents = [
        {"id": f"https://example.org/{n}", "content": f"document {n} " + "and more words " * n}
        for n in range(300)
    ]
    with service(corpus) as running:
        answers: list[httpx.Response] = []

        def add() -> None:
            with running.client() as client:
                answers.append(client.post("/api/add", json={"documents": documents}))

        adding = threading.Thread(target=add)
        adding.start()
        with running.client() as client:
            while 'route="/api/add"' not in client.get("/metrics").text and not answers:
                if "roughly_requests_in_flight 2" in client.get("/metrics").text:
                    break
        assert running.end() == 0
        adding.join()
    assert answers[0].status_code == 200 and answers[0].json()["documents"] == 300
    assert len(roughly.Corpus(corpus)) == 6 + 300


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT] if FULL else [signal.SIGINT])
def test_a_signal_ends_it_and_everything_it_started(corpus: Path, number: int) -> None:
    with service(corpus, "--workers", "2") as running:
        killed = running.children("worker")[0]
        os.kill(killed, signal.SIGKILL)
        wait_for(running, "worker", 2, other_than={killed})
        started = [*running.children("worker"), *running.children("writer")]
        assert len(started) == 3
        with running.client() as client:
            assert client.post("/api/seen", json={"simhash": "1"}).json()["seen"] is False
        assert running.end(number) == 0
        assert not [pid for pid in started if Path(f"/proc/{pid}").exists()]
    with SeenIndex(corpus / "seen") as index:
        assert len(index) == 1


def test_nothing_outlives_a_killed_supervisor(corpus: Path) -> None:
    with service(corpus) as running:
        started = [*running.children("worker"), *running.children("writer")]
        running.end(signal.SIGKILL)
        end = time.monotonic() + 30
        while time.monotonic() < end and any(Path(f"/proc/{pid}").exists() for pid in started):
            time.sleep(0.05)
        assert not [pid for pid in started if Path(f"/proc/{pid}").exists()]
    with SeenIndex(corpus / "seen"):
        pass  # the index is free again


def serve_output(*words: str) -> tuple[int, str]:
    run = subprocess.run(
        [sys.executable, "-m", "roughly", "serve", *words],
        capture_output=True,
        text=True,
        timeout=60,
        env={key: value for key, value in os.environ.items() if key != "ROUGHLY_TOKEN"},
    )
    return run.returncode, run.stderr


def test_what_cannot_be_served_is_told(corpus: Path, tmp_path: Path) -> None:
    status, told = serve_output(str(tmp_path / "nothing"), "--port", "0")
    assert status == 2 and "no corpus: there is no corpus.json" in told
    assert "Traceback" not in told
    (tmp_path / "pages.jsonl").write_text("{}")
    status, told = serve_output(str(tmp_path / "pages.jsonl"), "--port", "0")
    assert status == 2 and "no corpus: it is a file, wanted a directory" in told
    assert "Traceback" not in told
    status, told = serve_output(str(corpus), "--host", "0.0.0.0", "--port", "0")
    assert status == 2 and "--host: not without a token: 0.0.0.0" in told
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        status, told = serve_output(str(corpus), "--port", str(taken.getsockname()[1]))
    assert status == 2 and "cannot listen there: address already in use" in told
    with SeenIndex(corpus / "seen"):
        status, told = serve_output(str(corpus), "--port", "0", "--token", TOKEN)
    assert status == 2 and "in use: process" in told
    status, told = serve_output(str(corpus), "--port", "0", "--token", "two words")
    assert status == 2 and "--token: not a token" in told


def test_an_index_has_the_distance_it_was_made_with(corpus: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    with SeenIndex(elsewhere, 5) as index:
        index.add([0])
    with service(corpus, "--seen", str(elsewhere)) as running, running.client() as client:
        found = client.post("/api/seen", json={"simhash": "1f"}).json()
        assert (found["distance"], found["parameters"]["k"]) == (5, 5)
    status, told = serve_output(str(corpus), "--seen", str(elsewhere), "-k", "4", "--token", TOKEN)
    assert status == 2 and "made for k = 5, wanted 4" in told


def test_what_one_worker_adds_all_see_and_the_corpus_stays_one(corpus: Path) -> None:
    new = {"id": "https://example.com/new", "content": "words that were never there before"}
    with service(corpus, "--workers", "2") as running:
        with running.client() as client:
            client.post("/api/seen", json={"simhashes": ["1", "ff00ff00"]})
            assert client.post("/api/add", json={"documents": [new]}).json()["documents"] == 1
        for _ in range(10):  # new connections, so that both workers are asked
            with running.client() as client:
                assert client.get("/health").json()["documents"] == 7
                found = client.post("/api/find", json={"content": new["content"]}).json()
                assert [row["id"] for row in found["documents"]] == [new["id"]]
    opened = roughly.Corpus(corpus)
    assert opened.verify() == []
    opened.add([("https://example.com/more", "more text that nobody has seen before now")])
    opened.compact()
    assert roughly.Corpus(corpus).verify() == []
    assert json.dumps(opened.info().to_dict())
    with SeenIndex(corpus / "seen") as index:
        assert len(index) == 2
