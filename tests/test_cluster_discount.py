"""Clusters with a discount against brute force, on random small collections and by hand; what goes
with it and what does not; and that a corpus with one grows as if it had been made at once."""

import json
import tempfile
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import roughly
from roughly import Sketcher
from roughly.cli.main import main
from roughly.clustering.discount import Discount
from roughly.clustering.join import MassRule
from roughly.clustering.settings import Settings, settings_for
from roughly.errors import ParameterError
from tests.cluster_oracle import Document, collections, expect
from tests.test_cluster_condition import expected_stars
from tests.test_cluster_run import Way, assert_as_expected, rules, run, shares, ways

some = settings(max_examples=min(200, settings.default.max_examples))


@st.composite
def hosted(draw: st.DrawFn) -> list[Document]:
    """Documents of two hosts, most of them in the frame of theirs, and some without a URL."""
    documents = draw(collections())
    rng = draw(st.randoms(use_true_random=False))
    frames = {host: " ".join(f"{host}{n}" for n in range(rng.randint(1, 30))) for host in "ab"}
    for number, document in enumerate(documents):
        host = rng.choice("abc")
        if host in frames:
            document["id"] = f"http://{host}.org/{number}"
            if document["text"].strip() and rng.random() < 0.8:
                document["text"] += " " + frames[host]
    return documents


discounts = st.builds(
    Discount,
    st.sampled_from(["host", "corpus"]),
    st.fractions(Fraction(1, 10), 1, max_denominator=10),
    st.integers(1, 5),
    st.integers(0, 12),
)


@some
@given(
    hosted(),
    st.sampled_from(["all", "mod:2", "adaptive:4", "adaptive:20"]),
    discounts,
    st.tuples(shares, shares),
    st.one_of(st.none(), st.tuples(shares, shares)),
    st.sampled_from([None, "host"]),
    rules,
    ways,
)
def test_brute_force(
    documents: list[Document],
    select: str,
    discount: Discount,
    levels: tuple[Fraction, Fraction],
    contained: tuple[Fraction, Fraction] | None,
    within: str | None,
    rule: MassRule,
    way: Way,
) -> None:
    sketcher = Sketcher(w=2, select=select)
    wanted = settings_for(
        sketcher.parameters,
        max(levels),
        min(levels),
        None if contained is None else max(contained),
        None if contained is None else min(contained),
    )
    condition = replace(wanted.condition, within=within)
    wanted = replace(wanted, mass=rule, discount=discount, condition=condition)
    expected = expect(documents, sketcher, wanted)
    with tempfile.TemporaryDirectory() as directory:
        found = run(documents, sketcher, wanted, Path(directory), way)
        assert_as_expected(found, expected)
        if contained is None:
            star = list(found.at(linkage="star"))
            assert star == expected_stars(documents, sketcher, wanted)
        # What is told of documents and their representatives is of the same.
        near = {(r["a"], r["b"]): r["resemblance"] for r in found.pairs().to_pylist()}
        for row in found.documents().to_pylist():
            told = near.get((row["representative"], row["id"]))
            assert told is None or told == row["resemblance"]


def page(host: str, name: str, text: str) -> dict[str, str]:
    """A page of a site whose frame has 120 words."""
    frame = " ".join(f"{host}{n}" for n in range(120))
    return {"id": f"http://{host}.org/{name}", "text": f"{frame} {text}"}


def words(name: str, count: int = 60) -> str:
    return " ".join(f"{name}w{n}" for n in range(count))


def site(host: str, pages: int = 12) -> list[dict[str, str]]:
    return [page(host, f"{n:02}", words(f"{host}{n}")) for n in range(pages)]


def ids(found: Any) -> list[list[str]]:
    return [[id.removeprefix("http://") for id in cluster] for cluster in found]


def test_pages_that_share_a_frame() -> None:
    """176 shingles each, of which 116 are the frame's: they resemble by 116 / 236 and a little
    more than that at 0.45; the frame counted out, in nothing."""
    documents = site("a")
    assert len(roughly.cluster(documents, 0.45)) == 1
    found = roughly.cluster(documents, 0.45, discount="host:0.5")
    assert len(found) == 0 and len(found.pairs()) == 0
    assert len(roughly.cluster(documents, 0.45, discount="corpus:0.5")) == 0


def test_copies_are_found_through_their_frames() -> None:
    """A text of 60 words on two sites: in frames of 120 it is 56 shingles of 296; without them the
    56 and, on either side, the four that lie across the end of the frame."""
    documents = [
        *site("a"),
        *site("b"),
        page("a", "x", words("same")),
        page("b", "y", words("same")),
    ]
    five = roughly.Sketcher(w=5)
    plain = roughly.cluster(documents, 0.5, sketcher=five)
    assert not any("a.org/x" in cluster for cluster in ids(plain))
    found = roughly.cluster(documents, 0.5, discount="host:0.5", sketcher=five)
    assert ids(found) == [["a.org/x", "b.org/y"]]
    [pair] = found.pairs().to_pylist()
    assert (pair["common"], pair["sampled"]) == (56, 64)
    [_, last] = [row for row in found.documents().to_pylist() if row["cluster"] == 12]
    assert last["resemblance"] == 56 / 64
    assert found.clusters()["weakest_link"].to_pylist() == [56 / 64]


