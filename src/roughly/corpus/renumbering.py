"""Who is who after a change: document order and groups, and what became of the representatives.

Whether two documents are equivalent depends on these two alone, so a group stays together whatever
comes or goes. It may get another representative, one that comes before it, or that is next when it
was removed; and its representative has another number.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from roughly.clustering.equivalence import Groups, equivalents, whole
from roughly.clustering.order import ordered
from roughly.clustering.outcome import Outcome
from roughly.clustering.sketches import PairTable, Rows
from roughly.storage.collection import Collection

Numbers = npt.NDArray[np.int64]

NOBODY = -1


@dataclass(frozen=True)
class Renumbering:
    """Representatives are numbered in document order, before and after."""

    order: Rows  # after
    groups: Groups
    rows: Rows  # of the representatives after
    old_rows: Rows  # of those before
    of_old: Numbers  # the number that each of these has now; NOBODY if its whole group is gone
    fresh: Numbers  # representatives of groups that were not there
    moved: Numbers  # of groups that were, with another representative
    of_row: Numbers  # for every row the number of its group's representative, or NOBODY

    @property
    def keeps_order(self) -> bool:
        """Whether those that were there stand in the same order as before."""
        left = self.of_old[self.of_old != NOBODY]
        return bool((np.diff(left) > 0).all())

    def pairs(self, pairs: PairTable, left_out: npt.NDArray[np.bool_]) -> PairTable:
        """Pairs by their new numbers, without those of somebody who is gone or left out."""
        a, b, found = self._left(pairs)
        stays = ~left_out[a] & ~left_out[b]
        found = found[stays]
        found[:, 0] = np.minimum(a, b)[stays]
        found[:, 1] = np.maximum(a, b)[stays]
        return found

    def hub_links(self, pairs: PairTable, left_out: npt.NDArray[np.bool_]) -> PairTable:
        """Links of hubs to their documents likewise; only the document, which comes second, may be
        one that is left out."""
        a, b, found = self._left(pairs)
        stays = ~left_out[b]
        found = found[stays]
        found[:, 0], found[:, 1] = a[stays], b[stays]
        return found

    def _left(self, pairs: PairTable) -> tuple[Numbers, Numbers, PairTable]:
        """The pairs of which nobody is gone, and their new numbers."""
        a, b = self.of_old[pairs[:, 0]], self.of_old[pairs[:, 1]]
        there = (a != NOBODY) & (b != NOBODY)
        return a[there], b[there], pairs[there]


def renumbered(before: Outcome, after: Collection, by_sketch: bool) -> Renumbering:
    """What became of those before, among the documents that are there now."""
    order = merged_order(before.order, after)
    groups = _updated_groups(before, order, after, by_sketch)
    rows = order[groups.representatives]
    old_rows = before.order[before.groups.representatives]
    # The number of every row's group, after.
    numbers = np.full(len(order), NOBODY, np.int64)
    numbers[groups.representatives] = np.arange(len(rows))
    of_row = np.full(len(after), NOBODY, np.int64)
    of_row[order] = numbers[groups.representative]
    # Any member that is left tells where its group is now; the last one written is the first.
    old_numbers = np.full(len(before.order), NOBODY, np.int64)
    old_numbers[before.groups.representatives] = np.arange(len(old_rows))
    left = np.flatnonzero(after.live[before.order])[::-1]
    of_old = np.full(len(old_rows), NOBODY, np.int64)
    of_old[old_numbers[before.groups.representative[left]]] = of_row[before.order[left]]
    there = np.flatnonzero(of_old != NOBODY)
    is_fresh = np.ones(len(rows), bool)
    is_fresh[of_old[there]] = False
    other = rows[of_old[there]] != old_rows[there]
    moved = np.sort(of_old[there[other]])
    fresh = np.flatnonzero(is_fresh)
    return Renumbering(order, groups, rows, old_rows, of_old, fresh, moved, of_row)


def _updated_groups(before: Outcome, order: Rows, after: Collection, by_sketch: bool) -> Groups:
    """The groups after a change. Only those are made anew that somebody new may belong to, or whose
    representative is gone."""
    place = np.full(len(after), NOBODY, np.int64)
    place[order] = np.arange(len(order))
    live = after.live[before.order]
    is_new = np.ones(len(order), bool)
    is_new[place[before.order[live]]] = False
    new_rows = order[is_new].astype(np.int64)
    again = ~live[before.groups.representative]
    if len(new_rows):
        alike = np.zeros(len(after), bool)
        for name in ("canonical", "sketch_hash"):
            wanted = after.arrays((name,), new_rows)[0][:, 0]
            alike[after.rows_hashed(name, wanted)] = True
        touched = np.zeros(len(before.order), bool)
        touched[before.groups.representative[alike[before.order]]] = True
        again |= touched[before.groups.representative]
    # What stays: every document of an untouched group, and its kind.
    representative = np.zeros(len(order), np.uint32)
    kind = np.zeros(len(order), np.uint8)
    kept = np.flatnonzero(live & ~again)
    to = place[before.order[kept]]
    representative[to] = place[before.order[before.groups.representative[kept]]]
    kind[to] = before.groups.kind[kept]
    concerned = is_new.copy()
    concerned[place[before.order[live & again]]] = True
    positions = np.flatnonzero(concerned)
    some = order[positions].astype(np.int64)
    made = equivalents(
        whole(lambda: after.arrays(("content",), some)[0]),
        whole(lambda: after.arrays(("canonical",), some)[0]),
        whole(lambda: after.arrays(("sketch_hash",), some)[0]),
        after.size[some],
        after.kept[some],
        by_sketch=by_sketch,
    )
    representative[positions] = positions[made.representative]
    kind[positions] = made.kind
    return Groups(representative, kind)


def merged_order(old: Rows, after: Collection) -> Rows:
    """Document order after a change, from that before it: only who is new is sorted."""
    live = after.live
    kept = old[live[old]]
    new = live.copy()
    new[old] = False
    rows = np.flatnonzero(new)
    if not len(rows):
        return kept
    ids, dates = after.take("id", rows), pc.fill_null(after.take("date", rows), "")
    inside = ordered(pa.chunked_array([ids]), pa.chunked_array([after.take("date", rows)]))
    rows, ids, dates = rows[inside], ids.take(pa.array(inside)), dates.take(pa.array(inside))
    # All at once, the place of each by halving.
    low, high = np.zeros(len(rows), np.int64), np.full(len(rows), len(kept), np.int64)
    if len(kept):
        # Most often everybody is behind the last one.
        behind = _before(after, kept[np.full(1, len(kept) - 1)], ids[:1], dates[:1])[0]
        low[:] = len(kept) if behind else 0
    while len(open_ones := np.flatnonzero(low < high)):
        middle = (low[open_ones] + high[open_ones]) // 2
        some = pa.array(open_ones)
        less = _before(after, kept[middle], ids.take(some), dates.take(some))
        low[open_ones[less]] = middle[less] + 1
        high[open_ones[~less]] = middle[~less]
    merged: Rows = np.insert(kept, low, rows.astype(np.uint32))
    return merged


def _before(after: Collection, rows: Rows, ids: pa.Array, dates: pa.Array) -> npt.NDArray[np.bool_]:
    """Which rows come before these documents, one by one."""
    own_dates = pc.fill_null(after.take("date", rows.astype(np.int64)), "")
    own_ids = after.take("id", rows.astype(np.int64))
    less = pc.or_(
        pc.less(own_dates, dates), pc.and_(pc.equal(own_dates, dates), pc.less(own_ids, ids))
    )
    return np.asarray(less)
