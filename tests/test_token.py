"""From bytes to tokens: examples worked by hand, and core = reference on any bytes.

The examples are literals from docs/algorithm.md and the Unicode charts, and hold for the
reference and for every SIMD level of the core alike.
"""

import bz2
import gzip
from pathlib import Path

import pytest
from hypothesis import given

from tests import core
from tests.optional import optional
from tests.reference import make_unicode, token
from tests.reference.unicode import FLAT_FILE, class_of, fold
from tests.strategy import documents, html_like, text_documents

EXAMPLES: list[tuple[str | bytes, str]] = [
    ("", ""),
    ("A rose is a rose.", "a rose is a rose"),
    ("foo_bar x-1 3.14", "foo bar x 1 3 14"),
    ("abc123 ABC", "abc123 abc"),
    # Case: full folding, with no language's exceptions.
    ("\u0130I\u0131", "ii\u0131"),
    ("Stra\u00dfe STRA\u1e9eE STRASSE", "strasse strasse strasse"),
    ("\u03a3\u03c3\u03c2", "\u03c3\u03c3\u03c3"),
    # Compatibility: ligatures, fractions, circles, exponents, full width, mathematics.
    ("\ufb01n o\ufb03ce \ufb05", "fin office st"),
    ("1\u00bd", "11 2"),
    ("\u2460\u2461 x\u00b2", "12 x2"),
    ("\uff26\uff55\uff4c\uff4c \U0001d400\U0001d7d9", "full a1"),
    ("\u2122 \u2167 \u33a7", "tm viii m s"),
    # Canonical: Angstrom sign, letter, and letter with ring are one; marks go and join.
    ("\u212b \u00c5 A\u030a", "a a a"),
    ("caf\u00e9 cafe\u0301 CAFE", "cafe cafe cafe"),
    ("\u0301 a", "a"),
    # A spacing accent decomposes to a space: it separates.
    ("a\u00b4b", "a b"),
    # Casefolding comes before marks go: alpha with ypogegrammeni is alpha iota in any spelling.
    (
        "\u1fb3 \u1fbc \u03b1\u0345 \u0391\u0399",
        "\u03b1\u03b9 \u03b1\u03b9 \u03b1\u03b9 \u03b1\u03b9",
    ),
    # Transparent: soft hyphen, joiners, zero-width space, BOM, variation selectors, tags.
    ("co\u00adop\u200cer\u200date\ufeff d\u200b!", "cooperate d"),
    (
        "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
        "\u0645\u06cc\u062e\u0648\u0627\u0647\u0645",
    ),
    ("a\ufe0fb\U000e0041c\U000e0100d", "abcd"),
    ("\u115f\u1160\u3164\uffa0\u17b4", ""),
    # Solo scripts: each code point that remains is a token.
    ("漢字", "漢 字"),
    ("x漢y 12漢", "x 漢 y 12 漢"),
    ("が か\u3099 \uff76\uff9e ガ", "か か カ カ"),
    ("\u2f00\uf900\U0002f800\U00020000", "\u4e00 \u8c48 \u4e3d \U00020000"),
    ("人々", "人 々"),
    # Ideographic zero is a letter-number, no letter; the long vowel mark has no script of its own.
    ("二\u3007一", "二 一"),
    ("ラーメン", "ラ ー メ ン"),
    # Thai: tone marks and the vowels below go (combining classes 107 and 103), sara am splits.
    ("ผู้", "ผ"),
    ("น้ำ", "น \u0e4d า"),
    ("๑๒", "๑ ๒"),
    ("ພາສາ", "ພ າ ສ າ"),
    ("ខ្មែរ", "ខ ម \u17c2 រ"),
    ("မြန်", "မ \u103c န"),
    # Hangul: syllables are their jamo, and a word is a word.
    ("한글", "\u1112\u1161\u11ab\u1100\u1173\u11af"),
    ("\u1112\u1161\u11ab 가", "\u1112\u1161\u11ab \u1100\u1161"),
    ("\u3131\uffa1\u3260", "\u1100\u1100\u1100"),
    # Devanagari: virama and nukta go, vowel signs stay.
    ("क्षि \u0958", "कषि क"),
    # Arabic: points go, presentation forms are letters; one code point of four words.
    ("كَتَبَ \ufefb", "كتب لا"),
    ("\ufdfa", "صلى الله عليه وسلم"),
    ("x\ufdfay", "xصلى الله عليه وسلمy"),
    # An enclosing mark of combining class 0 is a mark, hence part of a word.
    ("1\ufe0f\u20e3", "1\u20e3"),
    # Unassigned, private use, emoji and noncharacters separate.
    ("a\u0378b\ue000c\U0001f600d\uffffe", "a b c d e"),
    ("a\x00b\x1fc\x7fd\x85e", "a b c d e"),
    # Ill-formed UTF-8 separates, whatever its length, and never swallows a valid byte.
    (b"a\x80b", "a b"),
    (b"a\xc0\xafb", "a b"),
    (b"a\xe2\x82b", "a b"),
    (b"a\xe2\x82", "a"),
    (b"a\xed\xa0\x80b", "a b"),
    (b"a\xf4\x90\x80\x80b", "a b"),
    (b"a\xf0\x9f\x98b", "a b"),
    (b"\xc3\xc3\xa9", "e"),
    (b"\xe1\x80\xe1\x80\x80", "\u1000"),
    (b"\xf0\x9f\xc3\xa9", "e"),
    (b"\xff\xfex\xc3", "x"),
]


