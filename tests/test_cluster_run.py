"""All phases against a brute-force oracle, on random small collections.

What the phases find is what tests/cluster_oracle.py finds, and does not depend on memory, threads,
batches or the size of a segment's parts.
"""

import tempfile
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any
from unittest.mock import patch

from hypothesis import given, settings
from hypothesis import strategies as st

from roughly import Sketcher, _core
from roughly.clustering import clusters
from roughly.clustering.clusters import Clusters
from roughly.clustering.join import MassRule
from roughly.clustering.outcome import Outcome
from roughly.clustering.run import run_phases
from roughly.clustering.settings import Settings, settings_for
from roughly.clustering.sketching import attributes_of, plain_skipped, read_skipped
from roughly.documents import open_documents
from roughly.storage.segment_writer import SegmentWriter
from roughly.storage.steps import Steps
from tests.cluster_oracle import (
    Document,
    Expected,
    Row,
    collections,
    contained,
    document_order,
    expect,
    share,
)
from tests.test_join import pair_counts

# The bounds of the real rule need hundreds of documents; none at all is a frequency nobody has.
NO_MASSES = MassRule(255, 1, 1)
PLENTY = 1 << 30


@dataclass(frozen=True)
class Way:
    """How a run goes about it; no result depends on this."""

    memory_bytes: int = PLENTY
    threads: int = 1
    batch_rows: int = 1000
    part_rows: int = 1 << 14


ways = st.builds(
    Way,
    st.sampled_from([1, 1 << 10, 1 << 14, PLENTY]),
    st.integers(1, 3),
    st.sampled_from([1, 2, 3, 7, 1000]),
    st.sampled_from([1, 2, 4, 1 << 14]),
)


def run(
    documents: list[Document],
    sketcher: Sketcher,
    wanted: Settings,
    directory: Path,
    way: Way | None = None,
    text: bool = False,
) -> Clusters:
    way = way or Way()
    condition = wanted.condition
    opened = open_documents(documents, content_type="text", category_field=condition.category_field)
    simhasher = condition.simhasher
    with Steps(directory, {"settings": wanted.to_dict()}, durable=False) as steps:
        with SegmentWriter(
            directory / "segments" / "000001",
            sketcher.parameters,
            text=text,
            steps=steps,
            part_rows=way.part_rows,
            attributes=attributes_of(opened, simhasher),
        ) as writer:
            for batch in opened:
                if simhasher is not None:
                    made = simhasher.simhash_documents(batch, way.threads).to_arrow()
                    batch = batch.append_column("simhash", made)
                for begin in range(0, len(batch), way.batch_rows):
                    some = batch.slice(begin, way.batch_rows)
                    writer.add(some, sketcher.sketch_documents(some, way.threads).columns)
            segment = writer.finish([], plain_skipped(opened.skipped))
        outcome = run_phases(
            segment,
            wanted,
            directory,
            steps,
            threads=way.threads,
            memory_bytes=way.memory_bytes,
        )
    skipped = read_skipped(segment.skipped)
    return Clusters(
        segment,
        outcome,
        wanted,
        wanted.threshold,
        wanted.containment,
        "single",
        skipped,
        [],
        way.threads,
    )


def pair_rows(outcome: Outcome, measure: Any) -> list[Row]:
    return sorted(tuple(row) for table in outcome.pairs(measure) for row in table.tolist())


def assert_as_expected(found: Clusters, expected: Expected) -> None:
    outcome = found.outcome
    assert found.ids.to_pylist() == expected.ids
    assert outcome.groups.representative.tolist() == expected.representative
    assert outcome.groups.representatives.tolist() == expected.rows
    kinds = [None, "identical", "lexical", "shingle", "empty"]
    assert [kinds[kind] for kind in outcome.groups.kind.tolist()] == expected.kind
    if len(outcome.hubs):
        hubs = [None if hub == _core.NO_HUB else hub for hub in outcome.hubs.tolist()]
        assert hubs == expected.hubs
    for measure in ("resemblance", "containment"):
        assert pair_rows(outcome, measure) == expected.pairs.get(measure, [])
    assert [tuple(r) for r in outcome.links.tolist()] == expected.links["resemblance"]
    links = [tuple(r) for r in outcome.containment_links.tolist()]
    assert links == expected.links.get("containment", [])
    # At the chosen thresholds masses make no difference.
    assert list(found) == expected.clusters(found.threshold, found.containment)


