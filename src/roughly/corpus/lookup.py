"""From a URL to documents, from a document to its cluster, and back to URLs.

A URL may be given in any spelling: documents are found by the loose form of their ids, and if some
of them agree in more than that, only these are taken: the very id, or the canonical form.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from roughly.corpus.commonness import LookUp
from roughly.corpus.snapshot import searcher_for
from roughly.corpus.sweeps import NOWHERE, Period, Rows, sweep_numbers
from roughly.storage.segment_index import SegmentIndex
from roughly.url import is_url, lookup_key, moved_site, page_of

if TYPE_CHECKING:
    from roughly.storage.collection import Collection


@dataclass(frozen=True, slots=True)
class NamedDocument:
    """A document that a URL names."""

    row: int
    id: str
    date: str | None


def spellings(name: str) -> list[str]:
    """The keys under which a document of that name may be, likeliest first: an address without a
    scheme is one of the Web."""
    return [lookup_key(name)] if is_url(name) else [name, lookup_key(f"http://{name}")]


def best_match(name: str, ids: Sequence[str]) -> list[int]:
    """Positions of the ids that agree best with a name, of those found under its keys."""
    wanted = page_of(name if is_url(name) else f"http://{name}")
    tests: tuple[Callable[[str], bool], ...] = (
        lambda id: id == name,
        lambda id: page_of(id) in (wanted, page_of(name)),
        lambda id: lookup_key(id) in spellings(name),
    )
    for test in tests:
        found = [position for position, id in enumerate(ids) if test(id)]
        if found:
            return found
    return []


class Names:
    """The names of a collection's documents, to be looked up in the sorted tables of its
    segments."""

    def __init__(self, collection: Collection) -> None:
        self._collection = collection
        self._indexes = [SegmentIndex(segment) for segment in collection.segments]

    def rows(self, name: str) -> Rows:
        """The rows of documents that may be meant by a name, ascending: those under its keys."""
        found = [np.zeros(0, np.int64)]
        for number, index in enumerate(self._indexes):
            first = self._collection.first_row(number)
            found += [first + index.rows_of_url(key).astype(np.int64) for key in spellings(name)]
        rows = np.unique(np.concatenate(found))
        return rows[self._collection.live[rows]]

    def documents(self, name: str) -> list[NamedDocument]:
        """All documents of the page that a name means, oldest first."""
        return documents_of(self._collection, self.rows(name), name)


class NamedPages:
    """Who is whose version, looked up one by one: for a few pages of a large collection."""

    def __init__(self, collection: Collection, names: Names, period: Period) -> None:
        self._collection = collection
        self._names = names
        self._searcher = searcher_for(collection)
        self.dates, self._number = sweep_numbers(collection, period)
        self._known: dict[str, Rows] = {}

    def counter(self, begin: int, end: int) -> LookUp:
        """What counts elements of two sweeps."""
        return LookUp(self._searcher, self._number, begin, end)

    def rows_of(self, sweep: int) -> Rows:
        """All rows of a sweep, ascending."""
        return np.flatnonzero(self._number == sweep)

    def versions(self, row: int) -> Rows:
        """Of the page that a row is a version of: its row in every sweep, or NOWHERE."""
        page = page_of(self.name(row))
        if page not in self._known:
            found = np.full(len(self.dates), NOWHERE, np.int64)
            latest: dict[int, str] = {}
            for document in self._of_page(page):
                sweep, date = int(self._number[document.row]), document.date or ""
                if sweep not in latest or date > latest[sweep]:
                    found[sweep], latest[sweep] = document.row, date
            self._known[page] = found
        return self._known[page]

    def _of_page(self, page: str) -> list[NamedDocument]:
        """All documents of a page, by the rule of `make_sweeps`."""
        known = named_documents(self._collection, self._names.rows(page))
        known = [each for each in known if moved_site(page_of(each.id)) == moved_site(page)]
        places = {(int(self._number[each.row]), page_of(each.id)) for each in known}
        if len(places) > len({sweep for sweep, _ in places}):
            known = [each for each in known if page_of(each.id) == page]
        return known

    def elsewhere(self, rows: Rows, sweep: int) -> Rows:
        """Of the pages of some rows: their rows in one sweep, or NOWHERE."""
        found = (int(self.versions(row)[sweep]) for row in rows.tolist())
        return np.fromiter(found, np.int64, len(rows))

    def name(self, row: int) -> str:
        """The id of a row as it was added."""
        name: str = self._collection.values("id", np.array([row]))[0]
        return name


def named_documents(collection: Collection, rows: Rows) -> list[NamedDocument]:
    """Rows with their ids and dates."""
    ids = collection.take("id", rows).to_pylist()
    dates = collection.take("date", rows).to_pylist()
    return [
        NamedDocument(row, id, date)
        for row, id, date in zip(rows.tolist(), ids, dates, strict=True)
    ]


def documents_of(collection: Collection, rows: Rows, name: str) -> list[NamedDocument]:
    """Those of some rows that a name means, oldest first."""
    found = named_documents(collection, rows)
    chosen = best_match(name, [document.id for document in found])
    # The same page at another date may have been added under another spelling.
    pages = {page_of(found[position].id) for position in chosen}
    found = [document for document in found if page_of(document.id) in pages]
    return sorted(found, key=lambda document: (document.date or "", document.row))
