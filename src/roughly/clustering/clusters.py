"""What clustering found: documents, clusters, pairs, and the forests that give any threshold.

A cluster is a component of the maximum spanning forests at their thresholds (single linkage, as in
the 1997 paper) or a star around its first document, together with the documents that are equivalent
to its members. Nothing here changes.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, wraps
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Any, Concatenate, Generic, Literal, ParamSpec, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from roughly import _core
from roughly.clustering.clock import Phase
from roughly.clustering.comparable import attributes_for
from roughly.clustering.equivalence import KINDS, Groups, Positions
from roughly.clustering.forest import NO_PAIRS
from roughly.clustering.join import Measure
from roughly.clustering.mass import are_inside
from roughly.clustering.outcome import Outcome, reaching
from roughly.clustering.settings import Linkage, Settings, bits_threshold, check_linkage
from roughly.clustering.site import SitePairs, count_by_cluster, same_site, site_number_pieces
from roughly.clustering.sketches import PairTable, steps
from roughly.clustering.star import stars
from roughly.condition import LARGEST_DISTANCE, NO_SIMHASH, SIMHASH_BITS, Attributes
from roughly.errors import ParameterError
from roughly.parameters import check_integer, exact_ratio
from roughly.pipeline import give_back_memory
from roughly.storage.scratch import Scratch
from roughly.verification.column import Columns

if TYPE_CHECKING:
    from roughly.documents.skipped import Skipped
    from roughly.storage.collection import Stored

__all__ = ["KIND_NAMES", "Clusters", "Linkage", "check_linkage"]

Numbers = npt.NDArray[np.int64]
Shares = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
_Names = npt.NDArray[np.uint64]  # of pairs
Scalar = TypeVar("Scalar", np.float64, np.uint8)
Parameters = ParamSpec("Parameters")


# Rows of a table that are made at once.
_STEP = 1 << 16
# Pairs by containment that are looked for among those by resemblance at once, or more with more
# memory, of which a tenth goes to their names: each time all by resemblance are gone through.
_NAMES = 1 << 21

_NEAR, _CONTAINED, _CONTAINS = range(len(KINDS), len(KINDS) + 3)
# By `kind_codes`.
KIND_NAMES = (*KINDS, "near", "contained", "contains")

_DOCUMENTS = (
    ("id", pa.string()),
    ("date", pa.string()),
    ("cluster", pa.int64()),
    ("representative", pa.string()),
    ("kind", pa.string()),
    ("resemblance", pa.float64()),
)
_CLUSTERS = pa.schema(
    [
        ("cluster", pa.int64()),
        ("representative", pa.string()),
        ("size", pa.int64()),
        ("weakest_link", pa.float64()),
        ("smallest_resemblance", pa.float64()),
        ("mass", pa.bool_()),
    ]
)
_PAIRS = pa.schema(
    [
        ("a", pa.string()),
        ("b", pa.string()),
        ("common", pa.int64()),
        ("sampled", pa.int64()),
        ("resemblance", pa.float64()),
        ("containment", pa.float64()),
        ("mass", pa.bool_()),
        ("distance", pa.uint8()),
        ("same_site", pa.bool_()),
    ]
)


def _within_memory(
    batches: Callable[Concatenate[Clusters, Parameters], Iterator[pa.RecordBatch]],
) -> Callable[Concatenate[Clusters, Parameters], Iterator[pa.RecordBatch]]:
    """Keeps to the memory of the clusters, pages of files included, while a table is made."""

    @wraps(batches)
    def limited(
        self: Clusters, /, *args: Parameters.args, **named: Parameters.kwargs
    ) -> Iterator[pa.RecordBatch]:
        with self._limited():
            for batch in batches(self, *args, **named):
                yield batch
                self._release()

    return limited


@dataclass(frozen=True, repr=False, eq=False)
class Clusters:
    """The clusters of a collection at its thresholds."""

    segment: Stored
    outcome: Outcome
    settings: Settings
    threshold: Fraction
    containment: Fraction | None
    linkage: Linkage
    skipped: Skipped  # what could not be read, by reason
    phases: Sequence[Phase]  # what the run took; empty for one of long ago
    threads: int
    owner: object = None  # what keeps the files there
    memory_bytes: int | None = None  # beyond it, pages of files leave memory while tables are made

    def at(
        self,
        threshold: float | str | Fraction | None = None,
        containment: float | str | Fraction | None = None,
        linkage: Linkage | None = None,
        *,
        distance: int | None = None,
    ) -> Clusters:
        """The clusters at other thresholds, from the same forests; not below their floors. What is
        not given stays; the containment "none" leaves containment out. Of those by simhash: at a
        smaller distance; a threshold is then the share of bits that agree."""
        if distance is not None:
            threshold = self._threshold_of(distance, threshold)
        ratio = _above("threshold", self.threshold if threshold is None else threshold, self.floor)
        linkage = self.linkage if linkage is None else linkage
        contained = None if containment == "none" else self.containment
        if containment is not None and containment != "none":
            if self.containment_floor is None:
                raise ParameterError(
                    "containment: was not looked for when these documents were clustered",
                    hint="cluster again with containment",
                )
            contained = _above("containment", containment, self.containment_floor)
        elif contained is not None and linkage == "star":
            raise ParameterError(
                "linkage: no stars by containment: wanted one of the two",
                hint='leave out what these have with the containment "none" (--containment none)',
            )
        check_linkage(linkage, contained, self.settings.exact)
        return replace(self, threshold=ratio, containment=contained, linkage=linkage)

    def _threshold_of(self, distance: int, threshold: object) -> Fraction:
        most = self.settings.condition.distance
        if self.settings.method != "hamming":
            raise ParameterError(
                "distance: fixed when these documents were clustered"
                if self.settings.condition.method == "both"
                else "distance: nothing to apply to: these are no clusters by simhash alone",
                hint="cluster again with the distance that is wanted",
            )
        if threshold is not None:
            raise ParameterError("distance: cannot stand beside a threshold: wanted one of the two")
        if check_integer("distance", distance, 0, LARGEST_DISTANCE) > most:
            raise ParameterError(
                f"distance: above that of the clustering: {distance}, wanted {most} or less",
                hint="cluster again with a larger distance",
            )
        return bits_threshold(distance)

    @property
    def distance(self) -> int | None:
        """Bits in which simhashes may differ; None if they play no part."""
        condition = self.settings.condition
        if self.settings.method == "hamming":
            return int((1 - self.threshold) * SIMHASH_BITS)
        return condition.distance if condition.method == "both" else None

    @property
    def floor(self) -> Fraction:
        return self.settings.floor

    @property
    def containment_floor(self) -> Fraction | None:
        return self.settings.containment_floor

    @property
    def ids(self) -> pa.Array:
        """Of all documents, in document order."""
        return self._names(np.arange(len(self.outcome.order)))

    def __len__(self) -> int:
        """Clusters of two documents or more."""
        return len(self._sizes[0])

    def __iter__(self) -> Iterator[list[str]]:
        """The ids of each cluster of two documents or more, in document order."""
        order = np.argsort(self._first, kind="stable")
        clusters, sizes = self._sizes
        members = order[np.isin(self._first[order], clusters)]
        ends = np.cumsum(sizes)
        # Many clusters at once: looking up their ids one by one would take most of the time.
        last = 0
        while last < len(ends):
            begin = int(ends[last - 1]) if last else 0
            stop = max(int(np.searchsorted(ends, begin + _STEP, "right")), last + 1)
            names = self._names(members[begin : int(ends[stop - 1])]).to_pylist()
            for one, other in pairwise([0, *(ends[last:stop] - begin).tolist()]):
                yield names[one:other]
            last = stop

    def __repr__(self) -> str:
        clusters, sizes = self._sizes
        noun = "cluster" if len(clusters) == 1 else "clusters"
        skipped = f", {self.skipped.count} skipped" if self.skipped.count else ""
        contained = f", containment {float(self.containment)}" if self.containment else ""
        star = " as stars" if self.linkage == "star" else ""
        by = f"at threshold {float(self.threshold)}{contained}{star}, floor {float(self.floor)}"
        if self.settings.method == "hamming":
            by = f"by simhashes within {self.distance} bits{star}"
        elif self.distance is not None:
            by += f", simhashes within {self.distance} bits"
        return (
            f"Clusters({self.segment.documents} documents{skipped}, {len(clusters)} {noun} of"
            f" {int(sizes.sum())} documents {by})"
        )

    def documents(self) -> pa.Table:
        """A row a document, in document order: id, date, cluster (a number, by first document),
        representative (that document's id), kind (how it belongs to it: identical, lexical,
        shingle, empty, near, contained, contains, or null for the representative itself),
        resemblance (estimate, to the representative) and, where sketches tell it, containment (of
        the document in the representative)."""
        return pa.Table.from_batches(self.document_batches(), self.document_schema)

    @_within_memory
    def document_batches(self) -> Iterator[pa.RecordBatch]:
        """The rows of `documents()`, some at a time."""
        groups, firsts = self.outcome.groups, self._firsts
        names = pa.array(KIND_NAMES, pa.string())
        for begin, end in steps(len(groups.kind), _STEP):
            some, positions = slice(begin, end), np.arange(begin, end)
            first, kind = self._first[some], self._kinds(begin, end)
            columns = [
                self._names(positions),
                self._columns.take("date", self.outcome.order[some].astype(np.int64)),
                pa.array(np.searchsorted(firsts, first), pa.int64()),
                self._names(first),
                pa.DictionaryArray.from_arrays(pa.array(kind, mask=first == positions), names).cast(
                    pa.string()
                ),
                pa.array(self._resemblance.of(begin, end), pa.float64()),
            ]
            if self.settings.containment is not None:
                columns.append(pa.array(self._containments[0].of(begin, end), pa.float64()))
            yield pa.record_batch(columns, schema=self.document_schema)

    @property
    def first(self) -> Numbers:
        """For every document, in document order, the place of the first one of its cluster."""
        return self._first.astype(np.int64)

    @cached_property
    def kind_codes(self) -> npt.NDArray[np.uint8]:
        """For every document, in document order, how it belongs to the first one of its cluster:
        a place in KIND_NAMES. Of that first one itself it means nothing."""
        return self._kinds(0, len(self._first))

    def _kinds(self, begin: int, end: int) -> npt.NDArray[np.uint8]:
        """The same of some of them."""
        some, groups = slice(begin, end), self.outcome.groups
        kind = groups.kind[some].copy()
        near = self._first[some] != groups.representative[some]
        kinds = self._near_kinds
        kind[near] = _NEAR if kinds is None else kinds.of(begin, end)[near]
        return kind

    def links(self) -> tuple[Numbers, Shares]:
        """What holds the clusters together: pairs of documents, as places in document order, and
        the resemblance or containment of each."""
        links = np.concatenate([NO_PAIRS, *self._strong_links()])
        ends = self._representatives[links[:, :2].astype(np.int64)]
        return ends.astype(np.int64), links[:, 2] / np.maximum(links[:, 3], 1)

    def resemblances(self, pairs: Numbers) -> Shares:
        """What sketches say of some pairs of documents, given as places in document order."""
        rows = self._representatives
        ends = np.searchsorted(rows, self.outcome.groups.representative[pairs])
        shares = np.ones(len(ends))
        apart = ends[:, 0] != ends[:, 1]
        asked = np.zeros((int(apart.sum()), 4), np.uint32)
        asked[:, :2] = ends[apart]
        counted = self.measured(asked).astype(np.int64)
        shares[apart] = counted[:, 2] / np.maximum(counted[:, 3], 1)
        return shares

    @property
    def document_schema(self) -> pa.Schema:
        contained = [("containment", pa.float64())] if self.settings.containment else []
        return pa.schema([*_DOCUMENTS, *contained])

    def clusters(self) -> pa.Table:
        """A row a cluster of two documents or more, see `cluster_batches`."""
        return pa.Table.from_batches(self.cluster_batches(), _CLUSTERS)

    @_within_memory
    def cluster_batches(self) -> Iterator[pa.RecordBatch]:
        """A row a cluster of two documents or more: cluster, representative, size, weakest_link
        (the lightest link that holds it together), smallest_resemblance (of a member to the
        representative, estimated), mass (whether it holds documents of a mass, whose links are
        lower bounds between the thresholds at which clusters are exact)."""
        for begin in range(0, len(self), _STEP):
            yield self._cluster_rows(np.arange(begin, min(begin + _STEP, len(self))))

    def largest(self, most: int) -> pa.Table:
        """The rows of `clusters()` of the largest ones: largest first, then by first document."""
        with self._limited():
            order = np.argsort(-self.sizes(), kind="stable")
            return pa.Table.from_batches([self._cluster_rows(order[:most])])

    def _cluster_rows(self, numbers: Numbers) -> pa.RecordBatch:
        """The rows of some clusters of two documents or more, given as places among these."""
        clusters, sizes = self._sizes[0][numbers], self._sizes[1][numbers]
        columns = [
            pa.array(np.searchsorted(self._firsts, clusters), pa.int64()),
            self._names(clusters),
            pa.array(sizes, pa.int64()),
            *(pa.array(values[numbers]) for values in self._weakest),
        ]
        return pa.record_batch(columns, schema=_CLUSTERS)

    @cached_property
    def _weakest(self) -> tuple[Shares, Shares, npt.NDArray[np.bool_]]:
        """Weakest link, smallest resemblance, and whether it holds documents of a mass, of each
        cluster of two documents or more."""
        first, representatives = self._first, self._representatives
        clusters = self._sizes[0]
        smallest = np.ones(len(clusters))
        apart = self._resemblance
        np.minimum.at(smallest, np.searchsorted(clusters, first[apart.positions]), apart.values)
        weakest = smallest if self.linkage == "star" else np.ones(len(clusters))
        for links in () if self.linkage == "star" else self._strong_links():
            of_link = np.searchsorted(clusters, first[representatives[links[:, 0]]])
            np.minimum.at(weakest, of_link, links[:, 2] / np.maximum(links[:, 3], 1))
        massive = np.zeros(len(clusters), bool)
        hubs = self.outcome.hubs
        for begin, end in steps(len(hubs), _STEP):
            held = first[representatives[begin:end][hubs[begin:end] != _core.NO_HUB]]
            place = np.searchsorted(clusters, held)
            place = place[place < len(clusters)]
            massive[place[np.isin(clusters[place], held)]] = True
        self._release()
        return weakest, smallest, massive

    def pairs(self) -> pa.Table:
        """All pairs of representatives down to the floors, see `pair_batches`."""
        return pa.Table.from_batches(self.pair_batches(), _PAIRS)

    @_within_memory
    def pair_batches(self, named: bool = True) -> Iterator[pa.RecordBatch]:
        """A row a pair of representatives and measure, down to the floors: a, b, common, sampled,
        resemblance or containment (common / sampled, the estimate by which the pair was found; of
        containment the larger of the two; a pair that was found by both has two rows), mass
        (whether the pair is inside a mass and stands for others, which are left out), distance
        (bits in which their simhashes differ, if they have any), same_site (whether their hosts are
        the same; null unless both ids are URLs). Of pairs by simhash common and sampled are counted
        too, from the sketches. Without names, which take most of the time: no a, b and same_site,
        but again, whether the pair has another row, by resemblance."""
        representatives, hubs = self._representatives, self.outcome.hubs
        for measure, table, again in self._found_pairs(marked=not named):
            a, b, common, sampled = table.astype(np.int64).T
            mass = are_inside(hubs, a, b)
            value = pa.array(common / np.maximum(sampled, 1))
            none = pa.nulls(len(a), pa.float64())
            columns = [
                pa.array(common),
                pa.array(sampled),
                *((value, none) if measure == "resemblance" else (none, value)),
                pa.array(mass),
                self._distances(representatives[a], representatives[b]),
            ]
            if not named:
                yield pa.record_batch([*columns, pa.array(again)], [*_PAIRS.names[2:-1], "again"])
                continue
            names = [self._names(representatives[a]), self._names(representatives[b])]
            sites = same_site(self._sites[a], self._sites[b])
            yield pa.record_batch([*names, *columns, sites], schema=_PAIRS)

    def _found_pairs(self, marked: bool) -> Iterator[tuple[Measure, PairTable, Flags]]:
        """All pairs by their measures, those by resemblance first; of those by containment, if that
        is wanted, which of them came before."""
        by_simhash = self.settings.method == "hamming"
        for table in self.outcome.pairs("resemblance"):
            found = self.measured(table) if by_simhash else table
            yield "resemblance", found, np.zeros(len(table), bool)
        if marked:
            for table, again in self._contained_pairs(self.floor):
                yield "containment", table, again
        else:
            for table in self.outcome.pairs("containment"):
                yield "containment", table, np.zeros(len(table), bool)

    def _contained_pairs(self, least: Fraction) -> Iterator[tuple[PairTable, Flags]]:
        """Pairs by containment, and which of them are there by resemblance too, at `least` or more.
        Neither are in order, and there may be more of both than fit in memory."""
        tables = iter(self.outcome.pairs("containment"))
        at_once = max(_NAMES, (self.memory_bytes or 0) // 256)
        for names, count in _gathered(self.outcome.pairs("containment"), at_once):
            again = np.zeros(len(names), bool)
            for others in self.outcome.pairs("resemblance"):
                # In order they are found faster: fewer of the names are looked at.
                wanted = np.sort(_pair_names(others[reaching(others, least)]))
                place = np.searchsorted(names, wanted)
                there = place < len(names)
                place, wanted = place[there], wanted[there]
                again[place[names[place] == wanted]] = True
            for table in islice(tables, count):
                yield table, again[np.searchsorted(names, _pair_names(table))]

    def measured(self, pairs: PairTable) -> PairTable:
        """What the sketches of pairs have in common."""
        counted = self._set.measure(self._measure, np.ascontiguousarray(pairs), self.threads)
        self.segment.release()
        return counted

    def _distances(self, a: Any, b: Any) -> pa.Array:
        """Of some documents the bits in which simhashes differ; null where there are none."""
        if self._attributes is None or self._attributes.simhash is None:
            return pa.nulls(len(a), pa.uint8())
        bits = self._attributes.distance(self.outcome.order[a], self.outcome.order[b])
        return pa.array(bits, mask=bits == NO_SIMHASH)

    @cached_property
    def site_pairs(self) -> SitePairs:
        """How many pairs that reach the thresholds are of one site, and how many of two."""
        by_cluster = self.site_pairs_by_cluster
        return SitePairs(int(by_cluster[0].sum()), int(by_cluster[1].sum()))

    @cached_property
    def site_pairs_by_cluster(self) -> tuple[Numbers, Numbers]:
        """The same for each cluster of two documents or more: same-site, cross-site."""
        first = self.scratch.take(self._first, self._representatives)
        return count_by_cluster(self._strong_pairs(), self._sites, first, self._sizes[0])

    def _strong_pairs(self) -> Iterator[PairTable]:
        """All pairs that reach a threshold, each once."""
        for table in self.outcome.pairs("resemblance"):
            yield table[reaching(table, self.threshold)]
        if self.containment is not None:
            for table, again in self._contained_pairs(self.threshold):
                yield table[reaching(table, self.containment) & ~again]

    @cached_property
    def _sites(self) -> npt.NDArray[np.int32]:
        """A number for the host of every representative; -1 where its id is no URL."""
        rows = self._representatives
        found: npt.NDArray[np.int32] = self.scratch.zeros(len(rows), np.int32)
        names = (self._names(rows[begin:end]) for begin, end in steps(len(rows), _STEP))
        with self._limited():
            at = 0
            for numbers in site_number_pieces(names):
                found[at : at + len(numbers)] = numbers
                at += len(numbers)
        self._release()
        return found

    @cached_property
    def _attributes(self) -> Attributes | None:
        return attributes_for(self.segment, self.settings)

    @property
    def cluster_schema(self) -> pa.Schema:
        return _CLUSTERS

    @property
    def pair_schema(self) -> pa.Schema:
        return _PAIRS

    def rows_beside(self, row: int) -> Numbers:
        """All rows of the cluster that has a row, in document order; that row itself is one."""
        position = np.flatnonzero(self.outcome.order == row)
        beside = np.isin(self._first, self._first[position])
        return self.outcome.order[beside].astype(np.int64)

    def sizes(self) -> Numbers:
        """Of each cluster of two documents or more, by first document."""
        return self._sizes[1]

    def to_arrow(self) -> pa.Table:
        """The same as `documents()`."""
        return self.documents()

    def to_pandas(self) -> Any:
        """`documents()` as a pandas frame."""
        return self.documents().to_pandas()

    def to_polars(self) -> Any:
        """`documents()` as a polars frame."""
        from importlib import import_module

        try:
            polars = import_module("polars")
        except ModuleNotFoundError as error:
            raise ParameterError(
                "polars: not installed: wanted it for to_polars()", hint="pip install polars"
            ) from error
        return polars.from_arrow(self.documents())

    def _repr_html_(self) -> str:
        from html import escape

        table = self.largest(10)
        head = "".join(f"<th>{name.replace('_', ' ')}</th>" for name in table.column_names)
        rows = "".join(
            "<tr>" + "".join(f"<td>{escape(_shown(v))}</td>" for v in row.values()) + "</tr>"
            for row in table.to_pylist()
        )
        return f"<p>{escape(repr(self))}</p><table><tr>{head}</tr>{rows}</table>"

    @cached_property
    def _columns(self) -> Columns:
        return Columns(self.segment)

    @cached_property
    def scratch(self) -> Scratch:
        """For arrays as long as the documents are many: where the run had its files, if one may
        write there."""
        folder = self.outcome.mapped[0].path.parent if self.outcome.mapped else None
        return Scratch(folder if folder is not None and os.access(folder, os.W_OK) else None)

    @cached_property
    def _representatives(self) -> Positions:
        return self.outcome.groups.representatives_in(self.scratch)

    def _names(self, positions: Any) -> pa.Array:
        """The ids of some documents."""
        return self._columns.take("id", self.outcome.order[positions].astype(np.int64))

    @cached_property
    def _set(self) -> _core.SketchSet:
        """The sketches of the representatives."""
        rows = self.scratch.take(self.outcome.order, self._representatives)
        sketches = self.outcome.sketches(self.segment, self.scratch)
        return sketches.taking_part(rows, scratch=self.scratch)

    def _strong_links(self) -> Iterator[PairTable]:
        """The links of both forests that reach their thresholds, in tables."""
        for links in self.outcome.link_tables("resemblance"):
            yield links[reaching(links, self.threshold)]
        if self.containment is not None:
            for links in self.outcome.link_tables("containment"):
                yield links[reaching(links, self.containment)]

    def _limited(self) -> contextlib.AbstractContextManager[object]:
        """Keeps to the memory, pages of files included, while much is read."""
        if self.memory_bytes is None:
            return contextlib.nullcontext()
        return _core.ResidentLimit(self.memory_bytes)

    @cached_property
    def _first(self) -> Positions:
        """For every document the first one of its cluster."""
        with self._limited():
            return self._find_first()

    def _find_first(self) -> Positions:
        groups, scratch = self.outcome.groups, self.scratch
        rows = self._representatives
        if self.linkage == "star":
            roots = stars(
                self.outcome.sketches(self.segment, scratch),
                self.outcome.order[rows],
                self.outcome,
                self.settings,
                self.threshold,
                self.threads,
                self._attributes,
            )
        else:
            sets = _core.DocumentSets(len(rows))
            for links in self._strong_links():
                sets.add(links)
            roots = sets.first()
            del sets
        of_position = scratch.zeros(len(groups.kind), np.uint32)
        for begin, end in steps(len(rows), _STEP):
            of_position[rows[begin:end]] = rows[roots[begin:end]]
        del roots
        give_back_memory()
        self._release()
        first: Positions = scratch.zeros(len(of_position), np.uint32)
        for begin, end in steps(len(first), _STEP):
            first[begin:end] = of_position[groups.representative[begin:end]]
            _core.release_buffer(first[begin:end])
            _core.release_buffer(groups.representative[begin:end])
        self._release()
        return first

    @cached_property
    def _firsts(self) -> Positions:
        """The first documents of all clusters, those of one document too."""
        return Groups(self._first, self.outcome.groups.kind).representatives_in(self.scratch)

    @cached_property
    def _sizes(self) -> tuple[Numbers, Numbers]:
        """First document and size of each cluster of two or more."""
        counts = self.scratch.zeros(len(self._first), np.uint32)
        for begin, end in steps(len(counts), _STEP):
            np.add.at(counts, self._first[begin:end], np.uint32(1))
        self._release()
        clusters = self.scratch.flatnonzero(counts > 1)
        return clusters, self.scratch.take(counts, clusters, np.int64)

    def _to_first(self, measure: str, swapped: bool = False) -> _Some[np.float64]:
        """common / sampled of documents' representatives and the first ones of their clusters."""
        groups, rows = self.outcome.groups, self._representatives
        positions, shares = [np.zeros(0, np.uint32)], [np.zeros(0)]
        # A step at a time, or all sketches would be in memory at once.
        for begin, end in steps(len(groups.kind)):
            first, own = self._first[begin:end], groups.representative[begin:end]
            apart = np.flatnonzero(first != own)
            if not len(apart):
                continue
            both = first[apart].astype(np.uint64) << np.uint64(32) | own[apart]
            both, back = np.unique(both, return_inverse=True)
            pairs = np.zeros((len(both), 4), np.uint32)
            pairs[:, int(swapped)] = np.searchsorted(rows, (both >> np.uint64(32)).astype("u4"))
            pairs[:, int(not swapped)] = np.searchsorted(rows, both.astype("u4"))
            counted = self._set.measure(measure, pairs, self.threads)
            self._release()
            positions.append((begin + apart).astype(np.uint32))
            shares.append((counted[:, 2] / np.maximum(counted[:, 3], 1))[back])
        scratch = self.scratch
        kept = scratch.copy(np.concatenate(positions)), scratch.copy(np.concatenate(shares))
        self._release()
        return _Some(*kept, np.float64(1))

    @cached_property
    def _resemblance(self) -> _Some[np.float64]:
        """Of every document to the first of its cluster."""
        return self._to_first(self._measure)

    @property
    def _measure(self) -> Literal["agreement", "resemblance"]:
        """By what the sketches tell how much documents resemble each other."""
        perm = self.segment.parameters.selection[0] == "perm"
        return "agreement" if perm else "resemblance"

    @cached_property
    def _containments(self) -> tuple[_Some[np.float64], _Some[np.float64]]:
        """Of every document in the first of its cluster, and of that in it."""
        return self._to_first("contained"), self._to_first("contained", swapped=True)

    @cached_property
    def _near_kinds(self) -> _Some[np.uint8] | None:
        """Of documents that are not equivalent to the first of their cluster how they belong to it;
        None: all are near."""
        if self.containment is None:
            return None
        inside, around = self._containments
        kinds = np.full(len(inside.values), _NEAR, np.uint8)
        far = self._resemblance.values < float(self.threshold)
        kinds[far & (around.values >= float(self.containment))] = _CONTAINS
        kinds[far & (inside.values >= float(self.containment))] = _CONTAINED
        return _Some(inside.positions, kinds, np.uint8(_NEAR))

    def _release(self) -> None:
        """Lets the pages of all mapped files go."""
        self.scratch.release()
        self.segment.release()
        self.outcome.release()


