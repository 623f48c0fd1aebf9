"""The journal of a run: what it says is done is done, whenever the run was stopped."""

import errno
import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from roughly.errors import DamageError, DocumentError, MismatchError
from roughly.storage import steps as steps_module
from roughly.storage.checked import CheckedMap, checked_writer
from roughly.storage.steps import Steps
from tests.optional import FULL

PARAMETERS: dict[str, Any] = {"w": 5, "select": "adaptive:200", "inputs": ["a", "b"], "floor": None}


def make(path: Path, data: bytes = b"some data") -> Path:
    with checked_writer(path) as file:
        file.write(data)
    return path


def finished(directory: Path, **records: dict[str, Any]) -> None:
    """A run that records these steps, each with an output of its name."""
    steps = Steps(directory, PARAMETERS)
    for name, facts in records.items():
        steps.record(name, [make(directory / name)], facts)
    steps.finish()


def test_a_run_goes_on(tmp_path: Path) -> None:
    finished(tmp_path, sketch={"rows": 7}, pairs={"count": [1, 2], "all": True})
    again = Steps(tmp_path, dict(reversed(PARAMETERS.items())))
    assert [again.done(name) for name in ("sketch", "pairs", "forest")] == [True, True, False]
    assert again.facts("sketch") == {"rows": 7}
    assert again.facts("pairs") == {"count": [1, 2], "all": True}
    assert again.facts("forest") == {}
    again.record("forest", [], {})
    assert again.done("forest")
    again.finish()
    assert Steps(tmp_path, PARAMETERS).done("forest")


def test_recorded_is_done_at_once(tmp_path: Path) -> None:
    steps = Steps(tmp_path, PARAMETERS)
    steps.record("sketch", [make(tmp_path / "x")], {"rows": 7})
    assert steps.done("sketch")
    assert steps.facts("sketch") == {"rows": 7}
    steps.finish()
    steps.record("pairs", [tmp_path / "x"], {})
    steps.finish()
    steps.finish()
    assert Steps(tmp_path, PARAMETERS).done("pairs")


def test_other_parameters_are_refused(tmp_path: Path) -> None:
    finished(tmp_path, sketch={})
    with pytest.raises(MismatchError) as error:
        Steps(tmp_path, PARAMETERS | {"w": 10, "inputs": ["a"]})
    assert error.value.message == (
        f"{tmp_path}: cannot go on: a run was begun there with other parameters:"
        " inputs=['a', 'b'], w=5 against inputs=['a'], w=10"
    )
    assert "--force" in (error.value.hint or "")
    with pytest.raises(MismatchError, match="no seed against seed=0"):
        Steps(tmp_path, PARAMETERS | {"seed": 0})
    with pytest.raises(MismatchError, match="floor=None against no floor"):
        Steps(tmp_path, {name: value for name, value in PARAMETERS.items() if name != "floor"})
    assert Steps(tmp_path, PARAMETERS).done("sketch")


def test_force_begins_anew(tmp_path: Path) -> None:
    finished(tmp_path, sketch={})
    steps = Steps(tmp_path, {"w": 10}, force=True)
    assert not steps.done("sketch")
    steps.finish()
    with pytest.raises(MismatchError):
        Steps(tmp_path, PARAMETERS)
    assert not Steps(tmp_path, {"w": 10}).done("sketch")


def test_forgetting_that_was_interrupted(tmp_path: Path) -> None:
    """The run's own record goes first; steps without it count for nothing."""
    finished(tmp_path, sketch={})
    (tmp_path / "steps.json").unlink()
    assert not Steps(tmp_path, {"w": 10}).done("sketch")
    assert not Steps(tmp_path, {"w": 10}).done("sketch")


@pytest.mark.parametrize("name", ["sketch", "sketch.crc32c"])
def test_without_its_outputs_a_step_is_not_done(tmp_path: Path, name: str) -> None:
    finished(tmp_path, sketch={"rows": 7}, pairs={})
    data = (tmp_path / name).read_bytes()
    for other in (data[:-1], data + b"x"):
        (tmp_path / name).write_bytes(other)
        assert not Steps(tmp_path, PARAMETERS).done("sketch")
    (tmp_path / name).unlink()
    steps = Steps(tmp_path, PARAMETERS)
    assert not steps.done("sketch")
    assert steps.done("pairs")
    (tmp_path / name).write_bytes(data)
    assert steps.done("sketch")


