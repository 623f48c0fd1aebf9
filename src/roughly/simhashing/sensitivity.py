"""How much the choice of features and weights matters (section 6 E of the 2007 paper): the same
labelled pairs, judged by the simhashes of many choices.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from roughly.errors import DocumentError
from roughly.simhashing.evaluation import (
    LabelledPair,
    Point,
    precision_recall,
    separation,
    with_distances,
)
from roughly.simhashing.simhasher import Simhasher

# The paper's own distance.
PAPER_K = 3
LARGEST_K = 32

# What is tried: every feature with weights by count, and the terms with everything else.
CHOICES: dict[str, dict[str, Any]] = {
    "terms": {},
    "terms, once": {"weights": "once"},
    "terms, tf-idf": {"weights": "idf"},
    "terms, stop words": {"stop_words": "english"},
    "terms, stems": {"stem": "english"},
    "terms, stop words, stems": {"stop_words": "english", "stem": "english"},
    "terms, stop words, stems, tf-idf": {
        "stop_words": "english",
        "stem": "english",
        "weights": "idf",
    },
    "phrases:2": {"features": "phrases:2"},
    "phrases:3": {"features": "phrases:3"},
    "phrases:2, tf-idf": {"features": "phrases:2", "weights": "idf"},
    "shingles:2": {"features": "shingles:2"},
    "shingles:3": {"features": "shingles:3"},
    "shingles:5": {"features": "shingles:5"},
    "shingles:5, once": {"features": "shingles:5", "weights": "once"},
}


@dataclass(frozen=True, slots=True)
class Judged:
    """What one choice gives."""

    name: str
    separation: float | None  # of true from false pairs, 0.5 is chance
    best: Point  # the k of the largest F1
    at_paper_k: Point
    points: list[Point]

    def to_dict(self) -> dict[str, Any]:
        return {
            "choice": self.name,
            "separation": self.separation,
            "best": self.best.to_dict(),
            "at_paper_k": self.at_paper_k.to_dict(),
            "points": [point.to_dict() for point in self.points],
        }


def sensitivity(
    pairs: Sequence[LabelledPair],
    documents: pa.Table,
    choices: dict[str, dict[str, Any]] | None = None,
    threads: int | None = None,
    told: Callable[[int], None] = lambda done: None,
) -> list[Judged]:
    """Every choice on these pairs, in the order of CHOICES. `documents` has the columns of
    `roughly.documents`; tf-idf counts in all of them. `told` hears of every choice that is done."""
    ids = documents["id"].to_pylist()
    batches = documents.to_batches()
    if not batches:
        raise DocumentError("documents: none to judge: the input is empty")
    found = []
    for name, choice in (CHOICES if choices is None else choices).items():
        simhasher = _simhasher(choice, batches, threads)
        simhashes: list[int | None] = []
        for batch in batches:
            simhashes += simhasher.simhash_documents(batch, threads)
        judged = with_distances(pairs, dict(zip(ids, simhashes, strict=True)))
        points = precision_recall(judged, LARGEST_K)
        best = max(points, key=lambda point: (point.f1, -point.k))
        found.append(Judged(name, separation(judged), best, points[PAPER_K], points))
        told(1)
    return found


def _simhasher(
    choice: dict[str, Any], batches: list[pa.RecordBatch], threads: int | None
) -> Simhasher:
    if choice.get("weights") != "idf":
        return Simhasher(**choice)
    features = {name: value for name, value in choice.items() if name != "weights"}
    counter = Simhasher(**features).frequency_counter(threads)
    for batch in batches:
        counter.add(batch)
    return Simhasher(**features, weights=counter.result())
