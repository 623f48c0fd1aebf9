"""How likely sketches show a document that just reaches what is asked for.

A query of n shingles has k elements where it meets a document. If the document has m of the n, it
has some of the k: hypergeometric, for which shingles are elements depends on the hash alone. A
`Sieve` says how many it must have to be looked at; how often it has them is what can be promised.
Documents that have more of the query are found more often, so the promise holds for them too.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import ceil, exp, lgamma, log, log1p, sqrt
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from roughly.search.match import Promise
from roughly.search.query import Query
from roughly.search.rule import Rule
from roughly.search.searcher import LEAST_CONTAINED, Floors, Searcher, ratio
from roughly.storage.segment_index import NO_DOCUMENT, Level

Numbers = npt.NDArray[np.int64]
Share = tuple[int, int]  # numerator, denominator

# What is missed less often than this is not missed.
_NEVER = 1e-5
# Up to here sizes need not be counted to see that little is missed.
_RARELY = 0.01
# Terms that are smaller than this share of a sum are left out of it.
_NOTHING = 1e-9
# From so many samples on, their number hardly varies.
_MANY = 64


@dataclass(frozen=True, slots=True)
class Sieve:
    """Which estimates are good enough to be looked at."""

    slack: float  # standard deviations by which an estimate may be below what is asked for
    least: int  # samples without which nothing is believed, unless they are all there is

    def needed(self, share: Share, samples: Numbers) -> Numbers:
        """How many of some samples must be common."""
        numerator, denominator = share
        if self.slack:
            p = numerator / denominator
            spread = self.slack * np.sqrt(samples * (p * (1 - p)))
            found = np.maximum(np.ceil(samples * p - spread - 1e-9), 1).astype(np.int64)
        else:
            found = -(-samples * numerator // denominator)
        # More than there are: never.
        needed: Numbers = np.where(samples < self.least, samples + 1, found)
        return needed

    def needed_of(self, share: Share, samples: int) -> int:
        """The same of one number of samples."""
        numerator, denominator = share
        if samples < self.least:
            return samples + 1
        if not self.slack:
            return -(-samples * numerator // denominator)
        p = numerator / denominator
        return max(ceil(samples * p - self.slack * sqrt(samples * (p * (1 - p))) - 1e-9), 1)


BELIEVED = Sieve(0.0, LEAST_CONTAINED)  # estimates as they are
COUNTED = Sieve(2.6, 1)  # the text decides: of a hundred samples one document in 200 is missed
SCANNED = Sieve(5.0, 1)  # the same for all; who may be missed has all its text searched


class _Way(NamedTuple):
    """One of the ways to be found, and the sizes of documents that may be found so."""

    name: str
    share: Share
    least_size: float
    most_size: float


class Recall:
    """What a search by sketches shows of a query's neighbours."""

    def __init__(self, searcher: Searcher, query: Query, rule: Rule, sieve: Sieve) -> None:
        self._searcher, self._query, self.sieve = searcher, query, sieve
        self.levels = searcher.levels
        self._elements = {each.level: query.elements_at(each.level) for each in self.levels}
        self._kind, self._number = query.parameters.selection
        self._ways: dict[str, _Way] = {}
        size = query.size
        if rule.threshold is not None:
            share = ratio("threshold", rule.threshold)
            part = share[0] / share[1]
            self._ways["resembles"] = _Way("resembles", share, part * size, size / part)
        if rule.containment is not None:
            share = ratio("containment", rule.containment)
            part = share[0] / share[1]
            if rule.contained:
                self._ways["contained"] = _Way("contained", share, part * size, float("inf"))
            if rule.contains:
                self._ways["contains"] = _Way("contains", share, 1, size / part)

    def floors(self) -> Floors:
        """The least shares of samples that go through the sieve, over all levels: of both, of the
        query, of a document. None where it is not asked for."""
        found = {name: self._floor(way) for name, way in self._ways.items()}
        return Floors(found.get("resembles"), found.get("contained"), found.get("contains"))

    def _floor(self, way: _Way) -> Share:
        if not self.sieve.slack:
            return way.share
        counts = [
            self._elements[each.level] if way.name != "contains" else self._least_kept(each)
            for each in self.levels
            if _overlap(way, each.least_size, each.most_size)
        ]
        floors = [way.share]
        for samples in counts:
            if samples is None:
                floors.append(_lowest(way.share, self.sieve))
            elif samples and not (way.name != "contains" and self._all_kept(samples)):
                floors.append((self.sieve.needed_of(way.share, samples), samples))
        return min(floors, key=lambda share: share[0] / share[1])

    def _least_kept(self, level: Level) -> int | None:
        """Elements of the documents of a level where they meet the query; 0 if that is all they
        have, None if they may be few."""
        if self._kind == "all" or (self._kind == "adaptive" and not self._meeting(level.level)):
            return 0
        if self._kind != "adaptive" or level.level < self._query.level or self._number < 2 * _MANY:
            return None
        return None if level.least_kept == NO_DOCUMENT else level.least_kept

    def _all_kept(self, samples: int) -> bool:
        return samples == self._query.size and self._kind != "min"

    def _meeting(self, level: int) -> int:
        return max(level, self._query.level)

    def through(self, **counts: tuple[Numbers, Numbers]) -> npt.NDArray[np.bool_]:
        """Which counts go through the sieve: common ones and all, for each way to be found."""
        found = np.zeros(len(counts["resembles"][0]), bool)
        for name, way in self._ways.items():
            common, whole = counts[name]
            found |= common >= self.sieve.needed(way.share, whole)
        return found

    def _shown(self, way: _Way, level: int, size: float) -> float:
        """How often a document of that level and size is shown, if it just reaches the share."""
        if self._kind == "all":
            return 1.0
        if way.name == "contains":
            if self._kind == "adaptive" and not self._meeting(level):
                return 1.0
            rate = 1 << self._meeting(level) if self._kind == "adaptive" else self._number
            return _shown_inside(int(size), rate, way.share, self.sieve)
        samples, population = self._elements[level], self._query.size
        if self._kind == "min":
            population = max(population, int(way.most_size))
            samples = min(self._number, population)
        return _shown(population, samples, way.share, self.sieve)

    def unseen_levels(self, name: str) -> npt.NDArray[np.bool_]:
        """By level: whether what is asked for may be missed there."""
        found = np.zeros(64, bool)
        way = self._ways.get(name)
        for each in self.levels if way is not None else []:
            assert way is not None
            found[each.level] = self._shown(way, each.level, each.least_size) < 1 - _NEVER
        return found

    def least_seen(self) -> tuple[int, float]:
        """Elements without which a document inside the query may be missed, and the most shingles
        that such a document can have."""
        way = self._ways.get("contains")
        if way is None or self._kind == "all":
            return 0, 0.0
        return _least_seen(way.share, self.sieve), way.most_size

    def promise(self) -> Promise:
        """Of the way to be found that is missed most: how often what just reaches it is shown."""
        promises = [Promise(1.0, 0, 0, 1.0)]
        if self._query.size:
            promises += [self._promise(way) for way in self._ways.values()]
        return min(promises, key=lambda each: (each.recall, -each.documents))

    def _promise(self, way: _Way) -> Promise:
        rough: list[tuple[int, float, float, int]] = [
            (e.level, e.least_size, e.most_size, e.documents) for e in self.levels
        ]
        found = self._share_of(way, rough)
        # Most are of the right size or need not be asked; else sizes are counted, once a searcher.
        return (
            found
            if found.least >= 1 - _RARELY
            else self._share_of(way, self._searcher.sizes_by_level)
        )

    def _share_of(self, way: _Way, documents: list[tuple[int, float, float, int]]) -> Promise:
        """Of documents by level and size. A text that others contain may stand at any place, and a
        long document has many; of what is inside the query or resembles it each counts once."""
        total = blind = 0
        shown, places, least = 0.0, 0.0, 1.0
        for level, smallest, largest, count in documents:
            if not _overlap(way, smallest, largest):
                continue
            chance = self._shown(way, level, max(smallest, way.least_size))
            total += count
            blind += count if not chance else 0
            weight: float = count
            if way.name == "contained":
                weight *= max(0.0, (smallest + largest) / 2 - way.least_size) + 1
            shown += chance * weight
            places += weight
            least = min(least, chance)
        recall = min(1.0, shown / places) if places else 1.0
        return Promise(recall, total, blind, min(least, recall))


