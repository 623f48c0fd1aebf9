"""Simhashes: core = reference, by hand, and the theory of random hyperplanes."""

import itertools
import math
import random
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import roughly
from roughly import DocumentFrequencies, MismatchError, ParameterError, Simhasher, _core
from roughly.simhashing.frequency import idf_weights
from roughly.simhashing.stop_words import ENGLISH
from tests import strategy
from tests.core import LEVELS
from tests.optional import FULL
from tests.reference import simhash as reference
from tests.reference.key import keys
from tests.reference.shingle import permute, shingle_hash, token_hash
from tests.reference.sketch import words
from tests.reference.token import ContentType

pytestmark = pytest.mark.core

STOP_WORDS = frozenset(word.encode() for word in ENGLISH)
FEATURES = {"terms": (1, 1), "phrases:2": (1, 2), "phrases:5": (1, 5), "shingles:3": (3, 3)}
features = st.sampled_from(sorted(FEATURES))


def core_batch(
    documents: Sequence[bytes],
    features: str = "terms",
    weights: str = "count",
    filtered: bool = False,
    seed: int = 0,
    content_type: ContentType = "text",
    threads: int = 1,
    simd: str = "",
) -> list[int | None]:
    stop_words = sorted(STOP_WORDS) if filtered else None
    maker = _core.FeatureMaker(*FEATURES[features], weights == "once", filtered, seed, stop_words)
    source = pa.array(documents, pa.large_binary())
    simhashes, counts, tokens = _core.simhash_batch(source, maker, content_type, threads, simd)
    assert simhashes.dtype == np.uint64
    assert counts.dtype == tokens.dtype == np.uint32
    assert not simhashes[counts == 0].any()
    rows = zip(simhashes.tolist(), counts.tolist(), strict=True)
    return [simhash if count else None for simhash, count in rows]


def term(text: str, seed: int = 0) -> int:
    """The hash of one term, as docs/simhash.md has it."""
    key = keys(seed)
    return permute(shingle_hash([token_hash(text.encode(), key)], key.r), 64, key)


# --- by hand --------------------------------------------------------------------------------------


def test_one_term_is_its_hash() -> None:
    assert roughly.simhash("word") == term("word")
    assert roughly.simhash("Word, WORD! word") == term("word")


def test_of_two_terms_the_heavier_decides() -> None:
    a, b = term("a"), term("b")
    assert roughly.simhash("a b") == a & b  # where they differ the component is 0: no bit
    assert roughly.simhash("a b a") == a
    assert Simhasher(weights="once").simhash("a b a") == a & b


def test_of_three_terms_the_majority_decides() -> None:
    a, b, c = term("a"), term("b"), term("c")
    assert roughly.simhash("b c a") == (a & b) | (b & c) | (a & c)


def test_order_and_layout_do_not_matter() -> None:
    assert roughly.simhash("one two three four") == roughly.simhash("Four\nTHREE two -- one")
    assert roughly.simhash("<p>one <b>two</b></p>") == roughly.simhash("one two")
    assert roughly.simhash("<p>one</p>", content_type="text") == roughly.simhash("p one p")


@pytest.mark.parametrize("empty", ["", " ", "...", "<p></p>", "\u00ad", b"", b"\x00"])
def test_documents_without_terms_have_none(empty: str | bytes) -> None:
    assert roughly.simhash(empty) is None


def test_empty_ones_of_a_batch_are_marked() -> None:
    batch = Simhasher(stop_words="english").simhash_batch(["of the", None, "word", ""])
    assert batch.empty.tolist() == [True, True, False, True]
    assert list(batch) == [None, None, term("word"), None]
    assert batch.to_arrow().to_pylist() == [None, None, term("word"), None]
    assert batch.tokens.tolist() == [2, 0, 1, 0]
    assert batch.features.tolist() == [0, 0, 1, 0]


