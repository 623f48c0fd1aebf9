"""What every page needs: text made harmless, names cut to a length, the page's own files.

Nothing from outside reaches a page but through `escaped`: it gives text without markup, control
characters or lone surrogates, so that a page can always be parsed, encoded and trusted.
"""

from __future__ import annotations

import base64
import hashlib
import html
import re
from importlib.resources import files

from roughly.documents.file import printable

_NOT_SHOWN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
# A longer name is cut in the middle: the ends of a path or an address say most.
NAME_CHARACTERS = 140


def escaped(text: str) -> str:
    """Text from outside as text of a page, also within an attribute's quotes."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return html.escape(_NOT_SHOWN.sub("\ufffd", text))


def clipped(text: str, most: int) -> str:
    """Text of at most `most` characters, its middle left out."""
    if len(text) <= most:
        return text
    head = most // 3
    return f"{text[:head]}…{text[len(text) - (most - head - 1) :]}"


def line(text: str, most: int) -> str:
    """Text from outside on one line of at most `most` characters; what is no character of text is
    written as an escape, directions included. It is cut before anything looks at all of it."""
    return escaped(clipped(printable(clipped(text, 4 * most)), most))


def name(text: str, most: int = NAME_CHARACTERS) -> str:
    """A document's id, a site, a reason: a line whose direction is its own."""
    return f"<bdi>{line(text, most)}</bdi>" if text else '<span class="none">no name</span>'


def own_file(file: str) -> str:
    """A file that lies beside this one: a page's template, style or script."""
    return files("roughly.report").joinpath(file).read_text("utf-8")


def policy_hash(source: str) -> str:
    """How a content security policy names an inline style or script."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()}'"
