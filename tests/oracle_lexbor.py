"""The text of an HTML document from the tree that lexbor builds: the outside judge of `strip`.

The same two lists as docs/algorithm.md (1.4), applied to elements instead of tags: nothing
below a hidden element counts, entering and leaving a separating element gives one U+000A.
Scripting is off in lexbor, so the content of `noscript` is in the tree, and hidden here.
The content of `template` is not among its children.
"""

from __future__ import annotations

from selectolax.lexbor import LexborHTMLParser, LexborNode

from tests.reference.html import HIDING_IN_FOREIGN, SEPARATING

HIDDEN_NAMES = frozenset(name.decode() for name in HIDING_IN_FOREIGN)
SEPARATING_NAMES = frozenset(name.decode() for name in SEPARATING)


def text(data: bytes) -> bytes:
    """The visible text of the tree in document order, as UTF-8."""
    root = LexborHTMLParser(data.decode("utf-8", "replace")).root
    out: list[str] = []
    # Nodes to enter, or separators to write once everything before them is done: trees may be
    # deeper than Python's recursion.
    waiting: list[LexborNode | str | None] = [root]
    while waiting:
        node = waiting.pop()
        if node is None:
            continue
        if isinstance(node, str):
            out.append(node)
            continue
        waiting.append(node.next)
        if node.is_text_node:
            out.append(node.text_content or "")
        name = (node.tag or "").lower()
        if name in HIDDEN_NAMES:
            continue
        if name in SEPARATING_NAMES:
            out.append("\n")
            waiting.append("\n")
        waiting.append(node.first_child)
    return "".join(out).encode("utf-8", "replace")
