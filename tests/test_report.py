"""What people look at: the page shows all of both texts and nothing else, whatever they hold; lines
for a terminal fit it and cannot harm it."""

import base64
import hashlib
import re
import sys
from collections import Counter
from collections.abc import Callable
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from roughly import _core, comparison
from roughly.comparison import compare
from roughly.documents.file import Document, document
from roughly.report import comparison_page, marked_text
from roughly.report import reading as reading_module
from roughly.report.comparison_lines import lines
from roughly.report.comparison_page import page
from roughly.report.reading import reading
from roughly.report.terminal import Terminal, beside, harmless, shorten, wrap
from roughly.report.verdict import share
from tests.strategy import html_like
from tests.test_html_hostile import ATTACKS

HOSTILE = """<!DOCTYPE html> </div></section></main><script>alert(1)</script>
<img src=x onerror=alert(1)> <style>*{display:none}</style> "quoted' &amp; &lt; $policy ${title}
</textarea></title></script><!-- --> <a href="https://example.org/">a</a> \0 \x1b[31m \u202e end"""


class Page(HTMLParser):
    """What a browser would find: elements, their attributes, and the two texts."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.inside: list[str] = []
        self.texts: dict[str, str] = {}
        self.content: dict[str, str] = {}
        self.side = ""
        self.depth = 0
        self.number = False
        self.feed(source)
        self.close()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attributes}
        self.elements.append((tag, found))
        self.inside.append(tag)
        if tag == "div" and found.get("class") == "text":
            self.side, self.depth = found["aria-labelledby"][-1], len(self.inside)
            self.texts[self.side] = ""
        self.number = self.number or (tag == "a" and found.get("class", "").startswith("n "))

    def handle_endtag(self, tag: str) -> None:
        if tag == "a":
            self.number = False
        if tag == "div" and len(self.inside) == self.depth:
            self.side = ""
        while self.inside.pop() != tag:
            continue

    def handle_data(self, data: str) -> None:
        if self.side and not self.number:
            self.texts[self.side] += data
        elif self.inside and self.inside[-1] in ("script", "style"):
            self.content[self.inside[-1]] = self.content.get(self.inside[-1], "") + data

    def attributes(self, name: str) -> list[str]:
        return [found[name] for _, found in self.elements if name in found]


def made(a: Document, b: Document, w: int = 5) -> Page:
    return Page(page(compare(a, b, w=w), a, b))


def shown(text: str) -> str:
    """A text as the page shows it."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return re.sub(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]", "\ufffd", text)


def check(found: Page) -> None:
    """What holds of every page."""
    tags = [tag for tag, _ in found.elements]
    assert (tags.count("script"), tags.count("style"), tags.count("main")) == (1, 1, 1)
    assert not {"img", "iframe", "link", "object", "embed", "form"} & set(tags)
    assert not [name for _, each in found.elements for name in each if name.startswith("on")]
    assert not found.attributes("src") + found.attributes("style")
    ids = found.attributes("id")
    assert len(ids) == len(set(ids))
    for href in found.attributes("href"):
        assert href.startswith("#")
        assert href[1:] in ids
    (policy,) = [
        each["content"]
        for _, each in found.elements
        if each.get("http-equiv") == "Content-Security-Policy"
    ]
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    for kind in ("script", "style"):
        digest = hashlib.sha256(found.content[kind].encode()).digest()
        assert f"{kind}-src 'sha256-{base64.b64encode(digest).decode()}'" in policy
        assert "http" not in found.content[kind]
        assert "url(" not in found.content[kind]


@pytest.mark.parametrize("content_type", ["text", "html"])
def test_hostile_documents_stay_text(content_type: str) -> None:
    name = '<script>alert("x")</script>.html'
    a = document(name, HOSTILE.encode(), content_type)
    b = document("b", f"{HOSTILE} and more".encode(), content_type)
    found = made(a, b)
    check(found)
    if content_type == "text":
        assert found.texts["a"] == shown(HOSTILE)
    source = page(compare(a, b), a, b)
    assert "alert(1)</script>" not in source
    assert "&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt;.html" in source


words = st.lists(st.sampled_from(["one ", "two\n", "<b>", "&lt;", "é\u0301 ", "日", "\0", "a\r\n"]))


@given(words.map("".join), words.map("".join), st.integers(1, 4))
def test_page_shows_all_of_both_texts(a: str, b: str, w: int) -> None:
    first = Document("a", a.encode(), a.encode(), False, "utf-8", "utf-8")
    second = Document("b", b.encode(), b.encode(), False, "utf-8", "utf-8")
    found = made(first, second, w)
    check(found)
    for side, text in (("a", a), ("b", b)):
        if text.strip():
            assert found.texts[side] == shown(text)
        else:
            assert found.texts[side] == "There is no text here."


