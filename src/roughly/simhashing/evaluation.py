"""Precision and recall of simhashes against k, on pairs that people have labelled (section 4.1 of
the 2007 paper, Figure 1).

As in the paper, precision is the share of true pairs among those within k bits, recall the share of
all true pairs of the sample that are within k; pairs labelled unknown count for nothing. A sample
with equally many pairs at each distance is no picture of the collection: where it says how many
pairs it stands for, both are also given with every pair weighed by that number.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from roughly.documents.file import printable, reason
from roughly.errors import DocumentError

_TRUE = {"true", "tp", "yes", "1", "dup", "duplicate", "positive"}
_FALSE = {"false", "fp", "no", "0", "different", "negative"}
_UNKNOWN = {"unknown", "?", "none", "null", ""}
_Z = 1.959963984540054  # two-sided 95%


@dataclass(frozen=True, slots=True)
class LabelledPair:
    """Two documents, what somebody said of them, and how far apart they are."""

    a: str
    b: str
    label: bool | None  # near duplicates, no such, or unknown
    distance: int | None  # bits; None: not known
    pairs: int | None = None  # in the collection at this distance, if the file says so


@dataclass(frozen=True, slots=True)
class Share:
    """A share with its 95% interval (Wilson's)."""

    value: float
    low: float
    high: float
    of: int


@dataclass(frozen=True, slots=True)
class Point:
    """What k gives."""

    k: int
    true: int  # pairs within k bits that are near duplicates
    false: int  # that are none
    unknown: int
    precision: Share | None  # None: no pair is within k
    recall: Share | None  # None: no pair is a near duplicate
    weighed_precision: float | None = None
    weighed_recall: float | None = None

    @property
    def f1(self) -> float:
        return f1(self.precision, self.recall)

    def to_dict(self) -> dict[str, Any]:
        return {**asdict(self), "f1": self.f1}


def f1(precision: Share | None, recall: Share | None) -> float:
    """The harmonic mean of both; 0 where nothing was found."""
    if precision is None or recall is None or not precision.value + recall.value:
        return 0.0
    return 2 * precision.value * recall.value / (precision.value + recall.value)


def share(part: int, whole: int) -> Share | None:
    """part of whole, if there is a whole."""
    if not whole:
        return None
    p = part / whole
    z2 = _Z * _Z
    middle = (p + z2 / (2 * whole)) / (1 + z2 / whole)
    half = _Z * math.sqrt(p * (1 - p) / whole + z2 / (4 * whole * whole)) / (1 + z2 / whole)
    low = 0.0 if part == 0 else max(0.0, middle - half)
    high = 1.0 if part == whole else min(1.0, middle + half)
    return Share(p, low, high, whole)


def precision_recall(pairs: Sequence[LabelledPair], largest: int | None = None) -> list[Point]:
    """A point for every k from 0 to the largest, or to the largest distance there is. Pairs whose
    distance is not known count as beyond every k."""
    distances = [pair.distance for pair in pairs if pair.distance is not None]
    if largest is None:
        largest = max(distances, default=0)
    known = [pair for pair in pairs if pair.label is not None]
    all_true = sum(pair.label is True for pair in known)
    weight = _weights(pairs)
    weighed_true = sum(weight.get(pair.distance, 0.0) for pair in known if pair.label)
    points = []
    for k in range(largest + 1):
        within = [pair for pair in pairs if pair.distance is not None and pair.distance <= k]
        true = [pair for pair in within if pair.label is True]
        false = [pair for pair in within if pair.label is False]
        weighed = [sum(weight.get(pair.distance, 0.0) for pair in each) for each in (true, false)]
        points.append(
            Point(
                k,
                len(true),
                len(false),
                len(within) - len(true) - len(false),
                share(len(true), len(true) + len(false)),
                share(len(true), all_true),
                weighed[0] / sum(weighed) if weight and sum(weighed) else None,
                weighed[0] / weighed_true if weight and weighed_true else None,
            )
        )
    return points


def _weights(pairs: Sequence[LabelledPair]) -> dict[int | None, float]:
    """For how many pairs of the collection a labelled pair of each distance stands; nothing unless
    the sample tells of all of them."""
    judged = Counter(pair.distance for pair in pairs if pair.label is not None)
    stands_for = {pair.distance: pair.pairs for pair in pairs}
    if any(count is None for count in stands_for.values()):
        return {}
    return {d: (stands_for[d] or 0) / count for d, count in judged.items()}


def separation(pairs: Sequence[LabelledPair]) -> float | None:
    """The probability that a pair of near duplicates is nearer than one that is none, ties counted
    half: 1 is perfect, 0.5 is chance. None if there are not both."""
    true = Counter(pair.distance for pair in pairs if pair.label is True)
    false = Counter(pair.distance for pair in pairs if pair.label is False)
    both = sum(true.values()) * sum(false.values())
    if not both:
        return None
    won = sum(
        n * m * (0.5 if d == e else float(_bits(d) < _bits(e)))
        for d, n in true.items()
        for e, m in false.items()
    )
    return won / both


def _bits(distance: int | None) -> int:
    """Documents without a simhash are far from everything."""
    return 65 if distance is None else distance


def with_distances(
    pairs: Iterable[LabelledPair], simhashes: Mapping[str, int | None]
) -> list[LabelledPair]:
    """The same pairs at the distance of these simhashes. Raises for an id that is not there."""
    found = []
    for pair in pairs:
        for id in (pair.a, pair.b):
            if id not in simhashes:
                raise DocumentError(
                    f"{printable(id)[:200]}: no simhash: a labelled pair has a document that is"
                    " not in the input",
                    hint="give the input that the pairs were drawn from",
                )
        one, two = simhashes[pair.a], simhashes[pair.b]
        distance = None if one is None or two is None else (one ^ two).bit_count()
        found.append(LabelledPair(pair.a, pair.b, pair.label, distance))
    return found


def read_labels(path: str | Path) -> list[LabelledPair]:
    """Labelled pairs of a file of JSON Lines, as `roughly hamming sample` writes it: a, b, label,
    and perhaps distance and pairs."""
    shown = printable(str(path))
    try:
        lines = Path(path).read_bytes().splitlines()
    except OSError as error:
        raise DocumentError(f"{shown}: cannot read: {reason(error)}") from error
    pairs = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            distance, stands_for = row.get("distance"), row.get("pairs")
            pair = LabelledPair(
                str(row["a"]),
                str(row["b"]),
                _label(row.get("label")),
                None if distance is None else int(distance),
                None if stands_for is None else int(stands_for),
            )
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            why = f"it has no field {error}" if isinstance(error, KeyError) else str(error)
            raise DocumentError(
                f"{shown}: no labelled pairs: line {number}: {why}",
                hint='wanted lines as {"a": "id", "b": "id", "label": "true"}',
            ) from error
        pairs.append(pair)
    if not any(pair.label is not None for pair in pairs):
        raise DocumentError(
            f"{shown}: nothing is labelled: {len(pairs)} pairs, none of them true or false",
            hint='put "true", "false" or "unknown" into the field label of every line',
        )
    return pairs


def _label(value: object) -> bool | None:
    word = str(value).strip().lower()
    if word in _TRUE:
        return True
    if word in _FALSE:
        return False
    if word in _UNKNOWN:
        return None
    raise ValueError(f"the label {value!r} is unknown, wanted true, false or unknown")
