"""A corpus that Spark has clustered is the corpus that is clustered here; and it is read back."""

from pathlib import Path
from typing import Any

import pytest

import roughly
from roughly import Sketcher
from tests.engine import frame_of, spark_session
from tests.optional import FULL
from tests.test_engine_cluster import web

__all__ = ["spark_session"]


@pytest.mark.skipif(not FULL, reason="full counts only")
def test_written_and_read(tmp_path: Path, spark_session: Any) -> None:
    from roughly import spark

    documents = web(300, 130)
    sketcher = Sketcher(select="adaptive:100")
    options: dict[str, Any] = {"threshold": 0.7, "containment": 0.8, "sketcher": sketcher}
    local = roughly.cluster(documents, **options)
    frame = frame_of(spark_session, documents)
    found = spark.cluster(frame, **options)
    corpus = spark.write_corpus(found, frame, tmp_path / "web.roughly", threads=1)
    found.close()
    assert corpus.verify() == []
    clusters = corpus.clusters()
    assert clusters.documents() == local.documents()
    assert clusters.clusters() == local.clusters()
    pairs = [sorted(map(repr, each.pairs().to_pylist())) for each in (clusters, local)]
    assert pairs[0] == pairs[1]
    assert corpus.clusters(0.9).documents() == local.at(0.9, 0.8).documents()
    # What the rule for masses goes by is there too: a document that is added finds its place.
    text = documents[-1]["text"]
    assert corpus.find(text)[0].id == documents[-1]["id"]
    rows = spark.read_corpus(spark_session, tmp_path / "web.roughly").collect()
    assert sorted((row["id"], row["text"]) for row in rows) == sorted(
        (d["id"], d["text"]) for d in documents
    )
