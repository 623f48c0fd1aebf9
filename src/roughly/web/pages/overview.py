"""The overview of a corpus: how many documents, clusters and duplicates, of which kinds and sites,
and a slider that clusters again at another threshold, from the forest.

What does not depend on the threshold is counted once for each state of the corpus; every list is
cut, and says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

import numpy as np

from roughly.report import cluster_bars, cluster_page, cluster_plots
from roughly.report.cluster_report import Bin, ClusterReport, Site, Step
from roughly.report.figure import decimal, table
from roughly.report.markup import escaped, name
from roughly.report.tally import KINDS
from roughly.report.verdict import plural, share
from roughly.web.pages.layout import address, frame
from roughly.web.pages.page import Data, Page, Query, View
from roughly.web.pages.state import Cut, State, state_of

_SITES = 15
_LARGEST = 15
# Clusters of one page of the list.
ROWS = 50


def data(view: View, query: Query) -> Data:
    """What the overview shows at a threshold."""
    state = state_of(view)
    cut = state.cut(query.get("threshold"), query.get("distance"))
    with state.lock:  # What is made at the first request is made once.
        of_all = _of_all(state)
        of_position, names, documents = state.sites
    sizes, counts = np.unique(cut.sizes, return_counts=True)
    kinds: dict[str, int] = {}
    of_sites: list[Data] = []
    identical, all_sites = cut.only_identical(), 0
    if len(cut.first):
        all_sites = int((documents > 0).sum())  # removed documents may have had others
        kinds, chosen = cut.by_kind(of_position, _SITES)
        of_sites = [
            {"name": names[site], "documents": int(documents[site]), "kinds": _ordered(each)}
            for site, each in chosen
        ]
    return {
        "corpus": view.path.name,
        **threshold_of(state, cut),
        **of_all,
        "clusters": len(cut.sizes),
        "clustered": int(cut.sizes.sum()),
        "identical_clusters": len(identical),
        "identical_documents": int(identical.sum()),
        "kinds": _ordered(kinds),
        "sizes": [list(each) for each in zip(sizes.tolist(), counts.tolist(), strict=True)],
        "sites": of_sites,
        "all_sites": all_sites,
        "largest": clusters_of(state, cut, 0, _LARGEST),
    }


def _of_all(state: State) -> Data:
    """What holds at any threshold."""
    pairs = state.pairs
    return {
        "documents": len(state.corpus),
        "bytes": state.bytes,
        "distinct": state.distinct,
        "pairs": asdict(pairs)
        | {
            "bins": [list(each) for each in pairs.bins],
            "distances": [list(each) for each in pairs.distances],
        },
        "series": [list(each) for each in state.series],
        "skipped": dict(state.cut().clusters.skipped.reasons.most_common(20)),
    }


def threshold_of(state: State, cut: Cut) -> Data:
    """The threshold that clusters are shown at, and from where to where it can be moved."""
    clusters, made = cut.clusters, state.corpus.manifest.settings
    contained, lowest = clusters.containment, clusters.containment_floor
    return {
        "threshold": float(clusters.threshold),
        "floor": float(clusters.floor),
        "made_with": float(made.threshold),
        "containment": None if contained is None else float(contained),
        "containment_floor": None if lowest is None else float(lowest),
        "by_simhash": state.by_simhash,
        "distance": clusters.distance,
        "largest_distance": made.condition.distance if state.by_simhash else None,
    }


def clusters_of(state: State, cut: Cut, begin: int, end: int) -> list[Data]:
    """Some clusters, the largest first."""
    firsts = cut.largest(begin, end)
    weakest = cut.weakest(firsts)
    return [
        {
            "cluster": cut.number(first),
            "representative": document.id,
            "date": document.date,
            "size": cut.size_of(first),
            "weakest_link": weight,
        }
        for first, document, weight in zip(
            firsts.tolist(), state.documents(firsts), weakest, strict=True
        )
    ]


def _ordered(kinds: dict[str, int]) -> dict[str, int]:
    return {kind: kinds[kind] for kind in KINDS if kind in kinds}


# --- as HTML --------------------------------------------------------------------------------------


def html(data: Data) -> str:
    report = _report(data)
    figures = [
        cluster_plots.sizes(report),
        "" if report.by_simhash else cluster_plots.resemblance(report),
        cluster_plots.distances(report),
        cluster_plots.threshold(report, slider=False),
        cluster_bars.kinds(report),
    ]
    content = (
        f'<p class="made">{name(data["corpus"])}</p>\n'
        f'<div id="counts"><h1>{cluster_page.headline(report)}</h1>\n'
        f'<dl class="facts">{cluster_page.facts(report)}</dl></div>\n{slider(data, "/")}'
        f'<div id="shown"><div class="figures">{"".join(figures)}</div>\n'
        f"{cluster_bars.sites(report)}{_largest(data)}"
        f'<p class="told">{cluster_page.told(report)}</p></div>'
    )
    return frame(
        "Overview",
        content,
        here="/",
        twin=address("/index.json", at_threshold(data)),
        scripts=["threshold.js"],
    )


def _report(data: Data) -> ClusterReport:
    """The same as a report of a clustering, which has the plots."""
    pairs = data["pairs"]
    return ClusterReport(
        title=data["corpus"],
        parameters={},
        threshold=data["threshold"],
        floor=data["floor"],
        containment=data["containment"],
        containment_floor=data["containment_floor"],
        documents=data["documents"],
        bytes=data["bytes"],
        clusters=data["clusters"],
        clustered=data["clustered"],
        identical_clusters=data["identical_clusters"],
        identical_documents=data["identical_documents"],
        distinct=data["distinct"],
        kinds=data["kinds"],
        sizes=[(size, count) for size, count in data["sizes"]],
        pairs=pairs["count"],
        pairs_by_containment=pairs["by_containment"],
        pairs_in_masses=pairs["in_masses"],
        by_simhash=data["by_simhash"],
        distance=data["distance"],
        distances=[(bits, count) for bits, count in pairs["distances"]],
        resemblances=[Bin(*each) for each in pairs["bins"]],
        series=[Step(*each) for each in data["series"]],
        sites=[Site(**each) for each in data["sites"]],
        all_sites=data["all_sites"],
        skipped=data["skipped"],
    )


def slider(data: Data, action: str) -> str:
    """Moves the threshold of a page: a form, which a script sends while the slider moves."""
    if data["by_simhash"]:
        given, label, value = "distance", "Bits that may differ", str(data["distance"])
        reach = f'min="0" max="{data["largest_distance"]}" step="1"'
        made = f"{data['largest_distance']} when it was made"
    else:
        given, label, value = "threshold", "Threshold of resemblance", decimal(data["threshold"])
        # Round steps of a hundredth; a floor between two of them is left to the address.
        least = -(-round(100 * data["floor"], 6) // 1) / 100
        reach = f'min="{decimal(least)}" max="1" step="0.01"'
        made = f"{decimal(data['made_with'])} when it was made"
    return (
        f'<form class="slider" method="get" action="{action}" data-threshold>'
        f'<label for="threshold-slider">{label}</label>'
        f'<input id="threshold-slider" name="{given}" type="range" {reach} value="{value}" '
        'aria-describedby="threshold-made">'
        f'<output for="threshold-slider">{value}</output><button class="plain">Cluster</button>'
        f'<span id="threshold-made" class="hint">{made}; moving it clusters again, from the '
        f'forest <span role="status" data-status></span></span></form>\n'
    )


def at_threshold(data: Data) -> dict[str, object]:
    """The parameters that name the threshold of a page; none where it is the corpus's own."""
    if data["by_simhash"]:
        own = data["distance"] == data["largest_distance"]
        return {} if own else {"distance": data["distance"]}
    return {} if data["threshold"] == data["made_with"] else {"threshold": data["threshold"]}


