"""What a search found as lines for a terminal: a match in two lines, or a line a holder."""

from __future__ import annotations

from collections.abc import Iterator

from roughly.documents.file import printable
from roughly.estimate import Estimate
from roughly.report.terminal import Terminal, pad, wrap
from roughly.report.verdict import plural, share
from roughly.search.match import Found, Match
from roughly.url import server_of

# From here on a holder has all of a text, but for a fifth.
_WHOLE = 0.8

_KINDS = {
    "identical": "identical",
    "lexical": "same words",
    "shingle": "same shingles",
    "near": "near",
    "contains": "inside the query",
    "contained": "contains the query",
    "empty": "empty, too",
}
_KIND_WIDTH = max(map(len, _KINDS.values()))


def match_lines(found: Found, number: int, terminal: Terminal) -> Iterator[str]:
    """One match, by its place in the list."""
    match = found[number]
    place = f"{number + 1:>3}  "
    kind = terminal.style(pad(_kind(match), _KIND_WIDTH), "strong")
    date = f"{match.date}  " if match.date else ""
    yield f"{place}{kind}  {terminal.style(date, 'faint')}{printable(match.id)}"
    yield (
        "     "
        + "   ".join(
            f"{terminal.style(name, 'faint')} {_measure(measure)}"
            for name, measure in (
                ("resemblance", match.resemblance),
                ("query in it", match.containment_query),
                ("it in query", match.containment_found),
            )
            if measure is not None
        )
        + (
            ""
            if match.distance is None
            else f"   {terminal.style('simhash', 'faint')} {plural(match.distance, 'bit')} off"
        )
    )


def summary_lines(found: Found, terminal: Terminal) -> Iterator[str]:
    """How many there are, and what the sketches could not see."""
    shown = len(found)
    if found.total > shown:
        yield f"{shown:,} of {plural(found.total, 'document')} shown (--limit N)"
    promise = found.promise
    if found.scanned:
        yield (
            f"searched the text of {plural(found.scanned, 'document')} that the sketches say too"
            " little of"
        )
    elif promise.blind:
        text = (
            f"promised recall {share(promise.recall, 2)}: the query has"
            f" {plural(found.query_size, 'shingle')}, and the sketches of {promise.blind:,} of"
            f" {plural(promise.documents, 'document')} that are long enough keep none of them"
            " or too few; --exact searches their text"
        )
        yield from wrap(text, terminal.width)


def holder_line(match: Match) -> str:
    """A document that holds the query, whole or in part, and whom to ask about it."""
    held = match.containment_query or match.resemblance
    how = "whole" if held.value >= _WHOLE else "part"
    host = server_of(match.id) or "-"
    return f"{share(held.value, 2)}  {how:5}  {match.date or '-':10}  {host}  {printable(match.id)}"


def _kind(match: Match) -> str:
    """In words; what is asked for may be less than whole."""
    for kind, share_of, words in (
        ("contained", match.containment_query, "has a part of it"),
        ("contains", match.containment_found, "partly inside it"),
    ):
        if match.kind == kind and share_of is not None and share_of.value < _WHOLE:
            return words
    return _KINDS[match.kind]


def _measure(estimate: Estimate) -> str:
    if estimate.low == estimate.high:
        return share(estimate.value, 3)
    return f"{share(estimate.value, 2)} [{share(estimate.low, 2)}, {share(estimate.high, 2)}]"
