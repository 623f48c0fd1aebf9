"""A deduplication from documents to its result: read and sketch them, then decide.

All that is large lies in a working directory: sketches, ids, and copies of documents that cannot be
read again one by one. A run in a directory that outlives it goes on where an earlier one with the
same parameters stopped.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from roughly.clustering.room import DEDUPLICATION_BYTES, check_room
from roughly.clustering.sketching import (
    Progress,
    identity,
    no_progress,
    read_skipped,
    write_segment,
)
from roughly.condition import NO_CONDITION
from roughly.deduplication.decision import decide
from roughly.deduplication.pool import Pool
from roughly.deduplication.result import Deduplicated
from roughly.documents.state import States
from roughly.pipeline import give_back_memory
from roughly.storage.scratch import Scratch
from roughly.storage.steps import Steps
from roughly.verification.contents import Contents

if TYPE_CHECKING:
    from roughly.corpus import Corpus
    from roughly.deduplication.rule import Rule
    from roughly.documents import Documents
    from roughly.sketcher import Sketcher


def deduplicate(
    documents: Documents,
    rule: Rule,
    sketcher: Sketcher,
    directory: Path,
    *,
    against: Corpus | None = None,
    threads: int,
    memory_bytes: int,
    force: bool = False,
    progress: Progress = no_progress,
    root: str | None = None,
    owner: object = None,
    reasons_later: bool = False,
) -> Deduplicated:
    """Applies the rule to documents, and to those of a corpus before them, which stay. `force`
    forgets what an earlier run left in the directory, `root` is the one directory that was named
    as the input, `owner` the result keeps alive. With `reasons_later` only who goes is known yet:
    the rest is found while the result is written, or when it is asked for."""
    # A machine that stops may leave files that look whole: their checksums tell, and a run that is
    # killed loses nothing. To wait for the disk would take longer than to begin anew.
    states = States(documents.sources)
    own = _sketched_from(documents, rule, sketcher)
    with Steps(directory, own, force=force, durable=False) as steps:
        segment = write_segment(
            documents,
            sketcher,
            directory / "segment",
            steps,
            text=False,
            threads=threads,
            progress=progress,
            simhasher=rule.condition.simhasher,
        )
    known = 0 if against is None else len(against)
    check_room(memory_bytes, len(segment) + known, DEDUPLICATION_BYTES)
    _ = documents.guesses  # looks for the fields, by which documents will be read again
    contents = Contents(documents, segment, directory)
    corpus = None if against is None else against.segment
    pool = Pool(segment, contents, corpus, rule.condition, Scratch(directory))
    if rule.condition.method == "simhash":
        from roughly.deduplication.simhash_decision import decide_by_simhash

        decision = decide_by_simhash(pool, rule, threads, progress)
    else:
        decision = decide(pool, rule, sketcher, threads, memory_bytes, directory, progress)
    if not reasons_later:
        decision.removals(progress)
    pool.release()
    give_back_memory()
    skipped = read_skipped(segment.skipped)
    return Deduplicated(documents, states, segment, rule, decision, skipped, root, owner, against)


def what_decides(
    documents: Documents,
    rule: Rule,
    sketcher: Sketcher,
    against: Corpus | None,
    root: str | None,
) -> dict[str, Any]:
    """All that the output depends on, as JSON has it."""
    said = _sketched_from(documents, rule, sketcher) | {
        "root": root,
        "threshold": str(rule.threshold),
        "containment": str(rule.containment),
        "keep": rule.keep,
        "estimate": rule.estimate,
    }
    if against is not None:
        manifest = against.manifest
        said["against"] = [str(against.path), manifest.forest_checksum, manifest.documents]
    return said


def _sketched_from(documents: Documents, rule: Rule, sketcher: Sketcher) -> dict[str, Any]:
    own = identity(documents, sketcher, rule.condition.simhasher)
    if rule.condition != NO_CONDITION:
        own["condition"] = rule.condition.to_dict()
    return own
