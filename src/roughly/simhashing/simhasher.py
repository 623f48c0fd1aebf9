"""From documents to simhashes, one at a time or a batch at once, always by the same core.

Simhashers never change; any thread may use them. A document that has no features (or none with a
weight) has no simhash: None, or a null, never 0, which would make all such documents alike.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from roughly import _core
from roughly.errors import ParameterError
from roughly.parameters import check_integer, threads_or_all
from roughly.simhashing.parameters import (
    SIMHASH_VERSION,
    SimhashParameters,
    features_name,
    parse_features,
)
from roughly.simhashing.stop_words import stop_word_tokens
from roughly.sketcher import batch_source, feature_bytes

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pyarrow as pa

    from roughly.simhashing.frequency import DocumentFrequencies

    Simhashes = npt.NDArray[np.uint64]
    Counts = npt.NDArray[np.uint32]


class SimhashBatch:
    """Simhashes of a batch of documents; item i is that of document i, or None."""

    __slots__ = ("features", "parameters", "simhashes", "tokens")

    def __init__(
        self, parameters: SimhashParameters, simhashes: Simhashes, features: Counts, tokens: Counts
    ) -> None:
        self.parameters = parameters
        self.simhashes = simhashes
        """64 bits a document; 0 and of no meaning where `empty` says so."""
        self.features = features
        """Features a document, repeats counted (unless each counts once); 0: no simhash."""
        self.tokens = tokens
        """Tokens a document, stop words included."""

    @property
    def empty(self) -> npt.NDArray[np.bool_]:
        """Which documents have no simhash."""
        import numpy as np

        return np.equal(self.features, 0)

    def __len__(self) -> int:
        return len(self.simhashes)

    def __getitem__(self, index: int) -> int | None:
        rows = len(self)
        if not -rows <= index < rows:
            raise IndexError(f"simhash: no row {index}: the batch has {rows}")
        return int(self.simhashes[index]) if self.features[index] else None

    def __iter__(self) -> Iterator[int | None]:
        return (self[row] for row in range(len(self)))

    def __repr__(self) -> str:
        return f"SimhashBatch({len(self)} documents, {self.parameters})"

    def to_arrow(self) -> pa.Array:
        """As unsigned 64-bit numbers, null where there is no simhash."""
        import pyarrow as pa

        return pa.array(self.simhashes, pa.uint64(), mask=self.empty)


class Simhasher:
    """Turns documents into simhashes.

    features: `terms`, `phrases:N` (all runs of 1 to N terms) or `shingles:W` (runs of W terms).
    weights: "count" (term frequency), "once", or DocumentFrequencies for tf-idf. stop_words: words
    to leave out, or "english". stem: "english" to take stems of words. seed: 64 bits that derive
    every key, or "random".
    """

    __slots__ = ("_frequencies", "_maker", "_parameters", "_weights", "_words")

    def __init__(
        self,
        features: str = "terms",
        weights: Literal["count", "once"] | DocumentFrequencies = "count",
        stop_words: str | Iterable[str] | None = None,
        stem: Literal["english"] | None = None,
        seed: int | Literal["random"] = 0,
    ) -> None:
        if seed == "random":
            seed = int.from_bytes(os.urandom(8), "little")
        seed = check_integer("seed", seed, 0, (1 << 64) - 1)
        first, last = parse_features(str(features))
        words = stop_word_tokens(stop_words)
        self._words = stop_words if isinstance(stop_words, str) else words
        if words is None:
            words_name = "none"
        else:
            words_name = (
                stop_words if isinstance(stop_words, str) else _core.content_hash(b" ".join(words))
            )
        if stem not in (None, "english"):
            raise ParameterError(f"stem: unknown: {stem!r}, wanted 'english' or None")
        p = SimhashParameters(
            SIMHASH_VERSION, features_name(first, last), "count", words_name, stem or "none", seed
        )
        self._frequencies: DocumentFrequencies | None = None
        self._weights: _core.FeatureWeights | None = None
        if isinstance(weights, str):
            if weights not in ("count", "once"):
                raise ParameterError(
                    f"weights: unknown: {weights!r}, wanted 'count', 'once' or DocumentFrequencies",
                    hint="tf-idf weights need a table: weights=simhasher.frequencies(documents)",
                )
            p = replace(p, weights=weights)
        else:
            weights.parameters.check_same(p, "frequencies and simhashes")
            self._frequencies = weights
            self._weights = weights.weights()
            p = replace(p, weights=f"idf:{weights.digest}")
        self._parameters = p
        self._maker = _core.FeatureMaker(
            first, last, p.weights == "once", stem is not None, seed, words
        )

    @property
    def parameters(self) -> SimhashParameters:
        return self._parameters

    def __reduce__(self) -> tuple[Any, ...]:
        """Travels as its arguments; what the core made of them does not."""
        p, words = self._parameters, self._words
        given = [word.decode() for word in words] if isinstance(words, list) else words
        weights = p.weights if self._frequencies is None else self._frequencies
        stem = None if p.stem == "none" else p.stem
        return Simhasher, (p.features, weights, given, stem, p.seed)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Simhasher) and self._parameters == other._parameters

    def __hash__(self) -> int:
        return hash(self._parameters)

    def __repr__(self) -> str:
        p = self._parameters
        return (
            f"Simhasher(features={p.features!r}, weights={p.weights!r},"
            f" stop_words={p.stop_words!r}, stem={p.stem!r}, seed={p.seed})"
        )

    def simhash(self, document: str | bytes, content_type: str = "auto") -> int | None:
        """The simhash of one document, or None if it has no features. Text is taken as it is; bytes
        are decoded (byte order mark, declared charset, then detection)."""
        return self.simhash_batch([document], content_type, threads=1)[0]

    def simhash_batch(
        self, documents: Any, content_type: str = "auto", threads: int | None = None
    ) -> SimhashBatch:
        """Simhashes of many documents at once, on all cores unless `threads` says how many.

        The fast path is an Arrow array of strings or binary (from pyarrow, polars, DuckDB, ...),
        which is read in place if it is UTF-8; nulls count as empty documents. A list of str, bytes
        and None works too.
        """
        _check_content_type(content_type)
        source = batch_source(documents, content_type)
        return self._batch(source, content_type, threads_or_all(threads), None)

    def simhash_documents(self, batch: pa.RecordBatch, threads: int | None = None) -> SimhashBatch:
        """Simhashes of a batch that `roughly.documents` read: its column `content` is UTF-8, and
        `html` says which of them are HTML."""
        return self._batch(batch["content"], "auto", threads_or_all(threads), _html_flags(batch))

    def _batch(
        self, source: Any, content_type: str, threads: int, html: npt.NDArray[np.uint8] | None
    ) -> SimhashBatch:
        columns = _core.simhash_batch(
            source, self._maker, content_type, threads, html=html, weights=self._weights
        )
        return SimhashBatch(self._parameters, *columns)

    def simhash_features(
        self, features: Mapping[Any, float] | Iterable[tuple[str | bytes, float]]
    ) -> int | None:
        """The simhash of anything whose features the caller has weighed: a mapping or pairs of
        feature and weight. Only the simhasher's seed plays a part."""
        pairs = features.items() if isinstance(features, Mapping) else features
        return self.simhash_feature_batch([pairs], threads=1)[0]

    def simhash_feature_batch(
        self, rows: Iterable[Any] | pa.Array, threads: int | None = None
    ) -> SimhashBatch:
        """The same for many: an iterable of mappings or of pairs, or an Arrow array of lists of
        structures of two fields (feature, weight), or of maps."""
        import numpy as np

        threads = threads_or_all(threads)
        p = replace(
            self._parameters, features="given", weights="given", stop_words="none", stem="none"
        )
        if hasattr(rows, "__arrow_c_array__"):
            source, weights, offsets = _arrow_pairs(rows)
        else:
            source, weighed, ends = [], [], [0]
            for row in rows:
                for pair in row.items() if isinstance(row, Mapping) else row:
                    feature, weight = _pair(pair)
                    source.append(feature_bytes(feature))
                    weighed.append(weight)
                ends.append(len(source))
            weights = np.array(weighed, np.float64)
            offsets = np.array(ends, np.int64)
        _check_weights(weights)
        columns = _core.simhash_pairs(source, weights, offsets, p.seed, threads)
        return SimhashBatch(p, *columns)

    def frequencies(
        self, documents: Any, content_type: str = "auto", threads: int | None = None
    ) -> DocumentFrequencies:
        """How many of these documents have each feature: the table behind tf-idf weights. Takes
        what `simhash_batch` takes; `frequency_counter` takes any number of batches."""
        _check_content_type(content_type)
        counter = self.frequency_counter(threads)
        counter.add_source(batch_source(documents, content_type), content_type)
        return counter.result()

    def frequency_counter(self, threads: int | None = None) -> FrequencyCounter:
        """Counts in how many documents each feature is, batch after batch."""
        # Of the same features, whatever these weigh here.
        p = replace(self._parameters, weights="count")
        return FrequencyCounter(p, self._maker, threads_or_all(threads))


