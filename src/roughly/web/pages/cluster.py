"""One cluster: its members with dates and links, its weakest link, a small graph of resemblances,
and any two members side by side.

A cluster may have any number of members: they are listed page by page, the graph shows a few dozen
of them, and only what is shown is looked up. The two documents that are shown beside each other are
named by their rows in the corpus (`a`, `b`).
"""

from __future__ import annotations

import numpy as np

from roughly.clustering.clusters import KIND_NAMES
from roughly.documents.file import printable
from roughly.errors import NotFoundError
from roughly.report.figure import decimal, percent
from roughly.report.markup import escaped, name
from roughly.report.verdict import plural, share
from roughly.web.pages import graph
from roughly.web.pages.compare import compared, named
from roughly.web.pages.layout import address, document_link, frame
from roughly.web.pages.overview import (
    ROWS,
    at_threshold,
    page_number,
    pages_of,
    threshold_of,
    turn,
)
from roughly.web.pages.page import Data, Page, Query, View
from roughly.web.pages.side_by_side import section, side_by_side
from roughly.web.pages.state import Cut, Numbers, State, state_of

# Documents in the graph.
_NODES = 30
# Members whose resemblance to the first is looked up for the smallest of them.
_MEASURED = 20_000


def data(view: View, query: Query) -> Data:
    """A cluster by its number, or by a document that is in it."""
    state = state_of(view)
    cut = state.cut(query.get("threshold"), query.get("distance"))
    if "id" in query.path:
        number = _whole(str(query.path["id"]))
    else:
        url = query.get("url")
        if not url:
            raise NotFoundError("cluster: not found: wanted its number, or the URL of a document")
        found = named(state.corpus, url, query.get("date"))
        number = cut.number(state.position(found.row))
    members = cut.members(number)
    page = min(page_number(query), pages_of(len(members)))
    shown = np.arange((page - 1) * ROWS, min(page * ROWS, len(members)))
    ends, weights = _links(cut, members)
    weakest = _weakest(state, ends, weights)
    measured = members[:_MEASURED]
    to_first = state.resemblances(np.column_stack([np.full(len(measured), members[0]), measured]))
    a, b = _chosen(state, cut, query, members, to_first)
    return {
        "corpus": view.path.name,
        **threshold_of(state, cut),
        "cluster": number,
        "size": len(members),
        "distinct": len(np.unique(cut.clusters.outcome.groups.representative[members])),
        "weakest_link": weakest,
        "smallest_resemblance": float(to_first.min()),
        "measured": len(measured),
        "page": page,
        "pages": pages_of(len(members)),
        "members": _members(state, cut, members, shown),
        "graph": _graph(state, cut, members, ends, weights, (a, b)),
        "a": None if a is None else _named(state, members, a),
        "b": None if b is None else _named(state, members, b),
        "pair": _pair(state, a, b),
        "text_kept": state.corpus.collection.has_text,
    }


