"""Masses: hubs and their links, and the pairs inside masses that higher thresholds need.

The rule is that of src/core/mass.hpp and roughly.clustering.mass. A block of documents sends its
first few of every key to whoever sees to that key; the first ones of all, the heads, come back to
all blocks that have it, so a key that all documents have is a few numbers a block. Documents and
heads are counted, unless their signatures tell enough, and the first head that is reached is the
hub. Masses that fit in one task are joined there again, at all higher thresholds, by the local
engine; others rung by rung, dense ones as in roughly.spark.dense.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from roughly import _core
from roughly.clustering import mass as local
from roughly.clustering.comparable import comparable, comparable_hubs
from roughly.clustering.join import Budget, Hubs, Join, MassRule
from roughly.clustering.sketches import PairTable, Rows, Sketches
from roughly.condition import NO_CONDITION, Condition
from roughly.parameters import Parameters
from roughly.spark.attribute import attribute_columns, attributes_in
from roughly.spark.block import (
    MESSAGES,
    bucket_count,
    bucket_of,
    by_block,
    messages,
    records_of,
)
from roughly.spark.column import MIX, Numbers, Values, number_column, word_column
from roughly.spark.counting import (
    PAIRS,
    RANK_BITS,
    Counted,
    counted_messages,
    kept_messages,
    pair_messages,
)
from roughly.spark.dense import Rung, Torn, torn_masses
from roughly.spark.frequency import with_frequencies
from roughly.spark.join import JoinRule, joined_pairs, levels_of, reach, teams_of
from roughly.spark.signature import WORDS, may_resemble

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from roughly.spark.checkpoint import Checkpoints

# Links to hubs and a threshold: those of them that hold.
Check = Callable[["DataFrame", Fraction], "DataFrame"]

# A document that has a key, for whoever sees to that; and a head, for a block that has the key.
_LOOK = [
    ("number", "<i8"),
    ("size", "<i8"),
    ("kept", "<u4"),
    ("upper", "<u4"),
    ("level", "<u8"),
]
_DOCUMENT = np.dtype([*_LOOK, ("signature", "<u8", (WORDS,))])
_HEAD = np.dtype([("key", "<u8"), ("document", _DOCUMENT)])
_FIRST = np.dtype([("key", "<u8"), ("document", _DOCUMENT), ("block", "<i8")])
# What one task may use for the masses, besides their sketches.
_MEMORY_BYTES = 1 << 29


def no_check(links: DataFrame, threshold: Fraction) -> DataFrame:
    """All of them."""
    return links


def find_hubs(
    documents: DataFrame,
    parameters: Parameters,
    threshold: Fraction,
    rule: MassRule,
    name: str,
    checkpoints: Checkpoints,
    condition: Condition = NO_CONDITION,
) -> DataFrame:
    """Links to hubs that are comparable: a (the hub), b, common, sampled. `documents` have
    frequencies and keys by the rule, and what the condition looks at. Who is tried with whom is
    kept as a table `name`."""
    assert rule.keys <= 1 << RANK_BITS
    buckets = bucket_count(documents)
    more = attribute_columns(condition)
    # Without the sketches, which are most of the documents' bytes.
    blocks = by_block(documents.select(*(name for name, _ in _LOOK), "keys", "signature", *more))
    firsts = blocks.applyInArrow(_firsts(rule, condition, buckets), MESSAGES)
    heads = firsts.groupBy("receiver").applyInArrow(_heads(rule), MESSAGES)
    tries = blocks.cogroup(heads.groupBy("receiver")).applyInArrow(
        _tries(parameters, condition, threshold), MESSAGES
    )
    tries, few = kept_messages(tries, name, checkpoints)
    reached = reach(threshold)
    return counted_messages(
        tries, documents, parameters, "resemblance", reached, condition, _best, PAIRS, few
    )


def _keys(
    condition: Condition, block: pa.Table
) -> tuple[Values, npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The keys of a block's documents, in the documents' order: key, row, and its rank. Those of
    different categories have others."""
    keys, begins = word_column(block.column("keys"))
    order = np.argsort(number_column(block, "number"))
    lengths = np.diff(begins)[order]
    rank = np.arange(len(keys)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    row = np.repeat(order, lengths)
    keys = keys[begins[row] + rank]
    if condition.filters:
        attributes = attributes_in(block, condition)
        if attributes.category is not None:
            keys = keys ^ attributes.category[row]
        if attributes.has_simhash is not None:
            # Who has no simhash is comparable with nobody, and no head of others.
            has = attributes.has_simhash[row]
            keys, row, rank = keys[has], row[has], rank[has]
    return keys, row, rank


def _first_few(keys: Values, most: int) -> Numbers:
    """Of every key the places of the first few, key by key."""
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    begins = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1]))[: len(keys)])
    place = np.arange(len(keys)) - np.repeat(begins, np.diff([*begins, len(keys)]))
    found: Numbers = order[place < most]
    return found


