"""How pages change over time as one HTML page: counts, plots, the pages that change most.

The page is one file that asks the network for nothing and has no script; everything that came with
the documents is text (`markup.escaped`), and a content security policy admits no style but the
page's own, by its hash. It stays below a megabyte whatever the corpus: every list is cut, and says
so.
"""

from __future__ import annotations

from string import Template

from roughly.corpus.changes import Changes
from roughly.report import change_plots
from roughly.report.figure import percent, table
from roughly.report.markup import line, name, own_file, policy_hash
from roughly.report.verdict import plural

# Rows of a list of pages.
_ROWS = 50


def page(changes: Changes, title: str = "") -> str:
    """The page, complete."""
    style = own_file("cluster.css") + own_file("change.css")
    figures = {
        "frequency": ("How often", change_plots.frequency(changes)),
        "resemblance": ("How much", change_plots.resemblance(changes)),
        "survival": ("How long", change_plots.survival(changes)),
        "births": ("Births and deaths", change_plots.births(changes)),
    }
    sections = {
        "fates": ("From sweep to sweep", change_plots.fates(changes)),
        "restless": ("Pages that change most", _restless(changes)),
        "moved": ("Pages that left", _moved(changes)),
    }
    headline = _headline(changes)
    return Template(own_file("change.html")).substitute(
        policy=f"default-src 'none'; style-src {policy_hash(style)}; base-uri 'none'; "
        "form-action 'none'",
        style=style,
        title=f"{line(title, 80)}{': ' if title else ''}{headline}",
        corpus=f" · {name(title)}" if title else "",
        headline=headline,
        facts=_facts(changes),
        told=_told(changes),
        nav=" ".join(
            f'<a href="#{anchor}">{label}</a>'
            for anchor, (label, content) in (figures | sections).items()
            if content
        ),
        figures="".join(content for _, content in figures.values()),
        sections="".join(content for _, content in sections.values()),
    )


def _headline(changes: Changes) -> str:
    if not changes.pages:
        return "No pages"
    if len(changes.dates) < 2:
        return f"{plural(len(changes.pages), 'page')} in one sweep"
    if not changes.stayed:
        return f"{plural(len(changes.pages), 'page')}, none of them in two sweeps in a row"
    share = percent(changes.changed, sum(interval.pages for interval in changes.intervals))
    return f"{share} of pages change from one sweep to the next"


def _facts(changes: Changes) -> str:
    total = {
        kind: sum(getattr(interval, kind) for interval in changes.intervals)
        for kind in ("pages", "vanished", "moved_within", "moved_between", "gone", "born")
    }
    moved = total["moved_within"] + total["moved_between"]
    facts = [
        ("Pages", f"{len(changes.pages):,}", plural(changes.documents, "version")),
        ("Sweeps", f"{len(changes.dates):,}", _span(changes)),
    ]
    if changes.intervals:
        facts += [
            ("Changed", f"{changes.changed:,}", percent(changes.changed, total["pages"])),
            ("Moved", f"{moved:,}", percent(moved, total["pages"])),
            ("Gone", f"{total['gone']:,}", percent(total["gone"], total["pages"])),
            ("New", f"{total['born']:,}", "moved pages among them"),
        ]
    return "\n".join(
        f"<div><dt>{label}</dt><dd>{number}<small>{note}</small></dd></div>"
        for label, number, note in facts
    )


def _span(changes: Changes) -> str:
    if len(changes.dates) < 2:
        return name(changes.dates[0]) if changes.dates else ""
    return f"{name(changes.dates[0])} to {name(changes.dates[-1])}"


def _told(changes: Changes) -> str:
    words = [
        "A page is what one URL shows. It has <em>changed</em> if its words did, markup and case "
        "aside. One that <em>left its URL</em> has moved if most of what only it said is elsewhere "
        "in the next sweep, or else is <em>gone</em>. Shares are of the pages of the sweep before."
    ]
    if changes.days_at_url is not None:
        words.append(f"At this rate a URL lives {_days(changes.days_at_url)}")
        if changes.days_of_life is not None:
            words[-1] += f", and a page, moves followed, {_days(changes.days_of_life)}"
        words[-1] += "."
    return " ".join(words)


def _days(days: float) -> str:
    return plural(round(days), "day") if days < 1000 else f"{days / 365.25:,.1f} years"


def _restless(changes: Changes) -> str:
    changed = [page for page in changes.pages if page.changes]
    if not changed:
        return ""
    changed.sort(key=lambda page: (-page.changes, page.mean_resemblance or 0, page.url))
    rows = [
        (
            name(page.url),
            f"{page.changes:,} of {page.seen - 1:,}",
            f"{page.mean_resemblance:.3f}",
            f"{page.least_resemblance:.3f}",
        )
        for page in changed[:_ROWS]
    ]
    head = ("Page", "Changes", "Mean resemblance", "Least")
    return (
        '<section id="restless"><h2>Pages that change most</h2>'
        f'<p class="told">{_shown(len(rows), len(changed))} Resemblance is of a version to the one '
        f"before.</p>{table(head, rows)}</section>\n"
    )


def _moved(changes: Changes) -> str:
    left = [page for page in changes.pages if page.fate != "there"]
    if not left:
        return ""
    left.sort(key=lambda page: (page.fate == "gone", page.fate, page.url))
    rows = [
        (
            name(page.url),
            page.fate,
            " ".join(map(name, page.moved_to)),
            name(page.last_seen),
        )
        for page in left[:_ROWS]
    ]
    head = ("Page", "What became of it", "Where", "Last seen")
    return (
        '<section id="moved"><h2>Pages that left their URL</h2>'
        f'<p class="told">{_shown(len(rows), len(left))}</p>{table(head, rows, words=4)}'
        "</section>\n"
    )


def _shown(shown: int, every: int) -> str:
    return "All of them." if shown == every else f"{shown:,} of {every:,}."
