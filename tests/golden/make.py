"""Freezes what the reference says about the documents of documents.py.

    python -m tests.golden.make

One file for each document: its tokens and equivalence hashes, and vectors that name every
parameter they depend on. Numbers of up to 64 bits are hexadecimal strings. A digest is the
SHA-256 of the values as eight little-endian bytes each. Made by tests/reference/, never by the
core; a change in any of these files is a new version of the algorithm.
"""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.golden.documents import documents
from tests.golden.simhash import simhash_file
from tests.reference.key import equivalence_keys, keys
from tests.reference.shingle import equivalence_hash, fingerprints, hexadecimal
from tests.reference.sketch import (
    Parameters,
    Select,
    feature_hash,
    feature_values,
    sketch,
    super_shingles,
)
from tests.reference.token import ContentType, canonical_form, words

DIRECTORY = Path(__file__).parent
ALGORITHM = 1
SHOWN = 4  # values written out before their digest
SEEDS = (0, 1, 2**64 - 1)

# w, bits, select, parameter, length of super shingles. Every selection, both widths of
# fingerprints, the three presets; small parameters where short documents should notice them.
GRID: tuple[tuple[int, int, Select, int, int], ...] = (
    (5, 64, "adaptive", 200, 4),
    (10, 40, "mod", 25, 2),
    (10, 64, "perm", 84, 14),
    (5, 64, "all", 0, 6),
    (3, 40, "all", 0, 3),
    (4, 64, "mod", 4, 3),
    (2, 64, "min", 16, 8),
    (1, 40, "min", 8, 5),
    (1, 64, "adaptive", 4, 2),
    (2, 40, "adaptive", 3, 1),
    (3, 64, "perm", 7, 3),
    (7, 64, "min", 1, 1),
)

# w, select, parameter, words: so that there are documents with all words, with some, and with none.
WORD_GRID: tuple[tuple[int, Select, int, int], ...] = (
    (5, "adaptive", 200, 200),
    (5, "all", 0, 256),
    (3, "adaptive", 64, 64),
    (5, "adaptive", 90, 81),
    (1, "all", 0, 70),
    (2, "adaptive", 16, 7),
    (10, "all", 0, 1),
    (5, "all", 0, 70),
)

FEATURES: tuple[bytes, ...] = (
    b"",
    b"\x00",
    b"do",
    b"re",
    b"mi",
    b"do",
    b"seven b",
    b"\x01",
    b"la\x00",
)


def number(value: int) -> str:
    return f"{value:016x}"


def frozen(values: Sequence[int]) -> dict[str, Any]:
    digest = hashlib.sha256(b"".join(v.to_bytes(8, "little") for v in values))
    return {
        "count": len(values),
        "first": [number(v) for v in values[:SHOWN]],
        "sha256": digest.hexdigest(),
    }


def vector(data: bytes, content_type: ContentType, p: Parameters, length: int) -> dict[str, Any]:
    made = sketch(data, p, content_type)
    found = fingerprints(words(data, content_type), p.w, p.bits, p.seed)
    return {
        "algorithm": ALGORITHM,
        "content_type": content_type,
        "w": p.w,
        "bits": p.bits,
        "select": p.select,
        "parameter": p.parameter,
        "seed": number(p.seed),
        "tokens": made.tokens,
        "size": made.size,
        "level": made.level,
        "fingerprints": frozen(found),
        "values": frozen(made.values),
        "super_length": length,
        "super_shingles": frozen(super_shingles(made.values, length, p.select == "perm", p.seed)),
    }


def document_file(index: int, data: bytes, content_type: ContentType) -> dict[str, Any]:
    document = words(data, content_type)
    vectors = []
    for position, (w, bits, select, parameter, length) in enumerate(GRID):
        # Seeds take turns, so that each meets every entry of the grid in some document.
        seed = SEEDS[(index + position) % len(SEEDS)]
        vectors.append(
            vector(data, content_type, Parameters(w, bits, select, parameter, seed), length)
        )
    return {
        "algorithm": ALGORITHM,
        "content_type": content_type,
        "content_hex": data.hex(),
        "content_shown": data.decode("utf-8", "replace"),
        "content": hexadecimal(equivalence_hash(data)),
        "canonical": hexadecimal(equivalence_hash(canonical_form(document))),
        "tokens": [token.decode() for token in document],
        "vectors": vectors,
    }


