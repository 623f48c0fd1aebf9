"""Canonical forms of URLs: by hand, against public tables, and as properties."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from roughly.url import (
    _CLEAN,
    _loose,
    canonical_url,
    host_of,
    ip4,
    is_url,
    lookup_key,
    loose_url,
    page_of,
    resolve_dots,
    server_of,
    split_url,
)
from tests.optional import optional, truth


@pytest.mark.parametrize(
    ("spelling", "wanted"),
    [
        ("http://a.example/x", "http://a.example/x"),
        ("HTTP://A.Example:80/x#top", "http://a.example/x"),
        ("https://a.example", "https://a.example/"),
        ("https://user:word@a.example:443/", "https://a.example/"),
        ("http://a.example:8080/", "http://a.example:8080/"),
        ("http://a.example/b/../c/./d//e", "http://a.example/c/d/e"),
        ("http://a.example/%7Ejo%2Dann", "http://a.example/~jo-ann"),
        ("http://a.example/a b", "http://a.example/a%20b"),
        ("http://a.example/ä", "http://a.example/%C3%A4"),
        ("http://a.example/%c3%a4", "http://a.example/%C3%A4"),
        ("http://a.example/a%2fb", "http://a.example/a%2Fb"),  # one name, not two steps
        ("http://a.example/?b=2&a=1", "http://a.example/?a=1&b=2"),
        ("http://a.example/?q=a%2Bb+c", "http://a.example/?q=a%2Bb+c"),  # + is a space there
        ("http://bücher.example/", "http://xn--bcher-kva.example/"),
        ("a.example/x", "http://a.example/x"),
        ("a.example:8080/x", "http://a.example:8080/x"),
        ("//a.example/x", "http://a.example/x"),
        ("http://[2001:DB8::0:1]/", "http://[2001:db8::1]/"),
        ("mailto:jo@a.example", "mailto:jo@a.example"),
    ],
)
def test_canonical_url(spelling: str, wanted: str) -> None:
    assert canonical_url(spelling) == wanted


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://www.a.example/x/", "http://a.example/X"),
        ("http://a.example/x?", "http://a.example/x"),
        ("http://a.example/x;jsessionid=0123456789ABCDEF", "http://a.example/x"),
        ("http://a.example/?sid=0123456789abcdef&p=1", "http://a.example/?p=1"),
    ],
)
def test_loose_url(one: str, other: str) -> None:
    assert loose_url(one) == loose_url(other)
    assert lookup_key(one) == lookup_key(other)
    assert canonical_url(one) != canonical_url(other)


def test_different_pages_stay_different() -> None:
    pages = [
        "http://a.example/",
        "http://a.example/x",
        "http://b.example/x",
        "http://a.example/x?p=1",
    ]
    pages += ["http://a.example/x?p=2", "http://a.example:81/x", "http://wwwa.example/x"]
    assert len({loose_url(page) for page in pages}) == len(pages)


def test_ids_that_are_no_urls_are_left_alone() -> None:
    for name in ("Doc 1", "docs/A.txt#2", "a.example", "C:\\x", ""):
        assert not is_url(name)
        assert lookup_key(name) == page_of(name) == name
        assert server_of(name) == ""


def test_server_of() -> None:
    assert server_of("https://A.example:443/x") == "a.example"
    assert server_of("http://a.example:81/x") == "a.example:81"


# id -> host
HOSTS = {
    "http://a.example/x": "a.example",
    "https://a.example": "a.example",
    "http://a.example?x": "a.example",
    "http://a.example#2": "a.example",
    "HTTPS://WWW.A.Example/X": "www.a.example",
    "http://a.example:80/": "a.example",
    "http://a.example:8080/x": "a.example",  # a site may have several ports
    "http://a.example:/x": "a.example",
    "http://user@a.example/x": "a.example",
    "http://user:pass@b@a.example:81/x": "a.example",
    "http://b\u00fccher.example/": "xn--bcher-kva.example",
    "http://B\u00dcCHER.example": "xn--bcher-kva.example",
    "http://b%C3%BCcher.example/": "xn--bcher-kva.example",
    "http://a\u3002example/": "a.example",
    "http://[2001:DB8::0:1]:8080/x": "[2001:db8::1]",
    "http://127.1/x": "127.0.0.1",
    "http://0x7f.0.0.1": "127.0.0.1",
    "http://1.2.3.4:99": "1.2.3.4",
    "http://a.example./x": "a.example",
    "http://localhost/x": "localhost",
    "http://my_host.a.example/": "my_host.a.example",
    "http:////a.example/x": "a.example",
    "http://\\a.example\\x": "a.example",
    "http://a.example\\@b.example/": "a.example",
    "http://:80/a.example/x": "a.example",
    "  http://a.example/x": "a.example",
    "http://a.exa\tmple/x": "a.example",
    "ftp://a.example/x": "a.example",
    "other://a.example/x": "a.example",
    "file://server/x": "server",
    "file:///x": None,
    "http://": None,
    "mailto:jo@a.example": None,
    "a.example/x": None,
    "a.example:80/x": None,
    "//a.example/x": None,
    "see http://a.example/": None,
    "docs/a.txt#2": None,
    "C:\\x": None,
    "": None,
}


def test_host_of() -> None:
    for type in (pa.string(), pa.large_string()):
        column = pa.array([*HOSTS, None], type)
        assert host_of(column) == pa.array([*HOSTS.values(), None], pa.string())
        # Whatever the neighbours, in a slice too.
        assert host_of(column.slice(5, 9)).to_pylist() == list(HOSTS.values())[5:14]
    for id, host in HOSTS.items():
        assert host_of(pa.array([id])).to_pylist() == [host]
    assert host_of(pa.array([], pa.string())) == pa.array([], pa.string())
    assert host_of(pa.array([None], pa.string())).to_pylist() == [None]


def test_fragment_is_kept_on_demand() -> None:
    assert canonical_url("http://a.example/x#y z", fragment=True) == "http://a.example/x#y%20z"


# Text that is made of what URLs are made of.
PIECES = st.sampled_from(
    [
        *"/?#:@%&=.+[]\\ \tä\ud800\x00",
        *"..|//|http|https:|www.|a|B|%41|%25|%2e|%2F|0x1|1.2|xn--".split("|"),
        *"example.com|:80|jsessionid=0123456789|%5C".split("|"),
    ]
)
ANYTHING = st.lists(PIECES | st.characters(), max_size=12).map("".join)


@given(ANYTHING)
@example(":/0")
@example("www.www.%")
@example("%25a\x80a")
@example("%25aª")
@example("0..0")
def test_what_is_canonical_stays_so(text: str) -> None:
    for form in (canonical_url, loose_url):
        made = form(text)
        assert made.isascii()
        assert form(made) == made
    assert loose_url(canonical_url(text)) == loose_url(text)


@given(st.lists(ANYTHING | ANYTHING.map("http://".__add__), max_size=3))
@example(["http://@/a"])
@example(["http://:1/a:2/b"])
@example(["a.b:80://c"])
@example(["http://a:1:2/"])
@example(["http://%2F/x"])
def test_the_host_is_that_of_the_whole_url(texts: list[str]) -> None:
    texts = [text.encode("utf-8", "replace").decode() for text in texts]
    wanted = [split_url(text).host or None if is_url(text) else None for text in texts]
    assert host_of(pa.array(texts, pa.string())).to_pylist() == wanted


@given(
    st.lists(st.sampled_from([*"/.-_~a1Z@;", "http://", "https://www2.", "h.example"])).map("".join)
)
def test_clean_urls_need_no_work(text: str) -> None:
    if _CLEAN.fullmatch(text):
        assert str(split_url(text)) == text
        assert split_url(text) == split_url(text.encode())  # which takes the long way
        assert loose_url(text) == _loose(split_url(text))


# --- the public tables --------------------------------------------------------------------------


def table(name: str) -> Any:
    path = Path(truth()) / "formats" / "url" / "urlcanon" / "testdata" / name
    if not path.is_file():
        optional("truth", f"{name} is not there")
    return json.loads(path.read_text("utf-8"))


def plain(text: str) -> bytes:
    """The tables write bytes as characters, but for a few lines of text."""
    try:
        return text.encode("latin-1")
    except UnicodeEncodeError:
        return text.encode()


def test_table_of_precise_forms() -> None:
    found = {key: str(split_url(plain(key))) for key in table("semantic_precise.json")}
    assert found == table("semantic_precise.json")


def test_table_of_aggressive_forms() -> None:
    found = {key: loose_url(key) for key in table("aggressive.json")}
    assert found == table("aggressive.json")


def test_table_of_numbers() -> None:
    found = {key: ip4(key) for key in table("funky_ipv4.json")}
    assert found == table("funky_ipv4.json")


def test_table_of_dots() -> None:
    for kind, rows in table("path_dots.json").items():
        special = kind == "special"
        for path, wanted in rows.items():
            if special:
                wanted = wanted.replace("\\", "/")  # we write one sign for both
            assert resolve_dots(path.encode(), special).decode() == wanted, path


def test_table_of_browsers() -> None:
    """What a browser makes of an absolute URL is another spelling of it."""
    differing = []
    for row in table("urltestdata.json"):
        if isinstance(row, str) or row.get("failure") or "://" not in row["input"]:
            continue  # a remark, an error, or relative to another page
        address = row["input"].strip().lower()
        if address.startswith("file:"):
            continue  # drives of Windows, and localhost for nowhere
        if canonical_url(row["input"]) != canonical_url(row["href"]):
            differing.append(row["input"])
    assert differing == []


def test_table_of_browsers_hosts() -> None:
    """A page's site is what a browser says, but for names that it would refuse."""
    rows = [
        row
        for row in table("urltestdata.json")
        if not isinstance(row, str)
        and not row.get("failure")
        and is_url(row["input"])
        and row["protocol"] in ("http:", "https:", "ws:", "wss:", "ftp:")
    ]
    assert len(rows) > 100
    found = host_of(pa.array([row["input"].encode("utf-8", "replace").decode() for row in rows]))
    assert {
        row["input"]: (host, row["hostname"])
        for row, host in zip(rows, found.to_pylist(), strict=True)
        if host != row["hostname"]
    } == {}


def test_table_of_safe_browsing() -> None:
    rows = table("supplemental_whatwg.json") | table("surt.json")["google"]
    for spelling, wanted in rows.items():
        one, other = (split_url(plain(text))._replace(fragment=None) for text in (spelling, wanted))
        assert one == other, spelling


def test_table_of_the_internet_archive() -> None:
    for spelling, wanted in table("surt.json")["Canonicalizer.DefaultIA"].items():
        assert loose_url(spelling) == wanted
