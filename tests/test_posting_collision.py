"""Elements that differ and have the same short key in a posting (src/core/posting.hpp): documents
that meet under it are looked at, and pairs are those of comparing all of them."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from roughly import Sketcher
from roughly.clustering.join import Join
from roughly.clustering.sketches import Sketches
from tests.test_join import LARGE, SMALL

pytestmark = pytest.mark.core

# A key is the element times this, of which a posting has neither the last 24 bits nor, in its
# bucket, the first 8: whatever has the same 40 bits in front collides.
FACTOR = 0x9E3779B97F4A7C15
INVERSE = pow(FACTOR, -1, 1 << 64)
LAST_BITS = 24

Row = tuple[int, list[int]]  # the level of a sketch, and its elements


def element(front: int, last: int) -> int:
    return (front << LAST_BITS | last) * INVERSE & (1 << 64) - 1


@st.composite
def colliding(draw: st.DrawFn) -> list[Row]:
    """Sketches of which most elements collide with those of others."""
    rng = draw(st.randoms(use_true_random=False))
    fronts = [rng.randrange(1 << 40) for _ in range(draw(st.integers(1, 4)))]
    # Multiples of small powers of two remain so when they are multiplied by something odd.
    elements = [
        element(front, rng.randrange(1 << LAST_BITS) >> zeros << zeros)
        for front in fronts
        for zeros in (0, 0, 1, 2, 3, 3)
    ]
    rows = []
    for _ in range(draw(st.integers(2, 12))):
        level = rng.choice((0, 0, 1, 3))
        own = set(rng.sample(elements, rng.randint(1, len(elements))))
        rows.append((level, sorted(e for e in own if e % (1 << level) == 0)))
    return rows


def every_pair(rows: list[Row], floor: Fraction, measure: str) -> list[tuple[int, int, int, int]]:
    found = []
    for j, (level_b, b) in enumerate(rows):
        for i, (level_a, a) in enumerate(rows[:j]):
            coarse = 1 << max(level_a, level_b)
            x, y = ({e for e in all_of if e % coarse == 0} for all_of in (a, b))
            sampled = len(x | y) if measure == "resemblance" else min(len(x), len(y))
            if x and y and len(x & y) >= floor * sampled:
                found.append((i, j, len(x & y), sampled))
    return sorted(found)


@given(
    colliding(),
    st.sampled_from([Fraction(1, 20), Fraction(1, 3), Fraction(7, 10), Fraction(1)]),
    st.sampled_from(["resemblance", "containment"]),
    st.booleans(),
    st.integers(1, 2),
)
def test_collisions_cost_a_look(
    rows: list[Row], floor: Fraction, measure: str, tiny: bool, threads: int
) -> None:
    values = np.array([e for _, own in rows for e in own], np.uint64)
    sizes = np.array([len(own) for _, own in rows], np.uint32)
    offsets = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
    levels = np.array([level for level, _ in rows], np.uint8)
    parameters = Sketcher(w=1, select="adaptive:20", words=0).parameters
    chunk_rows = 1 << (len(rows) - 1).bit_length()
    sketches = Sketches(parameters, [(values, offsets)], chunk_rows, sizes << levels, levels)
    with TemporaryDirectory() as folder:
        if tiny:  # read from a file, as they are when there are many
            path = Path(folder) / "values"
            path.write_bytes(values.tobytes())
            sketches = replace(sketches, places=[(path, 0)])
        budget = SMALL if tiny else LARGE
        every = np.arange(len(rows), dtype=np.uint32)
        join = Join(sketches, every, threads=threads, budget=budget, scratch=Path(folder))
        found = [
            tuple(pair)
            for level in join.levels
            for table in join.pairs(measure, floor, level)  # type: ignore[arg-type]
            for pair in table.tolist()
        ]
    assert sorted(found) == every_pair(rows, floor, measure)


def test_elements_do_collide() -> None:
    """By the core's own postings: one bucket, one key."""
    front = 0x12_89ABCDEF
    own = sorted(element(front, last) for last in (1, 2, 77, 1 << 20))
    rows = 2
    values = np.array(own * rows, np.uint64)
    offsets = np.array([0, len(own), 2 * len(own)], np.int64)
    size, level = np.full(rows, len(own), np.uint32), np.zeros(rows, np.uint8)
    parameters = Sketcher(w=1, select="all", words=0).parameters
    sketches = Sketches(parameters, [(values, offsets)], rows, size, level)
    every = np.arange(rows, dtype=np.uint32)
    join = Join(sketches, every, threads=1, budget=LARGE)
    counts, bounds = np.zeros(rows, np.uint32), size.copy()
    signatures = np.zeros((0, 8), np.uint64)
    entries, ends = join._set.postings(
        "resemblance", (1, 20), 0, 0, rows, 1, False, 1, counts, bounds, signatures
    )
    assert len(set(own)) == 4 and set(entries[:, 0].tolist()) == {0x89ABCDEF}
    assert len(entries) > rows and (ends[0x11], ends[0x12]) == (0, len(entries))
