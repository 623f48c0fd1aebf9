"""The dedup rule, simhashes and the Hamming join over all engines: the same rows."""

import random
from typing import Any

import pytest

import roughly
from bench.mass import ALIKE
from bench.mass import batches as mass_batches
from roughly import Simhasher, Sketcher
from roughly.errors import ParameterError
from roughly.spark.clustering import Sizes
from tests.engine import spark_session
from tests.optional import FULL

__all__ = ["spark_session"]

Document = dict[str, Any]


def chains(seed: int, count: int) -> list[Document]:
    """Texts edited step by step, so that the first resembles the second, that the third, and so on;
    parts of them; the same words in other clothes; the same bytes."""
    rng = random.Random(seed)
    texts = ["", "", " ", "one two three"]
    tokens: list[str] = []
    while len(texts) < count:
        if not tokens or rng.random() < 0.1:
            tokens = [f"{len(texts)}x{i}" for i in range(rng.randint(20, 500))]
        tokens = list(tokens)
        for _ in range(len(tokens) // rng.choice([15, 40])):
            tokens[rng.randrange(len(tokens))] = f"n{rng.randrange(10**6)}"
        text = " ".join(tokens)
        texts += [text, text.upper() + "?", text, " ".join(tokens[: len(tokens) // 2])][
            : rng.choice([1, 1, 1, 4])
        ]
    texts += [
        text.decode() for batch in mass_batches(ALIKE, 30) for text in batch["content"].to_pylist()
    ]
    rng.shuffle(texts)
    dates = [None, "2020-01-02", "1997-04-07"]
    return [{"id": f"d{n}", "text": t, "date": rng.choice(dates)} for n, t in enumerate(texts)]


def frame_of(session: Any, documents: list[Document]) -> Any:
    import pyarrow as pa

    columns: dict[str, Any] = {
        name: pa.array([d[name] for d in documents], pa.string()) for name in ("id", "date", "text")
    }
    columns["row"] = pa.array(range(len(documents)), pa.int64())
    return session.createDataFrame(pa.table(columns)).repartition(3)


NAMES = ("removed", "kept", "kind", "resemblance", "containment")
CASES: list[dict[str, Any]] = [
    {"containment": 0.8, "keep": "first"},
    {"estimate": True},
    {},
    {"keep": "newest", "threshold": 0.5},
    {"keep": "longest", "estimate": True, "containment": 0.7},
]


DIVIDED = Sizes(texts=0)
SMALL = Sizes(texts=0, fitting=30, long_list=50)  # several rounds, lists with stripes


RUNS = [(CASES[0], DIVIDED), (CASES[0], Sizes())]
RUNS += [(options, sizes) for options in CASES[1:] for sizes in (DIVIDED, Sizes())]
RUNS += [(CASES[0], SMALL)]


@pytest.mark.parametrize(("options", "sizes"), RUNS[: None if FULL else 2], ids=str)
def test_the_same_removals(options: dict[str, Any], sizes: Sizes, spark_session: Any) -> None:
    from roughly import spark

    documents = chains(len(options), 120)
    sketcher = Sketcher(w=2, select="adaptive:40")
    local = roughly.dedup(documents, sketcher=sketcher, content_type="text", threads=1, **options)
    wanted = sorted(tuple(row[name] for name in NAMES) for row in local.removals().to_pylist())
    assert len({row[2] for row in wanted}) >= 3
    frame = frame_of(spark_session, documents)
    found = spark.dedup(
        frame,
        order_field="row",
        sketcher=sketcher,
        content_type="text",
        sizes=sizes,
        **options,
    )
    try:
        assert sorted(tuple(row[n] for n in NAMES) for row in found.removals().collect()) == wanted
        gone = {row[0] for row in wanted}
        staying = [row["id"] for row in found.documents().collect()]
        assert sorted(staying) == sorted(d["id"] for d in documents if d["id"] not in gone)
    finally:
        found.close()


def test_the_first_needs_an_order(spark_session: Any) -> None:
    from roughly import spark

    with pytest.raises(ParameterError, match="a DataFrame has none of its own"):
        spark.dedup(frame_of(spark_session, [{"id": "a", "date": None, "text": "x"}]))


def test_simhashes_and_their_join(spark_session: Any) -> None:
    from roughly import spark

    documents = chains(7, 40)
    simhasher = Simhasher(stem="english", seed=5)
    frame = frame_of(spark_session, documents)
    made = spark.simhash(frame, simhasher, content_type="text").collect()
    wanted = {d["id"]: simhasher.simhash(d["text"], "text") for d in documents}
    signed = {row["id"]: row["simhash"] for row in made}
    assert {i: None if s is None else s % 2**64 for i, s in signed.items()} == wanted
    assert None in wanted.values()

    known = [(i, s) for i, s in wanted.items() if s is not None]
    queries, stored = known[:20], known[10:]
    expected = sorted(
        (q, s, (x ^ y).bit_count())
        for q, x in queries
        for s, y in stored
        if (x ^ y).bit_count() <= 6
    )
    assert len(expected) > 11  # more than the ten that are on both sides
    table = spark_session.createDataFrame(made)
    some = [table.where(table["id"].isin([i for i, _ in side])) for side in (queries, stored)]
    pairs = spark.hamming_join(*some, k=6).collect()
    assert sorted((row["query"], row["stored"], row["distance"]) for row in pairs) == expected
