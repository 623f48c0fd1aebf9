"""A Hamming index finds what looking at every simhash finds, whatever its design and coding."""

from itertools import combinations
from math import comb
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

import roughly
from roughly.errors import DamageError, MismatchError, ParameterError
from roughly.hamming.design import parse_design
from tests.core import LEVELS
from tests.optional import FULL
from tests.reference import hamming as reference
from tests.strategy_hamming import clustered

pytestmark = pytest.mark.core

CODINGS = ["elias-fano", "xor-block", "plain"]


def designs(bits: int, k: int) -> list[str]:
    """Every design that can be, for small numbers of simhashes."""
    names = ["auto", "scan"]
    names += [f"compact:{m}" for m in range(1, min(k + 1, bits) + 1)]
    names += [f"tables:{k + 1}", f"tables:{k + 2}", f"tables:{k + 3}", f"tables:{k + 1}+{k + 1}"]
    made = []
    for name in names:
        try:
            if name != "auto":
                parse_design(name, bits, k)
            made.append(name)
        except ParameterError:
            pass
    return made


def random(count: int, seed: int, bits: int = 64) -> npt.NDArray[np.uint64]:
    values = np.random.default_rng(seed).integers(0, 2**64, count, np.uint64)
    return values >> np.uint64(64 - bits)


ONES = np.array([bin(byte).count("1") for byte in range(256)], np.uint8)


def near(values: npt.NDArray[np.uint64], x: int, k: int) -> list[int]:
    """As the reference, for many."""
    differing = ONES[(values ^ np.uint64(x)).view(np.uint8).reshape(-1, 8)].sum(axis=1)
    return [int(p) for p in np.flatnonzero(differing <= k)]


@st.composite
def problems(draw: st.DrawFn) -> tuple[int, int, list[int], list[int], str, str]:
    bits = draw(st.sampled_from([64, 64, 63, 32, 17, 8, 1]))
    k = draw(st.sampled_from([0, 1, 2, 3, 3, 4, 7, 10]))
    stored = draw(clustered(bits, flips=k + 1))
    asked = draw(clustered(bits, 1, 3, flips=k + 1))
    # Searching the plain codings within a radius costs as many probes as the radius allows.
    coding = draw(st.sampled_from(CODINGS))
    names = designs(bits, k)
    if coding != "elias-fano" or k > 4:
        names = [name for name in names if name not in ("compact:1", "compact:2", "auto")]
    return bits, k, stored, asked, draw(st.sampled_from(names)), coding


@given(problems(), st.sampled_from(LEVELS))
def test_finds_what_is_near(
    problem: tuple[int, int, list[int], list[int], str, str], simd: str
) -> None:
    bits, k, stored, asked, design, coding = problem
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ROUGHLY_SIMD", simd)
        index = roughly.HammingIndex(stored, k, bits=bits, design=design, coding=coding)
    for x in [*asked, *stored[:3]]:
        assert index.find(x).tolist() == reference.find(stored, x, k)
        assert index.nearest(x) == reference.nearest(stored, x, k)
        near = [(reference.distance(stored[p], x), p) for p in reference.find(stored, x, k)]
        assert index.matches(x) == [(p, stored[p], far) for far, p in sorted(near)]
    assert index.simhashes().tolist() == stored


@pytest.mark.parametrize("coding", CODINGS)
@pytest.mark.parametrize(
    ("design", "k"),
    [(d, 3) for d in ("compact:2", "compact:3", "compact:4", "tables:4", "tables:5", "tables:4+4")]
    + [("compact:3", 6), ("tables:7", 6), ("compact:11", 10), ("compact:5", 10)],
)
def test_many(design: str, k: int, coding: str) -> None:
    """More simhashes than a block, a bucket or a group holds; half of them near another."""
    values = random(20_000, 5)
    flips = np.zeros(10_000, np.uint64)
    for seed in range(k):
        flips ^= np.uint64(1) << random(10_000, seed, 6)
    values[10_000:] = values[:10_000] ^ flips
    values[500:1500] = values[500]
    index = roughly.HammingIndex(values, k, design=design, coding=coding)
    assert index.design == design
    for x in [*values[490:510].tolist(), *values[12_000:12_040].tolist(), *random(20, 9).tolist()]:
        assert index.find(x).tolist() == near(values, x, k)
    offsets, positions = index.find(values[:3000], threads=2)
    for i in range(0, 3000, 100):
        assert positions[offsets[i] : offsets[i + 1]].tolist() == near(values, int(values[i]), k)


