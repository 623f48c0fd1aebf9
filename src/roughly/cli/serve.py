"""`roughly serve CORPUS`: a corpus as an HTTP service, with an API for programs and pages for
people."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

from roughly.cli.options import count, distance, positive
from roughly.cli.output import say
from roughly.errors import ParameterError

DESCRIPTION = """\
Serves a corpus over HTTP: an API in JSON (described at /api/openapi.json) and pages
to look at. Anybody who can reach it may read; what writes (add, seen) needs the
token. Without a token it is read-only and stays on this machine. Documents that
other programs add to the corpus are there with the next request."""

EPILOG = """\
examples:
  roughly serve web.roughly
  openssl rand -hex 20 > token.txt && roughly serve web.roughly --token-file token.txt
  roughly serve web.roughly --host 0.0.0.0 --token-file token.txt --allow-host search.example

The token is better given in the environment (ROUGHLY_TOKEN) or in a file: other users
of the machine can see the words of a command.

Exit status: 0 ended by a signal, 1 something had to be killed at the end, 2 error."""


def add_parser(subparsers: Any) -> None:
    """Adds the command to the parser of all commands."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "serve",
        help="a corpus as an HTTP service, with pages",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("corpus", metavar="CORPUS", help="a corpus")
    group = parser.add_argument_group("where, and for whom")
    add = group.add_argument
    add("--host", metavar="NAME", default="127.0.0.1", help="where to listen (default: 127.0.0.1)")
    add("--port", type=_port, metavar="N", default=8080, help="default: 8080; 0: any free one")
    which = group.add_mutually_exclusive_group()
    which.add_argument("--token", metavar="TOKEN", help="what requests that write must show")
    which.add_argument("--token-file", metavar="FILE", help="a file with the token")
    add(
        "--allow-host",
        action="append",
        default=[],
        metavar="NAME",
        help="a name by which clients call this service; addresses, localhost and --host are known",
    )
    group = parser.add_argument_group("what was seen")
    add = group.add_argument
    add("--seen", metavar="DIR", help="the index of `seen` (default: CORPUS/seen)")
    add(
        "-k",
        "--distance",
        type=distance,
        metavar="K",
        help="bits in which simhashes may differ (default: as the index has it; 3 for a new one)",
    )
    group = parser.add_argument_group("what it may use")
    add = group.add_argument
    add("--workers", type=positive, metavar="N", default=1, help="HTTP processes (default: 1)")
    add("--max-body", metavar="SIZE", default="16M", help="of a request (default: 16M)")
    add(
        "--max-unpacked",
        metavar="SIZE",
        default="64M",
        help="of a request's body when it is decompressed (default: 64M)",
    )
    add(
        "--max-work",
        type=positive,
        metavar="N",
        default=64,
        help="requests that a worker works on, or has waiting, at once (default: 64)",
    )
    add(
        "--max-connections",
        type=positive,
        metavar="N",
        default=1000,
        help="open connections of a worker (default: 1000)",
    )
    add(
        "--work-seconds",
        type=positive,
        metavar="S",
        default=60,
        help="after which an answer is given up (default: 60)",
    )
    add(
        "--receive-seconds",
        type=positive,
        metavar="S",
        default=30,
        help="for a request to come in (default: 30)",
    )
    add(
        "--grace-seconds",
        type=count,
        metavar="S",
        default=30,
        help="for requests in flight when the service is ended (default: 30)",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Serves until a signal ends it."""
    from roughly.parameters import size_in_bytes

    try:
        import httptools  # noqa: F401
        import python_multipart  # noqa: F401
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
        import uvloop  # noqa: F401

        from roughly.web.limit import Limits
        from roughly.web.serve import serve
        from roughly.web.setting import Setting
    except ModuleNotFoundError as error:
        raise ParameterError(
            f"serve: not installed: {error.name} is missing", hint="pip install 'roughly[web]'"
        ) from None
    most = arguments.max_work
    limits = Limits(
        body_bytes=size_in_bytes("--max-body", arguments.max_body),
        unpacked_bytes=size_in_bytes("--max-unpacked", arguments.max_unpacked),
        receive_seconds=arguments.receive_seconds,
        idle_seconds=arguments.receive_seconds,
        work_seconds=arguments.work_seconds,
        work=most,
        # Nobody alone may take all of it.
        work_of_client=max(1, most * 3 // 4),
        connections=arguments.max_connections,
        grace_seconds=arguments.grace_seconds,
    )
    setting = Setting(
        corpus=arguments.corpus,
        seen=arguments.seen or str(Path(arguments.corpus) / "seen"),
        host=arguments.host,
        port=arguments.port,
        token=_token(arguments),
        allow_hosts=tuple(arguments.allow_host),
        workers=arguments.workers,
        distance=arguments.distance,
        limits=limits,
    )
    return serve(setting, say)


def _token(arguments: argparse.Namespace) -> str | None:
    if arguments.token_file is not None:
        from roughly.documents.file import read_bytes

        return read_bytes(arguments.token_file).decode("utf-8", "replace").strip()
    given: str | None = arguments.token
    return os.environ.get("ROUGHLY_TOKEN") or None if given is None else given


def _port(text: str) -> int:
    value = count(text)
    if value > 65535:
        raise argparse.ArgumentTypeError(f"out of range: {text}, wanted 0 to 65535")
    return value
