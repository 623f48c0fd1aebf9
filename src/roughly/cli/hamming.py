"""`roughly hamming COMMAND ...`: what can be done with simhashes and the bits that they differ in.

Each command is in a module of its own; the table here is all there is to the family.
"""

from __future__ import annotations

import argparse
from typing import Any

from roughly.cli import distribution, hamming_index, hamming_join, hamming_plan, labelling

DESCRIPTION = """\
Simhashes and their Hamming distance, the number of bits in which two differ."""

EPILOG = """\
examples:
  roughly hamming plan --documents 100000000 -k 3
  roughly hamming build crawl.parquet -o crawl.hamming
  roughly hamming find crawl.hamming 9f3a0c77d2e81b45
  roughly hamming join new.parquet crawl.parquet
  roughly hamming distribution crawl.parquet
  roughly hamming sample crawl.parquet -o pairs.jsonl
  roughly hamming evaluate pairs.jsonl

roughly hamming COMMAND --help says more about each command."""


def add_parser(subparsers: Any) -> None:
    """Adds the family to the parser of all commands."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "hamming",
        help="simhashes by the bits in which they differ",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    commands = parser.add_subparsers(
        title="commands", metavar="COMMAND", parser_class=type(parser), required=True
    )
    for add in (
        hamming_plan.add_parser,
        hamming_index.add_build_parser,
        hamming_index.add_find_parser,
        hamming_join.add_parser,
        distribution.add_parser,
        labelling.add_sample_parser,
        labelling.add_evaluate_parser,
    ):
        add(commands)
