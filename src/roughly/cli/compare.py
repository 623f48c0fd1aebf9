"""`roughly compare A B`: how much two documents have in common, and where."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from roughly.cli.options import (
    add_content_type,
    add_selection,
    add_width,
    count,
    positive,
    sketcher_of,
)
from roughly.cli.output import refuse_to_overwrite, say, write_file
from roughly.documents.file import printable
from roughly.errors import ParameterError

DESCRIPTION = """\
Says how much two documents have in common: their resemblance (the share of all
their shingles that both have) and the containment of each in the other (the
share of its shingles that the other has). Both are computed exactly, and
estimated from sketches as they would be in a large collection. Then come the
passages that both have, side by side."""

EPILOG = """\
examples:
  roughly compare old.txt new.html
  roughly compare old.txt new.html --html difference.html
  curl -s URL | roughly compare - saved.html --json

Documents are text or HTML in any encoding. Case, accents, punctuation, layout
and markup make no difference. Exit status: 0 done, 2 error."""


def add_parser(subparsers: Any) -> None:
    """Adds the command to the parser of all commands."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "compare",
        help="resemblance and containment of two documents, with the passages they share",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("a", metavar="A", help="a file, or - for standard input")
    parser.add_argument("b", metavar="B", help="another one")
    group = parser.add_argument_group("how documents are read and shingled")
    add_content_type(group, "both")
    add_width(group)
    group = parser.add_argument_group("the sketches behind the estimates")
    add_selection(group, "all, mod:M, min:K, adaptive:T or perm:K")
    group = parser.add_argument_group("what is shown")
    what = group.add_mutually_exclusive_group()
    what.add_argument("--json", action="store_true", help="one JSON object instead of a report")
    what.add_argument(
        "--html",
        "-o",
        metavar="FILE",
        help="write a page with both texts side by side (- is standard output)",
    )
    add = group.add_argument
    add("--force", action="store_true", help="let --html overwrite a file")
    add("--passages", type=count, metavar="N", default=8, help="passages to show (default: 8)")
    add("--width", type=positive, metavar="N", help="columns (default: those of the terminal)")
    add(
        "--color",
        choices=("auto", "always", "never"),
        default="auto",
        help="colours (default: auto, on a terminal)",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Reads both documents, compares them, and shows the comparison as asked."""
    from roughly.comparison import compare
    from roughly.documents.file import read_document

    if arguments.a == arguments.b == "-":
        raise ParameterError(
            "-: cannot be both documents: standard input can be read once",
            hint="save one of them to a file first",
        )
    sketcher = sketcher_of(arguments)
    if arguments.html not in (None, "-") and not arguments.force:
        refuse_to_overwrite(arguments.html)
    a = read_document(arguments.a, arguments.content_type)
    b = read_document(arguments.b, arguments.content_type)
    comparison = compare(a, b, sketcher=sketcher)
    if arguments.json:
        import json

        print(json.dumps(comparison.to_dict()))
    elif arguments.html is not None:
        from roughly.report.comparison_page import page

        made = page(comparison, a, b)
        if arguments.html == "-":
            sys.stdout.write(made)
        else:
            write_file(arguments.html, made, arguments.force)
            say(f"wrote {printable(arguments.html)}")
    else:
        from roughly.report.comparison_lines import lines
        from roughly.report.terminal import Terminal

        terminal = Terminal(sys.stdout, arguments.width, arguments.color)
        for line in lines(comparison, a, b, terminal, arguments.passages):
            print(line)
    return 0
