"""Stars against the greedy rule over all pairs, with and without masses.

Documents are taken in document order; one that reaches the threshold with the centre of an earlier
star joins the one it resembles most (the first of those), any other is a centre.
"""

import json
import tempfile
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import roughly
from roughly import Sketcher
from roughly.clustering.join import MassRule
from roughly.clustering.settings import Settings, condition_for, settings_for
from tests.cluster_oracle import Document, Row, collections, expect
from tests.test_cluster_run import Way, rules, run, shares, ways

# Every example runs all phases, and a plain oracle beside them.
some = settings(max_examples=min(300, settings.default.max_examples))


def greedy(pairs: list[Row], count: int, threshold: Fraction) -> list[int]:
    weight = {(a, b): Fraction(common, sampled) for a, b, common, sampled in pairs}
    centre: list[int] = []
    for b in range(count):
        near = [a for a in range(b) if centre[a] == a and weight.get((a, b), 0) >= threshold]
        centre.append(max(near, key=lambda a: (weight[a, b], -a)) if near else b)
    return centre


@some
@given(
    collections(),
    st.sampled_from(["all", "mod:2", "min:30", "adaptive:10"]),
    st.tuples(shares, shares),
    rules,
    ways,
)
def test_stars(
    documents: list[Document],
    select: str,
    of_resemblance: tuple[Fraction, Fraction],
    rule: MassRule,
    way: Way,
) -> None:
    sketcher = Sketcher(w=1, select=select)
    floor, threshold = sorted(of_resemblance)
    wanted = replace(settings_for(sketcher.parameters, threshold, floor), mass=rule)
    expected = expect(documents, sketcher, wanted)
    with tempfile.TemporaryDirectory() as directory:
        found = run(documents, sketcher, wanted, Path(directory), way)
        for at in (floor, threshold, (threshold + 1) / 2, Fraction(1)):
            centres = greedy(expected.all_pairs["resemblance"], len(expected.rows), at)
            wanted_clusters = expected.named([expected.rows[centre] for centre in centres])
            assert list(found.at(at, None, "star")) == wanted_clusters


def test_a_chain_is_cut() -> None:
    """Each resembles the next at 77 / 125; the first and the third hardly."""
    tokens = [f"t{i}" for i in range(200)]
    texts = [" ".join(tokens[start : start + 101]) for start in (0, 24, 48, 72)]
    documents = [{"id": str(n), "text": text} for n, text in enumerate(texts)]
    sketcher = Sketcher(w=1, select="all")
    found = roughly.cluster(documents, 0.6, sketcher=sketcher, linkage="star")
    assert list(found) == [["0", "1"], ["2", "3"]]
    for cluster in found.clusters().to_pylist():
        assert cluster["weakest_link"] == cluster["smallest_resemblance"] == 77 / 125
    assert "as stars" in repr(found)


def test_a_hub_that_is_no_centre() -> None:
    """m resembles h, the hub of a mass, which resembles the earlier s; others of the mass do not.

    a  s            words 1-10
    b  h            words 4-13       7 / 13 with s, so it is in the star of s
    c  m1           words 7-16 and h 7 / 13; with s 4 / 16
    d  m2           as m1 but for one word: 9 / 11 with m1
    """

    def words(begin: int, end: int) -> list[str]:
        return [f"w{i}" for i in range(begin, end + 1)]

    texts = [words(1, 10), words(4, 13), words(7, 16), [*words(7, 15), "x"]]
    documents = [
        {"id": name, "text": " ".join(text), "date": None}
        for name, text in zip("abcd", texts, strict=True)
    ]
    sketcher = Sketcher(w=1, select="all")
    wanted = settings_for(sketcher.parameters, "0.5")
    for rule in (MassRule(2, 8, 4), MassRule(3, 8, 4), MassRule(255, 1, 1)):
        with tempfile.TemporaryDirectory() as directory:
            found = run(documents, sketcher, replace(wanted, mass=rule), Path(directory))
            assert list(found.at("0.5", None, "star")) == [["a", "b"], ["c", "d"]]


def test_a_hub_that_is_too_far_at_a_higher_threshold() -> None:
    """a is the hub of b and c at 0.5 (10 / 18); at 0.8 these have only each other (13 / 15)."""
    words = [f"w{i}" for i in range(30)]
    texts = [words[:14], [*words[4:17], "x"], [*words[4:17], "y"]]
    documents = [
        {"id": name, "text": " ".join(text), "date": None}
        for name, text in zip("abc", texts, strict=True)
    ]
    sketcher = Sketcher(w=1, select="all")
    wanted = replace(settings_for(sketcher.parameters, "0.5"), mass=MassRule(3, 8, 4))
    with tempfile.TemporaryDirectory() as directory:
        found = run(documents, sketcher, wanted, Path(directory))
        assert found.outcome.hubs.tolist()[1:] == [0, 0]
        assert list(found.at("0.5", None, "star")) == [["a", "b", "c"]]
        assert list(found.at("0.8", None, "star")) == [["b", "c"]]


def test_refusals() -> None:
    found = roughly.cluster(["a b c"], 0.5, containment=0.8)
    with pytest.raises(roughly.ParameterError, match="no stars by containment"):
        found.at(0.5, 0.8, "star")
    with pytest.raises(roughly.ParameterError, match="no stars by containment"):
        found.at(linkage="star")
    with pytest.raises(roughly.ParameterError, match="linkage: unknown: 'ring'"):
        found.at(0.5, linkage="ring")  # type: ignore[arg-type]


def test_a_corpus_keeps_its_linkage(tmp_path: Path) -> None:
    parameters = Sketcher().parameters
    for condition in (condition_for(), condition_for(method="simhash")):
        wanted = settings_for(parameters, condition=condition, linkage="star")
        assert wanted.linkage == "star"
        assert Settings.from_dict(json.loads(json.dumps(wanted.to_dict()))) == wanted
    # Corpora of single linkage have no such field, as those made before there was one.
    assert "linkage" not in settings_for(parameters).to_dict()
    texts = [" ".join(f"w{i}" for i in range(begin, begin + 10)) for begin in (0, 2, 4)]
    documents = [{"id": name, "text": text} for name, text in zip("abc", texts, strict=True)]
    sketcher = Sketcher(w=1, select="all")
    assert list(roughly.cluster(documents, sketcher=sketcher, linkage="star")) == [["a", "b"]]
    corpus = roughly.Corpus.create(tmp_path / "c.roughly", sketcher, linkage="star")
    corpus.add(documents)
    assert list(corpus.clusters()) == [["a", "b"]]
    assert list(corpus.clusters(linkage="single")) == [["a", "b", "c"]]
    with pytest.raises(roughly.ParameterError, match="no exact stars"):
        roughly.Corpus.create(tmp_path / "e.roughly", linkage="star", exact=True)
