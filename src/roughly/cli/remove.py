"""`roughly remove CORPUS NAME...`: documents leave a corpus."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from roughly.cli.add import stale_note
from roughly.cli.options import add_resources
from roughly.cli.output import counted, say
from roughly.documents.file import printable

DESCRIPTION = """\
Removes documents from a corpus, by their ids or URLs: all versions, or with --date
those of one date. They are gone from every answer at once, and clusters that they
held together are joined anew. Their room on disk is freed by `roughly compact`."""

EPILOG = """\
examples:
  roughly remove web.roughly http://example.org/old.html
  roughly remove web.roughly --date 2026-11-15 a b c
  roughly remove web.roughly - < ids.txt

Names that no document has, or none of that date, are told, and are no error unless
--strict asks for it. Exit status: 0 done, 1 nothing was there to remove, 2 error."""

NOTHING = 1
_SHOWN = 5


def add_parser(subparsers: Any) -> None:
    """Adds the command to the parser of all commands."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "remove",
        help="remove documents from a corpus, by id or URL",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("corpus", metavar="CORPUS", help="the corpus")
    parser.add_argument(
        "names", metavar="NAME", nargs="+", help="an id or URL; - for lines of standard input"
    )
    parser.add_argument("--date", metavar="D", help="only versions of that date")
    parser.add_argument(
        "--strict", action="store_true", help="remove nothing if a name is not there"
    )
    group = parser.add_argument_group("the run and what it shows")
    add_resources(group)
    group.add_argument("--json", action="store_true", help="what was removed, as a JSON object")
    group.add_argument(
        "--quiet", action="store_true", help="no summary and no progress, errors only"
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Removes what is named."""
    from roughly.cli.progress import Progress
    from roughly.corpus import Corpus

    names: list[str] = []
    for name in arguments.names:
        names += [line.rstrip("\r\n") for line in sys.stdin] if name == "-" else [name]
    corpus = Corpus(arguments.corpus)
    with Progress(quiet=arguments.quiet) as progress:
        removed = corpus.remove(
            [name for name in names if name],
            arguments.date,
            strict=arguments.strict,
            memory=arguments.memory,
            threads=arguments.threads,
            progress=progress.phase,
        )
    if arguments.json:
        print(
            json.dumps(
                {
                    "removed": removed.documents,
                    "missing": removed.missing,
                    "documents": len(corpus),
                }
            )
        )
    status = NOTHING if removed.missing and not removed.documents else 0
    if arguments.quiet:
        return status
    of_date = f" of {arguments.date}" if arguments.date else ""
    for name in removed.missing[:_SHOWN]:
        say(f"{printable(name)}: not in the corpus: no such document{of_date}")
    if len(removed.missing) > _SHOWN:
        say(f"and {len(removed.missing) - _SHOWN:,} more that are not there")
    if removed.stale:
        say(stale_note(arguments.corpus, removed.stale))
    if not arguments.json:
        print(f"removed {counted(removed.documents, 'document')}")
        print(f"{printable(arguments.corpus)} has {counted(len(corpus), 'document')}")
    return status
