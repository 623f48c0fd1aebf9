"""A comparison as one HTML page: the numbers, a map of the passages, both texts side by side.

The page is one file that asks the network for nothing, can be read without its script, and treats
the documents' text as text: all of it passes through `_escaped`, and a content security policy
admits no style and no script but the page's own two, by their hashes.
"""

from __future__ import annotations

import base64
import hashlib
import html
import re
from collections.abc import Iterable
from importlib.resources import files
from string import Template
from typing import TYPE_CHECKING

from roughly import _core
from roughly.comparison import Comparison, Passage, Side
from roughly.documents.file import Document, printable
from roughly.report.comparison_lines import counted
from roughly.report.marked_text import Piece, covered, pieces, shown_passages
from roughly.report.reading import Reading, reading
from roughly.report.verdict import plural, share, verdict

if TYPE_CHECKING:
    from roughly.estimate import Estimate

_HUES = 6
# The map draws the longest; more would be a blur.
_RIBBONS = 300
_NOT_SHOWN = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")


def page(comparison: Comparison, a: Document, b: Document) -> str:
    """The page, complete."""
    reading_a, reading_b = reading(a), reading(b)
    shown, whole = shown_passages(comparison.passages, reading_a, reading_b)
    common_a = covered(comparison.passages, comparison.a.tokens)
    common_b = _core.common_tokens(
        b.text_utf8, b.html, a.text_utf8, a.html, comparison.evidence_width
    )
    runs_a = [(passage.a_token, passage.tokens, number) for number, passage in shown]
    runs_b = [(passage.b_token, passage.tokens, number) for number, passage in shown]
    style, script = _own("comparison.css"), _own("comparison.js")
    name_a, name_b = _name(comparison.a), _name(comparison.b)
    return Template(_own("comparison.html")).substitute(
        policy=f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; "
        "base-uri 'none'; form-action 'none'",
        style=style,
        script=script,
        title=f"{name_a} and {name_b}: resemblance {share(comparison.resemblance)}",
        verdict=_escaped(verdict(comparison)),
        documents=_document("A", comparison.a) + _document("B", comparison.b),
        select=_escaped(comparison.estimate.select),
        measures=_measures(comparison),
        counts=f"{counted(comparison)} are in both documents.",
        map=_map(comparison, shown),
        notes=_notes(comparison, len(shown), whole),
        name_a=name_a,
        name_b=name_b,
        text_a=_text(reading_a, "a", pieces(reading_a, runs_a, common_a, whole)),
        text_b=_text(reading_b, "b", pieces(reading_b, runs_b, common_b, whole)),
    )


def _own(name: str) -> str:
    return files("roughly.report").joinpath(name).read_text("utf-8")


def _hash(source: str) -> str:
    """How a content security policy names an inline style or script."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()}'"


def _escaped(text: str) -> str:
    """Text of a document as text of the page: without markup, without control characters."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return html.escape(_NOT_SHOWN.sub("\ufffd", text))


def _name(side: Side) -> str:
    return "standard input" if side.id == "-" else _escaped(printable(side.id))


def _document(letter: str, side: Side) -> str:
    facts = (
        "HTML" if side.html else "text",
        side.encoding,
        plural(side.bytes, "byte"),
        plural(side.tokens, "token"),
        plural(side.shingles, "shingle"),
    )
    return (
        f'<p><span class="letter {letter.lower()}">{letter}</span> <bdi>{_name(side)}</bdi>'
        f'<span class="facts">{_escaped(" · ".join(facts))}</span></p>\n'
    )


def _measures(comparison: Comparison) -> str:
    estimate = comparison.estimate
    rows = (
        ("Resemblance", comparison.resemblance, estimate.resemblance),
        ("Containment of A in B", comparison.containment_ab, estimate.containment_ab),
        ("Containment of B in A", comparison.containment_ba, estimate.containment_ba),
    )
    return "".join(
        f'<tr><th scope="row">{name}</th><td class="value">{share(value)}</td>'
        f'<td class="drawn">{_drawn(value, guess)}</td><td class="guess">{_said(guess)}</td></tr>\n'
        for name, value, guess in rows
    )


def _drawn(value: float, estimate: Estimate | None) -> str:
    """The exact value as a bar from 0 to 1, and the estimate's interval as a bracket over it."""
    bracket = ""
    if estimate is not None:
        low, high = 1000 * estimate.low, 1000 * estimate.high
        line = f"M{low:.1f} 1V17M{low:.1f} 9H{high:.1f}M{high:.1f} 1V17"
        bracket = f'<path class="bracket" d="{line}"/>'
    return (
        '<svg viewBox="0 0 1000 18" preserveAspectRatio="none" aria-hidden="true">'
        '<rect class="track" y="4" width="1000" height="10"/>'
        f'<rect class="exact" y="4" width="{1000 * value:.1f}" height="10"/>{bracket}</svg>'
    )


