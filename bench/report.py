"""What a benchmark has to say: timings, tables, results and their targets, checks; text and JSON.

A result that misses its target says MISSED and nothing else happens: how fast a machine is decides
nothing. A check that fails means that what was timed did not do its work, and the figures are void.
"""

import operator
import textwrap
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from bench.measure import Timing

WIDTH = 100

_RELATIONS: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    "<": operator.lt,
}


@dataclass(frozen=True)
class Result:
    """A figure that is worth a sentence, with the target it should reach, if there is one."""

    name: str
    value: float
    unit: str  # MB/s, x (times), ms, MiB
    relation: str = ""  # of the value to the target: >=, <= or <
    wanted: float | None = None

    @property
    def reached(self) -> bool | None:
        """None without a target."""
        if self.wanted is None:
            return None
        return _RELATIONS[self.relation](self.value, self.wanted)


@dataclass(frozen=True)
class Check:
    """Whether what was timed was right, and how that was found out."""

    name: str
    passed: bool
    detail: str = ""


def merged(name: str, checks: Sequence[Check]) -> Check:
    """Many checks of one kind as one: passed if all did, and naming those that did not."""
    wrong = [f"{check.name}: {check.detail}" for check in checks if not check.passed]
    detail = "; ".join(wrong) or f"{len(checks)} compared"
    return Check(name, bool(checks) and not wrong, detail)


@dataclass(frozen=True)
class Table:
    """Figures side by side; the first column is text."""

    heads: Sequence[str]
    rows: Sequence[Sequence[str | float | None]]  # None: nothing to say

    def lines(self) -> Iterable[str]:
        rows = [list(self.heads), *([_cell(value) for value in row] for row in self.rows)]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        for first, *others in rows:
            cells = (text.rjust(width) for text, width in zip(others, widths[1:], strict=True))
            yield "  " + "  ".join([first.ljust(widths[0]), *cells])


def _cell(value: str | float | None) -> str:
    if value is None:
        return "-"
    if isinstance(value, str | int):
        return f"{value:,}" if isinstance(value, int) else value
    return f"{value:,.{0 if abs(value) >= 1000 else 1 if abs(value) >= 10 else 3}f}"


@dataclass
class Section:
    """The outcome of one benchmark."""

    name: str
    title: str
    notes: list[str] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    timings: list[Timing] = field(default_factory=list)
    results: list[Result] = field(default_factory=list)
    checks: list[Check] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """Every figure and the seconds it came from."""
        return {
            "name": self.name,
            "title": self.title,
            "notes": self.notes,
            "tables": [
                [dict(zip(table.heads, row, strict=True)) for row in table.rows]
                for table in self.tables
            ],
            "timings": [
                {
                    "name": timing.name,
                    "bytes": timing.size,
                    "best_mb_s": round(timing.best, 2),
                    "median_mb_s": round(timing.typical, 2),
                    "best_mb_per_cpu_s": round(timing.by_cpu, 2),
                    "wall_s": [round(seconds, 6) for seconds in timing.wall],
                    "cpu_s": [round(seconds, 6) for seconds in timing.cpu],
                }
                for timing in self.timings
            ],
            "results": [
                {
                    "name": result.name,
                    "value": round(result.value, 3),
                    "unit": result.unit,
                    "wanted": None
                    if result.wanted is None
                    else f"{result.relation} {result.wanted:g}",
                    "reached": result.reached,
                }
                for result in self.results
            ],
            "checks": [
                {"name": check.name, "passed": check.passed, "detail": check.detail}
                for check in self.checks
            ],
        }

    def lines(self) -> Iterable[str]:
        """The section as text."""
        yield f"{self.name}: {self.title}"
        for note in self.notes:
            yield from wrapped(note, "    ")
        for table in self.tables:
            yield from table.lines()
        if self.timings:
            yield f"  {'MB/s':<58}{'best':>10}{'median':>10}{'by CPU':>10}{'rounds':>10}"
        for timing in self.timings:
            yield (
                f"  {timing.name:<58}{timing.best:>10,.1f}{timing.typical:>10,.1f}"
                f"{timing.by_cpu:>10,.1f}{len(timing.wall):>10}"
            )
        for result in self.results:
            shown = f"{result.value:,.{_digits(result)}f} {result.unit}"
            line = f"  {result.name:<58}{shown:>14}"
            if result.wanted is not None:
                verdict = "reached" if result.reached else "MISSED"
                line += f"   wanted {result.relation} {result.wanted:g}".ljust(18) + verdict
            yield line
        for check in self.checks:
            verdict = "ok" if check.passed else "FAILED"
            yield from wrapped(f"check: {check.name}: {verdict}. {check.detail}".rstrip(". "), "  ")


def _digits(result: Result) -> int:
    return 2 if result.unit == "x" and result.value < 10 else 1


def wrapped(text: str, indent: str = "") -> list[str]:
    """Lines no longer than a report may be, all but the first indented further."""
    return textwrap.wrap(
        text, WIDTH, initial_indent=indent, subsequent_indent=indent + "  ", break_long_words=False
    )


def summary(sections: Sequence[Section]) -> Iterable[str]:
    """How many targets were reached, and what failed."""
    judged = [
        (section, result)
        for section in sections
        for result in section.results
        if result.reached is not None
    ]
    missed = [(section, result) for section, result in judged if not result.reached]
    slowed = sum(timing.slowed for section in sections for timing in section.timings)
    if slowed:
        yield f"the machine was busy during {slowed} of the timings: run again when it is quiet"
    yield f"targets reached: {len(judged) - len(missed)} of {len(judged)}"
    for section, result in missed:
        yield (
            f"  MISSED  {section.name}: {result.name}: {result.value:,.{_digits(result)}f}"
            f" {result.unit}, wanted {result.relation} {result.wanted:g}"
        )


def failures(sections: Iterable[Section]) -> list[str]:
    """The checks that failed; with any, the figures are void."""
    return [
        f"{section.name}: {check.name}: {check.detail}"
        for section in sections
        for check in section.checks
        if not check.passed
    ]
