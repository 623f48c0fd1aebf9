"""What a clustering has to tell, as plain data, and how it is gathered from the clusters.

A ClusterReport holds everything its page shows and nothing that grows with the documents but their
numbers: lists are cut here to the first or largest. `gather` looks at the public tables of the
clusters alone; columns it does not know do not disturb it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from roughly.report.cluster_sample import Sample, Texts, sample, stored_texts
from roughly.sketcher import Sketcher

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pyarrow as pa

    from roughly.clustering import Clusters

# Kinds in the order in which a report tells them: from the closest to the loosest.
KINDS = ("identical", "lexical", "shingle", "near", "contained", "contains", "empty")

_LARGEST = 10
_MEMBERS = 10
_SITES = 15
_EXAMPLES = 20
_BIN = 0.02  # of resemblance, as near to it as a whole number of bins allows
# Thresholds of the series: every 1/50, and every 1/20 where one costs more than a moment.
_FINE, _COARSE, _MANY = 50, 20, 200_000


class Phase(NamedTuple):
    """What one phase of a run took."""

    name: str
    wall_seconds: float
    cpu_seconds: float
    bytes_written: int | None = None  # None: not counted
    rows: int | None = None


class Timing(Protocol):
    """A phase as whoever ran it measured it."""

    @property
    def name(self) -> str: ...
    @property
    def wall_seconds(self) -> float: ...
    @property
    def cpu_seconds(self) -> float: ...
    @property
    def bytes_written(self) -> int | None: ...
    @property
    def rows(self) -> int | None: ...


class Bin(NamedTuple):
    """Pairs whose resemblance lies between two values, the higher one excluded unless it is 1."""

    low: float
    high: float
    pairs: int


class Step(NamedTuple):
    """What there is at one threshold."""

    threshold: float
    clusters: int  # of two documents or more
    documents: int  # in these


class Site(NamedTuple):
    """Documents of one site, and how many of them are duplicates of each kind."""

    name: str  # "" for documents whose id names no site
    documents: int
    kinds: Mapping[str, int]

    @property
    def duplicates(self) -> int:
        return sum(self.kinds.values())


class Member(NamedTuple):
    """A document of a cluster."""

    id: str
    kind: str | None  # None for the representative
    resemblance: float  # to the representative, estimated


class LargeCluster(NamedTuple):
    """One of the largest clusters."""

    representative: str
    size: int
    weakest_link: float
    smallest_resemblance: float
    members: Sequence[Member]  # some, in document order
    sample: Sample | None  # None: the texts are not at hand


class CommonShingle(NamedTuple):
    """A shingle that many documents share."""

    text: str
    documents: int


@dataclass(frozen=True, slots=True)
class ClusterReport:
    """Everything `cluster_page.page` shows."""

    title: str
    parameters: Mapping[str, object]  # as they should be read, in this order
    threshold: float
    floor: float
    linkage: str = "single"  # or star
    containment: float | None = None  # its threshold, where containment was looked for
    containment_floor: float | None = None
    documents: int = 0
    bytes: int | None = None  # of all documents; None: not counted
    clusters: int = 0  # of two documents or more
    clustered: int = 0  # documents in these
    identical_clusters: int = 0  # those whose members are all identical
    identical_documents: int = 0  # documents in these
    distinct: int = 0  # documents left when those that resemble each other at 1 are one
    # duplicates: documents that are not their cluster's first, by how they belong to it
    kinds: Mapping[str, int] = field(default_factory=dict)
    sizes: Sequence[tuple[int, int]] = ()  # (size, clusters), ascending
    pairs: int = 0  # found, down to the floors
    pairs_by_containment: int = 0  # of these found by containment, without a resemblance
    pairs_in_masses: int = 0  # of these inside masses, where only the links are listed
    resemblances: Sequence[Bin] = ()
    series: Sequence[Step] = ()  # thresholds ascending
    sites: Sequence[Site] = ()  # those with most duplicates
    all_sites: int = 0
    largest: Sequence[LargeCluster] = ()
    phases: Sequence[Phase] = ()
    skipped: Mapping[str, int] = field(default_factory=dict)  # reason -> documents
    ignored: Mapping[str, int] = field(default_factory=dict)  # what -> how often
    skipped_examples: Sequence[str] = ()
    shingles: Sequence[CommonShingle] = ()  # the commonest


def gather(
    clusters: Clusters,
    timings: Sequence[Timing] | None = None,
    texts: Texts | None = None,
    *,
    title: str = "",
    parameters: Mapping[str, object] | None = None,
    bytes_read: int | None = None,
    shingles: Sequence[CommonShingle] = (),
    sizes_at: Callable[[Fraction], npt.NDArray[np.int64]] | None = None,
) -> ClusterReport:
    """The report of some clusters at their threshold.

    `texts` gives a document's text by its id, or None where it is not at hand; unless given, the
    texts that are stored with the clusters are shown. `sizes_at` gives the sizes of the clusters at
    a threshold, where there is a cheaper way to them than the table of clusters, which is asked for
    10 to 50 times. Times, parameters and bytes are the clusters' own unless given.
    """
    import numpy as np
    import pyarrow.compute as pc

    segment = clusters.segment
    known = segment.parameters
    sketcher = Sketcher(w=known.w, select=known.select, seed=known.seed, bits=known.bits)
    own = {"w": known.w, "select": known.select, "bits": known.bits, "seed": known.seed}
    documents, table = clusters.documents(), clusters.clusters()
    sizes, counts = np.unique(table.column("size").to_numpy(), return_counts=True)
    only_identical = _only_identical(documents)
    series = _series(clusters, len(documents), sizes_at)
    full = series[-1] if clusters.containment is None else _step(clusters.at(1), Fraction(1))
    pairs = _Pairs(clusters.floor)
    for batch in clusters.pair_batches():
        pairs.add(batch)
    sites, all_sites = _sites(documents)
    if bytes_read is None:
        bytes_read = pc.sum(segment.column("bytes")).as_py() or 0
    contained, contained_floor = clusters.containment, clusters.containment_floor
    return ClusterReport(
        title=title,
        parameters=own if parameters is None else dict(parameters),
        linkage=clusters.linkage,
        threshold=float(clusters.threshold),
        floor=float(clusters.floor),
        containment=None if contained is None else float(contained),
        containment_floor=None if contained_floor is None else float(contained_floor),
        documents=len(documents),
        bytes=bytes_read,
        clusters=len(table),
        clustered=int(sizes @ counts),
        identical_clusters=len(only_identical),
        identical_documents=int(only_identical.sum()),
        distinct=len(documents) - full.documents + full.clusters,
        kinds=_kinds(documents.column("kind")),
        sizes=tuple(zip(sizes.tolist(), counts.tolist(), strict=True)),
        pairs=pairs.count,
        pairs_by_containment=pairs.by_containment,
        pairs_in_masses=pairs.in_masses,
        resemblances=pairs.bins(),
        series=series,
        sites=sites,
        all_sites=all_sites,
        largest=_largest(clusters, documents, table, texts or stored_texts(segment), sketcher),
        phases=tuple(map(_phase, clusters.phases if timings is None else timings)),
        skipped=dict(clusters.skipped.reasons.most_common()),
        ignored=dict(clusters.skipped.ignored.most_common()),
        skipped_examples=tuple(map(str, clusters.skipped.first[:_EXAMPLES])),
        shingles=tuple(shingles),
    )


def _phase(timing: Timing) -> Phase:
    # What wrote nothing has no bytes to tell.
    written, rows = timing.bytes_written or None, timing.rows or None
    return Phase(timing.name, timing.wall_seconds, timing.cpu_seconds, written, rows)


def _series(
    clusters: Clusters,
    documents: int,
    sizes_at: Callable[[Fraction], npt.NDArray[np.int64]] | None,
) -> tuple[Step, ...]:
    """From the floor to 1, by round steps; the floor, the threshold and 1 are always among them."""
    # Stars are made anew for each threshold, components are read off the forest.
    costly = documents > _MANY or clusters.linkage == "star"
    parts = _COARSE if costly and sizes_at is None else _FINE
    wanted = {t for t in (Fraction(i, parts) for i in range(1, parts)) if t > clusters.floor}
    wanted |= {Fraction(clusters.floor), Fraction(clusters.threshold), Fraction(1)}
    if sizes_at is not None:
        found = ((threshold, sizes_at(threshold)) for threshold in sorted(wanted))
        return tuple(Step(float(t), len(sizes), int(sizes.sum())) for t, sizes in found)
    return tuple(_step(clusters.at(t, clusters.containment), t) for t in sorted(wanted))


def _step(clusters: Clusters, threshold: Fraction) -> Step:
    sizes = clusters.clusters().column("size").to_numpy()
    return Step(float(threshold), len(sizes), int(sizes.sum()))


def _only_identical(documents: pa.Table) -> npt.NDArray[np.int64]:
    """The sizes of the clusters that hold nothing but identical documents."""
    import numpy as np
    import pyarrow.compute as pc

    numbers = documents.column("cluster").to_numpy()
    other = pc.fill_null(pc.not_equal(_text(documents.column("kind")), "identical"), False)
    sizes = np.bincount(numbers)
    others = np.bincount(numbers[other.to_numpy(zero_copy_only=False)], minlength=len(sizes))
    found: npt.NDArray[np.int64] = sizes[(sizes > 1) & (others == 0)]
    return found


def _kinds(column: pa.ChunkedArray) -> dict[str, int]:
    """Duplicates by kind, in the order of KINDS, then any other."""
    import pyarrow.compute as pc

    counted = pc.value_counts(pc.drop_null(_text(column))).to_pylist()
    found = {row["values"]: row["counts"] for row in counted}
    order = [*KINDS, *sorted(found.keys() - set(KINDS))]
    return {kind: found[kind] for kind in order if kind in found}


class _Pairs:
    """Pairs counted batch by batch: there may be more of them than documents."""

    def __init__(self, floor: Fraction) -> None:
        import numpy as np

        bins = max(1, round(float(1 - floor) / _BIN))
        # Equal fractions give equal floats, so a value on an edge falls to its right.
        self.edges = [float(floor + (1 - floor) * Fraction(i, bins)) for i in range(bins + 1)]
        self.counts = np.zeros(bins, np.int64)
        self.count = self.by_containment = self.in_masses = 0

    def add(self, batch: pa.RecordBatch) -> None:
        import numpy as np

        resemblances = batch.column("resemblance").to_numpy(zero_copy_only=False)
        place = np.searchsorted(self.edges[:-1], resemblances, side="right") - 1
        # A pair that was found by containment has no resemblance, or one below the floor.
        reached = (place >= 0) & ~np.isnan(resemblances)
        self.counts += np.bincount(place[reached], minlength=len(self.counts))
        self.count += len(reached)
        self.by_containment += int((~reached).sum())
        if "mass" in batch.schema.names:
            self.in_masses += batch.column("mass").true_count

    def bins(self) -> tuple[Bin, ...]:
        pairs = zip(self.edges[:-1], self.edges[1:], self.counts.tolist(), strict=True)
        return tuple(Bin(*each) for each in pairs)


def _sites(documents: pa.Table) -> tuple[tuple[Site, ...], int]:
    """The sites with most duplicates, and how many sites there are."""
    import pyarrow as pa
    import pyarrow.compute as pc

    from roughly.report.site import sites

    table = pa.table(
        {"site": sites(documents.column("id")), "kind": _text(documents.column("kind"))}
    )
    counted = table.group_by("site").aggregate([([], "count_all"), ("kind", "count")])
    order = [("kind_count", "descending"), ("count_all", "descending"), ("site", "ascending")]
    most = counted.sort_by(order).slice(0, _SITES).to_pylist()
    found = []
    for row in most:
        kinds = table.filter(pc.equal(table.column("site"), row["site"])).column("kind")
        found.append(Site(row["site"], row["count_all"], _kinds(kinds)))
    return tuple(found), len(counted)


def _largest(
    clusters: Clusters,
    documents: pa.Table,
    table: pa.Table,
    texts: Texts,
    sketcher: Sketcher,
) -> tuple[LargeCluster, ...]:
    import pyarrow.compute as pc

    order = [("size", "descending"), ("cluster", "ascending")]
    found = []
    for row in table.sort_by(order).slice(0, _LARGEST).to_pylist():
        own = documents.filter(pc.equal(documents.column("cluster"), row["cluster"]))
        first = own.slice(0, _MEMBERS).select(["id", "kind", "resemblance"]).to_pylist()
        found.append(
            LargeCluster(
                row["representative"],
                row["size"],
                row["weakest_link"],
                row["smallest_resemblance"],
                tuple(Member(each["id"], each["kind"], each["resemblance"]) for each in first),
                sample(row["representative"], own, texts, sketcher, float(clusters.threshold)),
            )
        )
    return tuple(found)


def _text(column: Any) -> Any:
    """A column of strings as such, however it is encoded."""
    import pyarrow as pa

    return column.cast(pa.string())
