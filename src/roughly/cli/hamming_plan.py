"""`roughly hamming plan`: what an index of so many simhashes costs, in each design."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, Any

from roughly.cli.options import count, positive
from roughly.errors import ParameterError

if TYPE_CHECKING:
    from roughly.hamming.plan import Row

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
    from roughly.hamming.cost import cost, indexes_of
    from roughly.hamming.design import check_bits, check_k
    from roughly.hamming.plan import choose, expected_matches, plan
    from roughly.parameters import size_in_bytes

    documents, bits, k = arguments.documents, check_bits(arguments.bits), check_k(arguments.k)
    if arguments.key_bits or arguments.tables:
        return _recurrence(arguments, documents, bits, k)
    memory = None if arguments.memory is None else size_in_bytes("--memory", arguments.memory)
    rows = plan(documents, bits, k, memory)
    best = choose(documents, bits, k, memory)
    taken = cost(best, "elias-fano", documents)
    if memory is not None and taken.bytes > memory:
        raise ParameterError(
            f"--memory: too little: {arguments.memory}, wanted {_size(taken.bytes)} for a"
            f" {best.name}",
            hint="split the simhashes among several machines",
        )
    if arguments.json:
        print(json.dumps(_object(arguments, rows, best.name)))
        return 0
    by_chance = expected_matches(documents, bits, k)
    indexes = indexes_of(documents)
    print(
        f"{documents:,} simhashes of {bits} bits, k = {k}; by chance {by_chance:.2g} are near one"
        + ("" if indexes == 1 else f"; in {indexes} indexes, each of which is asked")
    )
    print()
    lines = [_HEAD, *(_line(row, documents) for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        cells = [
            cell.ljust(width) if i in (0, 3) else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(line, widths, strict=True))
        ]
        print("  ".join(cells).rstrip())
    print()
    print(
        f"take {best.name}: {_size(taken.bytes)}, {_time(taken.find_ns)} a query"
        + ("" if indexes == 1 else f", in {indexes} indexes")
    )
    return 0


_HEAD = [
    *("design", "tables", "fewest", "leading bits", "matches"),
    *("probes", "entries", "bytes each", "in all", "a query"),
]


def _line(row: Row, documents: int) -> list[str]:
    from roughly.hamming.plan import fewest_tables

    least, most = row.key_bits
    paper = row.origin == "paper"
    bits = "" if not row.design.tables else f"{least}" if least == most else f"{least}-{most}"
    radii = sorted({table.radius for table in row.design.tables})
    if radii not in ([], [0]):
        bits += f" within {radii[0]}" if len(radii) == 1 else f" within {radii[0]}-{radii[-1]}"
    fewest = fewest_tables(row.design.bits, row.design.k, documents, least)[0] if paper else ""
    return [
        row.design.name,
        str(len(row.design.tables) or ""),
        str(fewest),
        bits,
        _short(documents / 2.0**least) if paper else "",
        _short(row.cost.probes) if row.cost.probes else "",
        _short(row.cost.candidates),
        f"{row.cost.bytes / documents:.1f}",
        _size(row.cost.bytes),
        _time(row.cost.find_ns),
    ]


def _object(arguments: argparse.Namespace, rows: list[Row], best: str) -> dict[str, Any]:
    from roughly.hamming.cost import indexes_of
    from roughly.hamming.plan import fewest_tables

    documents = arguments.documents
    designs = []
    for row in rows:
        least, most = row.key_bits
        designs.append(
            {
                "design": row.design.name,
                "origin": row.origin,
                "coding": row.coding,
                "tables": len(row.design.tables),
                "key_bits": [least, most],
                "radius": [table.radius for table in row.design.tables],
                "matches": documents / 2.0**least if row.origin == "paper" else None,
                "fewest_tables": fewest_tables(row.design.bits, row.design.k, documents, least)[0]
                if row.origin == "paper"
                else None,
                "probes": row.cost.probes,
                "entries": row.cost.candidates,
                "bytes": round(row.cost.bytes),
                "find_seconds": row.cost.find_ns / 1e9,
            }
        )
    return {
        "documents": documents,
        "bits": arguments.bits,
        "k": arguments.k,
        "indexes": indexes_of(documents),
        "designs": designs,
        "recommended": best,
    }


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


def _short(value: float) -> str:
    """As the paper writes numbers: 8, 512, 256K."""
    for unit, size in (("G", 1 << 30), ("M", 1 << 20), ("K", 10 << 10)):
        if value >= size:
            return f"{value / (size if unit != 'K' else 1024):.3g}{unit}"
    return f"{value:,.0f}" if value >= 10 or value == int(value) else f"{value:.2g}"


def _size(size: float) -> str:
    for unit, power in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size >= power:
            return f"{size / power:.1f} {unit}"
    return f"{size:.0f} B"


def _time(nanoseconds: float) -> str:
    for unit, power in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if nanoseconds >= power:
            return f"{nanoseconds / power:.1f} {unit}"
    return f"{nanoseconds:.0f} ns"
