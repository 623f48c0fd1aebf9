"""Clusters against plain definitions, on random small collections and on the sample web."""

from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import roughly
from roughly import Sketcher
from roughly.clustering import Clusters
from roughly.report.cluster_report import gather
from roughly.sample_web import sample_web
from tests.test_join import corpora

# Every example runs all phases in a directory; tests/test_cluster_run.py has as many again.
some = settings(max_examples=min(200, settings.default.max_examples))

SELECTIONS = st.sampled_from(["all", "mod:2", "min:9", "adaptive:4", "adaptive:20"])


def named(texts: list[str]) -> list[dict[str, str]]:
    return [{"id": f"{number:03}", "text": text} for number, text in enumerate(texts)]


def expected_clusters(texts: list[str], sketcher: Sketcher, threshold: Fraction) -> list[list[str]]:
    """Documents linked by equivalence or by an estimate of at least the threshold, by search."""
    sketches = [sketcher.sketch(text, "text") for text in texts]

    def linked(i: int, j: int) -> bool:
        a, b = sketches[i], sketches[j]
        if a.equivalence(b):
            return True
        estimate = a.resemblance(b)
        if not (len(a) and len(b)):
            return False
        return Fraction(estimate.value).limit_denominator(10**6) >= threshold

    clusters, free = [], set(range(len(texts)))
    while free:
        todo = [min(free)]
        cluster = set(todo)
        while todo:
            at = todo.pop()
            found = {j for j in free - cluster if linked(at, j)}
            cluster |= found
            todo += found
        free -= cluster
        if len(cluster) > 1:
            clusters.append([f"{number:03}" for number in sorted(cluster)])
    return sorted(clusters)


@some
@given(corpora(), SELECTIONS, st.sampled_from(["0.3", "0.5", "0.75", "1"]), st.integers(1, 3))
def test_clusters_are_the_components(
    texts: list[str], select: str, threshold: str, threads: int
) -> None:
    sketcher = Sketcher(w=2, select=select)
    found = roughly.cluster(
        named(texts), float(threshold), sketcher=sketcher, content_type="text", threads=threads
    )
    assert sorted(found) == expected_clusters(texts, sketcher, Fraction(threshold))


@some
@given(corpora(), SELECTIONS)
def test_any_threshold_from_one_forest(texts: list[str], select: str) -> None:
    sketcher = Sketcher(w=2, select=select)
    found = roughly.cluster(named(texts), 0.9, floor=0.2, sketcher=sketcher, content_type="text")
    for threshold in (0.2, 0.35, 0.6, 1.0):
        anew = roughly.cluster(named(texts), threshold, sketcher=sketcher, content_type="text")
        assert found.at(threshold).documents() == anew.documents()
        assert found.at(threshold).clusters() == anew.clusters()


@some
@given(corpora(), st.randoms(use_true_random=False))
def test_the_order_of_reading_does_not_matter(texts: list[str], rng: object) -> None:
    documents = named(texts)
    shuffled = list(documents)
    rng.shuffle(shuffled)  # type: ignore[attr-defined]
    one, other = roughly.cluster(documents), roughly.cluster(shuffled)
    assert one.documents() == other.documents()


def rows(found: Clusters) -> list[tuple[str, str, str | None, float]]:
    table = found.documents().to_pylist()
    return [(r["id"], r["representative"], r["kind"], round(r["resemblance"], 3)) for r in table]


