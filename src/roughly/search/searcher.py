"""Neighbours of documents by their sketches, over all segments of a collection.

A global row is a row of a segment plus the segment's first global row. What is found is exact:
every live row whose estimate reaches a floor, and only those, with the integers that the join of a
clustering would count. Memory does not depend on the number of documents. Any thread may search.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from roughly import _core
from roughly.errors import MismatchError, ParameterError
from roughly.parameters import Parameters, exact_ratio, threads_or_all
from roughly.storage.segment_index import MAPPED_BYTES, Level, SegmentIndex, reading
from roughly.storage.sketch_table import without_words

if TYPE_CHECKING:
    from roughly.sketch import Sketch
    from roughly.storage.segment import Segment

Threshold = float | str | Fraction
Direction = Literal["both", "contained", "contains"]

# Columns: query, global row, common, sampled, elements of the query and of the row at the level
# where the two meet, and how many of those are common. common / sampled is the resemblance;
# the last / elements a containment. Words of short documents count for resemblance alone.
NeighbourTable = npt.NDArray[np.uint32]

# Fewer elements than these may all be somewhere by chance; as in a clustering.
LEAST_CONTAINED = 10

# Queries for which files are mapped: from here on they touch most of an index anyway.
_MANY = 2000

_NOT_ASKED = (0, 0)
_NOTHING = np.zeros(0, np.uint8)

# Sizes are counted one by one up to here, above in so many steps for each doubling.
_SIZES = 256
_STEPS = 8
_BUCKETS = 512  # enough for 2^32 shingles


class Floors(NamedTuple):
    """Least shares of samples in common, as numerator and denominator; None: not asked for."""

    resembles: tuple[int, int] | None  # of both
    contained: tuple[int, int] | None  # of the query's
    contains: tuple[int, int] | None  # of the document's


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
        self.restricted: dict[str, Searcher] = {}
        """Searchers of some of the documents, by what they have in common."""
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
            return np.zeros((0, 7), np.uint32)
        check_searchable(parameters, containment_floor is not None)
        resembles = None if floor is None else ratio("floor", floor)
        contained = contains = None
        if containment_floor is not None:
            asked = ratio("containment_floor", containment_floor)
            contained = asked if direction != "contains" else None
            contains = asked if direction != "contained" else None
        floors = Floors(resembles, contained, contains)
        return self.neighbours_from(
            queries, floors, least_contained=least_contained, threads=threads
        )

    def neighbours_from(
        self,
        queries: Queries,
        floors: Floors,
        *,
        least_contained: int = LEAST_CONTAINED,
        threads: int | None = None,
    ) -> NeighbourTable:
        """The same with a floor for each of the three shares."""
        parameters = self.parameters
        if parameters is None:
            return np.zeros((0, 7), np.uint32)
        if parameters.words:
            return self._neighbours_with_words(queries, floors, least_contained, threads)
        found = self._neighbours(queries, floors, least_contained, threads)
        return np.column_stack([found, found[:, 2]])

    def _neighbours_with_words(
        self, queries: Queries, floors: Floors, least_contained: int, threads: int | None
    ) -> NeighbourTable:
        """Who resembles by all elements, and who contains or is contained by shingles; then both
        are counted for whoever was found."""
        cut = QueryColumns(
            *without_words(queries.values, queries.offsets), queries.size, queries.level
        )
        found = []
        if floors.resembles is not None:
            near = Floors(floors.resembles, None, None)
            found.append(self._neighbours(queries, near, 0, threads, with_words=True))
        if floors.contained is not None or floors.contains is not None:
            inside = floors._replace(resembles=None)
            found.append(self._neighbours(cut, inside, least_contained, threads))
        table = np.concatenate([np.zeros((0, 6), np.uint32), *found])
        key = table[:, 0].astype(np.uint64) << np.uint64(32) | table[:, 1]
        table = table[np.unique(key, return_index=True)[1]]
        table = np.column_stack([table, table[:, 2]])
        # Where neither has words, all counts are the same.
        has_words = np.diff(queries.offsets) > np.diff(cut.offsets)
        concerned = has_words[table[:, 0]] | (self.words(table[:, 1].astype(np.int64)) > 0)
        if concerned.any():
            pairs = table[concerned, :2]
            table[concerned] = self._measured(queries, pairs, threads_or_all(threads))
        return table

    def _measured(
        self, queries: Queries, pairs: npt.NDArray[np.uint32], threads: int
    ) -> NeighbourTable:
        """Queries and rows with all that is counted of them."""
        parameters = self.parameters
        assert parameters is not None
        rows, position = np.unique(pairs[:, 1], return_inverse=True)
        others = self.sketches(rows.tolist())
        count = len(queries.size)
        values = np.concatenate([queries.values, others.values])
        begins = queries.offsets[:-1], others.offsets + len(queries.values)
        together = _core.SketchSet(
            [(values, np.concatenate(begins))],
            1 << (count + len(rows) - 1).bit_length(),
            np.arange(count + len(rows), dtype=np.uint32),
            np.concatenate([queries.size, others.size]),
            np.concatenate([queries.level, others.level]),
            0,
            words=parameters.words > 0,
        )
        table = np.zeros((len(pairs), 4), np.uint32)
        table[:, 0], table[:, 1] = pairs[:, 0], count + position
        near = together.measure("resemblance", table, threads)
        # Containment is of the second in the first.
        of_found = together.measure("contained", table, threads)
        of_query = together.measure("contained", table[:, [1, 0, 2, 3]].copy(), threads)
        return np.column_stack([pairs, near[:, 2:], of_query[:, 3], of_found[:, 3], of_found[:, 2]])

    def _neighbours(
        self,
        queries: Queries,
        floors: Floors,
        least_contained: int,
        threads: int | None,
        with_words: bool = False,
    ) -> NeighbourTable:
        """The first six columns, by one kind of elements."""
        parameters = self.parameters
        assert parameters is not None
        name, number = parameters.selection
        resembles, contained, contains = (each or _NOT_ASKED for each in floors)
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
                    resembles,
                    contained,
                    contains,
                    least_contained,
                    number if name == "min" else 0,
                    _NOTHING if shelf.removed is None else shelf.removed,
                    threads_or_all(threads),
                    with_words,
                )
            if shelf.first_row:
                table = table + np.array([0, shelf.first_row, 0, 0, 0, 0], np.uint32)
            found.append(table)
        if len(found) == 1:
            return found[0]
        together = np.concatenate(found)
        return together[np.argsort(together[:, 0], kind="stable")]

    @cached_property
    def levels(self) -> list[Level]:
        """The documents of all segments by level, with those that were removed."""
        found: dict[int, Level] = {}
        for shelf in self.shelves:
            for one in shelf.index.facts.levels:
                other = found.get(one.level, one._replace(documents=0))
                found[one.level] = Level(
                    one.level,
                    one.documents + other.documents,
                    min(one.least_kept, other.least_kept),
                    min(one.least_size, other.least_size),
                    max(one.most_size, other.most_size),
                )
        return [found[level] for level in sorted(found)]

    @cached_property
    def sizes_by_level(self) -> list[tuple[int, float, float, int]]:
        """How many live documents there are by level and size: level, least and largest size, and
        their number. Reads the records of all documents."""
        counts = np.zeros(64 * _BUCKETS, np.int64)
        for shelf in self.shelves:
            gone = shelf.removed
            for begin, records in shelf.index.record_pieces():
                size = records["size"].astype(np.int64)
                steps = np.floor(_STEPS * np.log2(np.maximum(size, _SIZES) / _SIZES))
                bucket = np.where(size < _SIZES, size, _SIZES + steps.astype(np.int64))
                key = records["level"].astype(np.int64) * _BUCKETS + bucket
                if gone is not None:
                    rows = np.arange(begin, begin + len(records))
                    key = key[(gone[rows // 8] >> (rows % 8)) & 1 == 0]
                counts += np.bincount(key, minlength=len(counts))
        return [
            (key // _BUCKETS, *_sizes_in(key % _BUCKETS), int(counts[key]))
            for key in np.flatnonzero(counts).tolist()
        ]

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

    def live(self, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        """Which of some global rows are there."""
        found = np.ones(len(rows), bool)
        number = np.searchsorted(self._first_rows, rows, "right") - 1
        for at, shelf in enumerate(self.shelves):
            if shelf.removed is not None:
                own = number == at
                inside = rows[own] - shelf.first_row
                found[own] = (shelf.removed[inside // 8] >> (inside % 8)) & 1 == 0
        return found

    def sizes(self, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.uint32]:
        """Of some global rows the number of distinct shingles."""
        found = np.zeros(len(rows), np.uint32)
        for i, row in enumerate(rows.tolist()):
            shelf, inside = self.shelf_of(row)
            found[i] = shelf.index.records(np.array([inside]))[0]["size"]
        return found

    def words(self, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.uint8]:
        """Of some global rows the number of words in their sketches."""
        found = np.zeros(len(rows), np.uint8)
        number = np.searchsorted(self._first_rows, rows, "right") - 1
        for at, shelf in enumerate(self.shelves):
            own = number == at
            found[own] = shelf.index.records(rows[own] - shelf.first_row)["words"]
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


def _sizes_in(bucket: int) -> tuple[float, float]:
    """The least and the largest size that is counted there."""
    if bucket < _SIZES:
        return bucket, bucket
    edges = (_SIZES * 2 ** ((bucket - _SIZES + step) / _STEPS) for step in (0, 1))
    return next(edges), next(edges)


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
    found = exact_ratio(name, value)
    return found.numerator, found.denominator
