"""What dedup must not do to what is there: write what was not read, or half of an output; lose a
file of its own or of others; leave what nobody finds."""

import errno
import fcntl
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import roughly
from roughly.cli.main import main
from roughly.deduplication import output as outputs
from roughly.deduplication.placing import writing_part
from roughly.errors import BusyError, DocumentError
from roughly.pipeline import share
from roughly.storage.lock import WriterLock
from tests.test_cli import assert_error
from tests.test_cli import roughly as command

SOME = "".join(json.dumps({"id": n, "text": f"text {n // 2}"}) + "\n" for n in range(40))
LEFT = [f'{{"id": {n}, "text": "text {n // 2}"}}' for n in range(0, 40, 2)]


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def append(path: Path) -> None:
    with path.open("a") as file:
        file.write('{"id": 99, "text": "text 0"}\n')


def turn_round(path: Path) -> None:
    path.write_text("".join(reversed(path.read_text().splitlines(keepends=True))))


def copied_again(path: Path) -> None:
    shutil.copy(path, f"{path}.new")
    os.replace(f"{path}.new", path)


@pytest.mark.parametrize("change", [append, turn_round, copied_again, Path.unlink])
@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("several", [False, True])
def test_an_input_that_changes_while_it_is_copied(
    change: Callable[[Path], None],
    when: str,
    several: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in").mkdir()
    for name in ("a.jsonl", "b.jsonl"):
        (tmp_path / "in" / name).write_text(SOME)
    copy, write = outputs._copy, outputs._write

    def change_before(*words: object) -> list[Path]:
        change(Path("in/a.jsonl"))
        return write(*words)  # type: ignore[arg-type]

    def change_after(*words: object, **options: object) -> None:
        copy(*words, **options)  # type: ignore[arg-type]
        if Path("in/a.jsonl").exists():
            change(Path("in/a.jsonl"))

    if when == "before":
        monkeypatch.setattr(outputs, "_write", change_before)
    else:
        monkeypatch.setattr(outputs, "_copy", change_after)
    source = "in" if several else "in/a.jsonl"
    assert main(["dedup", source, "-o", "out"]) == 2
    err = capsys.readouterr().err
    said = "in/a.jsonl: cannot read it again: it was changed while it was being read\n"
    assert said in err and err.endswith("hint: run it again when nobody writes to it\n"), err
    # What was sketched is of no use any more.
    assert names(tmp_path) == ["in"]


def test_a_stream_of_an_input_that_changes_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    path, copy = tmp_path / "a.jsonl", outputs._copy
    path.write_text(SOME)

    def change_after(*words: object, **options: object) -> None:
        copy(*words, **options)  # type: ignore[arg-type]
        append(path)

    monkeypatch.setattr(outputs, "_copy", change_after)
    assert main(["dedup", str(path), "-o", "-", "--quiet"]) == 2
    assert b"it was changed while it was being read" in capfdbinary.readouterr().err


def test_a_result_is_not_written_of_files_that_have_changed(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(SOME)
    result = roughly.dedup(tmp_path / "a.jsonl")
    result.write(tmp_path / "before.jsonl")
    assert (tmp_path / "before.jsonl").read_text().splitlines() == LEFT
    append(tmp_path / "a.jsonl")
    with pytest.raises(DocumentError, match=r"a\.jsonl: cannot read it again: it was changed"):
        result.write(tmp_path / "after.jsonl")
    assert not (tmp_path / "after.jsonl").exists()


@pytest.mark.parametrize(
    ("there", "said"),
    [
        ("a.txt/mine", "out/a.txt: will not write: it is a directory, wanted a file"),
        ("b.txt/mine", "out/b.txt: will not write: it is a directory, wanted a file"),
        ("sub", "out/sub: will not write: it is a file, wanted a directory"),
    ],
)
def test_what_cannot_be_overwritten_is_said_before_anything_is(
    there: str, said: str, tmp_path: Path
) -> None:
    """a.txt stays, b.txt goes: an earlier output may have it."""
    for name, text in {"a.txt": "one two", "b.txt": "ONE two", "sub/c.txt": "three"}.items():
        (tmp_path / "in" / name).parent.mkdir(exist_ok=True, parents=True)
        (tmp_path / "in" / name).write_text(text)
    mine = tmp_path / "out" / there
    mine.parent.mkdir(parents=True)
    mine.write_text("mine")
    before = sorted((tmp_path / "out").rglob("*"))
    run = command("dedup", "in", "-o", "out", "--force", cwd=tmp_path)
    assert_error(run, said, "move it away")
    assert sorted((tmp_path / "out").rglob("*")) == before and mine.read_text() == "mine"
    assert names(tmp_path) == ["in", "out"]


def test_removals_that_cannot_be_written_are_said_at_once(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(SOME)
    (tmp_path / "b.jsonl.removals.jsonl").mkdir()
    run = command("dedup", "a.jsonl", "-o", "b.jsonl", "--force", cwd=tmp_path)
    said = b"roughly: b.jsonl.removals.jsonl: will not write: it is a directory\n"
    assert (run.returncode, run.stderr) == (2, said)
    assert names(tmp_path) == ["a.jsonl", "b.jsonl.removals.jsonl"]


def test_nothing_lies_beside_the_root() -> None:
    run = command("dedup", __file__, "-o", "/", cwd=Path("/"))
    assert_error(run, "/: will not write: nothing can lie beside it", "name a file")


def test_names_of_compressions_that_are_not_written(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(SOME)
    run = command("dedup", "a.jsonl", "-o", "b.jsonl.bz2", cwd=tmp_path)
    assert_error(run, "b.jsonl.bz2: will not write: the name says a compression that", "choose")
    pq.write_table(pa.table({"text": ["a", "b"]}), tmp_path / "c.parquet")
    run = command("dedup", "c.parquet", "-o", "d.parquet.zst", cwd=tmp_path)
    assert_error(run, "d.parquet.zst: will not write: the name says a compression", "choose")
    (tmp_path / "e.txt").write_text("a text")
    for name in ("f.parquet", "f.warc"):
        run = command("dedup", "e.txt", "-o", name, cwd=tmp_path)
        assert_error(run, f"{name}: will not write: the name says {name[2:]}", "the input's")
    assert names(tmp_path) == ["a.jsonl", "c.parquet", "e.txt"]


def test_names_of_what_was_not_read(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text("no JSON\n" * 12 + SOME)
    run = command("dedup", "a.jsonl", "-o", "b.jsonl", cwd=tmp_path)
    assert b"12 skipped (12 not a JSON object); they stay in the output\n" in run.stderr
    assert run.stderr.count(b"not a JSON object: 'no JSON'\n") == 5
    assert b"\nroughly: and 7 more\n" in run.stderr
    run = command("dedup", "a.jsonl", "-o", "b.jsonl", "--force", "--json", cwd=tmp_path)
    told = json.loads(run.stdout)
    assert told["skipped"] == {"not a JSON object": 12}
    assert told["unread"] == [
        f"a.jsonl, line {n}: not a JSON object: 'no JSON'" for n in range(1, 13)
    ]


def test_who_may_read_an_output_stays_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.jsonl").write_text(SOME)
    for words in (["in/a.jsonl", "-o", "b.jsonl"], ["in", "-o", "out"]):
        assert command("dedup", *words, cwd=tmp_path).returncode == 0
        made = tmp_path / words[-1]
        own = [made / "a.jsonl"] if made.is_dir() else [made, Path(f"{made}.removals.jsonl")]
        for path in own:
            path.chmod(0o600)
        assert command("dedup", *words, "--force", cwd=tmp_path).returncode == 0
        assert [path.stat().st_mode & 0o777 for path in own] == [0o600] * len(own)


def test_nobody_else_reads_an_output_while_it_is_written(tmp_path: Path) -> None:
    (tmp_path / "b").write_text("before")
    (tmp_path / "b").chmod(0o600)
    with writing_part(tmp_path / ".b.part", tmp_path / "b", False):
        assert (tmp_path / ".b.part").stat().st_mode & 0o777 == 0o600


def test_links_stay_links(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(SOME)
    (tmp_path / "far").mkdir()
    for name in ("b.jsonl", "b.jsonl.removals.jsonl"):
        (tmp_path / "far" / name).write_text("before")
        (tmp_path / name).symlink_to(tmp_path / "far" / name)
    assert command("dedup", "a.jsonl", "-o", "b.jsonl", "--force", cwd=tmp_path).returncode == 0
    assert (tmp_path / "b.jsonl").is_symlink() and (
        tmp_path / "b.jsonl.removals.jsonl"
    ).is_symlink()
    assert (tmp_path / "far" / "b.jsonl").read_text().splitlines() == LEFT
    assert len((tmp_path / "far" / "b.jsonl.removals.jsonl").read_text().splitlines()) == 20
    assert names(tmp_path / "far") == ["b.jsonl", "b.jsonl.removals.jsonl"]


@pytest.mark.parametrize("left", [[], ["lock", "steps.json"]])
def test_a_place_to_work_is_ours_alone(left: list[str], tmp_path: Path) -> None:
    """All that is there goes when the run ends."""
    (tmp_path / "a.jsonl").write_text(SOME)
    (tmp_path / "large").mkdir()
    (tmp_path / "b.jsonl.unfinished").symlink_to("large")
    run = command("dedup", "a.jsonl", "-o", "b.jsonl", cwd=tmp_path)
    assert_error(run, "b.jsonl.unfinished: will not be used: it is a link", "remove it")
    (tmp_path / "b.jsonl.unfinished").unlink()
    (tmp_path / "large").rename(tmp_path / "b.jsonl.unfinished")
    for name in [*left, "thesis.tex"]:
        (tmp_path / "b.jsonl.unfinished" / name).write_text("mine")
    run = command("dedup", "a.jsonl", "-o", "b.jsonl", "--force", cwd=tmp_path)
    assert_error(run, "b.jsonl.unfinished: will not be used: there is something else", "move it")
    assert (tmp_path / "b.jsonl.unfinished" / "thesis.tex").read_text() == "mine"


@pytest.mark.parametrize("before", [["--format", "text"], ["--strict"]])
def test_a_run_goes_on_only_if_it_reads_the_same(
    before: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "in.dat").write_text(SOME)
    words = ["dedup", "in.dat", "-o", "out", "--format", "jsonl", *before]

    def fail(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.chdir(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(outputs, "_copy", fail)
        assert main([*words, "--quiet"]) == 2
    run = command(*words[:6], cwd=tmp_path)
    assert_error(run, "out.unfinished: cannot go on: a run was begun there with other", "use the")
    assert command(*words, cwd=tmp_path).returncode == 0


def test_a_forced_run_that_fails_promises_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The same command would begin anew."""
    (tmp_path / "a.jsonl").write_text(SOME)

    def fail(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(outputs, "_copy", fail)
    monkeypatch.chdir(tmp_path)
    assert main(["dedup", "a.jsonl", "-o", "b.jsonl", "--force"]) == 2
    assert capsys.readouterr().err.endswith("\nhint: make room, or choose another place\n")
    assert names(tmp_path) == ["a.jsonl"]
    assert main(["dedup", "a.jsonl", "-o", "b.jsonl"]) == 2
    assert "; then the same command goes on from b.jsonl.unfinished\n" in capsys.readouterr().err
    assert names(tmp_path) == ["a.jsonl", "b.jsonl.unfinished"]


def test_pipes_among_files_have_names(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(SOME)
    if shutil.which("bash") is None:
        pytest.skip("needs a shell with <(command)")
    python = shlex.quote(sys.executable)
    command_line = f"{python} -m roughly dedup - a.jsonl <(echo a text) -o out"
    subprocess.run(["bash", "-c", command_line], input=SOME.encode(), cwd=tmp_path, check=True)
    text, *lines = names(tmp_path / "out")
    assert lines == ["a.jsonl", "stdin.jsonl"] and text.isdigit()
    assert (tmp_path / "out" / "stdin.jsonl").read_text().splitlines() == LEFT
    assert (tmp_path / "out" / "a.jsonl").read_text() == ""


@pytest.mark.skipif(not os.path.exists("/proc/self/mem"), reason="no /proc here")
@pytest.mark.parametrize("words", [[], ["--format", "jsonl"]])
def test_what_cannot_be_read_is_no_fault_of_the_output(words: list[str], tmp_path: Path) -> None:
    run = command("dedup", "/proc/self/mem", "-o", "b", *words, cwd=tmp_path)
    assert run.returncode == 2
    assert b"/proc/self/mem: cannot read: input/output error" in run.stderr
    assert b"write" not in run.stderr and names(tmp_path) == []


def test_a_lock_that_is_removed_as_it_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who had it has just ended, with all that was there."""
    place, flock = tmp_path / "work", fcntl.flock

    def removed_first(descriptor: int, how: int) -> None:
        shutil.rmtree(place)
        flock(descriptor, how)

    monkeypatch.setattr(fcntl, "flock", removed_first)
    with pytest.raises(BusyError, match="in use"), WriterLock(place):
        pass
    monkeypatch.undo()
    with WriterLock(place):
        pass


def test_a_link_where_an_output_is_written_first_leads_nowhere(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("mine")
    part = tmp_path / ".b.part"
    part.symlink_to("mine")
    with writing_part(part, tmp_path / "b", False):
        assert not part.is_symlink() and part.read_bytes() == b""
    assert names(tmp_path) == ["mine"] and (tmp_path / "mine").read_text() == "mine"


def test_an_interruption_waits_for_those_who_share_the_work(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What they work with may be closed next."""
    both_have_one, done = threading.Barrier(2, timeout=60), []

    def work(item: int) -> None:
        both_have_one.wait()
        if threading.current_thread() is not threading.main_thread():
            time.sleep(0.2)
            done.append(item)

    def interrupted(*_: object) -> None:
        monkeypatch.undo()
        raise KeyboardInterrupt

    monkeypatch.setattr(threading.Thread, "join", interrupted)
    with pytest.raises(KeyboardInterrupt):
        share(range(2), work, 2)
    assert len(done) == 1


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
def test_an_impatient_interruption(tmp_path: Path) -> None:
    """Twice: tidied up all the same, without a traceback."""
    text = "".join(f"{json.dumps({'text': f'text {n} ' * 50})}\n" for n in range(30_000))
    (tmp_path / "a.jsonl").write_text(text)
    words = [sys.executable, "-m", "roughly", "dedup", "a.jsonl", "-o", "b.jsonl.zst", "--force"]
    with subprocess.Popen(words, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as run:
        part = tmp_path / ".b.jsonl.zst.part"
        while run.poll() is None and not (part.exists() and part.stat().st_size):
            time.sleep(0.001)
        run.send_signal(signal.SIGINT)
        run.send_signal(signal.SIGINT)
        _, err = run.communicate(timeout=60)
    if run.returncode in (0, -signal.SIGINT):
        pytest.skip("it had ended, or Python had nearly")
    assert (run.returncode, "Traceback" in err) == (130, False), err
    assert names(tmp_path) == ["a.jsonl"]
