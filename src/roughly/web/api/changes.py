"""GET /api/changes: how the pages of a corpus change from sweep to sweep."""

from __future__ import annotations

from dataclasses import asdict

import msgspec

from roughly.corpus.changes import Changes
from roughly.corpus.sweeps import Period
from roughly.web.api.endpoint import Answer, Asked, Endpoint
from roughly.web.view import View


class ChangesRequest(Asked):
    """What counts as one sweep: the documents of a day, a month or a year."""

    by: Period = "day"


class Interval(msgspec.Struct):
    """From one sweep to the next; counts of URLs."""

    from_date: str
    to_date: str
    days: int | None
    pages: int
    stayed: int
    changed: int
    born: int
    returned: int
    vanished: int
    moved_within: int
    moved_between: int
    merged: int
    split: int
    gone: int
    arrived: int
    median_resemblance: float | None
    histogram: list[int]


class ChangesAnswer(Answer):
    """All intervals, and what they come to."""

    dates: list[str]
    documents: int
    pages: int
    stayed: int
    changed: int
    days_between_changes: float | None
    days_at_url: float | None
    days_of_life: float | None
    change_counts: dict[str, int]
    histogram: list[int]
    survival: list[tuple[str, int, int]]
    intervals: list[Interval]


def run(view: View, asked: ChangesRequest) -> ChangesAnswer:
    """Counts them, once for each state of the corpus."""
    found: Changes = view.kept(
        ("changes", asked.by), lambda: view.corpus.changes(asked.by, threads=1)
    )
    return ChangesAnswer(
        dates=found.dates,
        documents=found.documents,
        pages=len(found.pages),
        stayed=found.stayed,
        changed=found.changed,
        days_between_changes=found.days_between_changes,
        days_at_url=found.days_at_url,
        days_of_life=found.days_of_life,
        change_counts=found.change_counts(),
        histogram=found.histogram,
        survival=found.survival,
        intervals=[msgspec.convert(asdict(each), Interval) for each in found.intervals],
    )


ENDPOINT = Endpoint(
    "GET",
    "/api/changes",
    ChangesRequest,
    ChangesAnswer,
    run,
    "How pages change from sweep to sweep",
)
