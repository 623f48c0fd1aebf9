"""The set of a document's fingerprints where it is hardest: large, crowded, and with a zero in it.

Under a known seed the fingerprint is invertible, so features and words are made here for the
fingerprints they shall have: by the reference alone. A crowd is a set of fingerprints with the same
leading bits: all of them want one slot of the core's table, and those that find no slot near it
spill. What is expected is always the reference's set.
"""

import random
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import count, islice, product

import numpy as np
import pytest

from tests import core
from tests.optional import FULL
from tests.reference import shingle, sketch
from tests.reference.key import Keys, P, keys
from tests.reference.sketch import Parameters, Select

pytestmark = pytest.mark.core

# The table has a slot for every value of up to so many leading bits, and puts a value less than
# so many slots behind its own: NEAR in tables of up to 2^14 slots, NEAR_IN_LARGE beyond.
NEAR, NEAR_IN_LARGE = 64, 1024
# Larger documents begin with a table of 2^17 slots and grow when three quarters are taken.
GROWS_ABOVE = 3 << 15

SELECTIONS: list[tuple[Select, int]] = [
    ("all", 0),
    ("mod", 3),
    ("mod", 8),
    ("mod", 100),
    ("min", 1),
    ("min", 77),
    ("adaptive", 1),
    ("adaptive", 20),
    ("perm", 9),
]
both_widths = pytest.mark.parametrize("bits", [64, 40])

# --- features and words for given fingerprints ----------------------------------------------------


def unpermute(f: int, bits: int, key: Keys) -> int:
    """The number of `bits` bits that `permute` makes f of; every step of section 3 backwards."""
    mask, half = (1 << bits) - 1, bits // 2
    inverse = pow(shingle.C, -1, 1 << bits)
    x = f ^ (f >> half)
    x = (x * inverse) & mask
    x ^= x >> half
    x = ((x - key.x1) * inverse) & mask
    x ^= x >> half
    return (x ^ key.x0) & mask


def token_hash_for(f: int, bits: int, seed: int) -> int | None:
    """t of a token that alone has the fingerprint f; None if no number below p leads to f."""
    key = keys(seed)
    s = unpermute(f, bits, key)
    return (s - key.r) % P if s < P else None


@cache
def second_chunks(seed: int) -> list[tuple[int, int]]:
    """Second chunks of a feature of 13 bytes (the terminator is their seventh byte), and the
    inverses of the factors they give."""
    key = keys(seed)
    chance = random.Random(seed)
    chunks = [chance.randrange(1 << 48) | 1 << 48 for _ in range(2000)]
    return [(c, pow(c + key.k2, -1, P)) for c in chunks]


def feature_for(t: int, seed: int) -> bytes:
    """A feature whose token hash is t: a first chunk that goes with one of the second chunks."""
    key = keys(seed)
    for second, inverse in second_chunks(seed):
        first = (t * inverse - key.k1) % P
        if first < 1 << 56:
            return (first.to_bytes(7, "little") + second.to_bytes(7, "little"))[:-1]
    raise AssertionError(f"no feature: token hash {t}, seed {seed}")


def features_for(fingerprints: Iterable[int], bits: int, seed: int) -> Iterator[bytes]:
    """A feature for each fingerprint that one can have; at 64 bits that is one in eight."""
    for f in fingerprints:
        t = token_hash_for(f, bits, seed)
        if t is not None:
            yield feature_for(t, seed)


def crowd(place: int, leading: int, number: int, bits: int, seed: int) -> list[bytes]:
    """Features whose fingerprints begin with the `leading` bits of `place`."""
    chance = random.Random(number)
    rest = bits - leading
    drawn = ((place << rest) | chance.randrange(1 << rest) for _ in count())
    distinct: dict[bytes, None] = {}
    for feature in features_for(drawn, bits, seed):
        distinct[feature] = None
        if len(distinct) == number:
            break
    return list(distinct)


@cache
def seed_of_zero(bits: int) -> int:
    """The first seed under which a feature can have the fingerprint 0."""
    return next(seed for seed in count() if token_hash_for(0, bits, seed) is not None)


def zero_feature(bits: int) -> bytes:
    [feature] = features_for([0], bits, seed_of_zero(bits))
    return feature


ALPHABET = b"abcdefghijklmnopqrstuvwxyz0123456789"


def word_for(t: int, seed: int) -> bytes:
    """A word of 28 letters and digits whose token hash is t.

    Of the four chunks the second and the fourth are fixed. The third then moves the first by a
    fixed factor, so 36^3 thirds are tried at once until the first is made of letters and digits.
    """
    key = keys(seed)
    fixed = b"roughly"
    factor = int.from_bytes(fixed, "little") + key.k2
    divided = pow(key.k * factor, -1, P)

    def moved(third: int) -> int:
        return (-third * factor * divided) % P

    allowed = np.zeros(256, dtype=bool)
    allowed[list(ALPHABET)] = True
    endings = [bytes(letters) for letters in product(ALPHABET, repeat=3)]
    by_ending = np.array([moved(int.from_bytes(end, "little") << 32) for end in endings], "<u8")
    for beginning in product(ALPHABET, repeat=4):
        start = int.from_bytes(bytes(beginning), "little")
        base = (t * divided - key.k1 + moved(start + key.k1)) % P
        first = (by_ending + np.uint64(base)) % np.uint64(P)
        short = np.flatnonzero(first < 1 << 56)
        spelt = first[short].view(np.uint8).reshape(-1, 8)[:, :7]
        for i in np.flatnonzero(allowed[spelt].all(axis=1)).tolist():
            third = bytes(beginning) + endings[int(short[i])]
            letters: bytes = spelt[i].tobytes()
            return letters + fixed + third + fixed
    raise AssertionError(f"no word: token hash {t}, seed {seed}")


