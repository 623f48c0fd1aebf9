"""Selection, super shingles and features: literals, and core = reference."""

import random
from fractions import Fraction

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import roughly
from tests import core
from tests.reference import measure, sketch
from tests.reference.key import MASK_64, keys
from tests.reference.sketch import Parameters, Select
from tests.reference.token import ContentType
from tests.strategy import documents, html_like, parameters, seeds, short_words, text_documents


def chosen(select: Select, parameter: int, found: set[int]) -> list[int]:
    return sketch.selected(found, Parameters(5, 64, select, parameter, 0))


def test_selection_by_hand() -> None:
    found = {50, 7, 25, 100, 12, 8}
    assert chosen("all", 0, found) == [7, 8, 12, 25, 50, 100]
    assert chosen("mod", 25, found) == [25, 50, 100]
    assert chosen("mod", 1, found) == sorted(found)
    assert chosen("min", 2, found) == [7, 8]
    assert chosen("min", 99, found) == sorted(found)
    assert chosen("adaptive", 4, found) == sorted(found)  # 6 < 4 * 2
    assert chosen("adaptive", 3, found) == [8, 12, 50, 100]  # 6 >= 3 * 2: level 1
    assert chosen("adaptive", 1, found) == [8, 12, 100]  # 6 < 1 * 2^3: level 2
    assert chosen("adaptive", 1, set()) == []
    assert chosen("perm", 5, set()) == []


@pytest.mark.parametrize(
    ("size", "level"), [(0, 0), (1, 0), (199, 0), (200, 1), (399, 1), (400, 2), (102400, 10)]
)
def test_adaptive_levels(size: int, level: int) -> None:
    """1997 paper, section 3: sizes from 100 * 2^i up to 100 * 2^(i+1) keep MOD 2^i."""
    assert sketch.adaptive_level(size, 100) == level


def test_perm_by_hand() -> None:
    (a0, b0), (a1, b1) = keys(0).permutations(2)
    assert b0 % 2 == b1 % 2 == 1
    assert chosen("perm", 2, {a0, a1}) == [0, 0]
    assert chosen("perm", 2, {a0 ^ 1, a0 ^ 2})[0] == min(b0, 2 * b0 & MASK_64)


def test_super_shingles_by_position() -> None:
    def hashed(*elements: int) -> int:
        return sketch.super_shingle(elements, 0)

    assert sketch.super_shingles([], 3, False, 0) == []
    assert sketch.super_shingles([9], 3, False, 0) == [hashed(9)]
    assert sketch.super_shingles([1, 2, 3, 4], 3, False, 0) == [hashed(1, 2, 3), hashed(2, 3, 4)]
    assert sketch.super_shingles([1, 2, 3, 4], 3, True, 0) == [hashed(1, 2, 3)]
    assert sketch.super_shingles([1, 2], 3, True, 0) == []
    assert sketch.super_shingles([1, 2, 3, 4], 2, True, 0) == [hashed(1, 2), hashed(3, 4)]
    assert len(sketch.super_shingles(list(range(84)), 14, True, 0)) == 6
    assert hashed(1, 2) != hashed(2, 1)
    assert hashed(1) != hashed(1 << 32)


# From here on the core.


@pytest.mark.core
@given(documents, parameters())
def test_core_is_reference(data: bytes, p: Parameters) -> None:
    expected = sketch.sketch(data, p)
    for simd in core.LEVELS:
        assert core.sketch(data, p, simd=simd) == expected, simd


@pytest.mark.core
@given(st.one_of(html_like, documents), parameters(), st.sampled_from(("auto", "html")))
def test_core_is_reference_on_html(data: bytes, p: Parameters, content_type: ContentType) -> None:
    expected = sketch.sketch(data, p, content_type)
    for simd in core.LEVELS:
        assert core.sketch(data, p, content_type, simd=simd) == expected, simd


BINARY = (pa.binary(), pa.large_binary(), pa.binary_view())
TEXT = (pa.utf8(), pa.large_utf8(), pa.string_view())


@pytest.mark.core
@given(
    st.lists(st.one_of(st.none(), documents), max_size=7),
    st.sampled_from(BINARY),
    st.integers(0, 3),
    parameters(),
)
def test_batches_of_bytes(
    rows: list[bytes | None], arrow_type: pa.DataType, skipped: int, p: Parameters
) -> None:
    array = pa.array(rows, arrow_type)[skipped:]
    expected = [sketch.sketch(row or b"", p) for row in rows[skipped:]]
    for threads in (1, 3):
        assert core.sketch_array(array, p, threads=threads) == expected


