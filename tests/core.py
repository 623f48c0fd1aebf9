"""The C++ core as plain Python values, in the shapes of tests/reference/.

Tests compare lists and integers; this is where arrays become those. Every call names the SIMD
level it wants, so that a test can run all of LEVELS.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from roughly import _core
from tests.reference.shingle import equivalence_hash
from tests.reference.sketch import Parameters, Sketch
from tests.reference.token import ContentType

LEVELS: list[str] = _core.simd_levels()


class Tokenized(NamedTuple):
    canonical: bytes
    tokens: list[bytes]


def tokenize(data: bytes, html: bool = False, simd: str = "") -> Tokenized:
    canonical, ends = _core.tokenize(data, html, simd)
    assert ends.dtype == np.uint32
    stops = ends.tolist()
    starts = [0, *(end + 1 for end in stops)][: len(stops)]
    tokens = [canonical[start:end] for start, end in zip(starts, stops, strict=True)]
    return Tokenized(canonical, tokens)


def spans(data: bytes, html: bool = False) -> list[tuple[int, int]]:
    found = _core.token_spans(data, html)
    assert found.dtype == np.uint64
    assert found.ndim == 2
    assert found.shape[1] == 2
    return [(start, end) for start, end in found.tolist()]


def fingerprints(
    data: bytes, w: int, bits: int, seed: int, html: bool = False, simd: str = ""
) -> list[int]:
    found: list[int] = _core.fingerprints(data, html, w, bits, seed, simd).tolist()
    return found


def rows(columns: Any, parameters: Parameters) -> list[Sketch]:
    """The rows of the core's columns; their types and shapes are part of the contract."""
    offsets = columns.offsets.tolist()
    assert offsets[0] == 0
    assert offsets[-1] == len(columns.values)
    dtypes = [
        (columns.values, np.uint64),
        (columns.offsets, np.int64),
        (columns.size, np.uint32),
        (columns.tokens, np.uint32),
        (columns.level, np.uint8),
        (columns.content, np.uint64),
        (columns.canonical, np.uint64),
        (columns.sketch, np.uint64),
    ]
    for array, dtype in dtypes:
        assert array.dtype == dtype
    count = len(offsets) - 1
    assert columns.content.shape == columns.canonical.shape == columns.sketch.shape == (count, 2)
    values = columns.values.tolist()
    for i in range(count):
        kept = columns.values[offsets[i] : offsets[i + 1]].astype("<u8").tobytes()
        assert tuple(columns.sketch[i].tolist()) == equivalence_hash(kept)
    return [
        Sketch(
            parameters,
            values[offsets[i] : offsets[i + 1]],
            int(columns.size[i]),
            int(columns.tokens[i]),
            int(columns.level[i]),
            (int(columns.content[i, 0]), int(columns.content[i, 1])),
            (int(columns.canonical[i, 0]), int(columns.canonical[i, 1])),
        )
        for i in range(count)
    ]


def sketch_array(
    source: Any, p: Parameters, content_type: ContentType = "text", threads: int = 1, simd: str = ""
) -> list[Sketch]:
    columns = _core.sketch_batch(
        source, p.w, p.bits, p.select, p.parameter, p.seed, content_type, threads, simd
    )
    return rows(columns, p)


def sketch(
    data: bytes, p: Parameters, content_type: ContentType = "text", simd: str = ""
) -> Sketch:
    [row] = sketch_array(pa.array([data], pa.binary()), p, content_type, 1, simd)
    return row


def sketch_features(features: Any, p: Parameters, simd: str = "") -> Sketch:
    columns = _core.sketch_features(features, p.w, p.bits, p.select, p.parameter, p.seed, simd)
    [row] = rows(columns, p)
    return row


def super_shingles(values: Sequence[int], length: int, by_group: bool, seed: int) -> list[int]:
    array = np.array(values, dtype=np.uint64)
    found: list[int] = _core.super_shingles(array, length, by_group, seed).tolist()
    return found
