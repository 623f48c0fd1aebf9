"""`seen` over HTTP answers as a list would, in whatever form and from however many connections it
is asked; names are those that entries came with."""

import random
import struct
import threading
from collections.abc import Iterator
from pathlib import Path

import httpx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import roughly
from roughly.web.channel import Frames, frame
from roughly.web.seen_name import LONGEST_NAME, SeenNames
from tests.optional import FULL
from tests.reference import hamming as reference
from tests.service import Service, make_corpus, service
from tests.strategy_hamming import clustered

OCTETS = {"content-type": "application/octet-stream"}


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    corpus = make_corpus(tmp_path_factory.mktemp("seen") / "web.roughly")
    with service(corpus, "--workers", "2") as started:
        yield started


@pytest.fixture(scope="module")
def client(running: Service) -> Iterator[httpx.Client]:
    with running.client() as opened:
        yield opened


@pytest.fixture(scope="module")
def stored() -> list[int]:
    """What the index has, in order: the reference."""
    return []


def wanted_of(stored: list[int], x: int) -> tuple[bool, str | None, int | None, int | None]:
    near = reference.nearest(stored, x, 3)
    if near is None:
        stored.append(x)
        return False, None, None, None
    return True, f"{near[1]:016x}", near[2], near[0]


@settings(max_examples=150 if FULL else 15, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(["one", "list", "octets"]), clustered(64, 1, 20, flips=5)),
        max_size=6,
    )
)
def test_answers_as_a_list(
    client: httpx.Client, stored: list[int], steps: list[tuple[str, list[int]]]
) -> None:
    for kind, asked in steps:
        if kind == "one":
            for x in asked:
                found = client.post("/api/seen", json={"simhash": f"{x:x}"}).json()
                keys = ("seen", "match", "distance", "position")
                assert tuple(found[key] for key in keys) == wanted_of(stored, x)
        elif kind == "list":
            found = client.post("/api/seen", json={"simhashes": [f"{x:016X}" for x in asked]})
            columns = (found.json()[key] for key in ("seen", "match", "distance", "position"))
            rows = list(zip(*columns, strict=True))
            assert rows == [wanted_of(stored, x) for x in asked]
        else:
            content = struct.pack(f"<{len(asked)}Q", *asked)
            octets = client.post("/api/seen", content=content, headers=OCTETS).content
            positions = list(struct.unpack(f"<{len(asked)}q", octets))
            assert positions == [reference.seen(stored, x, 3) for x in asked]


