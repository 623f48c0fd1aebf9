"""HTML to text: every rule of docs/algorithm.md (1.4) by hand, and core = reference on any bytes.

The examples are worked out by hand from that page and the HTML standard; they hold for the
reference and for the core alike, byte for byte.
"""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from roughly import _core
from tests import core
from tests.optional import FULL
from tests.reference import html, token
from tests.strategy_html import beginnings, documents

Examples = list[tuple[bytes, bytes]]

TAGS: Examples = [
    (b"", b""),
    (b"plain text", b"plain text"),
    (b"a<b>b</b>c", b"abc"),
    (b"a<B CLASS=x>b</B\n>c", b"abc"),
    (b"a<x-y>b</x-y>c", b"abc"),
    (b"a <1> < b <", b"a <1> < b <"),
    (b"a<<b>c", b"a<c"),
    (b"a<b<i>c", b"ac"),
    (b"a</>b", b"ab"),
    (b"a</ p>b", b"ab"),
    (b"a</1 x='>'>b", b"a'>b"),
    (b"a</", b"a</"),
    (b"a</b", b"a"),
    (b"a<", b"a<"),
    (b"a<b", b"a"),
    (b"a<p", b"a"),
    (b"a<p x", b"a"),
    (b"a</p x='", b"a"),
    # Bytes that are not ASCII are text, well-formed or not.
    (b"\xc3\xa9<b>\xff\xc3</b>", b"\xc3\xa9\xff\xc3"),
    (b"a<\xc3\xa9>b", b"a<\xc3\xa9>b"),
    (b"a<b\xc3\xa9>b", b"ab"),
    # Only these five bytes end a name; a vertical tab is part of it.
    (b"a<p\tx>b<p\nx>c<p\x0cx>d<p\rx>e<p x>f", b"a\nb\nc\nd\ne\nf"),
    (b"a<p\x0bx>b<p\x00>c", b"abc"),
]

ATTRIBUTES: Examples = [
    (b"a<b x='>'>c", b"ac"),
    (b'a<b x=">">c', b"ac"),
    (b'a<b x=">\'>">c', b"ac"),
    (b"a<b x = '>' y>c", b"ac"),
    (b"a<b x='>'y='>'>c", b"ac"),
    # A quote where a name is expected, or inside an unquoted value, is no quote.
    (b"a<b '>c'>d", b"ac'>d"),
    (b"a<b x'>c", b"ac"),
    (b"a<b x=y'>c", b"ac"),
    (b"a<b x '>c", b"ac"),
    # An equals sign begins a name where a name is expected; the next one then begins a value.
    (b"a<b ='>'>c", b"a'>c"),
    (b"a<b =='>'>c", b"ac"),
    (b"a<b x==' >c", b"ac"),
    (b"a<b x=>c", b"ac"),
    (b"a<b x= >c", b"ac"),
    (b"a<b x=/>c", b"ac"),
    (b"a<b x/='>'>c", b"a'>c"),
    (b"a<b/x='>'>c", b"ac"),
    (b"a<b x/y>c", b"ac"),
    (b"a<b x='1'/>c", b"ac"),
    (b"a<b x='>c", b"a"),
    (b'a<b x=">c', b"a"),
    (b"a<b x='&quot;&gt;'>c", b"ac"),
    (b"a<p title='never counts'>c", b"a\nc"),
    (b"a</p x='>'>c", b"a\nc"),
]

