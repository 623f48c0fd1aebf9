"""How the simhashes of a corpus are distributed: those that it has, or else made of its text."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from roughly.clustering.sketching import Progress
from roughly.corpus.corpus import Corpus
from roughly.errors import ParameterError
from roughly.simhashing.distribution import Distribution, distribution
from roughly.simhashing.page_kind import Example, excerpt, page_kind
from roughly.simhashing.simhasher import Simhasher
from roughly.verification.contents import StoredContents

if TYPE_CHECKING:
    import numpy.typing as npt

    from roughly.storage.collection import Collection

_SPIKES = 20
_EMPTY = 5
_LOOKED_AT = 50
# Documents whose simhashes are made, or read, between two words about it.
_AT_ONCE = 1 << 10


def can_tell(corpus: Corpus) -> None:
    """Raises if there is nothing to tell simhashes from."""
    if stored_simhasher(corpus) is None and not corpus.collection.has_text:
        raise ParameterError(
            "simhashes: not to be had: the corpus has none, and was made without text",
            hint="make the corpus with --method simhash or both, or without --no-text",
        )


def stored_simhasher(corpus: Corpus) -> Simhasher | None:
    """What made the simhashes that a corpus has, if it has any."""
    return corpus.manifest.settings.condition.simhasher


def simhashes(
    corpus: Corpus, arguments: dict[str, Any], folder: Path, progress: Progress
) -> dict[str, Any]:
    """Figures 2a and 2b of the 2007 paper, and what the spikes are. There are no arguments."""
    can_tell(corpus)
    collection = corpus.collection
    rows = collection.live_rows.astype(np.int64)
    stored = stored_simhasher(corpus)
    simhasher = stored or Simhasher()
    advance = progress("simhashes", len(rows), "documents")
    values = np.zeros(len(rows), np.uint64)
    empty = np.zeros(len(rows), bool)
    texts = StoredContents(collection) if stored is None else None
    for begin in range(0, len(rows), _AT_ONCE):
        some = rows[begin : begin + _AT_ONCE]
        at = slice(begin, begin + len(some))
        if texts is None:
            column = collection.take("simhash", some)
            empty[at] = column.is_null().to_numpy(zero_copy_only=False)
            values[at] = column.fill_null(0).to_numpy()
        else:
            made = [simhasher.simhash_documents(batch, 1) for batch in texts.read(some)]
            values[at] = np.concatenate([each.simhashes for each in made])
            empty[at] = np.concatenate([each.empty for each in made])
        collection.release()
        advance(len(some))
    progress("distribution", None, "")
    found = distribution(values, empty)
    without = rows[np.flatnonzero(empty)[:_LOOKED_AT]]
    # A page that several sweeps have is shown once.
    shown = {example["id"]: example for _, example in _examples(collection, without.tolist())}
    return {
        "features": simhasher.parameters.features,
        "weights": simhasher.parameters.weights,
        "stored": stored is not None,
        **_plain(found, collection, rows),
        "empty_examples": list(shown.values())[:_EMPTY],
    }


def _plain(found: Distribution, collection: Collection, rows: npt.NDArray[np.int64]) -> Any:
    plain = found.to_dict()
    plain["bucket_expected"] = found.bucket_expected
    plain["spike_count"] = len(found.spikes)
    plain["spikes"] = plain["spikes"][:_SPIKES]
    for spike in plain["spikes"]:
        # Rows of the distribution are positions among the documents that are there.
        found_at = [int(rows[position]) for position in spike["rows"]]
        # A page that several sweeps have is shown once.
        shown: dict[str, tuple[int, dict[str, Any]]] = {}
        for row, example in _examples(collection, found_at):
            shown.setdefault(example["id"], (row, example))
        spike["rows"] = [row for row, _ in shown.values()]
        spike["examples"] = [example for _, example in shown.values()]
    return plain


def _examples(collection: Collection, rows: list[int]) -> list[tuple[int, dict[str, Any]]]:
    return [(row, _example(collection, row)) for row in rows]


def _example(collection: Collection, row: int) -> dict[str, Any]:
    """A document that stands for many."""
    at = np.array([row], np.int64)
    shown = Example(collection.values("id", at)[0])
    if collection.has_text:
        text, html = collection.text(at)[0].as_py(), collection.values("html", at)[0]
        shown = Example(shown.id, page_kind(text, html), excerpt(text, html))
    return {"id": shown.id, "kind": shown.kind, "excerpt": shown.excerpt}