def _documents(block: pa.Table) -> npt.NDArray[Any]:
    """What is looked at of a block's documents before their sketches are."""
    found = np.zeros(len(block), _DOCUMENT)
    for name, _ in _LOOK:
        found[name] = number_column(block, name)
    found["signature"] = word_column(block.column("signature"))[0].reshape(-1, WORDS)
    return found


def _firsts(rule: MassRule, condition: Condition, buckets: int) -> Callable[[pa.Table], pa.Table]:
    """The first documents of a block that have each key."""

    def firsts(block: pa.Table) -> pa.Table:
        keys, row, _ = _keys(condition, block)
        few = _first_few(keys, rule.heads)
        sent = np.zeros(len(few), _FIRST)
        sent["key"] = keys[few]
        sent["document"] = _documents(block)[row[few]]
        sent["block"] = block.column("block")[0].as_py()
        return messages(bucket_of(sent["key"] * MIX, buckets), sent)

    return firsts


def _heads(rule: MassRule) -> Callable[[pa.Table], pa.Table]:
    """The first documents of all, sent to every block that has the key."""

    def heads(rows: pa.Table) -> pa.Table:
        came = records_of(rows, _FIRST)
        came = came[np.argsort(came["document"]["number"], kind="stable")]
        first = came[_first_few(came["key"], rule.heads)]
        keys, begins, counts = np.unique(first["key"], return_index=True, return_counts=True)
        key = np.searchsorted(keys, came["key"])
        # Once for every block and key.
        asked = np.unique(np.stack((came["block"], key), axis=1), axis=0)
        count = counts[asked[:, 1]]
        place = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
        chosen = first[np.repeat(begins[asked[:, 1]], count) + place]
        sent = np.zeros(len(chosen), _HEAD)
        sent["key"], sent["document"] = chosen["key"], chosen["document"]
        return messages(np.repeat(asked[:, 0], count), sent)

    return heads


def _tries(
    parameters: Parameters, condition: Condition, threshold: Fraction
) -> Callable[[pa.Table, pa.Table], pa.Table]:
    """Documents of a block with the heads before them whose sizes and signatures allow for the
    threshold."""

    def tries(block: pa.Table, rows: pa.Table) -> pa.Table:
        keys, row, rank = _keys(condition, block)
        heads = records_of(rows, _HEAD)
        heads = heads[np.argsort(heads["key"], kind="stable")]
        begin = np.searchsorted(heads["key"], keys)
        count = np.searchsorted(heads["key"], keys, side="right") - begin
        place = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
        at, row, rank = np.repeat(begin, count) + place, np.repeat(row, count), rank.repeat(count)
        documents, others = _documents(block), heads["document"]
        size, other_size = documents["size"][row], others["size"][at]
        less, more = np.minimum(size, other_size), np.maximum(size, other_size)
        # Sizes are below 2^32, the parts of a ratio too.
        p, q = np.uint64(threshold.numerator), np.uint64(threshold.denominator)
        good = less.astype(np.uint64) * q >= more.astype(np.uint64) * p
        good &= others["number"][at] < documents["number"][row]
        head, document, rank = others[at[good]], documents[row[good]], rank[good]
        good = may_resemble(parameters, threshold, head, document)
        return pair_messages(head["number"][good], document["number"][good], rank[good])

    return tries


