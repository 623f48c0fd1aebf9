"""Documents to clusters: every phase, one after the other, in a working directory.

What is there of an earlier run with the same parameters is not done again.
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from roughly import _core
from roughly.clustering.clock import Clock
from roughly.clustering.clusters import Clusters
from roughly.clustering.room import CLUSTERING_BYTES, check_room
from roughly.clustering.run import run_phases
from roughly.clustering.settings import Linkage, Settings, condition_for, settings_for
from roughly.clustering.sketching import (
    Progress,
    identity,
    no_progress,
    read_skipped,
    write_segment,
)
from roughly.clustering.workplace import Workplace
from roughly.documents import open_documents
from roughly.errors import ParameterError
from roughly.parameters import memory_or_half, threads_or_all
from roughly.sketcher import Sketcher, preset_named
from roughly.storage.collection import Collection
from roughly.storage.steps import Steps
from roughly.verification.contents import Contents, StoredContents
from roughly.verification.exact import Verifier

if TYPE_CHECKING:
    from roughly.condition import Method
    from roughly.documents import Documents
    from roughly.simhashing.simhasher import Simhasher

__all__ = ["Clusters", "cluster", "cluster_documents"]

SEGMENT = "segments/000001"

Threshold = float | str | Fraction


def cluster(
    documents: Any,
    threshold: Threshold | None = None,
    *,
    containment: Threshold | None = None,
    floor: Threshold | None = None,
    containment_floor: Threshold | None = None,
    linkage: Linkage = "single",
    exact: bool = False,
    sketcher: Sketcher | None = None,
    preset: str | None = None,
    method: Method | None = None,
    distance: int | None = None,
    size_ratio: Threshold | None = None,
    within: str | None = None,
    simhasher: Simhasher | None = None,
    discount: str | None = None,
    content_type: str = "auto",
    text_field: str | None = None,
    id_field: str | None = None,
    date_field: str | None = None,
    strict: bool = False,
    memory: int | str | None = None,
    threads: int | None = None,
) -> Clusters:
    """Groups documents that resemble each other at `threshold` (0.5) or more, by single linkage.

    `documents`: a path, glob or directory; a list of texts or of Paths; a table, frame, dataset, or
    iterable of dicts. Every pair whose estimated resemblance reaches the `floor` is found, so
    `result.at(t)` answers any other threshold from there on; unless given it is threshold - 0.1,
    but not less than half of the threshold. With `containment` documents are grouped too if one is
    contained in the other at that share or more; it has a floor of its own. linkage="star" makes
    clusters in which every document resembles the first one. With `exact` every pair that was found
    is counted again on the documents' complete sets of shingles. `preset` ("broder97",
    "broder97-super", "manku07") is the system of one of the papers: its sketches, its way to find
    pairs and its threshold.

    `method` "simhash" groups documents whose simhashes (of `simhasher`) differ in at most
    `distance` (3) bits; "both" takes only pairs that do and resemble each other too. With
    `size_ratio` only documents are compared of which the smaller has at least that share of the
    larger one's shingles; with `within` only those of one category: "host", or a field's name. With
    `discount` "host:0.5" shingles that half of a host's documents have or more, its frame, do not
    count; with "corpus:0.1" those that a tenth of all documents have.

    `memory` bounds what is used ("2G", or bytes; half of the machine's unless given); the rest lies
    in a temporary directory. What could not be read is in `result.skipped`.
    """
    if sketcher is not None and not isinstance(sketcher, Sketcher):
        raise ParameterError(f"sketcher: wrong type: {type(sketcher).__name__}, wanted a Sketcher")
    if sketcher is not None and preset is not None:
        raise ParameterError("preset: cannot stand beside a sketcher: wanted one of the two")
    if preset is not None:
        sketcher = preset_named(preset).sketcher()
    sketcher = Sketcher() if sketcher is None else sketcher
    condition = condition_for(preset, method, distance, size_ratio, within, simhasher)
    settings = settings_for(
        sketcher.parameters,
        threshold,
        floor,
        containment,
        containment_floor,
        preset,
        exact=exact,
        condition=condition,
        discount=discount,
        linkage=linkage,
    )
    opened = open_documents(
        documents,
        text_field=text_field,
        id_field=id_field,
        date_field=date_field,
        category_field=condition.category_field,
        content_type=content_type,
        strict=strict,
    )
    workplace = Workplace()
    return cluster_documents(
        opened,
        sketcher,
        settings,
        workplace.path,
        text=False,
        memory_bytes=memory_or_half(memory),
        threads=threads_or_all(threads),
        durable=False,
        owner=workplace,
    )


def run_parameters(
    documents: Documents, sketcher: Sketcher, settings: Settings, text: bool
) -> dict[str, Any]:
    """All that decides the outcome of `cluster_documents`, as JSON has it."""
    decided = {"text": text, "settings": settings.to_dict()}
    return identity(documents, sketcher, settings.condition.simhasher) | decided


def cluster_documents(
    documents: Documents,
    sketcher: Sketcher,
    settings: Settings,
    directory: Path,
    *,
    text: bool,
    memory_bytes: int,
    threads: int,
    document_bytes: int = CLUSTERING_BYTES,
    force: bool = False,
    durable: bool = True,
    progress: Progress = no_progress,
    owner: object = None,
) -> Clusters:
    """All four phases in a directory; goes on with a run that did not finish there. It is refused
    if `document_bytes` for each document are more than half of the memory."""
    clock = Clock()
    parameters = run_parameters(documents, sketcher, settings, text)
    limit = _core.ResidentLimit(memory_bytes)
    with limit, Steps(directory, parameters, force=force, durable=durable) as steps:
        with clock("sketch") as phase:
            segment = write_segment(
                documents,
                sketcher,
                directory / SEGMENT,
                steps,
                text=text,
                threads=threads,
                progress=progress,
                simhasher=settings.condition.simhasher,
            )
            phase.rows = len(segment)
        check_room(memory_bytes, len(segment), document_bytes)
        verifier = None
        if settings.exact:
            _ = documents.guesses  # looks for the fields, by which documents are read again
            stored = StoredContents(segment)
            contents = stored if text else Contents(documents, segment, directory)
            verifier = Verifier(segment, contents, sketcher, threads)
        try:
            outcome = run_phases(
                segment,
                settings,
                directory,
                steps,
                threads=threads,
                memory_bytes=memory_bytes,
                progress=progress,
                clock=clock,
                verifier=verifier,
            )
        finally:
            if verifier is not None:
                verifier.close()
    return Clusters(
        Collection([segment]),
        outcome,
        settings,
        settings.threshold,
        settings.containment,
        settings.linkage,
        read_skipped(segment.skipped),
        clock.phases,
        threads,
        owner,
        memory_bytes,
    )
