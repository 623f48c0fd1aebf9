"""Clients that misbehave: what is malformed, too large, too slow or cut off, over real sockets. The
service tells them what is wrong where it can, and serves everybody else."""

import contextlib
import json
import socket
import time
from collections.abc import Iterator

import pytest

from tests.service import TOKEN, Service, make_corpus, service


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    corpus = make_corpus(tmp_path_factory.mktemp("connection") / "web.roughly")
    options = ("--receive-seconds", "1", "--max-body", "100K", "--max-connections", "30")
    with service(corpus, *options) as started:
        yield started


@pytest.fixture(autouse=True)
def still_serving(running: Service) -> Iterator[None]:
    """After whatever a client did."""
    yield
    with running.client() as client:
        assert client.get("/health").status_code == 200


def connected(running: Service) -> socket.socket:
    host, port = running.address.removeprefix("http://").split(":")
    return socket.create_connection((host, int(port)), timeout=30)


def answered(opened: socket.socket) -> tuple[int, dict[str, str], bytes]:
    """Status, headers and body of what comes until the other side closes."""
    data = b""
    while piece := opened.recv(1 << 16):
        data += piece
    head, _, body = data.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    headers = dict(line.lower().split(": ", 1) for line in lines)
    return int(first.split()[1]), headers, body


def code(body: bytes) -> str:
    found: str = json.loads(body)["error"]["code"]
    return found