def as_bytes(example: str | bytes) -> bytes:
    return example.encode() if isinstance(example, str) else example


@pytest.mark.parametrize(("example", "expected"), EXAMPLES)
def test_example_reference(example: str | bytes, expected: str) -> None:
    found = [t.text for t in token.tokens(as_bytes(example))]
    assert found == expected.split(" ") if expected else found == []


@pytest.mark.core
@pytest.mark.parametrize("simd", core.LEVELS)
@pytest.mark.parametrize(("example", "expected"), EXAMPLES)
def test_example_core(example: str | bytes, expected: str, simd: str) -> None:
    found = core.tokenize(as_bytes(example), simd=simd)
    assert found.canonical.decode() == expected + " " * bool(expected)
    assert b" ".join(found.tokens).decode() == expected


@pytest.mark.core
@pytest.mark.parametrize("simd", core.LEVELS)
@pytest.mark.parametrize("padding", range(130))
def test_example_at_every_offset(padding: int, simd: str) -> None:
    """A token that begins, ends or is interrupted at any place of a SIMD block."""
    ascii_word = b"w" * padding
    for middle, joined in [(b"", True), (b"\xc2\xad", True), (b" ", False), (b"\xff", False)]:
        data = ascii_word + b"Q" + middle + b"R" + ascii_word
        first, second = ascii_word + b"q", b"r" + ascii_word
        expected = [first + second] if joined else [first, second]
        assert core.tokenize(data, simd=simd).tokens == expected


@pytest.mark.core
@pytest.mark.parametrize("simd", core.LEVELS)
@pytest.mark.parametrize("words", range(12, 36))
def test_as_many_tokens_as_a_block_has_room_for(words: int, simd: str) -> None:
    for before in (b"", b".", b"word"):
        data = before + b" a" * words + b"." * 70 + b"b" * 70
        expected = [b"word"] * (before == b"word") + [b"a"] * words + [b"b" * 70]
        assert core.tokenize(data, simd=simd).tokens == expected


def check_tokenize(data: bytes) -> None:
    expected = token.tokens(data)
    for simd in core.LEVELS:
        found = core.tokenize(data, simd=simd)
        assert found.tokens == [t.text.encode() for t in expected], simd
        assert found.canonical == token.canonical_form(found.tokens)
    assert core.spans(data) == [(t.start, t.end) for t in expected]


