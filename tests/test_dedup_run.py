"""Runs of dedup that are stopped, that meet one another, or whose input is damaged."""

import gzip
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import roughly
from roughly.clustering.join import Join, MassRule
from roughly.deduplication import candidates, equivalence
from roughly.storage.lock import WriterLock
from tests.archive import members, page
from tests.optional import FULL
from tests.test_cli import assert_error
from tests.test_cli import roughly as command
from tests.test_dedup import mass


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """More documents than two parts of a segment have, of which a third can go."""
    chance = random.Random(3)
    path = tmp_path_factory.mktemp("crawl") / "a.jsonl"
    texts: list[str] = []
    with path.open("w") as file:
        for number in range(40_000):
            if number % 3 == 2:
                words = chance.choice(texts).split()
                words[chance.randrange(len(words))] = "changed"
                text = " ".join(words)
            else:
                text = " ".join(f"w{chance.randrange(9999)}" for _ in range(30))
                texts.append(text)
            file.write(json.dumps({"id": number, "text": text}) + "\n")
    return path


def test_a_run_that_is_killed_goes_on(crawl: Path, tmp_path: Path) -> None:
    whole, out = tmp_path / "whole.jsonl", tmp_path / "out.jsonl"
    began = time.monotonic()
    assert command("dedup", str(crawl), "-o", str(whole), cwd=tmp_path).returncode == 0
    took = time.monotonic() - began
    chance = random.Random(7)
    for _ in range(25 if FULL else 3):
        words = [sys.executable, "-m", "roughly", "dedup", str(crawl), "-o", str(out)]
        run = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            run.wait(chance.uniform(0.3, 1.0) * took)
        except subprocess.TimeoutExpired:
            run.send_signal(signal.SIGKILL)
            run.wait()
        if out.exists():
            break
        for name in os.listdir(tmp_path):
            assert name.startswith(("whole.jsonl", "out.jsonl.", ".out.jsonl"))
    if not out.exists():
        assert command("dedup", str(crawl), "-o", str(out), cwd=tmp_path).returncode == 0
    for end in ("", ".removals.jsonl"):
        assert Path(f"{out}{end}").read_bytes() == Path(f"{whole}{end}").read_bytes()


def test_a_run_that_was_killed_as_late_as_can_be(tmp_path: Path) -> None:
    """The removals have their name, the output does not."""
    (tmp_path / "a.jsonl").write_text('{"text": "a"}\n{"text": "A"}\n')
    (tmp_path / "b.jsonl.removals.jsonl").write_text("")
    run = command("dedup", "a.jsonl", "-o", "b.jsonl", cwd=tmp_path)
    assert_error(run, "b.jsonl.removals.jsonl: will not write: the file exists", "choose")
    (tmp_path / "b.jsonl.unfinished").mkdir()
    assert command("dedup", "a.jsonl", "-o", "b.jsonl", cwd=tmp_path).returncode == 0
    assert (tmp_path / "b.jsonl.removals.jsonl").read_text().count("\n") == 1
    assert not (tmp_path / "b.jsonl.unfinished").exists()


