"""Sketches: what is kept of a document, and what two sketches say of two documents.

A Sketcher turns documents into Sketch objects, one at a time or a batch at once, always by the same
core. A sketch carries every parameter it was made with, and sketches of different parameters refuse
to be compared. Sketchers and sketches never change; any thread may use them.
"""

from __future__ import annotations

import operator
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from roughly import _core
from roughly.errors import MismatchError, ParameterError
from roughly.estimate import (
    Estimate,
    agreement_interval,
    containment_interval,
    resemblance_interval,
)

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pyarrow as pa

    Values = npt.NDArray[np.uint64]

ALGORITHM_VERSION = 1

# Longer shingles than this only find copies that `identical` and `lexical` find too.
LARGEST_WIDTH = 1000

# Equal sketches of fewer elements are too weak a reason to call two documents equivalent.
EQUIVALENT_SAMPLES = 20

# What an empty sketch of a document that is not empty knows of any other.
UNKNOWN = Estimate(0.0, 0.0, 1.0, 0)

Equivalence = Literal["identical", "lexical", "shingle", "empty"]


@dataclass(frozen=True, slots=True)
class Parameters:
    """Everything a sketch depends on besides the document."""

    algorithm: int  # version, see docs/algorithm.md
    w: int  # tokens in a shingle
    bits: int  # of a fingerprint
    select: str  # what is kept: all, mod:M, min:K, adaptive:T or perm:K
    seed: int  # derives every key
    features: Literal[
        "text", "given"
    ]  # made from a document's text, or from features the caller gave

    @property
    def selection(self) -> tuple[str, int]:
        """The selection's name and its number (0 for `all`)."""
        name, _, number = self.select.partition(":")
        return name, int(number or 0)


@dataclass(frozen=True, slots=True)
class Preset:
    """A system of one of the papers: how it sketches, and when two sketches belong together."""

    w: int
    bits: int
    select: str
    threshold: float | None = None  # resemblance from which on they do
    super_length: int = 0  # or: sketch elements in a super shingle,
    super_agreeing: int = 0  # and how many of these must agree

    def sketcher(self, seed: int | Literal["random"] = 0) -> Sketcher:
        return Sketcher(w=self.w, select=self.select, seed=seed, bits=self.bits)

    def together(self, a: Sketch, b: Sketch) -> bool:
        """Whether the system takes the two documents for near duplicates."""
        if self.threshold is not None:
            return a.resemblance(b).value >= self.threshold
        return a.common_super_shingles(b, self.super_length) >= self.super_agreeing


PRESETS: dict[str, Preset] = {
    "broder97": Preset(10, 40, "mod:25", threshold=0.5),
    "broder97-super": Preset(10, 64, "perm:84", super_length=14, super_agreeing=2),
}


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
        """The kept fingerprints, ascending; for perm:K the minima, in the permutations' order."""
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

    def resemblance(self, other: Sketch) -> Estimate:
        """Estimate of the share of both documents' shingles that both have."""
        import numpy as np

        name, number = self._comparable(other)
        sizes = self.size, other.size
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
        a, b = self._aligned(other)
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

    def _aligned(self, other: Sketch) -> tuple[Values, Values]:
        level = max(self.level, other.level)
        a = self if self.level == level else self.reduced(level)
        b = other if other.level == level else other.reduced(level)
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