COMMENTS: Examples = [
    (b"a<!--b-->c", b"ac"),
    (b"a<!--b--!>c", b"ac"),
    (b"a<!-->c", b"ac"),
    (b"a<!--->c", b"ac"),
    (b"a<!---->c", b"ac"),
    (b"a<!----!>c", b"ac"),
    (b"a<!----->c", b"ac"),
    (b"a<!--!>b-->c", b"ac"),
    (b"a<!---!>b-->c", b"ac"),
    (b"a<!--b->-- >--b-->c", b"ac"),
    (b"a<!--b--!-->c", b"ac"),
    (b"a<!--b--!->d-->c", b"ac"),
    (b"a<!-- <!-- b --> c -->", b"a c -->"),
    (b"a<!--<!-->c", b"ac"),
    (b"a<!--<!--->c", b"ac"),
    (b"a<!--<!->b-->c", b"ac"),
    (b"a<!--<!-x>b-->c", b"ac"),
    (b"a<!-- '-->c", b"ac"),
    (b"a<!--b", b"a"),
    (b"a<!--b--", b"a"),
    (b"a<!--b--!", b"a"),
    (b"a<!--", b"a"),
    # Declarations that are no comments end at the first ">".
    (b"a<!>c", b"ac"),
    (b"a<!->b-->c", b"ab-->c"),
    (b"a<!b 'x>c", b"ac"),
    (b"a<!doctype html>c", b"ac"),
    (b'a<!DOCTYPE html PUBLIC "x>y">c', b'ay">c'),
    (b"a<!doctype", b"a"),
    (b"a<?xml version='1.0'?>c", b"ac"),
    (b"a<?>c", b"ac"),
    (b"a<?", b"a"),
    (b"a<!", b"a"),
    (b"a<![CDATA[b]]>c", b"ac"),
    (b"a<![CDATA[b>d]]>c", b"ad]]>c"),
]

REFERENCES: Examples = [
    (b"&lt;p&gt; &amp;amp;", b"<p> &amp;"),
    (b"&eacute;&Eacute;&nbsp;&hellip;", "é\u00c9\u00a0\u2026".encode()),
    (b"&eacute &eacutex &AMP&COPY", "é éx &©".encode()),
    (b"&notit; &notin; &notin &noti", "¬it; \u2209 ¬in ¬i".encode()),
    (b"&amp=1 &ampx", b"&=1 &x"),
    (b"&hellip &nosuch; &; & &", b"&hellip &nosuch; &; & &"),
    (b"&&amp;&", b"&&&"),
    (b"&fjlig;&nLl;&nGt;", "fj\u22d8\u0338\u226b\u20d2".encode()),
    (b"&CounterClockwiseContourIntegral;", "\u2233".encode()),
    (b"&CounterClockwiseContourIntegral", b"&CounterClockwiseContourIntegral"),
    (b"&EACUTE;", b"&EACUTE;"),
    (b"&#65;&#65 &#x41;&#X41&#x4a;&#x4A;", b"AA AAJJ"),
    (b"&#65x&#x41g", b"AxAg"),
    (b"&#;&#x;&# &#x &#xg;&#a;&#", b"&#;&#x;&# &#x &#xg;&#a;&#"),
    (b"&#00000000000000000000000065;&#x0000000000000000000041;", b"AA"),
    (b"&#128;&#x99;&#150;&#x9f;", "\u20ac\u2122\u2013\u0178".encode()),
    (b"&#x81;&#x8d;&#x8f;&#x90;&#x9d;", "\x81\x8d\x8f\x90\x9d".encode()),
    (b"&#x7f;&#xa0;&#13;", "\x7f\u00a0\r".encode()),
    (b"&#0;&#xd800;&#xdfff;&#x110000;", "\ufffd\ufffd\ufffd\ufffd".encode()),
    (b"&#99999999999999999999;&#4294967361;", "\ufffd\ufffd".encode()),
    (b"&#xfffffffffffffffffffff41;&#18446744073709551681;", "\ufffd\ufffd".encode()),
    (b"&#x10ffff;&#xfffe;", "\U0010ffff\ufffe".encode()),
    # What a reference stands for is text, never markup.
    (b"&lt;script>a&lt;/script>", b"<script>a</script>"),
    (b"a&lt!--b-->", b"a<!--b-->"),
    (b"&a<b>mp;", b"&amp;"),
    (b"&#6<b>5;", b"\x065;"),
    (b"a<b x=&gt;>c", b"ac"),
    (b"<!--&gt;-->a", b"a"),
]

