"""Finding by simhash and by both methods, of like size, within a category: by hand, and against all
pairs; tests/test_corpus_machine.py does the same on corpora that change."""

import json
from pathlib import Path
from typing import Any

import pytest

import roughly
from roughly import Corpus, Simhasher, Sketcher
from roughly.cli.main import main
from roughly.search.restriction import StoredSimhashes

WORDS = [f"word{i}" for i in range(60)]
A = " ".join(WORDS)
BACKWARDS = " ".join(reversed(WORDS))  # the same terms, so the same simhash


def far(text: str) -> int:
    """From A, in bits."""
    return ((roughly.simhash(text) or 0) ^ (roughly.simhash(A) or 0)).bit_count()


# A word more changes some bits, of which there are as many as have nearly as much for as against.
LONGER = next(text for text in (f"{A} more{i}" for i in range(100)) if 0 < far(text) <= 3)
DOCUMENTS = [
    {"id": "http://a.org/same", "text": A, "language": "en"},
    {"id": "http://a.org/backwards", "text": BACKWARDS, "language": "en"},
    {"id": "http://b.org/near", "text": LONGER, "language": "de"},
    {"id": "http://b.org/half", "text": " ".join(WORDS[:30]), "language": "en"},
    {"id": "http://c.org/else", "text": "something else that has no word in common with them"},
    {"id": "empty", "text": "", "language": "en"},
]


NEAR = far(LONGER)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    made = Corpus.create(
        tmp_path_factory.mktemp("find") / "c.roughly",
        Sketcher(w=5),
        method="both",
        within="language",
    )
    made.add(DOCUMENTS)
    return made


def names(found: Any) -> list[tuple[str, str, int | None]]:
    return [(m.id.rpartition("/")[2], m.kind, m.distance) for m in found]


def test_by_simhash(corpus: Corpus) -> None:
    """Nearest first, of equally near ones the more alike."""
    assert far(BACKWARDS) == 0 < NEAR
    found = corpus.find(A, method="simhash", distance=10)
    assert names(found)[:3] == [
        ("same", "identical", 0),
        ("backwards", "near", 0),
        ("near", "near", NEAR),
    ]
    assert found[1].resemblance.value == 0 and found[2].resemblance.value == 56 / 57
    for k in range(11):
        ids = {m.id for m in corpus.find(A, method="simhash", distance=k)}
        assert ids == {d["id"] for d in DOCUMENTS if d["text"] and far(d["text"]) <= k}
    assert len(corpus.find("", method="simhash", distance=10)) == 0


def test_the_limit_takes_the_most_alike(corpus: Corpus) -> None:
    found = corpus.find(A, method="simhash", limit=1)
    assert names(found) == [("same", "identical", 0)] and found.total >= 2
    assert names(corpus.find(BACKWARDS, method="simhash", limit=1))[0][:2] == (
        "backwards",
        "identical",
    )


def test_by_both(corpus: Corpus) -> None:
    """What shingles find, without what is too far: half of it, and at a small distance the rest."""
    by_shingles = names(corpus.find(A))
    assert [name for name, _, _ in by_shingles] == ["same", "near", "half"]
    assert {bits for _, _, bits in by_shingles} == {None}
    assert far(DOCUMENTS[3]["text"]) > 10
    assert names(corpus.find(A, method="both", distance=10)) == [
        ("same", "identical", 0),
        ("near", "near", NEAR),
    ]
    assert names(corpus.find(A, method="both", distance=NEAR - 1)) == [("same", "identical", 0)]
    for exact in (True, False):
        found = corpus.find(A, method="both", distance=10, exact=exact)
        assert [m.id for m in found] == ["http://a.org/same", "http://b.org/near"]


def test_sizes_and_categories(corpus: Corpus) -> None:
    def found(**options: Any) -> list[str]:
        return [name for name, _, _ in names(corpus.find(A, **options))]

    # 56, 57 and 26 shingles
    assert found(size_ratio="26/56") == ["same", "near", "half"]
    assert found(size_ratio="0.47") == ["same", "near"]
    assert found(size_ratio=1) == ["same"]
    assert found(category="en") == ["same", "half"]
    assert found(within="language", category="de") == ["near"]
    assert found(category="fr") == []
    assert found(within="host", category="B.ORG") == ["near", "half"]
    assert found(method="simhash", distance=10, within="host", category="a.org") == [
        "same",
        "backwards",
    ]


