"""How pages change over time as one HTML page: counts, plots, the pages that change most.

The page is one file that asks the network for nothing and has no script; everything that came with
the documents is text (`markup.escaped`), and a content security policy admits no style but the
page's own, by its hash. It stays below a megabyte whatever the corpus: every list is cut, and says
so.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from string import Template

from roughly.corpus.changes import Changes, PageChange
from roughly.report import change_plots
from roughly.report.figure import percent, table
from roughly.report.markup import line, name, own_file, policy_hash
from roughly.report.verdict import plural

# Rows of a list of pages.
_ROWS = 50


def page(changes: Changes, title: str = "") -> str:
    """The page, complete."""
    style = own_file("cluster.css") + own_file("change.css")
    most, gone = restless(changes), left(changes)
    drawn = figures(changes)
    sections = {
        "fates": ("From sweep to sweep", change_plots.fates(changes)),
        "restless": ("Pages that change most", restless_section(most[:_ROWS], len(most))),
        "moved": ("Pages that left", left_section(gone[:_ROWS], len(gone))),
    }
    headline = headline_of(changes)
    return Template(own_file("change.html")).substitute(
        policy=f"default-src 'none'; style-src {policy_hash(style)}; base-uri 'none'; "
        "form-action 'none'",
        style=style,
        title=f"{line(title, 80)}{': ' if title else ''}{headline}",
        corpus=f" · {name(title)}" if title else "",
        headline=headline,
        facts=facts(changes),
        told=told(changes),
        nav=" ".join(
            f'<a href="#{anchor}">{label}</a>'
            for anchor, (label, content) in (drawn | sections).items()
            if content
        ),
        figures="".join(content for _, content in drawn.values()),
        sections="".join(content for _, content in sections.values()),
    )


def figures(changes: Changes) -> dict[str, tuple[str, str]]:
    """Every plot by its name, with a word for it."""
    return {
        "frequency": ("How often", change_plots.frequency(changes)),
        "resemblance": ("How much", change_plots.resemblance(changes)),
        "survival": ("How long", change_plots.survival(changes)),
        "births": ("Births and deaths", change_plots.births(changes)),
    }


def headline_of(changes: Changes) -> str:
    """The one sentence that tells most."""
    if not changes.page_count:
        return "No pages"
    if len(changes.dates) < 2:
        return f"{plural(changes.page_count, 'page')} in one sweep"
    if not changes.stayed:
        return f"{plural(changes.page_count, 'page')}, none of them in two sweeps in a row"
    share = percent(changes.changed, sum(interval.pages for interval in changes.intervals))
    return f"{share} of pages change from one sweep to the next"


def facts(changes: Changes) -> str:
    """The counts, as a list of terms and numbers."""
    total = {
        kind: sum(getattr(interval, kind) for interval in changes.intervals)
        for kind in ("pages", "vanished", "moved_within", "moved_between", "gone", "born")
    }
    moved = total["moved_within"] + total["moved_between"]
    counts = [
        ("Pages", f"{changes.page_count:,}", plural(changes.documents, "version")),
        ("Sweeps", f"{len(changes.dates):,}", _span(changes)),
    ]
    if changes.intervals:
        counts += [
            ("Changed", f"{changes.changed:,}", percent(changes.changed, total["pages"])),
            ("Moved", f"{moved:,}", percent(moved, total["pages"])),
            ("Gone", f"{total['gone']:,}", percent(total["gone"], total["pages"])),
            ("New", f"{total['born']:,}", "moved pages among them"),
        ]
    return "\n".join(
        f"<div><dt>{label}</dt><dd>{number}<small>{note}</small></dd></div>"
        for label, number, note in counts
    )


def _span(changes: Changes) -> str:
    if len(changes.dates) < 2:
        return name(changes.dates[0]) if changes.dates else ""
    return f"{name(changes.dates[0])} to {name(changes.dates[-1])}"


def told(changes: Changes) -> str:
    """What the words mean, and how long pages live."""
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


def restless(changes: Changes) -> list[PageChange]:
    """Pages that changed, most often first."""
    changed = [page for page in changes.pages if page.changes]
    return sorted(changed, key=lambda page: (-page.changes, page.mean_resemblance or 0, page.url))


def left(changes: Changes) -> list[PageChange]:
    """Pages that are not at their URL any more; those that are gone come last."""
    away = [page for page in changes.pages if page.fate != "there"]
    return sorted(away, key=lambda page: (page.fate == "gone", page.fate, page.url))


def restless_section(
    pages: Sequence[PageChange], every: int, shown: Callable[[str], str] = name
) -> str:
    """Some of the pages that changed, of so many; `shown` makes markup of a URL."""
    if not pages:
        return ""
    rows = [
        (
            shown(page.url),
            f"{page.changes:,} of {page.seen - 1:,}",
            f"{page.mean_resemblance:.3f}",
            f"{page.least_resemblance:.3f}",
        )
        for page in pages
    ]
    head = ("Page", "Changes", "Mean resemblance", "Least")
    return (
        '<section id="restless"><h2>Pages that change most</h2>'
        f'<p class="told">{_shown(len(rows), every)} Resemblance is of a version to the one '
        f"before.</p>{table(head, rows)}</section>\n"
    )


def left_section(
    pages: Sequence[PageChange], every: int, shown: Callable[[str], str] = name
) -> str:
    """The same of those that left their URL."""
    if not pages:
        return ""
    rows = [
        (
            shown(page.url),
            page.fate,
            " ".join(map(shown, page.moved_to)),
            name(page.last_seen),
        )
        for page in pages
    ]
    head = ("Page", "What became of it", "Where", "Last seen")
    return (
        '<section id="moved"><h2>Pages that left their URL</h2>'
        f'<p class="told">{_shown(len(rows), every)}</p>{table(head, rows, words=4)}'
        "</section>\n"
    )


def _shown(shown: int, every: int) -> str:
    return "All of them." if shown == every else f"{shown:,} of {every:,}."
