"""`roughly verify CORPUS`: whether every byte and every reference is right."""

from __future__ import annotations

import argparse
import json
from typing import Any

from roughly.cli.options import positive
from roughly.cli.output import counted
from roughly.documents.file import printable

DESCRIPTION = """\
Checks a corpus: every byte against its checksum, and everything that refers to
something else against that. Says what is wrong, and in which file."""

EPILOG = """\
example:
  roughly verify web.roughly

Exit status: 0 all is right, 2 something is wrong."""


def add_parser(subparsers: Any) -> None:
    """Adds the command to the parser of all commands."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "verify",
        help="check every byte and every reference of a corpus",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("corpus", metavar="CORPUS", help="the corpus")
    parser.add_argument(
        "--threads", type=positive, metavar="N", help="threads to use (default: all cores)"
    )
    parser.add_argument("--json", action="store_true", help="the problems, as a JSON object")
    parser.add_argument("--quiet", action="store_true", help="only the exit status and problems")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Checks it; 2 if something is wrong."""
    from roughly.corpus import Corpus

    corpus = Corpus(arguments.corpus)
    problems = corpus.verify(arguments.threads)
    if arguments.json:
        print(json.dumps({"documents": len(corpus), "problems": problems}))
        return 2 if problems else 0
    for problem in problems:
        print(problem)
    if problems:
        print(f"{counted(len(problems), 'problem')} found")
        return 2
    if not arguments.quiet:
        print(f"{printable(arguments.corpus)}: {counted(len(corpus), 'document')}, all is right")
    return 0
