"""Crawls of a real site with and without the add-on: what is fetched, what is kept."""

import json
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import pytest

from tests.crawled_site import ADDON, ARTICLES, VISITORS, Site, crawl, served
from tests.optional import FULL, optional
from tests.reference import simhash as reference
from tests.reference.sketch import words
from tests.reference.token import ContentType

try:
    import scrapy  # noqa: F401
except ImportError as error:
    optional("scrapy", str(error))


class Crawl(NamedTuple):
    fetched: Counter[str]  # by path, without sessions
    items: list[dict[str, Any]]  # with paths, as they came
    stats: dict[str, Any]
    folder: Path

    def paths(self) -> list[str]:
        return [item["url"] for item in self.items]

    def duplicates(self) -> dict[str, str]:
        """Of the stats, as paths without sessions."""
        listed = self.stats.get("roughly/duplicate_of", {})
        return {path(url): path(of) for url, of in listed.items()}


def path(url: str) -> str:
    return urlsplit(url).path or "/"


@pytest.fixture
def crawled(tmp_path: Path) -> Callable[..., Crawl]:
    def run(settings: Mapping[str, Any], start: str = "/", site: Site | None = None) -> Crawl:
        site = site or Site()
        with served(site) as address:
            stats, items = crawl(address + start, settings, tmp_path)
        for item in items:
            item["url"] = item["url"].removeprefix(address)
        fetched: Counter[str] = Counter()
        for target, count in site.fetched.items():
            fetched[path(target)] += count
        return Crawl(fetched, items, stats, tmp_path)

    return run


# Kept for good: nothing like it comes before it.
KEPT = {
    "/": 1,
    **{f"/article/{n}": 1 for n in range(ARTICLES)},
    "/calendar/2026/1": 1,
    "/listing/0": 1,
    "/listed/0": 1,
    "/only/short": 1,
}
# Always kept, though they are alike: too short, or no page.
NEVER_ASKED = {"/short/0": 1, "/short/1": 1, "/short/2": 1, "/feed.xml": 1, "/data.json": 1}
# Fetched to be found near duplicates, each of the page beside it.
DROPPED = {
    "/mirror/article/0": "/article/0",
    "/edited/0": "/article/0",
    "/plain/0": "/article/0",
    "/calendar/2026/2": "/calendar/2026/1",
    "/listing/1": "/listing/0",
    **{f"/article/{n}": f"/article/{n}" for n in range(ARTICLES)},  # with a session
}


def simhashes(target: str) -> list[int]:
    """What a page may have, by the reference: its counter goes on."""
    site, found = Site(), []
    for _ in range(VISITORS if FULL else 1):
        _, headers, body = site.answer(target)
        kind: ContentType = "text" if "plain" in headers["Content-Type"] else "html"
        simhash = reference.simhash(words(body.encode(), kind), 3, 3)
        assert simhash is not None
        found.append(simhash)
    return found


def test_the_site_has_the_distances_that_are_claimed() -> None:
    found = {target: simhashes(target) for target in {*KEPT, *DROPPED, "/edited/1", "/only/edited"}}
    for near, of in DROPPED.items():
        assert all((a ^ b).bit_count() <= 3 for a in found[near] for b in found[of]), near
    apart = [found[target][0] for target in [*KEPT, "/edited/1", "/only/edited"]]
    for at, one in enumerate(apart):
        assert all((one ^ other).bit_count() > 8 for other in apart[:at])


def test_without_the_add_on_every_trap_is_walked_into(crawled: Callable[..., Crawl]) -> None:
    found = crawled({})
    assert found.fetched["/article/0"] >= 10
    assert found.fetched["/calendar/2026/9"] == 1
    for only in ("/only/mirror/0", "/only/edited", "/only/rewritten", "/listed/3"):
        assert found.fetched[only] == 1
    assert sum(found.fetched.values()) > 100
    assert not [name for name in found.stats if name.startswith("roughly")]


