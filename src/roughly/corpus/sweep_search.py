"""A search among the documents of one sweep: all others are as if they had been removed.

Which rows these are is read once and kept with the searcher: a bit a document, for the last few
sweeps that were asked for.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from roughly.corpus.sweeps import UNDATED
from roughly.errors import ParameterError
from roughly.search.searcher import Searcher

if TYPE_CHECKING:
    from roughly.storage.collection import Collection

LATEST = "latest"

_DATE = re.compile(r"\d{4}(-\d\d(-\d\d(T.*)?)?)?")
_DAY = len("2026-11-15")
_MOST_KEPT = 4
_MOST_NAMED = 8


def sweep_searcher(collection: Collection, searcher: Searcher, date: str) -> Searcher:
    """What searches only documents of a date: a day, a month, a year, UNDATED, or LATEST, which is
    the last day that any document has."""
    if date not in (LATEST, UNDATED) and not _DATE.fullmatch(date):
        raise ParameterError(
            f"date: no date: {date!r}, wanted one like 2026-11-15, 2026-11 or 2026,"
            f" {UNDATED!r} or {LATEST!r}"
        )
    known = searcher.restricted
    if date not in known:
        while len(known) >= _MOST_KEPT:
            del known[next(iter(known))]
        known[date] = _of_date(collection, searcher, date)
    return known[date]


def _of_date(collection: Collection, searcher: Searcher, date: str) -> Searcher:
    days = _days(collection)
    wanted = max((day for day in days if day), default=UNDATED) if date == LATEST else date
    shelves, found = [], False
    for number, shelf in enumerate(searcher.shelves):
        first, count = collection.first_row(number), len(shelf.segment)
        gone = np.ones(count, bool)
        for begin in range(0, count, collection.part_rows):
            rows = np.arange(begin, min(begin + collection.part_rows, count))
            dates = collection.take("date", rows + first)
            if wanted == UNDATED:
                other = dates.is_valid()
            else:
                other = pc.invert(pc.fill_null(pc.starts_with(dates, wanted), False))
            gone[rows] = other.to_numpy(zero_copy_only=False)
            collection.release()
        if shelf.removed is not None:
            removed = np.unpackbits(shelf.removed, count=count, bitorder="little")
            gone |= removed.astype(bool)
        found = found or not gone.all()
        shelves.append(replace(shelf, removed=np.packbits(gone, bitorder="little")))
    if not found:
        names = [day or UNDATED for day in sorted(days, key=lambda day: day or "")]
        known = ", ".join(names[-_MOST_NAMED:]) or "none"
        more = "..., " if len(names) > _MOST_NAMED else ""
        raise ParameterError(
            f"date: no sweep of {date!r}: there are {more}{known}",
            hint="name one of them, or latest",
        )
    return Searcher(shelves)


def _days(collection: Collection) -> set[str | None]:
    found: set[str | None] = set()
    for part in range(collection.parts):
        begin, end = collection.rows(part)
        rows = np.arange(begin, end)[collection.live[begin:end]]
        days = pc.utf8_slice_codeunits(collection.take("date", rows), 0, _DAY)
        found.update(pa.array(days).unique().to_pylist())
        collection.release()
    return found