@pytest.mark.core
@given(
    st.lists(st.one_of(st.none(), text_documents), max_size=7),
    st.sampled_from(TEXT),
    st.integers(0, 3),
    st.integers(0, 2),
    parameters(),
)
def test_batches_of_text(
    rows: list[bytes | None], arrow_type: pa.DataType, skipped: int, dropped: int, p: Parameters
) -> None:
    stop = max(len(rows) - dropped, skipped)
    texts = [None if row is None else row.decode() for row in rows]
    array = pa.array(texts, arrow_type).slice(skipped, max(stop - skipped, 0))
    expected = [sketch.sketch(row or b"", p) for row in rows[skipped:stop]]
    for threads in (1, 3):
        assert core.sketch_array(array, p, threads=threads) == expected


@pytest.mark.core
@given(st.lists(short_words.map(str.encode), min_size=1, max_size=20), parameters())
def test_threads_and_batch_sizes_do_not_matter(rows: list[bytes], p: Parameters) -> None:
    array = pa.array(rows, pa.binary())
    whole = core.sketch_array(array, p, threads=1)
    assert core.sketch_array(array, p, threads=3) == whole
    assert core.sketch_array(array, p, threads=16) == whole
    for size in (1, 2, 7):
        pieces = [core.sketch_array(array.slice(i, size), p) for i in range(0, len(rows), size)]
        assert [row for piece in pieces for row in piece] == whole


@pytest.mark.core
def test_sources() -> None:
    """A list of bytes is a batch; nulls are empty documents, whatever lies beneath them."""
    p = Parameters(2, 64, "all", 0, 0)
    rows = [b"one two three", b"", b"four"]
    expected = [sketch.sketch(row, p) for row in rows]
    assert core.sketch_array(rows, p) == expected
    assert core.sketch_array([], p) == core.sketch_array(pa.array([], pa.utf8()), p) == []
    assert core.sketch_array(pa.nulls(2), p) == [expected[1]] * 2
    validity, offsets, data = pa.array([b"one two three", b"seen not", b"four"]).buffers()
    masked = pa.Array.from_buffers(pa.binary(), 3, [pa.py_buffer(b"\x05"), offsets, data])
    assert validity is None
    assert masked.null_count == 1
    assert core.sketch_array(masked, p) == expected
    features = pa.array(["do", "re", None, "do"])
    assert core.sketch_features(features, p) == core.sketch_features([b"do", b"re", b"", b"do"], p)


REFUSED: list[tuple[dict[str, object], str]] = [
    ({"w": 0}, "w"),
    ({"bits": 32}, "bits"),
    ({"select": "some"}, "select"),
    ({"select": "mod", "parameter": 0}, "select"),
    ({"select": "min", "parameter": 0}, "select"),
    ({"select": "adaptive", "parameter": 0}, "select"),
    ({"select": "perm", "parameter": 0}, "select"),
    ({"select": "perm", "parameter": 3, "bits": 40}, "select"),
]


@pytest.mark.core
@pytest.mark.parametrize(("changes", "subject"), REFUSED)
def test_what_the_page_excludes_is_refused(changes: dict[str, object], subject: str) -> None:
    p = Parameters(5, 64, "all", 0, 0)._replace(**changes)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=f"^{subject}: "):
        core.sketch(b"a", p)
    with pytest.raises(ValueError, match=f"^{subject}: "):
        core.sketch_features([b"a"], p)


@pytest.mark.core
def test_seed_has_64_bits() -> None:
    for seed in (-1, 2**64):
        with pytest.raises(TypeError):
            core.sketch(b"a", Parameters(5, 64, "all", 0, seed))


def long_document(tokens: int, vocabulary: int, seed: int) -> bytes:
    chance = random.Random(seed)
    return b" ".join(b"w%d" % chance.randrange(vocabulary) for _ in range(tokens))


LONG: list[tuple[int, int, Select, int]] = [
    (5, 64, "adaptive", 200),
    (10, 40, "mod", 25),
    (3, 64, "min", 200),
    (3, 40, "min", 1000),
    (1, 64, "all", 0),
    (2, 64, "all", 0),
    (8, 64, "mod", 3),
]


@pytest.mark.core
@pytest.mark.parametrize(("w", "bits", "select", "parameter"), LONG)
def test_long_document(w: int, bits: int, select: Select, parameter: int) -> None:
    """Longer than any buffer of the core, with many repeats and with hardly any."""
    p = Parameters(w, bits, select, parameter, 1)
    for vocabulary in (40, 50_000):
        data = long_document(9_000, vocabulary, w)
        expected = sketch.sketch(data, p)
        for simd in core.LEVELS:
            assert core.sketch(data, p, simd=simd) == expected, (vocabulary, simd)


