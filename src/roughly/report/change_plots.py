"""The plots of changes over time, each with its numbers.

Each is a figure of the page, or says why there is nothing to draw. Time runs in days from the first
sweep, or in sweeps where dates are not known to the day.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from roughly.corpus.changes import BINS, Changes, Interval, days_between
from roughly.report import plot
from roughly.report.figure import decimal, figure, nothing, percent, table
from roughly.report.markup import name
from roughly.report.verdict import plural

T = TypeVar("T")

# What becomes of a page: its class, its word, its number.
FATES: tuple[tuple[str, str, Callable[[Interval], int]], ...] = (
    ("fate-unchanged", "unchanged", lambda i: i.unchanged),
    ("fate-changed", "changed", lambda i: i.changed),
    ("fate-within", "moved within its server", lambda i: i.moved_within),
    ("fate-between", "moved to another server", lambda i: i.moved_between),
    ("fate-merged", "merged or split", lambda i: i.merged + i.split),
    ("fate-gone", "gone", lambda i: i.gone),
)
# Intervals that a table shows, and points of a line; of more, some are left out evenly.
_ROWS = 60


def resemblance(changes: Changes) -> str:
    title = "How much pages change"
    counts = changes.histogram
    total = sum(counts)
    if not total:
        return nothing("resemblance", title, "No page has two versions that differ.")
    bars = [
        plot.Column(n / BINS, (n + 1) / BINS, count, f"{_bin(n)}: {count:,} pages")
        for n, count in enumerate(counts)
    ]
    drawn = plot.columns(
        "resemblance",
        title,
        f"Resemblance of {plural(total, 'changed version')} to the one before.",
        plot.Axis("resemblance to the version before", 0, 1),
        plot.counts_axis("versions", max(counts)),
        bars,
    )
    light = counts[-1]
    caption = (
        "Versions that differ from the one before, all intervals together. "
        f"{percent(light, total)} of them are small changes, at 0.9 or more."
    )
    rows = [(_bin(n), f"{count:,}") for n, count in enumerate(counts)]
    return figure(
        "resemblance", title, drawn, caption, _numbers(title, ("Resemblance", "Versions"), rows)
    )


def _numbers(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table that may be long, or wide: the keyboard can scroll it."""
    return table(head, rows, label=f"{title}: the numbers")


def _bin(n: int) -> str:
    return f"{decimal(n / BINS)} to {decimal((n + 1) / BINS)}"


def survival(changes: Changes) -> str:
    title = "How long pages live"
    points = some(changes.survival)
    if len(points) < 2 or not points[0][1]:
        return nothing("survival", title, "It takes two sweeps to see.")
    dates = [date for date, _, _ in points]
    axis, places = time_axis(dates)
    whole = points[0][1]
    drawn = plot.lines(
        "survival",
        title,
        f"Of {plural(whole, 'page')} of the first sweep, the share that is still there.",
        axis,
        plot.Axis("percent of the first sweep", 0, 125),
        _apart(
            [
                plot.Line(
                    label,
                    hue,
                    [
                        plot.Dot(x, 100 * count / whole, f"{date}: {count:,} of {whole:,}")
                        for x, date, count in zip(places, dates, counts, strict=True)
                    ],
                )
                for label, hue, counts in (
                    ("anywhere, moves followed", "s1", [found for _, _, found in points]),
                    ("at their URL", "s5", [at_url for _, at_url, _ in points]),
                )
            ]
        ),
    )
    rows = [
        (name(date), f"{at_url:,}", percent(at_url, whole), f"{found:,}", percent(found, whole))
        for date, at_url, found in points
    ]
    head = ("Date", "At their URL", "Share", "Anywhere", "Share")
    caption = f"The {plural(whole, 'page')} of the first sweep, {name(points[0][0])}."
    return figure("survival", title, drawn, caption, _numbers(title, head, rows))


def _apart(lines: Sequence[plot.Line]) -> list[plot.Line]:
    """One line for those that would lie upon each other, with the names of all."""
    found: dict[tuple[tuple[float, float], ...], plot.Line] = {}
    for line in lines:
        way = tuple((dot.x, dot.y) for dot in line.dots)
        same = found.get(way)
        label = line.label if same is None else f"{same.label}, and {line.label}"
        found[way] = plot.Line(label, (same or line).hue, line.dots)
    return list(found.values())


