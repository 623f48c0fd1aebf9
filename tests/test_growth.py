"""A corpus that grows and shrinks has the clusters that a clustering of everything gives: document
for document, pair for pair and link for link, by the same frequencies.
"""

import tempfile
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from roughly import Corpus, Sketcher
from roughly.clustering.frozen import Frequent, Heads
from roughly.clustering.join import MassRule
from roughly.clustering.run import Outcome, run_phases
from roughly.clustering.settings import Settings, settings_for
from roughly.corpus import forests, regrowth
from roughly.corpus.creation import make_empty
from roughly.storage.steps import Steps
from roughly.verification.contents import StoredContents
from roughly.verification.exact import Verifier
from tests.cluster_oracle import collections

Document = dict[str, Any]


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """The machine does not stop in these tests, so nothing needs to wait for its disk."""
    import os

    monkeypatch.setattr(os, "fsync", lambda descriptor: None)


@pytest.fixture
def always_updated(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """However much is added, the forest is brought up to date; which way each change went."""
    ways: list[str] = []
    regrow, whole = forests.regrow, forests.whole_forest

    def update(*arguments: Any, **options: Any) -> None:
        regrow(*arguments, **options)
        ways.append("update")

    def anew(*arguments: Any, **options: Any) -> Outcome:
        ways.append("whole")
        return whole(*arguments, **options)

    monkeypatch.setattr(regrowth, "_GROWTH", 1000)
    monkeypatch.setattr(forests, "regrow", update)
    monkeypatch.setattr(forests, "whole_forest", anew)
    return ways


def create(path: Path, sketcher: Sketcher, wanted: Settings, text: bool = True) -> Corpus:
    make_empty(path, sketcher, wanted, text=text, force=False)
    return Corpus(path)


def rows_of(outcome: Outcome, measure: Any) -> list[list[int]]:
    return sorted(row for table in outcome.pairs(measure) for row in table.tolist())


def state(outcome: Outcome, folder: Path) -> dict[str, Any]:
    """Everything that a forest says."""
    heads = Heads.load(folder)
    return {
        "order": outcome.order.tolist(),
        "representative": outcome.groups.representative.tolist(),
        "kind": outcome.groups.kind.tolist(),
        "hubs": outcome.hubs.tolist(),
        "heads": list(zip(heads.keys.tolist(), heads.rows.tolist(), strict=True)),
        "resemblance": rows_of(outcome, "resemblance"),
        "containment": rows_of(outcome, "containment"),
        "links": outcome.links.tolist(),
        "containment links": outcome.containment_links.tolist(),
    }


def from_scratch(corpus: Corpus) -> dict[str, Any]:
    """The same of everything that is there, clustered at once by the corpus's frequencies."""
    wanted, collection = corpus.manifest.settings, corpus.collection
    frequent = Frequent.load(corpus.forest)
    verifier = None
    if wanted.exact:
        p = collection.parameters
        sketcher = Sketcher(w=p.w, select=p.select, seed=p.seed, bits=p.bits)
        verifier = Verifier(collection, StoredContents(collection), sketcher, 1)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with Steps(folder, {}, durable=False) as steps:
            outcome = run_phases(
                collection,
                wanted,
                folder,
                steps,
                forest="f",
                threads=1,
                memory_bytes=1 << 20,
                frequent=frequent,
                verifier=verifier,
            )
        return state(outcome, folder / "f")


def check(corpus: Corpus) -> None:
    assert corpus.verify() == []
    if corpus.manifest.forest is not None:
        found, wanted = state(corpus.outcome, corpus.forest), from_scratch(corpus)
        for name, value in wanted.items():
            assert found[name] == value, name


shares = st.fractions(Fraction(1, 10), 1, max_denominator=12)
floors = st.tuples(shares, shares).map(sorted)
rules = st.sampled_from([MassRule(2, 2, 2), MassRule(2, 1, 1), MassRule(3, 3, 4), MassRule()])
some = settings(max_examples=min(200, settings.default.max_examples))


@st.composite
def histories(draw: st.DrawFn) -> list[Any]:
    """Additions and removals: lists of documents, and of ids."""
    documents = [
        document | {"date": draw(st.sampled_from([document["date"], None]))}
        for document in draw(collections())
    ]
    changes: list[Any] = []
    there: list[str] = []
    while documents:
        count = draw(st.integers(1, 6))
        changes.append(documents[:count])
        there += [d["id"] for d in documents[:count]]
        documents = documents[count:]
        if draw(st.booleans()):
            changes.append(draw(st.lists(st.sampled_from(there), min_size=1, max_size=4)))
    return changes


@some
@given(
    histories(),
    st.sampled_from(["all", "mod:2", "adaptive:4", "adaptive:20", "min:8"]),
    floors,
    st.one_of(st.none(), floors),
    rules,
    st.sampled_from([False, False, False, True]),
)
def test_growing_equals_clustering_at_once(
    changes: list[Any],
    select: str,
    of_resemblance: list[Fraction],
    of_containment: list[Fraction] | None,
    rule: MassRule,
    exact: bool,
) -> None:
    sketcher = Sketcher(w=2, select=select)
    if select.startswith("min"):
        of_containment = None
    floor, threshold = of_resemblance
    contained = (None, None) if of_containment is None else of_containment[::-1]
    wanted = settings_for(sketcher.parameters, threshold, floor, *contained, exact=exact)
    wanted = replace(wanted, mass=rule)
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as folder:
        patch.setattr("os.fsync", lambda descriptor: None)
        patch.setattr(regrowth, "_GROWTH", 1000)
        corpus = create(Path(folder) / "c", sketcher, wanted)
        left: dict[str, Document] = {}
        for change in changes:
            if isinstance(change[0], dict):
                corpus.add(change, content_type="text")
                left |= {d["id"]: d for d in change}
            else:
                corpus.remove(change)
                for name in change:
                    left.pop(name, None)
            check(corpus)
        assert sorted(corpus.clusters().ids.to_pylist()) == sorted(left)
