"""What a clustering has to tell, as plain data, and how it is gathered from the clusters.

A ClusterReport holds everything its page shows and nothing that grows with the documents but their
numbers: lists are cut here to the first or largest. `gather` looks at the public tables of the
clusters alone, at documents and pairs some at a time; columns it does not know do not disturb it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from roughly.pipeline import give_back_memory
from roughly.report.cluster_sample import Sample, Texts, id_parts, sample, stored_texts
from roughly.sketcher import PRESETS, Sketcher

if TYPE_CHECKING:
    import pyarrow as pa

    from roughly.clustering import Clusters
    from roughly.report.tally import Members

_LARGEST = 10
_MEMBERS = 10
_SITES = 15
_EXAMPLES = 20
_NEAR = 0.5  # where no threshold of resemblance was given
_BIN = 0.02  # of resemblance, as near to it as a whole number of bins allows
# Thresholds of the series: every 1/50 where they are read off the forest, and every 1/20 of stars,
# which are made anew for each.
_FINE, _COARSE = 50, 20


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
    exact: bool = False  # whether pairs are known exactly, or estimated
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
    pairs_by_containment: int = 0  # of these found by containment alone, without a resemblance
    pairs_in_masses: int = 0  # of these inside masses, where only the links are listed
    same_site_pairs: int = 0  # of those that reach the thresholds
    cross_site_pairs: int = 0
    by_simhash: bool = False  # then the threshold is a share of bits, and is told as a distance
    distance: int | None = None  # bits in which simhashes may differ; None: they play no part
    distances: Sequence[tuple[int, int]] = ()  # (bits, pairs), ascending
    condition: Mapping[str, object] = field(default_factory=dict)  # what else decides about pairs
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
) -> ClusterReport:
    """The report of some clusters at their threshold.

    `texts` gives a document's text by its id, or None where it is not at hand; unless given, the
    texts that are stored with the clusters are shown. Times, parameters and bytes are the clusters'
    own unless given.
    """
    import numpy as np

    from roughly.report.site import shared_folders
    from roughly.report.tally import Members, Tally

    segment = clusters.segment
    known = segment.parameters
    sketcher = Sketcher.of(known)
    # Reports are shown around; a seed other than the usual one may be a secret.
    seed = "not shown" if known.seed else 0
    own = {"w": known.w, "words": known.words, "select": known.select, "bits": known.bits}
    own |= {"seed": seed}
    documents, threshold = segment.documents, float(clusters.threshold)
    by_simhash = clusters.settings.method == "hamming"
    # Of clusters by simhash the threshold says nothing about resemblance.
    near = _NEAR if by_simhash else threshold
    columns = [batch.column("cluster").to_numpy() for batch in clusters.cluster_batches()]
    numbers = np.concatenate([np.zeros(0, np.int64), *columns])
    all_sizes, most = clusters.sizes(), clusters.largest(_LARGEST).to_pylist()
    shown = {row["cluster"]: Members(row["representative"], near, _MEMBERS) for row in most}
    tally = Tally(documents, shared_folders(id_parts(segment)), shown)
    for batch in clusters.document_batches():
        tally.add(batch)
        segment.release()
    give_back_memory()
    only_identical = tally.only_identical(numbers, all_sizes)
    sizes, counts = np.unique(all_sizes, return_counts=True)
    sites, sites_in_all = tally.sites(_SITES)
    series = _series(clusters)
    full = (
        series[-1] if clusters.containment is None else _step(clusters.at(1, "none"), Fraction(1))
    )
    pairs = PairCount(clusters.floor)
    for batch in clusters.pair_batches(named=False):
        pairs.add(batch)
        segment.release()
    give_back_memory()
    texts = texts or stored_texts(segment)
    if bytes_read is None:
        bytes_read = segment.content_bytes
    contained, contained_floor = clusters.containment, clusters.containment_floor
    return ClusterReport(
        title=title,
        parameters=own if parameters is None else dict(parameters),
        linkage=clusters.linkage,
        exact=clusters.settings.exact or known.select == "all",
        threshold=threshold,
        floor=float(clusters.floor),
        containment=None if contained is None else float(contained),
        containment_floor=None if contained_floor is None else float(contained_floor),
        documents=documents,
        bytes=bytes_read,
        clusters=len(all_sizes),
        clustered=int(sizes @ counts),
        identical_clusters=len(only_identical),
        identical_documents=int(only_identical.sum()),
        distinct=documents - full.documents + full.clusters,
        kinds=tally.kinds,
        sizes=tuple(zip(sizes.tolist(), counts.tolist(), strict=True)),
        pairs=pairs.count,
        pairs_by_containment=pairs.by_containment,
        pairs_in_masses=pairs.in_masses,
        same_site_pairs=clusters.site_pairs.same,
        cross_site_pairs=clusters.site_pairs.cross,
        by_simhash=by_simhash,
        distance=clusters.distance,
        distances=tuple(sorted(pairs.distances.items())),
        condition=_condition(clusters),
        resemblances=pairs.bins(),
        series=series,
        sites=tuple(Site(*each) for each in sites),
        all_sites=sites_in_all,
        largest=tuple(_largest(row, shown[row["cluster"]], texts, sketcher, near) for row in most),
        phases=tuple(map(_phase, clusters.phases if timings is None else timings)),
        skipped=dict(clusters.skipped.reasons.most_common()),
        ignored=dict(clusters.skipped.ignored.most_common()),
        skipped_examples=tuple(map(str, clusters.skipped.first[:_EXAMPLES])),
        shingles=tuple(shingles),
    )


def _condition(clusters: Clusters) -> dict[str, object]:
    """What decides about pairs besides a threshold, by the options' names."""
    settings, condition = clusters.settings, clusters.settings.condition
    told: dict[str, object] = {}
    if settings.exact:
        told["exact"] = "yes"
    if settings.method in ("expansion", "super"):
        told["preset"] = next(n for n, each in PRESETS.items() if each.method == settings.method)
    if settings.method == "expansion":
        told["cut-off"] = settings.cut_off
    if settings.discount is not None:
        told["discount"] = str(settings.discount)
    if condition.method != "shingles":
        told["method"] = condition.method
        told["distance"] = clusters.distance
    if condition.size_ratio is not None:
        told["size ratio"] = float(condition.size_ratio)
    if condition.within is not None:
        told["within"] = condition.within
    if condition.simhash is not None:
        told["features"] = condition.simhash.features
        told["weights"] = condition.simhash.weights
        told["stop words"] = condition.simhash.stop_words
        told["stem"] = condition.simhash.stem
    return told


