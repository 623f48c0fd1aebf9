"""The search box and the comparison: what is found and shown, by hand; texts made to do harm."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roughly import Corpus, Sketcher
from roughly.documents.file import Document
from roughly.errors import NotFoundError, ParameterError
from roughly.web.pages.layout import address, document_link, error_page, frame
from roughly.web.pages.side_by_side import MOST_BYTES, SIDE_BYTES, section, side_by_side
from tests.hostile import HOSTILE
from tests.web_page import Markup, data, html

WORDS = [f"w{number}" for number in range(104)]
WHOLE, HALF = " ".join(WORDS), " ".join(WORDS[:54])


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    found = Corpus.create(tmp_path_factory.mktemp("search") / "search.roughly", Sketcher(w=5))
    found.add(
        [
            {"id": "https://a.example/", "date": "2026-01-01", "text": WHOLE},
            {"id": "https://b.example/half", "date": "2026-01-01", "text": HALF},
            {"id": "undated", "text": "a text that is like no other text in here"},
            *({"id": id, "text": content} for id, content in HOSTILE.items()),
        ]
    )
    found.add([{"id": "https://a.example/", "text": f"{WHOLE} more"}], "2026-02-01")
    return found


def test_nothing_is_asked_for(corpus: Corpus) -> None:
    found = data(corpus, "/search")
    assert found["found"] is None
    page = html("/search", found)
    (form,) = page.all("form")
    assert form["method"] == "post" and form["enctype"] == "multipart/form-data"
    labels = {each["for"] for each in page.all("label")}
    assert {"text", "file", "url", "threshold", "containment", "date", "limit"} <= labels


@pytest.mark.parametrize("how", ["text", "file"])
def test_a_text_is_found_best_first(corpus: Corpus, how: str) -> None:
    given = {"form": {"text": HALF}} if how == "text" else {"upload": HALF.encode()}
    found = data(corpus, "/search", **given)
    matches = found["found"]["matches"]
    # 50 shingles: all of the half, and of the whole's 100 and 101; the one half is just near.
    assert [(each["id"], each["date"], each["kind"]) for each in matches] == [
        ("https://b.example/half", "2026-01-01", "identical"),
        ("https://a.example/", "2026-01-01", "near"),
        ("https://a.example/", "2026-02-01", "contained"),
    ]
    assert [each["resemblance"] for each in matches] == pytest.approx([1, 0.5, 50 / 101])
    assert matches[0]["passage"].startswith("w0 w1 w2")
    assert found["asked"]["text"].strip() == HALF
    page = html("/search", found)
    assert "contains the query" in page.words["found"]
    target = "/compare?b=https%3A%2F%2Fa.example%2F&b_date=2026-02-01"
    assert page.all("button", form="query", formaction=target)
    assert page.all("a", href="/page?url=https%3A%2F%2Fb.example%2Fhalf")


def test_a_url_is_found_in_any_spelling(corpus: Corpus) -> None:
    found = data(corpus, "/search", url="HTTP://A.example", limit=50)
    # The latest is looked for, and found are the others.
    dates = [(each["id"], each["date"]) for each in found["found"]["matches"]]
    assert dates == [("https://a.example/", "2026-01-01"), ("https://b.example/half", "2026-01-01")]
    assert found["asked"]["limit"] == 50
    html("/search", found)
    unknown = data(corpus, "/search", url="https://nowhere.example/<script>")
    assert not unknown["known"]
    assert "https://nowhere.example/<script>" in html("/search", unknown).words["found"]


def test_what_cannot_be_asked(corpus: Corpus) -> None:
    for odd in ({"threshold": "high"}, {"containment": "2"}, {"date": "soon"}):
        with pytest.raises(ParameterError):
            data(corpus, "/search", url="https://a.example/", **odd)
    assert data(corpus, "/search", url="undated", limit="-3")["asked"]["limit"] == 10


def test_nothing_is_found(corpus: Corpus) -> None:
    found = data(corpus, "/search", form={"text": "no words that anybody has ever used " * 9})
    assert found["found"]["matches"] == []
    assert "Nothing found" in html("/search", found).words["found"]
    html("/search", data(corpus, "/search", form={"text": "?"}))


def test_without_text(tmp_path: Path) -> None:
    corpus = Corpus.create(tmp_path / "bare.roughly", text=False)
    corpus.add([{"id": "https://a.example/", "text": WHOLE}])
    found = data(corpus, "/search", form={"text": WHOLE})
    (match,) = found["found"]["matches"]
    assert match["passage"] is None
    assert "side by side" not in html("/search", found).words["found"]
    with pytest.raises(ParameterError):
        data(corpus, "/compare", a="https://a.example/", b="https://a.example/")


# --- compare --------------------------------------------------------------------------------------


def test_two_documents(corpus: Corpus) -> None:
    found = data(corpus, "/compare", a="https://a.example/", b="https://b.example/half")
    comparison = found["comparison"]
    assert comparison["a"]["date"] == "2026-02-01"  # the latest
    assert comparison["resemblance"] == pytest.approx(50 / 101)
    assert comparison["containment_ba"] == 1
    assert "".join(piece["text"] for piece in comparison["b"]["pieces"]) == HALF
    shared = [piece for piece in comparison["a"]["pieces"] if piece["kind"] == "passage"]
    assert [piece["text"] for piece in shared] == [HALF]
    page = html("/compare", found)
    assert page.all("a", href="#b1") and page.all("span", id="a1")
    dated = data(corpus, "/compare", a="https://a.example/", a_date="2026-01-01", b="undated")
    assert dated["comparison"]["a"]["date"] == "2026-01-01"
    assert dated["comparison"]["passages"] == 0
    html("/compare", dated)


def test_texts_and_what_a_search_sends(corpus: Corpus) -> None:
    both = data(corpus, "/compare", form={"a_text": WHOLE, "b_text": HALF})
    assert both["comparison"]["containment_ba"] == 1
    assert not html("/compare", both).all("link", rel="alternate")
    sent = data(corpus, "/compare", form={"text": HALF}, b="https://a.example/")
    assert sent["comparison"]["containment_ab"] == 1
    file = data(corpus, "/compare", upload=HALF.encode("utf-16"), b="https://a.example/")
    assert file["comparison"]["containment_ab"] == 1


def test_what_cannot_be_compared(corpus: Corpus) -> None:
    assert data(corpus, "/compare", a="https://a.example/")["comparison"] is None
    with pytest.raises(NotFoundError):
        data(corpus, "/compare", a="https://nowhere.example/", b="undated")
    with pytest.raises(NotFoundError, match="2026-01-01, 2026-02-01"):
        data(corpus, "/compare", a="https://a.example/", a_date="1999-01-01", b="undated")
    with pytest.raises(ParameterError, match="too long"):
        data(corpus, "/compare", form={"a_text": "x" * (MOST_BYTES + 1), "b_text": "y"})


def test_long_texts_are_shown_in_part(corpus: Corpus) -> None:
    common = " ".join(f"word{number}" for number in range(30_000))
    found = side_by_side(
        _document(f"begin {common}"),
        _document(f"{common} end"),
        corpus.manifest.parameters,
        (None, None),
    )
    assert not found["whole"]
    for side in ("a", "b"):
        shown = sum(len(piece.get("text", "").encode()) for piece in found[side]["pieces"])
        cut = sum(piece.get("bytes", 0) for piece in found[side]["pieces"])
        assert shown <= SIDE_BYTES
        assert shown + cut == len(common) + len("begin " if side == "a" else " end")
    Markup(frame("x", section(found)))


def _document(text: str, id: str = "x", html: bool = False) -> Document:
    content = text.encode("utf-8", "surrogatepass")
    return Document(id, content, content, html, "utf-8", "utf-8")


# --- hostile --------------------------------------------------------------------------------------

HARM = st.text(
    st.sampled_from("<>&\"'/ =;:#?%\\`{}()abc\n\r\t\0\x1b\x85\u202e\u2028\ufeffé𝄞")
    | st.characters(exclude_categories=["Cs"]),
    max_size=80,
) | st.sampled_from(list(HOSTILE) + list(HOSTILE.values()))


@given(a=HARM, b=HARM, id=HARM)
def test_texts_stay_text(corpus: Corpus, a: str, b: str, id: str) -> None:
    parameters = corpus.manifest.parameters
    for markup in (False, True):
        found = side_by_side(
            _document(a, id, markup), _document(b, "b", markup), parameters, (id, None)
        )
        Markup(frame(id, section(found), twin=address("/compare.json", {"a": a, "b": b})))


@given(HARM, HARM)
def test_names_messages_and_addresses_stay_text(text: str, other: str) -> None:
    links = f"<p>{document_link(text)}</p>{document_link('https://' + other)}"
    page = Markup(frame(text, f'{links}<a href="{address("/x", {text or "y": other})}">x</a>'))
    assert len(page.all("a", rel="noreferrer noopener nofollow")) >= 1
    Markup(error_page(404, text, other))


@given(text=HARM)
def test_searches_stay_text(corpus: Corpus, text: str) -> None:
    html("/search", data(corpus, "/search", form={"text": text, "date": ""}))
    html("/search", data(corpus, "/search", url=text))
    html("/compare", data(corpus, "/compare", form={"a_text": text, "b_text": WHOLE}))