def _overlap(way: _Way, smallest: float, largest: float) -> bool:
    return largest >= way.least_size and smallest <= way.most_size


def _shown(population: int, samples: int, share: Share, sieve: Sieve) -> float:
    """How often enough samples are common, if that share of the population is."""
    if samples >= population:
        return 1.0
    if samples < max(sieve.least, 1):
        return 0.0
    needed = sieve.needed_of(share, samples)
    marked = -(-population * share[0] // share[1])
    return 1.0 - lower_tail(population, marked, samples, needed)


@lru_cache(1 << 12)
def _shown_inside(size: int, rate: int, share: Share, sieve: Sieve) -> float:
    """The same of a document that keeps one of `rate` shingles: it has more or fewer elements."""
    mean = size / rate
    if rate == 1:
        return 1.0
    if mean >= _MANY:
        return _shown(size, int(mean), share, sieve)
    most = min(size, int(mean + 8 * sqrt(mean) + 8))
    return sum(
        _binomial(size, k, 1 / rate) * _shown(size, k, share, sieve) for k in range(1, most + 1)
    )


@lru_cache(1 << 8)
def _least_seen(share: Share, sieve: Sieve) -> int:
    """Samples from which on that share is missed next to never, of however many shingles."""
    p = share[0] / share[1]
    if p == 1:
        return 1
    samples = 1
    while True:
        needed = sieve.needed_of(share, samples)
        if sum(_binomial(samples, count, p) for count in range(needed)) <= _NEVER:
            return samples
        samples += 1


@lru_cache(1 << 8)
def _lowest(share: Share, sieve: Sieve) -> Share:
    """The least share of samples that goes through, of any number of them."""
    p = share[0] / share[1]
    # Where one sample is enough, the more there are the smaller a share it is; then it rises.
    most = 2 + ceil(4 * sieve.slack**2 * (1 - p) / p + 4 / p)
    samples = np.arange(1, most)
    needed = sieve.needed(share, samples)
    at = int(np.argmin(needed / samples))
    return min((int(needed[at]), int(samples[at])), share, key=lambda each: each[0] / each[1])


def lower_tail(population: int, marked: int, drawn: int, least: int) -> float:
    """How often fewer than `least` of `drawn` are marked, if `marked` of the population are."""
    others = population - marked
    count, first = min(least - 1, drawn, marked), max(0, drawn - others)
    if count < first:
        return 0.0 if least <= first else 1.0
    log_chance = (
        _log_choose(marked, count)
        + _log_choose(others, drawn - count)
        - _log_choose(population, drawn)
    )
    term = total = exp(log_chance)
    if count > drawn * marked / population:  # the rest is smaller
        return min(1.0, 1.0 - _upper_tail(population, marked, drawn, count + 1))
    while count > first and term > total * _NOTHING:
        term *= count * (others - drawn + count) / ((marked - count + 1) * (drawn - count + 1))
        total += term
        count -= 1
    return min(1.0, total)


def _upper_tail(population: int, marked: int, drawn: int, count: int) -> float:
    """How often at least `count` are: those that are not marked are few."""
    return lower_tail(population, population - marked, drawn, drawn - count + 1)


def _binomial(trials: int, count: int, p: float) -> float:
    """How often exactly so many come true."""
    return exp(_log_choose(trials, count) + count * log(p) + (trials - count) * log1p(-p))


def _log_choose(n: int, k: int) -> float:
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)
