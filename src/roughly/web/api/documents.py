"""GET /api/documents/{url}: all documents of a page, oldest first."""

from __future__ import annotations

import msgspec
import numpy as np

from roughly.errors import NotFoundError
from roughly.web.api.endpoint import Answer, Asked, Endpoint
from roughly.web.error import plain
from roughly.web.view import View


class DocumentsRequest(Asked):
    """A URL in any spelling, or an id."""

    url: str
    text: bool = False
    """Whether the stored text is asked for."""


class StoredDocument(msgspec.Struct):
    """One version of a page."""

    id: str
    date: str | None
    tokens: int
    shingles: int
    html: bool
    simhash: str | None
    text: str | None


class DocumentsAnswer(Answer):
    """The versions, oldest first."""

    documents: list[StoredDocument]


def run(view: View, asked: DocumentsRequest) -> DocumentsAnswer:
    """Looks them up."""
    collection = view.corpus.collection
    known = view.corpus.documents(asked.url)
    if not known:
        raise NotFoundError(
            f"{plain(asked.url)}: not in the corpus: no document has this URL",
            hint="look for its text with POST /api/find",
        )
    rows = np.array([each.row for each in known], np.int64)
    html = collection.take("html", rows).to_pylist()
    simhashes: list[int | None] = [None] * len(rows)
    if view.corpus.manifest.settings.condition.simhash is not None:
        simhashes = collection.take("simhash", rows).to_pylist()
    texts: list[bytes | None] = [None] * len(rows)
    if asked.text and collection.has_text:
        texts = collection.text(rows).to_pylist()
    return DocumentsAnswer(
        documents=[
            StoredDocument(
                plain(each.id),
                each.date,
                int(collection.tokens[each.row]),
                int(collection.size[each.row]),
                html[n],
                None if (simhash := simhashes[n]) is None else f"{simhash:016x}",
                None if (text := texts[n]) is None else text.decode("utf-8", "replace"),
            )
            for n, each in enumerate(known)
        ]
    )


ENDPOINT = Endpoint(
    "GET",
    "/api/documents/{url:path}",
    DocumentsRequest,
    DocumentsAnswer,
    run,
    "All documents of a page, oldest first",
)
