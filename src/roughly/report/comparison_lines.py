"""A comparison as lines for a terminal: the numbers, then the shared passages side by side."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from roughly.comparison import Comparison, Passage, Side
from roughly.documents.file import Document, printable
from roughly.report.reading import Reading, reading
from roughly.report.terminal import Terminal, beside, harmless, pad, shorten, wrap
from roughly.report.verdict import plural, share, verdict

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from roughly.estimate import Estimate

# A passage longer than this many lines is cut in the middle.
_LINES = 7
_LINES_BEFORE_CUT = 4


def counted(comparison: Comparison) -> str:
    """How many shingles are in both, and words if there are any."""
    shorter = min(comparison.a.tokens, comparison.b.tokens)
    words = " and single words" if shorter < comparison.words else ""
    return (
        f"{comparison.common:,} of {plural(comparison.union, 'shingle')} of"
        f" {plural(comparison.w, 'token')}{words}"
    )


def lines(
    comparison: Comparison, a: Document, b: Document, terminal: Terminal, limit: int
) -> Iterator[str]:
    """The report, line by line; at most `limit` passages, the longest ones."""
    yield ""
    yield from _header(comparison, terminal)
    yield ""
    yield from _measures(comparison, terminal)
    yield ""
    yield from passage_lines(comparison, a, b, terminal, limit)


def _header(comparison: Comparison, terminal: Terminal) -> Iterator[str]:
    sides = (comparison.a, comparison.b)
    rows = [
        (
            "HTML" if side.html else "text",
            f"{side.encoding} ({side.how})" if side.how != "utf-8" else side.encoding,
            plural(side.bytes, "byte"),
            plural(side.tokens, "token"),
        )
        for side in sides
    ]
    widths = [max(len(row[i]) for row in rows) for i in range(4)]
    facts = [
        f"{kind:{widths[0]}}  {encoding:{widths[1]}}  {size:>{widths[2]}}  {tokens:>{widths[3]}}"
        for kind, encoding, size, tokens in rows
    ]
    room = terminal.width - 7 - len(facts[0])
    names = [shorten(_name(side), terminal.width - 5 if room < 16 else room) for side in sides]
    widest = max(len(pad(name, 0)) for name in names)
    for letter, name, fact in zip("AB", names, facts, strict=True):
        head = f"  {terminal.style(letter, 'first' if letter == 'A' else 'second')}  "
        if room < 16:
            yield head + terminal.style(name, "strong")
            yield f"     {terminal.style(fact.strip(), 'faint')}"
        else:
            yield (
                f"{head}{terminal.style(pad(name, widest), 'strong')}  "
                f"{terminal.style(fact, 'faint')}"
            )


def _name(side: Side) -> str:
    return "standard input" if side.id == "-" else printable(side.id)


def _measures(comparison: Comparison, terminal: Terminal) -> Iterator[str]:
    estimate = comparison.estimate
    yield f"  {terminal.style(verdict(comparison), 'strong')}"
    yield ""
    bar = min(24, terminal.width - 58)
    exact = pad("exact", 8 + max(0, bar + 2))
    interval = ", 95% interval" if bar > 0 else ""
    yield terminal.style(f"  {'':21}{exact}estimate{interval}", "faint")
    for name, value, guess in (
        ("resemblance", comparison.resemblance, estimate.resemblance),
        ("containment, A in B", comparison.containment_ab, estimate.containment_ab),
        ("containment, B in A", comparison.containment_ba, estimate.containment_ba),
    ):
        drawn = f"{_bar(value, bar, terminal)}  " if bar > 0 else ""
        yield f"  {name:21}{terminal.style(share(value), 'strong')}  {drawn}{_interval(guess)}"
    yield ""
    note = (
        f"{counted(comparison)} are in both; estimated with {estimate.select} from sketches of "
        f"{estimate.kept_a:,} and {plural(estimate.kept_b, 'fingerprint')}"
    )
    for line in wrap(note, terminal.width - 4):
        yield f"  {terminal.style(line, 'faint')}"


def _bar(value: float, width: int, terminal: Terminal) -> str:
    # Nothing but 0 is drawn empty, nothing but 1 full.
    filled = min(width - 1, max(1, round(value * width))) if 0 < value < 1 else int(value) * width
    return terminal.style("━" * filled, "good") + terminal.style("─" * (width - filled), "faint")


def _interval(estimate: Estimate | None) -> str:
    if estimate is None:
        return "this sketch cannot tell"
    if estimate.samples == 0 and estimate.low < estimate.high:
        return "no samples"
    if estimate.low == estimate.high:
        return f"{share(estimate.value, 3)}, all kept"
    interval = f"[{share(estimate.low, 3)}, {share(estimate.high, 3)}]"
    return f"{share(estimate.value, 3)} {interval}"


def passage_lines(
    comparison: Comparison, a: Document, b: Document, terminal: Terminal, limit: int
) -> Iterator[str]:
    """The passages alone, side by side; at most `limit` of them, the longest ones."""
    passages = comparison.passages
    if not passages:
        yield "  no shared passages"
        return
    numbered = list(enumerate(passages, 1))
    shown = sorted(sorted(numbered, key=lambda each: (-each[1].tokens, each[0]))[:limit])
    title = plural(len(passages), "shared passage")
    if len(shown) < len(passages):
        which = {0: "none", 1: "the longest"}.get(len(shown), f"the {len(shown)} longest")
        title += f", {which} shown (--passages N)"
    yield f"  {terminal.style(title, 'strong')}"
    if not shown:
        return
    reading_a, reading_b = reading(a), reading(b)
    breaks_a, breaks_b = _line_breaks(a), _line_breaks(b)
    for number, passage in shown:
        yield ""
        places = (
            _place("A", breaks_a, passage.a_start),
            _place("B", breaks_b, passage.b_start),
        )
        yield from _side_by_side(number, passage, places, reading_a, reading_b, terminal)


def _side_by_side(
    number: int,
    passage: Passage,
    places: tuple[str, str],
    reading_a: Reading,
    reading_b: Reading,
    terminal: Terminal,
) -> Iterator[str]:
    width = (terminal.width - 5) // 2
    head = f"  {number} ── {plural(passage.tokens, 'token')} "
    yield terminal.style(pad(head, 0) + "─" * (terminal.width - len(head)), "faint")
    place_a, place_b = places
    yield "  " + beside(
        terminal.style(place_a, "first") + " " * (width - len(place_a)),
        terminal.style(place_b, "second"),
        0,
    )
    left = _text(reading_a, passage.a_token, passage.tokens, width)
    right = _text(reading_b, passage.b_token, passage.tokens, width)
    for i in range(max(len(left), len(right))):
        yield "  " + beside(
            left[i] if i < len(left) else "", right[i] if i < len(right) else "", width
        )


def _line_breaks(document: Document) -> npt.NDArray[np.intp]:
    import numpy as np

    return np.flatnonzero(np.frombuffer(document.text_utf8, np.uint8) == ord("\n"))


def _place(letter: str, breaks: npt.NDArray[np.intp], start: int) -> str:
    line = int(breaks.searchsorted(start)) + 1
    return f"{letter} line {line:,}, byte {start:,}"


def _text(reading: Reading, token: int, tokens: int, width: int) -> list[str]:
    """The lines of one passage in its column; a long one shows its beginning and its end."""
    start, end = reading.start(token), reading.end(token + tokens - 1)
    # Enough bytes for all lines that will be shown, even at four bytes a cell.
    enough = 4 * width * (_LINES + 1)
    if end - start <= 2 * enough:
        whole = wrap(harmless(reading.slice(start, end)), width)
        if len(whole) <= _LINES:
            return whole
        head, tail = whole, whole
    else:
        head = wrap(harmless(reading.slice(start, start + enough)), width)
        tail = wrap(harmless(reading.slice(end - enough, end)), width)
    after = _LINES - _LINES_BEFORE_CUT - 1
    return [*head[:_LINES_BEFORE_CUT], pad("  ⋮", 0), *tail[-after:]]
