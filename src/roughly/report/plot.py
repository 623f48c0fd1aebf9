"""Plots as SVG, written by hand: dots, columns, lines, and dots in rows.

A plot is a string that stands in a page by itself: its text is text, its colours are the page's
(classes, no style attributes, so that a content security policy can forbid those), and a title and
a description say to those who cannot see it what there is to see. Labels come in as text and are
escaped here. All plots are drawn for a width of about 460 pixels, so that their letters can still
be read on a telephone. Whatever the data, a plot has at most a few hundred marks.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from roughly.report.markup import escaped, line

WIDTH, HEIGHT = 460, 270
# The left has room for an axis's name and ticks of five characters, in the larger letters of
# telephones too.
_LEFT, _RIGHT, _TOP, _BOTTOM = 68, 14, 14, 46
_ROW = 22  # of dots in rows
_ROW_LABELS = 168


@dataclass(frozen=True, slots=True)
class Axis:
    """One axis: what it measures, in which unit, and from where to where."""

    label: str
    low: float
    high: float
    log: bool = False
    whole: bool = False  # whether only whole numbers mean something

    def share(self, value: float) -> float:
        """Where a value lies: 0 at the low end, 1 at the high end."""
        if self.log:
            low, high, value = math.log(self.low), math.log(self.high), math.log(value)
        else:
            low, high = self.low, self.high
        return (value - low) / (high - low) if high > low else 0.5

    def ticks(self) -> list[float]:
        """Round values along the axis."""
        return self._powers() if self.log else self._steps()

    def _steps(self) -> list[float]:
        rough = (self.high - self.low) / 6
        if rough <= 0:
            return [self.low]
        power = 10.0 ** math.floor(math.log10(rough))
        step = next(m * power for m in (1, 2, 5, 10) if m * power >= rough * 0.999)
        step = max(step, 1.0) if self.whole else step
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return [round(i * step, 10) for i in range(first, last + 1)]

    def _powers(self) -> list[float]:
        lowest, highest = math.floor(math.log10(self.low)), math.ceil(math.log10(self.high))
        decades = math.log10(self.high / self.low)
        # Few decades have room for more than their powers of ten, many not even for all of those.
        each: tuple[int, ...] = (1, 2, 5) if decades <= 2.5 else (1,)
        every = max(1, math.ceil(decades / 6))
        found = [m * 10.0**e for e in range(lowest, highest + 1, every) for m in each]
        return [v for v in found if self.low * 0.999 <= v <= self.high * 1.001]


def counts_axis(label: str, most: float) -> Axis:
    """From 0 to a little more than the largest count."""
    return Axis(label, 0, max(1.0, most * 1.06), whole=True)


def log_axis(label: str, least: float, most: float) -> Axis:
    """Around positive values, with some room on both sides."""
    return Axis(label, least / 1.25, max(most, least) * 1.25, log=True)


def compact(value: float) -> str:
    """A number short enough for an axis: 20k, 1.5M, 0.05."""
    for size, unit in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e4, "k")):
        if abs(value) >= size:
            return f"{value / (1e3 if unit == 'k' else size):.3g}{unit}"
    return f"{value:,.0f}" if value == round(value) else f"{value:.3g}"


class Dot(NamedTuple):
    x: float
    y: float
    said: str  # what a pointer that rests on it is told


class Column(NamedTuple):
    low: float
    high: float
    value: float
    said: str


class Line(NamedTuple):
    label: str
    hue: str  # a class of the page's style
    dots: Sequence[Dot]  # from left to right


class Row(NamedTuple):
    label: str
    value: float  # not drawn unless positive
    hue: str
    said: str
    strong: bool = False  # a sum, set apart from its parts


def scatter(name: str, title: str, said: str, x: Axis, y: Axis, dots: Iterable[Dot]) -> str:
    """Dots; those that would hide one another are drawn once."""
    drawn: dict[tuple[int, int], str] = {}
    for dot in dots:
        at_x, at_y = _x(x, dot.x), _y(y, dot.y)
        place = (round(at_x / 2), round(at_y / 2))
        if place not in drawn:
            drawn[place] = (
                f'<circle class="dot" cx="{at_x:.1f}" cy="{at_y:.1f}" r="3.5">'
                f"<title>{_short(dot.said)}</title></circle>"
            )
    return _framed(name, title, said, x, y, "".join(drawn.values()))


def columns(
    name: str,
    title: str,
    said: str,
    x: Axis,
    y: Axis,
    bars: Iterable[Column],
    mark: tuple[float, str] | None = None,
) -> str:
    """A histogram, with one value of the x axis marked."""
    drawn = []
    for bar in bars:
        left, right = _x(x, bar.low), _x(x, bar.high)
        # Nothing but 0 is drawn empty.
        height = max(1.5, _y(y, 0) - _y(y, bar.value)) if bar.value else 0
        drawn.append(
            f'<rect class="column" x="{left + 0.75:.1f}" y="{_y(y, 0) - height:.1f}" '
            f'width="{max(1.0, right - left - 1.5):.1f}" height="{height:.1f}">'
            f"<title>{_short(bar.said)}</title></rect>"
        )
    return _framed(name, title, said, x, y, "".join(drawn) + (_mark(x, *mark) if mark else ""))


def lines(
    name: str,
    title: str,
    said: str,
    x: Axis,
    y: Axis,
    drawn: Sequence[Line],
    mark: tuple[float, str] | None = None,
) -> str:
    """Lines through dots, named in the upper right corner, where falling lines leave room; and a
    cursor, unseen until a script moves it."""
    parts = [_mark(x, *mark)] if mark else []
    parts.append(
        f'<line class="cursor" visibility="hidden" y1="{_TOP - 8}" y2="{HEIGHT - _BOTTOM}"/>'
    )
    for number, each in enumerate(drawn):
        places = [(f"{_x(x, dot.x):.1f}", f"{_y(y, dot.y):.1f}", dot.said) for dot in each.dots]
        path = "L".join(f"{at_x} {at_y}" for at_x, at_y, _ in places)
        circles = "".join(
            f'<circle cx="{at_x}" cy="{at_y}" r="2.5"><title>{_short(text)}</title></circle>'
            for at_x, at_y, text in places
        )
        at = _TOP + 12 + 17 * number
        parts.append(
            f'<g class="line {each.hue}"><path d="M{path}"/>{circles}'
            f'<path d="M{WIDTH - _RIGHT - 18} {at - 4}h16"/></g>'
            f'<text class="label" x="{WIDTH - _RIGHT - 24}" y="{at}" text-anchor="end">'
            f"{escaped(each.label)}</text>"
        )
    return _framed(name, title, said, x, y, "".join(parts))


def dots_in_rows(
    name: str, title: str, said: str, x: Axis, groups: Sequence[tuple[str, Sequence[Row]]]
) -> str:
    """A dot for each row on one scale; the rows in groups, each under its heading."""
    top = 6
    parts: list[str] = []
    at = float(top)
    for heading, rows in groups:
        at += _ROW
        parts.append(f'<text class="heading" x="2" y="{at - 6:.0f}">{escaped(heading)}</text>')
        for row in rows:
            at += _ROW
            parts.append(_row(x, row, at - 10))
    height = at + _BOTTOM
    grid = "".join(
        f'<path class="grid" d="M{_row_x(x, tick):.1f} {top}V{at + 4:.0f}"/>'
        f'<text class="tick" x="{_row_x(x, tick):.1f}" y="{at + 19:.0f}" text-anchor="middle">'
        f"{compact(tick)}</text>"
        for tick in x.ticks()
    )
    middle = (_ROW_LABELS + WIDTH - _RIGHT) / 2
    label = (
        f'<text class="label" x="{middle:.0f}" y="{height - 8:.0f}" text-anchor="middle">'
        f"{escaped(x.label)}</text>"
    )
    return _svg(name, title, said, height, grid + "".join(parts) + label)


def stacked(parts: Sequence[tuple[float, str, str]]) -> str:
    """A bar of a table's cell: shares of 0 to 1, each with its class and what it stands for. The
    table's own words say the same, so it is nothing to those who listen."""
    drawn, at = [], 0.0
    for share, hue, said in parts:
        if share > 0:
            drawn.append(
                f'<rect class="{hue}" x="{1000 * at:.1f}" width="{max(2.0, 1000 * share):.1f}" '
                f'height="14"><title>{_short(said)}</title></rect>'
            )
            at += share
    return (
        '<svg class="bar" viewBox="0 0 1000 14" preserveAspectRatio="none" aria-hidden="true">'
        f'<rect class="track" width="1000" height="14"/>{"".join(drawn)}</svg>'
    )


