"""One document from a file or from standard input.

A document that cannot be read raises DocumentError, with what to try; nothing about its content is
ever an error: bytes always become text.
"""

from __future__ import annotations

import os
import stat
import sys
from dataclasses import dataclass
from typing import BinaryIO, Literal

from roughly import _core
from roughly.documents.charset import How, decode
from roughly.errors import DocumentError, ParameterError

ContentType = Literal["auto", "html", "text"]
CONTENT_TYPES: tuple[ContentType, ...] = ("auto", "html", "text")


@dataclass(frozen=True, slots=True)
class Document:
    """A document as it was read, and as text."""

    id: str  # the path as given; "-" for standard input
    data: bytes  # as read
    text_utf8: bytes  # valid UTF-8, markup still inside
    html: bool  # whether `text_utf8` is HTML
    encoding: str  # the encoding of `data`
    how: How  # how that encoding was found


def document(id: str, data: bytes, content_type: str = "auto") -> Document:
    """Bytes as a document: decoded, and taken for HTML if `content_type` or the bytes say so."""
    # A page's own declaration is in ASCII, so it can be sniffed before the text is known.
    decoded = decode(data, html=is_html(data, content_type))
    html = is_html(decoded.text_utf8, content_type)
    return Document(id, data, decoded.text_utf8, html, decoded.encoding, decoded.how)


def is_html(data: bytes, content_type: str) -> bool:
    """What `content_type` says of a document, which for "auto" is what it looks like."""
    if content_type == "auto":
        return _core.sniff_html(data)
    if content_type not in CONTENT_TYPES:
        wanted = ", ".join(map(repr, CONTENT_TYPES))
        raise ParameterError(f"content_type: unknown value: {content_type!r}, wanted {wanted}")
    return content_type == "html"


def read_document(path: str | os.PathLike[str], content_type: str = "auto") -> Document:
    """Reads one file whole; `-` is standard input."""
    name = os.fspath(path)
    return document(name, read_bytes(name), content_type)


def read_bytes(name: str) -> bytes:
    """A file as it is; `-` is standard input."""
    return _read_stdin() if name == "-" else _read_file(name)


def _read_stdin() -> bytes:
    try:
        return sys.stdin.buffer.read()
    except OSError as error:
        raise DocumentError(f"-: cannot read standard input: {reason(error)}") from error
    except (AttributeError, ValueError) as error:
        raise DocumentError(
            "-: cannot read standard input: it is closed",
            hint="give it something to read, as in: roughly compare - B < A",
        ) from error


def _is_endless(file: BinaryIO) -> bool:
    """Whether it is a device that does not end, or not soon; a terminal and /dev/null do."""
    found = os.fstat(file.fileno())
    if file.isatty() or found.st_rdev == os.stat(os.devnull).st_rdev:
        return False
    return stat.S_ISBLK(found.st_mode) or stat.S_ISCHR(found.st_mode)


def _read_file(name: str) -> bytes:
    shown = printable(name)
    try:
        with open(name, "rb") as file:
            if _is_endless(file):
                raise DocumentError(
                    f"{shown}: cannot read: it is a device, wanted a file or a pipe"
                )
            return file.read()
    except IsADirectoryError as error:
        raise DocumentError(
            f"{shown}: cannot read: it is a directory, wanted a file",
            hint="name a file in it",
        ) from error
    except FileNotFoundError as error:
        raise DocumentError(f"{shown}: cannot read: no such file", hint=nearby(name)) from error
    except PermissionError as error:
        raise DocumentError(
            f"{shown}: cannot read: permission denied",
            hint="ask for the right to read it, or copy it to where you may",
        ) from error
    except MemoryError as error:
        size = os.stat(name).st_size
        raise DocumentError(
            f"{shown}: cannot read: {size:,} bytes do not fit into memory",
            hint="both documents are held whole, several times their size; compare parts of them",
        ) from error
    except (OSError, ValueError) as error:
        raise DocumentError(f"{shown}: cannot read: {reason(error)}") from error


def reason(error: Exception) -> str:
    """Why the system refused, as the last part of a message."""
    text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return text[:1].lower() + text[1:]


def nearby(name: str) -> str:
    """What may have been meant: a name of the same folder, or the first folder that is missing."""
    import difflib

    folder, base = os.path.split(name)
    try:
        names = os.listdir(folder or ".")
    except OSError:
        return f"there is no folder {printable(folder)} that can be read; check the path"
    # A close name is worth a moment, not a minute: very large folders are not searched whole.
    close = difflib.get_close_matches(base, sorted(names)[:5000], n=1)
    if close:
        return f"did you mean {printable(os.path.join(folder, close[0]))}?"
    return "check the path; - stands for standard input"


def printable(name: str) -> str:
    """A file's name that is safe to print: what is no character of text is written as an escape."""
    if name.isprintable():
        return name
    return "".join(
        c if c.isprintable() else c.encode("unicode_escape", "surrogatepass").decode() for c in name
    )
