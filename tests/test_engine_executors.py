"""Real executor processes give the same answer, and so do those that are killed on the way."""

import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from roughly import Sketcher
from tests.engine import Answer, local_answer, need_spark
from tests.optional import FULL
from tests.test_engine_cluster import web

pytestmark = pytest.mark.skipif(not FULL, reason="full counts only")

# Every phase that makes a table out of many rows; not that of components, whose few rows are often
# done before anybody sees a task of it.
PHASES = {"sketches", "ordered", "equivalents", "frequencies", "hubs", "pairs-resemblance"}
PHASES |= {"links-resemblance-0", "documents"}


def clustered(master: str, folder: Path, *options: str) -> tuple[Answer, list[str]]:
    documents = web(300, 130)
    (folder / "documents.json").write_text(json.dumps(documents))
    run = subprocess.run(
        [
            *(sys.executable, "-m", "tests.engine_process", master),
            *(folder / "documents.json", folder / "answer.json", f"file://{folder}/run"),
            *options,
        ],
        cwd=Path(__file__).parents[1],
        env=os.environ | {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"},
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert run.returncode == 0, run.stderr[-4000:]
    plain = json.loads((folder / "answer.json").read_text())
    rows = {name: [tuple(row) for row in table] for name, table in plain.items()}
    return Answer(**rows), json.loads(run.stdout.splitlines()[-1])


def wanted() -> Answer:
    return local_answer(web(300, 130), Sketcher(select="adaptive:100"), threshold=0.7)


def test_separate_executors(tmp_path: Path) -> None:
    need_spark()
    found, _ = clustered("local-cluster[2,1,1024]", tmp_path)
    assert found == wanted()


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
        except OSError:
            pass
        time.sleep(0.2)
    pytest.fail(f"no {count} workers at {url}: {state}")


def test_an_executor_killed_in_every_phase(standalone: str, tmp_path: Path) -> None:
    """Again where a phase was over before anybody was killed."""
    killed: set[str] = set()
    for attempt in range(3):
        folder = tmp_path / str(attempt)
        folder.mkdir()
        found, names = clustered(standalone, folder, "--kill")
        assert found == wanted()
        killed |= set(names)
        if killed >= PHASES:
            return
    assert killed >= PHASES
