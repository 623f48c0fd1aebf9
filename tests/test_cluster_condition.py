"""Clusters under conditions against brute force: every method, sizes, categories, linkage and
masses, on random small collections; and masses that must not cost their square."""

import tempfile
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import roughly
from roughly import Sketcher
from roughly.clustering.join import MassRule
from roughly.clustering.near_simhash import hub_pairs, simhash_hubs, simhash_pairs
from roughly.clustering.outcome import Outcome
from roughly.clustering.settings import Settings, condition_for, settings_for
from roughly.condition import Attributes, Condition, make_condition
from roughly.report.cluster_report import gather
from roughly.simhashing.simhasher import Simhasher
from tests.cluster_oracle import Document, Facts, collections, document_order, expect
from tests.test_cluster_run import (
    NO_MASSES,
    Way,
    assert_as_expected,
    pair_rows,
    rules,
    run,
    shares,
    ways,
)
from tests.test_star import greedy

some = settings(max_examples=min(200, settings.default.max_examples))


@st.composite
def categorized(draw: st.DrawFn) -> list[Document]:
    """Documents of some hosts and languages; few of each, or hardly any would be comparable."""
    documents = draw(collections())
    rng = draw(st.randoms(use_true_random=False))
    for number, document in enumerate(documents):
        if rng.random() < 0.8:
            document["id"] = f"http://{rng.choice('ab')}.org/{number}"
        document["language"] = rng.choice(["en", "de", "en", None])
    return documents


@st.composite
def conditions(draw: st.DrawFn, methods: tuple[str, ...]) -> Condition:
    method = draw(st.sampled_from(methods))
    options: dict[str, Any] = {}
    if method != "shingles":
        options["distance"] = draw(st.integers(0, 10))
        options["simhasher"] = Simhasher(draw(st.sampled_from(["terms", "phrases:2"])))
    ratio = draw(st.sampled_from([None, None, "0.5", "0.9", 1]))
    within = draw(st.sampled_from([None, None, "host", "language"]))
    return make_condition(method, size_ratio=ratio, within=within, **options)


def expected_stars(
    documents: list[Document],
    sketcher: Sketcher,
    wanted: Settings,
    threshold: Fraction | None = None,
) -> Any:
    """By the plain rule of tests/test_star.py, on all pairs."""
    expected = expect(documents, sketcher, wanted)
    pairs = expected.all_pairs["resemblance"]
    centres = greedy(pairs, len(expected.rows), threshold or wanted.threshold)
    return expected.named([expected.rows[centre] for centre in centres])


@some
@given(
    categorized(),
    st.sampled_from(["all", "mod:2", "min:9", "adaptive:4", "adaptive:20"]),
    conditions(("shingles", "both")),
    st.tuples(shares, shares),
    st.one_of(st.none(), st.tuples(shares, shares)),
    rules,
    ways,
)
def test_the_join(
    documents: list[Document],
    select: str,
    condition: Condition,
    of_resemblance: tuple[Fraction, Fraction],
    of_containment: tuple[Fraction, Fraction] | None,
    rule: MassRule,
    way: Way,
) -> None:
    sketcher = Sketcher(w=2, select=select)
    floor, threshold = sorted(of_resemblance)
    of_pairs: tuple[Any, Any] = (None, None)
    if of_containment and not select.startswith("min"):
        of_pairs = (max(of_containment), min(of_containment))
    wanted = settings_for(sketcher.parameters, threshold, floor, *of_pairs, condition=condition)
    wanted = replace(wanted, mass=rule)
    with tempfile.TemporaryDirectory() as directory:
        found = run(documents, sketcher, wanted, Path(directory), way)
        expected = expect(documents, sketcher, wanted)
        assert_as_expected(found, expected)
        for other in (floor, (floor + threshold) / 2, threshold, Fraction(1)):
            at = found.at(other, of_pairs[0])
            assert list(at) == expected.clusters(other, of_pairs[0], rule != NO_MASSES)
        assert_as_expected(replace(found, outcome=Outcome.load(Path(directory))), expected)
        if of_pairs[0] is None:
            for other in (threshold, (threshold + 1) / 2):
                stars = list(found.at(other, None, "star"))
                assert stars == expected_stars(documents, sketcher, wanted, other)


