"""What a search finds of what is there, held against brute force: nothing is cut off unsaid, and no
more is promised than is found. Texts are of random words, so that all shingles differ."""

import json
from math import comb, sqrt
from pathlib import Path
from random import Random
from typing import Any

import pytest

import roughly
from roughly.cli.main import main
from roughly.errors import ParameterError
from roughly.search.match import Found
from roughly.search.recall import BELIEVED, COUNTED, SCANNED, lower_tail
from tests.optional import FULL
from tests.test_find import Shell, make, shell

__all__ = ["shell"]

W = 5


def words(chance: Random, count: int) -> list[str]:
    return [f"{chance.getrandbits(48):x}" for _ in range(count)]


def ids(found: Found) -> set[str]:
    return {match.id for match in found}


# --- the arithmetic -------------------------------------------------------------------------------


def test_lower_tail() -> None:
    chance = Random(1)
    for _ in range(500):
        population = chance.randint(1, 50)
        marked, drawn = chance.randint(0, population), chance.randint(0, population)
        least = chance.randint(0, drawn + 2)
        ways = sum(
            comb(marked, count) * comb(population - marked, drawn - count)
            for count in range(min(least, drawn + 1))
        )
        expected = ways / comb(population, drawn)
        assert lower_tail(population, marked, drawn, least) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("share", [(4, 5), (1, 4), (1, 1), (1, 2)])
def test_sieves(share: tuple[int, int]) -> None:
    """One number and many give the same; more samples never need fewer in common."""
    import numpy as np

    for sieve in (BELIEVED, COUNTED, SCANNED):
        many = sieve.needed(share, np.arange(400)).tolist()
        assert many == [sieve.needed_of(share, samples) for samples in range(400)]
        assert many[sieve.least :] == sorted(many[sieve.least :])
        assert all(n > k for k, n in enumerate(many[: sieve.least]))  # never
    assert BELIEVED.needed_of((4, 5), 11) == 9  # 8.8 of 11


# --- what is promised against what is found -------------------------------------------------------

QUERIES = 24
DOCUMENTS = 40


