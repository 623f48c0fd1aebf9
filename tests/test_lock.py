"""One writer for a directory, however the one before it ended."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from roughly.errors import BusyError, DocumentError
from roughly.storage.lock import WriterLock

HOLD = """
import sys
from pathlib import Path
from roughly.storage.lock import WriterLock
with WriterLock(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.readline()
"""
TAKE = """
import sys
from pathlib import Path
from roughly.errors import BusyError
from roughly.storage.lock import WriterLock
try:
    with WriterLock(Path(sys.argv[1])):
        print("held")
except BusyError as error:
    print(error)
"""


def holder(directory: Path) -> "subprocess.Popen[str]":
    child = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(directory)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "held\n"
    return child


def test_the_second_is_told_who_is_first(tmp_path: Path) -> None:
    directory = tmp_path / "a" / "b"
    with holder(directory) as child:
        try:
            with (
                pytest.raises(
                    BusyError,
                    match=rf"^{directory}: in use: process {child.pid} is writing to it\nhint: ",
                ),
                WriterLock(directory),
            ):
                pass
        finally:
            child.communicate("go\n")
    with WriterLock(directory):
        assert (directory / "lock").read_text() == f"{os.getpid()}\n"


def test_another_process_is_refused(tmp_path: Path) -> None:
    with WriterLock(tmp_path):
        run = subprocess.run(
            [sys.executable, "-c", TAKE, str(tmp_path)], capture_output=True, text=True, timeout=60
        )
    assert run.stdout.startswith(f"{tmp_path}: in use: process {os.getpid()} is writing to it\n")
    run = subprocess.run(
        [sys.executable, "-c", TAKE, str(tmp_path)], capture_output=True, text=True, timeout=60
    )
    assert run.stdout == "held\n"


def test_free_after_a_kill(tmp_path: Path) -> None:
    with holder(tmp_path) as child:
        child.send_signal(signal.SIGKILL)
    assert child.returncode == -signal.SIGKILL
    with WriterLock(tmp_path):
        pass


def test_the_same_process_is_refused_too(tmp_path: Path) -> None:
    with WriterLock(tmp_path):
        with pytest.raises(BusyError, match=f"process {os.getpid()} "), WriterLock(tmp_path):
            pass
        # The refusal took nothing from the holder.
        with pytest.raises(BusyError), WriterLock(tmp_path):
            pass
    with WriterLock(tmp_path):
        pass


def test_an_exception_frees_it(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), WriterLock(tmp_path):
        raise ZeroDivisionError
    with WriterLock(tmp_path):
        pass


def test_a_holder_that_has_not_said_who_it_is(tmp_path: Path) -> None:
    with WriterLock(tmp_path):
        (tmp_path / "lock").write_text("")
        with pytest.raises(BusyError, match="in use: another process"), WriterLock(tmp_path):
            pass


def test_a_directory_that_cannot_be(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(DocumentError, match="cannot write: "), WriterLock(tmp_path / "file"):
        pass
