"""Two documents of a cluster side by side, what they share marked: a page has ten such pairs.

However long the texts and whatever is in them, a side takes at most SIDE_BYTES of the page: a long
text shows what is around its passages, and what does not fit any more is said to be left out.
"""

from __future__ import annotations

from collections.abc import Iterable

from roughly import _core
from roughly.report.cluster_sample import Sample
from roughly.report.marked_text import Piece, covered, pieces, shown_passages
from roughly.report.markup import escaped, name
from roughly.report.reading import Reading, reading
from roughly.report.verdict import plural, share, verdict

# What one text may take of the page, markup included.
SIDE_BYTES = 20_000
# A longer text is shown around its passages only.
_WHOLE_BYTES = 6_000
_HUES = 6
# More than any one character takes once it is escaped, and than the tags around a piece.
_ESCAPED_BYTES = 6
_TAGS_BYTES = 120


def section(sample: Sample, number: int) -> str:
    """The pair of the cluster with this number."""
    a, b, comparison = sample
    reading_a, reading_b = reading(a), reading(b)
    shown, _ = shown_passages(comparison.passages, reading_a, reading_b)
    common_a = covered(comparison.passages, comparison.a.tokens)
    common_b = _core.common_tokens(
        b.text_utf8, b.html, a.text_utf8, a.html, comparison.evidence_width
    )
    runs_a = [(passage.a_token, passage.tokens, each) for each, passage in shown]
    runs_b = [(passage.b_token, passage.tokens, each) for each, passage in shown]
    whole = max(len(reading_a.text_utf8), len(reading_b.text_utf8)) <= _WHOLE_BYTES
    facts = (
        f"{escaped(verdict(comparison))}. Resemblance {share(comparison.resemblance)}, containment "
        f"{share(comparison.containment_ab)} of A in B and {share(comparison.containment_ba)} of B "
        f"in A, all exact; {plural(len(comparison.passages), 'shared passage')}, marked."
    )
    return (
        f'<div class="pair"><p class="facts">{facts}</p>'
        + _side("A", name(a.id), number, reading_a, pieces(reading_a, runs_a, common_a, whole))
        + _side("B", name(b.id), number, reading_b, pieces(reading_b, runs_b, common_b, whole))
        + "</div>"
    )


def _side(letter: str, title: str, number: int, text: Reading, found: Iterable[Piece]) -> str:
    label = f"name-{number}-{letter.lower()}"
    return (
        f'<div class="side"><h4 id="{label}"><span class="letter {letter.lower()}">{letter}</span> '
        f'{title}</h4><div class="text" dir="auto" lang="" tabindex="0" role="region" '
        f'aria-labelledby="{label}">{_text(text, found)}</div></div>'
    )


def _text(text: Reading, found: Iterable[Piece]) -> str:
    if not text.text_utf8.strip():
        return '<span class="none">There is no text here.</span>'
    parts: list[str] = []
    room = SIDE_BYTES
    for piece in found:
        if piece.kind == "cut":
            parts.append(_cut(piece.end - piece.start))
        else:
            fits = max(0, room - 2 * _TAGS_BYTES) // _ESCAPED_BYTES
            end = _character(text.text_utf8, min(piece.end, piece.start + fits))
            if end > piece.start:
                parts.append(_piece(text, piece._replace(end=end)))
            if end < piece.end:
                return "".join(parts) + _cut(len(text.text_utf8) - end)
        room -= len(parts[-1].encode())
    return "".join(parts)


def _cut(left_bytes: int) -> str:
    return f'<span class="cut">{plural(left_bytes, "byte")} left out</span>'


def _character(text_utf8: bytes, at: int) -> int:
    """The beginning of the character that this byte is part of."""
    while 0 < at < len(text_utf8) and text_utf8[at] & 0xC0 == 0x80:
        at -= 1
    return at


def _piece(text: Reading, piece: Piece) -> str:
    shown = escaped(text.slice(piece.start, piece.end))
    if piece.kind == "plain":
        return shown
    if piece.kind == "also":
        return f'<mark class="also">{shown}</mark>'
    hue = f"h{piece.number % _HUES}"
    badge = f'<span class="n {hue}">{piece.number}</span>' if piece.first else ""
    return f'{badge}<mark class="{hue}">{shown}</mark>'