@pytest.mark.parametrize(
    "left", [["lock"], ["lock", ".steps.json.part"], ["lock", "steps/", "segment/"], ["steps.json"]]
)
def test_what_a_kill_leaves_as_a_run_begins_or_ends(left: list[str], tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"text": "a"}\n{"text": "A"}\n')
    work = tmp_path / "b.jsonl.unfinished"
    work.mkdir()
    for name in left:
        (work / name).mkdir() if name.endswith("/") else (work / name).write_text("")
    run = command("dedup", "a.jsonl", "-o", "b.jsonl", "--force", cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    assert not work.exists()


def test_what_is_said_of_the_run(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"text": "a"}\n{"text": "A"}\n')
    run = command("dedup", "a.jsonl", "-o", "b.jsonl", "--json", "--explain", "1", cwd=tmp_path)
    assert_error(run, "--explain: cannot stand beside --json", "leave out")
    run = command("dedup", "a.jsonl", "-o", "b.jsonl", "--keep", "newest", cwd=tmp_path)
    assert b"no document has a date: of those alike the first was kept" in run.stderr
    (tmp_path / "c.jsonl").write_text('{"text": "a", "date": "2020"}\n{"text": "b"}\n')
    run = command("dedup", "c.jsonl", "-o", "d.jsonl", "--keep", "newest", cwd=tmp_path)
    assert run.returncode == 0 and b"no document has a date" not in run.stderr
    whole = gzip.compress(b"".join(b'{"text": "word %d"}\n' % n for n in range(2000)))
    (tmp_path / "e.jsonl.gz").write_bytes(whole[: len(whole) // 2])
    run = command("dedup", "e.jsonl.gz", "-o", "f.jsonl", cwd=tmp_path)
    assert b"stays in the output, except what could not be decompressed" in run.stderr


@pytest.mark.parametrize("name", ["steps", "segment", "thesis.txt"])
def test_a_directory_of_somebody_else_is_left_alone(name: str, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"text": "a"}\n')
    work = tmp_path / "b.jsonl.unfinished"
    work.mkdir()
    (work / name).write_text("mine")
    run = command("dedup", "a.jsonl", "-o", "b.jsonl", "--force", cwd=tmp_path)
    assert_error(run, "b.jsonl.unfinished: will not be used: there is something else", "move")
    assert (work / name).read_text() == "mine"


def test_what_was_sketched_is_not_sketched_again(crawl: Path, tmp_path: Path) -> None:
    from roughly.clustering.sketching import identity, write_segment
    from roughly.documents import open_inputs
    from roughly.storage.steps import Steps

    work = tmp_path / "out.jsonl.unfinished"
    documents, sketcher = open_inputs([str(crawl)]), roughly.Sketcher(words=0)
    steps = Steps(work, identity(documents, sketcher), durable=False)
    write_segment(documents, sketcher, work / "segment", steps, text=False, threads=1)
    steps.finish()
    changed = max((work / "segment").iterdir(), key=lambda path: path.stat().st_mtime_ns)
    before = changed.stat().st_mtime_ns
    other = command("dedup", str(crawl), "-o", "out.jsonl", "-w", "3", cwd=tmp_path)
    assert other.returncode == 2
    assert b"a run was begun there with other parameters" in other.stderr
    assert b"begin anew with --force" in other.stderr
    assert changed.stat().st_mtime_ns == before
    done = command("dedup", str(crawl), "-o", "out.jsonl", "--json", cwd=tmp_path)
    assert json.loads(done.stdout)["documents"] == 40_000
    assert not work.exists()


def test_two_runs_with_one_output(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"text": "a"}\n')
    with WriterLock(tmp_path / "b.jsonl.unfinished"):
        run = command("dedup", "a.jsonl", "-o", "b.jsonl", cwd=tmp_path)
    assert_error(run, "b.jsonl.unfinished: in use: process", "wait")
    assert not (tmp_path / "b.jsonl").exists()


def test_damage_in_the_middle(tmp_path: Path) -> None:
    one = b"".join(b'{"id": %d, "text": "text %d"}\n' % (n, n) for n in range(2000))
    two = b'{"id": 1, "text": "text 1"}\n{"id": "last", "text": "last"}\n'
    first = gzip.compress(one)
    (tmp_path / "a.jsonl.gz").write_bytes(first[: len(first) // 2] + gzip.compress(two))
    result = roughly.dedup(tmp_path / "a.jsonl.gz")
    assert result.skipped.reasons["damaged compression"] == 1
    result.write(tmp_path / "b.jsonl")
    lines = (tmp_path / "b.jsonl").read_bytes().splitlines(keepends=True)
    assert lines[:900] == one.splitlines(keepends=True)[:900]
    # The half line before the damage stays, and does not spoil what follows.
    assert lines[-1] == two.splitlines(keepends=True)[1]
    again = roughly.dedup(tmp_path / "b.jsonl")
    # What is left of the half line may be a document without an id, which has its file's name.
    names = [id.replace("b.jsonl", "a.jsonl.gz") for id in again]
    assert (names, again.removed) == (list(result), 0)


def test_damage_in_a_web_archive(tmp_path: Path) -> None:
    archive = [members([page(n)]) for n in (1, 2, 3, 1, 4)]
    archive[1] = archive[1][: len(archive[1]) // 2]
    (tmp_path / "a.warc.gz").write_bytes(b"".join(archive))
    result = roughly.dedup(tmp_path / "a.warc.gz")
    assert (result.documents, result.removed, result.skipped.count) == (4, 1, 1)
    result.write(tmp_path / "b.warc.gz")
    again = roughly.dedup(tmp_path / "b.warc.gz")
    assert (again.documents, again.removed) == (3, 0)
    assert list(again) == list(result)


def test_damage_in_a_large_record_of_a_web_archive(tmp_path: Path) -> None:
    """Nothing of it is written, though megabytes come before the damage."""
    large = bytearray(gzip.compress(page(2, 300_000), mtime=0))
    assert len(page(2, 300_000)) > 4 << 20
    at = len(large) * 97 // 100
    large[at : at + 64] = bytes(64)
    archive = [members([page(1)]), bytes(large), members([page(1)]), members([page(4)])]
    (tmp_path / "a.warc.gz").write_bytes(b"".join(archive))
    result = roughly.dedup(tmp_path / "a.warc.gz")
    assert (result.documents, result.removed, result.skipped.count) == (3, 1, 1)
    result.write(tmp_path / "b.warc.gz")
    assert gzip.decompress((tmp_path / "b.warc.gz").read_bytes()) == page(1) + page(4)


def test_the_same_goes_whatever_the_threads(tmp_path: Path) -> None:
    """Who is idle while pairs are found is a matter of chance, who goes is not."""
    chance = random.Random(5)
    texts = []
    for family in range(150):
        base = [f"{family}w{n}" for n in range(600)]
        for _ in range(8):
            share = chance.choice((0.01, 0.03, 0.035))
            texts.append(" ".join(w for w in base if chance.random() > share))
    chance.shuffle(texts)
    results = [roughly.dedup(texts, threads=threads) for threads in (1, 2, 8)]
    assert results[0].removed > 300
    for other in results[1:]:
        assert other.removals().equals(results[0].removals())


def test_hashes_do_not_decide(monkeypatch: pytest.MonkeyPatch) -> None:
    """Documents whose hashes all collide: each is compared with what it seems to be."""
    real = equivalence.forms_in_order
    monkeypatch.setattr(
        equivalence,
        "forms_in_order",
        lambda *pool: lambda: ((places, hashes * 0) for places, hashes in real(*pool)()),
    )
    texts = ["a b c", "d e f", "A B C", "", " ", "d e f", "", "<p>a b c", "g h i j k l"]
    result = roughly.dedup(texts)
    assert [
        (r["removed"][-1], r["kept"][-1], r["kind"]) for r in result.removals().to_pylist()
    ] == [
        ("3", "1", "lexical"),
        # Only the first of a group is compared with: the others are found by their shingles.
        ("6", "2", "shingle"),
        ("8", "1", "lexical"),
    ]


def test_more_pairs_than_memory_can_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(candidates, "_PAIR_BYTES", 1 << 26)
    chance = random.Random(1)
    # Too far from one another for a hub, and near enough to be looked at.
    base = [f"w{n}" for n in range(2000)]
    texts = [" ".join(w for w in base if chance.random() > 0.028) for _ in range(20)]
    with pytest.raises(roughly.ParameterError) as told:
        roughly.dedup(texts, memory="512M")
    # 512 MiB are four times 128 MiB; a little goes to the documents.
    assert re.fullmatch(
        "memory: not enough for the pairs to look at: [0-9]+ or more reach 0.6,"
        " room for 3 in the 511 MiB that the documents leave",
        told.value.message,
    )
    assert told.value.hint == (
        "allow more memory (--memory), or choose another threshold; --estimate looks at fewer"
    )
    monkeypatch.setattr(candidates, "MASS", MassRule())  # nothing is a mass
    with pytest.raises(roughly.ParameterError) as told:
        roughly.dedup(texts, 0.5, memory="512M", estimate=True)
    assert "reach 0.5, room for 3" in told.value.message
    assert told.value.hint == "allow more memory (--memory), or choose another threshold"


def noisy_mass(seed: int) -> list[dict[str, Any]]:
    """Texts around one text that small sketches take for more alike than they are."""
    return [{"id": d.id, "text": d.text} for d in mass(seed)]


def test_more_pairs_in_masses_than_memory_can_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(candidates, "MASS", MassRule(2, 1, 1))
    monkeypatch.setattr(Join, "seems_massed", lambda *_: True)
    real = candidates.CandidateFinder.reopen

    def reopen(self: candidates.CandidateFinder, *arguments: Any) -> bool:
        # From now on there is no room left.
        monkeypatch.setattr(candidates, "_PAIR_BYTES", 1 << 60)
        return real(self, *arguments)

    monkeypatch.setattr(candidates.CandidateFinder, "reopen", reopen)
    told = []
    for seed in range(20):
        monkeypatch.setattr(candidates, "_PAIR_BYTES", 64)
        try:
            roughly.dedup(noisy_mass(seed), 0.5, sketcher=roughly.Sketcher(1, "adaptive:4"))
        except roughly.ParameterError as error:
            told.append(error.message)
    assert told and all("not enough for the pairs to look at" in each for each in told)


@pytest.mark.parametrize(
    ("select", "options"),
    [("mod:1", {}), ("adaptive:200", {"size_ratio": 0.5}), ("adaptive:200", {})],
)
def test_no_square_of_pairs_in_small_masses(
    select: str, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two families of 100 of 3,000 documents: no mass shows in a sample, and where hubs are not
    found with the pairs they must be looked for all the same."""
    texts = [
        " ".join([f"u{n}"] + [f"{'c' if n < 200 else n}x{n // 100}x{i}" for i in range(98)])
        for n in range(3000)
    ]
    found = []
    real = candidates.CandidateFinder.find

    def find(self: candidates.CandidateFinder, *arguments: Any) -> candidates.Candidates:
        found.append(real(self, *arguments))
        return found[-1]

    monkeypatch.setattr(candidates.CandidateFinder, "find", find)
    result = roughly.dedup(texts, 0.7, sketcher=roughly.Sketcher(1, select), **options)
    assert len(result) == 2802
    assert len(found) == 1 and len(found[0].pairs) < 3000  # of 9,900


def test_a_million_of_one_text_and_none_at_all(tmp_path: Path) -> None:
    count = 1_000_000 if FULL else 20_000
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"text": "one text for all"}\n' * count)
    result = roughly.dedup(path)
    assert (len(result), result.counts["identical"]) == (1, count - 1)
    result.write(tmp_path / "b.jsonl")
    assert (tmp_path / "b.jsonl").read_bytes() == b'{"text": "one text for all"}\n'
    path.write_bytes(b"")
    assert len(roughly.dedup(path)) == 0
