"""What `roughly tune` found as a page: what each threshold merges, precision and recall on labelled
pairs, pairs side by side with what they share, what other sketches would cost."""

from __future__ import annotations

from roughly.report import plot
from roughly.report.cluster_sample import Sample
from roughly.report.figure import (
    decimal,
    duration,
    figure,
    nothing,
    size,
    table,
    with_interval,
)
from roughly.report.figure_page import figure_page
from roughly.report.markup import escaped, name
from roughly.report.sample_section import section as side_by_side
from roughly.report.verdict import plural, share
from roughly.tuning import Example, Tuning

_EXAMPLES = 20


def tuning_page(found: Tuning, title: str) -> str:
    """One file, however many documents there are."""
    facts = [
        ("Documents", f"{found.documents:,}", f"of {found.of:,}" if found.sampled else "all"),
        ("Equal to another", f"{found.equivalent:,}", "at every threshold"),
        ("Take", decimal(found.advice.threshold), "as --threshold"),
    ]
    told = f"<em>{decimal(found.advice.threshold)}</em>: {escaped(found.advice.why)}."
    if found.sampled:
        told += (
            f" {found.documents:,} of {found.of:,} documents were looked at, drawn by chance: of "
            f"all pairs about one in {found.pair_scale:,.0f} is among them, and clusters are "
            "smaller than they would be."
        )
    headline = f"{plural(found.documents, 'document')}, threshold {decimal(found.advice.threshold)}"
    return figure_page(
        "roughly tune",
        title,
        headline,
        facts,
        told,
        _pairs(found) + _merged(found) + _precision_recall(found),
        _levels(found) + _widths(found) + _examples(found) + _cost(found),
    )


def _pairs(found: Tuning) -> str:
    title = "Pairs by resemblance"
    if not found.levels or not found.levels[0].pairs:
        return nothing("pairs", title, "No two documents resemble each other at the floor.")
    ends = [each.threshold for each in found.levels[1:]] + [1.05]
    drawn = plot.columns(
        "pairs",
        title,
        "How many pairs of documents reach each threshold and not the next.",
        plot.Axis("resemblance, estimated", found.floor, 1.05),
        plot.counts_axis("pairs", max(each.here for each in found.levels)),
        [
            plot.Column(each.threshold, end, each.here, f"{each.threshold:.2f}: {each.here:,}")
            for each, end in zip(found.levels, ends, strict=True)
        ],
        _mark(found),
    )
    rows = [(f"{each.threshold:.2f}", f"{each.here:,}") for each in found.levels]
    caption = "Where few pairs lie, a slightly other threshold changes little."
    return figure("pairs", title, drawn, caption, table(("From", "Pairs"), rows))


def _mark(found: Tuning) -> tuple[float, str] | None:
    """Labelled pairs may advise a threshold that lies below what was looked at."""
    threshold = found.advice.threshold
    return (threshold, f"take {decimal(threshold)}") if threshold >= found.floor else None


def _merged(found: Tuning) -> str:
    title = "Documents in clusters"
    if len(found.levels) < 2 or not found.levels[0].documents:
        return nothing("merged", title, "No threshold puts two documents together.")
    named = (("documents", "s2"), ("surplus", "s5"))
    drawn = plot.lines(
        "merged",
        title,
        "How many documents are in clusters at each threshold, and how many would go.",
        plot.Axis("threshold", found.floor, 1),
        plot.counts_axis("documents", 1.2 * max(each.documents for each in found.levels)),
        [
            plot.Line(
                "in clusters" if label == "documents" else "surplus",
                hue,
                [
                    plot.Dot(
                        each.threshold,
                        getattr(each, label),
                        f"{each.threshold:.2f}: {getattr(each, label):,}",
                    )
                    for each in found.levels
                ],
            )
            for label, hue in named
        ],
        _mark(found),
    )
    rows = [
        (f"{each.threshold:.2f}", f"{each.documents:,}", f"{each.surplus:,}")
        for each in found.levels
    ]
    caption = "Surplus is what would go if one document of each cluster stayed."
    return figure(
        "merged", title, drawn, caption, table(("Threshold", "In clusters", "Surplus"), rows)
    )


