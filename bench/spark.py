"""`python -m bench spark`: the Web of 1996 clustered on Spark by both of its plans, beside banded
MinHash on the same executors and beside roughly on the same cores.

The truth are all pairs that resemble each other at the threshold, by sketches that keep every
shingle. Recall is the share of them that end up in one cluster. What Spark takes more than the
local engine is told by phase, JVM and Python apart, with what a start, a copy of all texts to
Python and back, and a shuffle of them cost here. Run it in the environment of the tests (.venv),
which has Spark.
"""

import argparse
import os
import shutil
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
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
ALONE, DIVIDED = PLANS = ("one task", "divided")
RECIPE = "banded MinHash"


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


# Of every process that was seen below this one its clock ticks, and whether it is Java. Spark's
# Python workers end unasked and leave their ticks to nobody: what they had when last seen stays.
_seen: dict[tuple[int, str], tuple[int, bool]] = {}
_SEEN_EVERY = 1.0


def cpu_seconds() -> tuple[float, float]:
    """What Java, and all else of this process and those below it, have used of the processor."""
    parent, used = {}, {}
    for file in Path("/proc").glob("[0-9]*/stat"):
        try:
            # A name may have anything in it. Behind it: state, parent, ...
            name, _, rest = file.read_text().rpartition(")")
        except OSError:
            continue
        number, fields = int(file.parent.name), rest.split()
        parent[number] = int(fields[1])
        # Its own; those of its children are seen themselves.
        ticks, began = int(fields[11]) + int(fields[12]), fields[19]
        used[number] = (number, began), (ticks, name.endswith("(java"))
    for number, (process, state) in used.items():
        above = number
        while above != os.getpid() and above in parent:
            above = parent[above]
        if above == os.getpid():
            _seen[process] = state
    states, second = list(_seen.values()), os.sysconf("SC_CLK_TCK")
    java = sum(ticks for ticks, is_java in states if is_java)
    return java / second, sum(ticks for ticks, is_java in states if not is_java) / second


def keep_looking() -> None:
    """Looks at the processes again and again, so that little of those that end is lost."""

    def look() -> None:
        while True:
            cpu_seconds()
            time.sleep(_SEEN_EVERY)

    threading.Thread(target=look, daemon=True).start()


@dataclass(frozen=True)
class Spent:
    """Seconds on the clock, and of the processor in Java and in Python."""

    seconds: float = 0.0
    java: float = 0.0
    python: float = 0.0

    @property
    def cpu(self) -> float:
        return self.java + self.python

    def __add__(self, other: "Spent") -> "Spent":
        return Spent(
            self.seconds + other.seconds, self.java + other.java, self.python + other.python
        )


class Watch:
    """What was spent since it was made, or read before."""

    def __init__(self) -> None:
        self._before = (time.monotonic(), *cpu_seconds())

    def read(self) -> Spent:
        now = (time.monotonic(), *cpu_seconds())
        spent = Spent(*(n - b for n, b in zip(now, self._before, strict=True)))
        self._before = now
        return spent


# The phase of the local engine that does what a table of Spark's is for, by how its name begins.
PHASES = {
    "sketches": "sketch",
    "ordered": "equivalents",
    "equivalents": "equivalents",
    "frequencies": "sort",
    "hubs": "pairs",
    "masses": "pairs",
    "rung-": "pairs",
    "pairs-": "pairs",
    "links-": "forest",
    "finished": "all behind the sketches",
}
CLUSTERS = "clusters"
BEHIND = "all behind the sketches"
# Why Spark takes more than the local engine, which has everything in one memory.
REASONS = {
    "sketch": "texts cross from Java to Python, their sketches back and into Parquet",
    "equivalents": "Spark checks, sorts and numbers ids, and aggregates hashes, in seven shuffles",
    "sort": "sketches are shuffled by id and by block, cross to Python twice and are written again"
    " with their frequencies; counters travel to whoever sums them up, and back",
    "pairs": "keys and postings are shuffled, candidates and the sketches they need after them",
    "forest": "one job over few rows, which takes what a job takes",
    CLUSTERS: "components, shares and ids are joined by Spark, a shuffle each",
    BEHIND: "one task gathers the sketches in a file and runs the local phases in one thread",
}


def phase_of(table: str) -> str:
    """The phase that a table of Spark's belongs to."""
    found = [phase for begin, phase in PHASES.items() if table.startswith(begin)]
    return found[0] if found else CLUSTERS


def clustered(frame: Any, sizes: Any) -> tuple[dict[str, Any], dict[str, Spent], list[list[Any]]]:
    """The cluster of every document, what each phase took, and what each table."""
    from roughly import spark

    spent: dict[str, Spent] = {}
    tables: list[list[Any]] = []
    watch = Watch()

    def tell(name: str, rows: int, seconds: float) -> None:
        took = watch.read()
        spent[phase_of(name)] = spent.get(phase_of(name), Spent()) + took
        tables.append([name, rows, took.seconds, took.java, took.python])

    found = spark.cluster(frame, THRESHOLD, sizes=sizes, progress=tell)
    rows = found.documents().select("id", "cluster").toArrow()
    tell("fetched", len(rows), 0.0)
    found.close()
    return (
        dict(zip(rows["id"].to_pylist(), rows["cluster"].to_pylist(), strict=True)),
        spent,
        tables,
    )