@given(html_like, html_like)
def test_page_of_html(a: bytes, b: bytes) -> None:
    check(made(document("a", a, "html"), document("b", b, "html"), 2))


@given(html_like)
def test_reading_has_the_document_s_tokens(data: bytes) -> None:
    source = document("a", data, "html")
    text = reading(source).text_utf8
    assert _core.tokenize(text, False)[0] == _core.tokenize(source.text_utf8, True)[0]
    assert b"\n\n\n" not in text


def test_reading_lays_text_out_as_a_browser_does() -> None:
    html = b"""<title>T</title><p>one
    two<br>three<ul><li>four <li>five</ul><pre>six
  seven</pre><p>eight<script>x</script>"""
    text = reading(document("a", html, "html")).text_utf8.decode()
    assert text == "T\n\none two\nthree\n\nfour\nfive\n\nsix\nseven\n\neight"
    html = b"<p>one\ntwo<PRE\n>three\nfour<xmp>five\n</xmp></pre x>six\nseven<pre>eight\nnine"
    text = reading(document("a", html, "html")).text_utf8.decode()
    assert text == "one two\nthree\nfour\nfive\n\nsix seven\neight\nnine"


def test_an_accent_belongs_to_its_letter() -> None:
    text = reading(document("a", "cafe\u0301 noir".encode()))
    assert text.slice(text.start(0), text.end(0)) == "cafe\u0301"


def test_every_passage_has_a_place_in_both_texts() -> None:
    # All of A's lines are one place of B.
    a, b = (
        document("a", b"one two three four five\n" * 5),
        document("b", b"one two three four five"),
    )
    found = made(a, b)
    check(found)
    passages = compare(a, b).passages
    for side in "ab":
        numbered = [i for i in found.attributes("id") if re.fullmatch(rf"{side}\d+", i)]
        assert len(numbered) == len(passages)


def test_long_documents_are_cut_and_the_page_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(marked_text, "WHOLE_BYTES", 10_000)
    shared = " ".join(f"wört{i}" for i in range(1000))
    a = document("a", ("vorher " * 2000 + shared + " nachher" * 2000).encode())
    b = document("b", ("before " * 2000 + shared + " after" * 2000).encode())
    found = made(a, b)
    check(found)
    for side in "ab":
        assert len(found.texts[side]) < 5000
        assert len(re.findall(r"[\d,]+ bytes left out", found.texts[side])) == 3
        assert "wört0 wört1 " in found.texts[side]
        assert "wört998 wört999" in found.texts[side]
        assert "\ufffd" not in found.texts[side]
    assert "The documents are long" in page(compare(a, b), a, b)


def test_many_passages_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(marked_text, "MOST_PASSAGES", 3)
    a = document("a", b"".join(b"p%d q%d r%d. x%d " % (i, i, i, i) for i in range(9)))
    b = document("b", b"".join(b"p%d q%d r%d. y%d " % (i, i, i, i) for i in range(9)))
    assert len(compare(a, b, w=3).passages) == 9
    found = made(a, b, 3)
    check(found)
    assert len([i for i in found.attributes("id") if re.fullmatch(r"b\d+", i)]) == 3


def report(a: Document, b: Document, w: int, width: int, limit: int = 8) -> list[str]:
    class Stream:
        def isatty(self) -> bool:
            return False

    terminal = Terminal(Stream(), width, "auto")  # type: ignore[arg-type]
    return list(lines(compare(a, b, w=w), a, b, terminal, limit))


@pytest.mark.parametrize("width", [60, 79, 120])
@pytest.mark.parametrize(
    "text",
    [
        "A rose is a rose. " * 40,
        "吾輩は猫である。名前はまだ無い。" * 20,
        "كل الناس أحرار " * 30,
        "x" * 999,
    ],
)
def test_lines_fit_the_terminal(text: str, width: int) -> None:
    a, b = document("a" * 200, text.encode()), document("b", f"{text} more".encode())
    for line in report(a, b, 3, width):
        assert cell_len(line) <= width, line


def test_documents_cannot_harm_the_terminal() -> None:
    hostile = "one two \x1b[2J\x1b]0;title\x07 three \u202e four \x9b31m five six\rseven"
    a, b = document("\x1b[31mname\n", hostile.encode()), document("b", hostile.encode())
    shown = "\n".join(report(a, b, 2, 79))
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]", shown)
    assert "\\x1b[31mname\\n" in shown


def test_number_of_passages() -> None:
    a = document("a", b"p q r x s t u y v w z")
    b = document("b", b"p q r X1 s t u Y1 v w z")
    assert any("3 shared passages" in line for line in report(a, b, 3, 79))
    assert any("3 shared passages, the longest shown" in line for line in report(a, b, 3, 79, 1))
    assert any("3 shared passages, none shown" in line for line in report(a, b, 3, 79, 0))
    assert any("no shared passages" in line for line in report(a, b, 5, 79))