def _holders(seed: int, part: float, sizes: tuple[int, int]) -> tuple[list[dict[str, str]], Any]:
    """Documents of many lengths, each of which holds just that part of the shingles of every query,
    from a place of its own; and, ahead of them, short ones that hold nothing."""
    chance = Random(seed)
    queries = [words(chance, chance.randint(*sizes)) for _ in range(QUERIES)]
    documents = [{"id": f"short{i}", "text": " ".join(words(chance, 10))} for i in range(100)]
    for i in range(DOCUMENTS):
        text = words(chance, int(2 ** chance.uniform(6, 13)))
        for query in queries:
            shingles = len(query) - W + 1
            length = -int(-part * shingles // 1) + W - 1
            begin = chance.randint(0, len(query) - length)
            text += [*query[begin : begin + length], *words(chance, 1)]
        documents.append({"id": f"holder{i}", "text": " ".join(text)})
    return documents, [" ".join(query) for query in queries]


def _no_more_promised_than_found(promised: list[float], measured: list[float]) -> None:
    """In the mean over queries, within three standard errors."""
    differences = [p - m for p, m in zip(promised, measured, strict=True)]
    mean = sum(differences) / len(differences)
    spread = sqrt(sum((d - mean) ** 2 for d in differences) / (len(differences) - 1))
    assert mean <= 3 * spread / sqrt(len(differences)) + 1e-9, (mean, promised, measured)


@pytest.mark.parametrize("select", ["adaptive:20", "adaptive:100", "mod:8"])
@pytest.mark.parametrize("part", ["0.25", "0.5", "0.8", "1"])
def test_promised_recall_of_containment(tmp_path: Path, select: str, part: str) -> None:
    promised: dict[bool | None, list[float]] = {None: [], False: []}
    measured: dict[bool | None, list[float]] = {None: [], False: []}
    by_place: list[float] = []
    for seed in range(5 if FULL else 1):
        documents, queries = _holders(seed, float(part), (15, 120))
        corpus = make(tmp_path / f"{seed}.roughly", documents, select=select, seed=seed)
        sizes = {each["id"]: each["text"].count(" ") + 2 - W for each in documents}
        holders = {id for id in sizes if id.startswith("holder")}
        for query in queries:
            least = float(part) * (query.count(" ") + 2 - W)
            asked: dict[str, Any] = {
                "containment": part,
                "direction": "contained",
                "limit": None,
                "content_type": "text",
            }
            found = corpus.find(query, exact=True, **asked)
            assert ids(found) == holders
            assert (found.promise.recall, found.promise.least) == (1.0, 1.0)
            for exact in promised:
                found = corpus.find(query, exact=exact, **asked)
                assert ids(found) <= holders
                if found.promise.least < 0.99:
                    possible = sum(size >= least for size in sizes.values())
                    assert found.promise.documents == pytest.approx(possible, abs=2)
                assert found.promise.least <= found.promise.recall
                promised[exact].append(found.promise.recall)
                measured[exact].append(len(found) / len(holders))
                if exact is None:
                    places = {id: max(size - least + 1, 0) for id, size in sizes.items()}
                    shown = sum(places[id] for id in ids(found))
                    by_place.append(shown / sum(places[id] for id in holders))
    for exact in promised:
        _no_more_promised_than_found(promised[exact], measured[exact])
    # Nor is much less promised than is found of what stands at a place that is drawn.
    _no_more_promised_than_found([each - 0.05 for each in by_place], promised[None])


@pytest.mark.parametrize("select", ["adaptive:20", "mod:8", "min:30"])
@pytest.mark.parametrize("exact", [None, False])
def test_promised_recall_of_resemblance(tmp_path: Path, select: str, exact: bool | None) -> None:
    """Documents as long as the query, of which they have two thirds: a resemblance of a half; and
    some that are half of it."""
    chance = Random(3)
    promised, measured = [], []
    for number in range(60 if FULL else 6):
        query = words(chance, chance.randint(60, 900))
        shingles = len(query) - W + 1
        documents = []
        for i in range(12):
            common = -(-2 * shingles // 3) if i % 2 else -(-shingles // 2)
            begin = chance.randint(0, shingles - common)
            text = query[begin : begin + common + W - 1]
            if i % 2:
                text = text + words(chance, shingles - common)
            documents.append({"id": f"near{i}", "text": " ".join(text)})
        corpus = make(tmp_path / f"{number}.roughly", documents, select=select, seed=number)
        found = corpus.find(" ".join(query), threshold=0.5, limit=None, exact=exact)
        promised.append(found.promise.recall)
        measured.append(len(found) / len(documents))
        everything = corpus.find(" ".join(query), threshold=0.5, limit=None, exact=True)
        assert len(everything) == len(documents)
    _no_more_promised_than_found(promised, measured)


@pytest.mark.parametrize("select", ["adaptive:20", "mod:8"])
def test_promised_recall_of_parts(tmp_path: Path, select: str) -> None:
    """Documents of which the query has four fifths; it is long, they are of many lengths."""
    chance = Random(5)
    promised, measured = [], []
    for number in range(40 if FULL else 6):
        query = words(chance, 4000)
        documents = []
        for i in range(20):
            inside = int(2 ** chance.uniform(3, 9))
            begin = chance.randint(0, 3000)
            text = [*query[begin : begin + inside + W - 1], *words(chance, inside // 4)]
            documents.append({"id": f"part{i}", "text": " ".join(text)})
        corpus = make(tmp_path / f"{number}.roughly", documents, select=select, seed=number)
        asked: dict[str, Any] = {"containment": "0.8", "direction": "contains", "limit": None}
        found = corpus.find(" ".join(query), **asked)
        assert len(corpus.find(" ".join(query), exact=True, **asked)) == len(documents)
        promised.append(found.promise.recall)
        measured.append(len(found) / len(documents))
    _no_more_promised_than_found(promised, measured)


def test_parts_of_a_text_that_is_searched_at_a_coarse_level(tmp_path: Path) -> None:
    """Of documents of some dozen shingles hardly one is at the level of a very long text: the
    promise says so, and the text finds them."""
    chance = Random(6)
    query = words(chance, 150_000)  # level 4 or more
    documents = [
        {"id": f"part{i}", "text": " ".join(query[1000 * i : 1000 * i + 24])} for i in range(100)
    ]
    corpus = make(tmp_path / "c.roughly", documents)
    found = corpus.find(" ".join(query), containment=1, direction="contains", limit=None)
    # 20 shingles, one in 16 of which is there: 1 - (15/16) ^ 20 = 0.725.
    assert found.promise.recall == pytest.approx(0.725, abs=0.01)
    assert len(found) / 100 == pytest.approx(0.725, abs=0.15)
    found = corpus.find(
        " ".join(query), containment=1, direction="contains", limit=None, exact=True
    )
    assert len(found) == 100


# --- nothing is cut off unsaid --------------------------------------------------------------------


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, Path]:
    """300 pages that hold all of a text, 60 words of which are elements of few; and a text that
    2,600 pages have half of."""
    folder = tmp_path_factory.mktemp("held")
    chance = Random(8)
    quoted, copied = words(chance, 60), words(chance, 40)
    documents = [
        {
            "id": f"http://h{i}.example/",
            "text": " ".join([*words(chance, 1500), *quoted, *words(chance, 1500)]),
        }
        for i in range(300)
    ]
    documents += [
        {"id": f"http://c{i}.example/", "text": " ".join([*copied[:24], *words(chance, 6)])}
        for i in range(2600)
    ]
    corpus = make(folder / "c.roughly", documents, select="adaptive:100", seed=1)
    paths = folder / "quoted.txt", folder / "copied.txt"
    for path, text in zip(paths, (quoted, copied), strict=True):
        path.write_text(" ".join(text))
    return corpus.path, *paths


def test_every_holder(held: tuple[Path, Path, Path], shell: Shell) -> None:
    corpus, quoted, copied = map(str, held)
    for more in ([], ["--exact"]):
        _, out, _ = shell.run(corpus, copied, "--urls", *more)
        assert len(out.splitlines()) == 2600
        _, out, err = shell.run(corpus, quoted, "--urls", *more)
        assert len(out.splitlines()) == 300
        assert "shown" not in err and "not counted" not in err
    _, out, err = shell.run(corpus, quoted, "--urls", "--limit", "7")
    assert len(out.splitlines()) == 7 and "7 of 300 documents shown" in err


def test_what_is_not_counted_is_told(held: tuple[Path, Path, Path], shell: Shell) -> None:
    """Only the 100 best of those with few samples are looked at, but all are counted."""
    corpus, quoted, _ = map(str, held)
    found = roughly.Corpus(corpus).find(Path(quoted).read_text())
    assert 0 < found.query_size == 56
    assert (found.total, found.uncounted, len(found)) == (300, 200, 10)
    assert all(match.exact for match in found)
    status, _, err = shell.run(corpus, quoted)
    said = " ".join(err.replace("roughly:", "").split())
    assert status == 0 and "10 of 300 documents shown" in said
    assert "200 documents with few samples in common not counted by the text" in said
    for more in (["--limit", "300"], ["--exact"]):
        _, _, err = shell.run(corpus, quoted, *more)
        assert "not counted" not in err
    found = roughly.Corpus(corpus).find(Path(quoted).read_text(), limit=None)
    assert (found.total, found.uncounted, len(found)) == (300, 0, 300)


def test_rows_say_what_they_rest_on(held: tuple[Path, Path, Path], shell: Shell) -> None:
    corpus, quoted, copied = map(str, held)
    for path, share, holds in ((quoted, 1.0, "whole"), (copied, 20 / 36, "part")):
        _, out, _ = shell.run(corpus, path, "--urls", "--json", "--limit", "3")
        rows = [json.loads(line) for line in out.splitlines()]
        assert len(rows) == 3
        for row in rows:
            assert row["host"] and row["url"] == f"http://{row['host']}/"
            assert (row["holds"], row["dates"]) == (holds, [])
            assert row["containment_query"] == share
            assert row["containment_query_low"] == row["containment_query_high"] == share
            assert row["counted"] is (path == quoted)
            assert 0 < row["promised_recall"] <= 1
    _, out, _ = shell.run(corpus, quoted, "--estimate", "--containment", "0.1", "--json")
    _, out, _ = shell.run(corpus, quoted, "--json", "--limit", "1")
    assert json.loads(out)["counted"] is True


def test_documents_too_short_are_not_counted_on(tmp_path: Path, shell: Shell) -> None:
    """One of 21 documents that are long enough would show it; 2,000 are too short."""
    chance = Random(9)
    query = words(chance, 20)
    long = [{"id": f"long{i}", "text": " ".join(words(chance, 30_000))} for i in range(20)]
    short = [{"id": f"short{i}", "text": " ".join(words(chance, 10))} for i in range(2000)]
    enough = [{"id": "enough", "text": " ".join(words(chance, 20))}]
    # A seed with which the query has no element at the level of the long ones.
    for seed in range(20):
        corpus = make(tmp_path / f"{seed}.roughly", [*long, *enough], seed=seed)
        if corpus.find(" ".join(query)).promise.blind == 20:
            break
    corpus.add(short)
    found = corpus.find(" ".join(query))
    assert found.promise[1:] == (21, 20, 0.0) and found.promise.recall <= 1 / 21
    path = tmp_path / "query.txt"
    path.write_text(" ".join(query))
    status, _, err = shell.run(str(corpus.path), str(path))
    assert status == 1 and "promised recall 0.0" in err


# --- sweeps ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> roughly.Corpus:
    chance = Random(10)
    text, other = " ".join(words(chance, 50)), " ".join(words(chance, 50))
    corpus = roughly.Corpus.create(tmp_path_factory.mktemp("swept") / "c.roughly")
    corpus.add([{"id": "undated", "text": text}])
    for date in ("2025-12-01", "2026-01-01", "2026-02-01"):
        corpus.add([{"id": "http://a.example/page", "text": text}], date=date)
    corpus.add(
        [{"id": "http://b.example/copy", "text": text}, {"id": "http://b.example/", "text": other}],
        date="2026-02-01",
    )
    corpus.add([{"id": "http://c.example/copy", "text": text}], date="2026-03-01")
    corpus.remove(["http://c.example/copy"])
    return corpus


@pytest.mark.parametrize(
    ("date", "expected"),
    [
        ("2026-02-01", ["http://b.example/copy"]),
        ("latest", ["http://b.example/copy"]),  # what was removed is not the latest
        ("2026-01-01", ["http://a.example/page"]),
        ("2026", ["http://a.example/page", "http://b.example/copy"]),
        ("2025", ["http://a.example/page"]),
        ("undated", ["undated"]),
    ],
)
@pytest.mark.parametrize("exact", [None, True, False])
def test_one_sweep(
    swept: roughly.Corpus, date: str, expected: list[str], exact: bool | None
) -> None:
    """The page that is asked about is its latest document, which is not found itself."""
    found = swept.find(url="a.example/page", date=date, exact=exact)
    assert sorted(match.id for match in found) == expected


@pytest.mark.parametrize("date", ["2024", "2026-03-01", "2026-1", "yesterday", ""])
def test_no_sweep(swept: roughly.Corpus, date: str) -> None:
    with pytest.raises(ParameterError, match="date: no "):
        swept.find(url="a.example/page", date=date)


@pytest.mark.parametrize("method", ["simhash", "both"])
def test_one_sweep_by_simhash(tmp_path: Path, shell: Shell, method: str) -> None:
    text = " ".join(words(Random(12), 60))
    pages = tmp_path / "pages.jsonl"
    rows = [{"id": f"page{i}", "text": text, "date": f"2026-0{i}-01"} for i in (1, 2, 3)]
    pages.write_text("".join(json.dumps(row) + "\n" for row in rows))
    corpus, query = str(tmp_path / "c.roughly"), tmp_path / "query.txt"
    query.write_text(text)
    assert main(["cluster", str(pages), "-o", corpus, "--method", "both"]) == 0
    shell.run(corpus, str(query))  # what the clustering said is not looked at
    for date, expected in (("2026-02", ["page2"]), ("latest", ["page3"])):
        _, out, _ = shell.run(corpus, str(query), "--method", method, "--date", date, "--json")
        assert [json.loads(line)["id"] for line in out.splitlines()] == expected


def test_holders_once(swept: roughly.Corpus, shell: Shell) -> None:
    path = str(swept.path)
    _, out, _ = shell.run(path, "http://b.example/copy", "--urls")
    rows = [line.split() for line in out.splitlines()]
    assert sorted(rows) == [
        ["1.00", "whole", "-", "-", "undated"],
        [
            "1.00",
            "whole",
            "2025-12-01,2026-01-01,2026-02-01",
            "a.example",
            "http://a.example/page",
        ],
    ]
    _, out, _ = shell.run(path, "http://b.example/copy", "--urls", "--json", "--date", "2026")
    row = json.loads(out)
    assert row["dates"] == ["2026-01-01", "2026-02-01"] and row["host"] == "a.example"
    assert (row["kind"], row["low"], row["high"]) == ("identical", 1.0, 1.0)


# --- mistakes -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--passages", "2"], "--passages: nothing to apply to"),
        (["--threshold", "0.5", "--direction", "contains"], "direction: nothing to apply to"),
        (["--urls", "--direction", "contains"], "--direction: cannot be contains"),
        (["--urls", "--explain"], "--explain: cannot stand beside --urls"),
        (["--json", "--explain"], "--explain: cannot stand beside --json"),
    ],
)
def test_what_would_be_ignored(
    swept: roughly.Corpus, shell: Shell, arguments: list[str], said: str
) -> None:
    status, out, err = shell.run(str(swept.path), "http://b.example/copy", *arguments)
    assert (status, out) == (2, "") and said in err and "hint: " in err


def test_direction(swept: roughly.Corpus) -> None:
    with pytest.raises(ParameterError, match="wanted one of both, contained, contains"):
        swept.find("x", direction="foo")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="direction: nothing to apply to"):
        swept.find("x", threshold=0.5, direction="contains")


def test_identical_documents_have_no_interval(tmp_path: Path) -> None:
    """However few of their shingles are in the sketch."""
    text = " ".join(words(Random(11), 5000))
    documents = [{"id": "same", "text": text}, {"id": "words", "text": text.upper() + "."}]
    corpus = make(tmp_path / "c.roughly", documents)
    for exact in (None, False):
        for match in corpus.find(text, exact=exact):
            for measure in (match.resemblance, match.containment_query, match.containment_found):
                assert measure is not None
                assert (measure.value, measure.low, measure.high) == (1.0, 1.0, 1.0)
