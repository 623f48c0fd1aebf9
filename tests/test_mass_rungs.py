"""Masses at one threshold after the other: the hubs are those of each threshold by itself, and
masses that hold together are not joined again."""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from roughly import Sketcher, _core
from roughly.clustering.join import Join, MassRule, Measure
from roughly.clustering.mass import no_check, pairs_inside
from roughly.clustering.sketches import PairTable, Rows, Sketches
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
