"""The kernels over whole batches give what they give for one document, on any number of threads."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from roughly import _core
from tests.strategy import documents
from tests.strategy_html import documents as html_documents

pytestmark = pytest.mark.core


def lists(found: tuple[Any, Any]) -> list[Any]:
    values, offsets = found
    assert offsets[0] == 0 and offsets[-1] == len(values)
    return [values[begin:end].tolist() for begin, end in pairwise(offsets)]


def check(batch: list[bytes], whole: Callable[..., Any], one: Callable[[bytes], Any]) -> None:
    expected = [list(one(document)) for document in batch]
    for source in (batch, pa.array(batch, pa.binary()), [pa.array(batch, pa.large_binary())]):
        for threads in (1, 3):
            assert lists(whole(source, threads)) == expected


@given(st.lists(html_documents, max_size=4))
def test_html(batch: list[bytes]) -> None:
    check(batch, _core.html_batch, _core.html_text)


@given(st.lists(documents, max_size=4), st.sampled_from(["text", "html"]))
def test_token(batch: list[bytes], kind: str) -> None:
    def whole(source: Any, threads: int) -> Any:
        return _core.token_batch(source, kind, threads)

    check(batch, whole, lambda document: _core.tokenize(document, kind == "html")[0])


@given(st.lists(documents, max_size=4), st.sampled_from([40, 64]), st.integers(1, 6))
def test_shingle(batch: list[bytes], bits: int, w: int) -> None:
    def whole(source: Any, threads: int) -> Any:
        return _core.shingle_batch(source, w, bits, 7, "text", threads)

    check(batch, whole, lambda document: _core.fingerprints(document, False, w, bits, 7).tolist())


def test_many_pieces() -> None:
    """More than a thread takes at a time: the order is that of the documents."""
    batch = [(f"document {number} " * (number % 900)).encode() for number in range(1000)]
    one = [list(_core.tokenize(document, False)[0]) for document in batch]
    for threads in (1, 2, 5):
        assert lists(_core.token_batch(batch, "text", threads)) == one


@pytest.mark.parametrize("rows", [[], [3], [2, 0, 2], [0, 1, 2, 3]])
def test_tokens_of_some_documents(rows: list[int]) -> None:
    batch = [b"One", b"two Two", b"", b"four"]
    wanted = [[b"one ", b"two two ", b"", b"four "][row] for row in rows]
    source = pa.array([b"before", *batch], pa.binary())[1:]
    found = _core.token_batch(source, "text", 1, rows=np.array(rows, np.int64))
    assert [bytes(form) for form in lists(found)] == wanted
    for wrong in (-1, 4):
        with pytest.raises(IndexError, match=f"no such document: {wrong}, want less than 4"):
            _core.token_batch(source, "text", 1, rows=np.array([0, wrong], np.int64))


def test_html_of_some_documents() -> None:
    """A flag a document takes the place of the content type."""
    batch = [b"<p>a<b>b", b"<p>a<b>b", b"x"] * 3
    flags = np.array([1, 0, 0] * 3, dtype=np.uint8)
    found = _core.sketch_batch(batch, 1, 64, "all", 0, 0, "auto", 2, html=flags)
    assert found.tokens.tolist() == [1, 4, 1] * 3
    with pytest.raises(ValueError, match="html: 2 flags for 9 documents"):
        _core.sketch_batch(batch, 1, 64, "all", 0, 0, "auto", 1, html=flags[:2])


def test_refusals() -> None:
    with pytest.raises(ValueError, match="content_type: unknown: 'pdf'"):
        _core.token_batch([b""], "pdf", 1)
    with pytest.raises(ValueError, match="w: out of range: 0"):
        _core.shingle_batch([b""], 0, 64, 0, "text", 1)
    with pytest.raises(TypeError, match="want a list or an Arrow array"):
        _core.html_batch("text", 1)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="want bytes or Arrow arrays"):
        _core.html_batch(["text"], 1)
    with pytest.raises(TypeError, match="format 'l', want strings or binary"):
        _core.html_batch(pa.array([1]), 1)


def test_an_array_that_was_handed_on() -> None:
    class Used:
        def __init__(self) -> None:
            self.capsules = pa.array(["a"]).__arrow_c_array__()
            pa.array(self)

        def __arrow_c_array__(self, requested: object = None) -> tuple[object, object]:
            return self.capsules

    with pytest.raises(ValueError, match="already released"):
        _core.html_batch(Used(), 1)