def test_a_document_of_the_corpus_knows_its_category(corpus: Corpus) -> None:
    url = "http://a.org/same"
    assert names(corpus.find(url=url, within="host", method="simhash")) == [
        ("backwards", "near", 0)
    ]
    assert names(corpus.find(url=url, within="language")) == [("half", "contains", None)]
    assert names(corpus.find(url=url, category="de")) == [("near", "near", None)]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"within": "host"}, "within: not to be applied: the host of the query is not known"),
        ({"within": "country", "category": "x"}, "not stored in the corpus: 'country', it has 'la"),
        ({"distance": 3}, "distance: nothing to apply to"),
        ({"method": "simhash", "threshold": 0.5}, "threshold: nothing to apply to"),
        ({"method": "simhash", "containment": 0.5}, "containment: nothing to apply to"),
        ({"method": "simhash", "exact": True}, "exact: nothing to apply to"),
        ({"method": "all"}, "method: unknown: 'all'"),
        ({"size_ratio": 3}, "size ratio: out of range"),
    ],
)
def test_refusals(corpus: Corpus, options: dict[str, Any], message: str) -> None:
    with pytest.raises(roughly.ParameterError, match=message):
        corpus.find(A, **options)


def test_without_simhashes(tmp_path: Path) -> None:
    corpus = Corpus.create(tmp_path / "c")
    corpus.add(DOCUMENTS[:2])
    for method in ("simhash", "both"):
        with pytest.raises(roughly.ParameterError, match="the corpus has no simhashes") as caught:
            corpus.find(A, method=method)  # type: ignore[arg-type]
        assert "--method both" in (caught.value.hint or "")
    with pytest.raises(roughly.ParameterError, match="nothing says where categories stand"):
        corpus.find(A, category="en")
    # Hosts are in the ids.
    assert len(corpus.find(A, within="host", category="a.org")) == 1


def test_the_corpus_s_own_features(tmp_path: Path) -> None:
    """The query's simhash is made as those of the documents were."""
    simhasher = Simhasher("phrases:2", stop_words="english", stem="english")
    corpus = Corpus.create(tmp_path / "c", method="simhash", simhasher=simhasher, text=False)
    corpus.add([{"id": "a", "text": "the cats were running to the houses"}])
    assert names(corpus.find("A cat runs to a house!", method="simhash", distance=0)) == [
        ("a", "near", 0)
    ]


def test_simhashes_are_read_once(corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = Corpus(corpus.path)
    read: list[str] = []
    column = type(opened.collection).column

    def counting(self: Any, name: str) -> Any:
        read.append(name)
        return column(self, name)

    monkeypatch.setattr(type(opened.collection), "column", counting)
    for _ in range(3):
        opened.find(A, method="simhash")
    assert read.count("simhash") == 1
    assert isinstance(opened._snapshot.simhashes, StoredSimhashes)


def test_command(corpus: Corpus, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    query = tmp_path / "q.txt"
    query.write_text(A)
    words = ["find", str(corpus.path), str(query)]
    assert main([*words, "--method", "simhash", "-k", "10", "--json"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["distance"] for row in rows] == [0, 0, NEAR]
    assert main([*words, "--method", "both", "--within", "language", "--category", "en"]) == 0
    assert "simhash 0 bits off" in capsys.readouterr().out
    assert main([*words, "--category", "fr"]) == 1
    assert main([*words, "--urls", "--method", "simhash"]) == 2
    assert "--urls: cannot stand beside --method simhash" in capsys.readouterr().err


def test_matches_of_one_site_and_of_others(
    corpus: Corpus, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["find", str(corpus.path), "http://a.org/same", "--method", "simhash", "-k", "3"]
    assert main([*words, "--json"]) == 0
    output = capsys.readouterr()
    rows = {row["id"]: row["same_site"] for row in map(json.loads, output.out.splitlines())}
    assert rows == {"http://a.org/backwards": True, "http://b.org/near": False}
    assert "1 of the query's own site, 1 cross-site" in output.err
    found = corpus.find(A, method="simhash")
    assert found.site_matches == (0, 0)  # a text has no site
    assert found.same_site(found[0]) is None
