"""A document as a person reads it: text without markup, and where each token stands in it.

For a text document that is its text. For HTML it is the text that remains without markup, its
white space laid out: one line per line break, an empty line between blocks. Tokens are numbered as
everywhere else: token i here is token i of the document.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING

from roughly import _core
from roughly.documents.file import Document

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

# In preformatted text a line break of the source is one to the reader. No pattern here may look
# further than a tag or a run of white space: documents are long, and some are made to stall.
_PREFORMATTED = re.compile(rb"<(/?)(pre|textarea|xmp|listing)(?=[\s/>])", re.I)
_LINE_BREAKS = bytes.maketrans(b"\n\r\f", b"   ")
_SPACES = re.compile(rb"[ \t\r\f]+")
_BLANK = re.compile(rb" ?\n(?: ?\n)++ ?")
_LINE = re.compile(rb" ?\n ?")


@dataclass(frozen=True, slots=True)
class Reading:
    """Text for people, with its tokens."""

    text_utf8: bytes
    spans: npt.NDArray[np.uint64]  # (n, 2): each token's bytes in `text_utf8`

    def __len__(self) -> int:
        """The number of tokens."""
        return len(self.spans)

    def start(self, token: int) -> int:
        """The first byte of a token; the end of the text for the token after the last."""
        return int(self.spans[token, 0]) if token < len(self.spans) else len(self.text_utf8)

    def end(self, token: int) -> int:
        """One past the last byte of a token, with the accents and joiners that follow its last
        letter: they are no part of the token, but of what is read."""
        end = int(self.spans[token, 1])
        for character in self.text_utf8[end : end + 32].decode("utf-8", "ignore"):
            if unicodedata.category(character) not in ("Mn", "Me", "Cf"):
                break
            end += len(character.encode())
        return end

    def slice(self, start: int, end: int) -> str:
        """The text between two bytes of it."""
        return self.text_utf8[start:end].decode("utf-8", "replace")


def reading(document: Document) -> Reading:
    """Makes a document readable."""
    text = _laid_out(document.text_utf8) if document.html else document.text_utf8
    return Reading(text, _core.token_spans(text, False))


def _laid_out(html: bytes) -> bytes:
    """The text of HTML, its white space as a browser would show it."""
    # Line breaks of the source are spaces to a reader; those that remain come from the markup.
    parts: list[bytes] = []
    at, inside = 0, b""  # the preformatted element we are in
    for tag in _PREFORMATTED.finditer(html):
        closes, name = tag[1], tag[2].lower()
        if closes and name == inside:
            parts.append(html[at : tag.start()])
            at, inside = tag.start(), b""
        elif not closes and not inside:
            parts.append(html[at : tag.start()].translate(_LINE_BREAKS))
            at, inside = tag.start(), name
    parts.append(html[at:] if inside else html[at:].translate(_LINE_BREAKS))
    text = _SPACES.sub(b" ", _core.html_text(b"".join(parts)))
    return _LINE.sub(b"\n", _BLANK.sub(b"\n\n", text)).strip()
