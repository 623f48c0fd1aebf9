"""Finding documents like a given one: kinds, order, measures, text, and what is promised."""

import json
from pathlib import Path
from typing import Any

import pytest

import roughly
from roughly.cli.main import main
from roughly.errors import DocumentError, ParameterError
from roughly.search.rule import Rule
from tests.optional import truth

# 40 words; with w=5 they are 36 shingles.
WORDS = [f"word{i}" for i in range(40)]
A = " ".join(WORDS)
NEAR = " ".join(
    [*WORDS[:38], "other", "end"]
)  # 34 of its 36 shingles and 38 of its 40 words are A's
HALF = " ".join(WORDS[:20])  # 16 shingles, all of A's
LONG = " ".join([*(f"before{i}" for i in range(30)), A, *(f"after{i}" for i in range(30))])

DOCUMENTS = [
    {"id": "http://a.example/1", "text": A, "date": "2026-01-01"},
    {"id": "http://a.example/2", "text": A.upper() + "!", "date": "2026-01-02"},
    {"id": "http://b.example/near", "text": NEAR},
    {"id": "http://b.example/half", "text": HALF},
    {"id": "http://c.example/long", "text": LONG},
    {"id": "http://c.example/else", "text": " ".join(f"else{i}" for i in range(30))},
    {"id": "nothing", "text": ""},
    {"id": "markup", "text": "<!doctype html><p></p>"},
]


def make(
    path: Path,
    documents: list[dict[str, Any]] = DOCUMENTS,
    text: bool = True,
    **sketch: Any,
) -> roughly.Corpus:
    corpus = roughly.Corpus.create(path, roughly.Sketcher(**sketch), text=text)
    corpus.add(documents)
    return corpus


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> roughly.Corpus:
    return make(tmp_path_factory.mktemp("find") / "c.roughly")


def kinds(found: Any) -> list[tuple[str, str]]:
    return [(match.id.rpartition("/")[2], match.kind) for match in found]


def test_what_is_the_same_is_not_estimated(tmp_path: Path) -> None:
    long = " ".join(f"word{i}" for i in range(5000))  # of which a sketch keeps a part
    made = make(tmp_path / "c", [{"id": "1", "text": long}, {"id": "2", "text": f"{long}!"}])
    for match, kind in zip(made.find(long), ("identical", "lexical"), strict=True):
        assert match.kind == kind
        for measure in (match.resemblance, match.containment_query, match.containment_found):
            assert measure is not None
            assert (measure.low, measure.value, measure.high) == (1, 1, 1)


@pytest.mark.parametrize("documents", [160, 640])
def test_what_stays_in_memory_does_not_grow_with_the_corpus(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, documents: int
) -> None:
    """Of files of documents no more than the limit, or what one search reads, however many
    searches there were; of the index no more than is mapped, and that is limited too."""
    monkeypatch.setattr("roughly.storage.segment.PART_ROWS", 16)
    monkeypatch.setattr("roughly.corpus.growth.PART_ROWS", 16)
    monkeypatch.setattr("roughly.search.find.MOST_HELD", 1 << 15)
    texts = [" ".join(f"{n}word{i}" for i in range(40)) for n in range(documents)]
    made = make(tmp_path / "c", [{"id": f"d{n}", "text": text} for n, text in enumerate(texts)])
    (segment,) = made.collection.segments
    assert segment.parts == documents // 16 + (documents % 16 > 0)
    sizes = [path.stat().st_size for path in segment.directory.glob("documents-*.arrow")]
    assert sum(sizes) > 1 << 15 and max(sizes) < 1 << 13
    most = 0
    for text in texts:
        assert made.find(text)[0].kind == "identical"
        most = max(most, segment.touched_bytes)
    assert (1 << 14) < most <= 1 << 15


def test_kinds_best_first(corpus: roughly.Corpus) -> None:
    found = corpus.find(A)
    assert kinds(found) == [
        ("1", "identical"),
        ("2", "lexical"),
        ("near", "near"),
        ("half", "contains"),
        ("long", "contained"),
    ]
    assert found.total == 5 and found.promise.recall == 1.0
    near, half, long = found[2:]
    # Nothing was left out of such small sketches, so the estimates are exact.
    assert near.resemblance.value == (34 + 38) / (38 + 42)
    assert (near.containment_query.value, near.containment_found.value) == (34 / 36, 34 / 36)
    assert (half.containment_query.value, half.containment_found.value) == (16 / 36, 1.0)
    assert (long.containment_query.value, long.containment_found.value) == (1.0, 36 / 96)
    assert found[0].date is not None and found[0].url == "http://a.example/1"


