"""How long `import roughly` and `roughly --help` take in a process of their own.

hyperfine starts the processes where it is installed, else a loop here; the median counts. Python
itself is measured beside them, because most of the time is its own.
"""

import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from bench.corpus import Corpus
from bench.measure import Scale
from bench.report import Check, Result, Section

HEAVY = ("numpy", "pyarrow", "pandas", "rich")


def _environment() -> dict[str, str]:
    """As a user has it: compiled modules are kept."""
    return {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}


def help_command() -> list[str]:
    """The installed command, or the module where only that is there."""
    command = Path(sys.executable).with_name("roughly")
    return [str(command), "--help"] if command.exists() else [sys.executable, "-m", "roughly", "-h"]


def _loop(commands: Sequence[Sequence[str]], starts: int) -> list[list[float]]:
    seconds: list[list[float]] = [[] for _ in commands]
    for round_number in range(starts + 1):
        for command, list_of in zip(commands, seconds, strict=True):
            begin = time.perf_counter()
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=_environment())
            if round_number:  # the first one warms up
                list_of.append(time.perf_counter() - begin)
    return seconds


def _hyperfine(program: str, commands: Sequence[Sequence[str]], starts: int) -> list[list[float]]:
    seconds = []
    for command in commands:
        with tempfile.TemporaryDirectory() as folder:
            output = Path(folder) / "times.json"
            options = ["--style=none", "--warmup=2", f"--runs={max(2, starts)}"]
            subprocess.run(
                [program, "-N", *options, f"--export-json={output}", shlex.join(command)],
                check=True,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=_environment(),
            )
            seconds.append(json.loads(output.read_text())["results"][0]["times"])
    return seconds


def check_light(loaded: Sequence[str]) -> Check:
    """`import roughly` loads roughly and nothing heavy."""
    names = {module.partition(".")[0] for module in loaded}
    heavy = sorted(names & set(HEAVY))
    detail = f"loads {', '.join(heavy)}" if heavy else f"{len(loaded)} modules"
    return Check("import roughly loads nothing heavy", "roughly" in names and not heavy, detail)


def check_help(text: str) -> Check:
    """`roughly --help` says how it is used."""
    return Check("roughly --help prints the usage", text.lstrip().startswith("usage: roughly"))


def _output(command: Sequence[str]) -> str:
    run = subprocess.run(command, check=True, capture_output=True, text=True, env=_environment())
    return run.stdout


def run(corpus: Corpus, scale: Scale) -> Section:
    python = sys.executable
    commands = {
        "python -c pass, for comparison": [python, "-c", "pass"],
        "import roughly": [python, "-c", "import roughly"],
        "roughly --help": help_command(),
    }
    targets = {"import roughly": 150.0, "roughly --help": 250.0}
    program = shutil.which("hyperfine")
    listed = list(commands.values())
    found = _hyperfine(program, listed, scale.starts) if program else _loop(listed, scale.starts)
    section = Section("startup", f"processes started {scale.starts} times each; the median counts")
    section.notes.append(f"measured by {'hyperfine' if program else 'a loop of subprocesses'}")
    for (name, _), seconds in zip(commands.items(), found, strict=True):
        wanted = targets.get(name)
        middle = median(seconds) * 1e3
        section.results.append(
            Result(
                f"{name} (best {min(seconds) * 1e3:.1f} ms)",
                middle,
                "ms",
                "<" if wanted else "",
                wanted,
            )
        )
    code = "import sys, roughly; print(*sys.modules)"
    section.checks.append(check_light(_output([python, "-c", code]).split()))
    section.checks.append(check_help(_output(help_command())))
    return section
