"""`roughly compact CORPUS`: all segments become one, and what was removed leaves the disk."""

from __future__ import annotations

import argparse
import json
from typing import Any

from roughly.cli.add import stale_note
from roughly.cli.options import add_resources, seed
from roughly.cli.output import changing, counted, say
from roughly.cli.progress import amount

DESCRIPTION = """\
Makes one segment of all that were added, without the documents that were removed,
and clusters it as if it were new: the corpus takes less room and answers faster.
With --seed all documents are sketched again from the stored text; a random seed is
a secret of the corpus, so that nobody can write a text that slips through."""

EPILOG = """\
examples:
  roughly compact web.roughly
  roughly compact web.roughly --seed random

Killed at any moment, it leaves the corpus as it was. Exit status: 0 done, 2 error."""


def add_parser(subparsers: Any) -> None:
    """Adds the command to the parser of all commands."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "compact",
        help="make one segment of all, free the room of what was removed, or change the seed",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("corpus", metavar="CORPUS", help="the corpus")
    parser.add_argument(
        "--seed", type=seed, metavar="N", help="sketch the stored text again under it, or random"
    )
    group = parser.add_argument_group("the run and what it shows")
    add_resources(group)
    group.add_argument("--json", action="store_true", help="what was done, as a JSON object")
    group.add_argument(
        "--quiet", action="store_true", help="no summary and no progress, errors only"
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Compacts it."""
    from roughly.cli.progress import Progress
    from roughly.corpus import Corpus

    corpus = Corpus(arguments.corpus)
    with changing(arguments.corpus), Progress(quiet=arguments.quiet) as progress:
        done = corpus.compact(
            arguments.seed,
            memory=arguments.memory,
            threads=arguments.threads,
            progress=progress.phase,
        )
    if arguments.json:
        print(
            json.dumps(
                {
                    "documents": done.documents,
                    "segments": done.segments,
                    "removed": done.removed,
                    "bytes_before": done.bytes_before,
                    "bytes_after": done.bytes_after,
                }
            )
        )
    if arguments.quiet:
        return 0
    if done.stale:
        say(stale_note(arguments.corpus, done.stale))
    if not arguments.json:
        print(
            f"{counted(done.documents, 'document')} of {counted(done.segments, 'segment')} in one,"
            f" {done.removed:,} removed for good"
        )
        print(f"{amount(done.bytes_before, 'B')} before, {amount(done.bytes_after, 'B')} now")
    return 0
