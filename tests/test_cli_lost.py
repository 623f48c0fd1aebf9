"""lost, changes and collapse on a corpus of three sweeps whose answers are known, from the API and
from the command line."""

import io
import json
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import roughly
from roughly.cli.main import main
from roughly.corpus.commonness import COMMON, Scan
from roughly.corpus.evidence import sketches_of
from roughly.corpus.lookup import NamedPages, Names, best_match, spellings
from roughly.corpus.lost import Move
from roughly.corpus.sweeps import read_sweeps
from roughly.errors import ParameterError
from roughly.sample_web import sample_web
from tests.test_lost import page, words

A, B = "https://www.a.example", "https://b.example"
DATES = ("2026-01-01", "2026-04-01", "2026-07-01")
ONE, TWO, THREE = (page(words(n, 300)) for n in "123")
EDITED = THREE + " " + words("more", 60)
COPY = page(words("copy", 300))
STAYS = {f"{A}/stays/{n}": page(words(("stays", n), 200)) for n in range(5)}
SWEEPS = [
    {f"{A}/one": ONE, f"{A}/two": TWO, f"{A}/Three/": THREE, f"{A}/copy": COPY, **STAYS},
    {f"{A}/new/one": ONE, f"{A}/two": TWO, f"{A}/Three/": EDITED, f"{B}/mine": COPY, **STAYS},
    {f"{A}/latest?p=1": ONE, f"{A}/Three/": EDITED, f"{B}/mine": COPY, **STAYS},
]


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("lost") / "site.roughly"
    corpus = roughly.Corpus.create(made)
    for date, pages in zip(DATES, SWEEPS, strict=True):
        documents = [{"id": url, "text": text} for url, text in pages.items()]
        corpus.add(documents, date=date)
    return made


@pytest.fixture
def corpus(path: Path) -> roughly.Corpus:
    return roughly.Corpus(path)


def run(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, list[str], str]:
    status = main([str(word) for word in words])
    out, err = capsys.readouterr()
    return status, out.splitlines(), err


# --- look-up ------------------------------------------------------------------------------------


def test_any_spelling_finds_a_page(corpus: roughly.Corpus) -> None:
    for url in (
        f"{A}/two",
        "HTTPS://WWW.A.EXAMPLE:443/two#top",
        "http://a.example/two/",
        "a.example/two",
    ):
        assert [document.date for document in corpus.documents(url)] == [*DATES[:2]], url
    assert corpus.documents(f"{A}/nothing") == []
    assert corpus.documents("") == []


def test_the_best_spelling_wins() -> None:
    ids = ["http://a.example/x", "https://www.a.example/X", "http://a.example/x#2"]
    assert best_match("https://www.a.example/X", ids) == [1]
    assert best_match("http://a.example:80/x", ids) == [0, 2]
    assert best_match("a.example/x", ids) == [0, 2]
    assert best_match("https://a.example/X/", ids) == [0, 1, 2]
    assert best_match("http://b.example/", ids) == []
    assert spellings("doc 1") == ["doc 1", "http://doc%201/"]


def test_from_url_to_cluster_and_back(corpus: roughly.Corpus) -> None:
    found = [(document.id, document.date) for document in corpus.cluster_of("a.example/one")]
    assert found == [
        (f"{A}/one", DATES[0]),
        (f"{A}/new/one", DATES[1]),
        (f"{A}/latest?p=1", DATES[2]),
    ]
    assert corpus.cluster_of("https://nowhere.example/") == []


def test_cluster_of_a_url(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "cluster", path, "--url", "a.example/one")
    assert status == 0
    assert [line.split() for line in out] == [
        [DATES[0], f"{A}/one"],
        [DATES[1], f"{A}/new/one"],
        [DATES[2], f"{A}/latest?p=1"],
    ]
    status, out, _ = run(capsys, "cluster", path, "--url", f"{A}/two", "--json")
    assert [json.loads(line)["date"] for line in out] == [*DATES[:2]]
    status, out, err = run(capsys, "cluster", path, "--url", "nowhere.example")
    assert (status, out) == (2, [])
    assert "not known" in err


