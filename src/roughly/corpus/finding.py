"""Documents like a given one, by text or by URL: the corpus's side of `roughly.search`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa

from roughly.condition import HOST, NO_CONDITION, Condition, category_hash, make_condition
from roughly.corpus.lookup import NamedDocument, documents_of, spellings
from roughly.corpus.sweep_search import sweep_searcher
from roughly.documents.file import Document, document, is_html, printable
from roughly.errors import DocumentError, ParameterError
from roughly.search.find import Progress, find
from roughly.search.find_simhash import find_by_simhash
from roughly.search.match import Found
from roughly.search.query import Query
from roughly.search.restriction import Restriction, categories
from roughly.search.rule import Rule
from roughly.search.searcher import Direction, Searcher, Threshold, check_searchable
from roughly.url import host_of, host_of_url

if TYPE_CHECKING:
    from roughly.corpus.snapshot import Snapshot
    from roughly.storage.collection import Collection


class Asked(NamedTuple):
    """Which documents the query is compared with, as it was given."""

    method: str | None = None
    distance: int | None = None
    size_ratio: Threshold | None = None
    within: str | None = None
    category: str | None = None


def find_documents(
    snapshot: Snapshot,
    text: str | bytes | Document | None,
    url: str | None,
    *,
    threshold: Threshold | None,
    containment: Threshold | None,
    direction: Direction,
    date: str | None,
    limit: int | None,
    exact: bool | None,
    asked: Asked,
    content_type: str,
    threads: int,
    progress: Progress,
) -> Found:
    """As `Corpus.find` says."""
    if (text is None) == (url is None):
        raise ParameterError("find: wanted either a text or a URL")
    collection, searcher = snapshot.collection, snapshot.searcher
    check_searchable(collection.parameters, containment is not None)
    condition = _condition(asked, snapshot.manifest.settings.condition)
    if limit is not None and limit < 1:
        raise ParameterError(f"limit: out of range: {limit}, wanted 1 or more")
    if url is not None:
        query = _stored_query(collection, searcher, url)
    else:
        assert text is not None
        query = Query.of_text(_given(text, content_type), collection.parameters)
    sought = searcher if date is None else sweep_searcher(collection, searcher, date)
    restriction = None
    if condition != NO_CONDITION:
        restriction = _restriction(collection, query, condition, asked.category)
    if condition.method == "simhash":
        for name, value in (
            ("threshold", threshold),
            ("containment", containment),
            ("direction", None if direction == "both" else direction),
            ("exact", exact or None),
        ):
            if value is not None:
                raise ParameterError(
                    f"{name}: nothing to apply to: documents are found by their simhashes alone",
                    hint="say how many bits may differ (-k, distance), or choose the method both",
                )
        assert restriction is not None
        found = find_by_simhash(
            collection,
            sought,
            query,
            restriction,
            snapshot.simhashes,
            limit=limit,
            threads=threads,
        )
    else:
        found = find(
            collection,
            sought,
            query,
            Rule.of(query, threshold, containment, direction),
            limit=limit,
            exact=exact,
            threads=threads,
            progress=progress,
            restriction=restriction,
        )
    return found if url is None else replace(found, host=host_of_url(url))


def _condition(asked: Asked, stored: Condition) -> Condition:
    """What is asked for, by the simhashes and categories that the corpus has."""
    within = asked.within
    if asked.category is not None and within is None:
        within = stored.within
        if within is None:
            raise ParameterError(
                f"category: of what: {asked.category!r}, and nothing says where categories stand",
                hint="say so with --within host, or --within FIELD if the corpus was made with it",
            )
    if within not in (None, HOST, stored.within):
        raise ParameterError(
            f"within: not stored in the corpus: {within!r}, it has"
            + (" no categories" if stored.category_field is None else f" {stored.within!r}"),
            hint=f"make the corpus again with --within {within}",
        )
    condition = make_condition(asked.method, asked.distance, asked.size_ratio, within)
    if condition.simhash is None:
        return condition
    if stored.simhash is None:
        raise ParameterError(
            f"method: cannot find by {condition.method}: the corpus has no simhashes",
            hint="make it again with: roughly cluster INPUT... -o CORPUS --method both",
        )
    return replace(condition, simhash=stored.simhash)


def _restriction(
    collection: Collection, query: Query, condition: Condition, category: str | None
) -> Restriction:
    simhash, own = None, 0
    rows = np.array([] if query.row is None else [query.row], np.int64)
    if (simhasher := condition.simhasher) is not None:
        if query.row is not None:
            simhash = collection.take("simhash", rows)[0].as_py()
        elif query.text is not None:
            given = query.text.text_utf8.decode("utf-8", "surrogatepass")
            simhash = simhasher.simhash(given, "html" if query.text.html else "text")
    if condition.within is not None:
        if category is not None:
            if condition.within == HOST:
                hosts = host_of(pa.array([f"http://{category}/"]))
                category = hosts[0].as_py() or category
        elif query.row is not None:
            category = categories(collection, condition, rows)[0].as_py()
        else:
            raise ParameterError(
                f"within: not to be applied: the {condition.within} of the query is not known",
                hint="say what it is with --category VALUE",
            )
        own = category_hash(category)
    return Restriction(condition, query.size, simhash, own)


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
