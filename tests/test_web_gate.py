"""What every request passes: names, tokens, origins, limits, headers and the one shape of errors;
in one process, without a socket."""

import asyncio
import gzip
import threading
from pathlib import Path
from typing import Any

import msgspec
import pytest

from roughly.errors import BusyError, DamageError, DocumentError, NotFoundError, ParameterError
from roughly.web.app import create_app
from roughly.web.error import CODES, ErrorAnswer, HttpError, http_error
from roughly.web.gate import Gate
from roughly.web.limit import Gone, Limits, read_body, unpacked
from tests.service import FOX, TOKEN, InProcess, make_corpus

LIMITS = Limits(body_bytes=20_000, unpacked_bytes=50_000, receive_seconds=0.2, work_seconds=0.3)


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Gate:
    corpus = make_corpus(tmp_path_factory.mktemp("gate") / "web.roughly")
    return create_app(corpus, token=TOKEN, hosts=("search.example",), limits=LIMITS)


@pytest.fixture(scope="module")
def client(app: Gate) -> InProcess:
    return InProcess(app)


def problem(answer: Any) -> tuple[int, str]:
    """Status and code of an error, which must have the one shape."""
    told = msgspec.json.decode(answer.content, type=ErrorAnswer, strict=True).error
    assert answer.headers["content-type"] == "application/json"
    assert CODES[told.code] == answer.status_code
    assert told.message
    return answer.status_code, told.code


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1:8080", 200),
        ("[::1]:8080", 200),
        ("localhost", 200),
        ("LOCALHOST:1", 200),
        ("search.example", 200),
        ("10.1.2.3", 200),
        ("evil.example", 421),
        ("localhost.evil.example", 421),
        ("127.0.0.1.evil.example", 421),
        ("search.example@evil.example", 421),
        ("localhost:evil.example", 421),
        ("[::1]evil.example", 421),
        ("[localhost]", 421),
        ("", 421),
    ],
)
def test_only_its_own_names(client: InProcess, host: str, status: int) -> None:
    found = client.get("/health", headers={"host": host})
    assert found.status_code == status
    if status != 200:
        assert problem(found) == (421, "misdirected")


def test_pages_of_other_sites_start_nothing(client: InProcess) -> None:
    query = {"content": FOX}
    assert client.post("/api/find", json=query).status_code == 200
    own = {"origin": "http://127.0.0.1"}
    assert client.post("/api/find", json=query, headers=own).status_code == 200
    for origin in ("http://evil.example", "null", "http://127.0.0.1:99"):
        found = client.post("/api/find", json=query, headers={"origin": origin})
        assert problem(found) == (403, "cross_origin")
    assert client.get("/health", headers={"origin": "http://evil.example"}).status_code == 200


def test_writing_needs_the_token(client: InProcess, app: Gate, tmp_path: Path) -> None:
    for path in ("/api/seen", "/api/add"):
        assert problem(client.post(path, json={})) == (401, "unauthorised")
        for given in ("Bearer wrong", TOKEN, f"Basic {TOKEN}", f"Bearer {TOKEN}x", "Bearer "):
            found = client.post(path, json={}, headers={"authorization": given})
            assert problem(found) == (401, "unauthorised")
            assert found.headers["www-authenticate"] == "Bearer"
        # With it: the writer is asked, which is not there.
        for scheme in ("bearer", "Bearer"):
            right = {"authorization": f"{scheme} {TOKEN}"}
            found = client.post(path, json={"documents": []}, headers=right)
            assert problem(found) == (503, "busy")
        assert found.headers["retry-after"] == "1"
    readers = InProcess(create_app(make_corpus(tmp_path / "w.roughly")))
    for given in ("", f"Bearer {TOKEN}"):
        found = readers.post("/api/seen", json={}, headers={"authorization": given})
        assert problem(found) == (403, "read_only")


def test_every_answer_has_the_security_headers(client: InProcess) -> None:
    for path in ("/health", "/nothing", "/api/openapi.json", "/metrics", "/static/style.css"):
        headers = client.get(path).headers
        policy = headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; script-src 'self'")
        assert "unsafe" not in policy and "frame-ancestors 'none'" in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "same-origin"


