"""`python -m bench [NAME ...]`: runs the benchmarks and prints their figures.

`python -m bench PROGRAM ...` runs one of those that work on a whole corpus. Exit status: as
`bench/session.py` has it, and 2 for wrong arguments.
"""

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path

from bench import html, memory, peer, script, simhash, sketch, stage, startup
from bench.corpus import Corpus
from bench.measure import FULL, QUICK, TINY, Scale
from bench.report import Section
from bench.session import Session, add_output_options

Benchmark = Callable[[Corpus, Scale], Section]

BENCHMARKS: dict[str, Benchmark] = {
    "sketch": sketch.run,
    "stage": stage.run,
    "html": html.run,
    "peer": peer.run,
    "simhash": simhash.run,
    "script": script.run,
    "startup": startup.run,
    "memory": memory.run,
}
# Whole corpora, minutes to hours: each is run by name, alone, with options of its own.
PROGRAMS = (
    *("debian", "dedup", "web1997", "mass", "grow", "lost", "find", "hamming"),
    *("accuracy", "accuracy_frame", "accuracy_change", "accuracy_script", "serve"),
)


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m bench",
        description="Speed, start-up and memory of roughly beside its peers.",
        epilog=f"Further programs, with options of their own: {', '.join(PROGRAMS)};"
        " python -m bench PROGRAM --help",
        allow_abbrev=False,
    )
    parser.add_argument(
        "name", nargs="*", help=f"what to run, of {', '.join(BENCHMARKS)}; all unless named"
    )
    parser.add_argument("--quick", action="store_true", help="fewer documents and rounds")
    parser.add_argument(
        "--tiny", action="store_true", help="seconds in all, for tests; the figures mean nothing"
    )
    parser.add_argument("--text", type=Path, metavar="FILE", help="texts from JSON Lines (.gz)")
    parser.add_argument("--html", type=Path, metavar="FILE", help="pages from JSON Lines (.gz)")
    add_output_options(parser)
    arguments = parser.parse_args(argv)
    for name in arguments.name:
        if name not in BENCHMARKS:
            parser.error(f"name: unknown: {name!r}, wanted some of {', '.join(BENCHMARKS)}")
    for file in (arguments.text, arguments.html):
        if file and not file.is_file():
            parser.error(f"{file}: not a file, wanted JSON Lines")
    return arguments


def main(argv: Sequence[str] | None = None) -> int:
    words = list(sys.argv[1:] if argv is None else argv)
    if words and words[0] in PROGRAMS:
        program: Callable[[Sequence[str]], int] = import_module(f"bench.{words[0]}").main
        return program(words[1:])
    arguments = _arguments(words)
    # Inherited, it would decide what the figures of the other levels are.
    os.environ.pop("ROUGHLY_SIMD", None)
    scale = TINY if arguments.tiny else QUICK if arguments.quick else FULL
    corpus = Corpus(scale.texts, scale.pages, arguments.text, arguments.html)
    session = Session(scale.name)
    for name in arguments.name or BENCHMARKS:
        session.add(BENCHMARKS[name](corpus, scale))
    return session.finish(arguments.json, arguments.record)


if __name__ == "__main__":
    sys.exit(main())