def cluster_table(clusters: Sequence[Data], asked: dict[str, object], by_simhash: bool) -> str:
    """Clusters as a table that leads to their pages."""
    rows = [
        (
            f'<a href="{address("/cluster/" + str(each["cluster"]), asked)}">'
            f"{name(each['representative'])}</a>",
            escaped(each["date"] or "undated"),
            f"{each['size']:,}",
            share(each["weakest_link"], 3),
        )
        for each in clusters
    ]
    weakest = "Weakest link, share of bits" if by_simhash else "Weakest link"
    listed = table(("Representative", "Date", "Documents", weakest), rows, words=2)
    return f'<div class="clusters">{listed}</div>'


def _largest(data: Data) -> str:
    if not data["largest"]:
        return ""
    asked = at_threshold(data)
    more = data["clusters"] - len(data["largest"])
    rest = f'<p><a href="{address("/clusters", asked)}">All {data["clusters"]:,} clusters</a></p>'
    return (
        '<section id="largest"><h2>The largest clusters</h2>'
        f"{cluster_table(data['largest'], asked, data['by_simhash'])}"
        f"{rest if more > 0 else ''}</section>\n"
    )


# --- the list of clusters -------------------------------------------------------------------------


def list_data(view: View, query: Query) -> Data:
    """A page of all clusters, the largest first."""
    state = state_of(view)
    cut = state.cut(query.get("threshold"), query.get("distance"))
    page = page_number(query)
    return {
        "corpus": view.path.name,
        **threshold_of(state, cut),
        "clusters": len(cut.sizes),
        "clustered": int(cut.sizes.sum()),
        "page": page,
        "pages": pages_of(len(cut.sizes)),
        "shown": clusters_of(state, cut, (page - 1) * ROWS, page * ROWS),
    }


