"""The figures of `bench.accuracy` as a page: F1 of every method on every set, and the curves of
precision against recall of the most telling ones. The page is made of the product's own parts."""

from collections.abc import Sequence

from bench.accuracy_score import Score
from roughly.report import plot
from roughly.report.figure import figure, table
from roughly.report.figure_page import figure_page
from roughly.report.markup import escaped

_HUES = ("s2", "s5", "s1", "s3")
_CURVES = ("exact shingles, w=1", "roughly verified", "simhash of terms", "banded MinHash 256, w=5")
_SHORTER = {"exact shingles": "exact", "datasketch MinHash": "datasketch", "short family": "short"}


def page(found: Sequence[tuple[str, Sequence[Score]]], versions: str) -> str:
    """`found` has the scores on each set."""
    figures = "".join(_f1(name, scores) + _curves(name, scores) for name, scores in found)
    facts = [
        (escaped(name), f"{_of(scores, 'roughly verified'):.3f}", "F1, verified answer at w=5")
        for name, scores in found
    ]
    told = (
        "Levels are chosen where F1 is best on one half of the pairs and scored on the other half, "
        f"both ways averaged; intervals are 95%, by bootstrap. {escaped(versions)}"
    )
    headline = f"Accuracy on {len(found)} labelled sets"
    sections = "".join(_section(name, scores) for name, scores in found)
    return figure_page("python -m bench accuracy", "", headline, facts, told, figures, sections)


def _of(scores: Sequence[Score], name: str) -> float:
    return next(each.f1 for each in scores if each.method == name)


def _kind(method: str) -> str:
    """The group of rows that a method belongs to."""
    if method.startswith("exact"):
        return "exact shingles: the ceiling"
    if method.startswith("short"):
        return "tried, not built in"
    if method.startswith(("roughly", "simhash")):
        return "roughly"
    return "peers"


def _f1(name: str, scores: Sequence[Score]) -> str:
    groups: dict[str, list[plot.Row]] = {}
    best = max(each.f1 for each in scores)
    for each in scores:
        kind = _kind(each.method)
        said = f"{each.method}: F1 {each.f1:.3f} ({each.low:.3f} to {each.high:.3f})"
        label = each.method.removeprefix("exact ").removeprefix("roughly ")
        for long, brief in _SHORTER.items():
            label = label.replace(long, brief)
        hue = "ours" if kind == "roughly" else "paper"
        groups.setdefault(kind, []).append(plot.Row(label, each.f1, hue, said, each.f1 == best))
    title = f"{escaped(name)}: F1"
    drawn = plot.dots_in_rows(
        f"{name}-f1", f"{name}: F1", f"F1 of every method on {name}.", plot.Axis("F1", 0, 1),
        list(groups.items()),
    )  # fmt: skip
    rows = [(escaped(each.method), f"{each.f1:.3f}") for each in scores]
    caption = "The level that is best on one half of the pairs, scored on the other half."
    return figure(f"{name}-f1", title, drawn, caption, table(("Method", "F1"), rows))


def _curves(name: str, scores: Sequence[Score]) -> str:
    drawn = []
    rows = []
    for each in scores:
        if each.method not in _CURVES:
            continue
        # Where many levels have one recall, the line goes down through them.
        points = sorted(
            {(recall, precision, label) for label, precision, recall in each.curve},
            key=lambda point: (point[0], -point[1]),
        )
        dots = [
            plot.Dot(recall, precision, f"{each.method} at {label}: {precision:.3f}, {recall:.3f}")
            for recall, precision, label in points
            if recall > 0
        ]
        if len(dots) > 1:
            drawn.append(plot.Line(each.method, _HUES[len(drawn)], dots))
        for recall, precision, label in points[:: max(1, len(points) // 12)]:
            rows.append((escaped(f"{each.method} at {label}"), f"{precision:.3f}", f"{recall:.3f}"))
    lines = plot.lines(
        f"{name}-curve",
        f"{name}: precision against recall",
        "Each line is a method, each dot one of its levels.",
        plot.Axis("recall", 0, 1),
        plot.Axis("precision", 0, 1.65),
        drawn,
    )
    caption = "On all pairs: each dot is one level."
    head = ("Method and level", "Precision", "Recall")
    title = f"{escaped(name)}: precision against recall"
    return figure(f"{name}-curve", title, lines, caption, table(head, rows))


def _section(name: str, scores: Sequence[Score]) -> str:
    rows = [
        (
            escaped(each.method),
            escaped(" / ".join(dict.fromkeys(each.levels))),
            f"{each.precision:.3f}",
            f"{each.recall:.3f}",
            f"{each.f1:.3f} ({each.low:.3f} to {each.high:.3f})",
            f"{each.exact_sets:.3f}",
        )
        for each in scores
    ]
    head = ("Method", "Levels", "Precision", "Recall", "F1", "Exact sets")
    return f'<section id="{name}"><h2>{escaped(name)}</h2>{table(head, rows, words=2)}</section>\n'
