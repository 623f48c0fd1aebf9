"""`roughly COMMAND ...`: the parser of all commands, and what every command shares.

Data goes to stdout, everything else to stderr. Exit status: 0 done, 2 error, 130 interrupted. An
error is two lines, never a traceback. Command modules are imported to build the parser, so they
import what is heavy inside `run`: `roughly --help` must stay quick.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

from roughly.errors import RoughlyError

DONE, ERROR, INTERRUPTED = 0, 2, 130


class _Parser(argparse.ArgumentParser):
    """Says what is wrong with the arguments in the words every other error uses."""

    def error(self, message: str) -> NoReturn:
        self.exit(ERROR, f"{self.prog}: {message}\nhint: {self.prog} --help\n")


class _Version(argparse.Action):
    """Looks the version up only when it is asked for."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        from importlib.metadata import version

        print(f"roughly {version('roughly')}")
        parser.exit(DONE)


def make_parser() -> argparse.ArgumentParser:
    """The parser of every command."""
    from roughly.cli import compare, demo

    parser = _Parser(
        prog="roughly",
        description="Finds documents that are roughly the same, or roughly contained in one "
        "another.",
        epilog="roughly COMMAND --help says more about each command.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version and stop")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", parser_class=_Parser)
    for command in (compare, demo):
        command.add_parser(commands)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command; the exit status."""
    # Names of files and texts may hold what the terminal's encoding lacks.
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    try:
        parser = make_parser()
        arguments = parser.parse_args(argv)
        if not hasattr(arguments, "run"):
            parser.print_help(sys.stderr)
            return ERROR
        status: int = arguments.run(arguments)
        sys.stdout.flush()
        return status
    except RoughlyError as error:
        print(f"roughly: {error}", file=sys.stderr)
        return ERROR
    except MemoryError:
        print(
            "roughly: out of memory\nhint: give it smaller documents or a larger machine",
            file=sys.stderr,
        )
        return ERROR
    except BrokenPipeError:
        # The reader has what it wanted. What is left must not be flushed at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except KeyboardInterrupt:
        return INTERRUPTED