class Sketcher:
    """Turns documents into sketches.

    w: tokens in a shingle. select: what is kept, `all`, `mod:M`, `min:K`, `adaptive:T` or `perm:K`.
    seed: 64 bits that derive every key, or "random"; a secret seed keeps others from writing texts
    that slip through the sample. bits: 64, or 40 as in the 1997 paper.
    """

    __slots__ = ("_parameters",)

    def __init__(
        self,
        w: int = 5,
        select: str = "adaptive:200",
        seed: int | Literal["random"] = 0,
        bits: int = 64,
    ) -> None:
        if seed == "random":
            seed = int.from_bytes(os.urandom(8), "little")
        w = check_integer("w", w, 1, LARGEST_WIDTH)
        seed = check_integer("seed", seed, 0, (1 << 64) - 1)
        if check_integer("bits", bits, 40, 64) not in (64, 40):
            raise ParameterError(f"bits: unknown: {bits!r}, wanted 64 or 40")
        name, number = _parse_select(select)
        if name == "perm" and bits != 64:
            raise ParameterError(
                f"select: perm needs 64-bit fingerprints: bits is {bits}, wanted 64"
            )
        select = name if name == "all" else f"{name}:{number}"
        self._parameters = Parameters(ALGORITHM_VERSION, w, int(bits), select, seed, "text")

    @property
    def parameters(self) -> Parameters:
        return self._parameters

    @property
    def w(self) -> int:
        return self._parameters.w

    @property
    def select(self) -> str:
        return self._parameters.select

    @property
    def seed(self) -> int:
        return self._parameters.seed

    @property
    def bits(self) -> int:
        return self._parameters.bits

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sketcher) and self._parameters == other._parameters

    def __hash__(self) -> int:
        return hash(self._parameters)

    def __repr__(self) -> str:
        return f"Sketcher(w={self.w}, select={self.select!r}, seed={self.seed}, bits={self.bits})"

    def sketch(self, document: str | bytes, content_type: str = "auto") -> Sketch:
        """The sketch of one document. Text is taken as it is; bytes are decoded (byte order mark,
        declared charset, then detection). `content_type`: "html", "text" or "auto"."""
        return self.sketch_batch([document], content_type, threads=1)[0]

    def sketch_batch(
        self, documents: Any, content_type: str = "auto", threads: int | None = None
    ) -> SketchBatch:
        """Sketches of many documents at once, on all cores unless `threads` says how many.

        The fast path is an Arrow array of strings or binary (from pyarrow, polars, DuckDB, ...),
        which is read in place if it is UTF-8; nulls count as empty documents. A list of str, bytes
        and None works too. Bytes that are not UTF-8 are decoded as in `sketch`.
        """
        if content_type not in ("auto", "html", "text"):
            raise ParameterError(
                f"content_type: unknown: {content_type!r}, wanted 'auto', 'html' or 'text'"
            )
        if threads is None:
            threads = (
                len(os.sched_getaffinity(0))
                if hasattr(os, "sched_getaffinity")
                else os.cpu_count() or 1
            )
        threads = check_integer("threads", threads, 1, 1 << 16)
        p = self._parameters
        source = _batch_source(documents, content_type)
        columns = _core.sketch_batch(
            source, p.w, p.bits, *p.selection, p.seed, content_type, threads
        )
        return SketchBatch(p, columns)

    def sketch_features(self, features: Iterable[str | bytes], w: int = 1) -> Sketch:
        """The sketch of anything that has features: notes, code, phonemes, DNA.

        With w=1 the features are a set; with a larger w, each w consecutive ones are one shingle.
        The sketcher's own w is for text and plays no part.
        """
        w = check_integer("w", w, 1, LARGEST_WIDTH)
        p = replace(self._parameters, w=w, features="given")
        source = [_feature_bytes(feature) for feature in features]
        columns = _core.sketch_features(source, p.w, p.bits, *p.selection, p.seed)
        return SketchBatch(p, columns)[0]


def preset(name: str, seed: int | Literal["random"] = 0) -> Sketcher:
    """The sketcher of a system described in the papers: "broder97" or "broder97-super"."""
    return preset_named(name).sketcher(seed)


def preset_named(name: str) -> Preset:
    if name not in PRESETS:
        wanted = ", ".join(map(repr, PRESETS))
        raise ParameterError(f"preset: unknown: {name!r}, wanted one of {wanted}")
    return PRESETS[name]