@pytest.mark.parametrize(
    ("design", "coding"),
    [("auto", "elias-fano"), ("compact:1", "elias-fano")]
    + [(d, c) for d in ("compact:2", "compact:4", "tables:5") for c in CODINGS],
)
def test_everything_alike(design: str, coding: str) -> None:
    """All zeros; thousands of one value; a ball of radius k; differences in one block."""
    zeros = [0] * 3000
    ball = [sum(1 << b for b in bits) for r in range(3) for bits in combinations(range(64), r)]
    packed = [7 << 60 | value for value in range(2**12)]
    for stored in (zeros, ball, packed, [*ball, *zeros, *packed]):
        index = roughly.HammingIndex(stored, 3, design=design, coding=coding)
        for x in (0, 1, 7 << 60, 2**64 - 1, stored[-1] ^ 0b111, 1 << 63):
            assert index.find(x).tolist() == near(np.array(stored, np.uint64), x, 3)


def test_pairs_of_every_difference() -> None:
    """No way of spreading 3 differing bits over the blocks of a design escapes it."""
    differences = [sum(1 << b for b in bits) for bits in combinations(range(0, 64, 3), 3)]
    differences += [sum(1 << b for b in bits) for bits in combinations(range(14, 20), 3)]
    for design in designs(64, 3):
        if design == "compact:1":
            continue
        index = roughly.HammingIndex([0xABCDEF0123456789], 3, design=design)
        offsets, _ = index.find([0xABCDEF0123456789 ^ d for d in differences])
        assert offsets.tolist() == list(range(len(differences) + 1))


@pytest.mark.parametrize("bits", [20, 24])
def test_chance_matches_are_as_many_as_expected(bits: int) -> None:
    """A binomial number of random simhashes is within k of a random one."""
    count, asked = (2_000_000, 3000) if FULL else (200_000, 600)
    index = roughly.HammingIndex(random(count, 1, bits), 3, bits=bits)
    offsets, _ = index.find(random(asked, 2, bits))
    ball = sum(comb(bits, ones) for ones in range(4))
    share = ball / 2**bits
    expected = asked * count * share
    # Queries are random too: their pairs are independent, and so the count is nearly Poisson's.
    assert abs(int(offsets[-1]) - expected) < 6 * expected**0.5


# --- files ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("design", ["auto", "scan", "compact:2", "tables:4"])
@pytest.mark.parametrize("coding", CODINGS)
def test_saved_and_opened(tmp_path: Path, design: str, coding: str) -> None:
    values = random(5000, 3)
    index = roughly.HammingIndex(values, 3, design=design, coding=coding)
    index.save(tmp_path / "a.hamming")
    opened = roughly.HammingIndex.open(tmp_path / "a.hamming", 3, bits=64)
    assert repr(opened) == repr(index)
    assert len(opened) == 5000
    for x in values[:50].tolist():
        assert opened.find(x ^ 0b1011).tolist() == near(values, x ^ 0b1011, 3)
    assert (opened.simhashes() == values).all()


def test_loaded_into_memory(tmp_path: Path) -> None:
    """Large enough for pages of their own."""
    values = random(600_000, 4)
    roughly.HammingIndex(values, 3).save(tmp_path / "a")
    index = roughly.HammingIndex.open(tmp_path / "a", load=True)
    (tmp_path / "a").unlink()
    offsets, positions = index.find(values[::1000] ^ np.uint64(0b101 << 40))
    assert offsets.tolist() == list(range(601))
    assert positions.tolist() == list(range(0, 600_000, 1000))
    assert (index.simhashes() == values).all()