RAW_TEXT: Examples = [
    (b"<title>a<b>&amp;</b></title>c", b"\na<b>&</b>\nc"),
    (b"<TITLE>a</Title\t>c", b"\na\nc"),
    (b"<title>a</titlex>b</title", b"\na</titlex>b</title"),
    (b"<title>a</title/>b</title x='>'>c", b"\na\nb\nc"),
    (b"<title>a</ title>b</</title>c", b"\na</ title>b</\nc"),
    (b"<title>a<!--</title>-->c", b"\na<!--\n-->c"),
    (b"<title>a</tit&lt;le></title>c", b"\na</tit<le>\nc"),
    (b"<title>a", b"\na"),
    (b"<title>a</title ", b"\na"),
    (b"<title>a<", b"\na<"),
    (b"<title>a</", b"\na</"),
    (b"<title/>a<b></title>c", b"\na<b>\nc"),
    (b"<textarea><p>a</p></title></textarea>c", b"\n<p>a</p></title>\nc"),
    (b"<xmp><p>&amp;</p></xmp>c", b"\n<p>&amp;</p>\nc"),
    (b"<xmp>a</xm", b"\na</xm"),
    (b"a<style>b</style>c", b"ac"),
    (b"a<style>b<!--</style>-->c", b"a-->c"),
    (b"a<noembed><p>b</noembed>c", b"ac"),
    (b"a<noframes><p>b</noframes>c", b"ac"),
    (b"a<iframe src=x><p>b</iframe>c", b"a\n\nc"),
    (b"a<style>b", b"a"),
    (b"a<style>b</style", b"a"),
    (b"a<style>b</styl e>c</style>d", b"ad"),
    (b"a<style/>b</style>c", b"ac"),
    (b"a<plaintext>b</plaintext><p>&amp;<!--c", b"a\nb</plaintext><p>&amp;<!--c"),
    (b"a</title>b</script>c</plaintext>d", b"a\nbc\nd"),
]

SCRIPTS: Examples = [
    (b"a<script>b</script>c", b"ac"),
    (b"a<SCRIPT src=x>b<p></sCript >c", b"ac"),
    (b"a<script>'</script>'c", b"a'c"),
    (b"a<script>b</scriptx></script>c", b"ac"),
    # Escaped: the end tag still ends the script.
    (b"a<script><!--b</script>c-->d", b"ac-->d"),
    (b"a<script><!--b--></script>c", b"ac"),
    # Double escaped: the first end tag only ends the inner script.
    (b"a<script><!--<script>b</script>c</script>d", b"ad"),
    (b"a<script><!--<script>b</script>--></script>d", b"ad"),
    (b"a<script><!--<script >b--></script>d", b"ad"),
    (b"a<script><!--<script/b</script/c</script>d", b"ad"),
    (b"a<script><!--<scriptx>b</script>d", b"ad"),
    (b"a<script><!--<script", b"a"),
    (b"a<script><!--<script>b</script>c", b"a"),
    (b"a<script><!--<script>b</scripty>c</script>d</script>e", b"ae"),
    # What does not open or does close an escape.
    (b"a<script><!-<script>b</script>d", b"ad"),
    (b"a<script><!--><script>b</script>d", b"ad"),
    (b"a<script><!---><script>b</script>d", b"ad"),
    (b"a<script><!-- -> <script>b</script>c</script>d", b"ad"),
    (b"a<script><!-- --!> <script>b</script>c</script>d", b"ad"),
    (b"a<script>-->b</script>d", b"ad"),
    (b"a<script><!--<sCRIPT>b</SCRIPT>c</script>d", b"ad"),
    (b"a<script>b", b"a"),
]

