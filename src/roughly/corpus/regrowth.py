"""The forest after a change, from the one before: only what is new, or changed, is looked up.

Pairs depend on their two documents alone, except inside masses; so those that were found stay, by
the new numbers of their documents, and the neighbours of whoever is new, has another hub or another
representative come from the segments' indexes. What results is, row by row, what a clustering of
everything gives by the same frequencies. Where more would have to be looked up than a clustering
costs, nothing is done: `Unbounded` tells so.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from roughly import _core
from roughly.clustering.forest import Forest
from roughly.clustering.frozen import FREQUENT, Frequent, Heads
from roughly.clustering.join import Budget, Hubs, Join, Measure
from roughly.clustering.mass import Check, no_check, pairs_inside
from roughly.clustering.outcome import (
    Outcome,
    reaching,
    read_pairs,
    write_documents,
    write_hubs,
    write_pairs,
)
from roughly.clustering.run import LEAST_CONTAINED
from roughly.clustering.sketches import PairTable, Rows, Sketches
from roughly.corpus.mass_update import MassUpdate, TooManyAgain, measured
from roughly.corpus.probing import TooMany, resembling
from roughly.corpus.renumbering import NOBODY, Numbers, Renumbering, renumbered
from roughly.search.searcher import QueryColumns, Searcher
from roughly.storage.checked import sidecar

if TYPE_CHECKING:
    from roughly.clustering.settings import Settings
    from roughly.corpus.snapshot import Snapshot
    from roughly.storage.collection import Collection
    from roughly.verification.exact import Verifier

# Documents whose neighbours are looked up together, and documents that are probed together.
_AT_ONCE = 1 << 11
_PROBED = 1 << 14
# Pairs that may be found: so many a document, and so many in any case.
_PAIRS_EACH, _PAIRS_ANYHOW = 64, 1 << 20
# Rows of the index that may become candidates, likewise: each is measured. Where common text makes
# them more, rows are counted instead, of which there may be far more; but documents of a mass would
# count all of it, again and again.
_ROWS_EACH, _ROWS_ANYHOW = 1 << 9, 1 << 18
_COUNTED_EACH = 1 << 22
_COUNTED_AT_ONCE = 1 << 7
# Pairs that are read and written together.
_PAIRS_TOGETHER = 1 << 16
# A corpus that has grown by this factor since its frequencies were counted is clustered anew.
_GROWTH = 2

# Files of pairs inside masses, and of links to hubs.
_MASSES = "pairs-masses.arrow"
_HUB_LINKS = ("pairs-hubs.arrow", "pairs-containment-hubs.arrow")


class Unbounded(Exception):
    """The change is too large, or not of a kind, to be made this way."""


@dataclass(frozen=True)
class _Parts:
    """What the forest is made from."""

    before: Snapshot
    after: Collection
    settings: Settings
    folder: Path
    searcher: Searcher
    threads: int
    memory_bytes: int
    verifier: Verifier | None


def frozen_frequencies(before: Snapshot) -> Frequent | None:
    """Those that the corpus was clustered by, if its method has any."""
    has = before.manifest.forest is not None and sidecar(before.forest / FREQUENT).exists()
    return Frequent.load(before.forest) if has else None


def regrow(
    before: Snapshot,
    after: Collection,
    settings: Settings,
    folder: Path,
    searcher: Searcher,
    *,
    threads: int,
    memory_bytes: int,
    verifier: Verifier | None = None,
) -> None:
    """Writes the forest of `after` into a folder, or raises Unbounded."""
    parts = _Parts(before, after, settings, folder, searcher, threads, memory_bytes, verifier)
    frequent = frozen_frequencies(before)
    if frequent is None:
        raise Unbounded
    found = renumbered(before.outcome, after, by_sketch=not settings.exact)
    if len(found.rows) > _GROWTH * max(frequent.documents, 1):
        raise Unbounded
    update = MassUpdate(after, found, frequent, settings.mass, settings.threshold, threads)
    try:
        hubs, again, heads = update.update(before.outcome.hubs, Heads.load(before.forest))
    except TooManyAgain:
        raise Unbounded from None
    if settings.exact:
        hubs = _exact_hubs(parts, found, hubs, again)
    changed = _changed(before.outcome, found, hubs, again)
    write_documents(folder, found.order, found.groups)
    write_hubs(folder, hubs)
    Heads(heads.keys, found.rows[heads.numbers]).write(folder)
    for path in (before.forest / FREQUENT, sidecar(before.forest / FREQUENT)):
        shutil.copyfile(path, folder / path.name)
    inside = _inside_masses(parts, found, hubs)
    forests: dict[Measure, Forest] = {"resemblance": Forest(len(found.rows))}
    if settings.containment is not None:
        forests["containment"] = Forest(len(found.rows))
    # The links are the forest of all pairs that were there, and stay so if every one of these does,
    # in the same order: then only what is new has to be taken in.
    left = found.of_old[found.of_old != NOBODY]
    only_new = len(left) == len(found.of_old) and found.keeps_order
    only_new = only_new and inside is None and not changed[left].any()
    if only_new:
        for measure, forest in forests.items():
            resembling = measure == "resemblance"
            links = before.outcome.links if resembling else before.outcome.containment_links
            forest.add(found.pairs(links, changed))
    _write_pairs(parts, found, hubs, changed, inside, forests, only_new)
    for measure, forest in forests.items():
        write_pairs(folder / f"links-{measure}.arrow", [forest.links()])


def _changed(
    before: Outcome, found: Renumbering, hubs: Hubs, again: Numbers
) -> npt.NDArray[np.bool_]:
    """Whose pairs are looked up anew: who is new, moved, or has another hub."""
    changed = np.zeros(len(found.rows), bool)
    changed[found.fresh] = changed[found.moved] = True
    old_of = np.full(len(found.rows), NOBODY, np.int64)
    there = np.flatnonzero(found.of_old != NOBODY)
    old_of[found.of_old[there]] = there
    some = again[old_of[again] != NOBODY]
    old_hub = before.hubs[old_of[some]]
    had = old_hub != _core.NO_HUB
    now = np.full(len(some), _core.NO_HUB, np.int64)
    now[had] = found.of_old[old_hub[had]]
    changed[some[now != hubs[some]]] = True
    return changed


def _write_pairs(
    parts: _Parts,
    found: Renumbering,
    hubs: Hubs,
    changed: npt.NDArray[np.bool_],
    inside: list[PairTable] | None,
    forests: dict[Measure, Forest],
    only_new: bool,
) -> None:
    """Writes all files of pairs, and has the forests take them in, or only what is new."""
    names: dict[str, Measure] = {path.name: m for m, path in parts.before.outcome.pair_files}
    new = _new_pairs(parts, found, hubs, changed)
    for name in new:
        names.setdefault(name, "containment" if "-containment" in name else "resemblance")

    def tables(name: str, measure: Measure) -> Iterator[PairTable]:
        if name == _MASSES and inside is not None:
            new[name] = inside
        elif sidecar(old := parts.before.forest / name).exists():
            for pairs in _gathered(read_pairs(old)):
                if name == _MASSES:
                    table = found.pairs(pairs, np.zeros(len(changed), bool))
                elif name in _HUB_LINKS:
                    table = found.hub_links(pairs, changed)
                else:
                    table = found.pairs(pairs, changed)
                if not only_new:
                    forests[measure].add(table)
                yield table
        for table in _gathered(new.get(name, [])):
            forests[measure].add(table)
            yield table

    for name, measure in sorted(names.items()):
        write_pairs(parts.folder / name, tables(name, measure))


def _gathered(tables: Iterable[PairTable]) -> Iterator[PairTable]:
    """The same pairs in tables of many: joins leave tables of some dozens, each of which costs as
    much as thousands of pairs do."""
    waiting: list[PairTable] = []
    count = 0
    for table in tables:
        waiting.append(table)
        count += len(table)
        if count >= _PAIRS_TOGETHER:
            yield np.concatenate(waiting)
            waiting, count = [], 0
    if count:
        yield np.concatenate(waiting)


def _new_pairs(
    parts: _Parts, found: Renumbering, hubs: Hubs, changed: npt.NDArray[np.bool_]
) -> dict[str, list[PairTable]]:
    """The pairs of those that changed, by the file they belong to."""
    settings = parts.settings
    files: dict[str, list[PairTable]] = {}
    numbers = np.flatnonzero(changed)
    level = parts.after.level[found.rows]
    limit = _PAIRS_EACH * len(numbers) + _PAIRS_ANYHOW
    by_containment = settings.containment_floor is not None
    search = _neighbours if by_containment else _resembling
    for table, one, two in search(parts, found, numbers):
        limit -= len(table)
        if limit < 0:
            raise Unbounded
        # Of two that changed each finds the other.
        stays = (two != NOBODY) & (one != two) & ~(changed[two] & (two < one))
        stays &= ~_held_together(hubs, one, two)
        table, one, two = table[stays], one[stays], two[stays]
        for measure, pairs in _by_measure(parts, found, table, one, two):
            if settings.exact:
                pairs = _counted(parts, found, measure, pairs)
            for n in np.unique(level[pairs[:, :2]].max(axis=1)) if len(pairs) else ():
                own = pairs[level[pairs[:, :2]].max(axis=1) == n]
                files.setdefault(f"pairs-{measure}-{n:02}.arrow", []).append(own)
    for name, links in _hub_links(parts, found, hubs, numbers):
        files.setdefault(name, []).append(links)
    return files


# common, sampled, and elements of both where they meet, if these are known; who; with whom
_Found = tuple[Numbers, Numbers, Numbers]


def _resembling(parts: _Parts, found: Renumbering, numbers: Numbers) -> Iterator[_Found]:
    """Whoever resembles these representatives at the floor."""
    group_of = np.where(found.of_row == NOBODY, _core.NO_GROUP, found.of_row).astype(np.uint32)
    for begin in range(0, len(numbers), _PROBED):
        some = numbers[begin : begin + _PROBED]
        tables = resembling(
            parts.after,
            found.rows,
            group_of,
            some,
            parts.settings.floor,
            most_rows=_ROWS_EACH * len(some) + _ROWS_ANYHOW,
            threads=parts.threads,
        )
        try:
            for pairs in tables:
                good = pairs[(pairs[:, 3] > 0) & reaching(pairs, parts.settings.floor)]
                wide = good.astype(np.int64)
                yield wide[:, 2:], wide[:, 0], wide[:, 1]
        except TooMany:
            # Nothing of these was given out: all are probed before the first is measured.
            _check_countable(parts, found, some)
            yield from _neighbours(parts, found, some, _COUNTED_AT_ONCE)


def _check_countable(parts: _Parts, found: Renumbering, numbers: Numbers) -> None:
    """Raises if counting the rows that have the elements of these documents takes too long."""
    values, _ = parts.after.sketch_elements(found.rows[numbers].astype(np.int64))
    elements, times = np.unique(values, return_counts=True)
    rows = sum(int(shelf.index.postings(elements) @ times) for shelf in parts.searcher.shelves)
    if rows > _COUNTED_EACH * len(numbers):
        raise Unbounded


def _neighbours(
    parts: _Parts, found: Renumbering, numbers: Numbers, at_once: int = _AT_ONCE
) -> Iterator[_Found]:
    """The same, and whoever contains them or is contained in them."""
    settings, after = parts.settings, parts.after
    is_representative = np.zeros(len(after), bool)
    is_representative[found.rows] = True
    for begin in range(0, len(numbers), at_once):
        some = numbers[begin : begin + at_once]
        rows = found.rows[some].astype(np.int64)
        values, offsets = after.sketch_elements(rows)
        queries = QueryColumns(values, offsets, after.size[rows], after.level[rows])
        table = parts.searcher.neighbours(
            queries,
            settings.floor,
            settings.containment_floor,
            least_contained=0 if settings.exact else LEAST_CONTAINED,
            threads=parts.threads,
        ).astype(np.int64)
        table = table[is_representative[table[:, 1]]]
        yield table[:, 2:], some[table[:, 0]], found.of_row[table[:, 1]]


def _held_together(hubs: Hubs, one: Numbers, two: Numbers) -> npt.NDArray[np.bool_]:
    """Whether a mass stands for their pair: they have the same hub, or one is the other's."""
    a, b = hubs[one], hubs[two]
    held: npt.NDArray[np.bool_] = ((a == b) & (a != _core.NO_HUB)) | (a == two) | (b == one)
    return held


