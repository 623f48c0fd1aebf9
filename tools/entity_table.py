"""Writes src/core/entity_table.cpp: the named character references of HTML.

The list comes from the standard library (`html.entities.html5`), which carries the
frozen table of the HTML standard: 2,231 names, 106 of them also without semicolon.

    python tools/entity_table.py [--check]
"""

from __future__ import annotations

import argparse
import html.entities
import sys
from pathlib import Path

NAMES = 2231


def literal(data: bytes) -> str:
    return "".join(f"\\x{byte:02x}" for byte in data)


def source() -> str:
    table = html.entities.html5
    if len(table) != NAMES:
        raise SystemExit(f"html.entities.html5: wrong size: {len(table)}, want {NAMES}")
    names = sorted(table, key=lambda name: name.encode())
    lines = [
        f'    {{"{name}", {len(name)}, "{literal(table[name].encode())}", '
        f"{len(table[name].encode())}}},"
        for name in names
    ]
    return "\n".join(
        [
            "// Written by tools/entity_table.py; do not edit.",
            "// Sorted by the bytes of the name; entity_table.hpp says how to read it.",
            '#include "entity_table.hpp"',
            "",
            "namespace roughly {",
            "// clang-format off",
            f"const Entity entity_table[entity_count] = {{  // {NAMES}",
            *lines,
            "};",
            "// clang-format on",
            "}  // namespace roughly",
            "",
        ]
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    path = Path(__file__).parent.parent / "src" / "core" / "entity_table.cpp"
    if parser.parse_args().check:
        return 0 if path.read_text("utf-8") == source() else 1
    path.write_text(source(), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
