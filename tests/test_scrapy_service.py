"""Crawls that ask a real service; and services that are not there, do not answer, or refuse."""

import socket
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.crawled_site import ADDON, Site, crawl, served
from tests.optional import FULL, optional
from tests.service import TOKEN, Service, make_corpus, service
from tests.test_scrapy_crawl import DROPPED, KEPT, NEVER_ASKED, path

try:
    import scrapy  # noqa: F401
except ImportError as error:
    optional("scrapy", str(error))


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with service(make_corpus(tmp_path_factory.mktemp("seen") / "web.roughly")) as found:
        yield found


def asking(address: str, **settings: Any) -> dict[str, Any]:
    return {**ADDON, "ROUGHLY_SERVICE": address, "ROUGHLY_SERVICE_TOKEN": TOKEN, **settings}


def test_crawls_that_share_a_service(running: Service, tmp_path: Path) -> None:
    site = Site()
    with served(site) as address:
        stats, items = crawl(address, asking(running.address, ROBOTSTXT_OBEY=True), tmp_path)
        paths = sorted(path(item["url"]) for item in items)
        assert paths == sorted([*KEPT, *NEVER_ASKED])
        told = stats["roughly/duplicate_of"]
        assert {path(url): path(of) for url, of in told.items()} == DROPPED
        assert (stats["roughly/new"], stats["roughly/dropped"]) == (len(KEPT), len(DROPPED))
        assert stats["roughly/not_asked/short"] == 3
        assert "log_count/WARNING" not in stats and "log_count/ERROR" not in stats
        assert not [
            line
            for line in (tmp_path / "crawl.log").read_text("utf-8").splitlines()
            if "httpx" in line or "httpcore" in line
        ]
        # The same crawl again, with nothing left of the first but the service: all is itself.
        stats, items = crawl(address, asking(running.address), tmp_path)
        assert sorted(path(item["url"]) for item in items) == paths
        assert (stats["roughly/same"], stats["roughly/dropped"]) == (len(KEPT), len(DROPPED))
        # Another crawl begins at the mirror, which the first one knows by another URL.
        stats, items = crawl(address + "/mirror/article/2", asking(running.address), tmp_path)
        assert items == []
        (of,) = stats["roughly/duplicate_of"].values()
        assert of == f"{address}/article/2"


@pytest.mark.skipif(not FULL, reason="part of the full run")
def test_a_paused_crawl_goes_on(tmp_path: Path) -> None:
    site, items, reason, parts = Site(), [], "", 0
    corpus = make_corpus(tmp_path / "web.roughly")
    with service(corpus) as running, served(site) as address:
        job = asking(running.address, JOBDIR="job", CLOSESPIDER_PAGECOUNT=7)
        while reason != "finished":
            stats, found = crawl(address, job, tmp_path)
            items += [path(item["url"]) for item in found]
            reason, parts = stats["finish_reason"], parts + 1
    assert parts > 2
    assert {*items} == {*KEPT, *NEVER_ASKED}


def closed_port() -> str:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{unused.getsockname()[1]}"


def test_without_a_service_pages_are_kept(tmp_path: Path) -> None:
    site = Site()
    with served(site) as address:
        stats, items = crawl(address + "/listing/0", asking(closed_port()), tmp_path)
    assert len(items) == 8
    assert site.fetched == Counter(
        f"/{name}/{n}" for name in ("listing", "listed") for n in range(4)
    )
    assert stats["roughly/unasked"] == 8
    assert stats["roughly/service_failures"] == 1  # it is left alone then
    assert "no answer" in (tmp_path / "crawl.log").read_text("utf-8")


@pytest.mark.skipif(not FULL, reason="part of the full run")
def test_without_a_service_the_spider_is_closed(tmp_path: Path) -> None:
    site = Site()
    with served(site) as address:
        settings = asking(closed_port(), ROUGHLY_SERVICE_DOWN="close", JOBDIR="job")
        stats, items = crawl(address, settings, tmp_path)
    assert stats["finish_reason"] == "roughly_service_down"
    assert [path(item["url"]) for item in items] == ["/"]


@pytest.mark.skipif(not FULL, reason="part of the full run")
def test_a_service_that_refuses_closes_the_spider(running: Service, tmp_path: Path) -> None:
    site = Site()
    with served(site) as address:
        settings = asking(running.address, ROUGHLY_SERVICE_TOKEN="another")
        stats, items = crawl(address, settings, tmp_path)
    assert stats["finish_reason"] == "roughly_service_refused"
    assert len(items) == stats["roughly/unasked"] == 1


@pytest.mark.skipif(not FULL, reason="part of the full run")
def test_a_service_that_never_answers_does_not_stop_the_crawl(tmp_path: Path) -> None:
    site = Site()
    with served(site) as address, socket.create_server(("127.0.0.1", 0)) as silent:
        there = f"http://127.0.0.1:{silent.getsockname()[1]}"
        settings = asking(there, ROUGHLY_SERVICE_TIMEOUT=0.3, CONCURRENT_REQUESTS=8)
        stats, items = crawl(address + "/listing/0", settings, tmp_path)
    assert len(items) == stats["roughly/unasked"] == 8
    assert stats["finish_reason"] == "finished"


@pytest.mark.skipif(not FULL, reason="part of the full run")
def test_without_asyncio_it_says_so(tmp_path: Path) -> None:
    site = Site()
    with served(site) as address:
        reactor = "twisted.internet.selectreactor.SelectReactor"
        crawl(address, asking(closed_port(), TWISTED_REACTOR=reactor), tmp_path)
    assert not site.fetched
    told = (tmp_path / "crawl.log").read_text("utf-8")
    assert "ROUGHLY_SERVICE: cannot be asked: Scrapy runs without asyncio" in told
