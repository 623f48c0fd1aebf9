"""`roughly hamming build` and `roughly hamming find`: an index in a file, and asking it."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Iterator
from typing import Any

from roughly.cli.hamming_plan import add_distance
from roughly.cli.options import positive
from roughly.cli.output import refuse_to_overwrite, say
from roughly.documents.file import printable
from roughly.errors import ParameterError

BUILD = """\
Builds an index that finds all simhashes within k bits of a given one, exactly, and
writes it to a file, with its checksums beside it in FILE.crc32c. With --compressed
it writes the simhashes alone, sorted and compressed as in the 2007 paper (3.2),
for `roughly hamming join`."""

BUILD_EPILOG = """\
examples:
  roughly hamming build crawl.parquet -o crawl.hamming
  roughly hamming build crawl.u64 -o crawl.hamming -k 6 --design compact:3
  roughly hamming build crawl.u64 -o crawl.xor --compressed

SIMHASHES is what `roughly simhash` writes, a Parquet or Arrow file with a column of
64-bit whole numbers, or a file of nothing but these, little-endian (.u64).
`roughly hamming plan` shows the designs. Exit status: 0 done, 2 error."""

FIND = """\
Prints the stored simhashes within k bits of each one given, nearest first: the
simhash asked for, the position of the one found, that one, and how many bits they
differ in."""

FIND_EPILOG = """\
examples:
  roughly hamming find crawl.hamming 9f3a0c77d2e81b45
  roughly simhash page.html --plain | cut -f 1 | roughly hamming find crawl.hamming -

Exit status: 0 something was found, 1 nothing, 2 error."""


def add_build_parser(subparsers: Any) -> None:
    """Adds `build` to the commands of `roughly hamming`."""
    parser = _command(subparsers, "build", "an index of simhashes in a file", BUILD, BUILD_EPILOG)
    add = parser.add_argument
    add("simhashes", metavar="SIMHASHES", help="a file of simhashes")
    add("-o", "--output", metavar="FILE", required=True, help="the file to write")
    add_distance(parser)
    add("--column", metavar="NAME", help="the column of a table (default: simhash)")
    add(
        "--design",
        metavar="NAME",
        default="auto",
        help="auto, scan, compact:M or tables:R (default: auto)",
    )
    add(
        "--coding",
        choices=("elias-fano", "xor-block", "plain"),
        default="elias-fano",
        help="of the tables (default: elias-fano)",
    )
    add("--compressed", action="store_true", help="no index: the sorted simhashes, for join")
    add("--threads", type=positive, metavar="N", help="threads to use (default: all cores)")
    add("--force", action="store_true", help="overwrite a file")
    add("--quiet", action="store_true", help="no summary, errors only")
    parser.set_defaults(run=run_build)


def add_find_parser(subparsers: Any) -> None:
    """Adds `find` to the commands of `roughly hamming`."""
    parser = _command(
        subparsers, "find", "the simhashes near one, from an index", FIND, FIND_EPILOG
    )
    add = parser.add_argument
    add("index", metavar="INDEX", help="a file that `roughly hamming build` made")
    add("queries", metavar="SIMHASH", nargs="+", help="hexadecimal digits, or - for lines of them")
    add("--json", action="store_true", help="JSON Lines instead of columns")
    parser.set_defaults(run=run_find)


def _command(
    subparsers: Any, name: str, what: str, description: str, epilog: str
) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = subparsers.add_parser(
        name,
        help=what,
        description=description,
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    return parser


def run_build(arguments: argparse.Namespace) -> int:
    """Reads the simhashes, builds, writes."""
    from roughly.hamming import HammingIndex, SimhashFile, write_compressed

    started = time.monotonic()
    if not arguments.force:
        refuse_to_overwrite(arguments.output)
    if arguments.compressed and (arguments.design, arguments.coding) != ("auto", "elias-fano"):
        raise ParameterError(
            "--compressed: cannot stand beside --design or --coding: it makes no tables",
            hint="leave out one of them",
        )
    file = SimhashFile(arguments.simhashes, arguments.column)
    if arguments.compressed:
        if file.missing() is not None:
            say("documents without a simhash are left out: positions count the others")
        write_compressed(arguments.output, file.read(), arguments.bits)
        size = os.path.getsize(arguments.output)
        told = f"{file.count:,} simhashes, {size / max(1, file.count):.1f} bytes each"
    else:
        index = HammingIndex(
            file,
            arguments.k,
            bits=arguments.bits,
            design=arguments.design,
            coding=arguments.coding,
            threads=arguments.threads,
        )
        index.save(arguments.output)
        each = index.nbytes / max(1, len(index))
        told = f"{len(index):,} simhashes, k = {index.k}, {index.design}, {each:.1f} bytes each"
    if not arguments.quiet:
        say(f"{told}, in {time.monotonic() - started:.1f} s")
        say(f"wrote {printable(arguments.output)}")
    return 0


def run_find(arguments: argparse.Namespace) -> int:
    """Asks the index, one simhash after the other."""
    from roughly.hamming import HammingIndex

    index = HammingIndex.open(arguments.index)
    found = False
    for query in _queries(arguments.queries, index.bits):
        for match in index.matches(query):
            found = True
            if arguments.json:
                row = {
                    "query": f"{query:016x}",
                    "position": match.position,
                    "simhash": f"{match.simhash:016x}",
                    "distance": match.distance,
                }
                print(json.dumps(row))
            else:
                print(f"{query:016x}\t{match.position}\t{match.simhash:016x}\t{match.distance}")
    return 0 if found else 1


def _queries(words: list[str], bits: int) -> Iterator[int]:
    for word in words:
        lines = sys.stdin if word == "-" else [word]
        for line in lines:
            text = line.strip()
            if word == "-" and text in ("", "-"):
                continue  # a document without a simhash
            try:
                value = int(text, 16) if text.isalnum() else -1
            except ValueError:
                value = -1
            if not 0 <= value < 2**bits:
                raise ParameterError(
                    f"simhash: cannot read: {printable(text)!r}, wanted up to {-(-bits // 4)}"
                    " hexadecimal digits",
                    hint="roughly simhash FILE --plain prints them",
                )
            yield value
