"""The forest of a corpus after a change: phases 2 to 4 over everything that is there."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from roughly.clustering.clock import Clock
from roughly.clustering.run import Outcome, run_phases
from roughly.clustering.sketching import Progress
from roughly.corpus.manifest import FORESTS
from roughly.errors import ParameterError
from roughly.sketcher import Sketcher
from roughly.storage.steps import Steps
from roughly.verification.contents import StoredContents
from roughly.verification.exact import Verifier

if TYPE_CHECKING:
    from roughly.clustering.settings import Settings
    from roughly.corpus.change import Change
    from roughly.parameters import Parameters
    from roughly.storage.collection import Collection


def sketcher_for(parameters: Parameters) -> Sketcher:
    """The sketcher that makes sketches of these parameters."""
    p = parameters
    return Sketcher(w=p.w, select=p.select, seed=p.seed, bits=p.bits)


def whole_forest(
    change: Change,
    collection: Collection,
    settings: Settings,
    folder: Path,
    *,
    threads: int,
    memory_bytes: int,
    progress: Progress,
    clock: Clock,
) -> Outcome:
    """Clusters everything, from the stored sketches."""
    verifier = None
    if settings.exact:
        if not collection.has_text:
            raise ParameterError(
                "exact: cannot count pairs again: the corpus keeps no text",
                hint="make the corpus again, without --no-text or without --exact",
            )
        contents = StoredContents(collection)
        verifier = Verifier(collection, contents, sketcher_for(collection.parameters), threads)
    with Steps(change.work, {}, durable=False) as steps:
        outcome = run_phases(
            collection,
            settings,
            change.path,
            steps,
            forest=f"{FORESTS}/{folder.name}",
            threads=threads,
            memory_bytes=memory_bytes,
            progress=progress,
            clock=clock,
            verifier=verifier,
        )
    for path in folder.glob("estimated-*"):
        path.unlink()  # the exact pairs are there
    return outcome
