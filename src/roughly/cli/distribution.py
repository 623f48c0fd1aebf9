"""`roughly hamming distribution INPUT...`: where simhashes lie, and what the spikes are."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from roughly.cli.options import add_reading, positive
from roughly.cli.output import refuse_inputs, refuse_to_overwrite, say, write_file
from roughly.cli.simhash import add_features, load_simhashes
from roughly.documents.file import printable

if TYPE_CHECKING:
    from roughly.simhashing.distribution import Distribution, Spike
    from roughly.simhashing.page_kind import Example

DESCRIPTION = """\
Shows how simhashes are distributed, beside what chance would give (Figure 2 of
the 2007 paper): at which bit neighbours in the sorted order first differ, and
how many simhashes are in each of 128 intervals. Intervals that have too many are
spikes, often of error and login pages: each is told by documents of it."""

EPILOG = """\
examples:
  roughly hamming distribution 'crawl/*.warc.gz'
  roughly hamming distribution crawl.parquet --html distribution.html

INPUT is a file of simhashes that `roughly simhash` made, or documents. Exit
status: 0 done, 2 error."""

_BAR = 40


def add_parser(subparsers: Any) -> None:
    """Adds the command to those of `roughly hamming`."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "distribution",
        help="where simhashes lie, beside chance, and what the spikes are",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add_inputs(parser)
    group = parser.add_argument_group("what is shown")
    what = group.add_mutually_exclusive_group()
    what.add_argument("--json", action="store_true", help="one JSON object instead of tables")
    what.add_argument(
        "--html", metavar="FILE", help="write a page with plots (- is standard output)"
    )
    group.add_argument("--force", action="store_true", help="let --html overwrite a file")
    parser.set_defaults(run=run)


def add_inputs(parser: argparse.ArgumentParser) -> None:
    """Simhashes, or documents and how they become simhashes."""
    parser.add_argument(
        "inputs", metavar="INPUT", nargs="+", help="simhashes, or documents to make them of"
    )
    add_features(parser)
    add_reading(parser)
    parser.add_argument(
        "--threads", type=positive, metavar="N", help="threads to use (default: all cores)"
    )


def run(arguments: argparse.Namespace) -> int:
    """Counts, and shows as asked."""
    from roughly.simhashing.distribution import distribution
    from roughly.simhashing.page_kind import Example, examples_of

    check_page(arguments)
    table, documents = load_simhashes(arguments, arguments.inputs, arguments.html)
    found = distribution(table.simhashes, table.empty)
    empty_rows = table.empty.nonzero()[0][:5].tolist()
    rows = [*empty_rows, *(row for spike in found.spikes for row in spike.rows)]
    if documents is not None:
        examples = examples_of(documents, rows)
    else:
        examples = {row: Example(table.id(row)) for row in rows}
    empty = [examples[row] for row in empty_rows]
    if arguments.json:
        print(json.dumps(_plain(found, examples, empty)))
    elif arguments.html is not None:
        from roughly.report.simhash_page import distribution_page

        write_page(arguments, distribution_page(found, input_title(arguments), examples, empty))
    else:
        for line in _lines(found, examples, empty):
            print(line)
    return 0


def check_page(arguments: argparse.Namespace, *inputs: str) -> None:
    """Raises if --html cannot be written, or is one of these inputs."""
    if arguments.html not in (None, "-"):
        refuse_inputs(arguments.html, inputs)
        if not arguments.force:
            refuse_to_overwrite(arguments.html)


def write_page(arguments: argparse.Namespace, page: str) -> None:
    """A page to where --html says."""
    if arguments.html == "-":
        sys.stdout.write(page)
        return
    write_file(arguments.html, page, arguments.force)
    say(f"wrote {printable(arguments.html)}")


def input_title(arguments: argparse.Namespace) -> str:
    """What a page about the inputs is called."""
    first: str = arguments.inputs[0]
    return first if len(arguments.inputs) == 1 else f"{first} and {len(arguments.inputs) - 1} more"


def _plain(
    found: Distribution, examples: dict[int, Example], empty: list[Example]
) -> dict[str, Any]:
    plain = found.to_dict()
    for spike in plain["spikes"]:
        spike["examples"] = [_plain_example(examples[row]) for row in spike.pop("rows")]
    plain["empty_examples"] = [_plain_example(example) for example in empty]
    return plain


def _plain_example(example: Example) -> dict[str, str]:
    return {"id": example.id, "kind": example.kind, "excerpt": example.excerpt}


def _lines(
    found: Distribution, examples: dict[int, Example], empty: list[Example]
) -> Iterator[str]:
    yield f"{found.documents:,} simhashes, {found.distinct:,} different; {found.empty:,} documents"
    yield "have none" + (f", as {printable(empty[0].id)}" if empty else "")
    yield ""
    yield "leading one of neighbours, exclusive-or (Figure 2a)"
    yield f"{'bit':>5} {'pairs':>12} {'if random':>14}"
    most = max(found.leading, default=0) or 1
    for bit in range(63, -1, -1):
        count, expected = found.leading[bit], found.leading_expected[bit]
        if count or expected >= 0.5:
            bar = "#" * round(_BAR * count / most)
            yield f"{bit:>5} {count:>12,} {expected:>14,.1f} {bar}".rstrip()
    if found.equal:
        yield f"equal {found.equal:>12,}"
    yield ""
    yield (
        f"128 buckets (Figure 2b): {min(found.buckets):,} to {max(found.buckets):,} simhashes,"
        f" {found.bucket_expected:,.1f} by chance; {len(found.spikes)} spikes"
    )
    for spike in found.spikes:
        yield from _spike_lines(spike, examples)


def _spike_lines(spike: Spike, examples: dict[int, Example]) -> Iterator[str]:
    yield (
        f"  bucket {spike.bucket}: {spike.count:,}, {spike.near:,} of them within 3 bits of"
        f" {spike.simhash:016x}"
    )
    for row in spike.rows[:3]:
        example = examples[row]
        kind = f"{example.kind} page " if example.kind else ""
        words = f": {printable(example.excerpt)}" if example.excerpt else ""
        yield f"    {kind}{printable(example.id)}{words}"
