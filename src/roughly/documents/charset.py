"""From a document's bytes to UTF-8, by the first of these that says something:

    bom       a byte order mark (UTF-8, UTF-16, UTF-32)
    declared  the charset of the HTTP header
    meta      what an HTML page declares about itself
    utf-8     the bytes are valid UTF-8
    detected  UTF-16 or UTF-32 by its NUL bytes; UTF-8 with a few errors; else a detector's answer
    fallback  windows-1252, the Web's answer when nothing speaks for anything

`decode` never fails and always returns valid UTF-8, without the byte order mark that named the
encoding; valid UTF-8 comes back as the object that was given, for the price of one validation.
"""

from __future__ import annotations

import codecs
import unicodedata
from typing import Literal, NamedTuple

from roughly.documents.encoding_label import encoding_of_label, text_of
from roughly.documents.meta_charset import declared_in_html

How = Literal["bom", "declared", "meta", "utf-8", "detected", "fallback"]

# UTF-32 first: its little-endian mark begins with that of UTF-16.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32le"),
    (codecs.BOM_UTF32_BE, "utf-32be"),
    (codecs.BOM_UTF16_LE, "utf-16le"),
    (codecs.BOM_UTF16_BE, "utf-16be"),
)

# Where the HTML standard looks for a declaration; and how deep we look once the bytes are known not
# to be UTF-8, as a browser that meets a late declaration reads the page again.
_PRESCAN_BYTES = 1024
_LATE_PRESCAN_BYTES = 65536

# Pieces that stay in the cache: decoding whole files costs 3 to 30 times as much in page faults.
_VALIDATION_BYTES = 1 << 18

# Enough for every decision on NUL bytes; and what a detector reads (it settles within a few kB).
_PATTERN_BYTES = 4096
_DETECTION_BYTES = 65536

# Bytes that no text holds in any encoding that a detector knows (ESC belongs to ISO-2022-JP).
_CONTROLS = bytes(b for b in range(32) if b not in b"\t\n\f\r\x1b")


class Decoded(NamedTuple):
    """A document's text, and how its encoding was found."""

    text_utf8: bytes  # valid UTF-8
    encoding: str  # the Encoding standard's name, in lower case
    how: How


def decode(data: bytes, declared: str | None = None, html: bool = False) -> Decoded:
    """Decodes a document. `declared` is the charset of its HTTP header, if it has one; `html` says
    that it may declare one itself."""
    for mark, encoding in _MARKS:
        # FF FE 00 00 may also be UTF-16 that begins with a NUL, if the length says so.
        if data.startswith(mark) and not (encoding == "utf-32le" and len(data) % 4):
            return _decoded(data[len(mark) :], encoding, "bom")
    if declared is not None and (label := encoding_of_label(declared)):
        return _decoded(data, label, "declared")
    if html and (label := declared_in_html(data[:_PRESCAN_BYTES])):
        return _decoded(data, label, "meta")
    head = data[:_PATTERN_BYTES]
    if b"\0" in head and (wide := _wide_encoding(head)):
        return _decoded(data, wide, "detected")
    error = _first_error(data)
    if error is None:
        # ISO-2022-JP is ASCII bytes; its escape to kanji occurs in nothing else.
        # Asked for the escape alone first: that search is many times as fast, and mostly enough.
        sample = data[:_DETECTION_BYTES]
        if b"\x1b" not in sample or b"\x1b$" not in sample:
            return Decoded(data, "utf-8", "utf-8")
        encoding, how = _detect(data, 0)
        return (
            _decoded(data, encoding, how)
            if encoding == "iso-2022-jp"
            else Decoded(data, "utf-8", "utf-8")
        )
    if html and (label := declared_in_html(data[:_LATE_PRESCAN_BYTES])):
        return _decoded(data, label, "meta")
    if _mostly_utf8(data, error):
        return _decoded(data, "utf-8", "detected")
    return _decoded(data, *_detect(data, error))


def _decoded(data: bytes, encoding: str, how: How) -> Decoded:
    if encoding == "utf-8" and _first_error(data) is None:
        return Decoded(data, encoding, how)
    return Decoded(text_of(data, encoding).encode(), encoding, how)


