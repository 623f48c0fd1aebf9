"""Shingles and their fingerprints (docs/algorithm.md, 3 and 5), and the equivalence hashes (6)."""

from collections.abc import Iterable, Sequence
from typing import TypeVar

from tests.reference.key import Keys, P, equivalence_keys, keys

C = 0xD6E8FEB86659FD93
T = TypeVar("T")


def chunks(data: bytes) -> list[int]:
    """Seven bytes at a time, little-endian, the last padded with zeros."""
    return [int.from_bytes(data[i : i + 7], "little") for i in range(0, len(data), 7)]


def token_hash(token: bytes, keys: Keys) -> int:
    c = chunks(token)
    c += [0] * (len(c) % 2)
    m = len(c) // 2
    products = [(c[2 * j] + keys.k1) * (c[2 * j + 1] + keys.k2) for j in range(m)]
    return sum(P_j * pow(keys.k, m - j, P) for j, P_j in enumerate(products, 1)) % P


def shingle_hash(numbers: Sequence[int], r: int) -> int:
    n = len(numbers)
    return (pow(r, n, P) + sum(t * pow(r, n - i, P) for i, t in enumerate(numbers, 1))) % P


def permute(s: int, bits: int, keys: Keys) -> int:
    """The keyed bijection of `bits`-bit numbers."""
    mask = (1 << bits) - 1
    half = bits // 2
    x = (s ^ keys.x0) & mask
    x ^= x >> half
    x = (x * C + keys.x1) & mask
    x ^= x >> half
    x = (x * C) & mask
    return x ^ (x >> half)


def shingles(document: Sequence[T], w: int) -> list[tuple[T, ...]]:
    """The shingles in document order, repeats kept; S(D, w) of the paper is their set."""
    if not document:
        return []
    if len(document) < w:
        return [tuple(document)]
    return [tuple(document[i : i + w]) for i in range(len(document) - w + 1)]


def fingerprints(document: Iterable[bytes], w: int, bits: int, seed: int) -> list[int]:
    """One fingerprint for each shingle of a list of tokens, in document order."""
    key = keys(seed)
    hashes = [token_hash(token, key) for token in document]
    return [permute(shingle_hash(shingle, key.r), bits, key) for shingle in shingles(hashes, w)]


def feature_token(feature: str | bytes) -> bytes:
    """A feature as the bytes that are hashed in the place of a token."""
    return (feature.encode() if isinstance(feature, str) else feature) + b"\x01"


def block_sum(block: bytes, j: int, e: Sequence[int]) -> int:
    """N_j of one block, whose length is a multiple of 64."""
    x = [int.from_bytes(block[i : i + 4], "little") for i in range(0, len(block), 4)]
    keyed = [(x_i + e[i + 2 * j]) % 2**32 for i, x_i in enumerate(x)]
    return sum(keyed[i] * keyed[i + 1] for i in range(0, len(x), 2)) % 2**64


def equivalence_hash(data: bytes) -> tuple[int, int]:
    """(H_high, H_low) of some bytes."""
    q_high, q_low, e = equivalence_keys()
    high = low = len(data) % P
    for start in range(0, len(data), 1024):
        block = data[start : start + 1024]
        block += bytes(-len(block) % 64)
        for j in (0, 1):
            high = (high * q_high + block_sum(block, j, e)) % P
        for j in (2, 3):
            low = (low * q_low + block_sum(block, j, e)) % P
    return high, low


def hexadecimal(hashes: tuple[int, int]) -> str:
    """An equivalence hash as it is written: 32 hexadecimal digits."""
    return f"{hashes[0] * 2**64 + hashes[1]:032x}"
