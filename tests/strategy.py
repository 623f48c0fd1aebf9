"""Documents and parameters as Hypothesis strategies, biased to where a fast core may go wrong."""

from hypothesis import strategies as st

from tests.reference.sketch import Parameters, Select
from tests.reference.unicode import table

SEEDS = (0, 1, 2**63, 2**64 - 1)

# Everything whose fold is not itself, the borders of every run of one class, and the first and
# last code points of each length in UTF-8.
_CLASSES = table().classes
NOTABLE = sorted(
    {c for c in table().folds if not 0xE0000 <= c < 0xE1000}
    | {
        d
        for c in _CLASSES
        for d in (c - 1, c, c + 1)
        if _CLASSES.get(c - 1) != _CLASSES.get(c) or _CLASSES.get(c + 1) != _CLASSES.get(c)
    }
    | {0, 0x7F, 0x80, 0x7FF, 0x800, 0xD7FF, 0xE000, 0xFFFD, 0xFFFF, 0x10000, 0xE0041, 0x10FFFF}
)

notable_text = st.text(st.sampled_from([chr(c) for c in NOTABLE if not 0xD800 <= c < 0xE000]))
short_words = st.text(st.sampled_from("abzAZ059 \n.\u00e9\u0416\u6f22\u304c"), max_size=120)

ILL_FORMED = (
    b"\x80",
    b"\xbf",
    b"\xc0\xaf",
    b"\xc3",
    b"\xe0\x80\x80",
    b"\xe1\x80",
    b"\xed\xa0\x80",
    b"\xef\xbb",
    b"\xf0\x80\x80\x80",
    b"\xf0\x9f\x98",
    b"\xf4\x90\x80\x80",
    b"\xf5",
    b"\xff",
)

MARKUP = (
    b"<p>",
    b"</p>",
    b"<b>",
    b"</b>",
    b"<br/>",
    b"<!-- x -->",
    b"<script>x</script>",
    b"<title>",
    b"</title>",
    b"<svg>",
    b"</svg>",
    b"&eacute;",
    b"&#x4e00;",
    b"&amp",
    b"<a href='x>y'>",
    b"<!doctype html>",
)


@st.composite
def ascii_run(draw: st.DrawFn) -> bytes:
    """0 to 200 bytes of ASCII: a few drawn bytes repeated, so that drawing stays cheap."""
    pattern = draw(st.binary(min_size=1, max_size=11)).translate(bytes(i & 127 for i in range(256)))
    length = draw(st.integers(0, 200))
    return (pattern * (length // len(pattern) + 1))[:length]


# ASCII runs whose ends fall anywhere in a block, with something else between them.
bordered = st.lists(
    st.one_of(
        ascii_run(),
        notable_text.map(lambda text: text[:3].encode()),
        st.sampled_from(ILL_FORMED),
        st.sampled_from([b"a" * 31, b"a" * 32, b"a" * 63, b"a" * 64, b"\xc3\xa9", b" "]),
    ),
    max_size=8,
).map(b"".join)

html_like = st.lists(
    st.one_of(st.sampled_from(MARKUP), short_words.map(str.encode), st.sampled_from(ILL_FORMED)),
    max_size=12,
).map(b"".join)

text_documents = st.one_of(
    st.text().map(str.encode), notable_text.map(str.encode), short_words.map(str.encode)
)
documents = st.one_of(text_documents, st.binary(), bordered)

seeds = st.one_of(st.sampled_from(SEEDS), st.integers(0, 2**64 - 1))
widths = st.integers(1, 12)


@st.composite
def parameters(draw: st.DrawFn) -> Parameters:
    select: Select = draw(st.sampled_from(("all", "mod", "min", "adaptive", "perm")))
    bits = 64 if select == "perm" else draw(st.sampled_from((64, 40)))
    if select == "all":
        parameter = 0
    elif select == "perm":
        parameter = draw(st.sampled_from((1, 2, 7, 8, 9, 16, 84)))
    else:
        usual, extreme = (16, 25, 64, 200, 1000), (2**32, 2**63, 2**64 - 1)
        parameter = draw(st.one_of(st.integers(1, 9), st.sampled_from(usual + extreme)))
    return Parameters(draw(widths), bits, select, parameter, draw(seeds))