def _best(found: Counted) -> dict[str, Numbers]:
    """Of every document the head of the least rank, of these the first."""
    order = np.lexsort((found.a, found.rank, found.b))
    b = found.b[order]
    return found[order[np.concatenate(([True], b[1:] != b[:-1]))[: len(b)]]].columns()


def pairs_inside(
    documents: DataFrame,
    links: DataFrame,
    parameters: Parameters,
    threshold: Fraction,
    rule: MassRule,
    checkpoints: Checkpoints,
    alone: int,
    condition: Condition = NO_CONDITION,
    check: Check = no_check,
) -> Iterator[DataFrame]:
    """The pairs that are left out at the threshold, whose hub links are given, and are needed at
    the rungs above it (roughly.clustering.mass). One task joins up to `alone` elements, unless
    links are to be checked: `check` says which of them hold at a threshold."""
    from pyspark.sql import functions as F

    if links.isEmpty():
        return
    more = attribute_columns(condition)
    plain = documents.select("number", "size", "level", "kept", "values", *more)
    masses = _parts(links.selectExpr("b as number", "a as hub", "a as label"))
    # Links of masses that were dense, which may be found again.
    known: DataFrame | None = None
    for above in local.rungs(threshold):
        name = f"rung-{above.numerator}-{above.denominator}"
        masses = checkpoints.keep(f"{name}-masses", masses)
        members = masses.select(F.explode(F.array("number", "hub")).alias("number")).distinct()
        among = plain.join(members, "number")
        elements = among.agg(F.sum("kept")).head()[0]
        if elements is None:
            return
        if check is no_check and elements <= alone:
            whole = among.join(masses, "number", "left").coalesce(1)
            inside = partial(_inside, parameters, threshold, rule, condition)
            yield checkpoints.keep("masses", _new(whole.mapInArrow(inside, PAIRS), known))
            return
        counted = with_frequencies(among, parameters, rule, more=more)
        inner = checkpoints.keep(f"{name}-documents", counted)
        rung = Rung(inner, parameters, above, condition, name, checkpoints)
        hubs = find_hubs(
            inner, parameters, above, rule, f"{name}-hubs-tried", checkpoints, condition
        )
        inner_links = checkpoints.keep(f"{name}-hubs", check(hubs, above))
        teamed = masses.join(teams_of(inner_links), "number", "left")
        torn = torn_masses(rung, teamed, rule.most_pairs)
        found = _within(_found(rung, inner_links, teamed, torn), masses, torn)
        pairs = checkpoints.keep(f"{name}-pairs", _new(found, known))
        yield pairs.select("a", "b", "common", "sampled")
        if torn.dense is not None:
            of_dense = pairs.where("dense").select("a", "b")
            known = of_dense if known is None else known.unionByName(of_dense)
        masses, threshold = _masses_above(teamed, torn), above


def _parts(masses: DataFrame) -> DataFrame:
    """Masses (number, hub, label) divided by their hubs. A label is the mass's first document."""
    from pyspark.sql import functions as F

    firsts = masses.groupBy("label", "hub").agg(F.min("number").alias("first"))
    return masses.join(firsts, ["label", "hub"]).selectExpr("number", "hub", "first as label")


def _masses_above(teamed: DataFrame, torn: Torn) -> DataFrame:
    """The masses that remain behind a rung: dense ones as they are, of others the parts that have
    hubs there."""
    divided = teamed.where("team <> number").selectExpr("number", "team as hub", "label")
    if torn.dense is None:
        return _parts(divided)
    whole = teamed.join(torn.dense, "label", "left_semi").select("number", "hub", "label")
    return _parts(divided.join(torn.dense, "label", "left_anti")).unionByName(whole)


