"""HTML made to stall or crash a parser: right answers on megabytes of the worst.

No test looks at a clock. Each input is so large that work quadratic in it would take minutes or
hours, so a test that ends shows that the work was linear. Answers are worked out by hand; every
input goes through the text, the tokens, the spans and the sniffing of the core.
"""

from collections.abc import Callable
from typing import NamedTuple

import pytest

from roughly import _core
from tests import core

MANY = 1_000_000
LONG = 6_000_000
LONGEST = 50_000_000


class Attack(NamedTuple):
    """`data` and `text` are made when needed: all at once they would fill the memory."""

    name: str
    data: Callable[[], bytes]
    text: Callable[[], bytes]


def nothing() -> bytes:
    return b""


def one(text: bytes) -> Callable[[], bytes]:
    return lambda: text


def many(text: bytes, times: int = MANY) -> Callable[[], bytes]:
    return lambda: text * times


def around(before: bytes, middle: bytes, times: int, after: bytes = b"") -> Callable[[], bytes]:
    return lambda: before + middle * times + after


def nested(start: bytes, end: bytes, inside: bytes, after: bytes = b"") -> Callable[[], bytes]:
    return lambda: start * MANY + inside + end * MANY + after


TAGS = [
    Attack("unclosed inline tags", many(b"<b>"), nothing),
    Attack("unclosed block tags", many(b"<p>"), many(b"\n")),
    Attack("end tags of nothing", many(b"</div></x>"), many(b"\n")),
    Attack("tags that never end", many(b"<a ", LONG // 3), nothing),
    Attack("end tags that never end", many(b"</a ", LONG // 4), nothing),
    Attack("less-than signs", many(b"<", LONG), many(b"<", LONG)),
    Attack("less-than signs and spaces", many(b"< ", LONG // 2), many(b"< ", LONG // 2)),
    Attack("less-than signs and digits", many(b"<1", LONG // 2), many(b"<1", LONG // 2)),
    Attack("greater-than signs", many(b">", LONG), many(b">", LONG)),
    Attack("end tag openings", many(b"</", LONG // 2), nothing),
    Attack("empty end tags", many(b"</>", LONG // 3), nothing),
    Attack("a tag name", around(b"a<b", b"b", LONG, b">c"), one(b"ac")),
    Attack("an open tag name", around(b"a<b", b"b", LONG), one(b"a")),
    Attack("letters in tags of their own", many(b"a<b>", 4 * MANY), many(b"a", 4 * MANY)),
    Attack("null bytes", many(b"\0", LONG), nothing),
    Attack("null bytes in SVG", around(b"<svg>", b"\0", LONG), many(b"\0", LONG)),
]

ATTRIBUTES = [
    Attack("a double-quoted value", around(b'a<b x="', b"x>'", LONGEST // 3, b'">c'), one(b"ac")),
    Attack("a single-quoted value", around(b"a<b x='", b'x>"', LONGEST // 3, b"'>c"), one(b"ac")),
    Attack("an unquoted value", around(b"a<b x=", b"'\"=/", LONG // 4, b">c"), one(b"ac")),
    Attack("an open quote", around(b"a<b x='", b"<b>", LONG // 3), one(b"a")),
    Attack("open quotes", many(b"<b x='<b y=\"", MANY), nothing),
    Attack("attributes", around(b"a<b ", b"x='>' ", 4 * MANY, b">c"), one(b"ac")),
    Attack("attributes without values", around(b"a<b ", b"x ", LONG // 2, b">c"), one(b"ac")),
    Attack("equals signs", around(b"a<b ", b"=", LONG, b">c"), one(b"ac")),
    Attack("equals signs apart", around(b"a<b ", b"= ", LONG // 2, b">c"), one(b"ac")),
    Attack("slashes", around(b"a<b", b"/", LONG, b">c"), one(b"ac")),
    Attack("spaces in a tag", around(b"a<b", b" ", LONG, b">c"), one(b"ac")),
    Attack("quotes where none count", around(b"a<b ", b"'", LONG, b">c"), one(b"ac")),
]

COMMENTS = [
    Attack("comment openings", many(b"<!--", LONG // 4), nothing),
    Attack("nested comments", around(b"", b"<!-- ", MANY, b"--> -->"), one(b" -->")),
    Attack("comments", many(b"a<!-- > -- -->", MANY), many(b"a")),
    Attack("empty comments", many(b"<!--><!---><!---->", MANY), nothing),
    Attack("dashes", around(b"a<!--", b"-", LONG, b">c"), one(b"ac")),
    Attack("open dashes", around(b"a<!--", b"-", LONG), one(b"a")),
    Attack("almost closed comment", around(b"a<!--", b"--!->", LONG // 5), one(b"a")),
    Attack("dashes and bangs", around(b"a<!--", b"--!", LONG // 3, b">c"), one(b"ac")),
    Attack("closings of nothing", many(b"-->", LONG // 3), many(b"-->", LONG // 3)),
    Attack("declarations", many(b"<!x><?y></ z>", MANY), nothing),
    Attack("open declarations", many(b"<!doctype ", MANY), nothing),
    Attack("open instructions", many(b"<?", LONG // 2), nothing),
]

REFERENCES = [
    Attack("ampersands", many(b"&", LONG), many(b"&", LONG)),
    Attack("references", many(b"&amp;", 4 * MANY), many(b"&", 4 * MANY)),
    Attack("references without semicolons", many(b"&amp", 4 * MANY), many(b"&", 4 * MANY)),
    Attack("long references", many(b"&CounterClockwiseContourIntegral;"), many(b"\xe2\x88\xb3")),
    Attack(
        "references that miss their last letter",
        many(b"&CounterClockwiseContourIntegra"),
        many(b"&CounterClockwiseContourIntegra"),
    ),
    Attack("letters of a reference", around(b"&", b"a", LONG), around(b"&", b"a", LONG)),
    Attack("expanding references", many(b"&nGt;"), many("\u226b\u20d2".encode())),
    Attack("a long number", around(b"&#", b"9", LONG, b";"), one(b"\xef\xbf\xbd")),
    Attack("a long hexadecimal number", around(b"&#x", b"F", LONG), one(b"\xef\xbf\xbd")),
    Attack("leading zeros", around(b"&#x", b"0", LONG, b"41;"), one(b"A")),
    Attack("numbers", many(b"&#65"), many(b"A")),
    Attack("unfinished numbers", many(b"&#", LONG // 2), many(b"&#", LONG // 2)),
    Attack("unfinished hexadecimals", many(b"&#x", LONG // 3), many(b"&#x", LONG // 3)),
]

RAW_TEXT = [
    Attack("near misses of a script's end", around(b"a<script>", b"</scrip", 2 * MANY), one(b"a")),
    Attack("ends of a script that go on", around(b"a<script>", b"</script", 2 * MANY), one(b"a")),
    Attack(
        "other ends in a script",
        around(b"a<script>", b"</scripts>", MANY, b"</script>c"),
        one(b"ac"),
    ),
    Attack("escapes", around(b"a<script>", b"<!--", LONG // 4, b"</script>c"), one(b"ac")),
    Attack(
        "double escapes", around(b"a<script><!--", b"<script>", MANY, b"--></script>c"), one(b"ac")
    ),
    Attack(
        "escapes opened and closed",
        around(b"a<script>", b"<!--<script></script>-->", MANY, b"</script>c"),
        one(b"ac"),
    ),
    Attack("open double escapes", around(b"a<script>", b"<!--<script>", MANY), one(b"a")),
    Attack("scripts", many(b"<script></script>a"), many(b"a")),
    Attack("titles", many(b"<title></title>"), many(b"\n\n")),
    Attack(
        "near misses of a title's end",
        around(b"<title>", b"</titl", 2 * MANY),
        around(b"\n", b"</titl", 2 * MANY),
    ),
    Attack("less-than signs in xmp", around(b"<xmp>", b"<", LONG), around(b"\n", b"<", LONG)),
    Attack("styles that never end", many(b"<style>", 2 * MANY), nothing),
    Attack("plaintext", around(b"<plaintext>", b"<p>", MANY), around(b"\n", b"<p>", MANY)),
]

NESTING = [
    Attack("templates", nested(b"<template>", b"</template>", b"a", b"b"), one(b"b")),
    Attack("one template open", around(b"<template>", b"<template></template>", MANY), nothing),
    Attack("noscripts that never end", many(b"<noscript>a"), nothing),
    Attack(
        "SVG in SVG", nested(b"<svg>", b"</svg>", b"<![CDATA[a]]>", b"<![CDATA[b]]>"), one(b"a")
    ),
    Attack("SVG and HTML in turn", nested(b"<svg><desc>", b"</svg>", b"a"), one(b"a")),
    Attack("SVG and MathML", nested(b"<svg><math>", b"</svg></math>", b"a"), one(b"a")),
    Attack("break-out", many(b"<svg><p>a"), many(b"\na")),
    Attack("styles of SVG", around(b"<svg>", b"<style>a</style>b", MANY), many(b"b")),
    Attack("styles in styles", around(b"<svg>", b"<style>", MANY), nothing),
    Attack("CDATA sections", around(b"<svg>", b"<![CDATA[a]]>", MANY), many(b"a")),
    Attack("CDATA in CDATA", around(b"<svg><![CDATA[", b"<![CDATA[", MANY), many(b"<![CDATA[")),
    Attack("brackets", around(b"<svg><![CDATA[", b"]", LONG), many(b"]", LONG)),
    Attack("bracket pairs", around(b"<svg><![CDATA[", b"]] ", LONG // 3), many(b"]] ", LONG // 3)),
    Attack("ends of no CDATA", many(b"]]>", LONG // 3), many(b"]]>", LONG // 3)),
    Attack("CDATA outside SVG", many(b"<![CDATA[a]]>b"), many(b"b")),
]

ATTACKS = TAGS + ATTRIBUTES + COMMENTS + REFERENCES + RAW_TEXT + NESTING


@pytest.mark.core
@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_attack(attack: Attack) -> None:
    data, text = attack.data(), attack.text()
    # Comparing first keeps megabytes out of the report of a failure.
    equal = _core.html_text(data) == text
    assert equal
    canonical, ends = _core.tokenize(text, False)
    for level in core.LEVELS:
        equal = _core.tokenize(data, True, level)[0] == canonical
        assert equal
    spans = _core.token_spans(data, True)
    assert len(spans) == len(ends)
    assert (spans[:, 0] < spans[:, 1]).all()
    assert (spans[1:, 0] >= spans[:-1, 0]).all()
    assert (spans <= len(data)).all()


@pytest.mark.core
def test_one_token_in_many_tags() -> None:
    data = b"a<b>" * MANY
    [token] = core.tokenize(data, html=True).tokens
    assert len(token) == MANY
    assert core.spans(data, html=True) == [(0, len(data) - len(b"<b>"))]


@pytest.mark.core
def test_sniffing_is_short() -> None:
    assert _core.sniff_html(b" " * LONGEST + b"<p>")
    assert not _core.sniff_html(b" " * LONGEST)
    assert not _core.sniff_html(b"<?xml" + b"<htm" * (LONGEST // 4) + b"<html")