def test_one_of_many_at_once_is_the_first(running: Service) -> None:
    """Connections of both workers ask for the same simhashes: each is new exactly once."""
    chance = random.Random(5)
    asked = [chance.getrandbits(64) for _ in range(300)]
    new: list[int] = []

    def ask(seed: int) -> None:
        mixed = random.Random(seed).sample(asked, len(asked))
        with running.client() as client:
            for x in mixed:
                if not client.post("/api/seen", json={"simhash": f"{x:016x}"}).json()["seen"]:
                    new.append(x)

    threads = [threading.Thread(target=ask, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(new) == sorted(asked)


def test_a_match_is_named_by_what_it_came_with(client: httpx.Client) -> None:
    def ask(**fields: object) -> dict[str, object]:
        found: dict[str, object] = client.post("/api/seen", json=fields).json()
        return found

    assert ask(simhash="aaaa0000aaaa0000", id="https://example.com/ä")["seen"] is False
    found = ask(simhash="aaaa0000aaaa0001", id="https://example.com/other")
    assert (found["seen"], found["match_id"]) == (True, "https://example.com/ä")
    assert "match_id" not in ask(simhash="aaaa0000aaaa0001")
    # What came without a name has none.
    assert ask(simhash="bbbb0000bbbb0000")["seen"] is False
    assert ask(simhash="bbbb0000bbbb0000", id="x").get("match_id") is None
    many = ask(
        simhashes=["cccc0000cccc0000", "aaaa0000aaaa0000", None, "cccc0000cccc0001"],
        ids=["first", "second", "third", None],
    )
    assert many["seen"] == [False, True, False, True]
    assert many["match_id"] == [None, "https://example.com/ä", None, "first"]


def test_contents_are_seen_by_their_simhash(client: httpx.Client) -> None:
    text = "pages of a crawl that say nearly the same thing over and over again, as calendars do"
    known = f"{roughly.simhash(text):016x}"
    first = client.post("/api/seen", json={"content": text}).json()
    assert (first["seen"], first["simhash"]) == (False, known)
    page = f"<html><body><p>{text.upper()}</p><script>x()</script></body></html>"
    for kind in ("text/html", "text/html; charset=utf-8"):
        again = client.post("/api/seen", content=page, headers={"content-type": kind}).json()
        assert (again["seen"], again["match"], again["distance"]) == (True, known, 0)
    nothing = client.post("/api/seen", json={"content": " ... "}).json()
    assert (nothing["seen"], nothing["match"]) == (False, None)
    large = text + " more words" * 5000
    assert client.post("/api/seen", json={"content": large}).json()["seen"] is False
    assert client.post("/api/seen", json={"content": large}).json()["distance"] == 0


def test_long_lists(client: httpx.Client) -> None:
    values = np.random.default_rng(9).integers(0, 2**64, 5000, np.uint64)
    wanted = [f"{x:016x}" for x in values.tolist()]
    assert client.post("/api/seen", json={"simhashes": wanted}).json()["seen"] == [False] * 5000
    octets = client.post("/api/seen", content=values.tobytes(), headers=OCTETS).content
    positions = np.frombuffer(octets, "<i8")
    assert (np.diff(positions) == 1).all()
    too_many = np.zeros((1 << 17) + 1, "<u8").tobytes()
    found = client.post("/api/seen", content=too_many, headers=OCTETS)
    assert (found.status_code, found.json()["error"]["code"]) == (413, "too_large")


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"simhash": "1", "simhashes": ["2"]},
        {"simhash": "xyz"},
        {"simhash": ""},
        {"simhash": "0x12"},
        {"simhash": "12345678123456781"},
        {"simhash": 5},
        {"simhashes": "1"},
        {"simhash": "1", "ids": ["a"]},
        {"simhashes": ["1"], "id": "a"},
        {"simhashes": ["1"], "ids": ["a", "b"]},
        {"simhash": "1", "id": ""},
        {"simhash": "1", "id": "x" * LONGEST_NAME},
        {"simhash": "1", "unknown": 1},
    ],
)
def test_what_is_no_question(client: httpx.Client, fields: dict[str, object]) -> None:
    found = client.post("/api/seen", json=fields)
    assert (found.status_code, found.json()["error"]["code"]) == (400, "bad_request")


def test_octets_that_are_cut_short(client: httpx.Client) -> None:
    assert client.post("/api/seen", content=b"1234567", headers=OCTETS).status_code == 400
    assert client.post("/api/seen", content=b"", headers=OCTETS).content == b""


# --- parts ----------------------------------------------------------------------------------------


@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 2**32 - 1), st.binary(max_size=40))),
    st.lists(st.integers(1, 30), min_size=1),
)
def test_frames_come_out_as_they_went_in(
    sent: list[tuple[int, int, bytes]], sizes: list[int]
) -> None:
    data = b"".join(frame(kind, number, payload) for kind, number, payload in sent)
    frames, found, place = Frames(), [], 0
    while place < len(data):
        size = sizes[place % len(sizes)]
        found += frames.feed(data[place : place + size])
        place += size
    assert found == sent


def test_a_frame_that_cannot_be_is_refused() -> None:
    with pytest.raises(ValueError, match="too large"):
        list(Frames().feed(b"\xff" * 20))


def test_names_are_kept(tmp_path: Path) -> None:
    names = SeenNames(tmp_path)
    names.put(0, [10, 11, 12], ["a", None, "ä\ud800"])
    names.put(7, [17], ["x" * (LONGEST_NAME + 1)])
    names.put(8, [18], ["b"])
    names.close()
    names = SeenNames(tmp_path)
    entries = [(0, 10), (1, 11), (2, 12), (7, 17), (8, 18), (99, 1)]
    assert [names.get(*each) for each in entries] == ["a", None, "ä\ud800", None, "b", None]
    # Another simhash at that position, as after a power loss: no name is better than a wrong one.
    assert names.get(0, 999) is None
    names.close()
    with (tmp_path / "names").open("r+b") as file:
        file.truncate((tmp_path / "names").stat().st_size - 1)
    names = SeenNames(tmp_path)
    assert [names.get(0, 10), names.get(8, 18)] == ["a", None]
    names.put(9, [19], ["c"])
    assert [names.get(0, 10), names.get(9, 19)] == ["a", "c"]
    names.close()
