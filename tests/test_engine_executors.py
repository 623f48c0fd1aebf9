"""Real executor processes give the same answer, and so do those that are killed on the way."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import roughly
from roughly import Simhasher, Sketcher
from tests.engine import Answer, local_answer, need_spark
from tests.optional import FULL
from tests.test_engine_cluster import web

pytestmark = pytest.mark.skipif(not FULL, reason="full counts only")

# Tables that must be among those that are made.
PHASES = {"sketches", "ordered", "equivalents", "frequencies", "hubs-tried", "hubs"}
PHASES |= {"pairs-resemblance-met", "pairs-resemblance", "links-resemblance", "documents"}
DEDUP_PHASES = {"sketches", "ordered", "equivalents", "frequencies", "hubs-tried", "hubs"}
DEDUP_PHASES |= {"pairs-0-met", "pairs-0-found", "pairs-0", "removals"}
JOIN_PHASES = {"queries", "probe"}

Rows = dict[str, list[tuple[Any, ...]]]


def started(job: str, master: str, folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    (folder / "documents.json").write_text(json.dumps(web(300, 130)))
    return subprocess.run(
        [
            *(sys.executable, "-m", "tests.engine_process", job, master),
            *(folder / "documents.json", folder / "answer.json", f"file://{folder}/run"),
            *options,
        ],
        cwd=Path(__file__).parents[1],
        env=os.environ | {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"},
        capture_output=True,
        text=True,
        timeout=900,
    )


def done(job: str, master: str, folder: Path, *options: str) -> tuple[Rows, dict[str, Any]]:
    """Rows of the answer, and what the process tells of its tables."""
    run = started(job, master, folder, *options)
    assert run.returncode == 0, run.stderr[-4000:]
    plain = json.loads((folder / "answer.json").read_text())
    rows = {name: [tuple(row) for row in table] for name, table in plain.items()}
    return rows, json.loads(run.stdout.splitlines()[-1])


def wanted() -> Answer:
    return local_answer(web(300, 130), Sketcher(select="adaptive:100"), threshold=0.7)


def wanted_removals() -> Rows:
    sketcher = Sketcher(select="adaptive:100")
    # Of equally long ones Spark keeps the first by id: a DataFrame has no order of its own.
    documents = sorted(web(300, 130), key=lambda document: str(document["id"]))
    found = roughly.dedup(documents, 0.7, keep="longest", sketcher=sketcher, threads=1)
    names = ("removed", "kept", "kind", "resemblance", "containment")
    rows = [tuple(row[name] for name in names) for row in found.removals().to_pylist()]
    return {"removals": sorted(rows)}


def wanted_pairs() -> Rows:
    documents, simhasher = web(300, 130), Simhasher()
    made = [(d["id"], simhasher.simhash(d["text"], "text")) for d in documents]
    queries = [(id, value) for id, value in made[: len(made) // 3] if value is not None]
    pairs = [
        (query, stored, (one ^ other).bit_count())
        for query, one in queries
        for stored, other in made
        if other is not None and (one ^ other).bit_count() <= 8
    ]
    return {"pairs": sorted(pairs)}


def test_separate_executors(tmp_path: Path) -> None:
    need_spark()
    found, _ = done("cluster", "local-cluster[2,1,1024]", tmp_path)
    assert Answer(**found) == wanted()


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@pytest.fixture
def standalone(tmp_path: Path) -> Iterator[str]:
    """A master and two workers of one core each."""
    need_spark()
    import pyspark

    home = Path(pyspark.__file__).parent
    port, page = free_port(), free_port()
    address = f"spark://127.0.0.1:{port}"
    environment = os.environ | {
        "SPARK_HOME": str(home),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_WORKER_DIR": str(tmp_path / "work"),
    }
    launcher = str(home / "bin" / "spark-class")
    commands: list[list[str]] = [
        ["master.Master", "--host", "127.0.0.1", "--port", str(port), "--webui-port", str(page)]
    ]
    commands += 2 * [
        ["worker.Worker", "--cores", "1", "--memory", "1g", "--webui-port", "0", address]
    ]
    started: list[subprocess.Popen[bytes]] = []
    try:
        for number, (name, *words) in enumerate(commands):
            with open(tmp_path / f"daemon-{number}.log", "wb") as log:
                started.append(
                    subprocess.Popen(
                        [launcher, f"org.apache.spark.deploy.{name}", *words],
                        env=environment,
                        stdout=log,
                        stderr=log,
                    )
                )
        wait_for_workers(f"http://127.0.0.1:{page}/json/", 2)
        yield address
    finally:
        for process in reversed(started):
            process.terminate()
        for process in started:
            process.wait(60)


def wait_for_workers(url: str, count: int) -> None:
    state: Any = None
    for _ in range(600):
        try:
            with urllib.request.urlopen(url, timeout=5) as answer:
                state = json.load(answer)
            if sum(worker["state"] == "ALIVE" for worker in state["workers"]) == count:
                return
        except (OSError, ValueError):  # not there yet, or not yet in JSON
            pass
        time.sleep(0.2)
    pytest.fail(f"no {count} workers at {url}: {state}")


@pytest.mark.parametrize(
    ("job", "phases", "expected"),
    [
        ("cluster", PHASES, lambda: vars(wanted())),
        ("dedup", DEDUP_PHASES, wanted_removals),
        ("hamming_join", JOIN_PHASES, wanted_pairs),
    ],
    ids=["cluster", "dedup", "hamming_join"],
)
def test_an_executor_killed_in_every_phase(
    job: str, phases: set[str], expected: Callable[[], Rows], standalone: str, tmp_path: Path
) -> None:
    found, told = done(job, standalone, tmp_path, "--kill")
    assert found == expected()
    assert set(told["killed"]) >= phases | {
        n for n, state in told["tables"].items() if state == "made"
    }


@pytest.mark.parametrize(
    ("job", "table", "before", "expected"),
    [
        (
            "cluster",
            "pairs-resemblance",
            {"sketches", "ordered", "equivalents", "frequencies", "hubs-tried", "hubs"}
            | {"masses", "pairs-resemblance-met"},
            lambda: vars(wanted()),
        ),
        ("dedup", "frequencies", {"sketches", "ordered", "equivalents"}, wanted_removals),
    ],
    ids=["cluster", "dedup"],
)
def test_a_driver_killed_in_a_phase(
    job: str, table: str, before: set[str], expected: Callable[[], Rows], tmp_path: Path
) -> None:
    """Started again, it makes that table, and none of those before."""
    need_spark()
    killed = started(job, "local[2]", tmp_path, "--die", table)
    assert killed.returncode == -signal.SIGKILL
    found, told = done(job, "local[2]", tmp_path)
    assert found == expected()
    assert {name for name, state in told["tables"].items() if state == "found"} >= before
    # Its Java may have completed the table before it noticed, never the next one.
    late = {name for name, state in told["tables"].items() if state == "found"} - before
    assert not {name for name in late if not name.startswith("rung-")} - {table}
