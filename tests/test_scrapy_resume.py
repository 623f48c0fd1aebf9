"""Crawls that are paused, killed and gone on with: no page is lost as a duplicate of itself."""

import json
import random
import resource
import signal
import subprocess
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.crawled_site import ADDON, Site, command, crawl, served
from tests.optional import FULL, optional
from tests.test_scrapy_crawl import DROPPED, KEPT, NEVER_ASKED, path

try:
    import scrapy  # noqa: F401
except ImportError as error:
    optional("scrapy", str(error))


def told(folder: Path) -> list[dict[str, Any]]:
    lines = (folder / "duplicates.jsonl").read_bytes().splitlines()
    return [json.loads(line) for line in lines]


@pytest.mark.skipif(not FULL, reason="part of the full run")
def test_a_paused_crawl_goes_on(tmp_path: Path) -> None:
    """Every few pages: what reaches the spider in all parts is what one crawl would have given."""
    site, items, parts = Site(), [], 0
    job = {**ADDON, "JOBDIR": "job", "CLOSESPIDER_PAGECOUNT": 7}
    with served(site) as address:
        reason = ""
        while reason != "finished":
            stats, found = crawl(address, job, tmp_path)
            items += [path(item["url"]) for item in found]
            reason, parts = stats["finish_reason"], parts + 1
    assert parts > 2
    assert {*items} == {*KEPT, *NEVER_ASKED}
    lines = told(tmp_path / "job" / "roughly")
    assert {path(line["url"]): path(line["duplicate_of"]) for line in lines} == DROPPED
    assert not site.fetched.keys() & {"/only/mirror/0", "/only/edited", "/mirror/article/1"}


def test_a_killed_crawl_is_begun_again(tmp_path: Path) -> None:
    """Scrapy forgets what was in flight when it is killed, and its job folder keeps what was asked
    for; so the crawl is begun again in a new one, with the pages known. However often, all pages
    that one crawl would have kept reach the spider."""
    draw = random.Random(3)
    site = Site()
    with served(site) as address:
        for kill in range(20 if FULL else 1):
            asked = sum(site.fetched.values())
            settings = {**ADDON, "JOBDIR": f"job{kill}", "ROUGHLY_DIRECTORY": "pages"}
            with (tmp_path / "killed.log").open("ab") as log:
                run = subprocess.Popen(
                    command(address, settings), stdout=log, stderr=log, cwd=tmp_path
                )
            # Anywhere between the first page and the last.
            wanted = asked + draw.randint(1, 25)
            while run.poll() is None and sum(site.fetched.values()) < wanted:
                time.sleep(0.002)
            run.send_signal(signal.SIGKILL)
            run.wait()
        stats, items = crawl(
            address, {**ADDON, "JOBDIR": "last", "ROUGHLY_DIRECTORY": "pages"}, tmp_path
        )
    assert {path(item["url"]) for item in items} == {*KEPT, *NEVER_ASKED}
    assert stats["roughly/same"] > 0
    assert stats["roughly/same"] + stats.get("roughly/new", 0) == len(KEPT)
    for line in told(tmp_path / "pages"):
        assert line["url"] != line["duplicate_of"]


@pytest.mark.skipif(not FULL, reason="part of the full run")
def test_the_job_of_a_killed_crawl_can_be_gone_on_with(tmp_path: Path) -> None:
    """As far as Scrapy can: the first page is asked for anew, and is no duplicate of itself."""
    site = Site()
    settings = {**ADDON, "JOBDIR": "job"}
    with served(site) as address:
        with (tmp_path / "killed.log").open("ab") as log:
            run = subprocess.Popen(command(address, settings), stdout=log, stderr=log, cwd=tmp_path)
        while sum(site.fetched.values()) < 5:
            assert run.poll() is None
            time.sleep(0.002)
        run.kill()
        run.wait()
        stats, items = crawl(address, settings, tmp_path)
    assert "/" in {path(item["url"]) for item in items}
    assert stats["roughly/same"] >= 1


@pytest.mark.skipif(not FULL, reason="part of the full run")
def test_a_full_disk_closes_the_spider(tmp_path: Path) -> None:
    """No page is lost: those on their way reach the spider."""
    site = Site()

    def small_files() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (120_000, 120_000))

    with served(site) as address, (tmp_path / "crawl.log").open("wb") as log:
        run = subprocess.run(
            command(address, {**ADDON, "ROUGHLY_DIRECTORY": "pages", "LOG_LEVEL": "ERROR"}),
            stdout=subprocess.PIPE,
            stderr=log,
            cwd=tmp_path,
            preexec_fn=small_files,
            check=True,
        )
    found = json.loads(run.stdout.splitlines()[-1])
    assert found["stats"]["finish_reason"] == "roughly_index_failed"
    assert found["stats"]["roughly/unasked"] >= 1
    assert "kept.sqlite: cannot be used: " in (tmp_path / "crawl.log").read_text("utf-8")
    pages = site.fetched - Counter(["/missing", "/moved/article/1"])
    assert len(found["items"]) + found["stats"]["roughly/dropped"] == pages.total()
