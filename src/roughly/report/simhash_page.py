"""The figures of the 2007 paper as pages: how simhashes are distributed (Figure 2), and precision
and recall against k (Figure 1).

A page is one file without a script that asks the network for nothing; what came with the documents
passes through `markup` and is text. Every list is cut, so that a page stays small.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from roughly.report import plot
from roughly.report.figure import figure, nothing, percent, table, with_interval
from roughly.report.figure_page import figure_page
from roughly.report.markup import line, name
from roughly.report.verdict import plural, share
from roughly.simhashing.distribution import BITS, BUCKETS, NEAR, Distribution, Spike
from roughly.simhashing.evaluation import Point, Share
from roughly.simhashing.page_kind import Example
from roughly.simhashing.sensitivity import PAPER_K, Judged

_SPIKES = 20
_EXCERPT = 120


def distribution_page(
    found: Distribution, title: str, examples: Mapping[int, Example], empty: Sequence[Example]
) -> str:
    """Figures 2a and 2b, and what the spikes are; `examples` by row."""
    facts = [
        ("Simhashes", f"{found.documents:,}", ""),
        ("Different", f"{found.distinct:,}", percent(found.distinct, found.documents)),
        ("Without", f"{found.empty:,}", "documents without terms"),
        ("Spikes", f"{len(found.spikes):,}", f"of {BUCKETS} buckets"),
    ]
    told = (
        "Random simhashes would part from their neighbours in the order as the second line shows, "
        f"and lie {found.bucket_expected:,.1f} to a bucket. Documents that are alike have "
        "neighbours that differ in lower bits, and make spikes."
    )
    headline = (
        f"{plural(found.documents, 'document')}, "
        f"{plural(len(found.spikes), 'spike')} among {BUCKETS} buckets"
    )
    return figure_page(
        "roughly hamming distribution",
        title,
        headline,
        facts,
        told,
        leading(found) + buckets(found),
        spike_section(found.spikes[:_SPIKES], len(found.spikes), examples)
        + empty_section(found.empty, empty),
    )


def evaluation_page(points: Sequence[Point], judged: Sequence[Judged], title: str) -> str:
    """Figure 1, and how other choices of features and weights do."""
    last = points[-1]
    facts = [
        ("True pairs", f"{last.recall.of if last.recall else 0:,}", "near duplicates"),
        ("Within reach", f"{last.true + last.false:,}", f"labelled, up to {last.k} bits"),
        ("Unknown", f"{last.unknown:,}", "count for nothing"),
    ]
    best = max(points, key=lambda point: (point.f1, -point.k))
    told = (
        "Precision is the share of near duplicates among the pairs within k bits, recall the share "
        "of all near duplicates of the sample that are within k."
    )
    headline = f"k = {best.k}: precision {_value(best.precision)}, recall {_value(best.recall)}"
    return figure_page(
        "roughly hamming evaluate",
        title,
        headline,
        facts,
        told,
        _precision_recall(points) + _choice_plot(judged),
        _choices(judged),
    )


# --- figures --------------------------------------------------------------------------------------


def leading(found: Distribution) -> str:
    """Figure 2a."""
    title = "Leading one of neighbours"
    if found.documents < 2:
        return nothing("leading", title, "There are no two simhashes.")
    all_pairs = found.documents - 1
    measured = [count / all_pairs for count in found.leading]
    expected = [count / all_pairs for count in found.leading_expected]
    most = max(*measured, *expected)
    drawn = plot.lines(
        "leading",
        title,
        "Share of neighbouring simhashes whose exclusive-or has its leading one at each bit.",
        plot.Axis("bit of the leading one", 0, BITS - 1, whole=True),
        plot.Axis("share of neighbours", 0, most * 1.25 or 1),
        [
            plot.Line(
                label,
                hue,
                [plot.Dot(bit, y, f"bit {bit}: {100 * y:.3g}%") for bit, y in enumerate(values)],
            )
            for label, hue, values in (
                ("measured", "s2", measured),
                ("if random", "s5", expected),
            )
        ],
    )
    rows = [
        (f"{bit}", f"{found.leading[bit]:,}", f"{found.leading_expected[bit]:,.1f}")
        for bit in reversed(range(BITS))
    ]
    caption = (
        f"Figure 2a of the paper: {plural(all_pairs, 'pair')} of neighbours in the order of their "
        f"numbers, of which {found.equal:,} are equal and not drawn."
    )
    return figure(
        "leading", title, drawn, caption, _numbers(title, ("Bit", "Pairs", "If random"), rows)
    )


def buckets(found: Distribution) -> str:
    """Figure 2b."""
    title = f"Simhashes in {BUCKETS} buckets"
    if not found.documents:
        return nothing("buckets", title, "There are no simhashes.")
    drawn = plot.columns(
        "buckets",
        title,
        f"Simhashes in {BUCKETS} intervals of equal size.",
        plot.Axis("bucket", 0, BUCKETS, whole=True),
        plot.counts_axis("simhashes", max(found.buckets)),
        [
            plot.Column(bucket, bucket + 1, count, f"bucket {bucket}: {count:,}")
            for bucket, count in enumerate(found.buckets)
        ],
    )
    rows = [(f"{bucket}", f"{count:,}") for bucket, count in enumerate(found.buckets)]
    caption = f"Figure 2b of the paper. Chance gives {found.bucket_expected:,.1f} to each."
    return figure("buckets", title, drawn, caption, _numbers(title, ("Bucket", "Simhashes"), rows))


def _numbers(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A long table, which the keyboard can scroll."""
    return table(head, rows, label=f"{title}: the numbers")


