"""Simhashes of the golden documents, by the reference: simhash.json.

The stop words are those that docs/simhash.md lists. Document frequencies are those of all golden
documents together.
"""

import re
from collections import Counter
from pathlib import Path
from typing import Any

from tests.golden.documents import documents
from tests.reference.simhash import features, simhash, simhash_pairs, terms
from tests.reference.token import words

VERSION = 1
PAGE = Path(__file__).parents[2] / "docs" / "simhash.md"
SEEDS = (0, 2**64 - 1)

# first and last number of terms, weights, stop words, stems
CHOICES: tuple[tuple[int, int, str, bool, bool], ...] = (
    (1, 1, "count", False, False),
    (1, 1, "once", False, False),
    (1, 1, "idf", False, False),
    (1, 1, "count", True, False),
    (1, 1, "count", True, True),
    (1, 2, "count", False, False),
    (1, 3, "idf", True, True),
    (2, 2, "count", False, False),
    (5, 5, "once", False, True),
)
PAIRS: tuple[tuple[bytes, float], ...] = (
    (b"", 0.5),
    (b"\x00", -1.25),
    (b"do", 3.0),
    (b"re", 1e-9),
    (b"do", 0.1),
    (b"a feature of more than fourteen bytes", 2.0**30),
)


def stop_words() -> frozenset[bytes]:
    """The list of the page."""
    page = PAGE.read_text("utf-8")
    found = re.search(r"\*\*Stop words\*\*.*?```text\n(.*?)```", page, re.DOTALL)
    assert found
    return frozenset(word.encode() for word in found[1].split())


def simhash_file() -> dict[str, Any]:
    listed = stop_words()
    tokens = {name: words(data, kind) for name, (data, kind) in documents().items()}
    vectors = []
    for first, last, weights, stopped, stemmed in CHOICES:
        left_out = listed if stopped else frozenset[bytes]()
        for seed in SEEDS:
            table: Counter[int] = Counter()
            for document in tokens.values():
                table.update(set(features(terms(document, left_out, stemmed), first, last, seed)))
            frequencies = (table, len(tokens)) if weights == "idf" else None
            found = {
                name: simhash(document, first, last, weights, left_out, stemmed, seed, frequencies)
                for name, document in tokens.items()
            }
            vectors.append(
                {
                    "version": VERSION,
                    "first": first,
                    "last": last,
                    "weights": weights,
                    "stop_words": stopped,
                    "stem": stemmed,
                    "seed": f"{seed:016x}",
                    "simhashes": {
                        name: None if value is None else f"{value:016x}"
                        for name, value in found.items()
                    },
                }
            )
    pairs = [[feature.hex(), weight] for feature, weight in PAIRS]
    given = [f"{simhash_pairs(PAIRS, seed) or 0:016x}" for seed in SEEDS]
    return {"version": VERSION, "pairs": pairs, "given": given, "vectors": vectors}
