"""Readers and the one writer: a reader sees one state from beginning to end, whatever is written
meanwhile, and a second writer is told who the first one is.
"""

import gc
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import roughly
from roughly import Corpus
from roughly.corpus.change import Change
from roughly.errors import BusyError, DocumentError
from tests.test_corpus_crash import create, documents, shown


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.fsync", lambda descriptor: None)


def names(path: Path, folder: str) -> list[str]:
    return sorted(entry.name for entry in (path / folder).iterdir())


def test_clusters_stay_as_they_were(tmp_path: Path) -> None:
    """Files are opened when they are first wanted: long after others have replaced them."""
    path = tmp_path / "c.roughly"
    corpus = create(path)
    corpus.add(documents(0, 30))
    early = corpus.clusters()
    wanted = Corpus(path).clusters()
    expected = wanted.documents().to_pylist(), sorted(map(str, wanted.pairs().to_pylist()))
    del wanted
    corpus.add(documents(100, 20))
    corpus.remove("0003")
    corpus.compact(seed=3)
    assert (early.documents().to_pylist(), sorted(map(str, early.pairs().to_pylist()))) == expected
    assert len(names(path, "segments")) > 1
    del early
    # The next writer clears away what nobody reads any more.
    corpus.remove("0004")
    assert names(path, "segments") == [entry.name for entry in corpus.manifest.segments]
    assert names(path, "forest") == [corpus.manifest.forest]
    assert len(Corpus(path)) == 48 and Corpus(path).verify() == []


def test_readers_during_writes(tmp_path: Path) -> None:
    path = tmp_path / "c.roughly"
    corpus = create(path)
    corpus.add(documents(0, 20))
    states = {len(corpus): shown(Corpus(path))}
    stop, seen, failures = threading.Event(), [], []

    def read() -> None:
        while not stop.is_set():
            try:
                reader = Corpus(path)
                seen.append((len(reader), shown(reader)))
            except BaseException as error:
                failures.append(error)
                return

    threads = [threading.Thread(target=read) for _ in range(2)]
    for thread in threads:
        thread.start()
    for sweep in range(1, 6):
        corpus.add(documents(100 * sweep, 7), f"200{sweep}")
        states[len(corpus)] = shown(Corpus(path))
    corpus.remove(["0001", "0002"])
    states[len(corpus)] = shown(Corpus(path))
    stop.set()
    for thread in threads:
        thread.join()
    assert not failures, failures[0]
    assert seen and all(states[count] == found for count, found in seen)


def test_a_reader_in_another_process_keeps_its_files(tmp_path: Path) -> None:
    path = tmp_path / "c.roughly"
    corpus = create(path)
    corpus.add(documents(0, 20))
    code = (
        "import sys; from roughly import Corpus; c = Corpus(sys.argv[1]);"
        "print(len(c), flush=True);"
        "sys.stdin.readline(); print(len(c.clusters().documents()), c.manifest.forest)"
    )
    forest = corpus.manifest.forest
    reader = subprocess.Popen(
        [sys.executable, "-c", code, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert reader.stdout is not None and reader.stdin is not None
    assert reader.stdout.readline() == "20\n"
    corpus.add(documents(100, 5))
    corpus.compact()
    assert forest in names(path, "forest")
    told, _ = reader.communicate("\n")
    assert told == f"20 {forest}\n" and reader.returncode == 0
    corpus.remove("0001")
    assert forest not in names(path, "forest")


def test_a_second_writer_is_told_of_the_first(tmp_path: Path) -> None:
    path = tmp_path / "c.roughly"
    corpus = create(path)
    corpus.add(documents(0, 5))
    with Change(path):
        for change in (
            lambda: corpus.add(documents(10, 5)),
            lambda: corpus.remove("0001"),
            lambda: corpus.compact(),
        ):
            with pytest.raises(BusyError, match=f"in use: process {os.getpid()} is writing to it"):
                change()
        words = [sys.executable, "-m", "roughly", "compact", str(path)]
        other = subprocess.run(words, capture_output=True, text=True)
        assert other.returncode == 2
        assert f"in use: process {os.getpid()} is writing to it" in other.stderr
        # Nobody is kept from reading.
        assert len(Corpus(path)) == 5
    assert corpus.add(documents(10, 5)).documents == 5


def test_an_error_leaves_nothing_behind(tmp_path: Path) -> None:
    path = tmp_path / "c.roughly"
    corpus = create(path)
    corpus.add(documents(0, 9))
    before = shown(corpus)

    def broken() -> object:
        yield documents(20, 1)[0]
        raise DocumentError("broken: cannot read: it ends here")

    with pytest.raises(DocumentError, match="it ends here"):
        corpus.add(broken())
    assert shown(corpus) == before == shown(Corpus(path))
    assert len(names(path, "segments")) == len(names(path, "forest")) == 1
    assert not (path / "work").exists()


def test_there_must_be_a_corpus(tmp_path: Path) -> None:
    with pytest.raises(DocumentError, match="no corpus: there is no"):
        Corpus(tmp_path / "none")
    corpus = create(tmp_path / "c")
    (tmp_path / "c" / "corpus.json").unlink()
    with pytest.raises(DocumentError, match="no corpus: there is no"):
        corpus.add(documents(0, 3))
    assert not (tmp_path / "none").exists()


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="/proc tells which files are open")
def test_a_corpus_that_is_let_go_closes_its_files(tmp_path: Path) -> None:
    """At once, without a search for cycles: a service opens corpora again and again."""
    made = Corpus.create(tmp_path / "c", roughly.Sketcher(w=2))
    made.add([{"id": str(n), "text": f"a b c d e {n}"} for n in range(9)], date="2026")
    made.add([{"id": str(n), "text": f"a b c d e f {n}"} for n in range(9)], date="2027")
    del made
    gc.collect()
    gc.disable()
    try:
        before = len(os.listdir("/proc/self/fd"))
        for _ in range(3):
            corpus = Corpus(tmp_path / "c")
            assert corpus.find(text="a b c d e 3").matches
            assert corpus.documents("3") and corpus.clusters() and not corpus.verify()
            del corpus
        assert len(os.listdir("/proc/self/fd")) == before
    finally:
        gc.enable()
