"""Sweeps and pages: which document is which page's version of which date.

A sweep is everything of one date, cut to a day, a month or a year; undated documents are a sweep
before all others. A page is what one canonical URL named over time. A page that a sweep has more
than once, as under `id#2`, counts once, by its latest document. Everything here is in memory: some
dozens of bytes a document.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np
import numpy.typing as npt

from roughly.errors import ParameterError
from roughly.url import page_of

if TYPE_CHECKING:
    from roughly.storage.collection import Collection

Rows = npt.NDArray[np.int64]
Period = Literal["day", "month", "year"]

# Characters of an ISO date.
_LENGTH = {"day": 10, "month": 7, "year": 4}

UNDATED = "undated"
NOWHERE = -1


class Pages(Protocol):
    """Who is whose version, as far as it is asked."""

    @property
    def dates(self) -> list[str]:
        """Of all sweeps, ascending."""

    def rows_of(self, sweep: int) -> Rows:
        """All rows of a sweep, ascending."""

    def versions(self, row: int) -> Rows:
        """Of the page that a row is a version of: its row in every sweep, or NOWHERE."""

    def elsewhere(self, rows: Rows, sweep: int) -> Rows:
        """Of the pages of some rows: their rows in one sweep, or NOWHERE."""

    def name(self, row: int) -> str:
        """The id of a row as it was added."""


@dataclass(frozen=True, slots=True)
class Sweeps:
    """Who was where when: all pages."""

    dates: list[str]  # of the sweeps, ascending; UNDATED is first
    pages: list[str]  # canonical URLs, in order of their first row
    row: Rows  # of every page (first axis) in every sweep (second), or NOWHERE
    names: dict[int, str]  # of rows: the id as it was added
    page: Rows  # of every row the number of its page, or NOWHERE

    def __len__(self) -> int:
        return len(self.dates)

    @property
    def present(self) -> npt.NDArray[np.bool_]:
        """Of every page and sweep."""
        found: npt.NDArray[np.bool_] = self.row != NOWHERE
        return found

    def index(self, date: str) -> int:
        """The number of the sweep of a date. Part of a date stands for the only sweep in it."""
        found = [n for n, known in enumerate(self.dates) if known.startswith(date)]
        if len(found) == 1 or date in self.dates:
            return self.dates.index(date) if date in self.dates else found[0]
        known = ", ".join(self.dates[:8]) + (", ..." if len(self) > 8 else "")
        raise ParameterError(
            f"date: {'several sweeps' if found else 'no sweep'} of {date!r}: there are {known}",
            hint="name one of them",
        )

    def rows_of(self, sweep: int) -> Rows:
        """One for each page of a sweep, ascending."""
        rows = self.row[:, sweep]
        return np.sort(rows[rows != NOWHERE])

    def versions(self, row: int) -> Rows:
        """Of the page that a row is a version of: its row in every sweep, or NOWHERE."""
        found: Rows = self.row[self.page[row]]
        return found

    def elsewhere(self, rows: Rows, sweep: int) -> Rows:
        """Of the pages of some rows: their rows in one sweep, or NOWHERE."""
        found: Rows = self.row[self.page[rows], sweep]
        return found

    def name(self, row: int) -> str:
        """The id of a row as it was added."""
        return self.names[row]


def sweep_numbers(
    collection: Collection, period: Period = "day"
) -> tuple[list[str], npt.NDArray[np.int32]]:
    """The dates of all sweeps, ascending, and of every row the number of its sweep; -1 for rows
    that are not there."""
    import pyarrow.compute as pc

    rows = collection.live_rows.astype(np.int64)
    dates = pc.fill_null(collection.take("date", rows), "")
    short = pc.utf8_slice_codeunits(dates, 0, _LENGTH[period]).dictionary_encode()
    known = short.dictionary.to_pylist()
    order = sorted(known)
    rank = np.array([order.index(date) for date in known], np.int32)
    numbers = np.full(len(collection), -1, np.int32)
    if len(rows):
        numbers[rows] = rank[short.indices.to_numpy()]
    return [date or UNDATED for date in order], numbers


def read_sweeps(collection: Collection, period: Period = "day") -> Sweeps:
    """The sweeps of everything that is there."""
    rows = collection.live_rows.astype(np.int64)
    return make_sweeps(
        rows,
        collection.take("id", rows).to_pylist(),
        collection.take("date", rows).to_pylist(),
        period,
    )


def make_sweeps(
    rows: Rows, ids: Sequence[str], dates: Sequence[str | None], period: Period = "day"
) -> Sweeps:
    """Sweeps of documents with these rows, ids and dates."""
    length = _LENGTH[period]
    short = ["" if date is None else date[:length] for date in dates]
    known = sorted(set(short))
    number = {date: n for n, date in enumerate(known)}
    pages: dict[str, int] = {}
    places: dict[tuple[int, int], tuple[str, int]] = {}
    names = {}
    of_row = np.full(int(rows.max(initial=-1)) + 1, NOWHERE, np.int64)
    for row, name, date, cut in zip(rows.tolist(), ids, dates, short, strict=True):
        names[row] = name
        page = pages.setdefault(page_of(name), len(pages))
        of_row[row] = page
        key, own = (page, number[cut]), (date or "", row)
        # The latest of a sweep; of one moment the first.
        if key not in places or own[0] > places[key][0]:
            places[key] = own
    table = np.full((len(pages), len(known)), NOWHERE, np.int64)
    for (page, sweep), (_, row) in places.items():
        table[page, sweep] = row
    return Sweeps([date or UNDATED for date in known], list(pages), table, names, of_row)
