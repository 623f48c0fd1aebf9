"""Writes src/core/unicode_table.cpp: fold and class of every code point.

Input: the Unicode Character Database files of Debian's package `unicode-data`
(15.0.0), by default in /usr/share/unicode. The rules are those of section 1.2 of
docs/algorithm.md. The table is frozen: another Unicode version is another version
of the algorithm.

    python tools/unicode_table.py [--ucd DIRECTORY] [--check]
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

VERSION = "15.0.0"
CODE_POINTS = 0x110000
BLOCK = 128
SOLO_SCRIPTS = {"Han", "Hiragana", "Katakana", "Thai", "Lao", "Khmer", "Myanmar"}

SEPARATOR, WORD, SOLO = 0, 1, 2
# Entries of the table; anything from FIRST_EXPANSION on names an expansion.
TRANSPARENT, HANGUL, FIRST_EXPANSION = 3, 4, 5

HANGUL_FIRST, HANGUL_LAST = 0xAC00, 0xD7A3


def rows(path: Path) -> list[list[str]]:
    lines = (line.split("#")[0].strip() for line in path.read_text("utf-8").splitlines())
    return [[field.strip() for field in line.split(";")] for line in lines if line]


def code_range(field: str) -> range:
    first, _, last = field.partition("..")
    return range(int(first, 16), int(last or first, 16) + 1)


class Database:
    def __init__(self, directory: Path) -> None:
        first_line = (directory / "PropList.txt").read_text("utf-8").splitlines()[0]
        if VERSION not in first_line:
            raise SystemExit(f"{directory}: wrong Unicode version: {first_line!r}, want {VERSION}")
        self.category = ["Cn"] * CODE_POINTS
        self.combining = [0] * CODE_POINTS
        self.decomposition: dict[int, list[int]] = {}
        self.folding: dict[int, list[int]] = {}
        self.script = ["Zzzz"] * CODE_POINTS
        self.ignorable: set[int] = set()

        range_start = 0
        for fields in rows(directory / "UnicodeData.txt"):
            code = int(fields[0], 16)
            if fields[1].endswith(", First>"):
                range_start = code
            first = range_start if fields[1].endswith(", Last>") else code
            for each in range(first, code + 1):
                self.category[each] = fields[2]
                self.combining[each] = int(fields[3])
            if fields[5]:
                values = [part for part in fields[5].split() if not part.startswith("<")]
                self.decomposition[code] = [int(value, 16) for value in values]
        for fields in rows(directory / "CaseFolding.txt"):
            if fields[1] in ("C", "F"):
                self.folding[int(fields[0], 16)] = [int(part, 16) for part in fields[2].split()]
        for fields in rows(directory / "Scripts.txt"):
            for code in code_range(fields[0]):
                self.script[code] = fields[1]
        for fields in rows(directory / "DerivedCoreProperties.txt"):
            if fields[1] == "Default_Ignorable_Code_Point":
                self.ignorable.update(code_range(fields[0]))

    def decompose(self, code: int) -> list[int]:
        if HANGUL_FIRST <= code <= HANGUL_LAST:
            index = code - HANGUL_FIRST
            trailing = index % 28
            parts = [0x1100 + index // 588, 0x1161 + index % 588 // 28]
            return parts + ([0x11A7 + trailing] if trailing else [])
        if code in self.decomposition:
            return [d for part in self.decomposition[code] for d in self.decompose(part)]
        return [code]

    def fold(self, code: int) -> list[int]:
        now, before = [code], []
        while now != before:
            before = now
            now = [f for c in now for d in self.decompose(c) for f in self.folding.get(d, [d])]
        return [c for c in now if not self.left_out(c)]

    def left_out(self, code: int) -> bool:
        mark = self.category[code].startswith("M") and self.combining[code] != 0
        return mark or code in self.ignorable

    def kind(self, code: int) -> int:
        category = self.category[code]
        if category[0] not in "LM" and category != "Nd":
            return SEPARATOR
        return SOLO if self.script[code] in SOLO_SCRIPTS else WORD


def expansion(database: Database, codes: list[int]) -> bytes:
    """Number of pieces, then of each: class, length, bytes. Neighbouring word code points share
    a piece, neighbouring separators too (as one empty piece)."""
    pieces: list[tuple[int, bytes]] = []
    for code in codes:
        kind = database.kind(code)
        encoded = b"" if kind == SEPARATOR else chr(code).encode()
        if pieces and pieces[-1][0] == kind and kind != SOLO:
            pieces[-1] = (kind, pieces[-1][1] + encoded)
        else:
            pieces.append((kind, encoded))
    packed = b"".join(bytes((kind, len(encoded))) + encoded for kind, encoded in pieces)
    return bytes((len(pieces),)) + packed


def build(database: Database) -> tuple[list[int], list[int], list[int], bytes]:
    pool = bytearray()
    offsets: list[int] = []
    known: dict[bytes, int] = {}
    entries = []
    for code in range(CODE_POINTS):
        folded = database.fold(code)
        if HANGUL_FIRST <= code <= HANGUL_LAST:
            entries.append(HANGUL)
        elif not folded:
            entries.append(TRANSPARENT)
        elif all(database.kind(each) == SEPARATOR for each in folded):
            entries.append(SEPARATOR)
        elif folded == [code]:
            entries.append(database.kind(code))
        else:
            packed = expansion(database, folded)
            if packed not in known:
                known[packed] = FIRST_EXPANSION + len(offsets)
                offsets.append(len(pool))
                pool += packed
            entries.append(known[packed])
    blocks: dict[tuple[int, ...], int] = {}
    index = []
    for start in range(0, CODE_POINTS, BLOCK):
        index.append(blocks.setdefault(tuple(entries[start : start + BLOCK]), len(blocks)))
    flat = [entry for block in blocks for entry in block]
    assert max(flat) < 1 << 16 and max(index) < 1 << 16
    return index, flat, offsets, bytes(pool)


def array(kind: str, name: str, values: list[int] | bytes) -> str:
    lines, line = [], "   "
    for value in values:
        if len(line) + len(str(value)) > 97:
            lines.append(line)
            line = "   "
        line += f" {value},"
    lines.append(line)
    return f"const {kind} {name}[] = {{\n" + "\n".join(lines) + "\n};\n"


def source(directory: Path) -> str:
    index, flat, offsets, pool = build(Database(directory))
    return "\n".join(
        [
            f"// Written by tools/unicode_table.py from Unicode {VERSION}; do not edit.",
            "// Two-stage table; unicode_table.hpp says how to read it.",
            '#include "unicode_table.hpp"',
            "",
            "namespace roughly {",
            "// clang-format off",
            array("uint16_t", "unicode_block", index),
            array("uint16_t", "unicode_entry", flat),
            array("uint32_t", "unicode_expansion_offset", offsets),
            array("uint8_t", "unicode_expansion", pool),
            "// clang-format on",
            "}  // namespace roughly",
            "",
        ]
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ucd", type=Path, default=Path("/usr/share/unicode"))
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    arguments = parser.parse_args()
    path = Path(__file__).parent.parent / "src" / "core" / "unicode_table.cpp"
    text = source(arguments.ucd)
    if arguments.check:
        return 0 if path.read_text("utf-8") == text else 1
    path.write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