HIDDEN: Examples = [
    (b"a<template>b<p>c</p></template>d", b"ad"),
    (b"a<noscript>b<p>c</p></noscript>d", b"ad"),
    (b"a<template>b<template>c</template>d</template>e", b"ae"),
    (b"a<template>b<noscript>c</template>d", b"ad"),
    (b"a<template>b</noscript>c</template>d", b"ad"),
    (b"a<template>b<!--</template>-->c</template>d", b"ad"),
    (b"a<template>b<script></template></script>c</template>d", b"ad"),
    (b"a<template><title>b</template></title>c</template>d", b"ad"),
    (b"a<template x='</template>'>b</template>c", b"ac"),
    (b"a<template/>b</template>c", b"ac"),
    (b"a<template>b", b"a"),
    (b"a<template>&amp;\x00<iframe></iframe><plaintext></template>d", b"a"),
    (b"a</template>b</noscript>c", b"abc"),
]

FOREIGN: Examples = [
    (b"a<svg><![CDATA[b<p>&amp;]]>c</svg>d", b"ab<p>&amp;cd"),
    (b"<svg><![CDATA[a]]]>b<![CDATA[]]>c<![CDATA[]d]]>", b"a]bc]d"),
    (b"<math><![CDATA[a]]></math><![CDATA[b]]>", b"a"),
    (b"<svg><![cdata[a]]>b", b"b"),
    (b"<svg><![CDATA[a", b"a"),
    (b"<svg><![CDATA[a]", b"a]"),
    (b"<svg><![CDATA[a]]", b"a]]"),
    (b"<svg/><![CDATA[a]]>b", b"b"),
    (b"<svg></svg><![CDATA[a]]>b", b"b"),
    (b"<svg></SVG ><![CDATA[a]]>b", b"b"),
    (b"<svg><svg></svg><![CDATA[a]]></svg><![CDATA[b]]>", b"a"),
    # Raw text is none here, but it hides.
    (b"<svg><style>a<g>b</g></style>c</svg>", b"c"),
    (b"<svg><script>a<!--</script>-->b</script>c</svg>", b"c"),
    (b"<svg><style/>a<script/>b</svg>", b"ab"),
    (b"<svg><style><style/>a</style>b</svg>", b"b"),
    (b"<svg><style><style>a</style>b</style>c</svg>", b"c"),
    (b"<svg><iframe>a</iframe>b</svg>", b"\n\nb"),
    (b"<svg><xmp>a<g>b</g></xmp><textarea>&amp;<g>c</g></textarea></svg>", b"\nab\n\n&c\n"),
    (b"<svg><plaintext>a</svg>b", b"\nab"),
    (b"<svg><template>a</template>b<template/>c<noscript/>d</svg>", b"bcd"),
    (b"<svg><template>a<template/>b</template>c", b"c"),
    # Hiding begun here ends with the svg or math around it; hiding begun in HTML does not.
    (b"<svg><style>a</svg>b<style>c</style>d", b"bd"),
    (b"<svg><script>a<p>b</p></script>c", b"\nb\nc"),
    (b"<svg><style>a</p>b", b"\nb"),
    (b"<svg><style><style>a</svg>b</style>c", b"bc"),
    (b"<svg><svg><style>a</svg>b</style>c", b"bc"),
    (b"<svg><style><svg>a</svg>b</style>c", b"c"),
    (b"<svg><style><desc>a</desc>b</style>c", b"c"),
    (b"<svg><title><svg><style>a</title>b", b"\n\nb"),
    (b"<math><template>a</math>b</template>c", b"bc"),
    (b"<svg><desc><template>a</svg>b</template>c", b"c"),
    (b"<template><svg></svg>a</template>b", b"b"),
    (b"<svg><desc><noscript>a<svg></desc>b</noscript>c", b"c"),
    # Where HTML begins again.
    (b"<svg><title>a<g>&amp;</title><![CDATA[b]]>", b"\na&\nb"),
    (b"<svg><foreignObject><style>a<b></style><![CDATA[b]]>c", b"c"),
    (b"<svg><desc><![CDATA[a]]></desc><![CDATA[b]]>", b"b"),
    (b"<svg><desc/><![CDATA[a]]>", b"a"),
    (b"<svg><mi><![CDATA[a]]>", b"a"),
    (b"<math><mi><![CDATA[a]]></mi><desc><![CDATA[b]]>", b"b"),
    (b"<math><annotation-xml><svg><![CDATA[a]]></math><![CDATA[b]]>", b"a"),
    (b"<desc><![CDATA[a]]>b", b"b"),
    (b"<svg><desc><svg><desc></svg><![CDATA[a]]></svg><![CDATA[b]]>", b""),
    # Break-out, as far as the nearest entry that is neither svg nor math.
    (b"<svg><p><![CDATA[a]]>b", b"\nb"),
    (b"<svg><g></p><![CDATA[a]]>b", b"\nb"),
    (b"<svg></br><![CDATA[a]]>b", b"\nb"),
    (b"<svg></div><![CDATA[a]]>b", b"\nab"),
    (b"<svg><a><![CDATA[a]]>b", b"ab"),
    (b"<svg><font><![CDATA[a]]>b", b"ab"),
    (b"<svg><desc><svg><math><b><![CDATA[a]]></desc><![CDATA[b]]>", b"b"),
    (b"<svg><li/><![CDATA[a]]>b", b"\nb"),
    # The stack holds 32: the 33rd is not pushed, so that one end tag too many leaves it empty.
    (b"<svg>" * 32 + b"</svg>" * 31 + b"<![CDATA[a]]>b", b"ab"),
    (b"<svg>" * 33 + b"</svg>" * 31 + b"<![CDATA[a]]>b", b"ab"),
    (b"<svg>" * 33 + b"</svg>" * 32 + b"<![CDATA[a]]>b", b"b"),
]

