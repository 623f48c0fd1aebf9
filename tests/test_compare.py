"""Exact measures and shared passages: the papers' examples as literals, passages by brute force."""

import json
from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import roughly
from roughly import _core
from roughly.comparison import compare, containment, resemblance
from roughly.documents.file import Document, document
from roughly.errors import ParameterError
from roughly.sketcher import Sketcher
from tests.reference.measure import containment as reference_containment
from tests.reference.measure import resemblance as reference_resemblance
from tests.reference.shingle import shingles
from tests.reference.token import words

ROSES = "a rose is a rose is a rose"
FLOWER = "a rose is a flower which is a rose"


@pytest.mark.parametrize(
    ("w", "alike", "a_in_b", "b_in_a"),
    [
        (1, 3 / 5, 1.0, 3 / 5),
        (2, 3 / 6, 1.0, 3 / 6),
        (3, 3 / 7, 1.0, 3 / 7),
        # 4: (a rose is a), (rose is a rose), (is a rose is); and six, the first of them common
        (4, 1 / 8, 1 / 3, 1 / 6),
        (8, 0.0, 0.0, 0.0),
        (9, 0.0, 0.0, 0.0),
    ],
)
def test_roses(w: int, alike: float, a_in_b: float, b_in_a: float) -> None:
    assert resemblance(ROSES, FLOWER, w) == alike
    assert containment(ROSES, FLOWER, w) == a_in_b
    assert containment(FLOWER, ROSES, w) == b_in_a


def test_public_names() -> None:
    assert roughly.resemblance(ROSES, FLOWER, w=2) == 0.5
    assert roughly.containment(FLOWER, ROSES, w=2) == 0.5
    assert roughly.compare(ROSES, FLOWER, w=2).resemblance == 0.5


@pytest.mark.parametrize(
    ("a", "b", "alike", "a_in_b", "b_in_a", "kind"),
    [
        ("", "", 1.0, 1.0, 1.0, "identical"),
        ("...", "...", 1.0, 1.0, 1.0, "identical"),
        ("", " ...!", 1.0, 1.0, 1.0, "empty"),
        ("<p>", "<br>", 1.0, 1.0, 1.0, "empty"),
        ("", "x", 0.0, 0.0, 0.0, None),
        ("x", "", 0.0, 0.0, 0.0, None),
        ("one two", "one two", 1.0, 1.0, 1.0, "identical"),
        ("One, TWO!", "one two", 1.0, 1.0, 1.0, "lexical"),
        ("<p>One<p>twó", "one two", 1.0, 1.0, 1.0, "lexical"),
        ("a a a a a a a A", "a a a a a a a a", 1.0, 1.0, 1.0, "lexical"),
        ("a a a a a a a", "a a a a a a a a", 1.0, 1.0, 1.0, "shingle"),
        # Shorter than w: one shingle of all its tokens, which equals no longer one.
        ("one two", "one two three", 0.0, 0.0, 0.0, None),
        ("a b c d e f", "a b c d e f a b c d e f", 2 / 6, 1.0, 2 / 6, "contained"),
        ("a b c d e f a b c d e f", "a b c d e f", 2 / 6, 2 / 6, 1.0, "contains"),
        ("a b c d e a b c d e a b c d e", "a b c d e a b c d e", 1.0, 1.0, 1.0, "shingle"),
        ("a b c d e f g h", "a b c d e f g x", 3 / 5, 3 / 4, 3 / 4, "near"),
        ("a b c d e f g h", "x b c d e f g x", 2 / 6, 1 / 2, 1 / 2, None),
    ],
)
def test_kinds(
    a: str, b: str, alike: float, a_in_b: float, b_in_a: float, kind: str | None
) -> None:
    found = compare(a, b, w=5)
    assert (found.resemblance, found.containment_ab, found.containment_ba) == (
        alike,
        a_in_b,
        b_in_a,
    )
    assert found.kind == kind


def test_bytes_are_decoded() -> None:
    assert resemblance("Der Fluß fließt", "DER FLUSS FLIESST".encode("utf-16"), w=1) == 1.0
    page = b"<meta charset=koi8-r><p>\xf0\xd2\xc9\xd7\xc5\xd4"
    assert resemblance(page, "привет") == 1.0
    found = compare(page, "привет")
    assert (found.a.encoding, found.a.how, found.a.html) == ("koi8-r", "meta", True)
    # The sketch is of the decoded text, whatever the page still says about its encoding.
    assert found.estimate.resemblance.value == 1.0


