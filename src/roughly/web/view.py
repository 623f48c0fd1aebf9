"""What pages and API read: one state of a corpus, renewed when the corpus changes.

A `View` never changes: whoever has one sees one state to the end of his request, whatever is added
meanwhile. `Views.now` looks at the manifest's file, a system call, and opens the corpus again only
if another has taken its place. Any thread may call.
"""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from roughly.corpus import Corpus
from roughly.corpus.manifest import MANIFEST
from roughly.documents.file import printable
from roughly.errors import BusyError, RoughlyError

if TYPE_CHECKING:
    from roughly.clustering.clusters import Clusters

# Clusterings, and what was worked out from them, that are kept: those of a slider's last places.
_KEPT = 8


class View:
    """One state of a corpus."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.corpus = Corpus(path)
        self.parameters = _parameters(self.corpus)
        """Of the sketches and the clusters. The seed stays here: who knows it can write a text
        whose likeness to another goes unseen."""
        self._kept: OrderedDict[Any, Any] = OrderedDict()
        self._guard = threading.Lock()

    def warm(self) -> None:
        """Opens now what the first request would have to wait for."""
        _ = self.corpus.collection, self.corpus.outcome, self.corpus.searcher

    def kept(self, key: Any, make: Callable[[], Any]) -> Any:
        """What `make` gives, kept for later requests under `key` as long as few others come."""
        with self._guard:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        made = make()  # Two threads may both make it; the same comes out.
        with self._guard:
            self._kept[key] = made
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        return made

    def clusters(
        self,
        threshold: float | str | Fraction | None = None,
        containment: float | str | Fraction | None = None,
    ) -> Clusters:
        """The clusters at these thresholds; those of the corpus unless given."""
        key = ("clusters", str(threshold), str(containment))
        found: Clusters = self.kept(key, lambda: self.corpus.clusters(threshold, containment))
        return found


class Views:
    """The latest state of a corpus."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._guard = threading.Lock()
        self._stamp = self._look()
        self._view = View(self.path)

    def now(self) -> View:
        """The state that the corpus has now."""
        try:
            stamp = self._look()
            if stamp != self._stamp:
                with self._guard:
                    if stamp != self._stamp:
                        view = View(self.path)
                        self._view, self._stamp = view, stamp
        except (OSError, RoughlyError) as error:
            raise BusyError(
                f"{printable(self.path.name)}: cannot be read now: {printable(str(error))}",
                hint="ask again; if it stays so, look at the corpus with: roughly verify",
            ) from error
        return self._view

    def _look(self) -> tuple[int, int, int]:
        """Tells one manifest from another: each is a new file."""
        try:
            found = os.stat(self.path / MANIFEST)
        except OSError:
            return 0, 0, 0  # opening it says what is there instead
        return found.st_mtime_ns, found.st_ino, found.st_size


def _parameters(corpus: Corpus) -> dict[str, Any]:
    of_sketch, settings = corpus.manifest.parameters, corpus.manifest.settings

    def number(ratio: Fraction | None) -> float | None:
        return None if ratio is None else float(ratio)

    return {
        "algorithm": of_sketch.algorithm,
        "w": of_sketch.w,
        "bits": of_sketch.bits,
        "select": of_sketch.select,
        "words": of_sketch.words,
        "features": of_sketch.features,
        "threshold": number(settings.threshold),
        "floor": number(settings.floor),
        "containment": number(settings.containment),
        "containment_floor": number(settings.containment_floor),
        "method": settings.method,
        "exact": settings.exact,
        "text": corpus.manifest.text,
    }
