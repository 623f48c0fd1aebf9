"""A Spark session to work in: whether Spark can run here at all, and the settings it gets.

Whoever brings a DataFrame brings a session; `open_session` is for the command line. Everything that
is missing is told in one sentence before Spark starts.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING

from roughly.errors import RoughlyError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LEAST_JAVA = 17
_MASTER = re.compile(r"local(\[.+\])?|local-cluster\[.+\]|spark://.+|k8s://.+|yarn")

# Documents cross to Python in batches that fit in a worker's memory, whatever their length.
_SETTINGS = {
    "spark.sql.execution.arrow.maxRecordsPerBatch": "4096",
    "spark.sql.session.timeZone": "UTC",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}
# Java only moves bytes here. What its optimizing compiler does to that code comes to half of a
# run's processor time on one machine, and makes none of it faster; Java has a quicker one, too.
_JAVA_OPTIONS = "spark.driver.extraJavaOptions"
_QUICK_START = "-XX:TieredStopAtLevel=1"


class SparkError(RoughlyError):
    """Spark cannot be used here, or not with these documents."""


def check_spark() -> None:
    """Raises unless pyspark, pandas and a Java that runs them are here."""
    missing = [name for name in ("pyspark", "pandas") if find_spec(name) is None]
    if missing:
        raise SparkError(
            f"spark: cannot run: no {' and no '.join(missing)} installed, wanted both",
            hint="pip install 'roughly[spark]'",
        )
    java = java_command()
    if java is None:
        raise SparkError(
            f"spark: cannot run: no Java was found, wanted {LEAST_JAVA} or newer",
            hint="install one (Debian: openjdk-17-jre-headless), or set JAVA_HOME",
        )
    version = java_version(java)
    if version is not None and version < LEAST_JAVA:
        raise SparkError(
            f"spark: cannot run: {java} is Java {version}, wanted {LEAST_JAVA} or newer",
            hint="install one (Debian: openjdk-17-jre-headless), or set JAVA_HOME",
        )


def java_command() -> str | None:
    """The Java that Spark would start."""
    home = os.environ.get("JAVA_HOME")
    if home:
        return shutil.which("java", path=os.path.join(home, "bin"))
    return shutil.which("java")


def java_version(java: str) -> int | None:
    """17 of `openjdk version "17.0.12"`, 8 of "1.8.0"; None if it says nothing of the kind."""
    try:
        run = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = re.search(r'version "(?:1\.)?(\d+)', run.stderr + run.stdout)
    return int(found[1]) if found else None


def open_session(master: str | None = None, settings: Mapping[str, str] = {}) -> SparkSession:
    """The session of this process, or a new one at `master` (the machine's own cores unless given
    here or by spark-submit)."""
    check_spark()
    if master is not None and not _MASTER.fullmatch(master):
        # Spark's own answer is a trace of Java.
        raise SparkError(
            f"--master: not one of Spark's: {master!r}, wanted local[N], spark://HOST:PORT, yarn or"
            " k8s://ADDRESS",
            hint="leave it out to use this machine's cores",
        )
    from pyspark.sql import SparkSession

    # Executors on this machine run the Python that runs here.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    if master is not None and master.startswith("local"):
        # Whatever the machine's name stands for, nobody else is to connect.
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        settings = {_JAVA_OPTIONS: _QUICK_START, **settings}
    builder = SparkSession.builder.appName("roughly")
    if master is not None:
        builder = builder.master(master)
    for name, value in {**_SETTINGS, **settings}.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()