@some
@given(categorized(), conditions(("simhash",)), rules, ways)
def test_pairs_by_simhash(
    documents: list[Document], condition: Condition, rule: MassRule, way: Way
) -> None:
    sketcher = Sketcher(w=2, select="adaptive:20")
    wanted = replace(settings_for(sketcher.parameters, condition=condition), mass=rule)
    with tempfile.TemporaryDirectory() as directory:
        found = run(documents, sketcher, wanted, Path(directory), way)
        expected = expect(documents, sketcher, wanted)
        assert_as_expected(found, expected)
        assert list(found.at(None, None, "star")) == expected_stars(documents, sketcher, wanted)
        # One forest gives every smaller distance.
        for distance in range(condition.distance + 1):
            less = replace(condition, distance=distance)
            anew = replace(settings_for(sketcher.parameters, condition=less), mass=rule)
            at = found.at(distance=distance)
            assert at.distance == distance
            assert list(at) == expect(documents, sketcher, anew).clusters(anew.threshold)
            stars = at.at(linkage="star", distance=distance)
            assert list(stars) == expected_stars(documents, sketcher, anew), distance


@settings(max_examples=min(60, settings.default.max_examples))
@given(categorized(), conditions(("shingles", "both")), st.integers(1, 8), ways)
def test_the_paper_s_expansion_and_super_shingles(
    documents: list[Document], condition: Condition, number: int, way: Way
) -> None:
    half, third = Fraction(1, 2), Fraction(1, 3)
    for sketcher, wanted in (
        (Sketcher(w=2, select="mod:2"), Settings(half, third, method="expansion", cut_off=number)),
        (
            Sketcher(w=2, select="perm:60"),
            Settings(third, third, method="super", super_length=10, super_agreeing=2),
        ),
    ):
        wanted = replace(wanted, condition=condition)
        with tempfile.TemporaryDirectory() as directory:
            found = run(documents, sketcher, wanted, Path(directory), way)
            assert_as_expected(found, expect(documents, sketcher, wanted))


@some
@given(categorized(), conditions(("shingles", "simhash", "both")))
def test_distances_and_sites_of_pairs(documents: list[Document], condition: Condition) -> None:
    ordered = document_order(documents)
    place = {d["id"]: n for n, d in enumerate(ordered)}
    found = roughly.cluster(
        documents,
        method=condition.method,
        distance=condition.distance if condition.simhash else None,
        simhasher=condition.simhasher,
        size_ratio=condition.size_ratio,
        within=condition.within,
        sketcher=Sketcher(w=2),
        content_type="text",
    )
    assert found.settings.condition == condition
    sketches = Sketcher(w=2).sketch_batch([d["text"] for d in ordered], "text")
    facts = Facts.of(ordered, sketches, condition)
    hosts = Facts.of(ordered, sketches, make_condition(within="host")).category
    same = cross = 0
    first = {name: members[0] for members in found for name in members}
    for row in found.pairs().to_pylist():
        a, b = place[row["a"]], place[row["b"]]
        assert facts.comparable(a, b)
        assert row["distance"] == facts.distance(a, b)
        site = None if "" in (hosts[a], hosts[b]) else hosts[a] == hosts[b]
        assert row["same_site"] == site
        shared = sketches[a].resemblance(sketches[b]).value if len(sketches[a]) else 0
        if row["sampled"]:
            assert row["resemblance"] == row["common"] / row["sampled"] == shared
        strong = condition.method == "simhash" or row["resemblance"] >= 0.5
        if strong:
            assert first[row["a"]] == first[row["b"]]
            same += site is True
            cross += site is False
    assert found.site_pairs == (same, cross)
    by_cluster = found.site_pairs_by_cluster
    assert [int(counts.sum()) for counts in by_cluster] == [same, cross]
    assert [len(counts) for counts in by_cluster] == [len(found)] * 2


