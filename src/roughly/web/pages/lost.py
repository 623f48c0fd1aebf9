"""Lost and found: one page that is not at its URL any more, a list of them, or every page that
vanished between two sweeps. One page is answered at once; the others are jobs, whose result can be
looked through by kind and downloaded as redirects."""

from __future__ import annotations

from typing import Any

from roughly.corpus.redirect import SURE
from roughly.corpus.sweeps import Period
from roughly.errors import NotFoundError, ParameterError
from roughly.report.change_lines import certainty
from roughly.report.markup import escaped, name
from roughly.report.verdict import plural
from roughly.web.job import read_json, state_of
from roughly.web.pages.asked import (
    MOST_CHARACTERS,
    MOST_SWEEPS,
    PERIODS,
    date_of,
    period_of,
    share_of,
    sweeps_of,
    url_of,
    yes,
)
from roughly.web.pages.job import begin, jobs_of
from roughly.web.pages.layout import address, document_link, frame
from roughly.web.pages.page import Data, Elsewhere, Page, Query, View
from roughly.web.pages.trace import (
    KINDS,
    badge,
    compare_link,
    evidence,
    page_link,
    section,
    trace_data,
)
from roughly.web.work.lost import MOST_PAGES, MOVES, ROWS, rows_file

MOST_URLS = 10_000


# --- what is asked --------------------------------------------------------------------------------


def data(view: View, query: Query) -> Data | Elsewhere:
    """Where one page is now; a posted form starts a job on many."""
    by = period_of(query)
    if query.method == "POST":
        return _start(view, query, by)
    url = url_of(query)
    exact = yes(query, "exact")
    trace = view.corpus.lost(url, by, exact=exact, threads=1) if url else None
    dates = sweeps_of(view, by)
    return {
        "url": url,
        "by": by,
        "exact": exact,
        "text": view.corpus.collection.has_text,
        "sweeps": dates[-MOST_SWEEPS:],
        "sweep_count": len(dates),
        "trace": None if trace is None else trace_data(trace),
    }


def _start(view: View, query: Query, by: Period) -> Elsewhere:
    arguments: dict[str, Any] = {
        "begin": date_of(query, "from"),
        "end": date_of(query, "to"),
        "by": by,
        "exact": yes(query, "exact"),
        "confidence": share_of(query, "confidence", SURE),
    }
    if yes(query, "all"):
        dates = sweeps_of(view, by)
        if len(dates) < 2:
            raise ParameterError(
                f"sweeps: too few: {len(dates)}, wanted two or more",
                hint="add the pages of another date with: roughly add CORPUS INPUT... --date D",
            )
        given = arguments["begin"], arguments["end"]
        span = f"from {given[0] or 'the sweep before'} to {given[1] or 'the latest'}"
        title = "Every page that left its URL" + ("" if given == (None, None) else f", {span}")
        return begin(view, "every-page", arguments, title, "/lost/{id}")
    urls = listed(query)
    title = f"Where {plural(len(urls), 'page')} went"
    return begin(view, "listed-pages", arguments | {"urls": urls}, title, "/lost/{id}")


def listed(query: Query) -> list[str]:
    """The URLs of a form, a line each, from its field and its file, each once; what follows a hash
    at the begin of a line is left out."""
    text = query.get("urls")
    if query.upload is not None:
        text += "\n" + query.upload.content.decode("utf-8-sig", "replace")
    lines = (each.strip() for each in text.splitlines())
    urls = list(dict.fromkeys(each for each in lines if each and not each.startswith("#")))
    if not urls:
        raise ParameterError(
            "list: empty: there is no URL in it", hint="give one a line, or choose a file of them"
        )
    if len(urls) > MOST_URLS:
        raise ParameterError(f"list: too long: {len(urls):,} URLs, wanted at most {MOST_URLS:,}")
    longest = max(map(len, urls))
    if longest > MOST_CHARACTERS:
        raise ParameterError(
            f"list: a line is too long: {longest:,} characters, wanted at most {MOST_CHARACTERS:,}",
            hint="give one URL a line",
        )
    return urls


