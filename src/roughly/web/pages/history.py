"""One page through time: its versions, how much each kept of the one before, and where it went."""

from __future__ import annotations

from dataclasses import asdict
from itertools import pairwise

from roughly.report import plot
from roughly.report.change_plots import some, time_axis
from roughly.report.figure import figure, nothing, table
from roughly.report.markup import escaped, line, name
from roughly.report.verdict import plural
from roughly.web.pages.asked import MOST_CHARACTERS, PERIODS, period_of, url_of
from roughly.web.pages.layout import address, document_link, frame
from roughly.web.pages.page import Data, Page, Query, View
from roughly.web.pages.trace import compare_link, section, trace_data

# Rows of the table of versions; of more, the latest are shown.
_ROWS = 200
# Sweeps of the strip; of more, some are left out evenly.
_STRIP = 120


def data(view: View, query: Query) -> Data:
    """The history of the page that is asked for; None if no sweep has it."""
    by, url = period_of(query), url_of(query)
    history = view.corpus.history(url, by, 1) if url else None
    found: Data = {"url": url, "by": by, "history": None}
    if history is not None:
        versions = [asdict(version) for version in history.versions]
        found["history"] = {
            "url": history.url,
            "sweeps": history.dates,
            "versions": versions,
            "changes": sum(version["changed"] is True for version in versions),
            "trace": trace_data(history.trace),
        }
    return found


def html(found: Data) -> str:
    """The same as a page."""
    history = found["history"]
    parameters = {"url": found["url"], "by": "" if found["by"] == "day" else found["by"]}
    title = f"Through time: {found['url'][:80]}" if found["url"] else "One page through time"
    if history is not None:
        content = _history(history)
    elif found["url"]:
        content = (
            f'<p class="note" role="status">{name(found["url"])}: no sweep of this corpus has it.'
            ' <a href="/search">Search for its text</a> instead.</p>'
        )
    else:
        content = (
            '<p class="told">How a page changed from sweep to sweep, and where it is now. Any'
            " spelling of its URL will do.</p>"
        )
    return frame(
        title,
        f"<h1>One page through time</h1>{_form(found)}{content}",
        here="/changes",
        twin=address("/page.json", parameters),
    )


def _form(found: Data) -> str:
    options = "".join(
        f'<option value="{each}"{" selected" if each == found["by"] else ""}>{each}</option>'
        for each in PERIODS
    )
    return (
        '<form class="fields" method="get" action="/page"><div>'
        '<label for="url">The URL of a page</label>'
        f'<input type="text" inputmode="url" id="url" name="url" value="{escaped(found["url"])}"'
        f' maxlength="{MOST_CHARACTERS}" required autocomplete="off" spellcheck="false"></div>'
        '<div class="row"><div><label for="by">One sweep is a</label>'
        f'<select id="by" name="by">{options}</select></div>'
        "<button>Show its history</button></div></form>"
    )


def _history(history: Data) -> str:
    versions = history["versions"]
    return (
        f'<p class="page-name">{document_link(history["url"])}</p>{_facts(history)}'
        f'{_strip(history)}<div class="figures">{_plot(versions)}{section(history["trace"])}</div>'
        f"{_versions(versions)}"
    )


def _facts(history: Data) -> str:
    versions, sweeps = history["versions"], history["sweeps"]
    first, last = versions[0], versions[-1]
    kept = [each["resemblance"] for each in versions if each["resemblance"] is not None]
    facts = [
        ("Versions", f"{len(versions):,}", f"in {plural(len(sweeps), 'sweep')}"),
        ("Changes", f"{history['changes']:,}", "from one to the next"),
        ("First seen", name(first["date"]), f"{first['tokens']:,} words"),
        ("Last seen", name(last["date"]), f"{last['tokens']:,} words"),
    ]
    if kept:
        facts.append(("Least kept", f"{min(kept):.3f}", "resemblance to the one before"))
    return (
        '<dl class="facts">'
        + "".join(
            f"<div><dt>{term}</dt><dd>{number}<small>{note}</small></dd></div>"
            for term, number, note in facts
        )
        + "</dl>"
    )


