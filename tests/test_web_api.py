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
        ("https://example.com/b", round(18 / 19, 4)),
        ("https://example.com/b", round(18 / 19, 4)),
    ]


def test_evidence_is_common_text(client: httpx.Client) -> None:
    found = client.post("/api/find", json={"content": FOX, "evidence": 1}).json()["documents"]
    same = next(row for row in found if row["date"] == "2026-01-01" and row["id"].endswith("/a"))
    assert same["evidence"][0]["text"] == FOX
    assert same["evidence"][0]["tokens"] == len(FOX.split())
