"""Documents added and simhashes remembered at once, while the writer is killed, or the service is
told to end: whatever was acknowledged is there afterwards, with its name."""

import contextlib
import os
import random
import signal
import threading
import time
from pathlib import Path

import httpx
import pytest

import roughly
from tests.optional import FULL
from tests.service import Service, make_corpus, service

KILLS = 6 if FULL else 2


class Client(threading.Thread):
    """Writes until it is told to stop, or nobody listens any more; keeps what was acknowledged."""

    def __init__(self, running: Service, seed: int) -> None:
        super().__init__()
        self._running = running
        self._seed = seed
        self._draw = random.Random(seed)
        self.kept: dict[str, str] = {}  # the id of what was acknowledged -> its simhash
        self.strange: list[str] = []
        self.stopping = False

    def run(self) -> None:
        with self._running.client() as client:
            number = 0
            while not self.stopping:
                number += 1
                try:
                    self.write(client, f"https://example.org/{self._seed}/{number}")
                except httpx.ConnectError:
                    return
                except httpx.TransportError:
                    continue  # cut before an answer: nothing is known of it

    def write(self, client: httpx.Client, id: str) -> None:
        raise NotImplementedError

    def check(self, found: httpx.Response, id: str, simhash: str = "") -> None:
        if found.status_code == 200:
            self.kept[id] = simhash
        elif found.status_code == 503 and found.json()["error"]["code"] == "busy":
            time.sleep(0.02)
        else:
            self.strange.append(f"{found.status_code} {found.text}")


class Adder(Client):
    def write(self, client: httpx.Client, id: str) -> None:
        words = " ".join(f"{self._draw.getrandbits(40):x}" for _ in range(30))
        added = {"documents": [{"id": id, "content": words}], "date": "2026-02-01"}
        self.check(client.post("/api/add", json=added), id)


class Asker(Client):
    def write(self, client: httpx.Client, id: str) -> None:
        simhash = f"{self._draw.getrandbits(64):016x}"
        asked = {"simhash": simhash, "id": id}
        self.check(client.post("/api/seen", json=asked), id, simhash)


def wait_for_more(clients: list[Client]) -> None:
    """Waits until each has more acknowledged than now."""
    before = [len(each.kept) for each in clients]
    end = time.monotonic() + 60
    while any(len(each.kept) <= count for each, count in zip(clients, before, strict=True)):
        assert time.monotonic() < end, "it does not write any more"
        time.sleep(0.02)


def check_kept(corpus: Path, clients: list[Client]) -> None:
    assert not [line for each in clients for line in each.strange]
    documents = roughly.Corpus(corpus)
    assert not documents.verify()
    there = set(documents.urls())
    with service(corpus) as again, again.client() as client:
        for each in clients:
            assert len(each.kept) > 0
            if isinstance(each, Adder):
                assert each.kept.keys() <= there
                continue
            asked = {"simhashes": list(each.kept.values()), "ids": [None] * len(each.kept)}
            end = time.monotonic() + 60
            while (found := client.post("/api/seen", json=asked)).status_code == 503:
                assert time.monotonic() < end
            assert found.json()["match_id"] == list(each.kept)


@pytest.mark.parametrize("ending", ["killed writer", "SIGTERM"])
def test_nothing_acknowledged_is_lost(ending: str, tmp_path: Path) -> None:
    corpus = make_corpus(tmp_path / "web.roughly")
    with service(corpus, "--workers", "2") as running:
        clients = [Adder(running, 1), Asker(running, 2), Asker(running, 3)]
        for each in clients:
            each.start()
        try:
            wait_for_more(clients)
            if ending == "killed writer":
                for _ in range(KILLS):
                    time.sleep(0.1 * random.random())
                    for pid in running.children("writer"):
                        with contextlib.suppress(ProcessLookupError):
                            os.kill(pid, signal.SIGKILL)
                    wait_for_more(clients)
            else:
                assert running.end() == 0
        finally:
            for each in clients:
                each.stopping = True
            for each in clients:
                each.join()
        if ending == "killed writer":
            assert running.end() == 0
    check_kept(corpus, clients)
