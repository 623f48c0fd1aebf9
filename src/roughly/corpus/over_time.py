"""A corpus asked by URL: its documents, their clusters, where pages went, how they changed.

What stands here is what `Corpus` offers under the same names; it puts together who is asked for
(`lookup`, `sweeps`) and what is worked out (`lost`, `changes`, `collapse`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from roughly.clustering.sketching import Progress, no_progress
from roughly.corpus.collapse import Group, Result, collapse_results
from roughly.corpus.evidence import refuse_minima
from roughly.corpus.forests import sketcher_for
from roughly.corpus.history import History, read_changes, read_history
from roughly.corpus.lookup import (
    NamedDocument,
    NamedPages,
    Names,
    named_documents,
)
from roughly.corpus.lost import Measuring, Move, Trace, lost_page, lost_pages, page_between
from roughly.corpus.sweeps import Period, Rows, read_sweeps, two_of
from roughly.errors import ParameterError
from roughly.verification.contents import StoredContents
from roughly.verification.exact import Verifier

if TYPE_CHECKING:
    from roughly.clustering.clusters import Clusters
    from roughly.corpus.changes import Changes
    from roughly.storage.collection import Collection


@dataclass(frozen=True, slots=True)
class Collapsed:
    """Results in groups."""

    groups: list[Group]  # best first
    unknown: set[int]  # positions of results that are neither in the corpus nor texts


def documents_at(collection: Collection, url: str) -> list[NamedDocument]:
    """All documents of a page, oldest first."""
    return Names(collection).documents(url)


def cluster_of(collection: Collection, clusters: Clusters, url: str) -> list[NamedDocument]:
    """All documents in the cluster of a page's latest document, in document order."""
    known = documents_at(collection, url)
    if not known:
        return []
    return named_documents(collection, clusters.rows_beside(known[-1].row))


def lost(
    collection: Collection, url: str, by: Period = "day", exact: bool = False, threads: int = 1
) -> Trace | None:
    """Where a page is now; None if no sweep has it. `exact`: measured on the stored text."""
    return next(lost_each(collection, [url], by, exact, threads))


def lost_each(
    collection: Collection,
    urls: Sequence[str],
    by: Period = "day",
    exact: bool = False,
    threads: int = 1,
) -> Iterator[Trace | None]:
    """The same of several pages, in their order."""
    refuse_minima(collection)
    measuring = _by_text(collection, threads) if exact else None
    names = Names(collection)
    pages: NamedPages | None = None
    for url in urls:
        known = names.documents(url)
        if not known:
            yield None
            continue
        pages = NamedPages(collection, names, by) if pages is None else pages
        yield lost_page(collection, pages, known[-1].row, pages.counter, measuring)


def moves(
    collection: Collection,
    begin: str | None,
    end: str | None,
    by: Period = "day",
    exact: bool = False,
    threads: int = 1,
    progress: Progress = no_progress,
) -> list[Move]:
    """What became of every page that vanished between two sweeps; the last two unless given."""
    refuse_minima(collection)
    measuring = _by_text(collection, threads) if exact else None
    sweeps = read_sweeps(collection, by)
    first, last = two_of(sweeps.dates, begin, end)
    advance = progress("pages", 2 * len(sweeps.rows_of(first)), "pages")
    return lost_pages(collection, sweeps, first, last, measuring=measuring, advance=advance)


def moves_of(
    collection: Collection,
    urls: Sequence[str],
    begin: str | None,
    end: str | None,
    by: Period = "day",
    exact: bool = False,
    threads: int = 1,
) -> Iterator[list[Move] | None]:
    """What became of some pages between two sweeps, in their order; None of one that the earlier
    sweep does not have."""
    refuse_minima(collection)
    measuring = _by_text(collection, threads) if exact else None
    names = Names(collection)
    pages = NamedPages(collection, names, by)
    first, last = two_of(pages.dates, begin, end)
    counter = pages.counter(first, last)
    for url in urls:
        known = names.documents(url)
        row = known[-1].row if known else None
        yield (
            None
            if row is None
            else page_between(collection, pages, row, first, last, counter, measuring)
        )


def _by_text(collection: Collection, threads: int) -> Measuring:
    """Measures pairs of documents on all their shingles."""
    if not collection.has_text:
        raise ParameterError(
            "exact: not to be had: the corpus was made without text",
            hint="leave out --exact, or make the corpus anew without --no-text",
        )
    sketcher = sketcher_for(collection.parameters)
    verifier = Verifier(collection, StoredContents(collection), sketcher, threads)

    def measuring(old: Rows, new: Rows) -> list[tuple[float, float]]:
        verifier.prepare(np.unique(np.concatenate((old, new))))
        # As the evidence from sketches: a page is known again by its shingles, not by words.
        counts = (each.tolist() for each in verifier.count(old, new, shingles_only=True))
        # Two documents without a shingle are the same.
        return [
            (round(common / (a + b - common), 4), round(common / max(a, 1), 4))
            if a + b
            else (1.0, 1.0)
            for common, a, b in zip(*counts, strict=True)
        ]

    return measuring


def urls(collection: Collection, date: str | None = None, by: Period = "day") -> list[str]:
    """The ids of all pages of one sweep, the last unless given."""
    sweeps = read_sweeps(collection, by)
    if not len(sweeps):
        return []
    rows = sweeps.row[:, len(sweeps) - 1 if date is None else sweeps.index(date)]
    return sorted(sweeps.name(row) for row in rows.tolist() if row >= 0)


def changes(
    collection: Collection, by: Period, threads: int, progress: Progress = no_progress
) -> Changes:
    """How pages change."""
    return read_changes(collection, read_sweeps(collection, by), threads, progress)


def history(collection: Collection, url: str, by: Period, threads: int) -> History | None:
    """One page over all sweeps; None if none has it."""
    names = Names(collection)
    known = names.documents(url)
    if not known:
        return None
    pages = NamedPages(collection, names, by)
    return read_history(collection, pages, known[-1].row, threads, pages.counter)


def collapse(
    collection: Collection,
    results: Sequence[Result],
    threshold: float | str | Fraction,
    containment: float | str | Fraction | None,
    threads: int,
) -> Collapsed:
    """Results grouped under the best-ranked one that says the same. A URL stands for its latest
    document; a text that comes with it, if the corpus does not know it."""
    names = Names(collection)
    rows: list[int | None] = []
    for result in results:
        known = names.documents(result.name) if result.name else []
        rows.append(known[-1].row if known else None)
    texts = [result.text for result in results]
    groups = collapse_results(collection, rows, texts, threshold, containment, threads)
    unknown = {
        position
        for position, (row, text) in enumerate(zip(rows, texts, strict=True))
        if row is None and text is None
    }
    return Collapsed(groups, unknown)


def result_of(rank: int, item: str | Result) -> Result:
    """A result that is given as a URL."""
    return item if isinstance(item, Result) else Result(rank, item)


__all__ = [
    "Collapsed",
    "changes",
    "cluster_of",
    "collapse",
    "documents_at",
    "history",
    "lost",
    "lost_each",
    "moves",
    "moves_of",
    "result_of",
    "urls",
]
