"""Numbers as words and as tables of a page: the parts that its sections are put together from.

Cells come in as markup, already escaped (`markup.name`, `markup.escaped`) or made of digits.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from roughly.report.markup import escaped
from roughly.report.verdict import plural, share
from roughly.simhashing.evaluation import Share


def size(count: int) -> str:
    """Bytes for people: 150 GB, 5.1 kB, 12 bytes."""
    if count < 1000:
        return plural(count, "byte")
    value, units = count / 1000, ["kB", "MB", "GB", "TB"]
    # What would be rounded up to 1000 belongs to the next unit.
    while value >= 999.5 and len(units) > 1:
        value /= 1000
        del units[0]
    return f"{value:.1f} {units[0]}" if value < 9.95 else f"{value:,.0f} {units[0]}"


def duration(seconds: float) -> str:
    """A time for people: 12 ms, 3.4 s, 2 min 05 s, 3 h 20 min."""
    if seconds < 0.9995:
        return f"{1000 * seconds:.0f} ms" if seconds >= 0.0005 or seconds <= 0 else "under 1 ms"
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest:02} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours:,} h {minutes:02} min"


def percent(part: int, whole: int) -> str:
    """A share that says 0% and 100% only where it is so."""
    if whole == 0:
        return "0%"
    value = 100 * part / whole
    if 0 < part < whole:
        value = min(max(value, 0.1), 99.9)
    return f"{value:.1f}%".replace(".0%", "%")


def decimal(value: float) -> str:
    """A threshold or the edge of a bin: 0.5, 0.62, 0.4643."""
    return f"{value:.4f}".rstrip("0").removesuffix(".") if value else "0"


def with_interval(found: Share | None) -> str:
    """A share that was counted on labelled pairs, and how sure it is."""
    if found is None:
        return "unknown"
    return f"{share(found.value, 3)} ({share(found.low, 3)} to {share(found.high, 3)})"


def table(
    head: Sequence[str],
    rows: Iterable[Sequence[str]],
    caption: str = "",
    words: int = 1,
    label: str = "",
) -> str:
    """A table that scrolls by itself where it is too wide: the first `words` columns hold words,
    the others numbers. One that has many columns needs a label, by which the keyboard gets there
    to scroll it."""

    def cells(row: Sequence[str]) -> str:
        first, *others = row
        return f'<th scope="row">{first}</th>' + "".join(
            f"<td>{cell}</td>" if i + 1 < words else f'<td class="number">{cell}</td>'
            for i, cell in enumerate(others)
        )

    names = "".join(
        f'<th scope="col">{name}</th>'
        if i < words
        else f'<th scope="col" class="number">{name}</th>'
        for i, name in enumerate(head)
    )
    body = "".join(f"<tr>{cells(row)}</tr>\n" for row in rows)
    title = f"<caption>{caption}</caption>" if caption else ""
    reached = f' tabindex="0" role="region" aria-label="{escaped(label)}"' if label else ""
    return (
        f'<div class="wide"{reached}><table>{title}<thead><tr>{names}</tr></thead>\n'
        f"<tbody>{body}</tbody></table></div>"
    )


def figure(name: str, title: str, drawn: str, caption: str, numbers: str) -> str:
    """A plot with its title, what it says, and its numbers folded below."""
    return (
        f'<figure id="{name}"><h2>{title}</h2>{drawn}<figcaption>{caption}</figcaption>'
        f"<details><summary>The numbers</summary>{numbers}</details></figure>\n"
    )


def nothing(name: str, title: str, why: str) -> str:
    """Where there is nothing to draw."""
    return f'<figure id="{name}"><h2>{title}</h2><p class="none">{escaped(why)}</p></figure>\n'