def births(changes: Changes) -> str:
    title = "Births and deaths"
    intervals = some(changes.intervals)
    if not intervals:
        return nothing("births", title, "It takes two sweeps to see.")
    axis, places = time_axis([changes.dates[0], *(i.to_date for i in intervals)])
    most = max(max(i.born, i.vanished, i.gone) for i in intervals)

    def line(label: str, hue: str, values: Sequence[int]) -> plot.Line:
        dots = [
            plot.Dot(x, value, f"{i.to_date}: {value:,} {label}")
            for x, i, value in zip(places[1:], intervals, values, strict=True)
        ]
        return plot.Line(label, hue, dots)

    drawn = plot.lines(
        "births",
        title,
        "Pages that are new, that left their URL, and that are gone, at each sweep.",
        axis,
        plot.counts_axis("pages", 1.35 * most),  # the lines' names stand above them
        _apart(
            [
                line("new", "s1", [i.born for i in intervals]),
                line("left their URL", "s5", [i.vanished for i in intervals]),
                line("gone", "s3", [i.gone for i in intervals]),
            ]
        ),
    )
    rows = [
        (
            name(i.to_date),
            f"{i.born:,}",
            f"{i.arrived:,}",
            f"{i.returned:,}",
            f"{i.vanished:,}",
            f"{i.gone:,}",
        )
        for i in intervals
    ]
    head = ("Sweep", "New", "Of these moved here", "Back again", "Left their URL", "Gone")
    caption = "New are URLs that no sweep had before; some of them are where other pages moved."
    if len(intervals) == 1:  # A dot is no line.
        return (
            f'<figure id="births" class="bars"><h2>{title}</h2>{table(head, rows)}'
            f"<figcaption>{caption}</figcaption></figure>\n"
        )
    return figure("births", title, drawn, caption, _numbers(title, head, rows))


def frequency(changes: Changes) -> str:
    title = "How often pages change"
    counts = changes.change_counts()
    total = sum(counts.values())
    if not total:
        return nothing("frequency", title, "No page was seen twice.")
    words = {
        "never": "the same in every sweep that has it",
        "sometimes": "different from the sweep before in some",
        "every time": "different in each",
    }
    hues = ("fate-unchanged", "fate-within", "fate-changed")
    rows = [
        (
            f'<span class="key {hue}"></span>{kind}<small>{words[kind]}</small>',
            f"{count:,}",
            percent(count, total),
            plot.stacked([(count / total, hue, f"{kind}: {count:,}")]),
        )
        for hue, (kind, count) in zip(hues, counts.items(), strict=True)
    ]
    drawn = table(("Changed", "Pages", "Share", '<span class="unseen">drawn</span>'), rows)
    between = changes.days_between_changes
    often = (
        ""
        if between is None
        else f" On average a page changes every {plural(round(between), 'day')}."
    )
    return (
        f'<figure id="frequency" class="bars"><h2>{title}</h2>{drawn}<figcaption>'
        f"{plural(total, 'page')} seen more than once.{often}</figcaption></figure>\n"
    )


def fates(changes: Changes) -> str:
    """A bar for each interval."""
    if not changes.intervals:
        return ""
    rows = [
        (
            f"{name(i.from_date)} to {name(i.to_date)}",
            f"{i.pages:,}",
            plot.stacked(
                [
                    (count(i) / max(1, i.pages), hue, f"{word}: {count(i):,}")
                    for hue, word, count in FATES
                ]
            ),
        )
        for i in some(changes.intervals)
    ]
    key = " ".join(
        f'<span class="item"><span class="key {hue}"></span>{word}</span>' for hue, word, _ in FATES
    )
    bars = table(("Interval", "Pages", '<span class="unseen">drawn</span>'), rows)
    numbers = _numbers(
        "From sweep to sweep",
        ("Interval", *(word for _, word, _ in FATES), "Median resemblance of the changed"),
        [
            (
                f"{name(i.from_date)} to {name(i.to_date)}",
                *(f"{count(i):,}" for _, _, count in FATES),
                "" if i.median_resemblance is None else f"{i.median_resemblance:.3f}",
            )
            for i in some(changes.intervals)
        ],
    )
    return (
        '<section id="fates" class="bars"><h2>From sweep to sweep</h2>'
        f'<p class="told">What became of the pages of each sweep by the next. {key}</p>{bars}'
        f"<details><summary>The numbers</summary>{numbers}</details></section>\n"
    )


def time_axis(dates: Sequence[str]) -> tuple[plot.Axis, list[float]]:
    """An axis for these dates, and where each is on it."""
    known = [day for day in (days_between(dates[0], date) for date in dates) if day is not None]
    if len(known) == len(dates) and known[-1] > 0:
        return plot.Axis(f"days since {dates[0]}", 0, known[-1], whole=True), [*map(float, known)]
    last = max(1, len(dates) - 1)
    return plot.Axis("sweeps", 0, last, whole=True), [float(n) for n in range(len(dates))]


def some(items: Sequence[T]) -> list[T]:
    """At most a table's rows, the first and the last among them."""
    if len(items) <= _ROWS:
        return list(items)
    return [items[round(n * (len(items) - 1) / (_ROWS - 1))] for n in range(_ROWS)]


def interval_words(interval: Interval) -> list[tuple[str, int]]:
    """What became of the pages of a sweep, in words and numbers."""
    return [(word, count(interval)) for _, word, count in FATES]
