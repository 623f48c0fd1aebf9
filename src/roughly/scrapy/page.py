"""From a response to what is asked about: a URL and a simhash; and what the answer can be.

Asked about are successful responses with text, HTML or plain; never feeds, scripts, JSON, images,
error pages that the spider handles itself, very short texts (all of them look alike), and what
ROUGHLY_KEEP names.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from scrapy.http import HtmlResponse, TextResponse
from w3lib.url import canonicalize_url

from roughly.scrapy.options import Options


class Page(NamedTuple):
    url: str  # in the form by which Scrapy tells requests apart
    simhash: int


class Verdict(NamedTuple):
    """`new`: nothing like it was seen; `same`: seen, but at this very URL; `duplicate`; `unasked`:
    there was no answer."""

    kind: Literal["new", "same", "duplicate", "unasked"]
    of: str | None = None  # the URL that a duplicate duplicates, where it is known
    distance: int | None = None  # bits


NEW, SAME, UNASKED = Verdict("new"), Verdict("same"), Verdict("unasked")


def page_of(response: Any, options: Options) -> Page | str:
    """The page, or why it is not asked about: the last part of a name in the stats."""
    kind = _kind(response)
    if kind is None:
        return "other_type"
    if not 200 <= response.status < 300:
        return "other_status"
    if options.keep is not None and options.keep.search(response.url):
        return "keep"
    batch = options.simhasher.simhash_batch([response.text], kind, threads=1)
    simhash = batch[0]
    if simhash is None or int(batch.tokens[0]) < options.min_words:
        return "short"
    return Page(canonicalize_url(response.url), simhash)


def _kind(response: Any) -> str | None:
    if isinstance(response, HtmlResponse):
        return "html"
    header = response.headers.get(b"Content-Type", b"").partition(b";")[0].strip().lower()
    # Its subclasses are XML and JSON.
    return "text" if type(response) is TextResponse and header == b"text/plain" else None
