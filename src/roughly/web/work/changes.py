"""How the pages of a corpus change, as plain data: numbers of every interval, and of the pages
those that change most and those that left their URL."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from roughly.clustering.sketching import Progress
from roughly.corpus.corpus import Corpus
from roughly.report.change_page import left, restless

# Rows of either list.
ROWS = 50


def changes(
    corpus: Corpus, arguments: dict[str, Any], folder: Path, progress: Progress
) -> dict[str, Any]:
    """The argument is `by`."""
    found = corpus.changes(arguments["by"], 1, progress=progress)
    most, gone = restless(found), left(found)
    return {
        "arguments": arguments,
        **found.to_dict(),
        "restless": [asdict(page) for page in most[:ROWS]],
        "restless_pages": len(most),
        "left": [asdict(page) for page in gone[:ROWS]],
        "left_pages": len(gone),
    }