# Each is so long that work quadratic in it would take minutes.
SIZE = 1_000_000
STALLING: dict[str, Callable[[], bytes]] = {
    "preformatted text that never ends": lambda: b"<pre>x y " * SIZE,
    "preformatted text in turn": lambda: b"<pre>x\n<xmp>y\n<textarea>" * SIZE,
    "near misses of its end": lambda: b"<pre>" + b"</pre" * SIZE,
    "spaces in its end": lambda: b"<pre></pre" + b" " * SIZE,
    "spaces": lambda: b" " * SIZE,
    "spaces that HTML keeps": lambda: b"\xc2\xa0" * SIZE,
    "spaces and line breaks": lambda: b" \n" * SIZE,
    "spaces and elements": lambda: b" <br>\x0b" * SIZE,
    "accents": lambda: b"\xcc\x81" * SIZE,
    "short passages": lambda: b"".join(b"p q r s t %d " % i for i in range(SIZE // 10)),
}
STALLING_HTML = {attack.name: attack.data for attack in ATTACKS} | STALLING


@pytest.mark.parametrize(
    ("name", "content_type"),
    [*((name, "html") for name in STALLING_HTML), *((name, "text") for name in STALLING)],
)
def test_no_document_stalls_a_report(
    name: str, content_type: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = STALLING_HTML[name]
    # Inside one passage, or between two.
    around = b"<html><p>one two three four five ", b" six seven eight nine ten"
    a = document("a", around[0] + made()[:SIZE] + around[1], content_type)
    b = document("b", around[0] + made()[: SIZE - 9] + b" other" + around[1], content_type)
    for other in (a, b):
        found = compare(a, other)
        assert found.passages
        terminal = Terminal(sys.stdout, 79, "never")
        assert list(lines(found, a, other, terminal, SIZE))
        for whole in (0, 10 * SIZE):
            monkeypatch.setattr(marked_text, "WHOLE_BYTES", whole)
            assert page(found, a, other).endswith("</html>\n")


def test_nothing_is_computed_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: Counter[str] = Counter()

    class Core:
        def __getattr__(self, name: str) -> object:
            calls[name] += 1
            return getattr(_core, name)

    a, b = document("a", HOSTILE.encode()), document("b", f"{HOSTILE} and more".encode())
    for module in (comparison, comparison_page, reading_module):
        monkeypatch.setattr(module, "_core", Core())
    found = compare(a, b, w=2)
    assert calls == {"token_spans": 2, "passages": 1}
    calls.clear()
    page(found, a, b)
    assert calls == {"html_text": 2, "token_spans": 2, "common_tokens": 1}


@given(html_like, html_like, st.integers(1, 4))
def test_what_passages_cover_is_what_is_common(a: bytes, b: bytes, w: int) -> None:
    first, second = document("a", a, "html"), document("b", b, "html")
    found = compare(first, second, w=w)
    common = _core.common_tokens(first.text_utf8, True, second.text_utf8, True, w)
    assert (marked_text.covered(found.passages, found.a.tokens) == common).all()


def test_wrap() -> None:
    assert wrap("one two three", 7) == ["one two", "three"]
    assert wrap("incomprehensible", 6) == ["incomp", "rehens", "ible"]
    assert wrap("日本語。中国語", 6) == ["日本", "語。中", "国語"]
    assert wrap("e\u0301e\u0301e\u0301", 2) == ["e\u0301e\u0301", "e\u0301"]
    assert wrap("", 5) == wrap("  ", 5) == []


@given(st.text(max_size=60).map(harmless), st.integers(2, 20))
def test_wrap_loses_nothing(text: str, width: int) -> None:
    wrapped = wrap(text, width)
    assert "".join("".join(wrapped).split()) == "".join(text.split())
    assert all(cell_len(line) <= width for line in wrapped)


def test_shorten() -> None:
    assert shorten("short", 9) == "short"
    assert shorten(" " * 99, 16) == f"{' ' * 5}…{' ' * 10}"
    assert shorten("a/very/long/path/to/file.txt", 16) == "a/ver…o/file.txt"
    assert cell_len(shorten("日本語" * 9, 11)) <= 11


def test_columns_are_not_exchanged_where_text_runs_from_right_to_left() -> None:
    assert beside("a", "b", 3) == "a   │ b"
    assert beside("كل", "b", 3) == "كل  \u200e│\u200e b"


def test_shares_promise_nothing_they_do_not_hold() -> None:
    assert [share(value) for value in (0.0, 1e-9, 0.5, 1 - 1e-9, 1.0)] == [
        "0.0000",
        "0.0001",
        "0.5000",
        "0.9999",
        "1.0000",
    ]
