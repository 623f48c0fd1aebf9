"""Both clients against a real service: answers, errors, retries, batches."""

import asyncio
import dataclasses
import inspect
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

from roughly.client import AsyncClient, Client, answer
from roughly.errors import MissingError, NotFoundError, RoughlyError, ServiceError
from roughly.web.api import ENDPOINTS
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
    assert isinstance(found, answer.Found) and found.total >= 2
    assert found.documents[0].id == "https://example.com/a"
    assert found.documents[0].resemblance == 1.0
    assert found.documents[0].evidence[0].text == FOX
    assert client.find(url="example.com/soup").documents[0].url == "https://example.com/c"

    compared = client.compare(a=FOX, b_url="https://example.com/a")
    assert (compared.a.tokens, compared.w) == (len(FOX.split()), 5)
    assert isinstance(compared.passages[0], answer.SharedPassage)

    versions = client.documents("https://example.com/a", text=True)
    assert [(each.date, each.text) for each in versions] == [
        (date, text) for id, date, text in DOCUMENTS if id == "https://example.com/a"
    ]
    assert client.documents("https://example.com/a")[0].text is None

    clusters = client.clusters(threshold=0.9)
    assert [each.size for each in clusters.clusters] == [3, 2]
    cluster = client.cluster(clusters.clusters[1].cluster, threshold=0.9)
    assert {member.id for member in cluster.members} == {
        "https://example.com/c",
        "https://example.com/soup",
    }
    lost = client.lost("https://example.com/c")
    assert lost.found and lost.places[0].new == "https://example.com/soup"
    assert lost.steps[0].moves[0].kind == "same"  # the very text, elsewhere
    changes = client.changes()
    assert changes.dates == ["2026-01-01", "2026-02-01"]
    assert changes.intervals[0].from_date == "2026-01-01"
    groups = client.collapse(["https://example.com/c", {"text": SOUP}, "https://example.com/b"])
    assert [(group.rank, [under.rank for under in group.others]) for group in groups] == [
        (1, [2]),
        (3, []),
    ]
    assert client.health().status == "ok"


def test_seen(client: Any) -> None:
    own = 0xF << 32 if isinstance(client, Client) else 0xF << 48
    assert client.seen(own, id="first") == answer.Seen(False, k=3)
    again = client.seen(own ^ 1, id="second")
    assert (again.seen, again.match, again.distance, again.match_id) == (True, own, 1, "first")
    text = f"a page of a crawl {own}"
    assert not client.seen(content=text, content_type="text", id="page").seen
    same = client.seen(content=f"<p>{text}</p>", content_type="html")
    assert same.seen and same.distance == 0 and same.simhash == same.match
    many = client.seen_named([own ^ 3, None, own ^ 0xFFFF], ["third", None, "fourth"])
    assert [(each.seen, each.match_id) for each in many] == [
        (True, "first"),
        (False, None),
        (False, None),
    ]
    assert client.seen(own ^ 0xFFFF, id="fifth").match_id == "fourth"
    assert client.seen(content="...") == answer.Seen(False, k=3)


def test_batches_are_what_an_index_says(client: Any, tmp_path: Path) -> None:
    """More than one request takes."""
    import roughly

    draw = np.random.default_rng(1 if isinstance(client, Client) else 2)
    asked = draw.integers(0, 1 << 64, 70_000, np.uint64)
    asked[::7] = asked[3] ^ np.uint64(1)
    before = client.seen(int(asked[0]) ^ 0xFF00FF00FF00)  # so that positions do not begin at 0
    assert not before.seen
    found = client.seen_batch(asked)
    with roughly.SeenIndex(tmp_path / "seen") as index:
        wanted = index.seen(asked)
    np.testing.assert_array_equal(found == -1, wanted == -1)
    there = wanted >= 0
    assert len({*(found[there] - wanted[there]).tolist()}) == 1
    listed = client.seen_batch([int(asked[3]), None])
    assert listed[0] >= 0 and listed[1] == -2
    assert len(client.seen_batch([])) == 0


def test_adding(client: Any) -> None:
    name = f"https://example.com/added-by-{type(client).__name__}"
    text = f"words that nobody has written before {name}"
    added = client.add([{"id": name, "content": text, "date": "2026-03-01"}])
    assert added == answer.Added(1, 0, 0, 0, {})
    assert client.documents(name)[0].date == "2026-03-01"


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
    assert client.health() == answer.Health("ok", 1, "0")
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
    from roughly.client.request import wait_before

    def told(status: int, value: str | None) -> float | None:
        headers = {} if value is None else {"retry-after": value}
        return wait_before(httpx.Response(status, headers=headers))

    assert (told(503, "2"), told(429, "0.5"), told(503, "9999")) == (2.0, 0.5, 30.0)
    assert told(200, "2") is told(503, None) is told(503, "Wed, 21 Oct 2015 07:28:00 GMT") is None


# --- both clients, and the service's own words ----------------------------------------------------


def test_both_clients_are_the_same() -> None:
    def signatures(kind: type) -> dict[str, Any]:
        return {
            name: (str(inspect.signature(each)), each.__doc__)
            for name, each in vars(kind).items()
            if not name.startswith("_") and inspect.isfunction(each)
        }

    assert signatures(Client) == signatures(AsyncClient)
    assert len(signatures(Client)) == 14


def test_answers_have_the_fields_of_the_service() -> None:
    """Names of fields are those of the service, so that a change there is noticed here."""
    kinds = {
        "/api/find": answer.Found,
        "/api/compare": answer.Compared,
        "/api/clusters": answer.Clusters,
        "/api/clusters/{id}": answer.Cluster,
        "/api/lost": answer.Lost,
        "/api/changes": answer.Changes,
        "/api/add": answer.Added,
        "/health": answer.Health,
    }
    structs = {endpoint.path: endpoint.answer for endpoint in ENDPOINTS}
    for path, kind in kinds.items():
        names = {each.name for each in dataclasses.fields(kind)}
        assert names <= {*structs[path].__struct_fields__}, path
