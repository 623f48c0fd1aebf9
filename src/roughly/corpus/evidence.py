"""What pages of one sweep have in common with pages of another, weighed by how rare it is.

A shingle that n pages of a sweep have says little about any of them: it weighs 1/n^2, n being its
number in the sweep where it is more common, and nothing from some dozens on. (By 1/n the menu of a
site of seven pages still weighs a good part of what a page says itself.) So text that a whole site
shares does not make two of its pages alike, and what only one page says tells where that page went.
Weights are summed over sketches; what the sketch of a larger document has left out, is left out of
the smaller one's too.

How common elements are, and who has them, tells a `Counter` (commonness.py). In memory are the
elements of some thousand pages that are looked for, and of their candidates.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from roughly.corpus.commonness import COMMON
from roughly.errors import ParameterError
from roughly.storage.sketch_table import without_words

if TYPE_CHECKING:
    from roughly.corpus.commonness import Counter, Counts
    from roughly.storage.collection import Collection

Rows = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Values = npt.NDArray[np.uint64]
Advance = Callable[[int], None]  # told of every so many pages that were looked at

# Candidates of a page that are looked at closely.
CANDIDATES = 16
# A page shares at least this much with a candidate: less is no evidence under any rule.
_LEAST_SHARE = 0.04
# Lost documents that are looked for at once: what they share decides how much memory it takes.
_AT_ONCE = 1 << 11
# Parts whose sketches are read together.
_PARTS = 8
# Elements that are expanded at once.
_STEP = 1 << 18
# Pairs that are measured before anybody is told.
_TOLD = 1 << 8


def no_advance(pages: int) -> None:
    pass


@dataclass(frozen=True, slots=True)
class Evidence:
    """Pairs of an old and a new document; old and new are positions in the lists asked for."""

    old: Rows
    new: Rows
    common: Floats  # weight of what both have
    old_mass: Floats  # weight of all that the old one has
    new_mass: Floats
    shared: Rows  # sketch elements that both have
    old_kept: Rows  # sketch elements of the old one, at the level of both
    new_kept: Rows
    scale: Floats  # shingles that one element stands for
    identical: npt.NDArray[np.bool_]  # the same canonical form

    def __len__(self) -> int:
        return len(self.old)

    @property
    def columns(self) -> list[Any]:
        """All of them, in their order."""
        return [getattr(self, each.name) for each in fields(self)]

    def only(self, kept: npt.NDArray[np.bool_], position: Rows) -> Evidence:
        """Some of the pairs; `position` says for each old document its new one."""
        old, *columns = (column[kept] for column in self.columns)
        return Evidence(position[old], *columns)

    def turned(self) -> Evidence:
        """The same pairs, the old ones for the new ones and the other way round."""
        order = np.lexsort((self.old, self.new))
        old, new, common, old_mass, new_mass, shared, old_kept, new_kept, *rest = (
            column[order] for column in self.columns
        )
        return Evidence(new, old, common, new_mass, old_mass, shared, new_kept, old_kept, *rest)

    def estimates(self, pair: int) -> tuple[float, float]:
        """The resemblance of a pair, and how much of the old one is in the new one; unweighted."""
        shared, old, new = (int(n[pair]) for n in (self.shared, self.old_kept, self.new_kept))
        return round(shared / max(1, old + new - shared), 4), round(shared / max(1, old), 4)


def gather(
    collection: Collection,
    counter: Counter,
    lost: Rows,
    sought: Rows,
    advance: Advance = no_advance,
) -> Evidence:
    """Evidence of where the documents `lost` (rows, of the old sweep) are among `sought` (rows, of
    the new sweep). The counter tells rare from common, in both sweeps. From sketches that cannot
    tell what share of a page is in another, only copies are found. `advance` is told of every lost
    document once."""
    if collection.parameters.selection[0] in ("min", "perm"):
        advance(len(lost))
        return _copies(collection, lost, sought)
    found = [
        _gather(collection, counter, lost[begin : begin + _AT_ONCE], sought, begin, advance)
        for begin in range(0, max(1, len(lost)), _AT_ONCE)
    ]
    if len(found) == 1:
        return found[0]
    columns = zip(*(each.columns for each in found), strict=True)
    return Evidence(*(np.concatenate(column) for column in columns))


def _gather(
    collection: Collection,
    counter: Counter,
    lost: Rows,
    sought: Rows,
    first: int,
    advance: Advance,
) -> Evidence:
    """Of some of the lost documents, the first of which has that position."""
    old = _shingles_of(collection, lost)
    elements = _distinct(old[0])
    place = _places(len(collection), sought)
    counts, hits, holders = counter.count(elements, place)
    weights = _weights(counts)
    rare = counts.max(axis=0)[hits] <= COMMON
    pairs = _propose(old, elements, weights, hits[rare], holders[rare], len(sought))
    canonical = collection.hashes("canonical")
    copies = _identical(canonical, collection.tokens, lost, sought)
    pairs = np.unique(np.concatenate([pairs, copies]), axis=0)
    some, inverse = np.unique(pairs[:, 1], return_inverse=True)
    new = _shingles_of(collection, sought[some])
    new_elements = _distinct(new[0])
    new_weights = _weights(counter.count(new_elements)[0])
    measured = _measure(
        (*old, weights[np.searchsorted(elements, old[0])], collection.level[lost]),
        (*new, new_weights[np.searchsorted(new_elements, new[0])], collection.level[sought[some]]),
        np.column_stack([pairs[:, 0], inverse.reshape(-1)]),
        _spread(advance, len(lost), len(pairs)),
    )
    same = (canonical[lost[pairs[:, 0]]] == canonical[sought[pairs[:, 1]]]).all(axis=1)
    return Evidence(first + pairs[:, 0], pairs[:, 1], *measured, same)


def _copies(collection: Collection, lost: Rows, sought: Rows) -> Evidence:
    """Pairs of the same canonical form, and nothing else."""
    canonical = collection.hashes("canonical")
    pairs = _identical(canonical, collection.tokens, lost, sought)
    weight, count = np.ones(len(pairs)), np.ones(len(pairs), np.int64)
    same = np.ones(len(pairs), bool)
    old, new = pairs[:, 0], pairs[:, 1]
    return Evidence(old, new, weight, weight, weight, count, count, count, weight, same)


def refuse_minima(collection: Collection) -> None:
    """Raises for sketches of which no share can be told."""
    select = collection.parameters.select
    if collection.parameters.selection[0] in ("min", "perm"):
        raise ParameterError(
            f"select: {select} sketches cannot tell what part of a page is in another:"
            " wanted all, mod:M or adaptive:T",
            hint="make the corpus with --select adaptive:200",
        )


def sketches_of(collection: Collection, rows: Rows) -> tuple[Values, Rows]:
    """The sketches of some rows: their elements, and where each begins in them."""
    order = np.argsort(rows, kind="stable")
    values, lengths = [np.zeros(0, np.uint64)], [np.zeros(0, np.int64)]
    # Some parts at a time, so that their files do not stay in memory.
    group = rows[order] // (collection.part_rows * _PARTS)
    for some in np.split(rows[order], np.flatnonzero(np.diff(group)) + 1):
        own, offsets = collection.sketch_elements(some)
        collection.release()
        values.append(own)
        lengths.append(np.diff(offsets))
    found, length = np.concatenate(values), np.concatenate(lengths)
    if not (np.diff(order) > 0).all():
        # From the order of rows to that which was asked for.
        begins = (np.cumsum(length) - length)[np.argsort(order)]
        length = length[np.argsort(order)]
        ends = np.cumsum(length)
        found = found[np.arange(len(found)) + np.repeat(begins - (ends - length), length)]
    return found, np.concatenate(([0], np.cumsum(length)))


def _shingles_of(collection: Collection, rows: Rows) -> tuple[Values, Rows]:
    """The same without the words of short documents: a page is known again by what is rare."""
    found = sketches_of(collection, rows)
    return without_words(*found) if collection.parameters.words else found


def _distinct(values: Values) -> Values:
    """Each once, ascending. (NumPy's own way takes ten times as long.)"""
    ordered = np.sort(values)
    is_first = np.ones(len(ordered), bool)
    is_first[1:] = ordered[1:] != ordered[:-1]
    return ordered[is_first]


def _places(length: int, rows: Rows) -> Rows:
    """Of every row its position in `rows`, or -1."""
    place = np.full(length, -1, np.int64)
    place[rows] = np.arange(len(rows))
    return place


def _weights(counts: Counts) -> Floats:
    common = counts.max(axis=0)
    weights: Floats = np.where(common <= COMMON, 1 / np.maximum(1.0, common) ** 2, 0.0)
    return weights


def _propose(
    old: tuple[Values, Rows],
    elements: Values,
    weights: Floats,
    hits: Counts,
    holders: Counts,
    sought: int,
) -> Rows:
    """Pairs that share something rare: of each old document the few that share most."""
    values, offsets = old
    documents = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    at = np.searchsorted(elements, values)
    order = np.argsort(at, kind="stable")
    at, documents = at[order], documents[order]
    owners = np.bincount(at, minlength=len(elements))
    begins = np.concatenate(([0], np.cumsum(owners)))
    keys: list[Rows] = [np.zeros(0, np.int64)]
    sums: list[Floats] = [np.zeros(0)]
    ends = np.cumsum(owners[hits])
    begin = 0
    while begin < len(hits):
        before = ends[begin - 1] if begin else 0
        end = max(begin + 1, int(np.searchsorted(ends, before + _STEP, "right")))
        many = owners[hits[begin:end]]
        # The k-th owner of the element of each hit.
        nth = np.arange(many.sum()) - np.repeat(np.cumsum(many) - many, many)
        which = np.repeat(hits[begin:end], many)
        key = documents[begins[which] + nth] * sought + np.repeat(holders[begin:end], many)
        unique, inverse = np.unique(key, return_inverse=True)
        keys.append(unique)
        total = np.bincount(inverse.reshape(-1), weights[which], minlength=len(unique))
        sums.append(total.astype(np.float64))
        begin = end
    key, inverse = np.unique(np.concatenate(keys), return_inverse=True)
    if not len(key):
        return np.zeros((0, 2), np.int64)
    common = np.bincount(inverse.reshape(-1), np.concatenate(sums))
    lost, new = np.divmod(key, sought)
    mass = np.bincount(documents, weights[at], minlength=len(offsets) - 1)
    # At the level of both the old one's mass is smaller: half of the share leaves room for that.
    enough = common >= _LEAST_SHARE / 2 * mass[lost]
    lost, new, common = lost[enough], new[enough], common[enough]
    order = np.lexsort((new, -common, lost))
    lost, new = lost[order], new[order]
    rank = np.arange(len(lost)) - np.searchsorted(lost, lost)
    few = rank < CANDIDATES
    return np.column_stack([lost[few], new[few]])


def _identical(
    canonical: npt.NDArray[np.uint64], tokens: npt.NDArray[np.uint32], lost: Rows, sought: Rows
) -> Rows:
    """Pairs of the same canonical form, empty ones left out; of many copies the first few."""
    alike = np.isin(canonical[sought, 0], canonical[lost, 0]) & (tokens[sought] > 0)
    places: dict[bytes, list[int]] = {}
    for position in np.flatnonzero(alike).tolist():
        copies = places.setdefault(canonical[sought[position]].tobytes(), [])
        if len(copies) < CANDIDATES:
            copies.append(position)
    found = [
        (position, other)
        for position, row in enumerate(lost.tolist())
        for other in places.get(canonical[row].tobytes(), ())
    ]
    return np.array(found, np.int64).reshape(-1, 2)


def _measure(
    old: tuple[Values, Rows, Floats, npt.NDArray[np.uint8]],
    new: tuple[Values, Rows, Floats, npt.NDArray[np.uint8]],
    pairs: Rows,
    advance: Advance = no_advance,
) -> tuple[Floats, Floats, Floats, Rows, Rows, Rows, Floats]:
    """Weights and counts of every pair, at the level of both; `advance` is told of pairs, and at
    the end that there are no more."""
    weights = np.zeros((3, len(pairs)))
    counts = np.zeros((3, len(pairs)), np.int64)
    scale = np.ones(len(pairs))
    for number, (one, other) in enumerate(pairs.tolist()):
        level = max(int(old[3][one]), int(new[3][other]))
        a, of_a = _reduced(old, one, level)
        b, of_b = _reduced(new, other, level)
        both = np.isin(a, b, assume_unique=True)
        weights[:, number] = of_a[both].sum(), of_a.sum(), of_b.sum()
        counts[:, number] = np.count_nonzero(both), len(a), len(b)
        scale[number] = 1 << level
        if (number + 1) % _TOLD == 0:
            advance(_TOLD)
    advance(len(pairs) % _TOLD)
    return (*weights, *counts, scale)


def _spread(advance: Advance, pages: int, pairs: int) -> Advance:
    """What is told of pairs tells of pages: of all of them when it has been told of all pairs."""
    seen = told = 0

    def forward(some: int) -> None:
        nonlocal seen, told
        seen += some
        due = pages * seen // pairs if pairs else pages
        advance(due - told)
        told = due

    return forward


def compare_rows(collection: Collection, one: int, other: int) -> tuple[float, float]:
    """Estimates of the resemblance of two rows, and of the containment of the first in the other;
    unweighted."""
    resemblance, containment = compare_pairs(collection, np.array([[one, other]]))[0].tolist()
    return round(resemblance, 4), round(containment, 4)


def compare_pairs(collection: Collection, pairs: Rows, advance: Advance = no_advance) -> Floats:
    """The same of many pairs of rows, one a line."""
    canonical = collection.hashes("canonical")
    found = np.ones((len(pairs), 2))
    differ = np.flatnonzero((canonical[pairs[:, 0]] != canonical[pairs[:, 1]]).any(axis=1))
    advance(len(pairs) - len(differ))
    for begin in range(0, len(differ), _AT_ONCE):
        some = differ[begin : begin + _AT_ONCE]
        rows, positions = np.unique(pairs[some], return_inverse=True)
        values, offsets = _shingles_of(collection, rows)
        sketches = values, offsets, np.ones(len(values)), collection.level[rows]
        counts = _measure(sketches, sketches, positions.reshape(-1, 2), advance)
        shared, old, new = counts[3:6]
        found[some, 0] = shared / np.maximum(1, old + new - shared)
        found[some, 1] = shared / np.maximum(1, old)
    return found


def added_shares(
    collection: Collection, counter: Counter, pages: Sequence[tuple[int, Sequence[int]]]
) -> list[list[float]]:
    """Of old pages and some places of each, rows all: the share of the page, by weight, that is in
    each place and in none of those before it."""
    found: list[list[float]] = []
    for begin in range(0, len(pages), _AT_ONCE):
        some = pages[begin : begin + _AT_ONCE]
        rows = np.array([old for old, _ in some])
        values, offsets = _shingles_of(collection, rows)
        elements = _distinct(values)
        weights = _weights(counter.count(elements)[0])[np.searchsorted(elements, values)]
        old = values, offsets, weights, collection.level[rows]
        for position, (_, places) in enumerate(some):
            found.append(_added(collection, old, position, np.array(places)))
    return found


def _added(
    collection: Collection,
    old: tuple[Values, Rows, Floats, npt.NDArray[np.uint8]],
    position: int,
    places: Rows,
) -> list[float]:
    levels = collection.level[places]
    level = max(int(old[3][position]), int(levels.max()))
    own, weight = _reduced(old, position, level)
    values, offsets = _shingles_of(collection, places)
    new = values, offsets, np.ones(len(values)), levels
    left = weight.copy()
    shares = []
    for place in range(len(places)):
        inside = np.isin(own, _reduced(new, place, level)[0])
        shares.append(float(left[inside].sum() / max(weight.sum(), 1e-9)))
        left[inside] = 0
    return shares


def _reduced(
    sketches: tuple[Values, Rows, Floats, npt.NDArray[np.uint8]], document: int, level: int
) -> tuple[Values, Floats]:
    values, offsets, weights, levels = sketches
    begin, end = offsets[document : document + 2]
    found, weight = values[begin:end], weights[begin:end]
    if level > levels[document]:
        kept = (found & np.uint64((1 << level) - 1)) == 0
        return found[kept], weight[kept]
    return found, weight
