"""A larger web: Spark's rows are those of the local engine, by both of its plans.

Pairs, forests with their weights, clusters and documents are compared row by row. `ROUGHLY_WEB`
says of how many documents; `make soak` takes 200,000.
"""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from bench.spark import write_documents
from roughly import Sketcher
from roughly.spark.clustering import Sizes
from roughly.spark.session import open_session
from tests.engine import Answer, local_answer, need_spark, spark_answer
from tests.optional import FULL

pytestmark = pytest.mark.skipif(not FULL, reason="full counts only")

DOCUMENTS = int(os.environ.get("ROUGHLY_WEB", 40_000))
PLANS = {"one task": Sizes(alone=1 << 40), "divided": Sizes(alone=0)}


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("web") / "documents.parquet"
    write_documents(DOCUMENTS, path)
    return path


@pytest.fixture(scope="module")
def wanted(web: Path) -> Answer:
    found = local_answer(pq.read_table(web, columns=["id", "text"]), Sketcher(), threshold=0.5)
    assert len(found.documents) == DOCUMENTS
    assert len(found.pairs) > len(found.links) > len(found.clusters) > DOCUMENTS // 20
    return found


@pytest.fixture(scope="module")
def session() -> Iterator[Any]:
    need_spark()
    os.environ["PYSPARK_PYTHON"] = sys.executable
    settings = {"spark.driver.memory": "4g", "spark.sql.shuffle.partitions": "16"}
    made = open_session("local[2]", settings | {"spark.log.level": "ERROR"})
    yield made
    made.stop()


@pytest.mark.parametrize("plan", PLANS)
def test_the_rows_of_the_local_engine(plan: str, web: Path, wanted: Answer, session: Any) -> None:
    frame = session.read.parquet(str(web)).select("id", "text")
    found = spark_answer(session, frame, Sketcher(), threshold=0.5, sizes=PLANS[plan])
    for name in ("documents", "clusters", "pairs", "links"):
        # Compared outside of the assertion, or pytest would look for the differences itself.
        same = getattr(found, name) == getattr(wanted, name)
        assert same, name