def test_pages_looked_up_one_by_one_are_those_of_the_table(tmp_path: Path) -> None:
    """Spellings, repeated ids, removed documents."""
    made = roughly.Corpus.create(tmp_path / "small.roughly")
    names = ["http://a.example/", "HTTP://A.example:80", "http://a.example", "b", "B", "c"]
    for date in DATES[:2]:
        made.add([{"id": name, "text": f"{name} {date}"} for name in names], date=date)
    made.add([{"id": name, "text": "later"} for name in ("b", "http://A.example/")])
    made.remove("c", DATES[0])
    rows = made.collection.live_rows.astype(np.int64)
    for period in ("day", "year"):
        table = read_sweeps(made.collection, period)  # type: ignore[arg-type]
        single = NamedPages(made.collection, Names(made.collection), period)  # type: ignore[arg-type]
        assert single.dates == table.dates
        for row in rows.tolist():
            assert single.versions(row).tolist() == table.versions(row).tolist(), table.name(row)
            assert single.name(row) == table.name(row)
        for sweep in range(len(table.dates)):
            assert set(table.rows_of(sweep).tolist()) <= set(single.rows_of(sweep).tolist())
            expected = table.elsewhere(rows, sweep).tolist()
            assert single.elsewhere(rows, sweep).tolist() == expected


@pytest.mark.parametrize("select", ["adaptive:50", "all", "mod:4"])
def test_looking_up_says_what_reading_everything_says(tmp_path: Path, select: str) -> None:
    sample = sample_web(pages=100, seed=6, dates=DATES[:2])
    sketcher = roughly.Sketcher(select=select)
    made = roughly.Corpus.create(tmp_path / "sample.roughly", sketcher)
    for date in sample.dates:
        made.add([{"id": p.url, "content": p.content} for p in sample.iterate(date)], date=date)
    made.remove(made.urls()[:5])
    pages = NamedPages(made.collection, Names(made.collection), "day")
    old, new = pages.rows_of(0), pages.rows_of(1)
    scan, look_up = Scan(made.collection, old, new), pages.counter(0, 1)
    elements = np.unique(sketches_of(made.collection, old[::7])[0])
    place = np.full(len(made.collection), -1, np.int64)
    place[new[::2]] = np.arange(len(new[::2]))
    for one, other in ((scan, look_up), (scan.backwards(), look_up.backwards())):
        counts, hits, holders = one.count(elements, place)
        counts_too, hits_too, holders_too = other.count(elements, place)
        assert np.minimum(counts, COMMON + 1).tolist() == (
            np.minimum(counts_too, COMMON + 1).tolist()
        )
        rare = counts.max(axis=0) <= COMMON
        assert rare.any()
        pairs, pairs_too = (
            sorted((int(h), int(d)) for h, d in zip(*some, strict=True) if rare[h])
            for some in ((hits, holders), (hits_too, holders_too))
        )
        assert pairs == pairs_too
        assert pairs


def test_one_page_is_judged_as_all_are(tmp_path: Path) -> None:
    sample = sample_web(pages=100, seed=5, dates=DATES[:2])
    made = roughly.Corpus.create(tmp_path / "sample.roughly")
    for date in sample.dates:
        made.add([{"id": p.url, "content": p.content} for p in sample.iterate(date)], date=date)
    by_old: dict[str, list[Move]] = {}
    for move in made.moves():
        by_old.setdefault(move.old, []).append(move)
    assert len(by_old) > 10
    for old, moves in by_old.items():
        trace = made.lost(old)
        assert trace is not None
        assert [(m.kind, m.new) for m in trace.moves] == [(m.kind, m.new) for m in moves]


def test_urls_of_a_sweep(corpus: roughly.Corpus) -> None:
    assert corpus.urls() == sorted(SWEEPS[2])
    assert corpus.urls("2026-01") == sorted(SWEEPS[0])


# --- lost ---------------------------------------------------------------------------------------


def test_lost_follows_a_page(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "lost", path, "a.example/one")
    assert status == 0
    assert out[0] == f"{A}/one"
    assert f"    {A}/new/one" in out
    assert f"    {A}/latest?p=1" in out
    status, out, _ = run(capsys, "lost", path, f"{A}/one", "--json")
    (row,) = map(json.loads, out)
    assert (row["old"], row["new"], row["kind"]) == (f"{A}/one", f"{A}/latest?p=1", "same")
    assert row["resemblance"] == row["containment"] == 1
    assert len(row["steps"]) == 2


