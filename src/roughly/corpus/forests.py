"""The forest of a corpus after a change: brought up to date where that is less work, or else by
phases 2 to 4 over everything that is there. Both give the same.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from roughly.clustering.clock import Clock
from roughly.clustering.outcome import Outcome
from roughly.clustering.run import run_phases
from roughly.clustering.sketching import Progress
from roughly.corpus.manifest import FORESTS
from roughly.corpus.regrowth import Unbounded, frozen_frequencies, regrow
from roughly.corpus.snapshot import searcher_for
from roughly.errors import ParameterError
from roughly.sketcher import Sketcher
from roughly.storage.steps import Steps
from roughly.verification.contents import StoredContents
from roughly.verification.exact import Verifier

if TYPE_CHECKING:
    from roughly.clustering.frozen import Frequent
    from roughly.clustering.settings import Settings
    from roughly.corpus.change import Change
    from roughly.parameters import Parameters
    from roughly.storage.collection import Collection


def sketcher_for(parameters: Parameters) -> Sketcher:
    """The sketcher that makes sketches of these parameters."""
    return Sketcher.of(parameters)


def changed_forest(
    change: Change,
    after: Collection,
    folder: Path,
    *,
    recount: bool,
    threads: int,
    memory_bytes: int,
    progress: Progress,
    clock: Clock,
) -> None:
    """The forest after a change. Masses are told by the frequencies that were counted when the
    corpus was clustered; with `recount`, they are counted anew if there is much that is new."""
    settings = change.before.manifest.settings
    frequent = frozen_frequencies(change.before)
    # Hubs that were left out because of a condition are not kept, so masses cannot be updated; and
    # new documents change what is common, and so all pairs.
    plain = (
        settings.method == "join" and not settings.condition.filters and settings.discount is None
    )
    if plain and frequent is not None:
        try:
            with clock("update"):
                regrow(
                    change.before,
                    after,
                    settings,
                    folder,
                    searcher_for(after),
                    threads=threads,
                    memory_bytes=memory_bytes,
                    verifier=_verifier(after, settings, threads),
                )
            return
        except Unbounded:
            for path in folder.iterdir():
                path.unlink()
    whole_forest(
        change,
        after,
        settings,
        folder,
        frequent=None if recount else frequent,
        threads=threads,
        memory_bytes=memory_bytes,
        progress=progress,
        clock=clock,
    )


def _verifier(collection: Collection, settings: Settings, threads: int) -> Verifier | None:
    if not settings.exact:
        return None
    if not collection.has_text:
        raise ParameterError(
            "exact: cannot count pairs again: the corpus keeps no text",
            hint="make the corpus again, without --no-text or without --exact",
        )
    contents = StoredContents(collection)
    return Verifier(collection, contents, sketcher_for(collection.parameters), threads)


def whole_forest(
    change: Change,
    collection: Collection,
    settings: Settings,
    folder: Path,
    *,
    frequent: Frequent | None = None,
    threads: int,
    memory_bytes: int,
    progress: Progress,
    clock: Clock,
) -> Outcome:
    """Clusters everything, from the stored sketches; masses by `frequent`, if it is given."""
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
            verifier=_verifier(collection, settings, threads),
            frequent=frequent,
        )
    for path in folder.glob("estimated-*"):
        path.unlink()  # the exact pairs are there
    return outcome
