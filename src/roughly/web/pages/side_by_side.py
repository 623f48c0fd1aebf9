"""Two documents side by side, what they share marked: as data, and as part of a page.

A text is given as pieces in its order, which together are what is shown of it; a page marks a
shared passage in both texts by one number and one hue. Whatever the texts, a side has at most
SIDE_BYTES of them: of longer ones what is around the passages, and what is left out is counted.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from roughly import _core
from roughly.comparison import Comparison, compare
from roughly.documents.file import Document, printable
from roughly.errors import ParameterError
from roughly.report.figure import size
from roughly.report.marked_text import Piece, covered, pieces, shown_passages
from roughly.report.markup import escaped
from roughly.report.reading import Reading, reading
from roughly.report.verdict import plural, share, verdict
from roughly.sketcher import Sketcher
from roughly.web.pages.layout import document_link

if TYPE_CHECKING:
    from roughly.parameters import Parameters

Data = dict[str, Any]

SIDE_BYTES = 150_000
# Longer documents are not compared while somebody waits.
MOST_BYTES = 8 << 20
_HUES = 6
_RIBBONS = 200


def side_by_side(
    a: Document, b: Document, parameters: Parameters, dates: tuple[str | None, str | None]
) -> Data:
    """The measures of two documents, exact and estimated, and both texts in pieces. `dates`: when
    they were found, None for a text that is no document of the corpus."""
    for document in (a, b):
        if len(document.text_utf8) > MOST_BYTES:
            raise ParameterError(
                f"{printable(document.id[:200])}: too long to be compared here: "
                f"{size(len(document.text_utf8))}, wanted {size(MOST_BYTES)} or less",
                hint="compare files of any length with: roughly compare A B",
            )
    comparison = compare(a, b, sketcher=Sketcher.of(parameters))
    reading_a, reading_b = reading(a), reading(b)
    shown, _ = shown_passages(comparison.passages, reading_a, reading_b)
    common_a = covered(comparison.passages, comparison.a.tokens)
    common_b = _core.common_tokens(
        b.text_utf8, b.html, a.text_utf8, a.html, comparison.evidence_width
    )
    runs_a = [(passage.a_token, passage.tokens, number) for number, passage in shown]
    runs_b = [(passage.b_token, passage.tokens, number) for number, passage in shown]
    whole = max(len(reading_a.text_utf8), len(reading_b.text_utf8)) <= SIDE_BYTES
    found = comparison.to_dict()
    longest = sorted(shown, key=lambda each: -each[1].tokens)[:_RIBBONS]
    del found["passages"]
    del found["estimate"]["seed"]
    found["verdict"] = verdict(comparison)
    found["passages"] = len(comparison.passages)
    found["numbered"] = len(shown)
    found["whole"] = whole
    found["ribbons"] = [[n, p.a_token, p.b_token, p.tokens] for n, p in longest]
    for key, date, text, runs, common in (
        ("a", dates[0], reading_a, runs_a, common_a),
        ("b", dates[1], reading_b, runs_b, common_b),
    ):
        found[key]["date"] = date
        found[key]["pieces"] = list(_bounded(text, pieces(text, runs, common, whole)))
    return found


def longest_passage(comparison: Comparison, b: Document, most: int) -> str:
    """The text of the longest passage as the second document has it, cut to so many characters."""
    if not comparison.passages:
        return ""
    passage = max(comparison.passages, key=lambda each: each.tokens)
    text = reading(b)
    end = text.end(passage.b_token + passage.tokens - 1)
    found = " ".join(text.slice(text.start(passage.b_token), end)[: 4 * most].split())
    return found if len(found) <= most else found[: most - 1].rstrip() + "…"


def _bounded(text: Reading, found: Iterable[Piece]) -> Iterable[Data]:
    room = SIDE_BYTES
    for piece in found:
        length = piece.end - piece.start
        if piece.kind == "cut":
            yield {"kind": "cut", "bytes": length}
        elif length > room:
            shown = text.text_utf8[piece.start : piece.start + room].decode("utf-8", "ignore")
            yield _piece(piece, shown)
            left = len(text.text_utf8) - piece.start - len(shown.encode())
            yield {"kind": "cut", "bytes": left}
            return
        else:
            room -= length
            yield _piece(piece, text.slice(piece.start, piece.end))


def _piece(piece: Piece, shown: str) -> Data:
    if piece.kind != "passage":
        return {"kind": piece.kind, "text": shown}
    return {"kind": "passage", "text": shown, "number": piece.number, "first": piece.first}


# --- as HTML --------------------------------------------------------------------------------------


def section(found: Data, heading: str = "h2") -> str:
    """The comparison as part of a page: verdict, measures, a map of the passages, both texts."""
    return (
        f'<{heading} class="verdict">{escaped(found["verdict"])}</{heading}>'
        f"{_measures(found)}{_map(found)}{_notes(found)}"
        f'<div class="pair">{_side("a", found["a"])}{_side("b", found["b"])}</div>'
    )


def _measures(found: Data) -> str:
    estimate = found["estimate"]
    rows = "".join(
        f'<tr><th scope="row">{label}</th><td class="value">{share(found[key])}</td>'
        f'<td class="drawn">{_drawn(found[key], estimate[key])}</td>'
        f'<td class="guess">{_said(estimate[key])}</td></tr>\n'
        for label, key in (
            ("Resemblance", "resemblance"),
            ("Share of A that is in B", "containment_ab"),
            ("Share of B that is in A", "containment_ba"),
        )
    )
    return (
        '<table class="measures"><caption class="unseen">Exact values, and what sketches say'
        f"</caption><tbody>{rows}</tbody></table>"
        f'<p class="told">The bar is the exact value, {found["common"]:,} of '
        f"{plural(found['union'], 'shingle')} in both; the bracket is the 95% interval of what "
        f"the sketches ({escaped(estimate['select'])}) say.</p>"
    )


def _drawn(value: float, estimate: Data | None) -> str:
    bracket = ""
    if estimate is not None:
        low, high = 1000 * estimate["low"], 1000 * estimate["high"]
        path = f"M{low:.1f} 1V17M{low:.1f} 9H{high:.1f}M{high:.1f} 1V17"
        bracket = f'<path class="bracket" d="{path}"/>'
    return (
        '<svg viewBox="0 0 1000 18" preserveAspectRatio="none" aria-hidden="true">'
        '<rect class="track" y="4" width="1000" height="10"/>'
        f'<rect class="exact" y="4" width="{1000 * value:.1f}" height="10"/>{bracket}</svg>'
    )


def _said(estimate: Data | None) -> str:
    if estimate is None:
        return "this sketch cannot tell"
    low, high = estimate["low"], estimate["high"]
    if low == high:
        return f"{share(estimate['value'], 3)}, every shingle kept"
    if not estimate["samples"]:
        return "no samples: nothing is known"
    return f"{share(estimate['value'], 3)} [{share(low, 3)}, {share(high, 3)}]"


def _map(found: Data) -> str:
    """Both documents as lines of equal length, joined where they share a passage."""
    if not found["ribbons"]:
        return ""
    ribbons = "".join(_ribbon(found, *each) for each in found["ribbons"])
    drawn, total = len(found["ribbons"]), found["passages"]
    note = f"; the {drawn:,} longest are drawn" if drawn < total else ""
    return (
        '<figure class="map"><div class="drawing"><span class="letter a">A</span>'
        '<span class="letter b">B</span><svg viewBox="0 0 1000 72" preserveAspectRatio="none" '
        'role="group" aria-label="Where the shared passages stand in both documents">'
        '<rect class="document" width="1000" height="12"/>'
        f'<rect class="document" y="60" width="1000" height="12"/>{ribbons}</svg></div>'
        f"<figcaption>{plural(total, 'shared passage')}, where they stand in A (above) and in B "
        f"(below){note}. A number in a text leads to the same passage in the other one"
        "<span data-keys hidden>; the keys n and p go through them</span>.</figcaption></figure>"
    )


def _ribbon(found: Data, number: int, a_token: int, b_token: int, tokens: int) -> str:
    def place(first: int, of: int) -> tuple[float, float]:
        start = 1000 * first / max(of, 1)
        return start, min(1000.0, max(start + 2, 1000 * (first + tokens) / max(of, 1)))

    (a, a_end), (b, b_end) = (
        place(a_token, found["a"]["tokens"]),
        place(b_token, found["b"]["tokens"]),
    )
    shape = (
        f"M{a:.1f} 0H{a_end:.1f}V12C{a_end:.1f} 36 {b_end:.1f} 36 {b_end:.1f} 60V72"
        f"H{b:.1f}V60C{b:.1f} 36 {a:.1f} 36 {a:.1f} 12Z"
    )
    said = f"Passage {number}, {plural(tokens, 'token')}"
    return (
        f'<a href="#a{number}" aria-label="{said}"><title>{said}</title>'
        f'<path class="ribbon h{number % _HUES}" d="{shape}"/></a>'
    )


def _notes(found: Data) -> str:
    notes = []
    if found["numbered"] < found["passages"]:
        notes.append(
            f"The {found['numbered']:,} longest of {found['passages']:,} shared passages are "
            "numbered."
        )
    if not found["whole"]:
        notes.append(
            "The documents are long: their shared passages are shown with a little text around "
            "them, long ones with their beginning and end."
        )
    return f'<p class="note">{" ".join(notes)}</p>' if notes else ""


def _side(key: str, side: Data) -> str:
    facts = (
        *([side["date"]] if side["date"] else []),
        "HTML" if side["html"] else "text",
        plural(side["tokens"], "token"),
        plural(side["shingles"], "shingle"),
    )
    text = "".join(_marked(key, piece) for piece in side["pieces"])
    if not any(piece.get("text", "").strip() for piece in side["pieces"]):
        text = '<span class="none">There is no text here.</span>'
    return (
        f'<div class="side"><h3 id="name-{key}"><span class="letter {key}">{key.upper()}</span> '
        f"{document_link(side['id'])}<small>{escaped(' · '.join(facts))}</small></h3>"
        f'<div class="text" dir="auto" lang="" tabindex="0" role="region" '
        f'aria-labelledby="name-{key}">{text}</div></div>'
    )


def _marked(key: str, piece: Data) -> str:
    if piece["kind"] == "cut":
        return f'<span class="cut">{plural(piece["bytes"], "byte")} left out</span>'
    text = escaped(piece["text"])
    if piece["kind"] == "plain":
        return text
    if piece["kind"] == "also":
        return f'<mark class="also">{text}</mark>'
    number, hue = piece["number"], f"h{piece['number'] % _HUES}"
    # Line ends and indentation are not marked.
    text = "\n".join(_without_edges(each, hue) for each in text.split("\n"))
    if not piece["first"]:
        return f'<span class="p">{text}</span>'
    other = "b" if key == "a" else "a"
    link = (
        f'<a class="n {hue}" href="#{other}{number}" '
        f'aria-label="Passage {number}, the same in {other.upper()}">{number}</a>'
    )
    return f'<span class="p" id="{key}{number}">{link}{text}</span>'


def _without_edges(row: str, hue: str) -> str:
    words = row.strip()
    if not words:
        return row
    start = len(row) - len(row.lstrip())
    return f'{row[:start]}<mark class="{hue}">{words}</mark>{row[start + len(words) :]}'
