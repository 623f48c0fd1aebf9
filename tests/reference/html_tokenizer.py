"""The WHATWG tokenizer, byte by byte, as far as text needs it: the states of raw text.

RCDATA (title, textarea), raw text (style, xmp, ...), script and plaintext; html_markup.py has
the other states and says how a state works. Raw text ends at the end tag of the start tag that
began it. In a script, `<!--` escapes and `<script` within an escape escapes twice, so that the
end tag of the inner script does not end the outer one.
"""

from __future__ import annotations

from tests.reference.html_markup import AFTER_NAME, LETTER, Markup


class Tokenizer(Markup):
    """Runs over its input once, from `run` to the end of input."""

    def rcdata(self, c: int) -> None:
        if c == ord("&"):
            self.emit_reference()
        elif c == ord("<"):
            self.state = "rcdata_less_than"
        else:
            self.emit_byte(c)

    def rawtext(self, c: int) -> None:
        if c == ord("<"):
            self.state = "rawtext_less_than"
        else:
            self.emit_byte(c)

    def script_data(self, c: int) -> None:
        if c == ord("<"):
            self.state = "script_data_less_than"
        else:
            self.emit_byte(c)

    def plaintext(self, c: int) -> None:
        self.emit_byte(c)

    # End tags of RCDATA, raw text and script: the three families differ in where they go back

    def less_than(self, c: int, back: str) -> None:
        if c == ord("/"):
            self.buffer = bytearray()
            self.state = f"{back}_end_tag_open"
        else:
            self.emit(b"<")
            self.reconsume(back)

    def end_tag_open_in(self, c: int, back: str) -> None:
        if c in LETTER:
            self.new_tag(end=True)
            self.reconsume(f"{back}_end_tag_name")
        else:
            self.emit(b"</")
            self.reconsume(back)

    def end_tag_name_in(self, c: int, back: str) -> None:
        if c in AFTER_NAME and bytes(self.name).lower() == self.last_start:
            self.reconsume("after_tag_name")
        elif c in LETTER:
            self.name.append(c)
        else:
            self.emit(b"</" + bytes(self.name))
            self.reconsume(back)

    def rcdata_less_than(self, c: int) -> None:
        self.less_than(c, "rcdata")

    def rcdata_end_tag_open(self, c: int) -> None:
        self.end_tag_open_in(c, "rcdata")

    def rcdata_end_tag_name(self, c: int) -> None:
        self.end_tag_name_in(c, "rcdata")

    def rawtext_less_than(self, c: int) -> None:
        self.less_than(c, "rawtext")

    def rawtext_end_tag_open(self, c: int) -> None:
        self.end_tag_open_in(c, "rawtext")

    def rawtext_end_tag_name(self, c: int) -> None:
        self.end_tag_name_in(c, "rawtext")

    # Script

    def script_data_less_than(self, c: int) -> None:
        if c == ord("!"):
            self.emit(b"<")
            self.emit_byte(c)
            self.state = "script_data_escape_start"
        else:
            self.less_than(c, "script_data")

    def script_data_end_tag_open(self, c: int) -> None:
        self.end_tag_open_in(c, "script_data")

    def script_data_end_tag_name(self, c: int) -> None:
        self.end_tag_name_in(c, "script_data")

    def script_data_escape_start(self, c: int) -> None:
        self.dash_or_back(c, "script_data_escape_start_dash", "script_data")

    def script_data_escape_start_dash(self, c: int) -> None:
        self.dash_or_back(c, "script_escaped_dash_dash", "script_data")

    def dash_or_back(self, c: int, then: str, back: str) -> None:
        if c == ord("-"):
            self.emit_byte(c)
            self.state = then
        else:
            self.reconsume(back)

    def script_escaped(self, c: int) -> None:
        self.escaped(c, "script_escaped", dash="script_escaped_dash")

    def script_escaped_dash(self, c: int) -> None:
        self.escaped(c, "script_escaped", dash="script_escaped_dash_dash")

    def script_escaped_dash_dash(self, c: int) -> None:
        self.escaped(c, "script_escaped", dash="script_escaped_dash_dash", closes=True)

    def escaped(self, c: int, back: str, dash: str, closes: bool = False) -> None:
        """The escaped and double escaped states; `closes` after two dashes."""
        if c == ord("<"):
            self.state = f"{back}_less_than"
            return
        self.emit_byte(c)
        if c == ord("-"):
            self.state = dash
        elif c == ord(">") and closes:
            self.state = "script_data"
        else:
            self.state = back

    def script_escaped_less_than(self, c: int) -> None:
        if c in LETTER:
            self.buffer = bytearray()
            self.emit(b"<")
            self.reconsume("script_double_escape_start")
        else:
            self.less_than(c, "script_escaped")

    def script_escaped_end_tag_open(self, c: int) -> None:
        self.end_tag_open_in(c, "script_escaped")

    def script_escaped_end_tag_name(self, c: int) -> None:
        self.end_tag_name_in(c, "script_escaped")

    def script_double_escape_start(self, c: int) -> None:
        self.double_escape(c, then="script_double_escaped", back="script_escaped")

    def double_escape(self, c: int, then: str, back: str) -> None:
        """Collects a name; a whole `script` and what ends it changes the escaping."""
        if c in AFTER_NAME:
            self.emit_byte(c)
            self.state = then if bytes(self.buffer).lower() == b"script" else back
        elif c in LETTER:
            self.emit_byte(c)
            self.buffer.append(c)
        else:
            self.reconsume(back)

    def script_double_escaped(self, c: int) -> None:
        self.escaped(c, "script_double_escaped", dash="script_double_escaped_dash")

    def script_double_escaped_dash(self, c: int) -> None:
        self.escaped(c, "script_double_escaped", dash="script_double_escaped_dash_dash")

    def script_double_escaped_dash_dash(self, c: int) -> None:
        dash = "script_double_escaped_dash_dash"
        self.escaped(c, "script_double_escaped", dash=dash, closes=True)

    def script_double_escaped_less_than(self, c: int) -> None:
        self.emit(b"<")
        if c == ord("/"):
            self.emit_byte(c)
            self.buffer = bytearray()
            self.state = "script_double_escape_end"
        else:
            self.reconsume("script_double_escaped")

    def script_double_escape_end(self, c: int) -> None:
        self.double_escape(c, then="script_escaped", back="script_double_escaped")
