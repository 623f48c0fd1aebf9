"""What is said about near duplicates: counts and the first few in Scrapy's stats, each in the log,
and all of them in duplicates.jsonl.

A line of the file is written at once, so a killed crawl leaves whole lines.
"""

from __future__ import annotations

import json
import logging
import os
import weakref
from pathlib import Path
from typing import Any

from scrapy.utils.defer import deferred_from_coro

from roughly.errors import RoughlyError
from roughly.scrapy.page import Page, Verdict
from roughly.storage.durable import writing

logger = logging.getLogger("roughly.scrapy")


class Record:
    """Of one crawl; `path` is None where no file is wanted."""

    def __init__(self, crawler: Any, path: Path | None, stats_urls: int) -> None:
        self._crawler = crawler
        self._stats_urls = stats_urls
        self._path = path
        self._descriptor: int | None = None
        if path is not None:
            with writing(path):
                self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
                self._end_line()

    def _end_line(self) -> None:
        """A power loss may have cut the last line short; the next one stands by itself."""
        assert self._descriptor is not None
        size = os.fstat(self._descriptor).st_size
        if size and os.pread(self._descriptor, 1, size - 1) != b"\n":
            os.write(self._descriptor, b"\n")

    def count(self, name: str) -> None:
        self._crawler.stats.inc_value(f"roughly/{name}")

    def duplicate(self, page: Page, verdict: Verdict, action: str) -> None:
        """`action`: dropped or demoted."""
        self.count(action)
        of = verdict.of or "a page of another crawl"
        logger.debug(
            "%s: near duplicate of %s, distance %s: %s",
            page.url,
            of,
            verdict.distance,
            action,
            extra={"spider": self._crawler.spider},
        )
        listed: dict[str, str] = self._crawler.stats.get_value("roughly/duplicate_of", {})
        if len(listed) < self._stats_urls:
            self._crawler.stats.set_value("roughly/duplicate_of", {**listed, page.url: of})
        if self._descriptor is None or self._path is None:
            return
        line = {
            "url": page.url,
            "duplicate_of": verdict.of,
            "distance": verdict.distance,
            "simhash": f"{page.simhash:016x}",
            "action": action,
        }
        with writing(self._path):
            os.write(self._descriptor, json.dumps(line).encode() + b"\n")

    def close(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def close_spider(crawler: Any, reason: str, error: RoughlyError) -> None:
    """Closes the spider because of an error; pages that are on their way still reach it."""
    if crawler.engine is None or crawler in _closing:
        return
    _closing.add(crawler)
    logger.error("closing the spider: %s", error, extra={"spider": crawler.spider})
    if hasattr(crawler.engine, "close_spider_async"):  # from Scrapy 2.14 on
        deferred_from_coro(crawler.engine.close_spider_async(reason=reason))
    else:
        crawler.engine.close_spider(crawler.spider, reason)


# Once is enough.
_closing: weakref.WeakSet[Any] = weakref.WeakSet()
