"""A corpus against a plain model in memory: whatever is added, removed, looked for, clustered,
compacted and opened again, in whatever order, both say the same.
"""

import re
import shutil
import tempfile
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from roughly import Corpus, Sketcher
from roughly.clustering.join import MassRule
from roughly.clustering.settings import settings_for
from roughly.condition import METHODS, NO_CONDITION, Condition, make_condition
from roughly.corpus.creation import make_empty
from roughly.url import is_url, page_of
from tests.cluster_oracle import Facts, document_order, expect
from tests.optional import FULL

Key = tuple[str, str | None]

NAMES = ["a", "b", "c", "a#2", "http://x.org/p", "HTTP://X.ORG:80/p", "\u00e9"]
DATES = [None, "2020-01-02", "2021", "1997-04-07"]
_STEM = re.compile(r"(.+)#[1-9][0-9]*")
THRESHOLD, FLOOR = Fraction(1, 2), Fraction(1, 4)


def text(seed: int, edits: int) -> str:
    """One of a few texts, edited a little; some are short or empty."""
    words = [f"{seed}x{i}" for i in range([40, 60, 30, 3, 0][seed])]
    for at in range(edits):
        if words:
            words[(at * 7) % len(words)] = f"edit{at}"
    return " ".join(words)


texts = st.builds(text, st.integers(0, 4), st.integers(0, 6))
LANGUAGES = [None, "en", "de"]
documents = st.lists(
    st.tuples(st.sampled_from(NAMES), st.sampled_from(DATES), texts, st.sampled_from(LANGUAGES)),
    min_size=1,
    max_size=5,
    unique_by=lambda document: document[0],
)


CONDITIONS = [
    NO_CONDITION,
    NO_CONDITION,
    make_condition("both", 6),
    make_condition("both", 10, "0.7", "language"),
    make_condition("simhash", 6, within="host"),
    make_condition("simhash", 8, "0.7", "language"),
    make_condition(size_ratio="0.9", within="host"),
]


