"""The simhash of docs/simhash.md, in plain Python: whole numbers, one bit after the other."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set

from tests.reference.key import keys
from tests.reference.shingle import feature_token, permute, shingle_hash, shingles, token_hash
from tests.reference.stem import stem


def signs(weighed: Mapping[int, int] | Iterable[tuple[int, int]]) -> int | None:
    """V of the paper and the signs of its 64 components; None without any weight."""
    pairs = list(weighed.items() if isinstance(weighed, Mapping) else weighed)
    if not any(weight for _, weight in pairs):
        return None
    v = [0] * 64
    for feature, weight in pairs:
        for i in range(64):
            v[i] += weight if feature >> i & 1 else -weight
    return sum(1 << i for i in range(64) if v[i] > 0)


def terms(tokens: Sequence[bytes], stop_words: Set[bytes], stemmed: bool) -> list[bytes]:
    kept = [token for token in tokens if token not in stop_words]
    return [stem(token) for token in kept] if stemmed else kept


def features(document: Sequence[bytes], first: int, last: int, seed: int) -> Counter[int]:
    """The hashes of a document's features with how often each occurs."""
    key = keys(seed)
    runs = list(shingles(document, first))
    for width in range(first + 1, last + 1):
        if len(document) >= width:
            runs += shingles(document, width)
    hashed = [shingle_hash([token_hash(term, key) for term in run], key.r) for run in runs]
    return Counter(permute(each, 64, key) for each in hashed)


def idf(count: int, documents: int) -> int:
    """1 + log2((documents + 1) / (count + 1)) in units of 1/1024."""
    a, b = documents + 1, min(count, documents) + 1
    e = 0
    while b << (e + 1) <= a:
        e += 1
    y = (a << 31) // (b << e)
    weight = 1 + e
    for _ in range(10):
        y = y * y >> 31
        digit = y >> 32
        y >>= digit
        weight = 2 * weight + digit
    return weight


def simhash(
    tokens: Sequence[bytes],
    first: int = 1,
    last: int = 1,
    weights: str = "count",
    stop_words: Set[bytes] = frozenset(),
    stemmed: bool = False,
    seed: int = 0,
    frequencies: tuple[Mapping[int, int], int] | None = None,
) -> int | None:
    counted = features(terms(tokens, stop_words, stemmed), first, last, seed)
    if frequencies is not None:
        table, documents = frequencies
        return signs({f: n * idf(table.get(f, 0), documents) for f, n in counted.items()})
    return signs(dict.fromkeys(counted, 1) if weights == "once" else counted)


def simhash_pairs(pairs: Iterable[tuple[str | bytes, float]], seed: int = 0) -> int | None:
    """Of features that the caller has weighed, each weight a whole number of 2^-32."""
    key = keys(seed)
    hashed = []
    for feature, weight in pairs:
        s = shingle_hash([token_hash(feature_token(feature), key)], key.r)
        hashed.append((permute(s, 64, key), round(weight * 2**32)))
    return signs(hashed)
