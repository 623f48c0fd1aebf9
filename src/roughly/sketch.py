"""Sketches: what is kept of a document, and what two sketches say of two documents.

A sketch carries every parameter it was made with, and sketches of different parameters refuse to be
compared. Sketches never change; any thread may use them. `sketcher.py` makes them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Literal

from roughly import _core
from roughly.errors import MismatchError, ParameterError
from roughly.estimate import (
    Estimate,
    agreement_interval,
    containment_interval,
    resemblance_interval,
)
from roughly.parameters import Parameters, check_integer

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pyarrow as pa

    Values = npt.NDArray[np.uint64]

# The bit that marks the words of a short document in its sketch, if such sketches have words.
WORD_MARK = 1 << 63

# Equal sketches of fewer elements are too weak a reason to call two documents equivalent.
EQUIVALENT_SAMPLES = 20

# What an empty sketch of a document that is not empty knows of any other.
UNKNOWN = Estimate(0.0, 0.0, 1.0, 0)

Equivalence = Literal["identical", "lexical", "shingle", "empty"]


class Sketch:
    """What is kept of one document."""

    __slots__ = (
        "canonical_hash",
        "content_hash",
        "fingerprints",
        "level",
        "parameters",
        "size",
        "tokens",
    )

    def __init__(
        self,
        parameters: Parameters,
        fingerprints: Values,
        size: int,
        tokens: int,
        level: int,
        content_hash: str,
        canonical_hash: str,
    ) -> None:
        self.parameters = parameters
        self.fingerprints = fingerprints
        """The kept fingerprints, ascending, those of a short document's words last; for perm:K the
        minima, in the permutations' order."""
        self.size = size
        """The document's number of distinct shingles."""
        self.tokens = tokens
        """The document's number of tokens (or features)."""
        self.level = level
        """For adaptive:T, the i of the modulus 2^i; else 0."""
        self.content_hash = content_hash
        """Equivalence hash of the document's UTF-8 bytes, 32 hexadecimal digits."""
        self.canonical_hash = canonical_hash
        """Equivalence hash of its canonical form."""

    def __len__(self) -> int:
        return len(self.fingerprints)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sketch):
            return NotImplemented
        return self._state() == other._state()

    def __hash__(self) -> int:
        return hash(self._state())

    def _state(self) -> tuple[Any, ...]:
        return (
            self.parameters,
            self.fingerprints.tobytes(),
            self.size,
            self.tokens,
            self.content_hash,
            self.canonical_hash,
        )

    def __repr__(self) -> str:
        p = self.parameters
        return (
            f"Sketch({len(self)} of {self.size} shingles, {self.tokens} tokens,"
            f" w={p.w}, bits={p.bits}, select={p.select!r}, seed={p.seed})"
        )

    @property
    def words(self) -> int:
        """How many of the fingerprints are words of a short document."""
        return len(self) - len(self.shingles)

    @property
    def shingles(self) -> Values:
        """The kept fingerprints but those of words."""
        if not self.parameters.words:
            return self.fingerprints
        import numpy as np

        return self.fingerprints[: np.searchsorted(self.fingerprints, np.uint64(WORD_MARK))]

    def resemblance(self, other: Sketch) -> Estimate:
        """Estimate of the share of both documents' shingles, and words if they are short, that both
        have."""
        import numpy as np

        name, number = self._comparable(other)
        sizes = self.size + self.words, other.size + other.words
        if name == "perm":
            agreeing = (
                int(np.count_nonzero(self.fingerprints == other.fingerprints)) if all(sizes) else 0
            )
            return agreement_interval(agreeing, number, *sizes)
        if all(sizes) and not (len(self) and len(other)):
            return UNKNOWN
        a, b = self._aligned(other)
        common = np.intersect1d(a, b, assume_unique=True)
        union = len(a) + len(b) - len(common)
        if name == "min" and union > number and max(sizes) > number:
            # Of the union only the smallest K are a sample; two complete sketches need no sample.
            union = number
            largest = np.partition(np.union1d(a, b), number - 1)[number - 1]
            common = common[common <= largest]
        return resemblance_interval(len(common), union, *sizes)

    def containment(self, other: Sketch) -> Estimate:
        """Estimate of the share of this document's shingles that the other one has."""
        import numpy as np

        name, _ = self._comparable(other)
        if name in ("min", "perm"):
            raise ParameterError(
                f"containment: not to be had from {self.parameters.select} sketches:"
                " they keep a fixed number of elements, wanted all, mod:M or adaptive:T",
                hint="sketch with select='adaptive:200', or compare the documents exactly with"
                " roughly.containment(a, b)",
            )
        if self.size and other.size and not (len(self) and len(other)):
            return UNKNOWN
        a, b = self._aligned(other, shingles_only=True)
        common = np.intersect1d(a, b, assume_unique=True)
        return containment_interval(len(common), len(a), self.size, other.size)

    def equivalence(self, other: Sketch) -> Equivalence | None:
        """The strongest way in which the documents are equivalent: `identical` (the same text,
        markup included), `lexical` (the same canonical form), `shingle` (the same sketch, of 20
        elements or more), `empty` (neither has a token), or None."""
        self._comparable(other)
        if self.canonical_hash == other.canonical_hash:
            if self.content_hash == other.content_hash:
                return "identical"
            return "lexical" if self.tokens else "empty"
        same = (
            self.size == other.size and self.fingerprints.tobytes() == other.fingerprints.tobytes()
        )
        return "shingle" if same and len(self) >= EQUIVALENT_SAMPLES else None

    def super_shingles(self, length: int) -> Values:
        """Hashes of `length` consecutive elements: at every position, or for perm:K in groups that
        do not overlap."""
        length = check_integer("length", length, 1, 1 << 32)
        grouped = self.parameters.selection[0] == "perm"
        return _core.super_shingles(self.fingerprints, length, grouped, self.parameters.seed)

    def common_super_shingles(self, other: Sketch, length: int) -> int:
        """How many super shingles agree (for perm:K, at the same place)."""
        import numpy as np

        name, _ = self._comparable(other)
        a, b = self.super_shingles(length), other.super_shingles(length)
        if name != "perm":
            return len(np.intersect1d(a, b))
        return int(np.count_nonzero(a == b)) if len(a) == len(b) else 0

    def reduced(self, level: int) -> Sketch:
        """The adaptive sketch at a coarser level: its elements that are multiples of 2^level."""
        import numpy as np

        name, _ = self.parameters.selection
        level = check_integer("level", level, 0, 63)
        if name != "adaptive" or level < self.level:
            raise ParameterError(
                f"level: cannot reduce a {self.parameters.select} sketch of level {self.level}"
                f" to level {level}, wanted an adaptive sketch and a level of {self.level} or more"
            )
        multiple = (self.fingerprints & np.uint64((1 << level) - 1)) == 0
        kept = _read_only(self.fingerprints[multiple])
        return Sketch(
            self.parameters,
            kept,
            self.size,
            self.tokens,
            level,
            self.content_hash,
            self.canonical_hash,
        )

    def _aligned(self, other: Sketch, shingles_only: bool = False) -> tuple[Values, Values]:
        level = max(self.level, other.level)
        a = self if self.level == level else self.reduced(level)
        b = other if other.level == level else other.reduced(level)
        if shingles_only:
            return a.shingles, b.shingles
        return a.fingerprints, b.fingerprints

    def _comparable(self, other: Sketch) -> tuple[str, int]:
        if not isinstance(other, Sketch):
            raise ParameterError(
                f"sketch: cannot be compared with: type {type(other).__name__}, wanted a Sketch"
            )
        if self.parameters != other.parameters:
            one, two = asdict(self.parameters), asdict(other.parameters)
            differing = [name for name in one if one[name] != two[name]]
            shown = [", ".join(f"{n}={p[n]!r}" for n in differing) for p in (one, two)]
            raise MismatchError(
                f"sketches: made with different parameters: {shown[0]} against {shown[1]}",
                hint="sketch both documents with the same Sketcher",
            )
        return self.parameters.selection


