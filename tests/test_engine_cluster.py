"""One contract over all engines: the same documents and parameters give the same rows.

Random small collections are held against brute force (tests/cluster_oracle.py), generated webs
against the local engine, whatever the sizes at which Spark divides its work.
"""

import logging
import random
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from bench.mass import ALIKE
from bench.mass import batches as mass_batches
from bench.web import batches as web_batches
from roughly import Sketcher
from roughly.clustering.join import MassRule
from roughly.clustering.settings import settings_for
from roughly.errors import MismatchError, ParameterError
from roughly.spark.clustering import Sizes
from tests.cluster_oracle import Expected, expect
from tests.engine import ENGINES, Answer, local_answer, need_spark, spark_answer, spark_session
from tests.optional import FULL
from tests.test_mass_rungs import spread

__all__ = ["spark_session"]

Document = dict[str, Any]

# However few the documents are, no task has all of them.
DIVIDED = Sizes(alone=0)


def collection(seed: int, count: int) -> list[Document]:
    """Stretches of many lengths, so of many levels, edited, cut and copied."""
    rng = random.Random(seed)
    stretches = [[f"{s}x{i}" for i in range(rng.randint(3, 400))] for s in range(count // 4)]
    texts = ["", "--"]
    while len(texts) < count:
        tokens = [t for _ in range(rng.randint(1, 2)) for t in rng.choice(stretches)]
        share = rng.choice([0, 0.01, 0.05])
        tokens = [f"n{rng.randrange(99)}" if rng.random() < share else t for t in tokens]
        text = " ".join(tokens[: len(tokens) // rng.choice([1, 1, 2])])
        texts += [text, text, text.upper() + "!"][: rng.choice([1, 1, 1, 3])]
    dates = [None, None, "2020-01-02", "1997-04-07"]
    return [
        {"id": f"{rng.choice('zZé')}{n}", "text": text, "date": rng.choice(dates)}
        for n, text in enumerate(texts)
    ]


def named(expected: Expected, pairs: list[tuple[int, int, int, int]]) -> list[tuple[Any, ...]]:
    ids = [expected.ids[row] for row in expected.rows]
    return sorted((ids[a], ids[b], common, sampled) for a, b, common, sampled in pairs)


@pytest.mark.parametrize("engine", [*ENGINES, "spark, divided"])
@pytest.mark.parametrize(
    ("seed", "select", "containment"),
    [(1, "adaptive:20", "0.8"), (2, "min:30", None), (3, "all", "0.6"), (4, "mod:3", None)][
        : None if FULL else 1
    ],
)
def test_what_brute_force_finds(
    engine: str, seed: int, select: str, containment: str | None, request: pytest.FixtureRequest
) -> None:
    documents = collection(seed, 40)
    sketcher = Sketcher(w=2, select=select)
    wanted = settings_for(sketcher.parameters, "0.6", "0.4", containment)
    expected = expect(documents, sketcher, wanted)
    options = {"threshold": "0.6", "floor": "0.4", "containment": containment}
    found = answer(engine, request, documents, sketcher, content_type="text", **options)
    for measure, pairs in expected.pairs.items():
        own = [row for row in found.pairs if row[4 if measure == "resemblance" else 5] is not None]
        assert sorted(row[:4] for row in own) == named(expected, pairs)
        links = [row[:4] for row in found.links if row[4] == measure]
        assert sorted(links) == named(expected, expected.links[measure])
    limit = None if containment is None else Fraction(containment)
    clusters = expected.clusters(Fraction("0.6"), limit)
    sizes = {row[1]: row[2] for row in found.clusters}
    assert sizes == {members[0]: len(members) for members in clusters}
    first = {name: members[0] for members in clusters for name in members}
    assert {row[0]: row[3] for row in found.documents} == {
        name: first.get(name, name) for name in expected.ids
    }


def answer(
    engine: str,
    request: pytest.FixtureRequest,
    documents: list[Document],
    sketcher: Sketcher,
    **options: Any,
) -> Answer:
    if engine == "local":
        return local_answer(documents, sketcher, **options)
    session = request.getfixturevalue("spark_session")
    sizes = DIVIDED if engine == "spark, divided" else None
    return spark_answer(session, documents, sketcher, sizes=sizes, **options)


def web(documents: int, masses: int) -> list[Document]:
    """The Web of 1996, and documents that all resemble one another."""
    found = [
        {"id": id, "date": None, "text": text.decode()}
        for batches in (web_batches(documents), mass_batches(ALIKE, masses))
        for batch in batches
        for id, text in zip(
            batch.column("id").to_pylist(), batch.column("content").to_pylist(), strict=True
        )
    ]
    assert len(found) == documents + masses
    return found


# Sizes at which the work is divided: such that lists have stripes, forests and components several
# rounds, the usual ones, and those at which one task does it all.
@pytest.mark.parametrize(
    "sizes",
    [
        Sizes(alone=0, long_list=30),
        Sizes(),
        Sizes(alone=0, masses=0, fitting=20, long_list=30),
        DIVIDED,
    ][: None if FULL else 2],
)
def test_a_web_with_a_mass(sizes: Sizes, spark_session: Any) -> None:
    documents = web(300, 130)
    sketcher = Sketcher(select="adaptive:100")
    wanted = local_answer(documents, sketcher, threshold=0.7)
    assert any(row[-1] for row in wanted.pairs), "no mass"
    found = spark_answer(spark_session, documents, sketcher, threshold=0.7, sizes=sizes)
    assert found == wanted


# Masses that are dense at 0.7 and, all or some, at 0.8, where links of before are found again, and
# none at 0.9, where two may have one hub; one task has what is left if it may have 700 elements.
@pytest.mark.parametrize(
    ("select", "most_pairs", "masses", "options"),
    [
        ("adaptive:20", 1, 700, {"within": "language"}),
        ("all", 0, 0, {}),
        ("min:20", 1, 0, {"within": "language"}),
        ("adaptive:20", 1, 0, {"exact": True}),
    ][: None if FULL else 1],
)
def test_dense_masses(
    select: str,
    most_pairs: int,
    masses: int,
    options: dict[str, Any],
    spark_session: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rule = MassRule(2, 2, 2, most_pairs)
    for module in ("roughly.clustering.whole", "roughly.spark.clustering"):
        monkeypatch.setattr(
            f"{module}.settings_for",
            lambda *given, **named: replace(settings_for(*given, **named), mass=rule),
        )
    documents = [
        {"id": f"{n:02}", "text": text, "date": None, "language": "de" if n % 3 else "fr"}
        for n, text in enumerate(spread(random.Random(2), 40, 30, 20, 10))
    ]
    sketcher, made = Sketcher(w=1, select=select), dict[str, int]()
    options = options | {"threshold": "0.6", "floor": "0.5", "content_type": "text"}
    wanted = local_answer(documents, sketcher, **options)
    found = spark_answer(
        spark_session,
        documents,
        sketcher,
        sizes=Sizes(alone=0, masses=masses),
        progress=lambda name, rows, seconds: made.update({name: rows}),
        **options,
    )
    assert found == wanted
    for rung in ("rung-7-10", "rung-4-5"):
        assert made[f"{rung}-dense"] and made[f"{rung}-links-2"]
    assert made["rung-4-5-links-8"]
    assert ("rung-9-10-met" in made) == (masses == 0)


@pytest.mark.skipif(not FULL, reason="full counts only")
@pytest.mark.parametrize(
    ("documents", "masses", "sizes"),
    [(3000, 400, Sizes()), (3000, 400, DIVIDED), (30_000, 1000, Sizes())],
)
def test_larger_webs(documents: int, masses: int, sizes: Sizes, spark_session: Any) -> None:
    texts = web(documents, masses)
    wanted = local_answer(texts, Sketcher())
    assert spark_answer(spark_session, texts, Sketcher(), sizes=sizes) == wanted


def test_without_java_the_error_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    from roughly import spark

    need_spark()
    monkeypatch.setenv("JAVA_HOME", "/nonexistent")
    with pytest.raises(spark.SparkError, match="no Java was found, wanted 17 or newer"):
        spark.open_session("local[1]")


def test_a_master_that_is_none() -> None:
    from roughly import spark

    need_spark()
    with pytest.raises(spark.SparkError, match="--master: not one of Spark's: 'nonsense', wanted"):
        spark.open_session("nonsense")


def test_ids_must_be_unique(tmp_path: Path, spark_session: Any) -> None:
    from roughly import spark
    from tests.engine import frame_of

    frame = frame_of(spark_session, [{"id": "a", "text": "x"}, {"id": "a", "text": "y"}])
    run = f"file://{tmp_path}/run"
    with pytest.raises(spark.SparkError, match="ids: not unique: 'a' stands for 2"):
        spark.cluster(frame, checkpoint=run)
    nameless = frame_of(spark_session, [{"id": None, "text": "x"}, {"id": "b", "text": "y"}])
    with pytest.raises(spark.SparkError, match="ids: not unique: None stands for 1"):
        spark.cluster(nameless, checkpoint=run)
    # Nothing of the wrong documents is taken over.
    right = frame_of(spark_session, [{"id": "a", "text": "x"}, {"id": "b", "text": "y"}])
    rows = spark.cluster(right, checkpoint=run).documents().collect()
    assert {row["id"] for row in rows} == {"a", "b"}
    with pytest.raises(ParameterError, match="no column 'body'"):
        spark.cluster(frame, text_field="body")


class Stopped(Exception):
    pass


@pytest.mark.skipif(not FULL, reason="full counts only")
def test_a_driver_that_is_started_again(
    tmp_path: Path, spark_session: Any, caplog: pytest.LogCaptureFixture
) -> None:
    from roughly import spark
    from tests.engine import frame_of

    documents = collection(5, 40)
    frame = frame_of(spark_session, documents)
    options: dict[str, Any] = {"content_type": "text", "checkpoint": f"file://{tmp_path}/run"}
    options["sizes"] = DIVIDED

    def stop(name: str, rows: int, seconds: float) -> None:
        if name == "frequencies":
            raise Stopped

    with pytest.raises(Stopped):
        spark.cluster(frame, 0.6, progress=stop, **options)
    caplog.set_level(logging.INFO, "roughly.spark")
    caplog.clear()
    found = spark_answer(spark_session, documents, Sketcher(), threshold=0.6, **options)
    assert found == local_answer(documents, Sketcher(), threshold=0.6, content_type="text")
    states = dict(message.split(",")[0].split(": ") for message in caplog.messages)
    before = {"sketches", "ordered", "equivalents", "frequencies"}
    assert {name for name, state in states.items() if state == "found"} == before
    assert states["hubs"] == states["pairs-resemblance"] == "made"
    with pytest.raises(MismatchError, match="made with other parameters"):
        spark.cluster(frame, 0.7, **options)
