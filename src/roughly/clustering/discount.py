"""Elements that many documents of a site have, left out of the sketches before they are joined.

Pages of one site share its frame, which says nothing about which of them are copies. An element is
*common* in a group, a host or the whole corpus, if `least` of its documents or more have it and at
least a share of them: of the representatives whose sketches are fine enough to hold it. A document
of which fewer than `own` shingles would remain keeps all. What remains lies in a file,

    forest/000001/discount.arrow     a record batch a part of the collection, a row a document

and all that is told of pairs is told of that. Elements are counted in as many passes as the room
asks for, each taking those of one range.
"""

from __future__ import annotations

import tempfile
from dataclasses import asdict, dataclass
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from roughly import _core
from roughly.clustering.frequency import by_chunk, count_frequencies
from roughly.clustering.site import site_numbers
from roughly.clustering.sketches import Rows, Sketches
from roughly.condition import HOST
from roughly.errors import ParameterError
from roughly.parameters import exact_ratio
from roughly.sketch import WORD_MARK
from roughly.storage.arrow_file import ArrowFile, arrow_writer
from roughly.storage.durable import reserve
from roughly.storage.scratch import IN_MEMORY, Scratch

if TYPE_CHECKING:
    from roughly.storage.collection import Stored

CORPUS = "corpus"
SCOPES = (HOST, CORPUS)
# A document of which fewer shingles would remain keeps all: it is little more than the frame, and
# alike to others that are no more.
LEAST_OWN = 20
# What fewer documents have is no frame: three pages of four that are copies are not.
LEAST = 10

FILE = "discount.arrow"
_SCHEMA = pa.schema(
    [
        # What remains of a representative's sketch, ascending; nothing of other documents'.
        pa.field("sketch", pa.large_list(pa.field("item", pa.uint64(), nullable=False))),
        pa.field("size", pa.uint32(), nullable=False),  # shingles that remain, estimated
    ]
)
# What an element takes while it is sorted.
_ELEMENT_BYTES = 24
_NOBODY = -1
# Odd, so that no two groups' multiples are the same, and these are far apart.
_FAR = np.uint64(0x9E3779B97F4A7C15)

Elements = npt.NDArray[np.uint64]
Marks = npt.NDArray[np.uint8]  # of a part's elements
Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Discount:
    """Which elements are left out."""

    scope: str  # "host" or "corpus"
    share: Fraction  # of its documents that have an element, at least
    least: int = LEAST  # documents that have it, at least
    own: int = LEAST_OWN  # shingles that must remain of a document, or all do

    @classmethod
    def parse(cls, text: str) -> Discount:
        """Of "host:0.5"."""
        scope, colon, share = text.partition(":")
        if scope not in SCOPES or not colon:
            raise ParameterError(
                f"discount: not understood: {text!r}, wanted host:SHARE or corpus:SHARE,"
                " as host:0.5"
            )
        return cls(scope, exact_ratio("discount", share))

    def __str__(self) -> str:
        return f"{self.scope}:{float(self.share):g}"

    def to_dict(self) -> dict[str, Any]:
        """As it is recorded with a run."""
        return asdict(self) | {"share": str(self.share)}

    @classmethod
    def from_dict(cls, plain: dict[str, Any]) -> Discount:
        return cls(**(plain | {"share": Fraction(plain["share"])}))


def write_discounted(
    segment: Stored,
    rows: Rows,
    discount: Discount,
    folder: Path,
    *,
    threads: int,
    room_bytes: int,
) -> None:
    """Writes what remains of the sketches of some rows, the representatives, into the file."""
    sketches = Sketches.of_segment(segment)
    counting = _Counting(segment, sketches, rows, discount)
    frequencies = count_frequencies(
        sketches,
        sketches.taking_part(rows),
        documents=len(rows),
        table_bytes=room_bytes,
        threads=threads,
        step=sketches.documents_in(room_bytes),
        scratch=folder,
    )
    with tempfile.TemporaryFile(dir=folder) as file:
        reserve(file.fileno(), len(frequencies), folder)
        common = _core.map_scratch(file.fileno(), len(frequencies))
    counting.mark(by_chunk(sketches, frequencies), by_chunk(sketches, common), max(room_bytes, 1))
    with arrow_writer(folder / FILE, _SCHEMA) as writer:
        for part, marks in enumerate(by_chunk(sketches, common)):
            writer.write(counting.remaining(part, marks != 0))
            sketches.release()


def discounted(segment: Stored, file: ArrowFile, scratch: Scratch = IN_MEMORY) -> Sketches:
    """The sketches that were written, in place in their file; where each begins in scratch."""
    chunks, places = [], []
    size = np.zeros(len(segment), np.uint32)
    every = scratch.zeros(len(segment) + file.num_batches, np.int64)
    row = at = 0
    for part in range(file.num_batches):
        lists = file.column(part, "sketch")
        values = lists.values.buffers()[1]
        offsets = every[at : at + len(lists) + 1]
        offsets[:] = lists.offsets.to_numpy()
        chunks.append((lists.values.to_numpy(), offsets))
        size[row : row + len(lists)] = file.column(part, "size").to_numpy()
        row, at = row + len(lists), at + len(offsets)
        places.append((file.path, file.offset_of(values) if values is not None else 0))
    return Sketches(
        segment.parameters,
        chunks,
        segment.part_rows,
        size,
        segment.level,
        file.release,
        places,
    )