@dataclass(frozen=True, slots=True)
class _Some(Generic[Scalar]):
    """Values of some documents; all others have the same one."""

    positions: Positions  # ascending
    values: npt.NDArray[Scalar]
    other: Scalar

    def of(self, begin: int, end: int) -> npt.NDArray[Scalar]:
        """Those of all documents from one to another."""
        a, b = np.searchsorted(self.positions, [begin, end])
        found = np.full(end - begin, self.other)
        found[self.positions[a:b] - begin] = self.values[a:b]
        return found


def _gathered(tables: Iterable[PairTable], at_once: int) -> Iterator[tuple[_Names, int]]:
    """The names of the pairs of some tables, in order, and of how many tables they are."""
    waiting: list[_Names] = []
    for table in tables:
        waiting.append(_pair_names(table))
        if sum(map(len, waiting)) >= at_once:
            yield np.sort(np.concatenate(waiting)), len(waiting)
            waiting.clear()
    if waiting:
        yield np.sort(np.concatenate(waiting)), len(waiting)


def _pair_names(pairs: PairTable) -> _Names:
    """A number for every pair of documents."""
    return (pairs[:, 0].astype(np.uint64) << np.uint64(32)) | pairs[:, 1]


def _above(name: str, value: float | str | Fraction, floor: Fraction) -> Fraction:
    ratio = exact_ratio(name, value)
    if ratio < floor:
        raise ParameterError(
            f"{name}: below the floor: {float(ratio)}, wanted {float(floor)} or more",
            hint="cluster again with a lower floor",
        )
    return ratio


def _shown(value: Any) -> str:
    return f"{value:.3f}" if isinstance(value, float) else str(value)
