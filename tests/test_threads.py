"""Batches on several threads, calls from several threads, and how a process ends.

The core cuts a batch into pieces of about 256 kB and starts no thread for a single piece, so the
batches here have several megabytes. Their rows are held to those of documents sketched alone and
some to the reference: results that merely agree with each other could all be out of order.

That these tests can fail was tried on broken cores. All were noticed: a piece taken twice, parts
joined in another order, offsets not moved, one worker for all threads, no threads at all, and an
exception that stays in its thread.
"""

import mmap
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import roughly
from roughly import _core
from tests import core
from tests.optional import FULL
from tests.reference import html, sketch, token
from tests.reference.sketch import Parameters, Select
from tests.reference.token import ContentType

pytestmark = pytest.mark.core

THREADS = (1, 2, 3, 8)
PIECE = 1 << 18
WORDS = [f"{a}{b}" for a in ("ta", "ΡΟ", "mé", "сло", "漢", "B") for b in ("no", "ь", "x", "7q")]
MARKUP = ("<p>", "</p>", "<br>", "<b>", "</b>", "&eacute;", "<!-- no -->", "<script>no</script>")


def words(chance: random.Random, size: int, html: bool) -> bytes:
    """A document of about `size` bytes; half of its words are its own."""
    made = ["<html>"] if html else []
    length = 0
    while length < size:
        word = chance.choice(WORDS) + str(chance.randrange(10 ** chance.randrange(1, 6)))
        if html and chance.random() < 0.2:
            word = chance.choice(MARKUP) + word
        made.append(word)
        length += len(word) + 2
    return " ".join(made).encode()


@cache
def documents() -> tuple[bytes, ...]:
    """Some 6 MB: many small documents, some as large as a piece, a huge one, empty ones alone and
    in a row, at both ends too."""
    chance = random.Random(97)
    sizes = [chance.randrange(1, 3000) for _ in range(700)]
    sizes += [chance.randrange(10_000, 60_000) for _ in range(30)]
    sizes += [PIECE - 100, PIECE, PIECE + 100, 8 * PIECE]
    made = [words(chance, size, i % 3 == 0) for i, size in enumerate(sizes)]
    made += [b""] * 40 + [b"<p></p>", b"\xff\xfe", b"\0" * 5000, b"one"]
    chance.shuffle(made)
    made[400:400] = [b""] * 100
    return (b"", b"", *made, b"")


SOME = (0, 1, 2, 3, 250, 400, 450, 500, len(documents()) - 2, len(documents()) - 1)


def columns_of(columns: Any) -> dict[str, bytes]:
    """Every column as its bytes."""
    names = [name for name in dir(type(columns)) if not name.startswith("_")]
    assert {"values", "offsets", "size", "tokens", "level", "content", "canonical"} <= set(names)
    return {name: getattr(columns, name).tobytes() for name in names}


def sketch_batch(
    source: Any, p: Parameters, threads: int, content_type: ContentType = "auto", simd: str = ""
) -> Any:
    return _core.sketch_batch(
        source, p.w, p.bits, p.select, p.parameter, p.seed, content_type, threads, simd
    )


def one_by_one(p: Parameters) -> dict[str, bytes]:
    """The columns of `documents`, put together from calls for one document each."""
    rows = [sketch_batch([document], p, 1) for document in documents()]
    joined = {name: b"".join(columns_of(row)[name] for row in rows) for name in columns_of(rows[0])}
    ends = np.cumsum([0, *(len(row.values) for row in rows)], dtype=np.int64)
    return joined | {"offsets": ends.tobytes()}


SELECTIONS: list[tuple[int, int, Select, int]] = [
    (5, 64, "adaptive", 200),
    (10, 40, "mod", 25),
    (3, 64, "mod", 8),
    (1, 40, "min", 100),
    (2, 64, "all", 0),
    (4, 64, "perm", 12),
]
every_selection = pytest.mark.parametrize(("w", "bits", "select", "parameter"), SELECTIONS)


def test_batch_has_many_pieces() -> None:
    sizes = [len(document) for document in documents()]
    assert sum(sizes) > 15 * PIECE
    assert max(sizes) > 4 * PIECE
    assert sizes.count(0) > 100
    assert 100 < sum(map(html.sniff, documents())) < len(sizes) - 100


@every_selection
def test_threads_change_nothing(w: int, bits: int, select: Select, parameter: int) -> None:
    p = Parameters(w, bits, select, parameter, 7)
    expected = one_by_one(p)
    source = list(documents())
    for threads in THREADS:
        assert columns_of(sketch_batch(source, p, threads)) == expected, threads
    for simd in core.LEVELS:
        assert columns_of(sketch_batch(source, p, 3, simd=simd)) == expected, simd