def _whole(text: str) -> int:
    """A number as addresses have it; -1 for what is none, or larger than all of them."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 20 else -1


def _links(cut: Cut, members: Numbers) -> tuple[Numbers, np.typing.NDArray[np.float64]]:
    ends, weights = cut.clusters.links()
    inside = cut.first[ends[:, 0]] == members[0]
    return ends[inside], weights[inside]


def _weakest(state: State, ends: Numbers, weights: np.typing.NDArray[np.float64]) -> Data | None:
    """The lightest link; None for documents that are all equivalent."""
    if not len(ends):
        return None
    at = int(weights.argmin())
    a, b = state.documents(ends[at])
    return {
        "value": float(weights[at]),
        "a": {"row": a.row, "id": a.id, "date": a.date},
        "b": {"row": b.row, "id": b.id, "date": b.date},
    }


def _chosen(
    state: State,
    cut: Cut,
    query: Query,
    members: Numbers,
    to_first: np.typing.NDArray[np.float64],
) -> tuple[int | None, int | None]:
    """The two documents that are shown, as places: those asked for, else the first and the one that
    is least like it."""

    def asked(key: str, usual: int) -> int:
        value = query.get(key)
        if not value:
            return usual
        row = _whole(value)
        position = -1 if row < 0 else state.position(row)
        if position < 0 or cut.first[position] != members[0]:
            raise NotFoundError(
                f"{key}: no member of this cluster: {printable(value[:40])}, wanted its row"
            )
        return position

    if len(members) < 2:
        return None, None
    a = asked("a", int(members[0]))
    b = asked("b", int(members[int(to_first.argmin())]))
    if a == b and not query.get("b"):
        b = next(int(each) for each in members[:2] if each != a)
    return a, b


def _named(state: State, members: Numbers, position: int) -> Data:
    (document,) = state.documents(np.array([position]))
    number = int(np.searchsorted(members, position)) + 1
    return {"number": number, "row": document.row, "id": document.id, "date": document.date}


def _members(state: State, cut: Cut, members: Numbers, shown: Numbers) -> list[Data]:
    some = members[shown]
    resemblance = state.resemblances(np.column_stack([np.full(len(some), members[0]), some]))
    kinds = cut.clusters.kind_codes[some]
    sizes = state.corpus.collection.size[state.rows(some)]
    return [
        {
            "number": int(number) + 1,
            "row": document.row,
            "id": document.id,
            "date": document.date,
            "kind": None if number == 0 else KIND_NAMES[kind],
            "resemblance": float(like),
            "shingles": int(size),
        }
        for number, document, kind, like, size in zip(
            shown, state.documents(some), kinds.tolist(), resemblance, sizes, strict=True
        )
    ]


def _graph(
    state: State,
    cut: Cut,
    members: Numbers,
    ends: Numbers,
    weights: np.typing.NDArray[np.float64],
    chosen: tuple[int | None, int | None],
) -> Data | None:
    """Some members, each for all that are equivalent to it, and what they resemble each other."""
    groups = cut.clusters.outcome.groups.representative
    distinct = np.unique(groups[members]).astype(np.int64)
    if len(distinct) < 2:
        return None
    # The ends of the weakest link and those that are shown beside each other are always among them.
    first = [distinct[0], *(int(groups[each]) for each in chosen if each is not None)]
    if len(ends):
        first += ends[int(weights.argmin())].tolist()
    drawn = np.array(list(dict.fromkeys([*first, *distinct[: _NODES + 5].tolist()]))[:_NODES])
    drawn = np.sort(drawn).astype(np.int64)
    a, b = np.triu_indices(len(drawn), 1)
    values = state.resemblances(np.column_stack([drawn[a], drawn[b]]))
    table = np.ones((len(drawn), len(drawn)))
    table[a, b] = table[b, a] = values
    linked = {(int(min(p)), int(max(p))) for p in ends.tolist()} if len(ends) < 1_000_000 else set()
    lightest = set() if not len(ends) else {tuple(sorted(ends[int(weights.argmin())].tolist()))}
    least = 0.0 if state.by_simhash else float(cut.clusters.threshold)
    edges = []
    for one, other, value in zip(a.tolist(), b.tolist(), values.tolist(), strict=True):
        pair = (int(drawn[one]), int(drawn[other]))
        if pair in linked or value >= least:
            edges.append(
                {
                    "a": one,
                    "b": other,
                    "resemblance": value,
                    "link": pair in linked,
                    "weakest": pair in lightest,
                }
            )
    sides = {
        int(groups[each]): key for each, key in zip(chosen, "ab", strict=True) if each is not None
    }
    nodes = [
        {
            "number": int(np.searchsorted(members, position)) + 1,
            "row": document.row,
            "id": document.id,
            "x": x,
            "y": y,
            "side": sides.get(int(position), ""),
        }
        for position, document, (x, y) in zip(
            drawn.tolist(), state.documents(drawn), graph.places(table), strict=True
        )
    ]
    return {"nodes": nodes, "edges": edges, "distinct": len(distinct)}


def _pair(state: State, a: int | None, b: int | None) -> Data | None:
    corpus = state.corpus
    if a is None or b is None or not corpus.collection.has_text:
        return None
    first, second = state.documents(np.array([a, b]))
    return side_by_side(
        corpus.document(first.row),
        corpus.document(second.row),
        corpus.manifest.parameters,
        (first.date, second.date),
    )


# --- as HTML --------------------------------------------------------------------------------------


def html(data: Data) -> str:
    first = data["members"][0]["id"] if data["page"] == 1 else None
    path = f"/cluster/{data['cluster']}"
    asked = at_threshold(data)
    chosen = {key: data[key]["row"] for key in ("a", "b") if data[key] is not None}
    parts = [
        f'<p class="made">{name(data["corpus"])} · cluster {data["cluster"]:,} at '
        f"{_at(data)}</p>\n<h1>{_headline(data)}</h1>\n",
        f'<dl class="facts">{_facts(data)}</dl>',
    ]
    if data["size"] > 1:
        parts.append(
            f'<div class="beside">{_members_section(data, path, asked, chosen)}'
            f"{_graph_section(data, path, asked)}</div>"
        )
        parts.append(_pair_section(data))
    else:
        parts.append(f"<p>{document_link(first or '')} is like no other document.</p>")
    return frame(
        f"Cluster {data['cluster']}",
        "".join(parts),
        here="/",
        twin=address(f"{path}.json", asked | chosen | {"page": data["page"]}),
        scripts=["pair.js", "passages.js"],
    )


def _at(data: Data) -> str:
    if data["by_simhash"]:
        return f"a distance of {plural(data['distance'], 'bit')}"
    return f"threshold {decimal(data['threshold'])}"


def _headline(data: Data) -> str:
    if data["size"] == 1:
        return "A document by itself"
    if data["distinct"] == 1:
        return f"{data['size']:,} documents that are equivalent"
    return f"{data['size']:,} documents that are roughly the same"


def _facts(data: Data) -> str:
    weakest = data["weakest_link"]
    dates = [each["date"] for each in data["members"] if each["date"]]
    facts = [
        ("Documents", f"{data['size']:,}", ""),
        ("Distinct", f"{data['distinct']:,}", percent(data["distinct"], data["size"])),
    ]
    if weakest:
        unit = "share of bits" if data["by_simhash"] else "that holds it together"
        facts.append(("Weakest link", share(weakest["value"], 3), unit))
    if data["size"] > 1:
        of = f"of the first {data['measured']:,}" if data["measured"] < data["size"] else ""
        told = of or "to the first document"
        facts.append(("Smallest resemblance", share(data["smallest_resemblance"], 3), told))
    if dates and data["pages"] == 1:
        between = min(dates) if len(set(dates)) == 1 else f"{min(dates)} to {max(dates)}"
        facts.append(("Dates", f"{len(set(dates)):,}", between))
    return "".join(
        f"<div><dt>{title}</dt><dd>{number}<small>{escaped(note)}</small></dd></div>"
        for title, number, note in facts
    )


def _members_section(
    data: Data, path: str, asked: dict[str, object], chosen: dict[str, int]
) -> str:
    rows = "".join(_member(data, each) for each in data["members"])
    here = {each["row"] for each in data["members"]}
    # What was chosen on another page stays chosen.
    kept = "".join(
        f'<input type="hidden" name="{key}" value="{escaped(str(value))}">'
        for key, value in (asked | {"page": data["page"]}).items()
    ) + "".join(
        f'<input type="hidden" name="{key}" value="{row}">'
        for key, row in chosen.items()
        if row not in here
    )
    return (
        f'<section id="members"><h2>Members</h2><form method="get" action="{path}#pair" data-pair>'
        f'{kept}<div class="wide" tabindex="0" role="region" aria-label="Members"><table>'
        '<thead><tr><th scope="col" class="number">No.</th><th scope="col">A</th>'
        '<th scope="col">B</th><th scope="col">Document</th><th scope="col">Date</th>'
        '<th scope="col">Kind</th><th scope="col" class="number">Resemblance</th></tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
        '<p class="choose"><button>Show A and B side by side</button></p></form>'
        f"{turn(path, asked | chosen, data['page'], data['pages'], '#members')}</section>"
    )


def _member(data: Data, member: Data) -> str:
    def radio(key: str) -> str:
        on = " checked" if data[key] and data[key]["row"] == member["row"] else ""
        label = f"Document {member['number']} as {key.upper()}"
        return (
            f'<td class="choice"><label><input type="radio" name="{key}" '
            f'value="{member["row"]}" aria-label="{label}"{on}>'
            f'<span class="letter {key}" aria-hidden="true">{key.upper()}</span></label></td>'
        )

    kind = member["kind"]
    told = (
        f'<span class="key kind-{kind}"></span>{kind}'
        if kind
        else '<span class="none">first</span>'
    )
    return (
        f'<tr><td class="number">{member["number"]:,}</td>{radio("a")}{radio("b")}'
        f'<th scope="row">{document_link(member["id"], 90)}</th>'
        f'<td class="date">{escaped(member["date"] or "undated")}</td><td class="kind">{told}</td>'
        f'<td class="number">{share(member["resemblance"], 3)}</td></tr>\n'
    )


def _graph_section(data: Data, path: str, asked: dict[str, object]) -> str:
    weakest = data["weakest_link"]
    parts = ['<section id="graph"><h2>Resemblances</h2>']
    found = data["graph"]
    if found is None:
        parts.append('<p class="none">All members are equivalent: there is nothing to draw.</p>')
    else:
        row_a = data["a"]["row"]
        nodes = [
            node | {"address": _with(path, asked | {"a": row_a, "b": node["row"]})}
            for node in found["nodes"]
        ]
        parts.append(graph.drawing(found | {"nodes": nodes}))
        left = found["distinct"] - len(nodes)
        some = "All distinct members"
        if left:
            some = f"{len(nodes)} of {found['distinct']:,} distinct members"
        parts.append(
            f'<p class="told">{some}; near each other where they are alike. Thick lines hold the '
            "cluster together, the dashed one is the weakest; thin lines are other resemblances "
            "of at least the threshold. A dot shows its document beside A.</p>"
        )
    if weakest:
        rows = {"a": weakest["a"]["row"], "b": weakest["b"]["row"]}
        parts.append(
            f"<h3>Weakest link, {share(weakest['value'], 3)}</h3>"
            f'<p>{document_link(weakest["a"]["id"])} <span class="none">and</span> '
            f"{document_link(weakest['b']['id'])}<br>"
            f'<a href="{_with(path, asked | rows)}">Show them side by side</a></p>'
        )
    return "".join(parts) + "</section>"


def _with(path: str, asked: dict[str, object]) -> str:
    return f"{address(path, asked)}#pair"


def _pair_section(data: Data) -> str:
    if data["pair"] is None:
        why = "This corpus was made without the text of its documents."
        return f'<section id="pair"><h2>Side by side</h2><p class="none">{why}</p></section>'
    where = compared(data["a"], data["b"])
    return (
        f'<section id="pair" class="compared">{section(data["pair"])}'
        f'<p class="told">Members {data["a"]["number"]:,} and {data["b"]["number"]:,}. '
        f'<a href="{where}">A page of their own</a></p></section>'
    )


CLUSTER = Page("/cluster/{id}", data, html)
CLUSTER_OF = Page("/cluster", data, html)
