"""The join against comparing every pair with every other."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from roughly import Sketcher, _core
from roughly.sketch import SketchBatch

pytestmark = pytest.mark.core

# Few words and short documents, so that many pairs resemble each other and fingerprints repeat.
words = st.sampled_from("abcdefgh")
small = st.lists(words, max_size=12).map(" ".join)


@st.composite
def corpora(draw: st.DrawFn) -> list[str]:
    """Documents made of a few long stretches, edited here and there, and some small ones."""
    rng = draw(st.randoms(use_true_random=False))
    stretches = [
        [f"{s}x{i}" for i in range(rng.randint(1, 60))] for s in range(draw(st.integers(1, 5)))
    ]
    documents = draw(st.lists(small, max_size=4))
    for _ in range(draw(st.integers(0, 10))):
        tokens = [t for _ in range(rng.randint(1, 4)) for t in rng.choice(stretches)]
        share = rng.choice([0, 0.02, 0.1])
        documents.append(" ".join("changed" if rng.random() < share else t for t in tokens))
    return documents


def join(batch: SketchBatch, floor: Fraction, threads: int) -> list[tuple[int, ...]]:
    c = batch.columns
    name, number = batch.parameters.selection
    found = _core.join(
        *(c.values, c.offsets, c.size, c.level),
        *(floor.numerator, floor.denominator, number if name == "min" else 0, threads),
    )
    return [tuple(map(int, row)) for row in found]


def every_pair(batch: SketchBatch, floor: Fraction) -> list[tuple[int, ...]]:
    """By the paper's definitions on Python sets."""
    name, number = batch.parameters.selection
    sketches = list(batch)
    found = []
    for i, a in enumerate(sketches):
        for j, b in enumerate(sketches[:i]):
            level = max(a.level, b.level)
            kept_a, kept_b = (
                {int(f) for f in s.fingerprints if f % (1 << level) == 0} for s in (a, b)
            )
            union, common = kept_a | kept_b, kept_a & kept_b
            if name == "min" and max(a.size, b.size) > number:
                union = set(sorted(union)[:number])
                common &= union
            if kept_a and kept_b and len(common) >= floor * len(union):
                found.append((j, i, len(common), len(union)))
    return sorted(found)


@given(
    corpora(),
    st.sampled_from(["all", "mod:2", "mod:3", "min:5", "min:40", "adaptive:4", "adaptive:20"]),
    st.fractions(Fraction(1, 20), 1, max_denominator=20),
    st.integers(1, 3),
    st.sampled_from([40, 64]),
    st.integers(1, 3),
)
def test_no_pair_is_lost(
    documents: list[str], select: str, floor: Fraction, w: int, bits: int, threads: int
) -> None:
    batch = Sketcher(w=w, select=select, bits=bits).sketch_batch(documents)
    assert join(batch, floor, threads) == every_pair(batch, floor)


@given(corpora(), st.sampled_from(["all", "mod:2", "min:5", "adaptive:4"]), st.integers(1, 2))
def test_measured_pairs(documents: list[str], select: str, threads: int) -> None:
    batch = Sketcher(w=2, select=select).sketch_batch(documents)
    c = batch.columns
    name, number = batch.parameters.selection
    wanted = every_pair(batch, Fraction(0))
    asked = np.array([(a, b, 7, 7) for a, b, _, _ in wanted], dtype=np.uint32).reshape(-1, 4)
    smallest = number if name == "min" else 0
    found = _core.measure_pairs(c.values, c.offsets, c.size, c.level, asked, smallest, threads)
    assert [tuple(map(int, row)) for row in found] == wanted


@pytest.mark.parametrize("bits", [40, 64])
def test_many_documents(bits: int) -> None:
    """20,000 documents, each like the next but one: linear, or this would take minutes. With w = 1
    a document of 50 tokens and its neighbour of 50, 40 of them the same, resemble at 40 / 60."""
    texts = [
        " ".join(str(10 * (n // 2) + i + 10**6 * (n % 2)) for i in range(50)) for n in range(20000)
    ]
    batch = Sketcher(w=1, select="all", bits=bits).sketch_batch(texts)
    found = join(batch, Fraction(40, 60), 2)
    assert found == [(n, n + 2, 40, 60) for n in range(19998)]


def test_nothing_to_join() -> None:
    for documents in ([], [""], ["", ""], ["a b c"]):
        assert join(Sketcher().sketch_batch(documents), Fraction(1, 2), 2) == []


def test_columns_that_do_not_belong_together() -> None:
    batch = Sketcher().sketch_batch(["a b c d e f", "b c d e f g"])
    c = batch.columns
    with pytest.raises(ValueError, match="belong together"):
        _core.join(c.values[1:], c.offsets, c.size, c.level, 1, 2, 0, 1)
    with pytest.raises(ValueError, match="floor"):
        _core.join(c.values, c.offsets, c.size, c.level, 0, 2, 0, 1)