def _said(estimate: Estimate | None) -> str:
    if estimate is None:
        return "this sketch cannot tell"
    if estimate.samples == 0 and estimate.low < estimate.high:
        return "no samples: nothing is known"
    if estimate.low == estimate.high:
        return f"{share(estimate.value, 3)}, every shingle kept"
    return (
        f"{share(estimate.value, 3)} [{share(estimate.low, 3)}, {share(estimate.high, 3)}], "
        f"{plural(estimate.samples, 'sample')}"
    )


def _map(comparison: Comparison, shown: list[tuple[int, Passage]]) -> str:
    """Both documents as lines of equal length, joined where they share a passage."""
    if not shown:
        return ""
    longest = sorted(shown, key=lambda each: -each[1].tokens)[:_RIBBONS]
    # The longest first, so that the short ones lie on top and can be reached.
    ribbons = "".join(_ribbon(comparison, number, passage) for number, passage in longest)
    note = f"; the {_RIBBONS} longest are drawn" if len(shown) > _RIBBONS else ""
    return (
        '<figure class="map"><div class="drawing"><span class="letter a">A</span>'
        '<span class="letter b">B</span>'
        '<svg viewBox="0 0 1000 104" preserveAspectRatio="none" role="group" '
        'aria-label="Where the shared passages stand in both documents">'
        '<rect class="document" width="1000" height="16"/>'
        f'<rect class="document" y="88" width="1000" height="16"/>{ribbons}</svg></div>'
        f"<figcaption>{plural(len(comparison.passages), 'shared passage')}, where they stand in A "
        f"(above) and in B (below){note}. A number in the texts leads to the same passage in the "
        'other one<span class="keys" hidden>; the keys n and p go through them</span>.'
        "</figcaption></figure>"
    )


def _ribbon(comparison: Comparison, number: int, passage: Passage) -> str:
    def place(first: int, tokens: int) -> tuple[float, float]:
        start = 1000 * first / tokens
        # Wide enough to be seen and to be clicked.
        return start, min(1000.0, max(start + 2, 1000 * (first + passage.tokens) / tokens))

    a, a_end = place(passage.a_token, comparison.a.tokens)
    b, b_end = place(passage.b_token, comparison.b.tokens)
    shape = (
        f"M{a:.1f} 0H{a_end:.1f}V16C{a_end:.1f} 52 {b_end:.1f} 52 {b_end:.1f} 88V104"
        f"H{b:.1f}V88C{b:.1f} 52 {a:.1f} 52 {a:.1f} 16Z"
    )
    said = f"Passage {number}, {plural(passage.tokens, 'token')}"
    return (
        f'<a href="#a{number}" aria-label="{said}"><title>{said}</title>'
        f'<path class="ribbon h{number % _HUES}" d="{shape}"/></a>'
    )


def _notes(comparison: Comparison, shown: int, whole: bool) -> str:
    notes = []
    total = len(comparison.passages)
    if shown < total:
        notes.append(f"The {shown:,} longest of {total:,} shared passages are numbered and linked.")
    if not whole:
        notes.append(
            "The documents are long: their shared passages are shown with a little text around "
            "them, long ones with their beginning and end."
        )
    if notes:
        notes.append("<code>roughly compare --json</code> lists every passage with its place.")
        return f'<p class="note">{" ".join(notes)}</p>'
    return ""


def _text(reading: Reading, side: str, found: Iterable[Piece]) -> str:
    if not reading.text_utf8.strip():
        return '<span class="empty">There is no text here.</span>'
    return "".join(_piece(reading, side, piece) for piece in found)


def _marked(line: str) -> str:
    words = line.strip()
    if not words:
        return line
    start = len(line) - len(line.lstrip())
    return f"{line[:start]}<mark>{words}</mark>{line[start + len(words) :]}"


def _piece(reading: Reading, side: str, piece: Piece) -> str:
    if piece.kind == "cut":
        return f'<span class="cut">{plural(piece.end - piece.start, "byte")} left out</span>'
    text = _escaped(reading.slice(piece.start, piece.end))
    if piece.kind == "plain":
        return text
    if piece.kind == "also":
        return f'<mark class="also">{text}</mark>'
    number, hue = piece.number, f"h{piece.number % _HUES}"
    # Line ends and indentation are not marked.
    text = "\n".join(map(_marked, text.split("\n")))
    if not piece.first:
        return f'<span class="p {hue}">{text}</span>'
    other = "b" if side == "a" else "a"
    link = (
        f'<a class="n {hue}" href="#{other}{number}" '
        f'aria-label="Passage {number}, the same in {other.upper()}">{number}</a>'
    )
    return f'<span class="p {hue}" id="{side}{number}">{link}{text}</span>'