def test_kinds() -> None:
    """Every way to belong to a cluster, worked out by hand with w = 2."""
    text = " ".join(f"a{i}" for i in range(31))  # 30 shingles
    edited = text.replace("a30", "b")  # 29 in common, 31 together
    # One round through all tokens, begun elsewhere: the same pairs of neighbours, another order.
    ring = [f"r{i}" for i in range(25)]
    documents = {
        "1": text,
        "2": text,
        "3": text.upper() + "!",
        "4": edited,
        "5": "nothing of all this",
        "6": "",
        "7": "",
        "8": "  ",
        "9": " ".join([*ring, ring[0]]),
        "99": " ".join([*ring[7:], *ring[:8]]),
    }
    found = roughly.cluster(
        [{"id": i, "text": t} for i, t in documents.items()],
        0.5,
        sketcher=Sketcher(w=2, select="all"),
    )
    assert rows(found) == [
        ("1", "1", None, 1.0),
        ("2", "1", "identical", 1.0),
        ("3", "1", "lexical", 1.0),
        ("4", "1", "near", round(29 / 31, 3)),
        ("5", "5", None, 1.0),
        ("6", "6", None, 1.0),
        ("7", "6", "identical", 1.0),
        ("8", "6", "empty", 1.0),
        ("9", "9", None, 1.0),
        ("99", "9", "shingle", 1.0),
    ]
    assert found.clusters().to_pylist() == [
        {
            "cluster": 0,
            "representative": "1",
            "size": 4,
            "weakest_link": 29 / 31,
            "smallest_resemblance": 29 / 31,
            "mass": False,
        },
        {
            "cluster": 2,
            "representative": "6",
            "size": 3,
            "weakest_link": 1.0,
            "smallest_resemblance": 1.0,
            "mass": False,
        },
        {
            "cluster": 3,
            "representative": "9",
            "size": 2,
            "weakest_link": 1.0,
            "smallest_resemblance": 1.0,
            "mass": False,
        },
    ]
    assert found.pairs().to_pylist() == [
        {
            "a": "1",
            "b": "4",
            "common": 29,
            "sampled": 31,
            "resemblance": 29 / 31,
            "containment": None,
            "mass": False,
            "distance": None,
            "same_site": None,
        }
    ]


def test_a_chain_shows_in_the_smallest_resemblance() -> None:
    """a-b and b-c resemble, a and c hardly: one cluster, which says so."""
    tokens = [f"t{i}" for i in range(150)]
    chain = [" ".join(tokens[start : start + 101]) for start in (0, 24, 48)]
    found = roughly.cluster(named(chain), 0.6, sketcher=Sketcher(w=1, select="all"))
    (cluster,) = found.clusters().to_pylist()
    assert cluster["size"] == 3
    assert cluster["weakest_link"] == 77 / 125
    assert cluster["smallest_resemblance"] == 53 / 149


def test_the_sample_web() -> None:
    """What is known to resemble is together, what is known not to is apart."""
    web = sample_web(pages=120)
    pages = [d for d in web.documents if d.date == web.documents[0].date]
    found = roughly.cluster([{"id": d.url, "text": d.content.decode()} for d in pages], 0.5)
    cluster_of = {r["id"]: r["cluster"] for r in found.documents().to_pylist()}
    together = 0
    for pair in web.pairs:
        (a, date_a), (b, date_b) = pair.a, pair.b
        if date_a == date_b == web.documents[0].date and pair.resemblance[0] >= 0.65:
            assert cluster_of[a] == cluster_of[b], pair
            together += 1
    assert together > 10


def test_nothing_to_cluster() -> None:
    for documents in ([], [""], ["one document alone"]):
        found = roughly.cluster(documents)
        assert len(found) == 0 and list(found) == []
        assert found.documents().num_rows == len(documents)
        assert "0 clusters" in repr(found) and "<table>" in found._repr_html_()


def test_what_could_not_be_read_is_said() -> None:
    found = roughly.cluster([{"text": "a b c"}, {"text": None}, {"other": 1}])
    assert found.skipped.count == 2
    assert repr(found).startswith("Clusters(1 documents, 2 skipped, 0 clusters")


def test_containment_stays_at_other_thresholds(tmp_path: Path) -> None:
    """b is the first half of a, c has all but one word of the twenty of a: 19/21."""
    words = [f"w{i}" for i in range(20)]
    texts = {"a": words, "b": words[:10], "c": [*words[:19], "x"]}
    documents = [{"id": id, "text": " ".join(text)} for id, text in texts.items()]
    sketcher = Sketcher(w=1, select="all")
    corpus = roughly.Corpus.create(tmp_path / "c.roughly", sketcher, 0.5, containment=0.9)
    corpus.add(documents)
    found = roughly.cluster(documents, 0.5, containment=0.9, sketcher=sketcher)
    for at in (found.at, corpus.clusters, corpus.clusters().at):
        for wanted in (found, at(), at(0.95), at(0.9, 0.95), at(0.95).at(1)):
            assert list(wanted) == [["a", "b", "c"]]
        assert at(0.95).containment == Fraction(9, 10)
        assert at(0.9, 0.95).at(1).containment == Fraction(95, 100)
        without = at(0.9, "none")
        assert (without.containment, list(without)) == (None, [["a", "c"]])
        assert list(without.at(0.95)) == list(at(linkage="single", containment="none").at(1)) == []
        assert without.at(0.9, 0.9).containment == Fraction(9, 10)
        # Stars go by resemblance alone, and nothing is left out unasked.
        with pytest.raises(roughly.ParameterError, match="no stars by containment") as refused:
            at(linkage="star")
        assert "none" in str(refused.value.hint)
        stars = at(containment="none", linkage="star")
        assert list(stars.at(0.9)) == [["a", "c"]] and list(stars.at(0.95)) == []
    # Distinct documents are those that nothing resembles fully, whatever contains them.
    assert gather(found, timings=()).distinct == 3


