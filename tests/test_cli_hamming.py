"""`roughly hamming build`, `find`, `join` and `plan` as a user meets them."""

import json
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from roughly.cli.main import main
from tests.test_cli import roughly

STORED = [0x00, 0xFF, 0x0F, 0x1F, 2**63]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    np.array(STORED, "<u8").tofile(tmp_path / "stored.u64")
    np.array([0x0F, 0xF0F0F0], "<u8").tofile(tmp_path / "queries.u64")
    monkeypatch.chdir(tmp_path)
    return tmp_path


class Shell:
    """Runs commands in this process and keeps what they print."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def run(self, *arguments: str) -> tuple[int, str]:
        status = main(["hamming", *arguments])
        printed = self._capsys.readouterr()
        self.said = printed.err
        return status, printed.out

    def ok(self, *arguments: str) -> str:
        status, out = self.run(*arguments)
        assert status == 0, self.said
        return out

    def error(self, *arguments: str) -> str:
        status, out = self.run(*arguments)
        assert (status, out) == (2, "")
        assert 1 <= len(self.said.splitlines()) <= 2
        assert "Traceback" not in self.said
        return self.said


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str], folder: Path) -> Shell:
    return Shell(capsys)


def test_build_and_find(shell: Shell) -> None:
    assert shell.ok("build", "stored.u64", "-o", "a.hamming") == ""
    assert "5 simhashes, k = 3, scan, 8.0 bytes each" in shell.said
    assert "wrote a.hamming" in shell.said
    assert shell.ok("find", "a.hamming", "0f") == (
        "000000000000000f\t2\t000000000000000f\t0\n000000000000000f\t3\t000000000000001f\t1\n"
    )
    rows = [json.loads(x) for x in shell.ok("find", "a.hamming", "1", "--json").splitlines()]
    assert rows == [
        {"query": f"{1:016x}", "position": 0, "simhash": f"{0:016x}", "distance": 1},
        {"query": f"{1:016x}", "position": 4, "simhash": f"{2**63:016x}", "distance": 2},
        {"query": f"{1:016x}", "position": 2, "simhash": f"{15:016x}", "distance": 3},
    ]
    assert shell.run("find", "a.hamming", "0f0f0f0f0f0f0f0f") == (1, "")


def test_find_from_standard_input(folder: Path) -> None:
    roughly("hamming", "build", "stored.u64", "-o", "a", "-k", "0", cwd=folder)
    run = roughly("hamming", "find", "a", "-", cwd=folder, stdin=b"-\n0f\n\nFF\n")
    assert run.returncode == 0
    assert [line.split()[1] for line in run.stdout.decode().splitlines()] == ["2", "1"]


@pytest.mark.parametrize("design", ["compact:2", "tables:4", "scan"])
def test_designs(shell: Shell, design: str) -> None:
    shell.ok("build", "stored.u64", "-o", "a", "--design", design, "--quiet")
    assert shell.said == ""
    assert len(shell.ok("find", "a", "0f").splitlines()) == 2


def test_join(shell: Shell, folder: Path) -> None:
    wanted = ["0\t2\t0\t000000000000000f\t000000000000000f"]
    wanted += ["0\t3\t1\t000000000000000f\t000000000000001f"]
    assert shell.ok("join", "queries.u64", "stored.u64").splitlines() == wanted
    assert "2 pairs of 2 queries and 5 stored simhashes" in shell.said
    rows = [
        json.loads(x)
        for x in shell.ok(*"join queries.u64 stored.u64 --json".split()).split("\n")[:-1]
    ]
    assert rows[1] == {
        "query": 0,
        "stored": 3,
        "distance": 1,
        "query_simhash": "000000000000000f",
        "stored_simhash": "000000000000001f",
    }
    shell.ok("join", "queries.u64", "stored.u64", "-o", "pairs.parquet")
    table = pq.read_table(folder / "pairs.parquet").to_pydict()
    assert (table["query"], table["stored"], table["distance"]) == ([0, 0], [2, 3], [0, 1])
    assert table["stored_simhash"] == [0x0F, 0x1F]
    shell.ok("join", "queries.u64", "stored.u64", "-o", "pairs.jsonl", "--quiet")
    assert (folder / "pairs.jsonl").read_text().count("\n") == 2
    shell.ok("join", "queries.u64", "stored.u64", "-o", "pairs.tsv", "--force", "--quiet")
    assert (folder / "pairs.tsv").read_text().splitlines() == wanted
    assert shell.ok("join", "queries.u64", "stored.u64", "--chunks", "1:2") == ""


def test_join_with_a_compressed_file(shell: Shell) -> None:
    shell.ok("build", "stored.u64", "-o", "stored.xor", "--compressed", "--quiet")
    # In the order of values the two are second and third.
    rows = shell.ok("join", "queries.u64", "stored.xor").splitlines()
    assert [row.split("\t")[:3] for row in rows] == [["0", "1", "0"], ["0", "2", "1"]]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("build none -o a", "none: cannot read: no such file"),
        ("build stored.u64 -o queries.u64", "queries.u64: will not write: the file exists"),
        ("build stored.u64 -o a -k 11", "k: out of range: 11"),
        ("build stored.u64 -o a --bits 8", "simhash: out of range: 9223372036854775808"),
        ("build stored.u64 -o a --design nice", "design: unknown: 'nice'"),
        ("build stored.u64 -o a --compressed --design scan", "--compressed: cannot stand beside"),
        ("find stored.u64 0f", "stored.u64: cannot read: it is not a Hamming index"),
        ("find none 0f", "none: cannot read: no such file"),
        ("find index xyz", "simhash: cannot read: 'xyz', wanted up to 16 hexadecimal digits"),
        ("find index 11112222333344445", "wanted up to 16 hexadecimal digits"),
        ("join index stored.u64", "it begins with b'RGHLYHAM', wanted simhashes"),
        ("join queries.u64 stored.u64 --chunks x", "not chunks: 'x', wanted first and last"),
        ("join queries.u64 stored.u64 -o stored.u64", "will not write: the file exists"),
        ("plan --documents 0", "not a count: '0'"),
        ("plan --documents 99999999999 --memory 600M", "memory: too little: 600M"),
        ("plan --documents 99 --key-bits 64", "key bits: out of range: 64"),
    ],
)
def test_errors(shell: Shell, arguments: str, message: str) -> None:
    shell.ok("build", "stored.u64", "-o", "index", "--quiet")
    assert message in shell.error(*arguments.split())


def test_a_failed_join_leaves_nothing(shell: Shell, folder: Path) -> None:
    (folder / "odd.u64").write_bytes(b"x")
    shell.error("join", "queries.u64", "odd.u64", "-o", "pairs.tsv")
    assert not (folder / "pairs.tsv").exists()
    assert not list(folder.glob(".*"))
