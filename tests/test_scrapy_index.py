"""The add-on's own parts: settings, kept pages and the index beside them; also after a crash."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from roughly import Simhasher
from roughly.errors import (
    BusyError,
    DamageError,
    DocumentError,
    MismatchError,
    ParameterError,
)
from tests.optional import FULL, optional

try:
    from scrapy.http import HtmlResponse, Response, TextResponse, XmlResponse
    from scrapy.settings import Settings
except ImportError as error:
    optional("scrapy", str(error))

from roughly.hamming import SeenIndex
from roughly.scrapy.kept import KeptPages
from roughly.scrapy.local_index import LocalIndex
from roughly.scrapy.options import DEFAULTS, read_options
from roughly.scrapy.page import Page, page_of

TEXT = "one two three four five six seven eight nine ten"


def options(**given: Any) -> Any:
    return read_options(
        Settings({f"ROUGHLY_{name.upper()}": value for name, value in given.items()})
    )


# --- settings -------------------------------------------------------------------------------------


def test_settings_without_any() -> None:
    found = options()
    assert (found.k, found.min_words, found.demote, found.directory) == (3, 50, False, None)
    assert found.simhasher == Simhasher("shingles:3")


def test_settings_from_the_command_line_are_strings() -> None:
    found = options(k="5", min_words="7", priority="-3", keep="/a,/b", service_timeout="0.5")
    assert (found.k, found.min_words, found.priority, found.timeout) == (5, 7, -3, 0.5)
    assert found.keep.search("http://x/b/c") and not found.keep.search("http://x/c")


def test_the_index_goes_where_the_job_is() -> None:
    assert read_options(Settings({"JOBDIR": "job"})).directory == Path("job/roughly")
    both = Settings({"JOBDIR": "job", "ROUGHLY_DIRECTORY": "here"})
    assert read_options(both).directory == Path("here")


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("ROUGHLY_K", "many", "ROUGHLY_K: no number: 'many'"),
        ("ROUGHLY_K", 11, "k: out of range: 11"),
        ("ROUGHLY_MIN_WORDS", 0, "ROUGHLY_MIN_WORDS: out of range: 0"),
        ("ROUGHLY_ACTION", "keep", "ROUGHLY_ACTION: unknown: 'keep', wanted 'drop' or 'demote'"),
        ("ROUGHLY_FEATURES", "letters", "features: unknown: 'letters'"),
        ("ROUGHLY_KEEP", ["("], "ROUGHLY_KEEP: no regular expression: '('"),
        ("ROUGHLY_SERVICE_TIMEOUT", "soon", "ROUGHLY_SERVICE_TIMEOUT: out of range: 'soon'"),
        ("ROUGHLY_SERVICE_DOWN", "wait", "ROUGHLY_SERVICE_DOWN: unknown: 'wait'"),
        ("ROUGHLY_DIRECTROY", "x", "ROUGHLY_DIRECTROY: unknown setting"),
    ],
)
def test_wrong_settings(name: str, value: Any, message: str) -> None:
    with pytest.raises(ParameterError) as caught:
        read_options(Settings({name: value}))
    assert caught.value.message.startswith(message)


def test_every_setting_is_documented() -> None:
    page = Path(__file__).parents[1].joinpath("docs", "scrapy.md").read_text("utf-8")
    assert not [name for name in DEFAULTS if f"| `{name}` |" not in page]


# --- what is asked about --------------------------------------------------------------------------


def response(kind: type = HtmlResponse, content: str = TEXT, **given: Any) -> Any:
    headers = {"Content-Type": given.pop("content_type", "text/html")}
    url = given.pop("url", "http://a.example/?b=2&a=1#top")
    return kind(url, headers=headers, body=content.encode(), encoding="utf-8", **given)


def test_what_is_asked_about() -> None:
    ten = options(min_words=10)
    simhash = Simhasher("shingles:3").simhash(TEXT)
    assert simhash is not None
    assert page_of(response(), ten) == Page("http://a.example/?a=1&b=2", simhash)
    markup = f"<h1>One two</h1><script>var x</script><p>{TEXT[8:]}"
    assert page_of(response(content=markup), ten) == page_of(response(), ten)
    text = response(TextResponse, content_type="text/plain; charset=utf-8")
    assert page_of(text, ten) == page_of(response(), ten)
    assert page_of(response(content=TEXT[4:]), ten) == "short"
    assert page_of(response(content=""), ten) == "short"
    assert page_of(response(XmlResponse, content_type="text/xml"), ten) == "other_type"
    assert page_of(response(TextResponse, content_type="text/css"), ten) == "other_type"
    assert page_of(Response("http://a.example/", body=b"\x89PNG"), ten) == "other_type"
    assert page_of(response(status=404), ten) == "other_status"
    assert page_of(response(), options(min_words=10, keep=["[?]b="])) == "keep"


def test_characters_are_those_that_the_spider_sees() -> None:
    words = "größe straße übung"
    latin = HtmlResponse("http://a.example/", body=words.encode("latin-1"), encoding="latin-1")
    assert page_of(latin, options(min_words=1)) == page_of(
        HtmlResponse("http://a.example/", body=words.encode(), encoding="utf-8"),
        options(min_words=1),
    )


# --- kept pages -----------------------------------------------------------------------------------

TOP = (1 << 64) - 1


def test_kept_pages(tmp_path: Path) -> None:
    parameters = Simhasher().parameters
    kept = KeptPages(tmp_path / "kept.sqlite", parameters)
    kept.add("http://a/", TOP)
    kept.add("http://a/", TOP)
    kept.add("http://b/", 0)
    kept.close()
    kept = KeptPages(tmp_path / "kept.sqlite", parameters)
    assert (kept.url_of(TOP), kept.url_of(0), kept.url_of(2)) == ("http://a/", "http://b/", None)
    assert kept.distance("http://a/", TOP ^ 0b111) == 3
    assert kept.distance("http://a/", 0) == 64
    assert kept.distance("http://b/", 1 << 63) == 1
    assert kept.distance("http://c/", 0) is None
    kept.add("http://a/", 1)
    assert kept.distance("http://a/", 0) == 1
    kept.remove("http://b/", 0)
    assert kept.distance("http://b/", 0) is None and kept.url_of(0) is None
    kept.close()
    with pytest.raises(MismatchError, match="features = terms, wanted shingles:3"):
        KeptPages(tmp_path / "kept.sqlite", Simhasher("shingles:3").parameters)


def test_kept_pages_that_cannot_be_used(tmp_path: Path) -> None:
    (tmp_path / "kept.sqlite").write_bytes(b"not a database " * 100)
    with pytest.raises(DamageError, match="damaged: file is not a database"):
        KeptPages(tmp_path / "kept.sqlite", Simhasher().parameters)
    with pytest.raises(DocumentError, match="cannot be used"):
        KeptPages(tmp_path / "missing" / "kept.sqlite", Simhasher().parameters)


# --- the index ------------------------------------------------------------------------------------


def test_one_crawl_at_a_time(tmp_path: Path) -> None:
    index = LocalIndex(tmp_path, options())
    with pytest.raises(BusyError):
        LocalIndex(tmp_path, options())
    index.close()
    with pytest.raises(MismatchError, match="k = 3, wanted 4"):
        LocalIndex(tmp_path, options(k=4))


def test_a_page_is_no_duplicate_of_itself(tmp_path: Path) -> None:
    index = LocalIndex(tmp_path, options())
    assert index.judge(Page("a", 0)).kind == "new"
    assert index.judge(Page("a", 0)).kind == "same"
    assert index.judge(Page("a", 0b111)).kind == "same"  # edited meanwhile
    assert index.judge(Page("b", 0b111)) == ("duplicate", "a", 3)
    assert index.judge(Page("b", 0b111)) == ("duplicate", "a", 3)
    assert index.judge(Page("a", TOP)).kind == "new"  # another text
    assert index.judge(Page("a", 0)).kind == "same"  # and back
    assert index.judge(Page("c", 0b1111)).kind == "new"
    # Nearer to another page, but near itself as well.
    assert index.judge(Page("a", 0b0011)).kind == "same"
    assert index.judge(Page("d", 0b0111)) == ("duplicate", "c", 1)
    index.close()


def test_a_crash_between_both_files(tmp_path: Path) -> None:
    """In kept.sqlite, and not in the index yet."""
    kept = KeptPages(tmp_path / "kept.sqlite", options().simhasher.parameters)
    kept.add("a", 5)
    kept.close()
    index = LocalIndex(tmp_path, options())
    assert index.judge(Page("b", 5)).kind == "new"
    assert index.judge(Page("a", 5)).kind == "same"
    index.close()


def test_a_power_loss_took_the_url(tmp_path: Path) -> None:
    """The first page that comes may be the one whose URL was lost; the next ones are not."""
    with SeenIndex(tmp_path / "index", 3) as seen:
        seen.seen(0)
    index = LocalIndex(tmp_path, options())
    assert index.judge(Page("a", 1)).kind == "same"
    assert index.judge(Page("b", 1)) == ("duplicate", "a", 1)
    index.close()


@settings(max_examples=200 if FULL else 20, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from("abcd"), st.integers(0, 31), st.booleans()), max_size=30),
    st.integers(0, 3),
)
def test_the_index_is_the_rule(
    tmp_path_factory: pytest.TempPathFactory, asked: list[tuple[str, int, bool]], k: int
) -> None:
    """Against the rule in plain words, with the index closed and opened again now and then."""
    folder = tmp_path_factory.mktemp("index")
    index = LocalIndex(folder, options(k=k))
    kept: list[tuple[int, str]] = []
    for url, simhash, reopen in asked:
        near = [(x, of) for x, of in kept if (x ^ simhash).bit_count() <= k]
        found = index.judge(Page(url, simhash))
        if not near:
            assert found.kind == "new"
            kept.append((simhash, url))
        elif url in [of for _, of in near]:
            assert found.kind == "same"
        else:
            nearest = min((x ^ simhash).bit_count() for x, _ in near)
            assert found.kind == "duplicate" and found.distance == nearest
            assert found.of in [of for x, of in near if (x ^ simhash).bit_count() == nearest]
        if reopen:
            index.close()
            index = LocalIndex(folder, options(k=k))
    index.close()