def test_stop_words_and_stems() -> None:
    plain = Simhasher().simhash
    assert Simhasher(stop_words="english").simhash("The cat and the dog") == plain("cat dog")
    assert Simhasher(stop_words=["Katze", "n\u00c4HE"]).simhash("katze in der N\u00e4he") == plain(
        "in der"
    )
    assert Simhasher(stem="english").simhash("relational ponies") == plain("relat poni")
    both = Simhasher(stop_words="english", stem="english")
    assert both.simhash("having hoped") == plain("hope")  # a stop word goes before it has a stem


def test_phrases_and_shingles() -> None:
    key = keys(0)
    a, b, c = (token_hash(t, key) for t in (b"a", b"b", b"c"))
    ab, bc, abc = (
        permute(shingle_hash(run, key.r), 64, key) for run in ([a, b], [b, c], [a, b, c])
    )
    singles = [(term(t), 1) for t in "abc"]
    phrases = [*singles, (ab, 1), (bc, 1)]
    assert Simhasher("phrases").simhash("a b c") == reference.signs(phrases)
    assert Simhasher("phrases:3").simhash("a b c") == reference.signs([*phrases, (abc, 1)])
    assert Simhasher("phrases:3").simhash("a") == term("a")
    assert Simhasher("shingles:3").simhash("a b c") == abc
    assert Simhasher("shingles:9").simhash("a b c") == abc  # all terms of a short document


# --- core = reference -----------------------------------------------------------------------------


@given(
    st.lists(st.one_of(strategy.documents, strategy.html_like), max_size=4),
    features,
    st.sampled_from(("count", "once")),
    st.booleans(),
    strategy.seeds,
    st.sampled_from(("auto", "html", "text")),
)
def test_core_is_the_reference(
    documents: list[bytes],
    features: str,
    weights: str,
    filtered: bool,
    seed: int,
    content_type: ContentType,
) -> None:
    first, last = FEATURES[features]
    stop_words = STOP_WORDS if filtered else frozenset[bytes]()
    wanted = [
        reference.simhash(
            words(data, content_type), first, last, weights, stop_words, filtered, seed
        )
        for data in documents
    ]
    for simd in LEVELS:
        found = core_batch(documents, features, weights, filtered, seed, content_type, 1, simd)
        assert found == wanted, simd


# Around every size at which a block of 16 vectors, a chunk of 1,024 or a digit of a count ends.
COUNTS = sorted({n + d for n in (15, 16, 63, 64, 127, 128, 255, 1023, 1024, 1025) for d in (0, 1)})


@pytest.mark.parametrize("simd", LEVELS)
def test_any_number_of_terms(simd: str) -> None:
    random_words = random.Random(5)
    for count in [1, 2, 3, *COUNTS, *([2048, 4097] if FULL else [])]:
        document = [b"%d" % random_words.randrange(40) for _ in range(count)]
        wanted = reference.simhash(document)
        assert core_batch([b" ".join(document)], simd=simd) == [wanted], count


def test_more_words_than_are_remembered() -> None:
    """What became of 16,384 tokens is kept; others take their places, and frequent ones return."""
    endings = ("ing", "ational", "s", "", "ness", "7")
    chosen = random.Random(9)
    document = []
    for number in range(9000 if not FULL else 40_000):
        letters = "".join(chr(97 + int(digit)) for digit in str(number * 7919))
        document += [
            (letters + chosen.choice(endings)).encode(),
            chosen.choice([b"the", b"hoping"]),
        ]
    wanted = reference.simhash(document, 1, 2, "count", STOP_WORDS, True)
    text = b" ".join(document)
    assert core_batch([text, b"the", text], "phrases:2", filtered=True) == [wanted, None, wanted]