@pytest.mark.core
def test_long_document_perm() -> None:
    p = Parameters(4, 64, "perm", 84, 7)
    data = long_document(1_500, 50_000, 0)
    expected = sketch.sketch(data, p)
    for simd in core.LEVELS:
        assert core.sketch(data, p, simd=simd) == expected, simd


@pytest.mark.core
@given(st.lists(st.binary(max_size=20), max_size=30), parameters())
def test_features(features: list[bytes], p: Parameters) -> None:
    values, size = sketch.feature_values(features, p)
    for simd in core.LEVELS:
        found = core.sketch_features(features, p, simd)
        assert (found.values, found.size, found.tokens) == (values, size, len(features)), simd
        assert found.content == found.canonical == sketch.feature_hash(features, p.w), simd
        if p.select == "adaptive":
            assert found.level == sketch.adaptive_level(size, p.parameter)


@pytest.mark.core
@given(st.lists(st.integers(0, MASK_64), max_size=40), st.integers(1, 15), st.booleans(), seeds)
def test_super_shingles(values: list[int], length: int, by_group: bool, seed: int) -> None:
    expected = sketch.super_shingles(values, length, by_group, seed)
    assert core.super_shingles(values, length, by_group, seed) == expected


@pytest.mark.core
def test_minima_and_super_shingles_tell_likeness() -> None:
    """Equal documents agree in all minima and groups; a tenth changed leaves most minima equal."""
    p = Parameters(1, 64, "perm", 84, 3)
    words = [b"t%d" % i for i in range(1000)]
    a = core.sketch(b" ".join(words), p)
    shuffled = random.Random(1).sample(words, len(words))
    assert core.sketch(b" ".join(shuffled), p).values == a.values
    b = core.sketch(b" ".join([*words[:900], *(b"u%d" % i for i in range(100))]), p)
    # Resemblance 900/1100 = 0.818; four standard deviations of 84 minima are 0.168.
    equal = measure.estimate_resemblance(a, b)
    assert equal is not None
    assert abs(equal - Fraction(9, 11)) < Fraction(168, 1000)
    groups_a = core.super_shingles(a.values, 14, True, p.seed)
    assert len(set(groups_a)) == 6
    for i, (x, y) in enumerate(
        zip(groups_a, core.super_shingles(b.values, 14, True, 3), strict=True)
    ):
        same = a.values[14 * i : 14 * i + 14] == b.values[14 * i : 14 * i + 14]
        assert (x == y) == same


@pytest.mark.core
@pytest.mark.parametrize(
    ("select", "parameter", "bits"),
    [("mod", 4, 40), ("mod", 25, 64), ("min", 50, 64), ("adaptive", 40, 64), ("perm", 16, 64)],
)
def test_estimates_are_unbiased(select: Select, parameter: int, bits: int) -> None:
    """The theorem of section 3, over 300 seeds: the mean lies within five deviations of r = 1/2."""
    words = [b"t%d" % i for i in range(400)]
    a, b = b" ".join(words[:300]), b" ".join(words[100:])
    estimates = []
    for seed in range(300):
        p = Parameters(1, bits, select, parameter, seed)
        estimate = measure.estimate_resemblance(core.sketch(a, p), core.sketch(b, p))
        if estimate is not None:
            estimates.append(float(estimate))
    assert len(estimates) > 290
    mean = sum(estimates) / len(estimates)
    variance = sum((e - mean) ** 2 for e in estimates) / len(estimates)
    assert abs(mean - 0.5) < 5 * (variance / len(estimates)) ** 0.5


@pytest.mark.core
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("select", ["all", "mod:4", "min:50", "adaptive:40", "perm:16"])
def test_sketches_without_hashes(select: str, threads: int) -> None:
    """The same but for the hashes, of more text than one piece of a batch has."""
    numbers = random.Random(4)
    texts = [" ".join(str(numbers.randrange(9999)) for _ in range(4000)) for _ in range(40)]
    batch = pa.record_batch(
        {"content": pa.array(texts, pa.large_binary()), "html": pa.array([False] * len(texts))}
    )
    sketcher = roughly.Sketcher(select=select)
    hashed = sketcher.sketch_documents(batch, threads).columns
    only = sketcher.sketch_columns(batch, threads)
    for name in ("values", "offsets", "size", "tokens", "level"):
        assert getattr(only, name).tolist() == getattr(hashed, name).tolist()
    for name in ("content", "canonical", "sketch"):
        assert getattr(only, name).shape == (0, 2)
        assert getattr(hashed, name).shape == (len(texts), 2)