def _short(said: str) -> str:
    """What a mark says: a few words, be they about a name of any length."""
    return line(said, 80)


def _row(x: Axis, row: Row, at: float) -> str:
    strong = " strong" if row.strong else ""
    text = (
        f'<text class="tick{strong}" x="{_ROW_LABELS - 12}" y="{at + 4:.0f}" text-anchor="end">'
        f"{line(row.label, 25)}</text>"
        f'<path class="grid" d="M{_ROW_LABELS} {at:.0f}H{WIDTH - _RIGHT}"/>'
    )
    if row.value <= 0:
        return text
    return (
        f'{text}<circle class="{escaped(row.hue)}{strong}" cx="{_row_x(x, row.value):.1f}" '
        f'cy="{at:.0f}" r="5"><title>{_short(row.said)}</title></circle>'
    )


def _row_x(x: Axis, value: float) -> float:
    return _ROW_LABELS + x.share(value) * (WIDTH - _RIGHT - _ROW_LABELS)


def _x(x: Axis, value: float) -> float:
    return _LEFT + x.share(value) * (WIDTH - _LEFT - _RIGHT)


def _y(y: Axis, value: float) -> float:
    return HEIGHT - _BOTTOM - y.share(value) * (HEIGHT - _TOP - _BOTTOM)


