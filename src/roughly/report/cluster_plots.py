"""The plots of a clustering, each with its numbers: sizes, resemblance, clusters against threshold.

Each is a figure of the page, or says why there is nothing to draw.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right

from roughly.report import plot
from roughly.report.cluster_report import ClusterReport
from roughly.report.figure import decimal, figure, nothing, table
from roughly.report.verdict import plural


def sizes(report: ClusterReport) -> str:
    title = "Cluster sizes"
    if not report.sizes:
        return nothing("sizes", title, "There are no clusters.")
    largest, most = report.sizes[-1][0], max(count for _, count in report.sizes)
    said = f"The largest cluster has {plural(largest, 'document')}."
    drawn = plot.scatter(
        "sizes",
        title,
        f"Clusters of each size, on logarithmic scales. {said}",
        plot.log_axis("documents in a cluster", 2, max(largest, 10)),
        plot.log_axis("clusters of that size", 1, max(most, 10)),
        (
            plot.Dot(number, count, f"{plural(count, 'cluster')} of {number:,} documents")
            for number, count in report.sizes
        ),
    )
    rows = [
        (f"{low:,}" if low == high else f"{low:,} to {high:,}", f"{clusters:,}", f"{documents:,}")
        for low, high, clusters, documents in _size_classes(report)
    ]
    numbers = table(("Documents", "Clusters", "Documents in them"), rows)
    return figure("sizes", title, drawn, f"{said} Both scales are logarithmic.", numbers)


def _size_classes(report: ClusterReport) -> list[tuple[int, int, int, int]]:
    """(smallest size, largest size, clusters, documents): single sizes at first, then wider."""
    ends, decade = [2, 3, 4, 5], 10
    while ends[-1] < report.sizes[-1][0]:
        ends += [decade, 2 * decade, 5 * decade]
        decade *= 10
    clusters, documents = [0] * len(ends), [0] * len(ends)
    for number, count in report.sizes:
        place = bisect_left(ends, number)
        clusters[place] += count
        documents[place] += number * count
    starts = [2, *(end + 1 for end in ends[:-1])]
    rows = zip(starts, ends, clusters, documents, strict=True)
    return [row for row in rows if row[2]]


def resemblance(report: ClusterReport) -> str:
    title = "Resemblance of pairs"
    if not report.pairs:
        return nothing("resemblance", title, "No two documents resemble each other enough.")
    most = max((each.pairs for each in report.resemblances), default=0)
    above = sum(each.pairs for each in report.resemblances if each.low >= report.threshold)
    measure = f"{'exact' if report.exact else 'estimated'} resemblance"
    drawn = plot.columns(
        "resemblance",
        title,
        f"Pairs by their {measure}, from {decimal(report.floor)} to 1. "
        f"{above:,} of {report.pairs:,} lie in the columns from the threshold on.",
        plot.Axis(measure, report.floor, 1),
        plot.counts_axis("pairs", most),
        (
            plot.Column(low, high, pairs, f"{decimal(low)} to {decimal(high)}: {pairs:,}")
            for low, high, pairs in report.resemblances
        ),
        (report.threshold, f"threshold {decimal(report.threshold)}"),
    )
    least = f"the floor, {decimal(report.floor)}, on"
    if report.containment_floor is not None:
        least = (
            f"the floors on, a resemblance of {decimal(report.floor)} or a containment of "
            f"{decimal(report.containment_floor)}"
        )
    caption = (
        f"{plural(report.pairs, 'pair')} from {least}. Documents that are equivalent are paired "
        "by their first alone."
    )
    if report.pairs_in_masses:
        caption += (
            f" {report.pairs_in_masses:,} of them are links inside masses, "
            "where not every pair is listed."
        )
    if report.pairs_by_containment:
        alone = report.pairs_by_containment
        were = (
            "was found by containment alone and is"
            if alone == 1
            else ("were found by containment alone and are")
        )
        caption += f" {alone:,} {were} in no column."
    rows = [
        (f"{decimal(low)} to {decimal(high)}", f"{pairs:,}")
        for low, high, pairs in report.resemblances
    ]
    return figure("resemblance", title, drawn, caption, table(("Resemblance", "Pairs"), rows))


def distances(report: ClusterReport) -> str:
    """Pairs by the bits in which their simhashes differ, where there are simhashes."""
    title = "Distances of pairs"
    if report.distance is None:
        return ""
    if not report.distances:
        return nothing("distance", title, "There are no pairs.")
    rows = [(plural(bits, "bit"), f"{pairs:,}") for bits, pairs in report.distances]
    drawn = plot.columns(
        "distance",
        title,
        "Pairs by the number of bits in which their simhashes differ.",
        plot.Axis("bits that differ", 0, report.distances[-1][0] + 1, whole=True),
        plot.counts_axis("pairs", max(pairs for _, pairs in report.distances)),
        [
            plot.Column(bits, bits + 1, pairs, f"{plural(bits, 'bit')}: {pairs:,}")
            for bits, pairs in report.distances
        ],
    )
    caption = (
        f"{plural(report.pairs, 'pair')}. Documents that are equivalent are paired by their first "
        "alone."
    )
    if report.pairs_in_masses:
        caption += (
            f" {report.pairs_in_masses:,} of them are links inside masses, "
            "where not every pair is listed."
        )
    return figure("distance", title, drawn, caption, table(("Distance", "Pairs"), rows))


def threshold(report: ClusterReport, slider: bool = True) -> str:
    """Without the slider where the page has a better one."""
    if report.by_simhash:
        return _against_distance(report)
    title = "Clusters against threshold"
    most = max((step.documents for step in report.series), default=0)
    if not most:
        return nothing("threshold", title, "There are no clusters at any threshold.")
    drawn = plot.lines(
        "threshold",
        title,
        f"Clusters, and documents in them, at thresholds from {decimal(report.floor)} to 1.",
        plot.Axis("threshold of resemblance", report.floor, 1),
        plot.counts_axis("number", 1.2 * most),  # the lines' names stand above them
        [
            plot.Line(
                "documents in clusters",
                "s2",
                [
                    plot.Dot(step.threshold, step.documents, plural(step.documents, "document"))
                    for step in report.series
                ],
            ),
            plot.Line(
                "clusters",
                "s5",
                [
                    plot.Dot(step.threshold, step.clusters, plural(step.clusters, "cluster"))
                    for step in report.series
                ],
            ),
        ],
        (report.threshold, ""),
    )
    thresholds = [step.threshold for step in report.series]
    at = max(0, bisect_right(thresholds, report.threshold) - 1)
    moved = (
        '<div class="slider" hidden><label>Threshold <input type="range" min="0" '
        f'max="{len(thresholds) - 1}" value="{at}"></label><output></output></div>'
    )
    rows = [
        (decimal(t), f"{clusters:,}", f"{documents:,}") for t, clusters, documents in report.series
    ]
    others = "Other thresholds are answered from the same forest."
    if report.linkage == "star":
        others = "At other thresholds stars are made anew, from the same sketches."
    caption = (
        f"The dashed line is the threshold of this page, {decimal(report.threshold)}. {others}"
    )
    numbers = table(("Threshold", "Clusters", "Documents in them"), rows)
    return figure("threshold", title, drawn + (moved if slider else ""), caption, numbers)


def _against_distance(report: ClusterReport) -> str:
    """The same by simhash: clusters against the bits that may differ."""
    title = "Clusters against distance"
    steps = [(number, step) for number, step in enumerate(reversed(report.series))]
    most = max((step.documents for _, step in steps), default=0)
    if not most:
        return nothing("threshold", title, "There are no clusters at any distance.")
    drawn = plot.lines(
        "threshold",
        title,
        f"Clusters, and documents in them, at distances from 0 to {len(steps) - 1} bits.",
        plot.Axis("bits that may differ", 0, max(len(steps) - 1, 1), whole=True),
        plot.counts_axis("number", 1.2 * most),
        [
            plot.Line(
                label,
                style,
                [
                    plot.Dot(bits, number, f"{plural(bits, 'bit')}: {said}")
                    for bits, step in steps
                    for number, said in [
                        (step.documents, f"{plural(step.documents, 'document')} in clusters")
                        if style == "s2"
                        else (step.clusters, plural(step.clusters, "cluster"))
                    ]
                ],
            )
            for label, style in (("documents in clusters", "s2"), ("clusters", "s5"))
        ],
        (float(report.distance or 0), ""),
    )
    rows = [
        (plural(bits, "bit"), f"{step.clusters:,}", f"{step.documents:,}") for bits, step in steps
    ]
    others = "Smaller ones are answered from the same forest."
    if report.linkage == "star":
        others = "At smaller ones stars are made anew, from the same simhashes."
    caption = f"The dashed line is the distance of this page, {report.distance}. {others}"
    numbers = table(("Distance", "Clusters", "Documents in them"), rows)
    return figure("threshold", title, drawn, caption, numbers)
