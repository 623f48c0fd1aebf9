"""`roughly find CORPUS FILE`: the documents of a corpus that are like a given one, best first."""

from __future__ import annotations

import argparse
import json
import os
import sys
from typing import TYPE_CHECKING, Any

from roughly.cli.options import (
    add_condition_options,
    add_content_type,
    count,
    positive,
    ratio,
)
from roughly.cli.output import say
from roughly.errors import ParameterError

if TYPE_CHECKING:
    from roughly.corpus import Corpus
    from roughly.documents.file import Document
    from roughly.search.match import Found, Match

DESCRIPTION = """\
Finds the documents of a corpus that are like a given one, known or not: identical,
the same but for formatting, near duplicates, documents that contain it and documents
that it contains. Everything is estimated from sketches, with 95% intervals, and
settled by the stored text where only few samples speak for it."""

EPILOG = """\
examples:
  roughly find web.roughly page.html
  roughly find web.roughly https://example.com/page --explain
  curl -s URL | roughly find web.roughly - --threshold 0.8 --json
  roughly find sources.roughly essay.txt --containment 0.3 --exact --explain
  roughly find web.roughly recipe.txt --urls
  roughly find web.roughly https://example.com/page --date latest
  roughly find web.roughly page.html --method simhash -k 5
  roughly find web.roughly page.html --method both --within host --category example.com

Exit status: 0 found, 1 nothing found, 2 error."""

NOTHING = 1
_LIMIT = 10
_PASSAGES = 3
# What a holder of part of a text has of it.
_PART = "0.25"


def add_parser(subparsers: Any) -> None:
    """Adds the command to the parser of all commands."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "find",
        help="documents of a corpus that are like a given one, or hold part of it",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("corpus", metavar="CORPUS", help="a corpus")
    parser.add_argument(
        "query", metavar="FILE|URL", help="a file, - for standard input, or a URL of the corpus"
    )
    group = parser.add_argument_group("what is found")
    add = group.add_argument
    add(
        "--threshold",
        type=ratio,
        metavar="T",
        help="documents that resemble it by T or more (default: 0.5, if there is no --containment)",
    )
    add(
        "--containment",
        type=ratio,
        metavar="C",
        help="documents that contain C of it or more, or that it contains as much of (default:"
        " 0.8, if there is no --threshold)",
    )
    add(
        "--direction",
        choices=("both", "contained", "contains"),
        help="of --containment: the query contained in documents, documents contained in the"
        " query, or both (default: both)",
    )
    add(
        "--date",
        metavar="D",
        help="documents of that sweep alone: a date, a month, a year, undated, or latest",
    )
    add("--limit", type=positive, metavar="N", help=f"the N best (default: {_LIMIT})")
    which = group.add_mutually_exclusive_group()
    which.add_argument(
        "--exact",
        action="store_true",
        default=None,
        help="count by the stored text, also where sketches cannot tell; may read all of it",
    )
    which.add_argument(
        "--estimate", dest="exact", action="store_false", help="believe the sketches, read no text"
    )
    add_content_type(group, "the file")
    add_condition_options(parser)
    parser.add_argument(
        "--category",
        metavar="VALUE",
        help="with --within: the category of the query (default: as it is stored with a URL)",
    )
    group = parser.add_argument_group("what is shown")
    add = group.add_argument
    add("--json", action="store_true", help="a JSON object a document")
    add("--explain", action="store_true", help="the passages that both have")
    add(
        "--urls",
        action="store_true",
        help="a line for every page that holds the text, whole or in part (--containment,"
        f" default {_PART}): share, dates, host, URL",
    )
    add(
        "--passages",
        type=count,
        metavar="N",
        help=f"passages to show with --explain (default: {_PASSAGES})",
    )
    add(
        "--width",
        type=positive,
        metavar="N",
        help="columns of passages and notes (default: those of the terminal)",
    )
    add(
        "--color",
        choices=("auto", "always", "never"),
        default="auto",
        help="colours (default: auto, on a terminal)",
    )
    parser.add_argument(
        "--threads", type=positive, metavar="N", help="threads to use (default: all cores)"
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Opens the corpus, reads the query, finds, and shows it as asked."""
    from roughly.cli.progress import Progress
    from roughly.corpus import Corpus

    _check(arguments)
    corpus = Corpus(arguments.corpus)
    text, url = _query(corpus, arguments)
    options = {
        "threshold": arguments.threshold,
        "containment": arguments.containment,
        "direction": arguments.direction or "both",
        "date": arguments.date,
        "limit": arguments.limit or _LIMIT,
        "exact": arguments.exact,
        "threads": arguments.threads,
        "method": arguments.method,
        "distance": arguments.distance,
        "size_ratio": arguments.size_ratio,
        "within": arguments.within,
        "category": arguments.category,
    }
    if arguments.urls:
        options |= {
            "containment": arguments.containment or _PART,
            "direction": "contained",
            "limit": None,
        }
    with Progress(quiet=arguments.exact is not True) as progress:
        found = corpus.find(text, url, **options, progress=progress.phase)
    if arguments.urls:
        _show_holders(found, arguments)
        return 0 if len(found) else NOTHING
    if arguments.json:
        for match in found:
            _print_row(match, match.to_dict(), found)
    else:
        _show(corpus, found, text, url, arguments)
    _say_summary(found, arguments)
    return 0 if len(found) else NOTHING