def test_content_type_overrules_looks() -> None:
    assert resemblance("<p>one</p>", "one", w=1) == 1.0
    assert resemblance("<p>one</p>", "one", w=1, content_type="text") == 1 / 2
    with pytest.raises(ParameterError, match="content_type: unknown value: 'pdf'"):
        resemblance("x", "y", content_type="pdf")


@pytest.mark.parametrize("wrong", [None, 5, ["x"]])
def test_what_is_no_document(wrong: object) -> None:
    with pytest.raises(ParameterError, match="a: cannot compare"):
        compare(wrong, "x")  # type: ignore[arg-type]


@pytest.mark.parametrize("measure", [resemblance, containment, compare])
@pytest.mark.parametrize("w", [0, -1, 1001, 1 << 64, 2.0, "5", True])
def test_impossible_width(measure: Callable[..., object], w: object) -> None:
    with pytest.raises(ParameterError, match="w: out of range"):
        measure("x", "y", w=w)


def test_widths_of_numpy() -> None:
    assert resemblance(ROSES, FLOWER, w=np.int64(2)) == 0.5
    assert compare(ROSES, FLOWER, w=np.uint8(2)).w == 2  # type: ignore[arg-type]


def test_lone_surrogates_separate() -> None:
    assert resemblance("one\ud800two", "one two", w=1) == 1.0
    assert compare("one\ud800two", "one two").kind == "lexical"


def test_passages_of_roses() -> None:
    found = compare(ROSES, FLOWER, w=3)
    assert [passage[:5] for passage in found.passages] == [
        (0, 11, 0, 11, 4),  # a rose is a
        (7, 16, 25, 34, 3),  # is a rose
        (10, 21, 0, 11, 4),  # a rose is a
        (17, 26, 25, 34, 3),  # is a rose
    ]


def test_offsets_are_bytes_of_the_decoded_source() -> None:
    page = "<p>Vor <b>Türen</b> stehen drei Bäume</p>".encode("cp1252")
    text = "Sie sagt: vor Türen stehen drei Bäume."
    found = compare(document("p", b"<meta charset=latin1>" + page), text)
    (passage,) = found.passages
    decoded = (b"<meta charset=latin1>" + page).decode("cp1252").encode()
    assert decoded[passage.a_start : passage.a_end].decode() == (
        "Vor <b>Türen</b> stehen drei Bäume"
    )
    assert text.encode()[passage.b_start : passage.b_end].decode() == "vor Türen stehen drei Bäume"
    assert passage.tokens == 5


tokens = st.lists(st.sampled_from(["a", "b", "c"]), max_size=30)


@given(tokens, tokens, st.integers(1, 5))
@example(["a"] * 12, ["a"] * 9, 3)
@example(["a", "b"], ["a", "b"], 5)
def test_passages_are_the_maximal_runs_of_common_shingles(
    a: list[str], b: list[str], w: int
) -> None:
    found = compare(" ".join(a), ". ".join(b), w=w)
    of_a, of_b = shingles(a, w), shingles(b, w)
    width = min(w, len(a))
    covered: list[int] = []
    for passage in found.passages:
        i, j, n = passage.a_token, passage.b_token, passage.tokens
        assert n >= width
        assert a[i : i + n] == b[j : j + n]
        mine = range(i, i + n - width + 1)
        # To the right it ends where the tokens differ; to the left it may also end at the passage
        # before, for each shingle of a belongs to one.
        assert a[i + n : i + n + 1] != b[j + n : j + n + 1] or i + n == len(a)
        assert i == 0 or j == 0 or a[i - 1] != b[j - 1] or i - 1 in covered
        covered += mine
        # In these texts a token is one byte and a separator one or two.
        assert (passage.a_start, passage.a_end) == (2 * i, 2 * (i + n) - 1)
        assert (passage.b_start, passage.b_end) == (3 * j, 3 * (j + n) - 2)
    assert covered == [i for i, shingle in enumerate(of_a) if shingle in set(of_b)]


documents = st.lists(st.sampled_from(["one", "Two", "drei", "日", "é", "<p>", "&amp;"])).map(
    " ".join
)


