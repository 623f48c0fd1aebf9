"""`roughly simhash` and the figures of `roughly hamming` as a user meets them."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

import roughly
from roughly.cli.main import main
from roughly.simhashing.sensitivity import CHOICES
from roughly.simhashing.simhash_file import read_simhashes

PAGES = {
    "a": "one two three four five six seven",
    "b": "Seven six FIVE four three two one!",
    "c": "the of and",
    "d": "...",
    "e": "<html><title>404 Not Found</title><p>nothing here",
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    rows = [json.dumps({"id": name, "text": text}) + "\n" for name, text in PAGES.items()]
    (tmp_path / "in.jsonl").write_text("".join(rows))
    monkeypatch.chdir(tmp_path)
    return tmp_path


class Shell:
    """Runs commands in this process and keeps what they print."""

    def __init__(self, capfd: pytest.CaptureFixture[str]) -> None:
        self._capfd = capfd

    def ok(self, *arguments: str) -> str:
        status = main(list(arguments))
        printed = self._capfd.readouterr()
        assert status == 0, printed.err
        self.said = printed.err
        return printed.out

    def rows(self, *arguments: str) -> list[Any]:
        return [json.loads(line) for line in self.ok(*arguments).splitlines()]

    def error(self, *arguments: str) -> str:
        status = main(list(arguments))
        printed = self._capfd.readouterr()
        assert (status, printed.out) == (2, "")
        lines = printed.err.splitlines()
        assert 1 <= len(lines) <= 2 and "Traceback" not in printed.err, printed.err
        return printed.err


@pytest.fixture
def shell(folder: Path, capfd: pytest.CaptureFixture[str]) -> Shell:
    return Shell(capfd)


def digits(text: str) -> str | None:
    value = roughly.simhash(text)
    return None if value is None else f"{value:016x}"


def test_json_lines(shell: Shell) -> None:
    found = shell.rows("simhash", "in.jsonl")
    assert {row["id"]: row["simhash"] for row in found} == {
        name: digits(text) for name, text in PAGES.items()
    }
    assert found[0] == {"id": "a", "simhash": digits(PAGES["a"]), "tokens": 7}
    assert found[0]["simhash"] == found[1]["simhash"]
    assert found[3]["simhash"] is None
    assert "5 documents, 1 without a simhash" in shell.said


def test_plain(shell: Shell) -> None:
    found = shell.ok("simhash", "in.jsonl", "--plain", "--quiet").splitlines()
    assert found[0] == f"{digits(PAGES['a'])}\ta"
    assert found[3] == "-\td"
    assert shell.said == ""


@pytest.mark.parametrize("name", ["out.parquet", "out.jsonl", "out.txt"])
def test_files(shell: Shell, folder: Path, name: str) -> None:
    assert shell.ok("simhash", "in.jsonl", "-o", name) == ""
    table = read_simhashes(folder / name)
    assert [table.id(row) for row in range(len(table))] == list(PAGES)
    assert table.empty.tolist() == [False, False, False, True, False]
    assert "the file exists" in shell.error("simhash", "in.jsonl", "-o", name)
    shell.ok("simhash", "in.jsonl", "-o", name, "--force", "--stop-words", "english")
    assert read_simhashes(folder / name).empty.tolist() == [False, False, True, True, False]


def test_devices_stay_devices(shell: Shell, folder: Path) -> None:
    shown = shell.ok("simhash", "in.jsonl", "--quiet")
    assert shell.ok("simhash", "in.jsonl", "--quiet", "-o", "-") == shown
    assert shell.ok("simhash", "in.jsonl", "--quiet", "-o", "/dev/null") == ""
    assert Path("/dev/null").is_char_device()
    (folder / "target.txt").write_text("old")
    (folder / "link.txt").symlink_to("target.txt")
    shell.ok("simhash", "in.jsonl", "--quiet", "-o", "link.txt", "--force")
    assert (folder / "link.txt").is_symlink()
    assert len((folder / "target.txt").read_text().splitlines()) == len(PAGES)
    assert "it is no file" in shell.error("simhash", "in.jsonl", "--count-frequencies", "/dev/null")
    assert Path("/dev/null").is_char_device()


def test_options_are_those_of_a_simhasher(shell: Shell, folder: Path) -> None:
    (folder / "words.txt").write_text("One, two\nthree")
    found = shell.rows(
        "simhash", "in.jsonl", "--stop-words", "words.txt", "--features", "shingles:2"
    )
    made = roughly.Simhasher("shingles:2", stop_words=["one", "two", "three"])
    assert found[0]["simhash"] == f"{made.simhash(PAGES['a']):016x}"
    found = shell.rows(
        "simhash", "in.jsonl", "--weights", "once", "--stem", "english", "--seed", "7"
    )
    made = roughly.Simhasher(weights="once", stem="english", seed=7)
    assert found[0]["simhash"] == f"{made.simhash(PAGES['a']):016x}"


def test_frequencies(shell: Shell, folder: Path) -> None:
    assert shell.ok("simhash", "in.jsonl", "--count-frequencies", "table.arrow") == ""
    assert "5 documents, 15 different features" in shell.said
    found = shell.rows("simhash", "in.jsonl", "--frequencies", "table.arrow")
    table = roughly.DocumentFrequencies.load(folder / "table.arrow")
    made = roughly.Simhasher(weights=table)
    assert found[4]["simhash"] == f"{made.simhash(PAGES['e']):016x}"
    assert "no such file" in shell.error("simhash", "in.jsonl", "--frequencies", "missing")
    assert "will not write" in shell.error(
        "simhash", "in.jsonl", "--count-frequencies", "table.arrow"
    )
    wrong = shell.error(
        "simhash", "in.jsonl", "--frequencies", "table.arrow", "--features", "phrases"
    )
    assert "made with different parameters" in wrong


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--features", "words"], "features: unknown: 'words'"),
        (["--plain", "-o", "x.txt"], "--plain: cannot stand beside x.txt"),
        (["--frequencies", "x", "--weights", "once"], "--weights: cannot stand beside"),
        (["--count-frequencies", "x", "-o", "y"], "--output: cannot stand beside"),
        (["--count-frequencies", "x", "--frequencies", "y"], "--frequencies: cannot stand beside"),
        (["--count-frequencies", "x", "--weights", "once"], "--weights: cannot stand beside"),
        (["--frequencies", "in.jsonl"], "in.jsonl: no frequencies: it is no Arrow file"),
        (["--frequencies", "."], ".: no frequencies: it is no Arrow file"),
        (["-o", "in.jsonl", "--force"], "in.jsonl is one of the inputs"),
        (["--count-frequencies", "in.jsonl", "--force"], "in.jsonl is one of the inputs"),
        (["-o", ".", "--force"], ".: cannot write: it is no name of a file"),
        (["-o", "x.jsonl.gz"], "compressed simhashes are not to be had"),
        (["--stop-words", "missing.txt"], "missing.txt: cannot read"),
    ],
)
def test_errors(shell: Shell, folder: Path, arguments: list[str], message: str) -> None:
    before = (folder / "in.jsonl").read_bytes()
    assert message in shell.error("simhash", "in.jsonl", *arguments)
    assert (folder / "in.jsonl").read_bytes() == before
    assert sorted(path.name for path in folder.iterdir()) == ["in.jsonl"]


def test_what_was_read_is_told(shell: Shell, folder: Path) -> None:
    """The guess, what was skipped by name, and ids that are there twice."""
    rows = [{"url": "a", "text": "one two"}, {"url": "a", "text": "three"}, {"url": "b"}]
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    for command in (["simhash"], ["hamming", "distribution"], ["hamming", "sample"]):
        shell.ok(*command, "rows.jsonl")
        assert "read text=text (guessed), id=url (guessed) from " in shell.said
        assert "1 skipped" in shell.said
        assert "rows.jsonl, line 3" in shell.said
        assert "1 repeated id was numbered, as id#2" in shell.said
    shell.ok("simhash", "in.jsonl", "-o", "ids.parquet", "--quiet")
    shell.ok("simhash", "ids.parquet")
    assert "text=id (guessed)" in shell.said


def test_frequencies_that_lost_their_checksums(shell: Shell, folder: Path) -> None:
    shell.ok("simhash", "in.jsonl", "--count-frequencies", "f.arrow", "--quiet")
    (folder / "f.arrow.crc32c").unlink()
    assert "f.arrow.crc32c: damaged" in shell.error(
        "simhash", "in.jsonl", "--frequencies", "f.arrow"
    )


# --- the figures ----------------------------------------------------------------------------------


@pytest.fixture
def crawl(folder: Path) -> Path:
    """Pages of many words, and a hundred error pages."""
    rows = []
    for number in range(640):
        rows.append((f"page{number}", " ".join(f"w{number}x{i}" for i in range(21))))
    rows += [(f"error{number}", "404 Not Found on this server") for number in range(100)]
    rows += [("none1", "..."), ("none2", "")]
    path = folder / "crawl.jsonl"
    path.write_text("".join(json.dumps({"id": a, "text": b}) + "\n" for a, b in rows))
    return path


def test_distribution(shell: Shell, crawl: Path) -> None:
    text = shell.ok("hamming", "distribution", "crawl.jsonl")
    assert "740 simhashes, 641 different; 2 documents" in text
    assert "have none, as none1" in text
    assert re.search(r"^equal +99$", text, re.MULTILINE)
    assert "1 spikes" in text
    assert "error page error0: 404 Not Found on this server" in text
    found = json.loads(shell.ok("hamming", "distribution", "crawl.jsonl", "--json"))
    assert (found["documents"], found["empty"], found["equal"]) == (740, 2, 99)
    assert (len(found["leading"]), len(found["buckets"])) == (64, 128)
    assert sum(found["buckets"]) == 740
    [spike] = found["spikes"]
    assert spike["simhash"] == digits("404 not found on this server")
    assert spike["same"] == 100
    assert spike["examples"][0] == {
        "id": "error0",
        "kind": "error",
        "excerpt": "404 Not Found on this server",
    }
    assert found["empty_examples"][0] == {"id": "none1", "kind": "empty", "excerpt": "..."}


def test_distribution_of_a_file_is_the_same(shell: Shell, crawl: Path) -> None:
    shell.ok("simhash", "crawl.jsonl", "-o", "crawl.parquet")
    one = json.loads(shell.ok("hamming", "distribution", "crawl.jsonl", "--json"))
    two = json.loads(shell.ok("hamming", "distribution", "crawl.parquet", "--json"))
    assert one["leading"] == two["leading"]
    assert one["buckets"] == two["buckets"]
    assert two["spikes"][0]["examples"][0]["id"] == "error0"
    shell.ok("simhash", "crawl.jsonl", "-o", "again.txt")
    both = json.loads(shell.ok("hamming", "distribution", "crawl.parquet", "again.txt", "--json"))
    assert both["buckets"] == [2 * count for count in one["buckets"]]
    shell.ok("simhash", "crawl.jsonl", "-o", "other.parquet", "--seed", "1")
    mixed = shell.error("hamming", "distribution", "crawl.parquet", "other.parquet")
    assert "seed=0 against seed=1" in mixed
    refused = shell.error("hamming", "distribution", "crawl.parquet", "--stem", "english")
    assert "--stem: cannot change simhashes" in refused


def test_distribution_page(shell: Shell, folder: Path, crawl: Path) -> None:
    with crawl.open("a") as file:
        hostile = {"id": "<script>x</script>", "text": "404 Not Found on this server"}
        file.write(json.dumps(hostile) + "\n")
    shell.ok("hamming", "distribution", "crawl.jsonl", "--html", "page.html")
    page = (folder / "page.html").read_text()
    assert page.count("<svg") == 2
    assert "<script" not in page
    assert "742 documents" not in page
    assert "741 documents, 1 spike among 128 buckets" in page
    assert "error page" in page
    assert "Without a simhash" in page
    assert "the file exists" in shell.error(
        "hamming", "distribution", "crawl.jsonl", "--html", "page.html"
    )


def test_sample_then_evaluate(shell: Shell, folder: Path, crawl: Path) -> None:
    rows = shell.rows(
        "hamming", "sample", "crawl.jsonl", "--from", "0", "--to", "20", "--each", "5"
    )
    assert "4,950 at 0" in shell.said
    assert [row["distance"] for row in rows] == sorted(row["distance"] for row in rows)
    assert sum(row["distance"] == 0 for row in rows) == 5
    # Only error pages are nearly the same.
    for row in rows:
        row["label"] = (
            "true" if row["a"].startswith("error") and row["b"].startswith("error") else "false"
        )
    (folder / "labels.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    text = shell.ok("hamming", "evaluate", "labels.jsonl")
    assert re.search(
        r"^  0 +5 +0 +0  1\.000 \(0\.566-1\.000\) +1\.000 \(0\.566", text, re.MULTILINE
    )
    found = json.loads(shell.ok("hamming", "evaluate", "labels.jsonl", "--json"))
    assert found["points"][0]["precision"]["value"] == 1.0
    assert found["points"][0]["weighed_precision"] == 1.0
    assert found["choices"] == []
    again = json.loads(
        shell.ok("hamming", "evaluate", "labels.jsonl", "crawl.jsonl", "--json", "--choices")
    )
    counted = [[(p["true"], p["false"]) for p in each["points"]] for each in (found, again)]
    assert counted[0] == counted[1][: len(counted[0])]
    assert len(again["choices"]) > 10
    shell.ok(
        "hamming", "evaluate", "labels.jsonl", "crawl.jsonl", "--choices", "--html", "page.html"
    )
    page = (folder / "page.html").read_text()
    assert page.count("<svg") == 2
    assert "terms, stop words, stems" in page
    # Every choice has its dot, under the heading of its features.
    drawn = page.partition('aria-labelledby="choice-plot-title')[2].partition("</svg>")[0]
    assert drawn.count("<circle") == len(CHOICES)
    for heading in ("terms", "phrases", "shingles"):
        assert f">{heading}</text>" in drawn
    assert ">stop words, stems, tf-idf</text>" in drawn


def test_sample_to_a_file(shell: Shell, folder: Path, crawl: Path) -> None:
    shell.ok("hamming", "sample", "crawl.jsonl", "-o", "pairs.jsonl", "--documents", "50")
    assert "compared 50 of 740 documents" in shell.said
    assert (folder / "pairs.jsonl").exists()
    assert "the file exists" in shell.error("hamming", "sample", "crawl.jsonl", "-o", "pairs.jsonl")


def test_evaluate_errors(shell: Shell, folder: Path) -> None:
    (folder / "labels.jsonl").write_text('{"a": "a", "b": "b", "label": "true"}\n')
    assert "no distances" in shell.error("hamming", "evaluate", "labels.jsonl")
    assert "--choices: cannot do without documents" in shell.error(
        "hamming", "evaluate", "labels.jsonl", "--choices"
    )
    shell.ok("hamming", "evaluate", "labels.jsonl", "in.jsonl")
    (folder / "labels.jsonl").write_text('{"a": "a", "b": "z", "label": "true"}\n')
    shell.ok("simhash", "in.jsonl", "-o", "in.parquet", "--quiet")
    assert "z: no simhash" in shell.error("hamming", "evaluate", "labels.jsonl", "in.parquet")
    assert main(["hamming"]) == 2


def test_simhashes_are_no_documents(shell: Shell, folder: Path) -> None:
    """Neither beside documents nor in place of them."""
    (folder / "out").mkdir()
    shell.ok("simhash", "in.jsonl", "-o", "out/1.parquet", "--quiet")
    shell.ok("simhash", "in.jsonl", "-o", "out/2.txt", "--quiet")
    for command in ("distribution", "sample"):
        for other in ("out/1.parquet", "out/2.txt", "out", "out/*"):
            said = shell.error("hamming", command, "in.jsonl", other)
            assert "cannot stand beside in.jsonl: it holds simhashes, the other documents" in said
    # Found in a directory, or by a pattern, they are what they are when named.
    for inputs in (["out"], ["out/*"], ["out/1.parquet", "out/2.txt"]):
        text = shell.ok("hamming", "distribution", *inputs)
        assert "8 simhashes, 3 different; 2 documents" in text
    text = shell.ok("hamming", "distribution", "in.jsonl", "out/1.parquet", "--text-field", "id")
    assert "10 simhashes" in text
    shell.ok("hamming", "build", "out/1.parquet", "-o", "x.hamming")
    shell.ok("hamming", "build", "out/1.parquet", "-o", "x.xor", "--compressed")
    for name in ("x.hamming", "x.xor"):
        for words in (["hamming", "distribution"], ["hamming", "sample"], ["simhash"]):
            assert f"{name}: cannot read: it begins with b'RGHLY" in shell.error(*words, name)
    # A text may begin with a dash.
    (folder / "list.txt").write_text("-\none two three\n")
    assert "1 simhashes" in shell.ok("hamming", "distribution", "list.txt")


def test_evaluate_refuses_what_it_would_ignore(shell: Shell, folder: Path) -> None:
    (folder / "labels.jsonl").write_text('{"a": "a", "b": "b", "label": "true", "distance": 0}\n')
    shell.ok("simhash", "in.jsonl", "-o", "in.parquet", "--quiet")
    evaluate = ("hamming", "evaluate", "labels.jsonl")
    assert "--features: cannot do without documents" in shell.error(
        *evaluate, "--features", "terms", "--stem", "english"
    )
    assert "--text-field: cannot do without" in shell.error(*evaluate, "--text-field", "x")
    assert "--features: cannot stand beside --choices" in shell.error(
        *evaluate, "in.jsonl", "--choices", "--features", "shingles:4"
    )
    assert "--choices: cannot change simhashes: in.parquet holds no documents" in shell.error(
        *evaluate, "in.parquet", "--choices"
    )
    assert "not allowed with" in shell.error(*evaluate, "--json", "--html", "x")
    for name in ("labels.jsonl", "in.jsonl"):
        said = shell.error(*evaluate, "in.jsonl", "--html", name, "--force")
        assert f"{name} is one of the inputs" in said


def test_sample_ranges(shell: Shell, crawl: Path) -> None:
    sample = ("hamming", "sample", "crawl.jsonl")
    said = shell.error(*sample, "--from", "5", "--to", "2")
    assert "--from: out of range: 5, wanted at most 2, as in --to 2" in said
    said = shell.error(*sample, "--to", "99")
    assert "--to: out of range: 99, wanted at most 64" in said
    shell.ok(*sample, "--from", "0", "--to", "64", "--each", "1")
    assert "4,950 at 0, " in shell.said
    assert re.search(r", none at [0-9]+ others$", shell.said, re.MULTILINE)
    assert not re.search(r" 0 at ", shell.said)
