"""The spider middleware: judges a response before the spider's callback has it.

`process_spider_input` raises NearDuplicate for a page that is to be dropped, and
`process_spider_exception` makes nothing of it: the callback is not called, no link is followed. A
demoted page reaches the callback; what it links to is requested later. Nothing here waits: a
service was asked while the response was on its way (service.py).
"""

from __future__ import annotations

import weakref
from typing import Any

from scrapy import signals
from scrapy.exceptions import IgnoreRequest, NotConfigured
from scrapy.spidermiddlewares.base import BaseSpiderMiddleware

from roughly.errors import RoughlyError
from roughly.scrapy.kept import Workplace
from roughly.scrapy.local_index import LocalIndex
from roughly.scrapy.options import Options, read_options
from roughly.scrapy.page import UNASKED, Page, Verdict, page_of
from roughly.scrapy.record import Record, close_spider
from roughly.scrapy.service import ServiceMiddleware


class NearDuplicate(IgnoreRequest):
    """A page was dropped: it is nearly the one at `duplicate_of`."""

    def __init__(self, url: str, duplicate_of: str | None) -> None:
        super().__init__(f"{url}: near duplicate of {duplicate_of or 'a page of another crawl'}")
        self.duplicate_of = duplicate_of


class NearDuplicateMiddleware(BaseSpiderMiddleware):
    def __init__(self, crawler: Any, options: Options) -> None:
        super().__init__(crawler)
        self._options = options
        self._workplace: Workplace | None = None
        self._index: LocalIndex | None = None
        if options.service is None:
            self._workplace = Workplace(options.directory)
            self._index = LocalIndex(self._workplace.path, options)
        path = None if options.directory is None else options.directory / "duplicates.jsonl"
        self._record = Record(crawler, path, options.stats_urls)
        self._demoted: weakref.WeakSet[Any] = weakref.WeakSet()
        crawler.signals.connect(self._close, signals.spider_closed)

    @classmethod
    def from_crawler(cls, crawler: Any) -> NearDuplicateMiddleware:
        if not crawler.settings.getbool("ROUGHLY_ENABLED", True):
            raise NotConfigured
        return cls(crawler, read_options(crawler.settings))

    def process_spider_input(self, response: Any, spider: Any = None) -> None:
        page, verdict = self._judged(response)
        if isinstance(page, str):
            self._record.count(f"not_asked/{page}")
            return
        self._record.count("pages")
        if verdict.kind != "duplicate":
            self._record.count(verdict.kind)
            return
        self._record.duplicate(page, verdict, "demoted" if self._options.demote else "dropped")
        if not self._options.demote:
            raise NearDuplicate(page.url, verdict.of)
        response.flags.append("near-duplicate")
        self._demoted.add(response)

    def process_spider_exception(
        self, response: Any, exception: Exception, spider: Any = None
    ) -> list[Any] | None:
        return [] if isinstance(exception, NearDuplicate) else None

    def get_processed_request(self, request: Any, response: Any) -> Any:
        """Of what a callback made of a response."""
        if response is not None and response in self._demoted:
            request.priority += self._options.priority
        return request

    def _judged(self, response: Any) -> tuple[Page | str, Verdict]:
        if self._index is None:
            service: ServiceMiddleware = self.crawler.get_downloader_middleware(ServiceMiddleware)
            return service.answer(response.request)
        page = page_of(response, self._options)
        if isinstance(page, str):
            return page, UNASKED
        try:
            return page, self._index.judge(page)
        except RoughlyError as error:
            # The page goes on to the spider: it would be lost, for its request is done.
            close_spider(self.crawler, "roughly_index_failed", error)
            return page, UNASKED

    def _close(self) -> None:
        self._record.close()
        if self._index is not None and self._workplace is not None:
            self._index.close()
            self._workplace.close()
