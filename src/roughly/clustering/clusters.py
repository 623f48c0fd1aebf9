"""What clustering found: documents, clusters, pairs, and the forest that gives any threshold.

A cluster is a component of the maximum spanning forest at its threshold (single linkage, as in the
1997 paper), together with the documents that are equivalent to its members. Nothing here changes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from roughly import _core
from roughly.clustering.collection import PairTable, Sketches
from roughly.clustering.equivalence import KINDS, Groups
from roughly.documents.skipped import Skipped
from roughly.errors import ParameterError


def exact_ratio(name: str, value: float | Fraction) -> Fraction:
    """A threshold without rounding: 0.7 is 7/10."""
    try:
        ratio = value if isinstance(value, Fraction) else Fraction(str(value))
    except (ValueError, ZeroDivisionError):
        ratio = Fraction(0)
    ratio = ratio.limit_denominator((1 << 32) - 1)
    if not 0 < ratio <= 1:
        raise ParameterError(f"{name}: out of range: {value!r}, wanted more than 0 and at most 1")
    return ratio


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Clusters:
    """The clusters of a collection at one threshold."""

    ids: pa.Array  # of all documents, in document order
    dates: pa.Array
    groups: Groups
    sketches: Sketches  # of the representatives
    joined: PairTable  # of representatives, numbered as in `sketches`, down to the floor
    links: PairTable  # those of the forest, heaviest first
    skipped: Skipped  # what could not be read, by reason
    floor: Fraction
    threshold: Fraction
    threads: int

    def at(self, threshold: float | Fraction) -> Clusters:
        """The clusters at another threshold, from the same forest; not below the floor."""
        ratio = exact_ratio("threshold", threshold)
        if ratio < self.floor:
            raise ParameterError(
                f"threshold: below the floor: {float(ratio)}, wanted {float(self.floor)} or more",
                hint="cluster again with a lower floor",
            )
        return replace(self, threshold=ratio)

    def __len__(self) -> int:
        """Clusters of two documents or more."""
        return len(self._sizes()[0])

    def __iter__(self) -> Iterator[list[str]]:
        """The ids of each cluster of two documents or more, in document order."""
        first, ids = self._first(), self.ids
        order = np.argsort(first, kind="stable")
        starts = np.flatnonzero(np.diff(first[order], prepend=-1))
        for rows in np.split(order, starts[1:]):
            if len(rows) > 1:
                yield ids.take(pa.array(rows)).to_pylist()

    def __repr__(self) -> str:
        clusters, sizes = self._sizes()
        noun = "cluster" if len(clusters) == 1 else "clusters"
        skipped = f", {self.skipped.count} skipped" if self.skipped.count else ""
        return (
            f"Clusters({len(self.ids)} documents{skipped}, {len(clusters)} {noun} of"
            f" {int(sizes.sum())} documents at threshold {float(self.threshold)},"
            f" floor {float(self.floor)})"
        )

    def documents(self) -> pa.Table:
        """A row a document, in document order: id, date, cluster (a number, by first document),
        representative (that document's id), kind (how it belongs to it: identical, lexical,
        shingle, empty, near, or null for the representative itself), resemblance (estimate, to the
        representative)."""
        first = self._first()
        rows = np.arange(len(first))
        common, sampled = self._to_representative(first)
        kind = self.groups.kind.copy()
        named = np.array([*KINDS, "near"], dtype=object)
        near = first != self.groups.representative
        kind[near] = len(KINDS)
        names = named[kind]
        names[first == rows] = None
        numbers = np.cumsum(first == rows) - 1
        return pa.table(
            {
                "id": self.ids,
                "date": self.dates,
                "cluster": pa.array(numbers[first], pa.int64()),
                "representative": self.ids.take(pa.array(first)),
                "kind": pa.array(names.tolist(), pa.string()),
                "resemblance": pa.array(common / np.maximum(sampled, 1), pa.float64()),
            }
        )

    def clusters(self) -> pa.Table:
        """A row a cluster of two documents or more: cluster, representative, size, weakest_link
        (the lightest link that holds it together), smallest_resemblance (of a member to the
        representative, estimated)."""
        first = self._first()
        clusters, sizes = self._sizes()
        common, sampled = self._to_representative(first)
        smallest = np.ones(len(first))
        np.minimum.at(smallest, first, common / np.maximum(sampled, 1))
        weakest = np.ones(len(first))
        strong = self._strong_links()
        rows = self.groups.representatives
        np.minimum.at(
            weakest, first[rows[strong[:, 0]]], strong[:, 2] / np.maximum(strong[:, 3], 1)
        )
        numbers = np.cumsum(first == np.arange(len(first))) - 1
        return pa.table(
            {
                "cluster": pa.array(numbers[clusters], pa.int64()),
                "representative": self.ids.take(pa.array(clusters)),
                "size": pa.array(sizes, pa.int64()),
                "weakest_link": pa.array(weakest[clusters]),
                "smallest_resemblance": pa.array(smallest[clusters]),
            }
        )

    def pairs(self) -> pa.Table:
        """A row a pair of representatives down to the floor: a, b, common, sampled, resemblance
        (common / sampled, the estimate)."""
        rows = self.groups.representatives
        a, b, common, sampled = self.joined.astype(np.int64).T
        return pa.table(
            {
                "a": self.ids.take(pa.array(rows[a])),
                "b": self.ids.take(pa.array(rows[b])),
                "common": pa.array(common),
                "sampled": pa.array(sampled),
                "resemblance": pa.array(common / np.maximum(sampled, 1)),
            }
        )

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

        table = self.clusters().sort_by([("size", "descending")]).slice(0, 10).to_pylist()
        head = "".join(
            f"<th>{name.replace('_', ' ')}</th>" for name in self.clusters().column_names
        )
        rows = "".join(
            "<tr>" + "".join(f"<td>{escape(_shown(v))}</td>" for v in row.values()) + "</tr>"
            for row in table
        )
        return f"<p>{escape(repr(self))}</p><table><tr>{head}</tr>{rows}</table>"

    def _strong_links(self) -> PairTable:
        # Both sides are below 2^64, for a ratio's parts are below 2^32.
        p, q = np.uint64(self.threshold.numerator), np.uint64(self.threshold.denominator)
        wide = self.links.astype(np.uint64)
        return self.links[wide[:, 2] * q >= p * wide[:, 3]]

    def _first(self) -> npt.NDArray[np.int64]:
        """For every document the first one of its cluster."""
        ratio = self.threshold.numerator, self.threshold.denominator
        rows = self.groups.representatives
        roots = _core.components(self.links, len(rows), *ratio)
        of_row = np.zeros(len(self.ids), dtype=np.int64)
        of_row[rows] = rows[roots]
        first: npt.NDArray[np.int64] = of_row[self.groups.representative]
        return first

    def _sizes(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """First document and size of each cluster of two or more."""
        clusters, sizes = np.unique(self._first(), return_counts=True)
        return clusters[sizes > 1], sizes[sizes > 1]

    def _to_representative(
        self, first: npt.NDArray[np.int64]
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """common and sampled of every document and the first of its cluster."""
        rows = self.groups.representatives
        number = np.zeros(len(self.ids), dtype=np.int64)
        number[rows] = np.arange(len(rows))
        pairs = np.zeros((len(rows), 4), dtype=np.uint32)
        pairs[:, 0] = number[first[rows]]
        pairs[:, 1] = np.arange(len(rows))
        counted = self.sketches.measure(pairs, self.threads).astype(np.int64)
        # Two documents without a shingle are as alike as can be.
        counted[counted[:, 3] == 0, 2:] = 1
        of_row = counted[number[self.groups.representative], 2:]
        return of_row[:, 0], of_row[:, 1]


def _shown(value: Any) -> str:
    return f"{value:.3f}" if isinstance(value, float) else str(value)