def _mark(x: Axis, value: float, label: str) -> str:
    at = _x(x, value)
    # The words stand on the side that has more room.
    right = at < (_LEFT + WIDTH - _RIGHT) / 2
    place = f'x="{at + 5:.1f}"' if right else f'x="{at - 5:.1f}" text-anchor="end"'
    return (
        f'<path class="mark" d="M{at:.1f} {_TOP - 8}V{HEIGHT - _BOTTOM}"/>'
        f'<text class="label" {place} y="{_TOP - 1}">{escaped(label)}</text>'
    )


def _framed(name: str, title: str, said: str, x: Axis, y: Axis, inside: str) -> str:
    bottom, right = HEIGHT - _BOTTOM, WIDTH - _RIGHT
    across = "".join(
        f'<path class="grid" d="M{_LEFT} {_y(y, tick):.1f}H{right}"/>'
        f'<text class="tick" x="{_LEFT - 7}" y="{_y(y, tick) + 4:.1f}" text-anchor="end">'
        f"{compact(tick)}</text>"
        for tick in y.ticks()
    )
    along = "".join(
        f'<path class="axis" d="M{_x(x, tick):.1f} {bottom}v5"/>'
        f'<text class="tick" x="{_x(x, tick):.1f}" y="{bottom + 18}" text-anchor="middle">'
        f"{compact(tick)}</text>"
        for tick in x.ticks()
    )
    middle_x, middle_y = (_LEFT + right) / 2, (_TOP + bottom) / 2
    labels = (
        f'<text class="label" x="{middle_x:.0f}" y="{HEIGHT - 8}" text-anchor="middle">'
        f"{escaped(x.label)}</text>"
        f'<text class="label" transform="translate(13 {middle_y:.0f}) rotate(-90)" '
        f'text-anchor="middle">{escaped(y.label)}</text>'
    )
    axis = f'<path class="axis" d="M{_LEFT} {_TOP - 8}V{bottom}H{right}"/>'
    return _svg(name, title, said, HEIGHT, across + along + labels + inside + axis)


def _svg(name: str, title: str, said: str, height: float, inside: str) -> str:
    return (
        f'<svg class="plot" viewBox="0 0 {WIDTH} {height:.0f}" role="img" '
        f'aria-labelledby="{name}-title {name}-said"><title id="{name}-title">{escaped(title)}'
        f'</title><desc id="{name}-said">{escaped(said)}</desc>{inside}</svg>'
    )
