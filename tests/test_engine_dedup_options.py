"""Dedup with conditions and against a corpus over all engines: the same removals."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import roughly
from roughly import Sketcher
from roughly.clustering.settings import condition_for, settings_for
from roughly.corpus import Corpus, create_corpus
from roughly.documents import open_documents
from roughly.errors import MismatchError
from roughly.spark.clustering import Sizes
from tests.engine import spark_session
from tests.engine_options import Document, documents
from tests.optional import FULL

__all__ = ["spark_session"]

SKETCHER = Sketcher(w=2, select="adaptive:40")
CONDITIONS: dict[str, dict[str, Any]] = {
    "both": {"method": "both", "distance": 8, "size_ratio": 0.5},
    "within": {"within": "host", "containment": 0.8},
    "simhash": {"method": "simhash", "distance": 6},
    "simhash within": {
        "method": "simhash",
        "distance": 8,
        "within": "language",
        "size_ratio": 0.7,
        "keep": "longest",
    },
}
AGAINST: dict[str, dict[str, Any]] = {
    "plain": {"containment": 0.8},
    "estimate": {"estimate": True, "keep": "newest"},
    "both": {"method": "both", "within": "language", "distance": 8},
    "simhash": {"method": "simhash", "distance": 8, "size_ratio": 0.5},
}
SMALL = Sizes(fitting=20, long_list=30)


def frame_of(session: Any, texts: list[Document]) -> Any:
    columns: dict[str, Any] = {
        name: pa.array([d[name] for d in texts], pa.string())
        for name in ("id", "date", "text", "language")
    }
    columns["row"] = pa.array(range(len(texts)), pa.int64())
    return session.createDataFrame(pa.table(columns)).repartition(3)


def check(session: Any, texts: list[Document], sizes: Sizes, **options: Any) -> list[Any]:
    """Holds Spark's removals against the local ones, which are given back."""
    from roughly import spark

    local = roughly.dedup(texts, content_type="text", threads=1, **options).removals()
    names = local.column_names
    wanted = sorted((tuple(row[n] for n in names) for row in local.to_pylist()), key=repr)
    frame = frame_of(session, texts)
    found = spark.dedup(frame, order_field="row", content_type="text", sizes=sizes, **options)
    try:
        table = found.removals()
        assert set(table.columns) == set(names)
        rows = [tuple(row[n] for n in names) for row in table.collect()]
        assert sorted(rows, key=repr) == wanted
        gone = {row[0] for row in wanted}
        staying = [row["id"] for row in found.documents().select("id").collect()]
        assert sorted(staying) == sorted(d["id"] for d in texts if d["id"] not in gone)
    finally:
        found.close()
    return local.to_pylist()


@pytest.mark.skipif(not FULL, reason="full counts only")
@pytest.mark.parametrize("name", CONDITIONS)
def test_conditions(name: str, spark_session: Any) -> None:
    texts = documents(2, 60, 60)
    found = check(spark_session, texts, Sizes(), sketcher=SKETCHER, **CONDITIONS[name])
    assert len({row["kind"] for row in found}) >= 2


def corpus_of(folder: Path, **condition: Any) -> Corpus:
    """Of half of the documents, some of which are near duplicates of each other."""
    settings = settings_for(SKETCHER.parameters, condition=condition_for(**condition))
    opened = open_documents(
        documents(2, 60, 60)[1::2],
        content_type="text",
        category_field=settings.condition.category_field,
    )
    options: dict[str, Any] = {"text": True, "memory_bytes": 1 << 28, "threads": 1}
    return create_corpus(opened, SKETCHER, settings, folder, **options)


RUNS = [(name, Sizes()) for name in AGAINST] + [("plain", SMALL)]


@pytest.mark.parametrize(("name", "sizes"), RUNS if FULL else [("simhash", Sizes())], ids=str)
def test_against_a_corpus(name: str, sizes: Sizes, spark_session: Any, tmp_path: Path) -> None:
    options = AGAINST[name]
    stored = {"method": "both", "within": "language"} if "method" in options else {}
    corpus = corpus_of(tmp_path / "known", **stored)
    # Some ids are those of documents in the corpus: they are others.
    texts = [
        d if n % 7 == 0 else d | {"id": f"new {d['id']}"}
        for n, d in enumerate(documents(2, 60, 60))
    ]
    found = check(spark_session, texts, sizes, against=corpus, **options)
    assert {row["kept_in"] for row in found} == {"corpus", "input"}


def test_against_other_sketches(spark_session: Any, tmp_path: Path) -> None:
    from roughly import spark

    corpus = corpus_of(tmp_path / "known")
    frame = frame_of(spark_session, documents(2, 5, 0))
    with pytest.raises(MismatchError, match="w: differs from the corpus: 3, wanted 2"):
        spark.dedup(frame, order_field="row", against=corpus, sketcher=Sketcher(w=3))
