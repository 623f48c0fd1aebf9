"""Simhashes within k bits: the Hamming distance problem of the 2007 paper, section 3."""

from __future__ import annotations

from roughly.hamming.index import HammingIndex, Match

__all__ = ["HammingIndex", "Match"]
