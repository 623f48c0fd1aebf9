"""Where many pages went: every page that one sweep has and another has not, or those of a list.

Rows lie in files of a page's length, one series for each kind, so that any of them is shown without
reading the others; what is to be downloaded lies beside them, as `roughly lost` writes it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from roughly.clustering.sketching import Progress
from roughly.corpus.corpus import Corpus
from roughly.corpus.lost import Move, Trace
from roughly.corpus.redirect import SERVERS, redirects_of, without_redirect
from roughly.corpus.sweeps import sweep_numbers, two_of
from roughly.web.job import write_json, write_text

# Rows of a page.
ROWS = 100
# Pages of a list that can be looked at; the files have all rows.
MOST_PAGES = 1000

KINDS = ("there", "same", "moved", "merged", "split", "gone", "reused", "unknown")
# What a file of rules is called for each server.
NAMES = {
    "nginx": "redirects.nginx.conf",
    "apache": "redirects.htaccess",
    "netlify": "redirects.txt",
}
MOVES = "moves.jsonl"


def every_page(
    corpus: Corpus, arguments: dict[str, Any], folder: Path, progress: Progress
) -> dict[str, Any]:
    """What became of every page between two sweeps: arguments `begin` and `end` (None for the last
    two), `by`, `exact`, `confidence` of redirects."""
    by = arguments["by"]
    begin, end = _dates(corpus, arguments)
    moves = corpus.moves(begin, end, by, exact=arguments["exact"], threads=1, progress=progress)
    advance = progress("writing", 2 + len(SERVERS), "files")
    rows = [move.to_dict() for move in moves]
    dates = {"from_date": begin, "to_date": end}
    found = _listed(folder, [row | dates for row in rows])
    advance(1)
    _write_lines(folder / MOVES, rows)
    advance(1)
    alive = corpus.urls(end, by)
    files = _redirects(folder, moves, arguments["confidence"], alive, advance)
    return {"arguments": arguments | {"begin": begin, "end": end}, **found, **files}


def listed_pages(
    corpus: Corpus, arguments: dict[str, Any], folder: Path, progress: Progress
) -> dict[str, Any]:
    """Where each of the pages `urls` is now; `begin` and `end`: what became of it between these
    sweeps alone."""
    urls: list[str] = arguments["urls"]
    by, exact = arguments["by"], arguments["exact"]
    begin = end = None
    if (arguments["begin"], arguments["end"]) != (None, None):
        begin, end = _dates(corpus, arguments)
    advance = progress("pages", len(urls), "pages")
    rows: list[dict[str, Any]] = []
    lines: list[dict[str, Any]] = []
    moves: list[Move] = []
    if begin is None or end is None:
        traces = corpus.lost_each(urls, by, exact=exact, threads=1)
        for url, trace in zip(urls, traces, strict=True):
            own = [] if trace is None else trace.moves
            moves += own
            rows += _rows(url, own, {} if trace is None else _way(trace))
            lines += [{"asked": url} | row for row in ([] if trace is None else trace.rows())]
            advance(1)
    else:
        between = corpus.moves_of(urls, begin, end, by, exact=exact, threads=1)
        for url, found in zip(urls, between, strict=True):
            moves += found or []
            rows += _rows(url, found or [], {"from_date": begin, "to_date": end})
            lines += [{"asked": url} | move.to_dict() for move in found or []]
            advance(1)
    advance = progress("writing", 2 + len(SERVERS), "files")
    listed = _listed(folder, rows)
    advance(1)
    _write_lines(folder / MOVES, lines)
    advance(1)
    alive = corpus.urls(end, by)
    files = _redirects(folder, moves, arguments["confidence"], alive, advance)
    shown = arguments | {"urls": len(urls), "begin": begin, "end": end}
    return {"arguments": shown, **listed, **files}


def _dates(corpus: Corpus, arguments: dict[str, Any]) -> tuple[str, str]:
    """Of the two sweeps that are meant."""
    dates = sweep_numbers(corpus.collection, arguments["by"])[0]
    begin, end = two_of(dates, arguments["begin"], arguments["end"])
    return dates[begin], dates[end]


def _way(trace: Trace) -> dict[str, Any]:
    """When a page was last where it was, and where it is now."""
    begin = trace.steps[0].from_date if trace.steps else trace.last_seen
    return {"from_date": begin, "to_date": trace.latest}


def _rows(url: str, moves: Sequence[Move], dates: dict[str, Any]) -> list[dict[str, Any]]:
    """Of a page that was asked for."""
    if not moves:
        nothing = Move(url, None, "gone", None, None, 0.0)
        return [nothing.to_dict() | {"asked": url, "kind": "unknown", "confidence": None}]
    return [
        asdict(move)
        | dates
        | {"asked": url, "kind": "there" if move.new == move.old else move.kind}
        for move in moves
    ]


def _listed(folder: Path, rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Writes the rows as pages of a list, all and those of each kind. How many pages each kind has
    is told by their old URLs: one that was split has several rows."""
    series: dict[str, list[dict[str, Any]]] = {"all": list(rows)}
    for row in rows:
        series.setdefault(row["kind"], []).append(row)
        if row.get("reused"):
            series.setdefault("reused", []).append(row)
    for kind, own in series.items():
        for number in range(min(MOST_PAGES, -(-len(own) // ROWS))):
            some = own[number * ROWS : (number + 1) * ROWS]
            write_json(folder / rows_file(kind, number), some)
    counts = Counter({row["old"]: row["kind"] for row in rows}.values())
    counts["reused"] = len({row["old"] for row in series.get("reused", [])})
    return {
        "rows": {kind: len(own) for kind, own in series.items()},
        "counts": {kind: counts[kind] for kind in KINDS if counts[kind]},
    }


def rows_file(kind: str, number: int) -> str:
    """The file of one page of a list."""
    return f"rows-{kind}-{number}.json"


def _write_lines(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    write_text(path, "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows))


def _redirects(
    folder: Path, moves: Sequence[Move], least: float, alive: Sequence[str], advance: Any
) -> dict[str, Any]:
    """A file of rules for each server."""
    files = []
    told: list[list[Any]] = []
    elsewhere = [move for move in moves if move.new != move.old]
    for server in SERVERS:
        rules = redirects_of(elsewhere, server, least, alive)
        write_text(folder / NAMES[server], rules.text)
        files.append({"server": server, "name": NAMES[server], "rules": rules.count})
        told = [[count, reason] for count, reason in without_redirect(elsewhere, rules, least)]
        advance(1)
    return {"files": files, "without": told}
