"""Precision and recall of every threshold on pairs that somebody labelled.

As `roughly hamming evaluate` has it for distances: precision is the share of near duplicates among
the labelled pairs that reach a threshold, recall the share of all labelled near duplicates that do;
pairs labelled unknown count for nothing. Resemblance is what the sketches estimate, for that is
what a clustering decides by.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from roughly.clustering.sketches import Sketches
from roughly.documents.file import printable
from roughly.errors import DocumentError
from roughly.simhashing.evaluation import LabelledPair, Share, f1, share
from roughly.sketcher import Sketcher

if TYPE_CHECKING:
    import numpy.typing as npt

    from roughly.clustering import Clusters
    from roughly.clustering.sketches import PairTable

    Shares = npt.NDArray[np.float64]


WIDTHS = (1, 2, 3, 5, 7, 10)
# Of texts that were rewritten few shingles are left: what is below a twentieth counts too.
THRESHOLDS = (0.01, 0.02, *(number / 20 for number in range(1, 21)))


@dataclass(frozen=True, slots=True)
class Point:
    """What a threshold gives."""

    threshold: float
    true: int  # labelled pairs that reach it and are near duplicates
    false: int  # that are none
    precision: Share | None  # None: no pair reaches it
    recall: Share | None  # None: no pair is a near duplicate

    @property
    def f1(self) -> float:
        return f1(self.precision, self.recall)

    def to_dict(self) -> dict[str, Any]:
        return {**asdict(self), "f1": self.f1}


@dataclass(frozen=True, slots=True)
class Width:
    """The best that shingles of one width do."""

    w: int
    best: Point

    def to_dict(self) -> dict[str, Any]:
        return {"w": self.w, "best": self.best.to_dict()}


def curve(found: Clusters, pairs: Sequence[LabelledPair]) -> list[Point]:
    """A point at each of THRESHOLDS: labelled pairs are measured below the floor too."""
    return points(resemblances(found, pairs), pairs)


def points(values: Shares, pairs: Sequence[LabelledPair]) -> list[Point]:
    """`values` are the resemblances of the pairs."""
    true = np.array([pair.label is True for pair in pairs], dtype=bool)
    false = np.array([pair.label is False for pair in pairs], dtype=bool)
    result = []
    for threshold in THRESHOLDS:
        reached = values >= threshold - 1e-12
        right, wrong = int((reached & true).sum()), int((reached & false).sum())
        result.append(
            Point(
                threshold,
                right,
                wrong,
                share(right, right + wrong),
                share(right, int(true.sum())),
            )
        )
    return result


def best(points: Sequence[Point]) -> Point:
    """Where F1 is best; of several such the one that is nearest to a half."""
    return max(points, key=lambda each: (each.f1, -abs(each.threshold - 0.5)))


def resemblances(found: Clusters, pairs: Sequence[LabelledPair]) -> Shares:
    """Of labelled pairs, by their sketches. Raises for an id that is not among the documents."""
    table = _rows(found, pairs)
    return _measured(Sketches.of_segment(found.segment), table, found.threads)


def widths(found: Clusters, pairs: Sequence[LabelledPair], sketcher: Sketcher) -> list[Width]:
    """What shingles of other widths would make of the labelled pairs, exactly."""
    table = _rows(found, pairs)
    rows, numbers = np.unique(table[:, :2], return_inverse=True)
    table[:, :2] = numbers.reshape(-1, 2)
    html = found.segment.column("html").take(pa.array(rows.astype(np.int64))).combine_chunks()
    content = found.segment.text(rows.astype(np.int64))
    batch = pa.record_batch({"content": content.cast(pa.large_binary()), "html": html})
    result = []
    for w in WIDTHS:
        exact = Sketcher(w=w, select="all", seed=sketcher.seed, bits=sketcher.bits)
        sketches = Sketches.of_batch(exact.sketch_documents(batch, found.threads))
        result.append(Width(w, best(points(_measured(sketches, table, found.threads), pairs))))
    return result


def _rows(found: Clusters, pairs: Sequence[LabelledPair]) -> PairTable:
    """The rows of the documents of labelled pairs."""
    row = {id: number for number, id in enumerate(found.segment.ids().to_pylist())}
    table = np.zeros((len(pairs), 4), dtype=np.uint32)
    for number, pair in enumerate(pairs):
        for column, id in enumerate((pair.a, pair.b)):
            if id not in row:
                raise DocumentError(
                    f"{printable(id)[:200]}: not there: a labelled pair has a document that is not"
                    " in the input",
                    hint="give the documents that the pairs are about, and --id-field if need be",
                )
            table[number, column] = row[id]
    return table


def _measured(sketches: Sketches, table: PairTable, threads: int) -> Shares:
    rows = np.arange(len(sketches), dtype=np.uint32)
    counted = sketches.taking_part(rows).measure("resemblance", table, threads)
    values: Shares = counted[:, 2] / np.maximum(counted[:, 3], 1)
    empty = (sketches.size[table[:, 0]] == 0) & (sketches.size[table[:, 1]] == 0)
    return np.where(empty, 1.0, values)
