"""HTML to text before judges from outside: lexbor's tree, the html5lib tokenizer cases, real pages.

The labelled data is found by tests/optional.py and never copied here; without it these tests are
skipped aloud. What is known to differ from a tree is listed in tests/html_differences.py.
"""

import gzip
import hashlib
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from roughly import _core
from tests import core, html_differences, oracle_lexbor
from tests.optional import FULL, optional, truth
from tests.reference import html
from tests.reference.html_tokenizer import Tokenizer

# Bytes of labelled pages that the slow reference reads in a light run: a few seconds.
LIGHT_BYTES = 3_000_000


def rows(*path: str) -> Iterator[dict[str, Any]]:
    """The objects of a gzipped JSON Lines file of labelled data."""
    file = truth().joinpath(*path)
    if not file.is_file():
        optional("truth", f"{'/'.join(path)} is not a file")
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


@cache
def pages() -> tuple[bytes, ...]:
    """Every labelled HTML document."""
    found = [row["html"] for row in rows("html_pages", "pages.jsonl.gz")]
    found += [row["html"] for row in rows("spdx", "html_pairs.jsonl.gz")]
    return tuple(page.encode("utf-8", "replace") for page in found)


def digest(page: bytes) -> str:
    return hashlib.sha256(page).hexdigest()[:16]


def test_differences_are_explained() -> None:
    used = {example.category for example in html_differences.EXAMPLES}
    assert used == html_differences.CATEGORIES.keys()
    assert set(html_differences.PAGES.values()) <= used


@pytest.mark.core
@pytest.mark.parametrize("example", html_differences.EXAMPLES)
def test_example_of_difference(example: html_differences.Example) -> None:
    stream = core.tokenize(_core.html_text(example.html)).tokens
    tree = core.tokenize(oracle_lexbor.text(example.html)).tokens
    assert b" ".join(stream).decode() == example.stream
    assert b" ".join(tree).decode() == example.tree


@pytest.mark.core
def test_pages_against_lexbor() -> None:
    """Each page that differs is listed, and each listed page differs."""
    differing = {
        digest(page)
        for page in pages()
        if core.tokenize(_core.html_text(page)).tokens
        != core.tokenize(oracle_lexbor.text(page)).tokens
    }
    assert differing == html_differences.PAGES.keys()


@pytest.mark.core
def test_judge_can_disagree(monkeypatch: pytest.MonkeyPatch) -> None:
    """Agreement on every page means something only if a wrong list is noticed."""
    monkeypatch.setattr(oracle_lexbor, "SEPARATING_NAMES", oracle_lexbor.SEPARATING_NAMES - {"li"})
    differing = [
        page
        for page in pages()
        if len(page) < 100_000
        and core.tokenize(_core.html_text(page)).tokens
        != core.tokenize(oracle_lexbor.text(page)).tokens
    ]
    assert len(differing) > 10


@pytest.mark.core
def test_pages_against_reference() -> None:
    left = sum(map(len, pages())) if FULL else LIGHT_BYTES
    for page in sorted(pages(), key=digest):
        if len(page) <= left:
            left -= len(page)
            assert _core.html_text(page) == html.strip(page), digest(page)


@pytest.mark.core
def test_html_is_its_text() -> None:
    """Licences published as HTML and as text: the same tokens, but for what was reworded."""
    pairs = list(rows("spdx", "html_pairs.jsonl.gz"))
    equal = sum(
        core.tokenize(pair["html"].encode(), html=True).tokens
        == core.tokenize(pair["text"].encode()).tokens
        for pair in pairs
    )
    assert equal >= 0.84 * len(pairs)


# The html5lib tokenizer cases


class Case(NamedTuple):
    """One case in one start state; `expected` holds (kind, data, self-closing)."""

    name: str
    state: str
    last_start: str
    data: bytes
    expected: list[tuple[str, bytes, bool]]


STATES = {
    "Data state": "data",
    "PLAINTEXT state": "plaintext",
    "RCDATA state": "rcdata",
    "RAWTEXT state": "rawtext",
    "Script data state": "script_data",
    "CDATA section state": "cdata_section",
}
# What brings `strip` into a start state, and the text that this gives.
ENTRANCES = {
    "data": (b"", b""),
    "plaintext": (b"<plaintext>", b"\n"),
    "rcdata": (b"<title>", b"\n"),
    "rawtext": (b"<xmp>", b"\n"),
    "script_data": (b"<script>", b""),
    "cdata_section": (b"<svg><![CDATA[", b""),
}
# Files and cases that judge something else, and why.
EXCLUDED = {
    "xmlViolation.test": "expects characters changed for XML",
    "Invalid Unicode character U+DFFF": "no UTF-8 holds a surrogate",
    "Invalid Unicode character U+D800": "no UTF-8 holds a surrogate",
    "Invalid Unicode character U+DFFF with valid preceding character": "the same",
    "Invalid Unicode character U+D800 with valid following character": "the same",
}
# The start states that `strip` cannot be brought into, by (state, last start tag).
UNREACHABLE = {
    ("script_data", ""): "after <script> an end tag of script would fit",
    ("script_data", "xmp"): "after <script> the fitting end tag is another",
}


