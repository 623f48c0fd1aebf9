"""Neighbours of documents by their sketches, over all segments of a collection.

A global row is a row of a segment plus the segment's first global row. What is found is exact:
every live row whose estimate reaches a floor, and only those, with the integers that the join of a
clustering would count. Memory does not depend on the number of documents. Any thread may search.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np
import numpy.typing as npt

from roughly.errors import MismatchError, ParameterError
from roughly.parameters import Parameters, threads_or_all
from roughly.storage.segment_index import MAPPED_BYTES, SegmentIndex, reading

if TYPE_CHECKING:
    from roughly.sketch import Sketch
    from roughly.storage.segment import Segment

Threshold = float | str | Fraction
Direction = Literal["both", "contained", "contains"]

# Columns: query, global row, common, sampled, elements of the query and of the row at the level
# where the two meet. common / sampled is the resemblance; common / elements a containment.
NeighbourTable = npt.NDArray[np.uint32]

# Fewer elements than these may all be somewhere by chance; as in a clustering.
LEAST_CONTAINED = 10

# Queries for which files are mapped: from here on they touch most of an index anyway.
_MANY = 2000

_NOT_ASKED = (0, 0)
_NOTHING = np.zeros(0, np.uint8)


class Queries(Protocol):
    """Sketches of documents, as `SketchBatch.columns` has them."""

    @property
    def values(self) -> npt.NDArray[np.uint64]: ...
    @property
    def offsets(self) -> npt.NDArray[np.int64]: ...
    @property
    def size(self) -> npt.NDArray[np.uint32]: ...
    @property
    def level(self) -> npt.NDArray[np.uint8]: ...


@dataclass(frozen=True, slots=True)
class QueryColumns:
    """Sketches put together of single ones."""

    values: npt.NDArray[np.uint64]
    offsets: npt.NDArray[np.int64]
    size: npt.NDArray[np.uint32]
    level: npt.NDArray[np.uint8]

    @classmethod
    def of_sketch(cls, sketch: Sketch) -> QueryColumns:
        return cls(
            sketch.fingerprints,
            np.array([0, len(sketch)], np.int64),
            np.array([sketch.size], np.uint32),
            np.array([sketch.level], np.uint8),
        )


@dataclass(frozen=True, slots=True)
class Shelf:
    """A segment among others."""

    segment: Segment
    index: SegmentIndex
    first_row: int = 0  # global
    removed: npt.NDArray[np.uint8] | None = None  # a bit a row, the lowest first; set if it is gone

    @classmethod
    def of(
        cls, segment: Segment, first_row: int = 0, removed: npt.NDArray[np.bool_] | None = None
    ) -> Shelf:
        """With `removed` as a truth value for every row."""
        bits = None if removed is None else np.packbits(removed, bitorder="little")
        return cls(segment, SegmentIndex(segment), first_row, bits)


class Searcher:
    """Looks documents up in some segments, which have the same parameters and ascend by
    `first_row`."""

    def __init__(self, shelves: Sequence[Shelf]) -> None:
        self.shelves = list(shelves)
        for one, two in zip(self.shelves, self.shelves[1:], strict=False):
            if one.segment.parameters != two.segment.parameters:
                raise MismatchError(
                    "segments: made with different parameters:"
                    f" {one.segment.parameters} against {two.segment.parameters}"
                )
            if one.first_row + len(one.segment) > two.first_row:
                raise ParameterError("segments: out of order: their rows overlap")
        for shelf in self.shelves:
            shelf.index.most_mapped = MAPPED_BYTES // len(self.shelves)
        self._first_rows = np.array([each.first_row for each in self.shelves], np.int64)

    @property
    def parameters(self) -> Parameters | None:
        """With which the documents were sketched; None without a segment."""
        return self.shelves[0].segment.parameters if self.shelves else None

    def neighbours(
        self,
        queries: Queries,
        floor: Threshold | None = None,
        containment_floor: Threshold | None = None,
        *,
        direction: Direction = "both",
        least_contained: int = LEAST_CONTAINED,
        threads: int | None = None,
    ) -> NeighbourTable:
        """All live rows whose resemblance to a query reaches `floor`, or of which one of the two
        contains the other at `containment_floor`: the row contains the query (`contained`), the
        query the row (`contains`), or `both`. Ascending by query, then by global row.

        Nothing is called contained by fewer than `least_contained` elements, unless they are all
        it has.
        """
        parameters = self.parameters
        if parameters is None:
            return np.zeros((0, 6), np.uint32)
        name, number = parameters.selection
        check_searchable(parameters, containment_floor is not None)
        resemblance = _NOT_ASKED if floor is None else ratio("floor", floor)
        contained = contains = _NOT_ASKED
        if containment_floor is not None:
            asked = ratio("containment_floor", containment_floor)
            contained = asked if direction != "contains" else _NOT_ASKED
            contains = asked if direction != "contained" else _NOT_ASKED
        found = []
        for shelf in self.shelves:
            if len(queries.size) >= _MANY:
                shelf.index.map()
            with reading():
                table = shelf.index.inverted.neighbours(
                    queries.values,
                    queries.offsets,
                    queries.size,
                    queries.level,
                    resemblance,
                    contained,
                    contains,
                    least_contained,
                    number if name == "min" else 0,
                    _NOTHING if shelf.removed is None else shelf.removed,
                    threads_or_all(threads),
                )
            if shelf.first_row:
                table = table + np.array([0, shelf.first_row, 0, 0, 0, 0], np.uint32)
            found.append(table)
        if len(found) == 1:
            return found[0]
        together = np.concatenate(found)
        return together[np.argsort(together[:, 0], kind="stable")]

    def shelf_of(self, row: int) -> tuple[Shelf, int]:
        """The segment of a global row, and the row in it."""
        shelf = self.shelves[int(np.searchsorted(self._first_rows, row, "right")) - 1]
        return shelf, row - shelf.first_row

    def rows_of_content(self, content_hash: str) -> npt.NDArray[np.int64]:
        """Live global rows whose content may have this hash, ascending: half of it is the same."""
        half = np.array([int(content_hash[:16], 16)], np.uint64)
        return self._live(lambda index: index.rows_of_content(half)[1])

    def rows_of_url(self, key: str) -> npt.NDArray[np.int64]:
        """Live global rows whose ids may have this key, ascending."""
        return self._live(lambda index: index.rows_of_url(key))

    def _live(
        self, look_up: Callable[[SegmentIndex], npt.NDArray[np.uint32]]
    ) -> npt.NDArray[np.int64]:
        found = [np.zeros(0, np.int64)]
        for shelf in self.shelves:
            rows = look_up(shelf.index).astype(np.int64)
            if shelf.removed is not None:
                rows = rows[(shelf.removed[rows // 8] >> (rows % 8)) & 1 == 0]
            found.append(rows + shelf.first_row)
        return np.concatenate(found)

    def sizes(self, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.uint32]:
        """Of some global rows the number of distinct shingles."""
        found = np.zeros(len(rows), np.uint32)
        for i, row in enumerate(rows.tolist()):
            shelf, inside = self.shelf_of(row)
            found[i] = shelf.index.records(np.array([inside]))[0]["size"]
        return found

    def sketches(self, rows: Sequence[int]) -> QueryColumns:
        """The sketches of some global rows, to search by."""
        values, records = [np.zeros(0, np.uint64)], []
        for row in rows:
            shelf, inside = self.shelf_of(row)
            values.append(shelf.index.sketch(inside))
            records.append(shelf.index.records(np.array([inside]))[0])
        offsets = np.cumsum([len(each) for each in values], dtype=np.int64)
        return QueryColumns(
            np.concatenate(values),
            offsets,
            np.array([record["size"] for record in records], np.uint32),
            np.array([record["level"] for record in records], np.uint8),
        )


def check_searchable(parameters: Parameters, containment: bool) -> None:
    """Raises what a search by such sketches cannot do."""
    name, _ = parameters.selection
    if name == "perm":
        raise ParameterError(
            f"search: not to be had by {parameters.select} sketches: they are no sets whose"
            " elements can be looked up, wanted all, mod:M, min:K or adaptive:T",
            hint="cluster the documents again with --select adaptive:200",
        )
    if name == "min" and containment:
        raise ParameterError(
            f"containment: not to be had from {parameters.select} sketches:"
            " they keep a fixed number of elements, wanted all, mod:M or adaptive:T",
            hint="search by resemblance, or cluster the documents again with --select adaptive:200",
        )


@lru_cache
def ratio(name: str, value: Threshold) -> tuple[int, int]:
    """A threshold without rounding: 0.7 is 7/10."""
    try:
        found = value if isinstance(value, Fraction) else Fraction(str(value))
    except (ValueError, ZeroDivisionError):
        found = Fraction(0)
    found = found.limit_denominator((1 << 32) - 1)
    if not 0 < found <= 1:
        raise ParameterError(f"{name}: out of range: {value!r}, wanted more than 0 and at most 1")
    return found.numerator, found.denominator
