"""One state of a corpus, and what pages need to know of all its documents, made once and kept.

A state is kept until the corpus has another one, and of each state what was last asked for at a few
thresholds: moving a threshold reads the forest that is in memory already, and looks at no document.
Several threads may ask at once; the first makes it and the others wait.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from threading import Lock, RLock
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from roughly.clustering.clusters import KIND_NAMES, Clusters
from roughly.clustering.settings import bits_threshold
from roughly.corpus.lookup import named_documents
from roughly.errors import NotFoundError, ParameterError
from roughly.report.cluster_report import Bin, PairCount, Step
from roughly.report.cluster_sample import id_parts
from roughly.report.site import site_codes

if TYPE_CHECKING:
    from roughly.corpus.corpus import Corpus
    from roughly.corpus.lookup import NamedDocument
    from roughly.web.pages.page import View

Numbers = npt.NDArray[np.int64]

# Thresholds of the series from the floor to 1.
_FINE = 50
# States and thresholds that are kept: a corpus has one state, and people go back and forth between
# a few thresholds, each of which takes some 30 bytes a document.
_STATES = 4
_CUTS = 6
_CUT_DOCUMENTS = 8_000_000  # of all thresholds together


@dataclass(frozen=True, slots=True)
class Pairs:
    """The pairs of the corpus, counted."""

    count: int
    by_containment: int
    in_masses: int
    bins: tuple[Bin, ...]
    distances: tuple[tuple[int, int], ...]  # bits, pairs


class Cut:
    """The clusters at one threshold. Documents are places in document order."""

    def __init__(self, clusters: Clusters) -> None:
        self.clusters = clusters
        self.first = clusters.first
        self._sizes = np.bincount(self.first)
        self._lock = RLock()

    @property
    def sizes(self) -> Numbers:
        """Of clusters of two documents or more."""
        return self._sizes[self._sizes > 1]

    def size_of(self, first: int) -> int:
        """Documents in the cluster with this first one."""
        return int(self._sizes[first])

    @cached_property
    def firsts(self) -> Numbers:
        """The first document of every cluster, those of one document too: a cluster's number is its
        place here."""
        return np.flatnonzero(self._sizes)

    def number(self, position: int) -> int:
        """Of the cluster that a document is in."""
        return int(np.searchsorted(self.firsts, self.first[position]))

    def members(self, number: int) -> Numbers:
        """All documents of a cluster, in document order."""
        if not 0 <= number < len(self.firsts):
            raise NotFoundError(
                f"cluster {number}: not found: there are {len(self.firsts):,}, numbered from 0",
                hint="numbers change with the threshold and with the corpus; look a document up",
            )
        return np.flatnonzero(self.first == self.firsts[number])

    def largest(self, begin: int, end: int) -> Numbers:
        """The first documents of some clusters, by size: from the begin-th to the end-th."""
        many = np.flatnonzero(self._sizes > 1)
        # Of equal size the earlier one comes first.
        return many[np.argsort(-self._sizes[many], kind="stable")[begin:end]]

    def weakest(self, firsts: Numbers) -> list[float]:
        """The lightest link that holds each of some clusters together."""
        with self._lock:
            weights = self._weakest
        return [float(weights[first]) for first in firsts.tolist()]

    @cached_property
    def _weakest(self) -> npt.NDArray[np.float64]:
        weights = np.ones(len(self.first))
        ends, shares = self.clusters.links()
        np.minimum.at(weights, self.first[ends[:, 0]], shares)
        return weights

    def by_kind(self, sites: npt.NDArray[np.int32], most: int) -> tuple[Any, Any]:
        """Duplicates by kind, and of the sites with most of them: (site, duplicates by kind)."""
        with self._lock:
            kinds = self._kinds
        duplicate = np.flatnonzero(kinds < len(KIND_NAMES))
        width = len(KIND_NAMES)
        total = np.bincount(kinds[duplicate], minlength=width)
        of_site = np.bincount(sites[duplicate])
        chosen = np.argsort(-of_site, kind="stable")[:most]
        chosen = chosen[of_site[chosen] > 0]
        place = np.full(len(of_site), -1, np.int64)
        place[chosen] = np.arange(len(chosen))
        among = duplicate[place[sites[duplicate]] >= 0]
        cells = place[sites[among]] * width + kinds[among]
        counts = np.bincount(cells, minlength=len(chosen) * width).reshape(-1, width)
        return _named(total), [
            (site, _named(row)) for site, row in zip(chosen.tolist(), counts, strict=True)
        ]

    def only_identical(self) -> Numbers:
        """The sizes of clusters of two or more that hold nothing but identical documents."""
        with self._lock:
            kinds = self._kinds
        other = np.zeros(len(self._sizes), bool)
        other[self.first[(kinds != KIND_NAMES.index("identical")) & (kinds < len(KIND_NAMES))]] = 1
        return self._sizes[(self._sizes > 1) & ~other]

    @cached_property
    def _kinds(self) -> npt.NDArray[np.uint8]:
        """Of every document how it belongs to the first of its cluster; of that one no kind."""
        kinds = self.clusters.kind_codes.copy()
        kinds[self.firsts] = len(KIND_NAMES)
        return kinds


def _named(counts: Numbers) -> dict[str, int]:
    return {KIND_NAMES[code] or "": int(counts[code]) for code in np.flatnonzero(counts).tolist()}


class State:
    """A corpus as it was at one time."""

    def __init__(self, corpus: Corpus) -> None:
        self.corpus = corpus
        self.lock = RLock()
        self._cuts: OrderedDict[tuple[Fraction, Fraction | None], Cut] = OrderedDict()

    @cached_property
    def _made(self) -> Clusters:
        return self.corpus.clusters(threads=1)

    @property
    def by_simhash(self) -> bool:
        return self.corpus.manifest.settings.method == "hamming"

    def cut(self, threshold: str = "", distance: str = "") -> Cut:
        """The clusters at a threshold, or at a distance of simhashes, as a request gives it; those
        the corpus was made with where it is empty."""
        with self.lock:
            clusters = self._made
            if distance:
                clusters = clusters.at(distance=_whole("distance", distance))
            elif threshold:
                clusters = clusters.at(threshold, clusters.containment)
            key = (clusters.threshold, clusters.containment)
            if key not in self._cuts:
                self._cuts[key] = Cut(clusters)
                most = max(1, min(_CUTS, _CUT_DOCUMENTS // max(1, len(self.corpus))))
                while len(self._cuts) > most:
                    self._cuts.popitem(last=False)
            self._cuts.move_to_end(key)
            return self._cuts[key]

    @cached_property
    def _position(self) -> npt.NDArray[np.int64]:
        order = self.corpus.outcome.order
        found = np.full(len(self.corpus.collection), -1, np.int64)
        found[order] = np.arange(len(order))
        return found

    def position(self, row: int) -> int:
        """Where a row of the collection stands in document order."""
        with self.lock:
            known = self._position
        if not 0 <= row < len(known) or known[row] < 0:
            raise NotFoundError(
                f"document {row}: not found: no document of this corpus has the row"
            )
        return int(known[row])

    def rows(self, positions: Numbers) -> Numbers:
        """The rows of some documents."""
        return self.corpus.outcome.order[positions].astype(np.int64)

    def resemblances(self, pairs: Numbers) -> npt.NDArray[np.float64]:
        """What sketches say of some pairs of documents."""
        with self.lock:  # The sketches are opened once, for all thresholds.
            return self._made.resemblances(pairs)

    def documents(self, positions: Numbers) -> list[NamedDocument]:
        """Some documents, by id and date."""
        return named_documents(self.corpus.collection, self.rows(positions))

    @cached_property
    def sites(self) -> tuple[npt.NDArray[np.int32], list[str], Numbers]:
        """The number of every document's site, in document order; the names of sites; and how many
        documents each has."""
        of_row, names = site_codes(lambda: id_parts(self.corpus.collection))
        of_position = of_row[self.corpus.outcome.order]
        return of_position, names, np.bincount(of_position, minlength=len(names))

    @cached_property
    def pairs(self) -> Pairs:
        """All pairs that were found, down to the floors."""
        counted = PairCount(self._made.floor)
        for batch in self._made.pair_batches(named=False):
            counted.add(batch)
        self.corpus.collection.release()
        distances = tuple(sorted(counted.distances.items()))
        return Pairs(
            counted.count, counted.by_containment, counted.in_masses, counted.bins(), distances
        )

    @cached_property
    def series(self) -> tuple[Step, ...]:
        """Clusters, and documents in them, from the floor to 1."""
        made = self._made
        if self.by_simhash:
            far = range(made.settings.condition.distance, -1, -1)
            return tuple(_step(made.at(distance=bits), bits_threshold(bits)) for bits in far)
        wanted = {t for t in (Fraction(i, _FINE) for i in range(1, _FINE)) if t > made.floor}
        wanted |= {Fraction(made.floor), Fraction(made.threshold), Fraction(1)}
        return tuple(_step(made.at(t, made.containment), t) for t in sorted(wanted))

    @cached_property
    def distinct(self) -> int:
        """Documents that remain when those that resemble each other fully are one."""
        sizes = self._made.at(1, "none").sizes()
        return len(self.corpus) - int(sizes.sum()) + len(sizes)

    @cached_property
    def bytes(self) -> int:
        """Of all documents."""
        return self.corpus.collection.content_bytes


def _step(clusters: Clusters, threshold: Fraction) -> Step:
    sizes = clusters.sizes()
    return Step(float(threshold), len(sizes), int(sizes.sum()))


def _whole(name: str, value: str) -> int:
    try:
        return int(value)
    except ValueError:
        raise ParameterError(f"{name}: no whole number: {value[:40]!r}") from None


_states: OrderedDict[Path, State] = OrderedDict()
_states_lock = Lock()


def state_of(view: View) -> State:
    """The state that a view shows; the same one as long as the corpus has not changed."""
    corpus = view.corpus
    with _states_lock:
        known = _states.get(corpus.path)
        if known is None or known.corpus.manifest != corpus.manifest:
            known = _states[corpus.path] = State(corpus)
            if len(_states) > _STATES:
                _states.popitem(last=False)
        _states.move_to_end(corpus.path)
        return known
