"""The report of a clustering: its numbers are those worked out by hand, and its page is well
formed, holds no foreign markup, asks nobody for anything and stays small, whatever the corpus."""

import base64
import hashlib
import re
from collections.abc import Iterator
from dataclasses import fields, replace
from fractions import Fraction
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import roughly
from roughly.cli.main import main
from roughly.comparison import compare
from roughly.documents.file import document
from roughly.report import plot
from roughly.report.cluster_page import page
from roughly.report.cluster_report import (
    Bin,
    ClusterReport,
    CommonShingle,
    LargeCluster,
    Member,
    Phase,
    Site,
    Step,
    gather,
)
from roughly.report.cluster_sample import Sample, sample, stored_texts
from roughly.report.figure import duration, percent, size
from roughly.report.markup import clipped, escaped, name
from roughly.report.site import sites
from roughly.simhashing.simhasher import Simhasher
from roughly.sketcher import Sketcher

VOID = {"meta", "input", "br", "hr"}
HOSTILE = (
    "</title></style></script><script>alert(1)</script><img src=x onerror=alert(1)>"
    "\"quoted' &amp; &lt; $policy ${title} <!-- --> </bdi></table></svg> \0 \x1b[31m \u202e \ud800"
)


class Page(HTMLParser):
    """What a browser would find; every element must be closed where it was opened."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.inside: list[str] = []
        self.content: dict[str, str] = {}
        self.part = ""  # the id of the figure or section
        self.tables: dict[str, list[list[str]]] = {}  # id -> rows of all its tables
        self.texts: list[str] = []  # of sample pairs
        self.depth = 0  # of the text that is being read
        self.skip = False
        self.feed(source)
        self.close()
        assert self.inside == []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        found = {key: value or "" for key, value in attributes}
        assert len(found) == len(attributes)
        self.elements.append((tag, found))
        if tag in VOID:
            return
        self.inside.append(tag)
        if tag in ("figure", "section") and "id" in found:
            self.part = found["id"]
        elif tag == "tr":
            self.tables.setdefault(self.part, []).append([])
        elif tag in ("th", "td"):
            self.tables[self.part][-1].append("")
        elif found.get("class") == "text":
            self.texts.append("")
            self.depth = len(self.inside)
        self.skip = found.get("class", "").startswith("n h")

    def handle_endtag(self, tag: str) -> None:
        if len(self.inside) == self.depth:
            self.depth = 0
        assert self.inside.pop() == tag
        self.skip = False

    def handle_data(self, data: str) -> None:
        for tag in ("script", "style"):
            if tag in self.inside:
                self.content[tag] = self.content.get(tag, "") + data
        if "tr" in self.inside and "svg" not in self.inside:
            self.tables[self.part][-1][-1] += data
        if self.depth and not self.skip:
            self.texts[-1] += data

    def attributes(self, key: str) -> list[str]:
        return [found[key] for _, found in self.elements if key in found]


def checked(report: ClusterReport) -> tuple[str, Page]:
    """The page and what is in it, after what must hold of every page."""
    source = page(report)
    assert len(source.encode()) < 1_000_000
    found = Page(source)
    tags = [tag for tag, _ in found.elements]
    assert (tags.count("script"), tags.count("style"), tags.count("main")) == (1, 1, 1)
    assert tags.count("h1") == 1
    assert not {"img", "iframe", "link", "object", "embed", "form", "image", "use"} & set(tags)
    assert not [key for _, each in found.elements for key in each if key.startswith("on")]
    assert not found.attributes("src") + found.attributes("style") + found.attributes("xlink:href")
    ids = found.attributes("id")
    assert len(ids) == len(set(ids))
    assert all(href[:1] == "#" and href[1:] in ids for href in found.attributes("href"))
    for labels in found.attributes("aria-labelledby"):
        assert set(labels.split()) <= set(ids)
    (policy,) = [each["content"] for _, each in found.elements if "http-equiv" in each]
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    for kind in ("script", "style"):
        digest = hashlib.sha256(found.content[kind].encode()).digest()
        assert f"{kind}-src 'sha256-{base64.b64encode(digest).decode()}'" in policy
        assert not re.search(r"https?:|url\(|@import|fetch\(|innerHTML", found.content[kind])
    for tag, each in found.elements:
        if tag == "svg":
            assert each.get("aria-hidden") == "true" or each["role"] == "img"
    return source, found


# --- numbers worked out by hand -------------------------------------------------------------------

# Ten shingles of five words; one word changed at the end leaves nine, of eleven in all.
SEA = "the cat sat on the mat and looked at the moon over the sea"
DOCUMENTS = {
    "http://one.example/a": SEA,
    "http://one.example/b": "The cat sat on the mat, and looked at the moon over the SEA!",
    "http://two.example/c": SEA.replace("sea", "hill"),
    "http://two.example/d": SEA,
    "http://two.example/e": "something else entirely, with no word in common",
    "http://user@Three.example:80/f": "these few words are here twice",
    "http://three.example/g?x=1": "these few words are here twice",
}


@pytest.fixture(scope="module")
def report() -> ClusterReport:
    found = roughly.cluster(
        [{"id": id, "text": text} for id, text in DOCUMENTS.items()], sketcher=Sketcher(w=5)
    )
    phases = [Phase("sketch", 2.0, 3.5, 1_500_000, 7), Phase("forest", 0.25, 0.5)]
    return gather(
        found,
        phases,
        lambda id: (DOCUMENTS[id].encode(), False),
        title="cats",
        bytes_read=sum(map(len, DOCUMENTS.values())),
        shingles=[CommonShingle("the cat sat on the", 4)],
    )


def test_counts_by_hand(report: ClusterReport) -> None:
    assert (report.threshold, report.floor) == (0.5, 0.4)
    assert (report.documents, report.clusters, report.clustered) == (7, 2, 6)
    # a, b and d are one at full resemblance, f and g another; c and e stand alone.
    assert report.distinct == 4
    assert (report.identical_clusters, report.identical_documents) == (1, 2)
    assert dict(report.kinds) == {"identical": 2, "lexical": 1, "near": 1}
    assert report.sizes == ((2, 1), (4, 1))
    assert report.parameters == {
        "w": 5,
        "words": 0,
        "select": "adaptive:200",
        "bits": 64,
        "seed": 0,
    }


def test_pairs_by_hand(report: ClusterReport) -> None:
    assert (report.pairs, report.pairs_by_containment, report.pairs_in_masses) == (1, 0, 0)
    assert len(report.resemblances) == 30
    assert [each for each in report.resemblances if each.pairs] == [Bin(0.80, 0.82, 1)]


def test_series_by_hand(report: ClusterReport) -> None:
    assert [step.threshold for step in report.series] == [i / 50 for i in range(20, 51)]
    for step in report.series:
        # 9/11 = 0.818 holds c.
        assert step[1:] == ((2, 6) if step.threshold < 0.81 else (2, 5))


def test_sites_by_hand(report: ClusterReport) -> None:
    assert report.sites == (
        Site("two.example", 3, {"identical": 1, "near": 1}),
        Site("one.example", 2, {"lexical": 1}),
        Site("three.example", 2, {"identical": 1}),
    )
    assert report.all_sites == 3


def test_largest_by_hand(report: ClusterReport) -> None:
    first, second = report.largest
    assert (first.representative, first.size) == ("http://one.example/a", 4)
    assert first.weakest_link == first.smallest_resemblance == 9 / 11
    assert first.members == (
        Member("http://one.example/a", None, 1.0),
        Member("http://one.example/b", "lexical", 1.0),
        Member("http://two.example/c", "near", 9 / 11),
        Member("http://two.example/d", "identical", 1.0),
    )
    assert first.sample is not None
    assert (first.sample.b.id, first.sample.comparison.resemblance) == (
        "http://two.example/c",
        9 / 11,
    )
    assert (second.size, second.weakest_link) == (2, 1.0)


def test_page_by_hand(report: ClusterReport) -> None:
    source, found = checked(report)
    assert "<h1>85.7% of the documents are in 2 clusters</h1>" in source
    assert found.tables["sizes"][1:] == [["2", "1", "2"], ["4", "1", "4"]]
    assert ["0.8 to 0.82", "1"] in found.tables["resemblance"]
    assert sum(int(row[1]) for row in found.tables["resemblance"][1:]) == 1
    assert found.tables["threshold"][1] == ["0.4", "2", "6"]
    assert found.tables["threshold"][-1] == ["1", "2", "5"]
    kinds = {row[0]: row[1:3] for row in found.tables["kinds"][1:]}
    assert kinds["identicalthe same bytes"] == ["2", "50%"]
    assert kinds["nearlinked to it, directly or through others"] == ["1", "25%"]
    assert found.tables["sites"][1][:4] == ["two.example", "3", "2", "66.7%"]
    assert ["http://two.example/c", "near", "0.818"] in found.tables["largest"]
    assert found.tables["shingles"][1] == ["4", "the cat sat on the"]
    assert ["threshold", "0.5"] in found.tables["parameters"]
    # c of the largest cluster is shown whole, beside its representative.
    assert found.texts[:2] == [SEA, SEA.replace("sea", "hill")]
    assert "Clusters of identical documents only: 1, with 2 documents." in source


def test_times_beside_the_papers(report: ClusterReport) -> None:
    source, found = checked(report)
    rows = found.tables["time"]
    assert rows[:4] == [
        ["Phase", "Time", "CPU time", "Share", "Rows", "Written"],
        ["sketch", "2.0 s", "3.5 s", "87.5%", "7", "1.5 MB"],
        ["forest", "250 ms", "500 ms", "12.5%", "", ""],
        ["Total", "2.2 s", "4.0 s", "", "", "1.5 MB"],
    ]
    # The table of section 7; a CPU-day for 30 million documents is 2,880 s for one million.
    assert rows[5:] == [
        ["Sketching", "4.6", "yes", "13,248 s"],
        ["Duplicate elimination", "0.3", "", "864 s"],
        ["Shingle merging", "1.7", "yes", "4,896 s"],
        ["ID-ID pair formation", "0.7", "", "2,016 s"],
        ["ID-ID merging", "2.6", "yes", "7,488 s"],
        ["Cluster formation", "0.5", "", "1,440 s"],
        ["Total", "~10.5", "", "~30,240 s"],
    ]
    # 4 s for 7 documents are 571 ms each; 10.5 days for 30 million are 30 ms.
    assert "The paper spent 30 ms of CPU time on a document, this run 571 ms: 18.9 times" in source


# --- any corpus -----------------------------------------------------------------------------------

WORDS = st.lists(st.sampled_from("abc"), max_size=6).map(" ".join)


@given(st.lists(st.tuples(st.sampled_from(["x/", "y/", "http://z/", ""]), WORDS), max_size=12))
def test_numbers_agree_with_each_other(corpus: list[tuple[str, str]]) -> None:
    rows = [{"id": f"{site}{i}", "text": text} for i, (site, text) in enumerate(corpus)]
    table = pa.table(
        {"id": [row["id"] for row in rows], "text": [row["text"] for row in rows]},
        schema=pa.schema([("id", pa.string()), ("text", pa.string())]),
    )
    sketcher = Sketcher(w=2, select="all")
    found = roughly.cluster(table, threshold=0.4, sketcher=sketcher)
    report = gather(found)
    assert report.documents == len(corpus)
    assert report.clustered == sum(size * clusters for size, clusters in report.sizes)
    assert report.clusters == sum(clusters for _, clusters in report.sizes)
    assert sum(report.kinds.values()) == report.clustered - report.clusters
    assert sum(each.pairs for each in report.resemblances) == report.pairs
    assert Step(0.4, report.clusters, report.clustered) in report.series
    documents = [step.documents for step in report.series]
    assert documents == sorted(documents, reverse=True)
    assert sum(site.documents for site in report.sites) == report.documents
    assert sum(site.duplicates for site in report.sites) == sum(report.kinds.values())

    def shingles(text: str) -> frozenset[tuple[str, ...]]:
        words = text.split()
        whole = {tuple(words)} if words else set()
        return frozenset(pairwise(words)) or frozenset(whole)

    assert report.distinct == len({shingles(text) for _, text in corpus})
    checked(report)


def test_containment_and_stars() -> None:
    # c holds all ten shingles of a and fourteen more; b has eight of them and two others.
    first = " ".join(f"w{i}" for i in range(14))
    rows = {"a": first, "b": first.replace("w12 w13", "x y"), "c": first + " " + first[::-1]}
    found = roughly.cluster(
        [{"id": id, "text": text} for id, text in rows.items()], 0.6, containment=0.9
    )
    report = gather(found)
    assert (report.containment, report.clusters, report.clustered) == (0.9, 1, 3)
    assert report.series[-1] == Step(1.0, 1, 2)  # a and c are held by containment alone
    assert report.distinct == 3
    assert report.kinds["near"] == 1
    assert report.pairs_by_containment >= 1
    source, _ = checked(report)
    assert "or links of a containment of 0.9 or more." in source
    star = gather(
        roughly.cluster([{"id": i, "text": t} for i, t in DOCUMENTS.items()], linkage="star")
    )
    assert (star.linkage, star.clusters, star.clustered) == ("star", 2, 6)
    source, seen = checked(star)
    assert "Every document of a cluster resembles its first one at 0.5 or more." in source
    for untrue in ("through others", "same forest", "a chain"):
        assert untrue not in source
    assert seen.tables["kinds"][-1][0] == "nearlinked to it directly"
    assert ["linkage", "star"] in seen.tables["parameters"]


def test_exact_and_estimated() -> None:
    documents = [{"id": id, "text": text} for id, text in DOCUMENTS.items()]
    for options, exact, told in (
        ({}, False, []),
        ({"exact": True}, True, [["exact", "yes"]]),
        ({"sketcher": Sketcher(w=5, select="all")}, True, []),
    ):
        source, found = checked(gather(roughly.cluster(documents, **options)))  # type: ignore[arg-type]
        assert ("exact resemblance" in source, "estimated resemblance" in source) == (
            exact,
            not exact,
        )
        assert [row for row in found.tables["parameters"] if row[0] == "exact"] == told


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({}, {"threshold": "0.5", "floor": "0.4", "linkage": "single"}),
        ({"preset": "broder97"}, {"preset": "broder97", "cut-off": "1000"}),
        ({"preset": "broder97-super", "linkage": "star"}, {"preset": "broder97-super"}),
        ({"discount": "host:0.5"}, {"discount": "host:0.5"}),
        (
            {"method": "simhash", "simhasher": Simhasher("phrases:2", stem="english")},
            {"distance": "3", "features": "phrases:2", "stop words": "none", "stem": "english"},
        ),
    ],
)
def test_what_decides_the_result(options: dict[str, Any], told: dict[str, str]) -> None:
    documents = [{"id": id, "text": text} for id, text in DOCUMENTS.items()]
    _, found = checked(gather(roughly.cluster(documents, **options)))
    shown = dict(found.tables["parameters"])
    assert shown == shown | told
    assert shown["linkage"] == options.get("linkage", "single")
    for option in ("exact", "preset", "cut-off", "discount", "features"):
        assert (option in shown) == (option in told)


def test_which_pair_is_shown() -> None:
    def shown(rows: list[tuple[str, str, float]], missing: str = "") -> str | None:
        ids, kinds, resemblances = (list(column) for column in zip(*rows, strict=True))
        table = pa.table({"id": ids, "kind": kinds, "resemblance": resemblances})
        texts = {id: (f"text of {id}".encode(), False) for id in [*ids, "r"] if id != missing}
        found = sample("r", table, texts.get, Sketcher(), 0.5)
        return found and found.b.id

    near = [("r", "near", 0.5), ("a", "near", 0.9), ("b", "near", 0.6), ("c", "near", 0.2)]
    assert shown(near) == "b"
    assert shown(near, missing="b") == "a"
    assert shown(near, missing="r") is None
    assert shown([("a", "identical", 1.0), ("b", "lexical", 1.0)]) == "b"
    # Where none reaches the threshold: one that is contained, else the closest.
    far = [("a", "near", 0.3), ("b", "near", 0.4), ("c", "contained", 0.1)]
    assert shown(far) == "c"
    assert shown(far, missing="c") == "b"
    assert shown([("a", "near", float("nan")), ("b", "near", 0.1)]) == "b"


def test_stored_texts() -> None:
    class Stored:
        has_text = True
        live_rows = np.array([1, 2], np.uint32)  # the first was removed

        def ids(self) -> pa.ChunkedArray:
            return pa.chunked_array([["a", "b"], ["c"]])

        def column(self, _: str) -> pa.ChunkedArray:
            return pa.chunked_array([[False, False], [True]])

        def release(self) -> None: ...

        def text(self, rows: npt.NDArray[np.int64]) -> pa.Array:
            return pa.array([b"A", b"B", b"<p>C"]).take(pa.array(rows))

    texts = stored_texts(Stored())  # type: ignore[arg-type]
    assert [texts(id) for id in "bcda"] == [(b"B", False), (b"<p>C", True), None, None]
    Stored.has_text = False
    assert texts("b") is None


class Cut(roughly.Clusters):
    """Clusters that give their documents a few at a time."""

    def document_batches(self) -> Iterator[pa.RecordBatch]:
        for batch in super().document_batches():
            for begin in range(0, len(batch), 3):
                yield batch.slice(begin, 3)


def test_batches_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    # Clusters of 1, 14, 2, 13, 3 ... documents, of all kinds, whose members lie far apart.
    rows = []
    for number in range(15):
        words = " ".join(f"w{number}x{i}" for i in range(30))
        forms = [words, words.upper(), words + " more", words + " quite other words here", words]
        count = number if number % 2 else 15 - number
        rows += [(i, f"/all/s{i * number % 7}/{number}-{i}", forms[i % 5]) for i in range(count)]
    rows += [(3, "/all/none", ""), (1, "http://Host/x", ""), (2, "word", "a b c")]
    texts = [{"id": id, "text": text} for _, id, text in sorted(rows)]
    found = roughly.cluster(texts, containment=0.9)
    assert len(list(found.document_batches())) == 1
    whole = gather(found)
    assert len(whole.largest) == 10 and whole.largest[0].size == 15
    assert {site.name for site in whole.sites} == {*(f"s{i}" for i in range(7)), "all", "host", ""}
    monkeypatch.setattr("roughly.report.tally._LOOSE_ROWS", 4)
    cut = gather(Cut(**{each.name: getattr(found, each.name) for each in fields(found)}))
    assert replace(cut, largest=()) == replace(whole, largest=())
    assert page(cut) == page(whole)


def test_commonest_shingles_of_a_run(tmp_path: Path) -> None:
    notice = "<p>all <b>rights</b> re<i>served</i>, <!-- now --> caf&eacute; &lt;b&gt; here"
    for i, end in enumerate(("one two three", "four five six")):
        (tmp_path / f"{i}.html").write_text(f"<html><body>{notice} {end}</p></body></html>")
    made = ["cluster", str(tmp_path), "-o", str(tmp_path / "c.roughly"), "--force", "--quiet"]
    options = ["-w", "6", "--select", "all"]
    assert main([*made, *options]) == 0
    found = Page((tmp_path / "c.roughly" / "report.html").read_text())
    # One shingle of six words is in both, the others in one each.
    assert found.tables["shingles"][:2] == [
        ["Sketches", "Shingle"], ["2", "all rights reserved, café <b> here"],
    ]  # fmt: skip
    for others in ([*options, "--no-text"], ["--preset", "broder97-super"]):
        assert main([*made, *others]) == 0
        assert "shingles" not in Page((tmp_path / "c.roughly" / "report.html").read_text()).tables


def test_no_documents_and_one() -> None:
    source, found = checked(gather(roughly.cluster([]), timings=()))
    assert "<h1>No documents</h1>" in source
    assert "plot" not in found.attributes("class")
    source, found = checked(gather(roughly.cluster([{"id": "a", "text": SEA}]), timings=()))
    assert "<h1>1 document, no near duplicates</h1>" in source
    assert "plot" not in found.attributes("class")


def test_methods_and_sites() -> None:
    """Near copies on two hosts: what the page tells of the condition and of sites."""
    shared = " ".join(f"w{i}" for i in range(60))
    documents = [
        {"id": f"http://{host}.org/{n}", "text": f"{shared} x{n}"}
        for n, host in enumerate(["a", "a", "b"])
    ]
    for options, words in (
        ({"method": "simhash", "distance": 10}, "simhashes that differ in at most 10 bits lead"),
        ({"method": "both", "distance": 10}, "Only pairs count whose simhashes differ in at most"),
    ):
        clusters = roughly.cluster(documents, size_ratio="0.5", **options)  # type: ignore[arg-type]
        report = gather(clusters, timings=())
        assert (report.same_site_pairs, report.cross_site_pairs, report.pairs) == (1, 2, 3)
        assert sum(pairs for _, pairs in report.distances) == 3
        assert dict(report.condition)["size ratio"] == 0.5
        source, found = checked(report)
        assert words in source
        assert "Of the pairs that belong together 1 are same-site and 2 cross-site." in source
        assert "distance" in found.attributes("id")
        assert ("resemblance" in found.attributes("id")) == (options["method"] == "both")
        by_hand = (
            [len(clusters.at(distance=k)) for k in range(10, -1, -1)]
            if (options["method"] == "simhash")
            else [1]
        )
        assert [step.clusters for step in report.series][: len(by_hand)] == by_hand


def test_unknown_columns_and_kinds_do_no_harm(report: ClusterReport) -> None:
    class Grown:
        """Clusters as they may be one day: more columns, other encodings, another kind."""

        def __init__(self, found: roughly.Clusters) -> None:
            self.found = found
            self.floor, self.threshold = found.floor, found.threshold
            self.containment = self.containment_floor = None
            self.linkage, self.phases = "single", ()
            self.skipped, self.segment = found.skipped, found.segment
            self.settings, self.distance = found.settings, found.distance
            self.site_pairs = found.site_pairs

        def document_batches(self) -> list[pa.RecordBatch]:
            table = self.found.documents()
            kinds = ["woven" if k == "near" else k for k in table.column("kind").to_pylist()]
            table = table.set_column(
                table.column_names.index("kind"), "kind", pa.array(kinds).dictionary_encode()
            )
            grown = table.append_column("more", pa.array([10] * len(table)))
            batches: list[pa.RecordBatch] = grown.to_batches(max_chunksize=3)
            return batches

        def cluster_batches(self) -> list[pa.RecordBatch]:
            return [self.largest(100).to_batches()[0]]

        def largest(self, most: int) -> pa.Table:
            table = self.found.largest(most)
            return table.append_column("more", pa.array([None] * len(table)))

        def pair_batches(self, named: bool = True) -> list[pa.RecordBatch]:
            first = {"resemblance": [0.2, 0.4, 0.5], "mass": [True, False, True]}
            second = {"resemblance": pa.array([1.0, None]), "mass": pa.array([None, True])}
            return [pa.RecordBatch.from_pydict(each) for each in (first, second)]

        def sizes(self) -> npt.NDArray[np.int64]:
            return self.found.sizes()

        def at(self, threshold: Fraction, containment: None = None) -> "Grown":
            return Grown(self.found.at(threshold))

    found = roughly.cluster(
        [{"id": id, "text": text} for id, text in DOCUMENTS.items()], sketcher=Sketcher(w=5)
    )
    grown = gather(Grown(found))  # type: ignore[arg-type]
    assert (grown.pairs, grown.pairs_by_containment, grown.pairs_in_masses) == (5, 2, 3)
    # 0.5 is the lower edge of the sixth bin; 1 belongs to the last.
    assert [i for i, each in enumerate(grown.resemblances) if each.pairs] == [0, 5, 29]
    assert dict(grown.kinds) == {"identical": 2, "lexical": 1, "woven": 1}
    assert grown.largest[0].sample is None
    source, _ = checked(grown)
    assert "woven" in source


# --- hostile and huge -----------------------------------------------------------------------------


def hostile(text: str, times: int) -> ClusterReport:
    a = document(text, f"{text} one two three four five".encode("utf-8", "replace"), "text")
    b = document(text, f"{text} one two three four six".encode("utf-8", "replace"), "text")
    cluster = LargeCluster(
        text, 9, 0.5, 0.1, [Member(text, text, 0.5)] * times, Sample(a, b, compare(a, b, w=1))
    )
    kinds = {f"{text}{i}": i + 1 for i in range(times)}
    return ClusterReport(
        title=text,
        parameters={f"{text}{i}": text for i in range(times)},
        threshold=0.5,
        floor=0.1,
        documents=10**9,
        bytes=10**13,
        clusters=10**8,
        clustered=10**9,
        kinds=kinds,
        sizes=[(i + 2, 10**6 // (i + 1) + 1) for i in range(2000 * times)],
        pairs=times,
        resemblances=[Bin(0.1 + i / 100, 0.11 + i / 100, 10**i) for i in range(90)],
        series=[Step(0.5 + i / 100, 100 - i, 1000 - i) for i in range(51)],
        sites=[Site(f"{text}{i}", 10**6, kinds) for i in range(times)],
        all_sites=10**6,
        largest=[cluster] * times,
        phases=[Phase(text, 1e6, 1e6, 10**15, 10**12), Phase(text, 0, 0)] * times,
        skipped={f"{text}{i}": i for i in range(times)},
        ignored={f"{text}{i}": i for i in range(times)},
        skipped_examples=[text] * times,
        shingles=[CommonShingle(text, 10**6)] * times,
    )


def test_hostile_text_stays_text() -> None:
    source, found = checked(hostile(HOSTILE, 2))
    assert "alert(1)</script>" not in source
    assert "<img" not in source
    assert "\u202e" not in re.sub(r'<div class="text".*?</div>', "", source, flags=re.DOTALL)
    assert escaped("<script>alert(1)</script>") in source
    # The texts of the pair are shown as they are; what is no character is replaced.
    text = document("", HOSTILE.encode("utf-8", "replace"), "text").text_utf8.decode()
    shown = re.sub(r"[\x00-\x08\x0e-\x1f]", "\ufffd", text)
    assert found.texts[0] == f"{shown} one two three four five"


@pytest.mark.parametrize(
    "text", ['"' * 300_000, "& " * 150_000, "a b " * 50_000, "\u202eא" * 50_000, "日" * 100_000]
)
def test_page_is_bounded(text: str) -> None:
    _, found = checked(hostile(text, 40))
    assert len(found.texts) == 20


def test_long_texts_are_cut_and_say_so() -> None:
    words = " ".join(f"word{i}" for i in range(20_000))
    source, found = checked(hostile(words, 1))
    assert source.count("left out</span>") >= 2
    for text in found.texts:
        assert text.startswith("word0 word1 ")


# --- parts ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ids", "expected"),
    [
        (["http://A.example/x", "https://u:p@b.example:8080?q", "ftp://[::1]:21/"],
         ["a.example", "b.example", "[::1]"]),
        (["x/a", "y/b", "c"], ["x", "y", ""]),
        (["/data/crawl/x/1", "/data/crawl/y/z/2", "/data/crawl/3"], ["x", "y", "crawl"]),
        (["file:///d/x/1", "file:///d/y/1"], ["x", "y"]),
        (["d/a", "d/b"], ["d", "d"]),
        (["only/one/file"], ["one"]),
        (["http:///path", "://x"], ["", ":"]),
        (["é/ü/1", "é/ö/2"], ["ü", "ö"]),
        ([], []),
    ],
)  # fmt: skip
def test_sites(ids: list[str], expected: list[str]) -> None:
    assert sites(pa.array(ids, pa.string())).to_pylist() == expected


@pytest.mark.parametrize(
    ("axis", "ticks"),
    [
        (plot.Axis("", 0.4, 1), [0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]),
        (plot.counts_axis("", 0), [0, 1]),
        (plot.counts_axis("", 3), [0, 1, 2, 3]),
        (plot.counts_axis("", 1500), [0, 500, 1000, 1500]),
        (plot.log_axis("", 2, 40), [2, 5, 10, 20, 50]),
        (plot.log_axis("", 1, 10**5), [1, 10, 100, 1000, 10**4, 10**5]),
        (plot.Axis("", 1, 1), [1]),
    ],
)
def test_ticks(axis: plot.Axis, ticks: list[float]) -> None:
    assert axis.ticks() == pytest.approx(ticks)


def test_ticks_leave_room_for_the_name_of_an_axis() -> None:
    """On a telephone letters are 14.5 units high. In a wide face (DejaVu Sans) a digit is 0.64 of
    that wide, a comma 0.32, and a name reaches 0.24 below its line."""
    letter = 14.5
    name = plot.log_axis("clusters of that size", 1, 10**4)
    drawn = plot.scatter("n", "", "", plot.log_axis("", 2, 10), name, [plot.Dot(2, 1000, "")])
    (line,) = re.findall(r"translate\((\d+) \d+\) rotate\(-90\)", drawn)
    (end,) = re.findall(r'x="(\d+)" y="[\d.]+" text-anchor="end">1,000<', drawn)
    assert int(end) - (4 * 0.64 + 0.32) * letter > int(line) + 0.24 * letter


def test_one_cluster_is_no_plural(report: ClusterReport) -> None:
    """The slider says what the dots of both lines do: documents first, as in the script."""
    one = replace(report, series=(Step(0.4, 1, 40), Step(1.0, 0, 0)))
    source, found = checked(one)
    figure = source[source.index('<figure id="threshold"') :]
    lines = re.findall(r'<g class="line.*?</g>', figure[: figure.index("</figure>")])
    assert [re.findall("<title>(.*?)</title>", line) for line in lines] == [
        ["40 documents", "0 documents"], ["1 cluster", "0 clusters"],
    ]  # fmt: skip
    assert "rows.length].map((n) => dots[n].textContent)" in found.content["script"]
    distances = replace(one, by_simhash=True, distance=1, threshold=1.0)
    source, _ = checked(distances)
    assert "<title>1 bit: 1 cluster</title>" in source
    assert "<title>1 bit: 40 documents in clusters</title>" in source


def test_pairs_by_containment_are_in_no_column(report: ClusterReport) -> None:
    for alone, words in (
        (1, "1 was found by containment alone and is in no column."),
        (2, "2 were found by containment alone and are in no column."),
    ):
        source, _ = checked(
            replace(report, containment_floor=0.7, pairs=1 + alone, pairs_by_containment=alone)
        )
        assert f"{1 + alone} pairs from the floors on, a resemblance of 0.4 or a " in source
        assert "containment of 0.7. Documents that are equivalent" in source
        assert words in source


def test_places_on_an_axis() -> None:
    assert plot.Axis("", 0.5, 1).share(0.75) == 0.5
    assert plot.Axis("", 1, 100, log=True).share(10) == pytest.approx(0.5)
    assert plot.Axis("", 1, 1).share(1) == 0.5


def test_numbers_in_words() -> None:
    assert [plot.compact(n) for n in (0, 0.05, 7, 1500, 20_000, 1.5e6, 3e9, 1e12)] == [
        "0", "0.05", "7", "1,500", "20k", "1.5M", "3G", "1T",
    ]  # fmt: skip
    assert [size(n) for n in (0, 1, 999, 1000, 5120, 999_999, 150 * 10**9, 10**16)] == [
        "0 bytes", "1 byte", "999 bytes", "1.0 kB", "5.1 kB", "1.0 MB", "150 GB", "10,000 TB",
    ]  # fmt: skip
    assert [duration(s) for s in (0, 1e-6, 0.012, 1, 59.94, 59.96, 125, 12_000)] == [
        "0 ms", "under 1 ms", "12 ms", "1.0 s", "59.9 s", "1 min 00 s", "2 min 05 s", "3 h 20 min",
    ]  # fmt: skip
    shares = [(0, 0), (0, 9), (1, 10**6), (1, 3), (999_999, 10**6), (2, 2)]
    assert [percent(*each) for each in shares] == ["0%", "0%", "0.1%", "33.3%", "99.9%", "100%"]


def test_names() -> None:
    assert clipped("abcdefghij", 10) == "abcdefghij"
    assert clipped("abcdefghij", 7) == "ab…ghij"
    assert name("a\nb<\u202e") == "<bdi>a\\nb&lt;\\u202e</bdi>"
    assert len(name("x" * 10**6)) < 200
    assert "no name" in name("")


def test_a_bar_is_as_long_as_its_parts() -> None:
    widths = re.findall(
        r'x="([\d.]+)" width="([\d.]+)"', plot.stacked([(0.25, "a", ""), (0.5, "b", "")])
    )
    assert widths == [("0.0", "250.0"), ("250.0", "500.0")]


def test_dots_that_hide_each_other_are_drawn_once() -> None:
    axis = plot.log_axis("", 1, 10**6)
    drawn = plot.scatter("n", "", "", axis, axis, (plot.Dot(i, 1, "") for i in range(1, 10**5)))
    assert 50 < drawn.count("<circle") < 400


def test_replaced_numbers_reach_the_page(report: ClusterReport) -> None:
    source, found = checked(
        replace(
            report,
            skipped={"no text": 1234},
            skipped_examples=["crawl.jsonl, line 12: no text"],
            ignored={"a picture": 5},
            containment=0.8,
            pairs_by_containment=17,
            pairs_in_masses=18,
        )
    )
    assert found.tables["skipped"] == [
        ["Why", "Documents"], ["no text", "1,234"], ["What", "How often"], ["a picture", "5"],
    ]  # fmt: skip
    assert "crawl.jsonl, line 12: no text" in source
    assert "containment of 0.8 or more" in source
    assert "17 were found by containment" in source
    assert "18 of them are links inside masses" in source
