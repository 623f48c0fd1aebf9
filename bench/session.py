"""A run of benchmarks: what is printed as it goes, and what is kept of it.

Exit status: 0 when everything that was timed also did its work, whether or not targets were
reached; 1 when a check failed, so that the figures are void.
"""

import argparse
import json
import re
import sys
from pathlib import Path

from bench import machine
from bench.report import Section, failures, summary, wrapped


def add_output_options(parser: argparse.ArgumentParser) -> None:
    """The options that every benchmark has."""
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every figure there too")
    parser.add_argument(
        "--record", type=Path, metavar="FOLDER", help="write DATE-MACHINE.json and .txt there"
    )


class Session:
    """Prints sections as they come and writes them down in the end."""

    def __init__(self, size: str, name: str = "") -> None:
        """`name` tells the files of a recorded run from those of others."""
        self._size = size
        self._name = name
        self._record = machine.machine()
        self._printed: list[str] = []
        self._sections: list[Section] = []
        for line in machine.lines(self._record):
            self._say(*wrapped(line))
        self._say(f"size: {size}")

    def add(self, section: Section) -> None:
        self._sections.append(section)
        self._say("", *section.lines())

    def finish(self, json_file: Path | None, folder: Path | None) -> int:
        """The summary, the files that were asked for, and the exit status."""
        self._say("", *summary(self._sections))
        failed = failures(self._sections)
        output = {
            "machine": self._record,
            "size": self._size,
            "valid": not failed,
            "sections": [section.to_json() for section in self._sections],
        }
        text = json.dumps(output, indent=1, ensure_ascii=False) + "\n"
        # The seconds of all rounds in one line.
        text = re.sub(r"\[[\d\s.,e-]+\]", lambda numbers: " ".join(numbers[0].split()), text)
        if json_file:
            json_file.write_text(text, "utf-8")
        if failed:
            print("bench: the figures are void: a check failed", *failed, sep="\n", file=sys.stderr)
            return 1
        if folder:
            folder.mkdir(parents=True, exist_ok=True)
            name = machine.file_name(self._record)
            if self._name:
                name = f"{name}-{self._name}"
            (folder / f"{name}.json").write_text(text, "utf-8")
            (folder / f"{name}.txt").write_text("\n".join(self._printed) + "\n", "utf-8")
        return 0

    def _say(self, *lines: str) -> None:
        self._printed.extend(lines)
        print(*lines, sep="\n", flush=True)
