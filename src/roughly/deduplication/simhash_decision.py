"""Who goes, who stays, and why, where the distance of simhashes decides.

    keep order -> equivalent documents -> the nearest that stays -> evidence

No pair is ever stored: each document asks those that stay for the nearest, so that masses of alike
documents cost no more than others. Documents without a simhash go only if they are equivalent to
one that stays. What is said of resemblance is the sketches' estimate, as evidence.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from roughly import _core
from roughly.clustering.sketching import Progress, no_progress
from roughly.condition import SIMHASH_BITS
from roughly.deduplication.against import taking_part
from roughly.deduplication.equivalence import Groups, confirm, find_groups
from roughly.deduplication.removal import IDENTICAL, LEXICAL, NEAR, Decision, make_removals
from roughly.hamming.cost import memory_blocks

if TYPE_CHECKING:
    from roughly.condition import Attributes
    from roughly.deduplication.pool import Pool
    from roughly.deduplication.rule import Rule

Rows = npt.NDArray[np.int64]
Places = npt.NDArray[np.int64]  # in keep order
Shares = npt.NDArray[np.float64]

# Documents that are decided, and pairs that are measured, between two signs of life.
_STEP = 1 << 16
_NONE = -1


def decide_by_simhash(
    pool: Pool, rule: Rule, threads: int, progress: Progress = no_progress
) -> Decision:
    """Applies the rule to the documents of a pool."""
    order, pinned = taking_part(pool, rule.keep)
    groups, identical = _groups(pool, order, pinned, threads, progress)
    # Equivalent documents ask too: they are decided as if nobody stood for them.
    nearest = _nearest_kept(pool.attributes, order, pinned, progress)
    goes = nearest != _NONE
    kind = np.full(len(order), NEAR)
    follow = ~goes[groups.representatives[groups.of]]
    members = groups.members[follow]
    goes[members] = True
    nearest[members] = groups.representatives[groups.of[follow]]
    kind[members] = np.where(identical[follow], IDENTICAL, LEXICAL)

    places = np.flatnonzero(goes)
    places = places[np.argsort(order[places])]
    removed, kept, kind = order[places], order[nearest[places]], kind[places]
    resemblance, containment = np.ones(len(places)), np.ones(len(places))
    near = np.flatnonzero(kind == NEAR)
    shares = _evidence(pool, kept[near], removed[near], threads)
    resemblance[near], containment[near] = shares
    removals = make_removals(pool, removed, kept, kind, resemblance, containment)
    return Decision.of(removals)


def _groups(
    pool: Pool, order: Rows, pinned: int, threads: int, progress: Progress
) -> tuple[Groups, npt.NDArray[np.bool_]]:
    """Who is equivalent to whom, all confirmed, and of each member whether it is identical."""
    text_bytes = np.asarray(pool.column("bytes")).astype(np.int64)
    apart = np.zeros(0, dtype=np.int64)
    while True:
        groups = find_groups(pool, order, apart, pinned)
        compared = np.concatenate((groups.members, groups.representatives[groups.of]))
        pool.contents.prepare(np.unique(order[compared]))
        advance = progress("confirm", len(groups.members), "documents")
        identical, equivalent = confirm(groups, pool, order, text_bytes, threads, advance)
        if equivalent.all():
            return groups, identical
        apart = np.union1d(apart, groups.members[~equivalent])


def _nearest_kept(attributes: Attributes, order: Rows, pinned: int, progress: Progress) -> Places:
    """Of each place the one that stays, is comparable and has the nearest simhash within the
    distance, of these the first; none if it stays itself, or has no simhash."""
    assert attributes.simhash is not None
    condition = attributes.condition
    ratio = (0, 0) if condition.size_ratio is None else condition.size_ratio.as_integer_ratio()
    nearest = np.full(len(order), _NONE, np.int64)
    advance = progress("simhash", len(order) - pinned, "documents")
    for places in _categories(attributes, order):
        first = int(np.searchsorted(places, pinned))
        values, sizes = attributes.simhash[order[places]], attributes.size[order[places]]
        blocks = _blocks(len(places).bit_length(), condition.distance)
        greedy = _core.HammingGreedy(condition.distance, blocks, len(places), ratio)
        greedy.keep(values[:first], sizes[:first])
        for begin in range(first, len(places), _STEP):
            some = slice(begin, begin + _STEP)
            found, _, _ = greedy.take(values[some], sizes[some])
            has = found != _NONE
            nearest[places[some][has]] = places[found[has]]
            advance(len(found))
    return nearest


def _categories(attributes: Attributes, order: Rows) -> Iterator[Places]:
    """The places of documents with a simhash, ascending, each category's by themselves."""
    assert attributes.has_simhash is not None
    places = np.flatnonzero(attributes.has_simhash[order])
    if attributes.category is None:
        yield places
        return
    category = attributes.category[order[places]]
    by_category = np.argsort(category, kind="stable")
    cuts = np.flatnonzero(np.diff(category[by_category])) + 1
    for begin, end in zip((0, *cuts.tolist()), (*cuts.tolist(), len(places)), strict=True):
        if end - begin > 1:
            yield places[by_category[begin:end]]


@cache
def _blocks(bit_length: int, distance: int) -> int:
    return memory_blocks(1 << bit_length, SIMHASH_BITS, distance)


def _evidence(pool: Pool, kept: Rows, removed: Rows, threads: int) -> tuple[Shares, Shares]:
    """Resemblance of rows, and containment of the removed in the kept ones, by their sketches; NaN
    where these cannot tell."""
    resemblance, containment = np.full(len(kept), np.nan), np.full(len(kept), np.nan)
    if not len(kept):
        return resemblance, containment
    rows = np.unique(np.concatenate((kept, removed)))
    sketches = pool.sketches()
    chosen = sketches.taking_part(rows.astype(np.uint32))
    for begin in range(0, len(kept), _STEP):
        part = slice(begin, begin + _STEP)
        pairs = np.zeros((len(kept[part]), 4), np.uint32)
        pairs[:, 0] = np.searchsorted(rows, kept[part])
        pairs[:, 1] = np.searchsorted(rows, removed[part])
        resemblance[part] = _share(chosen.measure("resemblance", pairs, threads))
        if pool.parameters.selection[0] != "min":
            containment[part] = _share(chosen.measure("contained", pairs, threads))
        sketches.release()
    return resemblance, containment


def _share(measured: npt.NDArray[np.uint32]) -> Shares:
    with np.errstate(invalid="ignore", divide="ignore"):
        share: Shares = np.where(measured[:, 3] > 0, measured[:, 2] / measured[:, 3], np.nan)
    return share