def assert_marked(found: Clusters, expected: Expected) -> None:
    """Of the pairs by containment those that are there by resemblance too, however many are looked
    for at once."""
    pairs = [{row[:2] for row in rows} for rows in expected.pairs.values()]
    wanted = len(set.intersection(*pairs)) if len(pairs) == 2 else 0
    for most in (1, PLENTY):
        with patch.object(clusters, "_NAMES", most):
            batches = list(found.pair_batches(named=False))
        marked = [batch.filter(batch.column("again")) for batch in batches]
        assert sum(map(len, batches)) == sum(map(len, pairs))
        assert sum(map(len, marked)) == wanted
        assert all(not batch.column("containment").null_count for batch in marked)


def assert_tables(found: Clusters, expected: Expected, documents: list[Document]) -> None:
    """Every column of `documents()` and `clusters()`, single linkage."""
    ordered = document_order(documents)
    sketcher = Sketcher.of(found.segment.parameters)
    sketches = sketcher.sketch_batch([d["text"] for d in ordered], "text")
    strong = [p for p in expected.links["resemblance"] if p[2] >= found.threshold * p[3]]
    if found.containment is not None:
        strong += [p for p in expected.links["containment"] if p[2] >= found.containment * p[3]]
    members = {tuple(names): names[0] for names in found}
    first_of = {name: first for names, first in members.items() for name in names}
    place = {name: number for number, name in enumerate(expected.ids)}
    firsts = sorted({place[first_of.get(name, name)] for name in expected.ids})
    rows = found.documents().to_pylist()
    assert [row["id"] for row in rows] == expected.ids
    smallest: dict[int, float] = {}
    for number, row in enumerate(rows):
        first = place[first_of.get(row["id"], row["id"])]
        own = expected.representative[number]
        same = own == first
        near = 1.0 if same else share(pair_counts(sketches, first, own, "resemblance"))
        kind: str | None = expected.kind[number] if same else "near"
        if found.settings.containment is not None:
            inside = 1.0 if same else contained(sketches, own, first)
            assert row["containment"] == inside
            # As floats: a share that is a third must not pass for less than a third.
            if found.containment is not None and not same and near < float(found.threshold):
                if inside >= float(found.containment):
                    kind = "contained"
                elif contained(sketches, first, own) >= float(found.containment):
                    kind = "contains"
        assert row["date"] == ordered[number]["date"]
        assert row["representative"] == expected.ids[first]
        assert row["cluster"] == firsts.index(first)
        assert (row["kind"], row["resemblance"]) == (kind, near), row
        smallest[first] = min(smallest.get(first, 1.0), near)
    wanted = []
    for names, first_name in members.items():
        first = place[first_name]
        inside_links = [p for p in strong if expected.ids[expected.rows[p[0]]] in names]
        weakest = min((p[2] / p[3] for p in inside_links), default=1.0)
        mass = any(
            hub is not None and expected.ids[row] in names
            for row, hub in zip(expected.rows, expected.hubs, strict=True)
        )
        numbers = len(names), weakest, smallest[first], mass
        wanted.append((firsts.index(first), first_name, *numbers))
    assert [tuple(row.values()) for row in found.clusters().to_pylist()] == wanted


# Every example runs all phases, and a plain oracle beside them.
some = settings(max_examples=min(300, settings.default.max_examples))


shares = st.fractions(Fraction(1, 10), 1, max_denominator=12)
rules = st.one_of(
    st.just(NO_MASSES),
    st.builds(
        MassRule,
        st.integers(2, 4),
        st.integers(1, 3),
        st.integers(1, 3),
        st.sampled_from([0, 0, 1, 2, 32]),
    ),
)