class FrequencyCounter:
    """Counts in how many documents each feature is; any thread may add to it."""

    def __init__(
        self, parameters: SimhashParameters, maker: _core.FeatureMaker, threads: int
    ) -> None:
        self._parameters = parameters
        self._maker = maker
        self._threads = threads
        self._counter = _core.FrequencyCounter()

    def add(self, batch: pa.RecordBatch) -> None:
        """A batch that `roughly.documents` read."""
        self._counter.add(
            batch["content"], self._maker, "auto", self._threads, html=_html_flags(batch)
        )

    def add_source(self, source: list[Any], content_type: str) -> None:
        """UTF-8 bytes and Arrow arrays."""
        self._counter.add(source, self._maker, content_type, self._threads)

    def result(self) -> DocumentFrequencies:
        """The table of what was counted so far."""
        from roughly.simhashing.frequency import DocumentFrequencies

        return DocumentFrequencies(
            self._parameters, *self._counter.result(), self._counter.documents
        )


def simhash(document: str | bytes, content_type: str = "auto") -> int | None:
    """The simhash of a document's terms, weighed by how often they occur: 64 bits that differ in
    few places for documents that are nearly the same. None if the document has no terms."""
    return _DEFAULT.simhash(document, content_type)


_DEFAULT = Simhasher()


