"""How pages change over sweeps: how often, how much, where they move, how long they live.

Everything is counted over URLs that two sweeps in a row have, or that only one of them has; what
became of those that only the earlier one has tells `lost.py`. A page changed if its canonical form
did. Nothing here reads a corpus: it is given who was where when, which versions are alike, and what
moved.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import date as calendar_date
from typing import Any

import numpy as np
import numpy.typing as npt

from roughly.corpus.lost import Move
from roughly.corpus.sweeps import Rows, Sweeps
from roughly.url import server_of

# Bins of resemblance between versions that differ: 0 to 0.1, ..., 0.9 to 1.
BINS = 10


@dataclass(frozen=True, slots=True)
class Versions:
    """Each page that was seen again, with the version before: one row a pair, by page and date."""

    page: Rows
    begin: Rows  # sweep of the earlier version
    end: Rows  # the next sweep that has the page
    same: npt.NDArray[np.bool_]  # whether the canonical form is
    resemblance: npt.NDArray[np.float64]  # estimate

    def __len__(self) -> int:
        return len(self.page)


@dataclass(frozen=True, slots=True)
class Interval:
    """From one sweep to the next. Counts are of URLs."""

    from_date: str
    to_date: str
    days: int | None  # None where a date is not known to the day
    pages: int  # of the earlier sweep
    stayed: int
    changed: int  # of those that stayed
    born: int  # that no sweep had before
    returned: int  # that an earlier sweep had, but not the one before
    vanished: int
    moved_within: int  # of those that vanished: to the same server
    moved_between: int
    merged: int
    split: int
    gone: int
    arrived: int  # of those that were born: where something moved
    median_resemblance: float | None  # of the changed ones to what they were
    histogram: list[int] = field(default_factory=list)  # of the same, in BINS bins

    @property
    def unchanged(self) -> int:
        return self.stayed - self.changed


@dataclass(frozen=True, slots=True)
class PageChange:
    """One page over all sweeps."""

    url: str
    first_seen: str
    last_seen: str
    seen: int  # sweeps that have it
    changes: int
    mean_resemblance: float | None  # from version to version; None if it was seen once
    least_resemblance: float | None
    fate: str  # there, or what lost.py says
    moved_to: list[str]  # where it is at last; several if it was split, none if it is gone


@dataclass(frozen=True, slots=True)
class Changes:
    """What pages do over time."""

    dates: list[str]
    documents: int
    pages: list[PageChange]  # by URL
    intervals: list[Interval]
    survival: list[
        tuple[str, int, int]
    ]  # date; pages of the first sweep at their URL, and anywhere

    @property
    def page_count(self) -> int:
        return len(self.pages)

    @property
    def stayed(self) -> int:
        return sum(interval.stayed for interval in self.intervals)

    @property
    def changed(self) -> int:
        return sum(interval.changed for interval in self.intervals)

    @property
    def histogram(self) -> list[int]:
        """Of resemblance between versions that differ, all intervals together."""
        total = np.zeros(BINS, np.int64)
        for interval in self.intervals:
            total += np.array(interval.histogram, np.int64)
        found: list[int] = total.tolist()
        return found

    @property
    def page_days(self) -> int:
        """Days that pages were watched: an interval's days for each page at its begin."""
        return sum((interval.days or 0) * interval.pages for interval in self.intervals)

    @property
    def days_between_changes(self) -> float | None:
        """On average, of one page, while it stays at its URL."""
        watched = sum((interval.days or 0) * interval.stayed for interval in self.intervals)
        changed = sum(interval.changed for interval in self.intervals if interval.days)
        return watched / changed if changed else None

    @property
    def days_at_url(self) -> float | None:
        """How long a page stays at its URL, on average: watched time over pages that vanished."""
        vanished = sum(interval.vanished for interval in self.intervals if interval.days)
        return self.page_days / vanished if vanished else None

    @property
    def days_of_life(self) -> float | None:
        """How long a page lives, moves followed: watched time over pages that are gone."""
        gone = sum(interval.gone for interval in self.intervals if interval.days)
        return self.page_days / gone if gone else None

    def change_counts(self) -> dict[str, int]:
        """Pages seen more than once, by how often they changed from one version to the next."""
        counts = {"never": 0, "sometimes": 0, "every time": 0}
        for page in self.pages:
            if page.seen > 1:
                every = page.changes == page.seen - 1
                key = "never" if not page.changes else "every time" if every else "sometimes"
                counts[key] += 1
        return counts

    def to_dict(self) -> dict[str, Any]:
        """As one JSON object, without the pages."""
        return {
            "sweeps": self.dates,
            "documents": self.documents,
            "pages": self.page_count,
            "intervals": [
                asdict(interval) | {"unchanged": interval.unchanged} for interval in self.intervals
            ],
            "changed": self.changed,
            "stayed": self.stayed,
            "histogram": self.histogram,
            "pages_changed": self.change_counts(),
            "days_between_changes": _rounded(self.days_between_changes),
            "days_at_url": _rounded(self.days_at_url),
            "days_of_life": _rounded(self.days_of_life),
            "survival": [
                {"date": date, "at_url": at_url, "anywhere": anywhere}
                for date, at_url, anywhere in self.survival
            ],
        }


