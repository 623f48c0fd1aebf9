"""From a URL to documents, from a document to its cluster, and back to URLs.

A URL may be given in any spelling: documents are found by the loose form of their ids, and if some
of them agree in more than that, only these are taken: the very id, or the canonical form.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from roughly.corpus.sweeps import Rows
from roughly.storage.segment_index import SegmentIndex, has_index
from roughly.url import is_url, lookup_key, page_of

if TYPE_CHECKING:
    from roughly.storage.collection import Collection
    from roughly.storage.segment import Segment


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


def rows_under(collection: Collection, name: str) -> Rows:
    """The rows of documents that may be meant by a name, ascending: those under its keys."""
    keys = spellings(name)
    found = [np.zeros(0, np.int64)]
    for number, segment in enumerate(collection.segments):
        first = collection.first_row(number)
        found.append(first + rows_in_segment(segment, keys))
    rows = np.unique(np.concatenate(found))
    return rows[collection.live[rows]]


def rows_in_segment(segment: Segment, keys: Sequence[str]) -> Rows:
    """The rows of one segment under some keys: by its sorted table, or without one by reading all
    ids."""
    if has_index(segment.directory):
        index = SegmentIndex(segment)
        return np.concatenate([index.rows_of_url(key).astype(np.int64) for key in keys])
    ids = segment.ids().to_pylist()
    return np.array([row for row, id in enumerate(ids) if lookup_key(id) in keys], np.int64)


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
