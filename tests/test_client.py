"""Both clients against a real service: answers, errors, retries, batches."""

import asyncio
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

from roughly.client import AsyncClient, Client, _wait
from roughly.errors import MissingError, NotFoundError, RoughlyError, ServiceError
from tests.service import DOCUMENTS, FOX, SOUP, TOKEN, Service, make_corpus, service


class Awaited:
    """An AsyncClient, each call in the same event loop, so that one test is for both."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self._loop = asyncio.new_event_loop()
        self._client = AsyncClient(*arguments, **options)

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._client, name)
        return lambda *given, **options: self._loop.run_until_complete(method(*given, **options))

    def end(self) -> None:
        self._loop.run_until_complete(self._client.close())
        self._loop.close()


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with service(make_corpus(tmp_path_factory.mktemp("client") / "web.roughly")) as found:
        yield found


@pytest.fixture(params=["sync", "async"])
def client(request: pytest.FixtureRequest, running: Service) -> Iterator[Any]:
    if request.param == "sync":
        with Client(running.address, TOKEN) as found:
            yield found
    else:
        awaited = Awaited(running.address, TOKEN)
        yield awaited
        awaited.end()


def test_reading(client: Any) -> None:
    found = client.find(FOX, limit=2, evidence=1)
    assert found["total"] >= 2
    best = found["documents"][0]
    assert (best["id"], best["resemblance"]) == ("https://example.com/a", 1.0)
    assert best["evidence"][0]["text"] == FOX
    assert client.find(url="example.com/soup")["documents"][0]["url"] == "https://example.com/c"

    compared = client.compare(FOX, b_url="https://example.com/a")
    assert (compared["a"]["tokens"], compared["w"]) == (len(FOX.split()), 5)
    assert compared["passages"]

    versions = client.documents("https://example.com/a", text=True)["documents"]
    assert [(each["date"], each["text"]) for each in versions] == [
        (date, text) for id, date, text in DOCUMENTS if id == "https://example.com/a"
    ]
    assert client.documents("https://example.com/a")["documents"][0].get("text") is None

    clusters = client.clusters(threshold=0.9)["clusters"]
    assert [each["size"] for each in clusters] == [3, 2]
    cluster = client.cluster(clusters[1]["cluster"], threshold=0.9)
    assert {member["id"] for member in cluster["members"]} == {
        "https://example.com/c",
        "https://example.com/soup",
    }
    lost = client.lost("https://example.com/c", exact=True)
    assert lost["found"] and lost["places"][0]["new"] == "https://example.com/soup"
    assert lost["steps"][0]["moves"][0]["kind"] == "same"  # the very text, elsewhere
    assert client.changes()["dates"] == ["2026-01-01", "2026-02-01"]
    groups = client.collapse(["https://example.com/c", {"text": SOUP}, "https://example.com/b"])
    assert [
        (group["rank"], [under["rank"] for under in group["others"]]) for group in groups["groups"]
    ] == [(1, [2]), (3, [])]
    assert client.health()["status"] == "ok"


def test_seen(client: Any) -> None:
    own = 0xF << 32 if isinstance(client, Client) else 0xF << 48
    assert not client.seen(own, id="first")["seen"]
    again = client.seen(own ^ 1, id="second")
    assert (again["seen"], again["distance"], again["match_id"]) == (True, 1, "first")
    assert int(again["match"], 16) == own
    text = f"a page of a crawl {own}"
    assert not client.seen(content=text, content_type="text", id="page")["seen"]
    same = client.seen(content=f"<p>{text}</p>", content_type="html")
    assert same["seen"] and same["distance"] == 0 and same["simhash"] == same["match"]
    many = client.seen_many([own ^ 3, None, own ^ 0xFFFF], ["third", None, "fourth"])
    assert (many["seen"], many["match_id"]) == ([True, False, False], ["first", None, None])
    assert client.seen(own ^ 0xFFFF, id="fifth")["match_id"] == "fourth"
    assert not client.seen(content="...")["seen"]


def test_batches_are_what_an_index_says(client: Any, tmp_path: Path) -> None:
    import roughly

    draw = np.random.default_rng(1 if isinstance(client, Client) else 2)
    asked = draw.integers(0, 1 << 64, 70_000, np.uint64)
    asked[::7] = asked[3] ^ np.uint64(1)
    # So that positions do not begin at 0.
    assert not client.seen(int(asked[0]) ^ 0xFF00FF00FF00)["seen"]
    found = client.seen_batch(asked)
    with roughly.SeenIndex(tmp_path / "seen") as index:
        wanted = index.seen(asked)
    np.testing.assert_array_equal(found == -1, wanted == -1)
    there = wanted >= 0
    assert len({*(found[there] - wanted[there]).tolist()}) == 1
    assert client.seen_batch([int(asked[3])]).tolist()[0] >= 0
    assert len(client.seen_batch([])) == 0


def test_adding(client: Any) -> None:
    name = f"https://example.com/added-by-{type(client).__name__}"
    text = f"words that nobody has written before {name}"
    added = client.add([{"id": name, "content": text, "date": "2026-03-01"}])
    assert (added["documents"], added["known"]) == (1, 0)
    assert client.documents(name)["documents"][0]["date"] == "2026-03-01"


def test_errors_are_told_as_the_service_tells_them(client: Any, running: Service) -> None:
    with pytest.raises(MissingError) as missing:
        client.documents("https://example.com/never")
    assert isinstance(missing.value, NotFoundError) and isinstance(missing.value, RoughlyError)
    assert (missing.value.status, missing.value.code) == (404, "not_found")
    assert missing.value.message.startswith("https://example.com/never: not in the corpus")
    assert missing.value.hint == "look for its text with POST /api/find"
    with pytest.raises(ServiceError, match="threshold") as wrong:
        client.find(FOX, threshold=7)
    assert (wrong.value.status, wrong.value.code) == (400, "bad_request")
    with pytest.raises(ServiceError) as unknown:
        client.find(FOX, thresold=0.7)
    assert unknown.value.code == "bad_request"
    with Client(running.address) as stranger, pytest.raises(ServiceError) as refused:
        stranger.seen(1)
    assert (refused.value.status, refused.value.code) == (401, "unauthorised")


def free_port() -> int:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        return int(unused.getsockname()[1])


@pytest.mark.parametrize("kind", [Client, Awaited])
def test_no_service(kind: Any) -> None:
    client = kind(f"http://127.0.0.1:{free_port()}")
    with pytest.raises(ServiceError, match="hint: is the service running") as caught:
        client.health()
    assert (caught.value.code, caught.value.status) == ("unreachable", None)
    getattr(client, "end", client.close)()


def answering(*answers: bytes) -> tuple[str, threading.Thread]:
    """Something that answers with these bytes, one connection each."""
    listening = socket.create_server(("127.0.0.1", 0))

    def run() -> None:
        with listening:
            for each in answers:
                connection, _ = listening.accept()
                with connection:
                    connection.recv(1 << 16)
                    connection.sendall(each)

    thread = threading.Thread(target=run)
    thread.start()
    return f"http://127.0.0.1:{listening.getsockname()[1]}", thread


def http(status: str, body: str, *headers: str) -> bytes:
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", "Connection: close", *headers]
    return "\r\n".join([*lines, "", body]).encode()


BUSY = http(
    "503 Busy",
    '{"error": {"code": "busy", "message": "much to do", "hint": null}}',
    "Retry-After: 0",
)
WELL = http("200 OK", '{"status": "ok", "documents": 1, "version": "0", "more": [1]}')


@pytest.mark.parametrize("kind", [Client, Awaited])
def test_a_busy_service_is_asked_again(kind: Any) -> None:
    address, thread = answering(
        BUSY, BUSY, WELL, BUSY, BUSY, http("503 Busy", "no"), http("200 OK", "<")
    )
    client = kind(address, retries=2)
    assert client.health()["status"] == "ok"
    few = kind(address, retries=1)
    with pytest.raises(ServiceError, match="much to do"):
        few.health()
    with pytest.raises(ServiceError, match="HTTP status 503") as plain:
        few.health()
    assert (plain.value.status, plain.value.code) == (503, "internal")
    with pytest.raises(ServiceError) as page:
        few.health()
    assert page.value.code == "not_understood"
    for each in (client, few):
        getattr(each, "end", each.close)()
    thread.join()


def test_waits_are_bounded() -> None:
    def told(status: int, value: str | None) -> float | None:
        headers = {} if value is None else {"retry-after": value}
        return _wait(httpx.Response(status, headers=headers))

    assert (told(503, "2"), told(429, "0.5"), told(503, "9999")) == (2.0, 0.5, 30.0)
    assert told(200, "2") is told(503, None) is told(503, "Wed, 21 Oct 2015 07:28:00 GMT") is None
