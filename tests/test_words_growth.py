"""A corpus whose short documents have words grows and shrinks as one clustered at once: links and
pairs by both measures, counted on the text or not, through whatever way candidates are found."""

import tempfile
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import roughly
from roughly import Corpus, Sketcher
from roughly.clustering.join import MassRule
from roughly.clustering.settings import settings_for
from roughly.corpus import regrowth
from tests.cluster_oracle import short_collections
from tests.optional import FULL
from tests.test_growth import check, create, floors, rules


@st.composite
def histories(draw: st.DrawFn) -> list[Any]:
    """Additions of short documents, and removals: lists of documents, and of ids."""
    documents = draw(short_collections())
    changes: list[Any] = []
    there: list[str] = []
    while documents:
        count = draw(st.integers(1, 7))
        changes.append(documents[:count])
        there += [d["id"] for d in documents[:count]]
        documents = documents[count:]
        if draw(st.booleans()):
            changes.append(draw(st.lists(st.sampled_from(there), min_size=1, max_size=4)))
    return changes


@settings(max_examples=50 if FULL else 3)
@given(
    histories(),
    st.sampled_from([("all", 256), ("all", 12), ("adaptive:20", 20), ("adaptive:200", 30)]),
    st.sampled_from([1, 2, 5]),
    floors,
    st.one_of(st.none(), floors),
    rules,
    st.sampled_from([False, False, True]),
    st.booleans(),
    st.booleans(),
)
def test_growing_equals_clustering_at_once(
    changes: list[Any],
    sketching: tuple[str, int],
    w: int,
    of_resemblance: list[Fraction],
    of_containment: list[Fraction] | None,
    rule: MassRule,
    exact: bool,
    counted: bool,
    compact: bool,
) -> None:
    sketcher = Sketcher(w, sketching[0], words=sketching[1])
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
        left: set[str] = set()
        for change in changes:
            if isinstance(change[0], dict):
                corpus.add(change, content_type="text")
                left |= {d["id"] for d in change}
            else:
                corpus.remove(change)
                left -= set(change)
            check(corpus)
        if compact:
            corpus.compact()
            check(corpus)
        assert set(corpus.clusters().ids.to_pylist()) == left


def test_words_link_what_comes_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Headlines that share most words and no shingle of five, added one after the other."""
    monkeypatch.setattr("os.fsync", lambda descriptor: None)
    words = "rain falls on hills and in valleys".split()
    orders = [words, words[::-1], [*words[::2], *words[1::2]]]
    corpus = Corpus.create(tmp_path / "c", threshold=0.5)
    bare = Corpus.create(tmp_path / "bare", Sketcher(w=5), threshold=0.5)
    for n, order in enumerate(orders):
        document = {"id": str(n), "text": " ".join(order)}
        corpus.add([document], f"202{n}")
        bare.add([document], f"202{n}")
    # Three shingles and seven words each: 7 of 13.
    assert list(corpus.clusters()) == [["0", "1", "2"]]
    assert list(bare.clusters()) == []
    assert {tuple(row[2:]) for row in corpus.outcome.links.tolist()} == {(7, 13)}
    check(corpus)
    again = roughly.Corpus(tmp_path / "c")
    assert again.manifest.parameters.words == 200
    assert again.collection.parameters == Sketcher().parameters


def test_another_seed_has_the_same_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A corpus compacted with a new seed is sketched anew, with words."""
    monkeypatch.setattr("os.fsync", lambda descriptor: None)
    corpus = Corpus.create(tmp_path / "c", Sketcher(words=40, select="adaptive:60"))
    documents = [{"id": str(n), "text": f"one two three four five six {n}"} for n in range(5)]
    corpus.add(documents)
    corpus.compact(seed=7)
    check(corpus)
    assert corpus.manifest.parameters == Sketcher(words=40, select="adaptive:60", seed=7).parameters
    made = Sketcher(words=40, select="adaptive:60", seed=7)
    stored = corpus.collection.sketches(corpus.collection.live_rows.astype("int64"))
    whole = made.sketch_batch([d["text"] for d in documents], "text").columns
    assert stored.values.tolist() == whole.values.tolist()
    assert stored.offsets.tolist() == whole.offsets.tolist()
