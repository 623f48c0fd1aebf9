"""Selection of fingerprints, super shingles and whole sketches (docs/algorithm.md, 4 to 6)."""

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

from tests.reference.key import MASK_64, keys
from tests.reference.shingle import (
    equivalence_hash,
    feature_token,
    fingerprints,
    permute,
    shingle_hash,
)
from tests.reference.token import ContentType, canonical_form, words

Select = Literal["all", "mod", "min", "adaptive", "perm"]


class Parameters(NamedTuple):
    """What a sketch depends on besides the document; `parameter` is M, K or T (0 for `all`)."""

    w: int
    bits: int
    select: Select
    parameter: int
    seed: int
    words: int = 0  # documents of fewer distinct shingles have single words too


class Sketch(NamedTuple):
    """A document's sketch with everything that is stored beside it."""

    parameters: Parameters
    values: list[int]
    size: int  # distinct fingerprints of the document
    tokens: int
    level: int  # of `adaptive`; else 0
    content: tuple[int, int]
    canonical: tuple[int, int]


def adaptive_level(size: int, t: int) -> int:
    level = 0
    while not size < t * 2 ** (level + 1):
        level += 1
    return level


def selected(found: set[int], parameters: Parameters) -> list[int]:
    """The values a sketch keeps of the set of fingerprints S, in the sketch's order."""
    select, parameter = parameters.select, parameters.parameter
    if select == "all":
        return sorted(found)
    if select == "mod":
        return sorted(f for f in found if f % parameter == 0)
    if select == "min":
        return sorted(found)[:parameter]
    if select == "adaptive":
        modulus = 2 ** adaptive_level(len(found), parameter)
        return sorted(f for f in found if f % modulus == 0)
    if parameters.bits != 64:
        raise ValueError(f"perm: needs 64 bits, not {parameters.bits}")
    if not found:
        return []
    permutations = keys(parameters.seed).permutations(parameter)
    return [min(((f ^ a) * b) & MASK_64 for f in found) for a, b in permutations]


def word_elements(document: list[bytes], shingles: int, parameters: Parameters) -> set[int]:
    """The words of a document of so many distinct shingles, if it is short, each with the highest
    bit set."""
    most = parameters.words
    alone = {f | 1 << 63 for f in fingerprints(document, 1, parameters.bits, parameters.seed)}
    size = max(shingles, len(alone))
    if size >= most:
        return set()
    span = most - most // 2
    return {
        e for e in alone if (e * 0x9E3779B97F4A7C15 % 2**64 // 2**32) * span < (most - size) * 2**32
    }


def sketch_tokens(
    document: list[bytes], parameters: Parameters, content: bytes, canonical: bytes
) -> Sketch:
    found = set(fingerprints(document, parameters.w, parameters.bits, parameters.seed))
    if parameters.words:
        found = {f % 2**63 for f in found}
    adaptive = parameters.select == "adaptive"
    return Sketch(
        parameters,
        selected(found, parameters) + sorted(word_elements(document, len(found), parameters)),
        len(found),
        len(document),
        adaptive_level(len(found), parameters.parameter) if adaptive else 0,
        equivalence_hash(content),
        equivalence_hash(canonical),
    )


def sketch(data: bytes, parameters: Parameters, content_type: ContentType = "text") -> Sketch:
    document = words(data, content_type)
    return sketch_tokens(document, parameters, data, canonical_form(document))


def feature_values(
    features: Iterable[str | bytes], parameters: Parameters
) -> tuple[list[int], int]:
    """The sketch values of some features, and the number of their distinct fingerprints."""
    hashed = [feature_token(feature) for feature in features]
    found = set(fingerprints(hashed, parameters.w, parameters.bits, parameters.seed))
    return selected(found, parameters), len(found)


def feature_hash(features: Iterable[str | bytes], w: int) -> tuple[int, int]:
    """The equivalence hash of some features (section 5)."""
    encoded = [f.encode() if isinstance(f, str) else f for f in features]
    if w == 1:
        encoded = sorted(set(encoded))
    return equivalence_hash(b"".join(len(f).to_bytes(8, "little") + f for f in encoded))


def super_shingle(elements: Sequence[int], seed: int) -> int:
    key = keys(seed)
    halves = [half for e in elements for half in (e % 2**32, e // 2**32)]
    return permute(shingle_hash(halves, key.u), 64, key)


def super_shingles(values: Sequence[int], length: int, by_group: bool, seed: int) -> list[int]:
    """Of a sorted sketch at every position; of a `perm` sketch (by_group) whole groups only."""
    if by_group:
        starts = range(0, len(values) - length + 1, length)
    elif values:
        starts = range(max(1, len(values) - length + 1))
    else:
        starts = range(0)
    return [super_shingle(values[i : i + length], seed) for i in starts]