class SketchBatch:
    """Sketches of a batch of documents, column by column; item i is the sketch of document i."""

    __slots__ = ("columns", "parameters")

    def __init__(self, parameters: Parameters, columns: _core.SketchColumns) -> None:
        self.parameters = parameters
        self.columns = columns

    def __len__(self) -> int:
        return len(self.columns.size)

    def __getitem__(self, index: int) -> Sketch:
        rows, columns = len(self), self.columns
        if not -rows <= index < rows:
            raise IndexError(f"sketch: no row {index}: the batch has {rows}")
        row = index % rows
        begin, end = columns.offsets[row : row + 2]
        content, canonical = columns.content[row], columns.canonical[row]
        return Sketch(
            self.parameters,
            _read_only(columns.values[begin:end].copy()),
            int(columns.size[row]),
            int(columns.tokens[row]),
            int(columns.level[row]),
            f"{content[0]:016x}{content[1]:016x}",
            f"{canonical[0]:016x}{canonical[1]:016x}",
        )

    def __iter__(self) -> Iterator[Sketch]:
        return (self[row] for row in range(len(self)))

    def __repr__(self) -> str:
        return f"SketchBatch({len(self)} documents, {self.parameters})"

    def to_arrow(self) -> pa.RecordBatch:
        """Columns sketch, size, tokens, level, content, canonical; the parameters as metadata."""
        import pyarrow as pa

        columns = self.columns
        arrays = {
            "sketch": pa.LargeListArray.from_arrays(columns.offsets, columns.values),
            "size": pa.array(columns.size),
            "tokens": pa.array(columns.tokens),
            "level": pa.array(columns.level),
            "content": _hash_column(columns.content),
            "canonical": _hash_column(columns.canonical),
        }
        metadata = {
            f"roughly.{name}": str(value) for name, value in asdict(self.parameters).items()
        }
        batch = pa.RecordBatch.from_arrays(list(arrays.values()), names=list(arrays))
        return batch.replace_schema_metadata(metadata)


def _read_only(values: Values) -> Values:
    values.flags.writeable = False
    return values


def _hash_column(halves: npt.NDArray[np.uint64]) -> pa.Array:
    """Big-endian, so that the 16 bytes read like the 32 digits."""
    import pyarrow as pa

    data = halves.astype(">u8").tobytes()
    return pa.FixedSizeBinaryArray.from_buffers(
        pa.binary(16), len(halves), [None, pa.py_buffer(data)]
    )
