"""The first half of the WHATWG tokenizer, byte by byte: data, tags, comments, CDATA sections.

One method per state of the standard, named as there; a state gets one byte (or END), and the
next state is `self.state`. html_tokenizer.py adds the states of raw text. Attributes and the
text of comments are read and forgotten. What is found goes to a `Sink`, which also answers the
two questions a tokenizer asks its tree builder: which state follows a start tag, and whether
the content is foreign.

Slow and plain on purpose. Bytes that are not ASCII are never looked at, so ill-formed UTF-8
passes through. U+0000 in the data state is reported apart; elsewhere it stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from tests.reference.html_character import character_reference

END = -1
SPACE = frozenset(b"\t\n\f\r ")
AFTER_NAME = SPACE | frozenset(b"/>")
LETTER = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")


class Sink(Protocol):
    """What the tokenizer reports to, in document order."""

    def text(self, data: bytes, at: int) -> None:
        """Text that stands in the input as it is, from `at` on."""

    def replacement(self, data: bytes, start: int, end: int) -> None:
        """What a character reference in input[start:end] stands for."""

    def null(self, at: int) -> None:
        """U+0000 in the data state."""

    def start(self, name: bytes, self_closing: bool) -> str:
        """The state that follows this start tag."""

    def end(self, name: bytes) -> None: ...

    def foreign(self) -> bool: ...


class Markup:
    """The states that markup needs, and what moves from state to state."""

    def __init__(self, data: bytes, sink: Sink) -> None:
        self.input = data
        self.sink = sink
        self.at = 0
        self.state = "data"
        self.done = False
        self.name = bytearray()
        self.is_end_tag = False
        self.last_start = b""
        self.buffer = bytearray()

    def run(self, state: str = "data", last_start: bytes = b"") -> None:
        self.state, self.last_start = state, last_start
        states: dict[str, Callable[[int], None]] = {}
        while not self.done:
            if self.state not in states:
                states[self.state] = getattr(self, self.state)
            c = self.input[self.at] if self.at < len(self.input) else END
            self.at += 1
            states[self.state](c)

    def reconsume(self, state: str) -> None:
        self.at -= 1
        self.state = state

    def emit(self, data: bytes) -> None:
        """Text that ends right before the byte now looked at."""
        self.sink.text(data, self.at - 1 - len(data))

    def emit_byte(self, c: int) -> None:
        """Text in a state whose only other case is the end of input."""
        if c == END:
            self.done = True
        else:
            self.sink.text(bytes([c]), self.at - 1)

    def emit_reference(self) -> None:
        start = self.at - 1
        replacement, self.at = character_reference(self.input, start)
        self.sink.replacement(replacement, start, self.at)

    def next_is(self, word: bytes) -> bool:
        return self.input[self.at - 1 : self.at - 1 + len(word)].lower() == word.lower()

    # Data and tags

    def data(self, c: int) -> None:
        if c == ord("&"):
            self.emit_reference()
        elif c == ord("<"):
            self.state = "tag_open"
        elif c == 0:
            self.sink.null(self.at - 1)
        else:
            self.emit_byte(c)

    def tag_open(self, c: int) -> None:
        if c == ord("!"):
            self.state = "markup_declaration_open"
        elif c == ord("/"):
            self.state = "end_tag_open"
        elif c in LETTER:
            self.new_tag(end=False)
            self.reconsume("tag_name")
        elif c == ord("?"):
            self.reconsume("bogus_comment")
        else:
            self.emit(b"<")
            self.reconsume("data")

    def end_tag_open(self, c: int) -> None:
        if c in LETTER:
            self.new_tag(end=True)
            self.reconsume("tag_name")
        elif c == ord(">"):
            self.state = "data"
        elif c == END:
            self.emit(b"</")
            self.done = True
        else:
            self.reconsume("bogus_comment")

    def new_tag(self, end: bool) -> None:
        self.name = bytearray()
        self.is_end_tag = end

    def emit_tag(self, self_closing: bool = False) -> None:
        self.state = "data"
        name = bytes(self.name).lower()
        if self.is_end_tag:
            self.sink.end(name)
        else:
            self.last_start = name
            self.state = self.sink.start(name, self_closing)

    def tag_name(self, c: int) -> None:
        if c in AFTER_NAME:
            self.reconsume("after_tag_name")
        elif c == END:
            self.done = True
        else:
            self.name.append(c)

    def after_tag_name(self, c: int) -> None:
        """What the tag name states share once the name has ended."""
        if c in SPACE:
            self.state = "before_attribute_name"
        elif c == ord("/"):
            self.state = "self_closing_start_tag"
        else:
            self.emit_tag()

    def before_attribute_name(self, c: int) -> None:
        if c in SPACE:
            pass
        elif c in AFTER_NAME or c == END:
            self.reconsume("after_attribute_name")
        else:
            # An equals sign here begins a name, so it must not be seen by attribute_name.
            self.state = "attribute_name"

    def attribute_name(self, c: int) -> None:
        if c in AFTER_NAME or c == END:
            self.reconsume("after_attribute_name")
        elif c == ord("="):
            self.state = "before_attribute_value"

    def after_attribute_name(self, c: int) -> None:
        if c in SPACE:
            pass
        elif c == ord("/"):
            self.state = "self_closing_start_tag"
        elif c == ord("="):
            self.state = "before_attribute_value"
        elif c == ord(">"):
            self.emit_tag()
        elif c == END:
            self.done = True
        else:
            self.state = "attribute_name"

    def before_attribute_value(self, c: int) -> None:
        if c in SPACE:
            pass
        elif c == ord('"'):
            self.state = "attribute_value_double_quoted"
        elif c == ord("'"):
            self.state = "attribute_value_single_quoted"
        elif c == ord(">"):
            self.emit_tag()
        else:
            self.reconsume("attribute_value_unquoted")

    def attribute_value_double_quoted(self, c: int) -> None:
        if c == ord('"'):
            self.state = "after_attribute_value_quoted"
        elif c == END:
            self.done = True

    def attribute_value_single_quoted(self, c: int) -> None:
        if c == ord("'"):
            self.state = "after_attribute_value_quoted"
        elif c == END:
            self.done = True

    def attribute_value_unquoted(self, c: int) -> None:
        if c in SPACE:
            self.state = "before_attribute_name"
        elif c == ord(">"):
            self.emit_tag()
        elif c == END:
            self.done = True

    def after_attribute_value_quoted(self, c: int) -> None:
        if c in SPACE:
            self.state = "before_attribute_name"
        elif c == ord("/"):
            self.state = "self_closing_start_tag"
        elif c == ord(">"):
            self.emit_tag()
        elif c == END:
            self.done = True
        else:
            self.reconsume("before_attribute_name")

    def self_closing_start_tag(self, c: int) -> None:
        if c == ord(">"):
            self.emit_tag(self_closing=True)
        elif c == END:
            self.done = True
        else:
            self.reconsume("before_attribute_name")

    # Comments and other declarations

    def bogus_comment(self, c: int) -> None:
        if c == ord(">"):
            self.state = "data"
        elif c == END:
            self.done = True

    def markup_declaration_open(self, c: int) -> None:
        if self.next_is(b"--"):
            self.at += 1
            self.state = "comment_start"
        elif self.sink.foreign() and self.input.startswith(b"[CDATA[", self.at - 1):
            self.at += 6
            self.state = "cdata_section"
        else:
            # Every doctype state ends at the first ">", quoted identifiers included.
            self.reconsume("bogus_comment")

    def comment_start(self, c: int) -> None:
        if c == ord("-"):
            self.state = "comment_start_dash"
        elif c == ord(">"):
            self.state = "data"
        else:
            self.reconsume("comment")

    def comment_start_dash(self, c: int) -> None:
        if c == ord("-"):
            self.state = "comment_end"
        elif c == ord(">"):
            self.state = "data"
        else:
            self.reconsume("comment")

    def comment(self, c: int) -> None:
        if c == ord("<"):
            self.state = "comment_less_than"
        elif c == ord("-"):
            self.state = "comment_end_dash"
        elif c == END:
            self.done = True

    def comment_less_than(self, c: int) -> None:
        if c == ord("!"):
            self.state = "comment_less_than_bang"
        elif c != ord("<"):
            self.reconsume("comment")

    def comment_less_than_bang(self, c: int) -> None:
        if c == ord("-"):
            self.state = "comment_less_than_bang_dash"
        else:
            self.reconsume("comment")

    def comment_less_than_bang_dash(self, c: int) -> None:
        if c == ord("-"):
            self.state = "comment_less_than_bang_dash_dash"
        else:
            self.reconsume("comment_end_dash")

    def comment_less_than_bang_dash_dash(self, c: int) -> None:
        self.reconsume("comment_end")

    def comment_end_dash(self, c: int) -> None:
        if c == ord("-"):
            self.state = "comment_end"
        else:
            self.reconsume("comment")

    def comment_end(self, c: int) -> None:
        if c == ord(">"):
            self.state = "data"
        elif c == ord("!"):
            self.state = "comment_end_bang"
        elif c != ord("-"):
            self.reconsume("comment")

    def comment_end_bang(self, c: int) -> None:
        if c == ord("-"):
            self.state = "comment_end_dash"
        elif c == ord(">"):
            self.state = "data"
        else:
            self.reconsume("comment")

    def cdata_section(self, c: int) -> None:
        if c == ord("]"):
            self.state = "cdata_section_bracket"
        else:
            self.emit_byte(c)

    def cdata_section_bracket(self, c: int) -> None:
        if c == ord("]"):
            self.state = "cdata_section_end"
        else:
            self.emit(b"]")
            self.reconsume("cdata_section")

    def cdata_section_end(self, c: int) -> None:
        if c == ord("]"):
            self.sink.text(b"]", self.at - 3)
        elif c == ord(">"):
            self.state = "data"
        else:
            self.emit(b"]]")
            self.reconsume("cdata_section")