NULLS: Examples = [
    (b"a\x00b<title>a\x00b</title>", b"ab\na\x00b\n"),
    (b"<xmp>\x00</xmp>\x00<plaintext>\x00", b"\n\x00\n\n\x00"),
    (b"<svg>a\x00b<![CDATA[\x00]]><desc>\x00", b"a\x00b\x00"),
    (b"&am\x00p;&\x00amp;", b"&amp;&amp;"),
    (b"<\x00p>a</\x00p>b", b"<p>ab"),
]

SEPARATING = """address article aside audio blockquote body br button canvas caption center col
    colgroup dd details dialog dir div dl dt embed fieldset figcaption figure footer form frame
    frameset h1 h2 h3 h4 h5 h6 head header hgroup hr html img input legend li listing main marquee
    menu nav object ol optgroup option p pre rp rt search section select summary table tbody td
    tfoot th thead tr ul video""".split()
JOINING = """a abbr acronym b basefont bdi bdo big cite code data datalist del dfn em font g h h0 h7
    i ins isindex kbd label link map mark math meta meter nobr output param picture progress q rb
    rtc ruby s samp slot small source span strike strong sub sup svg time track tt u var wbr
    x-div pp""".split()

EVERY_EXAMPLE = (
    TAGS + ATTRIBUTES + COMMENTS + REFERENCES + RAW_TEXT + SCRIPTS + HIDDEN + FOREIGN + NULLS
)

# In the order of docs/algorithm.md: each of these alone and followed by ">", "/" or white space.
SNIFFED = """<!doctype html,<html,<head,<script,<iframe,<h1,<div,<font,<table,<a,<style,<title,<b,
<body,<br,<p,<meta,<link,<span,<ul,<ol,<center,<h2,<h3,<section,<article,<main,<header,
<nav""".replace("\n", "").split(",")
NOT_SNIFFED = """<h4 <h <em <i <td <li <svg <abbr <pre <img <htmlx <!doctype <!- <! <? <?xm < text
    <!doctypehtml""".split()


@pytest.mark.core
@pytest.mark.parametrize(("data", "text"), EVERY_EXAMPLE)
def test_text_by_hand(data: bytes, text: bytes) -> None:
    assert html.strip(data) == text
    assert _core.html_text(data) == text


@pytest.mark.core
@pytest.mark.parametrize("gap", range(0, 131, 13))
def test_text_by_hand_anywhere_in_a_block(gap: int) -> None:
    for data, text in EVERY_EXAMPLE:
        assert _core.html_text(b"x" * gap + data) == b"x" * gap + text


