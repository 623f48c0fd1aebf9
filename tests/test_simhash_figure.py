"""The 2007 paper's figures as tools: by hand, against brute force, against theory."""

import json
import math
import random
from collections import Counter
from itertools import combinations
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from roughly import DocumentError, ParameterError, _core
from roughly.simhashing.distribution import distribution, expected_leading, leading_bit
from roughly.simhashing.evaluation import (
    LabelledPair,
    precision_recall,
    read_labels,
    separation,
    share,
    with_distances,
)
from roughly.simhashing.page_kind import excerpt, page_kind
from roughly.simhashing.pair_sample import sample_pairs
from roughly.simhashing.simhash_file import SimhashTable
from tests.core import LEVELS
from tests.optional import FULL


def table(values: list[int], empty: list[bool] | None = None) -> SimhashTable:
    none = np.array(empty if empty is not None else [False] * len(values), np.bool_)
    return SimhashTable(np.array(values, np.uint64), none, None, None)


# --- distribution ---------------------------------------------------------------------------------


def test_leading_bits_by_hand() -> None:
    # In order 0, 1, 3, 3, 2^63: exclusive-or 1, 2, 0, 2^63 + 3.
    found = distribution(np.array([3, 2**63, 0, 3, 1], np.uint64))
    assert (found.documents, found.distinct, found.equal, found.empty) == (5, 4, 1, 0)
    assert {bit: n for bit, n in enumerate(found.leading) if n} == {0: 1, 1: 1, 63: 1}
    assert {b: n for b, n in enumerate(found.buckets) if n} == {0: 4, 64: 1}


def test_empty_ones_are_left_out() -> None:
    found = distribution(np.array([0, 5, 0], np.uint64), np.array([True, False, True]))
    assert (found.documents, found.empty, sum(found.buckets)) == (1, 2, 1)
    nothing = distribution(np.zeros(0, np.uint64))
    assert (nothing.documents, sum(nothing.leading), nothing.spikes) == (0, 0, [])
    assert sum(nothing.leading_expected) == 0


@given(st.lists(st.integers(1, 2**64 - 1)))
def test_leading_bit(values: list[int]) -> None:
    found = leading_bit(np.array(values, np.uint64)).tolist()
    assert found == [value.bit_length() - 1 for value in values]


def test_expected_leading_of_few_by_hand() -> None:
    """Two random values part at the top bit with probability 1/2, at the next with 1/4, ..."""
    assert expected_leading(2)[::-1] == pytest.approx([2.0 ** -(d + 1) for d in range(64)])
    assert expected_leading(1) == pytest.approx([0.0] * 64)
    # Of three, all on one side with probability 1/4; else the top bit parts two of them.
    assert expected_leading(3)[63] == pytest.approx(3 / 4)


@pytest.mark.parametrize("documents", [2, 1000, 10**6, 2**34])
def test_expected_leading_adds_up(documents: int) -> None:
    """All neighbours part somewhere, but for those that are equal: C(n, 2) / 2^64 of them."""
    equal = documents * (documents - 1) / 2 / 2.0**64
    total = sum(expected_leading(documents))
    assert total == pytest.approx(documents - 1 - equal, rel=1e-7)


def test_random_simhashes_are_as_expected() -> None:
    documents = 20_000
    values = np.random.default_rng(3).integers(0, 2**64, documents, dtype=np.uint64)
    found = distribution(values)
    for measured, expected in zip(found.leading, found.leading_expected, strict=True):
        assert abs(measured - expected) <= 5 * math.sqrt(expected) + 1
    assert found.spikes == []
    # The right half of Figure 2a: half as many with every bit further up.
    assert found.leading[63 - 8 : 64] == [2**i for i in range(8, -1, -1)]


def test_a_spike_is_named_by_its_documents() -> None:
    values = np.random.default_rng(4).integers(0, 2**64, 6400, dtype=np.uint64).tolist()
    page = 0x1234_5678_9ABC_DEF0  # in bucket 9
    rows = [10, 20, 30, *range(100, 300)]
    for row in rows:
        values[row] = page
    values[40], values[50] = page ^ 1, page ^ 0b111
    [spike] = distribution(np.array(values, np.uint64)).spikes
    assert (spike.bucket, spike.simhash) == (page >> 57, page) == (9, page)
    assert (spike.same, spike.near) == (len(rows), len(rows) + 2)
    assert spike.rows == [10, 20, 30, 100, 101]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("", "empty"),
        ("<html><title>404 Not Found</title><p>The requested URL", "error"),
        ("<h1>Forbidden</h1>", "error"),
        ("Service unavailable. Try later.", "error"),
        ("<form>User name: Password: Log in</form>", "login"),
        ("Sign in to your account", "login"),
        ("The cow gives milk 4040 times", ""),
        ("login " + "word " * 400, ""),
    ],
)
def test_page_kinds(text: str, kind: str) -> None:
    assert page_kind(text.encode(), text.startswith("<")) == kind