@cache
def zero_word(bits: int) -> bytes:
    t = token_hash_for(0, bits, seed_of_zero(bits))
    assert t is not None
    return word_for(t, seed_of_zero(bits))


def words_in(place: int, leading: int, number: int, bits: int, seed: int) -> list[bytes]:
    """Ordinary words whose fingerprints begin with the `leading` bits of `place`."""
    key = keys(seed)
    rest = bits - leading

    def fits(word: bytes) -> bool:
        s = (key.r + shingle.token_hash(word, key)) % P
        return shingle.permute(s, bits, key) >> rest == place

    return list(islice(filter(fits, (b"w%d" % i for i in count())), number))


# --- core = reference -----------------------------------------------------------------------------


def check(
    features: list[bytes], bits: int, seed: int, selections: list[tuple[Select, int]] = SELECTIONS
) -> set[int]:
    """Every level and selection against the reference; the set of fingerprints."""
    tokens = {feature: shingle.feature_token(feature) for feature in features}
    found = set(shingle.fingerprints(tokens.values(), 1, bits, seed))
    for select, parameter in selections:
        if select == "perm" and bits != 64:
            continue
        p = Parameters(1, bits, select, parameter, seed)
        expected = sketch.selected(found, p)
        level = sketch.adaptive_level(len(found), parameter) if select == "adaptive" else 0
        for simd in core.LEVELS:
            row = core.sketch_features(features, p, simd)
            assert row.size == len(found), (p, simd)
            assert row.values == expected, (p, simd)
            assert (row.tokens, row.level) == (len(features), level), (p, simd)
    return found


def shuffled(features: list[bytes]) -> list[bytes]:
    return random.Random(len(features)).sample(features, len(features))


def ordinary(number: int) -> list[bytes]:
    return [b"feature %d" % i for i in range(number)]


@both_widths
def test_features_have_the_fingerprints_they_were_made_for(bits: int) -> None:
    for seed in (0, 5, 2**64 - 1):
        key = keys(seed)
        chance = random.Random(seed)
        for f in (chance.getrandbits(bits) for _ in range(50)):
            assert shingle.permute(unpermute(f, bits, key), bits, key) == f
        features = crowd(0x2A, 6, 20, bits, seed)
        assert len(set(features)) == 20
        hashed = [shingle.feature_token(feature) for feature in features]
        assert {len(token) for token in hashed} == {14}
        fingerprints = shingle.fingerprints(hashed, 1, bits, seed)
        assert {f >> (bits - 6) for f in fingerprints} == {0x2A}
    zero = shingle.feature_token(zero_feature(bits))
    assert shingle.fingerprints([zero], 1, bits, seed_of_zero(bits)) == [0]
    assert shingle.fingerprints([zero_word(bits)], 1, bits, seed_of_zero(bits)) == [0]


@both_widths
def test_ends_of_the_field(bits: int) -> None:
    """Token hashes and shingle hashes next to 0 and to p, which the core may hold unreduced."""
    seed = 3
    key = keys(seed)
    ends = [*range(1, 10), *(P - i for i in range(1, 10))]
    hashes = [*ends, *((s - key.r) % P for s in [0, *ends])]
    features = [feature_for(t, seed) for t in hashes]
    for t, feature in zip(hashes, features, strict=True):
        assert shingle.token_hash(shingle.feature_token(feature), key) == t
    check(features, bits, seed)
    for w in (2, 3, 7):
        p = Parameters(w, bits, "all", 0, seed)
        expected = sketch.feature_values(features, p)
        for simd in core.LEVELS:
            row = core.sketch_features(features, p, simd)
            assert (row.values, row.size) == expected, (w, simd)


@both_widths
@pytest.mark.parametrize("place", [0, 0x5A5A5, 0xFFFFF])
def test_crowds_spill(bits: int, place: int) -> None:
    """As many as have room near their slot, one more, many more; at both ends of the table too."""
    crowded = crowd(place, 20, 300, bits, 1)
    for number in (NEAR - 1, NEAR, NEAR + 1, NEAR + 2, 300):
        assert len(check(crowded[:number], bits, 1)) == number
    others = ordinary(900)
    assert len(check(crowded + others, bits, 1)) == 1200
    # Values that spilled come again, within one chunk of the shingler and in later ones.
    assert len(check(shuffled((crowded + others) * 3), bits, 1)) == 1200
    assert len(check(crowded[::-1] + crowded + others * 2 + crowded, bits, 1)) == 1200


