"""`roughly cluster` as a user meets it: what it prints, what it refuses, how it fails."""

import json
import resource
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from roughly.cli.main import main
from roughly.corpus import Corpus, is_corpus
from roughly.storage.lock import WriterLock
from tests.test_cli import assert_error, roughly

# a and b differ in the last of 21 words; c is the first half of a; e has the form of d.
WORDS = [f"w{i}" for i in range(21)]
TEXTS = {
    "a": " ".join(WORDS),
    "b": " ".join([*WORDS[:20], "other"]),
    "c": " ".join(WORDS[:11]),
    "d": "something else, that nobody has but",
    "e": "Something else that nobody has: BUT",
    "f": "alone in all the world and not short of words",
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    rows = [json.dumps({"id": name, "text": text}) + "\n" for name, text in TEXTS.items()]
    (tmp_path / "in.jsonl").write_text("".join(rows))
    monkeypatch.chdir(tmp_path)
    return tmp_path


class Shell:
    """Runs commands in this process and keeps what they print."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def ok(self, *arguments: str) -> str:
        status = main(["cluster", *arguments])
        printed = self._capsys.readouterr()
        assert status == 0, printed.err
        self.said = printed.err
        return printed.out

    def rows(self, *arguments: str) -> list[Any]:
        return [json.loads(line) for line in self.ok(*arguments).splitlines()]

    def error(self, *arguments: str) -> str:
        status = main(["cluster", *arguments])
        printed = self._capsys.readouterr()
        assert (status, printed.out) == (2, "")
        lines = printed.err.splitlines()
        assert 1 <= len(lines) <= 2 and "Traceback" not in printed.err, printed.err
        return printed.err


@pytest.fixture
def shell(folder: Path, capsys: pytest.CaptureFixture[str]) -> Shell:
    return Shell(capsys)


@pytest.fixture
def made(shell: Shell) -> Shell:
    shell.ok("in.jsonl", "-o", "c.roughly", "-w", "1", "--select", "all", "--quiet")
    assert shell.said == ""
    return shell


def members(rows: list[Any]) -> list[list[str]]:
    return [row["members"] for row in rows]


def test_help(shell: Shell) -> None:
    shown = shell.ok("--help")
    for option in ("--threshold", "--containment", "--floor", "--common", "--linkage", "--memory"):
        assert option in shown
    assert "Exit status: 0 done, 2 error." in shown


def test_what_is_shown(shell: Shell, folder: Path) -> None:
    shown = shell.ok("in.jsonl", "-o", "c.roughly", "-w", "1", "--select", "all")
    assert shown.startswith("6 documents\n2 clusters of 5 documents at resemblance 0.5\n")
    assert "\n3 documents " in shown
    # a and c have 11 words of 21; b and c 11 of 21; a and b 20 of 22.
    assert "3         0.524                 0.524  a\n" in shown
    assert "2         1.000                 1.000  d\n" in shown
    assert "read text=text (guessed), id=id (guessed) from in.jsonl" in shell.said
    assert "wrote c.roughly in" in shell.said
    names = {path.name for path in (folder / "c.roughly").iterdir()}
    assert names == {
        *("corpus.json", "segments", "forest", "lock", "report.html"),
        *("documents.parquet", "clusters.parquet", "pairs.parquet"),
        *("results.json", "results.json.crc32c"),
    }
    report = (folder / "c.roughly" / "report.html").read_text()
    assert report.lower().startswith("<!doctype html>") and "w20" in report


def test_json(made: Shell) -> None:
    assert made.rows("c.roughly", "--json") == [
        {
            "cluster": 0,
            "representative": "a",
            "size": 3,
            "weakest_link": 11 / 21,
            "smallest_resemblance": 11 / 21,
            "mass": False,
            "same_site_pairs": 0,
            "cross_site_pairs": 0,
            "members": ["a", "b", "c"],
        },
        {
            "cluster": 1,
            "representative": "d",
            "size": 2,
            "weakest_link": 1.0,
            "smallest_resemblance": 1.0,
            "mass": False,
            "same_site_pairs": 0,
            "cross_site_pairs": 0,
            "members": ["d", "e"],
        },
    ]
    assert members(made.rows("c.roughly", "--json", "--threshold", "0.9")) == [
        ["a", "b"],
        ["d", "e"],
    ]
    assert members(made.rows("c.roughly", "--json", "--threshold", "20/22")) == [
        ["a", "b"],
        ["d", "e"],
    ]
    assert members(made.rows("c.roughly", "--json", "--threshold", "0.91")) == [["d", "e"]]


def test_containment(made: Shell) -> None:
    """c is wholly in a and in b, which resemble one another."""
    options = ["-w", "1", "--select", "all", "--threshold", "0.95", "--containment", "0.9"]
    rows = made.rows("in.jsonl", "-o", "d.roughly", *options, "--json")
    assert members(rows) == [["a", "b", "c"], ["d", "e"]]
    kinds = pq.read_table("d.roughly/documents.parquet")["kind"].to_pylist()
    assert kinds == [None, "contained", "contained", None, "lexical", None]
    assert members(made.rows("d.roughly", "--json", "--containment", "0.99")) == [
        ["a", "b", "c"],
        ["d", "e"],
    ]
    error = made.error("c.roughly", "--containment", "0.9")
    assert "containment: was not looked for when these documents were clustered" in error
    error = made.error("d.roughly", "--containment", "0.5")
    assert "containment: below the floor: 0.5, wanted 0.8 or more" in error
    # Another threshold leaves it as it is.
    shown = made.ok("d.roughly", "--threshold", "1")
    assert "2 clusters of 5 documents at resemblance 1 or containment 0.9\n" in shown
    shown = made.ok("d.roughly", "--threshold", "1", "--containment", "none")
    assert "1 cluster of 2 documents at resemblance 1\n" in shown
    made.ok("in.jsonl", "-o", "n.roughly", "--containment", "none", "--quiet")
    assert Corpus("n.roughly").manifest.settings.containment is None


def test_no_stars_by_containment(made: Shell) -> None:
    """Neither of those that a corpus was made with: they are left out if that is said."""
    options = ["-w", "1", "--select", "all", "--threshold", "0.9", "--containment", "0.9"]
    made.ok("in.jsonl", "-o", "d.roughly", *options, "--quiet")
    error = made.error("d.roughly", "--linkage", "star")
    assert "linkage: no stars by containment: wanted one of the two" in error
    assert "--containment none" in error
    shown = made.ok("d.roughly", "--linkage", "star", "--containment", "none")
    assert "2 clusters of 4 documents at resemblance 0.9, stars\n" in shown


def test_thresholds_below_the_floor(made: Shell) -> None:
    error = made.error("c.roughly", "--threshold", "0.3")
    assert "threshold: below the floor: 0.3, wanted 0.4 or more" in error
    assert "hint: " in error
    made.ok("c.roughly", "--threshold", "0.4")
    error = made.error("in.jsonl", "-o", "n.roughly", "--threshold", "0.5", "--floor", "0.6")
    assert "floor: above the threshold: 0.6, wanted 0.5 or less" in error
    assert not Path("n.roughly").exists()


def test_stars(made: Shell) -> None:
    options = ["-w", "1", "--select", "all", "--linkage", "star", "--json"]
    assert members(made.rows("in.jsonl", "-o", "s.roughly", *options)) == [
        ["a", "b", "c"],
        ["d", "e"],
    ]
    stars = members(made.rows("c.roughly", "--linkage", "star", "--threshold", "0.6", "--json"))
    assert stars == [["a", "b"], ["d", "e"]]
    for given in (["in.jsonl", "-o", "x.roughly"], ["c.roughly"]):
        error = made.error(*given, "--linkage", "star", "--containment", "0.8")
        assert "containment" in error
    assert not Path("x.roughly").exists()


def test_stars_are_remembered(shell: Shell, folder: Path) -> None:
    """b has eight of the ten words of a and of c, which have six in common: no star holds all."""
    words = {name: " ".join(WORDS[i : i + 10]) for i, name in ((0, "a"), (2, "b"), (4, "c"))}
    rows = [json.dumps({"id": name, "text": text}) + "\n" for name, text in words.items()]
    (folder / "in.jsonl").write_text("".join(rows))
    (folder / "more.jsonl").write_text('{"id": "d", "text": "alone in all the world"}\n')
    options = ["-w", "1", "--select", "all", "--linkage", "star"]
    shown = shell.ok("in.jsonl", "-o", "s.roughly", *options)
    assert "\n1 cluster of 2 documents at resemblance 0.5, stars\n" in shown
    assert shell.ok("s.roughly") == shown
    assert members(shell.rows("s.roughly", "--threshold", "0.6", "--json")) == [["a", "b"]]
    shown = shell.ok("s.roughly", "--linkage", "single")
    assert "\n1 cluster of 3 documents at resemblance 0.5\n" in shown
    assert list(Corpus("s.roughly").clusters()) == [["a", "b"]]
    assert list(Corpus("s.roughly").clusters(linkage="single")) == [["a", "b", "c"]]
    for change in ("add s.roughly more.jsonl", "remove s.roughly d", "compact s.roughly"):
        assert main(change.split()) == 0
        shell.ok("s.roughly")
        assert "wrote documents.parquet" in shell.said
        assert pq.read_table("s.roughly/clusters.parquet")["size"].to_pylist() == [2]
        report = (folder / "s.roughly" / "report.html").read_text()
        assert "Every document of a cluster resembles its first one at 0.5 or more." in report


def test_common_shingles(shell: Shell) -> None:
    shell.ok("in.jsonl", "-o", "c.roughly", "-w", "3", "--select", "all", "--quiet")
    shown = shell.ok("c.roughly", "--common", "2").splitlines()
    # Nine shingles are in all three; which two of them come first the fingerprints say.
    assert len(shown) == 2 and all(line.startswith("        3  w") for line in shown)
    rows = shell.rows("c.roughly", "--common", "100", "--json")
    texts = [row["text"] for row in rows if row["documents"] == 3]
    assert sorted(texts) == sorted(" ".join(WORDS[i : i + 3]) for i in range(9))
    assert [row["documents"] for row in rows] == sorted(
        (row["documents"] for row in rows), reverse=True
    )
    shell.ok("in.jsonl", "-o", "n.roughly", "-w", "3", "--select", "all", "--no-text", "--quiet")
    assert "        3  (text not kept)" in shell.ok("n.roughly", "--common", "1")


def test_presets(shell: Shell) -> None:
    rows = shell.rows("in.jsonl", "-o", "b.roughly", "--preset", "broder97", "--json")
    assert ["d", "e"] in members(rows)
    manifest = Corpus("b.roughly").manifest
    assert (manifest.parameters.w, manifest.parameters.select) == (10, "mod:25")
    assert (manifest.settings.method, manifest.settings.cut_off) == ("expansion", 1000)
    shell.ok("in.jsonl", "-o", "b2.roughly", "--preset", "broder97", "--cut-off", "7", "--quiet")
    assert Corpus("b2.roughly").manifest.settings.cut_off == 7
    rows = shell.rows("in.jsonl", "-o", "s.roughly", "--preset", "broder97-super", "--json")
    assert ["d", "e"] in members(rows)
    assert Corpus("s.roughly").manifest.settings.super_agreeing == 2
    shell.ok("s.roughly", "--threshold", "1")
    shell.ok("s.roughly", "--linkage", "star")
    for given in (["s.roughly"], ["in.jsonl", "-o", "x", "--preset", "broder97-super"]):
        assert "common shingles: not to be had from perm:84" in shell.error(*given, "--common", "3")
    assert "cut-off: nothing to apply to" in shell.error("in.jsonl", "-o", "x", "--cut-off", "7")
    assert "preset: unknown: 'broder98'" in shell.error(
        "in.jsonl", "-o", "x", "--preset", "broder98"
    )
    assert "-w: cannot stand beside --preset" in shell.error(
        "in.jsonl", "-o", "x", "--preset", "broder97", "-w", "3"
    )
    assert "containment: not to be had" in shell.error(
        "in.jsonl", "-o", "x", "--preset", "broder97", "--containment", "0.5"
    )
    assert not Path("x").exists()


def test_no_text_and_force(made: Shell) -> None:
    assert Corpus("c.roughly").segment.has_text
    error = made.error("in.jsonl", "-o", "c.roughly")
    assert error.startswith("roughly: c.roughly: will not write: the corpus exists\nhint: ")
    made.ok("in.jsonl", "-o", "c.roughly", "--no-text", "--force", "--quiet")
    corpus = Corpus("c.roughly")
    assert not corpus.segment.has_text and corpus.manifest.parameters.w == 5
    assert corpus.verify() == []


@pytest.mark.parametrize(
    "option",
    [
        *(["--floor", "0.1"], ["-w", "5"], ["--select", "all"], ["--preset", "broder97"]),
        *(["--seed", "1"], ["--seed", "0"], ["--memory", "1G"], ["--no-text"], ["--force"]),
        *(["--as", "html"], ["--text-field", "x"], ["--strict"], ["--cut-off", "5"]),
    ],
    ids=" ".join,
)
def test_what_a_corpus_fixes(made: Shell, option: list[str]) -> None:
    assert f"{option[0]}: cannot be changed for a corpus that exists" in made.error(
        "c.roughly", *option
    )


def test_no_corpus_and_no_place(shell: Shell, folder: Path) -> None:
    error = shell.error("in.jsonl")
    assert "in.jsonl: no corpus, and no place to make one\nhint: name the corpus" in error
    assert "nowhere.roughly: no corpus" in shell.error("nowhere.roughly")
    (folder / "docs").mkdir()
    (folder / "docs" / "mine.txt").write_text("mine")
    assert "there is something else" in shell.error("in.jsonl", "-o", "docs", "--force")
    assert "in.jsonl: will not write" in shell.error("in.jsonl", "-o", "in.jsonl")


def test_input_that_cannot_be_read(shell: Shell, folder: Path) -> None:
    assert "nothing.jsonl" in shell.error("nothing.jsonl", "-o", "c.roughly")
    assert not (folder / "c.roughly").exists()
    with (folder / "in.jsonl").open("a") as file:
        file.write("{broken\n")
    error = shell.error("in.jsonl", "-o", "c.roughly", "--strict")
    assert "in.jsonl" in error and not is_corpus("c.roughly")
    shell.ok("in.jsonl", "-o", "d.roughly")
    assert "1 skipped" in shell.said or "1 document" in shell.said, shell.said
    assert len(Corpus("d.roughly")) == 6


@pytest.mark.parametrize(
    "option",
    [
        *(["--threshold", "0"], ["--threshold", "1.5"], ["--threshold", "x"], ["--memory", "1M"]),
        *(["--memory", "much"], ["--threads", "0"], ["--select", "some"], ["--linkage", "ring"]),
        *(["--containment-floor", "0.1"], ["--common", "-1"], ["--preset", "perm"]),
        *(["--select", "min:50", "--containment", "0.5"], ["--select", "perm:20"]),
    ],
    ids=" ".join,
)
def test_wrong_options(shell: Shell, option: list[str], folder: Path) -> None:
    shell.error("in.jsonl", "-o", "c.roughly", *option)
    assert not (folder / "c.roughly").exists()


def test_a_place_that_cannot_be_written(shell: Shell) -> None:
    for place in ("in.jsonl/c.roughly", "/proc/nothing/c.roughly", "/dev/null"):
        error = shell.error("in.jsonl", "-o", place)
        assert "write" in error and "hint: " in error, error


def test_an_unfinished_run(shell: Shell, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device", "c.roughly/report.html")

    with monkeypatch.context() as patch:
        patch.setattr("roughly.cli.cluster._write_results", fail)
        error = shell.error("in.jsonl", "-o", "c.roughly")
        assert "c.roughly/report.html: cannot write: no space left on device" in error
    assert "hint: its run did not finish: give the same command again" in shell.error("c.roughly")
    error = shell.error("in.jsonl", "-o", "c.roughly", "--threshold", "0.6")
    assert "c.roughly: cannot go on: a run was begun there with other parameters" in error
    assert "--force" in error
    shell.ok("in.jsonl", "-o", "c.roughly", "--threads", "1", "--memory", "1G")
    shell.ok("c.roughly")


def test_two_at_once(shell: Shell, folder: Path) -> None:
    with WriterLock(folder / "c.roughly"):
        error = shell.error("in.jsonl", "-o", "c.roughly")
        assert "c.roughly: in use: process" in error and "hint: wait" in error
    shell.ok("in.jsonl", "-o", "c.roughly")


def test_disk_full(folder: Path) -> None:
    """No file may be longer than the text of a large input; with room the run goes on."""
    row = json.dumps({"text": " ".join(f"w{i}" for i in range(500))})
    (folder / "big.jsonl").write_text(
        f"{row}\n" * 10
        + "".join(
            json.dumps({"text": " ".join(f"x{n}y{i}" for i in range(400))}) + "\n"
            for n in range(200)
        )
    )
    arguments = ("cluster", "big.jsonl", "-o", "c.roughly", "--json", "--quiet")
    for limit in (1000, 30_000, 300_000):

        def little_room(limit: int = limit) -> None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

        run = roughly(*arguments, cwd=folder, before=little_room)
        assert run.returncode == 2 and run.stdout == b"", run
        lines = run.stderr.decode().splitlines()
        assert len(lines) == 2 and "cannot write: file too large" in lines[0], lines
        assert lines[1].startswith("hint: make room"), lines
        assert not is_corpus(folder / "c.roughly")
    run = roughly(*arguments, cwd=folder)
    assert run.returncode == 0 and [json.loads(run.stdout)["size"]] == [10], run
    assert Corpus(folder / "c.roughly").verify() == []
    assert not list((folder / "c.roughly").rglob("*.part"))


def test_standard_input(folder: Path) -> None:
    data = (folder / "in.jsonl").read_bytes()
    run = roughly("cluster", "-", "-o", "c.roughly", "--json", cwd=folder, stdin=data)
    assert run.returncode == 0, run
    assert json.loads(run.stdout.splitlines()[-1])["members"] == ["d", "e"]
    assert len(Corpus(folder / "c.roughly")) == 6
    run = roughly("cluster", cwd=folder)
    assert run.returncode == 2 and b"Traceback" not in run.stderr
    run = roughly("cluster", "none.jsonl", "-o", "n.roughly", cwd=folder)
    assert_error(run, "none.jsonl: ", "")


def test_an_empty_input(shell: Shell, folder: Path) -> None:
    (folder / "none.jsonl").write_text("")
    shown = shell.ok("none.jsonl", "-o", "c.roughly")
    assert shown.startswith("0 documents\n0 clusters of 0 documents")
    assert shell.ok("c.roughly", "--json") == ""
    assert shell.ok("c.roughly", "--common", "5") == ""
    assert shell.ok("c.roughly", "--linkage", "star", "--threshold", "0.9").startswith("0 doc")


def test_a_corpus_beside_its_input(shell: Shell, folder: Path) -> None:
    """The directory that is read may hold the corpus; a run goes on all the same."""
    shell.ok(".", "-o", "c.roughly", "--quiet")
    assert len(Corpus("c.roughly")) == 6
    shell.ok(".", "-o", "c.roughly", "--quiet", "--force")
    assert len(Corpus("c.roughly")) == 6
