"""What a comparison says in words and digits; shared by the terminal and the page."""

from __future__ import annotations

from roughly.comparison import Comparison

_VERDICTS = {
    "identical": "Identical: the same bytes",
    "lexical": "Lexically the same: only case, layout or markup differ",
    "shingle": "The same shingles, in another order or number",
    "near": "Near duplicates",
    "contains": "A contains B",
    "contained": "A is contained in B",
    "empty": "Both are empty",
}


def verdict(comparison: Comparison) -> str:
    """The kind of match, or how little there is."""
    if comparison.kind is not None:
        return _VERDICTS[comparison.kind]
    if comparison.common:
        return "Some shared passages, no near duplicates"
    return "Nothing in common"


def plural(count: int, noun: str) -> str:
    """A count and its noun: 1 token, 2 tokens."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def share(value: float, digits: int = 4) -> str:
    """A share of 0 to 1 in digits that do not promise too much: 1.0000 means all, 0.0000 none."""
    if 0.0 < value < 1.0:
        least = 10.0**-digits
        value = min(max(value, least), 1.0 - least)
    return f"{value:.{digits}f}"