def _by_measure(
    parts: _Parts, found: Renumbering, table: Numbers, one: Numbers, two: Numbers
) -> Iterator[tuple[Measure, PairTable]]:
    """What was found as pairs of either kind, those that reach its floor."""
    settings = parts.settings
    pairs = np.empty((len(table), 4), np.uint32)
    pairs[:, 0], pairs[:, 1] = np.minimum(one, two), np.maximum(one, two)
    pairs[:, 2:] = table[:, :2]
    yield "resemblance", pairs[(pairs[:, 3] > 0) & reaching(pairs, settings.floor)]
    if settings.containment_floor is None:
        return
    of_one, of_two, inside = table[:, 2], table[:, 3], table[:, 4]
    # The one with fewer elements where they meet is held to be contained; of two with as many, the
    # later one. It must have enough of them, or be there whole.
    smaller = np.where(of_one == of_two, np.maximum(one, two), np.where(of_one < of_two, one, two))
    least = 0 if settings.exact else LEAST_CONTAINED
    fewer = np.minimum(of_one, of_two)
    enough = (fewer >= least) | (fewer == parts.after.size[found.rows[smaller]])
    pairs = pairs.copy()
    pairs[:, 2], pairs[:, 3] = inside, fewer
    good = enough & (fewer > 0) & reaching(pairs, settings.containment_floor)
    yield "containment", pairs[good]


