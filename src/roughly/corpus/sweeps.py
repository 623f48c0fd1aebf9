"""Sweeps and pages: which document is which page's version of which date.

A sweep is everything of one date, cut to a day, a month or a year; undated documents are a sweep
before all others. A page is what one canonical URL named over time, https and www aside unless some
sweep tells pages apart by these. A page that a sweep has more than once, as under `id#2`, counts
once, by its latest document. Everything here is in memory, as
columns: some dozens of bytes a document beside its id and its URL.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np
import numpy.typing as npt

from roughly.errors import ParameterError
from roughly.url import moved_site, page_of

if TYPE_CHECKING:
    import pyarrow as pa

    from roughly.storage.collection import Collection

Rows = npt.NDArray[np.int64]
Period = Literal["day", "month", "year"]

# Characters of an ISO date.
_LENGTH = {"day": 10, "month": 7, "year": 4}

# Ids that are read at once.
_AT_ONCE = 1 << 14

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
    urls: pa.Array  # canonical ones, in order of their first row
    number: Rows  # of each of these the number of its page, in the same order
    row: Rows  # of every page (first axis) in every sweep (second), or NOWHERE
    page: Rows  # of every row the number of its page, or NOWHERE
    rows: Rows  # that are there, ascending
    ids: pa.Array  # of these, as they were added

    def __len__(self) -> int:
        return len(self.dates)

    @property
    def present(self) -> npt.NDArray[np.bool_]:
        """Of every page and sweep."""
        found: npt.NDArray[np.bool_] = self.row != NOWHERE
        return found

    def index(self, date: str) -> int:
        """The number of the sweep of a date. Part of a date stands for the only sweep in it."""
        return sweep_of(self.dates, date)

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
        found: str = self.ids[int(np.searchsorted(self.rows, row))].as_py()
        return found

    def numbers(self, names: Sequence[str]) -> Rows:
        """Of ids, the numbers of their pages."""
        import pyarrow as pa
        import pyarrow.compute as pc

        wanted = pa.array([page_of(name) for name in names], pa.string())
        found: Rows = self.number[pc.index_in(wanted, self.urls).to_numpy().astype(np.int64)]
        return found


def sweep_of(dates: Sequence[str], date: str) -> int:
    """The number of the sweep of a date, of which a part will do if it is in no other."""
    found = [n for n, known in enumerate(dates) if known.startswith(date)]
    if len(found) == 1 or date in dates:
        return dates.index(date) if date in dates else found[0]
    known = ", ".join(dates[:8]) + (", ..." if len(dates) > 8 else "")
    raise ParameterError(
        f"date: {'several sweeps' if found else 'no sweep'} of {date!r}: there are {known}",
        hint="name one of them",
    )


def two_of(dates: Sequence[str], begin: str | None, end: str | None) -> tuple[int, int]:
    """The numbers of two sweeps: the last, and the one before the later, unless given."""
    if len(dates) < 2:
        raise ParameterError(
            f"sweeps: too few: {len(dates)}, wanted two or more",
            hint="add the pages of another date with: roughly add CORPUS INPUT... --date D",
        )
    last = len(dates) - 1 if end is None else sweep_of(dates, end)
    first = max(0, last - 1) if begin is None else sweep_of(dates, begin)
    check_order(dates, first, last)
    return first, last


def check_order(dates: Sequence[str], first: int, last: int) -> None:
    """Raises unless the first of two sweeps is before the last."""
    if not first < last:
        raise ParameterError(
            f"dates: not in order: {dates[first]} to {dates[last]}",
            hint="give the earlier one to --from",
        )


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
    return make_sweeps(rows, collection.take("id", rows), collection.take("date", rows), period)


def make_sweeps(
    rows: Rows,
    ids: pa.Array | Sequence[str],
    dates: pa.Array | Sequence[str | None],
    period: Period = "day",
) -> Sweeps:
    """Sweeps of documents with these rows, which ascend, ids and dates."""
    import pyarrow as pa
    import pyarrow.compute as pc

    ids = ids if isinstance(ids, pa.Array) else pa.array(ids, pa.string())
    dates = dates if isinstance(dates, pa.Array) else pa.array(dates, pa.string())
    rows = np.asarray(rows, np.int64)
    moment, _ = _ranked(pc.fill_null(dates, ""))
    sweep, known = _ranked(pc.utf8_slice_codeunits(pc.fill_null(dates, ""), 0, _LENGTH[period]))
    url, urls = _numbered(ids)
    number = _pages_of(urls, url, sweep)
    page = number[url]
    # The latest of a page in a sweep; of one moment the first.
    order = np.lexsort((rows, -moment, sweep, page))
    first = np.ones(len(order), bool)
    first[1:] = (np.diff(page[order]) != 0) | (np.diff(sweep[order]) != 0)
    chosen = order[first]
    table = np.full((int(number.max(initial=-1)) + 1, len(known)), NOWHERE, np.int64)
    table[page[chosen], sweep[chosen]] = rows[chosen]
    of_row = np.full(int(rows.max(initial=-1)) + 1, NOWHERE, np.int64)
    of_row[rows] = page
    return Sweeps([date or UNDATED for date in known], urls, number, table, of_row, rows, ids)


def _pages_of(urls: pa.Array, url: Rows, sweep: Rows) -> Rows:
    """Of canonical URLs the number of their pages. `url` and `sweep` tell who was where when."""
    import pyarrow as pa

    named = [
        pa.array([moved_site(each) for each in urls[begin : begin + _AT_ONCE].to_pylist()])
        for begin in range(0, len(urls), _AT_ONCE)
    ]
    group = pa.chunked_array(named, pa.string()).combine_chunks().dictionary_encode().indices
    site: Rows = group.to_numpy().astype(np.int64)
    # Two of a group in one sweep are two pages, and so is then every one of the group.
    count = max(1, len(urls))
    seen = np.unique(sweep * count + url)
    where, often = np.unique(seen // count * count + site[seen % count], return_counts=True)
    apart = np.zeros(len(urls), bool)
    apart[where[often > 1] % count] = True
    own = np.where(apart[site], len(urls) + np.arange(len(urls)), site)
    # Numbered by the first URL of each.
    _, first, inverse = np.unique(own, return_index=True, return_inverse=True)
    rank = np.zeros(len(first), np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[inverse.reshape(-1)]


def _ranked(values: pa.Array) -> tuple[Rows, list[str]]:
    """Of strings that often repeat: the rank of each, and all of them, ascending."""
    encoded = values.dictionary_encode()
    known: list[str] = encoded.dictionary.to_pylist()
    order = sorted(range(len(known)), key=known.__getitem__)
    rank = np.zeros(len(known), np.int64)
    rank[order] = np.arange(len(known))
    return rank[encoded.indices.to_numpy()], [known[n] for n in order]


def _numbered(ids: pa.Array) -> tuple[Rows, pa.Array]:
    """The number of each id's page, and all pages in order of their first id."""
    import pyarrow as pa

    # By stretches: strings of Python's take several times as much.
    named = [
        pa.array([page_of(name) for name in ids[begin : begin + _AT_ONCE].to_pylist()], pa.string())
        for begin in range(0, len(ids), _AT_ONCE)
    ]
    encoded = pa.chunked_array(named, pa.string()).combine_chunks().dictionary_encode()
    return encoded.indices.to_numpy().astype(np.int64), encoded.dictionary
