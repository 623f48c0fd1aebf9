"""Fold and class of every code point (docs/algorithm.md, 1.2), from a flat committed file.

unicode-15.0.0.tsv.gz holds what is not trivially default; a code point it does not name folds
to itself and separates. make_unicode.py derives the file from the Unicode Character Database.
The standard library's `unicodedata` is another Unicode version and is never asked.

Lines of the file, tab-separated, code points in hexadecimal:
    fold        FIRST  LAST  TO...   each of FIRST..LAST folds to TO (none: transparent)
    word, solo  FIRST  LAST          the class of FIRST..LAST as a *result* of folding
"""

import gzip
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple

Class = Literal["word", "solo", "separator"]

VERSION = "15.0.0"
FLAT_FILE = Path(__file__).parent / f"unicode-{VERSION}.tsv.gz"


class Table(NamedTuple):
    """What differs from the defaults: code point -> its fold, code point -> its class."""

    folds: dict[int, tuple[int, ...]]
    classes: dict[int, Class]


def parse(text: str) -> Table:
    table = Table({}, {})
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        kind, first, last, *to = line.split("\t")
        for c in range(int(first, 16), int(last, 16) + 1):
            if kind == "fold":
                table.folds[c] = tuple(int(d, 16) for d in to)
            elif kind == "word":
                table.classes[c] = "word"
            elif kind == "solo":
                table.classes[c] = "solo"
            else:
                raise ValueError(f"{FLAT_FILE.name}: unknown kind of line: {kind!r}")
    return table


@cache
def table() -> Table:
    return parse(gzip.decompress(FLAT_FILE.read_bytes()).decode("ascii"))


def hangul(c: int) -> tuple[int, ...] | None:
    """The conjoining jamo of a Hangul syllable (Unicode 3.12), or None for anything else."""
    index = c - 0xAC00
    if not 0 <= index < 11172:
        return None
    leading, rest = divmod(index, 21 * 28)
    vowel, trailing = divmod(rest, 28)
    jamo = (0x1100 + leading, 0x1161 + vowel)
    return jamo if trailing == 0 else (*jamo, 0x11A7 + trailing)


def fold(c: int) -> tuple[int, ...]:
    """`fold(c)`: decomposed, casefolded, without marks and ignorables; () if transparent."""
    found = table().folds.get(c)
    if found is None:
        found = hangul(c)
    return (c,) if found is None else found


def class_of(d: int) -> Class:
    """The class of a code point that stands in a fold."""
    return table().classes.get(d, "separator")
