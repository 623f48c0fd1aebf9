"""Lost pages, versions and grouped results of short documents with words, as worked out by hand:
pages are known again by their shingles, results are grouped by both kinds of elements."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import roughly
from roughly import Sketcher
from roughly.corpus.collapse import collapse_results
from roughly.corpus.commonness import Scan
from roughly.corpus.evidence import compare_pairs, gather
from tests.memory_collection import MemoryCollection, collection
from tests.test_collapse import groups
from tests.test_lost import NEW, OLD, found, places

TEXT = "one two three four five six seven eight"  # four shingles and eight words
SHUFFLED = "eight six four two one three five seven"  # the words alone
EDITED = "one two three four five six seven nine"  # three of the shingles, seven of the words

texts = st.lists(st.sampled_from("abcdefgh"), max_size=12).map(" ".join)


def shingles(text: str) -> set[tuple[str, ...]]:
    tokens = text.split()
    return {tuple(tokens[n : n + 5]) for n in range(max(len(tokens) - 4, 1))} if tokens else set()


@given(st.lists(texts, min_size=1, max_size=4), st.lists(texts, min_size=1, max_size=4))
def test_evidence_is_of_shingles(old: list[str], new: list[str]) -> None:
    made = collection(
        [
            *((f"o{n}", OLD, t) for n, t in enumerate(old)),
            *((f"n{n}", NEW, t) for n, t in enumerate(new)),
        ],
        part_rows=3,
    )
    assert made.parameters.words == 200
    first, second = np.arange(len(old)), np.arange(len(old), len(old) + len(new))
    evidence = gather(made, Scan(made, first, second), first, second)
    for number, (a, b) in enumerate(zip(evidence.old.tolist(), evidence.new.tolist(), strict=True)):
        assert evidence.shared[number] == len(shingles(old[a]) & shingles(new[b]))
    pairs = np.array([(a, b) for a in first for b in second])
    together = compare_pairs(made, pairs)
    bare = MemoryCollection(made.documents, part_rows=3)  # type: ignore[attr-defined]
    batch = Sketcher(w=5).sketch_batch([t for _, _, t in bare.documents], "text")
    bare.parameters, bare.columns = batch.parameters, batch.columns
    assert np.array_equal(together, compare_pairs(bare, pairs))  # type: ignore[arg-type]


def test_the_same_words_are_no_page_again() -> None:
    moves = found({"/x": TEXT, "/y": "a b c d e f g"}, {"/new": SHUFFLED, "/y": "a b c d e f g"})
    assert places(moves["/x"]) == [("gone", "")]


def test_lost_and_found_by_shingles() -> None:
    stays = {"/y": "a b c d e f g"}
    [move] = found({"/x": TEXT, **stays}, {"/new": EDITED, **stays})["/x"]
    assert (move.kind, (move.new or "")[-4:]) == ("moved", "/new")
    # Estimates are those of shingles: three of five, and three of four.
    assert (move.resemblance, move.containment) == (3 / 5, 3 / 4)


@pytest.fixture
def corpus(tmp_path, monkeypatch) -> roughly.Corpus:  # type: ignore[no-untyped-def]
    monkeypatch.setattr("os.fsync", lambda descriptor: None)
    made = roughly.Corpus.create(tmp_path / "c")
    site = "http://a.example"
    made.add([{"id": f"{site}/x", "text": TEXT}, {"id": f"{site}/y", "text": "a b c d e f"}], OLD)
    made.add([{"id": f"{site}/z", "text": EDITED}, {"id": f"{site}/y", "text": "a b c d e g"}], NEW)
    return made


def test_moves_in_a_corpus(corpus: roughly.Corpus) -> None:
    [estimated] = corpus.moves()
    assert (estimated.kind, estimated.new) == ("moved", "http://a.example/z")
    [exact] = corpus.moves(exact=True)
    # Of shingles, on the text as by sketches: 3 of 5, and 3 of the 4 of the old page.
    assert (exact.resemblance, exact.containment) == (0.6, 0.75)


def test_changes_and_history(corpus: roughly.Corpus) -> None:
    """Versions of /y share one of three shingles and five of seven words."""
    history = corpus.history("http://a.example/y")
    assert history is not None
    assert [version.resemblance for version in history.versions] == [None, 6 / 10]
    [page] = [page for page in corpus.changes().pages if page.url.endswith("/y")]
    assert page.mean_resemblance == page.least_resemblance == 6 / 10


def test_results_are_grouped_by_both() -> None:
    """12 elements each: 8 of 16 by the words alone, 10 of 14 with one word changed."""
    made = collection([("a", None, TEXT), ("b", None, SHUFFLED), ("c", None, EDITED)])
    for threshold, wanted in (
        ("0.5", [(0, [1, 2])]),
        ("0.51", [(0, [2]), (1, [])]),
        ("0.72", [(0, []), (1, []), (2, [])]),
    ):
        assert groups(collapse_results(made, [0, 1, 2], [None] * 3, threshold, None)) == wanted
    # Containment by shingles: a passage of the first, and its words in disorder.
    given_ = [TEXT, "three four five six seven", "seven six five four three"]
    found_ = collapse_results(made, [None] * 3, given_, "0.9", "0.9")
    assert groups(found_) == [(0, [1]), (2, [])]