def _found(rung: Rung, links: DataFrame, teamed: DataFrame, torn: Torn) -> DataFrame:
    """The pairs of a rung: links to its hubs, links of dense masses, and all of others."""
    found = links if torn.links is None else links.unionByName(torn.links)
    if not torn.parted:
        return found
    teams = teams_of(links)
    if torn.dense is not None:
        # Nobody looks for pairs in these.
        own = teamed.join(torn.dense, "label", "left_semi").selectExpr("number", "label as team")
        teams = teams.join(own, "number", "left_anti").unionByName(own)
    rule = JoinRule(rung.parameters, "resemblance", rung.threshold, condition=rung.condition)
    levels, met = levels_of(rung.documents), f"{rung.name}-met"
    joined = joined_pairs(rung.documents, rule, levels, met, rung.checkpoints, teams)
    return found.unionByName(joined)


def _within(pairs: DataFrame, masses: DataFrame, torn: Torn) -> DataFrame:
    """The pairs of two documents of one mass, and whether that is dense; others were found
    before."""
    from pyspark.sql import functions as F

    labels = masses.select("number", "label")
    both = pairs.join(labels.toDF("a", "label"), "a").join(labels.toDF("b", "label_b"), "b")
    own, dense = both.where("label = label_b"), F.lit(False).alias("dense")
    if torn.dense is not None:
        own = own.join(torn.dense.select("label", F.lit(True).alias("is_dense")), "label", "left")
        dense = F.coalesce("is_dense", F.lit(False)).alias("dense")
    return own.select("a", "b", "common", "sampled", dense)


def _new(pairs: DataFrame, known: DataFrame | None) -> DataFrame:
    """Those that are not known."""
    return pairs if known is None else pairs.join(known, ["a", "b"], "left_anti")


def _inside(
    parameters: Parameters,
    threshold: Fraction,
    rule: MassRule,
    condition: Condition,
    arrow: Iterator[pa.RecordBatch],
) -> Iterator[pa.RecordBatch]:
    """All of that by the local engine, of all masses at once: who is in one, with its hub and its
    label."""
    batches = list(arrow)
    if not sum(map(len, batches)):
        return
    table = pa.Table.from_batches(batches)
    values, offsets = word_column(table.column("values"))
    number = number_column(table, "number")
    order = np.argsort(number)
    known = number[order]

    def places(name: str) -> Hubs:
        """Where the documents are that a column names; NO_HUB for none."""
        found = np.full(len(order), _core.NO_HUB, np.uint32)
        column = table.column(name)
        has = column.is_valid().to_numpy()[order]
        found[has] = np.searchsorted(known, column.fill_null(0).to_numpy()[order][has])
        return found

    sketches = Sketches(
        parameters,
        [(values, offsets)],
        1 << max(len(order) - 1, 0).bit_length(),
        number_column(table, "size", np.uint32),
        number_column(table, "level", np.uint8),
    )

    attributes = attributes_in(table, condition) if condition.filters else None
    budget = Budget.of_memory(_MEMORY_BYTES)

    def join_of(rows: Rows) -> Join:
        return Join(sketches, rows, threads=1, budget=budget, attributes=attributes)

    def checked(
        hubs: Hubs, links: PairTable, rows: Rows, threshold: Fraction
    ) -> tuple[Hubs, PairTable]:
        if attributes is None:
            return hubs, links
        return comparable_hubs(attributes, hubs, links, rows)

    rows = order.astype(np.uint32)
    hubs, masses = places("hub"), places("label")
    tables = local.pairs_inside(join_of, rows, hubs, threshold, rule, checked, masses)
    for pairs in tables if attributes is None else comparable(attributes, tables, rows):
        a, b, common, sampled = pairs.astype(np.int64).T
        yield pa.RecordBatch.from_pydict(
            {"a": known[a], "b": known[b], "common": common, "sampled": sampled}
        )