# --- the page that asks ---------------------------------------------------------------------------


def html(found: Data) -> str:
    """The forms, and where the page is that was asked for."""
    parameters = {"url": found["url"], "by": found["by"] if found["by"] != "day" else ""}
    return frame(
        f"Lost and found: {found['url'][:80]}" if found["url"] else "Lost and found",
        '<h1>Lost and found</h1><p class="told">Pages that are not at their URL any more: the same'
        " text elsewhere, moved and edited, merged into another page, split into several, or gone."
        " What counts is text that few pages have.</p>"
        f"{_one(found)}{_answer(found)}{_many(found)}{_every(found)}",
        here="/lost",
        twin=address("/lost.json", parameters),
    )


def _one(found: Data) -> str:
    return (
        '<form class="fields" method="get" action="/lost"><div>'
        '<label for="url">The URL of a page</label>'
        f'<input type="text" inputmode="url" id="url" name="url" value="{escaped(found["url"])}"'
        f' maxlength="{MOST_CHARACTERS}" required autocomplete="off" spellcheck="false"></div>'
        f'<div class="row">{_period(found["by"], "one")}{_exact(found, "one")}'
        "<button>Find it</button></div></form>"
    )


def _answer(found: Data) -> str:
    if not found["url"]:
        return ""
    if found["trace"] is None:
        return (
            f'<p class="note" role="status">{name(found["url"])}: no sweep of this corpus has it.'
            ' <a href="/search">Search for its text</a> instead.</p>'
        )
    trace = found["trace"]
    redirect = ""
    move = trace["moves"][0]
    if move["new"] not in (None, move["old"]) and trace["reused"] is None:
        redirect = (
            '<form method="post" action="/lost">'
            f'<input type="hidden" name="urls" value="{escaped(trace["url"])}">'
            f'<input type="hidden" name="by" value="{found["by"]}">'
            '<button class="plain">Make a redirect of it</button></form>'
        )
    return (
        f'<p class="page-name">{document_link(trace["url"])} {page_link(trace["url"])}</p>'
        f"{section(trace, redirect)}"
    )


def _many(found: Data) -> str:
    return (
        '<section id="list"><h2>A list of pages</h2>'
        '<form class="fields" method="post" action="/lost" enctype="multipart/form-data">'
        f'<input type="hidden" name="by" value="{found["by"]}">'
        f'<div><label for="urls">URLs, one a line<span class="hint">at most {MOST_URLS:,};'
        " lines that begin with # are left out</span></label>"
        '<textarea id="urls" name="urls" rows="6" spellcheck="false" autocomplete="off">'
        "</textarea></div>"
        '<div><label for="file">or a file of them</label>'
        '<input type="file" id="file" name="file" accept=".txt,.csv,text/plain"></div>'
        f"{_span(found, 'list', ('where it was last seen', 'the latest'))}"
        f'<div class="row">{_confidence("list")}{_exact(found, "list")}'
        "<button>Find them</button></div></form></section>"
    )


def _every(found: Data) -> str:
    if found["sweep_count"] < 2:
        told = (
            f"The corpus has {plural(found['sweep_count'], 'sweep')}: it takes two, of different"
            " dates, to see which pages left."
        )
        return f'<section id="every"><h2>Every page</h2><p class="none">{told}</p></section>'
    return (
        '<section id="every"><h2>Every page</h2><p class="told">All pages that one sweep has and a'
        " later one has not, or has another text at the URL of.</p>"
        '<form class="fields" method="post" action="/lost">'
        f'<input type="hidden" name="all" value="1">'
        f'<input type="hidden" name="by" value="{found["by"]}">'
        f"{_span(found, 'every', ('the one before', 'the latest'))}"
        f'<div class="row">{_confidence("every")}{_exact(found, "every")}'
        "<button>Find all</button></div></form></section>"
    )


