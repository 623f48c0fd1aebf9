"""Documents and options over which all engines must agree: conditions, stars, exact counts and
presets.

Every case is one that changes the answer, on documents with masses, several hosts and languages,
empty ones, ones without a simhash, and equivalent ones of different categories.
"""

import random
from typing import Any

from bench.mass import ALIKE
from bench.mass import batches as mass_batches
from roughly import Simhasher, Sketcher

Document = dict[str, Any]

_SKETCHER = Sketcher(w=2, select="adaptive:40")

# What is asked, by name; what is not said is as in `cluster`.
CASES: dict[str, dict[str, Any]] = {
    "exact": {"exact": True, "containment": 0.7, "sketcher": _SKETCHER},
    "star": {"linkage": "star", "sketcher": _SKETCHER},
    "within host": {"within": "host", "containment": 0.8, "sketcher": _SKETCHER},
    "both": {
        "method": "both",
        "distance": 9,
        "size_ratio": 0.5,
        "sketcher": _SKETCHER,
        "simhasher": Simhasher(stop_words="english"),
    },
    "within field, exact": {"within": "language", "exact": True, "sketcher": _SKETCHER},
    "star within": {"linkage": "star", "within": "language", "sketcher": _SKETCHER},
    "simhash": {"method": "simhash", "distance": 8, "sketcher": _SKETCHER},
    "simhash star": {
        "method": "simhash",
        "distance": 10,
        "size_ratio": 0.6,
        "within": "language",
        "linkage": "star",
        "sketcher": _SKETCHER,
    },
    "simhash star of a mass": {
        "method": "simhash",
        "distance": 8,
        "linkage": "star",
        "sketcher": _SKETCHER,
    },
    "manku07": {"preset": "manku07"},
    "broder97": {"preset": "broder97"},
    "broder97, exact": {"preset": "broder97", "exact": True, "size_ratio": 0.7},
    "broder97-super": {"preset": "broder97-super"},
    "broder97-super within": {"preset": "broder97-super", "within": "host", "linkage": "star"},
}


def documents(seed: int, count: int, alike: int) -> list[Document]:
    """Texts edited step by step on some hosts, and a mass of pages that are all alike."""
    rng = random.Random(seed)
    texts = ["", "", "--", "the of and", "the of and"]
    tokens: list[str] = []
    while len(texts) < count:
        if not tokens or rng.random() < 0.15:
            tokens = [f"{len(texts)}x{i}" for i in range(rng.randint(20, 400))]
        tokens = list(tokens)
        for _ in range(len(tokens) // rng.choice([15, 40, 200])):
            tokens[rng.randrange(len(tokens))] = f"n{rng.randrange(10**6)}"
        text = " ".join(tokens)
        texts += [text, text.upper() + "?", text, " ".join(tokens[: len(tokens) * 2 // 3])][
            : rng.choice([1, 1, 2, 4])
        ]
    texts += [
        text.decode()
        for batch in mass_batches(ALIKE, alike)
        for text in batch["content"].to_pylist()
    ]
    # Many with one simhash and size, but no two with the same canonical form.
    words = [f"w{n}" for n in range(40)]
    texts += [" ".join(rng.sample(words, len(words))) for _ in range(alike)]
    hosts = ["http://a.example/", "https://b.example/", "http://c.example:80/", "no-url-"]
    return [
        {
            "id": f"{rng.choice(hosts)}{n}",
            "text": text,
            "date": rng.choice([None, "2020-01-02", "1997-04-07"]),
            "language": rng.choice(["de", "fr", None]),
        }
        for n, text in enumerate(texts)
    ]
