"""`roughly changes CORPUS`: how pages change over sweeps, as lines, JSON or an HTML page; and
`roughly changes CORPUS URL`: the history of one page."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from roughly.cli.lost import NOTHING, add_period
from roughly.cli.options import positive
from roughly.cli.output import refuse_to_overwrite, say, write_file
from roughly.documents.file import printable
from roughly.errors import ParameterError

DESCRIPTION = """\
Tells how the pages of a corpus change from sweep to sweep: how often, how much, how
many move within their server or to another, how many are new or gone, how long they
live. With a URL, the history of that page as a strip of resemblances between its
versions."""

EPILOG = """\
examples:
  roughly changes site.roughly
  roughly changes site.roughly -o changes.html
  roughly changes site.roughly --pages --json > pages.jsonl
  roughly changes site.roughly https://example.com/news

Exit status: 0 done, 1 the page was never seen, 2 error."""


def add_parser(subparsers: Any) -> None:
    """Adds the command to the parser of all commands."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "changes",
        help="how pages change over sweeps",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("corpus", metavar="CORPUS", help="a corpus of two sweeps or more")
    add("url", metavar="URL", nargs="?", help="one page, in any spelling")
    add("--pages", action="store_true", help="a row a page")
    add("--json", action="store_true", help="one JSON object; with --pages one a page")
    add("-o", "--output", metavar="FILE", help="write a report with plots, an HTML page")
    add("--force", action="store_true", help="overwrite FILE")
    add_period(parser)
    add("--threads", type=positive, metavar="N", help="threads to use (default: all cores)")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Shows one page, or all."""
    from roughly.corpus import Corpus
    from roughly.report.change_lines import can_draw, change_lines, history_lines, page_lines

    if arguments.url is not None and (arguments.pages or arguments.output):
        option = "--pages" if arguments.pages else "-o"
        raise ParameterError(f"{option}: is for all pages", hint="leave it out, or the URL")
    if arguments.output and not arguments.force:
        refuse_to_overwrite(arguments.output)
    corpus = Corpus(arguments.corpus)
    blocks = can_draw(sys.stdout.encoding)
    if arguments.url is not None:
        history = corpus.history(arguments.url, arguments.by, arguments.threads)
        if history is None:
            say(f"{printable(arguments.url)}: not known: no sweep of this corpus has it")
            return NOTHING
        if arguments.json:
            print(json.dumps(history.to_dict(), ensure_ascii=False))
        else:
            print(*history_lines(history, blocks), sep="\n")
        return 0
    changes = corpus.changes(arguments.by, arguments.threads)
    if arguments.output:
        from roughly.report.change_page import page

        title = Path(arguments.corpus).resolve().name
        write_file(arguments.output, page(changes, title), arguments.force)
        say(f"wrote {printable(arguments.output)}")
    if arguments.pages:
        if arguments.json:
            for each in changes.pages:
                print(json.dumps(asdict(each), ensure_ascii=False))
        else:
            print(*page_lines(changes), sep="\n")
    elif arguments.json:
        print(json.dumps(changes.to_dict(), ensure_ascii=False))
    elif not arguments.output:
        print(*change_lines(changes, blocks), sep="\n")
    return 0
