"""`roughly hamming build`, `find`, `join` and `plan` as a user meets them."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

from roughly import HammingIndex, simhash
from roughly.cli.main import main
from roughly.errors import DamageError
from roughly.hamming.id_file import Ids, read_ids, write_ids
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
    assert shell.ok("join", "queries.u64", "stored.u64", "--chunks", "0:9").splitlines() == wanted


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
        ("build stored.u64 -o a --bits 65", "bits: out of range: 65"),
        ("build . -o a", ".: cannot read: is a directory"),
        ("build stored.u64 -o .", ".: cannot write: it is no name of a file"),
        ("build stored.u64 -o . --force", ".: cannot write: it is no name of a file"),
        ("build stored.u64 -o a --compressed -k 5", "--compressed: cannot stand beside -k"),
        (
            "build stored.u64 -o a --design scan --coding xor-block",
            "--coding: cannot stand beside --design scan",
        ),
        ("build stored.u64 -o a --column foo", "--column: cannot be chosen: stored.u64 is no"),
        ("join queries.u64 stored.u64 --column foo", "neither queries.u64 nor stored.u64 is a"),
        ("join queries.u64 stored.u64 -o p.parquet --json", "--json: cannot stand beside p.parq"),
        ("join queries.u64 stored.u64 --chunks 5:3", "chunks: there are none: 5:3, wanted some"),
        ("join queries.u64 stored.u64 --chunks 0:0", "chunks: there are none: 0:0"),
        ("join queries.u64 stored.u64 --chunks 1:2", "chunks: there are none: 1:2"),
        ("join queries.u64 stored.u64 --chunks 1:", "wanted some of 0:1"),
        ("find . 0", ".: cannot read: it is a directory, not a Hamming index"),
        ("build stored.u64 -o a --design nice", "design: unknown: 'nice'"),
        ("build stored.u64 -o a --compressed --design scan", "--compressed: cannot stand beside"),
        ("find stored.u64 0f", "stored.u64: cannot read: it is not a Hamming index"),
        ("find none 0f", "none: cannot read: no such file"),
        ("find index xyz", "simhash: cannot read: 'xyz', wanted up to 16 hexadecimal digits"),
        ("find index 11112222333344445", "wanted up to 16 hexadecimal digits"),
        ("join index stored.u64", "it begins with b'RGHLYHAM', wanted simhashes"),
        ("join queries.u64 stored.u64 --chunks x", "not chunks: 'x', wanted the first and the one"),
        ("join queries.u64 stored.u64 -o index", "will not write: the file exists"),
        ("plan --documents 0", "not a count: '0'"),
        ("plan --documents 99999999999 --memory 600M", "--memory: too little: 600M"),
        ("plan --documents 99 --memory much", "--memory: not a size: 'much'"),
        ("plan --documents 99 --memory 0", "--memory: not a size: '0'"),
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


@pytest.mark.parametrize(
    "arguments",
    [
        "build stored.u64 -o stored.u64",
        "build stored.u64 -o ./link --compressed",
        "join queries.u64 stored.u64 -o queries.u64",
        "join queries.u64 stored.u64 -o stored.u64",
        "distribution stored.u64 --html stored.u64",
        "sample stored.u64 -o stored.u64",
    ],
)
def test_inputs_are_never_overwritten(shell: Shell, folder: Path, arguments: str) -> None:
    (folder / "link").symlink_to("stored.u64")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    for force in ([], ["--force"]):
        said = shell.error(*arguments.split(), *force)
        assert "will not write" in said
    assert "is one of the inputs" in said
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_only_names_make_numbers_of_bytes(shell: Shell, folder: Path) -> None:
    """Eight bytes of anything would be a simhash."""
    (folder / "docs.jsonl").write_bytes(b'{"id": "a", "text": "b c"}\n'.ljust(32))
    (folder / "README.md").write_bytes(b"# words ")
    (folder / "numbers").write_bytes(bytes(16))
    for name in ("docs.jsonl", "README.md", "numbers"):
        assert f"{name}: no simhashes: its first line" in shell.error("build", name, "-o", "a")
        assert "no simhashes" in shell.error("join", name, "stored.u64")
    (folder / "empty.jsonl").touch()
    assert shell.ok("join", "empty.jsonl", "stored.u64") == ""


def test_low_bits(shell: Shell) -> None:
    """Of 64 bits the low ones are a simhash too: 2^63 becomes 0, a second one."""
    shell.ok("build", "stored.u64", "-o", "a", "--bits", "8", "-k", "0", "--quiet")
    for asked in ("0", "ff00"):
        rows = [line.split("\t") for line in shell.ok("find", "a", asked).splitlines()]
        assert [row[:3] for row in rows] == [["0" * 16, "0", "0" * 16], ["0" * 16, "4", "0" * 16]]
    shell.ok("build", "stored.u64", "-o", "b.xor", "--bits", "63", "--compressed", "--quiet")
    for stored in ("stored.u64", "b.xor"):
        rows = shell.ok(*f"join queries.u64 {stored} --bits 4 -k 0".split()).splitlines()
        # The queries become f and 0, the stored ones 0, f, f, f and 0.
        assert len(rows) == 3 + 2
    assert "its simhashes have 63 bits, wanted 64" in shell.error("join", "queries.u64", "b.xor")


def test_a_coding_of_nothing_is_told(shell: Shell) -> None:
    shell.ok("build", "stored.u64", "-o", "a", "--coding", "plain")
    assert "--coding means nothing here: a scan" in shell.said


# --- ids and parameters ---------------------------------------------------------------------------

DOCUMENTS = {"x/1": "one two three", "x/2": "...", "x/3": "four five six", "x\t4": "two one three"}


@pytest.fixture
def crawl(folder: Path) -> Path:
    rows = [json.dumps({"id": id, "text": text}) for id, text in DOCUMENTS.items()]
    (folder / "docs.jsonl").write_text("\n".join(rows) + "\n")
    assert main(["simhash", "docs.jsonl", "-o", "docs.parquet", "--quiet"]) == 0
    return folder


def digits(text: str) -> str:
    found = simhash(text)
    assert found is not None
    return f"{found:016x}"


def test_find_names_documents(shell: Shell, crawl: Path) -> None:
    one = digits("one two three")
    shell.ok("build", "docs.parquet", "-o", "a.hamming")
    assert "wrote a.hamming and a.hamming.ids" in shell.said
    assert shell.ok("find", "a.hamming", one) == (
        f"{one}\t0\t{one}\t0\tx/1\n{one}\t3\t{one}\t0\tx 4\n"
    )
    rows = [json.loads(x) for x in shell.ok("find", "a.hamming", one, "--json").splitlines()]
    assert [(row["position"], row["id"]) for row in rows] == [(0, "x/1"), (3, "x\t4")]
    shell.ok("build", "docs.parquet", "-o", "b", "--no-ids")
    assert shell.ok("find", "b", one).splitlines()[0] == f"{one}\t0\t{one}\t0"
    # Ids of what was there before are not those of what is there now.
    shell.ok("build", "stored.u64", "-o", "a.hamming", "--force")
    assert not (crawl / "a.hamming.ids").exists()
    shell.ok("build", "docs.parquet", "-o", "a.hamming", "--force")
    HammingIndex([1, 2, 3, 4]).save(crawl / "a.hamming")
    assert "its ids are not those of a.hamming" in shell.error("find", "a.hamming", one)


@pytest.mark.parametrize("name", ["docs.parquet", "docs.txt", "docs.sh.jsonl", "docs.arrow"])
@pytest.mark.parametrize("compressed", [False, True])
def test_join_names_documents(shell: Shell, crawl: Path, name: str, compressed: bool) -> None:
    if name == "docs.arrow":
        feather.write_feather(pq.read_table("docs.parquet"), name)
    elif name != "docs.parquet":
        assert main(["simhash", "docs.jsonl", "-o", name, "--quiet"]) == 0
    stored = name
    if compressed:
        stored = "docs.xor"
        shell.ok("build", name, "-o", stored, "--compressed")
    rows = shell.ok("join", "docs.parquet", stored, "-k", "0", "--quiet").splitlines()
    found = {tuple(row.split("\t")[5:]) for row in rows}
    alike = [(a, b) for a in ("x/1", "x 4") for b in ("x/1", "x 4")]
    assert found == {*alike, ("x/3", "x/3")}
    assert len(rows) == 5
    shell.ok("join", "queries.u64", stored, "-k", "10", "-o", "none.parquet", "--quiet")
    assert pq.read_schema("none.parquet").names[-2:] == ["query_id", "stored_id"]
    shell.ok("join", "docs.parquet", stored, "-k", "0", "-o", "pairs.parquet", "--quiet")
    table = pq.read_table("pairs.parquet").to_pydict()
    assert set(table["query_id"]) == {"x/1", "x/3", "x\t4"}
    row = json.loads(shell.ok("join", "docs.parquet", stored, "--json", "-k", "0").split("\n")[0])
    assert list(row)[-2:] == ["query_id", "stored_id"]


def test_different_parameters_are_not_joined(shell: Shell, crawl: Path) -> None:
    assert main("simhash docs.jsonl -o w.parquet --features shingles:3 --quiet".split()) == 0
    assert main("simhash docs.jsonl -o s.parquet --seed 5 --quiet".split()) == 0
    shell.ok("build", "docs.parquet", "-o", "docs.xor", "--compressed", "--quiet")
    for stored in ("docs.parquet", "docs.xor"):
        said = shell.error("join", "w.parquet", stored)
        assert "features='shingles:3' against features='terms'" in said
        assert "seed=5 against seed=0" in shell.error("join", "s.parquet", stored)
    shell.ok("join", "docs.parquet", "docs.xor")
    shell.ok("join", "w.parquet", "stored.u64")  # which says nothing


def test_ids_of_many_pieces(tmp_path: Path) -> None:
    """Pieces of any size, asked in any order, written and read again."""
    names = [f"id{i}" for i in range(150_000)]
    column = pa.chunked_array([pa.array(names[:1]), pa.array(names[1:100_000]), names[100_000:]])
    HammingIndex([1]).save(tmp_path / "a")
    write_ids(tmp_path / "a", Ids.of(column), None)
    ids, parameters = read_ids(tmp_path / "a")
    assert ids is not None and parameters is None
    asked = np.array([149_999, 0, 1, 99_999, 65_536, 65_537, 100_000, 0], np.int64)
    for each in (ids, Ids.of(column)):
        assert each.take(asked) == [names[i] for i in asked]
        assert each.take(asked[:0]) == []
    assert sum(ids.sizes()) == 150_000
    damaged = (tmp_path / "a.ids").read_bytes().replace(b"id77777", b"id77778")
    (tmp_path / "a.ids").write_bytes(damaged)
    found, _ = read_ids(tmp_path / "a")
    assert found is not None
    assert found.take(np.array([0])) == ["id0"]
    with pytest.raises(DamageError, match="damaged"):
        found.take(np.array([77_777]))