def _rounded(days: float | None) -> float | None:
    return None if days is None else round(days, 1)


def days_between(one: str, other: str) -> int | None:
    """Days from one date to another, if both are known to the day."""
    try:
        first, last = (calendar_date.fromisoformat(date[:10]) for date in (one, other))
    except ValueError:
        return None
    return (last - first).days


def pairs_of_versions(sweeps: Sweeps) -> tuple[Rows, Rows, Rows]:
    """Page, earlier and later sweep of every two versions of a page that follow each other."""
    page, sweep = np.nonzero(sweeps.present)
    follows = page[1:] == page[:-1]
    return page[1:][follows], sweep[:-1][follows], sweep[1:][follows]


def change_statistics(
    sweeps: Sweeps,
    versions: Versions,
    moves: Sequence[Sequence[Move]],
    later: Sequence[Sequence[Move]] = (),
) -> Changes:
    """`moves` has, for each two sweeps in a row, what became of the pages that vanished; `later`
    which of those that were gone before were found elsewhere in the second one."""
    later = later or [[] for _ in moves]
    intervals = [
        _interval(sweeps, versions, begin, moves[begin], later[begin])
        for begin in range(len(sweeps) - 1)
    ]
    ways = [_Ways.of(sweeps, some, again) for some, again in zip(moves, later, strict=True)]
    return Changes(
        sweeps.dates,
        int(np.count_nonzero(sweeps.present)),
        _pages(sweeps, versions, ways),
        intervals,
        _survival(sweeps, ways),
    )


@dataclass(frozen=True, slots=True)
class _Ways:
    """Where pages went from one sweep to the next: kind and places, the largest part first."""

    left: dict[int, tuple[str, list[int]]]  # pages of the sweep before
    again: dict[int, tuple[str, list[int]]]  # pages that were gone longer

    @classmethod
    def of(cls, sweeps: Sweeps, moves: Sequence[Move], later: Sequence[Move]) -> _Ways:
        return cls(_places(sweeps, moves), _places(sweeps, later))


def _places(sweeps: Sweeps, moves: Sequence[Move]) -> dict[int, tuple[str, list[int]]]:
    some = [move for move in moves if move.new is not None]
    olds = sweeps.numbers([move.old for move in some]).tolist()
    news = sweeps.numbers([move.new for move in some if move.new is not None]).tolist()
    found: dict[int, tuple[str, list[int]]] = {}
    for move, old, new in zip(some, olds, news, strict=True):
        found.setdefault(old, (move.kind, []))[1].append(new)
    return found


def _interval(
    sweeps: Sweeps, versions: Versions, begin: int, moves: Sequence[Move], later: Sequence[Move]
) -> Interval:
    there = sweeps.present
    old, new = there[:, begin], there[:, begin + 1]
    before = there[:, :begin].any(axis=1)
    own = (versions.begin == begin) & (versions.end == begin + 1)
    differ = own & ~versions.same
    resemblance = versions.resemblance[differ]
    kinds = _kinds(moves)
    appeared = new & ~old
    return Interval(
        sweeps.dates[begin],
        sweeps.dates[begin + 1],
        days_between(sweeps.dates[begin], sweeps.dates[begin + 1]),
        int(old.sum()),
        int((old & new).sum()),
        int(differ.sum()),
        int((appeared & ~before).sum()),
        int((appeared & before).sum()),
        int((old & ~new).sum()),
        kinds["within"],
        kinds["between"],
        kinds["merged"],
        kinds["split"],
        kinds["gone"],
        _arrived(sweeps, begin, [*moves, *later]),
        round(float(np.median(resemblance)), 4) if len(resemblance) else None,
        np.histogram(resemblance, BINS, (0, 1))[0].tolist(),
    )


