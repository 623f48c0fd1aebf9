"""What `bench.accuracy` says about the choices that ship: how much is kept, and short documents.

Every choice is scored on every pair set in the same way, level chosen on one half and scored on the
other, so that a choice can be seen to be good everywhere and not best on one.
"""

from collections.abc import Sequence

import numpy as np

from bench.accuracy_method import SELECT, WORDS, Documents, W, by_share
from bench.accuracy_score import score
from bench.report import Section, Table

SELECTIONS = ("adaptive:50", "adaptive:100", SELECT, "adaptive:400", "mod:8", "min:200", "perm:128")
MOST_WORDS = (50, 75, 100, 125, 150, 175, 200, 225, 256)


def selection(sets: Sequence[Documents]) -> Section:
    """What is lost by keeping less than all."""
    section = Section("selection", f"F1 of estimates by what is kept, w={W}")
    table = [
        ("all (exact)", *(_f1(each, "all") for each in sets)),
        *((select, *(_f1(each, select) for each in sets)) for select in SELECTIONS),
    ]
    section.tables.append(Table(("kept", *(each.pairs.name for each in sets)), table))
    errors = []
    for select in SELECTIONS:
        row = [np.abs(each.resemblance(select=select) - each.resemblance())[each.pairs.dup].mean()
               for each in sets]  # fmt: skip
        errors.append((select, *map(float, row)))
    heads = ("mean error on copies", *(each.pairs.name for each in sets))
    section.tables.append(Table(heads, errors))
    return section


def _f1(documents: Documents, select: str) -> float:
    share = documents.resemblance(select=select)
    return score(documents.pairs, by_share(select, share)).f1


def words(sets: Sequence[Documents]) -> Section:
    """Single words beside the shingles of documents under so many tokens."""
    section = Section("short documents", f"F1 with words beside shingles of w={W}, exact")
    rows: list[tuple[str | float | None, ...]] = []
    for name, shares in (
        (f"w={W} alone", [each.resemblance() for each in sets]),
        ("w=1 alone", [each.resemblance(1) for each in sets]),
        *(
            (f"words below {most}", [each.resemblance(words=most) for each in sets])
            for most in MOST_WORDS
        ),
    ):
        cells: list[str | float | None] = [name]
        for each, share in zip(sets, shares, strict=True):
            found = score(each.pairs, by_share(name, share))
            cells += [found.f1, "/".join(found.levels)]
        rows.append(tuple(cells))
    heads = ["rule"]
    for each in sets:
        heads += [each.pairs.name, "levels"]
    section.tables.append(Table(heads, rows))
    section.tables.append(_at_fixed(sets))
    return section


def _at_fixed(sets: Sequence[Documents]) -> Table:
    """The same threshold for all: what a default gives."""
    rows = []
    for name, of in (
        (f"w={W}", lambda each: each.resemblance()),
        ("w=1", lambda each: each.resemblance(1)),
        (f"words below {WORDS}", lambda each: each.resemblance(words=WORDS)),
    ):
        for least in (0.1, 0.2, 0.3, 0.4, 0.5, 0.7):
            found = [by_share(name, of(each)) for each in sets]
            said = [levels.said(levels.labels.index(f"{least:g}")) for levels in found]
            row: list[str | float | None] = [f"{name} at {least}"]
            for each, claimed in zip(sets, said, strict=True):
                dup = each.pairs.dup
                right = np.count_nonzero(claimed & dup)
                row += [
                    float(right / max(1, np.count_nonzero(claimed))),
                    float(right / max(1, np.count_nonzero(dup))),
                ]
            rows.append(tuple(row))
    heads = ["at a fixed threshold"]
    for each in sets:
        heads += [f"{each.pairs.name}: p", "r"]
    return Table(heads, rows)