def _hub_links(
    parts: _Parts, found: Renumbering, hubs: Hubs, numbers: Numbers
) -> Iterator[tuple[str, PairTable]]:
    """Links of some representatives to their hubs."""
    held = numbers[hubs[numbers] != _core.NO_HUB]
    pairs = np.zeros((len(held), 4), np.uint32)
    pairs[:, 0], pairs[:, 1] = hubs[held], held
    measures: list[tuple[Measure, str, Fraction | None]] = [
        ("resemblance", _HUB_LINKS[0], None),
        ("containment", _HUB_LINKS[1], parts.settings.containment_floor),
    ]
    for measure, name, floor in measures:
        if measure == "containment" and floor is None:
            continue
        links = measured(parts.after, found.rows, measure, pairs, parts.threads)
        if floor is not None:
            links = links[reaching(links, floor)]
        yield name, _counted(parts, found, measure, links) if parts.settings.exact else links


def _inside_masses(parts: _Parts, found: Renumbering, hubs: Hubs) -> list[PairTable] | None:
    """Pairs inside masses at the rungs of the ladder; None if the masses are as they were."""
    before, settings = parts.before.outcome, parts.settings
    old_held = np.flatnonzero(before.hubs != _core.NO_HUB)
    held = np.flatnonzero(hubs != _core.NO_HUB)
    old_members = np.union1d(old_held, before.hubs[old_held])
    # The same sketches in the same order; whether a representative is another one does not matter.
    if (
        np.array_equal(found.of_old[old_members], np.union1d(held, hubs[held]))
        and np.array_equal(found.of_old[old_held], held)
        and np.array_equal(found.of_old[before.hubs[old_held]], hubs[held])
    ):
        return None
    # The sketches of the masses alone, in memory.
    members = np.union1d(held, hubs[held]).astype(np.int64)
    local = np.zeros(len(found.rows), np.uint32)
    local[members] = np.arange(len(members))
    own = found.rows[members].astype(np.int64)
    sketches = Sketches(
        parts.after.parameters,
        [parts.after.sketch_elements(own)] if len(own) else [],
        1 << max(len(own) - 1, 0).bit_length(),
        np.ascontiguousarray(parts.after.size[own]),
        np.ascontiguousarray(parts.after.level[own]),
    )
    check: Check = no_check
    if settings.exact:

        def check(
            inner: Hubs, links: PairTable, rows: Rows, threshold: Fraction
        ) -> tuple[Hubs, PairTable]:
            exact = _count(parts, "resemblance", links, found.rows[members[rows]])
            wrong = ~reaching(exact, threshold)
            inner = inner.copy()
            inner[exact[wrong, 1]] = _core.NO_HUB
            return inner, links[~wrong]

    tables = pairs_inside(
        lambda some: Join(
            sketches,
            some,
            threads=parts.threads,
            budget=Budget.of_memory(parts.memory_bytes),
            scratch=parts.folder,
        ),
        local,
        hubs,
        settings.threshold,
        settings.mass,
        check,
    )
    if not settings.exact:
        return list(tables)
    return [_counted(parts, found, "resemblance", table) for table in tables]


