"""Words and shingles in pure Python, the fastest way found: what users of the peers have to write.

This file imports nothing large: peers run in processes whose memory is measured.
"""

import re
from collections.abc import Sequence

W = 5
WORD = re.compile(r"[^\W_]+")

# For str.translate: of ASCII, letters and digits stay, and all else becomes a space.
_SPACED = {code: " " for code in range(128) if not chr(code).isalnum()}


def words_fastest(text: str) -> list[str]:
    """The same words as roughly's, for text that needs no folding beyond lower case."""
    lower = text.lower()
    return lower.translate(_SPACED).split() if lower.isascii() else WORD.findall(lower)


def shingles(words: Sequence[str], w: int = W) -> list[str]:
    """Every w consecutive words as one string; the fastest way found in pure Python."""
    return list(map(" ".join, zip(*(words[at:] for at in range(w)), strict=False)))