def check_integer(name: str, value: object, least: int, most: int) -> int:
    """The value as an int, if it is a whole number in that range; anything else is refused."""
    try:
        if isinstance(value, bool):
            raise TypeError
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        number = least - 1
    if not least <= number <= most:
        raise ParameterError(
            f"{name}: out of range: {value!r}, wanted a whole number from {least} to {most}"
        )
    return int(number)


# The largest number a selection may be given. Beyond a million permutations a sketch is larger
# than any document; the others only have to fit in 63 bits.
_SELECTIONS = {
    "all": None,
    "mod": (1 << 63) - 1,
    "min": (1 << 63) - 1,
    "adaptive": (1 << 63) - 1,
    "perm": 1_000_000,
}


def _parse_select(select: str) -> tuple[str, int]:
    name, colon, number = str(select).partition(":")
    most = _SELECTIONS.get(name)
    if name == "all" and not colon:
        return name, 0
    if most is not None and re.fullmatch("[0-9]{1,19}", number) and 1 <= int(number) <= most:
        return name, int(number)
    raise ParameterError(
        f"select: unknown: {select!r}, wanted all, mod:M, min:K, adaptive:T or perm:K",
        hint="adaptive:200 is the default; the number is from 1 to"
        f" {most or _SELECTIONS['adaptive']}",
    )


def _batch_source(documents: Any, content_type: str) -> list[Any]:
    """Bytes that are UTF-8 and Arrow arrays of strings, in place where they are that already."""
    if isinstance(documents, list | tuple):
        return [b"" if d is None else _document_bytes(d, content_type) for d in documents]
    if hasattr(documents, "__arrow_c_stream__") or hasattr(documents, "__arrow_c_array__"):
        import pyarrow as pa

        is_array = hasattr(documents, "__arrow_c_array__")
        chunks = [pa.array(documents)] if is_array else pa.chunked_array(documents).chunks
        return [_text_array(chunk, content_type) for chunk in chunks]
    raise ParameterError(
        f"documents: cannot sketch: type {type(documents).__name__},"
        " wanted an Arrow array or a list",
        hint="for one document use Sketcher.sketch(document)",
    )


def _text_array(array: pa.Array, content_type: str) -> pa.Array:
    """The array itself if it holds UTF-8; other bytes are decoded as single documents are."""
    import pyarrow as pa

    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    kind = pa.types
    if kind.is_string(array.type) or kind.is_large_string(array.type) or kind.is_null(array.type):
        return array
    if kind.is_string_view(array.type):
        return array
    if kind.is_binary(array.type) or kind.is_large_binary(array.type):
        try:
            strings = pa.string() if kind.is_binary(array.type) else pa.large_string()
            return array.cast(strings)  # looks at every byte, copies none
        except pa.ArrowInvalid:
            decoded = [_document_bytes(d or b"", content_type) for d in array.to_pylist()]
            return pa.array(decoded, pa.large_binary())
    if kind.is_binary_view(array.type):
        return _text_array(array.cast(pa.large_binary()), content_type)
    raise ParameterError(
        f"documents: cannot sketch: an Arrow array of {array.type}, wanted strings or binary",
        hint="name the column: table['text']",
    )


def _document_bytes(document: object, content_type: str) -> bytes:
    if isinstance(document, str):
        return document.encode("utf-8", "surrogatepass")
    if isinstance(document, bytes):
        from roughly.documents.charset import decode

        html = content_type == "html" or (content_type == "auto" and _core.sniff_html(document))
        return decode(document, html=html).text_utf8
    raise ParameterError(
        f"document: cannot sketch: type {type(document).__name__}, wanted str or bytes",
        hint="read a file's bytes first, as with pathlib.Path(...).read_bytes()",
    )


def _feature_bytes(feature: object) -> bytes:
    if isinstance(feature, str):
        return feature.encode("utf-8", "surrogatepass")
    if isinstance(feature, bytes):
        return feature
    raise ParameterError(
        f"feature: cannot sketch: type {type(feature).__name__}, wanted str or bytes",
        hint="numbers and other values: sketch_features(map(str, features))",
    )


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