@every_selection
def test_some_rows_are_those_of_the_reference(
    w: int, bits: int, select: Select, parameter: int
) -> None:
    p = Parameters(w, bits, select, parameter, 7)
    some = [i for i in SOME if len(documents()[i]) < 20_000]
    assert len(some) > 7
    columns = sketch_batch(list(documents()), p, 3)
    for i in some:
        expected = sketch.sketch(documents()[i], p, "auto")
        begin, end = columns.offsets[i : i + 2]
        assert columns.values[begin:end].tolist() == expected.values, i
        assert tuple(columns.content[i].tolist()) == expected.content, i
        assert tuple(columns.canonical[i].tolist()) == expected.canonical, i
        seen = [int(column[i]) for column in (columns.size, columns.tokens, columns.level)]
        assert seen == [expected.size, expected.tokens, expected.level], i


@pytest.mark.parametrize("arrow_type", [pa.binary(), pa.large_binary(), pa.binary_view()])
def test_arrow_arrays(arrow_type: pa.DataType) -> None:
    """Whole, as a slice, with nulls for empty documents, and in chunks."""
    p = Parameters(5, 64, "adaptive", 200, 0)
    expected = columns_of(sketch_batch(list(documents()), p, 1))
    array = pa.array([document or None for document in documents()], arrow_type)
    around = pa.array([b"before", *documents(), b"after"], arrow_type)
    for threads in THREADS:
        assert columns_of(sketch_batch(array, p, threads)) == expected
        assert columns_of(sketch_batch(around.slice(1, len(array)), p, threads)) == expected


@pytest.mark.parametrize("content_type", ["auto", "html", "text"])
def test_sketcher_on_threads(content_type: str) -> None:
    """The same through the public names: lists, Arrow strings and chunks of them."""
    texts = [document.decode("utf-8", "replace") for document in documents()]
    sketcher = roughly.Sketcher()
    expected = columns_of(sketcher.sketch_batch(texts, content_type, threads=1).columns)
    third = len(texts) // 3
    chunks = pa.chunked_array([texts[:third], [], texts[third:]], pa.string())
    for source in (texts, pa.array(texts, pa.large_string()), chunks):
        for threads in (2, 8, None):
            batch = sketcher.sketch_batch(source, content_type, threads=threads)
            assert columns_of(batch.columns) == expected


def test_batches_of_single_steps() -> None:
    """Texts, canonical forms and fingerprints in batches: one list a document."""
    source = list(documents())
    is_html = [html.sniff(document) for document in source]
    steps: list[tuple[Callable[[int], Any], list[bytes]]] = [
        (lambda n: _core.html_batch(source, n), [_core.html_text(d) for d in source]),
        (
            lambda n: _core.token_batch(source, "auto", n),
            [_core.tokenize(d, h)[0] for d, h in zip(source, is_html, strict=True)],
        ),
        (
            lambda n: _core.shingle_batch(source, 3, 40, 5, "auto", n),
            [
                _core.fingerprints(d, h, 3, 40, 5).tobytes()
                for d, h in zip(source, is_html, strict=True)
            ],
        ),
    ]
    for run, expected in steps:
        for threads in THREADS:
            values, offsets = run(threads)
            assert values.tobytes() == b"".join(expected)
            sizes = [len(each) // values.itemsize for each in expected]
            assert np.diff(offsets).tolist() == sizes
            assert offsets[0] == 0
    for i in (2, 250, 500):
        expected_tokens = token.canonical_form(token.words(source[i], "auto"))
        assert steps[1][1][i] == expected_tokens


# --- several callers ------------------------------------------------------------------------------


def test_one_sketcher_for_many_callers() -> None:
    sketcher = roughly.Sketcher(w=3, select="mod:4")
    slices = [list(documents())[i::5] for i in range(5)] + [list(documents())]
    expected = [columns_of(sketcher.sketch_batch(part, threads=1).columns) for part in slices]
    calls = [(i, threads) for i in range(len(slices)) for threads in (1, 2, 3)] * (8 if FULL else 2)
    random.Random(3).shuffle(calls)
    with ThreadPoolExecutor(6) as pool:
        found = list(pool.map(lambda c: sketcher.sketch_batch(slices[c[0]], threads=c[1]), calls))
    for (i, threads), batch in zip(calls, found, strict=True):
        assert columns_of(batch.columns) == expected[i], (i, threads)


def test_list_may_change_while_it_is_read() -> None:
    """The core holds on to the documents, not to the list they came in."""
    p = Parameters(2, 64, "perm", 2000, 0)
    expected = columns_of(sketch_batch(list(documents()), p, 2))
    # Copies: emptying the list must leave nobody but the core with the documents.
    source = [bytes(bytearray(document)) for document in documents()]
    with ThreadPoolExecutor(1) as pool:
        call = pool.submit(sketch_batch, source, p, 2)
        time.sleep(0.05)
        source.clear()
        # New documents where the old ones would have been.
        source += [bytes(len(document)) for document in documents()]
        assert columns_of(call.result()) == expected


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="needs Linux to count threads")
@pytest.mark.parametrize("threads", [1, 2, 3, 8])
def test_so_many_threads_work(threads: int) -> None:
    """The caller's thread is one of them; all others are gone when the call has returned."""

    def running() -> int:
        # A thread that was joined is listed for a moment yet.
        time.sleep(0.02)
        return len(os.listdir("/proc/self/task"))

    with ThreadPoolExecutor(1) as pool:
        pool.submit(time.sleep, 0.2).result()
        before = running()
        # As many pieces for all, and enough to do that they are at it at the same time.
        source = [words(random.Random(0), PIECE, False)] * 16
        call = pool.submit(sketch_batch, source, Parameters(2, 64, "perm", 4000, 0), threads)
        most = 1
        while not call.done() and most < threads:
            most = max(most, running() - before + 1)
        while not call.done():
            assert running() - before < threads
        assert most == threads
        assert running() == before


