"""Changes that are stopped: by a power cut that loses every byte not forced to the disk, after each
thing that was forced to it; by SIGKILL before each change of a file, and at random moments. The
corpus is always there as it was before the change or as it is after it, and goes on from there.
"""

import json
import os
import random
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from roughly import Corpus, Sketcher
from roughly.corpus import create_corpus
from roughly.documents import open_documents
from tests.optional import FULL

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and SIGKILL")


def documents(first: int, count: int) -> list[dict[str, str]]:
    """Families of edited texts, and copies."""
    found = []
    for n in range(first, first + count):
        words = [f"w{n // 4 % 9}x{i}" for i in range(20 + n // 4 % 3 * 30)]
        for edit in range(n % 4):
            words[(7 * edit) % len(words)] = f"edit{n % 5}"
        found.append({"id": f"{n:04}", "text": " ".join(words)})
    return found


def create(path: Path) -> Corpus:
    return Corpus.create(path, Sketcher(w=2, select="adaptive:20"), "0.5", containment="0.8")


def make_anew(corpus: Corpus) -> None:
    """Other documents take the place of all, as a process does that has not read them before."""
    corpus._snapshot.close()
    corpus._snapshot = create_corpus(
        open_documents(documents(40, 50)),
        Sketcher(w=2, select="adaptive:20"),
        corpus.manifest.settings,
        corpus.path,
        memory_bytes=1 << 29,
        threads=2,
        force=True,
    )._snapshot


CHANGES: list[Callable[[Corpus], Any]] = [
    lambda corpus: corpus.add(documents(0, 30), "2020-01-01"),
    lambda corpus: corpus.add(documents(20, 30), "2020-01-02"),
    lambda corpus: corpus.remove(["0003", "0021", "0022"]),
    lambda corpus: corpus.add(documents(90, 9)),
    lambda corpus: corpus.compact(),
    lambda corpus: corpus.remove("0005"),
    lambda corpus: corpus.compact(seed=5),
    make_anew,
]


def shown(corpus: Corpus) -> Any:
    """What a corpus says, of everything that it holds."""
    assert corpus.verify() == []
    found = corpus.clusters()
    collection = corpus.collection
    texts = collection.text(collection.live_rows.astype("int64")).to_pylist()
    return [
        found.documents().to_pylist(),
        found.clusters().to_pylist(),
        sorted(found.pairs().to_pylist(), key=lambda pair: json.dumps(pair)),
        sorted(texts),
        corpus.manifest.parameters.seed,
    ]


# --- power cuts ----------------------------------------------------------------------------------


class Disk:
    """What of a directory would be left if the machine stopped now: files as they were when they
    were last forced to the disk, under the names that their directories had when these were."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.root = root.stat().st_ino
        self.contents: dict[int, bytes] = {}
        self.names: dict[int, dict[str, tuple[int, bool]]] = {self.root: {}}
        self.forced = 0
        self.after_each: Callable[[], None] = lambda: None
        # As long as they are open, no other file gets their number.
        self._pinned: dict[int, int] = {}
        _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 1 << 16), hard))
        monkeypatch.setattr(os, "fsync", self.force)

    def force(self, descriptor: int) -> None:
        path = f"/proc/self/fd/{descriptor}"
        number = os.fstat(descriptor).st_ino
        self._pin(path, number)
        if os.path.isdir(path):
            found = {}
            for entry in os.scandir(path):
                self._pin(entry.path, entry.inode())
                found[entry.name] = (entry.inode(), entry.is_dir())
            self.names[number] = found
        else:
            self.contents[number] = Path(path).read_bytes()
        self.forced += 1
        self.after_each()

    def left(self, to: Path) -> Path:
        """Writes what would be left."""
        self._write(self.root, to)
        return to

    def close(self) -> None:
        for descriptor in self._pinned.values():
            os.close(descriptor)

    def _pin(self, path: str, number: int) -> None:
        if number not in self._pinned:
            self._pinned[number] = os.open(path, os.O_RDONLY)

    def _write(self, number: int, to: Path) -> None:
        to.mkdir()
        for name, (inside, is_directory) in self.names.get(number, {}).items():
            if is_directory:
                self._write(inside, to / name)
            else:
                (to / name).write_bytes(self.contents.get(inside, b""))


@pytest.fixture
def disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Disk]:
    (tmp_path / "disk").mkdir()
    made = Disk(tmp_path / "disk", monkeypatch)
    yield made
    made.close()


def test_a_power_cut_leaves_the_last_state_that_was_committed(disk: Disk, tmp_path: Path) -> None:
    corpus = create(tmp_path / "disk" / "c.roughly")
    states = [shown(corpus)]
    looked, moved = 0, False
    step = 1 if FULL else 9
    later = documents(200, 5)

    def look() -> None:
        nonlocal looked, moved
        looked += 1
        if looked % step:
            return
        fsync, os.fsync = os.fsync, lambda descriptor: None
        try:
            left = Corpus(disk.left(tmp_path / f"left-{looked}") / "c.roughly")
            found = shown(left)
            # What comes before the commit is the state before; there is no way back from the next.
            moved = moved or found != states[-1]
            if not moved:
                assert found == states[-1]
            else:
                after.append(found)
                assert found == after[0]
            if looked % (5 * step) == 0:
                left.add(later)
                assert left.verify() == [] and len(left) == len(found[0]) + 5
        finally:
            os.fsync = fsync

    for change in CHANGES:
        after: list[Any] = []
        moved = False
        disk.after_each = look
        change(corpus)
        disk.after_each = lambda: None
        now = shown(corpus)
        assert all(found == now for found in after)
        # When a change has returned, it is on the disk.
        assert shown(Corpus(disk.left(tmp_path / f"kept-{looked}") / "c.roughly")) == now
        states.append(now)
    assert looked > 200


# --- SIGKILL -------------------------------------------------------------------------------------

# Runs in a process of its own, which forks for every change: forking pytest, with all its threads,
# would not be safe. Kills a change before each thing that it does to files; looks at what is left.
SERVER = """
import json, os, shutil, signal, sys
from pathlib import Path

from roughly import Corpus
from tests.test_corpus_crash import CHANGES, create, shown

folder, step = Path(sys.argv[1]), int(sys.argv[2])
EVENTS = {"os.rename", "os.remove", "os.mkdir", "os.rmdir", "shutil.rmtree", "os.link"}


def killed_at(path, change, number):
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        seen = 0
        inside = str(path)

        def count(event, args):
            nonlocal seen
            if event == "open" and isinstance(args[1], str) and not set(args[1]) & set("wxa+"):
                return
            if event in EVENTS or event == "open":
                if any(str(a).startswith(inside) for a in args if isinstance(a, str | os.PathLike)):
                    seen += 1
                    if seen == number:
                        os.kill(os.getpid(), signal.SIGKILL)

        corpus = Corpus(path)
        sys.addaudithook(count)
        change(corpus)
        os.write(writer, str(seen).encode())
        os._exit(0)
    os.close(writer)
    told = os.read(reader, 20)
    os.close(reader)
    return os.waitpid(child, 0)[1], int(told or 0)


def in_child(work):
    # Whatever opens a corpus has threads: not here, where is forked.
    reader, writer = os.pipe()
    if os.fork() == 0:
        with os.fdopen(writer, "w") as out:
            out.write(json.dumps(work()))
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as text:
        found = text.read()
    assert os.wait()[1] == 0
    return json.loads(found)


def plain(path):
    return json.loads(json.dumps(shown(Corpus(path)), default=str))


path = folder / "c.roughly"
in_child(lambda: str(create(path)))
kills = 0
for number, change in enumerate(CHANGES):
    before = in_child(lambda: plain(path))
    peace = folder / f"peace-{number}"
    shutil.copytree(path, peace)
    status, total = killed_at(peace, change, 0)
    assert status == 0 and total > 10, (status, total)
    after = in_child(lambda: plain(peace))
    assert before != after or number == 4
    for at in range(1 + number % step, total + 1, step):
        copy = folder / f"killed-{number}-{at}"
        shutil.copytree(path, copy)
        status, _ = killed_at(copy, change, at)
        assert status in (0, signal.SIGKILL), status
        kills += status == signal.SIGKILL
        left = in_child(lambda: plain(copy))
        assert left in (before, after), (number, at)
        if left == before:
            # What was left behind is in nobody's way.
            assert killed_at(copy, change, 0)[0] == 0
            assert in_child(lambda: plain(copy)) == after
            segments = in_child(lambda: [e.name for e in Corpus(copy).manifest.segments])
            assert sorted(p.name for p in (copy / "segments").iterdir()) == segments
            assert len(list((copy / "forest").iterdir())) == 1 and not (copy / "work").exists()
        shutil.rmtree(copy)
    shutil.rmtree(path)
    peace.rename(path)
print(json.dumps(kills))
"""


def test_killed_before_each_change_of_a_file(tmp_path: Path) -> None:
    server = subprocess.run(
        [sys.executable, "-c", SERVER, str(tmp_path), "3" if FULL else "31"],
        capture_output=True,
        text=True,
        timeout=1800,
        cwd=Path(__file__).parents[1],
    )
    assert server.returncode == 0, server.stderr
    assert json.loads(server.stdout) > (100 if FULL else 8)


def command(*words: object) -> list[str]:
    return [sys.executable, "-m", "roughly", *map(str, words), "--quiet"]


def test_killed_at_random_moments(tmp_path: Path) -> None:
    """The commands themselves, one after the other on one corpus, each given again until it is
    done."""
    rng = random.Random(1)
    path = tmp_path / "c.roughly"
    subprocess.run(command("cluster", write(tmp_path / "0.jsonl", 0, 400), "-o", path), check=True)
    kills, sweep = 0, 0
    while kills < (50 if FULL else 3):
        sweep += 1
        before = len(Corpus(path))
        inputs = write(tmp_path / f"{sweep}.jsonl", 300 * sweep, 400)
        words = ["add", path, inputs, "--date", str(2000 + sweep)]
        if sweep % 5 == 4:
            words = ["compact", path]
        began, took = time.monotonic(), 2.0
        while True:
            child = subprocess.Popen(command(*words), stderr=subprocess.PIPE)
            try:
                child.wait(rng.uniform(0.2, took))
            except subprocess.TimeoutExpired:
                child.send_signal(signal.SIGKILL)
            _, said = child.communicate()
            corpus = Corpus(path)
            assert corpus.verify() == []
            if child.returncode == 0 or len(corpus) != before:
                break
            assert child.returncode == -signal.SIGKILL, said.decode()
            kills += 1
            took += 0.2
            assert time.monotonic() - began < 300
        assert len(corpus) == before + (0 if words[0] == "compact" else 400)
    assert kills


def write(path: Path, first: int, count: int) -> Path:
    path.write_text("".join(json.dumps(each) + "\n" for each in documents(first, count)))
    return path
