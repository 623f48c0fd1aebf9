"""Derives unicode-15.0.0.tsv.gz from the Unicode Character Database (docs/algorithm.md, 1.2).

    python -m tests.reference.make_unicode [DIRECTORY]

DIRECTORY holds the UCD files as Debian's package `unicode-data` installs them. Another version
than 15.0.0 is refused: the algorithm froze that one. The text is a function of the input alone;
its compressed bytes also depend on the zlib that made them, so tests compare the text.
"""

import gzip
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from tests.reference.unicode import FLAT_FILE, VERSION, hangul

DIRECTORY = Path("/usr/share/unicode")
CODE_POINTS = range(0x110000)
SOLO_SCRIPTS = {"Han", "Hiragana", "Katakana", "Thai", "Lao", "Khmer", "Myanmar"}

Sequence = tuple[int, ...]


class Database(NamedTuple):
    """The properties the algorithm asks for; a code point that is absent has the default."""

    category: dict[int, str]
    combining: dict[int, int]
    decomposition: dict[int, Sequence]  # one step, canonical and compatibility alike
    casefold: dict[int, Sequence]
    script: dict[int, str]
    ignorable: set[int]


def fields(path: Path) -> Iterator[list[str]]:
    """The semicolon-separated fields of every line that has some; comments are left out."""
    for line in path.read_text(encoding="utf-8").splitlines():
        content = line.split("#")[0].strip()
        if content:
            yield [field.strip() for field in content.split(";")]


def ranges(path: Path) -> Iterator[tuple[range, str]]:
    """The lines `FIRST..LAST ; value` of a property file."""
    for span, value, *_ in fields(path):
        first, _, last = span.partition("..")
        yield range(int(first, 16), int(last or first, 16) + 1), value


def sequence(text: str) -> Sequence:
    return tuple(int(c, 16) for c in text.split())


def check_version(directory: Path) -> None:
    """UnicodeData.txt names no version, so the file of the ages of its characters stands in."""
    for name in ("CaseFolding", "DerivedCoreProperties", "Scripts", "DerivedAge"):
        with (directory / f"{name}.txt").open(encoding="utf-8") as file:
            first = file.readline().strip()
        wanted = f"# {name}-{VERSION}.txt"
        if first != wanted:
            raise ValueError(f"{directory / name}.txt: wrong version: {first!r}, not {wanted!r}")


def load(directory: Path = DIRECTORY) -> Database:
    check_version(directory)
    data = Database({}, {}, {}, {}, {}, set())
    first_of_range = 0
    for code, name, category, combining, _, decomposition, *_ in fields(
        directory / "UnicodeData.txt"
    ):
        c = int(code, 16)
        if name.endswith(", First>"):
            first_of_range = c
        start = first_of_range if name.endswith(", Last>") else c
        for member in range(start, c + 1):
            data.category[member] = category
        if combining != "0":
            data.combining[c] = int(combining)
        if decomposition:  # "<compat> 0020 0308": the tag in brackets is of no consequence here
            data.decomposition[c] = sequence(decomposition.split("> ")[-1])
    for code, status, mapping, *_ in fields(directory / "CaseFolding.txt"):
        if status in ("C", "F"):
            data.casefold[int(code, 16)] = sequence(mapping)
    for span, script in ranges(directory / "Scripts.txt"):
        data.script.update(dict.fromkeys(span, script))
    for span, name in ranges(directory / "DerivedCoreProperties.txt"):
        if name == "Default_Ignorable_Code_Point":
            data.ignorable.update(span)
    return data


def decompose(data: Database, c: int) -> Sequence:
    """All steps of the decomposition of one code point."""
    step = hangul(c) or data.decomposition.get(c)
    if step is None:
        return (c,)
    return tuple(e for d in step for e in decompose(data, d))


def nfkd(data: Database, text: Sequence) -> Sequence:
    """Normalization form KD: decompose, then sort every run of marks by combining class."""
    result: list[int] = []
    marks: list[int] = []
    for c in (d for composed in text for d in decompose(data, composed)):
        if data.combining.get(c, 0) == 0:
            result += sorted(marks, key=data.combining.__getitem__)
            marks = []
            result.append(c)
        else:
            marks.append(c)
    return (*result, *sorted(marks, key=data.combining.__getitem__))


def derive_fold(data: Database, c: int) -> Sequence:
    text: Sequence = (c,)
    while True:
        decomposed = nfkd(data, text)
        folded = tuple(e for d in decomposed for e in data.casefold.get(d, (d,)))
        if folded == text:
            break
        text = folded
    return tuple(d for d in text if not left_out(data, d))


def left_out(data: Database, d: int) -> bool:
    is_mark = data.category.get(d, "Cn").startswith("M")
    return d in data.ignorable or (is_mark and data.combining.get(d, 0) != 0)


def derive_class(data: Database, d: int) -> str:
    category = data.category.get(d, "Cn")
    if category[0] in "LM" or category == "Nd":
        return "solo" if data.script.get(d) in SOLO_SCRIPTS else "word"
    return "separator"


def runs(kind: str, values: Iterable[tuple[int, str]]) -> Iterator[str]:
    """The lines of one kind: neighbouring code points of equal value share one."""
    first, last, value = 0, -1, ""
    for c, next_value in values:
        if c == last + 1 and next_value == value:
            last = c
            continue
        if last >= first:
            yield f"{kind}\t{first:04X}\t{last:04X}{value}"
        first, last, value = c, c, next_value
    if last >= first:
        yield f"{kind}\t{first:04X}\t{last:04X}{value}"


def make(directory: Path = DIRECTORY) -> str:
    """The text of the flat file."""
    data = load(directory)
    folds = [
        (c, "".join(f"\t{d:04X}" for d in fold))
        for c in CODE_POINTS
        if hangul(c) is None and (fold := derive_fold(data, c)) != (c,)
    ]
    lines = [f"# fold and class of code points, from the Unicode Character Database {VERSION}"]
    lines += runs("fold", folds)
    for kind in ("word", "solo"):
        lines += runs(kind, ((c, "") for c in CODE_POINTS if derive_class(data, c) == kind))
    return "".join(line + "\n" for line in lines)


def write(text: str, path: Path = FLAT_FILE) -> None:
    """No time and no name in the header: equal text gives equal bytes from one zlib."""
    with path.open("wb") as raw, gzip.GzipFile("", "wb", 9, raw, mtime=0) as file:
        file.write(text.encode("ascii"))


if __name__ == "__main__":
    write(make(Path(sys.argv[1]) if len(sys.argv) > 1 else DIRECTORY))
