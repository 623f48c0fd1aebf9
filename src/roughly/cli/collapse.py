"""`roughly collapse CORPUS [FILE]`: ranked results, near duplicates grouped under the best-ranked
one."""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING, Any

from roughly.cli.options import positive, ratio
from roughly.cli.output import say
from roughly.documents.file import printable

if TYPE_CHECKING:
    from roughly.corpus.collapse import Group, Result

DESCRIPTION = """\
Reads search results, best first, from a file or standard input: a URL or id a line,
JSON Lines or a JSON array of strings or of objects with "url", "id" or "text".
Results that say the same as a better one go under it; the order is kept. A URL
stands for its latest document. Results that the corpus does not know, and that bring
no text, stand alone. Beside each result that goes is its resemblance to the one it
goes under, and with --containment how much of it is there."""

EPILOG = """\
examples:
  roughly collapse web.roughly results.txt
  roughly collapse web.roughly --threshold 0.8 --json < results.jsonl
  head -100 ranked.txt | roughly collapse web.roughly --containment 0.9

Exit status: 0 done, 2 error."""


def add_parser(subparsers: Any) -> None:
    """Adds the command to the parser of all commands."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "collapse",
        help="search results, near duplicates under the best-ranked one",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("corpus", metavar="CORPUS", help="the corpus that knows the documents")
    add("results", metavar="FILE", nargs="?", default="-", help="results (default: -, stdin)")
    add("--threshold", type=ratio, metavar="T", help="least resemblance (default: the corpus's)")
    add(
        "--containment",
        type=ratio,
        metavar="C",
        help="a result goes too if this share of it is in a better one",
    )
    add("--json", action="store_true", help="a JSON object a group")
    add("--threads", type=positive, metavar="N", help="threads to use (default: all cores)")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Groups the results."""
    from roughly.corpus import Corpus

    results = _results(arguments.results)
    found = Corpus(arguments.corpus).collapse(
        results, arguments.threshold, arguments.containment, threads=arguments.threads
    )
    for group in found.groups:
        if arguments.json:
            print(json.dumps(_row(group, results, found.unknown), ensure_ascii=False))
        else:
            print(_line(results[group.best]))
            for position, resemblance in group.others:
                inside = group.contained.get(position)
                held = "" if inside is None else f"  {inside:.3f} in it"
                print(f"    {resemblance:.3f}{held}  {_line(results[position])}")
    if found.unknown:
        sys.stdout.flush()  # so that the note comes last where both go to one place
        one = len(found.unknown) == 1
        said = "result, not in the corpus, stands" if one else "results, not in the corpus, stand"
        say(f"{len(found.unknown):,} {said} alone")
    return 0


def _results(name: str) -> list[Result]:
    """From a file, or standard input."""
    from roughly.corpus.collapse import read_results
    from roughly.documents.file import read_bytes

    source = "standard input" if name == "-" else printable(name)
    return read_results(read_bytes(name).decode("utf-8", "replace"), source)


def _line(result: Result) -> str:
    name = result.name or (result.text or "")[:60]
    return f"{result.rank:4}  {printable(name)}"


def _row(group: Group, results: list[Result], unknown: set[int]) -> dict[str, Any]:
    best = results[group.best]
    return {
        "rank": best.rank,
        "result": _given(best),
        "known": group.best not in unknown,
        "others": [
            {
                "rank": results[position].rank,
                "result": _given(results[position]),
                "resemblance": resemblance,
            }
            | ({"containment": group.contained[position]} if group.contained else {})
            for position, resemblance in group.others
        ],
    }


def _given(result: Result) -> Any:
    return result.name if result.given is None else result.given
