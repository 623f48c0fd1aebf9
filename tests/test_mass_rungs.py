"""Masses at one threshold after the other: the hubs are those of each threshold by itself, masses
that hold together are not joined again, and of dense ones a few links are found."""

import random
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from roughly import Sketcher, _core
from roughly.clustering.join import Join, MassRule, Measure
from roughly.clustering.mass import no_check, pairs_inside, rungs
from roughly.clustering.settings import Settings, settings_for
from roughly.clustering.sketches import PairTable, Rows, Sketches
from tests.cluster_oracle import expect
from tests.test_cluster_run import Way, assert_as_expected, run
from tests.test_join import LARGE, SELECTIONS, SMALL, corpora, expected_hubs, floors


@given(
    corpora(),
    st.sampled_from(SELECTIONS),
    st.sets(floors, min_size=1, max_size=5),
    st.integers(1, 3),
    st.sampled_from([LARGE, SMALL]),
    st.builds(MassRule, st.integers(2, 4), st.integers(1, 3), st.integers(1, 3)),
)
def test_hubs_at_rising_thresholds(
    documents: list[str],
    select: str,
    thresholds: set[Fraction],
    threads: int,
    budget: Any,
    rule: MassRule,
) -> None:
    batch = Sketcher(w=1, select=select).sketch_batch(documents)
    rows = np.arange(len(batch), dtype=np.uint32)
    join = Join(Sketches.of_batch(batch), rows, threads=threads, budget=budget)
    rising = sorted(thresholds)
    for threshold, (hubs, links) in zip(rising, join.rising_hubs(rising, rule), strict=True):
        wanted = expected_hubs(batch, threshold, rule, rows.tolist())
        assert [None if hub == _core.NO_HUB else hub for hub in hubs.tolist()] == wanted
        assert links.tolist() == join.hub_links(hubs).tolist()


class _Watched(Join):
    """Says at which floors pairs were looked for."""

    floors: list[Fraction]

    def pairs(
        self, measure: Measure, floor: Fraction, level: int, *others: Any, **options: Any
    ) -> Iterator[PairTable]:
        self.floors.append(floor)
        return super().pairs(measure, floor, level, *others, **options)


def test_a_mass_that_holds_together_is_not_joined_again() -> None:
    """Any two share 80 of 100 words: one mass up to 0.8. Above that only neighbours resemble each
    other, who share 7 more, by 87 / 93."""
    texts = [
        " ".join(
            [
                *(f"c{i}" for i in range(80)),
                *(f"p{n // 2}x{i}" for i in range(7)),
                *(f"u{n}x{i}" for i in range(3)),
            ]
        )
        for n in range(40)
    ]
    batch = Sketcher(w=1, select="all").sketch_batch(texts)
    rule, threshold = MassRule(3, 2, 2), Fraction(1, 2)
    rows = np.arange(len(batch), dtype=np.uint32)
    made: list[_Watched] = []

    def join_of(some: Rows) -> Join:
        made.append(_Watched(Sketches.of_batch(batch), some, threads=1, budget=LARGE))
        made[-1].floors = []
        return made[-1]

    hubs = Join(Sketches.of_batch(batch), rows, threads=1, budget=LARGE).hubs(threshold, rule)
    assert hubs.tolist() == [_core.NO_HUB] + 39 * [0]
    found = np.concatenate(list(pairs_inside(join_of, rows, hubs, threshold, rule, no_check)))
    assert [join.floors for join in made] == [[Fraction(9, 10)]]
    # The first two are linked at the threshold already.
    assert sorted(found.tolist()) == [[n, n + 1, 87, 93] for n in range(2, 40, 2)]


def spread(rng: random.Random, count: int, core: int, pool: int, own: int) -> list[str]:
    """Documents that share `core` words and have `own` of a `pool` each: some pairs resemble each
    other by more than others."""
    words = [f"p{i}" for i in range(pool)]
    return [
        " ".join([*(f"c{i}" for i in range(core)), *rng.sample(words, own), f"u{n}"])
        for n in range(count)
    ]


@given(
    st.randoms(use_true_random=False),
    st.integers(3, 24),
    st.sampled_from([(20, 14, 7), (20, 8, 5), (8, 12, 9)]),
    st.sampled_from(["all", "adaptive:20"]),
    st.builds(
        MassRule, st.just(2), st.integers(1, 3), st.integers(1, 3), st.sampled_from([0, 1, 3])
    ),
    st.integers(1, 3),
)
def test_dense_masses_are_those_of_the_oracle(
    rng: random.Random,
    count: int,
    shape: tuple[int, int, int],
    select: str,
    rule: MassRule,
    threads: int,
) -> None:
    sketcher = Sketcher(w=1, select=select)
    documents = [
        {"id": f"{n:02}", "text": text, "date": None}
        for n, text in enumerate(spread(rng, count, *shape))
    ]
    wanted = replace(settings_for(sketcher.parameters, "0.4", "0.3"), mass=rule)
    with tempfile.TemporaryDirectory() as directory:
        found = run(documents, sketcher, wanted, Path(directory), Way(threads=threads))
        expected = expect(documents, sketcher, wanted)
        assert_as_expected(found, expected)
        hub_of = {
            expected.ids[row]: hub for row, hub in zip(expected.rows, expected.hubs, strict=True)
        }
        for pair in found.pairs().to_pylist():
            of_a, of_b = hub_of[pair["a"]], hub_of[pair["b"]]
            is_hub = of_b is not None and expected.ids[expected.rows[of_b]] == pair["a"]
            assert pair["mass"] == (is_hub or (of_a is not None and of_a == of_b))