@pytest.mark.core
def test_separation() -> None:
    for name, gap in [(n, b"\n") for n in SEPARATING] + [(n, b"") for n in JOINING]:
        data = f"a<{name}>b</{name.upper()}>c<{name}/>d".encode()
        text = b"a" + gap + b"b" + gap + b"c" + gap + b"d"
        assert html.strip(data) == text
        assert _core.html_text(data) == text


@pytest.mark.core
def test_sniff_by_hand() -> None:
    cases = {
        opening + after: True for opening in SNIFFED for after in (">", "/", " ", "\t", "\r\n")
    }
    cases |= {opening.upper() + "\f": True for opening in SNIFFED}
    cases |= dict.fromkeys(SNIFFED, False)
    cases |= {opening + after: False for opening in SNIFFED for after in ("\v", "\0", "-", "<")}
    cases |= {opening + ">": False for opening in NOT_SNIFFED}
    cases |= {
        "": False,
        "\ufeff": False,
        "\ufeff \t\r\n\f<p>": True,
        " \ufeff<p>": False,
        "\ufeff\ufeff<p>": False,
        "\v<p>": False,
        "x<p>": False,
        "</p>": False,
        "<!--": True,
        "<!-- >": True,
        "<?xml version='1.0'?><html>": True,
        "<?XML?>\n<!DocType HTML ": True,
        "<?xml?><htmlx": True,
        "<?xml?><rss>": False,
        "<?xml" + "." * 1014 + "<html": True,
        "<?xml" + "." * 1015 + "<html": False,
        " <?xml" + "." * 1014 + "<html": True,
        "<?xml" + "." * 1005 + "<!doctype html": True,
        "<?xml" + "." * 1006 + "<!doctype html": False,
    }
    for data, is_html in cases.items():
        assert html.sniff(data.encode()) is is_html, data
        assert _core.sniff_html(data.encode()) is is_html, data


def equal_everywhere(data: bytes) -> None:
    text, origins = html.strip_with_origins(data)
    tokens = token.tokens(text)
    words = [t.text.encode() for t in tokens]
    spans = [(origins[t.start][0], origins[t.end - 1][1]) for t in tokens]
    assert _core.html_text(data) == text
    for level in core.LEVELS:
        assert core.tokenize(data, html=True, simd=level).tokens == words
    assert core.spans(data, html=True) == spans


@pytest.mark.core
@settings(max_examples=10_000 if FULL else 1_000)
@given(documents)
def test_core_is_reference(data: bytes) -> None:
    equal_everywhere(data)


@pytest.mark.core
@given(st.binary())
def test_core_is_reference_on_bytes(data: bytes) -> None:
    equal_everywhere(data)


@pytest.mark.core
@pytest.mark.parametrize("example", range(len(EVERY_EXAMPLE)))
def test_end_of_input(example: int) -> None:
    """The end of input in every state."""
    data, _ = EVERY_EXAMPLE[example]
    for end in range(len(data)):
        equal_everywhere(data[:end])


@pytest.mark.core
@given(st.one_of(beginnings, documents, st.binary()))
def test_sniff_is_reference(data: bytes) -> None:
    assert _core.sniff_html(data) is html.sniff(data)


@pytest.mark.core
def test_spans_by_hand() -> None:
    data = b"<p>Caf&eacute;<b>s</b> x&frac12; <svg><![CDATA[yz]]></svg>&#x6f22;<!-- -->&amp;w</p>"
    words = core.tokenize(data, html=True).tokens
    found = [
        (word.decode(), data[start:end])
        for word, (start, end) in zip(words, core.spans(data, html=True), strict=True)
    ]
    assert found == [
        ("cafes", b"Caf&eacute;<b>s"),
        ("x1", b"x&frac12;"),
        ("2", b"&frac12;"),
        ("yz", b"yz"),
        ("漢", b"&#x6f22;"),
        ("w", b"w"),
    ]
