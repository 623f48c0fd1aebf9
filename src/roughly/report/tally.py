"""What a report counts of the documents of a clustering, batch by batch.

No more of a document is kept than a byte of its cluster; names are kept of sites, each once, and of
a few members of the clusters that are shown. However the documents are cut into batches, the counts
are the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from roughly.report.cluster_sample import likeliest
from roughly.report.site import sites

# Kinds in the order in which a report tells them: from the closest to the loosest.
KINDS = ("identical", "lexical", "shingle", "near", "contained", "contains", "empty")

_MEMBER = ["id", "kind", "resemblance"]
# Documents that are looked at together: to find a site an id is copied several times.
_STEP_ROWS = 1 << 13
# Counts of a site and kind that are kept before those of the same are put together.
_LOOSE_ROWS = 1 << 17


class SiteCount(NamedTuple):
    """Documents of one site, and its duplicates by kind."""

    name: str
    documents: int
    kinds: Mapping[str, int]


class Members:
    """Of one cluster the first members, and those that may be shown beside its representative."""

    def __init__(self, representative: str, threshold: float, most: int) -> None:
        self.representative = representative
        self.first = self.candidates = pa.table(
            {"id": pa.array([], pa.string()), "kind": pa.array([], pa.string()),
             "resemblance": pa.array([], pa.float64())}
        )  # fmt: skip
        self._threshold = threshold
        self._most = most

    def add(self, rows: pa.Table) -> None:
        """Members in document order, after those that were added before."""
        if len(self.first) < self._most:
            # Copied, or the few would keep the many in memory.
            first = pa.concat_tables([self.first, rows.slice(0, self._most)])
            self.first = first.take(np.arange(min(len(first), self._most)))
        rows = pa.concat_tables([self.candidates, rows])
        self.candidates = likeliest(rows, self.representative, self._threshold)


class Tally:
    """Documents counted by kind, by site, by cluster."""

    def __init__(self, documents: int, shared: str | None, shown: Mapping[int, Members]) -> None:
        self.shown = shown  # cluster number -> what is kept of its members
        self._shared = shared  # by all paths, see `site.shared_folders`
        self._numbers = pa.array(list(shown), pa.int64())
        # Clusters, of which there are as many as documents at most, with a member that is neither
        # the representative nor identical to it.
        self._other = np.zeros(documents, bool)
        self._kinds: Counter[str] = Counter()
        self._codes: list[str] = list(KINDS)
        self._sites: list[pa.Table] = []
        self._loose = 0

    def add(self, batch: pa.RecordBatch) -> None:
        """The next documents."""
        for begin in range(0, len(batch), _STEP_ROWS):
            self._add(batch.slice(begin, _STEP_ROWS))

    def _add(self, batch: pa.RecordBatch) -> None:
        rows = pa.table(
            {
                "id": batch.column("id"),
                "cluster": batch.column("cluster"),
                "kind": batch.column("kind").cast(pa.string()),
                "resemblance": batch.column("resemblance"),
            }
        )
        kinds, clusters = rows.column("kind"), rows.column("cluster")
        counted = pc.value_counts(pc.drop_null(kinds)).to_pylist()
        self._kinds.update({row["values"]: row["counts"] for row in counted})
        self._codes += sorted(self._kinds.keys() - set(self._codes))
        other = pc.fill_null(pc.not_equal(kinds, "identical"), False)
        self._other[clusters.filter(other).to_numpy()] = True
        self._add_sites(rows)
        for number in pc.unique(clusters.filter(pc.is_in(clusters, self._numbers))).to_pylist():
            own = rows.filter(pc.equal(clusters, number))
            self.shown[number].add(own.select(_MEMBER))

    @property
    def kinds(self) -> dict[str, int]:
        """Duplicates by kind, in the order of KINDS, then any other."""
        return self._in_order(self._kinds)

    def only_identical(
        self, numbers: npt.NDArray[np.int64], sizes: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.int64]:
        """The sizes of those of some clusters that hold nothing but identical documents."""
        found: npt.NDArray[np.int64] = sizes[~self._other[numbers]]
        return found

    def sites(self, most: int) -> tuple[Sequence[SiteCount], int]:
        """The sites with most duplicates, and how many sites there are."""
        if not self._sites:
            return (), 0
        self._merge()
        (counts,) = self._sites
        counts = counts.append_column(
            "duplicates",
            pc.if_else(pc.is_valid(counts.column("code")), counts.column("documents"), 0),
        )
        summed = counts.group_by("site", use_threads=False).aggregate(
            [("documents", "sum"), ("duplicates", "sum")]
        )
        order = [
            ("duplicates_sum", "descending"),
            ("documents_sum", "descending"),
            ("site", "ascending"),
        ]
        found = []
        for row in summed.take(pc.select_k_unstable(summed, most, order)).to_pylist():
            own = counts.filter(pc.equal(counts.column("site"), row["site"])).to_pylist()
            kinds = {self._codes[r["code"]]: r["documents"] for r in own if r["code"] is not None}
            found.append(SiteCount(row["site"], row["documents_sum"], self._in_order(kinds)))
        return found, len(summed)

    def _add_sites(self, rows: pa.Table) -> None:
        codes = pc.index_in(rows.column("kind"), pa.array(self._codes))
        table = pa.table({"site": sites(rows.column("id"), self._shared), "code": codes})
        grouped = table.group_by(["site", "code"], use_threads=False)
        counts = grouped.aggregate([([], "count_all")]).rename_columns(
            ["site", "code", "documents"]
        )
        self._sites.append(counts)
        self._loose += len(counts)
        # The rows that are put together grow with the sites, so that this is done a few times only.
        if self._loose > _LOOSE_ROWS + len(self._sites[0]):
            self._merge()

    def _merge(self) -> None:
        grouped = pa.concat_tables(self._sites).group_by(["site", "code"], use_threads=False)
        self._sites.clear()
        merged = grouped.aggregate([("documents", "sum")])
        self._sites.append(merged.rename_columns(["site", "code", "documents"]))
        self._loose = 0

    def _in_order(self, counts: Mapping[str, int]) -> dict[str, int]:
        order = [*KINDS, *sorted(counts.keys() - set(KINDS))]
        return {kind: counts[kind] for kind in order if kind in counts}