def _precision_recall(found: Tuning) -> str:
    if not found.points:
        return ""
    title = "Precision and recall"
    drawn = []
    for label, hue in (("precision", "s2"), ("recall", "s5")):
        values = [(each.threshold, getattr(each, label)) for each in found.points]
        dots = [
            plot.Dot(at, each.value, f"{at:.2f}: {label} {share(each.value, 3)}")
            for at, each in values
            if each is not None
        ]
        if dots:
            drawn.append(plot.Line(label, hue, dots))
    if not drawn:
        return nothing("precision-recall", title, "There are not enough labelled pairs.")
    shown = plot.lines(
        "precision-recall",
        title,
        "Precision and recall of every threshold on the labelled pairs.",
        plot.Axis("threshold", 0, 1),
        plot.Axis("share", 0, 1.25),
        drawn,
        (found.advice.threshold, f"take {decimal(found.advice.threshold)}"),
    )
    rows = [
        (
            f"{each.threshold:.2f}",
            f"{each.true:,}",
            f"{each.false:,}",
            with_interval(each.precision),
            with_interval(each.recall),
            share(each.f1, 3),
        )
        for each in found.points
    ]
    head = ("Threshold", "True", "False", "Precision", "Recall", "F1")
    caption = "On the labelled pairs; the numbers below have 95% intervals."
    return figure("precision-recall", title, shown, caption, table(head, rows))


def _levels(found: Tuning) -> str:
    head = ("Threshold", "Pairs", "Just here", "Clusters", "Documents", "Surplus", "Largest")
    rows = [
        (
            f"{each.threshold:.2f}",
            f"{each.pairs:,}",
            f"{each.here:,}",
            f"{each.clusters:,}",
            f"{each.documents:,}",
            f"{each.surplus:,}",
            f"{each.largest:,}",
            "none here" if each.error is None else _error(each.error),
        )
        for each in reversed(found.levels)
    ]
    return (
        '<section id="levels"><h2>What each threshold would merge</h2><p class="told">'
        "<em>Just here</em> are pairs that reach a threshold and not the next; <em>error</em> is "
        "how far the estimates of these may be off, to either side, 95%.</p>"
        f"{table((*head, 'Error'), rows)}</section>\n"
    )


def _error(half: float) -> str:
    return f"± {share(half, 3)}" if half else "exact"


def _widths(found: Tuning) -> str:
    if not found.widths:
        return ""
    rows = [
        (
            f"{each.w}",
            decimal(each.best.threshold),
            with_interval(each.best.precision),
            with_interval(each.best.recall),
            share(each.best.f1, 3),
        )
        for each in found.widths
    ]
    return (
        '<section id="widths"><h2>Shingles of other widths</h2><p class="told">The best threshold '
        "of each on the labelled pairs, by complete sets of shingles.</p>"
        + table(("w", "Threshold", "Precision", "Recall", "F1"), rows)
        + "</section>\n"
    )


def _examples(found: Tuning) -> str:
    if not found.examples:
        return ""
    shown = found.examples[:_EXAMPLES]
    parts = "".join(_example(each, number) for number, each in enumerate(shown, 1))
    more = len(found.examples) - len(shown)
    return (
        '<section id="examples"><h2>Pairs to look at</h2><p class="told">Drawn by chance at each '
        "level; what both documents share is marked. Where do they stop being the same to you?</p>"
        f"{parts}" + (f'<p class="told">and {more:,} more</p>' if more else "") + "</section>\n"
    )


def _example(each: Example, number: int) -> str:
    return (
        f'<details class="cluster"><summary><span class="rank">{each.threshold:.2f}</span>'
        f"<span>{name(each.a.id)} · {name(each.b.id)}</span>"
        f'<span class="how">estimated {share(each.estimate, 3)}, exactly '
        f"{share(each.comparison.resemblance, 3)}</span></summary>"
        f"{side_by_side(Sample(each.a, each.b, each.comparison), number)}</details>"
    )


def _cost(found: Tuning) -> str:
    rows = [
        (
            escaped(each.select),
            size(each.bytes),
            _error(each.error),
        )
        for each in found.predictions
    ]
    times = "; ".join(
        f"{escaped(each.name)} {duration(each.wall_seconds)}" for each in found.phases
    )
    return (
        '<section id="cost"><h2>Size, time and error</h2><p class="told">Predicted for sketches of '
        f"other sizes, of all {found.of:,} documents. This run, with {escaped(found.select)}: "
        f"{times}; sketches of {size(found.sketch_bytes)}.</p>"
        + table(("Sketch", "Bytes", "Error at resemblance 0.5"), rows)
        + "</section>\n"
    )