def test_a_pair_by_both_measures_is_counted_once() -> None:
    """A document, most of it, and half of it: by hand with w = 1 and whole sketches."""
    words = [f"a{i}" for i in range(40)]
    texts = {"http://a.org/1": words, "http://a.org/2": words[:30], "http://b.org/3": words[:10]}
    documents = [{"id": id, "text": " ".join(text)} for id, text in texts.items()]
    sketcher = Sketcher(w=1, select="all")
    for exact in (False, True):
        found = roughly.cluster(documents, 0.5, containment=1, sketcher=sketcher, exact=exact)
        # 1 and 2 resemble each other by 3/4 and contain each other; 3 is in both.
        rows = [(r["resemblance"], r["containment"]) for r in found.pairs().to_pylist()]
        assert rows == [(0.75, None), *[(None, 1)] * 3]
        assert found.site_pairs == (1, 2)
        report = gather(found, timings=())
        assert (report.pairs, report.pairs_by_containment) == (3, 2)
        assert sum(each.pairs for each in report.resemblances) == 1
        # Whatever they resemble each other, what estimates put below the floor is not there by it.
        files = [each for each in found.outcome.pair_files if each[0] == "containment"]
        alone = replace(found, outcome=replace(found.outcome, pair_files=files))
        assert alone.site_pairs == (1, 2)
        report = gather(alone, timings=())
        assert (report.pairs, report.pairs_by_containment) == (3, 3)


def attributes(simhashes: Any, condition: Condition, sizes: Any, categories: Any) -> Attributes:
    return Attributes(
        condition,
        np.asarray(sizes, np.uint32),
        np.asarray(simhashes, np.uint64),
        np.ones(len(simhashes), bool),
        None if condition.within is None else np.asarray(categories, np.uint64),
    )


@pytest.mark.parametrize("within", [None, "host"])
@pytest.mark.parametrize("ratio", [None, "0.5"])
def test_one_simhash_of_very_many(within: str | None, ratio: str | None) -> None:
    """200,000 documents have one simhash, and as many one that differs in a bit: what is made is in
    proportion to them, and holds all together that belong together."""
    count = 200_000
    condition = make_condition("simhash", 3, ratio, within)
    simhashes = np.repeat(np.array([5, 4], np.uint64), count)
    categories = np.arange(2 * count) % count  # every host has one of each
    sizes = np.where(np.arange(2 * count) % 7 == 0, 100, 49)
    found = attributes(simhashes, condition, sizes, categories)
    rows = np.arange(2 * count, dtype=np.uint32)
    hubs = simhash_hubs(found, rows, 100)
    pairs = np.concatenate([hub_pairs(hubs), *simhash_pairs(found, rows, hubs, 1)])
    assert len(pairs) <= 2 * count
    roots = roughly._core.components(pairs, 2 * count, 0, 1)
    expected = np.zeros(2 * count, np.int64)
    if within is not None:
        expected += categories
    if ratio is not None:
        expected = expected * 2 + (sizes == 49)
    _, expected = np.unique(expected, return_inverse=True)
    _, first = np.unique(expected, return_index=True)
    assert roots.tolist() == first[expected].tolist()


def test_a_mass_of_several_categories() -> None:
    """300 near copies, each in one of three languages: a cluster for each, by every method."""
    shared = " ".join(f"w{i}" for i in range(200))
    documents = [
        {"id": f"{n:03}", "text": f"{shared} own{n}", "language": "abc"[n % 3]} for n in range(300)
    ]
    wanted = [[f"{n:03}" for n in range(start, 300, 3)] for start in range(3)]
    for options in ({}, {"method": "simhash", "distance": 10}, {"method": "both", "distance": 10}):
        found = roughly.cluster(documents, within="language", **options)
        assert list(found) == wanted
        assert pair_rows(found.outcome, "resemblance")