@pytest.mark.parametrize(
    "sent",
    [
        b"NONSENSE\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\0" * 50,  # the begin of TLS
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET /health HTTP/1.1\r\nHost: a\r\nContent-Length: -5\r\n\r\n",
        b"POST /api/find HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 5\r\nContent-Length: 6\r\n"
        b"\r\nabcdef",
        b"POST /api/find HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 5\r\n"
        b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"POST /api/find HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    ],
)
def test_what_is_no_http(running: Service, sent: bytes) -> None:
    with connected(running) as opened:
        opened.sendall(sent)
        opened.shutdown(socket.SHUT_WR)
        status, headers, body = answered(opened)
    assert status == 400 and headers["content-type"] == "application/json"
    assert code(body) == "bad_request"


def test_headers_without_end(running: Service) -> None:
    with connected(running) as opened:
        opened.sendall(b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nX: ")
        # What it says may be lost with the connection, if it closes while this still sends.
        with contextlib.suppress(ConnectionError):
            for _ in range(100):
                opened.sendall(b"x" * 10_000)
            status, _, body = answered(opened)
            assert (status, code(body)) == (431, "headers_too_large")
    with connected(running) as opened:
        opened.sendall(b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nX: " + b"x" * (65 << 10))
        status, _, body = answered(opened)
    assert (status, code(body)) == (431, "headers_too_large")


_CHUNKED = (
    b"POST /api/find HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n"
    b"Transfer-Encoding: chunked\r\n\r\nf\r\n" + b'{"content":"x"}' + b"\r\n0\r\n"
)


def test_what_comes_behind_a_body_is_no_header(running: Service) -> None:
    with connected(running) as opened:
        opened.sendall(_CHUNKED + b"Host: evil.example\r\nContent-Encoding: gzip\r\n\r\n")
        status, _, body = answered(opened)
    assert status == 200, body


@pytest.mark.parametrize(
    "begin",
    [
        _CHUNKED,  # trailers
        _CHUNKED + b"X: ",  # one trailer
        _CHUNKED[: -len(b"0\r\n")] + b"1;",  # an extension of a chunk
    ],
    ids=["trailers", "a trailer", "an extension"],
)
def test_what_comes_behind_a_body_has_a_bound(running: Service, begin: bytes) -> None:
    with connected(running) as opened:
        opened.sendall(begin)
        data = b""
        with contextlib.suppress(ConnectionError):
            for _ in range(10_000):  # 160 MB
                opened.sendall(b"X: y\r\n" * 2730 if begin == _CHUNKED else b"y" * 16_384)
            raise AssertionError("it takes everything")
        # What it said may have been lost with the connection.
        with contextlib.suppress(ConnectionError):
            while piece := opened.recv(1 << 16):
                data += piece
    assert not data or b" 431 " in data


def test_headers_that_come_too_slowly(running: Service) -> None:
    with connected(running) as opened:
        for letter in b"GET /health":
            opened.sendall(bytes([letter]))
            time.sleep(0.02)
        status, _, body = answered(opened)
        assert (status, code(body)) == (408, "timeout")


def test_a_body_that_comes_too_slowly(running: Service) -> None:
    with connected(running) as opened:
        opened.sendall(
            b"POST /api/find HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: text/plain\r\n"
            b"Content-Length: 1000\r\n\r\nbegin"
        )
        status, headers, body = answered(opened)
    assert (status, code(body)) == (408, "timeout")
    assert headers["connection"] == "close"


def test_a_connection_without_requests_is_closed(running: Service) -> None:
    with connected(running) as opened:
        assert opened.recv(1) == b""
    with connected(running) as opened:
        opened.sendall(b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        status, _, body = answered(opened)
    assert status == 200 and json.loads(body)["status"] == "ok"


@pytest.mark.parametrize("chunked", [False, True])
def test_a_body_that_is_too_large(running: Service, chunked: bool) -> None:
    def pieces() -> Iterator[bytes]:
        for _ in range(20):
            yield b"x" * 10_000

    kind = {"content-type": "text/plain"}
    with running.client() as client:
        content = pieces() if chunked else b"x" * 200_000
        found = client.post("/api/find", content=content, headers=kind)
    assert found.status_code == 413 and found.json()["error"]["code"] == "too_large"


def test_clients_that_wait_for_leave_send_nothing_in_vain(running: Service) -> None:
    with connected(running) as opened:
        opened.sendall(
            b"POST /api/find HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: text/plain\r\n"
            b"Content-Length: 999999999\r\nExpect: 100-continue\r\n\r\n"
        )
        status, _, body = answered(opened)
    assert (status, code(body)) == (413, "too_large")


def test_clients_that_take_no_answers(running: Service) -> None:
    host, port = running.address.removeprefix("http://").split(":")
    with socket.socket() as opened:
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        opened.connect((host, int(port)))
        ask = b"GET /static/style.css HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
        opened.sendall(ask * 5000)  # far more than the system keeps for us
        end = time.monotonic() + 60
        with contextlib.suppress(ConnectionError):
            while time.monotonic() < end:
                opened.send(b"\r\n")
                time.sleep(0.2)
            raise AssertionError("it waits for ever")


def test_clients_that_go_away(running: Service) -> None:
    head = (
        b"POST /api/seen HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        b"Authorization: Bearer " + TOKEN.encode() + b"\r\n"
    )
    body = b'{"simhash":"abcdef"}'
    whole = head + b"Content-Length: %d\r\n\r\n" % len(body) + body
    for cut in range(0, len(whole) + 1, 7):
        with connected(running) as opened:
            opened.sendall(whole[:cut])
            # Closed at once, with what came unread.
            opened.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")


def test_requests_one_behind_the_other(running: Service) -> None:
    one = b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    last = b"GET /api/nothing HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
    with connected(running) as opened:
        opened.sendall(one * 3 + last)
        data = b""
        while piece := opened.recv(1 << 16):
            data += piece
    assert data.count(b"HTTP/1.1 200 OK") == 3
    assert data.count(b"HTTP/1.1 404 Not Found") == 1


def test_more_connections_than_allowed(running: Service) -> None:
    opened = [connected(running) for _ in range(40)]
    try:
        refused = 0
        for each in opened[35:]:
            status, _, body = answered(each)
            refused += (status, code(body)) == (503, "busy")
        assert refused == 5
    finally:
        for each in opened:
            each.close()
    end = time.monotonic() + 10
    while time.monotonic() < end:  # until it has noticed that they are closed
        with connected(running) as again:
            again.sendall(b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
            if answered(again)[0] == 200:
                return
    raise AssertionError("it refuses everybody")


def test_other_protocols_are_not_spoken(running: Service) -> None:
    with connected(running) as opened:
        opened.sendall(
            b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\n"
            b"Upgrade: websocket\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
            b"Sec-WebSocket-Version: 13\r\n\r\n"
        )
        status, _, _ = answered(opened)
    assert status in (200, 400)


def test_what_it_counts(running: Service) -> None:
    with running.client() as client:
        text = client.get("/metrics").text
    counted = {
        line.rpartition(" ")[0]: float(line.rpartition(" ")[2])
        for line in text.splitlines()
        if not line.startswith("#")
    }
    assert counted['roughly_requests_total{route="/health",status="200"}'] > 5
    assert counted['roughly_requests_total{route="/api/find",status="413"}'] >= 2
    assert counted["roughly_requests_in_flight"] == 1
    total = counted['roughly_request_seconds_count{route="/health"}']
    assert counted['roughly_request_seconds_bucket{route="/health",le="+Inf"}'] == total
