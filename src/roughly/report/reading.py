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

# In preformatted text a line break of the source is one to the reader.
_PREFORMATTED = re.compile(rb"(<(pre|textarea|xmp|listing)[\s>].*?</\2\s*>)", re.I | re.S)
_LINE_BREAKS = bytes.maketrans(b"\n\r\f", b"   ")
_SPACES = re.compile(rb"[ \t\r\f]+")
_BLANK = re.compile(rb" ?\n(?: ?\n)+ ?")
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
    source = document.text_utf8
    if document.html:
        text = _laid_out(source)
        if _core.tokenize(text, False)[0] == _core.tokenize(source, True)[0]:
            return Reading(text, _core.token_spans(text, False))
        # Must not be, and the tests hold it; a reader is then better served by the source.
    return Reading(source, _core.token_spans(source, document.html))


def _laid_out(html: bytes) -> bytes:
    """The text of HTML, its white space as a browser would show it."""
    # Line breaks of the source are spaces to a reader; those that remain come from the markup.
    # Splitting by a pattern with two groups gives (plain, preformatted, name) over and over.
    parts = _PREFORMATTED.split(html)
    flat = (part if i % 3 else part.translate(_LINE_BREAKS) for i, part in enumerate(parts))
    source = b"".join(part for i, part in enumerate(flat) if i % 3 != 2)
    text = _SPACES.sub(b" ", _core.html_text(source))
    return _LINE.sub(b"\n", _BLANK.sub(b"\n\n", text)).strip()
