"""A Scrapy add-on: near duplicates of pages that a crawl has seen are not followed.

    ADDONS = {"roughly.scrapy.NearDuplicates": 500}

in settings.py is all it takes; docs/scrapy.md has the settings. It puts a middleware between the
engine and the spider.
"""

from __future__ import annotations

from typing import Any

from roughly.scrapy.middleware import NearDuplicate, NearDuplicateMiddleware

__all__ = ["NearDuplicate", "NearDuplicateMiddleware", "NearDuplicates"]

# Behind HttpErrorMiddleware (50), which has then sorted out what failed; before all else.
ORDER = 60


class NearDuplicates:
    """The add-on."""

    def update_settings(self, settings: Any) -> None:
        settings.setdefault_in_component_priority_dict(
            "SPIDER_MIDDLEWARES", NearDuplicateMiddleware, ORDER
        )