def key_file() -> dict[str, Any]:
    keyed = equivalence_keys()
    equivalence = {
        "q_high": number(keyed.q_high),
        "q_low": number(keyed.q_low),
        "e": [number(e) for e in keyed.e],
    }
    seeds = []
    for seed in SEEDS:
        key = keys(seed)
        named = {
            name: number(getattr(key, name))
            for name in ("seed", "k", "k1", "k2", "r", "u", "x0", "x1")
        }
        permutations = [[number(a), number(b)] for a, b in key.permutations(3)]
        seeds.append({**named, "permutations": permutations})
    return {"algorithm": ALGORITHM, "equivalence": equivalence, "vectors": seeds}


def feature_file() -> dict[str, Any]:
    vectors = []
    for position, (w, bits, select, parameter, _) in enumerate(GRID):
        p = Parameters(w, bits, select, parameter, SEEDS[position % len(SEEDS)])
        values, size = feature_values(FEATURES, p)
        vectors.append(
            {
                "algorithm": ALGORITHM,
                "w": w,
                "bits": bits,
                "select": select,
                "parameter": parameter,
                "seed": number(p.seed),
                "size": size,
                "values": frozen(values),
                "hash": hexadecimal(feature_hash(FEATURES, w)),
            }
        )
    return {
        "algorithm": ALGORITHM,
        "features_hex": [feature.hex() for feature in FEATURES],
        "vectors": vectors,
    }


def word_file() -> dict[str, Any]:
    """Sketches of the documents with words, apart from their shingles."""
    vectors = []
    for index, (name, (data, content_type)) in enumerate(documents().items()):
        for position, (w, select, parameter, most) in enumerate(WORD_GRID):
            seed = SEEDS[(index + position) % len(SEEDS)]
            made = sketch(data, Parameters(w, 64, select, parameter, seed, most), content_type)
            vectors.append(
                {
                    "algorithm": ALGORITHM,
                    "document": name,
                    "w": w,
                    "bits": 64,
                    "select": select,
                    "parameter": parameter,
                    "seed": number(seed),
                    "words": most,
                    "tokens": made.tokens,
                    "size": made.size,
                    "level": made.level,
                    "shingle_values": frozen([v for v in made.values if v < 2**63]),
                    "word_values": frozen([v for v in made.values if v >= 2**63]),
                    "values": frozen(made.values),
                }
            )
    return {"algorithm": ALGORITHM, "vectors": vectors}


def written(content: dict[str, Any]) -> str:
    """JSON with one vector a line, in ASCII so that no editor changes what it cannot show."""
    head = {name: value for name, value in content.items() if name != "vectors"}
    lines = [f"{json.dumps(name)}: {json.dumps(value)}," for name, value in head.items()]
    vectors = ",\n".join(json.dumps(v) for v in content["vectors"])
    return "\n".join(["{", *lines, '"vectors": [', vectors, "]", "}", ""])


def files() -> dict[str, str]:
    """The name and the text of every golden file."""
    made = {
        "keys.json": written(key_file()),
        "features.json": written(feature_file()),
        "simhash.json": written(simhash_file()),
        "words.json": written(word_file()),
    }
    for index, (name, (data, content_type)) in enumerate(documents().items()):
        made[f"{name}.json"] = written(document_file(index, data, content_type))
    return made


def main() -> None:
    made = files()
    for path in DIRECTORY.glob("*.json"):
        if path.name not in made:
            path.unlink()
    for name, text in made.items():
        (DIRECTORY / name).write_text(text, encoding="ascii")


if __name__ == "__main__":
    main()