def _exact_hubs(parts: _Parts, found: Renumbering, hubs: Hubs, again: Numbers) -> Hubs:
    """Only hubs that documents resemble in truth."""
    held = again[hubs[again] != _core.NO_HUB]
    pairs = np.zeros((len(held), 4), np.uint32)
    pairs[:, 0], pairs[:, 1] = hubs[held], held
    exact = _count(parts, "resemblance", pairs, found.rows)
    hubs = hubs.copy()
    hubs[held[~reaching(exact, parts.settings.threshold)]] = _core.NO_HUB
    return hubs


def _counted(parts: _Parts, found: Renumbering, measure: Measure, pairs: PairTable) -> PairTable:
    """Pairs counted exactly, those that still reach the floor."""
    exact = _count(parts, measure, pairs, found.rows)
    floor = parts.settings.floor
    if measure == "containment" and parts.settings.containment_floor is not None:
        floor = parts.settings.containment_floor
    return exact[reaching(exact, floor)]


def _count(parts: _Parts, measure: Measure, pairs: PairTable, rows: Rows) -> PairTable:
    assert parts.verifier is not None
    a, b = rows[pairs[:, 0]].astype(np.int64), rows[pairs[:, 1]].astype(np.int64)
    parts.verifier.prepare(np.unique(np.concatenate((a, b))))
    common, size_a, size_b = parts.verifier.count(a, b, shingles_only=measure == "containment")
    exact = pairs.copy()
    exact[:, 2] = common
    smaller = np.minimum(size_a, size_b)
    exact[:, 3] = smaller if measure == "containment" else size_a + size_b - common
    return exact