def list_html(data: Data) -> str:
    asked = at_threshold(data)
    shown = '<p class="none">There are no clusters at this threshold.</p>'
    if data["clusters"]:
        shown = cluster_table(data["shown"], asked, data["by_simhash"]) + turn(
            "/clusters", asked, data["page"], data["pages"]
        )
    content = (
        f'<p class="made">{name(data["corpus"])}</p>\n'
        f'<div id="counts"><h1>{plural(data["clusters"], "cluster")} of '
        f"{plural(data['clustered'], 'document')}</h1></div>\n{slider(data, '/clusters')}"
        f'<div id="shown"><section><h2>The largest first</h2>{shown}</section></div>'
    )
    return frame(
        "Clusters",
        content,
        here="/",
        twin=address("/clusters.json", asked | {"page": data["page"]}),
        scripts=["threshold.js"],
    )


def page_number(query: Query) -> int:
    """Which page of a list is asked for, from 1."""
    value = query.get("page", "1")
    return max(1, int(value)) if value.isascii() and value.isdigit() and len(value) < 10 else 1


def pages_of(rows: int) -> int:
    """Pages of a list of so many."""
    return max(1, -(-rows // ROWS))


def turn(path: str, asked: dict[str, object], page: int, pages: int, anchor: str = "") -> str:
    """Links to the pages beside one of a list."""
    if pages == 1:
        return ""

    def link(number: int, text: str, rel: str) -> str:
        if not 1 <= number <= pages:
            return f'<span class="none">{text}</span>'
        where = address(path, asked | {"page": number})
        return f'<a rel="{rel}" href="{where}{anchor}">{text}</a>'

    return (
        f'<nav class="turn" aria-label="Pages of this list">{link(page - 1, "Previous", "prev")}'
        f"<span>Page {page:,} of {pages:,}</span>{link(page + 1, 'Next', 'next')}</nav>"
    )


OVERVIEW = Page("/", data, html)
CLUSTERS = Page("/clusters", list_data, list_html)
