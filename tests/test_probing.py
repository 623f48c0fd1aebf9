"""Candidates of many documents at once: nobody who reaches the floor is missed, whatever lists are
left unread, and no more is read than allowed. Against every pair, measured one by one.
"""

import random
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from roughly import Corpus, Sketcher, _core
from roughly.clustering.outcome import reaching
from roughly.clustering.sketches import Sketches
from roughly.corpus.probing import TooMany, resembling
from tests.optional import FULL

pytestmark = pytest.mark.core


def documents(count: int, rng: random.Random) -> Iterator[dict[str, str]]:
    """Long and short ones, with boilerplate that all have, some have, or few have."""
    shared = [[f"s{part}x{i}" for i in range(40)] for part in range(12)]
    for n in range(count):
        own = [f"f{n // rng.choice([1, 2, 3])}x{i}" for i in range(rng.choice([3, 20, 90, 160]))]
        boilerplate = [*shared[0][: rng.choice([5, 40])], *shared[rng.randrange(1, 12)]]
        for _ in range(rng.randrange(4)):
            own[rng.randrange(len(own))] = f"edit{rng.randrange(9)}"
        text = [*own, *boilerplate] if rng.random() < 0.8 else own
        yield {"id": f"{n:05}", "text": " ".join(text)}


@pytest.mark.parametrize("select", ["all", "adaptive:16", "mod:2", "min:24"])
@pytest.mark.parametrize("floor", [Fraction(1, 10), Fraction(2, 5), Fraction(1)])
def test_nobody_is_missed(
    select: str, floor: Fraction, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.fsync", lambda descriptor: None)
    rng = random.Random(select)
    corpus = Corpus.create(tmp_path / "c", Sketcher(w=2, select=select), 1, floor=1)
    count = 3000 if FULL else 1300
    corpus.add(list(documents(count, rng)))
    corpus.add(list(documents(200, rng)), "2020")
    corpus.remove([f"{n:05}" for n in range(0, 60, 7)])
    collection, order = corpus.collection, corpus.outcome.order
    groups = corpus.outcome.groups
    rows = order[groups.representatives]
    number = np.full(len(order), -1, np.int64)
    number[groups.representatives] = np.arange(len(rows))
    group_of = np.full(len(collection), _core.NO_GROUP, np.uint32)
    group_of[order] = number[groups.representative]
    wanted = np.sort(rng.sample(range(len(rows)), 150))
    options = {"most_rows": 1 << 40, "threads": 2}
    tables = list(resembling(collection, rows, group_of, wanted, floor, **options))
    pairs = np.concatenate([np.zeros((0, 4), np.uint32), *tables])
    found = {tuple(row) for row in pairs[(pairs[:, 3] > 0) & reaching(pairs, floor)].tolist()}
    every = np.zeros((len(wanted) * len(rows), 4), np.uint32)
    every[:, 0], every[:, 1] = np.repeat(wanted, len(rows)), np.tile(np.arange(len(rows)), 150)
    every = every[every[:, 0] != every[:, 1]]
    measured = Sketches.of_segment(collection).taking_part(rows).measure("resemblance", every, 2)
    near = measured[(measured[:, 3] > 0) & reaching(measured, floor)]
    assert found == {tuple(row) for row in near.tolist()}
    assert floor == 1 or len(found) > 30
    # Each candidate once; boilerplate alone makes few.
    assert len({tuple(row) for row in pairs[:, :2].tolist()}) == len(pairs)
    if floor == Fraction(2, 5) and select == "all":
        assert len(pairs) < len(every) // 4
    with pytest.raises(TooMany):
        list(resembling(collection, rows, group_of, wanted, floor, most_rows=3, threads=1))
