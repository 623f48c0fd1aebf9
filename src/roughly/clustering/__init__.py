"""Clusters of documents that are roughly the same: sketch, sort, pairs, forest.

`cluster`, in `whole`, is the way in, `run` the phases, `clusters` what they give. The phases work
in a directory and in bounded memory, however many documents there are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from roughly.clustering.whole import SEGMENT, Clusters, cluster, cluster_documents

__all__ = ["SEGMENT", "Clusters", "cluster", "cluster_documents"]


def __getattr__(name: str) -> Any:
    # A deduplication joins sketches and makes no clusters: what only those need waits.
    if name in __all__:
        from roughly.clustering import whole

        return getattr(whole, name)
    raise AttributeError(f"module 'roughly.clustering' has no attribute {name!r}")