@pytest.mark.parametrize("simd", LEVELS)
@pytest.mark.parametrize("threads", [1, 2, 5])
def test_threads_make_no_difference(simd: str, threads: int) -> None:
    chosen = random.Random(7)
    documents = [
        b" ".join(b"w%d" % chosen.randrange(900) for _ in range(chosen.randrange(400)))
        for _ in range(700 if not FULL else 4000)
    ]
    one = core_batch(documents, "phrases:2", simd="plain")
    assert core_batch(documents, "phrases:2", threads=threads, simd=simd) == one
    maker = _core.FeatureMaker(1, 1, False, False, 0)
    counted = []
    for level, count in (("plain", 1), (simd, threads)):
        counter = _core.FrequencyCounter()
        counter.add(pa.array(documents, pa.binary()), maker, "text", count, level)
        counted.append([array.tolist() for array in counter.result()])
    assert counted[0] == counted[1]


# --- tf-idf ---------------------------------------------------------------------------------------


def test_idf_by_hand() -> None:
    """1 + log2((N + 1) / (n + 1)), times 1,024."""
    found = idf_weights(np.array([0, 1, 3, 7, 15, 31], np.uint32), 31)
    assert found.tolist() == [6144, 5120, 4096, 3072, 2048, 1024]
    # log2 3 = 1.5849625 and 1024 * 2.5849625 = 2647.0016; log2 5 = 2.3219281, 3401.6544.
    assert idf_weights(np.array([0], np.uint32), 2).tolist() == [2647]
    assert idf_weights(np.array([0], np.uint32), 4).tolist() == [3401]


@given(st.integers(0, 2**32 - 1), st.lists(st.integers(0, 2**32 - 1), max_size=5))
def test_idf_is_the_reference_and_a_logarithm(documents: int, counts: list[int]) -> None:
    found = idf_weights(np.array(counts, np.uint32), documents).tolist()
    assert found == [reference.idf(count, documents) for count in counts]
    for count, weight in zip(counts, found, strict=True):
        exact = 1024 * (1 + math.log2((documents + 1) / (min(count, documents) + 1)))
        assert exact - 1.001 < weight < exact + 0.001


@given(st.lists(strategy.documents, min_size=1, max_size=5), features, st.booleans())
def test_tf_idf_is_the_reference(documents: list[bytes], features: str, filtered: bool) -> None:
    first, last = FEATURES[features]
    stop_words = STOP_WORDS if filtered else frozenset[bytes]()
    tokens = [words(data, "text") for data in documents]
    sets = [
        set(reference.features(reference.terms(each, stop_words, filtered), first, last, 0))
        for each in tokens
    ]
    counted = {f: sum(f in each for each in sets) for f in set().union(*sets)}
    maker = Simhasher(
        features,
        stop_words="english" if filtered else None,
        stem="english" if filtered else None,
    )
    table = maker.frequencies([data.decode("utf-8", "replace") for data in documents], "text")
    assert dict(zip(table.features.tolist(), table.counts.tolist(), strict=True)) == counted
    assert table.documents == len(documents)
    wanted = [
        reference.simhash(
            each,
            first,
            last,
            stop_words=stop_words,
            stemmed=filtered,
            frequencies=(counted, len(documents)),
        )
        for each in tokens
    ]
    stops = sorted(stop_words) if filtered else None
    made = _core.FeatureMaker(first, last, False, filtered, 0, stops)
    for simd in LEVELS:
        columns = _core.simhash_batch(
            pa.array(documents, pa.binary()), made, "text", 2, simd, weights=table.weights()
        )
        rows = zip(columns[0].tolist(), columns[1].tolist(), strict=True)
        assert [value if count else None for value, count in rows] == wanted


