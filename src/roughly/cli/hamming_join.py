"""`roughly hamming join`: all pairs of a query and a stored simhash that are near."""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from roughly.cli.hamming_index import in_a_cell
from roughly.cli.hamming_plan import add_distance
from roughly.cli.options import positive
from roughly.cli.output import check_output, say
from roughly.cli.progress import Progress
from roughly.documents.file import printable
from roughly.errors import ParameterError

if TYPE_CHECKING:
    from roughly.hamming import JoinedChunk, SimhashFile

DESCRIPTION = """\
Finds all pairs of a query and a stored simhash within k bits, exactly (2007 paper,
3.3): tables are made of the queries, and the stored file passes by once, in chunks of
64 MiB, however large it is. Pairs are sorted by stored position, then by query, and
come once: query, stored, distance, both simhashes, and where the files have ids
those of both documents."""

EPILOG = """\
examples:
  roughly hamming join new.parquet crawl.u64 -k 3 > pairs.tsv
  roughly hamming join new.u64 crawl.xor -o pairs.parquet
  roughly hamming join new.u64 crawl.u64 --chunks 0:50 -o first.parquet

QUERIES and STORED are files as for `roughly hamming build`; STORED may be what
`roughly hamming build --compressed` made. Chunks need nothing of one another: run
shares of them with --chunks on several machines and put the answers one behind
the other. Exit status: 0 done, 2 error."""


def add_parser(subparsers: Any) -> None:
    """Adds the command to those of `roughly hamming`."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "join",
        help="all pairs of a query and a stored simhash that are near",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("queries", metavar="QUERIES", help="a file of simhashes, held in memory")
    add("stored", metavar="STORED", help="a file of simhashes, of any size")
    add_distance(parser)
    add("--column", metavar="NAME", help="the column of tables (default: simhash)")
    add(
        "--chunks",
        type=_chunks,
        metavar="A:B",
        default=(0, None),
        help="only those of STORED from A to before B, counted from 0",
    )
    add(
        "-o",
        "--output",
        metavar="FILE",
        help=".parquet, .jsonl, or columns with tabs (default: these, to standard output)",
    )
    add("--json", action="store_true", help="JSON Lines to standard output")
    add("--threads", type=positive, metavar="N", help="threads to use (default: all cores)")
    add("--force", action="store_true", help="overwrite a file")
    add("--quiet", action="store_true", help="no summary and no progress, errors only")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Joins, writing what each chunk gives."""
    from roughly.hamming import SimhashFile, join

    started = time.monotonic()
    if arguments.output is not None:
        inputs = (arguments.queries, arguments.stored)
        check_output(arguments.output, arguments.force, inputs)
        if arguments.json:
            raise ParameterError(
                f"--json: cannot stand beside {printable(arguments.output)}: a file's form is in"
                " its name",
                hint="leave it out, and name the file .jsonl for JSON Lines",
            )
    queries = SimhashFile(arguments.queries, arguments.column, arguments.bits)
    stored = SimhashFile(arguments.stored, arguments.column, arguments.bits)
    if arguments.column is not None and "table" not in (queries.kind, stored.kind):
        raise ParameterError(
            f"--column: cannot be chosen: neither {printable(arguments.queries)} nor"
            f" {printable(arguments.stored)} is a table",
            hint="leave it out",
        )
    begin, end = arguments.chunks
    scanned = pairs = 0
    with Progress(quiet=arguments.quiet) as progress, _Output(arguments, queries, stored) as output:
        advance = progress.phase("joining", total=stored.count, unit="simhashes")
        for chunk in join(
            queries,
            stored,
            arguments.k,
            bits=arguments.bits,
            threads=arguments.threads,
            begin_chunk=begin,
            end_chunk=end,
        ):
            output.write(chunk)
            scanned += chunk.scanned
            pairs += len(chunk.stored)
            advance(chunk.scanned)
    if not arguments.quiet:
        seconds = time.monotonic() - started
        say(
            f"{pairs:,} pairs of {queries.count:,} queries and {scanned:,} stored simhashes,"
            f" in {seconds:.1f} s"
        )
        if arguments.output is not None:
            say(f"wrote {printable(arguments.output)}")
    return 0


class _Output:
    """Where pairs go: standard output, or a file that is there when all of it is."""

    def __init__(
        self, arguments: argparse.Namespace, queries: SimhashFile, stored: SimhashFile
    ) -> None:
        self._ids = queries.ids, stored.ids
        self._path = None if arguments.output is None else Path(arguments.output)
        name = arguments.output or ""
        self._json = arguments.json or name.endswith((".jsonl", ".ndjson"))
        self._parquet = name.endswith(".parquet")
        self._writer: Any = None
        self._file: IO[Any] | None = None

    def __enter__(self) -> _Output:
        from roughly.storage.durable import temporary, writing

        if self._path is not None:
            with writing(self._path):
                if self._parquet:
                    import pyarrow.parquet as pq

                    self._writer = pq.ParquetWriter(
                        temporary(self._path), _schema(self._ids != (None, None))
                    )
                else:
                    self._file = temporary(self._path).open("w", encoding="utf-8")
        return self

    def write(self, chunk: JoinedChunk) -> None:
        from roughly.storage.durable import writing

        numbers = (chunk.query, chunk.stored, chunk.distance)
        simhashes = (chunk.query_simhash, chunk.stored_simhash)
        ids: list[list[str | None]] = []
        if self._ids != (None, None):
            ids = [
                [None] * len(places) if known is None else known.take(places)
                for known, places in zip(self._ids, (chunk.query, chunk.stored), strict=True)
            ]
        if self._writer is not None:
            import pyarrow as pa

            table = pa.table([*numbers, *simhashes, *ids], schema=_schema(bool(ids)))
            with writing(self._path or Path()):
                self._writer.write_table(table)
            return
        file = self._file or sys.stdout
        columns = [column.tolist() for column in (*numbers, *simhashes)] + ids
        for query, stored, distance, asked, found, *named in zip(*columns, strict=True):
            if self._json:
                row = {"query": query, "stored": stored, "distance": distance}
                row |= {"query_simhash": f"{asked:016x}", "stored_simhash": f"{found:016x}"}
                row |= dict(zip(("query_id", "stored_id"), named, strict=False))
                print(json.dumps(row, ensure_ascii=False), file=file)
            else:
                cells = [f"{query}", f"{stored}", f"{distance}", f"{asked:016x}", f"{found:016x}"]
                print("\t".join([*cells, *map(in_a_cell, named)]), file=file)

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        from roughly.storage.durable import remove, temporary, writing

        if self._path is None:
            return
        part = temporary(self._path)
        try:
            with writing(self._path):
                for open_one in (self._writer, self._file):
                    if open_one is not None:
                        open_one.close()
                if kind is None:
                    part.replace(self._path)
        finally:
            remove(part)


def _schema(ids: bool) -> Any:
    import pyarrow as pa

    fields = [
        ("query", pa.int64()),  # positions
        ("stored", pa.int64()),
        ("distance", pa.uint8()),
        ("query_simhash", pa.uint64()),
        ("stored_simhash", pa.uint64()),
    ]
    return pa.schema(fields + [(f"{x}_id", pa.string()) for x in ("query", "stored") if ids])


def _chunks(text: str) -> tuple[int, int | None]:
    found = re.fullmatch(r"([0-9]{0,9}):([0-9]{0,9})", text)
    if not found:
        raise argparse.ArgumentTypeError(
            f"not chunks: {text!r}, wanted the first and the one after the last, as 0:50"
        )
    return int(found[1] or 0), int(found[2]) if found[2] else None
