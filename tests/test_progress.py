"""Progress: shown on a terminal, silent and light everywhere else."""

import os
import re
import subprocess
import sys

import pytest

from roughly.cli.progress import Progress, amount
from tests.terminal import run_on_terminal

RUN = """
import sys
from roughly.cli.progress import Progress
with Progress(quiet="quiet" in sys.argv) as progress:
    advance = progress.phase("reading", 4000, "B")
    advance(1500)
    advance(2500)
    advance = progress.phase("pairs", 100, "pairs")
    advance(50)
    if "fail" in sys.argv:
        raise SystemExit(3)
    progress.phase("unknown", None)(7)
print("rich" in sys.modules)
"""


def on_terminal(*words: str) -> tuple[int, str, str]:
    """Exit status, standard output, and what a terminal of 100 columns got on standard error."""
    environment = os.environ | {"COLUMNS": "100", "TERM": "xterm"}
    command = [sys.executable, "-c", RUN, *words]
    run, seen = run_on_terminal(command, "stderr", stdout=subprocess.PIPE, env=environment)
    text = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", seen.decode())
    return run.returncode, run.stdout.decode(), text


def test_on_a_terminal() -> None:
    status, printed, seen = on_terminal()
    assert (status, printed) == (0, "True\n")
    last = seen.replace("\r\n", "\n").replace("\r", "\n").strip().splitlines()[-3:]
    assert [line.split()[0] for line in last] == ["reading", "pairs", "unknown"]
    assert "4.0 kB" in last[0]
    # Ended by the next phase, before its total was reached.
    assert "50 pairs" in last[1]
    assert " of " not in last[1]


def test_an_error_leaves_a_phase_where_it_was() -> None:
    status, printed, seen = on_terminal("fail")
    assert (status, printed) == (3, "")
    last = seen.replace("\r\n", "\n").replace("\r", "\n").strip().splitlines()[-1]
    assert "50 of 100 pairs" in last


def test_quiet() -> None:
    assert on_terminal("quiet") == (0, "False\n", "")


def test_no_terminal() -> None:
    run = subprocess.run([sys.executable, "-c", RUN], capture_output=True, text=True, timeout=60)
    assert (run.returncode, run.stdout, run.stderr) == (0, "False\n", "")


def test_no_standard_error_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", None)
    with Progress() as progress:
        progress.phase("reading", 1)(1)


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (0, "B", "0 B"),
        (999, "B", "999 B"),
        (1000, "B", "1.0 kB"),
        (1_530_000, "B", "1.5 MB"),
        (999_960, "B", "1.0 MB"),
        (2.5e9, "B", "2.5 GB"),
        (3e12, "B", "3.0 TB"),
        (12345, "documents", "12,345 documents"),
        (1234.5, "", "1,234"),
    ],
)
def test_amounts(value: float, unit: str, text: str) -> None:
    assert amount(value, unit) == text