def test_near_duplicates_are_dropped_and_not_followed(crawled: Callable[..., Crawl]) -> None:
    found = crawled({**ADDON, "ROUGHLY_DIRECTORY": "pages"})
    wanted = Counter(KEPT) + Counter(NEVER_ASKED) + Counter(DROPPED.keys())
    assert found.fetched == wanted + Counter(["/missing", "/moved/article/1"])
    assert sorted(found.paths()) == sorted([*KEPT, *NEVER_ASKED])
    assert found.stats["roughly/pages"] == len(KEPT) + len(DROPPED)
    assert found.stats["roughly/new"] == len(KEPT)
    assert found.stats["roughly/dropped"] == len(DROPPED)
    assert found.stats["roughly/not_asked/short"] == 3
    assert found.stats["roughly/not_asked/other_type"] == 2
    assert found.duplicates() == DROPPED
    lines = (found.folder / "pages" / "duplicates.jsonl").read_text("utf-8").splitlines()
    told = [json.loads(line) for line in lines]
    assert {path(line["url"]): path(line["duplicate_of"]) for line in told} == DROPPED
    assert {line["action"] for line in told} == {"dropped"}
    assert all(0 <= line["distance"] <= 3 for line in told)
    assert any("?session=" in line["url"] for line in told)
    assert found.stats["finish_reason"] == "finished"
    assert "log_count/ERROR" not in found.stats


def test_demoted_pages_are_kept_and_what_they_link_to_comes_last(
    crawled: Callable[..., Crawl],
) -> None:
    found = crawled({**ADDON, "ROUGHLY_ACTION": "demote", "ROUGHLY_PRIORITY": "-7"})
    assert found.fetched["/only/mirror/0"] == 1
    assert found.stats["roughly/demoted"] > 60
    assert "roughly/dropped" not in found.stats
    first = {item["url"]: item for item in reversed(found.items)}
    assert first["/article/0"]["flags"] == [] and first["/article/0"]["priority"] == 0
    assert first["/edited/0"]["flags"] == ["near-duplicate"] and first["/edited/0"]["priority"] == 0
    assert first["/only/edited"]["flags"] == [] and first["/only/edited"]["priority"] == -7
    assert first["/only/rewritten"]["priority"] == 0  # of a page that is no duplicate
    # One request at a time: all that no duplicate led to is there before the first of the others.
    priorities = [item["priority"] for item in found.items]
    assert set(priorities) == {0, -7}
    assert {path(url) for url in found.paths()[: priorities.index(-7)]} == {
        *KEPT,
        *NEVER_ASKED,
        *DROPPED,
    }


@pytest.mark.skipif(not FULL, reason="part of the full run")
def test_settings_in_a_crawl(crawled: Callable[..., Crawl]) -> None:
    """Pages that are kept by name; a list in the stats that ends; no file without a directory."""
    found = crawled({**ADDON, "ROUGHLY_KEEP": ["/listing/", "^never$"], "ROUGHLY_STATS_URLS": 2})
    assert [found.fetched[f"/{name}/{n}"] for name in ("listing", "listed") for n in range(4)] == [
        1
    ] * 8
    assert found.stats["roughly/not_asked/keep"] == 4
    assert len(found.duplicates()) == 2
    assert found.stats["roughly/dropped"] == len(DROPPED) - 1
    assert [file.name for file in found.folder.iterdir()] == ["crawl.log"]


@pytest.mark.skipif(not FULL, reason="part of the full run")
def test_one_setting_turns_it_off(crawled: Callable[..., Crawl]) -> None:
    found = crawled({**ADDON, "ROUGHLY_ENABLED": False}, "/listing/0")
    assert found.fetched["/listed/3"] == 1


@pytest.mark.skipif(not FULL, reason="part of the full run")
def test_at_k_0_only_the_same_simhash_is_dropped(crawled: Callable[..., Crawl]) -> None:
    """Month by month, until one has the simhash of another; at k = 3 it ends with February."""
    wanted, known = [], set()
    for month in range(1, 6):
        wanted.append(f"/calendar/2026/{month}")
        simhash = simhashes(wanted[-1])[0]
        if simhash in known:
            break
        known.add(simhash)
    assert len(wanted) > 2
    found = crawled({**ADDON, "ROUGHLY_K": 0, "DEPTH_LIMIT": 4}, "/calendar/2026/1")
    assert found.fetched == Counter(wanted)


def test_a_recrawl_keeps_what_was_kept(tmp_path: Path) -> None:
    """In the same directory, with Scrapy's HTTP cache and without: no page is a duplicate of
    itself."""
    site = Site()
    with served(site) as address:
        for again, cache in ((False, True), (True, True), (True, False))[: 3 if FULL else 2]:
            settings = {**ADDON, "ROUGHLY_DIRECTORY": "pages", "HTTPCACHE_ENABLED": cache}
            stats, items = crawl(address + "/listing/0", settings, tmp_path)
            assert [path(item["url"]) for item in items] == ["/listing/0", "/listed/0"]
            assert stats["roughly/same" if again else "roughly/new"] == 2
            assert stats["roughly/dropped"] == 1
    assert site.fetched["/listing/0"] == (2 if FULL else 1)
