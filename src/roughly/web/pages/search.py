"""The search box: documents like a text that is pasted, a file that is dropped, or a URL.

Near duplicates and what contains the text, or is contained in it, best first; with the longest
passage that both share, where the texts are kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from roughly.comparison import compare
from roughly.corpus.finding import documents_named
from roughly.documents.file import Document, document, is_html
from roughly.errors import DocumentError, ParameterError
from roughly.report.markup import escaped, line, name
from roughly.report.plot import stacked
from roughly.report.verdict import plural, share
from roughly.sketcher import Sketcher
from roughly.web.pages.compare import compared
from roughly.web.pages.layout import address, document_link, frame
from roughly.web.pages.page import Data, Page, Query, View
from roughly.web.pages.side_by_side import longest_passage
from roughly.web.pages.state import State, state_of

if TYPE_CHECKING:
    from roughly.corpus.corpus import Corpus
    from roughly.corpus.lookup import NamedDocument
    from roughly.search.match import Match

_LIMITS = (10, 50, 200)
# The evidence of so many matches is looked up, in texts up to so long.
_EVIDENCE = 20
_EVIDENCE_BYTES = 1 << 20
_EVIDENCE_CHARACTERS = 280
# What the form gives back of a text.
_ECHO = 1 << 20
# A recall of which nothing need be said.
_SILENT = 0.99

_KINDS = {
    "identical": "identical",
    "lexical": "same words",
    "shingle": "same shingles",
    "near": "near duplicate",
    "contains": "inside the query",
    "contained": "contains the query",
    "empty": "empty, too",
}


def data(view: View, query: Query) -> Data:
    """What is found, if something is looked for."""
    state = state_of(view)
    corpus = state.corpus
    url, text = query.get("url"), query.form.get("text", "")
    given = query.upload
    asked = {
        "url": url,
        "text": text[:_ECHO],
        "file": None if given is None else given.name[:200],
        "threshold": query.get("threshold"),
        "containment": query.get("containment"),
        "date": query.get("date"),
        "limit": _limit(query.get("limit")),
    }
    if given is not None:
        sought: Document | None = document("-", given.content)
        assert sought is not None
        asked["text"] = sought.text_utf8[:_ECHO].decode("utf-8", "ignore")
        asked["url"] = ""
    elif text.strip():
        content = text.encode("utf-8", "surrogatepass")
        sought = Document("-", content, content, is_html(content, "auto"), "utf-8", "utf-8")
        asked["url"] = ""
    elif url:
        sought = None
    else:
        return {"corpus": view.path.name, "asked": asked, "found": None, "known": True}
    known = sought is not None or bool(_named(corpus, url))
    found = _found(state, sought, asked) if known else None
    return {"corpus": view.path.name, "asked": asked, "found": found, "known": known}


def _named(corpus: Corpus, url: str) -> list[NamedDocument]:
    return documents_named(corpus.collection, corpus.searcher, url)


def _limit(value: str) -> int:
    return int(value) if value in map(str, _LIMITS) else _LIMITS[0]


def _found(state: State, sought: Document | None, asked: Data) -> Data:
    corpus = state.corpus
    found = corpus.find(
        sought,
        asked["url"] or None,
        threshold=asked["threshold"] or None,
        containment=asked["containment"] or None,
        date=asked["date"] or None,
        limit=asked["limit"],
    )
    if sought is None and corpus.collection.has_text:
        sought = corpus.document(_named(corpus, asked["url"])[-1].row)
    evidence = [
        _evidence(corpus, sought, match) if number < _EVIDENCE else None
        for number, match in enumerate(found)
    ]
    cut = state.cut()
    clusters = [cut.number(state.position(match.row)) for match in found]
    matches = [
        match.to_dict()
        | {
            "passage": passage,
            "cluster": number,
            "cluster_size": cut.size_of(int(cut.firsts[number])),
        }
        for match, passage, number in zip(found, evidence, clusters, strict=True)
    ]
    promise = found.promise
    return {
        "matches": matches,
        "total": found.total,
        "query_shingles": found.query_size,
        "scanned": found.scanned,
        "uncounted": found.uncounted,
        "recall": promise.recall,
        "least_recall": promise.least,
    }


def _evidence(corpus: Corpus, sought: Document | None, match: Match) -> str | None:
    if sought is None or not corpus.collection.has_text:
        return None
    try:
        other = corpus.document(match.row)
    except (DocumentError, ParameterError):
        return None
    if max(len(sought.text_utf8), len(other.text_utf8)) > _EVIDENCE_BYTES:
        return None
    comparison = compare(sought, other, sketcher=Sketcher.of(corpus.manifest.parameters))
    return longest_passage(comparison, other, _EVIDENCE_CHARACTERS) or None


# --- as HTML --------------------------------------------------------------------------------------


def html(data: Data) -> str:
    asked, found = data["asked"], data["found"]
    content = f"<h1>Search</h1>{_form(asked)}"
    title = "Search"
    if not data["known"]:
        content += (
            f'<section id="found"><h2>Not in the corpus</h2><p>No document has the URL '
            f"{name(asked['url'])}. This service fetches nothing: paste the page's text or drop "
            "its file instead.</p></section>"
        )
    elif found is not None:
        content += _results(asked, found)
        title = f"{plural(found['total'], 'match').replace('matchs', 'matches')}"
    kept = ("url", "threshold", "containment", "date")
    twin = address("/search.json", {key: asked[key] for key in kept}) if asked["url"] else ""
    return frame(title, content, here="/search", twin=twin, scripts=["search.js"])


def _form(asked: Data) -> str:
    def number(key: str, label: str, usual: str) -> str:
        return (
            f'<div><label for="{key}">{label}</label><input id="{key}" name="{key}" type="text" '
            f'inputmode="decimal" placeholder="{usual}" value="{escaped(asked[key])}"></div>'
        )

    limits = "".join(
        f"<option{' selected' if each == asked['limit'] else ''}>{each}</option>"
        for each in _LIMITS
    )
    opened = " open" if asked["threshold"] or asked["containment"] or asked["date"] else ""
    file = f"The text of {name(asked['file'], 80)}." if asked["file"] else ""
    return (
        '<form id="query" class="fields" method="post" action="/search" '
        'enctype="multipart/form-data">'
        '<div class="drop" data-drop><label for="text">Text or HTML to look for</label>'
        f'<textarea id="text" name="text" rows="7" spellcheck="false">\n{escaped(asked["text"])}'
        f'</textarea><span class="hint">{file}<span data-drop-hint hidden> Files can be dropped '
        "here.</span></span></div>"
        '<div class="row"><div class="grow"><label for="file">or a file</label>'
        '<input id="file" name="file" type="file"></div>'
        '<div class="grow"><label for="url">or the URL of a document</label>'
        '<input id="url" name="url" type="text" inputmode="url" autocomplete="off" '
        f'spellcheck="false" value="{escaped(asked["url"])}"></div></div>'
        f'<details{opened}><summary>Options</summary><div class="row">'
        f"{number('threshold', 'Resemblance, at least', '0.5')}"
        f"{number('containment', 'Containment, at least', '0.8')}"
        f"{number('date', 'Sweep (a date, latest)', 'all')}"
        f'<div><label for="limit">Matches shown</label><select id="limit" name="limit">{limits}'
        "</select></div></div></details>"
        "<div><button>Search</button></div></form>"
    )


def _results(asked: Data, found: Data) -> str:
    shown = len(found["matches"])
    if not shown:
        return (
            '<section id="found"><h2>Nothing found</h2><p class="told">'
            f"No document is like it; the query has {plural(found['query_shingles'], 'shingle')}. "
            f"{_promise(found)}</p></section>"
        )
    total = found["total"]
    head = f"{total:,} {'match' if total == 1 else 'matches'}, best first"
    if total > shown:
        head = f"The best {shown:,} of {total:,} matches"
    items = "".join(_match(asked, each) for each in found["matches"])
    return (
        f'<section id="found"><h2>{head}</h2><p class="told">The query has '
        f"{plural(found['query_shingles'], 'shingle')}. Values with a range are estimates from "
        f"sketches, with their 95% interval; others are counted on the text. {_promise(found)}</p>"
        f'<ol class="matches">{items}</ol></section>'
    )


def _promise(found: Data) -> str:
    told = []
    if found["scanned"]:
        told.append(
            f"The text of {plural(found['scanned'], 'document')} was searched that the sketches "
            "say too little of."
        )
    elif found["recall"] < _SILENT:
        told.append(
            f"The query is short: {share(found['recall'], 2)} of the documents that just reach "
            "what is asked for are found."
        )
    if found["uncounted"]:
        told.append(
            f"{plural(found['uncounted'], 'document')} with few samples were not counted by the "
            "text."
        )
    return " ".join(told)


def _match(asked: Data, match: Data) -> str:
    measures = "".join(
        _measure(label, match[key], match[low], match[high])
        for label, key, low, high in (
            ("resemblance", "resemblance", "low", "high"),
            (
                "query in it",
                "containment_query",
                "containment_query_low",
                "containment_query_high",
            ),
            (
                "it in query",
                "containment_found",
                "containment_found_low",
                "containment_found_high",
            ),
        )
        if match[key] is not None
    )
    passage = (
        f'<blockquote dir="auto" lang="">{line(match["passage"], 400)}</blockquote>'
        if match["passage"]
        else ""
    )
    size_of = match["cluster_size"]
    cluster = (
        f'<a href="/cluster/{match["cluster"]}">its cluster of {size_of:,}</a>'
        if size_of > 1
        else '<span class="none">in no cluster</span>'
    )
    return (
        f'<li><p class="head">{document_link(match["id"])}</p>'
        f'<p class="about"><span class="kind"><span class="key kind-{match["kind"]}"></span>'
        f"{_KINDS[match['kind']]}</span>"
        f"<span>{escaped(match['date'] or 'undated')}</span>{_side_by_side(asked, match)}"
        f'<span>{cluster}</span><a href="{address("/page", {"url": match["id"]})}">through time</a>'
        f'</p><dl class="shares">{measures}</dl>{passage}</li>\n'
    )


def _side_by_side(asked: Data, match: Data) -> str:
    if match["passage"] is None:
        return ""
    if asked["url"]:
        where = compared(
            {"id": asked["url"], "date": ""}, {"id": match["id"], "date": match["date"]}
        )
        return f'<a href="{where}">side by side</a>'
    # The text that was looked for goes along with the form of this page.
    target = address("/compare", {"b": match["id"], "b_date": match["date"] or "undated"})
    return (
        f'<button class="link" form="query" formaction="{target}" formmethod="post">side by side'
        "</button>"
    )


def _measure(label: str, value: float, low: float, high: float) -> str:
    said = share(value, 3) if low == high else f"{share(value, 2)}"
    interval = "" if low == high else f"<small>{share(low, 2)} to {share(high, 2)}</small>"
    bar = stacked([(value, "exact", label)])
    return f"<div><dt>{label}</dt><dd>{said} {interval}{bar}</dd></div>"


SEARCH = Page("/search", data, html, ("GET", "POST"))
