"""The time a run took, phase by phase, beside the table of the 1997 paper.

The two are measured in the same unit, CPU seconds for a million documents: the paper clustered
30,000,000 documents (150 Gbytes) and gives CPU-days.
"""

from __future__ import annotations

from collections.abc import Sequence

from roughly.report import plot
from roughly.report.cluster_report import Phase
from roughly.report.figure import duration, percent, size, table
from roughly.report.markup import clipped, name

# Section 7 of the paper: phase, time in CPU-days, parallelizable. The rows add up to 10.4; the
# total is as printed there.
PAPER_PHASES = (
    ("Sketching", 4.6, True),
    ("Duplicate elimination", 0.3, False),
    ("Shingle merging", 1.7, True),
    ("ID-ID pair formation", 0.7, False),
    ("ID-ID merging", 2.6, True),
    ("Cluster formation", 0.5, False),
)
PAPER_TOTAL_DAYS = 10.5
PAPER_DOCUMENTS = 30_000_000
PAPER_BYTES = 150_000_000_000

_DAY = 86_400
_PHASES = 20


def section(phases: Sequence[Phase], documents: int, bytes_read: int | None) -> str:
    """The plot, a sentence, and both tables."""
    phases = phases[:_PHASES]
    cpu = sum(phase.cpu_seconds for phase in phases)
    measured = documents > 0 and cpu > 0
    drawn = _plot(phases, documents, cpu) if measured else ""
    said = _said(documents, bytes_read, cpu) if measured else "No times were measured."
    ours = _ours(phases, cpu) if phases else ""
    return (
        f'<section id="time"><h2>Time, and the 1997 paper’s</h2><figure class="time">{drawn}'
        f"<figcaption>{said}</figcaption></figure>"
        f'<div class="beside">{ours}{_papers()}</div></section>\n'
    )


def _plot(phases: Sequence[Phase], documents: int, cpu: float) -> str:
    million = 1_000_000 / documents

    def row(label: str, seconds: float, hue: str, strong: bool = False) -> plot.Row:
        said = f"{label}: {plot.compact(seconds)} CPU seconds for a million documents"
        return plot.Row(label, seconds, hue, said, strong)

    ours = [row(clipped(phase.name, 40), phase.cpu_seconds * million, "ours") for phase in phases]
    ours.append(row("Total", cpu * million, "ours", True))
    scale = _DAY * 1_000_000 / PAPER_DOCUMENTS
    paper = [row(label, days * scale, "paper") for label, days, _ in PAPER_PHASES]
    paper.append(row("Total", PAPER_TOTAL_DAYS * scale, "paper", True))
    values = [each.value for each in (*ours, *paper) if each.value > 0]
    # A phase that took next to nothing must not squeeze the others into a corner.
    least = max(min(values), max(values) / 1e7)
    axis = plot.log_axis("CPU seconds for a million documents", least, max(values))
    ours = [each if each.value >= least else each._replace(value=0) for each in ours]
    return plot.dots_in_rows(
        "time",
        "CPU time of each phase, this run and the 1997 paper",
        f"On a logarithmic scale. This run took {plot.compact(cpu * million)} CPU seconds for a "
        f"million documents, the paper {plot.compact(PAPER_TOTAL_DAYS * scale)}.",
        axis,
        [("This run", ours), ("Broder et al., 1997", paper)],
    )


def _said(documents: int, bytes_read: int | None, cpu: float) -> str:
    ours = cpu / documents
    papers = PAPER_TOTAL_DAYS * _DAY / PAPER_DOCUMENTS
    ratio = papers / ours
    compared = f"1/{plot.compact(ratio)} of that" if ratio >= 1 else f"{1 / ratio:.3g} times that"
    words = (
        f"The paper spent {1000 * papers:.0f} ms of CPU time on a document, this run "
        f"{_milliseconds(1000 * ours)}: {compared}."
    )
    if bytes_read:
        words += (
            f" The paper’s documents had {size(round(PAPER_BYTES / PAPER_DOCUMENTS))} on average, "
            f"these {size(round(bytes_read / documents))}."
        )
    return words + " A dot is a phase, on a scale where each step is ten times the one before."


def _milliseconds(value: float) -> str:
    return f"{value:.3g} ms" if value < 1000 else f"{value:,.0f} ms"


def _ours(phases: Sequence[Phase], cpu: float) -> str:
    rows = [
        (
            name(phase.name, 40),
            duration(phase.wall_seconds),
            duration(phase.cpu_seconds),
            percent(round(1e6 * phase.cpu_seconds), round(1e6 * cpu)),
            "" if phase.rows is None else f"{phase.rows:,}",
            "" if phase.bytes_written is None else size(phase.bytes_written),
        )
        for phase in phases
    ]
    written = [phase.bytes_written for phase in phases if phase.bytes_written is not None]
    wall = sum(phase.wall_seconds for phase in phases)
    total = ("Total", duration(wall), duration(cpu), "", "", size(sum(written)) if written else "")
    head = ("Phase", "Time", "CPU time", "Share", "Rows", "Written")
    return table(head, [*rows, total], "This run")


def _papers() -> str:
    scale = _DAY * 1_000_000 / PAPER_DOCUMENTS
    rows = [
        (label, f"{days}", "yes" if parallel else "", f"{days * scale:,.0f} s")
        for label, days, parallel in PAPER_PHASES
    ]
    total = ("Total", f"~{PAPER_TOTAL_DAYS}", "", f"~{PAPER_TOTAL_DAYS * scale:,.0f} s")
    head = ("Phase", "CPU-days", "Parallelizable", "For a million documents")
    return table(head, [*rows, total], "The paper’s table: 30,000,000 documents, 150 GB")
