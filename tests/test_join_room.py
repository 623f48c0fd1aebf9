"""Joins with little memory: few of many sketches from a copy, heads in any order, pages let go."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from roughly import Sketcher, _core
from roughly.clustering import join as joining
from roughly.clustering.frozen import FrozenJoin
from roughly.clustering.join import Budget, Join, MassRule
from roughly.clustering.sketches import Sketches
from roughly.documents import open_documents
from roughly.storage.segment_writer import SegmentWriter
from roughly.storage.steps import Steps
from tests.test_join import LARGE, corpora, every_pair, expected_hubs
from tests.test_mapping import needs_proc, of_files

MIB = 1 << 20


def stored(folder: Path, texts: list[str], sketcher: Sketcher, part_rows: int) -> Sketches:
    documents = open_documents([{"id": f"{n:05}", "text": t} for n, t in enumerate(texts)])
    with Steps(folder, {}) as steps:
        writer = SegmentWriter(
            folder / "segment", sketcher.parameters, text=False, steps=steps, part_rows=part_rows
        )
        for batch in documents:
            writer.add(batch, sketcher.sketch_documents(batch).columns)
        return Sketches.of_segment(writer.finish([], {}))


def some_texts(count: int, seed: int) -> list[str]:
    rng = np.random.default_rng(seed)
    return [
        " ".join(f"w{n}" for n in range(begin, begin + int(rng.integers(0, 30))))
        for begin in rng.integers(0, 60, count).tolist()
    ]


def test_sketches_by_themselves(tmp_path: Path) -> None:
    """Of rows in any order, out of several parts, some of them empty."""
    texts = some_texts(100, 1)
    sketcher = Sketcher(w=1, select="adaptive:8")
    sketches, batch = stored(tmp_path, texts, sketcher, 16), sketcher.sketch_batch(texts)
    rows = np.random.default_rng(2).permutation(100)[:37].astype(np.uint32)
    copied = sketches.of_rows(rows)
    [(values, offsets)] = copied.chunks
    for number, row in enumerate(rows.tolist()):
        own = values[offsets[number] : offsets[number + 1]].tolist()
        assert own == [int(f) for f in batch[row].fingerprints]
        assert (copied.size[number], copied.level[number]) == (batch[row].size, batch[row].level)
    assert sketches.bytes_of(rows) == values.nbytes > 0
    assert len(sketches.of_rows(rows[:0])) == 0


@given(corpora(), st.integers(0, 3), st.booleans(), st.randoms(use_true_random=False))
def test_few_of_many(texts: list[str], categories: int, spread: bool, rng: object) -> None:
    """Pairs and hubs are those of the documents that take part, wherever the sketches lie."""
    batch = Sketcher(w=2, select="adaptive:8").sketch_batch([*texts, *["else"] * 4 * len(texts)])
    rows = list(range(len(texts)))
    if spread:
        rng.shuffle(rows)  # type: ignore[attr-defined]
    language = [n % (categories + 1) for n in range(len(batch))]
    join = Join(
        Sketches.of_batch(batch),
        np.array(rows, np.uint32),
        threads=2,
        budget=LARGE,
        category=np.array(language, np.uint64) if categories else None,
    )
    rule = MassRule(2, 4, 2)
    hubs = join.hubs(Fraction(1, 2), rule)
    found = join.hub_links(hubs).tolist()
    for level in join.levels:
        for table in join.pairs("resemblance", Fraction(2, 5), level, hubs):
            found += table.tolist()
    names = [str(n) for n in language] if categories else None
    wanted = expected_hubs(batch, Fraction(1, 2), rule, rows, names)
    assert [None if hub == _core.NO_HUB else hub for hub in hubs.tolist()] == wanted
    every = every_pair(batch, "resemblance", Fraction(2, 5), rows, wanted)
    if categories:
        every = [pair for pair in every if language[rows[pair[0]]] == language[rows[pair[1]]]]
    assert sorted(tuple(row) for row in found) == every


def test_few_are_copied(tmp_path: Path) -> None:
    """A quarter of the documents or fewer, where they fit; then no file is asked any more."""
    sketches = stored(tmp_path, some_texts(100, 3), Sketcher(w=1), 16)
    few, many = np.arange(0, 100, 4, dtype=np.uint32), np.arange(40, dtype=np.uint32)
    little = replace(LARGE, resident=0)
    for rows, budget, copied in ((few, LARGE, True), (many, LARGE, False), (few, little, False)):
        join = Join(sketches, rows, threads=1, budget=budget)
        assert (join._sketches is not sketches) == copied
        assert join._set.reads_files == (budget is little)


@pytest.mark.parametrize("step", [1, 7, 100])
def test_heads_in_the_order_of_documents(step: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each key has the first of its documents for heads, not the first that lie in the file."""
    texts = [" ".join(f"w{n % m}" for m in (2, 3, 5, 7)) + f" own{n}" for n in range(100)]
    batch = Sketcher(w=1, select="all").sketch_batch(texts)
    rows = np.random.default_rng(4).permutation(100).astype(np.uint32)
    rule = MassRule(10, 3, 2)
    monkeypatch.setattr(joining, "steps", lambda count, _: _in_steps(count, step))
    join = FrozenJoin(Sketches.of_batch(batch), rows, threads=2, budget=LARGE)
    heads = join.heads(rule)
    found = list(zip(heads.keys.tolist(), heads.rows.tolist(), strict=True))

    elements = [[int(f) for f in batch[row].fingerprints] for row in rows.tolist()]
    every = [e for own in elements for e in own]
    frequent = {e for e in set(every) if every.count(e) >= rule.least_frequency}
    wanted: dict[int, list[int]] = {}
    for row, own in zip(rows.tolist(), elements, strict=True):
        keys = sorted((e for e in own if e in frequent), key=lambda e: f"{e:064b}"[::-1])
        for key in keys[: rule.keys]:
            wanted.setdefault(key, []).append(row)
    assert found == [(key, row) for key in sorted(wanted) for row in wanted[key][: rule.heads]]
    assert len(found) > 10