class CorpusMachine(RuleBasedStateMachine):
    """The model are two dicts, from keys to texts and to languages."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.mkdtemp()
        self.path = Path(self.folder) / "c.roughly"
        self.model: dict[Key, str] = {}
        self.language: dict[Key, str | None] = {}

    @initialize(
        select=st.sampled_from(["all", "adaptive:8", "mod:2"]),
        containment=st.sampled_from([None, "0.8"]),
        kept=st.booleans(),
        condition=st.sampled_from(CONDITIONS),
        masses=st.sampled_from([MassRule(), MassRule(2, 2, 2)]),
    )
    def create(
        self,
        select: str,
        containment: str | None,
        kept: bool,
        condition: Condition,
        masses: MassRule,
    ) -> None:
        self.sketcher = Sketcher(w=2, select=select)
        of_pairs: Any = (THRESHOLD, FLOOR, containment)
        if condition.method == "simhash":
            of_pairs = ()
        wanted = settings_for(self.sketcher.parameters, *of_pairs, condition=condition)
        self.wanted = replace(wanted, mass=masses)
        make_empty(self.path, self.sketcher, self.wanted, text=kept, force=False)
        self.corpus = Corpus(self.path)
        self.kept = kept

    @rule(batch=documents, date=st.sampled_from(DATES))
    def add(self, batch: list[tuple[str, str | None, str, str | None]], date: str | None) -> None:
        rows = [{"id": n, "date": d, "text": t, "language": x} for n, d, t, x in batch]
        added = self.corpus.add(rows, date, content_type="text")
        numbered = {name for name, _, _, _ in batch if _STEM.fullmatch(name)}
        made: dict[Key, str] = {}  # under names that were numbered here
        given: dict[Key, str] = {}
        for name, own, content, language in batch:
            key: Key = name, own or date
            if key not in self.model:
                given[key] = content
                self.language[key] = language
                continue
            stem = found[1] if (found := _STEM.fullmatch(name)) else name
            numbers = iter(range(2, 100))
            known = self.model | made
            tried = [key, (stem, key[1])]
            while tried[-1] in known or tried[-1][0] in numbered or len(tried) == 2:
                tried.append((f"{stem}#{next(numbers)}", key[1]))
            if all(known.get(each) != content for each in tried):
                made[tried[-1]] = content
                self.language[tried[-1]] = language
        self.model |= given | made
        there = len(batch) - len(given) - len(made)
        assert (added.documents, added.renamed) == (len(given) + len(made), len(made))
        assert added.there == there

    @rule(
        names=st.lists(st.sampled_from(NAMES), min_size=1, max_size=3), date=st.sampled_from(DATES)
    )
    def remove(self, names: list[str], date: str | None) -> None:
        def named(id: str, name: str) -> bool:
            return id == name or (is_url(name) and page_of(id) == page_of(name))

        gone = [
            key
            for key in self.model
            if any(named(key[0], name) for name in names) and date in (None, key[1])
        ]
        there = {name for name in names if any(named(id, name) for id, _ in gone)}
        removed = self.corpus.remove(names, date)
        for key in gone:
            del self.model[key]
        assert removed.documents == len(gone)
        assert set(removed.missing) == set(names) - there

    @rule(wanted=texts)
    def find(self, wanted: str) -> None:
        """All documents that resemble a text at the floor, by the estimates of their sketches; the
        same words are known by their hash, whether the sketch kept any or none."""
        sketch = self.sketcher.sketch(wanted, "text")
        near = {}
        for key, content in self.model.items():
            other = self.sketcher.sketch(content, "text")
            estimate = sketch.resemblance(other)
            same = wanted.split() == content.split()
            if same or (len(sketch) and len(other) and estimate.value >= float(FLOOR)):
                near[key] = 1.0 if same else estimate.value
        found = self.corpus.find(
            wanted, threshold=FLOOR, limit=None, exact=False, content_type="text"
        )
        assert {(match.id, match.date): match.resemblance.value for match in found} == near
        values = [match.resemblance.value for match in found]
        assert values == sorted(values, reverse=True)

    @rule(wanted=texts, language=st.sampled_from(LANGUAGES), k=st.integers(0, 10))
    def find_by_the_condition(self, wanted: str, language: str | None, k: int) -> None:
        """By every method that the corpus has simhashes for, and its own categories."""
        stored = self.wanted.condition
        within = stored.within
        category = {None: None, "language": language or "", "host": "x.org"}[within]
        methods = ("shingles",) if stored.simhash is None else METHODS
        sketch = self.sketcher.sketch(wanted, "text")
        for method in methods:
            options: dict[str, Any] = {"size_ratio": "0.6", "within": within}
            if method != "shingles":
                options |= {"distance": k, "method": method}
            asked = make_condition(**options)
            query = {"id": f"http://{category}/", "text": wanted, "language": category}
            keys = list(self.model)
            everyone = [query] + [
                {"id": key[0], "text": self.model[key], "language": self.language[key]}
                for key in keys
            ]
            sketches = self.sketcher.sketch_batch([d["text"] for d in everyone], "text")
            facts = Facts.of(everyone, sketches, asked)
            near = {}
            for number, key in enumerate(keys, 1):
                distance = facts.distance(0, number)
                if method == "simhash":
                    good = distance is not None and distance <= k
                else:
                    other = sketches[number]
                    same = wanted.split() == self.model[key].split()
                    value = sketch.resemblance(other).value
                    good = same or (len(sketch) > 0 and len(other) > 0 and value >= float(FLOOR))
                if good and facts.comparable(0, number):
                    near[key] = distance
            if method != "simhash":
                options |= {"threshold": FLOOR, "exact": False}
            found = self.corpus.find(
                wanted, limit=None, category=category, content_type="text", **options
            )
            assert {(match.id, match.date): match.distance for match in found} == near
            if method == "simhash":
                ranks = [(m.distance, -m.resemblance.value) for m in found]
                assert ranks == sorted(ranks)  # type: ignore[type-var]

    @rule(seed=st.sampled_from([None, None, 7]))
    def compact(self, seed: int | None) -> None:
        if seed is not None and not self.kept:
            with pytest.raises(Exception, match="the corpus keeps no text"):
                self.corpus.compact(seed)
            return
        self.corpus.compact(seed)
        if seed is not None:
            self.sketcher = Sketcher(w=2, select=self.sketcher.select, seed=seed)
        assert len(self.corpus.manifest.segments) == (1 if self.model else 0)
        assert self.corpus.manifest.removed == 0

    @rule()
    def reopen(self) -> None:
        self.corpus = Corpus(self.path)

    @rule(threshold=st.sampled_from([FLOOR, THRESHOLD, Fraction(4, 5)]))
    @precondition(lambda self: self.model)
    def cluster(self, threshold: Fraction) -> None:
        """Whatever is a mass: clusters are exact at the threshold, below it and at the rungs above,
        and with containment, which masses have at the chosen threshold only, up to that."""
        if self.wanted.containment is not None and self.wanted.mass != MassRule():
            threshold = min(threshold, THRESHOLD)
        rows = [
            {"id": n, "date": d, "text": t, "language": self.language[n, d]}
            for (n, d), t in self.model.items()
        ]
        expected = expect(rows, self.sketcher, self.wanted)
        if self.wanted.condition.method == "simhash":
            threshold = max(threshold, self.wanted.threshold)
        found = self.corpus.clusters(threshold)
        assert found.ids.to_pylist() == expected.ids
        assert list(found) == expected.clusters(threshold, self.wanted.containment)

    @invariant()
    def it_holds_what_the_model_holds(self) -> None:
        if not hasattr(self, "corpus"):
            return
        assert self.corpus.verify() == []
        assert len(self.corpus) == len(self.model)
        collection = self.corpus.collection
        rows = self.corpus.outcome.order.astype(np.int64)
        ids, dates = (collection.take(n, rows).to_pylist() for n in ("id", "date"))
        wanted: list[Any] = [{"id": n, "date": d} for n, d in self.model]
        ordered = [(d["id"], d["date"]) for d in document_order(wanted)]
        assert list(zip(ids, dates, strict=True)) == ordered
        if self.kept:
            ascending = np.sort(rows)
            keys = zip(
                collection.take("id", ascending).to_pylist(),
                collection.take("date", ascending).to_pylist(),
                strict=True,
            )
            stored = [content.decode() for content in collection.text(ascending).to_pylist()]
            assert dict(zip(keys, stored, strict=True)) == self.model

    def teardown(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """The machine does not stop in these tests, so nothing needs to wait for its disk."""
    monkeypatch.setattr("os.fsync", lambda descriptor: None)


CorpusMachine.TestCase.settings = settings(
    max_examples=150 if FULL else 12, stateful_step_count=14, deadline=None
)


@pytest.mark.usefixtures("no_waiting")
class TestCorpus(CorpusMachine.TestCase):  # type: ignore[misc]
    pass
