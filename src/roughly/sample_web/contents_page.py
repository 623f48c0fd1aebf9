"""A page of contents for a sample web in files: every document, every pair, every move."""

from collections.abc import Mapping, Sequence
from html import escape

from roughly.sample_web.truth import MOVES, RELATIONS, Move, Pair

_HEAD = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>The sample web</title>
<style>
body { margin: 0 auto; max-width: 62rem; padding: 2rem 1.5rem 4rem; color: #26231f;
  background: #fbf9f5;
  font: 16px/1.55 Georgia, 'Noto Serif', serif; }
h1 { font-size: 2rem; margin-bottom: .2rem; }
h2 { margin-top: 2.4rem; border-bottom: 2px solid #e6ddcc; padding-bottom: .2rem; }
a { color: #8a3b12; text-decoration: none; }
a:hover { text-decoration: underline; }
table { border-collapse: collapse; width: 100%; font-size: .85rem; }
td, th { text-align: start; vertical-align: top; padding: .25rem .7rem .25rem 0;
  border-bottom: 1px solid #eee5d5; }
td { overflow-wrap: anywhere; }
td:first-child { white-space: nowrap; }
.range { white-space: nowrap; font-variant-numeric: tabular-nums; }
summary { cursor: pointer; font-size: 1.05rem; padding: .25rem 0; }
small { color: #877e70; }
</style>
</head>
<body>
"""

Paths = Mapping[tuple[str, str], str]  # (url, date) -> relative path


def _link(paths: Paths, url: str, date: str) -> str:
    shown = escape(url.removeprefix("https://"))
    return f'<a href="{escape(paths[url, date])}">{shown}</a> <small>{date}</small>'


def _range(low: float, high: float) -> str:
    return f"{low:.2f}" if low == high else f"{low:.2f} \u2013 {high:.2f}"


def contents_page(paths: Paths, pairs: Sequence[Pair], moves: Sequence[Move]) -> str:
    """HTML with links to every document."""
    parts = [_HEAD, "<h1>The sample web</h1>\n"]
    dates = list(dict.fromkeys(date for _, date in paths))
    parts.append(
        f"<p>{len(paths)} documents in {len(dates)} sweeps. What is true about them is also in "
    )
    parts.append('<a href="truth.json">truth.json</a>.</p>\n<h2>Pairs</h2>\n')
    for relation, meaning in RELATIONS.items():
        found = [pair for pair in pairs if pair.relation == relation]
        parts.append(
            f"<details><summary><b>{relation}</b>: {meaning} <small>{len(found)}</small></summary>"
        )
        parts.append("<table><tr><th>resemblance<th>one<th>other<th>how</tr>\n")
        for pair in found:
            parts.append(
                f'<tr><td class="range">{_range(*pair.resemblance)}<td>{_link(paths, *pair.a)}'
                f"<td>{_link(paths, *pair.b)}<td>{escape(pair.detail)}</tr>\n"
            )
        parts.append("</table></details>\n")
    parts.append("<h2>Moves</h2>\n")
    for kind, meaning in MOVES.items():
        known = [move for move in moves if move.kind == kind]
        parts.append(
            f"<details><summary><b>{kind}</b>: {meaning} <small>{len(known)}</small></summary>"
        )
        parts.append("<table><tr><th>between<th>old<th>new</tr>\n")
        for move in known:
            old = _link(paths, move.old, move.from_date) if move.old else ""
            new = "<br>".join(_link(paths, url, move.to_date) for url in move.new)
            parts.append(f"<tr><td>{move.from_date}, {move.to_date}<td>{old}<td>{new}</tr>\n")
        parts.append("</table></details>\n")
    parts.append("<h2>Hosts</h2>\n")
    hosts: dict[str, list[tuple[str, str]]] = {}
    for url, date in paths:
        hosts.setdefault(url.split("/")[2], []).append((url, date))
    for host in sorted(hosts):
        parts.append(
            f"<details><summary>{host} <small>{len(hosts[host])}</small></summary><table>\n"
        )
        for url, date in hosts[host]:
            parts.append(f"<tr><td>{date}<td>{_link(paths, url, date)}</tr>\n")
        parts.append("</table></details>\n")
    return "".join([*parts, "</body>\n</html>\n"])