def _first_error(data: bytes) -> int | None:
    """Where `data` stops being valid UTF-8; None if it is valid."""
    if data.isascii():
        return None
    view = memoryview(data)
    at = 0
    while at < len(data):
        end = at + _VALIDATION_BYTES
        try:
            _, used = codecs.utf_8_decode(view[at:end], "strict", end >= len(data))
        except UnicodeDecodeError as error:
            return at + error.start
        at += used
    return None


def _wide_encoding(head: bytes) -> str | None:
    """UTF-16 or UTF-32 without a mark. Text in them holds NUL bytes (at each ASCII character,
    spaces included), reads without error, and reads as assigned characters; of the two byte orders
    the true one has the fewer different high bytes. Han text without one ASCII character has no
    NUL and is not recognised."""
    try:
        codecs.utf_8_decode(head, "strict", False)
    except UnicodeDecodeError:
        narrow = False
    else:
        narrow = True
    for unit, encodings in ((4, ("utf-32le", "utf-32be")), (2, ("utf-16le", "utf-16be"))):
        whole = head[: len(head) // unit * unit]
        readings = []
        for encoding in encodings:
            little = encoding.endswith("le")
            high = whole[unit - 1 :: unit] if little else whole[::unit]
            low = whole[::unit] if little else whole[unit - 1 :: unit]
            try:
                # The last character may be cut in two: an incremental decoder leaves it out.
                text = codecs.getincrementaldecoder(encoding)().decode(whole)
            except UnicodeDecodeError:
                continue
            if text and _share_of_rubbish(text) <= 1 / 50 and not (narrow and _mixed(high, low)):
                readings.append((len(set(high)), -high.count(0), encoding))
        if readings:
            return min(readings)[2]
    return None


def _mixed(high: bytes, low: bytes) -> bool:
    """Whether high and low bytes are of one kind, as in UTF-8 text with stray NULs. Among the texts
    in UTF-16 that are valid UTF-8 too, Latin has NULs for its high bytes, and Cyrillic, Arabic and
    Hindi have two or three different ones."""
    mostly_nul = 4 * high.count(0) >= 3 * len(high)
    kinds = len(set(high))
    of_one_script = len(high) >= 16 and 0 in high and kinds <= 4 and kinds < len(set(low))
    return not (mostly_nul or of_one_script)


def _share_of_rubbish(text: str) -> float:
    """The share of characters that no text holds: controls, unassigned, private use."""
    rubbish = sum(
        unicodedata.category(c) in ("Cc", "Cn", "Co", "Cs") and c not in "\t\n\f\r" for c in text
    )
    return rubbish / max(1, len(text))


def _mostly_utf8(data: bytes, error: int) -> bool:
    """UTF-8 with a few errors (a cut end, a stray byte): at least ten good characters for each bad
    one. Other encodings do not look like that: their letters are not valid sequences."""
    start = max(0, error - _DETECTION_BYTES // 2)
    text = data[start : start + _DETECTION_BYTES].decode("utf-8", "replace")
    bad = text.count("\ufffd")
    good = sum(c > "\x7f" for c in text) - bad
    # A sequence cut by the end of the document is one error, however short the document.
    return good >= 10 * bad or (good > 0 and error >= len(data) - 3)


def _detect(data: bytes, start: int) -> tuple[str, How]:
    """Asks chardetng, the detector of Firefox, about a piece that holds the first byte in doubt. On
    666 fragments of 8 to 64 characters in 17 encodings it was right 92 times in 100, chardet 7.7
    77, charset-normalizer 3.5 held to the Web's encodings 60. It always has an answer, so what is
    no text is not put to it."""
    # Begin at a line, so that no character is cut: no multi-byte encoding uses 0A within one.
    line = data.rfind(b"\n", max(0, start - _DETECTION_BYTES // 2), start)
    begin = line + 1 if line >= 0 else start if start > _DETECTION_BYTES // 2 else 0
    sample = data[begin : begin + _DETECTION_BYTES]
    if len(sample) - len(sample.translate(None, _CONTROLS)) > len(sample) / 50:
        return "windows-1252", "fallback"
    from chardetng_py.detector import EncodingDetector  # type: ignore[import-untyped]

    detector = EncodingDetector()
    detector.feed(sample, last=begin + len(sample) >= len(data))
    label = detector.guess(tld=None, allow_utf8=False)
    encoding = "windows-874" if label == "cp874" else encoding_of_label(label)
    return (encoding, "detected") if encoding else ("windows-1252", "fallback")
