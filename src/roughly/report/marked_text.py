"""A readable text cut into pieces: plain, shared, left out. What a page shows of one document.

The pieces follow one another without gap or overlap, in the order of the text. Passages may overlap
(two that adjoin share up to w - 1 tokens; several places of A may match one of B): the earlier one
then keeps the tokens, and a passage that has none left is an empty piece, so that every passage
that is shown has a place in both texts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

from roughly.comparison import Passage
from roughly.report.reading import Reading

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

# Texts up to this many bytes are shown whole; beyond, only what is around the passages.
WHOLE_BYTES = 400_000
# More passages than this make a page slow and no reader wiser.
MOST_PASSAGES = 2_000
# In long texts: what is shown of a long passage at each end, and of the text around a passage.
PASSAGE_BYTES = 1_200
CONTEXT_BYTES = 300
_SPACE = re.compile(rb"\s")


class Piece(NamedTuple):
    """Part of a text."""

    kind: Literal["plain", "passage", "also", "cut"]  # also: shared, but no passage here
    start: int  # bytes of the reading's text
    end: int
    number: int = 0  # of the passage
    first: bool = True  # whether the passage begins here


def shown_passages(
    passages: Sequence[Passage], a: Reading, b: Reading
) -> tuple[list[tuple[int, Passage]], bool]:
    """The passages that a page shows, numbered from 1 by position in A, and whether the texts are
    shown whole. Where not all can be, the longest are."""
    numbered = list(enumerate(passages, 1))
    whole = max(len(a.text_utf8), len(b.text_utf8)) <= WHOLE_BYTES
    room = WHOLE_BYTES
    chosen: list[tuple[int, Passage]] = []
    for number, passage in sorted(numbered, key=lambda each: (-each[1].tokens, each[0])):
        end = a.end(passage.a_token + passage.tokens - 1)
        room -= min(end - a.start(passage.a_token), 2 * PASSAGE_BYTES) + 2 * CONTEXT_BYTES
        if (room < 0 and not whole) or len(chosen) == MOST_PASSAGES:
            break
        chosen.append((number, passage))
    return sorted(chosen), whole


def covered(passages: Sequence[Passage], tokens: int) -> npt.NDArray[np.uint8]:
    """For each of A's tokens 1 if it lies in a passage, else 0."""
    import numpy as np

    common = np.zeros(tokens, np.uint8)
    for passage in passages:
        common[passage.a_token : passage.a_token + passage.tokens] = 1
    return common


def pieces(
    reading: Reading,
    runs: Sequence[tuple[int, int, int]],
    common: npt.NDArray[np.uint8],
    whole: bool,
) -> Iterator[Piece]:
    """The pieces of one text. `runs` are its passages as (first token, tokens, number); `common`
    tells which of its tokens are shared at all."""
    all_of_it = _pieces(reading, sorted(runs), common)
    return iter(all_of_it) if whole else _shortened(all_of_it, reading)


def _pieces(
    reading: Reading, runs: Sequence[tuple[int, int, int]], common: npt.NDArray[np.uint8]
) -> list[Piece]:
    found: list[Piece] = []
    token, at = 0, 0  # what is done: tokens, bytes
    for first, tokens, number in runs:
        if token < first + tokens:
            # What lies between two passages belongs to neither, be it only a space.
            start = reading.start(max(token, first))
            found += _between(reading, token, max(token, first), at, start, common)
            at = start
        end = max(at, reading.end(first + tokens - 1))
        found.append(Piece("passage", at, end, number))
        token, at = max(token, first + tokens), end
    found += _between(reading, token, len(reading), at, len(reading.text_utf8), common)
    return found


def _between(
    reading: Reading, token: int, last: int, at: int, end: int, common: npt.NDArray[np.uint8]
) -> list[Piece]:
    """The text between two passages, with what is shared there without being one."""
    import numpy as np

    found: list[Piece] = []
    edges = np.flatnonzero(np.diff(common[token:last], prepend=np.uint8(0), append=np.uint8(0)))
    for first, behind in (edges + token).reshape(-1, 2).tolist():
        found += _plain(at, reading.start(first))
        at = reading.end(behind - 1)
        found.append(Piece("also", reading.start(first), at))
    return found + _plain(at, end)


def _plain(start: int, end: int) -> list[Piece]:
    return [Piece("plain", start, end)] if start < end else []


def _shortened(found: list[Piece], reading: Reading) -> Iterator[Piece]:
    """Of long passages their ends; of all else what is next to a passage."""
    at = 0
    while at < len(found):
        piece = found[at]
        if piece.kind == "passage":
            yield from _ends(piece, PASSAGE_BYTES, PASSAGE_BYTES, reading)
            at += 1
            continue
        behind = at
        while behind < len(found) and found[behind].kind != "passage":
            behind += 1
        gap = Piece("plain", found[at].start, found[behind - 1].end)
        before = CONTEXT_BYTES if at > 0 or len(found) == behind else 0
        after = CONTEXT_BYTES if behind < len(found) else 0
        if gap.end - gap.start <= before + after:
            yield from found[at:behind]
        else:
            yield from _ends(gap, before, after, reading)
        at = behind


def _ends(piece: Piece, head: int, tail: int, reading: Reading) -> Iterator[Piece]:
    start = _word(reading.text_utf8, piece.start + head)
    end = _word(reading.text_utf8, piece.end - tail)
    if start >= end:
        yield piece
        return
    if head:
        yield piece._replace(end=start)
    yield Piece("cut", start, end)
    if tail:
        yield piece._replace(start=end, first=False)


def _word(text_utf8: bytes, at: int) -> int:
    """The next place where a word begins; where none does soon, a character."""
    space = _SPACE.search(text_utf8, at, at + 60)
    if space:
        return space.end()
    while at < len(text_utf8) and text_utf8[at] & 0xC0 == 0x80:
        at += 1
    return at
