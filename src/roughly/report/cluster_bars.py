"""The bars of a clustering: duplicates by kind, and by site.

Each is a part of a page, or says why there is nothing to draw; of a single site nothing is said.
"""

from __future__ import annotations

from roughly.report import plot
from roughly.report.cluster_report import ClusterReport, Site
from roughly.report.figure import nothing, percent, table
from roughly.report.markup import name

KIND_WORDS = {
    "identical": "the same bytes",
    "lexical": "the same words; case, layout or markup differ",
    "shingle": "the same shingles",
    "near": "linked to it, directly or through others",
    "contained": "roughly contained in it",
    "contains": "roughly contains it",
    "empty": "without a word",
}
_OF_STARS = KIND_WORDS | {"near": "linked to it directly"}
_KINDS = 8
_SITES = 15


def kinds(report: ClusterReport) -> str:
    title = "Duplicates by kind"
    duplicates = sum(report.kinds.values())
    if not duplicates:
        return nothing("kinds", title, "There are no duplicates.")
    most = max(report.kinds.values())
    words = _OF_STARS if report.linkage == "star" else KIND_WORDS
    rows = [
        (
            f'<span class="key {hue(kind)}"></span>{name(kind, 40)}'
            f"<small>{words.get(kind, '')}</small>",
            f"{count:,}",
            percent(count, duplicates),
            plot.stacked([(count / most, hue(kind), f"{kind}: {count:,}")]),
        )
        for kind, count in list(report.kinds.items())[:_KINDS]
    ]
    drawn = table(("Kind", "Duplicates", "Share", '<span class="unseen">drawn</span>'), rows)
    return (
        f'<figure id="kinds" class="bars"><h2>{title}</h2>{drawn}<figcaption>How a document '
        "belongs to the representative of its cluster; a copy of another member counts as that "
        "member does.</figcaption></figure>\n"
    )


def sites(report: ClusterReport) -> str:
    shown = [site for site in report.sites[:_SITES] if site.duplicates]
    if not shown or report.all_sites < 2:
        return ""
    most = max(site.duplicates for site in shown)
    kinds = [kind for kind in list(report.kinds)[:_KINDS] if any(s.kinds.get(kind) for s in shown)]
    rows = [
        (
            _site_name(site),
            f"{site.documents:,}",
            f"{site.duplicates:,}",
            percent(site.duplicates, site.documents),
            plot.stacked(
                [
                    (site.kinds.get(kind, 0) / most, hue(kind), f"{kind}: {site.kinds[kind]:,}")
                    for kind in kinds
                    if site.kinds.get(kind)
                ]
            ),
        )
        for site in shown
    ]
    head = ("Site", "Documents", "Duplicates", "Share", '<span class="unseen">drawn</span>')
    key = " ".join(
        f'<span class="item"><span class="key {hue(kind)}"></span>{name(kind, 40)}</span>'
        for kind in kinds
    )
    by_kind = table(
        ("Site", *(name(kind, 40) for kind in kinds)),
        [(_site_name(site), *(f"{site.kinds.get(kind, 0):,}" for kind in kinds)) for site in shown],
        label="Duplicates by site and kind",
    )
    part = "all" if len(shown) == report.all_sites else f"the {len(shown)} with most duplicates"
    return (
        '<section id="sites" class="bars"><h2>Duplicates by site</h2>'
        f'<p class="told">{report.all_sites:,} sites, {part}. {key}</p>{table(head, rows)}'
        f"<details><summary>The numbers by kind</summary>{by_kind}</details></section>\n"
    )


def _site_name(site: Site) -> str:
    return name(site.name, 80) if site.name else '<span class="none">no site</span>'


def hue(kind: str) -> str:
    return f"kind-{kind}" if kind in KIND_WORDS else "kind-other"
