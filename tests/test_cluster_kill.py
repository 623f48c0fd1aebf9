"""Runs that are killed and given again: the result is that of one that was left in peace.

Killed before every single thing that a run does to its files, one after the other, and at random
moments of the command itself. Each time the same command goes on until it ends.
"""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from roughly.corpus import Corpus, is_corpus
from tests.optional import FULL
from tests.test_corpus import tables

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and SIGKILL")

# Runs in a process of its own, which forks for every run: forking pytest, with all its threads,
# would not be safe. Prints a JSON object a line.
SERVER = """
import json, os, random, signal, sys
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet

from roughly import Sketcher
from roughly.clustering.join import MassRule
from roughly.clustering.settings import Settings, settings_for
from roughly.condition import make_condition
from roughly.corpus import create_corpus, is_corpus
from roughly.corpus.results import write_results
from roughly.documents import open_documents
from roughly.storage.segment_writer import SegmentWriter

inputs, folder, method, step = sys.argv[1], Path(sys.argv[2]), sys.argv[3], int(sys.argv[4])
SegmentWriter.__init__.__kwdefaults__["part_rows"] = 32
CHANGES = {"os.rename", "os.remove", "os.mkdir", "os.rmdir", "shutil.rmtree"}


def make(path, old=False, force=False):
    if old:
        sketcher = Sketcher(w=1, select="adaptive:5")
        settings = settings_for(sketcher.parameters, "0.6", "0.4", "0.7")
    elif method in ("join", "force"):
        sketcher = Sketcher(w=2, select="adaptive:20")
        contained = ("0.8", "0.5") if method == "join" else ()
        settings = settings_for(sketcher.parameters, "0.5", "0.3", *contained)
        settings = replace(settings, mass=MassRule(3, 2, 2))
    elif method == "expansion":
        sketcher = Sketcher(w=2, select="mod:2")
        settings = replace(settings_for(sketcher.parameters, "0.5"), method="expansion")
    elif method == "simhash":
        sketcher = Sketcher(w=2, select="adaptive:20")
        condition = make_condition("simhash", 10, "0.5")
        settings = settings_for(sketcher.parameters, condition=condition)
        settings = replace(settings, mass=MassRule(3, 2, 2))
    else:
        sketcher = Sketcher(w=2, select="perm:24")
        settings = replace(
            settings_for(Sketcher().parameters, "1/3", "1/3"),
            method="super", super_length=4, super_agreeing=2,
        )
    create_corpus(
        open_documents(inputs), sketcher, settings, path, memory_bytes=1 << 18, threads=2,
        finish=lambda found: write_results(found, path), force=force,
    )


def killed_at(path, number, force=False):
    # The child's status; and, where it ended, how many things it did to its files.
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        seen = 0
        inside = str(path)

        def count(event, args):
            nonlocal seen
            if event == "open" and isinstance(args[1], str) and not set(args[1]) & set("wxa+"):
                return
            if event in CHANGES or event == "open":
                if any(str(a).startswith(inside) for a in args if isinstance(a, str | os.PathLike)):
                    seen += 1
                    if seen == number:
                        os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(count)
        make(path, force=force)
        os.write(writer, str(seen).encode())
        os._exit(0)
    os.close(writer)
    told = os.read(reader, 20)
    os.close(reader)
    return os.waitpid(child, 0)[1], int(told or 0)


def over_another(path, number):
    # With --force over a corpus of other settings; what that leaves must not come back.
    if os.fork() == 0:
        make(path, old=True)
        os._exit(0)
    assert os.wait()[1] == 0
    status, _ = killed_at(path, number, force=True)
    assert status in (0, signal.SIGKILL), status
    if is_corpus(path) and status:
        # The old one is as it was, or the new one complete.
        assert killed_at(path, 0, force=True)[0] == 0
    elif status:
        assert killed_at(path, 0)[0] == 0
    return int(status != 0)


def go(path, numbers):
    if method == "force":
        return over_another(path, numbers[0])
    kills = 0
    for number in numbers:
        if is_corpus(path):
            break
        status, _ = killed_at(path, number)
        kills += status == signal.SIGKILL
        assert status in (0, signal.SIGKILL), status
    if not is_corpus(path):
        assert killed_at(path, 0)[0] == 0
    return kills


status, total = killed_at(folder / "peace", 0)
assert status == 0
print(json.dumps({"path": "peace", "kills": 0, "total": total}), flush=True)
if method == "force":
    total += 60  # what is cleared away comes first
rng = random.Random(total)
for number in range(1, total + 1, step):
    name = f"killed-{number}"
    kills = go(folder / name, [number, rng.randrange(1, total + 1)])
    print(json.dumps({"path": name, "kills": kills}), flush=True)
"""


