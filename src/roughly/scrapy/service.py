"""The downloader middleware that asks a service, while a response is on its way to the spider.

Scrapy's spider middlewares cannot wait for anything before the callback, its downloader middlewares
can; so the question is asked here, asynchronously, and the spider's middleware finds the answer. It
is asked only about what will reach a callback: not about robots.txt, images and files.

A service that does not answer is left alone for a while, and pages are kept meanwhile, or the
spider is closed: as ROUGHLY_SERVICE_DOWN says. One that refuses (a wrong token) always closes it.
"""

from __future__ import annotations

import logging
import time
import weakref
from typing import Any

from scrapy import signals
from scrapy.http.request import NO_CALLBACK

from roughly.errors import ParameterError, RoughlyError, ServiceError
from roughly.scrapy.kept import KeptPages, Workplace
from roughly.scrapy.options import Options, read_options
from roughly.scrapy.page import NEW, SAME, UNASKED, Page, Verdict, page_of
from roughly.scrapy.record import close_spider, logger

try:
    from scrapy.utils.asyncio import is_asyncio_available
except ImportError:  # before Scrapy 2.14
    from scrapy.utils.reactor import is_asyncio_reactor_installed as is_asyncio_available

# Seconds in which a service is not asked again after it did not answer.
REST = 10.0
# A service keeps no longer ids than that.
_LONGEST_ID = 2048


class ServiceMiddleware:
    def __init__(self, crawler: Any, options: Options) -> None:
        if not is_asyncio_available():
            raise ParameterError(
                "ROUGHLY_SERVICE: cannot be asked: Scrapy runs without asyncio",
                hint="leave TWISTED_REACTOR as Scrapy has it",
            )
        from roughly.client import AsyncClient

        # Scrapy's log is at level DEBUG unless told otherwise: several lines for every question.
        for name in ("httpx", "httpcore"):
            if logging.getLogger(name).level == logging.NOTSET:
                logging.getLogger(name).setLevel(logging.WARNING)
        assert options.service is not None
        self._crawler = crawler
        self._options = options
        self._workplace = Workplace(options.directory)
        self._kept = KeptPages(self._workplace.path / "kept.sqlite", options.simhasher.parameters)
        self._client = AsyncClient(options.service, options.token, timeout=options.timeout)
        self._answers: weakref.WeakKeyDictionary[Any, tuple[Page | str, Verdict]] = (
            weakref.WeakKeyDictionary()
        )
        self._rest_until = 0.0
        crawler.signals.connect(self._close, signals.spider_closed)

    @classmethod
    def from_crawler(cls, crawler: Any) -> ServiceMiddleware:
        return cls(crawler, read_options(crawler.settings))

    async def process_response(self, request: Any, response: Any, spider: Any = None) -> Any:
        if request.callback is not NO_CALLBACK:
            page = page_of(response, self._options)
            verdict = NEW if isinstance(page, str) else await self._judged(page)
            self._answers[request] = page, verdict
        return response

    def answer(self, request: Any) -> tuple[Page | str, Verdict]:
        """What was answered about the response to a request."""
        return self._answers.pop(request, ("not_asked", UNASKED))

    async def _judged(self, page: Page) -> Verdict:
        if time.monotonic() < self._rest_until:
            return UNASKED
        try:
            return await self._asked(page)
        except ServiceError as error:
            self._failed(error)
        except RoughlyError as error:
            close_spider(self._crawler, "roughly_index_failed", error)
        return UNASKED

    async def _asked(self, page: Page) -> Verdict:
        own = self._kept.distance(*page)
        # Before the service knows the page: if this crawl is killed now, it is known by its URL.
        self._kept.add(*page)
        id = page.url if len(page.url) <= _LONGEST_ID else None
        found = await self._client.seen(page.simhash, id=id)
        if not found["seen"]:
            return NEW
        of = found.get("match_id")
        if of == page.url or (own is not None and own <= found["parameters"]["k"]):
            return SAME
        if own != 0:
            self._kept.remove(*page)
        if of is None:
            of = self._kept.url_of(int(found["match"], 16))
        return Verdict("duplicate", of, found["distance"])

    def _failed(self, error: ServiceError) -> None:
        self._crawler.stats.inc_value("roughly/service_failures")
        status = error.status or 0
        if 400 <= status < 500 and status not in (408, 429):
            close_spider(self._crawler, "roughly_service_refused", error)
        elif self._options.close_when_down:
            close_spider(self._crawler, "roughly_service_down", error)
        elif time.monotonic() >= self._rest_until:
            self._rest_until = time.monotonic() + REST
            logger.warning(
                "for %d seconds pages are kept without being asked about: %s",
                REST,
                error,
                extra={"spider": self._crawler.spider},
            )

    async def _close(self) -> None:
        await self._client.close()
        self._kept.close()
        self._workplace.close()
