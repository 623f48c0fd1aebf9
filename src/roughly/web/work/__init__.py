"""What jobs do: functions of a corpus that take long, each with its arguments as plain values.

A work gets the corpus, its arguments, a folder for files that can be downloaded, and what to tell
how far it is; what it returns is plain data that its page shows.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from roughly.clustering.sketching import Progress
from roughly.corpus.corpus import Corpus
from roughly.web.work.changes import changes
from roughly.web.work.lost import every_page, listed_pages
from roughly.web.work.simhash import simhashes

Work = Callable[[Corpus, dict[str, Any], Path, Progress], dict[str, Any]]

WORK: dict[str, Work] = {
    "changes": changes,
    "every-page": every_page,
    "listed-pages": listed_pages,
    "simhashes": simhashes,
}
