"""`roughly add CORPUS INPUT... --date D`: more documents for a corpus."""

from __future__ import annotations

import argparse
import json
import time
from typing import Any

from roughly.cli.options import add_reading, add_resources, documents_of
from roughly.cli.output import changing, counted, say, say_fields, say_skipped
from roughly.documents.file import printable

DESCRIPTION = """\
Adds documents to a corpus, as a sweep of one date for those that have none of their
own, and brings its clusters up to date. Content that the corpus has already is not
sketched again. The same id at another date is another version of a document. At the
same date it is known if its content is the same, and not added again; if not it
becomes id#2. What is added is there wholly or not at all, whatever stops the
command."""

EPILOG = """\
examples:
  roughly add web.roughly 'sweep-2/*.warc.gz' --date 2026-11-15
  roughly add docs.roughly more.jsonl
  roughly add site.roughly mirror-2/ --base https://example.com/ --date 2026-11-15

Tables and the report tell of the clusters before: they are removed, and
`roughly cluster CORPUS` writes them again. Exit status: 0 done, 2 error."""


def add_parser(subparsers: Any) -> None:
    """Adds the command to the parser of all commands."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "add",
        help="add documents to a corpus, and bring its clusters up to date",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("corpus", metavar="CORPUS", help="the corpus")
    parser.add_argument(
        "inputs", metavar="INPUT", nargs="+", help="a file, pattern or directory, - for stdin"
    )
    parser.add_argument(
        "--date", metavar="D", help="for documents that have none, as 2026-11-15 (default: none)"
    )
    add_reading(parser)
    group = parser.add_argument_group("the run and what it shows")
    add_resources(group)
    group.add_argument("--json", action="store_true", help="what was added, as a JSON object")
    group.add_argument(
        "--quiet", action="store_true", help="no summary and no progress, errors only"
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Adds what the inputs hold."""
    from roughly.cli.progress import Progress
    from roughly.corpus import Corpus

    started = time.monotonic()
    corpus = Corpus(arguments.corpus)
    arguments.within = corpus.manifest.settings.condition.within  # categories are read alike
    documents = documents_of(arguments, arguments.inputs)
    with changing(arguments.corpus), Progress(quiet=arguments.quiet) as progress:
        added = corpus.add(
            documents,
            arguments.date,
            memory=arguments.memory,
            threads=arguments.threads,
            progress=progress.phase,
        )
    if arguments.json:
        print(
            json.dumps(
                {
                    "added": added.documents,
                    "known": added.known,
                    "renamed": added.renamed,
                    "already_there": added.there,
                    "skipped": added.skipped.count,
                    "documents": len(corpus),
                }
            )
        )
    if arguments.quiet:
        return 0
    say_fields(documents)
    say_skipped(added.skipped)
    if added.stale:
        say(stale_note(arguments.corpus, added.stale))
    if not arguments.json:
        there = f"; {added.there:,} already there" if added.there else ""
        print(
            f"added {counted(added.documents, 'document')}, {added.known:,} of them known content,"
            f" in {time.monotonic() - started:.1f} s{there}"
        )
        print(f"{printable(arguments.corpus)} has {counted(len(corpus), 'document')}")
    return 0


def stale_note(corpus: str, names: list[str]) -> str:
    """What to tell about tables that were removed because they were not true any more."""
    return (
        f"removed {', '.join(names)}, which told of the state before; to write them again:"
        f" roughly cluster {printable(corpus)}"
    )