def test_few_documents_need_few_threads() -> None:
    """More threads than pieces, than documents, than anything."""
    p = Parameters(2, 64, "all", 0, 0)
    large = [words(random.Random(i), PIECE, False) for i in range(2)]
    for source in ([], [b""], [b"a b c"], large):
        expected = columns_of(sketch_batch(source, p, 1))
        for threads in (2, 3, 1000):
            assert columns_of(sketch_batch(source, p, threads)) == expected


# --- errors ---------------------------------------------------------------------------------------


@pytest.fixture
def gigabytes(tmp_path: Path) -> pa.Buffer:
    """5 GiB of nothing: a hole in a file, of which next to nothing is ever read."""
    path = tmp_path / "hole"
    with path.open("wb") as file:
        file.truncate(5 << 30)
    with path.open("rb") as file:
        return pa.py_buffer(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))


@pytest.mark.skipif(sys.maxsize < 1 << 33, reason="needs an address space of 64 bits")
@pytest.mark.parametrize("threads", THREADS)
def test_error_in_a_thread_reaches_the_caller(gigabytes: pa.Buffer, threads: int) -> None:
    """A document that is too large, behind and before many others; and the next call is right."""
    p = Parameters(5, 64, "adaptive", 200, 0)

    def array(sizes: list[int]) -> pa.Array:
        offsets = pa.py_buffer(np.cumsum([0, *sizes], dtype=np.int64))
        return pa.Array.from_buffers(pa.large_binary(), len(sizes), [None, offsets, gigabytes])

    large, others = 1 << 32, [PIECE] * 8
    for sizes in ([large], [large, *others], [*others, large], [10, *others, large, *[1] * 9000]):
        with pytest.raises(ValueError, match=r"^document: too large: .* 4 GiB"):
            sketch_batch(array(sizes), p, threads, "text")
        with pytest.raises(ValueError, match=r"^document: too large: .* 4 GiB"):
            _core.token_batch(array(sizes), "text", threads)
    with pytest.raises(ValueError, match=r"^features: too large: .* 4 GiB"):
        core.sketch_features(array([large]), p)
    some = list(documents()[:50])
    assert columns_of(sketch_batch(some, p, threads)) == columns_of(sketch_batch(some, p, 1))


# --- the end of a process -------------------------------------------------------------------------

ALIVE = [
    'table = roughly.Sketcher().sketch_batch(["a b c"]).to_arrow()',
    'batch = roughly.Sketcher().sketch_batch(["a b c"])',
    'values = roughly.Sketcher().sketch_batch(["a b c"]).columns.values',
    'sketch = roughly.Sketcher(select="perm:4").sketch("a b c"); supers = sketch.super_shingles(2)',
    'found = roughly.compare("a b c", "a b d", w=2)',
    'roughly.kept = [roughly.Sketcher().sketch_batch(["a"])]; roughly.kept.append(roughly.kept)',
]


@pytest.mark.parametrize("statement", ALIVE)
def test_what_is_alive_at_the_end_is_no_news(statement: str) -> None:
    run = subprocess.run(
        [sys.executable, "-c", f"import roughly\n{statement}"], capture_output=True, timeout=60
    )
    assert (run.returncode, run.stdout, run.stderr) == (0, b"", b"")
