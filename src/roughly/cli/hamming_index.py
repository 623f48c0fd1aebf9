"""`roughly hamming build` and `roughly hamming find`: an index in a file, and asking it."""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from roughly.cli.hamming_plan import add_distance
from roughly.cli.options import positive
from roughly.cli.output import check_output, say
from roughly.documents.file import printable
from roughly.errors import ParameterError

if TYPE_CHECKING:
    from roughly.hamming import SimhashFile

BUILD = """\
Builds an index that finds all simhashes within k bits of a given one, exactly, and
writes it to a file, with its checksums beside it in FILE.crc32c, and the ids of
documents, where SIMHASHES has them, in FILE.ids. With --compressed it writes the
simhashes alone, sorted and compressed as in the 2007 paper (3.2), for
`roughly hamming join`."""

BUILD_EPILOG = """\
examples:
  roughly hamming build crawl.parquet -o crawl.hamming
  roughly hamming build crawl.u64 -o crawl.hamming -k 6 --design compact:3
  roughly hamming build crawl.u64 -o crawl.xor --compressed

SIMHASHES is what `roughly simhash` writes, a Parquet or Arrow file with a column of
64-bit whole numbers, or a file of nothing but these, little-endian (.u64). With
fewer --bits the low ones of each are taken.
`roughly hamming plan` shows the designs. Exit status: 0 done, 2 error."""

FIND = """\
Prints the stored simhashes within k bits of each one given, nearest first: the
simhash asked for, the position of the one found, that one, how many bits they
differ in, and where the index has ids that of its document."""

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
    parser.set_defaults(k=None)  # so that one that means nothing is noticed
    add("--column", metavar="NAME", help="the column of a table (default: simhash)")
    add("--design", metavar="NAME", help="auto, scan, compact:M or tables:R (default: auto)")
    add(
        "--coding",
        choices=("elias-fano", "xor-block", "plain"),
        help="of the tables (default: elias-fano)",
    )
    add("--compressed", action="store_true", help="no index: the sorted simhashes, for join")
    add("--no-ids", action="store_true", help="leave out the ids of documents")
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
    from roughly.hamming.id_file import ids_path, remove_ids, write_ids

    started = time.monotonic()
    check_output(arguments.output, arguments.force, [arguments.simhashes])
    _refuse_meaningless(arguments)
    file = SimhashFile(arguments.simhashes, arguments.column, arguments.bits)
    if arguments.column is not None and file.kind != "table":
        raise ParameterError(
            f"--column: cannot be chosen: {printable(arguments.simhashes)} is no table",
            hint="leave it out",
        )
    output = Path(arguments.output)
    remove_ids(output)
    ids = None if arguments.no_ids else file.ids
    if arguments.compressed:
        if file.missing() is not None and ids is None:
            say("documents without a simhash are left out: positions count the others")
        values = file.read()
        write_compressed(output, values, arguments.bits)
        ids = None if ids is None else _in_order(file, values)
        size = os.path.getsize(output)
        told = f"{file.count:,} simhashes, {size / max(1, file.count):.1f} bytes each"
    else:
        index = HammingIndex(
            file,
            3 if arguments.k is None else arguments.k,
            bits=arguments.bits,
            design=arguments.design or "auto",
            coding=arguments.coding or "elias-fano",
            threads=arguments.threads,
        )
        index.save(output)
        each = index.nbytes / max(1, len(index))
        told = f"{len(index):,} simhashes, k = {index.k}, {index.design}, {each:.1f} bytes each"
        if arguments.coding is not None and index.design == "scan":
            say("--coding means nothing here: a scan, the best for so few, has no tables")
    if ids is not None:
        write_ids(output, ids, file.parameters)
    if not arguments.quiet:
        say(f"{told}, in {time.monotonic() - started:.1f} s")
        beside = "" if ids is None else f" and {printable(str(ids_path(output)))}"
        say(f"wrote {printable(arguments.output)}{beside}")
    return 0


def _refuse_meaningless(arguments: argparse.Namespace) -> None:
    """What would be read and then not looked at."""
    given = [name for name in ("k", "design", "coding") if getattr(arguments, name) is not None]
    if arguments.compressed and given:
        option = "-k" if given[0] == "k" else f"--{given[0]}"
        raise ParameterError(
            f"--compressed: cannot stand beside {option}: it makes no tables",
            hint="leave out one of them",
        )
    if arguments.design == "scan" and arguments.coding is not None:
        raise ParameterError(
            "--coding: cannot stand beside --design scan: it has no tables",
            hint="leave out one of them",
        )


def _in_order(file: SimhashFile, values: Any) -> Any:
    """The ids of simhashes in the order of their values; of equal ones as they stand in the
    file."""
    import numpy as np
    import pyarrow as pa

    from roughly.hamming.id_file import Ids

    assert file.ids is not None
    pieces = [file.ids.piece(number) for number in range(len(file.ids.sizes()))]
    order = np.argsort(values, kind="stable")
    rows = file.missing()
    ids = pa.chunked_array(pieces, pa.large_string() if not pieces else None)
    return Ids.of(ids.take(pa.array(order if rows is None else rows[order])))


def run_find(arguments: argparse.Namespace) -> int:
    """Asks the index, one simhash after the other."""
    import numpy as np

    from roughly.hamming import HammingIndex
    from roughly.hamming.id_file import read_ids

    index = HammingIndex.open(arguments.index)
    ids, _ = read_ids(Path(arguments.index))
    found = False
    for query in _queries(arguments.queries, index.bits):
        matches = index.matches(query)
        found = found or bool(matches)
        names: list[str | None] = []
        if ids is not None:
            names = ids.take(np.array([match.position for match in matches], np.int64))
        for number, match in enumerate(matches):
            if arguments.json:
                row = {
                    "query": f"{query:016x}",
                    "position": match.position,
                    "simhash": f"{match.simhash:016x}",
                    "distance": match.distance,
                }
                row |= {"id": names[number]} if names else {}
                print(json.dumps(row, ensure_ascii=False))
            else:
                cells = [f"{query:016x}", f"{match.position}", f"{match.simhash:016x}"]
                cells += [f"{match.distance}", *map(in_a_cell, names[number : number + 1])]
                print("\t".join(cells))
    return 0 if found else 1


def in_a_cell(id: str | None) -> str:
    """An id between tabs: what would end the cell or the line is a blank."""
    return re.sub(r"[\t\r\n]", " ", id or "")


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
            if not 0 <= value < 2**64:
                raise ParameterError(
                    f"simhash: cannot read: {printable(text)!r}, wanted up to 16 hexadecimal"
                    " digits",
                    hint="roughly simhash FILE --plain prints them",
                )
            # Of an index of fewer bits, as it was built: the low ones.
            yield value % 2**bits
