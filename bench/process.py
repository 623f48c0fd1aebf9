"""What a command takes: seconds, memory, and space in a folder.

The command is started by a Python process that imports nothing else (this file, run as a program):
on Linux the peak of a new process begins with the peak of the one that started it. Where a command
starts processes itself, the peak is that of the largest.
"""

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType


@dataclass(frozen=True)
class Usage:
    """What one command took."""

    wall_s: float
    cpu_s: float
    peak_bytes: int  # resident


def run(command: Sequence[str], env: Mapping[str, str] | None = None) -> Usage:
    """Runs a command to its end; what it prints is shown only if it fails."""
    started = [sys.executable, "-I", "-S", __file__, *command]
    done = subprocess.run(
        started,
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[1],
        env={**os.environ, **(env or {})},
    )
    if done.returncode:
        raise SystemExit(
            f"{' '.join(command)}: failed: exit status {done.returncode}\n{done.stderr[-2000:]}"
        )
    return Usage(**json.loads(done.stdout))


class DiskPeak:
    """The most bytes that lay in a folder while the block ran, looked at 20 times a second, or
    less often where it has so many files that looking would take a twentieth of the time."""

    def __init__(self, folder: Path) -> None:
        self.bytes = 0
        self._folder = str(folder)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> "DiskPeak":
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._ended.set()
        self._thread.join()

    def _watch(self) -> None:
        while True:
            begin = time.thread_time()
            self.bytes = max(self.bytes, allocated(self._folder))
            if self._ended.wait(max(0.05, 20 * (time.thread_time() - begin))):
                # What was written last, too.
                self.bytes = max(self.bytes, allocated(self._folder))
                return


def allocated(folder: str) -> int:
    """Bytes that the files of a folder occupy."""
    total = 0
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                try:
                    if entry.is_dir(follow_symlinks=False):
                        total += allocated(entry.path)
                    else:
                        total += entry.stat(follow_symlinks=False).st_blocks * 512
                except FileNotFoundError:
                    continue  # gone since it was listed
    except FileNotFoundError:
        return 0
    return total


def _measure(command: list[str]) -> int:
    # What the command prints is not what is printed here.
    redirect = [(os.POSIX_SPAWN_DUP2, 2, 1)]
    begin = time.perf_counter()
    process = os.posix_spawnp(command[0], command, os.environ, file_actions=redirect)
    _, status, usage = os.wait4(process, 0)
    wall = time.perf_counter() - begin
    unit = 1 if sys.platform == "darwin" else 1024
    found = {
        "wall_s": wall,
        "cpu_s": usage.ru_utime + usage.ru_stime,
        "peak_bytes": usage.ru_maxrss * unit,
    }
    print(json.dumps(found))
    return os.waitstatus_to_exitcode(status) % 256


if __name__ == "__main__":
    sys.exit(_measure(sys.argv[1:]))
