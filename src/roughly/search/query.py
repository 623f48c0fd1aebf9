"""A document to search by, sketched as the collection's documents were.

Of a text everything is known, so of adaptive sketches the query brings all its fingerprints (or as
many as are looked up in a moment): with documents of any level it then meets at their own level,
where they have the most samples. A document that is stored without text has its sketch alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from roughly.documents.file import Document
from roughly.parameters import Parameters
from roughly.search.searcher import QueryColumns
from roughly.sketch import WORD_MARK, Sketch
from roughly.sketcher import Sketcher

# Elements that are looked up; a larger document brings those of a coarser level.
_MOST_ELEMENTS = 1 << 14


@dataclass(frozen=True, slots=True)
class Query:
    """A document to search by."""

    parameters: Parameters
    columns: QueryColumns
    size: int  # distinct shingles, words not counted
    tokens: int
    content_hash: str
    canonical_hash: str
    text: Document | None = None  # None if only a sketch is known
    row: int | None = None  # of the collection, if it is a document there; not found itself

    @classmethod
    def of_text(cls, text: Document, parameters: Parameters, row: int | None = None) -> Query:
        sketcher = sketcher_of(parameters)
        sketch = _sketch(sketcher, text)
        columns = QueryColumns.of_sketch(sketch)
        if parameters.selection[0] == "adaptive" and sketch.level:
            columns = _finest(_sketch(sketcher_of(parameters, "all"), text), sketch.level)
        return cls(
            parameters,
            columns,
            sketch.size,
            sketch.tokens,
            sketch.content_hash,
            sketch.canonical_hash,
            text,
            row,
        )

    @property
    def level(self) -> int:
        return int(self.columns.level[0])

    def elements_at(self, level: int) -> int:
        """How many elements, without words, it has where it meets documents of a level."""
        level = max(level, self.level)
        values = self.columns.values
        if self.parameters.words:
            values = values[: np.searchsorted(values, np.uint64(WORD_MARK))]
        if level == self.level:
            return len(values)
        mask = np.uint64((1 << level) - 1)
        return int(np.count_nonzero((values & mask) == 0))

    @property
    def words(self) -> int:
        """How many words it has beside its shingles, if it is short."""
        return len(self.columns.values) - self.elements_at(0) if self.parameters.words else 0

    def all_elements(self) -> npt.NDArray[np.uint64]:
        """The fingerprints of all shingles, and words, ascending; needs the text."""
        assert self.text is not None
        return _sketch(sketcher_of(self.parameters, "all"), self.text).fingerprints


@lru_cache
def sketcher_of(parameters: Parameters, select: str | None = None) -> Sketcher:
    """The sketcher that made sketches of these parameters, or one of another selection."""
    return Sketcher.of(parameters, select)


def _sketch(sketcher: Sketcher, text: Document) -> Sketch:
    # As str: bytes would be decoded once more, by what the page declares about itself.
    given = text.text_utf8.decode("utf-8", "surrogatepass")
    return sketcher.sketch(given, content_type="html" if text.html else "text")


def _finest(whole: Sketch, level: int) -> QueryColumns:
    """All elements, or those of the finest level up to the sketch's own that are not too many."""
    values, finest = whole.fingerprints, 0
    while len(values) > _MOST_ELEMENTS and finest < level:
        finest += 1
        values = values[(values & np.uint64((1 << finest) - 1)) == 0]
    return QueryColumns(
        np.ascontiguousarray(values),
        np.array([0, len(values)], np.int64),
        np.array([whole.size], np.uint32),
        np.array([finest], np.uint8),
    )
