"""Simhashes within k bits: the Hamming distance problem of the 2007 paper, section 3."""

from __future__ import annotations

from roughly.hamming.index import HammingIndex, Match
from roughly.hamming.join import JoinedChunk, NearPairs, join, pairs_within
from roughly.hamming.seen import SeenIndex
from roughly.hamming.simhash_file import SimhashFile, write_compressed

__all__ = [
    "HammingIndex",
    "JoinedChunk",
    "Match",
    "NearPairs",
    "SeenIndex",
    "SimhashFile",
    "join",
    "pairs_within",
    "write_compressed",
]
