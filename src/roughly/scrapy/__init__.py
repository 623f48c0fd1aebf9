"""A Scrapy add-on: near duplicates of pages that a crawl has seen are not followed.

    ADDONS = {"roughly.scrapy.NearDuplicates": 500}

in settings.py is all it takes; docs/scrapy.md has the settings. It puts a middleware between the
engine and the spider, and with ROUGHLY_SERVICE a second one that asks a service.
"""

from __future__ import annotations

from typing import Any

try:
    from roughly.scrapy.middleware import NearDuplicate, NearDuplicateMiddleware
    from roughly.scrapy.service import ServiceMiddleware
except ModuleNotFoundError as error:
    if error.name != "scrapy":
        raise
    raise ImportError("roughly.scrapy: needs Scrapy: pip install 'roughly[scrapy]'") from error

__all__ = ["NearDuplicate", "NearDuplicateMiddleware", "NearDuplicates"]

# The spider's: behind HttpErrorMiddleware (50), which has then sorted out what failed, before all
# else. The downloader's: the last to have a response, after redirects, retries and the cache.
ORDER = 60


class NearDuplicates:
    """The add-on."""

    def update_settings(self, settings: Any) -> None:
        settings.setdefault_in_component_priority_dict(
            "SPIDER_MIDDLEWARES", NearDuplicateMiddleware, ORDER
        )
        if settings.get("ROUGHLY_SERVICE") and settings.getbool("ROUGHLY_ENABLED", True):
            settings.setdefault_in_component_priority_dict(
                "DOWNLOADER_MIDDLEWARES", ServiceMiddleware, ORDER
            )
