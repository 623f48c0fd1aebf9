"""What a method is worth on labelled pairs: precision, recall, F1, exact sets, and how sure it is.

A method's level (its threshold) is chosen where F1 is best on one half of the pairs and scored on
the other half; both directions are averaged. No figure here can be won by merging more: precision
and F1 count pairs, and a set counts only where it is exactly the labelled one. Intervals are a
bootstrap over units (pairs that are not independent are one unit), levels kept as they were chosen.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bench.accuracy_set import Flags, Integers, PairSet
from roughly import _core

Floats = npt.NDArray[np.float64]

RESAMPLES = 1000
SEED = 20070508


@dataclass(frozen=True)
class Levels:
    """A method's answers to all pairs of a set, at every level it may be used with."""

    name: str
    labels: Sequence[str]  # of the levels
    said: Callable[[int], Flags]  # which pairs are copies, at a level
    default: int | None = None  # the level that ships, if one does


@dataclass(frozen=True)
class Cells:
    """Pairs said and labelled copies, said alone, labelled alone."""

    right: int
    wrong: int
    missed: int

    @property
    def precision(self) -> float:
        """1 where nothing is said: nothing said is wrong."""
        said = self.right + self.wrong
        return self.right / said if said else 1.0

    @property
    def recall(self) -> float:
        copies = self.right + self.missed
        return self.right / copies if copies else 1.0

    @property
    def f1(self) -> float:
        both = 2 * self.right + self.wrong + self.missed
        return 2 * self.right / both if both else 1.0


@dataclass(frozen=True)
class Score:
    """What is reported of a method on a set."""

    method: str
    levels: tuple[str, str]  # chosen on the first half, on the second
    precision: float
    recall: float
    f1: float
    low: float  # of F1, 95%
    high: float
    exact_sets: float
    default: Cells | None  # on all pairs at the level that ships
    best: float  # F1 at the best level of all pairs: what a choice could have reached
    curve: tuple[tuple[str, float, float], ...]  # label, precision, recall on all pairs


def cells(said: Flags, dup: Flags) -> Cells:
    right = int(np.count_nonzero(said & dup))
    return Cells(right, int(np.count_nonzero(said)) - right, int(np.count_nonzero(dup)) - right)


def score(pairs: PairSet, method: Levels) -> Score:
    """Levels chosen on each half and scored on the other."""
    half = pairs.half
    parts = [half == 0, half == 1]
    dups = [pairs.dup[part] for part in parts]
    at = range(len(method.labels))
    by_half: list[list[Cells]] = [[], []]
    # Counted by half and label at once: a set may have millions of pairs, few of which are said.
    kind = (2 * half + pairs.dup).astype(np.uint8)
    copies = np.bincount(kind, minlength=4)[1::2].tolist()
    for level in at:
        said = np.bincount(kind[method.said(level)], minlength=4).reshape(2, 2).tolist()
        for number, (wrong, right) in enumerate(said):
            by_half[number].append(Cells(right, wrong, copies[number] - right))
    whole = [
        Cells(*(getattr(one, name) + getattr(two, name) for name in ("right", "wrong", "missed")))
        for one, two in zip(*by_half, strict=True)
    ]
    chosen = [_best(own) for own in by_half]
    scored = [by_half[1][chosen[0]], by_half[0][chosen[1]]]
    units = []
    sets = []
    for level, number in zip(chosen, (1, 0), strict=True):
        part = parts[number]
        said = method.said(level)[part]
        units.append(_by_unit(said, dups[number], pairs.unit[part]))
        sets.append(exact_sets(pairs.a[part], pairs.b[part], said, dups[number]))
    low, high = interval(units)
    return Score(
        method.name,
        (method.labels[chosen[0]], method.labels[chosen[1]]),
        sum(each.precision for each in scored) / 2,
        sum(each.recall for each in scored) / 2,
        sum(each.f1 for each in scored) / 2,
        low,
        high,
        sum(sets) / 2,
        None if method.default is None else whole[method.default],
        max(each.f1 for each in whole),
        tuple(
            (label, each.precision, each.recall)
            for label, each in zip(method.labels, whole, strict=True)
        ),
    )


def _best(found: Sequence[Cells]) -> int:
    """The level with the best F1; of many that are as good the middle one, which is the likeliest
    to be as good elsewhere."""
    most = max(each.f1 for each in found)
    best = [level for level, each in enumerate(found) if each.f1 == most]
    return best[len(best) // 2]


def _by_unit(said: Flags, dup: Flags, unit: Integers) -> Integers:
    """Right, wrong and missed of each unit."""
    numbers = np.unique(unit, return_inverse=True)[1]
    counted = [
        np.bincount(numbers[some], minlength=int(numbers.max(initial=-1)) + 1)
        for some in (said & dup, said & ~dup, ~said & dup)
    ]
    return np.stack(counted, axis=1).astype(np.int64)


def interval(halves: Sequence[Integers], resamples: int = RESAMPLES) -> tuple[float, float]:
    """The middle 95% of F1, averaged over halves, when units are drawn again with replacement.
    Units that are alike are drawn together, by a multinomial."""
    chance = np.random.default_rng(SEED)
    drawn: list[Floats] = []
    for units in halves:
        if not len(units):
            continue
        kinds, counts = np.unique(units, axis=0, return_counts=True)
        often = chance.multinomial(len(units), counts / len(units), size=resamples)
        right, wrong, missed = (often @ kinds).T
        both = 2 * right + wrong + missed
        drawn.append(np.where(both > 0, 2 * right / np.maximum(both, 1), 1.0))
    if not drawn:
        return 0.0, 1.0
    low, high = np.quantile(np.mean(drawn, axis=0), (0.025, 0.975))
    return float(low), float(high)


def exact_sets(a: Integers, b: Integers, said: Flags, dup: Flags) -> float:
    """Of the documents that are in a set of two or more, by the labels or as said, the share whose
    set is the labelled one to the last document. Sets are what pairs hold together."""
    documents, numbers = np.unique(np.concatenate([a, b]), return_inverse=True)
    one, two = numbers[: len(a)], numbers[len(a) :]
    labelled, found = (_roots(one[some], two[some], len(documents)) for some in (dup, said))
    sizes = [np.bincount(roots, minlength=len(documents)) for roots in (labelled, found)]
    _, of_both, both = np.unique(
        labelled * len(documents) + found, return_inverse=True, return_counts=True
    )
    size_labelled, size_found = sizes[0][labelled], sizes[1][found]
    in_a_set = (size_labelled > 1) | (size_found > 1)
    same = (size_labelled == both[of_both]) & (size_found == both[of_both])
    return float(same[in_a_set].mean()) if in_a_set.any() else 1.0


def _roots(one: Integers, two: Integers, documents: int) -> Integers:
    links = np.zeros((len(one), 4), dtype=np.uint32)
    links[:, 0], links[:, 1] = np.minimum(one, two), np.maximum(one, two)
    return _core.components(links, documents, 0, 1).astype(np.int64)