def _same(arrow: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    yield from arrow


def overheads(frame: Any) -> dict[str, Spent]:
    """What it takes to move the texts, with nothing done to them."""
    texts = frame.select("number", "text")
    some = texts.limit(1)
    schema = "number long, text string"

    def run(table: Any) -> None:
        table.write.format("noop").mode("overwrite").save()

    found, watch = {}, Watch()
    for name, table in {
        "the first Python worker": some.mapInArrow(_same, schema),
        "all texts read": texts,
        "... and to Python and back, by Arrow": texts.mapInArrow(_same, schema),
        "... and shuffled": texts.repartition("number"),
    }.items():
        run(table)
        found[name] = watch.read()
    return found


def run(
    documents: int, master: str, folder: Path, settings: dict[str, str], plans: Sequence[str]
) -> Section:
    import roughly
    from roughly import spark
    from roughly.spark.clustering import Sizes

    os.environ["PYSPARK_PYTHON"] = sys.executable
    keep_looking()
    path = folder / "documents.parquet"
    write_documents(documents, path)
    table = pq.read_table(path)
    ids = table["id"].to_pylist()
    watch = Watch()
    local = roughly.cluster(table, THRESHOLD)
    rows = local.documents()
    spent = {"roughly, local": watch.read()}
    of_local = dict(zip(rows["id"].to_pylist(), rows["cluster"].to_pylist(), strict=True))
    clusters: dict[str, dict[str, Any]] = {"roughly, local": of_local}
    local_phases = {phase.name: phase for phase in local.phases}
    pairs = true_pairs(table)

    watch = Watch()
    session = spark.open_session(master, settings)
    frame = session.read.parquet(str(path))
    frame.limit(1).count()
    more = {"the session (JVM)": watch.read()} | overheads(frame)
    section = Section("spark", f"{documents:,} documents at {master}, threshold {THRESHOLD}")
    explained: list[Table] = []
    for plan in plans:
        name = f"Spark, {plan}"
        sizes = Sizes(alone=1 << 62) if plan == ALONE else Sizes(alone=0)
        clusters[name], phases, tables = clustered(frame, sizes)
        spent[name] = sum(phases.values(), Spent())
        names = dict.fromkeys([*local_phases, *phases])
        heads = ["local s", "local CPU s", "s", "CPU s: JVM", "Python", "x local CPU"]
        explained.append(
            Table(
                [f"phase, {plan}", *heads],
                [_phase_row(n, local_phases.get(n), phases.get(n)) for n in names],
            )
        )
        section.notes += [
            explanation(plan, n, took, _local_cpu(n, local_phases)) for n, took in phases.items()
        ]
        explained.append(Table([f"table, {plan}", "rows", "s", "CPU s: JVM", "Python"], tables))
    watch = Watch()
    numbers = spark_recipe.components(frame.select("number", "text"))
    spent[RECIPE] = watch.read()
    session.stop()
    clusters[RECIPE] = {name: numbers.get(number, number) for number, name in enumerate(ids)}

    recalls = {name: recall(pairs, found) for name, found in clusters.items()}
    section.tables.append(
        Table(
            ["", "seconds", "CPU seconds", "documents/s", "recall"],
            [[n, t.seconds, t.cpu, documents / t.seconds, recalls[n]] for n, t in spent.items()],
        )
    )
    section.tables += explained
    section.tables.append(
        Table(
            ["of this", "s", "CPU s: JVM", "Python"],
            [[n, t.seconds, t.java, t.python] for n, t in more.items()],
        )
    )
    recipe, own = spent[RECIPE], spent["roughly, local"]
    for plan in plans:
        name = f"Spark, {plan}"
        took = spent[name]
        section.checks.append(
            Check(f"{plan}: the clusters of the local engine", clusters[name] == of_local)
        )
        section.results += [
            Result(f"{plan}: banded MinHash", recipe.seconds / took.seconds, "x", ">=", FASTER),
            Result(f"{plan}: banded MinHash, CPU", recipe.cpu / took.cpu, "x"),
            Result(
                f"{plan}: recall less MinHash's", recalls[name] - recalls[RECIPE], "", ">=", 0.0
            ),
            Result(f"{plan}: time beside the local engine", took.seconds / own.seconds, "x"),
            Result(f"{plan}: CPU beside the local engine", took.cpu / own.cpu, "x"),
        ]
    return section


def _local_cpu(phase: str, local: dict[str, Any]) -> float | None:
    """What the local engine spent on a phase; one task does several at once."""
    names = [n for n in local if n != "sketch"] if phase == BEHIND else [phase]
    found = [local[n].cpu_seconds for n in names if n in local]
    return sum(found) if found else None


def explanation(plan: str, phase: str, took: Spent, local: float | None) -> str:
    """One sentence on what a phase takes beside the local engine, and why."""
    ratio = "no phase there"
    if local:
        ratio = f"{took.cpu / local:.1f} times the {local:.1f} CPU s of the local engine"
    return f"{plan}, {phase}: {took.cpu:.1f} CPU s, {ratio}: {REASONS[phase]}"


def _phase_row(name: str, local: Any, spark: Spent | None) -> list[Any]:
    own = [None, None] if local is None else [local.wall_seconds, local.cpu_seconds]
    if spark is None:
        return [name, *own, *[None] * 4]
    times = spark.cpu / local.cpu_seconds if local is not None and local.cpu_seconds else None
    return [name, *own, spark.seconds, spark.java, spark.python, times]


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m bench spark",
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
        "--plan", choices=PLANS, help="whether one task joins all sketches; both unless named"
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
        plans = PLANS if arguments.plan is None else [arguments.plan]
        session.add(run(arguments.documents, arguments.master, folder, settings, plans))
    finally:
        shutil.rmtree(folder)
    return session.finish(arguments.json, arguments.record)


if __name__ == "__main__":
    sys.exit(main())