@both_widths
def test_crowd_that_overruns_its_neighbours(bits: int) -> None:
    """A crowd takes the slots of the places behind it, whose own values then are displaced."""
    crowded = [feature for i in range(6) for feature in crowd(0x1230 + i, 16, 50, bits, 2)]
    assert len(check(crowded, bits, 2)) == 300
    assert len(check(crowded[::-1], bits, 2)) == 300
    assert len(check(shuffled(crowded * 2), bits, 2)) == 300


@both_widths
@pytest.mark.parametrize("place", [0, 0xFFFFFF])
def test_crowds_spill_in_large_tables(bits: int, place: int) -> None:
    crowded = crowd(place, 24, NEAR_IN_LARGE + 200, bits, 1)
    features = ordinary(8000)
    for number in (NEAR_IN_LARGE, NEAR_IN_LARGE + 200):
        mixed = shuffled(features + crowded[:number] * 2)
        selections = SELECTIONS if number > NEAR_IN_LARGE else SELECTIONS[:3]
        assert len(check(mixed, bits, 1, selections)) == 8000 + number


@both_widths
def test_large_documents_grow(bits: int) -> None:
    """Once (with full counts more often), with a crowd and a zero; then some of it comes again."""
    seed = seed_of_zero(bits)
    number = 4 * GROWS_ABOVE if FULL else GROWS_ABOVE + 5000
    crowded = crowd(0x3FFFF, 18, NEAR_IN_LARGE + 100, bits, seed)
    features = [zero_feature(bits), *crowded, *ordinary(number)]
    # Neither the crowd nor the zero comes again: what growing loses stays lost.
    features += ordinary(GROWS_ABOVE // 2)
    selections: list[tuple[Select, int]] = [
        ("all", 0),
        ("mod", 12),
        ("min", 500),
        ("adaptive", 200),
        ("perm", 4),
    ]
    assert len(check(features, bits, seed, selections)) == number + len(crowded) + 1


@both_widths
def test_document_that_grows(bits: int) -> None:
    """The same by way of text: more than 100,000 distinct shingles."""
    p = Parameters(2, bits, "adaptive", 200, 9)
    text = b" ".join(b"%x" % (i * i % 1_000_003) for i in range(110_000))
    expected = sketch.sketch(text, p)
    assert expected.size > 100_000
    for simd in core.LEVELS:
        assert core.sketch(text, p, simd=simd) == expected, simd


@both_widths
def test_zero(bits: int) -> None:
    """0 marks a free slot, so the fingerprint 0 is kept elsewhere; it is a multiple of anything."""
    seed, zero = seed_of_zero(bits), zero_feature(bits)
    assert check([zero], bits, seed) == {0}
    assert check([zero] * 5, bits, seed) == {0}
    others = ordinary(2000)
    assert len(check([zero, *others], bits, seed)) == 2001
    assert len(check([*others, zero], bits, seed)) == 2001
    assert len(check(shuffled(others * 2 + [zero] * 1000), bits, seed)) == 2001
    # Its slot is the first one, which a crowd may have taken.
    crowded = crowd(0, 20, NEAR + 50, bits, seed)
    for features in ([zero, *crowded], [*crowded, zero], shuffled([zero, *crowded] * 3)):
        assert len(check(features, bits, seed)) == NEAR + 51


@both_widths
def test_zeros_do_not_fill_the_table(bits: int) -> None:
    """More zeros than would make a table grow, one of them after the other or between others."""
    seed, zero = seed_of_zero(bits), zero_feature(bits)
    zeros = [zero] * (GROWS_ABOVE + 5000)
    selections: list[tuple[Select, int]] = [("all", 0), ("adaptive", 20), ("min", 2)]
    assert check(zeros, bits, seed, selections) == {0}
    assert len(check(zeros + ordinary(3000) + zeros, bits, seed, selections)) == 3001


@pytest.mark.parametrize(
    ("bits", "select", "parameter"),
    [(64, *selection) for selection in SELECTIONS]
    + [(40, *selection) for selection in SELECTIONS if selection[0] != "perm"],
)
def test_set_is_emptied_between_documents(bits: int, select: Select, parameter: int) -> None:
    """One thread uses one set for all documents: nothing of a crowd or a zero may stay behind."""
    seed = seed_of_zero(bits)
    # 128 words make a table of 2^9 slots.
    crowded = words_in(0x155, 9, 128, bits, seed)
    plain = [b"plain%d" % i for i in range(100)]
    zero = zero_word(bits)
    documents = [
        b" ".join(words)
        for words in (
            [*crowded, zero],
            plain,
            crowded * 2,
            [],
            [zero],
            plain[:1],
            [zero, *plain, zero],
            crowded,
            plain * 30,
            plain,
        )
    ]
    p = Parameters(1, bits, select, parameter, seed)
    expected = [sketch.sketch(document, p) for document in documents]
    assert [row.size for row in expected] == [129, 100, 128, 0, 1, 1, 101, 128, 100, 100]
    for simd in core.LEVELS:
        assert core.sketch_array(documents, p, simd=simd) == expected, simd
