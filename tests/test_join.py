"""The join against comparing every pair with every other, with masses by their rule."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from roughly import Sketcher, _core
from roughly.clustering.join import Budget, Join, Leaders, MassRule
from roughly.clustering.sketches import Sketches
from roughly.documents import open_documents
from roughly.sketch import SketchBatch
from roughly.storage.segment_writer import SegmentWriter
from roughly.storage.steps import Steps
from tests.core import LEVELS

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


SELECTIONS = ["all", "mod:2", "mod:3", "min:5", "min:40", "adaptive:4", "adaptive:20"]
LARGE = Budget(1 << 26, 1 << 26, 1 << 26)
SMALL = Budget(1, 1, 0)  # every bucket by itself, and from disk

Row = tuple[int, int, int, int]


def joined(
    batch: SketchBatch,
    measure: str,
    floor: Fraction,
    threads: int = 1,
    budget: Budget = LARGE,
    rows: list[int] | None = None,
    threshold: Fraction | None = None,
    rule: MassRule | None = None,
) -> tuple[list[Row], list[int | None]]:
    numbers = np.arange(len(batch)) if rows is None else np.array(rows)
    join = Join(Sketches.of_batch(batch), numbers.astype(np.uint32), threads=threads, budget=budget)
    hubs = np.zeros(0, np.uint32)
    found = []
    if threshold is not None:
        hubs = join.hubs(threshold, rule)
        found += join.hub_links(hubs).tolist()
    for level in join.levels:
        for table in join.pairs(measure, floor, level, hubs):  # type: ignore[arg-type]
            found += table.tolist()
    return sorted(tuple(row) for row in found), [
        None if hub == _core.NO_HUB else hub for hub in hubs.tolist()
    ]


def elements_at(sketch: object, level: int) -> set[int]:
    return {int(f) for f in sketch.fingerprints if f % (1 << level) == 0}  # type: ignore[attr-defined]


def pair_counts(batch: SketchBatch, i: int, j: int, measure: str) -> tuple[int, int] | None:
    """common and sampled of two rows, by the paper's definitions on Python sets; None if one of
    them has no element there."""
    name, number = batch.parameters.selection
    a, b = batch[i], batch[j]
    level = max(a.level, b.level)
    kept_a, kept_b = elements_at(a, level), elements_at(b, level)
    union, common = kept_a | kept_b, kept_a & kept_b
    if not kept_a or not kept_b:
        return None
    if measure == "containment":
        return len(common), min(len(kept_a), len(kept_b))
    if name == "min" and max(a.size, b.size) > number:
        union = set(sorted(union)[:number])
        common &= union
    return len(common), len(union)


def every_pair(
    batch: SketchBatch,
    measure: str,
    floor: Fraction,
    rows: list[int],
    hubs: list[int | None] | None = None,
) -> list[Row]:
    found = []
    for j in range(len(rows)):
        for i in range(j):
            if hubs and hubs[i] is not None and hubs[i] == hubs[j]:
                continue
            counts = pair_counts(batch, rows[i], rows[j], measure)
            if counts and counts[0] >= floor * counts[1]:
                found.append((i, j, *counts))
    return sorted(found)


def expected_hubs(
    batch: SketchBatch,
    threshold: Fraction,
    rule: MassRule,
    rows: list[int],
    category: list[str] | None = None,
    comparable: Callable[[int, int], bool] = lambda a, b: True,
) -> list[int | None]:
    """By the rule as docs/clustering.md states it; `category` is of all rows of the batch, and rows
    must be `comparable`."""
    of_one = [""] * len(batch) if category is None else category
    elements = [[int(f) for f in batch[row].fingerprints] for row in rows]
    total = sum(map(len, elements))
    bits = min(max(total.bit_length() + 1, 16), 40)

    def slot(element: int) -> int:
        return (element * 0x9E3779B97F4A7C15 % (1 << 64)) >> (64 - bits)

    frequency: dict[int, int] = {}
    for sketch in elements:
        for element in sketch:
            frequency[slot(element)] = min(frequency.get(slot(element), 0) + 1, 255)

    def backwards(element: int) -> int:
        return int(f"{element:064b}"[::-1], 2)

    keys = [
        sorted((e for e in sketch if frequency[slot(e)] >= rule.least_frequency), key=backwards)[
            : rule.keys
        ]
        for sketch in elements
    ]
    hubs: list[int | None] = []
    for i in range(len(rows)):
        hub = None
        for key in keys[i]:
            alike = [j for j in range(len(rows)) if of_one[rows[j]] == of_one[rows[i]]]
            heads = [j for j in alike if key in keys[j]][: rule.heads]
            for head in heads:
                sizes = sorted((batch[rows[head]].size, batch[rows[i]].size))
                good = hub is None and head < i and comparable(rows[head], rows[i])
                if good and sizes[0] >= threshold * sizes[1]:
                    counts = pair_counts(batch, rows[head], rows[i], "resemblance")
                    if counts and counts[0] >= threshold * counts[1]:
                        hub = head
        hubs.append(hub)
    return hubs


floors = st.fractions(Fraction(1, 20), 1, max_denominator=20)


@given(
    corpora(),
    st.sampled_from(SELECTIONS),
    floors,
    st.integers(1, 3),
    st.sampled_from([40, 64]),
    st.integers(1, 3),
    st.sampled_from([LARGE, SMALL]),
    st.sampled_from(["resemblance", "containment"]),
    st.sampled_from(LEVELS),
    st.randoms(use_true_random=False),
)
def test_no_pair_is_lost(
    documents: list[str],
    select: str,
    floor: Fraction,
    w: int,
    bits: int,
    threads: int,
    budget: Budget,
    measure: str,
    simd: str,
    random: object,
) -> None:
    if measure == "containment" and select.startswith("min"):
        select = "adaptive:10"
    batch = Sketcher(w=w, select=select, bits=bits).sketch_batch(documents)
    rows = list(range(len(documents)))
    random.shuffle(rows)  # type: ignore[attr-defined]
    rows = rows[: len(rows) * 4 // 5 + 1]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ROUGHLY_SIMD", simd)
        found, _ = joined(batch, measure, floor, threads, budget, rows)
    assert found == every_pair(batch, measure, floor, rows)


@given(
    corpora(),
    st.sampled_from(SELECTIONS),
    floors,
    floors,
    st.integers(1, 3),
    st.sampled_from([LARGE, SMALL]),
    st.builds(MassRule, st.integers(2, 4), st.integers(1, 3), st.integers(1, 3)),
)
def test_masses_follow_their_rule(
    documents: list[str],
    select: str,
    one: Fraction,
    other: Fraction,
    threads: int,
    budget: Budget,
    rule: MassRule,
) -> None:
    floor, threshold = sorted((one, other))
    batch = Sketcher(w=1, select=select).sketch_batch(documents)
    rows = list(range(len(documents)))
    hubs = expected_hubs(batch, threshold, rule, rows)
    found, found_hubs = joined(batch, "resemblance", floor, threads, budget, rows, threshold, rule)
    assert found_hubs == hubs
    assert found == every_pair(batch, "resemblance", floor, rows, hubs)


def test_frequencies_in_several_passes(tmp_path: Path) -> None:
    """60,000 elements need 2^17 counters; a table of 2^16 makes two passes of them."""
    texts = [" ".join(str(n + i) for i in range(60)) for n in range(0, 10000, 10)]
    batch = Sketcher(w=1, select="all").sketch_batch(texts)
    wanted = [
        (a, b, 60 - 10 * (b - a), 60 + 10 * (b - a))
        for a in range(1000)
        for b in range(a + 1, min(a + 3, 1000))
    ]
    for budget in (LARGE, Budget(1 << 16, 1 << 12, 0)):
        assert joined(batch, "resemblance", Fraction(1, 2), 2, budget)[0] == wanted


@pytest.mark.parametrize("bits", [40, 64])
def test_many_documents(bits: int) -> None:
    """20,000 documents, each like the next but one: linear, or this would take minutes. With w = 1
    a document of 50 tokens and its neighbour of 50, 40 of them the same, resemble at 40 / 60."""
    texts = [
        " ".join(str(10 * (n // 2) + i + 10**6 * (n % 2)) for i in range(50)) for n in range(20000)
    ]
    batch = Sketcher(w=1, select="all", bits=bits).sketch_batch(texts)
    found, _ = joined(batch, "resemblance", Fraction(40, 60), 2)
    assert found == [(n, n + 2, 40, 60) for n in range(19998)]


@given(corpora())
def test_levels_in_any_order(documents: list[str]) -> None:
    """What a join of one level found out about documents serves coarser levels only."""
    batch = Sketcher(w=1, select="adaptive:4").sketch_batch(documents)
    floor = Fraction(1, 3)
    rows = np.arange(len(batch), dtype=np.uint32)
    join = Join(Sketches.of_batch(batch), rows, threads=2, budget=LARGE)
    found = [
        tuple(row)
        for level in [*reversed(join.levels), *join.levels]
        for table in join.pairs("resemblance", floor, level)
        for row in table.tolist()
    ]
    every = every_pair(batch, "resemblance", floor, rows.tolist())
    assert sorted(found) == sorted(2 * every)


@given(
    corpora(),
    st.sampled_from(["all", "mod:2", "adaptive:4", "adaptive:20"]),
    st.sampled_from([Fraction(1, 3), Fraction(3, 5)]),
    st.sampled_from([Fraction(1, 2), Fraction(7, 10), Fraction(1)]),
)
def test_documents_of_like_size(
    documents: list[str], select: str, floor: Fraction, least: Fraction
) -> None:
    batch = Sketcher(w=1, select=select).sketch_batch(documents)
    rows = np.arange(len(batch), dtype=np.uint32)
    join = Join(Sketches.of_batch(batch), rows, threads=2, budget=LARGE, least_size=least)
    sizes = [batch[row].size for row in range(len(batch))]
    every = [
        (a, b, *counts)
        for a, b, *counts in every_pair(batch, "resemblance", floor, rows.tolist())
        if min(sizes[a], sizes[b]) >= least * max(sizes[a], sizes[b])
    ]
    # In both orders: what one level finds out about documents serves coarser ones.
    for levels in (join.levels, [*reversed(join.levels)]):
        found = [
            tuple(row)
            for level in levels
            for table in join.pairs("resemblance", floor, level)
            for row in table.tolist()
        ]
        assert sorted(found) == every
    partners = join.partners("resemblance", floor, rows, np.zeros(len(rows), dtype=bool))
    assert sorted(map(tuple, partners.tolist())) == every


def test_nothing_to_join() -> None:
    for documents in ([], [""], ["", ""], ["a b c"]):
        batch = Sketcher().sketch_batch(documents)
        assert joined(batch, "resemblance", Fraction(1, 2), 2)[0] == []


def test_a_mass_is_linear() -> None:
    """5,000 documents of 100 words, 98 of them in all: one hub, a link for each other document."""
    texts = [" ".join([*(f"c{i}" for i in range(98)), f"u{n}", f"v{n}"]) for n in range(5000)]
    batch = Sketcher(w=1, select="all").sketch_batch(texts)
    found, hubs = joined(
        batch, "resemblance", Fraction(4, 10), 2, threshold=Fraction(1, 2), rule=MassRule()
    )
    assert hubs == [None] + [0] * 4999
    assert found == [(0, n, 98, 102) for n in range(1, 5000)]


@pytest.mark.parametrize(
    ("family", "massed"),
    [(1, False), (30, False), (3000, True), (4000, True)],
)
def test_large_masses_show_in_a_sample(family: int, massed: bool) -> None:
    """4,000 documents of 100 words, in families that follow each other and have 98 in common."""
    texts = [
        " ".join([*(f"c{n // family}x{i}" for i in range(98)), f"u{n}", f"v{n}"])
        for n in range(4000)
    ]
    batch = Sketcher(w=1, select="all").sketch_batch(texts)
    rows = np.arange(len(batch), dtype=np.uint32)
    join = Join(Sketches.of_batch(batch), rows, threads=2, budget=LARGE)
    assert join.seems_massed(Fraction(7, 10), MassRule(keys=4, heads=2)) == massed


def test_a_template_below_the_floor_is_linear() -> None:
    """20,000 pages of 100 words of which 62 are in all: 62 / 138 is below the floor."""
    texts = [
        " ".join([*(f"c{i}" for i in range(62)), *(f"u{n}x{i}" for i in range(38))])
        for n in range(20000)
    ]
    batch = Sketcher(w=1, select="all").sketch_batch(texts)
    assert joined(batch, "resemblance", Fraction(1, 2), 2)[0] == []


def test_arrays_that_do_not_belong_together() -> None:
    batch = Sketcher().sketch_batch(["a b c d e f", "b c d e f g"])
    c = batch.columns
    rows = np.arange(2, dtype=np.uint32)
    with pytest.raises(ValueError, match="belong together"):
        _core.SketchSet([(c.values[2:], c.offsets)], 2, rows, c.size, c.level, 0)
    with pytest.raises(ValueError, match="belong together"):
        _core.SketchSet([(c.values, c.offsets)], 2, rows + 1, c.size, c.level, 0)
    with pytest.raises(ValueError, match="power of two"):
        _core.SketchSet([(c.values, c.offsets)], 3, rows, c.size, c.level, 0)
    made = _core.SketchSet([(c.values, c.offsets)], 2, rows, c.size, c.level, 0)
    with pytest.raises(ValueError, match="not counted"):
        _core.Masses(made, 2, 1, 1)
    made.use_frequencies([np.zeros(len(c.values), np.uint8)])
    masses = _core.Masses(made, 2, 1, 1)
    with pytest.raises(ValueError, match="not finished"):
        masses.find_hubs((1, 2), 0, 2, 1, np.zeros(2, np.uint32))
    masses.finish(0, 1)
    with pytest.raises(ValueError, match="finished"):
        masses.add(0, 2, 1)
    with pytest.raises(ValueError, match="visits"):
        _core.SketchSet([(c.values, c.offsets)], 2, rows, c.size, c.level, 0, visits=rows[::-1])
    with pytest.raises(ValueError, match="ratio"):
        masses.find_hubs((0, 2), 0, 2, 1, np.zeros(2, np.uint32))


def test_sketches_read_from_their_files(tmp_path: Path) -> None:
    """With no sketch left in memory the pairs are the same."""
    rng = np.random.default_rng(5)
    words = [f"w{n}" for n in range(300)]
    texts = []
    for n in range(60):
        begin = int(rng.integers(0, 200))
        some = words[begin : begin + int(rng.integers(20, 100))]
        texts.append(" ".join(w for w in some if rng.random() < 0.95) or str(n))
    sketcher = Sketcher(w=1, select="adaptive:16")
    documents = open_documents([{"id": f"{n:02}", "text": text} for n, text in enumerate(texts)])
    with Steps(tmp_path, {}) as steps:
        writer = SegmentWriter(
            tmp_path / "segment", sketcher.parameters, text=False, steps=steps, part_rows=8
        )
        for batch in documents:
            writer.add(batch, sketcher.sketch_documents(batch).columns)
        sketches = Sketches.of_segment(writer.finish([], {}))
    rows = np.arange(60, dtype=np.uint32)
    found = []
    for budget in (LARGE, replace(LARGE, resident=0)):
        join = Join(sketches, rows, threads=2, budget=budget)
        hubs = join.hubs(Fraction(1, 2), MassRule(2, 4, 4))
        tables = [
            t for n in join.levels for t in join.pairs("resemblance", Fraction(3, 10), n, hubs)
        ]
        found.append([*join.hub_links(hubs).tolist(), *np.concatenate(tables).tolist()])
    assert found[0] == found[1]
    batch = sketcher.sketch_batch(texts)
    masses = expected_hubs(batch, Fraction(1, 2), MassRule(2, 4, 4), list(rows))
    wanted = every_pair(batch, "resemblance", Fraction(3, 10), list(rows), masses)
    assert sorted(map(tuple, found[1])) == wanted and len(wanted) > 100


@given(
    corpora(),
    st.sampled_from(SELECTIONS),
    st.sampled_from(["resemblance", "containment"]),
    st.sampled_from([Fraction(1, 5), Fraction(1, 2), Fraction(1)]),
    st.integers(1, 3),
    st.data(),
)
def test_groups_and_partners(
    texts: list[str],
    select: str,
    measure: str,
    floor: Fraction,
    threads: int,
    data: st.DataObject,
) -> None:
    """Pairs inside a group are left out, and those of some documents are found by themselves."""
    if select.startswith("min") and measure == "containment":
        return
    batch = Sketcher(w=2, select=select).sketch_batch(texts)
    rows = list(range(len(texts)))
    every = every_pair(batch, measure, floor, rows)
    join = Join(
        Sketches.of_batch(batch),
        np.arange(len(rows), dtype=np.uint32),
        threads=threads,
        budget=SMALL,
    )

    group = data.draw(
        st.lists(st.sampled_from([None, 0, 1]), min_size=len(rows), max_size=len(rows))
    )
    groups = np.array([_core.NO_HUB if g is None else g for g in group], np.uint32)
    found = [
        tuple(row)
        for level in join.levels
        for table in join.pairs(measure, floor, level, groups=groups)  # type: ignore[arg-type]
        for row in table.tolist()
    ]
    outside = [p for p in every if group[p[0]] is None or group[p[0]] != group[p[1]]]
    assert sorted(found) == outside

    marked = np.array([g is None for g in group], bool)
    some = data.draw(st.lists(st.sampled_from(rows), unique=True)) if rows else []
    partners = join.partners(measure, floor, np.array(sorted(some), np.uint32), marked)  # type: ignore[arg-type]
    wanted = [
        (a, b, *counts)
        for a, b, *counts in every
        if (a in some and (b in some or marked[b])) or (b in some and marked[a])
    ]
    assert sorted(map(tuple, partners.tolist())) == wanted


@given(
    corpora(),
    st.sampled_from(SELECTIONS),
    st.sampled_from([Fraction(1, 5), Fraction(1, 2)]),
    st.sampled_from([Fraction(1, 2), Fraction(4, 5), Fraction(1)]),
    st.sampled_from([SMALL, LARGE]),
    st.integers(1, 3),
    st.data(),
)
def test_only_pairs_of_two_that_are_led_are_left_out(
    texts: list[str],
    select: str,
    floor: Fraction,
    surely: Fraction,
    budget: Budget,
    threads: int,
    data: st.DataObject,
) -> None:
    batch = Sketcher(w=2, select=select).sketch_batch(texts)
    rows = list(range(len(texts)))
    every = every_pair(batch, "resemblance", floor, rows)
    join = Join(Sketches.of_batch(batch), np.array(rows, np.uint32), threads=threads, budget=budget)
    led_before = data.draw(st.lists(st.sampled_from(rows[1:]), unique=True)) if rows[1:] else []
    leaders = np.full(len(rows), _core.NO_HUB, np.uint32)
    leaders[led_before] = 0
    found = [
        tuple(row)
        for level in join.levels
        for table in join.pairs(
            "resemblance", floor, level, leaders=Leaders(leaders, max(surely, floor))
        )
        for row in table.tolist()
    ]
    assert len(set(found)) == len(found)
    assert set(found) <= set(every)
    led = [leader != _core.NO_HUB for leader in leaders.tolist()]
    missing = set(every) - set(found)
    assert all(led[a] and led[b] for a, b, *_ in missing)
    # Who was led in the course of it resembles his leader; and whoever resembles one that never
    # was led is led.
    sure = {(a, b) for a, b, common, sampled in every if common >= max(surely, floor) * sampled}
    new = [b for b in rows if led[b] and b not in led_before]
    assert all((int(leaders[b]), b) in sure for b in new)
    assert all(led[b] for a, b in sure if not led[a])


def test_leaders_of_many_documents_by_several_threads() -> None:
    """Blocks of documents probe at the same time, and mark each other's."""
    rng = np.random.default_rng(8)
    texts = []
    for family in range(400):
        words = np.array([f"{family}w{n}" for n in range(40)])
        texts += [" ".join(words[rng.random(40) > 0.08]) for _ in range(10)]
    order = rng.permutation(len(texts)).tolist()
    batch = Sketcher(w=1, select="all").sketch_batch([texts[n] for n in order])
    rows = np.arange(len(texts), dtype=np.uint32)
    join = Join(Sketches.of_batch(batch), rows, threads=8, budget=LARGE)
    floor, surely = Fraction(7, 10), Fraction(4, 5)
    every = {tuple(row) for table in join.pairs("resemblance", floor, 0) for row in table.tolist()}
    sure = {(a, b) for a, b, common, sampled in every if common >= surely * sampled}
    for _ in range(5):
        leaders = np.full(len(rows), _core.NO_HUB, np.uint32)
        tables = join.pairs("resemblance", floor, 0, leaders=Leaders(leaders, surely))
        found = {tuple(row) for table in tables for row in table.tolist()}
        led = leaders != _core.NO_HUB
        assert found < every
        assert all(led[a] and led[b] for a, b, *_ in every - found)
        assert {(int(leaders[b]), b) for b in np.flatnonzero(led).tolist()} <= sure
        assert all(led[b] for a, b in sure if not led[a])


@pytest.mark.parametrize("measure", ["resemblance", "containment"])
@pytest.mark.parametrize("select", ["all", "adaptive:20"])
def test_room_on_disk(tmp_path: Path, measure: str, select: str) -> None:
    """At most four times the sketches, also where every element is a posting: all are shared, a
    containment join indexes them all, and none may stay in memory."""
    rng = np.random.default_rng(9)
    texts = [
        " ".join(f"w{n}" for n in rng.permutation(120)[: rng.integers(30, 60)]) for _ in range(2000)
    ]
    sketches = Sketches.of_batch(Sketcher(w=1, select=select).sketch_batch(texts))
    rows = np.arange(len(texts), dtype=np.uint32)
    join = Join(sketches, rows, threads=2, budget=SMALL, scratch=tmp_path)
    for level in join.levels:
        for _ in join.pairs(measure, Fraction(9, 10), level):  # type: ignore[arg-type]
            pass
    values = sum(values.nbytes for values, _ in sketches.chunks)
    assert values < join.disk_bytes * 4 and join.disk_bytes <= 4 * values
    assert not list(tmp_path.iterdir())
