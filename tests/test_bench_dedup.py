"""The deduplication benchmark runs, measures other processes and notices wrong outcomes."""

import json
import sys
from pathlib import Path

import pytest

from bench import dedup, process
from bench.dedup import OWN, Outcome
from bench.dedup_peer import PEERS
from bench.process import Usage
from bench.report import Section, Table, failures
from bench.text import edited, english_texts

USAGE = Usage(1.0, 1.0, 1)

# Deduplicates by equal texts, in the order of the file.
BY_EQUAL_TEXT = """
import json, sys
seen = set()
with open(sys.argv[1]) as source, open(sys.argv[2], "w") as target:
    for line in source:
        text = json.loads(line)["text"]
        if text not in seen:
            target.write(line)
        seen.add(text)
"""


def by_equal_text(source: Path, target: Path) -> list[str]:
    return [sys.executable, "-c", BY_EQUAL_TEXT, str(source), str(target)]


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """40 texts; after each a copy, a copy with one more word, and a text that is not near."""
    path = tmp_path / "corpus.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for number, text in enumerate(english_texts(40, words=100)):
            near, other = f"{text} {number}", edited(text, 0.9, number)
            for kind, content in (("a", text), ("b", text), ("c", near), ("d", other)):
                file.write(json.dumps({"id": f"{number}{kind}", "text": content}) + "\n")
    return path


def test_the_run(
    corpus: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(dedup, "own_command", by_equal_text)
    file = tmp_path / "figures.json"
    words = [str(corpus), "--peers", "none", "--sample", "80", "--json", str(file)]
    assert dedup.main(words) == 0
    found = json.loads(file.read_text("utf-8"))
    speed, exact = found["sections"]
    (row,) = speed["tables"][0]
    assert row["removed"] == 40
    assert [result["name"] for result in speed["results"]] == [
        "peak of roughly, half of it",
        "more for each further document",
    ]
    # Every second document: a and c of each text, of which all c are near.
    (row,) = exact["tables"][0]
    assert (row["removed"], row["wrong"], row["missed"]) == (0, 0, 40)
    assert "of which 40 should go" in exact["notes"][0]
    assert exact["results"][0]["wanted"] == "<= 0"
    assert "MISSED" in capsys.readouterr().out
    assert sorted(path.name for path in tmp_path.iterdir()) == ["corpus.jsonl", "figures.json"]


def test_roughly_is_called_as_documented(tmp_path: Path) -> None:
    command = dedup.own_command(tmp_path / "in.jsonl", tmp_path / "out.jsonl")
    assert command[1:4] == ["-m", "roughly", "dedup"]
    assert command[5:] == ["-o", str(tmp_path / "out.jsonl"), "--threshold", "0.7", "--as", "text"]


def test_wrong_arguments_are_refused(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for words, said in (
        ([str(corpus), "--peers", "rensa,minhash"], "--peers: unknown: 'minhash'"),
        (["missing.jsonl"], "missing.jsonl: no such file"),
    ):
        with pytest.raises(SystemExit) as stopped:
            dedup.main(words)
        assert stopped.value.code == 2
        assert said in capsys.readouterr().err


def test_wrong_outcomes_are_noticed() -> None:
    ids = ["a", "b", "c"]
    later = next(name for name, peer in PEERS.items() if not peer.first_stays)
    for kept, right, right_in_any_order in (
        (["a", "c"], True, True),
        (["a", "b", "c"], True, True),
        (["b", "c"], False, True),
        (["c", "a"], False, False),
        (["a", "a"], False, False),
        (["a", "x"], False, False),
        ([], False, False),
    ):
        outcome = Outcome(USAGE, kept)
        assert dedup.check_outcome(OWN, ids, outcome).passed is right
        assert dedup.check_outcome(later, ids, outcome).passed is right_in_any_order


def test_a_touched_line_is_noticed(tmp_path: Path) -> None:
    source, target = tmp_path / "in", tmp_path / "out"
    source.write_bytes(b"0\n1\n2\n3\n")
    for data, right in ((b"0\n2\n3\n", True), (b"", True), (b"0 \n", False), (b"2\n1\n", False)):
        target.write_bytes(data)
        assert dedup.is_part(target, source) is right
    touched = Outcome(USAGE, ["a"], untouched=False)
    assert not dedup.check_outcome(OWN, ["a"], touched).passed
    assert dedup.check_outcome("text-dedup", ["a"], touched).passed


def test_lines_are_taken_as_they_are(tmp_path: Path) -> None:
    source, target = tmp_path / "in", tmp_path / "out"
    source.write_bytes(b"0\n1\n2\r\n3\n4")
    dedup.take(source, target, 2, None)
    assert target.read_bytes() == b"0\n2\r\n4"
    dedup.take(source, target, 2, 2)
    assert target.read_bytes() == b"0\n2\r\n"


def test_what_a_process_takes() -> None:
    small = process.run([sys.executable, "-c", "print('not JSON')"])
    large = process.run([sys.executable, "-c", "bytearray(150_000_000)"])
    assert 100_000_000 < large.peak_bytes - small.peak_bytes < 200_000_000
    assert small.cpu_s > 0
    with pytest.raises(SystemExit, match="exit status 3\nwhy"):
        process.run([sys.executable, "-c", "import sys; print('why'); sys.exit(3)"])


def test_the_peak_of_a_process_is_not_that_of_this_one() -> None:
    ballast = bytearray(200_000_000)
    small = process.run([sys.executable, "-S", "-c", "pass"])
    assert small.peak_bytes < len(ballast) // 2


def test_disk_peak(tmp_path: Path) -> None:
    with process.DiskPeak(tmp_path) as disk:
        folder = tmp_path / "folder"
        folder.mkdir()
        (folder / "file").write_bytes(b"x" * 1_000_000)
    assert 1_000_000 <= disk.bytes < 1_200_000
    assert process.allocated(str(tmp_path / "missing")) == 0


def test_tables() -> None:
    table = Table(["name", "a", "b"], [["one", 1234567, 0.5], ["three", None, "x"]])
    assert list(table.lines()) == [
        "  name           a      b",
        "  one    1,234,567  0.500",
        "  three          -      x",
    ]
    section = Section("n", "t", tables=[table])
    assert section.to_json()["tables"] == [
        [{"name": "one", "a": 1234567, "b": 0.5}, {"name": "three", "a": None, "b": "x"}]
    ]
    assert not failures([section])