def test_refuses_others(tmp_path: Path) -> None:
    path = tmp_path / "a.hamming"
    roughly.HammingIndex([1, 2], 3).save(path)
    with pytest.raises(MismatchError, match="built for k = 3, wanted 2"):
        roughly.HammingIndex.open(path, 2)
    with pytest.raises(MismatchError, match="built for bits = 64, wanted 32"):
        roughly.HammingIndex.open(path, bits=32)
    other = tmp_path / "b"
    other.write_bytes(b"something else" * 100)
    with pytest.raises(DamageError, match="not a Hamming index"):
        roughly.HammingIndex.open(other)
    with pytest.raises(roughly.DocumentError, match="no such file"):
        roughly.HammingIndex.open(tmp_path / "c")


@pytest.mark.parametrize("design", ["scan", "compact:2", "tables:4"])
def test_damage_is_noticed(tmp_path: Path, design: str) -> None:
    path = tmp_path / "a.hamming"
    coding = "xor-block" if design == "tables:4" else "elias-fano"
    roughly.HammingIndex(random(3000, 1), 3, design=design, coding=coding).save(path)
    whole = path.read_bytes()
    places = [*range(40), *range(40, len(whole), len(whole) // 50)]
    for place in places:
        flipped = bytearray(whole)
        flipped[place] ^= 1 << place % 8
        path.write_bytes(flipped)
        with pytest.raises(DamageError, match="damaged"):
            roughly.HammingIndex.open(path)
    for size in (0, 7, 100, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:size])
        with pytest.raises(DamageError, match="damaged"):
            roughly.HammingIndex.open(path)
    path.write_bytes(whole)
    roughly.HammingIndex.open(path)
    path.with_name("a.hamming.crc32c").unlink()
    with pytest.raises(DamageError, match="missing"):
        roughly.HammingIndex.open(path)


# --- what is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"k": 11}, "k: out of range: 11, wanted a whole number from 0 to 10"),
        ({"k": -1}, "k: out of range"),
        ({"bits": 65}, "bits: out of range: 65, wanted a whole number from 1 to 64"),
        ({"bits": 0}, "bits: out of range"),
        ({"bits": 4}, "simhash: out of range: 16, wanted a whole number from 0 to 15"),
        ({"design": "wide"}, "design: unknown: 'wide'"),
        ({"design": "compact:5"}, "compact:5 cannot be: 5 blocks, wanted 1 to 4"),
        ({"design": "tables:3"}, "3 blocks, wanted more than k = 3"),
        ({"design": "tables:40"}, "9,880 tables, wanted at most 1,024"),
        ({"design": "compact:1", "coding": "plain", "k": 8}, "probes for k = 8"),
        ({"coding": "pointer"}, "coding: unknown: 'pointer'"),
        ({"simhashes": [2**64]}, "simhash: out of range"),
        ({"simhashes": [-1]}, "simhash: out of range: -1"),
        ({"simhashes": [0.5]}, "simhash: out of range: 0.5"),
        ({"simhashes": np.zeros(3)}, "simhashes: wrong type: float64"),
        ({"simhashes": np.zeros((2, 2), np.uint64)}, "2 dimensions, wanted 1"),
    ],
)
def test_refused(arguments: dict[str, object], message: str) -> None:
    given = {"simhashes": [1, 2, 16], **arguments}
    with pytest.raises(ParameterError) as caught:
        roughly.HammingIndex(**given)  # type: ignore[arg-type]
    assert message in str(caught.value)


def test_queries_are_checked() -> None:
    index = roughly.HammingIndex([1, 2, 3], 1, bits=8)
    for wrong in (2**64, -1, 1.5, "a", None):
        with pytest.raises(ParameterError, match="simhash: out of range"):
            index.find(wrong)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="simhash: out of range: 256"):
        index.find(256)
    assert index.find(np.uint64(3)).tolist() == [0, 1, 2]
    assert index.find(3).dtype == np.int64
