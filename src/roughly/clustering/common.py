"""The shingles that most documents have, with their text: section 5.1 of the 1997 paper shows why
one wants to look at them (boilerplate, empty forms, error pages)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from roughly import _core
from roughly.clustering.expansion import Expansion
from roughly.clustering.room import CORPUS_BYTES, room_beside
from roughly.clustering.sketches import Sketches
from roughly.errors import ParameterError
from roughly.parameters import Parameters
from roughly.sketch import WORD_MARK

if TYPE_CHECKING:
    from roughly.clustering.clusters import Clusters
    from roughly.storage.collection import Stored


# Where the clusters have no limit.
_MEMORY = 1 << 30


class CommonShingle(NamedTuple):
    """A shingle that many documents share."""

    text: str  # as the first document that has it writes it, without markup; "" if no text was kept
    documents: int  # that have it in their sketch, equivalent ones counted once
    first: str  # id of that first document


def common_shingles(
    clusters: Clusters, count: int, memory_bytes: int | None = None
) -> list[CommonShingle]:
    """The `count` commonest shingles among the sketches of all documents that are not equivalent to
    another, most documents first. The memory is that of the clusters unless given."""
    segment, outcome, scratch = clusters.segment, clusters.outcome, clusters.scratch
    refuse_minima(segment.parameters)
    rows = scratch.take(outcome.order, outcome.groups.representatives_in(scratch))
    room = room_beside(memory_bytes or clusters.memory_bytes or _MEMORY, len(rows), CORPUS_BYTES)
    with Expansion(
        replace(Sketches.of_segment(segment, scratch), shingles_only=True),
        rows,
        cut_off=0,
        threads=clusters.threads,
        budget_bytes=room // 4,
        most_common=count,
    ) as expansion:
        found = expansion.commonest
    ids = segment.ids()
    return [
        CommonShingle(
            _text(segment, int(rows[each.first]), each.element),
            each.documents,
            ids[int(rows[each.first])].as_py(),
        )
        for each in found
    ]


def refuse_minima(parameters: Parameters) -> None:
    """The elements of perm:K sketches are no fingerprints of shingles."""
    if parameters.selection[0] == "perm":
        raise ParameterError(
            f"common shingles: not to be had from {parameters.select} sketches,"
            " wanted all, mod:M, min:K or adaptive:T"
        )


def _text(segment: Stored, row: int, element: int) -> str:
    """The shingle of that fingerprint, as the document writes it."""
    if not segment.has_text:
        return ""
    p = segment.parameters
    text = segment.text(np.array([row]))[0].as_py()
    if segment.column("html")[row].as_py():
        # Its words are the same, and no markup stands between them.
        text = _core.html_text(text)
    fingerprints = _core.fingerprints(text, False, p.w, p.bits, p.seed)
    if p.words:
        fingerprints = fingerprints & ~np.uint64(WORD_MARK)
    spans = _core.token_spans(text, False)
    at = int(np.flatnonzero(fingerprints == np.uint64(element))[0])
    begin, end = spans[at, 0], spans[min(at + p.w, len(spans)) - 1, 1]
    return " ".join(text[int(begin) : int(end)].decode("utf-8", "replace").split())
