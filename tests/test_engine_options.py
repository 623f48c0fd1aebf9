"""The same contract with every option of `cluster`: conditions, stars, exact counts, presets give
the rows of the local engine, in one task and divided."""

from typing import Any

import pytest

from roughly import Simhasher
from roughly.errors import MismatchError, ParameterError
from roughly.spark.clustering import Sizes
from roughly.spark.near_simhash import block_count, choices
from tests.engine import frame_of, local_answer, spark_answer, spark_session
from tests.engine_options import CASES, documents
from tests.optional import FULL

__all__ = ["spark_session"]

DIVIDED = Sizes(alone=0)
# So small that rules are decided, and components found, in several rounds.
ROUNDS = Sizes(alone=0, masses=0, fitting=20, long_list=30)


# Each case by the divided plan or by one task; pairs that are counted exactly are always divided.
RUNS = [
    (name, DIVIDED if number % 2 or options.get("exact") else Sizes())
    for number, (name, options) in enumerate(CASES.items())
]
RUNS += [(name, ROUNDS) for name in ("both", "star within")]
LIGHT = [("broder97", DIVIDED), ("within host", Sizes())]


@pytest.mark.parametrize(("name", "sizes"), RUNS if FULL else LIGHT, ids=str)
def test_the_same_rows(name: str, sizes: Sizes, spark_session: Any) -> None:
    options = dict(CASES[name])
    sketcher = options.pop("sketcher", None)
    texts = documents(1, 60, 110)
    wanted = local_answer(texts, sketcher, content_type="text", **options)
    assert len(wanted.pairs) > 20 and len(wanted.clusters) > 2
    found = spark_answer(
        spark_session, texts, sketcher, content_type="text", sizes=sizes, **options
    )
    assert found == wanted


def test_every_case_has_masses_or_needs_none() -> None:
    """That masses, whose pairs are left out, are there where the rule for them is used."""
    texts = documents(1, 60, 110)
    for name in ("star", "within host", "simhash", "simhash star of a mass"):
        options = dict(CASES[name])
        wanted = local_answer(texts, options.pop("sketcher"), content_type="text", **options)
        assert any(row[-1] for row in wanted.pairs), name


@pytest.mark.parametrize("k", [1, 3, 6, 10])
def test_simhashes_within_k_bits_agree_in_a_choice(k: int) -> None:
    for values in (2, 1000, 10**6, 10**9):
        blocks = block_count(values, k)
        masks = choices(blocks, k)
        assert len(masks) <= 500
        # Whichever k bits differ, in one choice none of them counts; here the worst: k blocks.
        for start in range(64 - k):
            bits = sum(1 << (start + n * (64 - start - 1) // k) for n in range(k))
            assert any(mask & bits == 0 for mask in masks)


def test_refused(spark_session: Any) -> None:
    from roughly import spark

    frame = frame_of(spark_session, [{"id": "a", "text": "x"}, {"id": "b", "text": "y"}])
    with pytest.raises(ParameterError, match="no column 'tongue'"):
        spark.cluster(frame, within="tongue")
    with pytest.raises(ParameterError, match="no exact stars"):
        spark.cluster(frame, linkage="star", exact=True)
    with pytest.raises(ParameterError, match="preset: cannot stand beside a sketcher"):
        spark.cluster(frame, preset="broder97", sketcher=CASES["star"]["sketcher"])


def test_weights_by_frequency(spark_session: Any) -> None:
    from roughly import spark

    texts = documents(3, 30, 5)
    plain = Simhasher(features="phrases:2", stop_words=["the", "Of"])
    frame = frame_of(spark_session, texts)
    found = spark.frequencies(frame, plain, content_type="text")
    wanted = plain.frequencies([d["text"] for d in texts], "text")
    assert found.digest == wanted.digest
    common = spark.frequencies(frame, plain, 2, content_type="text")
    assert common.digest == wanted.at_least(2).digest
    weighed = Simhasher(features="phrases:2", stop_words=["the", "Of"], weights=common)
    made = spark.simhash(frame, weighed, content_type="text").collect()
    signed = {row["id"]: row["simhash"] for row in made}
    assert {i: None if s is None else s % 2**64 for i, s in signed.items()} == {
        d["id"]: weighed.simhash(d["text"], "text") for d in texts
    }
    with pytest.raises(MismatchError, match="made with different parameters"):
        Simhasher(weights=common)