def _check(arguments: argparse.Namespace) -> None:
    """Raises what would have no effect."""
    if arguments.passages is not None and not arguments.explain:
        raise ParameterError(
            "--passages: nothing to apply to: passages are shown by --explain alone",
            hint="add --explain, or leave it out",
        )
    if arguments.explain and (arguments.json or arguments.urls):
        other = "--json" if arguments.json else "--urls"
        raise ParameterError(
            f"--explain: cannot stand beside {other}: passages are for people to read",
            hint="leave out one of them",
        )
    if arguments.urls and arguments.method == "simhash":
        raise ParameterError(
            "--urls: cannot stand beside --method simhash, which knows no part of a text",
            hint="choose the method both, or leave out one of them",
        )
    if arguments.urls and arguments.threshold is not None:
        raise ParameterError(
            "--threshold: cannot stand beside --urls, which goes by the part of the text",
            hint="say how much a document must hold with --containment",
        )
    if arguments.urls and arguments.direction not in (None, "contained"):
        raise ParameterError(
            f"--direction: cannot be {arguments.direction} beside --urls, which looks for documents"
            " that contain the query",
            hint="leave it out",
        )


def _show_holders(found: Found, arguments: argparse.Namespace) -> None:
    from roughly.report.match_lines import holder_line

    holders = found.holders()
    shown = holders[: arguments.limit]
    for holder in shown:
        if arguments.json:
            _print_row(holder.match, holder.to_dict(), found)
        else:
            print(holder_line(holder))
    _say_summary(found, arguments, len(shown), len(holders))


def _print_row(match: Match, row: dict[str, Any], found: Found) -> None:
    row |= {"same_site": found.same_site(match), "promised_recall": found.promise.recall}
    print(json.dumps(row, ensure_ascii=False))


def _query(corpus: Corpus, arguments: argparse.Namespace) -> tuple[Document | None, str | None]:
    """A file's text, or a URL: a file that is there is meant."""
    from roughly.documents.file import read_document
    from roughly.url import is_url

    name = arguments.query
    if name != "-" and not os.path.exists(name) and (is_url(name) or corpus.documents(name)):
        return None, name
    return read_document(name, arguments.content_type), None


def _show(
    corpus: Corpus,
    found: Found,
    text: Document | None,
    url: str | None,
    arguments: argparse.Namespace,
) -> None:
    from roughly.report.match_lines import match_lines
    from roughly.report.terminal import Terminal

    terminal = Terminal(sys.stdout, arguments.width, arguments.color)
    passages = _PASSAGES if arguments.passages is None else arguments.passages
    if arguments.explain:
        if not corpus.collection.has_text:
            raise ParameterError(
                "--explain: no passages to be had: the corpus was made without text",
                hint="leave it out, or make the corpus anew without --no-text",
            )
        if text is None:
            text = corpus.document(corpus.documents(url or "")[-1].row)
    for number in range(len(found)):
        if number and arguments.explain:
            print()
        for line in match_lines(found, number, terminal):
            print(line)
        if arguments.explain and text is not None:
            _explain(corpus, text, found[number].row, terminal, passages)


def _explain(corpus: Corpus, text: Document, row: int, terminal: Any, passages: int) -> None:
    from roughly.comparison import compare
    from roughly.report.comparison_lines import passage_lines
    from roughly.sketcher import Sketcher

    other = corpus.document(row)
    comparison = compare(text, other, sketcher=Sketcher.of(corpus.collection.parameters))
    for line in passage_lines(comparison, text, other, terminal, passages):
        print(line)


def _say_summary(
    found: Found,
    arguments: argparse.Namespace,
    shown: int | None = None,
    total: int | None = None,
) -> None:
    from roughly.report.match_lines import summary_lines
    from roughly.report.terminal import Terminal

    if not len(found):
        say("nothing found")
    terminal = Terminal(sys.stderr, arguments.width, "never")
    for line in summary_lines(found, terminal, shown, total):
        say(line)
