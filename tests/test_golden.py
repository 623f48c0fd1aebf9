"""The golden vectors: the reference still makes them, and the core gives the same.

A failure here means that sketches made before would no longer match: that is a new version of
the algorithm, never a reason to regenerate the files.
"""

import hashlib
import json
from typing import Any

import numpy as np
import pytest

from roughly import Simhasher, _core
from roughly.simhashing.frequency import idf_weights
from roughly.simhashing.stop_words import ENGLISH
from tests import core
from tests.golden.documents import documents
from tests.golden.make import DIRECTORY, GRID, SEEDS, WORD_GRID, files
from tests.golden.simhash import SEEDS as SIMHASH_SEEDS
from tests.golden.simhash import stop_words
from tests.reference.shingle import hexadecimal
from tests.reference.sketch import Parameters

NAMES = sorted(documents())


def load(name: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((DIRECTORY / f"{name}.json").read_text(encoding="ascii"))
    return content


def parameters(vector: dict[str, Any]) -> Parameters:
    seed = int(vector["seed"], 16)
    words = vector.get("words", 0)
    return Parameters(
        vector["w"], vector["bits"], vector["select"], vector["parameter"], seed, words
    )


def check(frozen: dict[str, Any], values: list[int]) -> None:
    assert [f"{v:016x}" for v in values[: len(frozen["first"])]] == frozen["first"]
    assert len(values) == frozen["count"]
    digest = hashlib.sha256(b"".join(v.to_bytes(8, "little") for v in values))
    assert digest.hexdigest() == frozen["sha256"]


def test_reference_makes_the_committed_files() -> None:
    made = files()
    assert sorted(made) == sorted(path.name for path in DIRECTORY.glob("*.json"))
    for name, text in made.items():
        assert (DIRECTORY / name).read_text(encoding="ascii") == text, name


def test_vectors_cover_every_parameter() -> None:
    vectors = [vector for name in NAMES for vector in load(name)["vectors"]]
    met = {(v["w"], v["bits"], v["select"], v["parameter"], int(v["seed"], 16)) for v in vectors}
    assert met == {(*entry[:4], seed) for entry in GRID for seed in SEEDS}
    assert {(v["bits"], v["select"]) for v in vectors} == {
        *((64, select) for select in ("all", "mod", "min", "adaptive", "perm")),
        *((40, select) for select in ("all", "mod", "min", "adaptive")),
    }
    assert max(v["level"] for v in vectors) > 3


@pytest.mark.core
@pytest.mark.parametrize("simd", core.LEVELS)
@pytest.mark.parametrize("name", NAMES)
def test_core_gives_the_vectors(name: str, simd: str) -> None:
    golden = load(name)
    data = bytes.fromhex(golden["content_hex"])
    html = golden["content_type"] == "html"
    found = core.tokenize(data, html, simd)
    assert [t.decode() for t in found.tokens] == golden["tokens"]
    assert _core.content_hash(data) == golden["content"]
    assert _core.content_hash(found.canonical) == golden["canonical"]
    for vector in golden["vectors"]:
        p = parameters(vector)
        check(vector["fingerprints"], core.fingerprints(data, p.w, p.bits, p.seed, html, simd))
        row = core.sketch(data, p, vector["content_type"], simd)
        check(vector["values"], row.values)
        assert (row.tokens, row.size, row.level) == (
            vector["tokens"],
            vector["size"],
            vector["level"],
        )
        assert f"{row.content[0]:016x}{row.content[1]:016x}" == golden["content"]
        assert f"{row.canonical[0]:016x}{row.canonical[1]:016x}" == golden["canonical"]
        by_group = p.select == "perm"
        groups = core.super_shingles(row.values, vector["super_length"], by_group, p.seed)
        check(vector["super_shingles"], groups)


@pytest.mark.core
def test_core_gives_the_features() -> None:
    golden = load("features")
    features = [bytes.fromhex(feature) for feature in golden["features_hex"]]
    for vector in golden["vectors"]:
        row = core.sketch_features(features, parameters(vector))
        check(vector["values"], row.values)
        assert row.size == vector["size"]
        assert hexadecimal(row.content) == hexadecimal(row.canonical) == vector["hash"]


def test_word_vectors_cover_every_share() -> None:
    """Documents with all their words, with some of them, and with none though they have tokens."""
    vectors = load("words")["vectors"]
    met = {(v["w"], v["select"], v["parameter"], v["words"], int(v["seed"], 16)) for v in vectors}
    assert met == {(*entry, seed) for entry in WORD_GRID for seed in SEEDS}
    found = {(v["document"], v["seed"]): v["size"] for v in vectors if v["w"] == 1}
    shares = set()
    for v in vectors:
        distinct = found.get((v["document"], v["seed"]))
        count = v["word_values"]["count"]
        assert count <= v["tokens"] and (count == 0 or max(v["size"], count) < v["words"])
        if distinct:
            shares.add("none" if not count else "some" if count < distinct else "all")
    assert shares == {"none", "some", "all"}
    assert max(v["level"] for v in vectors) > 0


@pytest.mark.core
@pytest.mark.parametrize("simd", core.LEVELS)
def test_core_gives_the_words(simd: str) -> None:
    for vector in load("words")["vectors"]:
        data, content_type = documents()[vector["document"]]
        p = parameters(vector)
        columns = _core.sketch_batch(
            [data], p.w, p.bits, p.select, p.parameter, p.seed, content_type, 1, simd, words=p.words
        )
        [row] = core.rows(columns, p)
        check(vector["values"], row.values)
        check(vector["shingle_values"], [v for v in row.values if v < 2**63])
        check(vector["word_values"], [v for v in row.values if v >= 2**63])
        assert (row.tokens, row.size, row.level) == (
            vector["tokens"],
            vector["size"],
            vector["level"],
        )


@pytest.mark.core
@pytest.mark.parametrize("simd", core.LEVELS)
def test_core_gives_the_simhashes(simd: str) -> None:
    golden = load("simhash")
    tokens = {name: (data, kind) for name, (data, kind) in documents().items()}
    for vector in golden["vectors"]:
        listed = sorted(stop_words()) if vector["stop_words"] else None
        seed = int(vector["seed"], 16)
        shape = (vector["first"], vector["last"])
        maker = _core.FeatureMaker(
            *shape, vector["weights"] == "once", vector["stem"], seed, listed
        )
        weights = None
        if vector["weights"] == "idf":
            counter = _core.FrequencyCounter()
            for data, kind in tokens.values():
                counter.add([data], maker, kind, 1, simd)
            features, counts = counter.result()
            others = idf_weights(np.zeros(1, np.uint32), counter.documents)[0]
            weighed = idf_weights(counts, counter.documents)
            weights = _core.FeatureWeights(features, weighed, int(others))
        for name, (data, kind) in tokens.items():
            [value], [count], _ = _core.simhash_batch([data], maker, kind, 1, simd, weights=weights)
            assert (f"{value:016x}" if count else None) == vector["simhashes"][name], name
    for given, seed in zip(golden["given"], SIMHASH_SEEDS, strict=True):
        pairs = [(bytes.fromhex(feature), weight) for feature, weight in golden["pairs"]]
        assert f"{Simhasher(seed=seed).simhash_features(pairs):016x}" == given


def test_stop_words_are_frozen() -> None:
    assert {word.encode() for word in ENGLISH} == stop_words()
