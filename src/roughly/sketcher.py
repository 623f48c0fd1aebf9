"""From documents to sketches, one at a time or a batch at once, always by the same core.

Sketchers never change; any thread may use them.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from roughly import _core
from roughly.errors import ParameterError
from roughly.parameters import (
    ALGORITHM_VERSION,
    LARGEST_WIDTH,
    WIDTH,
    Parameters,
    check_integer,
    parse_select,
    threads_or_all,
    words_for,
)
from roughly.sketch import Sketch, SketchBatch

if TYPE_CHECKING:
    import pyarrow as pa


class Sketcher:
    """Turns documents into sketches.

    w: tokens in a shingle, 5 unless given. words: documents of fewer shingles have single words
    beside their shingles, for their resemblance (not for containment): 200 unless given, and none
    if w is given, which then is the only width. select: what is kept, `all`, `mod:M`, `min:K`,
    `adaptive:T` or `perm:K`. seed: 64 bits that derive every key, or "random"; a secret seed keeps
    others from writing texts that slip through the sample. bits: 64, or 40 as in the 1997 paper.
    """

    __slots__ = ("_parameters",)

    def __init__(
        self,
        w: int | None = None,
        select: str = "adaptive:200",
        seed: int | Literal["random"] = 0,
        bits: int = 64,
        words: int | None = None,
    ) -> None:
        if seed == "random":
            seed = int.from_bytes(os.urandom(8), "little")
        named_width = w is not None
        w = check_integer("w", WIDTH if w is None else w, 1, LARGEST_WIDTH)
        seed = check_integer("seed", seed, 0, (1 << 64) - 1)
        if check_integer("bits", bits, 40, 64) not in (64, 40):
            raise ParameterError(f"bits: unknown: {bits!r}, wanted 64 or 40")
        name, number = parse_select(select)
        if name == "perm" and bits != 64:
            raise ParameterError(
                f"select: perm needs 64-bit fingerprints: bits is {bits}, wanted 64"
            )
        select = name if name == "all" else f"{name}:{number}"
        words = words_for(words, named_width, int(bits), select)
        self._parameters = Parameters(ALGORITHM_VERSION, w, int(bits), select, seed, "text", words)

    @classmethod
    def of(cls, parameters: Parameters, select: str | None = None) -> Sketcher:
        """The sketcher that made sketches of these parameters, or one of another selection."""
        p = parameters
        return cls(p.w, p.select if select is None else select, p.seed, p.bits, p.words)

    def without_words(self) -> Sketcher:
        """The same sketcher, for which short documents have shingles alone."""
        return Sketcher(self.w, self.select, self.seed, self.bits)

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

    @property
    def words(self) -> int:
        return self._parameters.words

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sketcher) and self._parameters == other._parameters

    def __hash__(self) -> int:
        return hash(self._parameters)

    def __repr__(self) -> str:
        p = self._parameters
        words = f", words={p.words}" if p.words else ""
        return f"Sketcher(w={p.w}, select={p.select!r}, seed={p.seed}, bits={p.bits}{words})"

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
        threads = threads_or_all(threads)
        p = self._parameters
        source = batch_source(documents, content_type)
        columns = _core.sketch_batch(
            source, p.w, p.bits, *p.selection, p.seed, content_type, threads, words=p.words
        )
        return SketchBatch(p, columns)

    def sketch_documents(self, batch: pa.RecordBatch, threads: int | None = None) -> SketchBatch:
        """Sketches of a batch that `roughly.documents` read: its column `content` is UTF-8, and
        `html` says which of them are HTML."""
        return SketchBatch(self._parameters, self._document_columns(batch, threads, True))

    def sketch_columns(
        self, batch: pa.RecordBatch, threads: int | None = None
    ) -> _core.SketchColumns:
        """The columns of the same sketches for whoever only counts what is in them: those of the
        hashes, by which equal documents are known, are empty."""
        return self._document_columns(batch, threads, False)

    def _document_columns(
        self, batch: pa.RecordBatch, threads: int | None, hashes: bool
    ) -> _core.SketchColumns:
        import numpy as np

        p = self._parameters
        html = batch["html"].to_numpy(zero_copy_only=False).astype(np.uint8)
        return _core.sketch_batch(
            batch["content"],
            p.w,
            p.bits,
            *p.selection,
            p.seed,
            "auto",
            threads_or_all(threads),
            html=html,
            words=p.words,
            hashes=hashes,
        )

    def sketch_features(self, features: Iterable[str | bytes], w: int = 1) -> Sketch:
        """The sketch of anything that has features: notes, code, phonemes, DNA.

        With w=1 the features are a set; with a larger w, each w consecutive ones are one shingle.
        The sketcher's own w is for text and plays no part.
        """
        w = check_integer("w", w, 1, LARGEST_WIDTH)
        p = replace(self._parameters, w=w, features="given", words=0)
        source = [feature_bytes(feature) for feature in features]
        columns = _core.sketch_features(source, p.w, p.bits, *p.selection, p.seed)
        return SketchBatch(p, columns)[0]


@dataclass(frozen=True, slots=True)
class Preset:
    """A system of one of the papers: how it sketches, and when two sketches belong together."""

    w: int
    bits: int
    select: str
    threshold: float | None = None  # resemblance from which on they do
    super_length: int = 0  # or: sketch elements in a super shingle,
    super_agreeing: int = 0  # and how many of these must agree
    distance: int | None = None  # or: bits in which simhashes may differ; sketches play no part

    @property
    def method(self) -> Literal["expansion", "super", "hamming"]:
        """How it finds pairs."""
        if self.distance is not None:
            return "hamming"
        return "super" if self.super_length else "expansion"

    @property
    def cluster_threshold(self) -> str:
        """From which on documents are clustered: a resemblance, or a share of super shingles."""
        if self.threshold is not None:
            return str(self.threshold)
        _, minima = parse_select(self.select)
        return f"{self.super_agreeing}/{minima // self.super_length}"

    def sketcher(self, seed: int | Literal["random"] = 0) -> Sketcher:
        return Sketcher(self.w, self.select, seed, self.bits)

    def together(self, a: Sketch, b: Sketch) -> bool:
        """Whether the system takes the two documents for near duplicates."""
        if self.distance is not None:
            raise ParameterError("preset: goes by simhashes: cannot tell from sketches")
        if self.threshold is not None:
            return a.resemblance(b).value >= self.threshold
        return a.common_super_shingles(b, self.super_length) >= self.super_agreeing


PRESETS: dict[str, Preset] = {
    "broder97": Preset(10, 40, "mod:25", threshold=0.5),
    "broder97-super": Preset(10, 64, "perm:84", super_length=14, super_agreeing=2),
    "manku07": Preset(5, 64, "adaptive:200", distance=3),
}


def preset(name: str, seed: int | Literal["random"] = 0) -> Sketcher:
    """The sketcher of a system described in the papers: "broder97" or "broder97-super". "manku07"
    goes by simhashes; its sketches, w=5 and adaptive:200, are evidence."""
    return preset_named(name).sketcher(seed)


def preset_named(name: str) -> Preset:
    if name not in PRESETS:
        wanted = ", ".join(map(repr, PRESETS))
        raise ParameterError(f"preset: unknown: {name!r}, wanted one of {wanted}")
    return PRESETS[name]


def batch_source(documents: Any, content_type: str) -> list[Any]:
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


def feature_bytes(feature: object) -> bytes:
    """What is hashed of a feature."""
    if isinstance(feature, str):
        return feature.encode("utf-8", "surrogatepass")
    if isinstance(feature, bytes):
        return feature
    raise ParameterError(
        f"feature: cannot sketch: type {type(feature).__name__}, wanted str or bytes",
        hint="numbers and other values: sketch_features(map(str, features))",
    )
