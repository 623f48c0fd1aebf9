"""GET /api/clusters: the clusters at any thresholds, largest first; GET /api/clusters/{id}: one of
them with its members. A cluster's number is that of its first document among all clusters, also of
one document, at the same thresholds.
"""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from roughly.errors import NotFoundError
from roughly.web.api.endpoint import Answer, Asked, Endpoint
from roughly.web.api.find import Share, ratio
from roughly.web.error import plain
from roughly.web.view import View

_MEMBERS = 10_000


class ClustersRequest(Asked):
    """Thresholds from the floors up; those of the corpus unless given."""

    threshold: Share | None = None
    containment: Share | None = None
    limit: Annotated[int, msgspec.Meta(ge=1, le=10_000)] = 100
    offset: Annotated[int, msgspec.Meta(ge=0, le=1 << 40)] = 0


class Cluster(msgspec.Struct):
    """A cluster of two documents or more."""

    cluster: int
    representative: str
    size: int
    weakest_link: float
    smallest_resemblance: float
    mass: bool


class ClustersAnswer(Answer):
    """Some of them, the largest first, and how many there are."""

    threshold: float
    containment: float | None
    total: int
    documents: int
    clusters: list[Cluster]


class ClusterRequest(Asked):
    """A number from /api/clusters at the same thresholds."""

    id: Annotated[int, msgspec.Meta(ge=0, le=1 << 40)]
    threshold: Share | None = None
    containment: Share | None = None


class Member(msgspec.Struct):
    """A document of a cluster, and how it belongs to the representative."""

    id: str
    date: str | None
    kind: str | None
    resemblance: float


class ClusterAnswer(Answer):
    """One cluster; of very many members the first are shown."""

    threshold: float
    containment: float | None
    cluster: int
    representative: str
    size: int
    members: list[Member]


def run_all(view: View, asked: ClustersRequest) -> ClustersAnswer:
    """Cuts the forest at the thresholds."""
    key = (ratio(asked.threshold), ratio(asked.containment))
    clusters = view.clusters(*key)
    table: pa.Table = view.kept(
        ("cluster table", *key),
        lambda: clusters.clusters().sort_by([("size", "descending"), ("cluster", "ascending")]),
    )
    some = table.slice(asked.offset, asked.limit).to_pylist()
    return ClustersAnswer(
        threshold=float(clusters.threshold),
        containment=None if clusters.containment is None else float(clusters.containment),
        total=len(table),
        documents=int(clusters.sizes().sum()),
        clusters=[
            Cluster(**row | {"representative": plain(row["representative"])}) for row in some
        ],
    )


def run_one(view: View, asked: ClusterRequest) -> ClusterAnswer:
    """The members of one."""
    key = (ratio(asked.threshold), ratio(asked.containment))
    clusters = view.clusters(*key)
    table: pa.Table = view.kept(("document table", *key), clusters.documents)
    rows = table.filter(pc.equal(table["cluster"], asked.id))
    if not len(rows):
        raise NotFoundError(
            f"cluster {asked.id}: not there: at threshold {float(clusters.threshold)} there is"
            " none of this number",
            hint="GET /api/clusters lists them; numbers change with thresholds and additions",
        )
    shown: list[dict[str, Any]] = rows.slice(0, _MEMBERS).to_pylist()
    return ClusterAnswer(
        threshold=float(clusters.threshold),
        containment=None if clusters.containment is None else float(clusters.containment),
        cluster=asked.id,
        representative=plain(shown[0]["representative"]),
        size=len(rows),
        members=[
            Member(plain(row["id"]), row["date"], row["kind"], row["resemblance"]) for row in shown
        ],
    )


ALL = Endpoint(
    "GET",
    "/api/clusters",
    ClustersRequest,
    ClustersAnswer,
    run_all,
    "Clusters of two documents or more at any thresholds, largest first",
)
ONE = Endpoint(
    "GET",
    "/api/clusters/{id}",
    ClusterRequest,
    ClusterAnswer,
    run_one,
    "One cluster and its members",
)
