"""All pairs of documents that resemble, or contain, each other at a floor: a prefix-filtered join.

    documents with frequencies -> postings of their rarest elements -> lists, an element each
    -> documents that meet there and may reach the floor -> counted, where their sketches come

No pair is lost: two documents that reach the floor share one of their rarest elements
(src/core/posting.hpp), and there each has enough elements behind it. A list that is too long for a
task is divided into stripes: every two stripes meet under a key of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from roughly import _core
from roughly.clustering.join import Measure
from roughly.clustering.outcome import reaching
from roughly.condition import NO_CONDITION, Condition
from roughly.parameters import Parameters
from roughly.spark.attribute import attributes_in
from roughly.spark.block import MESSAGES, bucket_count, bucket_of, messages, records_of
from roughly.spark.column import (
    MIX,
    UNMIX,
    Numbers,
    byte_column,
    number_column,
    sketch_set,
    word_column,
)
from roughly.spark.counting import Choose, counted_messages, kept_messages, pair_messages
from roughly.spark.frequency import stripes_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from roughly.spark.checkpoint import Checkpoints

NO_TEAM = -1
# An element of a document, for whoever sees to that element. The position is that of the element
# among those of the document, rarest first, above it what the flags say.
_POSTING = np.dtype(
    [("key", "<u8"), ("number", "<i8"), ("team", "<i8"), ("count", "<u4"), ("position", "<u4")]
)
_NATIVE, _ENOUGH, _CROSS, _HIGH = 1 << 28, 1 << 29, 1 << 30, 1 << 31
_POSITION = _NATIVE - 1
# Pairs of one list that are looked at together.
_AT_ONCE = 1 << 20
# Postings that a task gathers before it sends them.
_GATHERED = 1 << 20


@dataclass(frozen=True)
class Level:
    """What the postings of a level depend on."""

    level: int
    smallest_native: int  # the fewest elements of a document of this level
    visited: bool  # whether there are documents of finer levels


@dataclass(frozen=True)
class JoinRule:
    """What a join looks for."""

    parameters: Parameters
    measure: Measure
    floor: Fraction
    least_contained: int = 0
    condition: Condition = NO_CONDITION

    @property
    def ratio(self) -> tuple[int, int]:
        return self.floor.numerator, self.floor.denominator


def measure_of(parameters: Parameters) -> str:
    """By what sketches tell how much documents resemble each other."""
    return "agreement" if parameters.selection[0] == "perm" else "resemblance"


def levels_of(documents: DataFrame) -> list[Level]:
    """The levels of the sketches: a row each comes back to the driver."""
    from pyspark.sql import functions as F

    rows = (
        documents.groupBy("level")
        .agg(F.min(F.when(F.col("kept") > 0, F.col("kept"))).alias("smallest"))
        .collect()
    )
    there = sorted(row["level"] for row in rows)
    return [
        Level(row["level"], row["smallest"], row["level"] > there[0])
        for row in sorted(rows, key=lambda row: int(row["level"]))
        if row["smallest"] is not None
    ]


def joined_pairs(
    documents: DataFrame,
    rule: JoinRule,
    levels: list[Level],
    name: str,
    checkpoints: Checkpoints,
    teams: DataFrame | None = None,
    choose: Choose | None = None,
) -> DataFrame:
    """Every pair that reaches the floor, once, but those of documents of the same team, and of one
    with that whose number its team is. `teams` has number and team (see `teams_of`); who is not
    there has none. `choose` says instead of the floor which pairs are wanted. Who meets is kept as
    a table `name`."""
    from pyspark.sql import functions as F

    if teams is None:
        teamed = documents.withColumn("team", F.lit(NO_TEAM).cast("long"))
    else:
        teamed = documents.join(teams, "number", "left").fillna(NO_TEAM, ["team"])
    make = partial(_make_postings, rule, levels, bucket_count(documents))
    postings = teamed.mapInArrow(make, MESSAGES)
    met = postings.groupBy("receiver").applyInArrow(_meetings(rule), MESSAGES)
    choose = reach(rule.floor) if choose is None else choose
    met, few = kept_messages(met, name, checkpoints)
    return counted_messages(
        met, documents, rule.parameters, rule.measure, choose, condition=rule.condition, few=few
    )


def teams_of(links: DataFrame) -> DataFrame:
    """The teams of hubs, given as links of a hub a and b: a hub is in a team with those that have
    it, unless it has another hub itself."""
    from pyspark.sql import functions as F

    own = links.selectExpr("b as number", "a as team")
    stand = links.select(F.col("a").alias("number")).distinct()
    stand = stand.join(own, "number", "left_anti").selectExpr("number", "number as team")
    return own.unionByName(stand)


def reach(floor: Fraction) -> Choose:
    """Pairs that reach a floor."""
    return partial(_reach, floor)


def _reach(floor: Fraction, table: npt.NDArray[np.uint32], level: Numbers) -> npt.NDArray[np.bool_]:
    chosen: npt.NDArray[np.bool_] = reaching(table, floor) & (table[:, 3] > 0)
    return chosen


def _make_postings(
    rule: JoinRule, levels: list[Level], buckets: int, arrow: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    waiting: list[npt.NDArray[Any]] = []
    for batch in arrow:
        waiting += _postings(rule, levels, batch)
        if sum(map(len, waiting)) > _GATHERED:
            yield from _sent(waiting, buckets)
            waiting = []
    if waiting:
        yield from _sent(waiting, buckets)


def _sent(postings: list[npt.NDArray[Any]], buckets: int) -> Iterator[pa.RecordBatch]:
    every = np.concatenate(postings)
    yield from messages(bucket_of(every["key"], buckets), every).to_batches()


def _postings(
    rule: JoinRule, levels: list[Level], batch: pa.RecordBatch
) -> Iterator[npt.NDArray[Any]]:
    """The postings of some documents, level by level; those of different categories have others."""
    values, offsets = word_column(batch.column("values"))
    if not len(values):
        return
    size, own = number_column(batch, "size"), number_column(batch, "level")
    number, team = number_column(batch, "number"), number_column(batch, "team")
    sketches = sketch_set(rule.parameters, values, offsets, size, own)
    sketches.use_frequencies([byte_column(batch.column("frequencies"))[0]])
    category = None
    if rule.condition.filters:
        category = attributes_in(batch, rule.condition).plain()[0]
    if category is not None:
        sketches.use_condition(category, None, 0, (0, 1))
    long_keys, _ = word_column(batch.column("long_keys"))
    stripes = word_column(batch.column("stripes"))[0].view(np.int64)
    bounds = np.diff(offsets).astype(np.uint32)
    none = np.zeros((0, 8), np.uint64)
    for level in levels:
        counts = np.zeros(len(batch), np.uint32)
        entries, _ = sketches.keyed_postings(
            rule.measure,
            rule.ratio,
            level.level,
            0,
            len(batch),
            level.smallest_native,
            level.visited,
            1,
            counts,
            bounds,
            none,
        )
        if not len(entries):
            continue
        key = np.ascontiguousarray(entries[:, 0])
        row = (entries[:, 1] & np.uint64(0xFFFFFFFF)).astype(np.int64)
        position = (entries[:, 1] >> np.uint64(32)).astype(np.uint32)
        enough = (counts >= rule.least_contained) | (counts == size)
        flags = np.where(own == level.level, _NATIVE, 0) | np.where(enough, _ENOUGH, 0)
        made = np.zeros(len(key), _POSTING)
        made["key"] = key + np.uint64(level.level * int(MIX) % 2**64)
        made["number"], made["team"], made["count"] = number[row], team[row], counts[row]
        made["position"] = np.minimum(position, _POSITION) | flags.astype(np.uint32)[row]
        plain = key if category is None else (key * UNMIX ^ category[row]) * MIX
        of_key = stripes_of(plain, long_keys, stripes)
        long = of_key > 1
        if long.any():
            yield _divided(made[long], of_key[long])
            made = made[~long]
        yield made


def _divided(postings: npt.NDArray[Any], stripes: Numbers) -> npt.NDArray[Any]:
    """Postings of long lists: each for its stripe with every stripe. Two keys that become one by
    chance make documents meet that need not, which does no harm."""
    row = np.repeat(np.arange(len(postings)), stripes)
    other = np.arange(len(row)) - np.repeat(np.cumsum(stripes) - stripes, stripes)
    made, count = postings[row], stripes[row]
    stripe = made["number"] % count
    low, high = np.minimum(stripe, other), np.maximum(stripe, other)
    made["key"] = (made["key"] ^ (low * count + high + 1).astype(np.uint64)) * MIX
    made["key"] ^= made["key"] >> np.uint64(32)
    # In a cell of two stripes only documents of different ones meet.
    flags = np.where(low != high, _CROSS, 0) | np.where(stripe == high, _HIGH, 0)
    made["position"] |= flags.astype(np.uint32)
    return made


def _meetings(rule: JoinRule) -> Callable[[pa.Table], pa.Table]:
    """The documents that meet in the lists of a bucket and may be pairs."""

    def meet(rows: pa.Table) -> pa.Table:
        postings = records_of(rows, _POSTING)
        _, counts, lists = _core.distinct(postings["key"].copy(), 64)
        met = np.flatnonzero(counts[lists] > 1)
        postings = postings[met]
        order = _in_lists(lists[met], postings)
        pairs = [np.zeros((2, 0), np.int64), *_meet(rule, postings[order])]
        a, b = np.concatenate(pairs, axis=1)
        return pair_messages(a, b)

    return meet


def _in_lists(lists: npt.NDArray[np.uint32], postings: npt.NDArray[Any]) -> Numbers:
    """The order in which postings lie in their lists, teams behind those that have none, and those
    of like sizes together in a team."""
    count, team = postings["count"].astype(np.uint64), np.zeros(len(postings), np.uint64)
    teamed = np.flatnonzero(postings["team"] != NO_TEAM)
    teams, places = np.unique(postings["team"][teamed], return_inverse=True)
    team[teamed] = places + 1
    widths = [int(lists.max(initial=0)), len(teams), int(count.max(initial=0))]
    of_list, of_team, of_count = (width.bit_length() for width in widths)
    if of_list + of_team + of_count > 64:
        return np.lexsort((count, team, lists))
    # One number in the place of three is sorted faster.
    code = lists.astype(np.uint64) << np.uint64(of_team) | team
    return np.argsort(code << np.uint64(of_count) | count)


def _meet(rule: JoinRule, postings: npt.NDArray[Any]) -> Iterator[Numbers]:
    """Those of a list that may reach the floor, some pairs of postings at a time."""
    column = {name: postings[name].copy() for name in _POSTING.names or ()}
    index, total = np.arange(len(postings)), len(postings)
    list_end, team_end = _ends([column["key"]]), _ends([column["key"], column["team"]])
    least, most = _partner_sizes(rule, column)
    runs = np.cumsum(np.concatenate(([0], team_end[1:] != team_end[:-1]))[:total])
    size = (runs << 32) | column["count"]
    # Those without a team are compared with each other, up to the largest that may do.
    free = column["team"] == NO_TEAM
    last = np.searchsorted(size, (runs << 32) | most, side="right")
    yield from _between(rule, column, index + 1, np.where(free, last - index - 1, 0))
    # Those of teams with the ones of their list that have none, of the sizes that may do, and with
    # all of the teams behind their own.
    teamed = np.flatnonzero(~free & (least <= most))
    if not len(teamed):
        return
    lists = np.concatenate(([0], np.flatnonzero(list_end[1:] != list_end[:-1]) + 1))
    begin = lists[np.searchsorted(lists, teamed, side="right") - 1]
    run = runs[begin] << 32
    first, partners = team_end.copy(), np.zeros(total, np.int64)
    partners[teamed] = (list_end - team_end)[teamed]
    yield from _between(rule, column, first, partners)
    first[teamed] = np.searchsorted(size, run | least[teamed])
    last = np.searchsorted(size, run | most[teamed], side="right")
    partners[teamed] = np.where(free[begin], last - first[teamed], 0)
    yield from _between(rule, column, first, partners)


def _partner_sizes(rule: JoinRule, column: dict[str, Any]) -> tuple[Numbers, Numbers]:
    """How many elements the smallest and the largest document have that may be a pair with each
    under this element."""
    count = column["count"].astype(np.int64)
    behind = count - (column["position"] & _POSITION)
    floor = float(rule.floor)
    least = floor * count
    if rule.measure == "containment":
        # A smaller one may be in it if its own share is behind the element.
        least = np.zeros(len(count))
        most = np.where(behind >= floor * count - 1e-6, 0xFFFFFFFF, behind / floor)
    elif rule.parameters.selection[0] == "min":
        most = behind / floor
    else:
        most = behind * ((1 + floor) / floor) - count
    smallest: Numbers = np.clip(np.ceil(least - 1e-3), 0, 0xFFFFFFFF).astype(np.int64)
    largest: Numbers = np.clip(most + 1e-3, 0, 0xFFFFFFFF).astype(np.int64)
    return smallest, largest


def _between(
    rule: JoinRule, column: dict[str, Any], first: Numbers, partners: Numbers
) -> Iterator[Numbers]:
    """The hopeful pairs of every posting with some that begin with `first`."""
    index = np.flatnonzero(partners > 0)
    first, partners = first[index], partners[index]
    begin, sums = 0, np.concatenate(([0], np.cumsum(partners)))
    while begin < len(index):
        end = max(begin + 1, int(np.searchsorted(sums, sums[begin] + _AT_ONCE, "right")) - 1)
        some = partners[begin:end]
        x = np.repeat(index[begin:end], some)
        y = np.repeat(first[begin:end], some)
        y += np.arange(len(y)) - np.repeat(np.cumsum(some) - some, some)
        x, y = _hopeful(rule, column, x, y)
        number = column["number"]
        yield np.stack((np.minimum(number[x], number[y]), np.maximum(number[x], number[y])))
        begin = end


def _ends(keys: list[Any]) -> Numbers:
    """Of every row where those with the same keys end."""
    changed = np.any([key[1:] != key[:-1] for key in keys], axis=0)
    begins = np.concatenate(([0], np.flatnonzero(changed) + 1))
    ends = np.append(begins[1:], len(keys[0]))
    return np.repeat(ends, ends - begins) if len(keys[0]) else ends[:0]


def _hopeful(
    rule: JoinRule, column: dict[str, Any], x: Numbers, y: Numbers
) -> tuple[Numbers, Numbers]:
    """The pairs of postings whose documents may be a pair. Bounds are a little generous, for pairs
    are counted in the end."""
    n, m = column["count"][x].astype(np.int64), column["count"][y].astype(np.int64)
    place, flags = column["position"] & _POSITION, column["position"]
    behind = np.minimum(n - place[x], m - place[y])
    floor = float(rule.floor)
    if rule.measure == "containment":
        needed = floor * np.minimum(n, m)
    elif rule.parameters.selection[0] == "min":
        needed = floor * np.maximum(n, m)
    else:
        needed = floor / (1 + floor) * (n + m)
    good = behind >= needed - 1e-6
    x, y, n, m = x[good], y[good], n[good], m[good]
    number, team = column["number"], column["team"]
    one, other = flags[x], flags[y]
    good = (one | other) & _NATIVE != 0
    good &= (team[x] != number[y]) & (team[y] != number[x])
    good &= number[x] != number[y]
    good &= (one & _CROSS == 0) | ((one ^ other) & _HIGH != 0)
    if rule.measure == "containment":
        # The smaller one must say enough; of two equally large ones the later.
        x_probes = (n < m) | ((n == m) & (number[x] > number[y]))
        good &= np.where(x_probes, one, other) & _ENOUGH != 0
    return x[good], y[good]