def test_outputs_move_with_their_directory(tmp_path: Path) -> None:
    finished(tmp_path / "a", sketch={})
    outside = make(tmp_path / "outside")
    steps = Steps(tmp_path / "a", PARAMETERS)
    steps.record("out", [outside], {})
    steps.finish()
    (tmp_path / "a").rename(tmp_path / "b")
    moved = Steps(tmp_path / "b", PARAMETERS)
    assert moved.done("sketch")
    assert moved.done("out")
    outside.unlink()
    assert not moved.done("out")


def test_an_output_that_is_not_there(tmp_path: Path) -> None:
    steps = Steps(tmp_path, PARAMETERS)
    with pytest.raises(DamageError, match=f"^{tmp_path / 'x'}: damaged: it is missing"):
        steps.record("sketch", [tmp_path / "x"], {})
    steps.finish()
    assert not steps.done("sketch")


def test_forget(tmp_path: Path) -> None:
    finished(tmp_path, sketch={}, pairs={})
    steps = Steps(tmp_path, PARAMETERS)
    for name in ("sketch", "never recorded"):
        steps.forget(name)
        assert not steps.done(name)
    assert not Steps(tmp_path, PARAMETERS).done("sketch")
    assert Steps(tmp_path, PARAMETERS).done("pairs")


def test_forget_what_is_still_on_its_way(tmp_path: Path) -> None:
    steps = Steps(tmp_path, PARAMETERS)
    for _ in range(20):
        steps.record("sketch", [make(tmp_path / "x")], {})
        steps.forget("sketch")
    steps.finish()
    assert not steps.done("sketch")
    assert not Steps(tmp_path, PARAMETERS).done("sketch")


@pytest.mark.parametrize("name", ["steps.json", "steps/sketch.json"])
def test_every_flipped_byte_of_a_record_is_found(tmp_path: Path, name: str) -> None:
    finished(tmp_path, sketch={"rows": 7, "names": ["ä", "b"]})
    path = tmp_path / name
    data = path.read_bytes()
    for at in range(len(data)):
        path.write_bytes(data[:at] + bytes([data[at] ^ 1 << at % 8]) + data[at + 1 :])
        with pytest.raises(DamageError, match=f"^{path}: damaged: .*\nhint: .*--force"):
            Steps(tmp_path, PARAMETERS).done("sketch")
    path.write_bytes(data[:-5])
    with pytest.raises(DamageError, match=f"^{path}: damaged: "):
        Steps(tmp_path, PARAMETERS).done("sketch")
    path.write_bytes(data)
    assert Steps(tmp_path, PARAMETERS).done("sketch")


def test_a_record_under_another_name(tmp_path: Path) -> None:
    finished(tmp_path, sketch={})
    (tmp_path / "steps" / "sketch.json").rename(tmp_path / "steps" / "pairs.json")
    with pytest.raises(DamageError, match=r"pairs\.json: damaged: it is the record of another"):
        Steps(tmp_path, PARAMETERS).done("pairs")


# --- the disk -------------------------------------------------------------------------------------


