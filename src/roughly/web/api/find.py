"""POST /api/find: documents like a text, or like a stored document, best first, with evidence."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from roughly.comparison import compare
from roughly.documents.file import Document
from roughly.search.match import Found, Kind, Match
from roughly.sketcher import Sketcher
from roughly.web.api.endpoint import (
    Answer,
    Asked,
    ContentType,
    Endpoint,
    given_document,
    wanted_one,
)
from roughly.web.error import plain
from roughly.web.view import View

Share = Annotated[float, msgspec.Meta(gt=0, le=1)]
_EXCERPT = 400  # bytes of a passage that are shown


class FindRequest(Asked):
    """A text or a URL of the corpus, and what counts as like it."""

    content: str | None = None
    url: str | None = None
    content_type: ContentType = "auto"
    threshold: Share | None = None
    containment: Share | None = None
    direction: Literal["both", "contained", "contains"] = "both"
    date: str | None = None
    limit: Annotated[int, msgspec.Meta(ge=1, le=1000)] = 10
    exact: bool | None = None
    method: Literal["shingles", "simhash", "both"] | None = None
    distance: Annotated[int, msgspec.Meta(ge=0, le=10)] | None = None
    size_ratio: Share | None = None
    within: str | None = None
    category: str | None = None
    evidence: Annotated[int, msgspec.Meta(ge=0, le=20)] = 0
    """Passages to show of each document, the longest."""


class CommonPassage(msgspec.Struct):
    """A stretch that both texts have; offsets are bytes of UTF-8."""

    query_start: int
    query_end: int
    found_start: int
    found_end: int
    tokens: int
    text: str


class FoundDocument(msgspec.Struct, omit_defaults=False, kw_only=True):
    """A document that is like what was asked for."""

    id: str
    url: str | None
    date: str | None
    resemblance: float
    low: float
    high: float
    containment_query: float | None
    containment_found: float | None
    kind: Kind
    samples: int
    containment_query_low: float | None
    containment_query_high: float | None
    containment_query_samples: int | None
    containment_found_low: float | None
    containment_found_high: float | None
    containment_found_samples: int | None
    counted: bool
    distance: int | None = None
    evidence: list[CommonPassage] = []


class Promise(msgspec.Struct):
    """How many of the documents that just reach what is asked for are found."""

    recall: float
    documents: int
    blind: int
    least: float


class FindAnswer(Answer):
    """The documents, best first."""

    documents: list[FoundDocument]
    total: int
    promise: Promise
    scanned: int
    query_size: int
    uncounted: int


def run(view: View, asked: FindRequest) -> FindAnswer:
    """Searches the corpus."""
    wanted_one(content=asked.content, url=asked.url)
    query = None
    if asked.content is not None:
        query = given_document(asked.content, asked.content_type)
    found: Found = view.corpus.find(
        query,
        asked.url,
        threshold=ratio(asked.threshold),
        containment=ratio(asked.containment),
        direction=asked.direction,
        date=asked.date,
        limit=asked.limit,
        exact=asked.exact,
        method=asked.method,
        distance=asked.distance,
        size_ratio=ratio(asked.size_ratio),
        within=asked.within,
        category=asked.category,
        threads=1,
    )
    documents = [msgspec.convert(match.to_dict(), FoundDocument) for match in found]
    if asked.evidence and view.corpus.manifest.text:
        if query is None:
            query = view.corpus.document(view.corpus.documents(asked.url or "")[-1].row)
        for shown, match in zip(documents, found, strict=True):
            shown.evidence = _evidence(view, query, match, asked.evidence)
    return FindAnswer(
        documents=documents,
        total=found.total,
        promise=Promise(*found.promise),
        scanned=found.scanned,
        query_size=found.query_size,
        uncounted=found.uncounted,
    )


def ratio(value: float | None) -> str | None:
    """As it was written: 0.7 is 7/10."""
    return None if value is None else repr(value)


def _evidence(view: View, query: Document, match: Match, most: int) -> list[CommonPassage]:
    other = view.corpus.document(match.row)
    sketcher = Sketcher.of(view.corpus.manifest.parameters)
    found = compare(query, other, sketcher=sketcher)
    passages = sorted(found.passages, key=lambda each: -each.tokens)[:most]
    return [
        CommonPassage(
            each.a_start,
            each.a_end,
            each.b_start,
            each.b_end,
            each.tokens,
            excerpt(query.text_utf8[each.a_start : each.a_end]),
        )
        for each in passages
    ]


def excerpt(text: bytes, most: int = _EXCERPT) -> str:
    """The beginning of a text, as text."""
    cut = text[:most].decode("utf-8", "ignore" if len(text) > most else "replace")
    return plain(cut) + ("..." if len(text) > most else "")


ENDPOINT = Endpoint(
    "POST",
    "/api/find",
    FindRequest,
    FindAnswer,
    run,
    "Documents like a text, or like the latest document of a URL, best first",
    content="content",
)
