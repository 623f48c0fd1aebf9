"""All pairs of documents that resemble, or contain, each other at a floor: a prefix-filtered join.

    documents with frequencies -> postings of their rarest elements -> lists, an element each
    -> documents that meet there and may reach the floor -> counted, where their sketches come

No pair is lost: two documents that reach the floor share one of their rarest elements
(src/core/posting.hpp), and there each has enough elements behind it. A list that is too long for a
task is divided into stripes: every two stripes meet in a task of their own.
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

from roughly.clustering.join import Measure
from roughly.clustering.outcome import reaching
from roughly.condition import NO_CONDITION, Condition
from roughly.parameters import Parameters
from roughly.spark.attribute import attribute_columns, attributes_in
from roughly.spark.column import byte_column, number_column, one_array, sketch_set, word_column
from roughly.spark.frequency import MIX, UNMIX, stripes_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Numbers = npt.NDArray[np.int64]
# of a table of pairs and the levels at which they meet: which are wanted
Choose = Callable[[npt.NDArray[np.uint32], Numbers], npt.NDArray[np.bool_]]

NO_HUB = -1
PAIRS = "a long, b long, common long, sampled long"
_POSTINGS = (
    "level int, key long, cell long, number long, count int, position int, native boolean,"
    " enough boolean, hub long, team long, cross boolean, side boolean"
)
_MEETINGS = "a long, b long"
# Pairs of one list that are looked at together.
_AT_ONCE = 1 << 20
# Documents whose pairs are counted together.
_BLOCK_BITS = 10
# Postings that are gathered before their lists are gone through.
_GATHERED = 1 << 16


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
    teams: DataFrame | None = None,
    choose: Choose | None = None,
) -> DataFrame:
    """Every pair that reaches the floor, once, but those of documents of the same team and of one
    with its hub. `teams` has number, hub and team, NO_HUB for none (see `hub_teams`); who is not
    there has none. `choose` says instead of the floor which pairs are wanted."""
    from pyspark.sql import functions as F

    if teams is None:
        none = F.lit(NO_HUB).cast("long")
        teamed = documents.withColumn("hub", none).withColumn("team", none)
    else:
        teamed = documents.join(teams, "number", "left").fillna(NO_HUB, ["hub", "team"])
    postings = teamed.mapInArrow(partial(_make_postings, rule, levels), _POSTINGS)
    keys = ["level", "key", "cell"]
    lists = postings.repartition(*keys).sortWithinPartitions(*keys, "team", "count")
    met = lists.mapInArrow(partial(_meetings, rule), _MEETINGS).dropDuplicates(["a", "b"])
    choose = partial(_reach, rule.floor) if choose is None else choose
    return counted(met, documents, rule.parameters, rule.measure, choose, rule.condition)


def hub_teams(hubs: DataFrame) -> DataFrame:
    """The teams of hubs, given as number and hub: a hub is in a team with those that have it,
    unless it has another hub itself."""
    from pyspark.sql import functions as F

    own = hubs.select("number", "hub", F.col("hub").alias("team"))
    stand = hubs.select(F.col("hub").alias("number")).distinct()
    stand = stand.join(own, "number", "left_anti").select(
        "number", F.lit(NO_HUB).cast("long").alias("hub"), F.col("number").alias("team")
    )
    return own.unionByName(stand)


def reach(floor: Fraction) -> Choose:
    """Pairs that reach a floor."""
    return partial(_reach, floor)


def _reach(floor: Fraction, table: npt.NDArray[np.uint32], level: Numbers) -> npt.NDArray[np.bool_]:
    chosen: npt.NDArray[np.bool_] = reaching(table, floor) & (table[:, 3] > 0)
    return chosen


def _make_postings(
    rule: JoinRule, levels: list[Level], arrow: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    for batch in arrow:
        values, offsets = word_column(batch.column("values"))
        if not len(values):
            continue
        size, own = number_column(batch, "size"), number_column(batch, "level")
        sketches = sketch_set(rule.parameters, values, offsets, size, own)
        frequencies, _ = byte_column(batch.column("frequencies"))
        sketches.use_frequencies([np.ascontiguousarray(frequencies)])
        category = None
        if rule.condition.filters:
            category = attributes_in(batch, rule.condition).plain()[0]
        if category is not None:
            # Others hardly ever meet.
            sketches.use_condition(category, None, 0, (0, 1))
        long_keys, _ = word_column(batch.column("long_keys"))
        stripes, _ = word_column(batch.column("stripes"))
        bounds = np.diff(offsets).astype(np.uint32)
        none = np.zeros((0, 8), np.uint64)
        for level in levels:
            counts = np.zeros(len(batch), np.uint32)
            entries, _ = sketches.postings(
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
            documents = (entries[:, 1] & np.uint64(0xFFFFFFFF)).astype(np.int64)
            position = (entries[:, 1] >> np.uint64(32)).astype(np.int64)
            keys = np.ascontiguousarray(entries[:, 0])
            plain = keys
            if category is not None:
                plain = (keys * UNMIX ^ category[documents]) * MIX
            of_key = stripes_of(plain, long_keys, stripes.view(np.int64)).astype(np.int64)
            number = number_column(batch, "number")
            # A posting of a divided list goes to the cells of its stripe with every stripe.
            row = np.repeat(np.arange(len(keys)), of_key)
            other = np.arange(len(row)) - np.repeat(np.cumsum(of_key) - of_key, of_key)
            stripe = number[documents[row]] % of_key[row]
            low, high = np.minimum(stripe, other), np.maximum(stripe, other)
            documents, count = documents[row], counts[documents[row]].astype(np.int64)
            enough = (count >= rule.least_contained) | (count == size[documents])
            yield pa.RecordBatch.from_pydict(
                {
                    "level": np.full(len(row), level.level, np.int32),
                    "key": keys[row].view(np.int64),
                    "cell": low * of_key[row] + high,
                    "number": number[documents],
                    "count": count.astype(np.int32),
                    "position": position[row].astype(np.int32),
                    "native": own[documents] == level.level,
                    "enough": enough,
                    "hub": number_column(batch, "hub")[documents],
                    "team": number_column(batch, "team")[documents],
                    # In a cell of two stripes only documents of different ones meet.
                    "cross": low != high,
                    "side": stripe == high,
                }
            )


class _Lists:
    """Postings in the order of their lists, the lists of some of them complete."""

    def __init__(self, table: pa.Table) -> None:
        batch = table.combine_chunks()
        self.column = {
            name: batch.column(name).to_numpy(zero_copy_only=False) for name in batch.column_names
        }
        keys = [self.column[name] for name in ("level", "key", "cell")]
        self.count = len(keys[0])
        self.begins = np.flatnonzero(_changes(keys))
        self.ends = np.append(self.begins[1:], self.count)
        # Of every posting where its team ends in its list.
        team_begins = np.flatnonzero(_changes([*keys, self.column["team"]]))
        team_ends = np.append(team_begins[1:], self.count)
        self.team_end = np.repeat(team_ends, team_ends - team_begins)
        self.list_end = np.repeat(self.ends, self.ends - self.begins)


def _changes(keys: list[Any]) -> npt.NDArray[np.bool_]:
    """Where a row differs from the one before."""
    changed = np.ones(len(keys[0]), bool)
    changed[1:] = np.any([key[1:] != key[:-1] for key in keys], axis=0)
    return changed


def _meetings(rule: JoinRule, arrow: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    waiting: list[pa.RecordBatch] = []
    rows = 0
    for batch in arrow:
        waiting.append(batch)
        rows += len(batch)
        if rows < _GATHERED:
            continue
        table = pa.Table.from_batches(waiting)
        keys = [table.column(n).to_numpy() for n in ("level", "key", "cell")]
        same = np.logical_and.reduce([key == key[-1] for key in keys])
        complete = rows - int(same.sum())
        if complete:
            yield from _meet(rule, _Lists(table.slice(0, complete)))
        rest = table.slice(complete)
        waiting, rows = rest.to_batches(), len(rest)
    if rows:
        yield from _meet(rule, _Lists(pa.Table.from_batches(waiting)))


def _meet(rule: JoinRule, lists: _Lists) -> Iterator[pa.RecordBatch]:
    """Those of a list that may reach the floor, some pairs of postings at a time."""
    index = np.arange(lists.count)
    teamed = lists.column["team"] != NO_HUB
    first = np.where(teamed, lists.team_end, index + 1)
    partners = lists.list_end - first
    begin, sums = 0, np.concatenate(([0], np.cumsum(partners)))
    while begin < lists.count:
        end = max(begin + 1, int(np.searchsorted(sums, sums[begin] + _AT_ONCE, "right")) - 1)
        some = partners[begin:end]
        total = int(some.sum())
        if total:
            x = np.repeat(index[begin:end], some)
            y = np.repeat(first[begin:end], some)
            y += np.arange(total) - np.repeat(np.cumsum(some) - some, some)
            x, y = _hopeful(rule, lists.column, x, y)
            if len(x):
                number = lists.column["number"]
                a = np.minimum(number[x], number[y])
                b = np.maximum(number[x], number[y])
                order = np.lexsort((b, a))
                a, b = a[order], b[order]
                new = _changes([a, b])
                yield pa.RecordBatch.from_pydict({"a": a[new], "b": b[new]})
        begin = end


def _hopeful(
    rule: JoinRule, column: dict[str, Any], x: Numbers, y: Numbers
) -> tuple[Numbers, Numbers]:
    """The pairs of postings whose documents may be a pair. Bounds are a little generous, for pairs
    are counted in the end."""
    n, m = column["count"][x].astype(np.int64), column["count"][y].astype(np.int64)
    behind = np.minimum(n - column["position"][x], m - column["position"][y])
    floor = float(rule.floor)
    if rule.measure == "containment":
        needed = floor * np.minimum(n, m)
    elif rule.parameters.selection[0] == "min":
        needed = floor * np.maximum(n, m)
    else:
        needed = floor / (1 + floor) * (n + m)
    number, hub, native = column["number"], column["hub"], column["native"]
    good = behind >= needed - 1e-6
    good &= native[x] | native[y]
    good &= (hub[x] != number[y]) & (hub[y] != number[x])
    good &= number[x] != number[y]
    good &= ~column["cross"][x] | (column["side"][x] != column["side"][y])
    if rule.measure == "containment":
        # The smaller one must say enough; of two equally large ones the later.
        x_probes = (n < m) | ((n == m) & (number[x] > number[y]))
        good &= np.where(x_probes, column["enough"][x], column["enough"][y])
    return x[good], y[good]


def counted(
    pairs: DataFrame,
    documents: DataFrame,
    parameters: Parameters,
    measure: str,
    choose: Choose | None = None,
    condition: Condition = NO_CONDITION,
) -> DataFrame:
    """Pairs (a, b and whatever else) counted on their sketches; all that meet a condition, or those
    that are chosen by their counts and the level at which they meet. Pairs whose second documents
    are near are counted together, so that a sketch that many of them need is sent to them once."""
    from pyspark.sql import functions as F

    kept = [name for name in pairs.columns if name not in ("a", "b")]
    block = F.shiftright("b", _BLOCK_BITS)
    # Divided here, for then both uses below are of one shuffle.
    rows = pairs.withColumn("block", block).repartition("block")
    either = F.explode(F.array("a", "b")).alias("number")
    wanted = rows.select(F.col("block").alias("at"), either).distinct()
    more = attribute_columns(condition) if condition.filters else []
    sketches = documents.select("number", "size", "level", "values", *more)
    both = rows.groupBy("block").cogroup(wanted.join(sketches, "number").groupBy("at"))
    fields = [f"{f.name} {f.dataType.simpleString()}" for f in pairs.schema if f.name in kept]
    count = _counting(parameters, measure, choose, kept, condition)
    return both.applyInArrow(count, ", ".join([PAIRS, *fields]))


def _counting(
    parameters: Parameters,
    measure: str,
    choose: Choose | None,
    kept: list[str],
    condition: Condition,
) -> Callable[[pa.Table, pa.Table], pa.Table]:
    """What counts some pairs, given the sketches of all their documents."""

    def count(pairs: pa.Table, sketches: pa.Table) -> pa.Table:
        sketches = sketches.sort_by("number")
        values, offsets = word_column(one_array(sketches.column("values")))
        number, size, level = (number_column(sketches, n) for n in ("number", "size", "level"))
        table = np.zeros((len(pairs), 4), np.uint32)
        for side, name in enumerate("ab"):
            table[:, side] = np.searchsorted(number, number_column(pairs, name))
        if condition.filters:
            met = attributes_in(sketches, condition).comparable(table[:, 0], table[:, 1])
            pairs, table = pairs.filter(pa.array(met)), table[met]
        sets = sketch_set(parameters, values, offsets, size, level)
        table = sets.measure(measure, table, 1)
        good = np.ones(len(pairs), bool)
        if choose is not None:
            good = choose(table, np.maximum(level[table[:, 0]], level[table[:, 1]]))
        chosen = pairs.filter(pa.array(good))
        counts = {"common": table[good, 2], "sampled": table[good, 3]}
        return pa.table(
            {
                "a": chosen.column("a"),
                "b": chosen.column("b"),
                **{name: pa.array(column.astype(np.int64)) for name, column in counts.items()},
                **{name: chosen.column(name) for name in kept},
            }
        )

    return count
