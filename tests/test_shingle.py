"""Keys, shingles, fingerprints and equivalence hashes: literals, and core = reference."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roughly import _core
from tests import core
from tests.reference import key, shingle, token
from tests.reference.measure import containment, resemblance
from tests.strategy import documents, html_like, seeds, widths

ROSE = ["a", "rose", "is", "a", "rose", "is", "a", "rose"]
FLOWER = ["a", "rose", "is", "a", "flower", "which", "is", "a", "rose"]


def test_the_papers_rose() -> None:
    """1997 paper, section 2: the 4-shingling of the rose has three elements."""
    assert set(shingle.shingles(ROSE, 4)) == {
        ("a", "rose", "is", "a"),
        ("rose", "is", "a", "rose"),
        ("is", "a", "rose", "is"),
    }


@pytest.mark.parametrize(("w", "common", "union"), [(1, 3, 5), (2, 3, 6), (3, 3, 7)])
def test_the_reports_resemblances(w: int, common: int, union: int) -> None:
    """The report's example 1: 0.6, 0.5 and 3/7."""
    a, b = set(shingle.shingles(ROSE, w)), set(shingle.shingles(FLOWER, w))
    assert (len(a & b), len(a | b)) == (common, union)
    assert resemblance(a, b) == Fraction(common, union)
    assert resemblance(a, a) == containment(a, a) == 1
    assert containment(a, b) == 1


@pytest.mark.core
@pytest.mark.parametrize("simd", core.LEVELS)
@pytest.mark.parametrize(("w", "common", "union"), [(1, 3, 5), (2, 3, 6), (3, 3, 7)])
def test_the_reports_resemblances_in_the_core(w: int, common: int, union: int, simd: str) -> None:
    a = core.fingerprints(" ".join(ROSE).encode(), w, 64, 0, simd=simd)
    b = core.fingerprints(" ".join(FLOWER).encode(), w, 64, 0, simd=simd)
    assert len(a) == len(ROSE) - w + 1
    assert (len(set(a) & set(b)), len(set(a) | set(b))) == (common, union)


def test_number_of_shingles() -> None:
    assert shingle.shingles([], 3) == []
    assert shingle.shingles([1], 3) == [(1,)]
    assert shingle.shingles([1, 2], 3) == [(1, 2)]
    assert shingle.shingles([1, 2, 3], 3) == [(1, 2, 3)]
    assert shingle.shingles([1, 1, 1, 1], 3) == [(1, 1, 1), (1, 1, 1)]


def test_splitmix64() -> None:
    """The first values of the published generator from the states 0 and 1234567."""
    stream = key.words(0)
    assert next(stream) == 0xE220A8397B1DCDAF
    assert next(stream) == 0x6E789E6AA1B965F4
    assert next(stream) == 0x06C45D188009454F
    stream = key.words(1234567)
    assert next(stream) == 6457827717110365317
    assert next(stream) == 3203168211198807973


def test_keys() -> None:
    keys = key.keys(0)
    assert (keys.k, keys.k1) == (0xE220A8397B1DCDAF >> 3, 0x6E789E6AA1B965F4 >> 3)
    assert keys.k2 == 0x06C45D188009454F >> 3
    assert keys.r == 0xF88BB8A8724C81EC >> 3
    assert keys.u == 0x1B39896A51A8749B >> 3
    stream = key.words(0)
    assert [keys.x0, keys.x1] == [next(stream) for _ in range(7)][5:]
    assert key.element(iter([7, 2**64 - 1, 8])) == 1
    assert key.EQUIVALENCE_SEED.to_bytes(8, "big") == b"roughly1"


def test_hashes_by_hand() -> None:
    assert shingle.chunks(b"abcdefgh") == [0x67666564636261, 0x68]
    keys = key.Keys(10, 3, 5, 0, 0, 0, 0, 0)
    assert shingle.token_hash(b"a", keys) == (97 + 3) * 5
    assert shingle.token_hash(b"\x01\0\0\0\0\0\0\x02", keys) == (1 + 3) * (2 + 5)
    assert shingle.token_hash(b"\x01" + bytes(13) + b"\x02", keys) == 4 * 5 * 10 + 5 * 5
    assert shingle.shingle_hash([5, 7], 10) == 157
    assert shingle.shingle_hash([], 10) == 1
    assert shingle.shingle_hash([key.P - 1], key.P - 1) == key.P - 2


def test_permutation_by_hand() -> None:
    """With x0 = 0 and x1 = 1: 0 becomes 1, then C, then C ^ C >> h."""
    keys = key.Keys(1, 1, 1, 1, 1, 0, 1, 0)
    assert shingle.permute(0, 64, keys) == 0xD6E8FEB86659FD93 ^ 0xD6E8FEB8
    assert shingle.permute(0, 40, keys) == 0xB86659FD93 ^ 0xB8665
    assert shingle.permute(2**60, 40, keys) == shingle.permute(0, 40, keys)


