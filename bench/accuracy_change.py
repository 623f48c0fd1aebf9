"""`python -m bench accuracy_change [--truth FOLDER] [--texts FILE]`: numbers that change on every
fetch, and what masking them would win and lose.

Masking: every token that has a digit in it counts as the same one, before documents are shingled.
What it wins is asked of real pages (html_pages), fetched again with other numbers: all of them, or
some dates and counters. What it loses is asked of texts that differ by their numbers and are not
the same: licences and their versions, and the texts of Debian packages (FILE, by `bench debian`),
changelogs above all. Documents left: how many there are if every cluster is one.
"""

import argparse
import json
import random
import re
import sys
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

import numpy as np
import numpy.typing as npt

import roughly
from bench.accuracy_set import rows, truth_folder
from bench.report import Section, Table
from bench.session import Session, add_output_options
from roughly import _core

W = 5
DIGIT = re.compile(r"\d")
MASK = "0"
PLACES = (1, 3, 10)  # dates and counters in a page
THRESHOLDS = ("0.5", "0.7", "0.9")
TEXTS = 10_000
SEED = 20_261_116


def words(text: str, html: bool = False) -> list[str]:
    return bytes(_core.tokenize(text.encode(), html)[0]).decode().split()


def masked(tokens: Sequence[str]) -> list[str]:
    return [MASK if DIGIT.search(token) else token for token in tokens]


def changed(tokens: Sequence[str], only: frozenset[int] | None = None) -> list[str]:
    """The same with other digits, in all tokens that have one or in those at some places."""
    return [
        DIGIT.sub(lambda digit: str((int(digit[0]) + 1) % 10), token)
        if only is None or at in only
        else token
        for at, token in enumerate(tokens)
    ]


def resemblance(a: Sequence[str], b: Sequence[str]) -> float:
    return roughly.resemblance(" ".join(a), " ".join(b), w=W)


def fetched_again(truth: Path) -> Section:
    draw = random.Random(SEED)
    pages = [words(row["html"], True) for row in rows(truth / "html_pages" / "pages.jsonl.gz")]
    pages = [page for page in pages if len(page) >= 100]
    section = Section("fetched again", f"{len(pages)} real pages")
    share = [sum(map(bool, map(DIGIT.search, page))) / len(page) for page in pages]
    section.notes.append(f"tokens with a digit: {np.median(share):.3f} of a page (median)")
    table = [_row("every number", [resemblance(page, changed(page)) for page in pages])]
    for places in PLACES:
        found = []
        for page in pages:
            at = [n for n, token in enumerate(page) if DIGIT.search(token)]
            some = frozenset(draw.sample(at, min(places, len(at))))
            found.append(resemblance(page, changed(page, some)))
        table.append(_row(f"{places} of them", found))
    heads = ("what is other", "median", "10%", "1%", "below 0.9", "below 0.7", "below 0.5")
    section.tables.append(Table(heads, table))
    section.notes.append("resemblance of a page and the same with other digits; masked it is 1")
    return section


def _row(name: str, found: Sequence[float]) -> list[str | float | None]:
    values: npt.NDArray[np.float64] = np.array(found)
    quantiles = [float(np.quantile(values, q)) for q in (0.5, 0.1, 0.01)]
    below = [float((values < float(level)).mean()) for level in ("0.9", "0.7", "0.5")]
    return [name, *quantiles, *below]


def merged(name: str, texts: Sequence[str]) -> Section:
    """Texts that are not the same: how many would be left, by clusters and by canonical form."""
    plain = [" ".join(words(text)) for text in texts]
    without = [" ".join(masked(text.split())) for text in plain]
    section = Section(name, f"{len(texts):,} texts")
    table: list[list[str | float | None]] = []
    for kind, each in (("as they are", plain), ("masked", without)):
        found = roughly.cluster(each, "0.5", content_type="text")
        left = []
        for threshold in THRESHOLDS:
            sizes = found.at(threshold).sizes()
            left.append(len(each) - int(sizes.sum()) + len(sizes))
        table.append([kind, len(set(each)), *reversed(left)])
    heads = ("documents left", "distinct", *(f"at {t}" for t in reversed(THRESHOLDS)))
    section.tables.append(Table(heads, table))
    return section


def retyped(truth: Path) -> Section:
    """Licences that two projects typed, and pairs of different ones."""
    pairs = [(words(r["a"]), words(r["b"])) for r in rows(truth / "spdx" / "pairs.jsonl.gz")]
    section = Section("spdx", f"{len(pairs)} licences, each typed by two projects")
    table: list[list[str | float | None]] = []
    for kind, form in (("as they are", list), ("masked", masked)):
        found = np.array([resemblance(form(a), form(b)) for a, b in pairs])
        table.append([kind, *(float((found >= float(t)).mean()) for t in THRESHOLDS)])
    section.tables.append(Table(("found", *(f"at {t}" for t in THRESHOLDS)), table))
    return section


def debian(path: Path) -> Iterator[tuple[str, list[str]]]:
    """Texts of packages by kind."""

    def texts(wanted: str) -> Iterator[str]:
        with path.open(encoding="utf-8") as file:
            for line in file:
                document = json.loads(line)
                if wanted in document["id"]:
                    yield document["text"]

    for kind in ("changelog", "/man/", "copyright"):
        yield kind, list(islice(texts(kind), TEXTS))


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench accuracy_change", description=__doc__)
    parser.add_argument("--truth", type=Path, default=truth_folder(), metavar="FOLDER")
    parser.add_argument("--texts", type=Path, metavar="FILE", help="of Debian packages")
    add_output_options(parser)
    arguments = parser.parse_args(argv)
    session = Session("full", "accuracy-change")
    session.add(fetched_again(arguments.truth))
    session.add(retyped(arguments.truth))
    refs = rows(arguments.truth / "licences" / "refs.jsonl.gz")
    session.add(merged("licences", [row["text"] for row in refs]))
    if arguments.texts is not None:
        for kind, texts in debian(arguments.texts):
            session.add(merged(f"debian: {kind}", texts))
    return session.finish(arguments.json, arguments.record)


if __name__ == "__main__":
    sys.exit(main())