def test_json_fields(corpus: roughly.Corpus) -> None:
    row = corpus.find(A, limit=1)[0].to_dict()
    assert row == {
        "id": "http://a.example/1",
        "url": "http://a.example/1",
        "date": row["date"],
        "resemblance": 1.0,
        "low": 1.0,
        "high": 1.0,
        "containment_query": 1.0,
        "containment_found": 1.0,
        "kind": "identical",
        "samples": 36 + 40,
        "containment_query_low": 1.0,
        "containment_query_high": 1.0,
        "containment_query_samples": 36,
        "containment_found_low": 1.0,
        "containment_found_high": 1.0,
        "containment_found_samples": 36,
        "counted": False,
    }
    assert corpus.find("")[0].to_dict()["url"] is None


@pytest.mark.parametrize("exact", [None, True, False])
def test_what_is_asked_for(corpus: roughly.Corpus, exact: bool | None) -> None:
    def ids(**asked: Any) -> list[str]:
        return [name for name, _ in kinds(corpus.find(A, exact=exact, **asked))]

    assert ids(threshold=0.8) == ["1", "2", "near"]
    assert ids(threshold=0.92) == ["1", "2"]
    assert ids(containment=1) == ["1", "2", "half", "long"]
    assert ids(containment=1, direction="contained") == ["1", "2", "long"]
    assert ids(containment=1, direction="contains") == ["1", "2", "half"]
    assert ids(limit=1) == ["1"]
    assert ids(threshold=0.9, containment=0.9) == ["1", "2", "near", "half", "long"]


def test_a_document_of_the_corpus(corpus: roughly.Corpus) -> None:
    """It is not found itself; the URL may be written otherwise."""
    for url in ("http://a.example/1", "HTTPS://www.A.example:443/1"):
        assert kinds(corpus.find(url=url, limit=2)) == [("2", "lexical"), ("near", "near")]
    with pytest.raises(DocumentError, match="not in the corpus"):
        corpus.find(url="http://a.example/none")


def test_without_text(tmp_path: Path) -> None:
    corpus = make(tmp_path / "c.roughly", text=False)
    assert kinds(corpus.find(A))[:2] == [("1", "identical"), ("2", "lexical")]
    assert kinds(corpus.find(url="http://a.example/1"))[0] == ("2", "lexical")
    with pytest.raises(ParameterError, match="without text"):
        corpus.find(A, exact=True)


@pytest.mark.parametrize("exact", [None, True, False])
def test_empty(corpus: roughly.Corpus, exact: bool | None) -> None:
    assert kinds(corpus.find("", exact=exact)) == [("nothing", "identical"), ("markup", "empty")]
    assert kinds(corpus.find("...", exact=exact)) == [("nothing", "empty"), ("markup", "empty")]


def test_removed_documents_are_not_found(tmp_path: Path) -> None:
    corpus = make(tmp_path / "c.roughly")
    corpus.add([{"id": "http://d.example/3", "text": A}], date="2026-02-01")
    assert kinds(corpus.find(A))[:3] == [("1", "identical"), ("3", "identical"), ("2", "lexical")]
    corpus.remove(["http://a.example/1"])
    assert kinds(corpus.find(A))[:2] == [("3", "identical"), ("2", "lexical")]
    assert kinds(roughly.Corpus(corpus.path).find(A))[0] == ("3", "identical")


def test_a_quotation_that_no_sample_shows(tmp_path: Path) -> None:
    """mod:1000 keeps next to nothing of 60 shingles: the text settles it, or the promise tells."""
    words = [f"w{i}" for i in range(3000)]
    corpus = make(
        tmp_path / "c.roughly", [{"id": "long", "text": " ".join(words)}], select="mod:1000"
    )
    quotation = " ".join(words[1000:1020])
    found = corpus.find(quotation)
    assert len(found) == 0 and found.promise == (0.0, 1, 1, 0.0)
    found = corpus.find(quotation, exact=True)
    assert kinds(found) == [("long", "contained")] and found.scanned == 1
    assert found[0].exact and found[0].containment_query.value == 1.0


def test_few_samples_are_settled_by_the_text(tmp_path: Path) -> None:
    """Adaptive sketches of a long text: a quotation of 40 words has few samples there. Each shares
    some element with the query; only one has it all."""
    words = [f"w{i}" for i in range(4000)]
    quotation = words[500:540]
    decoys = [
        {"id": f"decoy{i}", "text": " ".join([*words[3000:], *quotation[i : i + 6], *words[:400]])}
        for i in range(30)
    ]
    whole = {"id": "whole", "text": " ".join(words)}
    corpus = make(tmp_path / "c.roughly", [*decoys, whole], select="adaptive:100")
    found = corpus.find(" ".join(quotation))
    assert all(match.exact for match in found)
    assert kinds(found) in ([("whole", "contained")], [])
    assert kinds(corpus.find(" ".join(quotation), exact=True)) == [("whole", "contained")]


def test_a_large_text_is_searched_at_a_coarser_level(tmp_path: Path) -> None:
    words = [f"w{i}" for i in range(60_000)]
    small = {"id": "small", "text": " ".join(words[100:1100])}
    corpus = make(tmp_path / "c.roughly", [small])
    found = corpus.find(" ".join(words))
    assert kinds(found) == [("small", "contains")]
    assert found[0].containment_found.low > 0.5


