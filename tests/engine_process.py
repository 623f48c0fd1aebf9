"""`python -m tests.engine_process MASTER DOCUMENTS ANSWER CHECKPOINT [--kill]`: clusters documents,
a JSON file, at a Spark master in a process of its own and writes the canonical rows.

With --kill an executor is killed (SIGKILL) in the middle of every table that is made: as soon as a
task of it runs. What is printed are the names of these tables.
"""

import json
import os
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any

from roughly import Sketcher
from roughly.spark.checkpoint import Checkpoints
from roughly.spark.clustering import Sizes
from roughly.spark.session import open_session
from tests.engine import SMALL, spark_answer

SETTINGS = SMALL | {
    "spark.executor.memory": "600m",
    "spark.executor.cores": "1",
    # Executors are lost again and again here.
    "spark.deploy.maxExecutorRetries": "-1",
    "spark.task.maxFailures": "20",
    "spark.stage.maxConsecutiveAttempts": "20",
    "spark.excludeOnFailure.enabled": "false",
    "spark.network.timeout": "120s",
}


def executors(application: str) -> list[int]:
    """The processes of an application's executors on this machine."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        named = any(word.endswith(b"CoarseGrainedExecutorBackend") for word in words)
        if named and application.encode() in words:
            found.append(int(folder.name))
    return sorted(found)


class Killer:
    """Kills an executor while a table is made."""

    def __init__(self, session: Any) -> None:
        self._context = session.sparkContext
        self.killed: list[str] = []

    def watch(self, name: str, done: threading.Event) -> None:
        tracker = self._context.statusTracker()
        while not done.is_set():
            stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
            if any(stage is not None and stage.numActiveTasks for stage in stages):
                pids = executors(self._context.applicationId)
                if pids:
                    os.kill(pids[0], signal.SIGKILL)
                    self.killed.append(name)
                    return
            time.sleep(0.01)

    def install(self) -> None:
        keep = Checkpoints.keep

        def killing(checkpoints: Checkpoints, name: str, table: Any) -> Any:
            done = threading.Event()
            thread = threading.Thread(target=self.watch, args=(name, done))
            thread.start()
            try:
                return keep(checkpoints, name, table)
            finally:
                done.set()
                thread.join()

        Checkpoints.keep = killing  # type: ignore[method-assign]


def main() -> None:
    master, documents, answer, checkpoint, *more = sys.argv[1:]
    session = open_session(master, SETTINGS)
    killer = Killer(session)
    if more == ["--kill"]:
        killer.install()
    texts = json.loads(Path(documents).read_text())
    sketcher = Sketcher(select="adaptive:100")
    found = spark_answer(
        session, texts, sketcher, threshold=0.7, checkpoint=checkpoint, sizes=Sizes(alone=0)
    )
    Path(answer).write_text(json.dumps(vars(found)))
    print(json.dumps(killer.killed))
    session.stop()


if __name__ == "__main__":
    main()