def _phase(timing: Timing) -> Phase:
    # What wrote nothing has no bytes to tell.
    written, rows = timing.bytes_written or None, timing.rows or None
    return Phase(timing.name, timing.wall_seconds, timing.cpu_seconds, written, rows)


def _series(clusters: Clusters) -> tuple[Step, ...]:
    """From the floor to 1, by round steps; the floor, the threshold and 1 are always among them."""
    if clusters.settings.method == "hamming":
        from roughly.clustering.settings import bits_threshold

        bits = range(clusters.settings.condition.distance, -1, -1)
        steps = [(clusters.at(distance=each), bits_threshold(each)) for each in bits]
        return tuple(_step(at, threshold) for at, threshold in steps)
    parts = _COARSE if clusters.linkage == "star" else _FINE
    wanted = {t for t in (Fraction(i, parts) for i in range(1, parts)) if t > clusters.floor}
    wanted |= {Fraction(clusters.floor), Fraction(clusters.threshold), Fraction(1)}
    return tuple(_step(clusters.at(t), t) for t in sorted(wanted))


def _step(clusters: Clusters, threshold: Fraction) -> Step:
    sizes = clusters.sizes()
    return Step(float(threshold), len(sizes), int(sizes.sum()))


class PairCount:
    """Pairs counted batch by batch, each once, though a pair by two measures has two rows: there
    may be more of them than documents."""

    def __init__(self, floor: Fraction) -> None:
        import numpy as np

        bins = max(1, round(float(1 - floor) / _BIN))
        # Equal fractions give equal floats, so a value on an edge falls to its right.
        self.edges = [float(floor + (1 - floor) * Fraction(i, bins)) for i in range(bins + 1)]
        self.counts = np.zeros(bins, np.int64)
        self.count = self.by_containment = self.in_masses = 0
        self.distances: Counter[int] = Counter()

    def add(self, batch: pa.RecordBatch) -> None:
        import numpy as np
        import pyarrow.compute as pc

        if "again" in batch.schema.names:
            batch = batch.filter(pc.invert(batch.column("again")))
        resemblances = batch.column("resemblance").to_numpy(zero_copy_only=False)
        place = np.searchsorted(self.edges[:-1], resemblances, side="right") - 1
        # A pair that was found by containment has no resemblance, or one below the floor.
        reached = (place >= 0) & ~np.isnan(resemblances)
        self.counts += np.bincount(place[reached], minlength=len(self.counts))
        self.count += len(reached)
        self.by_containment += int((~reached).sum())
        if "mass" in batch.schema.names:
            self.in_masses += batch.column("mass").true_count
        if "distance" in batch.schema.names:
            far = batch.column("distance").drop_null().to_numpy()
            bits, counts = np.unique(far, return_counts=True)
            self.distances.update(dict(zip(bits.tolist(), counts.tolist(), strict=True)))

    def bins(self) -> tuple[Bin, ...]:
        pairs = zip(self.edges[:-1], self.edges[1:], self.counts.tolist(), strict=True)
        return tuple(Bin(*each) for each in pairs)


def _largest(
    row: dict[str, Any], kept: Members, texts: Texts, sketcher: Sketcher, threshold: float
) -> LargeCluster:
    return LargeCluster(
        row["representative"],
        row["size"],
        row["weakest_link"],
        row["smallest_resemblance"],
        tuple(Member(**each) for each in kept.first.to_pylist()),
        sample(row["representative"], kept.candidates, texts, sketcher, threshold),
    )
