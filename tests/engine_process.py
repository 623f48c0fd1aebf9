"""`python -m tests.engine_process JOB MASTER DOCUMENTS ANSWER CHECKPOINT [--kill | --die TABLE]`:
clusters or dedups documents, a JSON file, or joins their simhashes, at a Spark master in a process
of its own, and writes the canonical rows.

With --kill an executor is killed (SIGKILL) in the middle of every table that is made: as soon as a
task of it runs, and no table is made before; with --die this process itself, in the middle of one
table. What is printed are the names of the tables in which somebody was killed, and of every table
whether it was made or found.
"""

import json
import logging
import os
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from roughly import Sketcher, spark
from roughly.spark.checkpoint import Checkpoints
from roughly.spark.clustering import Sizes
from roughly.spark.session import open_session
from tests.engine import SMALL, frame_of, spark_answer

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


def waiting_for(mark: str) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """The same rows when there is a file, or after a minute: a small table would be made before
    anybody can be killed."""

    def wait(batches: Iterator[Any]) -> Iterator[Any]:
        end = time.monotonic() + 60
        while not os.path.exists(mark) and time.monotonic() < end:
            time.sleep(0.02)
        yield from batches

    return wait


class Killer:
    """Kills an executor while a table is made, or this process while that one is."""

    def __init__(self, session: Any, dying: str | None) -> None:
        self._context = session.sparkContext
        self._dying = dying
        self._marks = Path(
            tempfile.mkdtemp()
        )  # a file for every table in which somebody was killed
        self.killed: list[str] = []

    def _watch(self, name: str, done: threading.Event) -> None:
        tracker = self._context.statusTracker()
        while not done.is_set():
            stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
            if any(stage is not None and stage.numActiveTasks for stage in stages):
                if self._dying is not None:
                    os.kill(os.getpid(), signal.SIGKILL)
                pids = executors(self._context.applicationId)
                if pids:
                    os.kill(pids[0], signal.SIGKILL)
                    self.killed.append(name)
                    (self._marks / name).touch()
                    return
            time.sleep(0.01)

    def during(self, name: str, work: Callable[[], Any]) -> Any:
        """What the work gives, though somebody is killed meanwhile."""
        if self._dying not in (None, name):
            return work()
        done = threading.Event()
        thread = threading.Thread(target=self._watch, args=(name, done))
        thread.start()
        try:
            return work()
        finally:
            done.set()
            thread.join()

    def install(self) -> None:
        keep = Checkpoints.keep

        def killing(checkpoints: Checkpoints, name: str, table: Any) -> Any:
            waiting = table.mapInArrow(waiting_for(str(self._marks / name)), table.schema)
            if self._dying not in (None, name):
                waiting = table
            return self.during(name, lambda: keep(checkpoints, name, waiting))

        Checkpoints.keep = killing  # type: ignore[method-assign]


def joined(session: Any, documents: list[dict[str, Any]], during: Any) -> dict[str, Any]:
    """The Hamming join of the first third of the documents with all."""
    frame = frame_of(session, documents, 6)
    made = spark.simhash(frame, content_type="text")
    ids = [document["id"] for document in documents[: len(documents) // 3]]
    queries = made.where(made["id"].isin(ids))
    pairs = during("queries", lambda: spark.hamming_join(queries, made, k=8))
    rows = during("probe", pairs.collect)
    names = ("query", "stored", "distance")
    return {"pairs": sorted([row[name] for name in names] for row in rows)}


def deduplicated(session: Any, documents: list[dict[str, Any]], checkpoint: str) -> dict[str, Any]:
    frame = frame_of(session, documents)
    sketcher = Sketcher(select="adaptive:100")
    # In one task there would be no phases to be killed in.
    found = spark.dedup(
        frame,
        0.7,
        keep="longest",
        sketcher=sketcher,
        checkpoint=checkpoint,
        sizes=Sizes(texts=0),
    )
    names = ("removed", "kept", "kind", "resemblance", "containment")
    return {"removals": sorted([row[name] for name in names] for row in found.removals().collect())}


def clustered(session: Any, documents: list[dict[str, Any]], checkpoint: str) -> dict[str, Any]:
    sketcher, sizes = Sketcher(select="adaptive:100"), Sizes(alone=0)
    options: dict[str, Any] = {"threshold": 0.7, "checkpoint": checkpoint, "sizes": sizes}
    return vars(spark_answer(session, documents, sketcher, **options))


class Tables(logging.Handler):
    """Of every table whether it was made or found."""

    def __init__(self) -> None:
        super().__init__()
        self.states: dict[str, str] = {}

    def emit(self, record: logging.LogRecord) -> None:
        name, state = record.getMessage().split(",")[0].split(": ")
        self.states[name] = state


def main() -> None:
    job, master, documents, answer, checkpoint, *more = sys.argv[1:]
    tables, log = Tables(), logging.getLogger("roughly.spark")
    log.addHandler(tables)
    log.setLevel(logging.INFO)
    session = open_session(master, SETTINGS)
    killer = Killer(session, more[1] if more[:1] == ["--die"] else None)
    if more:
        killer.install()
    texts = json.loads(Path(documents).read_text())
    if job == "hamming_join":
        found = joined(session, texts, killer.during if more else lambda name, work: work())
    elif job == "dedup":
        found = deduplicated(session, texts, checkpoint)
    else:
        found = clustered(session, texts, checkpoint)
    Path(answer).write_text(json.dumps(found))
    print(json.dumps({"killed": killer.killed, "tables": tables.states}))
    session.stop()


if __name__ == "__main__":
    main()
