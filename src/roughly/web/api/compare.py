"""POST /api/compare: two documents exactly, with the passages they share."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

from roughly.comparison import Kind
from roughly.comparison import compare as compare_documents
from roughly.documents.file import Document
from roughly.errors import NotFoundError
from roughly.parameters import LARGEST_WIDTH
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


class CompareRequest(Asked):
    """Two documents, each as a text or as a URL of the corpus, whose latest document is meant. A
    body that is no JSON is `a`."""

    a: str | None = None
    b: str | None = None
    a_url: str | None = None
    b_url: str | None = None
    w: Annotated[int, msgspec.Meta(ge=1, le=LARGEST_WIDTH)] | None = None
    """Tokens in a shingle; as the corpus has it unless given."""
    content_type: ContentType = "auto"


class Side(msgspec.Struct):
    """One of the two."""

    id: str
    bytes: int
    tokens: int
    shingles: int
    encoding: str
    how: str
    html: bool


class SharedPassage(msgspec.Struct):
    """A run of tokens that both have; offsets are bytes of UTF-8."""

    a_start: int
    a_end: int
    b_start: int
    b_end: int
    tokens: int


class CompareAnswer(Answer):
    """The measures, counted on all shingles of both."""

    resemblance: float
    containment_ab: float
    containment_ba: float
    kind: Kind | None
    common: int
    union: int
    w: int
    words: int
    a: Side
    b: Side
    passages: list[SharedPassage]


def run(view: View, asked: CompareRequest) -> CompareAnswer:
    """Compares them."""
    wanted_one(a=asked.a, a_url=asked.a_url)
    wanted_one(b=asked.b, b_url=asked.b_url)
    a = _document(view, asked.a, asked.a_url, asked.content_type, "a")
    b = _document(view, asked.b, asked.b_url, asked.content_type, "b")
    known = view.corpus.manifest.parameters
    sketcher = Sketcher.of(known) if asked.w is None else Sketcher(asked.w)
    found: dict[str, Any] = compare_documents(a, b, sketcher=sketcher).to_dict()
    del found["estimate"]
    return msgspec.convert(found, CompareAnswer)


def _document(
    view: View, content: str | None, url: str | None, content_type: ContentType, name: str
) -> Document:
    if content is not None:
        return given_document(content, content_type, name)
    known = view.corpus.documents(url or "")
    if not known:
        raise NotFoundError(f"{plain(url or '')}: not in the corpus: no document has this URL")
    return view.corpus.document(known[-1].row)


ENDPOINT = Endpoint(
    "POST",
    "/api/compare",
    CompareRequest,
    CompareAnswer,
    run,
    "Resemblance, containment and common passages of two documents",
    content="a",
)