def _in_steps(count: int, step: int) -> list[tuple[int, int]]:
    return [(begin, min(begin + step, count)) for begin in range(0, count, step)]


def families(count: int, seed: int) -> list[str]:
    """Every document resembles the next one or the one before, and some are of a large family."""
    rng = np.random.default_rng(seed)
    texts = []
    for number in range(count):
        own = [f"o{number // 2}x{n}" for n in range(8)] + [f"r{number}"] * (number % 3 == 0)
        if number % 11 < 2:
            own += [f"m{number % 2}y{n}" for n in range(40)]
        texts.append(" ".join(rng.permutation(own)))
    return texts


@pytest.mark.core
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("shuffled", [False, True])
def test_pages_let_go_change_nothing(
    tmp_path: Path, threads: int, shuffled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Threads that let go what lies behind them, step by step, find what those find that keep all:
    frequencies, hubs, pairs and partners."""
    texts = families(5000, 6)
    sketches = stored(tmp_path, texts, Sketcher(w=1, select="adaptive:16"), 1024)
    rows = np.arange(len(texts), dtype=np.uint32)
    if shuffled:
        rows = np.random.default_rng(7).permutation(rows)
    rule, half = MassRule(50, 4, 4), Fraction(1, 2)
    few, marked = np.arange(0, len(texts), 97, dtype=np.uint32), np.arange(len(texts)) % 2 == 1
    found = []
    for budget in (LARGE, replace(LARGE, resident=0)):
        join = Join(sketches, rows, threads=threads, budget=budget)
        hubs = join.hubs(half, rule)
        pairs = np.concatenate(
            [t for n in join.levels for t in join.pairs("resemblance", half, n, hubs)]
        )
        partners = join.partners("resemblance", half, few, marked)
        massed = join.seems_massed(half, rule), join.seems_massed(Fraction(1), rule)
        every = [join._frequencies, hubs, np.sort(pairs, axis=0), np.sort(partners, axis=0)]
        found.append(([each.tolist() for each in every], massed))
        assert join._set.reads_files == (budget is not LARGE)
        # From the second join on in steps that begin anywhere.
        monkeypatch.setattr(Sketches, "documents_in", lambda *_: 1537)
    assert found[0] == found[1]
    (_, hubs, pairs, partners), massed = found[0]
    assert massed == (True, False)
    assert len(set(hubs)) > 2 and len(pairs) > 1000 and len(partners) > 20


@pytest.mark.core
@pytest.mark.parametrize("count", [993, 1001, 1015, 1023, 1024, 1025, 2017, 2047, 2049])
def test_any_number_of_probers(tmp_path: Path, count: int) -> None:
    """Twins, each of which probes: none is looked for before the first."""
    texts = [f"a{n // 2} b{n // 2} c{n // 2}" for n in range(count)]
    sketches = stored(tmp_path, texts, Sketcher(w=1, select="all"), 512)
    rows = np.arange(count, dtype=np.uint32)
    for threads in (1, 2):
        join = Join(sketches, rows, threads=threads, budget=replace(LARGE, resident=0))
        [pairs] = join.pairs("resemblance", Fraction(1, 2), 0)
        assert pairs.tolist() == [[n, n + 1, 3, 3] for n in range(0, count - 1, 2)]


def test_steps_of_long_documents(tmp_path: Path) -> None:
    """Where these lie together a step has fewer of them than the mean would say."""
    texts = ["short"] * 8192 + [" ".join(f"w{n}x{i}" for i in range(100)) for n in range(8192)]
    sketches = stored(tmp_path, texts, Sketcher(w=1, select="all"), 8192)
    assert sketches.documents_in(800 * 6000) == 6000


def test_masses_want_documents_that_are_there() -> None:
    sketches = Sketches.of_batch(Sketcher(w=1).sketch_batch(["a b", "a c"]))
    join = Join(sketches, np.arange(2, dtype=np.uint32), threads=1, budget=LARGE)
    masses = _core.Masses(join._set, 1, 1, 1)
    with pytest.raises(ValueError, match="beyond the last one"):
        masses.add(0, 3, 1)
    masses.add(0, 2, 1)
    masses.finish(0, 1)
    hubs = np.full(2, _core.UNKNOWN_HUB, np.uint32)
    with pytest.raises(ValueError, match="beyond the last one"):
        masses.find_hubs((1, 2), 1, 3, 1, hubs)
    with pytest.raises(ValueError, match="one of every document"):
        masses.find_hubs((1, 2), 0, 2, 1, hubs[:1])


@needs_proc
def test_pages_of_a_step_are_let_go(tmp_path: Path) -> None:
    """Those of the documents that were visited, and no others; what they hold stays there."""
    texts = [" ".join(f"w{n}x{i}" for i in range(2000)) for n in range(1500)]
    sketches = stored(tmp_path, texts, Sketcher(w=1, select="all"), 256)
    rows = np.arange(len(texts), dtype=np.uint32)
    taking_part = sketches.taking_part(rows, 0)
    before = of_files()
    totals = [int(values.sum()) for values, _ in sketches.chunks]
    touched = of_files()
    assert touched > before + 15 * MIB
    taking_part.release(0, 512)
    assert of_files() < touched - 5 * MIB
    taking_part.release(0, len(rows))
    assert of_files() < before + 2 * MIB
    assert [int(values.sum()) for values, _ in sketches.chunks] == totals
    with pytest.raises(ValueError, match="range"):
        taking_part.release(0, len(rows) + 1)


@needs_proc
def test_sketches_that_are_read_are_not_mapped_too(tmp_path: Path) -> None:
    """Not even to see where words begin, which count for resemblance alone."""
    texts = [" ".join(f"w{n % 300}x{i}" for i in range(2000)) for n in range(1500)]
    sketches = stored(tmp_path, texts, Sketcher(w=2, words=8, select="all"), 256)
    join = Join(
        sketches, np.arange(1500, dtype=np.uint32), threads=1, budget=replace(LARGE, resident=0)
    )
    assert join._set.reads_files
    found = join.pairs("containment", Fraction(1, 2), 0)
    join._release_all()
    before = of_files()
    pairs = np.zeros((1200, 4), np.uint32)
    pairs[:, 0], pairs[:, 1] = np.arange(1200), np.arange(300, 1500)
    counted = join._set.measure("containment", pairs, 1)
    assert of_files() < before + 2 * MIB
    assert counted[:, 2:].tolist() == [[1999, 1999]] * 1200
    assert sum(len(table) for table in found) == 300 * (5 * 4 // 2)


def test_memory_that_is_no_file_is_not_let_go(tmp_path: Path) -> None:
    texts = [" ".join(f"w{n}x{i}" for i in range(2000)) for n in range(100)]
    sketches = stored(tmp_path, texts, Sketcher(w=1, select="all"), 128)
    taking_part = sketches.taking_part(np.arange(100, dtype=np.uint32), 0)
    assert taking_part.reads_files
    counts = np.full(len(sketches.chunks[0][0]), 7, np.uint8)
    taking_part.use_frequencies([counts])
    taking_part.release(0, 100)
    assert (counts == 7).all()


def test_shares_of_memory() -> None:
    """Counters are gone before there are postings, of which six times as much is there."""
    budget = Budget.of_memory(480)
    assert budget.table + budget.resident <= 480
    assert 6 * budget.postings + budget.resident <= 480


@pytest.mark.core
@pytest.mark.parametrize("threads", [1, 2])
def test_sketches_of_all_sizes_are_read(tmp_path: Path, threads: int) -> None:
    """More of them than are kept at hand, of which some are too large to be kept."""
    rng = np.random.default_rng(8)
    texts = []
    for number in range(60):
        size = [30_000, 90_000, 30, 3000, 10_000][number % 5]
        family = number % 10
        own = int(rng.integers(size // 10))
        words = [f"f{family}w{n}" for n in range(size - own)]
        texts.append(" ".join(words + [f"d{number}w{n}" for n in range(own)]))
    texts.append("")
    sketches = stored(tmp_path, texts, Sketcher(w=1, select="all"), 16)
    rows = np.random.default_rng(9).permutation(len(texts)).astype(np.uint32)
    found = []
    for budget in (LARGE, replace(LARGE, resident=0)):
        join = Join(sketches, rows, threads=threads, budget=budget)
        assert join._set.reads_files == (budget is not LARGE)
        pairs = list(join.pairs("resemblance", Fraction(1, 2), 0))
        found.append(sorted(tuple(row) for table in pairs for row in table.tolist()))
    assert found[0] == found[1]
    assert len(found[0]) == 10 * (6 * 5 // 2)
