"""A small deterministic web with known truth: for the demo, for tests, for benchmarks.

Same arguments, same bytes, on every platform and Python version. docs/sample_web.md describes what
is in it; `web.py` is where to start reading.
"""

from roughly.sample_web.truth import MOVES, RELATIONS, Move, Pair
from roughly.sample_web.web import DEFAULT_DATES, SampleDocument, SampleWeb, sample_web

__all__ = [
    "DEFAULT_DATES",
    "MOVES",
    "RELATIONS",
    "Move",
    "Pair",
    "SampleDocument",
    "SampleWeb",
    "sample_web",
]
