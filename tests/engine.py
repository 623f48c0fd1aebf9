"""Engines that give the same answer, each as a function from documents to canonical rows.

`spark_session` is a session for a whole run of tests, small enough for a busy machine. Rows are
sorted and name documents by their ids, so that two answers are equal if and only if their rows are.
"""

import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import pytest

import roughly
from roughly import Sketcher
from roughly.clustering.clusters import Clusters
from roughly.spark.session import java_command, open_session
from tests.optional import optional

Row = tuple[Any, ...]
ENGINES = ["local", "spark"]

SMALL = {
    "spark.sql.shuffle.partitions": "4",
    "spark.default.parallelism": "2",
    "spark.driver.memory": "1g",
    "spark.sql.adaptive.coalescePartitions.parallelismFirst": "false",
    "spark.log.level": "ERROR",
    # A second's work does not repay the best compiler.
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.sql.codegen.wholeStage": "false",
    "spark.python.worker.reuse": "true",
}


def need_spark() -> None:
    if find_spec("pyspark") is None:
        optional("spark", "pyspark is not installed")
    if java_command() is None:
        optional("java", "no java was found")


@pytest.fixture(scope="session")
def spark_session() -> Iterator[Any]:
    need_spark()
    os.environ["PYSPARK_PYTHON"] = sys.executable
    session = open_session("local[2]", SMALL)
    yield session
    session.stop()


@dataclass(frozen=True)
class Answer:
    """What an engine says, as canonical rows."""

    documents: list[Row]
    clusters: list[Row]
    pairs: list[Row]
    links: list[Row]


def _rows(table: list[dict[str, Any]], names: list[str]) -> list[Row]:
    return sorted((tuple(row[name] for name in names) for row in table), key=repr)


DOCUMENTS = ["id", "date", "cluster", "representative", "kind", "resemblance"]
CLUSTERS = [
    "cluster",
    "representative",
    "size",
    "weakest_link",
    "smallest_resemblance",
    "mass",
]
PAIRS = ["a", "b", "common", "sampled", "resemblance", "containment", "mass"]
LINKS = ["a", "b", "common", "sampled", "measure"]


def _answer(documents: Any, clusters: Any, pairs: Any, links: Any, containment: bool) -> Answer:
    more = ["containment"] if containment else []
    return Answer(
        _rows(documents, [*DOCUMENTS, *more]),
        _rows(clusters, CLUSTERS),
        _rows(pairs, PAIRS),
        _rows(links, LINKS),
    )


def local_answer(
    documents: list[dict[str, Any]], sketcher: Sketcher | None, **options: Any
) -> Answer:
    found: Clusters = roughly.cluster(documents, sketcher=sketcher, threads=1, **options)
    ids = found.ids.to_pylist()
    names = [ids[n] for n in found.outcome.groups.representatives.tolist()]
    links = [
        {"a": names[a], "b": names[b], "common": c, "sampled": s, "measure": measure}
        for measure, table in (
            ("resemblance", found.outcome.links),
            ("containment", found.outcome.containment_links),
        )
        for a, b, c, s in table.tolist()
    ]
    return _answer(
        found.documents().to_pylist(),
        found.clusters().to_pylist(),
        found.pairs().to_pylist(),
        links,
        found.containment is not None,
    )


def frame_of(session: Any, documents: list[dict[str, Any]], partitions: int = 3) -> Any:
    import pyarrow as pa

    more = sorted({name for d in documents for name in d} - {"id", "date", "text"})
    columns = {
        name: pa.array([d.get(name) for d in documents], pa.string())
        for name in ("id", "date", "text", *more)
    }
    return session.createDataFrame(pa.table(columns)).repartition(partitions)


def spark_answer(
    session: Any, documents: list[dict[str, Any]], sketcher: Sketcher | None, **options: Any
) -> Answer:
    from roughly import spark

    found = spark.cluster(frame_of(session, documents), sketcher=sketcher, **options)
    try:
        return _answer(
            *(
                [row.asDict() for row in table.collect()]
                for table in (found.documents(), found.clusters(), found.pairs(), found.links())
            ),
            options.get("containment") is not None,
        )
    finally:
        found.close()
