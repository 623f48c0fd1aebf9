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
from roughly.url import is_url, lookup_key, page_of

if TYPE_CHECKING:
    from roughly.clustering.clusters import Clusters
    from roughly.storage.collection import Collection


@dataclass(frozen=True, slots=True)
class Known:
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


def documents_of(collection: Collection, rows: Rows, name: str) -> list[Known]:
    """Those of some rows that a name means, oldest first."""
    ids = collection.take("id", rows).to_pylist()
    dates = collection.take("date", rows).to_pylist()
    chosen = best_match(name, ids)
    # The same page at another date may have been added under another spelling.
    pages = {page_of(ids[position]) for position in chosen}
    found = [
        Known(int(row), id, date)
        for row, id, date in zip(rows.tolist(), ids, dates, strict=True)
        if page_of(id) in pages
    ]
    return sorted(found, key=lambda document: (document.date or "", document.row))


def cluster_rows(clusters: Clusters, row: int) -> Rows:
    """All rows of the cluster that has a row, in document order; only that row if it is alone."""
    order = clusters.outcome.order.astype(np.int64)
    position = np.flatnonzero(order == row)
    if not len(position):
        return np.array([row], np.int64)
    first = clusters.first
    found: Rows = order[first == first[position[0]]]
    return found