def test_lost_counted_by_the_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old, new = words("old", 3000), words("old", 3000) + " " + words("new", 1000)
    corpus = roughly.Corpus.create(tmp_path / "c")
    corpus.add([{"id": "http://a.example/old", "text": old}], date="2026-01-01")
    corpus.add([{"id": "http://a.example/new", "text": new}], date="2026-02-01")
    exactly = round(float(roughly.resemblance(old, new)), 4)
    estimated = corpus.moves()
    assert [move.resemblance for move in estimated] != [exactly]
    (move,) = corpus.moves(exact=True)
    assert (move.kind, move.resemblance, move.containment) == ("moved", exactly, 1.0)
    assert move.confidence == estimated[0].confidence
    trace = corpus.lost("http://a.example/old", exact=True)
    assert trace is not None
    assert [move.resemblance for move in trace.moves] == [exactly]
    assert [move.resemblance for move in trace.steps[0].moves] == [exactly]
    for arguments in (["--all"], ["http://a.example/old"]):
        status, out, _ = run(capsys, "lost", tmp_path / "c", *arguments, "--exact", "--json")
        assert status == 0 and json.loads(out[0])["resemblance"] == exactly


def test_exact_wants_text(tmp_path: Path) -> None:
    corpus = roughly.Corpus.create(tmp_path / "c", text=False)
    with pytest.raises(ParameterError, match="exact: not to be had: the corpus was made without"):
        corpus.lost("http://a.example/", exact=True)


def test_lost_and_still_there(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "lost", path, f"{A}/three")
    assert (status, out[0]) == (0, f"{A}/Three/")
    assert "still there on 2026-07-01, last changed by 2026-04-01" in out[1]
    status, out, _ = run(capsys, "lost", path, f"{A}/stays/1")
    assert "unchanged since 2026-01-01" in out[1]


def test_lost_and_gone(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "lost", path, f"{A}/two")
    assert status == 1
    assert "gone" in out[-1]
    status, out, _ = run(capsys, "lost", path, f"{A}/two", "--json")
    assert (status, json.loads(out[0])["new"]) == (1, None)


