"""How pages change, counted by hand on a web of a few pages."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from roughly.corpus.changes import (
    Changes,
    Versions,
    change_statistics,
    days_between,
    pairs_of_versions,
)
from roughly.corpus.lost import Move
from roughly.corpus.sweeps import Sweeps, make_sweeps

A, B = "https://a.example", "https://b.example"
DAYS = ("2026-01-01", "2026-01-31", "2026-03-02")


def small_web() -> tuple[Sweeps, Changes]:
    """Three sweeps, thirty days apart.

    stays   is there all the time and never changes
    edited  changes both times, to 0.95 and 0.35
    twin    changes the second time, to 0.75
    within  moves to /new on its server at the second sweep
    between moves to another server at the third sweep
    dies    is gone at the third sweep
    back    is gone at the second sweep and there again at the third
    born    is new at the third sweep
    """
    there = {
        f"{A}/stays": "111",
        f"{A}/edited": "111",
        f"{A}/twin": "111",
        f"{A}/within": "100",
        f"{A}/new": "011",
        f"{A}/between": "110",
        f"{B}/there": "001",
        f"{A}/dies": "110",
        f"{A}/back": "101",
        f"{A}/born": "001",
    }
    documents = [
        (name, day)
        for name, where in there.items()
        for day, sign in zip(DAYS, where, strict=True)
        if sign == "1"
    ]
    sweeps = make_sweeps(
        np.arange(len(documents)), [n for n, _ in documents], [d for _, d in documents]
    )
    page, begin, end = pairs_of_versions(sweeps)
    changed = {
        (f"{A}/edited", 0): 0.95,
        (f"{A}/edited", 1): 0.35,
        (f"{A}/twin", 1): 0.75,
        (f"{A}/back", 0): 0.5,
    }
    pages = sweeps.pages.to_pylist()
    keys = [(pages[p], b) for p, b in zip(page.tolist(), begin.tolist(), strict=True)]
    versions = Versions(
        page,
        begin,
        end,
        np.array([key not in changed for key in keys]),
        np.array([changed.get(key, 1.0) for key in keys]),
    )
    moves = [
        [
            Move(f"{A}/back", None, "gone", None, None, 0.9),
            Move(f"{A}/within", f"{A}/new", "moved", 0.8, 0.9, 0.9),
        ],
        [
            Move(f"{A}/between", f"{B}/there", "same", 1, 1, 1),
            Move(f"{A}/dies", None, "gone", None, None, 0.9),
        ],
    ]
    return sweeps, change_statistics(sweeps, versions, moves)


def test_intervals() -> None:
    _, changes = small_web()
    first, second = changes.intervals
    assert (first.from_date, first.to_date, first.days) == (DAYS[0], DAYS[1], 30)
    assert (first.pages, first.stayed, first.changed, first.unchanged) == (7, 5, 1, 4)
    assert (first.born, first.arrived, first.returned, first.vanished) == (1, 1, 0, 2)
    assert (first.moved_within, first.moved_between, first.gone) == (1, 0, 1)
    assert first.median_resemblance == 0.95
    assert first.histogram == [0, 0, 0, 0, 0, 0, 0, 0, 0, 1]
    assert (second.pages, second.stayed, second.changed) == (6, 4, 2)
    assert (second.born, second.arrived, second.returned, second.vanished) == (2, 1, 1, 2)
    assert (second.moved_within, second.moved_between, second.gone) == (0, 1, 1)
    assert second.median_resemblance == 0.55
    assert second.histogram == [0, 0, 0, 1, 0, 0, 0, 1, 0, 0]


def test_rates() -> None:
    _, changes = small_web()
    assert changes.stayed == 9
    assert changes.changed == 3
    # 30 days times 9 pages that stayed, 3 changes
    assert changes.days_between_changes == 90
    # 30 days times 13 pages; 4 left their URL, 2 are gone
    assert changes.days_at_url == 390 / 4
    assert changes.days_of_life == 195
    # back changed too, over two intervals
    assert changes.change_counts() == {"never": 4, "sometimes": 1, "every time": 2}


def test_pages() -> None:
    _, changes = small_web()
    pages = {page.url: page for page in changes.pages}
    assert [page.url for page in changes.pages] == sorted(pages)
    edited = pages[f"{A}/edited"]
    assert (edited.seen, edited.changes, edited.fate) == (3, 2, "there")
    assert edited.mean_resemblance == pytest.approx(0.65)
    assert edited.least_resemblance == 0.35
    within = pages[f"{A}/within"]
    assert (within.fate, within.moved_to, within.seen) == ("moved", f"{A}/new", 1)
    assert within.mean_resemblance is None
    assert (within.first_seen, within.last_seen) == (DAYS[0], DAYS[0])
    assert pages[f"{A}/dies"].fate == "gone"
    assert pages[f"{A}/back"].fate == "there"


def test_survival() -> None:
    """Of the seven pages of the first sweep."""
    _, changes = small_web()
    assert changes.survival == [
        (DAYS[0], 7, 7),
        (DAYS[1], 5, 6),  # within has moved, back is away
        (DAYS[2], 4, 5),  # between has moved; back, whose trace was lost, is at its URL again
    ]


def test_json() -> None:
    _, changes = small_web()
    plain = changes.to_dict()
    assert plain["pages"] == 10
    assert plain["documents"] == 20
    assert plain["intervals"][0]["unchanged"] == 4
    assert plain["survival"][1] == {"date": DAYS[1], "at_url": 5, "anywhere": 6}


def test_days() -> None:
    assert days_between("2026-01-01", "2026-03-01T12:00:00") == 59
    assert days_between("2026-01", "2026-03-01") is None
    assert days_between("undated", "2026-03-01") is None


def test_nothing_and_one_sweep() -> None:
    none = Versions(*(np.zeros(0, np.int64),) * 3, np.zeros(0, bool), np.zeros(0))
    empty = change_statistics(make_sweeps(np.zeros(0, np.int64), [], []), none, [])
    assert (empty.pages, empty.intervals, empty.survival) == ([], [], [])
    one = change_statistics(make_sweeps(np.arange(2), ["a", "b"], [None, None]), none, [])
    assert [page.fate for page in one.pages] == ["there", "there"]
    assert one.days_at_url is None


WHERE = st.lists(st.lists(st.booleans(), min_size=4, max_size=4), max_size=8)


@given(WHERE)
def test_every_page_of_a_sweep_is_counted_once(where: list[list[bool]]) -> None:
    documents = [
        (f"p{n}", f"2026-0{m + 1}-01")
        for n, row in enumerate(where)
        for m, there in enumerate(row)
        if there
    ]
    sweeps = make_sweeps(
        np.arange(len(documents)), [n for n, _ in documents], [d for _, d in documents]
    )
    page, begin, end = pairs_of_versions(sweeps)
    versions = Versions(page, begin, end, np.ones(len(page), bool), np.ones(len(page)))
    moves = [
        [
            Move(sweeps.pages[n].as_py(), None, "gone", None, None, 1)
            for n in np.flatnonzero(sweeps.present[:, k] & ~sweeps.present[:, k + 1]).tolist()
        ]
        for k in range(len(sweeps) - 1)
    ]
    changes = change_statistics(sweeps, versions, moves)
    for k, interval in enumerate(changes.intervals):
        assert interval.pages == interval.stayed + interval.vanished
        assert interval.vanished == interval.gone
        later = int(sweeps.present[:, k + 1].sum())
        assert later == interval.stayed + interval.born + interval.returned
    assert sum(page.seen for page in changes.pages) == len(documents)
