"""Documents whose simhashes are near a query's: all of them, nearest first.

How much they resemble the query is told by their sketches, and ranks those that are equally near;
ties go to the lower row.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from roughly import _core
from roughly.search.find import MOST_HELD, Counts, Numbers, equivalent, named, share_of
from roughly.search.match import Found, Promise
from roughly.search.query import Query
from roughly.search.restriction import Restriction, StoredSimhashes
from roughly.search.rule import DEFAULT_THRESHOLD, Rule
from roughly.search.searcher import Searcher

if TYPE_CHECKING:
    from roughly.storage.collection import Collection

# Documents whose sketches are compared with the query's together.
_MEASURED_AT_ONCE = 1 << 14


def find_by_simhash(
    collection: Collection,
    searcher: Searcher,
    query: Query,
    restriction: Restriction,
    simhashes: StoredSimhashes,
    *,
    limit: int | None = 10,
    threads: int = 1,
) -> Found:
    """What is within the restriction's distance of the query's simhash, nearest first; of equally
    near ones, those that resemble it most. Measures are estimates from the sketches."""
    rows, bits = np.zeros(0, np.int64), np.zeros(0, np.uint8)
    if restriction.simhash is not None:
        rows, bits = simhashes.within(restriction.simhash, restriction.condition.distance)
    good = restriction.comparable(collection, rows) & (rows != query.row) & searcher.live(rows)
    rows, bits = rows[good], bits[good]
    total = len(rows)
    if limit is not None and total > limit:
        # Nobody beyond those that are as near as the last one shown is worth a measurement.
        near = bits <= np.sort(bits)[limit - 1]
        rows, bits = rows[near], bits[near]
    counts = _measured(collection, query, rows, threads)
    order = np.lexsort((rows, -share_of(counts.common, counts.sampled), bits))[:limit]
    counts, bits = counts.take(order), bits[order]
    equal = counts.same()
    kinds = equivalent(collection, searcher, query, counts.rows[equal], counts.common[equal])
    rule = Rule(DEFAULT_THRESHOLD, None)
    matches = [
        replace(match, distance=away, kind=kinds.get(match.row, "near"))
        for match, away in zip(
            named(collection, searcher, query, rule, counts, kinds), bits.tolist(), strict=True
        )
    ]
    collection.release_beyond(MOST_HELD)
    return Found(matches, total, Promise(1.0, 0, 0, 1.0), 0, query.size)


def _measured(collection: Collection, query: Query, rows: Numbers, threads: int) -> Counts:
    """What sketches of some rows have in common with the query's."""
    parts = [np.zeros((0, 5), np.int64)]
    for begin in range(0, len(rows), _MEASURED_AT_ONCE):
        some = rows[begin : begin + _MEASURED_AT_ONCE]
        values, offsets = collection.sketch_elements(some)
        own = query.columns
        chunk = (
            np.concatenate([own.values, values]),
            np.concatenate([own.offsets[:1], offsets + len(own.values)]),
        )
        every = np.arange(len(some) + 1, dtype=np.uint32)
        sizes = np.concatenate([own.size, np.asarray(collection.take("size", some))])
        levels = np.concatenate([own.level, np.asarray(collection.take("level", some))])
        name, number = query.parameters.selection
        together = _core.SketchSet(
            [chunk],
            1 << len(some).bit_length(),
            every,
            sizes.astype(np.uint32),
            levels.astype(np.uint8),
            number if name == "min" else 0,
            words=query.parameters.words > 0,
        )
        pairs = np.zeros((len(some), 4), np.uint32)
        pairs[:, 1] = every[1:]
        found = together.measure("resemblance", pairs, threads).astype(np.int64)[:, 2:]
        held = found[:, [1, 1, 0]]
        if name != "min":
            # Containment is of the second in the first.
            held[:, 1:] = together.measure("contained", pairs, threads)[:, [3, 2]]
            pairs[:, :2] = pairs[:, 1::-1].copy()
            held[:, 0] = together.measure("contained", pairs, threads)[:, 3]
        parts.append(np.concatenate([found, held], axis=1))
    return Counts.of(rows, np.concatenate(parts), exact=False)
