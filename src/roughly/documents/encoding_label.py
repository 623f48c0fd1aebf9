"""The character encodings of the Web: from a label to an encoding, from bytes to text.

Labels and names are those of the WHATWG Encoding standard, so `latin1` means windows-1252 and
`gb2312` means gbk, as in every browser. `text_of` never fails: what an encoding does not define
becomes U+FFFD (in a single-byte encoding, a C1 control where the standard has one).
One difference is meant: the standard turns iso-2022-kr and hz-gb-2312 into a single U+FFFD, because
a browser must not run what a server did not see; here nothing is run, so they are decoded.
"""

from __future__ import annotations

import codecs
from functools import cache

# name, Python codec, further labels. `=` stands for a codec of the same name.
_ENCODINGS = """
utf-8           =            utf8 unicode-1-1-utf-8 unicode11utf8 unicode20utf8 x-unicode20utf8
utf-16le        =            utf-16 csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff
utf-16be        =            unicodefffe
ibm866          =            866 cp866 csibm866
iso-8859-2      =            csisolatin2 iso-ir-101 iso8859-2 iso88592 iso_8859-2 iso_8859-2:1987 \
l2 latin2
iso-8859-3      =            csisolatin3 iso-ir-109 iso8859-3 iso88593 iso_8859-3 iso_8859-3:1988 \
l3 latin3
iso-8859-4      =            csisolatin4 iso-ir-110 iso8859-4 iso88594 iso_8859-4 iso_8859-4:1988 \
l4 latin4
iso-8859-5      =            csisolatincyrillic cyrillic iso-ir-144 iso8859-5 iso88595 iso_8859-5 \
iso_8859-5:1988
iso-8859-6      =            arabic asmo-708 csiso88596e csiso88596i csisolatinarabic ecma-114 \
iso-8859-6-e iso-8859-6-i iso-ir-127 iso8859-6 iso88596 iso_8859-6 iso_8859-6:1987
iso-8859-7      =            csisolatingreek ecma-118 elot_928 greek greek8 iso-ir-126 iso8859-7 \
iso88597 iso_8859-7 iso_8859-7:1987 sun_eu_greek
iso-8859-8      =            csiso88598e csisolatinhebrew hebrew iso-8859-8-e iso-ir-138 iso8859-8 \
iso88598 iso_8859-8 iso_8859-8:1988 visual
iso-8859-8-i    iso-8859-8   csiso88598i logical
iso-8859-10     =            csisolatin6 iso-ir-157 iso8859-10 iso885910 l6 latin6
iso-8859-13     =            iso8859-13 iso885913
iso-8859-14     =            iso8859-14 iso885914
iso-8859-15     =            csisolatin9 iso8859-15 iso885915 iso_8859-15 l9
iso-8859-16     =
koi8-r          =            cskoi8r koi koi8 koi8_r
koi8-u          =            koi8-ru
macintosh       mac-roman    csmacintosh mac x-mac-roman
windows-874     cp874        dos-874 iso-8859-11 iso8859-11 iso885911 tis-620
windows-1250    =            cp1250 x-cp1250
windows-1251    =            cp1251 x-cp1251
windows-1252    =            ansi_x3.4-1968 ascii cp1252 cp819 csisolatin1 ibm819 iso-8859-1 \
iso-ir-100 iso8859-1 iso88591 iso_8859-1 iso_8859-1:1987 l1 latin1 us-ascii x-cp1252
windows-1253    =            cp1253 x-cp1253
windows-1254    =            cp1254 csisolatin5 iso-8859-9 iso-ir-148 iso8859-9 iso88599 \
iso_8859-9 iso_8859-9:1989 l5 latin5 x-cp1254
windows-1255    =            cp1255 x-cp1255
windows-1256    =            cp1256 x-cp1256
windows-1257    =            cp1257 x-cp1257
windows-1258    =            cp1258 x-cp1258
x-mac-cyrillic  mac-cyrillic x-mac-ukrainian
x-user-defined  =
gbk             gb18030      chinese csgb2312 csiso58gb231280 gb2312 gb_2312 gb_2312-80 iso-ir-58 \
x-gbk
gb18030         =
big5            big5hkscs    big5-hkscs cn-big5 csbig5 x-x-big5
euc-jp          =            cseucpkdfmtjapanese x-euc-jp
iso-2022-jp     iso2022_jp_ext csiso2022jp
shift_jis       cp932        csshiftjis ms932 ms_kanji shift-jis sjis windows-31j x-sjis
euc-kr          cp949        cseuckr csksc56011987 iso-ir-149 korean ks_c_5601-1987 \
ks_c_5601-1989 ksc5601 ksc_5601 windows-949
iso-2022-kr     =            csiso2022kr
hz-gb-2312      hz
"""

