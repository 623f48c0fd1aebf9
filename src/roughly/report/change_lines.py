"""Changes and moves as lines of a terminal.

A strip has a sign for each sweep: how much of the page was kept since the version before, as a
block of that height, or a dot where the sweep does not have the page. Where a terminal has no such
signs it is digits, 0 to 9, and = for the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from roughly.corpus.changes import Changes
from roughly.corpus.history import History
from roughly.corpus.lost import Move, Trace
from roughly.documents.file import printable
from roughly.report.change_page import restless
from roughly.report.change_plots import interval_words
from roughly.report.figure import percent
from roughly.report.verdict import plural

_BLOCKS = "▁▂▃▄▅▆▇█"
_DIGITS = "0123456789"
_SHOWN = 10


def can_draw(encoding: str | None) -> bool:
    """Whether text of this encoding can have blocks."""
    try:
        _BLOCKS.encode(encoding or "ascii")
    except (LookupError, UnicodeEncodeError):
        return False
    return True


def strip(history: History, blocks: bool) -> str:
    """A sign for each sweep from the first that has the page."""
    # The highest block is for what is the same.
    levels = _BLOCKS[:-1] if blocks else _DIGITS
    nowhere, same, first = ("·", "█", "│") if blocks else (".", "=", "|")
    by_date = {version.date: version for version in history.versions}
    signs = []
    for date in history.dates[history.dates.index(history.versions[0].date) :]:
        version = by_date.get(date)
        if version is None:
            signs.append(nowhere)
        elif version.resemblance is None:
            signs.append(first)
        elif not version.changed:
            signs.append(same)
        else:
            signs.append(levels[min(len(levels) - 1, int(version.resemblance * len(levels)))])
    return "".join(signs)


def history_lines(history: History, blocks: bool) -> Iterator[str]:
    """One page over all sweeps."""
    yield printable(history.url)
    changes = sum(version.changed is True for version in history.versions)
    seen = len(history.versions)
    yield f"{strip(history, blocks)}  in {plural(seen, 'sweep')}, {plural(changes, 'change')}"
    yield ""
    yield "date                 resemblance  to the first     words"
    for version in history.versions:
        before = to_first = ""
        if version.resemblance is not None and version.to_first is not None:
            before, to_first = f"{version.resemblance:.3f}", f"{version.to_first:.3f}"
        said = {None: "first seen", True: "changed", False: "the same"}[version.changed]
        yield f"{version.date:20} {before:>11}  {to_first:>12}  {version.tokens:8,}  {said}"
    for line in trace_lines(history.trace):
        yield f"  {line}"


def trace_lines(trace: Trace) -> Iterator[str]:
    """Where a page went after it was last seen at its URL."""
    if trace.reused is not None:
        yield f"the URL is there on {trace.latest}, but with another text since {trace.reused}:"
        yield f"  resemblance {trace.resemblance_there:.3f} to the version before"
    elif trace.still_there:
        if trace.changed is None:
            yield f"still there on {trace.latest}, unchanged since {trace.first_seen}"
        else:
            yield f"still there on {trace.latest}, last changed by {trace.changed}"
            yield f"  resemblance {trace.resemblance_there:.3f} to the version before"
    else:
        yield f"last seen there on {trace.last_seen}"
    for step in trace.steps:
        if step.moves[0].new is None:
            like = "enough like it" if step.alternatives else "like it"
            sure = certainty(step.moves[0].confidence)
            yield (
                f"gone: nothing is {like} after {step.from_date}, up to {step.to_date},"
                f" confidence {sure}"
            )
        else:
            for move in step.moves:
                yield f"{_became(move)} by {step.to_date}, confidence {certainty(move.confidence)}"
                yield f"  {printable(move.new or '')}"
                yield f"  {evidence(move)}"
        if step.alternatives:
            equal = step.alternatives[0].confidence >= step.moves[0].confidence
            yield "as likely, or less" if equal else "less likely"
            for other in step.alternatives:
                yield f"  {printable(other.new or '')}"
                yield f"  {certainty(other.confidence)}: {evidence(other)}"


def certainty(confidence: float) -> str:
    """Two digits; what is not certain is not told as 1."""
    return f"{confidence if confidence == 1 else min(confidence, 0.99):.2f}"


def _became(move: Move) -> str:
    return {
        "same": "the same text",
        "moved": "moved",
        "merged": "merged into another page",
        "split": "split: a part of it",
        "gone": "gone",
    }[move.kind]


def evidence(move: Move) -> str:
    """What speaks for a move."""
    return f"resemblance {move.resemblance:.3f}; {move.containment:.0%} of the old text is there"


def move_lines(moves: Sequence[Move]) -> Iterator[str]:
    """A row a move, and a count of each kind."""
    yield "kind    sure  resembl.  contained  old -> new"
    for move in moves:
        numbers = (
            f"{move.resemblance:8.3f}  {move.containment:9.3f}"
            if move.resemblance is not None
            else f"{'':8}  {'':9}"
        )
        where = f" -> {printable(move.new)}" if move.new is not None else ""
        other = "  (another text is there)" if move.reused else ""
        yield (
            f"{move.kind:6}  {certainty(move.confidence)}  {numbers}"
            f"  {printable(move.old)}{other}{where}"
        )


def change_lines(changes: Changes, blocks: bool) -> Iterator[str]:
    """All pages over all sweeps."""
    dates = changes.dates
    span = f" from {dates[0]} to {dates[-1]}" if len(dates) > 1 else ""
    yield (
        f"{plural(len(dates), 'sweep')}{span}: {plural(changes.page_count, 'page')},"
        f" {plural(changes.documents, 'version')}"
    )
    if not changes.intervals:
        yield "changes are seen from the second sweep on"
        return
    for interval in changes.intervals:
        yield ""
        days = "" if interval.days is None else f", {plural(interval.days, 'day')}"
        yield f"{interval.from_date} to {interval.to_date}{days}: {plural(interval.pages, 'page')}"
        for word, count in interval_words(interval):
            yield f"  {word:24} {count:9,}  {percent(count, interval.pages)}"
        yield f"  {'new':24} {interval.born:9,}  {interval.arrived:,} of them moved here"
        if interval.returned:
            yield f"  {'back again':24} {interval.returned:9,}"
        if interval.median_resemblance is not None:
            median = f"{interval.median_resemblance:.3f} (median)"
            yield f"  changed ones resemble what they were by {median}"
    yield ""
    date, at_url, anywhere = changes.survival[-1]
    whole = changes.survival[0][1]
    if whole:
        at_home, in_all = (f"{n:,} ({percent(n, whole)})" for n in (at_url, anywhere))
        yield (
            f"of the {plural(whole, 'page')} of {dates[0]}, {at_home} are at their URL on {date},"
            f" {in_all} anywhere"
        )
    counts, said = changes.change_counts(), ("never changed", "sometimes", "every time")
    yield "pages seen more than once: " + ", ".join(
        f"{count:,} {words}" for words, count in zip(said, counts.values(), strict=True)
    )
    if changes.changed:
        yield f"changed versions by resemblance to the one before, 0 to 1: {_bars(changes, blocks)}"
    for rate, words in (
        (changes.days_between_changes, "a page changes every"),
        (changes.days_at_url, "a URL lives"),
        (changes.days_of_life, "a page, moves followed, lives"),
    ):
        if rate is not None:
            yield f"{words} {plural(round(rate), 'day')}"
    most = restless(changes)
    if most:
        yield ""
        yield "changes  resemblance  pages that change most"
    for page in most[:_SHOWN]:
        yield f"{page.changes:7,}  {page.mean_resemblance:11.3f}  {printable(page.url)}"
    if len(most) > _SHOWN:
        yield f"         and {len(most) - _SHOWN:,} more; --pages lists all"


def _bars(changes: Changes, blocks: bool) -> str:
    counts = changes.histogram
    if not blocks:
        return " ".join(str(count) for count in counts)
    most = max(counts)
    top = len(_BLOCKS) - 1
    return "".join(_BLOCKS[round(top * count / most)] if count else " " for count in counts)


def page_lines(changes: Changes) -> Iterator[str]:
    """A row a page."""
    yield "seen  changes  resemblance  first seen  last seen   page"
    for page in changes.pages:
        mean = "" if page.mean_resemblance is None else f"{page.mean_resemblance:.3f}"
        where = "" if page.fate == "there" else f"  ({page.fate}"
        places = ", ".join(map(printable, page.moved_to))
        where += f" -> {places})" if places else ")" if where else ""
        yield (
            f"{page.seen:4,}  {page.changes:7,}  {mean:>11}  {page.first_seen:10}"
            f"  {page.last_seen:10}  {printable(page.url)}{where}"
        )
