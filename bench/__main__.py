"""`python -m bench [NAME ...]`: runs the benchmarks and prints their figures.

Exit status: 0 when everything that was timed also did its work, whether or not targets were
reached; 1 when a check failed, so that the figures are void; 2 for wrong arguments.
"""

import argparse
import json
import os
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from bench import html, machine, memory, peer, script, sketch, stage, startup
from bench.corpus import Corpus
from bench.measure import FULL, QUICK, TINY, Scale
from bench.report import Section, failures, summary, wrapped

Benchmark = Callable[[Corpus, Scale], Section]

BENCHMARKS: dict[str, Benchmark] = {
    "sketch": sketch.run,
    "stage": stage.run,
    "html": html.run,
    "peer": peer.run,
    "script": script.run,
    "startup": startup.run,
    "memory": memory.run,
}


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m bench",
        description="Speed, start-up and memory of roughly beside its peers.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "name", nargs="*", help=f"what to run, of {', '.join(BENCHMARKS)}; all unless named"
    )
    parser.add_argument("--quick", action="store_true", help="fewer documents and rounds")
    parser.add_argument(
        "--tiny", action="store_true", help="seconds in all, for tests; the figures mean nothing"
    )
    parser.add_argument("--text", type=Path, metavar="FILE", help="texts from JSON Lines (.gz)")
    parser.add_argument("--html", type=Path, metavar="FILE", help="pages from JSON Lines (.gz)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every figure there too")
    parser.add_argument(
        "--record", type=Path, metavar="FOLDER", help="write DATE-MACHINE.json and .txt there"
    )
    arguments = parser.parse_args(argv)
    for name in arguments.name:
        if name not in BENCHMARKS:
            parser.error(f"name: unknown: {name!r}, wanted some of {', '.join(BENCHMARKS)}")
    for file in (arguments.text, arguments.html):
        if file and not file.is_file():
            parser.error(f"{file}: not a file, wanted JSON Lines")
    return arguments


def main(argv: Sequence[str] | None = None) -> int:
    arguments = _arguments(argv)
    # Inherited, it would decide what the figures of the other levels are.
    os.environ.pop("ROUGHLY_SIMD", None)
    scale = TINY if arguments.tiny else QUICK if arguments.quick else FULL
    corpus = Corpus(scale.texts, scale.pages, arguments.text, arguments.html)
    record = machine.machine()
    printed: list[str] = []

    def say(*lines: str) -> None:
        printed.extend(lines)
        print(*lines, sep="\n", flush=True)

    for line in machine.lines(record):
        say(*wrapped(line))
    say(f"size: {scale.name}")
    sections: list[Section] = []
    for name in arguments.name or BENCHMARKS:
        section = BENCHMARKS[name](corpus, scale)
        sections.append(section)
        say("", *section.lines())
    say("", *summary(sections))
    failed = failures(sections)

    output = {
        "machine": record,
        "size": scale.name,
        "valid": not failed,
        "sections": [section.to_json() for section in sections],
    }
    text = json.dumps(output, indent=1, ensure_ascii=False) + "\n"
    # The seconds of all rounds in one line.
    text = re.sub(r"\[[\d\s.,e-]+\]", lambda numbers: " ".join(numbers[0].split()), text)
    if arguments.json:
        arguments.json.write_text(text, "utf-8")
    if failed:
        print("bench: the figures are void: a check failed", *failed, sep="\n", file=sys.stderr)
        return 1
    if arguments.record:
        arguments.record.mkdir(parents=True, exist_ok=True)
        base = arguments.record / machine.file_name(record)
        base.with_name(base.name + ".json").write_text(text, "utf-8")
        base.with_name(base.name + ".txt").write_text("\n".join(printed) + "\n", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