def test_lost_and_never_seen(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run(capsys, "lost", path, "https://nowhere.example/")
    assert (status, out) == (1, [])
    assert "https://nowhere.example/: not known" in err


def test_sketches_that_cannot_tell(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = roughly.Corpus.create(tmp_path / "m.roughly", roughly.Sketcher(select="min:100"))
    for date, pages in zip(DATES, SWEEPS, strict=True):
        made.add([{"id": url, "text": text} for url, text in pages.items()], date=date)
    for option in ("--all", f"{A}/one"):
        status, _, err = run(capsys, "lost", made.path, option)
        assert status == 2
        assert "min:100" in err
    changes = made.changes()  # of the moves it sees those of copies
    assert [i.moved_within + i.moved_between for i in changes.intervals] == [2, 1]
    history = made.history(f"{A}/three")
    assert history is not None
    assert [version.changed for version in history.versions] == [None, True, False]


def test_lost_all(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(
        capsys, "lost", path, "--all", "--from", DATES[0], "--to", DATES[2], "--json"
    )
    rows = [json.loads(line) for line in out]
    assert status == 0
    assert [(row["old"], row["new"], row["kind"]) for row in rows] == [
        (f"{A}/copy", f"{B}/mine", "same"),
        (f"{A}/one", f"{A}/latest?p=1", "same"),
        (f"{A}/two", None, "gone"),
    ]
    fields = {"old", "new", "kind", "resemblance", "containment", "confidence"}
    assert all(row.keys() == fields for row in rows)
    status, out, err = run(capsys, "lost", path, "--all")  # the last two sweeps
    assert len(out) == 3
    assert "1 same" in err
    assert "1 gone" in err
    status, out, _ = run(capsys, "lost", path, "--all", "--by", "year")
    assert status == 2


def test_lost_redirects(path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, out, err = run(
        capsys,
        "lost",
        path,
        "--all",
        "--from",
        "2026-01",
        "--to",
        "2026-07",
        "--redirects",
        "nginx",
    )
    assert out == [
        "# www.a.example",
        'location = "/copy" { return 301 "https://b.example/mine"; }',
        'location = "/one" { return 301 "/latest?p=1"; }',
    ]
    assert "2 redirects for 3 pages" in err
    file = tmp_path / "rules"
    words = ("lost", path, "--all", "--redirects", "netlify", "-o", file)
    assert run(capsys, *words)[0] == 0
    assert file.read_text() == "# www.a.example\n/new/one /latest?p=1 301\n"
    assert run(capsys, *words)[0] == 2  # it exists
    assert run(capsys, *words, "--force", "--confidence", "1")[0] == 0
    assert file.read_text() == ""  # nothing is that sure


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("https://a.example/one", "--all"),
        ("https://a.example/one", "--redirects", "nginx"),
        ("--all", "--json", "--redirects", "nginx"),
        ("--all", "-o", "x"),
        ("--all", "--from", "1999-01-01"),
        ("--all", "--from", DATES[2], "--to", DATES[0]),
    ],
)
def test_lost_says_what_is_wrong(
    path: Path, words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    status, out, err = run(capsys, "lost", path, *words)
    assert (status, out) == (2, [])
    assert err.startswith("roughly")
    assert "Traceback" not in err


# --- changes ------------------------------------------------------------------------------------


def test_changes(path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "changes", path)
    assert status == 0
    assert out[0] == "3 sweeps from 2026-01-01 to 2026-07-01: 12 pages, 26 versions"
    status, out, _ = run(capsys, "changes", path, "--json")
    plain = json.loads(out[0])
    first, second = plain["intervals"]
    assert (first["pages"], first["stayed"], first["changed"], first["born"]) == (9, 7, 1, 2)
    assert (first["moved_within"], first["moved_between"], first["gone"]) == (1, 1, 0)
    assert (second["moved_within"], second["gone"], second["changed"]) == (1, 1, 0)
    status, out, _ = run(capsys, "changes", path, "--pages", "--json")
    pages = {row["url"]: row for row in map(json.loads, out)}
    assert len(pages) == 12
    assert pages[f"{A}/Three/"]["changes"] == 1
    assert pages[f"{A}/two"]["fate"] == "gone"
    assert len(run(capsys, "changes", path, "--pages")[1]) == 13
    report = tmp_path / "report.html"
    assert run(capsys, "changes", path, "-o", report)[0] == 0
    assert report.read_text("utf-8").startswith("<!DOCTYPE html>")
    assert run(capsys, "changes", path, "-o", report)[0] == 2  # it exists


def test_history(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "changes", path, "a.example/three")
    assert (status, out[0]) == (0, f"{A}/Three/")
    assert out[1] == "│▇█  in 3 sweeps, 1 change"
    status, out, _ = run(capsys, "changes", path, "a.example/three", "--json")
    versions = json.loads(out[0])["versions"]
    assert [version["changed"] for version in versions] == [None, True, False]
    # 446 shingles of which all are kept, or an estimate: 60 words were added
    assert versions[1]["resemblance"] == pytest.approx(446 / 506, abs=0.06)
    assert versions[2]["resemblance"] == 1
    assert run(capsys, "changes", path, "nowhere.example")[0] == 1
    assert run(capsys, "changes", path, f"{A}/two", "--pages")[0] == 2


# --- collapse -----------------------------------------------------------------------------------


def feed(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(text.encode())))


def test_collapse(
    path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    results = [
        f"{A}/new/one",
        f"{B}/mine",
        "a.example/one",
        "https://nowhere.example/",
        f"{A}/copy",
    ]
    feed(monkeypatch, "\n".join(results))
    status, out, err = run(capsys, "collapse", path)
    assert status == 0
    assert out == [
        f"   1  {A}/new/one",
        "    1.000     3  a.example/one",
        f"   2  {B}/mine",
        f"    1.000     5  {A}/copy",
        "   4  https://nowhere.example/",
    ]
    assert "1 result" in err
    rows = [{"url": results[0], "score": 9}, {"text": ONE}]
    feed(monkeypatch, json.dumps(rows))
    status, out, _ = run(capsys, "collapse", path, "--json")
    assert [json.loads(line) for line in out] == [
        {
            "rank": 1,
            "result": rows[0],
            "known": True,
            "others": [{"rank": 2, "result": rows[1], "resemblance": 1.0}],
        }
    ]


def test_collapse_from_python(corpus: roughly.Corpus) -> None:
    found = corpus.collapse([f"{A}/one", f"{A}/two", f"{A}/latest?p=1"])
    assert [(group.best, group.others) for group in found.groups] == [(0, [(2, 1.0)]), (1, [])]
    assert found.unknown == set()


def test_collapse_what_is_no_result(
    path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    feed(monkeypatch, "[1]")
    status, _, err = run(capsys, "collapse", path)
    assert status == 2
    assert "standard input" in err
