"""Pairs by simhash: documents that are comparable and differ in at most k bits.

Documents that a condition cannot tell apart (the same simhash, category and, where sizes count,
size) have the same partners. Where they are very many, a mass, the first of them, its hub, stands
for all: each is linked to it, and of the mass the hub alone is joined. A page that is there 200,000
times so costs 200,000 links, not as many squared. A pair is (a, b, bits that agree, 64).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from roughly import _core
from roughly.clustering.join import Hubs
from roughly.clustering.sketches import PairTable, Rows
from roughly.condition import SIMHASH_BITS, Attributes
from roughly.hamming.join import pairs_within

Numbers = npt.NDArray[np.int64]

# Pairs that are made at once.
_STEP = 1 << 20


def simhash_hubs(attributes: Attributes, rows: Rows, least: int) -> Hubs:
    """For every document, given by their rows in document order, the first of those that have the
    same partners; NO_HUB for the first itself, where these are fewer than `least`, and for those
    without a simhash."""
    hubs: Hubs = np.full(len(rows), _core.NO_HUB, np.uint32)
    there = _present(attributes, rows)
    order, starts = _grouped(_keys(attributes, rows[there]))
    group = np.cumsum(starts) - 1
    # Equal keys stand in document order, so the first of a group is its first in that order.
    first = there[order[starts][group]]
    own = there[order]
    later = (own != first) & (np.bincount(group)[group] >= least)
    hubs[own[later]] = first[later].astype(np.uint32)
    return hubs


def hub_pairs(hubs: Hubs) -> PairTable:
    """The links of documents to their hubs: no bit differs."""
    members = np.flatnonzero(hubs != _core.NO_HUB).astype(np.uint32)
    pairs = np.full((len(members), 4), SIMHASH_BITS, np.uint32)
    pairs[:, 0], pairs[:, 1] = hubs[members], members
    return pairs


def simhash_pairs(
    attributes: Attributes, rows: Rows, hubs: Hubs, threads: int
) -> Iterator[PairTable]:
    """All comparable pairs within the condition's distance among those that have no hub."""
    there = _present(attributes, rows)
    there = there[hubs[there] == _core.NO_HUB]
    # Every simhash once: how many documents have it must not count in the join.
    assert attributes.simhash is not None
    values, value = np.unique(attributes.simhash[rows[there]], return_inverse=True)
    category = np.zeros(len(there), np.int64)
    if attributes.category is not None:
        category = np.unique(attributes.category[rows[there]], return_inverse=True)[1]
    lists = _Lists(value, category)
    for a, b, bits in _value_pairs(values, attributes.condition.distance, threads):
        for at, one, two in lists.partners(a, b):
            pairs = np.empty((len(one), 4), np.uint32)
            left, right = there[one], there[two]
            pairs[:, 0], pairs[:, 1] = np.minimum(left, right), np.maximum(left, right)
            pairs[:, 2], pairs[:, 3] = SIMHASH_BITS - bits[at].astype(np.uint32), SIMHASH_BITS
            good = attributes.comparable(rows[pairs[:, 0]], rows[pairs[:, 1]])
            # Those of one simhash are found from both sides.
            good &= (a[at] != b[at]) | (one < two)
            if good.any():
                yield pairs[good]


def _value_pairs(
    values: npt.NDArray[np.uint64], k: int, threads: int
) -> Iterator[tuple[Numbers, Numbers, npt.NDArray[np.uint8]]]:
    """Pairs of different simhashes, and each with itself."""
    every = np.arange(len(values))
    for begin in range(0, len(values), _STEP):
        own = every[begin : begin + _STEP]
        yield own, own, np.zeros(len(own), np.uint8)
    if len(values) > 1 and k:
        yield from pairs_within(values, k, threads=threads)


class _Lists:
    """Documents by simhash and category."""

    def __init__(self, value: Numbers, category: Numbers) -> None:
        self._categories = int(category.max(initial=0)) + 1
        key = value.astype(np.int64) * self._categories + category
        self._order = np.argsort(key, kind="stable")
        self._key = key[self._order]
        self._category = category
        count = int(value.max(initial=-1)) + 1
        by_value = np.searchsorted(self._key, np.arange(count + 1) * self._categories)
        self._begin, self._size = by_value[:-1], np.diff(by_value)

    def partners(self, a: Numbers, b: Numbers) -> Iterator[tuple[Numbers, Numbers, Numbers]]:
        """Of pairs of simhashes all pairs of their documents that are of one category: which pair
        of simhashes, and the two documents."""
        few, many = np.where(self._size[a] <= self._size[b], (a, b), (b, a))
        for begin, end in _pieces(self._size[few]):
            which, inside = _expanded(self._size[few[begin:end]])
            which += begin
            one = self._order[self._begin[few[which]] + inside]
            key = many[which] * self._categories + self._category[one]
            first = np.searchsorted(self._key, key, "left")
            count = np.searchsorted(self._key, key, "right") - first
            for from_, to in _pieces(count):
                at, place = _expanded(count[from_:to])
                at += from_
                yield which[at], one[at], self._order[first[at] + place]


def _expanded(count: Numbers) -> tuple[Numbers, Numbers]:
    """Every number as often as `count` says, and which time it is."""
    ends = np.cumsum(count)
    which = np.repeat(np.arange(len(count)), count)
    return which, np.arange(len(which)) - np.repeat(ends - count, count)


def _pieces(count: Numbers) -> Iterator[tuple[int, int]]:
    """Stretches of numbers that are not too many together."""
    ends = np.cumsum(count)
    begin = 0
    while begin < len(count):
        before = int(ends[begin - 1]) if begin else 0
        end = max(int(np.searchsorted(ends, before + _STEP, "right")), begin + 1)
        yield begin, end
        begin = end


def _present(attributes: Attributes, rows: Rows) -> Numbers:
    """The documents that have a simhash."""
    assert attributes.has_simhash is not None
    return np.flatnonzero(attributes.has_simhash[rows])


def _keys(attributes: Attributes, rows: Rows) -> list[npt.NDArray[np.uint64]]:
    assert attributes.simhash is not None
    keys = [attributes.simhash[rows]]
    if attributes.category is not None:
        keys.append(attributes.category[rows])
    if attributes.condition.size_ratio is not None:
        keys.append(attributes.size[rows].astype(np.uint64))
    return keys


def _grouped(keys: list[npt.NDArray[np.uint64]]) -> tuple[Numbers, npt.NDArray[np.bool_]]:
    """An order in which equal ones stand together, and where each of them begins."""
    order = np.lexsort(keys[::-1])
    starts = np.ones(len(order), bool)
    if len(order):
        starts[1:] = False
        for key in keys:
            starts[1:] |= key[order[1:]] != key[order[:-1]]
    return order, starts
