"""A corpus that grows and shrinks has the clusters that a clustering of everything gives: document
for document, pair for pair and link for link, by the same frequencies.
"""

import json
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from roughly import Corpus, Sketcher
from roughly.clustering.frozen import Frequent, Heads
from roughly.clustering.join import MassRule
from roughly.clustering.outcome import Outcome
from roughly.clustering.run import run_phases
from roughly.clustering.settings import Settings, settings_for
from roughly.condition import Condition, make_condition
from roughly.corpus import forests, regrowth
from roughly.corpus.creation import make_empty
from roughly.storage.steps import Steps
from roughly.verification.contents import StoredContents
from roughly.verification.exact import Verifier
from tests.cluster_oracle import collections
from tests.optional import FULL

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


NO_HEADS = Heads(np.zeros(0, np.uint64), np.zeros(0, np.uint32))


def state(outcome: Outcome, folder: Path) -> dict[str, Any]:
    """Everything that a forest says."""
    heads = Heads.load(folder) if (folder / "heads.arrow").exists() else NO_HEADS
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


conditions = st.sampled_from(
    [
        make_condition("both", 8),
        make_condition("both", 10, "0.5", "language"),
        make_condition("simhash", 8),
        make_condition("simhash", 10, "0.5", "language"),
        make_condition(size_ratio="0.9"),
        make_condition(within="language"),
    ]
)


