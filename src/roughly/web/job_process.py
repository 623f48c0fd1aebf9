"""The process of one job: `python -m roughly.web.job_process FOLDER PARENT`.

It reads what to do from the folder, tells there how far it is, and leaves there what it found or
why it failed. It ends by itself if the process that started it is gone, or if it takes too long.
Nothing it does can change the corpus.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from roughly.errors import RoughlyError
from roughly.web.job import Progress, read_json, state_of, write_json

MOST_SECONDS = 6 * 3600
# What a page shows need not be newer.
_TELL_SECONDS = 0.2
_WATCH_SECONDS = 0.5


class Telling:
    """Writes how far the work is, now and then. What the work calls is `phase`, and what that
    returns."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "progress.json"
        self._told = 0.0
        self._now = Progress()

    def phase(self, name: str, total: int | None, unit: str) -> Callable[[int], None]:
        """Begins a phase of so many steps; the function is to be told of every step."""
        self._tell(Progress(name, 0, total, unit), at_once=True)

        def advance(done: int) -> None:
            now = self._now
            self._tell(Progress(now.phase, now.done + done, now.total, now.unit))

        return advance

    def _tell(self, now: Progress, at_once: bool = False) -> None:
        self._now = now
        moment = time.monotonic()
        if at_once or moment - self._told >= _TELL_SECONDS or now.done == now.total:
            self._told = moment
            write_json(self._path, asdict(now))


def fail(folder: Path, message: str, hint: str | None = None) -> None:
    """Leaves why there is no result."""
    write_json(folder / "error.json", {"message": message, "hint": hint or ""})


def watch(folder: Path, parent: int) -> None:
    """Ends this process when nobody waits for it any more."""
    begin = time.monotonic()
    while True:
        time.sleep(_WATCH_SECONDS)
        if os.getppid() != parent:
            fail(folder, "job: stopped: the service that started it has ended", "start it again")
            os._exit(1)
        if time.monotonic() - begin > MOST_SECONDS:
            fail(folder, f"job: stopped: it took longer than {MOST_SECONDS // 3600} hours")
            os._exit(1)


def main(folder: Path, parent: int) -> int:
    """Does what the folder asks for."""
    # Pages and answers come first.
    os.nice(10)
    threading.Thread(target=watch, args=(folder, parent), daemon=True).start()
    request = read_json(folder / "request.json")
    try:
        from roughly.corpus.corpus import Corpus
        from roughly.web.work import WORK

        corpus = Corpus(request["corpus"])
        found = WORK[request["work"]](corpus, request["arguments"], folder, Telling(folder).phase)
        write_json(folder / "result.json", found | {"corpus_state": state_of(corpus)})
    except RoughlyError as error:
        fail(folder, error.message, error.hint)
        return 1
    except MemoryError:
        fail(folder, "job: stopped: there is not enough memory")
        return 1
    except Exception as error:
        fail(folder, f"job: stopped by a fault of this program: {type(error).__name__}: {error}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), int(sys.argv[2])))
