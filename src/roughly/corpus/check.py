"""Verifying a corpus: every byte against its checksum, then everything that refers to something
else against that. What is wrong comes as lines that name the file, and what is wrong with it.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from roughly import _core
from roughly.clustering.comparable import attributes_for
from roughly.clustering.forest import Forest
from roughly.clustering.outcome import Outcome, reaching, read_pairs
from roughly.corpus.manifest import SEGMENTS
from roughly.corpus.results import result_problems
from roughly.corpus.snapshot import Snapshot, check_files
from roughly.documents.file import printable
from roughly.errors import RoughlyError
from roughly.storage.arrow_file import ArrowFile


def problems_of(snapshot: Snapshot, threads: int | None = None) -> list[str]:
    """What is wrong, a line a problem; cross-references are looked at if every byte is right."""
    problems = [*_damaged_files(snapshot, threads), *result_problems(snapshot.path)]
    if problems:
        return problems
    try:
        for entry in snapshot.manifest.segments:
            check_files(snapshot.path / SEGMENTS / entry.name, entry.checksum)
        return [
            f"{printable(str(snapshot.path))}: damaged: {line}" for line in _inconsistent(snapshot)
        ]
    except RoughlyError as error:
        return [error.message]


def _damaged_files(snapshot: Snapshot, threads: int | None) -> Iterator[str]:
    try:
        yield from snapshot.collection.verify(threads)
    except RoughlyError as error:
        yield error.message
    if snapshot.manifest.forest is None:
        return
    for beside in sorted(snapshot.forest.glob("*.arrow.crc32c")):
        try:
            ArrowFile(beside.with_suffix("")).verify(threads)
        except RoughlyError as error:
            yield error.message


def _inconsistent(snapshot: Snapshot) -> Iterator[str]:
    """Numbers and files that do not fit each other."""
    collection, outcome = snapshot.collection, snapshot.outcome
    removed = collection.removed
    if len(removed) and (
        (np.diff(removed) <= 0).any() or removed[0] < 0 or removed[-1] >= len(collection)
    ):
        yield "the rows that were removed are out of order or range"
        return
    if collection.documents != snapshot.manifest.documents or collection.documents != len(
        collection.live_rows
    ):
        yield (
            f"{len(collection.live_rows):,} documents are there,"
            f" wanted {snapshot.manifest.documents:,}"
        )
        return
    if not np.array_equal(np.sort(outcome.order), collection.live_rows):
        yield (
            f"document order has {len(outcome.order):,} rows that are not the"
            f" {len(collection.live_rows):,} documents"
        )
        return
    yield from _wrong_groups(outcome)
    representatives = len(outcome.groups.representatives)
    yield from _wrong_pairs(snapshot, outcome, representatives)


def _wrong_groups(outcome: Outcome) -> Iterator[str]:
    of = outcome.groups.representative
    positions = np.arange(len(of))
    if len(of) != len(outcome.order) or (of > positions).any() or (of[of] != of).any():
        yield "a group's representative is not its first document"
    elif ((outcome.groups.kind == 0) != (of == positions)).any():
        yield "a document has a kind and no other representative, or the reverse"
    hubs = outcome.hubs
    held = np.flatnonzero(hubs != _core.NO_HUB)
    if len(hubs) not in (0, len(outcome.groups.representatives)) or (hubs[held] >= held).any():
        yield "a hub leads nowhere"


def _wrong_pairs(snapshot: Snapshot, outcome: Outcome, documents: int) -> Iterator[str]:
    settings = snapshot.manifest.settings
    floors = {"resemblance": settings.floor, "containment": settings.containment_floor}
    forests = {"resemblance": Forest(documents), "containment": Forest(documents)}
    attributes = attributes_for(snapshot.collection, settings)
    rows = outcome.order[outcome.groups.representatives]
    for measure, path in outcome.pair_files:
        for pairs in read_pairs(path):
            floor = floors[measure]
            if (pairs[:, 1] >= documents).any() or (pairs[:, 0] >= pairs[:, 1]).any():
                yield f"a pair of {path.name} leads nowhere"
                return
            by_share = settings.method == "super" and not settings.exact
            if floor is not None and not by_share and not reaching(pairs, floor).all():
                yield f"a pair of {path.name} does not reach the floor"
            if attributes is not None and not attributes.comparable(*rows[pairs[:, :2]].T).all():
                yield f"a pair of {path.name} does not meet the condition"
            forests[measure].add(pairs)
    for measure, links in (
        ("resemblance", outcome.links),
        ("containment", outcome.containment_links),
    ):
        if not np.array_equal(forests[measure].links(), links):
            yield f"the links of {measure} are not the forest of its pairs"