def _strip(history: Data) -> str:
    """A column for each sweep: how much was kept since the version before. The table has the same
    as words."""
    by_date = {version["date"]: version for version in history["versions"]}
    sweeps = history["sweeps"]
    if len(sweeps) > _STRIP:
        step = (len(sweeps) - 1) / (_STRIP - 1)
        sweeps = [sweeps[round(n * step)] for n in range(_STRIP)]
    width = 1000 / len(sweeps)
    drawn = []
    for number, date in enumerate(sweeps):
        version = by_date.get(date)
        if version is None:
            kind, share, said = "away", 1.0, "not there"
        elif version["changed"] is None:
            kind, share, said = "first", 1.0, "first seen"
        elif version["changed"]:
            kind, share = "changed", max(0.08, version["resemblance"])
            said = f"changed, resemblance {version['resemblance']:.3f}"
        else:
            kind, share, said = "unchanged", 1.0, "the same"
        drawn.append(
            f'<rect class="sweep-{kind}" x="{number * width:.1f}" y="{40 * (1 - share):.1f}"'
            f' width="{max(1.0, width - 2):.1f}" height="{40 * share:.1f}">'
            f"<title>{line(f'{date}: {said}', 80)}</title></rect>"
        )
    key = "".join(
        f'<span class="item"><span class="key sweep-{kind}"></span>{word}</span>'
        for kind, word in (
            ("first", "first seen"),
            ("unchanged", "the same"),
            ("changed", "changed: as high as what was kept"),
            ("away", "not there"),
        )
    )
    return (
        '<figure id="strip"><h2>Sweep by sweep</h2>'
        '<svg class="strip" viewBox="0 0 1000 40" preserveAspectRatio="none" aria-hidden="true">'
        f"{''.join(drawn)}</svg><figcaption>{key}</figcaption></figure>"
    )


def _plot(versions: list[Data]) -> str:
    title = "How much was kept"
    later = some([version for version in versions if version["resemblance"] is not None])
    if len(later) < 2:
        return nothing("kept", title, "It takes three versions to draw a line.") if later else ""
    axis, at = time_axis([versions[0]["date"], *(version["date"] for version in later)])
    drawn = plot.lines(
        "kept",
        title,
        "Resemblance of each version to the one before, and to the first.",
        axis,
        plot.Axis("resemblance", 0, 1.25),
        [
            plot.Line(
                label,
                hue,
                [
                    plot.Dot(x, version[field], f"{version['date']}: {version[field]:.3f}")
                    for x, version in zip(at[1:], later, strict=True)
                ],
            )
            for label, hue, field in (
                ("to the version before", "s2", "resemblance"),
                ("to the first", "s5", "to_first"),
            )
        ],
    )
    rows = [
        (name(each["date"]), f"{each['resemblance']:.3f}", f"{each['to_first']:.3f}")
        for each in later
    ]
    head = ("Sweep", "To the version before", "To the first")
    caption = "Estimated from sketches; 1 is the same text."
    return figure("kept", title, drawn, caption, table(head, rows, label=f"{title}: the numbers"))


def _versions(versions: list[Data]) -> str:
    shown = versions[-_ROWS:]
    rows = []
    before = {id(later): earlier for earlier, later in pairwise(versions)}
    for version in reversed(shown):
        earlier = before.get(id(version))
        side = ""
        if earlier is not None and version["changed"]:
            pair = earlier["id"], earlier["date"], version["id"], version["date"]
            side = compare_link(*pair, text="beside the one before")
        said = {None: "first seen", True: "changed", False: "the same"}[version["changed"]]
        rows.append(
            (
                name(version["date"]),
                f"{said} {side}",
                "" if version["resemblance"] is None else f"{version['resemblance']:.3f}",
                "" if version["to_first"] is None else f"{version['to_first']:.3f}",
                f"{version['tokens']:,}",
            )
        )
    head = ("Sweep", "What it is", "Resemblance", "To the first", "Words")
    cut = f"The latest {len(shown):,} of {len(versions):,}." if len(shown) < len(versions) else ""
    told = f'<p class="told">{cut}</p>' if cut else ""
    shown_table = table(head, rows, words=2, label="Versions")
    return f'<section id="versions"><h2>Versions</h2>{told}{shown_table}</section>'


PAGES = (Page("/page", data, html),)