def test_methods_see_different_things() -> None:
    """The same words in another order have one simhash and hardly a shingle in common; a short text
    with one word changed has many shingles in common, and another simhash."""
    words = [f"w{i}" for i in range(60)]
    backwards = " ".join(reversed(words))
    documents = [{"id": "a", "text": " ".join(words)}, {"id": "b", "text": backwards}]
    options: list[dict[str, Any]] = [{}, {"method": "simhash"}, {"method": "both"}]
    assert [len(roughly.cluster(documents, **each)) for each in options] == [0, 1, 0]
    short = [f"s{i}" for i in range(12)]
    simhash = roughly.simhash(" ".join(short))
    assert simhash is not None
    # A word that changes many bits.
    other = max(
        (" ".join([*short[:-1], f"x{i}"]) for i in range(50)),
        key=lambda text: (simhash ^ (roughly.simhash(text) or 0)).bit_count(),
    )
    assert (simhash ^ (roughly.simhash(other) or 0)).bit_count() > 3
    documents = [{"id": "a", "text": " ".join(short)}, {"id": "b", "text": other}]
    assert [len(roughly.cluster(documents, **each)) for each in options] == [1, 0, 0]


def test_the_2007_paper() -> None:
    """Section 4: 64-bit simhashes, k = 3."""
    condition = condition_for("manku07")
    assert (condition.method, condition.distance) == ("simhash", 3)
    assert condition.simhash == Simhasher().parameters
    documents = ["a b c d", "a b c d e", "d c b a", ""]
    found = roughly.cluster(documents, preset="manku07")
    assert (
        found.documents()
        == roughly.cluster(
            documents, method="simhash", distance=3, sketcher=Sketcher(w=5)
        ).documents()
    )
    assert found.distance == 3
    assert roughly.cluster(documents, preset="manku07", distance=1).distance == 1
    with pytest.raises(roughly.ParameterError, match="beside the method both: manku07 compares"):
        roughly.cluster(documents, preset="manku07", method="both")


def test_settings_are_recorded() -> None:
    parameters = Sketcher().parameters
    plain = settings_for(parameters)
    assert "condition" not in plain.to_dict()
    assert Settings.from_dict(plain.to_dict()) == plain
    for condition in (make_condition("both", 5, "1/3", "host"), make_condition("simhash")):
        wanted = settings_for(parameters, condition=condition)
        assert Settings.from_dict(wanted.to_dict()) == wanted


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "simhash", "threshold": 0.5}, "threshold: nothing to apply to: documents are"),
        ({"method": "simhash", "containment": 0.5}, "containment: nothing to apply to"),
        ({"method": "simhash", "floor": 0.5}, "floor: nothing to apply to"),
        ({"method": "simhash", "exact": True}, "exact: nothing to apply to"),
        ({"method": "simhash", "preset": "broder97"}, "broder97 finds pairs by full expansion"),
        ({"distance": 2}, "distance: nothing to apply to"),
        ({"size_ratio": 2}, "size ratio: out of range"),
        ({"within": "language"}, "language"),
    ],
)
def test_refusals(options: dict[str, Any], message: str) -> None:
    with pytest.raises(roughly.RoughlyError, match=message):
        roughly.cluster(["a b c"], **options)


def test_other_distances_that_cannot_be_had() -> None:
    by_simhash = roughly.cluster(["a b c"], method="simhash")
    with pytest.raises(roughly.ParameterError, match="above that of the clustering: 4, wanted 3"):
        by_simhash.at(distance=4)
    with pytest.raises(roughly.ParameterError, match="cannot stand beside a threshold"):
        by_simhash.at(1, distance=2)
    with pytest.raises(roughly.ParameterError, match="fixed when these documents were clustered"):
        roughly.cluster(["a b c"], method="both").at(distance=2)
    with pytest.raises(roughly.ParameterError, match="these are no clusters by simhash alone"):
        roughly.cluster(["a b c"]).at(distance=2)


def test_no_documents() -> None:
    for method in ("simhash", "both"):
        found = roughly.cluster([], method=method)  # type: ignore[arg-type]
        assert list(found) == [] and found.site_pairs == (0, 0)
        assert found.pairs().num_rows == 0
        empty = roughly.cluster(["", " ", "!"], method=method)  # type: ignore[arg-type]
        assert empty.documents()["kind"].to_pylist() == [None, "empty", "empty"]
        assert isinstance(empty.pairs(), pa.Table)
