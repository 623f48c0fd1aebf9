"""HTML as Hypothesis strategies: fragments put together in any order.

Nothing here is meant to be well-formed. The fragments are those on which the rules of
docs/algorithm.md (1.4) turn; runs of up to 130 bytes move them across the borders of SIMD blocks.
"""

from hypothesis import strategies as st

NAMES = (
    *"a b p br div span li td table font h1 body html head img input meta code ruby".split(),
    *"title textarea xmp script style iframe noembed noframes plaintext".split(),
    *"template noscript svg math foreignObject desc mi mo mtext annotation-xml".split(),
    *"g path sCRIPT TITLE Svg titlex scrip scriptx xm h7 b\u00e9 p=x a<b select option".split(),
)
SPACES = ("", " ", "\n", "\t", "\f", "\r\n", "  ", "\v")
ATTRIBUTES = (
    "a",
    "a=b",
    "a='x>y'",
    'a="x>y"',
    "a='",
    'a="',
    "a=x'y",
    "=",
    "==",
    "='",
    "a= 'q'",
    'a ="q"',
    "'",
    '"',
    "a=b/",
    "/",
    "a=/",
    "a='x'b=\"y\"",
    "<p",
    "a=<p>",
    "&gt;",
    "encoding=text/html",
    "\x00",
)
REFERENCES = (
    "&amp;",
    "&amp",
    "&AMP",
    "&lt;b&gt;",
    "&notit;",
    "&notin;",
    "&not",
    "&eacute",
    "&Eacute;",
    "&nLl;",
    "&fjlig;",
    "&nosuch;",
    "&;",
    "&",
    "&&amp;",
    "&#",
    "&#;",
    "&#x",
    "&#x;",
    "&#xg",
    "&#65",
    "&#65;",
    "&#x41;",
    "&#X4a",
    "&#0;",
    "&#128;",
    "&#x81;",
    "&#x9F",
    "&#xd800;",
    "&#x10ffff;",
    "&#x110000;",
    "&#99999999999999999999;",
    "&#0000000000000000000000065;",
    "&CounterClockwiseContourIntegral;",
    "&CounterClockwiseContourIntegra",
)
DECLARATIONS = (
    "<!--",
    "-->",
    "--!>",
    "<!-->",
    "<!--->",
    "<!---->",
    "<!----!>",
    "<!--x-->",
    "<!-- <!-- -->",
    "<!--a--b->c--",
    "<!---x",
    "<!",
    "<!>",
    "<!-",
    "<!->",
    "<!x>",
    "<!doctype html>",
    "<!DOCTYPE html PUBLIC \"a>b\" 'c'>",
    "<![CDATA[",
    "<![cdata[x]]>",
    "<![CDATA[x<p>]]]>",
    "]]>",
    "]]",
    "]",
    "<?xml version='1.0'?>",
    "<?",
    "</",
    "</>",
    "</ p>",
    "</1>",
    "<",
    "<<",
    "<1",
    "< p>",
    ">",
)
TEXTS = ("a", " ", "word", "x y", "caf\u00e9", "\u6f22\u5b57", "\n", "\x00", "a\u00adb", "-", "--")

names = st.sampled_from(NAMES)
# Real pages hold such runs; here their length decides where in a block the next fragment begins.
runs = st.builds(
    lambda text, length: text * length, st.sampled_from("a -<&]'"), st.integers(1, 130)
)


