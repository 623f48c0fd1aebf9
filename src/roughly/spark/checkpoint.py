"""Tables that later phases start from, kept so that what is lost costs one stage.

Every table is a folder of Parquet in a directory that all executors can reach (local for a local
master, else hdfs, s3a and the like): a lost executor's tasks read it again, and a driver that is
started again with the same directory and parameters goes on behind the last complete table. Each
is told in the log with its rows, its bytes, how much larger its largest part is than the mean, and
the bytes that were shuffled for it.
"""

from __future__ import annotations

import atexit
import json
import logging
import shutil
import tempfile
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from roughly.errors import MismatchError
from roughly.spark.session import SparkError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

log = logging.getLogger("roughly.spark")

# name of a table, its rows, the seconds that it took
Progress = Callable[[str, int, float], None]

_RUN = "run.json"


class Checkpoints:
    """The tables of one run. `parameters` say what they depend on; that the documents are the same
    is the caller's business. Without a directory a temporary one is taken, and deleted in the end,
    where driver and executors are on one machine."""

    def __init__(
        self,
        spark: SparkSession,
        directory: str | None,
        parameters: Mapping[str, Any],
        progress: Progress | None = None,
    ) -> None:
        self._spark = spark
        self._temporary = directory is None
        self._directory = _temporary(spark) if directory is None else directory.rstrip("/")
        self._progress = progress
        self._check(json.dumps(parameters, sort_keys=True, default=str))

    def keep(self, name: str, table: DataFrame) -> DataFrame:
        """The same rows, made once."""
        from pyspark.sql import Observation
        from pyspark.sql import functions as F

        begin, shuffled = time.monotonic(), self._shuffled()
        path = f"{self._directory}/{name}"
        if self._exists(f"{path}/_SUCCESS"):
            state, kept = "found", self._spark.read.schema(table.schema).parquet(path)
            rows = kept.count()
        else:
            seen = Observation()
            observed = table.observe(seen, F.count(F.lit(1)).alias("rows"))
            observed.write.mode("overwrite").parquet(path)
            state, kept = "made", self._spark.read.schema(table.schema).parquet(path)
            rows = seen.get["rows"]
        took = time.monotonic() - begin
        sizes = self._sizes(path)
        skew = max(sizes, default=0) * len(sizes) / max(sum(sizes), 1)
        log.info(
            "%s: %s, %d rows, %d bytes in %d parts, the largest %.1f times the mean,"
            " %d bytes shuffled, %.1f s",
            *(name, state, rows, sum(sizes), len(sizes), skew, self._shuffled() - shuffled, took),
        )
        if self._progress is not None:
            self._progress(name, rows, took)
        return kept

    def drop(self, name: str) -> None:
        """Lets a table go that no later phase needs."""
        named, system = self._path(f"{self._directory}/{name}")
        system.delete(named, True)

    def close(self) -> None:
        """Deletes what is temporary."""
        if self._temporary:
            named, system = self._path(self._directory)
            system.delete(named, True)

    def _check(self, wanted: str) -> None:
        path = f"{self._directory}/{_RUN}"
        if not self._exists(path):
            named, system = self._path(path)
            stream = system.create(named, True)
            stream.write(bytearray(wanted, "utf-8"))
            stream.close()
            return
        found = str(self._spark.read.text(path, wholetext=True).head()[0])
        if found != wanted:
            raise MismatchError(
                f"{self._directory}: made with other parameters: {found}, wanted {wanted}",
                hint="name another checkpoint directory, or delete this one",
            )

    def _path(self, path: str) -> tuple[Any, Any]:
        """Hadoop's path and its file system."""
        jvm: Any = self._spark._jvm
        named = jvm.org.apache.hadoop.fs.Path(path)
        return named, named.getFileSystem(self._spark._jsc.hadoopConfiguration())

    def _exists(self, path: str) -> bool:
        named, system = self._path(path)
        return bool(system.exists(named))

    def _shuffled(self) -> int:
        """Bytes that tasks have written for later stages so far, those of lost executors too."""
        found = self._spark._jsc.sc().statusStore().executorList(False)
        return sum(found.apply(n).totalShuffleWrite() for n in range(found.size()))

    def _sizes(self, path: str) -> list[int]:
        """Of every part of a table the bytes."""
        named, system = self._path(path)
        return [s.getLen() for s in system.listStatus(named) if "part-" in s.getPath().getName()]


def _temporary(spark: SparkSession) -> str:
    master = spark.sparkContext.master
    if not master.startswith("local"):
        raise SparkError(
            f"checkpoint: no directory: the executors of {master} share none by themselves",
            hint="name one that all of them can write: checkpoint='hdfs://...' or 's3a://...'",
        )
    folder = tempfile.mkdtemp(prefix="roughly-spark-")
    # DataFrames may outlive whoever made them, but not the process.
    atexit.register(shutil.rmtree, folder, True)
    return f"file://{folder}"