@pytest.mark.parametrize("bits", [40, 64])
def test_permutation_has_an_inverse(bits: int) -> None:
    keys, mask, half = key.keys(5), (1 << bits) - 1, bits // 2
    inverse = pow(shingle.C, -1, 1 << bits)
    for s in [0, 1, 2**39, 2**40 - 1, 12345678901]:
        x = shingle.permute(s, bits, keys)
        x ^= x >> half
        x = (x * inverse) & mask
        x ^= x >> half
        x = ((x - keys.x1) * inverse) & mask
        x ^= x >> half
        assert x ^ (keys.x0 & mask) == s


def test_equivalence_keys() -> None:
    """One stream: both q, then the words."""
    keys = key.equivalence_keys()
    stream = key.words(key.EQUIVALENCE_SEED)
    assert [keys.q_high, keys.q_low] == [key.element(stream), key.element(stream)]
    assert keys.e == tuple(next(stream) >> 32 for _ in range(262))


def test_equivalence_hash_by_hand() -> None:
    """With every e = 1, each of a block's 8 pairs of zeros adds 1."""
    ones = (1,) * 262
    assert shingle.block_sum(bytes(64), 0, ones) == 8
    assert shingle.block_sum(b"\x05" + bytes(63), 3, ones) == 7 + 6 * 1
    assert shingle.block_sum(b"\xff" * 4 + bytes(60), 0, ones) == 7
    # The words of sum 1 are keyed from e_2 on.
    assert shingle.block_sum(bytes(64), 1, (9, 9, 2, 3) + (0,) * 258) == 6
    assert shingle.equivalence_hash(b"") == (0, 0)
    assert shingle.hexadecimal((10, 11)) == "000000000000000a000000000000000b"


@pytest.mark.core
@given(documents, widths, st.sampled_from((40, 64)), seeds)
def test_core_is_reference(data: bytes, w: int, bits: int, seed: int) -> None:
    expected = shingle.fingerprints(token.words(data, "text"), w, bits, seed)
    for simd in core.LEVELS:
        assert core.fingerprints(data, w, bits, seed, simd=simd) == expected, simd


@pytest.mark.core
@given(html_like, widths, seeds)
def test_core_is_reference_on_html(data: bytes, w: int, seed: int) -> None:
    expected = shingle.fingerprints(token.words(data, "html"), w, 64, seed)
    for simd in core.LEVELS:
        assert core.fingerprints(data, w, 64, seed, html=True, simd=simd) == expected, simd


@pytest.mark.core
@pytest.mark.parametrize("simd", core.LEVELS)
@pytest.mark.parametrize("letter", ["a", "\u00e9", "\u0436", "\U00010330"])
def test_tokens_of_every_length(letter: str, simd: str) -> None:
    """Token ends at every position of a chunk, up to tokens of several SIMD blocks."""
    data = " ".join(letter * n for n in range(1, 150)).encode()
    expected = shingle.fingerprints(token.words(data, "text"), 3, 64, 1)
    assert core.fingerprints(data, 3, 64, 1, simd=simd) == expected


@pytest.mark.core
@pytest.mark.parametrize("simd", core.LEVELS)
@pytest.mark.parametrize("count", [1, 7, 8, 9, 16, 255, 257, 1100])
def test_short_and_long_tokens_among_each_other(count: int, simd: str) -> None:
    """Long ones in any lane of a vector, in whole vectors of them, and behind the last vector."""
    sizes = [(7 * i + i // 13) % 23 + 1 if i % 64 > 20 else 15 + i % 3 for i in range(count)]
    data = " ".join("xyz0123456789abcdefghijklmn"[i % 5 :][:n] for i, n in enumerate(sizes))
    expected = shingle.fingerprints(token.words(data.encode(), "text"), 2, 64, 3)
    assert core.fingerprints(data.encode(), 2, 64, 3, simd=simd) == expected


@pytest.mark.core
@given(st.one_of(documents, st.binary(max_size=9).map(lambda data: data * 60)))
def test_content_hash(data: bytes) -> None:
    assert _core.content_hash(data) == shingle.hexadecimal(shingle.equivalence_hash(data))


@pytest.mark.core
def test_content_hash_of_every_length() -> None:
    """Ends at every place of a chunk and of a group; zeros differ by their number alone."""
    for data in (bytes(400), bytes(range(1, 201)) * 2):
        for length in range(len(data)):
            part = data[:length]
            expected = shingle.hexadecimal(shingle.equivalence_hash(part))
            assert _core.content_hash(part) == expected, length
