"""Pairs by super shingles: cheap, and found only if whole stretches of two sketches agree.

A perm:K sketch is cut into groups of elements, each of which gives one super shingle; two
documents belong together if enough of these agree (2 of 6 in the 2007 paper's account of the 1997
method). The super shingles of all documents, tagged with their place, are expanded as sketches of
their own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import numpy.typing as npt

from roughly import _core
from roughly.clustering.clock import Clock
from roughly.clustering.expansion import Expansion
from roughly.clustering.sketches import PairTable, Rows, Sketches
from roughly.parameters import Parameters

# Chunks of sketches that are read before their pages are let go.
_CHUNKS_AT_ONCE = 8


def super_pairs(
    sketches: Sketches,
    rows: Rows,
    length: int,
    agreeing: int,
    *,
    threads: int,
    budget_bytes: int,
    scratch: Path | None = None,
    clock: Clock | None = None,
    category: npt.NDArray[np.uint64] | None = None,
) -> Iterator[PairTable]:
    """Pairs of which `agreeing` super shingles or more agree: a, b, how many do, of how many. With
    a `category` for every row of the sketches, only those of one, but for chance."""
    tagged, groups = _super_sketches(sketches, length, category)
    # x of g super shingles in common are x of 2 g - x different ones.
    floor = Fraction(agreeing, 2 * groups - agreeing)
    with Expansion(
        tagged,
        rows,
        cut_off=len(rows) + 1,
        threads=threads,
        budget_bytes=budget_bytes,
        scratch=scratch,
        clock=clock,
    ) as expansion:
        for table in expansion.pairs(floor):
            pairs = table.copy()
            pairs[:, 3] = groups
            yield pairs


def tagged_super_shingles(
    parameters: Parameters,
    values: npt.NDArray[np.uint64],
    offsets: npt.NDArray[np.int64],
    length: int,
    category: npt.NDArray[np.uint64] | None,
) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.int64]]:
    """The super shingles of some sketches, and where each document's begin; with a `category` for
    each document, only those of one are equal, but for chance."""
    groups = parameters.selection[1] // length
    # A super shingle counts only against those of its own place.
    tags = np.arange(groups, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    by_document = _core.super_shingles(values, length, True, parameters.seed)
    by_document = by_document.reshape(-1, groups) + tags
    if category is not None:
        by_document += np.repeat(category, np.diff(offsets) // (length * groups))[:, None]
    return by_document.ravel(), offsets // length


def _super_sketches(
    sketches: Sketches, length: int, category: npt.NDArray[np.uint64] | None
) -> tuple[Sketches, int]:
    """Each document's super shingles as a sketch; and how many a document has."""
    parameters = sketches.parameters
    groups = parameters.selection[1] // length
    chunks = []
    for number, (values, offsets) in enumerate(sketches.chunks):
        own = None
        if category is not None:
            begin = number * sketches.chunk_rows
            own = category[begin : begin + len(offsets) - 1]
        chunks.append(tagged_super_shingles(parameters, values, offsets, length, own))
        if number % _CHUNKS_AT_ONCE == 0:
            sketches.release()
    sketches.release()
    level = np.zeros(len(sketches), np.uint8)
    parameters = replace(parameters, select="all")
    made_of = Sketches(
        parameters, chunks, sketches.chunk_rows, sketches.size, level, sketches.release
    )
    return made_of, groups
