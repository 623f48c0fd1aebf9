"""`roughly info CORPUS`: what a corpus holds, how it was made, what it takes on disk."""

from __future__ import annotations

import argparse
import json
from fractions import Fraction
from typing import Any

from roughly.cli.output import counted
from roughly.cli.progress import amount
from roughly.documents.file import printable

DESCRIPTION = """\
Shows what a corpus holds: documents, sweeps by date, segments, what was removed,
how it was sketched and clustered, and what it takes on disk. The seed of the
sketches is shown if it is 0, the default; any other may be secret and is shown
with --show-seed."""

EPILOG = """\
example:
  roughly info web.roughly --json --show-seed

Exit status: 0 done, 2 error."""

_SHOWN = 20


def add_parser(subparsers: Any) -> None:
    """Adds the command to the parser of all commands."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "info",
        help="what a corpus holds, how it was made, and what it takes on disk",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("corpus", metavar="CORPUS", help="the corpus")
    parser.add_argument("--json", action="store_true", help="all of it, as a JSON object")
    parser.add_argument("--show-seed", action="store_true", help="show a seed that may be secret")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Shows it."""
    from roughly.corpus import Corpus

    found = Corpus(arguments.corpus).info()
    seed = found.parameters["seed"]
    if seed and not arguments.show_seed:
        found.parameters["seed"] = None if arguments.json else "not shown"
    if arguments.json:
        print(json.dumps(found.to_dict()))
        return 0
    removed = f", {found.removed:,} removed" if found.removed else ""
    print(f"{printable(found.path)}: {counted(found.documents, 'document')}{removed}")
    sketch = ", ".join(
        f"{name} {found.parameters[name]}" for name in ("w", "words", "select", "seed")
    )
    print(f"sketches: {sketch}")
    settings = found.settings
    if settings["method"] == "hamming":
        line = "clusters:"
    else:
        line = f"clusters: threshold {settings['threshold']:g}, floor {settings['floor']:g}"
    if settings["containment"] is not None:
        line += (
            f", containment {settings['containment']:g}, floor {settings['containment_floor']:g}"
        )
    if settings["method"] not in ("join", "hamming"):
        line += f", by {settings['method']}"
    if settings["linkage"] != "single":
        line += f", linkage {settings['linkage']}"
    line += _condition(settings["condition"])
    if settings["discount"] is not None:
        line += f", discount {settings['discount']}"
    print(line + (", counted exactly" if settings["exact"] else ""))
    print(f"text: {'kept' if found.text else 'not kept'}")
    sizes = found.bytes
    print(
        f"on disk: {amount(sizes['segments'], 'B')} of documents,"
        f" {amount(sizes['forest'], 'B')} of clusters, {amount(sizes['other'], 'B')} besides"
    )
    _table("sweep", [(s.date or "undated", s.documents, "") for s in found.sweeps])
    _table(
        "segment",
        [
            (
                s.name,
                s.documents,
                f"  {amount(s.bytes, 'B')}" + (f", {s.removed:,} removed" if s.removed else ""),
            )
            for s in found.segments
        ],
    )
    return 0


def _condition(condition: dict[str, Any]) -> str:
    """Which pairs count, as words behind the thresholds."""
    bits = counted(condition["distance"], "bit")
    line = {
        "shingles": "",
        "simhash": f" by simhashes within {bits}",
        "both": f", simhashes within {bits}",
    }[condition["method"]]
    if condition["size_ratio"] is not None:
        line += f", size ratio {float(Fraction(condition['size_ratio'])):g}"
    if condition["within"] is not None:
        line += f", within {printable(condition['within'])}"
    return line


def _table(head: str, rows: list[tuple[str, int, str]]) -> None:
    if not rows:
        return
    print(f"\n{head:<12}documents")
    for name, documents, more in rows[:_SHOWN]:
        print(f"{name:<12}{documents:9,}{more}")
    if len(rows) > _SHOWN:
        print(f"and {len(rows) - _SHOWN:,} more; --json lists all")