def test_frequencies_on_disk(tmp_path: Path) -> None:
    path = tmp_path / "frequencies.arrow"
    texts = ["a b c", "a b", "a"]
    table = Simhasher().frequencies(texts)
    assert sorted(table.counts.tolist()) == [1, 2, 3]
    table.save(path)
    again = DocumentFrequencies.load(path)
    assert again.digest == table.digest
    assert Simhasher(weights=again) == Simhasher(weights=table)
    assert list(Simhasher(weights=again).simhash_batch(texts)) == list(
        Simhasher(weights=table).simhash_batch(texts)
    )
    assert table.at_least(2).counts.tolist() == [n for n in table.counts.tolist() if n > 1]
    with pytest.raises(roughly.DocumentError, match="the file exists"):
        table.save(path)
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    with pytest.raises(roughly.RoughlyError, match="damaged"):
        DocumentFrequencies.load(path)
    with pytest.raises(roughly.DocumentError, match="no such file"):
        DocumentFrequencies.load(path.with_name("other"))


def test_frequencies_weigh_their_own_features_only() -> None:
    table = Simhasher().frequencies(["a b"])
    with pytest.raises(MismatchError, match="features='terms' against features='shingles:2'"):
        Simhasher("shingles:2", weights=table)


# --- features that the caller has -----------------------------------------------------------------

weights = st.floats(-(2.0**30), 2.0**30, allow_nan=False)


@given(st.lists(st.lists(st.tuples(st.binary(max_size=20), weights), max_size=9)), strategy.seeds)
def test_given_features(rows: list[list[tuple[bytes, float]]], seed: int) -> None:
    found = Simhasher(seed=seed).simhash_feature_batch(rows)
    assert list(found) == [reference.simhash_pairs(row, seed) for row in rows]
    kind = pa.list_(pa.struct([("feature", pa.binary()), ("weight", pa.float64())]))
    listed = pa.array([[{"feature": f, "weight": w} for f, w in row] for row in rows], kind)
    assert list(Simhasher(seed=seed).simhash_feature_batch(listed)) == list(found)


def test_given_features_in_every_shape() -> None:
    simhasher = Simhasher()
    wanted = simhasher.simhash_features([("red", 2.5), ("blue", 1)])
    assert wanted == simhasher.simhash_features({"red": 2.5, "blue": 1})
    assert wanted == simhasher.simhash_features([("blue", 3), ("red", 7.5)])  # the same direction
    assert simhasher.simhash_features({"red": 1, "blue": -1}) is not None
    assert simhasher.simhash_features([["blue", Fraction(3)], ("red", np.float32(7.5))]) == wanted
    assert simhasher.simhash_features({}) is None
    for wrong in (["a", "b"], ["ab"], [("a",)], [("a", 1, 2)], [1], [None]):
        with pytest.raises(ParameterError, match="features: not a pair"):
            simhasher.simhash_features(wrong)
    for weight in ("2", b"2", None, [1], 10**400):
        with pytest.raises(ParameterError, match="weight: wrong type"):
            simhasher.simhash_features({"a": weight})
    assert simhasher.simhash_features({"red": 0}) is None
    maps = pa.array([[("red", 2.5), ("blue", 1.0)], None, []], pa.map_(pa.string(), pa.float64()))
    assert list(simhasher.simhash_feature_batch(maps)) == [wanted, None, None]
    assert list(simhasher.simhash_feature_batch(maps[1:])) == [None, None]


@pytest.mark.parametrize("weight", [math.inf, math.nan, 1e300, -(2.0**40)])
def test_weights_out_of_range(weight: float) -> None:
    with pytest.raises(ParameterError, match="weight: out of range"):
        Simhasher().simhash_features({"red": weight})


# --- theory ---------------------------------------------------------------------------------------


def vector_pair(chosen: random.Random, angle: float, size: int) -> list[dict[str, float]]:
    """Two vectors at this angle: b = a cos + n sin, with a random n at right angles to a."""
    a = [chosen.gauss(0, 1) for _ in range(size)]
    n = [chosen.gauss(0, 1) for _ in range(size)]
    along = sum(x * y for x, y in zip(a, n, strict=True)) / sum(x * x for x in a)
    n = [y - along * x for x, y in zip(a, n, strict=True)]
    ratio = math.sqrt(sum(x * x for x in a) / sum(y * y for y in n))
    b = [x * math.cos(angle) + y * ratio * math.sin(angle) for x, y in zip(a, n, strict=True)]
    return [{f"f{i}": x for i, x in enumerate(vector)} for vector in (a, b)]