@pytest.mark.parametrize(
    "path",
    [
        "/nothing",
        "/api/nothing",
        "/api",
        "/static/",
        "/static/nothing",
        "/static/../app.py",
        "/static/..%2Fapp.py",
        "/static/%2e%2e/app.py",
        "/static//etc/passwd",
        "/api/find/",
        "/%00",
        "/api/documents/" + "x" * 2000,
    ],
)
def test_what_is_not_there(client: InProcess, path: str) -> None:
    assert problem(client.get(path)) == (404, "not_found")


def test_people_get_a_page_about_errors(client: InProcess) -> None:
    found = client.get("/<script>alert(1)</script>", headers={"accept": "text/html"})
    assert found.status_code == 404
    assert found.headers["content-type"] == "text/html; charset=utf-8"
    assert "<script>alert" not in found.text and "&lt;script&gt;alert" in found.text
    assert problem(client.get("/api/x", headers={"accept": "text/html"})) == (404, "not_found")


def test_methods(client: InProcess) -> None:
    for method, path in (("GET", "/api/find"), ("DELETE", "/health"), ("PUT", "/api/seen")):
        found = client.request(method, path)
        assert problem(found) == (405, "not_allowed")
        assert found.headers["allow"] in ("POST", "GET, HEAD")
    head = client.request("HEAD", "/health")
    assert head.status_code == 200 and head.content == b""
    assert int(head.headers["content-length"]) > 100


@pytest.mark.parametrize(
    ("body", "kind", "wanted"),
    [
        (b"{", "application/json", (400, "bad_request")),
        (b"", "application/json", (400, "bad_request")),
        (b"[]", "application/json", (400, "bad_request")),
        (b'{"content": 5}', "application/json", (400, "bad_request")),
        (b'{"contend": "x"}', "application/json", (400, "bad_request")),
        (b'{"content": "x", "url": "y"}', "application/json", (400, "bad_request")),
        (b'{"content": "x", "threshold": 0}', "application/json", (400, "bad_request")),
        (b'{"content": "x", "limit": -1}', "application/json", (400, "bad_request")),
        (b'{"content": "\xff"}', "application/json", (400, "bad_request")),
        (b"[" * 9000, "application/json", (400, "bad_request")),
        (b'{"url": "https://example.com/never"}', "application/json", (404, "not_found")),
        (b"x", "application/xml", (415, "unsupported")),
        (b"x", "multipart/form-data", (415, "unsupported")),
        (b"x" * 20_001, "text/plain", (413, "too_large")),
    ],
)
def test_bodies_that_are_not_understood(
    client: InProcess, body: bytes, kind: str, wanted: tuple[int, str]
) -> None:
    found = client.post("/api/find", content=body, headers={"content-type": kind})
    assert problem(found) == wanted


def test_compressed_bodies(client: InProcess) -> None:
    def find(body: bytes, encoding: str = "gzip") -> Any:
        headers = {"content-type": "text/plain", "content-encoding": encoding}
        return client.post("/api/find", content=body, headers=headers)

    packed = gzip.compress(FOX.encode())
    assert find(packed).json()["documents"][0]["id"] == "https://example.com/a"
    half = len(FOX) // 2
    members = gzip.compress(FOX[:half].encode()) + gzip.compress(FOX[half:].encode())
    assert find(members).json()["documents"][0]["resemblance"] == 1.0
    assert problem(find(packed[:-9])) == (400, "bad_request")
    assert problem(find(b"no gzip")) == (400, "bad_request")
    assert problem(find(b"")) == (400, "bad_request")
    assert problem(find(FOX.encode(), "br")) == (415, "unsupported")
    bomb = gzip.compress(b"\0" * 10_000_000)
    assert len(bomb) < LIMITS.body_bytes
    assert problem(find(bomb)) == (413, "too_large")
    assert problem(find(gzip.compress(b"") * 500)) == (400, "bad_request")


def test_unpacking_stops_at_the_limit() -> None:
    for size in (0, 1, 999, 1000):
        assert unpacked(gzip.compress(b"a" * size), 1000) == b"a" * size
    for body in (gzip.compress(b"a" * 1001), gzip.compress(b"a" * 600) * 2):
        with pytest.raises(HttpError) as error:
            unpacked(body, 1000)
        assert error.value.code == "too_large"


