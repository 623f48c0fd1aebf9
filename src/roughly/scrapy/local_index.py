"""LocalIndex: the pages of one crawl, or of many one after the other, in a directory.

    index/         the simhashes of pages that were kept, a SeenIndex
    kept.sqlite    their URLs

A page is entered in kept.sqlite first and in the index then: a crawl that was killed between the
two finds its page neither seen nor a duplicate of itself.
"""

from __future__ import annotations

from pathlib import Path

from roughly.hamming import SeenIndex
from roughly.scrapy.kept import KeptPages
from roughly.scrapy.options import Options
from roughly.scrapy.page import NEW, SAME, Page, Verdict


class LocalIndex:
    """Has its directory for itself until it is closed."""

    def __init__(self, directory: Path, options: Options) -> None:
        self._index = SeenIndex(directory / "index", options.k)
        try:
            self._kept = KeptPages(directory / "kept.sqlite", options.simhasher.parameters)
        except BaseException:
            self._index.close()
            raise

    def judge(self, page: Page) -> Verdict:
        """Whether a page like this was kept before; if not, this one is now."""
        if not len(self._index.find(page.simhash)):
            self._kept.add(*page)
            self._index.add([page.simhash])
            return NEW
        own = self._kept.distance(*page)
        if own is not None and own <= self._index.k:
            return SAME
        match = self._index.seen(page.simhash)
        assert match is not None
        url = self._kept.url_of(match.simhash)
        if url is None:
            # A power loss took the URL: it may have been this page, so it is from now on.
            self._kept.add(page.url, match.simhash)
            return SAME
        return Verdict("duplicate", url, match.distance)

    def close(self) -> None:
        self._kept.close()
        self._index.close()
