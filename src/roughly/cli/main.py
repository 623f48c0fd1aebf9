"""`roughly COMMAND ...`: the parser of all commands, and what every command shares.

Data goes to stdout, everything else to stderr. Exit status: 0 done, 2 error, 130 interrupted. An
error is two lines, never a traceback. Command modules are imported to build the parser, so they
import what is heavy inside `run`: `roughly --help` must stay quick.
"""

from __future__ import annotations

import argparse
import atexit
import gc
import os
import signal
import sys
import time
from collections import deque
from collections.abc import Sequence
from importlib import import_module
from typing import Any, NoReturn, TextIO

from roughly import _core
from roughly.cli.output import cannot_write, say
from roughly.documents.file import printable
from roughly.errors import ParameterError, RoughlyError

DONE, ERROR, INTERRUPTED = 0, 2, 130

# Between two interruptions that both count.
_PATIENCE_S = 3.0
_interrupted: float | None = None


class _Parser(argparse.ArgumentParser):
    """Takes options before, between and behind the other arguments, and says what is wrong in the
    words every other error uses."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Without this an argument that may be missing, as the URL of `lost`, had to stand right
        behind the one before it."""
        if args is not None and self._subparsers is None:
            args = self._options_first(deque(args))
        return super().parse_known_args(args, namespace)

    def _options_first(self, words: deque[str]) -> list[str]:
        """The words in the order that argparse understands: options, --, and all else."""
        options: list[str] = []
        others: list[str] = []
        while words:
            word = words.popleft()
            if word == "--":
                others += words
                break
            if not self._is_option(word):
                others.append(word)
                continue
            options.append(word)
            if self._wants_value(word) and words and not self._is_option(words[0]):
                options.append(words.popleft())
        return [*options, "--", *others] if others else options

    def _is_option(self, word: str) -> bool:
        """As argparse sees it: not a lone dash, a number, or a text with a space in it."""
        if word in self._option_string_actions or word == "--":
            return True
        if word.partition("=")[0] in self._option_string_actions:
            return True
        number = word[1:].replace(".", "", 1).isdigit()
        return word.startswith("-") and word != "-" and not number and " " not in word

    def _wants_value(self, word: str) -> bool:
        """Whether what follows an option belongs to it. Short ones may stand together."""
        action = self._option_string_actions.get(word)
        if action is not None:
            return action.nargs is None
        first = self._option_string_actions.get(word[:2])
        if word.startswith("--") or first is None or first.nargs is None:
            return False
        return self._wants_value(f"-{word[2:]}")

    def error(self, message: str) -> NoReturn:
        self.exit(ERROR, f"{self.prog}: {message}\nhint: {self.prog} --help\n")


class _Version(argparse.Action):
    """Looks the version up only when it is asked for."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        from importlib.metadata import version

        print(f"roughly {version('roughly')}")
        parser.exit(DONE)


# In the order in which help lists them.
_COMMANDS = (
    "cluster",
    "find",
    "add",
    "remove",
    "compact",
    "info",
    "verify",
    "lost",
    "changes",
    "collapse",
    "serve",
    "compare",
    "dedup",
    "tune",
    "demo",
    "simhash",
    "hamming",
)


def make_parser(command: str | None = None) -> argparse.ArgumentParser:
    """The parser of every command, or of one that is there: the others need not be loaded."""
    parser = _Parser(
        prog="roughly",
        description="Finds documents that are roughly the same, or roughly contained in one "
        "another.",
        epilog="roughly COMMAND --help says more about each command.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version and stop")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", parser_class=_Parser)
    for name in [command] if command in _COMMANDS else _COMMANDS:
        import_module(f"roughly.cli.{name}").add_parser(commands)
    return parser


def run() -> int:
    """`main` as all that a process does."""
    atexit.register(_leave_memory)
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _interrupt)
    return main()


def _interrupt(*_: object) -> None:
    """Whoever is impatient must not stop the tidying up; who insists for some seconds may."""
    global _interrupted
    now = time.monotonic()
    if _interrupted is None or now - _interrupted > _PATIENCE_S:
        _interrupted = now
        raise KeyboardInterrupt


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command; the exit status."""
    # numpy comes with threads for linear algebra, of which there is next to none here; they would
    # spin for a while.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Streams that were closed before the start: what is written to the first must fail as on a full
    # disk (hence opened for reading), what is said on the second is lost.
    if sys.stdout is None:
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_RDONLY))
    if sys.stderr is None:
        sys.stderr = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")
    # Names of files and texts may hold what the terminal's encoding lacks.
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    status = ERROR
    try:
        done = _run(argv)
        sys.stdout.flush()
        status = done
    except BrokenPipeError:
        status = DONE  # The reader has what it wanted.
    except KeyboardInterrupt as end:
        # Quiet, unless something is left behind.
        if notes := getattr(end, "__notes__", ()):
            say("; ".join(["interrupted", *notes]))
        status = INTERRUPTED
    except RoughlyError as error:
        say(str(error))
    except MemoryError:
        say("out of memory\nhint: give it smaller documents or a larger machine")
    except OSError as error:
        say(str(cannot_write(printable(str(error.filename or "standard output")), error)))
    except (ValueError, RuntimeError) as error:
        say(f"cannot go on: {' '.join(str(error).split())}\nhint: a fault of roughly; report it")
    for stream in (sys.stdout, sys.stderr):
        _settle(stream)
    return status


def _run(argv: Sequence[str] | None) -> int:
    words = sys.argv[1:] if argv is None else argv
    parser = make_parser(words[0] if words else None)
    try:
        arguments = parser.parse_args(argv)
    except SystemExit as end:  # --help, --version, or a mistake that was told
        return int(end.code or DONE)
    if not hasattr(arguments, "run"):
        parser.print_help(sys.stderr)
        return ERROR
    try:
        _core.simd_level()
    except ValueError as error:
        raise ParameterError(f"ROUGHLY_SIMD: {error}", hint="unset it: the best is taken") from None
    status: int = arguments.run(arguments)
    return status


def _leave_memory() -> None:
    """Keeps Python from looking for cycles among all that there is when it ends: the system takes
    memory back as it is."""
    gc.disable()
    gc.freeze()


def _settle(stream: TextIO) -> None:
    """Sees to it that nothing is left which would fail when Python flushes its streams at exit."""
    try:
        stream.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
