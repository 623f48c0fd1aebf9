"""A corpus of several segments with removed documents: every damage to any file of it is found by
`verify`, and by a question when it touches that block; never a wrong answer.
"""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from roughly import Corpus, Sketcher
from roughly.errors import DamageError, MismatchError, RoughlyError
from tests.optional import FULL
from tests.test_cli import roughly as command
from tests.test_corpus_crash import documents, shown


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.fsync", lambda descriptor: None)


def answers(path: Path) -> Any:
    """All that can be asked of a corpus, opened anew."""
    corpus = Corpus(path)
    found = corpus.clusters()
    collection = corpus.collection
    rows = collection.live_rows.astype("int64")
    tables = [
        found.documents().to_pylist(),
        found.clusters().to_pylist(),
        sorted(map(str, found.pairs().to_pylist())),
        collection.text(rows).to_pylist(),
        corpus.info().sweeps,
    ]
    near = [
        [match.to_dict() for match in corpus.find(each["text"], threshold="0.3", limit=None)]
        for each in documents(0, 50)[::7]
    ]
    names = corpus.remove(["nobody"]).missing
    return [*tables, near, names]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    path = tmp_path_factory.mktemp("damage") / "made.roughly"
    corpus = Corpus.create(path, Sketcher(w=2, select="adaptive:20"), "0.5", containment="0.8")
    corpus.add(documents(0, 30), "2020-01-01")
    corpus.add(documents(20, 20), "2020-01-02")
    corpus.remove(["0004", "0022"])
    return path, answers(path)


def files_of(path: Path) -> list[Path]:
    """Everything that something is read from."""
    return sorted(p for p in path.rglob("*") if p.is_file() and p.name != "lock")


def positions(size: int) -> Iterator[int]:
    """Bytes to flip: both ends and some between; every one of a small file in the full run."""
    step = 1 if FULL and size < 300 else max(size // (20 if FULL else 2), 1)
    yield from sorted({*range(0, size, step), size - 1})


def problems_of(path: Path) -> str:
    try:
        return "\n".join(Corpus(path).verify())
    except RoughlyError as error:
        assert isinstance(error, DamageError | MismatchError)
        return error.message


def check(path: Path, file: Path, wanted: Any, what: object) -> None:
    """The damage is named, and nobody gets a wrong answer."""
    problems = problems_of(path)
    stem = file.name.removesuffix(".crc32c")
    assert stem in problems or f"{file.parent}: damaged" in problems, (file.name, what, problems)
    try:
        assert answers(path) == wanted, (file.name, what)
    except RoughlyError as error:
        assert stem in str(error) or f"{file.parent}: damaged" in str(error), (file.name, what)


def test_a_flipped_byte_is_named(made: tuple[Path, Any], tmp_path: Path) -> None:
    original, wanted = made
    path = tmp_path / "damaged.roughly"
    shutil.copytree(original, path)
    files = files_of(path)
    kinds = {file.name.partition("-")[0].partition(".")[0] for file in files}
    assert {"corpus", "documents", "sketches", "text", "segment", "index"} <= kinds
    assert {"removed", "heads", "frequent", "hubs", "pairs", "links"} <= kinds
    for file in files:
        data = file.read_bytes()
        for at in positions(len(data)):
            flipped = bytearray(data)
            flipped[at] ^= 1 << (at % 8)
            file.write_bytes(flipped)
            check(path, file, wanted, at)
        file.write_bytes(data)
    assert problems_of(path) == "" and answers(path) == wanted


def test_a_cut_file_is_named(made: tuple[Path, Any], tmp_path: Path) -> None:
    original, wanted = made
    path = tmp_path / "damaged.roughly"
    shutil.copytree(original, path)
    for file in files_of(path):
        data = file.read_bytes()
        lengths = {0, len(data) // 2, len(data) - 1}
        if FULL:
            lengths |= set(range(0, len(data), max(len(data) // 12, 1)))
        for length in sorted(lengths):
            file.write_bytes(data[:length])
            check(path, file, wanted, length)
        file.write_bytes(data + b"x")
        check(path, file, wanted, "longer")
        if file.name != "corpus.json":
            file.unlink()
            check(path, file, wanted, "missing")
        file.write_bytes(data)
    assert problems_of(path) == "" and answers(path) == wanted


def test_tables_and_the_report_are_verified(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text("".join(f'{{"text": "a b c {n}"}}\n' for n in range(9)))
    assert command("cluster", "a.jsonl", "-o", "c.roughly", cwd=tmp_path).returncode == 0
    path = tmp_path / "c.roughly"
    assert problems_of(path) == ""
    for name in ("documents.parquet", "clusters.parquet", "pairs.parquet", "report.html"):
        data = (path / name).read_bytes()
        flipped = bytearray(data)
        flipped[len(data) // 2] ^= 4
        for spoilt in (bytes(flipped), data[:-1], data + b"x"):
            (path / name).write_bytes(spoilt)
            assert f"{name}: damaged" in problems_of(path)
        (path / name).unlink()
        assert f"{name}: damaged" in problems_of(path)
        run = command("verify", "c.roughly", cwd=tmp_path)
        assert run.returncode == 2 and f"{name}: damaged".encode() in run.stdout
        (path / name).write_bytes(data)
    for name in ("results.json", "results.json.crc32c"):
        data = (path / name).read_bytes()
        for at in range(len(data)):
            flipped = bytearray(data)
            flipped[at] ^= 1
            (path / name).write_bytes(flipped)
            assert "results.json" in problems_of(path)
        (path / name).write_bytes(data)
    (path / "pairs.parquet").unlink()
    assert command("cluster", "c.roughly", cwd=tmp_path).returncode == 0  # makes it again
    assert problems_of(path) == ""
    Corpus(path).remove(["a.jsonl#1"])
    assert not (path / "results.json").exists() and problems_of(path) == ""


def test_files_of_another_state_are_noticed(made: tuple[Path, Any], tmp_path: Path) -> None:
    """Each file is whole, but they do not belong together."""
    original, _ = made
    path = tmp_path / "c.roughly"
    shutil.copytree(original, path)
    corpus = Corpus(path)
    before = tmp_path / "before"
    shutil.copytree(corpus.forest, before)
    corpus.remove("0007")
    assert shown(corpus)
    kept = tmp_path / "kept"
    shutil.copytree(corpus.forest, kept)
    for name in sorted(file.name for file in before.glob("*.arrow")):
        if (before / name).read_bytes() == (kept / name).read_bytes():
            continue
        for file in (name, f"{name}.crc32c"):
            shutil.copy(before / file, corpus.forest / file)
        assert problems_of(path), name
        for file in (name, f"{name}.crc32c"):
            shutil.copy(kept / file, corpus.forest / file)
    assert problems_of(path) == ""
