"""Bytes to text: literal bytes in every family of encodings, the HTML standard's own cases for
declarations, and the promise that nothing fails."""

import codecs
import html
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roughly.documents import encoding_label
from roughly.documents.charset import decode
from roughly.documents.encoding_label import encoding_of_label, text_of
from roughly.documents.meta_charset import declared_in_html
from tests.optional import truth

LABELS = sorted(encoding_label._NAME)

# label, bytes, text, name: bytes as the encodings' code charts have them, not as Python's codecs.
DECLARED = [
    ("utf-8", b"caf\xc3\xa9", "café", "utf-8"),
    ("UTF8 ", b"\xe6\x97\xa5", "日", "utf-8"),
    ("latin1", b"caf\xe9 \x93x\x94 \x80 \x81", "café “x” € \x81", "windows-1252"),
    ("us-ascii", b"\xa9", "©", "windows-1252"),
    ("iso-8859-2", b"\xa3\xf3d\xbc", "Łódź", "iso-8859-2"),
    ("iso-8859-9", b"\xf0\xfd\xfe", "ğış", "windows-1254"),
    ("iso-8859-15", b"\xa4", "€", "iso-8859-15"),
    ("cp1251", b"\xcf\xf0\xe8\xe2\xe5\xf2", "Привет", "windows-1251"),
    ("koi8-r", b"\xf0\xd2\xc9\xd7\xc5\xd4", "Привет", "koi8-r"),
    ("koi8-u", b"\xae\xbe", "ўЎ", "koi8-u"),
    ("windows-1253", b"\xc1\xe8\xde\xed\xe1 \xaa", "Αθήνα \ufffd", "windows-1253"),
    ("windows-1255", b"\xf9\xec\xe5\xed", "שלום", "windows-1255"),
    ("windows-1256", b"\xd3\xe1\xc7\xe3", "سلام", "windows-1256"),
    ("tis-620", b"\xe4\xb7\xc2", "ไทย", "windows-874"),
    ("macintosh", b"\x8e", "é", "macintosh"),
    ("x-user-defined", b"a\x80\xff", "a\uf780\uf7ff", "x-user-defined"),
    ("shift_jis", b"\x93\xfa\x96\x7b \x87\x40 \xb1", "日本 ① ｱ", "shift_jis"),
    ("euc-jp", b"\xc6\xfc\xcb\xdc \xad\xa1 \xad\xea", "日本 ① ㈱", "euc-jp"),
    ("euc-jp", b"\xc6\xfc\xff\xa1 \xc6", "日\ufffd\ufffd \ufffd", "euc-jp"),
    ("iso-2022-jp", b"\x1b$BF|K\\\x1b(B.", "日本.", "iso-2022-jp"),
    ("gb2312", b"\xd6\xd0\xb9\xfa", "中国", "gbk"),
    ("gb18030", b"\x81\x30\x81\x30", "\x80", "gb18030"),
    ("big5", b"\xa4\xa4\xb0\xea", "中國", "big5"),
    ("ks_c_5601-1987", b"\xc7\xd1\xb1\xb9", "한국", "euc-kr"),
    ("iso-2022-kr", b"\x1b$)C\x0eGQ19\x0f", "한국", "iso-2022-kr"),
    ("hz-gb-2312", b"~{VP9z~}", "中国", "hz-gb-2312"),
    ("utf-16", b"\xe5\x65\x2c\x67", "日本", "utf-16le"),
    ("utf-16be", b"\x65\xe5\xd8\x00", "日\ufffd", "utf-16be"),
]


@pytest.mark.parametrize(("label", "data", "text", "name"), DECLARED)
def test_declared(label: str, data: bytes, text: str, name: str) -> None:
    assert decode(data, declared=label) == (text.encode(), name, "declared")


@pytest.mark.parametrize(
    ("data", "text", "name"),
    [
        (b"\xef\xbb\xbfcaf\xc3\xa9", "café", "utf-8"),
        (b"\xef\xbb\xbfcaf\xe9", "caf\ufffd", "utf-8"),
        (b"\xff\xfe\xe5\x65", "日", "utf-16le"),
        (b"\xfe\xff\x65\xe5", "日", "utf-16be"),
        (b"\xff\xfe\0\0\xe5\x65\0\0", "日", "utf-32le"),
        (b"\0\0\xfe\xff\0\0\x65\xe5", "日", "utf-32be"),
        (b"\xff\xfe\0\0a\0", "\0a", "utf-16le"),
        (b"\xef\xbb\xbf", "", "utf-8"),
    ],
)
def test_byte_order_mark_is_believed_first(data: bytes, text: str, name: str) -> None:
    assert decode(data, declared="koi8-r", html=True) == (text.encode(), name, "bom")


