"""The commands that change and look at a corpus: what they print, write and return."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from roughly import Corpus
from roughly.cli.main import main
from tests.test_corpus_crash import documents

Run = Any


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    def command(*words: object, status: int = 0) -> tuple[str, str]:
        assert main([str(word) for word in words]) == status
        captured = capsys.readouterr()
        return captured.out, captured.err

    return command


@pytest.fixture
def corpus(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("os.fsync", lambda descriptor: None)
    path = tmp_path / "c.roughly"
    run("cluster", write(tmp_path / "a.jsonl", 0, 20), "-o", path, "-w", 2, "--quiet")
    return path


def write(path: Path, first: int, count: int) -> Path:
    path.write_text("".join(json.dumps(each) + "\n" for each in documents(first, count)))
    return path


def test_add(corpus: Path, tmp_path: Path, run: Run) -> None:
    out, err = run("add", corpus, write(tmp_path / "b.jsonl", 10, 15), "--date", "2026-11-15")
    assert out.startswith("added 15 documents, 10 of them known content, in ")
    assert out.endswith(f"{corpus} has 35 documents\n")
    assert "removed documents.parquet, clusters.parquet, pairs.parquet, report.html" in err
    assert f"roughly cluster {corpus}" in err
    assert not list(corpus.glob("*.parquet")) and not (corpus / "report.html").exists()
    # Asking for the clusters writes the tables again, and they tell of everything.
    out, err = run("cluster", corpus)
    assert out.startswith("35 documents\n") and "wrote documents.parquet" in err
    table = pq.read_table(corpus / "documents.parquet").to_pylist()
    assert table == Corpus(corpus).clusters().documents().to_pylist()
    assert sum(row["date"] == "2026-11-15" for row in table) == 15
    assert (corpus / "report.html").exists()
    assert run("cluster", corpus)[1] == ""


def test_add_reports_what_it_renames(corpus: Path, tmp_path: Path, run: Run) -> None:
    more = tmp_path / "b.jsonl"
    others = [{"id": f"00{n}", "text": f"another text {n} altogether"} for n in range(18, 22)]
    more.write_text("".join(json.dumps(each) + "\n" for each in others))
    out, err = run("add", corpus, more, "--json")
    assert json.loads(out) == {
        "added": 4,
        "known": 0,
        "renamed": 2,
        "already_there": 0,
        "skipped": 0,
        "documents": 24,
    }
    assert "2 repeated ids were numbered, as id#2" in err
    ids = Corpus(corpus).clusters().ids.to_pylist()
    assert sorted(name for name in ids if "#" in name) == ["0018#2", "0019#2"]
    for each in others:
        each["text"] += " once more"
    more.write_text("".join(json.dumps(each) + "\n" for each in others))
    assert run("add", corpus, more, "--quiet") == ("", "")
    assert "0018#3" in Corpus(corpus).clusters().ids.to_pylist()


def test_a_sweep_that_is_added_again_adds_nothing(corpus: Path, tmp_path: Path, run: Run) -> None:
    """Numbered ids and the order of copies included."""
    lines = [{"id": "dup", "text": f"text {n} of three"} for n in range(3)]
    lines += [{"id": "one", "text": "a single one"}]
    more = tmp_path / "b.jsonl"
    more.write_text("".join(json.dumps(each) + "\n" for each in lines))
    out, _ = run("add", corpus, more, "--date", "2026-11-15", "--json")
    assert json.loads(out)["added"] == 4
    before = sorted(path.name for path in (corpus / "segments").iterdir())
    for order in (lines, lines[::-1]):
        more.write_text("".join(json.dumps(each) + "\n" for each in order))
        out, _ = run("add", corpus, more, "--date", "2026-11-15")
        assert out.startswith("added 0 documents, 0 of them known content")
        assert "; 4 already there\n" in out
    assert sorted(path.name for path in (corpus / "segments").iterdir()) == before
    # Another text under the name of a numbered one is numbered once.
    more.write_text("".join(json.dumps({"id": "dup", "text": f"new {n}"}) + "\n" for n in range(3)))
    run("add", corpus, more, "--date", "2026-11-15")
    ids = Corpus(corpus).clusters().ids.to_pylist()
    assert sorted(name for name in ids if name.startswith("dup")) == [
        *("dup", "dup#2", "dup#3", "dup#4", "dup#5", "dup#6")
    ]
    out, _ = run("add", corpus, more, "--date", "2026-11-15", "--json")
    assert (json.loads(out)["added"], json.loads(out)["already_there"]) == (0, 3)


def test_a_date_must_be_one(corpus: Path, tmp_path: Path, run: Run) -> None:
    more = write(tmp_path / "b.jsonl", 18, 4)
    _, err = run("add", corpus, more, "--date", "yesterday", status=2)
    assert "date: not a date: 'yesterday', wanted ISO 8601, as 2026-11-15" in err
    assert len(Corpus(corpus)) == 20


def test_remove(corpus: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    out, err = run("remove", corpus, "0003", "0004", "nobody")
    assert out == f"removed 2 documents\n{corpus} has 18 documents\n"
    assert (
        "nobody: not in the corpus: no such document\n" in err
        and "removed documents.parquet" in err
    )
    _, err = run("remove", corpus, "0005", "nobody", "--strict", status=2)
    assert "nobody: cannot remove: no such document" in err and len(Corpus(corpus)) == 18
    import io

    monkeypatch.setattr("sys.stdin", io.StringIO("0005\n\n0006\n"))
    out, _ = run("remove", corpus, "-", "--json")
    assert json.loads(out) == {"removed": 2, "missing": [], "documents": 16}
    out, err = run("remove", corpus, "0007", "--date", "2020", status=1)
    assert out.startswith("removed 0 documents\n")
    assert "0007: not in the corpus: no such document of 2020\n" in err
    assert run("remove", corpus, "nobody", "--quiet", status=1) == ("", "")
    _, err = run("remove", corpus, "0007", "--date", "2020", "--strict", status=2)
    assert "0007: cannot remove: no such document of 2020" in err


def test_compact(corpus: Path, tmp_path: Path, run: Run) -> None:
    run("add", corpus, write(tmp_path / "b.jsonl", 40, 15), "--quiet")
    run("remove", corpus, "0003", "--quiet")
    out, _ = run("compact", corpus)
    assert out.startswith("34 documents of 2 segments in one, 1 removed for good\n")
    assert len(list((corpus / "segments").iterdir())) == 1
    before = list(Corpus(corpus).clusters())
    out, _ = run("compact", corpus, "--seed", "random", "--json")
    told = json.loads(out)
    assert (told["documents"], told["segments"], told["removed"]) == (34, 1, 0)
    assert told["bytes_after"] > 0
    assert Corpus(corpus).manifest.parameters.seed != 0
    assert list(Corpus(corpus).clusters()) == before and Corpus(corpus).verify() == []


def test_a_seed_needs_text(tmp_path: Path, run: Run) -> None:
    path = tmp_path / "n.roughly"
    run("cluster", write(tmp_path / "a.jsonl", 0, 9), "-o", path, "--no-text", "--quiet")
    _, err = run("compact", path, "--seed", "7", status=2)
    assert f"{path}: cannot sketch again: the corpus keeps no text" in err
    run("compact", path, "--quiet")
    assert len(Corpus(path)) == 9 and Corpus(path).verify() == []


def test_verify(corpus: Path, run: Run) -> None:
    assert run("verify", corpus)[0] == f"{corpus}: 20 documents, all is right\n"
    assert run("verify", corpus, "--quiet")[0] == ""
    file = corpus / "segments" / "000001" / "sketches-00000.arrow"
    data = bytearray(file.read_bytes())
    data[700] ^= 1
    file.write_bytes(data)
    out, _ = run("verify", corpus, status=2)
    assert f"{file}: damaged: block at byte 0 has CRC32C" in out and "1 problem found" in out
    out, _ = run("verify", corpus, "--json", status=2)
    assert len(json.loads(out)["problems"]) == 1
    (corpus / "corpus.json").write_text("{")
    _, err = run("verify", corpus, status=2)
    assert "corpus.json: damaged" in err


def test_info_says_which_linkage_a_corpus_keeps(tmp_path: Path, run: Run) -> None:
    path = tmp_path / "c.roughly"
    run("cluster", write(tmp_path / "a.jsonl", 0, 20), "-o", path, "--linkage", "star", "--quiet")
    assert ", linkage star\n" in run("info", path)[0]
    assert json.loads(run("info", path, "--json")[0])["settings"]["linkage"] == "star"


def test_info(corpus: Path, tmp_path: Path, run: Run) -> None:
    run("add", corpus, write(tmp_path / "b.jsonl", 40, 15), "--date", "2026-11-15T10:00:00")
    run("remove", corpus, "0003", "--quiet")
    out, _ = run("info", corpus)
    lines = out.splitlines()
    assert lines[0] == f"{corpus}: 34 documents, 1 removed"
    assert lines[1] == "sketches: w 2, words 0, select adaptive:200, seed 0"
    assert lines[2] == "clusters: threshold 0.5, floor 0.4" and lines[3] == "text: kept"
    assert "undated            19" in lines and "2026-11-15         15" in lines
    told = json.loads(run("info", corpus, "--json")[0])
    assert told["documents"] == 34 and told["removed"] == 1 and told["text"] is True
    assert told["sweeps"] == [
        {"date": None, "documents": 19},
        {"date": "2026-11-15", "documents": 15},
    ]
    assert [s["documents"] for s in told["segments"]] == [20, 15]
    assert [s["removed"] for s in told["segments"]] == [1, 0]
    assert told["settings"]["floor"] == 0.4 and told["parameters"]["w"] == 2
    assert all(size >= 0 for size in told["bytes"].values())
    files = sum(p.stat().st_size for p in (corpus / "segments").rglob("*") if p.is_file())
    assert told["bytes"]["segments"] == files


def test_the_date_of_the_first_sweep(tmp_path: Path, run: Run) -> None:
    """Documents that have none get it; and it belongs to the run, so another one does not go on."""
    source = tmp_path / "a.jsonl"
    source.write_text('{"id": "a", "text": "x y"}\n{"id": "b", "text": "z", "date": "2020"}\n')
    corpus = tmp_path / "a.roughly"
    run("cluster", source, "-o", corpus, "--date", "2026-11-15", "--quiet")
    made = Corpus(corpus)
    rows = np.arange(2)
    assert made.collection.take("date", rows).to_pylist() == ["2026-11-15", "2020"]
    assert made.manifest.segments[0].date == "2026-11-15"
    _, err = run("cluster", source, "-o", tmp_path / "b.roughly", "--date", "soon", status=2)
    assert "date: not a date: 'soon'" in err
    _, err = run("cluster", corpus, "--date", "2026", status=2)
    assert "--date: cannot be changed" in err
