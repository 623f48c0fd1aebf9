"""How the pages of a corpus change: how often, how much, how long they live, where they go.

A small corpus is looked through at once; for a large one it is a job, whose result then stands here
until the corpus changes.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from roughly.corpus.changes import Changes, Interval, PageChange
from roughly.report import change_plots
from roughly.report.change_page import (
    facts,
    figures,
    headline_of,
    left_section,
    restless_section,
    told,
)
from roughly.report.verdict import plural
from roughly.web.pages.asked import PERIODS, period_of
from roughly.web.pages.job import SCRIPT, begin, outcome, start_form
from roughly.web.pages.job import section as job_section
from roughly.web.pages.layout import address, frame
from roughly.web.pages.page import Data, Elsewhere, Page, Query, View
from roughly.web.pages.trace import places

# Documents up to which nobody has to wait long.
DIRECT = 2000


@dataclass(frozen=True, slots=True)
class Summary(Changes):
    """Changes of which only some pages are at hand, and the counts of all."""

    of_pages: int
    counted: dict[str, int]

    @property
    def page_count(self) -> int:
        return self.of_pages

    def change_counts(self) -> dict[str, int]:
        return self.counted


def data(view: View, query: Query) -> Data | Elsewhere:
    """The statistics, or the job that is on them; a posted form starts it."""
    by = period_of(query)
    arguments = {"by": by}
    place = "/changes" if by == "day" else f"/changes?by={by}"
    if query.method == "POST":
        return begin(view, "changes", arguments, f"How pages change, by {by}", place)
    documents = len(view.corpus)
    known = outcome(view, "changes", arguments, direct=documents <= DIRECT)
    return {"by": by, "documents": documents, **known}


def html(found: Data) -> str:
    """The same as a page."""
    by = found["by"]
    if found["result"] is not None:
        title, content = _result(found["result"])
    elif found["job"] is not None:
        title = "How pages change"
        content = job_section(found["job"])
        if found["job"]["state"] != "running":
            content += _form(found, "Try again")
    else:
        title = "How pages change"
        content = (
            f"<section><p>The corpus has {plural(found['documents'], 'document')}: this takes a"
            " while. It can be watched and stopped.</p>"
            f"{_form(found, 'Find out')}</section>"
        )
    return frame(
        title,
        f"<h1>{title}</h1>{_periods(by)}{content}",
        here="/changes",
        twin=address("/changes.json", {"by": "" if by == "day" else by}),
        scripts=(SCRIPT,) if found["job"] is not None else (),
    )


def _form(found: Data, text: str) -> str:
    return start_form("/changes", {"by": found["by"]}, text)


def _periods(by: str) -> str:
    return (
        '<nav class="tabs" aria-label="What one sweep is"><ul>'
        + "".join(
            f'<li><a href="{address("/changes", {} if each == "day" else {"by": each})}"'
            f"{' aria-current=true' if each == by else ''}>by {each}</a></li>"
            for each in PERIODS
        )
        + '<li><a href="/page">one page through time</a></li></ul></nav>'
    )


def _result(result: Data) -> tuple[str, str]:
    """The headline and everything below it."""
    changes = summary_of(result)
    drawn = "".join(content for _, content in figures(changes).values())
    lists = restless_section(
        [_page(each) for each in result["restless"]], result["restless_pages"], _named
    ) + left_section([_page(each) for each in result["left"]], result["left_pages"], _named)
    return headline_of(changes), (
        f'<dl class="facts">{facts(changes)}</dl><p class="told">{told(changes)}</p>'
        f'<div class="figures">{drawn}</div>{change_plots.fates(changes)}{lists}'
    )


def _named(url: str) -> str:
    return places([url])


def summary_of(result: Data) -> Summary:
    """What the plots are drawn of, from what JSON keeps of it."""
    names = {each.name for each in fields(Interval)}
    return Summary(
        dates=result["sweeps"],
        documents=result["documents"],
        pages=[],
        intervals=[
            Interval(**{key: value for key, value in each.items() if key in names})
            for each in result["intervals"]
        ],
        survival=[(each["date"], each["at_url"], each["anywhere"]) for each in result["survival"]],
        of_pages=result["pages"],
        counted=result["pages_changed"],
    )


def _page(plain: dict[str, Any]) -> PageChange:
    return PageChange(**plain)


PAGES = (Page("/changes", data, html, ("GET", "POST")),)