# Encodings of more than one byte a character, or whose codec is not a table of 256.
_MULTIBYTE = {
    *("utf-8", "utf-16le", "utf-16be", "utf-32le", "utf-32be"),
    *("gbk", "gb18030", "big5", "hz-gb-2312"),
    *("euc-jp", "iso-2022-jp", "shift_jis", "euc-kr", "iso-2022-kr"),
}

_CODEC: dict[str, str] = {"utf-32le": "utf-32le", "utf-32be": "utf-32be"}
_NAME: dict[str, str] = {}
for _line in _ENCODINGS.strip().splitlines():
    _name, _codec, *_labels = _line.split()
    _CODEC[_name] = _name if _codec == "=" else _codec
    for _label in (_name, *_labels):
        _NAME[_label] = _name

# Every encoding that a document can be found to have. Stored columns count on the order: append.
ENCODINGS = tuple(_CODEC)


def encoding_of_label(label: str | bytes) -> str | None:
    """The standard's name of an encoding for one of its labels; None for an unknown label."""
    if isinstance(label, bytes):
        label = label.decode("latin-1")
    return _NAME.get(label.strip("\t\n\f\r ").lower())


def text_of(data: bytes, encoding: str) -> str:
    """Decodes `data` from an encoding named as `encoding_of_label` names it; never fails."""
    if encoding not in _MULTIBYTE:
        return codecs.charmap_decode(data, "strict", _table(encoding))[0]
    errors = "roughly.euc-jp" if encoding == "euc-jp" else "replace"
    try:
        return data.decode(_CODEC[encoding], errors)
    except UnicodeError:
        # hz raises at a cut escape whatever the error handler; the others never come here.
        return data.decode("windows-1252", "replace")


@cache
def _table(encoding: str) -> str:
    """What each of the 256 bytes means in a single-byte encoding."""
    if encoding == "x-user-defined":
        return "".join(chr(b if b < 0x80 else 0xF700 + b) for b in range(256))
    table = []
    for byte in range(256):
        try:
            table.append(bytes([byte]).decode(_CODEC[encoding]))
        except UnicodeDecodeError:
            table.append(chr(byte) if 0x80 <= byte < 0xA0 else "\ufffd")
    if encoding == "koi8-u":  # the standard's koi8-u has the Belarusian short u
        table[0xAE], table[0xBE] = "\u045e", "\u040e"
    return "".join(table)


def _euc_jp_extension(error: UnicodeError) -> tuple[str, int]:
    """Rows that NEC and IBM added to JIS X 0208 (circled numbers, company marks): common in euc-jp
    pages and in the standard, missing from Python's codec, present in cp932."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    lead, trail = (error.object[error.start : error.start + 2] + b"\0\0")[:2]
    if 0xA1 <= lead <= 0xFE and 0xA1 <= trail <= 0xFE:
        row, cell = lead - 0xA1, trail - 0xA1
        first = (row >> 1) + (0x81 if row < 62 else 0xC1)
        second = cell + 0x9F if row & 1 else cell + (0x40 if cell < 63 else 0x41)
        try:
            return bytes([first, second]).decode("cp932"), error.start + 2
        except UnicodeDecodeError:
            return "\ufffd", error.start + 2
    return "\ufffd", error.start + 1


codecs.register_error("roughly.euc-jp", _euc_jp_extension)
