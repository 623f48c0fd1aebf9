"""Sketches folded into 2,048 bits, to tell at a glance that two have too little in common: those of
src/core/signature.hpp, but longer, for here what is not told costs a sketch that travels.

Each element turns one bit over. Where the bits of two sets differ, so do the sets; so what two have
in common is bounded, and no pair is lost that reaches a threshold. Elements that are in the sketch
of the next level, too, have a half for themselves: so sketches of two levels that follow each
other are told apart as well.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from roughly.parameters import Parameters
from roughly.spark.column import MIX, Numbers, Offsets, Values

_HALF_BITS = 1024
_HALF = _HALF_BITS // 64
WORDS = 2 * _HALF
_PLACE_SHIFT = np.uint64(64 - 10)


def signatures(
    values: Values, offsets: Offsets, level: Numbers
) -> tuple[npt.NDArray[np.uint64], Numbers]:
    """Of every sketch its signature, a row of words each, and how many of its elements are in that
    of the next level."""
    rows, lengths = len(offsets) - 1, np.diff(offsets)
    mask = (np.uint64(2) << level.astype(np.uint64)) - np.uint64(1)
    upper = (values & np.repeat(mask, lengths)) == 0
    half = np.repeat(np.arange(rows) * 2, lengths) + upper
    place = (values * MIX >> _PLACE_SHIFT).view(np.int64) + half * _HALF_BITS
    odd = (np.bincount(place, minlength=2 * rows * _HALF_BITS) & 1).astype(np.uint8)
    folded = np.packbits(odd, bitorder="little").view(np.uint64).reshape(rows, WORDS)
    return folded, np.bincount(half, minlength=2 * rows)[1::2]


def may_resemble(
    parameters: Parameters, threshold: Fraction, one: npt.NDArray[Any], other: npt.NDArray[Any]
) -> npt.NDArray[np.bool_]:
    """Which pairs of documents (records of kept, upper, level and signature) may reach a threshold.
    Those whose levels are further apart are not told apart."""
    found: npt.NDArray[np.bool_] = np.ones(len(one), bool)
    apart = other["level"].astype(np.int64) - one["level"]
    alike = np.flatnonzero(apart == 0)
    bits = one["signature"][alike] ^ other["signature"][alike]
    kept = one["kept"][alike], other["kept"][alike]
    found[alike] = _enough(parameters, threshold, *kept, bits)
    for fine, coarse, step in ((one, other, 1), (other, one, -1)):
        near = np.flatnonzero(apart == step)
        whole = coarse["signature"][near].reshape(-1, 2, _HALF)
        bits = fine["signature"][near, _HALF:] ^ whole[:, 0] ^ whole[:, 1]
        kept = fine["upper"][near], coarse["kept"][near]
        found[near] = _enough(parameters, threshold, *kept, bits)
    return found


def _enough(
    parameters: Parameters,
    threshold: Fraction,
    first: npt.NDArray[Any],
    second: npt.NDArray[Any],
    differing: npt.NDArray[np.uint64],
) -> npt.NDArray[np.bool_]:
    """Whether sets of so many elements, whose bits differ there, may have enough in common."""
    n, m, share = first.astype(np.int64), second.astype(np.int64), float(threshold)
    most = (n + m - np.bitwise_count(differing).sum(axis=1, dtype=np.int64)) // 2
    smallest = parameters.selection[0] == "min"
    needed = share * np.maximum(n, m) if smallest else share / (1 + share) * (n + m)
    # A little generous, for whoever passes is counted.
    found: npt.NDArray[np.bool_] = most >= needed - 1e-6
    return found
