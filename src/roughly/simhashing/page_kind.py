"""Which of the pages that many sites have a text is: empty, an error, a place to log in.

These make the spikes that the 2007 paper found among its simhashes (section 4.2). The words are
looked for in the canonical form of short pages only: a long text may speak of errors.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from roughly import _core

if TYPE_CHECKING:
    import pyarrow as pa

PageKind = Literal["empty", "error", "login", ""]

_MOST_TOKENS = 300
_ERROR = re.compile(
    r"(?:^| )(?:40[0134]|410|50[0234]|error|errors|not found|forbidden|access denied"
    r"|does not exist|doesn t exist|no longer available|bad gateway|bad request"
    r"|service unavailable|temporarily unavailable|unauthorized)(?= )"
)
_ENTER = re.compile(r"(?:^| )(?:log in|login|log on|logon|sign in|signin)(?= )")
_SECRET = re.compile(r"(?:^| )(?:password|passwort|username|user name|account|e mail|email)(?= )")


@dataclass(frozen=True, slots=True)
class Example:
    """A document that stands for many."""

    id: str
    kind: PageKind = ""
    excerpt: str = ""


def examples_of(documents: Iterable[pa.RecordBatch], rows: Iterable[int]) -> dict[int, Example]:
    """Those rows of a collection, by one pass over it."""
    wanted = sorted(set(rows), reverse=True)
    found: dict[int, Example] = {}
    begin = 0
    for batch in documents:
        while wanted and wanted[-1] < begin + len(batch):
            row = wanted.pop()
            at = row - begin
            text, html = batch["content"][at].as_py(), batch["html"][at].as_py()
            found[row] = Example(
                batch["id"][at].as_py(), page_kind(text, html), excerpt(text, html)
            )
        begin += len(batch)
        if not wanted:
            break
    return found


def page_kind(text_utf8: bytes, html: bool) -> PageKind:
    """The kind of a page, or nothing if it is none of these."""
    canonical, ends = _core.tokenize(text_utf8, html)
    if len(ends) == 0:
        return "empty"
    if len(ends) > _MOST_TOKENS:
        return ""
    words = canonical.decode()
    if _ENTER.search(words) and _SECRET.search(words):
        return "login"
    return "error" if _ERROR.search(words) else ""


def excerpt(text_utf8: bytes, html: bool, most: int = 100) -> str:
    """The first words of a page, on one line."""
    if html:
        data, _ = _core.html_batch([text_utf8], 1)
        text_utf8 = data.tobytes()
    words = " ".join(text_utf8[: 40 * most].decode("utf-8", "replace").split())
    return words if len(words) <= most else f"{words[: most - 1]}…"