@pytest.mark.parametrize(
    ("data", "declared", "name", "how"),
    [
        (b"<meta charset=koi8-r>\xc1", None, "koi8-r", "meta"),
        (b"<meta charset=koi8-r>\xc1", "cp1251", "windows-1251", "declared"),
        (b"<meta charset=koi8-r>\xc1", "no-such-label", "koi8-r", "meta"),
        (b"<meta charset=utf-16>caf\xc3\xa9", None, "utf-8", "meta"),
        (b"<meta charset=x-user-defined>caf\xe9", None, "windows-1252", "meta"),
        (b"<?xml version='1.0' encoding='iso-8859-2'?><html>\xb1", None, "iso-8859-2", "meta"),
        (b"<?xml encoding='utf-16'?><html>", None, "utf-8", "meta"),
        (b"<!--" + b"-" * 2000 + b"--><meta charset=koi8-r>\xc1", None, "koi8-r", "meta"),
        (b"<!--" + b"-" * 2000 + b"--><meta charset=koi8-r>\xc3\xa9", None, "utf-8", "utf-8"),
    ],
)
def test_order_of_declarations(data: bytes, declared: str | None, name: str, how: str) -> None:
    found = decode(data, declared, html=True)
    assert (found.encoding, found.how) == (name, how)


def test_text_declares_nothing() -> None:
    assert decode(b"<meta charset=koi8-r>").how == "utf-8"


def test_valid_utf8_is_not_copied() -> None:
    data = "Zürich 東京 😀".encode() * 100_000
    assert decode(data).text_utf8 is data


SENTENCES = {
    "Le café était fermé, et la fenêtre aussi. Où êtes-vous allé hier?": ["windows-1252"],
    "Der Fluß fließt über Straßen und Brücken nach Süden, schöne Grüße!": ["windows-1252"],
    "Zażółć gęślą jaźń, a potem pójdź do łóżka i śpij.": ["windows-1250", "iso-8859-2"],
    "Широкая электрификация южных губерний даст мощный толчок подъёму хозяйства.": [
        "windows-1251",
        "koi8-u",
        "iso-8859-5",
    ],
    "Η γρήγορη αλεπού πηδάει πάνω από το τεμπέλικο σκυλί και φεύγει.": ["windows-1253"],
    "Pijamalı hasta yağız şoföre çabucak güvendi.": ["windows-1254"],
    "דג סקרן שט בים מאוכזב ולפתע מצא לו חברה": ["windows-1255"],
    "نص حكيم له سر قاطع وذو شأن عظيم مكتوب على ثوب أخضر ومغلف بجلد أزرق": ["windows-1256"],
    "เป็นมนุษย์สุดประเสริฐเลิศคุณค่า กว่าบรรดาฝูงสัตว์เดรัจฉาน": ["windows-874"],
    "吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。": [
        "shift_jis",
        "euc-jp",
        "iso-2022-jp",
    ],
    "모든 국민은 법 앞에 평등하다. 누구든지 차별을 받지 아니한다.": ["euc-kr"],
    "学而时习之，不亦说乎？有朋自远方来，不亦乐乎？人不知而不愠，不亦君子乎？": ["gb18030"],
    "學而時習之，不亦說乎？有朋自遠方來，不亦樂乎？人不知而不慍，不亦君子乎？": ["big5"],
}


@pytest.mark.parametrize(
    ("text", "name"), [(text, name) for text, names in SENTENCES.items() for name in names]
)
def test_detected_from_one_sentence(text: str, name: str) -> None:
    assert decode(text.encode(encoding_label._CODEC[name])) == (text.encode(), name, "detected")


HINDI = "सभी मनुष्य जन्म से स्वतन्त्र तथा मर्यादा और अधिकारों में समान होते हैं।"


@pytest.mark.parametrize(
    "text", [f"{text} 1\n" for text in [*SENTENCES, HINDI]] + ["a", "Hello, world"]
)
@pytest.mark.parametrize("name", ["utf-16le", "utf-16be", "utf-32le", "utf-32be"])
def test_wide_encodings_without_a_mark(text: str, name: str) -> None:
    assert decode(text.encode(name)) == (text.encode(), name, "detected")


