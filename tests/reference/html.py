"""The text of an HTML document by the rules of docs/algorithm.md, section 1.4.

`strip` gives the text, `sniff` says whether bytes look like HTML. The tokenizer beside this
file finds the tags; here is what they mean: which elements hide their text, which separate
words, and where SVG and MathML change the rules. Slow and plain, written from that page and
from the HTML standard.
"""

from __future__ import annotations

from tests.reference.html_markup import SPACE
from tests.reference.html_tokenizer import Tokenizer

SEPARATING = frozenset(
    b"""address article aside audio blockquote body br button canvas caption center col colgroup
    dd details dialog dir div dl dt embed fieldset figcaption figure footer form frame frameset
    h1 h2 h3 h4 h5 h6 head header hgroup hr html iframe img input legend li listing main marquee
    menu nav object ol optgroup option p plaintext pre rp rt search section select summary table
    tbody td textarea tfoot th thead title tr ul video xmp""".split()
)
HIDING = frozenset(b"template noscript".split())
HIDING_IN_FOREIGN = HIDING | frozenset(b"script style iframe noembed noframes".split())
CONTENT_STATE = {
    b"title": "rcdata",
    b"textarea": "rcdata",
    b"xmp": "rawtext",
    b"style": "rawtext",
    b"iframe": "rawtext",
    b"noembed": "rawtext",
    b"noframes": "rawtext",
    b"script": "script_data",
    b"plaintext": "plaintext",
}
UNCOUNTED = frozenset(b"script style iframe noembed noframes".split())
FOREIGN = frozenset(b"svg math".split())
BACK_TO_HTML = {
    b"svg": frozenset(b"foreignobject desc title".split()),
    b"math": frozenset(b"mi mo mn ms mtext annotation-xml".split()),
}
BREAKS_OUT = frozenset(
    b"""b big blockquote body br center code dd div dl dt em embed h1 h2 h3 h4 h5 h6 head hr i
    img li listing menu meta nobr ol p pre ruby s small span strong strike sub sup table tt u ul
    var""".split()
)
DEEPEST = 32

SNIFFED = tuple(
    b"""html head script iframe h1 div font table a style title b body br p meta link span ul ol
    center h2 h3 section article main header nav""".split()
)
DOCTYPE = b"<!doctype html"
AFTER_OPENING = frozenset(bytes([c]) for c in SPACE | frozenset(b"/>"))


class Text:
    """Collects the text that counts.

    `hider` is the element that hides, `depth` how often it is open, `floor` the height under
    which the stack of foreign content must not fall lest the hiding end.
    """

    def __init__(self) -> None:
        self.out = bytearray()
        self.origins: list[tuple[int, int]] = []
        self.stack: list[bytes] = []
        self.hider = b""
        self.depth = 0
        self.floor = 0
        self.raw = b""

    def foreign(self) -> bool:
        return bool(self.stack) and self.stack[-1] in FOREIGN

    def text(self, data: bytes, at: int) -> None:
        for i, c in enumerate(data):
            self.replacement(bytes([c]), at + i, at + i + 1)

    def replacement(self, data: bytes, start: int, end: int) -> None:
        if not self.hider and self.raw not in UNCOUNTED:
            self.out += data
            self.origins += [(start, end)] * len(data)

    def null(self, at: int) -> None:
        if self.foreign():
            self.text(b"\0", at)

    def separate(self, name: bytes) -> None:
        if not self.hider and name in SEPARATING:
            self.out += b"\n"
            self.origins.append((0, 0))

    def pop(self) -> bytes:
        name = self.stack.pop()
        if len(self.stack) < self.floor:
            self.show()
        return name

    def show(self) -> None:
        self.hider, self.depth, self.floor = b"", 0, 0

    def break_out(self) -> None:
        while self.foreign():
            self.pop()

    def start(self, name: bytes, self_closing: bool) -> str:
        if self.foreign() and name in BREAKS_OUT:
            self.break_out()
        foreign = self.foreign()
        self.separate(name)
        self.hide(name, foreign, self_closing)
        if not self_closing and len(self.stack) < DEEPEST:
            top = self.stack[-1] if self.stack else b""
            if name in FOREIGN or name in BACK_TO_HTML.get(top, ()):
                self.stack.append(name)
        if foreign or name not in CONTENT_STATE:
            return "data"
        self.raw = name
        return CONTENT_STATE[name]

    def hide(self, name: bytes, foreign: bool, self_closing: bool) -> None:
        if foreign and self_closing:
            return
        if self.hider:
            self.depth += name == self.hider
        elif name in (HIDING_IN_FOREIGN if foreign else HIDING):
            self.hider, self.depth, self.floor = name, 1, len(self.stack) if foreign else 0

    def end(self, name: bytes) -> None:
        self.raw = b""
        if self.foreign() and name in (b"p", b"br"):
            self.break_out()
        if name in self.stack:
            while self.pop() != name:
                pass
        if name == self.hider:
            self.depth -= 1
            if self.depth == 0:
                self.show()
        self.separate(name)


def strip(data: bytes) -> bytes:
    """The text of an HTML document."""
    return strip_with_origins(data)[0]


def strip_with_origins(data: bytes) -> tuple[bytes, list[tuple[int, int]]]:
    """The text, and for each of its bytes the range of `data` it was read from.

    A separating U+000A comes from no place and has the range (0, 0).
    """
    text = Text()
    Tokenizer(data, text).run()
    return bytes(text.out), text.origins


def sniff(data: bytes) -> bool:
    """Whether these bytes are HTML when nobody says what they are."""
    rest = data.removeprefix(b"\xef\xbb\xbf").lstrip(bytes(SPACE)).lower()
    if rest.startswith(b"<!--"):
        return True
    if rest.startswith(b"<?xml"):
        return b"<html" in rest[:1024] or DOCTYPE in rest[:1024]
    for opening in (DOCTYPE, *(b"<" + name for name in SNIFFED)):
        if rest.startswith(opening) and rest[len(opening) : len(opening) + 1] in AFTER_OPENING:
            return True
    return False