def no_null(data: bytes) -> bytes:
    return data.replace(b"\0", "\ufffd".encode())


def unescape(value: str) -> str:
    return re.sub(r"\\u([0-9A-Fa-f]{4})", lambda found: chr(int(found[1], 16)), value)


def expected_tokens(output: list[list[Any]], escaped: bool) -> list[tuple[str, bytes, bool]]:
    """Characters and tags; neighbours are joined once comments and doctypes are left out."""
    found: list[tuple[str, bytes, bool]] = []
    for kind, value, *rest in output:
        if kind not in ("Character", "StartTag", "EndTag"):
            continue
        data = (unescape(value) if escaped else value).encode()
        if kind == "Character" and found and found[-1][0] == kind:
            data = found.pop()[1] + data
        found.append((kind, data, kind == "StartTag" and len(rest) == 2))
    return found


@cache
def cases() -> tuple[Case, ...]:
    folder = truth() / "formats" / "html5lib" / "tokenizer"
    if not folder.is_dir():
        optional("truth", "formats/html5lib/tokenizer is not a folder")
    return tuple(case for file in sorted(folder.glob("*.test")) for case in cases_of(file))


def cases_of(file: Path) -> Iterator[Case]:
    if file.name in EXCLUDED:
        return
    for test in json.loads(file.read_text("utf-8"))["tests"]:
        if test["description"] in EXCLUDED:
            continue
        escaped = test.get("doubleEscaped", False)
        data = unescape(test["input"]) if escaped else test["input"]
        # The cases are about what comes after the preprocessing of line ends.
        data = data.replace("\r\n", "\n").replace("\r", "\n")
        expected = expected_tokens(test["output"], escaped)
        for state in test.get("initialStates", ["Data state"]):
            name = f"{file.name}: {test['description']}"
            last_start = test.get("lastStartTag", "")
            yield Case(name, STATES[state], last_start, data.encode(), expected)


class Recorder:
    """A sink that keeps characters and tags, in the form of `Case.expected`.

    The reference lets U+0000 stay where the standard puts U+FFFD; `no_null` makes both equal.
    """

    def __init__(self) -> None:
        self.found: list[tuple[str, bytes, bool]] = []

    def replacement(self, data: bytes, start: int, end: int) -> None:
        if self.found and self.found[-1][0] == "Character":
            data = self.found.pop()[1] + data
        self.found.append(("Character", data, False))

    def text(self, data: bytes, at: int) -> None:
        self.replacement(data, at, at)

    def null(self, at: int) -> None:
        self.replacement(b"\0", at, at)

    def start(self, name: bytes, self_closing: bool) -> str:
        self.found.append(("StartTag", name, self_closing))
        return "data"

    def end(self, name: bytes) -> None:
        self.found.append(("EndTag", name, False))

    def foreign(self) -> bool:
        return False


def test_reference_tokenizer_by_html5lib() -> None:
    assert len(cases()) > 7000
    for case in cases():
        recorder = Recorder()
        Tokenizer(case.data, recorder).run(case.state, case.last_start.encode())
        found = [(kind, no_null(data), flag) for kind, data, flag in recorder.found]
        expected = [(kind, no_null(data), flag) for kind, data, flag in case.expected]
        assert found == expected, case.name


def expected_text(case: Case) -> bytes:
    """What `strip` makes of the expected tokens."""
    text = bytearray()
    counts = case.state != "script_data"
    for kind, data, _ in case.expected:
        if kind == "Character" and counts:
            text += data
        elif kind == "EndTag":
            counts = True
        if kind != "Character" and data in html.SEPARATING:
            text += b"\n"
    return bytes(text)


def as_title(data: bytes, case: Case) -> bytes:
    """The case for an element that has RCDATA; any mixed case stays mixed."""
    name = case.last_start.encode()
    mixed = re.compile(re.escape(name), re.IGNORECASE)
    return mixed.sub(lambda found: b"title" if found[0] == name else b"TitLe", data)


@pytest.mark.core
def test_text_by_html5lib() -> None:
    judged = 0
    for case in cases():
        if (case.state, case.last_start) in UNREACHABLE:
            continue
        entrance, before = ENTRANCES[case.state]
        data, expected = case.data, expected_text(case)
        if case.state == "data":
            # A tokenizer hands U+0000 on; the tree builder drops it.
            expected = expected.replace(b"\0", b"")
        if case.state == "rcdata" and case.last_start:
            data, expected = as_title(data, case), as_title(expected, case)
        found = _core.html_text(entrance + data)
        assert no_null(found) == before + no_null(expected), case.name
        judged += 1
    assert judged > 6900