def test_pages_that_are_nothing_but_frame_keep_it() -> None:
    """Fewer than 20 shingles of their own; a shingle ends with each of their words."""
    for own, clusters in ((19, [["a.org/gone0", "a.org/gone1", "a.org/gone2"]]), (20, [])):
        gone = [page("a", f"gone{n}", words(f"gone{n}", own)) for n in range(3)]
        found = roughly.cluster([*site("a"), *gone], 0.5, discount="host:0.5")
        assert ids(found) == clusters


def test_few_documents_have_no_frame() -> None:
    for pages, clusters in ((9, 1), (10, 0)):
        assert len(roughly.cluster(site("a", pages), 0.45, discount="host:0.5")) == clusters


def test_copies_count_once() -> None:
    """Nine pages, one of which is there five times, are nine."""
    documents = site("a", 9)
    copies = [{"id": f"http://a.org/copy{n}", "text": documents[0]["text"]} for n in range(4)]
    assert len(roughly.cluster([*documents, *copies], 0.45, discount="host:0.5")) == 1


def test_documents_without_a_host_keep_all() -> None:
    documents = [{"id": d["id"].removeprefix("http://"), "text": d["text"]} for d in site("a")]
    assert len(roughly.cluster(documents, 0.45, discount="host:0.5")) == 1
    assert len(roughly.cluster(documents, 0.45, discount="corpus:0.5")) == 0


def test_levels() -> None:
    """Long pages keep one element in 2^level, short ones all: an element that only the short ones
    can have counts among these alone."""
    long = [page("a", f"long{n}", words(f"long{n}", 3000)) for n in range(12)]
    documents = [*site("a"), *long]
    found = roughly.cluster(documents, 0.45, discount="host:0.9")
    assert len(found) == 0
    assert set(found.segment.level.tolist()) == {0, 3}


@pytest.mark.parametrize("text", ["host", "host:", "host:0", "host:1.5", "site:0.5", ":0.5", "0.5"])
def test_wrong_discounts(text: str) -> None:
    with pytest.raises(ParameterError, match="discount"):
        roughly.cluster(["a b c"], discount=text)


@pytest.mark.parametrize(
    "options",
    [
        {"exact": True},
        {"sketcher": Sketcher(select="min:100")},
        {"preset": "broder97"},
        {"preset": "broder97-super"},
        {"method": "simhash"},
    ],
)
def test_what_does_not_go_with_it(options: dict[str, Any]) -> None:
    with pytest.raises(ParameterError, match=r"^discount: "):
        roughly.cluster(["a b c"], discount="host:0.5", **options)


def test_it_is_recorded() -> None:
    parameters = Sketcher().parameters
    wanted = settings_for(parameters, discount="host:0.5")
    assert Settings.from_dict(json.loads(json.dumps(wanted.to_dict()))) == wanted
    assert str(wanted.discount) == "host:0.5"
    assert "discount" not in settings_for(parameters).to_dict()


def written(path: Path, documents: list[dict[str, str]]) -> str:
    path.write_text("".join(json.dumps(document) + "\n" for document in documents))
    return str(path)


def test_a_corpus_grows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nine pages are no site yet; with the tenth their frame counts no more, and it does again when
    pages have gone."""
    first, later = written(tmp_path / "1.jsonl", site("a", 9)), site("a", 12)[9:]
    made = str(tmp_path / "a.roughly")
    assert (
        main(["cluster", first, "-o", made, "--threshold", "0.45", "--discount", "host:0.5"]) == 0
    )
    assert len(roughly.Corpus(made).clusters()) == 1
    assert main(["add", made, written(tmp_path / "2.jsonl", later)]) == 0
    assert len(roughly.Corpus(made).clusters()) == 0
    whole = str(tmp_path / "b.roughly")
    both = written(tmp_path / "3.jsonl", site("a", 12))
    assert (
        main(["cluster", both, "-o", whole, "--threshold", "0.45", "--discount", "host:0.5"]) == 0
    )
    grown, at_once = (roughly.Corpus(path).clusters() for path in (made, whole))
    assert grown.documents().equals(at_once.documents())
    assert grown.pairs().equals(at_once.pairs())
    assert roughly.Corpus(made).verify() == []
    roughly.Corpus(made).remove([document["id"] for document in later])
    assert len(roughly.Corpus(made).clusters()) == 1
    capsys.readouterr()
    assert main(["cluster", made, "--discount", "host:0.3"]) == 2
    assert "--discount" in capsys.readouterr().err
    assert main(["info", made]) == 0
    assert "discount host:0.5" in capsys.readouterr().out


def test_not_on_spark(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["cluster", "a.jsonl", "-o", str(tmp_path / "a"), "--engine", "spark"]
    assert main([*words, "--discount", "host:0.5"]) == 2
    assert capsys.readouterr().err.startswith("roughly: --discount: not on Spark")