@some
@given(
    collections(),
    st.sampled_from(["all", "mod:2", "mod:3", "min:5", "min:40", "adaptive:4", "adaptive:20"]),
    st.sampled_from([(1, 64), (2, 64), (3, 40)]),
    st.tuples(shares, shares),
    st.one_of(st.none(), st.tuples(shares, shares)),
    rules,
    ways,
)
def test_the_join(
    documents: list[Document],
    select: str,
    w_bits: tuple[int, int],
    of_resemblance: tuple[Fraction, Fraction],
    of_containment: tuple[Fraction, Fraction] | None,
    rule: MassRule,
    way: Way,
) -> None:
    sketcher = Sketcher(w=w_bits[0], bits=w_bits[1], select=select)
    floor, threshold = sorted(of_resemblance)
    of_pairs: tuple[Any, Any] = (None, None)
    if of_containment and not select.startswith("min"):
        of_pairs = (max(of_containment), min(of_containment))
    wanted = settings_for(sketcher.parameters, threshold, floor, *of_pairs)
    wanted = replace(wanted, mass=rule)
    with tempfile.TemporaryDirectory() as directory:
        found = run(documents, sketcher, wanted, Path(directory), way)
        expected = expect(documents, sketcher, wanted)
        assert_as_expected(found, expected)
        assert_marked(found, expected)
        # Any other thresholds are answered from the forests as the pairs would.
        for other in (floor, (floor + threshold) / 2, threshold, Fraction(1)):
            at = found.at(other, of_pairs[0])
            masses = rule != NO_MASSES
            assert list(at) == expected.clusters(other, of_pairs[0], masses)
            assert_tables(at, expected, documents)
        loaded = Outcome.load(Path(directory))
        assert_as_expected(replace(found, outcome=loaded), expected)


@some
@given(
    collections(),
    st.sampled_from(["all", "mod:2", "mod:3"]),
    st.sampled_from([40, 64]),
    st.tuples(shares, shares),
    st.integers(1, 8),
    ways,
)
def test_the_expansion(
    documents: list[Document],
    select: str,
    bits: int,
    of_resemblance: tuple[Fraction, Fraction],
    cut_off: int,
    way: Way,
) -> None:
    sketcher = Sketcher(w=2, bits=bits, select=select)
    floor, threshold = sorted(of_resemblance)
    wanted = Settings(threshold, floor, method="expansion", cut_off=cut_off)
    with tempfile.TemporaryDirectory() as directory:
        found = run(documents, sketcher, wanted, Path(directory), way)
        assert_as_expected(found, expect(documents, sketcher, wanted))


@some
@given(collections(), st.integers(1, 6), st.integers(1, 6), ways)
def test_super_shingles(documents: list[Document], length: int, agreeing: int, way: Way) -> None:
    sketcher = Sketcher(w=2, select="perm:60")
    groups = 60 // length
    agreeing = min(agreeing, groups)
    least = Fraction(agreeing, groups)
    wanted = Settings(least, least, method="super", super_length=length, super_agreeing=agreeing)
    with tempfile.TemporaryDirectory() as directory:
        found = run(documents, sketcher, wanted, Path(directory), way)
        assert_as_expected(found, expect(documents, sketcher, wanted))


@settings(max_examples=20)
@given(collections(), ways, ways)
def test_nothing_depends_on_the_way(documents: list[Document], one: Way, other: Way) -> None:
    sketcher = Sketcher(w=2, select="adaptive:10")
    wanted = settings_for(sketcher.parameters, "0.5", "0.2", "0.8", "0.4")
    wanted = replace(wanted, mass=MassRule(3, 2, 2))
    tables = []
    for way in (one, other):
        with tempfile.TemporaryDirectory() as directory:
            found = run(documents, sketcher, wanted, Path(directory), way)
            pairs = found.pairs().sort_by([(n, "ascending") for n in ("a", "b", "containment")])
            tables.append((found.documents(), found.clusters(), pairs))
    assert tables[0] == tables[1]