def test_refusals() -> None:
    with pytest.raises(roughly.ParameterError, match="threshold: out of range: 0"):
        roughly.cluster(["a"], 0)
    with pytest.raises(roughly.ParameterError, match="floor: out of range: 1e-12"):
        roughly.cluster(["a"], floor=1e-12)
    with pytest.raises(roughly.ParameterError, match="sketcher: wrong type: str"):
        roughly.cluster(["a"], sketcher="adaptive:200")  # type: ignore[arg-type]
    with pytest.raises(roughly.ParameterError, match=r"floor: above the threshold: 0\.6"):
        roughly.cluster(["a"], 0.5, floor=0.6)
    with pytest.raises(roughly.ParameterError, match=r"below the floor: 0\.3, wanted 0\.4 or more"):
        roughly.cluster(["a"], 0.5).at(0.3)
    with pytest.raises(roughly.ParameterError, match="cannot cluster perm:84"):
        roughly.cluster(["a"], sketcher=roughly.preset("broder97-super"))


@some
@given(corpora(), st.sampled_from(["all", "mod:2", "adaptive:4"]), st.booleans())
def test_exact_pairs(texts: list[str], select: str, contains: bool) -> None:
    """Every pair that sketches found, counted on complete sets, if it still reaches the floor."""
    sketcher, whole = Sketcher(w=2, select=select), Sketcher(w=2, select="all")
    options = {"containment": 0.8} if contains else {}
    found, exact = (
        roughly.cluster(
            named(texts), 0.5, sketcher=sketcher, content_type="text", exact=exact, **options
        )
        for exact in (False, True)
    )
    sets = [set(whole.sketch(text, "text").fingerprints.tolist()) for text in texts]
    wanted = set()
    for row in found.pairs().to_pylist():
        a, b = sets[int(row["a"])], sets[int(row["b"])]
        union = len(a | b) if row["containment"] is None else min(len(a), len(b))
        floor = Fraction(4, 10) if row["containment"] is None else Fraction(7, 10)
        if len(a & b) >= floor * union:
            wanted.add((row["a"], row["b"], len(a & b), union))
    # Documents with the same sketch are pairs now, for they may differ.
    rows = exact.pairs().to_pylist()
    counted = {(r["a"], r["b"], r["common"], r["sampled"]) for r in rows}
    assert wanted <= counted
    for row in rows:
        a, b = sets[int(row["a"])], sets[int(row["b"])]
        union = len(a | b) if row["containment"] is None else min(len(a), len(b))
        assert (row["common"], row["sampled"]) == (len(a & b), union)
    links = exact.outcome.links.tolist() + exact.outcome.containment_links.tolist()
    assert {(common, sampled) for _, _, common, sampled in links} <= {c[2:] for c in counted}


def test_masses_at_higher_thresholds() -> None:
    """300 documents share 70 words, and each two of them 30 more: 70 / 134 to all, 100 / 104 to
    one. At 0.5 they are one mass; the pairs in it are there all the same."""
    texts = [
        " ".join(
            [
                *(f"all{i}" for i in range(70)),
                *(f"two{n // 2}x{i}" for i in range(30)),
                *(f"own{n}x{i}" for i in range(2)),
            ]
        )
        for n in range(300)
    ]
    sketcher = Sketcher(w=1, select="all")
    found = roughly.cluster(named(texts), 0.5, sketcher=sketcher)
    assert found.sizes().tolist() == [300]
    assert found.clusters()["mass"].to_pylist() == [True]
    pairs = [[f"{n:03}", f"{n + 1:03}"] for n in range(0, 300, 2)]
    for threshold in (0.6, 0.7, 0.8, 0.9):
        assert list(found.at(threshold)) == pairs
    assert list(roughly.cluster(named(texts), 0.9, sketcher=sketcher)) == pairs