class Sender:
    """A body in pieces, as a server hands it on; None waits for ever."""

    def __init__(self, *pieces: bytes | None, ended: bool = True) -> None:
        self._pieces = list(pieces)
        self._ended = ended

    async def __call__(self) -> dict[str, Any]:
        if not self._pieces:
            return {"type": "http.disconnect"}
        piece = self._pieces.pop(0)
        if piece is None:
            await asyncio.Event().wait()
        more = bool(self._pieces) or not self._ended
        return {"type": "http.request", "body": piece, "more_body": more}


def test_bodies_in_pieces() -> None:
    def read(sender: Sender) -> bytes:
        return asyncio.run(read_body(sender, {}, LIMITS))

    assert read(Sender(b"ab", b"", b"c")) == b"abc"
    assert read(Sender(b"x" * 10_000, b"x" * 10_000)) == b"x" * 20_000
    for pieces in ((b"x" * 20_001,), (b"x" * 10_000, b"x" * 10_001), (b"x" * 9_000,) * 50):
        with pytest.raises(HttpError) as error:
            read(Sender(*pieces))
        assert error.value.code == "too_large" and error.value.close
    with pytest.raises(HttpError) as error:
        read(Sender(b"slow", None))
    assert error.value.code == "timeout" and error.value.status == 408
    with pytest.raises(Gone):
        read(Sender(b"gone", ended=False))
    with pytest.raises(Gone):
        read(Sender())


def working(app: Gate, clients: list[str], release: threading.Event) -> list[Any]:
    """What comes of as many requests at once, each of which waits until it is released."""

    async def all_of_them() -> list[Any]:
        tasks = [
            asyncio.create_task(app.work({"client": (client, 1)}, release.wait))
            for client in clients
        ]
        await asyncio.sleep(0.05)
        release.set()
        return await asyncio.gather(*tasks, return_exceptions=True)

    return asyncio.run(all_of_them())


def test_only_so_much_is_worked_on(app: Gate) -> None:
    app.limits = Limits(work=4, work_of_client=3)
    try:
        of_one = working(app, ["a"] * 5, threading.Event())
        assert [getattr(each, "code", each) for each in of_one] == [True] * 3 + ["too_many"] * 2
        of_two = working(app, ["a", "b", "a", "b", "c", "a"], threading.Event())
        assert [getattr(each, "code", each) for each in of_two] == [True] * 4 + ["busy"] * 2
        # And all of it is free again.
        assert working(app, ["a", "b", "c"], threading.Event()) == [True] * 3
    finally:
        app.limits = LIMITS


def test_work_that_takes_too_long_is_given_up_and_keeps_its_place(app: Gate) -> None:
    release = threading.Event()

    async def ask() -> None:
        app.limits = Limits(work=1, work_seconds=0.05)
        with pytest.raises(HttpError) as late:
            await app.work({}, release.wait)
        assert late.value.code == "busy" and "given up" in late.value.message
        with pytest.raises(HttpError) as full:
            await app.work({}, release.wait)
        assert full.value.code == "busy" and "1 requests are worked on" in full.value.message
        release.set()
        while True:
            await asyncio.sleep(0.01)
            try:
                assert await app.work({}, lambda: 5) == 5
                return
            except HttpError:
                continue

    try:
        asyncio.run(asyncio.wait_for(ask(), 30))
    finally:
        app.limits = LIMITS


def test_faults_are_told_without_their_insides(
    client: InProcess, app: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        raise ZeroDivisionError("secret")

    monkeypatch.setattr(app.views, "now", fails)
    found = client.get("/health")
    assert problem(found) == (500, "internal")
    assert "secret" not in found.text


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (ParameterError("a: b: c"), "bad_request"),
        (NotFoundError("a: b: c"), "not_found"),
        (DocumentError("a: b: c"), "not_found"),
        (BusyError("a: b: c"), "busy"),
        (DamageError("a: b: c"), "damaged"),
    ],
)
def test_errors_of_the_library(error: Any, code: str) -> None:
    assert http_error(error).code == code


def test_a_corpus_that_is_gone_is_no_fault(tmp_path: Path) -> None:
    corpus = make_corpus(tmp_path / "web.roughly")
    client = InProcess(create_app(corpus))
    assert client.get("/health").status_code == 200
    corpus.rename(tmp_path / "elsewhere")
    assert problem(client.get("/health")) == (503, "busy")
    (tmp_path / "elsewhere").rename(corpus)
    assert client.get("/health").status_code == 200