def from_scratch(corpus: Corpus) -> dict[str, Any]:
    """The same of everything that is there, clustered at once by the corpus's frequencies."""
    wanted, collection = corpus.manifest.settings, corpus.collection
    by_simhash = wanted.method == "hamming"
    frequent = None if by_simhash else Frequent.load(corpus.forest)
    verifier = None
    if wanted.exact:
        sketcher = Sketcher.of(collection.parameters)
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
    st.booleans(),
)
def test_growing_equals_clustering_at_once(
    changes: list[Any],
    select: str,
    of_resemblance: list[Fraction],
    of_containment: list[Fraction] | None,
    rule: MassRule,
    exact: bool,
    counted: bool,
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
        if counted:  # as if there were too many candidates
            patch.setattr(regrowth, "_ROWS_EACH", 0)
            patch.setattr(regrowth, "_ROWS_ANYHOW", 0)
            patch.setattr(regrowth, "_COUNTED_AT_ONCE", 2)
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


@settings(max_examples=100 if FULL else 5)
@given(histories(), conditions, rules, st.booleans(), st.randoms(use_true_random=False))
def test_growing_under_a_condition(
    changes: list[Any], condition: Condition, rule: MassRule, exact: bool, rng: Any
) -> None:
    """As above; and the simhashes and categories are those of the documents."""
    sketcher = Sketcher(w=2, select="adaptive:20")
    exact = exact and condition.method != "simhash"
    wanted = settings_for(sketcher.parameters, exact=exact, condition=condition)
    wanted = replace(wanted, mass=rule)
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as folder:
        patch.setattr("os.fsync", lambda descriptor: None)
        corpus = create(Path(folder) / "c", sketcher, wanted)
        left: dict[str, Document] = {}
        for change in [*changes, "compact", "seed"]:
            if isinstance(change, str):
                corpus.compact(None if change == "compact" else 7)
            elif isinstance(change[0], dict):
                change = [d | {"language": rng.choice(["en", "de", None])} for d in change]
                corpus.add(change, content_type="text")
                left |= {d["id"]: d for d in change}
            else:
                corpus.remove(change)
                for name in change:
                    left.pop(name, None)
            check(corpus)
            collection = corpus.collection
            there = collection.live_rows.astype(np.int64)
            documents = [left[name] for name in collection.take("id", there).to_pylist()]
            if condition.simhasher is not None and documents:
                simhashes = collection.take("simhash", there).to_pylist()
                made = [condition.simhasher.simhash(d["text"], "text") for d in documents]
                assert simhashes == made
            if condition.within is not None and documents:
                languages = collection.take("category", there).to_pylist()
                assert languages == [d["language"] for d in documents]


def family(number: int, edits: int = 0, words: int = 80) -> str:
    """A text of its own, and versions of it."""
    tokens = [f"w{number}x{i}" for i in range(words)]
    for at in range(edits):
        tokens[(at * 11) % words] = f"edit{at}"
    return " ".join(tokens)


def rows(*numbers: int, edits: int = 0, prefix: str = "d") -> list[Document]:
    return [{"id": f"{prefix}{n}", "text": family(n, edits)} for n in numbers]


def test_heads_that_change_places(tmp_path: Path, always_updated: list[str]) -> None:
    """A copy of the second head comes, from before the first: the same two are heads of the same
    keys, the other way round, so everybody has another hub."""
    sketcher = Sketcher(w=2, select="all")
    wanted = replace(settings_for(sketcher.parameters, "0.5"), mass=MassRule(2, 2, 2))
    corpus = create(tmp_path / "c", sketcher, wanted)
    texts = [family(1), family(1, edits=1), family(1, edits=2)]
    corpus.add([{"id": name, "text": t} for name, t in zip("bcd", texts, strict=True)])
    none = 2**32 - 1
    assert corpus.outcome.hubs.tolist() == [none, 0, 0]  # b; c and d by b
    corpus.add([{"id": "a", "text": texts[1]}])
    assert always_updated == ["whole", "update"]
    assert corpus.outcome.groups.representative.tolist() == [0, 1, 0, 3]  # c by a
    assert corpus.outcome.hubs.tolist() == [none, 0, 0]  # a; b and d by a
    check(corpus)
    # And back, when the copy goes.
    corpus.remove("a")
    assert always_updated == ["whole", "update", "update"]
    assert corpus.outcome.hubs.tolist() == [none, 0, 0]  # b; c and d by b
    check(corpus)


def test_rows_are_counted_where_candidates_are_too_many(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, always_updated: list[str]
) -> None:
    """Documents that share half of their text with everybody."""
    monkeypatch.setattr(regrowth, "_ROWS_EACH", 1)
    monkeypatch.setattr(regrowth, "_ROWS_ANYHOW", 0)
    common = family(99, words=40)
    corpus = Corpus.create(tmp_path / "c", Sketcher(w=2))
    corpus.add([{"id": f"a{n}", "text": f"{common} {family(n, words=40)}"} for n in range(20)])
    always_updated.clear()
    more = [{"id": f"b{n}", "text": f"{common} {family(n, 1, 40)}"} for n in range(18, 24)]
    corpus.add(more, "2020")
    check(corpus)
    assert always_updated == ["update"]
    # Too many to be counted, too.
    monkeypatch.setattr(regrowth, "_COUNTED_EACH", 1)
    corpus.add([{"id": "c", "text": f"{common} {family(30, words=40)}"}], "2021")
    check(corpus)
    assert always_updated == ["update", "whole"]


def test_only_new_content_is_sketched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = Corpus.create(tmp_path / "c", Sketcher(w=2))
    corpus.add(rows(*range(10)), "2020")
    sketched: list[int] = []
    sketch = Sketcher.sketch_documents

    def counting(self: Sketcher, batch: Any, threads: Any = None) -> Any:
        sketched.append(len(batch))
        return sketch(self, batch, threads)

    monkeypatch.setattr(Sketcher, "sketch_documents", counting)
    added = corpus.add([*rows(*range(5, 12)), *rows(3, edits=2)], "2021")
    assert (added.documents, added.known, sum(sketched)) == (8, 5, 3)
    collection = corpus.collection
    there = collection.live_rows.astype(np.int64)
    texts = [text.decode() for text in collection.text(there).to_pylist()]
    whole, stored = Sketcher(w=2).sketch_batch(texts, "text"), collection.sketches(there)
    for name in stored._fields:
        assert getattr(stored, name).tolist() == getattr(whole.columns, name).tolist(), name
    # What was removed is not known any more; what is read as HTML is something else than as text.
    corpus.remove([f"d{n}" for n in range(10)])
    assert corpus.add(rows(1, prefix="again"), "2022").known == 0
    page = "<p>one two three four five six</p>"
    assert corpus.add([{"id": "p", "text": page}], content_type="html").known == 0
    assert corpus.add([{"id": "q", "text": page}], content_type="text").known == 0
    assert corpus.add([{"id": "r", "text": page}], content_type="text").known == 1
    assert corpus.verify() == []


def test_versions_and_repeats(tmp_path: Path) -> None:
    corpus = Corpus.create(tmp_path / "c", Sketcher(w=2))
    corpus.add([{"id": "a", "text": "one"}, {"id": "b", "text": "two", "date": "2019"}], "2020")
    added = corpus.add(
        [
            {"id": "a", "text": "three"},
            {"id": "a#2", "text": "four", "date": "2020"},
            {"id": "b", "text": "five", "date": "2020-01"},
        ],
        "2020",
    )
    assert added.renamed == 1
    table = corpus.clusters().documents()
    assert list(zip(table["id"].to_pylist(), table["date"].to_pylist(), strict=True)) == [
        ("b", "2019"),
        ("a", "2020"),
        ("a#2", "2020"),
        ("a#3", "2020"),
        ("b", "2020-01"),
    ]
    assert corpus.add([{"id": "a", "text": "six"}], "2021").renamed == 0
    assert corpus.remove("a").documents == 2 and corpus.remove("a#3", "2019").documents == 0


@pytest.mark.parametrize("preset", ["broder97", "broder97-super"])
def test_the_systems_of_the_papers(tmp_path: Path, preset: str) -> None:
    """Their expansion is done again over the stored sketches."""
    import roughly

    first, second = rows(*range(12)), rows(*range(6), edits=1, prefix="e")
    corpus = Corpus.create(tmp_path / "c", preset=preset)
    corpus.add(first)
    corpus.add(second)
    corpus.remove(["d0", "e3"])
    left = [d for d in first + second if d["id"] not in ("d0", "e3")]
    at_once = roughly.cluster(left, preset=preset)
    assert corpus.clusters().documents().to_pylist() == at_once.documents().to_pylist()
    assert list(corpus.clusters()) == list(at_once) and len(at_once) > 2
    assert corpus.verify() == []
    corpus.compact()
    assert list(corpus.clusters()) == list(at_once)


def test_exact_pairs_need_text(tmp_path: Path) -> None:
    from roughly.errors import ParameterError

    corpus = Corpus.create(tmp_path / "c", exact=True, text=False)
    with pytest.raises(ParameterError, match="exact: cannot add: the corpus keeps no text"):
        corpus.add(rows(1))


def test_how_much_is_too_much(tmp_path: Path, always_updated: list[str], monkeypatch: Any) -> None:
    """A mass that comes later is not expanded: everything is clustered anew, and then it is one."""
    monkeypatch.setattr(regrowth, "_PAIRS_EACH", 4)
    monkeypatch.setattr(regrowth, "_PAIRS_ANYHOW", 100)
    sketcher = Sketcher(w=2, select="all")
    wanted = replace(settings_for(sketcher.parameters, "0.5"), mass=MassRule(20, 8, 4))
    corpus = create(tmp_path / "c", sketcher, wanted)
    corpus.add(rows(*range(30)))
    corpus.add(rows(*range(30, 40)))
    assert always_updated == ["whole", "update"]
    mass = [
        {"id": f"m{n:03}", "text": family(99) + " " + " ".join(f"{n}y{i}" for i in range(9))}
        for n in range(60)
    ]
    corpus.add(mass)
    assert always_updated == ["whole", "update", "whole"]
    assert (corpus.outcome.hubs != 2**32 - 1).sum() == 59
    assert [len(cluster) for cluster in corpus.clusters()] == [60]
    check(corpus)
    # More of the mass is found by the frequencies that are known now.
    corpus.add([mass[0] | {"id": "m100", "text": mass[0]["text"] + " z"}])
    assert always_updated[-1] == "update" and [len(c) for c in corpus.clusters()] == [61]
    check(corpus)


def test_a_corpus_that_doubles_is_counted_anew(tmp_path: Path) -> None:
    corpus = Corpus.create(tmp_path / "c", Sketcher(w=2))
    corpus.add(rows(*range(4)))
    assert Frequent.load(corpus.forest).documents == 4
    corpus.add(rows(*range(4, 8)))
    assert Frequent.load(corpus.forest).documents == 4
    corpus.add(rows(8))
    assert Frequent.load(corpus.forest).documents == 9


def test_nothing_to_add(tmp_path: Path) -> None:
    corpus = Corpus.create(tmp_path / "c")
    before = json.dumps(corpus.info().to_dict())
    assert corpus.add([]).documents == 0
    assert json.dumps(corpus.info().to_dict()) == before
    assert corpus.compact().documents == 0 and corpus.remove("x").missing == ["x"]
    corpus.add(rows(1))
    corpus.remove("d1")
    assert len(corpus) == 0 and corpus.verify() == [] and list(corpus.clusters()) == []
    corpus.add(rows(1, 2))
    assert len(corpus) == 2 and corpus.verify() == []
    corpus.remove(["d1", "d2"])
    corpus.compact()
    assert corpus.manifest.segments == [] and corpus.verify() == []


def test_everybody_goes(tmp_path: Path) -> None:
    """Those that made pairs, and those that were a mass."""
    sketcher = Sketcher(w=2, select="all")
    wanted = replace(settings_for(sketcher.parameters, "0.1"), mass=MassRule(2, 2, 2))
    corpus = create(tmp_path / "c", sketcher, wanted)
    corpus.add([{"id": "a", "text": "b b b"}, {"id": "b", "text": "b b a"}])
    corpus.add([{"id": "c", "text": "a b b"}, *rows(1, 2), *rows(1, edits=1, prefix="e")])
    corpus.remove(["a", "b", "c", "d1", "d2", "e1"])
    assert len(corpus) == 0 and corpus.verify() == []
    corpus.add(rows(3))
    check(corpus)