def test_detection_far_into_a_long_document() -> None:
    data = b"plain ascii\n" * 100_000 + "Le café était fermé.\n".encode("cp1252") * 3
    assert decode(data) == (data.decode("cp1252").encode(), "windows-1252", "detected")


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"a few \0 stray \0 zero bytes in a text", "a few \0 stray \0 zero bytes in a text"),
        (b"a\0rose", "a\0rose"),
        (b"<b>\0", "<b>\0"),
        (b"aaaaaaa\0" * 100, "aaaaaaa\0" * 100),
        (b"field one\0field two\0" * 100, "field one\0field two\0" * 100),
        (b"\0\0\0\0", "\0\0\0\0"),
        (b"", ""),
        (b"\x1b[1mbold\x1b[0m \x1b$ no kanji", "\x1b[1mbold\x1b[0m \x1b$ no kanji"),
    ],
)
def test_stays_utf8(data: bytes, text: str) -> None:
    assert decode(data) == (text.encode(), "utf-8", "utf-8")


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ("Привет, мир. Привет, мир.".encode() + b"\xff", "Привет, мир. Привет, мир.\ufffd"),
        ("Привет".encode()[:-1], "Приве\ufffd"),
    ],
)
def test_utf8_with_an_error(data: bytes, text: str) -> None:
    assert decode(data) == (text.encode(), "utf-8", "detected")


def test_what_is_no_text_falls_back() -> None:
    junk = bytes(range(256)) * 20
    found = decode(junk)
    assert (found.encoding, found.how) == ("windows-1252", "fallback")
    assert found.text_utf8.decode()[:128] == "".join(map(chr, range(128)))


def test_every_label_has_a_codec_and_every_byte_a_meaning() -> None:
    assert len(LABELS) == 225
    for label in LABELS:
        name = encoding_of_label(label.upper())
        assert name is not None
        codecs.lookup(encoding_label._CODEC[name].replace("x-user-defined", "latin-1"))
        assert text_of(b"", name) == ""
        if name not in encoding_label._MULTIBYTE:
            text = text_of(bytes(range(256)), name)
            assert len(text) == 256
            assert text[:128].encode() == bytes(range(128))


@given(
    st.binary(max_size=300) | st.text(max_size=100).map(lambda text: text.encode("utf-16")),
    st.none() | st.sampled_from(LABELS) | st.text(max_size=10),
    st.booleans(),
)
def test_never_fails_and_is_always_utf8(data: bytes, declared: str | None, html: bool) -> None:
    found = decode(data, declared, html)
    found.text_utf8.decode()
    assert found.encoding in encoding_label._CODEC


@given(st.text(st.characters(exclude_categories=["Cs", "Cc", "Co", "Cn"]), min_size=1))
def test_utf8_is_recognised(text: str) -> None:
    assert decode(b"a" + text.encode()) == (b"a" + text.encode(), "utf-8", "utf-8")


@given(st.text("<!->/ metacharsetequivcontent='\"=;koi8-r\n", max_size=80))
def test_prescan_never_fails(page: str) -> None:
    declared_in_html(page.encode())
    declared_in_html(b"<meta " + page.encode())


# Declarations deeper than the standard's 1,024 bytes. A browser finds them while it parses and
# starts again; `decode` looks deeper only if the bytes are not UTF-8, and these are ASCII, which is
# the same text in both encodings.
TOO_DEEP = re.compile(rb"<!-- \d{4} characters x+")


@pytest.mark.parametrize("name", ["tests1.dat", "tests2.dat", "test-yahoo-jp.dat"])
def test_html_standard_cases(name: str) -> None:
    path: Path = truth() / "formats" / "html5lib" / "encoding" / name
    cases = path.read_bytes().split(b"#data\n")[1:]
    assert len(cases) == {"tests1.dat": 59, "tests2.dat": 22, "test-yahoo-jp.dat": 1}[name]
    left_out = 0
    for case in cases:
        data, rest = case.split(b"\n#encoding\n")
        expected = rest.split(b"\n")[0].decode().lower()
        found = decode(data, html=True)
        # These tests take windows-1252 for what declares nothing; `decode` then tries UTF-8.
        encoding = found.encoding if found.how in ("bom", "meta") else "windows-1252"
        if TOO_DEEP.match(data) and len(data) > 1024:
            left_out += 1
            assert data.isascii()
            encoding = declared_in_html(data) or "windows-1252"
        assert encoding == expected, html.escape(data.decode("latin-1"))
    assert left_out == (6 if name == "tests1.dat" else 0)