@pytest.mark.core
@given(documents)
def test_core_is_reference(data: bytes) -> None:
    check_tokenize(data)


@pytest.mark.core
@given(html_like)
def test_core_is_reference_on_html(data: bytes) -> None:
    expected = token.words(data, "html")
    for simd in core.LEVELS:
        found = core.tokenize(data, html=True, simd=simd)
        assert found.tokens == expected, simd
    spans = core.spans(data, html=True)
    assert len(spans) == len(expected)
    assert all(start < end <= len(data) for start, end in spans)
    assert spans == sorted(spans)


@pytest.mark.core
@given(text_documents)
def test_span_folds_to_its_token(data: bytes) -> None:
    """One code point may give several tokens (U+FDFA): then the span of each gives all."""
    found = core.tokenize(data)
    for piece, (start, end) in zip(found.tokens, core.spans(data), strict=True):
        assert piece in core.tokenize(data[start:end]).tokens


@given(documents)
def test_number_of_replacements_does_not_matter(data: bytes) -> None:
    replaced = data.decode("utf-8", "replace").encode()
    assert [t.text for t in token.tokens(replaced)] == [t.text for t in token.tokens(data)]


@given(documents)
def test_canonical_form_is_its_own(data: bytes) -> None:
    """Folding is idempotent, and no token holds the byte that pads its last chunk."""
    once = token.words(data, "text")
    canonical = token.canonical_form(once)
    assert b"\x00" not in canonical
    assert token.words(canonical, "text") == once


CONTEXTS = ["{}\n", "x{}y\n", "{0}{0}\n"]


@pytest.mark.core
@pytest.mark.parametrize("context", CONTEXTS)
def test_every_code_point(context: str) -> None:
    """Alone it shows its fold; between letters whether it joins; doubled its class."""
    for first in range(0, 0x110000, 0x10000):
        text = "".join(context.format(chr(c)) for c in range(first, first + 0x10000))
        data = text.encode("utf-8", "surrogatepass")
        expected = token.canonical_form(token.words(data, "text"))
        for simd in core.LEVELS:
            found = core.tokenize(data, simd=simd).canonical
            if found != expected:
                for c in range(first, first + 0x10000):
                    check_tokenize(context.format(chr(c)).encode("utf-8", "surrogatepass"))
                pytest.fail(f"U+{first:X}..: differs, though no code point does by itself")


def test_fold_is_idempotent() -> None:
    for c in range(0x110000):
        assert all(fold(d) == (d,) for d in fold(c)), hex(c)


def test_classes_of_the_page() -> None:
    assert [class_of(ord(c)) for c in "a1\u093e漢がก၀"] == ["word"] * 3 + ["solo"] * 4
    assert [class_of(ord(c)) for c in " _\u00b2\ufffd\u0378"] == ["separator"] * 5


def ucd() -> Path:
    """The folder of the Unicode Character Database, or the test is skipped."""
    if not (make_unicode.DIRECTORY / "UnicodeData.txt").is_file():
        optional("unicode", f"{make_unicode.DIRECTORY} holds no UnicodeData.txt")
    return make_unicode.DIRECTORY


def test_flat_file_is_derived() -> None:
    assert make_unicode.make(ucd()) == gzip.decompress(FLAT_FILE.read_bytes()).decode("ascii")


def test_derivation_passes_the_normalization_test() -> None:
    """NormalizationTest.txt of the Unicode Consortium: column 5 is the NFKD of all the others."""
    data = make_unicode.load(ucd())
    checked = 0
    text = bz2.decompress((ucd() / "NormalizationTest.txt.bz2").read_bytes()).decode("utf-8")
    for line in text.splitlines():
        columns = line.split("#")[0].split(";")[:5]
        if len(columns) < 5:
            continue
        sequences = [make_unicode.sequence(column) for column in columns]
        assert {make_unicode.nfkd(data, s) for s in sequences} == {sequences[4]}, line
        checked += 1
    assert checked > 18000
