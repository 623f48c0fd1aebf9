"""How simhashes are distributed (section 4.2 of the 2007 paper, Figure 2), beside chance.

Figure 2a: sorted simhashes, each exclusive-or its neighbour: at which bit does the leading one
stand? Figure 2b: how many simhashes are in each of 128 intervals of equal size? Documents that are
alike make the first heavier at low bits than chance would, and make spikes in the second; a spike
is told by the simhash that most of it is near to. Where hardly any are near, the documents are not
alike: they share frequent words.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    Simhashes = npt.NDArray[np.uint64]

BITS = 64
BUCKETS = 128
# A bucket is a spike if it has more than chance gives by so many standard deviations: among 128
# buckets of random simhashes less than one in a million would.
_DEVIATIONS = 6
# As near as the paper takes for the same page.
NEAR = 3
_EXAMPLES = 5
_CENTRES = 512


@dataclass(frozen=True, slots=True)
class Spike:
    """A bucket with more simhashes than chance gives, and what it is made of."""

    bucket: int
    count: int  # simhashes in the bucket
    expected: float  # by chance
    simhash: int  # the one that most others of the bucket are near to
    same: int  # documents that have it
    near: int  # documents of the bucket within NEAR bits of it, those included
    rows: list[int]  # examples of these


@dataclass(frozen=True, slots=True)
class Distribution:
    """Figures 2a and 2b of a collection."""

    documents: int  # with a simhash
    empty: int  # without
    distinct: int  # different simhashes
    leading: list[int]  # pairs of neighbours whose highest differing bit is bit i
    equal: int  # pairs of neighbours that are the same
    leading_expected: list[float]  # of random simhashes
    buckets: list[int]  # simhashes in each interval
    spikes: list[Spike]  # by size

    @property
    def bucket_expected(self) -> float:
        return self.documents / BUCKETS

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it; simhashes are digits."""
        plain = asdict(self)
        for spike in plain["spikes"]:
            spike["simhash"] = f"{spike['simhash']:016x}"
        return plain


def distribution(simhashes: Simhashes, empty: npt.NDArray[np.bool_] | None = None) -> Distribution:
    """The figures of these simhashes; `empty` marks those that are none."""
    kept = np.arange(len(simhashes)) if empty is None else np.flatnonzero(~empty)
    order = kept[np.argsort(simhashes[kept], kind="stable")]
    values = simhashes[order]
    differing = values[1:] ^ values[:-1]
    equal = int(np.count_nonzero(differing == 0))
    positions = leading_bit(differing[differing != 0])
    buckets = np.bincount((values >> np.uint64(57)).astype(np.int64), minlength=BUCKETS)
    return Distribution(
        documents=len(values),
        empty=len(simhashes) - len(values),
        distinct=len(values) - equal,
        leading=np.bincount(positions, minlength=BITS).tolist(),
        equal=equal,
        leading_expected=expected_leading(len(values)),
        buckets=buckets.tolist(),
        spikes=_spikes(values, order, buckets.tolist()),
    )


def leading_bit(values: Simhashes) -> npt.NDArray[np.int64]:
    """The position of the highest bit of numbers that are not 0, from 0."""
    position = np.zeros(len(values), np.int64)
    rest = values.copy()
    for step in (32, 16, 8, 4, 2, 1):
        high = rest >> np.uint64(step)
        large = high != 0
        position[large] += step
        rest = np.where(large, high, rest)
    return position


def expected_leading(documents: int) -> list[float]:
    """How many of the neighbours among random simhashes differ first at each bit.

    Neighbours part at a node of the binary tree of all prefixes that has both children: at depth d
    there are 2^d nodes, and one has both with probability 1 - 2 (1 - 2^-(d+1))^n + (1 - 2^-d)^n.
    """
    found = [0.0] * BITS
    for depth in range(BITS):
        share = 2.0**-depth  # of all values below a node
        if documents * share < 1e-4:
            # Three below one node do not happen: only pairs count, and rounding would not.
            both = documents * (documents - 1) / 4 * share * share
        elif depth == 0:
            both = 1 - 2 * 0.5**documents if documents else 0.0
        else:
            one_missing = math.expm1(documents * math.log1p(-share / 2))
            neither = math.expm1(documents * math.log1p(-share))
            both = max(0.0, neither - 2 * one_missing)
        found[BITS - 1 - depth] = both / share
    return found


def _spikes(values: Simhashes, order: npt.NDArray[np.intp], buckets: list[int]) -> list[Spike]:
    expected = len(values) / BUCKETS
    least = expected + _DEVIATIONS * math.sqrt(max(expected, 1.0))
    ends = np.cumsum([0, *buckets])
    found = []
    for bucket, count in enumerate(buckets):
        if count <= least:
            continue
        inside = values[ends[bucket] : ends[bucket + 1]]
        rows = order[ends[bucket] : ends[bucket + 1]]
        centre, same, near = _centre(inside)
        distance = np.bitwise_count(inside ^ np.uint64(centre))
        nearest = np.argsort(distance, kind="stable")[:_EXAMPLES]
        examples = rows[nearest[distance[nearest] <= NEAR]].tolist()
        found.append(Spike(bucket, count, expected, centre, same, near, examples))
    return sorted(found, key=lambda spike: (-spike.count, spike.bucket))


def _centre(values: Simhashes) -> tuple[int, int, int]:
    """Of sorted simhashes the one with most others near it (the smallest of several), how many are
    the same, and how many are near, itself included; looked for among the most frequent ones."""
    different, times = np.unique(values, return_counts=True)
    tried = np.argsort(-times, kind="stable")[:_CENTRES]
    if len(different) > _CENTRES and times[tried[-1]] == 1:
        # Most are alone: those that are tried come from everywhere.
        spread = np.linspace(0, len(different) - 1, _CENTRES).astype(np.intp)
        tried = np.concatenate([tried[times[tried] > 1], spread])
    near = np.array(
        [int(times[np.bitwise_count(different ^ different[at]) <= NEAR].sum()) for at in tried]
    )
    best = tried[np.lexsort((different[tried], -times[tried], -near))[0]]
    return int(different[best]), int(times[best]), int(near.max())
