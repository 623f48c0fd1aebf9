"""Where the text of a stream of tags and the text of a tree are known to differ, and why.

`strip` builds no tree, so it cannot move, close or drop what a tree builder would. PAGES lists
the labelled pages on which the token sequences differ, by the first 16 hexadecimal digits of the
SHA-256 of the page's UTF-8; the tests fail for a page that differs unlisted and for a listed page
that does not differ. EXAMPLES holds the smallest input known for each category.
"""

from __future__ import annotations

from typing import NamedTuple

CATEGORIES = {
    "foster": "text in a table but in no cell moves before the table, next to other such text",
    "frameset": "a tree with a frameset has no body, and drops text",
    "head-noscript": "without scripting, noscript in the head ends at what a head cannot hold; "
    "browsers with scripting hide it whole, as we do",
    "implied-end": "without scripting, noscript ends with the element around it, and does not end "
    "while a paragraph is open in it; for browsers with scripting it is raw text",
    "foreign-implied-end": "an end tag of HTML closes the svg or math inside that element",
    "cdata-integration": "a CDATA section directly below an HTML integration point is text",
    "annotation-xml": "its content is HTML only if an attribute says so; we read no attributes",
    "font": "font breaks out of foreign content if it has attributes; we read no attributes",
}

# digest -> category. Empty: no labelled page differs.
PAGES: dict[str, str] = {}


class Example(NamedTuple):
    category: str
    html: bytes
    stream: str
    tree: str


EXAMPLES = (
    Example("foster", b"<table>a<tr><td>b</td></tr>c</table>", "a b c", "ac b"),
    Example("frameset", b"<frameset>a</frameset>", "a", ""),
    Example("head-noscript", b"<head><noscript>a</noscript></head> b", "b", "a b"),
    Example("implied-end", b"<div><noscript></div>a", "", "a"),
    Example("implied-end", b"<body><noscript><p></noscript>a", "a", ""),
    Example("foreign-implied-end", b"<div><math></div><xmp></b>", "", "b"),
    Example("cdata-integration", b"<svg><desc><![CDATA[a]]>", "", "a"),
    Example("annotation-xml", b"<math><annotation-xml><style/>a", "", "a"),
    Example("font", b"<svg><font color=red><xmp></b>", "", "b"),
)
