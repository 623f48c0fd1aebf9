"""Arguments of the commands in any order, and what commands of a corpus say of it: dates that are
none, names that are empty, secret seeds, interruptions, files named by a base URL."""

import json
import os
from pathlib import Path

import pytest

import roughly
from roughly.cli import main as main_module
from roughly.cli.main import main
from roughly.documents import open_documents
from roughly.errors import ParameterError
from tests.reading import rows
from tests.test_lost import page, words

ONE, TWO = (page(words(("arguments", n), 300)) for n in range(2))
A = "https://a.example"


@pytest.fixture(autouse=True)
def without_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.fsync", lambda descriptor: None)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    made = roughly.Corpus.create(tmp_path / "c.roughly")
    made.add([{"id": f"{A}/old", "text": ONE}, {"id": "b", "text": TWO}], date="2026-01-01")
    made.add([{"id": f"{A}/new", "text": ONE}, {"id": "c", "text": TWO}], date="2026-02-01")
    return tmp_path / "c.roughly"


def run(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str, str]:
    capsys.readouterr()
    status = main([str(word) for word in words])
    return status, *capsys.readouterr()


# --- options anywhere ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "order",
    [
        ("CORPUS", "URL", "--json", "--by", "month"),
        ("CORPUS", "--json", "URL", "--by", "month"),
        ("CORPUS", "--by", "month", "--json", "URL"),
        ("--by", "month", "CORPUS", "--json", "URL"),
        ("--by=month", "CORPUS", "--json", "--", "URL"),
        ("--json", "--by", "month", "--", "CORPUS", "URL"),
    ],
)
def test_options_stand_anywhere(
    path: Path, order: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    named = {"CORPUS": str(path), "URL": f"{A}/old"}
    for command in ("lost", "changes"):
        status, out, err = run(capsys, command, *(named.get(word, word) for word in order))
        assert (status, err) == (0, "")
        assert f"{A}/new" in out


def test_what_is_wrong_is_still_told(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for words_given in (("--all", f"{A}/old"), (f"{A}/old", "--all")):
        status, _, err = run(capsys, "lost", path, *words_given)
        assert status == 2
        assert err.startswith("roughly: URL: wanted one, or --all")
    assert (
        "--redirects: is for --all"
        in run(capsys, "lost", path, "--redirects", "nginx", f"{A}/old")[2]
    )
    assert "unrecognized arguments: --such" in run(capsys, "lost", path, "--such", f"{A}/old")[2]
    assert "unrecognized arguments: more" in run(capsys, "lost", path, f"{A}/old", "more")[2]
    assert "expected one argument" in run(capsys, "lost", path, f"{A}/old", "--by")[2]
    assert "expected one argument" in run(capsys, "lost", path, "--by", "--json", f"{A}/old")[2]


def test_names_that_look_like_options(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    roughly.Corpus(path).add([{"id": "--all", "text": "x"}, {"id": "-", "text": "y"}])
    status, out, _ = run(capsys, "remove", path, "--json", "--", "--all")
    assert (status, json.loads(out)["removed"]) == (0, 1)


def test_short_options_together_and_numbers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("a", "b"):
        (tmp_path / name).write_text("one two three four")
    for order in (("-w2", "A", "B"), ("A", "-w", "2", "B"), ("A", "B", "-w=2")):
        named = {"A": tmp_path / "a", "B": tmp_path / "b"}
        words_given = [named.get(word, word) for word in order]
        status, out, _ = run(capsys, "compare", *words_given, "--json")
        assert (status, json.loads(out)["resemblance"]) == (0, 1)
    # A number is a value, or a name, never an option.
    assert "not a seed: '-1'" in run(capsys, "compare", "--seed", "-1", "a", "b")[2]


# --- dates, names, seeds ------------------------------------------------------------------------


def test_days_that_no_calendar_has(
    path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    more = tmp_path / "more.jsonl"
    more.write_text('{"id": "x", "text": "y"}\n')
    for words_given in (
        ("add", path, more, "--date", "2026-02-30"),
        ("cluster", more, "-o", tmp_path / "new.roughly", "--date", "2026-02-30"),
        ("remove", path, "b", "--date", "2026-02-30"),
    ):
        status, _, err = run(capsys, *words_given)
        assert status == 2
        assert "date: not a date: '2026-02-30'" in err
    # A document's own date that is none is told.
    more.write_text('{"id": "x", "text": "y", "date": "2026-02-30"}\n')
    status, _, err = run(capsys, "add", path, more)
    assert status == 0
    assert "1 date could not be read" in err
    status, _, err = run(capsys, "cluster", more, "-o", tmp_path / "new.roughly")
    assert "1 date could not be read" in err


def test_an_empty_name_is_none(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run(capsys, "remove", path, "", "--strict")
    assert (status, out) == (2, "")
    assert "NAME: empty" in err


def test_a_secret_seed_is_shown_when_asked_for(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "seed 0\n" in run(capsys, "info", path)[1]
    assert json.loads(run(capsys, "info", path, "--json")[1])["parameters"]["seed"] == 0
    assert run(capsys, "compact", path, "--seed", "1234567890123")[0] == 0
    assert run(capsys, "cluster", path)[0] == 0  # which writes the report
    for shown in (
        run(capsys, "info", path)[1],
        run(capsys, "info", path, "--json")[1],
        (path / "report.html").read_text(),
    ):
        assert "1234567890123" not in shown
    assert json.loads(run(capsys, "info", path, "--json")[1])["parameters"]["seed"] is None
    assert "seed 1234567890123\n" in run(capsys, "info", path, "--show-seed")[1]
    found = json.loads(run(capsys, "info", "--json", "--show-seed", path)[1])
    assert found["parameters"]["seed"] == 1234567890123


# --- interruptions ------------------------------------------------------------------------------


def test_an_interruption_tells_what_is_left(
    path: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    more = tmp_path / "more.jsonl"
    more.write_text('{"id": "x", "text": "y"}\n')

    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("roughly.corpus.growth.changed_forest", stop)
        patch.setattr("roughly.corpus.removal.changed_forest", stop)
        patch.setattr("roughly.corpus.creation.cluster_documents", stop)
        for words_given in (("add", path, more), ("remove", path, "b")):
            status, out, err = run(capsys, *words_given, "--quiet")
            assert (status, out) == (130, "")
            assert err.endswith(f"roughly: interrupted; {path} is as it was before\n")
        new = tmp_path / "new.roughly"
        status, _, err = run(capsys, "cluster", more, "-o", new, "--quiet")
        assert status == 130
        assert f"{new} is not complete yet: the same command goes on with it" in err
        _, _, err = run(capsys, "cluster", more, "-o", new, "--quiet", "--force")
        assert f"{new} is not complete yet: the same command without --force goes on" in err
        # One that is there stays.
        _, _, err = run(capsys, "cluster", more, "-o", path, "--quiet", "--force")
        assert err == f"roughly: interrupted; {path} is as it was before\n"
    assert run(capsys, "cluster", more, "-o", new, "--quiet")[0] == 0
    with monkeypatch.context() as patch:
        patch.setattr("roughly.corpus.corpus.Corpus._move_on", stop)  # after the commit
        status, _, err = run(capsys, "add", path, more, "--quiet")
        assert err == f"roughly: interrupted; {path} is changed, all of it\n"
    assert len(roughly.Corpus(path)) == 5
    with monkeypatch.context() as patch:
        patch.setattr(main_module, "_run", stop)
        assert run(capsys, "info", path) == (130, "", "")


# --- files by a base URL ------------------------------------------------------------------------


@pytest.fixture
def mirror(tmp_path: Path) -> Path:
    folder = tmp_path / "mirror"
    for name in ("index.html", "sub/a b.html", "sub/100%.txt", "sub/q?x=1#y.html", "ü.txt"):
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"this is {name} and nothing else")
    return folder


def ids(source: object, base: str) -> list[str]:
    return sorted(row["id"] for row in rows(open_documents(source, base=base)))


def test_files_are_called_by_base_and_path(mirror: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = [
        f"{A}/docs/%C3%BC.txt",
        f"{A}/docs/index.html",
        f"{A}/docs/sub/100%25.txt",
        f"{A}/docs/sub/a%20b.html",
        f"{A}/docs/sub/q%3Fx=1%23y.html",
    ]
    for base in (f"{A}/docs", f"{A}/docs/"):
        for source in (mirror, f"{mirror}/", f"{mirror}/**", f"{mirror}/*"):
            assert ids(source, base) == expected
    assert ids(mirror / "sub" / "a b.html", A) == [f"{A}/a%20b.html"]
    assert ids([mirror / "index.html", mirror / "ü.txt"], A) == [
        f"{A}/%C3%BC.txt",
        f"{A}/index.html",
    ]
    # What is no URL is put before the path as it is; nothing at all leaves the path.
    assert ids(mirror, "docs")[0] == "docs/index.html"
    monkeypatch.chdir(mirror)
    assert ids("sub", "") == ["100%.txt", "a b.html", "q?x=1#y.html"]
    assert ids("index.html", "") == ["index.html"]
    assert ids(".", "")[0] == "index.html"


def test_a_name_that_is_no_text(tmp_path: Path) -> None:
    try:
        Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xf1.txt")).write_text("some text")
    except OSError:
        pytest.skip("the file system wants text")
    assert ids(tmp_path, A) == [f"{A}/%F1.txt"]


def test_a_base_must_be_one(mirror: Path) -> None:
    for base in (f"{A}/?x=", f"{A}/#x"):
        with pytest.raises(ParameterError, match="base: has parameters or a fragment"):
            open_documents(mirror, base=base)
    with pytest.raises(ParameterError, match="base: is for files"):
        open_documents(["a text"], base=A)


def test_records_keep_their_ids(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"id": "x", "text": "one"}\n{"text": "two"}\n')
    found = [row["id"] for row in rows(open_documents(tmp_path / "a.jsonl", base=A))]
    assert found == ["x", f"{tmp_path / 'a.jsonl'}#2"]


def test_sweeps_of_a_mirror(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What moved is told with its URLs, though the mirrors lie in two directories."""
    for folder, names in (("one", ("a.html", "b.html")), ("two", ("a.html", "sub/b.html"))):
        for name, text in zip(names, (ONE, TWO), strict=True):
            file = tmp_path / folder / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
    corpus = tmp_path / "c.roughly"
    base = ("--base", A, "--quiet")
    run(capsys, "cluster", tmp_path / "one", "-o", corpus, "--date", "2026-01-01", *base)
    run(capsys, "add", corpus, tmp_path / "two", "--date", "2026-02-01", *base)
    status, out, err = run(capsys, "lost", corpus, "--all", "--redirects", "nginx")
    assert status == 0
    assert out == '# a.example\nlocation = "/b.html" { return 301 "/sub/b.html"; }\n'
    assert "1 redirect for 1 page that vanished\n" in err
    assert "--base: cannot be changed" in run(capsys, "cluster", corpus, "--base", A)[2]


def test_redirects_that_cannot_be_written_are_told(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, out, err = run(capsys, "lost", path, "--all", "--redirects", "netlify")
    assert (status, out) == (0, "# a.example\n/old /new 301\n")
    assert err == (
        "roughly: 1 redirect for 2 pages that vanished; none for pages: 1 whose ids are no URLs\n"
    )


def test_a_reused_url_needs_no_redirect(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = roughly.Corpus.create(tmp_path / "r.roughly")
    made.add([{"id": f"{A}/x", "text": ONE}, {"id": f"{A}/y", "text": TWO}], date="2026-01-01")
    made.add([{"id": f"{A}/x", "text": TWO}, {"id": f"{A}/y", "text": ONE}], date="2026-02-01")
    status, out, err = run(capsys, "lost", made.path, "--all")
    assert status == 0
    assert out.splitlines()[1].endswith(f"{A}/x  (another text is there) -> {A}/y")
    assert "; of these 2 at URLs that have another text now" in err
    status, out, err = run(capsys, "lost", made.path, "--all", "--redirects", "nginx")
    assert (status, out) == (0, "")
    assert "0 redirects for 0 pages that vanished" in err
    assert "2 whose URL is there with another text" in err
    status, out, _ = run(capsys, "lost", made.path, f"{A}/x")
    assert status == 0
    assert "but with another text since 2026-02-01" in out
    assert f"    {A}/y\n" in out