class _Counting:
    """The elements of the representatives, part by part, each as it is in its group."""

    def __init__(self, segment: Stored, sketches: Sketches, rows: Rows, discount: Discount) -> None:
        self._sketches = sketches
        self._discount = discount
        self._taken = np.zeros(len(sketches), bool)
        self._taken[rows] = True
        group = np.zeros(len(sketches), np.int32)
        if discount.scope == HOST:
            group = site_numbers(segment.column("id").chunks)
            segment.release()
        group = np.where(self._taken, group, _NOBODY)
        held = np.bincount(group[group >= 0])
        large = np.flatnonzero(held >= discount.least)
        number = np.full(len(held) + 1, _NOBODY, np.int32)
        number[large] = np.arange(len(large))
        self._group = number[group]
        self._needed = self._least_counts(len(large))

    def _least_counts(self, groups: int) -> npt.NDArray[np.uint32]:
        """For every group and level how many documents must have an element of that level."""
        known = self._group >= 0
        level, group = self._sketches.level[known], self._group[known]
        levels = int(level.max(initial=0)) + 1
        held = np.bincount(group * levels + level, minlength=groups * levels)
        held = np.cumsum(held.reshape(groups, levels), axis=1)
        # Below 2^64, for documents and a ratio's parts are below 2^32.
        p, q = map(np.uint64, self._discount.share.as_integer_ratio())
        whole, rest = np.divmod(held.astype(np.uint64) * p, q)
        needed = np.maximum(whole + (rest > 0), np.uint64(self._discount.least))
        counts: npt.NDArray[np.uint32] = needed.astype(np.uint32)
        return counts

    def remaining(self, part: int, common: npt.NDArray[np.bool_]) -> pa.RecordBatch:
        """The sketches of a part's representatives without what is common, and their sizes by as
        much less."""
        values, offsets = self._sketches.chunks[part]
        length = np.diff(offsets)
        shingle = np.ones(len(values), bool)
        if self._sketches.parameters.words:
            shingle = values < np.uint64(WORD_MARK)
        were = _counts(shingle, offsets)
        size = self._of_part(self._sketches.size, part).astype(np.int64)
        left = were - _counts(common & shingle, offsets)
        # Where a sketch has all shingles, so many are left; of others it is the likeliest number.
        sizes = (2 * size * left + were) // np.maximum(2 * were, 1)
        whole = sizes < self._discount.own
        kept = np.repeat(self._of_part(self._taken, part), length)
        kept &= ~common | np.repeat(whole, length)
        begins = np.concatenate(([0], np.cumsum(_counts(kept, offsets))))
        lists = pa.LargeListArray.from_arrays(
            pa.array(begins, pa.int64()), pa.array(values[kept]), type=_SCHEMA.field("sketch").type
        )
        sizes = np.where(whole, size, sizes).astype(np.uint32)
        return pa.record_batch([lists, pa.array(sizes)], schema=_SCHEMA)

    def _of_part(self, column: npt.NDArray[Any], part: int) -> npt.NDArray[Any]:
        first = part * self._sketches.chunk_rows
        return column[first : first + len(self._sketches.chunks[part][1]) - 1]

    def mark(self, frequencies: list[Marks], common: list[Marks], room_bytes: int) -> None:
        """Marks the common elements of every part. Frequencies are of all groups together: what is
        too rare there needs no other look, and that is nearly all."""
        if not self._needed.size:
            return
        least = min(int(self._needed.min()), 255)
        frequent = sum(int(np.count_nonzero(part >= least)) for part in frequencies)
        passes = max(-(-frequent * _ELEMENT_BYTES // room_bytes), 1)
        for low, high in pairwise([(n << 64) // passes for n in range(passes + 1)]):
            found = [np.zeros(0, np.uint64)]
            for part, of_part in enumerate(frequencies):
                found.append(self._keys(part, of_part >= least, low, high - 1)[1])
                self._sketches.release()
            keys, counts = _counted(np.concatenate(found))
            del found
            for part, of_part in enumerate(frequencies):
                places, own, needed = self._keys(part, of_part >= least, low, high - 1)
                many = counts[np.searchsorted(keys, own)] >= needed
                common[part][places[many]] = 1
                self._sketches.release()

    def _keys(
        self, part: int, frequent: npt.NDArray[np.bool_], low: int, high: int
    ) -> tuple[Numbers, Elements, npt.NDArray[np.uint32]]:
        """Of those of a part's elements that are frequent and in a large group: their places, one
        number for each element in each group, if it is from `low` to `high`, and how many documents
        must have it."""
        values, offsets = self._sketches.chunks[part]
        group = np.repeat(self._of_part(self._group, part), np.diff(offsets))
        places = np.flatnonzero(frequent & (group >= 0))
        values, group = values[places], group[places]
        # By products: numbers of 40 bits would all be low.
        keys = (values ^ (group.astype(np.uint64) * _FAR)) * _FAR
        inside = (keys >= np.uint64(low)) & (keys <= np.uint64(high))
        values, group = values[inside], group[inside]
        # One less has ones where a number ends in zeros, and nowhere else where it has zeros.
        zeros = np.bitwise_count(~values & (values - np.uint64(1)))
        needed = self._needed[group, np.minimum(zeros, self._needed.shape[1] - 1)]
        return places[inside], keys[inside], needed


def _counted(keys: Elements) -> tuple[Elements, Numbers]:
    """Each once, ascending, and how often it was there."""
    keys = np.sort(keys)
    starts = np.flatnonzero(np.concatenate(([True], keys[1:] != keys[:-1]))[: len(keys)])
    return keys[starts], np.diff(np.append(starts, len(keys)))


def _counts(marked: npt.NDArray[np.bool_], offsets: Numbers) -> Numbers:
    """How many elements of every sketch are marked."""
    return np.diff(np.concatenate(([0], np.cumsum(marked)))[offsets])