@pytest.mark.parametrize("degrees", [5, 20, 45, 90, 135, 180])
def test_distance_is_the_angle(degrees: int) -> None:
    """A random hyperplane separates two vectors with probability angle / pi: the mean distance of
    n pairs is 64 angle / pi, with a standard error of sqrt(64 p (1 - p) / n)."""
    chosen = random.Random(degrees)
    pairs = 400 if FULL else 100
    angle = math.radians(degrees)
    rows = [v for _ in range(pairs) for v in vector_pair(chosen, angle, 60)]
    # Other names in every pair, or the hyperplanes would be the same ones again and again.
    named = [
        {f"{number // 2} {name}": x for name, x in row.items()} for number, row in enumerate(rows)
    ]
    found = Simhasher().simhash_feature_batch(named).simhashes
    distances = [int(a ^ b).bit_count() for a, b in zip(found[::2], found[1::2], strict=True)]
    p = angle / math.pi
    error = math.sqrt(64 * p * (1 - p) / pairs)
    # Sixty dimensions are nearly a Gaussian; what is missing is far less than half a bit.
    assert abs(sum(distances) / pairs - 64 * p) < 4 * error + 0.5


def test_documents_without_a_term_in_common_are_far_apart() -> None:
    texts = [" ".join(f"w{i}x{j}" for j in range(31)) for i in range(2000)]
    found = Simhasher().simhash_batch(texts).simhashes
    distances = [int(a ^ b).bit_count() for a, b in itertools.pairwise(found)]
    # Binomial of 64 halves: 32, with a standard deviation of 4.
    assert abs(sum(distances) / len(distances) - 32) < 5 * 4 / math.sqrt(len(distances))
    set_bits = [sum(int(v) >> bit & 1 for v in found) for bit in range(64)]
    assert max(abs(n - 1000) for n in set_bits) < 5 * math.sqrt(500)


# --- what is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"features": "words"}, "features: unknown: 'words'"),
        ({"features": "phrases:11"}, "features: unknown"),
        ({"features": "shingles:0"}, "features: unknown"),
        ({"features": "shingles"}, "features: unknown"),
        ({"weights": "idf"}, "weights: unknown: 'idf'"),
        ({"stop_words": "german"}, "stop_words: unknown: 'german'"),
        ({"stop_words": [1]}, "stop_words: wrong type: int"),
        ({"stem": "german"}, "stem: unknown: 'german'"),
        ({"seed": -1}, "seed: out of range: -1"),
    ],
)
def test_wrong_parameters(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        Simhasher(**arguments)  # type: ignore[arg-type]


def test_wrong_content() -> None:
    with pytest.raises(ParameterError, match="content_type: unknown: 'pdf'"):
        roughly.simhash("a", content_type="pdf")
    with pytest.raises(ParameterError, match="type int"):
        roughly.simhash(5)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="features: wrong Arrow type"):
        Simhasher().simhash_feature_batch(pa.array(["a"]))
    with pytest.raises(ParameterError, match="feature: cannot sketch: type int"):
        Simhasher().simhash_features({5: 1.0})


def test_parameters_say_what_a_simhash_depends_on() -> None:
    assert Simhasher() == Simhasher("terms", "count", None, None, 0)
    assert Simhasher("shingles:1") == Simhasher("phrases:1") == Simhasher()
    assert Simhasher(stop_words=["b", "a"]) == Simhasher(stop_words=["A", "b", "b"])
    assert len({Simhasher(), Simhasher(seed=1), Simhasher(weights="once")}) == 3
    with pytest.raises(MismatchError, match="seed=0 against seed=1"):
        Simhasher().parameters.check_same(Simhasher(seed=1).parameters)
