"""The API as programs see it: a real service, asked over HTTP."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

import roughly
from tests.service import FOX, Service, make_corpus, service


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_corpus(tmp_path_factory.mktemp("web") / "web.roughly")


@pytest.fixture(scope="module")
def running(corpus: Path) -> Iterator[Service]:
    with service(corpus) as started:
        yield started


@pytest.fixture(scope="module")
def client(running: Service) -> Iterator[httpx.Client]:
    with running.client() as opened:
        yield opened


def test_health_tells_version_and_parameters(client: httpx.Client) -> None:
    found = client.get("/health")
    assert found.status_code == 200
    plain = found.json()
    assert plain["status"] == "ok" and plain["documents"] == 6
    assert plain["version"] == roughly.__version__
    assert plain["parameters"]["w"] == 5 and plain["parameters"]["select"] == "adaptive:200"
    assert "seed" not in plain["parameters"]


def test_find_is_what_the_library_finds(client: httpx.Client, corpus: Path) -> None:
    wanted = [match.to_dict() for match in roughly.Corpus(corpus).find(FOX)]
    found = client.post("/api/find", json={"content": FOX}).json()["documents"]
    assert [row["id"] for row in found] == [row["id"] for row in wanted]
    for row, other in zip(found, wanted, strict=True):
        assert {key: row[key] for key in other} == other


def test_find_by_url_and_by_a_raw_body(client: httpx.Client) -> None:
    by_url = client.post("/api/find", json={"url": "example.com/soup"}).json()["documents"]
    assert [row["id"] for row in by_url] == ["https://example.com/c"]
    page = f"<html><body><h1>{FOX}</h1></body></html>"
    raw = client.post(
        "/api/find?threshold=0.9", content=page, headers={"content-type": "text/html"}
    ).json()["documents"]
    # 22 words, 18 shingles; "again" adds one.
    assert sorted((row["id"], round(row["resemblance"], 4)) for row in raw) == [
        ("https://example.com/a", 1.0),
        ("https://example.com/b", round(37 / 39, 4)),  # 18 of 19 shingles, 19 of 20 words
        ("https://example.com/b", round(37 / 39, 4)),  # 18 of 19 shingles, 19 of 20 words
    ]


def test_evidence_is_common_text(client: httpx.Client) -> None:
    found = client.post("/api/find", json={"content": FOX, "evidence": 1}).json()["documents"]
    same = next(row for row in found if row["date"] == "2026-01-01" and row["id"].endswith("/a"))
    assert same["evidence"][0]["text"] == FOX
    assert same["evidence"][0]["tokens"] == len(FOX.split())


def test_compare_is_what_the_library_says(client: httpx.Client, corpus: Path) -> None:
    opened = roughly.Corpus(corpus)
    a, b = (opened.document(opened.documents(f"https://example.com/{n}")[-1].row) for n in "ab")
    wanted = roughly.compare(a, b).to_dict()
    found = client.post(
        "/api/compare", json={"a_url": "https://example.com/a", "b_url": "example.com/b"}
    ).json()
    assert {key: found[key] for key in wanted if key != "estimate"} == {
        key: value for key, value in wanted.items() if key != "estimate"
    }
    # By hand: "a b c" and "b c d" have two shingles of two words each, one of them common.
    narrow = client.post("/api/compare", json={"a": "a b c", "b": "b c d", "w": 2}).json()
    assert (narrow["common"], narrow["union"]) == (1, 3)
    raw = client.post(
        "/api/compare?b_url=example.com/b",
        content=FOX.encode("utf-16"),
        headers={"content-type": "text/plain"},
    ).json()
    assert (raw["containment_ab"], raw["a"]["encoding"]) == (1.0, "utf-16le")


def test_documents_of_a_page(client: httpx.Client) -> None:
    found = client.get("/api/documents/example.com%2Fa?text=true").json()["documents"]
    assert [(each["date"], each["text"]) for each in found] == [
        ("2026-01-01", FOX),
        ("2026-02-01", FOX.replace("dog", "cat")),
    ]
    assert [each["tokens"] for each in found] == [22, 22]
    quiet = client.get("/api/documents/example.com%2Fa").json()["documents"]
    assert [each["text"] for each in quiet] == [None, None]


@pytest.mark.parametrize("threshold", [None, 0.5, 0.7, 0.99])
def test_clusters_are_those_of_the_library(
    client: httpx.Client, corpus: Path, threshold: float | None
) -> None:
    query = {} if threshold is None else {"threshold": threshold}
    wanted = roughly.Corpus(corpus).clusters(threshold)
    found = client.get("/api/clusters", params=query).json()
    assert found["total"] == len(wanted)
    assert found["documents"] == sum(map(len, wanted))
    members = []
    for each in found["clusters"]:
        one = client.get(f"/api/clusters/{each['cluster']}", params=query).json()
        assert one["size"] == each["size"] == len(one["members"])
        assert one["representative"] == each["representative"] == one["members"][0]["id"]
        members.append([member["id"] for member in one["members"]])
    assert sorted(members) == sorted(wanted)
    page = client.get("/api/clusters", params={**query, "limit": 1, "offset": 1}).json()
    assert page["clusters"] == found["clusters"][1:2]


def test_lost_pages_changes_and_results(client: httpx.Client, corpus: Path) -> None:
    opened = roughly.Corpus(corpus)
    trace = opened.lost("https://example.com/c")
    assert trace is not None
    found = client.get("/api/lost", params={"url": "http://example.com/c"}).json()
    assert found["places"] == [move.to_dict() for move in trace.moves]
    assert found["places"][0]["new"] == "https://example.com/soup"
    changes = opened.changes()
    told = client.get("/api/changes").json()
    assert (told["stayed"], told["changed"]) == (changes.stayed, changes.changed) == (2, 1)
    assert told["histogram"] == changes.histogram
    ranked = ["https://example.com/soup", "https://example.com/never", "example.com/c"]
    groups = client.post("/api/collapse", json={"results": ranked}).json()["groups"]
    assert [(group["rank"], group["known"]) for group in groups] == [(1, True), (2, False)]
    assert [other["rank"] for other in groups[0]["others"]] == [3]


def test_adding(client: httpx.Client, corpus: Path) -> None:
    """Last in this file: it changes the corpus."""
    assert client.post("/api/add", json={"documents": []}).status_code == 400
    bad = {"documents": [{"id": "x", "content": "y"}], "date": "no date"}
    assert client.post("/api/add", json=bad).status_code == 400
    new = [
        {"id": "https://example.com/new", "date": "2026-03-01", "content": f"{FOX} and more"},
        {"id": "https://example.com/b", "date": "2026-02-01", "content": f"{FOX} again"},
    ]
    found = client.post("/api/add", json={"documents": new}).json()
    assert (found["documents"], found["there"]) == (1, 1)
    assert client.get("/health").json()["documents"] == 7
    assert len(roughly.Corpus(corpus)) == 7
    undated = {"documents": [{"id": "u", "content": "text of no page"}], "date": "2026-04-01"}
    assert client.post("/api/add", json=undated).json()["documents"] == 1
    assert client.get("/api/documents/u").json()["documents"][0]["date"] == "2026-04-01"