def _kinds(moves: Sequence[Move]) -> dict[str, int]:
    """How many pages moved where; a page that was split counts once."""
    counts = dict.fromkeys(("within", "between", "merged", "split", "gone"), 0)
    seen = set()
    for move in moves:
        if move.old in seen:
            continue
        seen.add(move.old)
        if move.kind in ("same", "moved") and move.new is not None:
            within = server_of(move.old) == server_of(move.new)
            counts["within" if within else "between"] += 1
        else:
            counts[move.kind] += 1
    return counts


def _arrived(sweeps: Sweeps, begin: int, moves: Sequence[Move]) -> int:
    places = {move.new for move in moves if move.new is not None}
    before = sweeps.present[:, : begin + 1].any(axis=1)
    born = np.flatnonzero(sweeps.present[:, begin + 1] & ~before).tolist()
    return sum(sweeps.name(int(sweeps.row[page, begin + 1])) in places for page in born)


def _pages(sweeps: Sweeps, versions: Versions, ways: Sequence[_Ways]) -> list[PageChange]:
    count = len(sweeps.row)
    if not count:
        return []
    there = sweeps.present
    seen = there.sum(axis=1)
    first = there.argmax(axis=1)
    last = len(sweeps) - 1 - there[:, ::-1].argmax(axis=1)
    changes = np.bincount(versions.page[~versions.same], minlength=count)
    total = np.bincount(versions.page, versions.resemblance, minlength=count)
    least = np.ones(count)
    np.minimum.at(least, versions.page, versions.resemblance)
    found = []
    for page in range(count):
        end = int(last[page])
        name = sweeps.name(int(sweeps.row[page, end]))
        fate, places = _fate(page, last, ways)
        again = int(seen[page]) - 1
        found.append(
            PageChange(
                name,
                sweeps.dates[int(first[page])],
                sweeps.dates[end],
                again + 1,
                int(changes[page]),
                round(float(total[page] / again), 4) if again else None,
                round(float(least[page]), 4) if again else None,
                fate,
                [sweeps.name(int(sweeps.row[place, last[place]])) for place in places],
            )
        )
    return sorted(found, key=lambda page: page.url)


def _fate(page: int, last: Rows, ways: Sequence[_Ways]) -> tuple[str, list[int]]:
    """What became of a page by the latest sweep, from place to place, and where it is. `last` is
    the sweep that saw each page last."""
    fate, places = "there", [page]
    while (at := int(last[places[0]])) < len(ways):
        found = ways[at].left.get(places[0])
        if found is None:
            later = (way.again.get(places[0]) for way in ways[at + 1 :])
            found = next((each for each in later if each is not None), None)
        if found is None:
            return "gone", []
        kind, places = found
        fate = kind if kind != "same" or fate == "there" else fate
    return fate, [] if fate == "there" else places


def _survival(sweeps: Sweeps, ways: Sequence[_Ways]) -> list[tuple[str, int, int]]:
    """Pages of the first sweep: how many are at their URL later, and how many anywhere."""
    if not len(sweeps):
        return []
    there = sweeps.present
    first = np.flatnonzero(there[:, 0]).tolist()
    # Where each page is by the moves so far, or was last.
    place = [*first]
    found = [(sweeps.dates[0], len(first), len(first))]
    for end, way in enumerate(ways, 1):
        both = way.left | way.again
        for n, page in enumerate(place):
            if not there[page, end] and page in both:
                place[n] = both[page][1][0]
        at_url = int(there[first, end].sum())
        anywhere = sum(bool(there[page, end]) for page in place)
        found.append((sweeps.dates[end], at_url, max(at_url, anywhere)))
    return found
