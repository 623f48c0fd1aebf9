"""Clusters of documents that are roughly the same: sketch, join, forest.

`cluster` holds all sketches in memory, 2 to 3 kB a document and three times that for a moment; the
documents themselves are read once, batch by batch.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from roughly import _core
from roughly.clustering.clusters import Clusters, exact_ratio
from roughly.clustering.collection import collect
from roughly.clustering.equivalence import equivalents
from roughly.documents import open_documents
from roughly.errors import ParameterError
from roughly.parameters import threads_or_all
from roughly.sketcher import Sketcher

__all__ = ["Clusters", "cluster"]

# How far below the threshold pairs are kept, so that other thresholds can be asked for later.
_FLOOR_BELOW = Fraction(1, 10)


def cluster(
    documents: Any,
    threshold: float = 0.5,
    *,
    floor: float | None = None,
    sketcher: Sketcher | None = None,
    content_type: str = "auto",
    text_field: str | None = None,
    id_field: str | None = None,
    date_field: str | None = None,
    strict: bool = False,
    threads: int | None = None,
) -> Clusters:
    """Groups documents that resemble each other at `threshold` or more, by single linkage.

    `documents`: a path, glob or directory; a list of texts or of Paths; a table, frame, dataset, or
    iterable of dicts. Every pair whose estimated resemblance reaches the `floor` is found, so
    `result.at(t)` answers any other threshold from there on; unless given it is threshold - 0.1,
    but not less than half of the threshold. What could not be read is in `result.skipped`.
    """
    ratio = exact_ratio("threshold", threshold)
    lowest = exact_ratio("floor", floor) if floor is not None else _floor_below(ratio)
    if lowest > ratio:
        raise ParameterError(
            f"floor: above the threshold: {float(lowest)}, wanted {float(ratio)} or less"
        )
    sketcher = Sketcher() if sketcher is None else sketcher
    if not isinstance(sketcher, Sketcher):
        raise ParameterError(f"sketcher: wrong type: {type(sketcher).__name__}, wanted a Sketcher")
    if sketcher.parameters.selection[0] == "perm":
        raise ParameterError(
            f"select: cannot cluster {sketcher.select} sketches: they are no sets,"
            " wanted all, mod:M, min:K or adaptive:T"
        )
    opened = open_documents(
        documents,
        text_field=text_field,
        id_field=id_field,
        date_field=date_field,
        content_type=content_type,
        strict=strict,
    )
    threads = threads_or_all(threads)
    collection = collect(opened, sketcher, threads)
    groups = equivalents(collection)
    sketches = collection.sketches.take(groups.representatives)
    ids, dates = collection.ids, collection.dates
    del collection  # its sketches, which are most of it, are not needed any more
    joined = sketches.join(lowest, threads)
    links = _core.spanning_forest(joined, len(sketches))
    return Clusters(
        ids, dates, groups, sketches, joined, links, opened.skipped, lowest, ratio, threads
    )


def _floor_below(threshold: Fraction) -> Fraction:
    return max(threshold - _FLOOR_BELOW, threshold / 2)