def _precision_recall(points: Sequence[Point]) -> str:
    title = "Precision and recall"
    drawn_lines = []
    for label, hue in (("precision", "s2"), ("recall", "s5")):
        values = [(point.k, getattr(point, label)) for point in points]
        dots = [
            plot.Dot(k, each.value, f"k = {k}: {label} {share(each.value, 3)}")
            for k, each in values
            if each is not None
        ]
        if dots:
            drawn_lines.append(plot.Line(label, hue, dots))
    if not drawn_lines or len(points) < 2:
        return nothing("precision-recall", title, "There are not enough labelled pairs.")
    drawn = plot.lines(
        "precision-recall",
        title,
        "Precision and recall for every k.",
        plot.Axis("k, bits that may differ", points[0].k, points[-1].k, whole=True),
        plot.Axis("share", 0, 1.25),
        drawn_lines,
    )
    rows = [
        (
            f"{point.k}",
            f"{point.true:,}",
            f"{point.false:,}",
            f"{point.unknown:,}",
            with_interval(point.precision),
            with_interval(point.recall),
        )
        for point in points
    ]
    head = ("k", "True", "False", "Unknown", "Precision", "Recall")
    caption = "Figure 1 of the paper; the numbers below have 95% intervals."
    return figure("precision-recall", title, drawn, caption, table(head, rows))


def _choice_plot(judged: Sequence[Judged]) -> str:
    """How well each choice tells near duplicates from other pairs (6 E)."""
    if not judged:
        return ""
    title = "Other features and weights"
    if all(each.separation is None for each in judged):
        return nothing("choice-plot", title, "There are not both true and false pairs.")
    groups: dict[str, list[plot.Row]] = {}
    best = max(each.separation or 0.0 for each in judged)
    for each in judged:
        features, _, others = each.name.partition(", ")
        kind = features.partition(":")[0]
        label = (others or "by count") if features == kind else each.name
        value = each.separation or 0.0
        said = f"{each.name}: separation {share(value, 3)}, F1 {share(each.best.f1, 3)}"
        hue = "ours" if value == best else "paper"
        groups.setdefault(kind, []).append(plot.Row(label, value, hue, said, value == best))
    drawn = plot.dots_in_rows(
        "choice-plot",
        title,
        "Separation of near duplicates from other pairs for each choice of features and weights.",
        plot.Axis("separation, 0.5 is chance", 0, 1),
        list(groups.items()),
    )
    rows = [(line(each.name, 60), _number(each.separation)) for each in judged]
    caption = "Section 6 E of the paper: the same labelled pairs, judged by other simhashes."
    head = ("Features and weights", "Separation")
    return figure("choice-plot", title, drawn, caption, table(head, rows))


# --- sections -------------------------------------------------------------------------------------


def spike_section(
    spikes: Sequence[Spike],
    every: int,
    examples: Mapping[int, Example],
    shown: Callable[[str], str] = name,
) -> str:
    """The largest spikes of so many; `shown` makes markup of a document's id."""
    if not spikes:
        return ""
    rows = [_spike(spike, examples, shown) for spike in spikes]
    head = ("Bucket", "Around", "Simhashes", "By chance", "Same", f"Within {NEAR} bits")
    more = every - len(rows)
    return (
        '<section id="spikes"><h2>Spikes</h2><p class="told">Buckets with more simhashes than '
        "chance gives, and documents around the simhash that most others there are near to.</p>"
        f"{table(head, rows, words=2)}"
        + (f'<p class="told">and {more:,} more</p>' if more else "")
        + "</section>\n"
    )


def _spike(
    spike: Spike, examples: Mapping[int, Example], shown: Callable[[str], str]
) -> tuple[str, ...]:
    told = "".join(f"<br>{_example(examples[row], shown)}" for row in spike.rows if row in examples)
    return (
        f"{spike.bucket}",
        f"{spike.simhash:016x}{told}",
        f"{spike.count:,}",
        f"{spike.expected:,.1f}",
        f"{spike.same:,}",
        f"{spike.near:,}",
    )


def _example(example: Example, shown: Callable[[str], str]) -> str:
    kind = f"<em>{example.kind} page</em> " if example.kind else ""
    words = f" · {line(example.excerpt, _EXCERPT)}" if example.excerpt else ""
    return f"{kind}{shown(example.id)}{words}"


def empty_section(
    every: int, examples: Sequence[Example], shown: Callable[[str], str] = name
) -> str:
    """Some of so many documents without a simhash."""
    if not every:
        return ""
    listed = "".join(f"<li>{shown(example.id)}</li>" for example in examples)
    return (
        '<section id="empty"><h2>Without a simhash</h2><p class="told">'
        f"{plural(every, 'document')} without terms; the paper gives them all 0, and finds a "
        f"spike there.</p><ul>{listed}</ul></section>\n"
    )


def _choices(judged: Sequence[Judged]) -> str:
    if not judged:
        return ""
    rows = [
        (
            line(each.name, 60),
            _number(each.separation),
            _value(each.at_paper_k.precision),
            _value(each.at_paper_k.recall),
            f"{each.best.k}",
            _value(each.best.precision),
            _value(each.best.recall),
            share(each.best.f1, 3),
        )
        for each in judged
    ]
    head = (
        *("Features and weights", "Separation", f"Precision, k={PAPER_K}", f"Recall, k={PAPER_K}"),
        *("Best k", "Precision", "Recall", "F1"),
    )
    return (
        '<section id="choices"><h2>Other features and weights</h2><p class="told">The same '
        "labelled pairs with other simhashes. <em>Separation</em> is the probability that near "
        "duplicates are nearer to each other than two documents that are none: 1 is perfect, 0.5 "
        "is chance."
        f"</p>{table(head, rows)}</section>\n"
    )


def _number(value: float | None) -> str:
    return "unknown" if value is None else share(value, 3)


def _value(found: Share | None) -> str:
    return _number(None if found is None else found.value)
