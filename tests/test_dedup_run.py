"""Runs of dedup that are stopped, that meet one another, or whose input is damaged."""

import ctypes
import fcntl
import gzip
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
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
    said = b"1 skipped (1 damaged compression); the output is without damaged parts of what was"
    assert said in run.stderr
    (tmp_path / "g.jsonl.gz").write_bytes(gzip.compress(b"no JSON\n") + whole[: len(whole) // 2])
    run = command("dedup", "g.jsonl.gz", "-o", "h.jsonl", cwd=tmp_path)
    assert b"); the output is without damaged parts of what was written anew\n" in run.stderr
    # What loses nothing is copied, damage and all.
    run = command("dedup", "e.jsonl.gz", "-o", "i.jsonl.gz", cwd=tmp_path)
    assert b"1 skipped (1 damaged compression); it stays in the output\n" in run.stderr
    assert (tmp_path / "i.jsonl.gz").read_bytes() == (tmp_path / "e.jsonl.gz").read_bytes()


def test_rows_that_are_lost_are_not_said_to_stay(tmp_path: Path) -> None:
    table = pa.table({"id": [str(n) for n in range(90)], "text": [f"text {n}" for n in range(90)]})
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=30, compression="gzip")
    data = bytearray((tmp_path / "a.parquet").read_bytes())
    column = pq.ParquetFile(tmp_path / "a.parquet").metadata.row_group(1).column(1)
    begin = column.dictionary_page_offset or column.data_page_offset
    data[begin + 20 : begin + column.total_compressed_size] = bytes(
        column.total_compressed_size - 20
    )
    (tmp_path / "a.parquet").write_bytes(data)
    more = table.slice(0, 1)
    pq.write_table(more, tmp_path / "b.parquet")
    run = command("dedup", "a.parquet", "b.parquet", "-o", "out", cwd=tmp_path)
    assert run.returncode == 0
    # The row that goes is in the other file.
    assert (tmp_path / "out" / "a.parquet").read_bytes() == data
    run = command("dedup", "b.parquet", "a.parquet", "-o", "other", cwd=tmp_path)
    assert b"30 skipped (30 damaged rows); the output is without damaged parts" in run.stderr
    assert pq.read_table(tmp_path / "other" / "a.parquet").num_rows == 59


def read_only_what_one_may() -> None:
    """In a new process: root may read everything, but for this."""
    if os.geteuid() == 0:
        drop_from_bounding_set, dac_override, dac_read_search = 24, 1, 2  # of linux/prctl.h
        for capability in (dac_override, dac_read_search):
            ctypes.CDLL(None).prctl(drop_from_bounding_set, capability, 0, 0, 0)


@pytest.mark.skipif(sys.platform != "linux", reason="root may read everything")
def test_files_that_cannot_be_opened_are_said_to_be_missing(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.jsonl").write_text(SOME)
    shut = ["b.jsonl", "b.jsonl.gz", "b.parquet", "b.arrow", "b.csv", "b.warc.gz", "b.txt", "b"]
    for name in shut:
        (tmp_path / "in" / name).write_text('{"text": "b"}\n')
        (tmp_path / "in" / name).chmod(0)
    run = command("dedup", "in", "-o", "out", cwd=tmp_path, before=read_only_what_one_may)
    said = f"{len(shut)} cannot be opened); the output is without what cannot be opened\n"
    assert run.returncode == 0 and said.encode() in run.stderr, run.stderr
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["a.jsonl"]
    command("cluster", "in", "-o", "c", "--quiet", cwd=tmp_path, before=read_only_what_one_may)
    assert command("verify", "c", cwd=tmp_path).returncode == 0


# Ends the process at the n-th time that something is renamed or removed.
KILLED = """
import os, shutil, sys
from pathlib import Path
left = int(sys.argv.pop(1))

def counting(function):
    def counted(*words, **options):
        global left
        left -= 1
        if left < 0:
            os._exit(9)
        return function(*words, **options)
    return counted

for name in ("replace", "rename", "unlink", "rmdir"):
    setattr(os, name, counting(getattr(os, name)))
Path.unlink = counting(Path.unlink)
shutil.rmtree = counting(shutil.rmtree)
from roughly.cli.main import main
sys.exit(main())
"""


@pytest.mark.parametrize("out", ["out.jsonl", "out"])
def test_a_run_that_is_killed_whenever_it_renames_or_removes(out: str, tmp_path: Path) -> None:
    lines = "".join(f'{{"text": "text {n % 30}"}}\n' for n in range(40))
    (tmp_path / "a.jsonl").write_text(lines)
    inputs = ["a.jsonl"] if out == "out.jsonl" else ["a.jsonl", "b.jsonl"]
    (tmp_path / "b.jsonl").write_text('{"text": "alone"}\n')
    assert command("dedup", *inputs, "-o", f"whole-{out}", cwd=tmp_path).returncode == 0
    wanted = written(tmp_path / f"whole-{out}")
    moments = 0
    for moment in range(0, 1000, 1 if FULL else 3):
        words = ["dedup", *inputs, "-o", out]
        script = [sys.executable, "-c", KILLED, str(moment), *words]
        killed = subprocess.run(script, cwd=tmp_path, capture_output=True)
        if killed.returncode == 0:
            break
        assert killed.returncode == 9, killed.stderr
        moments += (tmp_path / out).exists()
        again = command(*words, cwd=tmp_path)
        # It had nothing more to do but to go.
        done = (tmp_path / out).exists() and not (tmp_path / f"{out}.unfinished").exists()
        assert again.returncode == 0 or (done and b"will not write" in again.stderr), again.stderr
        assert written(tmp_path / out) == wanted
        assert {path.name for path in tmp_path.iterdir()} == {
            "a.jsonl", "b.jsonl", f"whole-{out}", f"whole-{out}.removals.jsonl",
            out, f"{out}.removals.jsonl",
        }  # fmt: skip
        shutil.rmtree(tmp_path / out) if (tmp_path / out).is_dir() else (tmp_path / out).unlink()
        (tmp_path / f"{out}.removals.jsonl").unlink()
    assert moments > (5 if FULL else 1)


def written(out: Path) -> dict[str, bytes]:
    """The output and its removals."""
    files = sorted(out.iterdir()) if out.is_dir() else [out]
    removals = out.with_name(f"{out.name}.removals.jsonl")
    named = {path.name if out.is_dir() else "": path.read_bytes() for path in files}
    return named | {"removals": removals.read_bytes()}


def killed_when(there: str, words: list[str], cwd: Path) -> None:
    """Runs a command and ends it at the next thing that it renames or removes after a file is
    there."""
    script = KILLED.replace("left < 0", f"os.path.exists({there!r})")
    run = subprocess.run([sys.executable, "-c", script, "0", *words], cwd=cwd, capture_output=True)
    assert run.returncode == 9, run.stderr


SOME = '{"text": "a"}\n{"text": "A"}\n'
DEDUP = ["dedup", "a.jsonl", "-o", "b.jsonl"]


def test_a_run_that_was_killed_between_its_two_files(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(SOME)
    killed_when("b.jsonl.removals.jsonl", DEDUP, tmp_path)
    assert not (tmp_path / "b.jsonl").exists()
    assert command(*DEDUP, cwd=tmp_path).returncode == 0
    assert (tmp_path / "b.jsonl.removals.jsonl").read_text().count("\n") == 1
    assert not (tmp_path / "b.jsonl.unfinished").exists()


@pytest.mark.parametrize("name", ["b.jsonl", "b.jsonl.removals.jsonl"])
def test_a_directory_of_a_run_is_no_leave_to_overwrite(name: str, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(SOME)
    (tmp_path / "b.jsonl.unfinished").mkdir()
    (tmp_path / name).write_text("mine")
    run = command(*DEDUP, cwd=tmp_path)
    assert_error(run, f"{name}: will not write: the file exists", "choose")
    assert (tmp_path / name).read_text() == "mine"


def test_an_output_that_was_being_placed_is_only_that_of_the_same_run(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(SOME)
    (tmp_path / "c.jsonl").write_text('{"text": "c"}\n')
    killed_when("b.jsonl", DEDUP, tmp_path)
    placed = (tmp_path / "b.jsonl").read_bytes()
    assert (tmp_path / "b.jsonl.unfinished").exists()
    others = [["--threshold", "0.9"], ["--keep", "longest"], ["--estimate"], ["-w", "2"]]
    others += [["--method", "both", "-k", "3"], ["--size-ratio", "0.5"]]
    for words in ([*DEDUP, *other] for other in others):
        assert_error(
            command(*words, cwd=tmp_path), "b.jsonl: will not write: the file exists", "choose"
        )
    for words in (["dedup", "c.jsonl", "-o", "b.jsonl"], ["dedup", "-", "-o", "b.jsonl"]):
        run = command(*words, cwd=tmp_path, stdin=b'{"text": "d"}\n')
        assert_error(run, "b.jsonl: will not write: the file exists", "choose")
    assert (tmp_path / "b.jsonl").read_bytes() == placed
    assert command(*DEDUP, cwd=tmp_path).returncode == 0
    assert (tmp_path / "b.jsonl").read_bytes() == placed
    assert not (tmp_path / "b.jsonl.unfinished").exists()


def test_an_output_that_somebody_changed_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(SOME)
    killed_when("b.jsonl", DEDUP, tmp_path)
    (tmp_path / "b.jsonl").write_text("mine")
    assert_error(
        command(*DEDUP, cwd=tmp_path), "b.jsonl: will not write: the file exists", "choose"
    )


def test_a_pipe_does_not_finish_the_run_of_another(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(SOME)
    killed_when("b.jsonl.unfinished/steps.json", DEDUP, tmp_path)
    piped = command("dedup", "-", "-o", "b.jsonl", cwd=tmp_path, stdin=b'{"text": "d"}\n')
    assert piped.returncode == 0, piped.stderr
    assert_error(
        command(*DEDUP, cwd=tmp_path), "b.jsonl: will not write: the file exists", "choose"
    )
    assert (tmp_path / "b.jsonl").read_text() == '{"text": "d"}\n'


def test_what_came_while_a_run_worked_is_not_overwritten(tmp_path: Path) -> None:
    from roughly.deduplication.output_plan import plan_output
    from roughly.documents import open_inputs

    (tmp_path / "a.jsonl").write_text(SOME)
    output = plan_output(open_inputs([str(tmp_path / "a.jsonl")]), str(tmp_path / "b"), False)
    result = roughly.dedup(tmp_path / "a.jsonl")
    (tmp_path / "b").write_text("mine")
    with pytest.raises(roughly.DocumentError, match="b: will not write: the file exists"):
        result.write_to(output)
    assert (tmp_path / "b").read_text() == "mine"
    assert {path.name for path in tmp_path.iterdir()} == {"a.jsonl", "b"}


def test_a_directory_that_is_written_again_and_killed_at_whatever_moment(tmp_path: Path) -> None:
    """The same command with --force goes through; what does not belong to it stays."""
    texts = {"a": "text", "b": "text", "c": "another"}
    for name, text in texts.items():
        (tmp_path / f"{name}.txt").write_text(text)
    words = ["dedup", *(f"{name}.txt" for name in texts), "-o", "out", "--force"]
    for moment in range(0, 1000, 1 if FULL else 4):
        (tmp_path / "out").mkdir()
        for name in ("a.txt", "b.txt", "mine.txt"):
            (tmp_path / "out" / name).write_text("before")
        script = [sys.executable, "-c", KILLED, str(moment), *words]
        killed = subprocess.run(script, cwd=tmp_path, capture_output=True)
        if killed.returncode:
            assert killed.returncode == 9, killed.stderr
            without = command(*words[:-1], cwd=tmp_path)
            assert_error(without, "out: will not write: the directory is not empty", "choose")
            assert command(*words, cwd=tmp_path).returncode == 0
        found = {path.name: path.read_text() for path in (tmp_path / "out").iterdir()}
        assert found == {"a.txt": "text", "c.txt": "another", "mine.txt": "before"}
        shutil.rmtree(tmp_path / "out")
        (tmp_path / "out.removals.jsonl").unlink()
        assert {path.name for path in tmp_path.iterdir()} == {"a.txt", "b.txt", "c.txt"}
        if not killed.returncode:
            break
    assert moment > 8


def test_a_directory_that_holds_the_output_is_read_again_without_it(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text(SOME)
    (tmp_path / "y.jsonl").write_text(SOME)
    words = ["dedup", ".", "-o", "clean"]
    for there in ("clean.unfinished/steps.json", "clean.removals.jsonl", "clean"):
        killed_when(there, words, tmp_path)
        assert (tmp_path / "clean.unfinished").exists()
        again = command(*words, cwd=tmp_path)
        assert again.returncode == 0, again.stderr
        assert written(tmp_path / "clean")["x.jsonl"] == b'{"text": "a"}\n'
        assert written(tmp_path / "clean")["y.jsonl"] == b""
        assert sorted(path.name for path in tmp_path.iterdir()) == [
            "clean", "clean.removals.jsonl", "x.jsonl", "y.jsonl"
        ]  # fmt: skip
        assert (tmp_path / "x.jsonl").read_text() == (tmp_path / "y.jsonl").read_text() == SOME
        shutil.rmtree(tmp_path / "clean")
        (tmp_path / "clean.removals.jsonl").unlink()


@pytest.mark.parametrize("name", [".b.jsonl.part", ".b.jsonl.removals.jsonl.part"])
def test_inputs_where_the_output_is_written_first(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(SOME)
    run = command("dedup", name, "-o", "b.jsonl", cwd=tmp_path)
    assert_error(run, f"b.jsonl: will not write: {name} lies where", "choose another name")
    assert [path.read_text() for path in tmp_path.iterdir()] == [SOME]


@pytest.mark.parametrize("piped", [False, True])
def test_two_runs_do_not_write_to_one_file(piped: bool, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(SOME)
    with (tmp_path / ".b.jsonl.part").open("w") as other:
        other.write("of another")
        other.flush()
        fcntl.flock(other, fcntl.LOCK_EX)
        words = ["dedup", "-" if piped else "a.jsonl", "-o", "b.jsonl"]
        run = command(*words, cwd=tmp_path, stdin=SOME.encode())
        assert_error(run, "b.jsonl: in use: another process is writing to it", "wait")
        assert (tmp_path / ".b.jsonl.part").read_text() == "of another"
    assert command(*words, cwd=tmp_path, stdin=SOME.encode()).returncode == 0
    assert (tmp_path / "b.jsonl").read_text() == '{"text": "a"}\n'


def test_another_layout_is_another_output(tmp_path: Path) -> None:
    (tmp_path / "in" / "sub").mkdir(parents=True)
    names = [f"in/sub/{name}.jsonl" for name in "xy"]
    for name in names:
        (tmp_path / name).write_text(SOME)
    killed_when("out", ["dedup", "in", "-o", "out"], tmp_path)
    run = command("dedup", *names, "-o", "out", cwd=tmp_path)
    assert_error(run, "out: will not write: the directory is not empty", "choose")
    assert command("dedup", "in", "-o", "out", cwd=tmp_path).returncode == 0


@pytest.mark.parametrize("folder", [False, True])
def test_what_comes_at_the_last_moment(
    folder: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from roughly.cli.main import main
    from roughly.deduplication import output

    monkeypatch.chdir(tmp_path)
    Path("a.jsonl").write_text(SOME)
    Path("b.jsonl").write_text(SOME)
    mine = Path("out/a.jsonl" if folder else "out")

    def mark(*words: Any) -> None:
        mine.parent.mkdir(exist_ok=True)
        mine.write_text("mine")

    with monkeypatch.context() as patch:
        patch.setattr(output, "mark", mark)
        assert main(["dedup", "a.jsonl", *["b.jsonl"] * folder, "-o", "out", "--quiet"]) == 2
    assert mine.read_text() == "mine"
    assert not Path("out.removals.jsonl").exists()


def test_a_run_that_was_killed_as_it_began_anew(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(SOME)
    work = tmp_path / "b.jsonl.unfinished"
    (work / "steps").mkdir(parents=True)
    for name in ("lock", "contents.arrow", "contents.arrow.crc32c"):
        (work / name).write_text("")
    assert command(*DEDUP, cwd=tmp_path).returncode == 0
    assert not work.exists()


def test_an_empty_directory_is_filled(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / f"{name}.txt").write_text(name)
    (tmp_path / "out").mkdir(mode=0o700)
    before = (tmp_path / "out").stat()
    assert command("dedup", "a.txt", "b.txt", "-o", "out", cwd=tmp_path).returncode == 0
    after = (tmp_path / "out").stat()
    assert (after.st_ino, after.st_mode) == (before.st_ino, before.st_mode)
    assert sorted(os.listdir(tmp_path / "out")) == ["a.txt", "b.txt"]
    (tmp_path / "here").mkdir()
    run = command("dedup", "../a.txt", "../b.txt", "-o", ".", cwd=tmp_path / "here")
    assert run.returncode == 0, run.stderr
    assert sorted(os.listdir(tmp_path / "here")) == ["a.txt", "b.txt"]


def test_an_input_that_is_gone_when_it_is_copied(tmp_path: Path) -> None:
    for names in (["a.jsonl"], ["a.jsonl", "b.jsonl"]):
        for name in names:
            (tmp_path / name).write_text(SOME)
        result = roughly.dedup([tmp_path / name for name in names])
        (tmp_path / names[-1]).unlink()
        with pytest.raises(roughly.DocumentError, match=f"{names[-1]}: cannot read it again"):
            result.write(tmp_path / "out")
        assert not (tmp_path / "out").exists()


def test_a_reader_that_has_seen_enough(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(SOME)
    words = [sys.executable, "-m", "roughly", *DEDUP, "--explain", "1"]
    with subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.PIPE) as run:
        assert run.stdout is not None
        run.stdout.close()
    assert sorted(os.listdir(tmp_path)) == ["a.jsonl", "b.jsonl", "b.jsonl.removals.jsonl"]


def test_a_run_has_its_directory_until_it_has_told_of_it(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(SOME)
    script = """
import sys
from pathlib import Path
import roughly
from roughly.cli import dedup
from roughly.storage.lock import WriterLock
def tell(*words):
    try:
        WriterLock(Path("b.jsonl.unfinished")).__enter__()
    except roughly.RoughlyError as error:
        print(error)
dedup._tell = tell
from roughly.cli.main import main
sys.exit(main())
"""
    run = subprocess.run([sys.executable, "-c", script, *DEDUP], cwd=tmp_path, capture_output=True)
    assert run.returncode == 0 and b"in use" in run.stdout, run.stderr
    assert not (tmp_path / "b.jsonl.unfinished").exists()


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