def _period(by: str, place: str) -> str:
    options = "".join(
        f'<option value="{each}"{" selected" if each == by else ""}>{each}</option>'
        for each in PERIODS
    )
    return (
        f'<div><label for="{place}-by">One sweep is a</label>'
        f'<select id="{place}-by" name="by">{options}</select></div>'
    )


def _span(found: Data, place: str, defaults: tuple[str, str]) -> str:
    dates = "".join(
        f'<option value="{escaped(date)}">{escaped(date)}</option>'
        for date in reversed(found["sweeps"])
    )
    fields = zip(("from", "to"), ("From the sweep of", "to that of"), defaults, strict=True)
    return (
        '<div class="row">'
        + "".join(
            f'<div><label for="{place}-{which}">{title}</label>'
            f'<select id="{place}-{which}" name="{which}"><option value="">{default}</option>'
            f"{dates}</select></div>"
            for which, title, default in fields
        )
        + "</div>"
    )


def _confidence(place: str) -> str:
    return (
        f'<div><label for="{place}-sure">Redirects from this confidence on</label>'
        f'<input type="number" id="{place}-sure" name="confidence" min="0" max="1" step="0.05"'
        f' value="{SURE}"></div>'
    )


def _exact(found: Data, place: str) -> str:
    if not found["text"]:
        return ""
    ticked = " checked" if place == "one" and found["exact"] else ""
    return (
        f'<div class="tick"><input type="checkbox" id="{place}-exact" name="exact" value="1"'
        f'{ticked}><label for="{place}-exact">count on the stored text</label></div>'
    )


# --- the result of a job --------------------------------------------------------------------------


