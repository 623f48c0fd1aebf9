"""From bytes to tokens (docs/algorithm.md, 1.1 to 1.3), one code point after the other.

HTML (1.4) is turned into text by tests/reference/html.py first; a token's span is given for
plain text only, where it is the bytes from the first to the last code point that contributed
to the token.
"""

from collections.abc import Iterator
from typing import Literal, NamedTuple

from tests.reference.unicode import class_of, fold

ContentType = Literal["auto", "html", "text"]


class Token(NamedTuple):
    """One token and the range of bytes it was read from."""

    text: str
    start: int
    end: int


def code_points(data: bytes) -> Iterator[tuple[int, int, int]]:
    """Every code point with its range of bytes.

    A byte of an ill-formed sequence becomes a lone surrogate instead of a share of U+FFFD: both
    separate, how many there are does not matter, and so every position stays known.
    """
    start = 0
    for character in data.decode("utf-8", "surrogateescape"):
        end = start + len(character.encode("utf-8", "surrogateescape"))
        yield ord(character), start, end
        start = end


def tokens(data: bytes) -> list[Token]:
    """The tokens of a text, in order."""
    result: list[Token] = []
    in_word = False
    for c, start, end in code_points(data):
        folded = fold(c)
        if not folded and result and result[-1].end == start:
            # What is left out belongs to the span of the token right before it.
            result[-1] = Token(result[-1].text, result[-1].start, end)
        for d in folded:
            kind = class_of(d)
            if kind == "word" and in_word:
                last = result[-1]
                result[-1] = Token(last.text + chr(d), last.start, end)
            elif kind != "separator":
                result.append(Token(chr(d), start, end))
            in_word = kind == "word"
    return result


def is_html(data: bytes, content_type: ContentType) -> bool:
    if content_type == "auto":
        from tests.reference.html import sniff

        return sniff(data)
    return content_type == "html"


def text_of(data: bytes, content_type: ContentType) -> bytes:
    """The text of a document, as bytes that should be UTF-8."""
    if is_html(data, content_type):
        from tests.reference.html import strip

        return strip(data)
    return data


def words(data: bytes, content_type: ContentType) -> list[bytes]:
    """The tokens of a document as UTF-8, without their spans."""
    return [token.text.encode() for token in tokens(text_of(data, content_type))]


def canonical_form(document: list[bytes]) -> bytes:
    """Every token followed by one byte 0x20."""
    return b"".join(token + b" " for token in document)
