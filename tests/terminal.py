"""A command whose output is a terminal, and what the terminal got: all of it."""

import os
import pty
import subprocess
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

# Written behind the command's output. A terminal that nobody writes to any more may lose what has
# not been read, so its end is not awaited: this keeps it open.
_END = b"\0the end"


def run_on_terminal(
    command: Sequence[str], stream: str, **options: Any
) -> tuple[subprocess.CompletedProcess[Any], bytes]:
    """Runs a command with its `stream`, stdout or stderr, on a terminal; `options` are those of
    subprocess.run."""
    ours, theirs = pty.openpty()

    def read() -> bytes:
        got = b""
        while not got.endswith(_END):
            got += os.read(ours, 65536)
        return got.removesuffix(_END)

    try:
        with ThreadPoolExecutor(1) as beside:
            got = beside.submit(read)
            try:
                run = subprocess.run(command, **{stream: theirs}, timeout=60, **options)
            finally:
                os.write(theirs, _END)
            return run, got.result()
    finally:
        os.close(ours)
        os.close(theirs)
