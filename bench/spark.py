"""`python -m bench.spark`: the Web of 1996 clustered on Spark, beside banded MinHash on the same
executors and beside roughly on the same cores.

The truth are all pairs that resemble each other at the threshold, by sketches that keep every
shingle. Recall is the share of them that end up in one cluster. Run it in the environment of the
tests (.venv), which has Spark.
"""

import argparse
import os
import shutil
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from bench import spark_recipe, web
from bench.report import Check, Result, Section, Table
from bench.session import Session, add_output_options

THRESHOLD = 0.5
FASTER = 3.0


def write_documents(documents: int, path: Path) -> None:
    """number, id and text, as Parquet in several row groups."""
    schema = pa.schema([("number", pa.int64()), ("id", pa.string()), ("text", pa.string())])
    first = 0
    with pq.ParquetWriter(path, schema) as writer:
        for batch in web.batches(documents):
            numbers = pa.array(np.arange(first, first + len(batch)))
            text = batch["content"].cast(pa.large_string()).cast(pa.string())
            writer.write_batch(pa.record_batch([numbers, batch["id"], text], schema=schema))
            first += len(batch)


def true_pairs(documents: pa.Table) -> list[tuple[str, str]]:
    """All pairs of distinct texts at the threshold or more, counted on every shingle."""
    import roughly

    sketcher = roughly.Sketcher(select="all")
    found = roughly.cluster(documents, THRESHOLD, floor=THRESHOLD, sketcher=sketcher)
    table = found.pairs()
    return list(zip(table["a"].to_pylist(), table["b"].to_pylist(), strict=True))


def recall(pairs: list[tuple[str, str]], cluster: dict[str, Any]) -> float:
    """The share of pairs whose documents are in one cluster."""
    together = sum(cluster[a] == cluster[b] for a, b in pairs)
    return together / max(len(pairs), 1)


def cpu_seconds() -> float:
    """What this process and all below it, Spark with its workers, have used of the processor."""
    parent, used = {}, {}
    for file in Path("/proc").glob("[0-9]*/stat"):
        try:
            # Behind the name, which may have anything in it: state, parent, ...
            fields = file.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        number = int(file.parent.name)
        parent[number] = int(fields[1])
        used[number] = sum(map(int, fields[11:15]))
    total = 0
    for number in used:
        above = number
        while above != os.getpid() and above in parent:
            above = parent[above]
        total += used[number] if above == os.getpid() else 0
    return total / os.sysconf("SC_CLK_TCK")


class Watch:
    """Seconds since it was made: on the clock, and of the processor."""

    def __init__(self) -> None:
        self._clock, self._cpu = time.monotonic(), cpu_seconds()

    def read(self) -> tuple[float, float]:
        return time.monotonic() - self._clock, cpu_seconds() - self._cpu


def run(
    documents: int, master: str, folder: Path, settings: dict[str, str], divided: bool
) -> Section:
    import roughly
    from roughly import spark
    from roughly.spark.clustering import Sizes

    os.environ["PYSPARK_PYTHON"] = sys.executable
    path = folder / "documents.parquet"
    write_documents(documents, path)
    table = pq.read_table(path)
    ids = table["id"].to_pylist()
    watch = Watch()
    local = roughly.cluster(table, THRESHOLD)
    rows = local.documents()
    local_s = watch.read()
    of_local = dict(zip(rows["id"].to_pylist(), rows["cluster"].to_pylist(), strict=True))
    pairs = true_pairs(table)

    session = spark.open_session(master, settings)
    frame = session.read.parquet(str(path))
    frame.limit(1).count()
    phases: list[tuple[str, int, float]] = []
    watch = Watch()
    found = spark.cluster(
        frame,
        THRESHOLD,
        sizes=Sizes(alone=0) if divided else None,
        progress=lambda name, count, seconds: phases.append((name, count, seconds)),
    )
    clusters = found.documents().select("id", "cluster").toArrow()
    spark_s = watch.read()
    of_spark = dict(zip(clusters["id"].to_pylist(), clusters["cluster"].to_pylist(), strict=True))
    found.close()

    watch = Watch()
    numbers = spark_recipe.components(frame.select("number", "text"))
    recipe_s = watch.read()
    session.stop()
    of_recipe = {name: numbers.get(number, number) for number, name in enumerate(ids)}

    section = Section("spark", f"{documents:,} documents at {master}, threshold {THRESHOLD}")
    recalls = {
        "roughly, local": recall(pairs, of_local),
        "roughly on Spark": recall(pairs, of_spark),
        "banded MinHash": recall(pairs, of_recipe),
    }
    seconds = dict(zip(recalls, (local_s, spark_s, recipe_s), strict=True))
    section.tables.append(
        Table(
            ["", "seconds", "CPU seconds", "documents/s", "recall"],
            [[n, *seconds[n], documents / seconds[n][0], recalls[n]] for n in recalls],
        )
    )
    section.tables.append(Table(["table", "rows", "seconds"], [list(phase) for phase in phases]))
    section.checks.append(Check("the clusters of the local engine", of_spark == of_local))
    section.results += [
        Result("beside banded MinHash", recipe_s[0] / spark_s[0], "x", ">=", FASTER),
        Result("beside banded MinHash, CPU", recipe_s[1] / spark_s[1], "x"),
        Result(
            "recall less that of MinHash",
            recalls["roughly on Spark"] - recalls["banded MinHash"],
            "",
            ">=",
            0.0,
        ),
        Result("time beside the local engine", spark_s[0] / local_s[0], "x"),
    ]
    return section


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m bench.spark",
        description="Clustering on Spark, beside banded MinHash and the local engine.",
        allow_abbrev=False,
    )
    parser.add_argument("--documents", type=int, default=200_000)
    parser.add_argument("--master", default="local[2]")
    parser.add_argument(
        "--memory", default="6g", help="of the driver, which has all tasks if local"
    )
    parser.add_argument("--partitions", type=int, default=16, help="of every shuffle")
    parser.add_argument(
        "--divided", action="store_true", help="never let one task join all sketches"
    )
    parser.add_argument("--folder", type=Path, default=Path("build"), help="for temporary files")
    add_output_options(parser)
    arguments = parser.parse_args(argv)
    folder = (arguments.folder / "bench-spark").resolve()
    folder.mkdir(parents=True, exist_ok=True)
    settings = {
        "spark.driver.memory": arguments.memory,
        "spark.sql.shuffle.partitions": str(arguments.partitions),
        "spark.log.level": "ERROR",
    }
    session = Session(f"{arguments.documents:,} documents", "spark")
    try:
        session.add(run(arguments.documents, arguments.master, folder, settings, arguments.divided))
    finally:
        shutil.rmtree(folder)
    return session.finish(arguments.json, arguments.record)


if __name__ == "__main__":
    sys.exit(main())
