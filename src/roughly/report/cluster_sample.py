"""Two documents of a cluster to look at, and where their texts come from.

A text is asked for by its document's id: of some twenty documents, whatever the size of the corpus.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from roughly.comparison import Comparison, compare
from roughly.documents.file import Document
from roughly.sketcher import Sketcher

if TYPE_CHECKING:
    import pyarrow as pa

    from roughly.storage.collection import Stored

Text = tuple[bytes, bool]  # valid UTF-8, and whether it is HTML
Texts = Callable[[str], Text | None]  # by id; None: not at hand

# Longer texts are not compared for a sample, of which a page shows a few thousand bytes.
_SAMPLE_BYTES = 4 << 20
_SAMPLE_TRIES = 5
# Parts of a segment whose ids are in memory at once.
_PARTS_HELD = 16


class Sample(NamedTuple):
    """Two documents of a cluster side by side: A is its representative."""

    a: Document
    b: Document
    comparison: Comparison


def sample(
    representative: str,
    members: pa.Table,
    texts: Texts,
    sketcher: Sketcher,
    threshold: float,
) -> Sample | None:
    """The representative and the member that is least like it among those that reach the threshold;
    where none does, the one that is closest, by containment if need be."""
    first = _document(representative, texts)
    if first is None:
        return None
    for id in likeliest(members, representative, threshold).column("id").to_pylist():
        second = _document(id, texts)
        if second is not None:
            return Sample(first, second, compare(first, second, sketcher=sketcher))
    return None


def likeliest(members: pa.Table, representative: str, threshold: float) -> pa.Table:
    """The few members that `sample` tries, in its order. Those of some members and of others, put
    together in document order, have those of all among them."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    # An id may stand in several sweeps, and a text is found by its id alone.
    members = members.filter(pc.not_equal(members.column("id"), representative))
    kind = members.column("kind").to_numpy()
    resemblance = np.nan_to_num(members.column("resemblance").to_numpy())
    far = resemblance < threshold
    held = np.isin(kind, ("contained", "contains"))
    best = np.where(far, -resemblance, resemblance)
    # The last key counts first.
    order = np.lexsort((kind == "identical", best, far & ~held, far))[:_SAMPLE_TRIES]
    return members.take(pa.array(order))


def _document(id: str, texts: Texts) -> Document | None:
    found = texts(id)
    if found is None or len(found[0]) > _SAMPLE_BYTES:
        return None
    return Document(id, found[0], found[0], found[1], "utf-8", "utf-8")


def stored_texts(segment: Stored) -> Texts:
    """Texts by id, from where the clusters' documents are stored. Of an id that stands there under
    several dates it is the first one's."""
    import numpy as np
    import pyarrow.compute as pc

    def text(id: str) -> Text | None:
        begin = 0
        for ids in id_parts(segment) if segment.has_text else ():
            for row in np.flatnonzero(pc.equal(ids, id)).tolist():
                if is_there(begin + row):
                    stored = segment.text(np.array([begin + row]))[0].as_py()
                    return stored, bool(segment.column("html")[begin + row].as_py())
            begin += len(ids)
        return None

    def is_there(row: int) -> bool:
        rows = segment.live_rows
        at = int(np.searchsorted(rows, row))
        return at < len(rows) and int(rows[at]) == row

    return text


def id_parts(segment: Stored) -> Iterator[pa.Array]:
    """The ids of all documents, in pieces. They lie in files, which leave memory as one goes on."""
    try:
        for number, ids in enumerate(segment.ids().chunks, 1):
            yield ids
            if number % _PARTS_HELD == 0:
                segment.release()
    finally:
        segment.release()