def result(view: View, query: Query) -> Data:
    """A page of the rows that a job has found, of all kinds or of one."""
    id = str(query.path["id"])
    jobs = jobs_of(view)
    job = jobs.get(id)
    if job.work not in ("every-page", "listed-pages"):
        raise NotFoundError(f"job {id}: not about lost pages: it is about {job.work}")
    found = jobs.result(id)
    kind = query.get("kind") or "all"
    if kind != "all" and kind not in KINDS:
        raise ParameterError(f"kind: unknown: {kind[:40]!r}, wanted one of {', '.join(KINDS)}")
    count = found["rows"].get(kind, 0)
    pages = max(1, min(MOST_PAGES, -(-count // ROWS)))
    number = query.get("page") or "1"
    whole = number.isascii() and number.isdigit() and len(number) < 7
    if not whole or not 1 <= int(number) <= pages:
        raise ParameterError(f"page: out of range: {number[:40]!r}, wanted 1 to {pages}")
    rows = read_json(jobs.directory / id / rows_file(kind, int(number) - 1)) if count else []
    return {
        **found,
        "id": id,
        "title": job.title,
        "kind": kind,
        "page": int(number),
        "pages": pages,
        "row_count": count,
        "moves": rows,
        "stale": found["corpus_state"] != state_of(view.corpus),
    }


def result_html(found: Data) -> str:
    """The same as a page."""
    place = f"/lost/{found['id']}"
    stale = (
        '<p class="note">The corpus has changed since this was found.</p>' if found["stale"] else ""
    )
    return frame(
        found["title"],
        f"<h1>{escaped(found['title'])}</h1>{stale}{_facts(found)}{_downloads(found)}"
        f"{_kinds(found, place)}{_rows(found)}{_pages(found, place)}"
        '<p class="told"><a href="/lost">Look for others</a></p>',
        here="/lost",
        twin=address(f"{place}.json", {"kind": found["kind"], "page": found["page"]}),
    )


def _facts(found: Data) -> str:
    counts = found["counts"]
    if not counts:
        return '<p class="none">No page left its URL.</p>'
    return (
        '<dl class="facts">'
        + "".join(
            f"<div><dt>{KINDS[kind]}</dt><dd>{count:,}<small>{_note(kind)}</small></dd></div>"
            for kind, count in counts.items()
        )
        + "</dl>"
    )


def _note(kind: str) -> str:
    return {
        "there": "still",
        "same": "word for word",
        "moved": "and edited",
        "merged": "into another page",
        "split": "into several",
        "gone": "as far as can be told",
        "reused": "counted above too",
        "unknown": "no sweep has it",
    }[kind]


def _downloads(found: Data) -> str:
    if not found["counts"]:
        return ""
    place = f"/jobs/{found['id']}/files"
    titles = {"nginx": "nginx", "apache": "Apache", "netlify": "Netlify"}
    links = "".join(
        f'<li><a href="{place}/{each["name"]}" download>{titles[each["server"]]}</a>'
        f' <span class="hint">{plural(each["rules"], "rule")}</span></li>'
        for each in found["files"]
    )
    without = ", ".join(f"{count:,} {escaped(why)}" for count, why in found["without"])
    none = f" Pages without a rule: {without}." if without else ""
    return (
        '<section id="redirects"><h2>Download</h2><ul class="downloads">'
        f'{links}<li><a href="{place}/{MOVES}" download>JSON</a>'
        ' <span class="hint">every row</span></li></ul>'
        '<p class="told">Redirects of moves with a confidence of'
        f" {found['arguments']['confidence']:g} or more.{none}</p></section>"
    )


def _kinds(found: Data, place: str) -> str:
    if len(found["counts"]) < 2:
        return ""
    kinds = ["all", *found["counts"]]
    return (
        '<nav class="tabs" aria-label="Kinds"><ul>'
        + "".join(
            f'<li><a href="{address(place, {} if kind == "all" else {"kind": kind})}"'
            f"{' aria-current=true' if kind == found['kind'] else ''}>{KINDS.get(kind, 'all')}</a>"
            "</li>"
            for kind in kinds
        )
        + "</ul></nav>"
    )


def _rows(found: Data) -> str:
    if not found["moves"]:
        return '<p class="none">None of these.</p>' if found["counts"] else ""
    return f'<ul class="moves">{"".join(map(_row, found["moves"]))}</ul>'


def _row(move: Data) -> str:
    asked = str(move.get("asked") or move["old"])
    notes = ["another text is there now"] if move["reused"] else []
    notes += [f"asked for as {name(asked)}"] if asked != move["old"] else []
    hint = f'<span class="hint">{"; ".join(notes)}</span>' if notes else ""
    where = told = ""
    if move["new"] is not None:
        told = f"{evidence(move)}, confidence {certainty(move['confidence'])}."
        if move["new"] != move["old"]:
            where = f'<p class="place">{document_link(move["new"])} {page_link(move["new"])}</p>'
            dates = move["from_date"], move["to_date"]
            told += " " + compare_link(move["old"], dates[0], move["new"], dates[1])
    elif move["confidence"] is not None:
        told = f"Confidence {certainty(move['confidence'])}."
    page = f"{document_link(move['old'])} {page_link(move['old'])}"
    if move["kind"] == "unknown":
        page = name(move["old"])
    return f'<li><p>{badge(move["kind"])} {page}{hint}</p>{where}<p class="told">{told}</p></li>'


def _pages(found: Data, place: str) -> str:
    if found["pages"] < 2:
        return ""
    kind = "" if found["kind"] == "all" else found["kind"]

    def link(number: int, text: str, relation: str) -> str:
        if not 1 <= number <= found["pages"]:
            return ""
        href = address(place, {"kind": kind, "page": number})
        return f'<a rel="{relation}" href="{href}">{text}</a> '

    here = f"page {found['page']:,} of {found['pages']:,}, {plural(found['row_count'], 'row')}"
    before, after = found["page"] - 1, found["page"] + 1
    return (
        f'<nav class="told" aria-label="Pages of the list">{link(before, "Before", "prev")}{here} '
        f"{link(after, 'Next', 'next')}</nav>"
    )


PAGES = (Page("/lost", data, html, ("GET", "POST")), Page("/lost/{id}", result, result_html))
