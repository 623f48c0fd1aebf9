"""A clustering's condition, applied to what the joins find: tables of pairs, and hubs of masses.

A document keeps its hub only if the two are comparable; who loses it has all its pairs listed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from roughly import _core
from roughly.clustering.join import Hubs
from roughly.clustering.settings import Settings
from roughly.clustering.sketches import PairTable, Rows
from roughly.condition import Attributes

if TYPE_CHECKING:
    from roughly.storage.collection import Stored


def attributes_for(segment: Stored, settings: Settings) -> Attributes | None:
    """What the settings' condition looks at; None if it leaves every pair."""
    condition = settings.condition
    if not condition.filters and condition.simhash is None:
        return None
    found = Attributes.of(segment, condition)
    segment.release()
    return found


def by_sketch(settings: Settings) -> bool:
    """Whether the same sketch makes documents equivalent."""
    return not settings.exact and settings.method != "hamming"


def comparable(
    attributes: Attributes, tables: Iterable[PairTable], rows: Rows
) -> Iterator[PairTable]:
    """Those pairs that meet a condition; documents are numbered as in `rows`."""
    for table in tables:
        met = attributes.comparable(rows[table[:, 0]], rows[table[:, 1]])
        if met.any():
            yield table[met]


def comparable_hubs(
    attributes: Attributes, hubs: Hubs, links: PairTable, rows: Rows
) -> tuple[Hubs, PairTable]:
    """Only hubs that documents are comparable with, and the links to these."""
    met = attributes.comparable(rows[links[:, 0]], rows[links[:, 1]])
    hubs = hubs.copy()
    hubs[links[~met, 1]] = _core.NO_HUB
    return hubs, links[met]
