"""A corpus on disk: what was written comes back, and every damage is noticed and named."""

import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

import roughly
from roughly import Sketcher
from roughly.clustering.clusters import Clusters
from roughly.clustering.join import MassRule
from roughly.clustering.settings import Settings, settings_for
from roughly.corpus import Corpus, create_corpus, is_corpus
from roughly.corpus.manifest import _encoded
from roughly.corpus.results import NAMES, write_results
from roughly.documents import open_documents
from roughly.errors import BusyError, DamageError, DocumentError, MismatchError, RoughlyError
from roughly.storage.lock import WriterLock
from tests.optional import FULL

Tables = list[list[dict[str, Any]]]


def documents(count: int = 60) -> list[dict[str, str]]:
    """Every third one an edit of the one before, every seventh a copy, some of them parts."""
    found = []
    for n in range(count):
        base = n - 1 if n % 3 == 2 else n
        words = [f"w{base}x{i}" for i in range(30 + 40 * (base % 5))]
        if n % 3 == 2:
            words[7] = "edited"
        if n % 10 == 4:
            words = words[: len(words) // 2]
        if n % 7 == 3:
            words = ["a", "copy", "of", "all"]
        found.append({"id": f"doc/{n:03}", "text": " ".join(words), "date": f"20{n % 20 + 10}"})
    return found


def write_inputs(path: Path, count: int = 60) -> Path:
    path.write_text("".join(json.dumps(each) + "\n" for each in documents(count)))
    return path


def make(inputs: Path, path: Path, **options: Any) -> Corpus:
    sketcher = Sketcher(w=2, select="adaptive:20")
    wanted = options.pop("settings", None) or settings_of(sketcher)
    return create_corpus(
        open_documents(str(inputs)),
        sketcher,
        wanted,
        path,
        memory_bytes=1 << 20,
        threads=2,
        **({"finish": lambda found: write_results(found, path)} | options),
    )


def settings_of(sketcher: Sketcher) -> Settings:
    wanted = settings_for(sketcher.parameters, "0.5", "0.3", "0.8", "0.5")
    return replace(wanted, mass=MassRule(3, 2, 2))


def tables(found: Clusters) -> Tables:
    pairs = sorted(found.pairs().to_pylist(), key=lambda p: json.dumps(p))
    return [found.documents().to_pylist(), found.clusters().to_pylist(), pairs]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, Tables]:
    folder = tmp_path_factory.mktemp("corpus")
    inputs = write_inputs(folder / "in.jsonl")
    corpus = make(inputs, folder / "made.roughly")
    return inputs, corpus.path, tables(corpus.clusters())


Made = tuple[Path, Path, Tables]


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """The machine does not stop in these tests, so nothing needs to wait for its disk."""
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)


def files_of(path: Path) -> list[Path]:
    """Everything that something is read from."""
    others = {"lock", "report.html", *NAMES}
    return sorted(p for p in path.rglob("*") if p.is_file() and p.name not in others)


def test_it_is_as_it_was_made(made: Made) -> None:
    inputs, path, before = made
    corpus = Corpus(path)
    assert len(corpus) == 60 and repr(corpus) == f"Corpus({str(path)!r}, 60 documents)"
    assert corpus.verify() == []
    assert tables(corpus.clusters()) == before
    in_memory = roughly.cluster(
        str(inputs), 0.5, floor=0.3, sketcher=Sketcher(w=2, select="adaptive:20")
    )
    assert list(corpus.clusters(0.7).at(0.7, "none")) == list(in_memory.at(0.7))
    texts = {d["id"]: d["text"] for d in documents()}
    rows = corpus.segment.ids().to_pylist()
    stored = corpus.segment.text(np.arange(60)).to_pylist()
    assert [t.decode() for t in stored] == [texts[name] for name in rows]


def test_the_tables_on_disk(made: Made) -> None:
    import pyarrow.parquet as pq

    _, path, before = made
    found: Tables = [pq.read_table(path / name).to_pylist() for name in NAMES]
    found[2].sort(key=lambda p: json.dumps(p))
    assert found == before
    assert not list(path.rglob("*.part")) and not (path / "steps").exists()


def test_containment_stays_as_it_was_made(made: Made) -> None:
    corpus = Corpus(made[1])
    assert corpus.clusters(0.6).containment == corpus.manifest.settings.containment
    assert corpus.clusters(0.6, 0.9).containment == settings_of(Sketcher()).containment * 9 / 8  # type: ignore[operator]
    assert corpus.clusters(linkage="star", containment="none").containment is None
    with pytest.raises(roughly.ParameterError, match="no stars by containment"):
        corpus.clusters(linkage="star")
    with pytest.raises(roughly.ParameterError, match=r"containment: below the floor: 0\.4"):
        corpus.clusters(0.6, 0.4)