def test_a_dense_mass_has_few_links_and_remains_whole() -> None:
    """Documents that all resemble one another by about 0.6, some by more and some by less, and of
    every tenth a copy, nearly, at the other end."""
    rng = random.Random(1)
    texts = spread(rng, 1200, 23, 40, 20)
    copied = range(0, 1200, 10)
    texts += [f"{texts[n]} more{n}" for n in copied]
    batch = Sketcher(w=1, select="all").sketch_batch(texts)
    sketches = Sketches.of_batch(batch)
    rows = np.arange(len(batch), dtype=np.uint32)
    threshold, rung, above = Fraction(2, 5), Fraction(6, 10), Fraction(9, 10)

    def join_of(some: Rows) -> Join:
        return Join(sketches, some, threads=2, budget=LARGE)

    join = join_of(rows)
    hubs = join.hubs(threshold)
    assert (hubs != _core.NO_HUB).sum() == len(rows) - 1
    rule = MassRule(most_pairs=32)
    inside = pairs_inside(join_of, rows, hubs, threshold, rule, no_check)
    pairs = np.concatenate([join.hub_links(hubs), *inside])
    assert len(np.unique(pairs[:, :2], axis=0)) == len(pairs)
    all_pairs = np.concatenate(list(join.pairs("resemblance", rung, 0)))
    # Far from none of them, and from all.
    assert 0.2 < len(all_pairs) / (len(rows) ** 2 / 2) < 0.8
    assert len(pairs) < len(all_pairs) / 10
    for at in (rung, above):
        every = np.concatenate(list(join.pairs("resemblance", at, 0)))
        assert _clusters(pairs, at, len(rows)) == _clusters(every, at, len(rows))
    assert len(set(_clusters(pairs, above, len(rows)))) == len(rows) - len(copied)


def _words(name: str, count: int) -> list[str]:
    return [f"{name}x{i}" for i in range(count)]


def _copies_beside_a_mass() -> list[str]:
    """400 documents that their first one stands for, and 300 of which each has one near copy."""
    mass = [" ".join([*_words("c", 60), *_words("m", 30), f"u{n}"]) for n in range(400)]
    first = [[*_words("c", 60), *_words(f"o{n}", 25)] for n in range(300)]
    return [*mass, *map(" ".join, first), *(" ".join([*words, "more"]) for words in first)]


def _families(order: str) -> list[str]:
    """Five families of 200, one after the other or mixed."""
    rng = random.Random(3)
    of = [n // 200 if order == "blocks" else n % 5 for n in range(1000)]
    if order == "shuffled":
        rng.shuffle(of)
    return [
        " ".join([*_words("c", 60), *_words(f"f{f}", 20), *rng.sample(_words(f"p{f}", 16), 8)])
        for f in of
    ]


@pytest.mark.parametrize(
    "texts",
    [_copies_beside_a_mass(), *(_families(order) for order in ("blocks", "turns", "shuffled"))],
    ids=["copies", "blocks", "turns", "shuffled"],
)
@pytest.mark.parametrize("most_pairs", [MassRule().most_pairs, 40])
def test_families_inside_a_mass_are_found_in_any_order(texts: list[str], most_pairs: int) -> None:
    """As if all pairs were known, also where these are not listed."""
    sketches = Sketches.of_batch(Sketcher(w=1, select="all").sketch_batch(texts))
    rows = np.arange(len(texts), dtype=np.uint32)
    threshold = Fraction(1, 2)

    def join_of(some: Rows) -> Join:
        return Join(sketches, some, threads=2, budget=LARGE)

    join = join_of(rows)
    hubs = join.hubs(threshold)
    assert (hubs != _core.NO_HUB).sum() >= len(rows) - 4
    rule = MassRule(most_pairs=most_pairs)
    inside = pairs_inside(join_of, rows, hubs, threshold, rule, no_check)
    pairs = np.concatenate([join.hub_links(hubs), *inside])
    every = np.concatenate(list(join.pairs("resemblance", threshold, 0)))
    for rung in rungs(threshold):
        wanted = _clusters(every, rung, len(rows))
        assert _clusters(pairs, rung, len(rows)) == wanted
    assert len(pairs) < 2 * most_pairs * len(rows)


def test_older_settings_list_all_pairs() -> None:
    wanted = settings_for(Sketcher().parameters, "0.5")
    plain = wanted.to_dict()
    assert Settings.from_dict(plain).mass == MassRule()
    plain["mass"] = plain["mass"][:3]
    assert Settings.from_dict(plain).mass.most_pairs > 1 << 31


def _clusters(pairs: PairTable, threshold: Fraction, documents: int) -> list[int]:
    """The first document of everybody's cluster."""
    a, b, common, sampled = pairs.astype(np.int64).T
    strong = common * threshold.denominator >= sampled * threshold.numerator
    a, b = a[strong], b[strong]
    first, before = np.arange(documents), np.zeros(0, np.int64)
    while not np.array_equal(first, before):
        before = first.copy()
        np.minimum.at(first, a, before[b])
        np.minimum.at(first, b, before[a])
    found: list[int] = first.tolist()
    return found
