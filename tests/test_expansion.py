"""The paper's full expansion against Python sets, and its cut-off."""

from collections import Counter
from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from roughly import Sketcher
from roughly.clustering.expansion import Expansion
from roughly.clustering.sketches import Sketches
from roughly.sketch import SketchBatch
from tests.test_join import corpora

BUDGETS = (1, 1 << 10, 1 << 26)


def expanded(
    batch: SketchBatch, rows: list[int], floor: Fraction, cut_off: int, budget: int, threads: int
) -> tuple[list[tuple[int, ...]], int, list[tuple[int, ...]]]:
    with Expansion(
        Sketches.of_batch(batch),
        np.array(rows, dtype=np.uint32),
        cut_off=cut_off,
        threads=threads,
        budget_bytes=budget,
        most_common=5,
    ) as expansion:
        found = [tuple(row) for table in expansion.pairs(floor) for row in table.tolist()]
        return found, expansion.expanded, [tuple(common) for common in expansion.commonest]


@given(
    corpora(),
    st.sampled_from(["all", "mod:2", "mod:3"]),
    st.fractions(Fraction(1, 20), 1, max_denominator=20),
    st.integers(1, 6),
    st.sampled_from([40, 64]),
    st.sampled_from(BUDGETS),
    st.integers(1, 3),
)
def test_every_pair_is_counted(
    documents: list[str],
    select: str,
    floor: Fraction,
    cut_off: int,
    bits: int,
    budget: int,
    threads: int,
) -> None:
    batch = Sketcher(w=1, select=select, bits=bits).sketch_batch(documents)
    rows = list(range(len(documents)))[::-1]
    sets = [set(batch[row].fingerprints.tolist()) for row in rows]
    counts = Counter(element for elements in sets for element in elements)
    wanted, expansions = [], 0
    for a in range(len(sets)):
        for b in range(a + 1, len(sets)):
            common = sum(counts[element] <= cut_off for element in sets[a] & sets[b])
            expansions += common
            union = len(sets[a]) + len(sets[b]) - common
            if common and common >= floor * union:
                wanted.append((a, b, common, union))
    commonest = sorted(
        (
            (element, count, next(i for i, s in enumerate(sets) if element in s))
            for element, count in counts.items()
            if count > 1
        ),
        key=lambda each: (-each[1], each[0]),
    )
    found, total, common = expanded(batch, rows, floor, cut_off, budget, threads)
    assert (found, total, common) == (wanted, expansions, commonest[:5])


def test_the_cut_off_by_hand() -> None:
    """Three documents share two words; with a cut-off of 2 only what two of them share counts."""
    texts = ["a b c d", "a b c e", "a b f g"]
    batch = Sketcher(w=1, select="all").sketch_batch(texts)
    rows = [0, 1, 2]
    assert expanded(batch, rows, Fraction(1, 10), 3, 1 << 20, 1)[:2] == (
        [(0, 1, 3, 5), (0, 2, 2, 6), (1, 2, 2, 6)],
        7,
    )
    assert expanded(batch, rows, Fraction(1, 10), 2, 1 << 20, 1)[:2] == ([(0, 1, 1, 7)], 1)
