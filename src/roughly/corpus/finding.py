"""Documents like a given one, by text or by URL: the corpus's side of `roughly.search`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from roughly.corpus.lookup import NamedDocument, documents_of, spellings
from roughly.corpus.sweep_search import sweep_searcher
from roughly.documents.file import Document, document, is_html, printable
from roughly.errors import DocumentError, ParameterError
from roughly.search.find import Progress, find
from roughly.search.match import Found
from roughly.search.query import Query
from roughly.search.rule import Rule
from roughly.search.searcher import Direction, Searcher, Threshold, check_searchable

if TYPE_CHECKING:
    from roughly.storage.collection import Collection


def find_documents(
    collection: Collection,
    searcher: Searcher,
    text: str | bytes | Document | None,
    url: str | None,
    *,
    threshold: Threshold | None,
    containment: Threshold | None,
    direction: Direction,
    date: str | None,
    limit: int | None,
    exact: bool | None,
    content_type: str,
    threads: int,
    progress: Progress,
) -> Found:
    """As `Corpus.find` says."""
    if (text is None) == (url is None):
        raise ParameterError("find: wanted either a text or a URL")
    check_searchable(collection.parameters, containment is not None)
    if limit is not None and limit < 1:
        raise ParameterError(f"limit: out of range: {limit}, wanted 1 or more")
    if url is not None:
        query = _stored_query(collection, searcher, url)
    else:
        assert text is not None
        query = Query.of_text(_given(text, content_type), collection.parameters)
    rule = Rule.of(query, threshold, containment, direction)
    return find(
        collection,
        searcher if date is None else sweep_searcher(collection, searcher, date),
        query,
        rule,
        limit=limit,
        exact=exact,
        threads=threads,
        progress=progress,
    )


def documents_named(collection: Collection, searcher: Searcher, name: str) -> list[NamedDocument]:
    """All documents that a URL or an id means, oldest first; looked up, not searched for."""
    found = [searcher.rows_of_url(key) for key in spellings(name)]
    return documents_of(collection, np.unique(np.concatenate(found)), name)


def stored_document(collection: Collection, row: int) -> Document:
    """A document with its stored text."""
    rows = np.array([row], np.int64)
    text: bytes = collection.text(rows)[0].as_py()
    id: str = collection.take("id", rows)[0].as_py()
    html: bool = collection.take("html", rows)[0].as_py()
    return Document(id, text, text, html, "utf-8", "utf-8")


def _stored_query(collection: Collection, searcher: Searcher, url: str) -> Query:
    """The latest document of a URL, by its text if that is stored."""
    known = documents_named(collection, searcher, url)
    if not known:
        raise DocumentError(
            f"{printable(url)}: not in the corpus: no document has this URL",
            hint="give its text instead: curl -s URL | roughly find CORPUS -",
        )
    row = known[-1].row
    if collection.has_text:
        return Query.of_text(stored_document(collection, row), collection.parameters, row)
    rows = np.array([row], np.int64)
    stored = collection.sketches(rows)
    columns = searcher.sketches([row])
    (high, low), (form_high, form_low) = stored.content[0].tolist(), stored.canonical[0].tolist()
    return Query(
        collection.parameters,
        columns,
        int(columns.size[0]),
        int(stored.tokens[0]),
        f"{high:016x}{low:016x}",
        f"{form_high:016x}{form_low:016x}",
        None,
        row,
    )


def _given(text: str | bytes | Document, content_type: str) -> Document:
    if isinstance(text, Document):
        return text
    if isinstance(text, bytes):
        return document("-", text, content_type)
    if isinstance(text, str):
        data = text.encode("utf-8", "surrogatepass")
        return Document("-", data, data, is_html(data, content_type), "utf-8", "utf-8")
    raise ParameterError(
        f"text: cannot search for: type {type(text).__name__}, wanted str or bytes",
        hint="read a file's bytes first, as with pathlib.Path(...).read_bytes()",
    )