def test_the_record_comes_after_its_outputs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each output, its checksums, and their directory are synced before the record is written; and
    the caller does not wait for any of that."""
    events: list[str] = []
    go = threading.Event()
    steps = Steps(tmp_path, PARAMETERS)
    sync, write = steps_module.sync, steps_module.write_durably

    def slow_sync(path: Path) -> None:
        assert go.wait(60)
        events.append(f"sync {path.name}")
        sync(path)

    def noted_write(path: Path, data: bytes, durable: bool) -> None:
        events.append(f"write {path.name}")
        write(path, data, durable)

    monkeypatch.setattr(steps_module, "sync", slow_sync)
    monkeypatch.setattr(steps_module, "write_durably", noted_write)
    for name in ("one", "two"):
        steps.record(name, [make(tmp_path / name)], {})
    assert events == []
    assert not (tmp_path / "steps" / "one.json").exists()
    go.set()
    steps.finish()
    expected = []
    for name in ("one", "two"):
        expected += [f"sync {name}", f"sync {name}.crc32c", f"sync {tmp_path.name}"]
        expected += [f"write {name}.json"]
    assert events == expected


def test_nothing_waits_for_the_disk_unless_it_should(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(descriptor: int) -> None:
        raise AssertionError("synced")

    monkeypatch.setattr(os, "fsync", refuse)
    steps = Steps(tmp_path, PARAMETERS, durable=False)
    steps.record("sketch", [make(tmp_path / "x")], {})
    steps.finish()
    steps.forget("sketch")


def test_what_goes_wrong_is_said_and_later_steps_are_not_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = Steps(tmp_path, PARAMETERS)
    steps.record("one", [make(tmp_path / "one")], {})
    steps.finish()

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        steps.record("two", [make(tmp_path / "two")], {})
        message = f"^{tmp_path / 'two'}: cannot write: no space left on device\nhint: make room"
        with pytest.raises(DocumentError, match=message):
            steps.finish()
    with pytest.raises(DocumentError, match=message):
        steps.record("three", [make(tmp_path / "three")], {})
    with pytest.raises(DocumentError, match=message):
        steps.finish()
    again = Steps(tmp_path, PARAMETERS)
    assert [again.done(name) for name in ("one", "two", "three")] == [True, False, False]


def test_leaving_waits_and_says_what_went_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ZeroDivisionError), Steps(tmp_path, PARAMETERS) as steps:
        steps.record("one", [make(tmp_path / "one")], {})
        raise ZeroDivisionError
    assert (tmp_path / "steps" / "one.json").exists()

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    for inside, outside in ((None, DocumentError), (ZeroDivisionError, ZeroDivisionError)):
        with pytest.raises(outside), Steps(tmp_path, PARAMETERS) as steps:
            monkeypatch.setattr(os, "fsync", full)
            steps.record("two", [make(tmp_path / "two")], {})
            if inside is not None:
                raise inside
        monkeypatch.undo()


def test_a_record_on_a_full_disk_is_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What fills the disk is often the next step, which lets go of it when it fails."""
    real = steps_module.write_durably

    def full(path: Path, data: bytes, durable: bool = True) -> None:
        raise DocumentError("full")

    with pytest.raises(ZeroDivisionError), Steps(tmp_path, PARAMETERS) as steps:
        monkeypatch.setattr(steps_module, "write_durably", full)
        steps.record("one", [make(tmp_path / "one")], {})
        while steps._failure is None:
            time.sleep(0.001)
        monkeypatch.setattr(steps_module, "write_durably", real)
        with pytest.raises(DocumentError, match="full"):
            steps.record("two", [make(tmp_path / "two")], {})
        raise ZeroDivisionError
    again = Steps(tmp_path, PARAMETERS)
    assert [again.done(name) for name in ("one", "two")] == [True, False]


def test_a_place_that_cannot_be_written_to(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(DocumentError, match="cannot write: "):
        Steps(tmp_path / "file" / "run", PARAMETERS)


# --- killed ---------------------------------------------------------------------------------------

RUN = """
import sys
from pathlib import Path
from roughly.storage.checked import checked_writer
from roughly.storage.steps import Steps
directory, count = Path(sys.argv[1]), int(sys.argv[2])
steps = Steps(directory, {"count": count})
print("begun", flush=True)
for i in range(count):
    name = f"step-{i}"
    if not steps.done(name):
        with checked_writer(directory / name) as file:
            for k in range(5):
                file.write(bytes([i % 256]) * 20_000)
        steps.record(name, [directory / name], {"i": i})
steps.finish()
print("ended", flush=True)
"""


def test_killed_at_any_moment(tmp_path: Path) -> None:
    """After each kill every record is whole and its output is; in the end all is done. Each run
    gets a little further, so the moments spread over the whole of it."""
    chance = random.Random() if FULL else random.Random(7)
    count, kills, killed = 200, 60 if FULL else 6, 0
    command = [sys.executable, "-c", RUN, str(tmp_path), str(count)]
    for _ in range(kills):
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
            assert child.stdout is not None
            assert child.stdout.readline() == "begun\n"
            time.sleep(chance.random() ** 3 * 0.2)
            child.send_signal(signal.SIGKILL)
        killed += child.returncode == -signal.SIGKILL
        if (tmp_path / "steps").exists():
            check_records(tmp_path, count)
    assert killed
    end = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert (end.returncode, end.stdout, end.stderr) == (0, "begun\nended\n", "")
    assert check_records(tmp_path, count) == count
    left = {path.name for path in tmp_path.rglob(".*")}
    assert not left


def check_records(directory: Path, count: int) -> int:
    """How many there are; they are the first ones, without a gap."""
    recorded = {path.name for path in (directory / "steps").glob("[!.]*")}
    assert recorded == {f"step-{i}.json" for i in range(len(recorded))}
    steps = Steps(directory, {"count": count})
    for i in range(len(recorded)):
        assert steps.done(f"step-{i}")
        assert steps.facts(f"step-{i}") == {"i": i}
        assert bytes(CheckedMap(directory / f"step-{i}").view()) == bytes([i % 256]) * 100_000
    return len(recorded)
