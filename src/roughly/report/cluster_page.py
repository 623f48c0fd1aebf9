"""A clustering as one HTML page: counts, plots, the largest clusters, the time it took.

The page is one file that asks the network for nothing, can be read without its script, and treats
everything that came with the documents as text: `markup.escaped` stands between the two, and a
content security policy admits no style and no script but the page's own, by their hashes. It stays
below a megabyte whatever the corpus: every list is cut, and says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import isnan
from string import Template

from roughly.report import cluster_bars, cluster_plots, phase_section, sample_section
from roughly.report.cluster_report import ClusterReport, LargeCluster
from roughly.report.figure import decimal, percent, size, table
from roughly.report.markup import line, name, own_file, policy_hash
from roughly.report.verdict import plural, share

# What any list may have; together with the texts of the samples that is less than a megabyte, even
# if every character is one that must be escaped.
_ROWS = 20
_CLUSTERS = 10
_MEMBERS = 10
_WORDS = 300  # characters of a shingle, of an example, of a parameter


def page(report: ClusterReport) -> str:
    """The page, complete."""
    style, script = own_file("cluster.css"), own_file("cluster.js")
    sections = {
        "sites": ("Sites", cluster_bars.sites(report)),
        "largest": ("Largest clusters", _largest(report)),
        "shingles": ("Common shingles", _shingles(report)),
        "skipped": ("Skipped", _skipped(report)),
        "time": ("Time", phase_section.section(report.phases, report.documents, report.bytes)),
        "parameters": ("Parameters", _parameters(report)),
    }
    figures = {
        "sizes": ("Sizes", cluster_plots.sizes(report)),
        "resemblance": (
            "Resemblance",
            "" if report.by_simhash else cluster_plots.resemblance(report),
        ),
        "distance": ("Distances", cluster_plots.distances(report)),
        "threshold": ("Thresholds", cluster_plots.threshold(report)),
        "kinds": ("Kinds", cluster_bars.kinds(report)),
    }
    return Template(own_file("cluster.html")).substitute(
        policy=f"default-src 'none'; style-src {policy_hash(style)}; "
        f"script-src {policy_hash(script)}; base-uri 'none'; form-action 'none'",
        style=style,
        script=script,
        title=f"{line(report.title, 80)}{': ' if report.title else ''}{headline(report)}",
        corpus=f" · {name(report.title)}" if report.title else "",
        headline=headline(report),
        facts=facts(report),
        told=told(report),
        nav=" ".join(
            f'<a href="#{anchor}">{title}</a>'
            for anchor, (title, content) in (figures | sections).items()
            if content
        ),
        figures="".join(content for _, content in figures.values()),
        sections="".join(content for _, content in sections.values()),
    )


def headline(report: ClusterReport) -> str:
    if report.documents == 0:
        return "No documents"
    if report.clusters == 0:
        return f"{plural(report.documents, 'document')}, no near duplicates"
    part = percent(report.clustered, report.documents)
    return f"{part} of the documents are in {plural(report.clusters, 'cluster')}"


def facts(report: ClusterReport) -> str:
    duplicates = sum(report.kinds.values())
    counted = [("Documents", f"{report.documents:,}", size(report.bytes) if report.bytes else "")]
    if report.documents:
        every = report.documents
        counted += [
            ("Distinct", f"{report.distinct:,}", percent(report.distinct, every)),
            ("Clusters", f"{report.clusters:,}", "of two or more"),
            ("In clusters", f"{report.clustered:,}", percent(report.clustered, every)),
            ("Duplicates", f"{duplicates:,}", percent(duplicates, every)),
        ]
    if skipped := sum(report.skipped.values()):
        counted.append(("Skipped", f"{skipped:,}", "could not be read"))
    return "\n".join(
        f"<div><dt>{title}</dt><dd>{number}<small>{note}</small></dd></div>"
        for title, number, note in counted
    )


def told(report: ClusterReport) -> str:
    threshold = decimal(report.threshold)
    if report.by_simhash:
        far = f"differ in at most {plural(report.distance or 0, 'bit')}"
        rule = f"Documents are in one cluster where simhashes that {far} lead from one to the other"
        if report.linkage == "star":
            rule = f"The simhashes of every document of a cluster and of its first one {far}"
        rule += "."
    elif report.linkage == "star":
        rule = f"Every document of a cluster resembles its first one at {threshold} or more."
    else:
        rule = (
            f"Documents are in one cluster where links of a resemblance of {threshold} or more "
            "lead from one to the other"
        )
        if report.containment is not None:
            rule += f", or links of a containment of {decimal(report.containment)} or more"
        rule += "."
    words = [
        rule,
        "<em>Distinct</em> counts documents "
        f"{'with one simhash' if report.by_simhash else 'that resemble each other fully'} as one; "
        "<em>duplicates</em> are all documents of a cluster but its first, the representative.",
    ]
    if report.distance is not None and not report.by_simhash:
        far = plural(report.distance, "bit")
        words.append(f"Only pairs count whose simhashes differ in at most {far}.")
    if report.same_site_pairs or report.cross_site_pairs:
        words.append(
            f"Of the pairs that belong together {report.same_site_pairs:,} are same-site and "
            f"{report.cross_site_pairs:,} cross-site."
        )
    if report.clusters:
        words.append(
            f"Clusters of identical documents only: {report.identical_clusters:,}, with "
            f"{plural(report.identical_documents, 'document')}."
        )
    return " ".join(words)


# --- lists ----------------------------------------------------------------------------------------


def _largest(report: ClusterReport) -> str:
    if not report.largest:
        return ""
    clusters = "".join(
        _cluster(number, cluster) for number, cluster in enumerate(report.largest[:_CLUSTERS], 1)
    )
    weakest = (
        f"the lowest {'share of bits' if report.by_simhash else 'resemblance'} that holds a "
        "cluster together; where the <em>smallest resemblance</em> of a member to the "
        "representative is far below it, the cluster is a chain"
    )
    if report.linkage == "star":
        weakest = "the <em>smallest resemblance</em> of a member to the representative"
    return (
        '<section id="largest"><h2>The largest clusters</h2><p class="told">The <em>weakest link'
        f"</em> is {weakest}. Beside the representative is shown the member least like it of those "
        f"that reach the threshold themselves, or the closest where none does.</p>{clusters}"
        "</section>\n"
    )


def _cluster(number: int, cluster: LargeCluster) -> str:
    members = [
        (name(member.id), name(member.kind or "representative", 40), _estimate(member.resemblance))
        for member in cluster.members[:_MEMBERS]
    ]
    more = cluster.size - len(members)
    sample = (
        "<h3>Its representative, A, and another member, B</h3>"
        f"{sample_section.section(cluster.sample, number)}"
        if cluster.sample is not None
        else '<p class="none">The texts are not at hand, so no pair is shown.</p>'
    )
    return (
        f'<details class="cluster"{" open" if number == 1 else ""}><summary>'
        f'<span class="rank">{number}</span><span class="who">{name(cluster.representative)}</span>'
        f'<span class="how">{plural(cluster.size, "document")} · weakest link '
        f"{_estimate(cluster.weakest_link)} · smallest resemblance "
        f"{_estimate(cluster.smallest_resemblance)}</span></summary>"
        f"<details><summary>Some of its members</summary>"
        f"{table(('Document', 'Kind', 'Resemblance'), members, words=2)}"
        + (f'<p class="told">and {more:,} more</p>' if more > 0 else "")
        + f"</details>{sample}</details>\n"
    )


def _shingles(report: ClusterReport) -> str:
    if not report.shingles:
        return ""
    rows = [(f"{each.documents:,}", name(each.text, _WORDS)) for each in report.shingles[:_ROWS]]
    return (
        '<section id="shingles"><h2>The commonest shingles</h2><p class="told">Words that many '
        "documents share are mostly put there by a machine: licences, navigation, signatures. "
        "Counted in the sketches, which are samples, of documents that are not equivalent to an "
        "earlier one.</p>"
        f"{table(('Sketches', 'Shingle'), rows, words=2)}</section>\n"
    )


def _skipped(report: ClusterReport) -> str:
    if not report.skipped and not report.ignored:
        return ""
    parts = []
    if report.skipped:
        parts.append(_counted(("Why", "Documents"), report.skipped))
    if report.skipped_examples:
        examples = "".join(
            f"<li>{name(each, _WORDS)}</li>" for each in report.skipped_examples[:_ROWS]
        )
        parts.append(f"<details><summary>The first of them</summary><ul>{examples}</ul></details>")
    if report.ignored:
        parts.append('<p class="told">No documents at all, and left aside:</p>')
        parts.append(_counted(("What", "How often"), report.ignored))
    return f'<section id="skipped"><h2>What was not read</h2>{"".join(parts)}</section>\n'


def _counted(head: tuple[str, str], counts: Mapping[str, int]) -> str:
    found = list(counts.items())
    rows = [(name(what, _WORDS), f"{count:,}") for what, count in found[:_ROWS]]
    if len(found) > _ROWS:
        rest = sum(count for _, count in found[_ROWS:])
        rows.append((f"{len(found) - _ROWS:,} others", f"{rest:,}"))
    return table(head, rows)


def _parameters(report: ClusterReport) -> str:
    known: dict[str, object] = {"threshold": report.threshold, "floor": report.floor}
    if report.by_simhash:
        known = {}
    if report.containment is not None:
        known["containment"] = report.containment
    if report.containment_floor is not None:
        known["containment floor"] = report.containment_floor
    known["linkage"] = report.linkage
    rows = [
        (
            name(str(key), 80),
            name(decimal(value) if isinstance(value, float) else str(value), _WORDS),
        )
        for key, value in list((known | dict(report.condition) | dict(report.parameters)).items())[
            :_ROWS
        ]
    ]
    listed = table(("Name", "Value"), rows, words=2)
    return f'<section id="parameters"><h2>Parameters</h2>{listed}</section>\n'


def _estimate(value: float) -> str:
    return "unknown" if isnan(value) else share(value, 3)
