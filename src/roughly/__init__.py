"""Finds documents that are roughly the same, or roughly contained in one another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from roughly.comparison import Comparison, Passage, compare, containment, resemblance
from roughly.errors import DocumentError, MismatchError, ParameterError, RoughlyError
from roughly.estimate import Estimate
from roughly.parameters import Parameters
from roughly.simhashing.simhasher import SimhashBatch, Simhasher, simhash
from roughly.sketch import Sketch, SketchBatch
from roughly.sketcher import Sketcher, preset

if TYPE_CHECKING:
    from roughly.clustering import Clusters, cluster
    from roughly.corpus import Corpus
    from roughly.deduplication import Deduplicated, dedup
    from roughly.hamming import HammingIndex, SeenIndex
    from roughly.simhashing.frequency import DocumentFrequencies

__all__ = [
    "Clusters",
    "Comparison",
    "Corpus",
    "Deduplicated",
    "DocumentError",
    "DocumentFrequencies",
    "Estimate",
    "HammingIndex",
    "MismatchError",
    "ParameterError",
    "Parameters",
    "Passage",
    "RoughlyError",
    "SeenIndex",
    "SimhashBatch",
    "Simhasher",
    "Sketch",
    "SketchBatch",
    "Sketcher",
    "__version__",
    "cluster",
    "compare",
    "containment",
    "dedup",
    "preset",
    "resemblance",
    "simhash",
]


def __getattr__(name: str) -> Any:
    # What costs more than the whole import waits until it is wanted.
    if name == "__version__":
        from importlib.metadata import version

        return version("roughly")
    if name in ("Clusters", "cluster"):
        from roughly import clustering

        return getattr(clustering, name)
    if name == "Corpus":
        from roughly.corpus import Corpus

        return Corpus
    if name in ("Deduplicated", "dedup"):
        from roughly import deduplication

        return getattr(deduplication, name)
    if name in ("HammingIndex", "SeenIndex"):
        from roughly import hamming

        return getattr(hamming, name)
    if name == "DocumentFrequencies":
        from roughly.simhashing.frequency import DocumentFrequencies

        return DocumentFrequencies
    raise AttributeError(f"module 'roughly' has no attribute {name!r}")
