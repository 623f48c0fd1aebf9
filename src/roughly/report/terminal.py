"""A terminal's width and colours, and text fitted into columns of it.

Widths are in cells: a Chinese character takes two, a combining accent none. Text of documents
passes through `harmless` first, so that no document can move the cursor or reorder the line.
"""

from __future__ import annotations

import os
import re
import shutil
from typing import Literal, TextIO

from rich.cells import cell_len, get_character_cell_size

Style = Literal["strong", "faint", "first", "second", "good"]

_CODES: dict[Style, str] = {
    "strong": "1",
    "faint": "2",
    "first": "36",
    "second": "35",
    "good": "32",
}

# C0 and C1 controls, and the characters that embed, override or isolate a direction.
_HARMFUL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufeff]")
_RIGHT_TO_LEFT = re.compile(r"[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff]")
_LEFT_TO_RIGHT_MARK = "\u200e"
# Closing marks do not begin a line.
_STICKS_TO_THE_LEFT = "、。，．・：；？！」』）】〕》〉”’ー々"


class Terminal:
    """Where a report is printed. Without colour a style changes nothing."""

    def __init__(self, stream: TextIO, width: int | None, color: str) -> None:
        # One column is left free, for some terminals wrap as soon as the last one is filled; and
        # columns of more than 78 cells are hard to read.
        self.width = max(40, width or min(160, shutil.get_terminal_size((80, 24)).columns - 1))
        self.color = color == "always" or (
            color == "auto"
            and stream.isatty()
            and not os.environ.get("NO_COLOR")
            and os.environ.get("TERM") != "dumb"
        )

    def style(self, text: str, style: Style) -> str:
        return f"\x1b[{_CODES[style]}m{text}\x1b[0m" if self.color else text


def harmless(text: str) -> str:
    """Text of a document that is safe to print: on one line, without control characters."""
    return " ".join(_HARMFUL.sub("\ufffd", text).split())


def pad(text: str, width: int) -> str:
    """Text filled with spaces to a width."""
    return text + " " * (width - cell_len(text))


def shorten(text: str, width: int) -> str:
    """Text cut in the middle where it is too long: the ends of a path say most."""
    if cell_len(text) <= width:
        return text
    head = text[: _fitting(text, max(1, (width - 1) // 3))]
    room = width - 1 - cell_len(head)
    tail = ""
    for character in reversed(text):
        if cell_len(character + tail) > room:
            break
        tail = character + tail
    return f"{head}…{tail}"


def wrap(text: str, width: int) -> list[str]:
    """Text on lines of at most `width` cells, broken at spaces and around wide characters."""
    lines: list[str] = []
    line, used = "", 0
    for unit in _units(text):
        cells = cell_len(unit)
        if used + cells > width:
            if line.strip():
                lines.append(line.rstrip())
            line, used = "", 0
            if unit == " ":
                continue
            while cells > width:
                head = _fitting(unit, width)
                lines.append(unit[:head])
                unit = unit[head:]
                cells = cell_len(unit)
        line, used = line + unit, used + cells
    if line.strip():
        lines.append(line.rstrip())
    return lines


def _units(text: str) -> list[str]:
    """Text in pieces that are not broken: words, spaces, single wide characters."""
    units: list[str] = []
    word = ""
    for character in text:
        wide = get_character_cell_size(character) == 2
        if word and (wide or character == " "):
            units.append(word)
            word = ""
        if character in _STICKS_TO_THE_LEFT and units and not word:
            units[-1] += character
        elif wide or character == " ":
            units.append(character)
        else:
            word += character
    return [*units, word] if word else units


def _fitting(text: str, width: int) -> int:
    """How many characters of `text` fit; at least one, and accents stay with their letter."""
    used = 0
    for index, character in enumerate(text):
        used += get_character_cell_size(character)
        if used > width and index:
            return index
    return len(text)


def beside(left: str, right: str, width: int, separator: str = "│") -> str:
    """Two cells of a table with a line between them. Where text runs from right to left, marks
    around the line keep a terminal that reorders from exchanging the columns."""
    if _RIGHT_TO_LEFT.search(left) or _RIGHT_TO_LEFT.search(right):
        mark = _LEFT_TO_RIGHT_MARK
        return f"{pad(left, width)} {mark}{separator}{mark} {right}"
    return f"{pad(left, width)} {separator} {right}"
