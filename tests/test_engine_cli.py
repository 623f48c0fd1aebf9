"""`roughly cluster|dedup --engine spark`: files in, folders of tables out; and what is refused."""

import json
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import roughly
from roughly.cli import engine
from roughly.cli.main import main
from tests.engine import need_spark
from tests.optional import FULL
from tests.test_engine_dedup import NAMES, chains


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "roughly", *words], capture_output=True, text=True, timeout=600
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["cluster", "a.jsonl", "-o", "x", "--master", "local[1]"], "--master: nothing to apply"),
        (["dedup", "a.jsonl", "-o", "x", "--order-field", "n"], "--order-field: nothing to apply"),
        (
            ["cluster", "a.jsonl", "-o", "x", "--engine", "spark", "--memory", "2G"],
            "--memory: not on Spark: it is a setting of Spark's",
        ),
        (
            ["cluster", "a.jsonl", "-o", "x", "--engine", "spark", "--common", "5"],
            "--common: not on Spark: it shows what a corpus tells",
        ),
        (
            ["dedup", "a.jsonl", "-o", "x", "--engine", "spark", "--strict"],
            "--strict: not on Spark: it decides by itself",
        ),
        (
            ["cluster", "a.jsonl", "-o", "x", "--engine", "spark", "--cut-off", "9"],
            "cut-off: nothing to apply to",
        ),
        (
            ["dedup", "a.jsonl", "-o", "x", "--engine", "spark", "--preset", "broder97-super"],
            "select: cannot deduplicate by perm:84 sketches",
        ),
    ],
)
def test_refused(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("command", ["cluster", "dedup"])
def test_every_refusal_has_a_reason(command: str) -> None:
    """Of every option either its meaning is the same on Spark, or there is a reason."""
    import argparse

    from roughly.cli import cluster, dedup

    commands = argparse.ArgumentParser().add_subparsers()
    {"cluster": cluster, "dedup": dedup}[command].add_parser(commands)
    parser = commands.choices[command]
    known = engine._SHARED | set(engine._REASONS)
    assert {action.dest for action in parser._actions} - {"help"} <= known
    assert not engine._SHARED & set(engine._REASONS)


def test_without_java(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    need_spark()
    monkeypatch.setenv("JAVA_HOME", "/nonexistent")
    assert main(["cluster", "a.jsonl", "-o", "x", "--engine", "spark"]) == 2
    assert "no Java was found, wanted 17 or newer" in capsys.readouterr().err


@pytest.mark.skipif(not FULL, reason="full counts only")
def test_files(tmp_path: Path) -> None:
    need_spark()
    documents = chains(3, 60)
    for part in range(2):
        lines = [json.dumps(d) + "\n" for d in documents[part::2]]
        (tmp_path / f"part-{part}.jsonl").write_text("".join(lines))
    ordered = documents[0::2] + documents[1::2]  # as the files are read, one after the other
    spark = ["--engine", "spark", "--master", "local[2]", "--as", "text"]
    inputs = str(tmp_path / "part-*.jsonl")

    done = run("dedup", inputs, "-o", str(tmp_path / "clean"), *spark)
    assert done.returncode == 0, done.stderr
    local = roughly.dedup(ordered, content_type="text")
    removals = pq.read_table(tmp_path / "clean" / "removals").to_pylist()
    wanted = sorted(tuple(row[name] for name in NAMES) for row in local.removals().to_pylist())
    assert sorted(tuple(row[name] for name in NAMES) for row in removals) == wanted
    gone = {row[0] for row in wanted}
    lines = [
        line
        for file in (tmp_path / "clean" / "documents").glob("*.json")
        for line in file.read_text().splitlines()
    ]
    staying = {json.loads(line)["id"]: json.loads(line)["text"] for line in lines}
    assert staying == {d["id"]: d["text"] for d in documents if d["id"] not in gone}

    done = run("cluster", inputs, "-o", str(tmp_path / "found"), *spark)
    assert done.returncode == 0, done.stderr
    found = pq.read_table(tmp_path / "found" / "documents").to_pylist()
    clusters = roughly.cluster(documents, content_type="text").documents().to_pylist()
    assert sorted(found, key=repr) == sorted(clusters, key=repr)
    again = run("cluster", inputs, "-o", str(tmp_path / "found"), *spark)
    assert again.returncode == 2
    assert "cannot be written" in again.stderr
    assert "Traceback" not in again.stderr

    made = run("cluster", inputs, "-o", str(tmp_path / "stars"), *spark, "--linkage", "star")
    assert made.returncode == 0, made.stderr
    found = pq.read_table(tmp_path / "stars" / "documents").to_pylist()
    stars = roughly.cluster(documents, content_type="text", linkage="star").documents().to_pylist()
    assert sorted(found, key=repr) == sorted(stars, key=repr)

    known = str(tmp_path / "known.roughly")
    made = run("cluster", str(tmp_path / "part-1.jsonl"), "-o", known, "--as", "text")
    assert made.returncode == 0, made.stderr
    first = str(tmp_path / "part-0.jsonl")
    words = ["--against", known, "--containment", "0.8"]
    done = run("dedup", first, "-o", str(tmp_path / "fresh"), *spark, *words)
    assert done.returncode == 0, done.stderr
    local = roughly.dedup(
        documents[0::2], against=known, containment=0.8, content_type="text"
    ).removals()
    rows = pq.read_table(tmp_path / "fresh" / "removals").to_pylist()
    assert sorted(rows, key=repr) == sorted(local.to_pylist(), key=repr)
    assert {row["kept_in"] for row in rows} == {"corpus", "input"}
