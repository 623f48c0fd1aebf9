"""The overview and the list of clusters: their counts against the tables of the library, at every
threshold, and what they keep in memory."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from roughly import Corpus
from roughly.clustering.outcome import MEASURES
from roughly.errors import ParameterError
from roughly.sample_web import sample_web
from roughly.web.pages.state import state_of
from tests.web_page import Seen, data, html

WORDS = [f"word{number}" for number in range(60)]


@pytest.fixture(scope="module", params=["resemblance", "containment"])
def corpus(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    contained = {"containment": 0.8} if request.param == "containment" else {}
    found = Corpus.create(tmp_path_factory.mktemp("pages") / "web.roughly", **contained)
    for date in ("2026-01-01", "2026-04-01"):
        pages = sample_web(40).iterate(date)
        found.add([{"id": page.url, "text": page.content.decode()} for page in pages], date)
    return found


@pytest.mark.parametrize("threshold", [None, 0.4, 0.62, 0.9, 1])
def test_counts_are_those_of_the_tables(corpus: Corpus, threshold: float | None) -> None:
    asked = {} if threshold is None else {"threshold": threshold}
    found = data(corpus, "/", **asked)
    clusters = corpus.clusters(threshold)
    rows = clusters.documents().to_pylist()
    sizes = Counter(row["cluster"] for row in rows)
    many = {cluster: size for cluster, size in sizes.items() if size > 1}
    assert found["documents"] == len(rows)
    assert found["clusters"] == len(many)
    assert found["clustered"] == sum(many.values())
    assert found["sizes"] == sorted(map(list, Counter(many.values()).items()))
    kinds = Counter(row["kind"] for row in rows if row["kind"])
    assert found["kinds"] == dict(kinds)
    assert found["threshold"] == (0.5 if threshold is None else threshold)
    # Of sites: all documents, and duplicates by kind, most first.
    documents = Counter(urlsplit(row["id"]).hostname for row in rows)
    by_site = Counter((urlsplit(row["id"]).hostname, row["kind"]) for row in rows if row["kind"])
    assert found["all_sites"] == len(documents)
    for site in found["sites"]:
        assert site["documents"] == documents[site["name"]]
        assert site["kinds"] == {k: n for (s, k), n in by_site.items() if s == site["name"]}
    duplicates = [sum(site["kinds"].values()) for site in found["sites"]]
    totals = Counter(site for site, _ in by_site.elements())
    assert duplicates == [count for _, count in totals.most_common(15)]
    # Of the largest clusters.
    table = {row["cluster"]: row for row in clusters.clusters().to_pylist()}
    for row in found["largest"]:
        wanted = table[row["cluster"]]
        assert row["size"] == wanted["size"]
        assert row["representative"] == wanted["representative"]
        assert row["weakest_link"] == pytest.approx(wanted["weakest_link"])
    biggest = sorted((row["size"] for row in table.values()), reverse=True)
    assert [row["size"] for row in found["largest"]] == biggest[:15]
    mixed = {row["cluster"] for row in rows if row["kind"] not in (None, "identical")}
    assert found["identical_clusters"] == len(many.keys() - mixed)
    html("/", found)


def test_the_series_is_what_each_threshold_gives(corpus: Corpus) -> None:
    found = data(corpus, "/")
    full = corpus.clusters(1, "none").sizes()
    assert found["distinct"] == len(corpus) - int(full.sum()) + len(full)
    assert found["series"][0][0] == 0.4 and found["series"][-1][0] == 1
    for threshold, clusters, documents in found["series"][::7]:
        sizes = corpus.clusters(f"{threshold:.2f}").sizes()
        assert (clusters, documents) == (len(sizes), int(sizes.sum()))
    pairs = corpus.clusters().pairs()
    # A pair by both measures has two rows; ids come again at the second date.
    tables = [t for m in MEASURES for t in corpus.outcome.pairs(m)]
    assert sum(map(len, tables)) == len(pairs)
    assert found["pairs"]["count"] == len({(a, b) for t in tables for a, b, *_ in t.tolist()})
    reaching = sum(value is not None and value >= 0.4 for value in pairs["resemblance"].to_pylist())
    assert sum(count for *_, count in found["pairs"]["bins"]) == reaching


def test_the_page_says_what_the_data_says(corpus: Corpus) -> None:
    found = data(corpus, "/", threshold="0.7")
    page = html("/", found)
    assert f"{found['clusters']:,}" in page.words["counts"]
    (slider,) = page.all("input", type="range")
    assert (slider["min"], slider["max"], slider["value"]) == ("0.4", "1", "0.7")
    (alternate,) = page.all("link", rel="alternate")
    assert alternate["href"] == "/index.json?threshold=0.7"
    first = f"/cluster/{found['largest'][0]['cluster']}?threshold=0.7"
    assert page.all("a", href=first)


@pytest.mark.parametrize("threshold", ["0.39", "1.5", "much", "-1", "1/0", "nan"])
def test_thresholds_that_cannot_be(corpus: Corpus, threshold: str) -> None:
    with pytest.raises(ParameterError):
        data(corpus, "/", threshold=threshold)


def test_a_state_is_kept_until_the_corpus_changes(tmp_path: Path) -> None:
    corpus = Corpus.create(tmp_path / "a.roughly")
    corpus.add([{"id": "a", "text": " ".join(WORDS)}])
    state = state_of(Seen(corpus, corpus.path))
    other = Corpus(corpus.path)
    assert state_of(Seen(other, other.path)) is state
    assert state.cut() is state.cut("0.5")
    assert data(corpus, "/")["documents"] == 1
    other.add([{"id": "b", "text": " ".join(WORDS[:50])}])
    # Whoever holds the old state goes on to see it.
    assert data(corpus, "/")["documents"] == 1
    assert data(other, "/")["documents"] == 2
    assert data(other, "/")["clusters"] == 1


def test_no_documents(tmp_path: Path) -> None:
    corpus = Corpus.create(tmp_path / "empty.roughly")
    found = data(corpus, "/")
    assert (found["documents"], found["clusters"], found["sites"]) == (0, 0, [])
    assert "No documents" in html("/", found).words["counts"]
    html("/clusters", data(corpus, "/clusters"))


def test_documents_without_sites(tmp_path: Path) -> None:
    corpus = Corpus.create(tmp_path / "plain.roughly")
    corpus.add([{"id": name, "text": " ".join(WORDS)} for name in ("a", "b", "c")])
    found = data(corpus, "/")
    assert found["sites"] == [{"name": "", "documents": 3, "kinds": {"identical": 2}}]
    assert found["kinds"] == {"identical": 2}
    html("/", found)


def test_sites_of_paths_and_addresses(tmp_path: Path) -> None:
    corpus = Corpus.create(tmp_path / "paths.roughly")
    ids = ["http://h.example/a/b", "/data/one/x", "/data/one/y", "/data/two/z", "/data/two/deep/z"]
    corpus.add([{"id": id, "text": " ".join(WORDS)} for id in ids])
    corpus.add([{"id": "/data/three/new", "text": " ".join(WORDS)}])
    found = {site["name"]: site["documents"] for site in data(corpus, "/")["sites"]}
    # The first in document order is no duplicate; it is of site one, which has another.
    assert found == {"h.example": 1, "one": 2, "two": 2, "three": 1}


def test_clusters_by_simhash_have_a_distance(tmp_path: Path) -> None:
    corpus = Corpus.create(tmp_path / "bits.roughly", method="simhash", distance=6)
    texts = [" ".join(WORDS), " ".join(WORDS[:-1]), " ".join(reversed(WORDS))]
    corpus.add([{"id": f"https://a.example/{n}", "text": text} for n, text in enumerate(texts)])
    found = data(corpus, "/")
    assert (found["distance"], found["largest_distance"]) == (6, 6)
    page = html("/", found)
    (slider,) = page.all("input", type="range")
    assert (slider["name"], slider["min"], slider["max"]) == ("distance", "0", "6")
    for bits in range(7):
        at = data(corpus, "/", distance=bits)
        assert at["clusters"] == len(corpus.clusters(distance=bits))
    with pytest.raises(ParameterError):
        data(corpus, "/", distance="7")
    with pytest.raises(ParameterError):
        data(corpus, "/", distance="two")


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Corpus]:
    """120 clusters of two, and one of three."""
    corpus = Corpus.create(tmp_path_factory.mktemp("many") / "many.roughly")
    texts = [" ".join(f"{word}x{number}" for word in WORDS[:20]) for number in range(121)]
    corpus.add(
        [
            {"id": f"https://s{copy}.example/{number}", "text": text}
            for number, text in enumerate(texts)
            for copy in range(3 if number == 77 else 2)
        ]
    )
    yield corpus


def test_the_list_goes_page_by_page(many: Corpus) -> None:
    first = data(many, "/clusters")
    assert (first["clusters"], first["pages"], len(first["shown"])) == (121, 3, 50)
    assert first["shown"][0]["representative"] == "https://s0.example/77"
    assert first["shown"][0]["size"] == 3
    shown = [row["cluster"] for n in (1, 2, 3) for row in data(many, "/clusters", page=n)["shown"]]
    assert len(shown) == len(set(shown)) == 121
    page = html("/clusters", data(many, "/clusters", page=2))
    assert page.all("a", href="/clusters?page=1", rel="prev")
    assert page.all("a", href="/clusters?page=3", rel="next")
    assert data(many, "/clusters", page=99)["shown"] == []
    for odd in ("0", "-1", "x", "9" * 50, "²"):
        assert data(many, "/clusters", page=odd)["page"] == 1