def _check_content_type(content_type: str) -> None:
    if content_type not in ("auto", "html", "text"):
        raise ParameterError(
            f"content_type: unknown: {content_type!r}, wanted 'auto', 'html' or 'text'"
        )


def _html_flags(batch: pa.RecordBatch) -> npt.NDArray[np.uint8]:
    import numpy as np

    return np.asarray(batch["html"].to_numpy(zero_copy_only=False), np.uint8)


def _pair(pair: Any) -> tuple[Any, float]:
    """A feature and its weight, if this is both."""
    if isinstance(pair, str | bytes) or not hasattr(pair, "__len__") or len(pair) != 2:
        raise ParameterError(
            f"features: not a pair: {pair!r:.200}, wanted a feature and its weight",
            hint="give pairs, as [('a', 2.0), ('b', 1.0)], or a mapping, as {'a': 2.0, 'b': 1.0}",
        )
    feature, weight = pair
    try:
        if isinstance(weight, str | bytes):
            raise TypeError
        return feature, float(weight)
    except (TypeError, ValueError, OverflowError) as error:
        raise ParameterError(
            f"weight: wrong type: {weight!r:.200} of {feature!r:.200}, wanted a number"
        ) from error


def _check_weights(weights: npt.NDArray[np.float64]) -> None:
    import numpy as np

    wrong = ~(np.abs(weights) < 2**31 - 1)
    if wrong.any():
        raise ParameterError(
            f"weight: out of range: {weights[wrong][0]}, wanted a number between"
            " -2147483647 and 2147483647",
            hint="multiply all weights of a document by the same number; its simhash stays",
        )


def _arrow_pairs(rows: Any) -> tuple[Any, npt.NDArray[np.float64], npt.NDArray[np.int64]]:
    """The features, the weights and where each row begins, of an Arrow array of lists."""
    import numpy as np
    import pyarrow as pa

    array = pa.array(rows)
    kind = array.type
    listed = pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_map(kind)
    pairs = array.values if listed else None
    if pairs is None or not pa.types.is_struct(pairs.type) or pairs.type.num_fields != 2:
        raise ParameterError(
            f"features: wrong Arrow type: {kind}, wanted lists of structures of a feature"
            " and a weight, or maps"
        )
    if array.null_count:
        # A null may span entries, which are nobody's; an empty list has none.
        return _arrow_pairs(pa.array([row or [] for row in array.to_pylist()], kind))
    offsets = array.offsets.to_numpy().astype(np.int64)
    names, weights = pairs.field(0), pairs.field(1)
    return names, weights.to_numpy(zero_copy_only=False).astype(np.float64), offsets
