"""`roughly lost CORPUS URL`: where that page is now; and `roughly lost CORPUS --all`: what became
of every page that vanished between two sweeps, as a table, JSON Lines or redirect rules."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, Any

from roughly.cli.options import ratio
from roughly.cli.output import counted, say, write_file
from roughly.documents.file import printable
from roughly.errors import ParameterError

if TYPE_CHECKING:
    from roughly.corpus import Corpus
    from roughly.corpus.lost import Move
    from roughly.corpus.redirect import Redirects

DESCRIPTION = """\
Finds pages that are not at their URL any more: the same text elsewhere, moved and
edited, merged into another page, split into several, or gone; also those whose URL
is there with another text. What counts is text that few pages have. With --all a
page is the new place of one lost page only, unless it contains several."""

EPILOG = """\
examples:
  roughly lost site.roughly https://example.com/old/page
  roughly lost site.roughly https://example.com/old/page --exact
  roughly lost site.roughly --all --from 2026-01-01 --to 2026-07-01
  roughly lost site.roughly --all --json > moves.jsonl
  roughly lost site.roughly --all --redirects nginx --confidence 0.9 > moved.conf

Exit status: 0 done, 1 the page is gone or was never seen, 2 error."""

NOTHING = 1
_SURE = "0.8"


def add_parser(subparsers: Any) -> None:
    """Adds the command to the parser of all commands."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "lost",
        help="where pages went that are not at their URL any more",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("corpus", metavar="CORPUS", help="a corpus of two sweeps or more")
    parser.add_argument("url", metavar="URL", nargs="?", help="the page, in any spelling")
    add = parser.add_argument_group("every page").add_argument
    add("--all", action="store_true", help="every page that left its URL between two sweeps")
    add("--from", dest="begin", metavar="D1", help="the earlier sweep (default: the last but one)")
    add("--to", dest="end", metavar="D2", help="the later sweep (default: the last)")
    add(
        "--redirects",
        choices=("nginx", "apache", "netlify"),
        help="rules for a web server instead of a table; only what is sure, see --confidence",
    )
    add(
        "--confidence",
        type=ratio,
        metavar="C",
        help=f"only moves of this confidence (default: all; {_SURE} for redirects)",
    )
    add = parser.add_argument_group("what it shows").add_argument
    add_period(parser)
    add(
        "--exact",
        action="store_true",
        help="count resemblance and containment on the stored text, not on sketches",
    )
    add("--json", action="store_true", help="a JSON object a move")
    add("-o", "--output", metavar="FILE", help="where the redirect rules go (default: stdout)")
    add("--force", action="store_true", help="overwrite FILE")
    parser.set_defaults(run=run)


def add_period(parser: argparse.ArgumentParser) -> None:
    """What counts as one sweep."""
    parser.add_argument(
        "--by",
        choices=("day", "month", "year"),
        default="day",
        help="documents of one day, month or year are one sweep (default: day)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Follows one page, or all that vanished."""
    from roughly.corpus import Corpus

    _check(arguments)
    corpus = Corpus(arguments.corpus)
    if arguments.all:
        return _all(corpus, arguments)
    return _one(corpus, arguments)


def _check(arguments: argparse.Namespace) -> None:
    if arguments.all == (arguments.url is not None):
        raise ParameterError(
            "URL: wanted one, or --all for every page that vanished",
            hint="roughly lost CORPUS URL, or: roughly lost CORPUS --all",
        )
    if arguments.all:
        if arguments.json and arguments.redirects:
            raise ParameterError("--json: cannot stand beside --redirects: wanted one of the two")
        if arguments.output and not arguments.redirects:
            raise ParameterError(
                "-o: only redirect rules are written to a file",
                hint="add --redirects, or send the output there with >",
            )
        return
    for option, name in (
        ("--from", "begin"),
        ("--to", "end"),
        ("--redirects", "redirects"),
        ("--confidence", "confidence"),
        ("-o", "output"),
    ):
        if getattr(arguments, name) is not None:
            raise ParameterError(f"{option}: is for --all", hint="add --all, or leave it out")


def _all(corpus: Corpus, arguments: argparse.Namespace) -> int:
    from fractions import Fraction

    from roughly.corpus.redirect import SURE, redirects_of
    from roughly.report.change_lines import move_lines

    moves = corpus.moves(arguments.begin, arguments.end, arguments.by, exact=arguments.exact)
    if arguments.redirects:
        given = arguments.confidence
        least = SURE if given is None else float(Fraction(given))
        alive = corpus.urls(arguments.end, arguments.by)
        rules = redirects_of(moves, arguments.redirects, least, alive)
        if arguments.output:
            write_file(arguments.output, rules.text, arguments.force)
        else:
            print(rules.text, end="")
        say(_written(rules, moves, least))
        return 0
    if arguments.confidence is not None:
        least = float(Fraction(arguments.confidence))
        moves = [move for move in moves if move.confidence >= least]
    if arguments.json:
        for move in moves:
            print(json.dumps(move.to_dict(), ensure_ascii=False))
        return 0
    for line in move_lines(moves):
        print(line)
    reused = len({move.old for move in moves if move.reused})
    kinds = dict.fromkeys(("same", "moved", "merged", "split", "gone"), 0)
    for kind in {move.old: move.kind for move in moves}.values():
        kinds[kind] += 1
    say(
        ", ".join(f"{count:,} {kind}" for kind, count in kinds.items())
        + (f"; of these {reused:,} at URLs that have another text now" if reused else "")
    )
    return 0


def _written(rules: Redirects, moves: list[Move], least: float) -> str:
    """How many pages have a rule, and why the others have none."""
    from roughly.corpus.redirect import without_redirect

    vanished = len({move.old for move in moves if not move.reused})
    reasons = without_redirect(moves, rules, least)
    without = ", ".join(f"{count:,} {reason}" for count, reason in reasons)
    return f"{counted(rules.count, 'redirect')} for {counted(vanished, 'page')} that vanished" + (
        f"; none for pages: {without}" if without else ""
    )


def _one(corpus: Corpus, arguments: argparse.Namespace) -> int:
    from roughly.report.change_lines import trace_lines

    trace = corpus.lost(arguments.url, arguments.by, exact=arguments.exact)
    if trace is None:
        say(
            f"{printable(arguments.url)}: not known: no sweep of this corpus has it\n"
            "hint: look for its text with: roughly find"
        )
        return NOTHING
    if arguments.json:
        for row in trace.rows():
            print(json.dumps(row, ensure_ascii=False))
    else:
        print(printable(trace.url))
        for line in trace_lines(trace):
            print(f"  {line}")
    return 0 if trace.found else NOTHING
