"""The hubs of masses after every change of a history, in memory, by the rule on Python sets.

Every element is a key here, so that there are masses wherever anything is shared, and most texts
are copies, other spellings or turns of one another, so that groups change their representatives.
"""

from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from roughly import Sketcher, _core
from roughly.clustering.equivalence import Groups
from roughly.clustering.frozen import Frequent, Heads
from roughly.clustering.join import MassRule
from roughly.condition import NO_CONDITION
from roughly.corpus.mass_update import MassUpdate
from roughly.corpus.renumbering import renumbered
from tests.cluster_oracle import Document, Facts, document_order, equivalence, ring
from tests.memory_collection import MemoryCollection
from tests.optional import FULL
from tests.test_join import expected_hubs

ALL_COUNTERS = Frequent(16, np.arange(1 << 16, dtype=np.uint64), 1)


class Changing(MemoryCollection):
    """The first so many documents, less those that were removed."""

    def __init__(self, documents: list[Document], gone: set[int], select: str) -> None:
        plain = [(d["id"], d["date"], d["text"]) for d in documents]
        super().__init__(plain, select=select, w=2)
        self.live = np.array([row not in gone for row in range(len(documents))], bool)
        self.kept = np.diff(self.columns.offsets)

    def arrays(self, names: tuple[str, ...], rows: Any) -> list[Any]:
        return [self.hashes(name)[rows] for name in names]

    def rows_hashed(self, name: str, wanted: Any) -> Any:
        return np.flatnonzero(np.isin(self.hashes(name)[:, 0], wanted))

    def hashes(self, name: str) -> Any:
        return super().hashes({"sketch_hash": "sketch"}.get(name, name))


@st.composite
def documents(draw: st.DrawFn) -> list[Document]:
    rng = draw(st.randoms(use_true_random=False))
    bases = [[f"{s}x{i}" for i in range(rng.choice([4, 12, 24]))] for s in range(rng.randint(1, 2))]
    texts: list[str] = []
    for _ in range(draw(st.integers(2, 14))):
        kind = rng.choice(["edit", "edit", "edit", "copy", "form", "ring", "part"])
        tokens = list(rng.choice(bases))
        earlier = rng.choice(texts) if texts else " ".join(tokens)
        if kind == "edit":
            for _ in range(rng.randint(1, 3)):
                tokens[rng.randrange(len(tokens))] = f"e{rng.randrange(6)}"
        elif kind == "ring":
            tokens = ring(rng, tokens)
        elif kind == "part":
            tokens = tokens[: rng.randint(1, len(tokens))]
        whole = {"copy": earlier, "form": f"{earlier.upper()}!"}.get(kind, " ".join(tokens))
        texts.append(whole)
    names = rng.sample(range(100), len(texts))
    dates = [None, None, "2020-01-02"]
    return [
        {"id": f"{name:02}", "text": text, "date": rng.choice(dates)}
        for name, text in zip(names, texts, strict=True)
    ]


@settings(max_examples=1000 if FULL else 150)
@given(
    documents(),
    st.sampled_from(["all", "all", "mod:2", "adaptive:20", "min:8"]),
    st.fractions(Fraction(1, 10), 1, max_denominator=10),
    st.builds(MassRule, st.just(1), st.integers(1, 3), st.integers(1, 4)),
    st.randoms(use_true_random=False),
)
def test_hubs_after_every_change(
    given_ones: list[Document], select: str, threshold: Fraction, rule: MassRule, rng: Any
) -> None:
    sketcher = Sketcher(w=2, select=select)
    nobody = np.zeros(0, np.uint32)
    before: Any = SimpleNamespace(
        order=nobody, groups=Groups(nobody, np.zeros(0, np.uint8)), hubs=nobody
    )
    heads = Heads(np.zeros(0, np.uint64), nobody)
    there, gone = 0, set[int]()
    while there < len(given_ones):
        there = min(there + rng.choice([1, 1, 2, 5]), len(given_ones))
        if rng.random() < 0.4:
            gone |= {rng.randrange(there) for _ in range(rng.randint(1, 2))}
        after: Any = Changing(given_ones[:there], gone, select)
        found = renumbered(before, after, by_sketch=True)
        update = MassUpdate(after, found, ALL_COUNTERS, rule, threshold, 1)
        hubs, _, entries = update.update(before.hubs, heads)
        left = document_order([d for row, d in enumerate(given_ones[:there]) if row not in gone])
        texts = [d["text"] for d in left]
        batch = sketcher.sketch_batch(texts, "text")
        representative, _ = equivalence(texts, batch, Facts.of(left, batch, NO_CONDITION))
        rows = sorted(set(representative))
        assert found.groups.representative.tolist() == representative
        wanted = expected_hubs(batch, threshold, rule, rows)
        assert [None if hub == _core.NO_HUB else hub for hub in hubs.tolist()] == wanted
        heads = Heads(entries.keys, found.rows[entries.numbers])
        before = SimpleNamespace(order=found.order, groups=found.groups, hubs=hubs)