# Fragments that act on each other. Mixed with everything else they would rarely meet.
SOUPS = (
    # comments and declarations
    ("<!--", "-", "--", "!", ">", "->", "<", "<!", "<!-", "a", "-->", "?", "</", "doctype"),
    # scripts
    (
        *("<script>", "</script>", "<script", "</script", "<!--", "<!-", "-->", "-", "--", ">"),
        *("</scripts>", "<scripty ", "/", " ", "x", "<", "</", "<p>", "</SCRIPT\n>", "<sCript/"),
    ),
    # RCDATA and raw text
    (
        *("<title>", "</title>", "</title", "</titl", "</titles>", "<textarea>", "</textarea >"),
        *("<xmp>", "</xmp/>", "<style>", "</style>", "&amp;", "&lt", "<b>", "<", "</", "\0", "x"),
        *("<plaintext>", "<iframe>", "</iframe>", "<noembed>", "</noembed>", "<noframes>"),
    ),
    # foreign content
    (
        *("<svg>", "</svg>", "<svg/>", "<math>", "</math>", "<desc>", "</desc>", "<title>"),
        *("</title>", "<foreignObject>", "</foreignObject>", "<mi>", "</mi>", "<mi/>"),
        *("<![CDATA[", "]]>", "]", "<p>", "</p>", "</br>", "<g>", "<style>", "</style>"),
        *("<style/>", "\0", "<script>", "</script>", "<!--", "x", "&amp;", "<annotation-xml>"),
    ),
    # hiding
    (
        *("<template>", "</template>", "<noscript>", "</noscript>", "<svg>", "</svg>"),
        *("<style>", "</style>", "<iframe>", "</iframe>", "<template/>", "<noscript/>"),
        *("<title>", "</title>", "x", "<p>", "<div>", "<script>", "</script>", "<iframe/>"),
    ),
    # attributes
    (
        *("<p", "</p", "<svg", "<title", ">", ">", ">", "/>", "/", " ", "\n", "=", "'", '"', "a"),
        *("x=", "='", '="', "x=y", "<", "<b>", "\0", "&gt;", "\v"),
    ),
    # references
    (
        *("&", "#", "x", "X", ";", "0", "1", "8", "9", "65", "41", "d800", "110000", "9f", "80"),
        *("&#", "&#x", "&#0", "amp", "lt", "not", "in", "notin", "it", "g", "&amp", "&nLl;"),
    ),
)


@st.composite
def tags(draw: st.DrawFn) -> str:
    parts = [draw(st.sampled_from(("<", "</"))), draw(names)]
    for attribute in draw(st.lists(st.sampled_from(ATTRIBUTES), max_size=3)):
        parts += [draw(st.sampled_from(SPACES)), attribute]
    parts += [draw(st.sampled_from(SPACES)), draw(st.sampled_from((">", ">", ">", "/>", "")))]
    return "".join(parts)


plain_tags = st.builds(
    lambda opening, name, close: f"{opening}{name}{close}",
    st.sampled_from(("<", "</")),
    names,
    st.sampled_from((">", "/>", " >")),
)
fragments = st.one_of(
    plain_tags,
    tags(),
    st.sampled_from(REFERENCES),
    st.sampled_from(DECLARATIONS),
    st.sampled_from(TEXTS),
    runs,
).map(str.encode)
soups = st.one_of(
    *(st.lists(st.sampled_from(soup), max_size=30).map("".join).map(str.encode) for soup in SOUPS)
)
mixtures = st.lists(st.one_of(fragments, fragments, soups, st.binary(max_size=6)), max_size=12).map(
    b"".join
)
# A text at the end shows in which state the rest was left.
documents = st.one_of(soups, soups.map(lambda data: data + b" z"), mixtures)


# What sniffing looks at: something before, a beginning, something after.
beginnings = st.builds(
    lambda before, opening, after, rest: before + opening + after + rest,
    st.sampled_from((b"", b"\xef\xbb\xbf", b"\xef\xbb", b" \t\n\f\r", b"\xef\xbb\xbf \n", b"\v")),
    st.one_of(
        st.sampled_from((b"<!doctype html", b"<!DOCTYPE  html", b"<!--", b"<!-", b"<?xml", b"<")),
        names.map(lambda name: b"<" + name.encode()),
        st.sampled_from("section article main header nav center link h3 h4 ol ul em".split()).map(
            lambda name: b"<" + name.encode()
        ),
    ),
    st.sampled_from((b"", b">", b"/", b" ", b"\r", b"x", b"\v", b"\x00")),
    st.one_of(
        st.just(b""),
        st.builds(
            lambda gap, tag: b"." * gap + tag,
            st.one_of(st.integers(0, 40), st.integers(990, 1030)),
            st.sampled_from((b"<html", b"<!DOCTYPE html>", b"<HTML>", b"html")),
        ),
    ),
)
