"""What a search found as lines for a terminal: a match in two lines, or a line a holder."""

from __future__ import annotations

from collections.abc import Iterator

from roughly.documents.file import printable
from roughly.estimate import Estimate
from roughly.report.terminal import Terminal, pad, wrap
from roughly.report.verdict import plural, share
from roughly.search.match import WHOLE, Found, Holder, Match

# A recall of which nothing need be said.
_SILENT = 0.99

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


def summary_lines(
    found: Found, terminal: Terminal, shown: int | None = None, total: int | None = None
) -> Iterator[str]:
    """How many there are, and what the sketches could not see. `shown` and `total`: of holders,
    if these are shown."""
    shown = len(found) if shown is None else shown
    total = found.total if total is None else total
    if total > shown:
        yield f"{shown:,} of {plural(total, 'document')} shown (--limit N)"
    same, cross = found.site_matches
    if same or cross:
        yield f"{same:,} of the query's own site, {cross:,} cross-site"
    if found.uncounted:
        text = (
            f"{plural(found.uncounted, 'document')} with few samples in common not counted by the"
            " text: a larger --limit, --urls or --exact does"
        )
        yield from wrap(text, terminal.width)
    promise = found.promise
    if found.scanned:
        yield (
            f"searched the text of {plural(found.scanned, 'document')} that the sketches say too"
            " little of"
        )
    elif promise.recall < _SILENT:
        least = ""
        if promise.recall - promise.least >= 1 - _SILENT:
            least = f" ({share(promise.least, 2)} at worst)"
        text = (
            f"promised recall {share(promise.recall, 2)}{least}: so many are found of documents"
            " that just reach what is asked for; the query has"
            f" {plural(found.query_size, 'shingle')}, of which the sketches of"
            f" {plural(promise.documents, 'document')} of the right size keep few; --exact"
            " searches their text"
        )
        yield from wrap(text, terminal.width)


def holder_line(holder: Holder) -> str:
    """A page that holds the query, whole or in part, when, and whom to ask about it."""
    how = "whole" if holder.whole else "part"
    dates = ",".join(holder.dates) or "-"
    name = printable(holder.match.id)
    return f"{share(holder.held.value, 2)}  {how:5}  {dates:10}  {holder.host or '-'}  {name}"


def _kind(match: Match) -> str:
    """In words; what is asked for may be less than whole."""
    for kind, share_of, words in (
        ("contained", match.containment_query, "has a part of it"),
        ("contains", match.containment_found, "partly inside it"),
    ):
        if match.kind == kind and share_of is not None and share_of.value < WHOLE:
            return words
    return _KINDS[match.kind]


def _measure(estimate: Estimate) -> str:
    if estimate.low == estimate.high:
        return share(estimate.value, 3)
    return f"{share(estimate.value, 2)} [{share(estimate.low, 2)}, {share(estimate.high, 2)}]"