@given(documents, documents, st.integers(1, 6), st.sampled_from(["html", "text"]))
def test_measures_are_the_reference_s(a: str, b: str, w: int, content_type: str) -> None:
    found = compare(a, b, w=w, content_type=content_type)
    kind = "html" if content_type == "html" else "text"
    words_a, words_b = words(a.encode(), kind), words(b.encode(), kind)  # type: ignore[arg-type]
    of_a, of_b = set(shingles(words_a, w)), set(shingles(words_b, w))
    assert (found.a.tokens, found.a.shingles) == (len(words_a), len(of_a))
    assert (found.b.tokens, found.b.shingles) == (len(words_b), len(of_b))
    assert (found.common, found.union) == (len(of_a & of_b), len(of_a | of_b))
    if of_a or of_b:
        assert found.resemblance == float(reference_resemblance(of_a, of_b))
        assert resemblance(a, b, w, content_type) == found.resemblance
    if of_a and of_b:
        assert found.containment_ab == float(reference_containment(of_a, of_b) or 0)
        assert found.containment_ba == containment(b, a, w, content_type)


def test_estimates_of_what_was_kept_whole_are_exact() -> None:
    found = compare(ROSES, FLOWER, w=2)
    estimate = found.estimate
    assert (estimate.resemblance.value, estimate.resemblance.low) == (0.5, 0.5)
    assert estimate.containment_ab is not None
    assert estimate.containment_ab.value == 1.0
    assert (estimate.kept_a, estimate.kept_b) == (3, 6)


@pytest.mark.parametrize("select", ["min:3", "perm:4"])
def test_sketches_that_cannot_tell_containment(select: str) -> None:
    found = compare(ROSES, FLOWER, sketcher=Sketcher(w=2, select=select))
    assert found.containment_ba == 0.5
    assert found.estimate.containment_ab is None
    assert found.estimate.containment_ba is None
    assert found.to_dict()["estimate"]["containment_ab"] is None


def test_dictionary_is_the_contract() -> None:
    found = json.loads(json.dumps(compare("a b c d e f", "x a b c d e f", w=5).to_dict()))
    numbers = {"value": 2 / 3, "low": 2 / 3, "high": 2 / 3, "samples": 3}
    one = {"value": 1.0, "low": 1.0, "high": 1.0, "samples": 2}
    assert found == {
        "resemblance": 2 / 3,
        "containment_ab": 1.0,
        "containment_ba": 2 / 3,
        "kind": "near",
        "common": 2,
        "union": 3,
        "w": 5,
        "words": 0,
        "a": {
            "id": "a",
            "bytes": 11,
            "tokens": 6,
            "shingles": 2,
            "encoding": "utf-8",
            "how": "utf-8",
            "html": False,
        },
        "b": {
            "id": "b",
            "bytes": 13,
            "tokens": 7,
            "shingles": 3,
            "encoding": "utf-8",
            "how": "utf-8",
            "html": False,
        },
        "estimate": {
            "select": "adaptive:200",
            "bits": 64,
            "seed": 0,
            "resemblance": numbers,
            "containment_ab": one,
            "containment_ba": numbers,
        },
        "passages": [{"a_start": 0, "a_end": 11, "b_start": 2, "b_end": 13, "tokens": 6}],
    }


def test_json_of_a_name_that_is_no_text() -> None:
    a = Document("caf\udce9 ü\n", b"x", b"x", False, "utf-8", "utf-8")
    found = compare(a, "y").to_dict()
    assert found["a"]["id"] == "caf\\udce9 ü\n"
    json.dumps(found, ensure_ascii=False).encode()


def test_documents_keep_their_names() -> None:
    a = Document("left", b"x", b"x", False, "utf-8", "utf-8")
    found = compare(a, "y")
    assert (found.a.id, found.b.id) == ("left", "b")


def test_documents_that_are_the_same_bytes() -> None:
    texts = ["one", "", "two", "one", "", "tw", "twö"]
    halves = [pa.array(texts[:3], pa.large_binary()), pa.array([t.encode() for t in texts[3:]])]
    numbers = np.arange(len(texts))
    a, b = (grid.reshape(-1) for grid in np.meshgrid(numbers, numbers))
    for source in (pa.array(texts), halves):
        same = _core.same_documents(source, a, b)
        assert same.tolist() == [texts[i] == texts[j] for i, j in zip(a, b, strict=True)]
    assert len(_core.same_documents(halves, a[:0], b[:0])) == 0
    for wrong in (-1, len(texts)):
        with pytest.raises(IndexError, match="no such document"):
            _core.same_documents(halves, np.array([0]), np.array([wrong]))
    with pytest.raises(ValueError, match="as many"):
        _core.same_documents(halves, a, b[1:])