@pytest.mark.parametrize("select", ["all", "mod:2", "min:50", "adaptive:10"])
def test_every_selection(tmp_path: Path, select: str) -> None:
    corpus = make(tmp_path / "c.roughly", select=select, seed=5)
    found = corpus.find(A, threshold=0.5)
    assert [name for name, _ in kinds(found)][:2] == ["1", "2"]
    if select == "min:50":
        assert found[0].containment_query is None
        with pytest.raises(ParameterError, match="containment"):
            corpus.find(A, containment=0.5)


def test_mistakes(corpus: roughly.Corpus) -> None:
    for wrong in (
        {"text": A, "url": "http://a.example/1"},
        {},
        {"text": A, "limit": 0},
        {"text": A, "threshold": 1.5},
        {"text": A, "containment": 0},
        {"text": 7},
    ):
        with pytest.raises(ParameterError):
            corpus.find(**wrong)  # type: ignore[arg-type]


def test_rules_have_defaults(corpus: roughly.Corpus) -> None:
    from roughly.documents.file import document
    from roughly.search.query import Query

    query = Query.of_text(document("-", b"a"), corpus.collection.parameters)
    assert Rule.of(query, None, None) == Rule("0.5", "0.8")
    assert Rule.of(query, 0.7, None) == Rule(0.7, None)


# --- the command ----------------------------------------------------------------------------------


class Shell:
    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def run(self, *arguments: str) -> tuple[int, str, str]:
        status = main(["find", *arguments, "--width", "80"])
        printed = self._capsys.readouterr()
        return status, printed.out, printed.err


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str]) -> Shell:
    return Shell(capsys)


def test_the_command(corpus: roughly.Corpus, tmp_path: Path, shell: Shell) -> None:
    query = tmp_path / "query.txt"
    query.write_text(A)
    path = str(corpus.path)
    status, out, err = shell.run(path, str(query))
    assert (status, err) == (0, "")
    lines = out.splitlines()
    assert len(lines) == 10 and "identical" in lines[0] and "http://a.example/1" in lines[0]
    assert "resemblance 0.900" in lines[5] and "query in it 0.944" in lines[5]
    status, out, err = shell.run(path, str(query), "--limit", "2", "--json")
    assert [json.loads(line)["kind"] for line in out.splitlines()] == ["identical", "lexical"]
    assert err == "roughly: 2 of 5 documents shown (--limit N)\n"
    status, out, _ = shell.run(path, "http://a.example/1", "--explain", "--limit", "2")
    assert "34 tokens" not in out and "38 tokens" in out and "A line 1, byte 0" in out
    status, out, _ = shell.run(path, str(query), "--urls")
    assert [line.split()[3:] for line in out.splitlines()] == [
        ["a.example", "http://a.example/1"],
        ["a.example", "http://a.example/2"],
        ["c.example", "http://c.example/long"],
        ["b.example", "http://b.example/near"],
        ["b.example", "http://b.example/half"],
    ]
    assert out.splitlines()[-1].split()[:2] == ["0.44", "part"]


def test_nothing_found(corpus: roughly.Corpus, tmp_path: Path, shell: Shell) -> None:
    query = tmp_path / "query.txt"
    query.write_text("what nobody has written so far anywhere in the world")
    assert shell.run(str(corpus.path), str(query)) == (1, "", "roughly: nothing found\n")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["http://a.example/none"], "not in the corpus"),
        (["no-such-file"], "no such file"),
        (["http://a.example/1", "--urls", "--threshold", "0.5"], "--threshold"),
    ],
)
def test_errors(corpus: roughly.Corpus, shell: Shell, arguments: list[str], said: str) -> None:
    status, out, err = shell.run(str(corpus.path), *arguments)
    assert (status, out) == (2, "") and said in err and "hint: " in err


# --- real data ------------------------------------------------------------------------------------


@pytest.mark.parametrize("select", ["all", "adaptive:200"])
def test_licences(tmp_path: Path, select: str) -> None:
    """Which licence is in this file: the expected text among the first three."""
    import gzip

    folder = truth() / "licences"
    refs, queries = (
        [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]
        for path in (folder / "refs.jsonl.gz", folder / "queries.jsonl.gz")
    )
    corpus = roughly.Corpus.create(tmp_path / "c.roughly", roughly.Sketcher(select=select))
    corpus.add([{"id": ref["id"], "text": ref["text"]} for ref in refs], content_type="text")
    asked = [query for query in queries if query["kind"] == "text"][::4]
    right = 0
    for query in asked:
        found = corpus.find(query["text"], containment=0.5, limit=3, content_type="text")
        right += any(match.id in query["keys"] for match in found)
    assert right / len(asked) >= 0.9