def write_inputs(path: Path, count: int, copies: int = 1) -> Path:
    """Families of edited texts, identical ones, parts, and short ones."""
    rng = random.Random(count)
    with path.open("w") as file:
        for n in range(count):
            words = [f"w{n // 4}x{i}" for i in range(20 + n // 4 % 5 * 40)]
            for _ in range(n % 4):
                words[rng.randrange(len(words))] = "edited"
            if n % 11 == 3:
                words = words[: len(words) // 2]
            if n % 13 == 5:
                words = ["one", "of", "many"]
            file.write(json.dumps({"id": f"{n:05}", "text": " ".join(words * copies)}) + "\n")
    return path


def on_disk(path: Path) -> list[Any]:
    """The tables for other programs, and the corpus itself."""
    corpus = Corpus(path)
    assert corpus.verify() == []
    left = [p.name for p in path.rglob("*") if p.name.startswith((".", "postings-", "lists-"))]
    assert left == []
    written = []
    for name in ("documents", "clusters", "pairs"):
        rows = pq.read_table(path / f"{name}.parquet").to_pylist()
        written.append(sorted(rows, key=json.dumps))
    return [*written, tables(corpus.clusters())]


@pytest.mark.parametrize("method", ["join", "expansion", "super", "simhash", "force"])
def test_killed_before_each_change_of_a_file(method: str, tmp_path: Path) -> None:
    inputs = write_inputs(tmp_path / "in.jsonl", 100)
    step = "5" if FULL else "37"
    server = subprocess.run(
        [sys.executable, "-c", SERVER, str(inputs), str(tmp_path), method, step],
        capture_output=True,
        text=True,
        timeout=1200,
    )
    assert server.returncode == 0, server.stderr
    peace, *killed = map(json.loads, server.stdout.splitlines())
    assert peace["total"] > 50
    wanted = on_disk(tmp_path / "peace")
    assert len(wanted[1]) > 10 and len(wanted[2]) > 10
    for each in killed:
        assert on_disk(tmp_path / each["path"]) == wanted, each
    # Some of them are made while a corpus is complete but for its journal, or not at all.
    assert sum(each["kills"] for each in killed) >= len(killed) * 2 // 3


def command(inputs: Path, path: Path) -> list[str]:
    options = ["--containment", "0.8", "--select", "adaptive:50", "--memory", "512M", "--quiet"]
    return [sys.executable, "-m", "roughly", "cluster", str(inputs), "-o", str(path), *options]


def test_killed_at_random_moments(tmp_path: Path) -> None:
    inputs = write_inputs(tmp_path / "in.jsonl", 20000 if FULL else 6000, 2)
    began = time.monotonic()
    subprocess.run(command(inputs, tmp_path / "peace"), check=True)
    took = time.monotonic() - began
    wanted = on_disk(tmp_path / "peace")
    rng = random.Random(1)
    kills, runs = 0, 0
    while kills < (100 if FULL else 5):
        path = tmp_path / f"killed-{runs}"
        runs += 1
        for _ in range(6):
            child = subprocess.Popen(command(inputs, path), stderr=subprocess.PIPE)
            try:
                child.wait(rng.uniform(0, took))
            except subprocess.TimeoutExpired:
                child.send_signal(signal.SIGKILL)
            _, said = child.communicate()
            kills += child.returncode == -signal.SIGKILL
            if is_corpus(path):
                break
            assert child.returncode == -signal.SIGKILL, said.decode()
        if not is_corpus(path):
            subprocess.run(command(inputs, path), check=True)
        assert on_disk(path) == wanted