def results_of(path: Path) -> Tables:
    """All that can be asked of a corpus, opened anew."""
    corpus = Corpus(path)
    found = tables(corpus.clusters())
    tables(corpus.clusters(0.9, 0.95))
    list(corpus.clusters(linkage="star", containment="none"))
    corpus.segment.text(np.arange(len(corpus)))
    return found


def positions(size: int) -> Iterator[int]:
    """Bytes to flip: both ends and some between; every one of a small file in the full run."""
    step = 1 if FULL and size < 100 else max(size // (40 if FULL else 5), 1)
    yield from sorted({*range(0, size, step), size - 1, size // 2})


def test_a_flipped_byte_is_named(made: Made, tmp_path: Path) -> None:
    """Of every file of a corpus: by `verify`, and before anything wrong comes out."""
    _, original, before = made
    path = tmp_path / "damaged.roughly"
    shutil.copytree(original, path)
    files = files_of(path)
    assert len(files) > 15
    for file in files:
        data = file.read_bytes()
        for at in positions(len(data)):
            flipped = bytearray(data)
            flipped[at] ^= 1 << (at % 8)
            file.write_bytes(flipped)
            problems = "\n".join(problems_of(path))
            stem = file.name.removesuffix(".crc32c")
            assert stem in problems, (file.name, at, problems)
            try:
                assert results_of(path) == before
            except RoughlyError as error:
                assert stem in str(error), (file.name, at)
        file.write_bytes(data)
    assert problems_of(path) == [] and results_of(path) == before


def problems_of(path: Path) -> list[str]:
    try:
        return Corpus(path).verify()
    except RoughlyError as error:
        assert isinstance(error, DamageError | MismatchError)
        return [error.message]


def test_a_missing_or_cut_file_is_named(made: Made, tmp_path: Path) -> None:
    _, original, _ = made
    path = tmp_path / "damaged.roughly"
    shutil.copytree(original, path)
    for file in files_of(path):
        if file.name == "corpus.json":
            continue
        data = file.read_bytes()
        for left in (None, b"", data[: len(data) // 2], data + b"x"):
            file.unlink()
            if left is not None:
                file.write_bytes(left)
            problems = "\n".join(problems_of(path))
            named = file.name.removesuffix(".crc32c") in problems
            assert named or f"{file.parent}: damaged" in problems, (file.name, left and len(left))
            file.write_bytes(data)
    assert problems_of(path) == []


def test_files_of_another_corpus_are_noticed(made: Made, tmp_path: Path) -> None:
    """Each file is whole, but they do not belong together."""
    _, original, _ = made
    other = make(write_inputs(tmp_path / "in.jsonl", 50), tmp_path / "other.roughly")
    path = tmp_path / "mixed.roughly"
    for folder in ("forest", "segments"):
        shutil.copytree(original, path)
        shutil.rmtree(path / folder)
        shutil.copytree(other.path / folder, path / folder)
        problems = problems_of(path)
        assert len(problems) == 1 and f"{folder}" in problems[0]
        shutil.rmtree(path)


def test_no_corpus(tmp_path: Path) -> None:
    for path in (tmp_path / "none", tmp_path):
        assert not is_corpus(path)
        with pytest.raises(DocumentError, match=r"no corpus: there is no corpus\.json\nhint: make"):
            Corpus(path)


def test_a_file_is_no_corpus(tmp_path: Path) -> None:
    path = tmp_path / "pages.jsonl"
    path.write_text("{}")
    wanted = r"pages\.jsonl: no corpus: it is a file, wanted a directory\nhint: a corpus is a dir"
    with pytest.raises(DocumentError, match=wanted):
        Corpus(path)


def test_it_is_not_overwritten(made: Made, tmp_path: Path) -> None:
    inputs, original, before = made
    path = tmp_path / "a.roughly"
    shutil.copytree(original, path)
    with pytest.raises(DocumentError, match=r"will not write: the corpus exists\nhint: .*--force"):
        make(inputs, path)
    assert tables(Corpus(path).clusters()) == before
    fewer = write_inputs(tmp_path / "fewer.jsonl", 10)
    assert len(make(fewer, path, force=True)) == 10
    assert Corpus(path).verify() == []


def test_what_takes_the_place_of_a_corpus_must_be_complete(made: Made, tmp_path: Path) -> None:
    """Until then the one that is there can be read, and stays if anything goes wrong."""
    path, fewer = tmp_path / "a.roughly", write_inputs(tmp_path / "fewer.jsonl", 10)
    shutil.copytree(made[1], path)
    (path / "mine.txt").write_text("mine")
    seen = []

    def look(name: str, total: int | None, unit: str) -> Any:
        seen.append((name, tables(Corpus(path).clusters()) == made[2]))
        return lambda done: None

    before = sorted(files_of(path))
    both = [str(fewer), str(write_inputs(tmp_path / "other.jsonl", 3))]
    options = {"memory_bytes": 1 << 20, "threads": 2, "force": True}
    sketcher = Sketcher(w=2, select="adaptive:20")
    with pytest.raises(DocumentError, match="no field 'nosuch'"):
        Path(both[1]).write_text('{"nosuchtext": "a"}\n{"nosuchtext": "b"}\n')
        some = open_documents([Path(each) for each in both], id_field="nosuch")
        create_corpus(some, sketcher, settings_of(sketcher), path, **options)  # type: ignore[arg-type]
    assert sorted(files_of(path)) == before
    assert tables(Corpus(path).clusters()) == made[2]
    reader = Corpus(path)
    assert len(make(fewer, path, force=True, progress=look)) == 10
    assert {"sketch", "pairs", "index"} <= {name for name, _ in seen}
    assert all(same for _, same in seen), seen
    assert tables(reader.clusters()) == made[2]
    assert (path / "mine.txt").read_text() == "mine"
    fresh = make(fewer, tmp_path / "fresh.roughly")
    assert tables(Corpus(path).clusters()) == tables(fresh.clusters())
    for name in NAMES:
        assert pq.read_table(path / name).equals(pq.read_table(fresh.path / name))
    assert Corpus(path).verify() == []


def test_results_that_cannot_be_written_of_what_took_the_place(made: Made, tmp_path: Path) -> None:
    path = tmp_path / "a.roughly"
    shutil.copytree(made[1], path)

    def fail(found: Clusters) -> None:
        raise DocumentError("a.roughly: cannot write: no space left on device", hint="make room")

    with pytest.raises(DocumentError, match=r"hint: make room; the corpus is complete, and its"):
        make(write_inputs(tmp_path / "fewer.jsonl", 10), path, force=True, finish=fail)
    assert len(Corpus(path)) == 10 and Corpus(path).verify() == []
    assert [p.name for p in (path / "segments").iterdir()] == ["000002"]


def test_a_corpus_of_another_format_is_not_lost(made: Made, tmp_path: Path) -> None:
    path = tmp_path / "a.roughly"
    shutil.copytree(made[1], path)
    plain = json.loads((path / "corpus.json").read_text())
    plain.pop("crc32c")
    plain["format"] = 3
    (path / "corpus.json").write_bytes(_encoded(plain))
    before = sorted(files_of(path))
    with pytest.raises(MismatchError, match="it has format 3, wanted 2"):
        make(made[0], path, force=True)
    assert [p for p in sorted(files_of(path)) if p.name != "lock"] == [
        p for p in before if p.name != "lock"
    ]


def test_a_damaged_corpus_can_be_made_anew(made: Made, tmp_path: Path) -> None:
    path = tmp_path / "a.roughly"
    shutil.copytree(made[1], path)
    (path / "corpus.json").write_text("{}")
    assert tables(make(made[0], path, force=True).clusters()) == made[2]


def test_a_run_that_was_killed_when_all_was_done(made: Made, tmp_path: Path) -> None:
    """The same command tidies up; another one, or the same after a change, has to ask."""
    path, state = tmp_path / "c.roughly", {}

    def keep(found: Clusters) -> None:
        write_results(found, path)
        for name in ("steps.json", "steps"):
            copy = shutil.copytree if (path / name).is_dir() else shutil.copy
            state[name] = copy(path / name, tmp_path / name)

    def killed() -> None:
        for name, kept in state.items():
            copy = shutil.copytree if Path(kept).is_dir() else shutil.copy
            copy(kept, path / name)

    make(made[0], path, finish=keep)
    killed()
    before = {p: p.stat().st_mtime_ns for p in files_of(path) if "segments" in p.parts}
    assert tables(make(made[0], path).clusters()) == made[2]
    assert before == {p: p.stat().st_mtime_ns for p in files_of(path) if "segments" in p.parts}
    assert not (path / "steps.json").exists() and not (path / "steps").exists()
    killed()
    with pytest.raises(DocumentError, match="the corpus exists"):
        make(made[0], path, text=False)
    Corpus(path).add([{"id": "new", "text": "something else"}])
    assert not (path / "steps.json").exists() and not (path / "steps").exists()
    with pytest.raises(DocumentError, match="the corpus exists"):
        make(made[0], path)
    assert len(Corpus(path)) == 61


def test_what_cannot_be_read_leaves_no_directory(tmp_path: Path) -> None:
    (tmp_path / "bad.parquet").write_text("none")
    with pytest.raises(DocumentError, match=r"bad\.parquet: cannot read"):
        make(tmp_path / "bad.parquet", tmp_path / "c.roughly")
    assert not (tmp_path / "c.roughly").exists()
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / ".keep.part").write_text("mine")
    (tmp_path / "link").symlink_to("own")
    for name in ("own", "link"):
        with pytest.raises(DocumentError, match=r"bad\.parquet: cannot read"):
            make(tmp_path / "bad.parquet", tmp_path / name)
        assert (tmp_path / "own" / ".keep.part").read_text() == "mine"


def test_what_is_not_ours_stays(made: Made, tmp_path: Path) -> None:
    """Directories of other people may have the names that ours have inside."""
    (tmp_path / "work" / "segments").mkdir(parents=True)
    (tmp_path / "work" / "segments" / "mine.txt").write_text("mine")
    (tmp_path / "work" / "thesis.tex").write_text("mine too")
    (tmp_path / "file").write_text("a file")
    (tmp_path / "woods" / "forest").mkdir(parents=True)
    for name in ("work", "file", "woods"):
        for force in (False, True):
            with pytest.raises(DocumentError, match="will not write: there is something else"):
                make(made[0], tmp_path / name, force=force)
    assert (tmp_path / "work" / "segments" / "mine.txt").read_text() == "mine"
    assert sorted(p.name for p in (tmp_path / "work").iterdir()) == ["segments", "thesis.tex"]


def test_what_is_left_of_a_corpus_does_not_come_back(made: Made, tmp_path: Path) -> None:
    """A kill while an old corpus is cleared away leaves files, but no journal."""
    inputs, original, _ = made
    plain = settings_for(Sketcher().parameters, "0.5")
    wanted = tables(make(inputs, tmp_path / "peace", settings=plain).clusters())
    path = tmp_path / "c.roughly"
    shutil.copytree(original, path)
    (path / "corpus.json").unlink()
    corpus = make(inputs, path, settings=plain)
    assert corpus.verify() == [] and tables(Corpus(path).clusters()) == wanted
    assert not list(path.glob("forest/*containment*"))


def test_a_threshold_of_nothing(made: Made) -> None:
    with pytest.raises(roughly.ParameterError, match="threshold: out of range: 0"):
        Corpus(made[1]).clusters(0)


def test_an_empty_directory_will_do(made: Made, tmp_path: Path) -> None:
    (tmp_path / "new").mkdir()
    assert tables(make(made[0], tmp_path / "new").clusters()) == made[2]


def test_one_writer(made: Made, tmp_path: Path) -> None:
    path = tmp_path / "c.roughly"
    with WriterLock(path), pytest.raises(BusyError, match="in use: process"):
        make(made[0], path)
    assert tables(make(made[0], path).clusters()) == made[2]


def test_one_that_was_completed_meanwhile(
    made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process completes the corpus while this one waits before the lock."""
    path = tmp_path / "c.roughly"
    enter = WriterLock.__enter__

    def late(self: WriterLock) -> WriterLock:
        monkeypatch.setattr(WriterLock, "__enter__", enter)
        make(made[0], path)
        return enter(self)

    monkeypatch.setattr(WriterLock, "__enter__", late)
    with pytest.raises(DocumentError, match="the corpus exists"):
        make(write_inputs(tmp_path / "other.jsonl", 9), path)
    assert tables(Corpus(path).clusters()) == made[2]


def test_a_failure_at_the_end_loses_nothing(made: Made, tmp_path: Path) -> None:
    """Whatever goes wrong when results are written: the run goes on from there."""
    path = tmp_path / "c.roughly"

    def fail(found: Clusters) -> None:
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space"):
        make(made[0], path, finish=fail)
    assert not is_corpus(path)
    with pytest.raises(DocumentError, match="its run did not finish"):
        Corpus(path)
    stamps = {p: p.stat().st_mtime_ns for p in files_of(path) if "segments" in p.parts}
    corpus = make(made[0], path)
    assert stamps == {p: p.stat().st_mtime_ns for p in files_of(path) if "segments" in p.parts}
    assert tables(corpus.clusters()) == made[2]


def test_other_parameters_are_refused(made: Made, tmp_path: Path) -> None:
    path = tmp_path / "c.roughly"

    def fail(found: Clusters) -> None:
        raise DocumentError("stop")

    with pytest.raises(DocumentError, match="stop"):
        make(made[0], path, finish=fail)
    other = settings_for(Sketcher().parameters, "0.6")
    with pytest.raises(MismatchError, match=r"(?s)other parameters: settings=.*--force"):
        make(made[0], path, settings=other)
    with pytest.raises(MismatchError, match="other parameters: text=True against text=False"):
        make(made[0], path, text=False)
    changed = write_inputs(tmp_path / "in.jsonl")
    with pytest.raises(MismatchError, match="other parameters: inputs="):
        make(changed, path)
    found = make(made[0], path, settings=other, force=True)
    assert found.manifest.settings == other
