"""The encoding that an HTML page declares about itself: the standard's byte-stream prescan.

`declared_in_html` follows "prescan a byte stream to determine its encoding" of the HTML standard,
step by step, with the XML declaration it falls back on. It reads only what it is given: whoever
calls it decides how many bytes a declaration may be deep (the standard says 1,024).
"""

from __future__ import annotations

import re

from roughly.documents.encoding_label import encoding_of_label

_SPACE = b"\t\n\f\r "
_SPACES = re.compile(rb"[\t\n\f\r ]*")
_SPACES_SLASHES = re.compile(rb"[\t\n\f\r /]*")
_ATTRIBUTE_NAME = re.compile(rb"[^\t\n\f\r />][^\t\n\f\r />=]*")
_UNQUOTED_VALUE = re.compile(rb"[^\t\n\f\r >]*")
_TAG = re.compile(rb"</?[A-Za-z][^\t\n\f\r >]*")
_META = re.compile(rb"<meta(?=[\t\n\f\r /])", re.IGNORECASE)
_CHARSET = re.compile(rb"charset[\t\n\f\r ]*=[\t\n\f\r ]*", re.IGNORECASE)
_XML_ENCODING = re.compile(
    rb"<\?xml[^>]*?encoding[\x00-\x20]*=[\x00-\x20]*(?:\"([^\"\x00-\x20>]+)\"|'([^'\x00-\x20>]+)')"
)


class _EndOfBytes(Exception):
    """The prescan ran out of bytes inside a construct: it ends without a finding."""


def declared_in_html(data: bytes) -> str | None:
    """The encoding a page declares in a meta element or an XML declaration; None without one."""
    try:
        found = _prescan(data)
    except _EndOfBytes:
        found = None
    if found is None and (xml := _XML_ENCODING.match(data)):
        found = _readable(encoding_of_label(xml[1] or xml[2]))
    return found


def _readable(encoding: str | None) -> str | None:
    """What the standard makes of two declarations that cannot be true of bytes just read as
    ASCII."""
    if encoding in ("utf-16le", "utf-16be"):
        return "utf-8"
    return "windows-1252" if encoding == "x-user-defined" else encoding


def _prescan(data: bytes) -> str | None:
    at = 0
    while (at := data.find(b"<", at)) >= 0:
        if data.startswith(b"<!--", at):
            # The dashes that open the comment may be those that close it.
            at = _after(data, b"-->", at + 2)
        elif meta := _META.match(data, at):
            encoding, at = _meta_element(data, meta.end())
            if encoding is not None:
                return encoding
        elif tag := _TAG.match(data, at):
            at = tag.end()
            attribute: tuple[bytes, bytes] | None = (b"", b"")
            while attribute is not None:
                attribute, at = _attribute(data, at)
        elif data[at + 1 : at + 2] in (b"!", b"/", b"?"):
            at = _after(data, b">", at)
        else:
            at += 1
    return None


def _after(data: bytes, end: bytes, at: int) -> int:
    found = data.find(end, at)
    if found < 0:
        raise _EndOfBytes
    return found + len(end)


def _meta_element(data: bytes, at: int) -> tuple[str | None, int]:
    """Reads a meta element's attributes; the encoding it declares, if it does, and its end."""
    seen: set[bytes] = set()
    got_pragma = False
    need_pragma: bool | None = None
    encoding: str | None = None
    while True:
        attribute, at = _attribute(data, at)
        if attribute is None:
            break
        name, value = attribute
        if name in seen:
            continue
        seen.add(name)
        if name == b"http-equiv":
            got_pragma = value == b"content-type"
        elif name == b"content" and need_pragma is None:
            encoding = _encoding_of_content(value)
            if encoding is not None:
                need_pragma = True
        elif name == b"charset":
            encoding = encoding_of_label(value)
            need_pragma = False
    if need_pragma is None or (need_pragma and not got_pragma):
        return None, at
    return _readable(encoding), at


def _attribute(data: bytes, at: int) -> tuple[tuple[bytes, bytes] | None, int]:
    """The next attribute of a tag as (name, value) in lower case, None at the tag's end."""
    at = _run(data, _SPACES_SLASHES, at)
    if data[at] == ord(">"):
        return None, at
    end = _run(data, _ATTRIBUTE_NAME, at)
    name = data[at:end].lower()
    at = _run(data, _SPACES, end)
    if data[at] != ord("="):
        return (name, b""), at
    at = _run(data, _SPACES, at + 1)
    if data[at] in b"\"'":
        end = data.find(data[at : at + 1], at + 1)
        if end < 0:
            raise _EndOfBytes
        return (name, data[at + 1 : end].lower()), end + 1
    end = _run(data, _UNQUOTED_VALUE, at)
    return (name, data[at:end].lower()), end


def _run(data: bytes, pattern: re.Pattern[bytes], at: int) -> int:
    """Where a run ends; a byte must follow it, for the standard reads one byte ahead."""
    match = pattern.match(data, at)
    end = match.end() if match else at
    if end >= len(data):
        raise _EndOfBytes
    return end


def _encoding_of_content(value: bytes) -> str | None:
    """The encoding in the content attribute of a meta element, e.g. `text/html; charset=x`."""
    match = _CHARSET.search(value)
    if match is None or match.end() == len(value):
        return None
    rest = value[match.end() :]
    if rest[:1] in (b'"', b"'"):
        end = rest.find(rest[:1], 1)
        return encoding_of_label(rest[1:end]) if end > 0 else None
    return encoding_of_label(re.split(rb"[\t\n\f\r ;]", rest, maxsplit=1)[0])