def test_excerpts() -> None:
    assert excerpt(b"<p>one</p>\n<p>two</p>", html=True) == "one two"
    assert excerpt(b"a  b\nc", html=False) == "a b c"
    assert len(excerpt(b"word " * 99, html=False, most=20)) == 20


# --- sample ---------------------------------------------------------------------------------------


def clustered(count: int, seed: int) -> list[int]:
    """Random simhashes, and others a few bits off them."""
    chosen = random.Random(seed)
    values = [chosen.getrandbits(64) for _ in range(count // 4)]
    while len(values) < count:
        value = chosen.choice(values)
        for _ in range(chosen.randrange(8)):
            value ^= 1 << chosen.randrange(64)
        values.append(value)
    return values


@pytest.mark.core
@pytest.mark.parametrize("simd", LEVELS)
def test_sample_is_brute_force(simd: str) -> None:
    values = clustered(300 if FULL else 150, 1)
    pairs = {
        (a, b): (values[a] ^ values[b]).bit_count() for a, b in combinations(range(len(values)), 2)
    }
    for least, most in ((0, 64), (1, 10), (3, 3)):
        wanted = Counter(d for d in pairs.values() if least <= d <= most)
        for threads in (1, 3):
            counts, drawn = _core.sample_distances(
                np.array(values, np.uint64), least, most, 10**6, 5, threads, simd
            )
            assert {d: n for d, n in enumerate(counts.tolist()) if n} == wanted
            assert {(a, b): d for a, b, d in drawn.tolist()} == {
                pair: d for pair, d in pairs.items() if least <= d <= most
            }
            few = _core.sample_distances(
                np.array(values, np.uint64), least, most, 4, 5, threads, simd
            )[1].tolist()
            assert Counter(d for *_, d in few) == {d: min(n, 4) for d, n in wanted.items()}
            assert few == sorted(few, key=lambda row: (row[2], row[0], row[1]))
            assert (
                few
                == _core.sample_distances(
                    np.array(values, np.uint64), least, most, 4, 5, 1, "plain"
                )[1].tolist()
            )


def test_every_pair_is_as_likely() -> None:
    """All simhashes equal: of 45 pairs one is drawn, by a seed each; chi-squared over the pairs."""
    values = np.zeros(10, np.uint64)
    draws = 900
    drawn: Counter[tuple[int, ...]] = Counter()
    for seed in range(draws):
        [row] = _core.sample_distances(values, 0, 0, 1, seed, 1)[1].tolist()
        drawn[tuple(row[:2])] += 1
    assert len(drawn) == 45
    chi_squared = sum((n - draws / 45) ** 2 / (draws / 45) for n in drawn.values())
    assert chi_squared < 44 + 5 * math.sqrt(88)


def test_sample_of_a_table() -> None:
    values = [0, 1, 3, 0, 7]
    found = sample_pairs(table(values, [True, *[False] * 4]), least=0, most=3)
    # Among 1, 3, 0, 7: distances 1 (1,3), 1 (1,0), 2 (1,7), 2 (3,0), 1 (3,7), 3 (0,7).
    assert found.counts == {0: 0, 1: 3, 2: 2, 3: 1}
    assert (found.documents, found.of) == (4, 4)
    assert found.pairs == [(1, 1, 2), (1, 1, 3), (1, 2, 4), (2, 1, 4), (2, 2, 3), (3, 3, 4)]
    first = found.rows(table(values))[0]
    assert first == {
        "distance": 1,
        "a": "#2",
        "b": "#3",
        "label": None,
        "simhash_a": f"{1:016x}",
        "simhash_b": f"{3:016x}",
        "pairs": 3,
    }
    part = sample_pairs(table(clustered(100, 2)), documents=20, seed=3)
    assert (part.documents, part.of) == (20, 100)
    assert part == sample_pairs(table(clustered(100, 2)), documents=20, seed=3)


def test_wrong_samples() -> None:
    with pytest.raises(ParameterError, match="least: out of range: 5, wanted at most 3"):
        sample_pairs(table([1, 2]), least=5, most=3)
    with pytest.raises(ParameterError, match="each: out of range: 0"):
        sample_pairs(table([1, 2]), each=0)


# --- evaluation -----------------------------------------------------------------------------------


def pair(label: bool | None, distance: int | None, pairs: int | None = None) -> LabelledPair:
    return LabelledPair("a", "b", label, distance, pairs)


def test_precision_and_recall_by_hand() -> None:
    labelled = [
        *[pair(True, 1)] * 3,
        pair(None, 1),
        *[pair(True, 3)] * 2,
        pair(False, 3),
        pair(True, 5),
        *[pair(False, 5)] * 3,
        pair(True, None),  # one of the two has no simhash: never found
    ]
    points = precision_recall(labelled)
    assert [point.k for point in points] == [0, 1, 2, 3, 4, 5]
    assert points[0].precision is None
    assert [(p.true, p.false, p.unknown) for p in points[1::2]] == [(3, 0, 1), (5, 1, 1), (6, 4, 1)]
    precision = [p.precision.value for p in points[1::2] if p.precision]
    recall = [p.recall.value for p in points[1::2] if p.recall]
    assert precision == [1.0, 5 / 6, 0.6]
    assert recall == pytest.approx([3 / 7, 5 / 7, 6 / 7])
    assert points[3].f1 == pytest.approx(2 * (5 / 6) * (5 / 7) / (5 / 6 + 5 / 7))
    assert all(point.weighed_precision is None for point in points)
    # 7 true and 4 false: of 28 pairs of pairs 3 * 4 + 2 * 3 + 2 / 2 + 3 / 2 are in order.
    assert separation(labelled) == pytest.approx((12 + 6 + 1 + 1.5) / 28)


def test_weighed_by_what_they_stand_for() -> None:
    """Two labelled of 10 at distance 1, four of 1,000 at distance 2."""
    labelled = [
        pair(True, 1, 10),
        pair(True, 1, 10),
        pair(True, 2, 1000),
        *[pair(False, 2, 1000)] * 3,
        pair(None, 2, 1000),
    ]
    one, two = precision_recall(labelled)[1:]
    assert (one.weighed_precision, two.weighed_precision) == (1.0, (10 + 250) / (10 + 1000))
    assert (one.weighed_recall, two.weighed_recall) == (pytest.approx(10 / 260), 1.0)


def test_wilson_by_hand() -> None:
    """1 of 2: (1/2 + z^2/4) / (1 + z^2/2) = 1/2, half sqrt(1/8 + z^2/16) z / (1 + z^2/2)."""
    found = share(1, 2)
    assert found is not None
    z = 1.959964
    half = z * math.sqrt(1 / 8 + z * z / 16) / (1 + z * z / 2)
    assert (found.low, found.high) == pytest.approx((0.5 - half, 0.5 + half), abs=1e-6)
    zero, one = share(0, 5), share(5, 5)
    assert zero is not None
    assert one is not None
    assert (zero.value, zero.low) == (0, 0)
    assert (one.value, one.high) == (1, 1)
    assert share(0, 0) is None


def test_distances_from_simhashes() -> None:
    simhashes = {"a": 0b1011, "b": 0b0001, "c": None}
    labelled = [LabelledPair("a", "b", True, None), LabelledPair("b", "c", False, 9)]
    assert [each.distance for each in with_distances(labelled, simhashes)] == [2, None]
    with pytest.raises(DocumentError, match="d: no simhash"):
        with_distances([LabelledPair("a", "d", True, None)], simhashes)


def test_labels_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "labels.jsonl"
    words = ["true", True, 1, "TP", "false", 0, "unknown", None]
    rows = [{"a": "x", "b": "y", "label": word, "distance": 2} for word in words]
    path.write_text("\n".join(map(json.dumps, rows)) + "\n\n")
    assert [each.label for each in read_labels(path)] == [*[True] * 4, False, False, None, None]
    for text, why in {
        '{"a": "x", "b": "y", "label": "perhaps"}': "line 1: the label 'perhaps' is unknown",
        '{"a": "x", "label": 1}': "line 1: it has no field 'b'",
        '["x"]': "line 1",
        '{"a": "x", "b": "y"}': "nothing is labelled: 1 pairs",
    }.items():
        path.write_text(text)
        with pytest.raises(DocumentError, match=why):
            read_labels(path)
    with pytest.raises(DocumentError, match="cannot read"):
        read_labels(tmp_path / "missing")


def test_sensitivity_tells_choices_apart() -> None:
    """True pairs have the same words in another order; false ones share their function words."""
    from roughly.simhashing.sensitivity import CHOICES, sensitivity

    chosen = random.Random(6)
    ids, texts, pairs = [], [], []
    for number in range(30):
        words = [f"w{number}x{i}" for i in range(40)] + ["the"] * 30 + ["of"] * 20
        for copy in "ab":
            chosen.shuffle(words)
            ids.append(f"{number}{copy}")
            texts.append(" ".join(words).encode())
        pairs.append(LabelledPair(f"{number}a", f"{number}b", True, None))
        if number:
            pairs.append(LabelledPair(f"{number}a", f"{number - 1}a", False, None))
    documents = pa.table(
        {
            "id": ids,
            "content": pa.array(texts, pa.large_binary()),
            "html": pa.array([False] * len(ids)),
        }
    )
    done: list[int] = []
    judged = {each.name: each for each in sensitivity(pairs, documents, told=done.append)}
    assert list(judged) == list(CHOICES)
    assert len(done) == len(CHOICES)
    # The order of words means nothing to terms: distance 0, and all is found at k = 0.
    assert judged["terms"].points[0].recall == share(30, 30)
    assert judged["terms, stop words"].best.f1 == 1.0
    assert judged["terms, stop words"].at_paper_k.precision == share(30, 30)
    # Shingles of five words are hardly ever the same after shuffling.
    assert judged["shingles:5"].at_paper_k.true < 30
    assert judged["terms, stop words"].separation == 1.0
