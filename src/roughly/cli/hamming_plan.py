"""`roughly hamming plan`: what an index of so many simhashes costs, in each design."""

from __future__ import annotations

import argparse
import json
from typing import Any

from roughly.cli.options import count, positive

DESCRIPTION = """\
Shows what an index of so many simhashes costs in each design: the tables of the
2007 paper (3.1), and the compact designs and the scan of this package, with their
bytes, the entries that a query looks at, and the time of a query, predicted for a
machine that holds the index in memory. An index holds up to 2^31 - 1 simhashes: of
more the costs are those of several. The last line is the one to take."""

EPILOG = """\
examples:
  roughly hamming plan --documents 17179869184 -k 3
  roughly hamming plan --documents 100000000 -k 10 --memory 2G
  roughly hamming plan --documents 17179869184 -k 3 --key-bits 30

`matches` are those of one probe of the paper's: simhashes that agree in the leading
bits. `fewest` is its recurrence (3.1.2): the fewest tables that have as many leading
bits as the design's shortest. Exit status: 0 done, 2 error."""


def add_parser(subparsers: Any) -> None:
    """Adds the command to those of `roughly hamming`."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "plan",
        help="what an index costs: tables, bytes, candidates, time",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("--documents", type=_documents, metavar="N", required=True, help="how many simhashes")
    add_distance(parser)
    add("--memory", metavar="SIZE", help="leave out what does not fit, as 2G (default: nothing)")
    what = parser.add_mutually_exclusive_group()
    what.add_argument(
        "--key-bits",
        type=positive,
        metavar="P",
        help="the fewest of the paper's tables that have at least P leading bits",
    )
    what.add_argument(
        "--tables", type=positive, metavar="T", help="the most leading bits of at most T tables"
    )
    add("--json", action="store_true", help="one JSON object instead of a table")
    parser.set_defaults(run=run)


def add_distance(parser: argparse.ArgumentParser) -> None:
    """What near means: the options of every command that searches."""
    parser.add_argument("-k", type=count, default=3, metavar="N", help="bits (default: 3)")
    parser.add_argument(
        "--bits",
        type=positive,
        default=64,
        metavar="F",
        help="bits of a simhash, the low ones (default: 64)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Prints the plan."""
    from roughly.hamming.design import check_bits, check_k
    from roughly.hamming.plan import plan_object, size
    from roughly.report.plan_lines import HEAD, cells, time

    documents, bits, k = arguments.documents, check_bits(arguments.bits), check_k(arguments.k)
    if arguments.key_bits or arguments.tables:
        return _recurrence(arguments, documents, bits, k)
    plan = plan_object(documents, bits, k, arguments.memory, "--memory")
    if arguments.json:
        print(json.dumps(plan))
        return 0
    indexes = plan["indexes"]
    print(
        f"{documents:,} simhashes of {bits} bits, k = {k}; by chance {plan['by_chance']:.2g} are"
        " near one" + ("" if indexes == 1 else f"; in {indexes} indexes, each of which is asked")
    )
    print()
    lines = [HEAD, *(cells(design, documents) for design in plan["designs"])]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        words = [
            cell.ljust(width) if i in (0, 3) else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(line, widths, strict=True))
        ]
        print("  ".join(words).rstrip())
    print()
    print(
        f"take {plan['recommended']}: {size(plan['recommended_bytes'])},"
        f" {time(plan['recommended_seconds'])} a query"
        + ("" if indexes == 1 else f", in {indexes} indexes")
    )
    return 0


def _recurrence(arguments: argparse.Namespace, documents: int, bits: int, k: int) -> int:
    from roughly.hamming.plan import fewest_tables, most_key_bits

    key_bits = arguments.key_bits or most_key_bits(bits, k, documents, arguments.tables)
    tables, splits = fewest_tables(bits, k, documents, key_bits)
    name = "tables:" + "+".join(map(str, splits)) if splits else "one table"
    if arguments.json:
        print(json.dumps({"key_bits": key_bits, "tables": tables, "design": name}))
    else:
        print(f"{tables:,} tables have at least {key_bits} leading bits: {name}")
    return 0


def _documents(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 0 < int(text) <= 1 << 48):
        raise argparse.ArgumentTypeError(f"not a count: {text!r}, wanted a number from 1 to 2^48")
    return int(text)
