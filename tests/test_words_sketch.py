"""Words of short documents in sketches: the core makes what the reference makes, measures count
what they should, and what cannot be had is refused. Measures are held against Python sets."""

import random
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import roughly
from roughly import Sketcher, _core
from roughly.errors import ParameterError
from roughly.sketch import Sketch
from tests import core
from tests.reference import sketch as reference
from tests.reference.sketch import Parameters
from tests.reference.token import words
from tests.strategy import documents, seeds, widths

MARK = 1 << 63


@st.composite
def worded(draw: st.DrawFn) -> Parameters:
    """Parameters with words."""
    most = draw(st.one_of(st.integers(1, 16), st.sampled_from((100, 200, 255, 256))))
    adaptive = draw(st.booleans())
    number = most + draw(st.sampled_from((0, 1, 60))) if adaptive else 0
    select: reference.Select = "adaptive" if adaptive else "all"
    return Parameters(draw(widths), 64, select, number, draw(seeds), most)


@st.composite
def of_all_lengths(draw: st.DrawFn) -> bytes:
    """Texts of few or many distinct words, and of any number of tokens up to 600."""
    rng = draw(st.randoms(use_true_random=False))
    length = draw(st.one_of(st.integers(0, 40), st.integers(90, 110), st.integers(180, 600)))
    vocabulary = draw(st.sampled_from((1, 5, 30, 5000)))
    return " ".join(f"w{rng.randrange(vocabulary)}" for _ in range(length)).encode()


def core_rows(data: list[bytes], p: Parameters, simd: str, threads: int = 1) -> list[object]:
    columns = _core.sketch_batch(
        data, p.w, p.bits, p.select, p.parameter, p.seed, "text", threads, simd, words=p.words
    )
    return list(core.rows(columns, p))


@pytest.mark.core
@given(st.lists(st.one_of(of_all_lengths(), documents), max_size=4), worded(), st.integers(1, 2))
def test_core_is_the_reference(data: list[bytes], p: Parameters, threads: int) -> None:
    made = [reference.sketch(each, p) for each in data]
    for simd in core.LEVELS:
        assert core_rows(data, p, simd, threads) == made


@pytest.mark.core
@pytest.mark.parametrize("most", [1, 2, 7, 100, 255, 256])
@pytest.mark.parametrize("repeats", [1, 2, 40])
@pytest.mark.parametrize("apart", [True, False])
def test_every_size_around_the_borders(most: int, repeats: int, apart: bool) -> None:
    """Half of W and W, where the rule changes: with no word twice, with every word again and again
    at its place, and with the whole text again and again."""
    w = 3
    p = Parameters(w, 64, "adaptive", max(most, 2), 5, most)
    lengths = {n for at in (0, most // 2, most) for n in range(max(at - 3, 0), at + 4)}
    for length in sorted(lengths):
        tokens = [f"w{i}" for i in range(length)]
        tokens = tokens * repeats if apart else [each for each in tokens for _ in range(repeats)]
        runs = {tuple(tokens[i : i + w]) for i in range(max(len(tokens) - w + 1, bool(tokens)))}
        size = max(len(runs), length)
        data = " ".join(tokens).encode()
        made = reference.sketch(data, p)
        count = sum(value >= MARK for value in made.values)
        if size >= most:
            assert count == 0
        elif 2 * size <= most:
            assert count == length
        for simd in core.LEVELS:
            assert core_rows([data], p, simd) == [made]


def test_words_are_the_same_for_documents_of_one_size() -> None:
    """Whether a word is kept depends on itself and the number of shingles or words alone."""
    chance = random.Random(1)
    vocabulary = [f"v{i}" for i in range(400)]
    for length in (120, 150, 180):
        kept: dict[str, set[bool]] = {}
        for _ in range(8):
            tokens = chance.sample(vocabulary, length)
            made = set(Sketcher(w=9, words=200).sketch(" ".join(tokens), "text").fingerprints)
            for token in tokens:
                alone = Sketcher(w=9, words=2).sketch(token, "text").fingerprints[-1]
                kept.setdefault(token, set()).add(bool(alone in made))
        assert all(len(seen) == 1 for seen in kept.values())
        share = sum(seen == {True} for seen in kept.values()) / len(kept)
        assert abs(share - (200 - length) / 100) < 0.15  # 400 words: more than six deviations


def test_longer_documents_keep_some_of_what_shorter_ones_keep() -> None:
    """So that documents of different lengths meet in the words that the longer one has."""
    tokens = [f"w{i}" for i in range(199)]
    before: set[int] | None = None
    for length in range(199, 0, -14):
        made = Sketcher(words=200, w=4).sketch(" ".join(tokens[:length]), "text")
        found = {int(f) for f in made.fingerprints if f >= MARK}
        if before is not None:
            alone = Sketcher(words=200, w=1, select="all")
            there = {int(f) | MARK for f in alone.sketch(" ".join(tokens[:length])).fingerprints}
            assert before & there <= found
        before = found


# --- the sketcher --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        ({}, 200),
        ({"words": 0}, 0),
        ({"words": 7}, 7),
        ({"w": 5}, 0),
        ({"w": 5, "words": 200}, 200),
        ({"w": 1, "words": 200}, 200),
        ({"select": "all"}, 200),
        ({"select": "all", "words": 256}, 256),
        ({"select": "adaptive:1000"}, 200),
        ({"select": "adaptive:50"}, 50),
        ({"select": "adaptive:50", "words": 50}, 50),
        ({"select": "adaptive:1", "words": 1}, 1),
        ({"select": "mod:25"}, 0),
        ({"select": "min:25"}, 0),
        ({"select": "perm:84"}, 0),
        ({"bits": 40}, 0),
        ({"select": "mod:25", "words": 0}, 0),
    ],
)
def test_which_words(options: dict[str, object], wanted: int) -> None:
    made = Sketcher(**options)  # type: ignore[arg-type]
    assert made.words == made.parameters.words == wanted
    assert made.without_words().words == 0
    assert made.without_words().w == made.w
    assert Sketcher.of(made.parameters) == made
    assert ("words" in repr(made)) == bool(wanted)
    assert eval(repr(made), {"Sketcher": Sketcher}) == made


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"words": 257}, "words: out of range: 257"),
        ({"words": -1}, "words: out of range: -1"),
        ({"words": 2.5}, "words: "),
        ({"words": "many"}, "words: "),
        ({"words": 201}, "words: not to be had: 201 with 64 bits and adaptive:200, wanted 200"),
        ({"words": 5, "select": "adaptive:4"}, "words: not to be had: 5 .*wanted 4 at most"),
        ({"words": 5, "select": "min:40"}, "words: not to be had: 5 .*wanted 0 at most"),
        ({"words": 5, "select": "mod:4"}, "words: not to be had: 5 .*wanted 0 at most"),
        ({"words": 5, "select": "perm:84"}, "words: not to be had: 5 .*wanted 0 at most"),
        ({"words": 5, "bits": 40}, "words: not to be had: 5 with 40 bits"),
        ({"words": 5, "bits": 40, "select": "all"}, "words: not to be had: 5 with 40 bits"),
    ],
)
def test_bad_words(options: dict[str, object], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        Sketcher(**options)  # type: ignore[arg-type]


@pytest.mark.core
@pytest.mark.parametrize(
    "p",
    [
        Parameters(5, 64, "min", 9, 0, 5),
        Parameters(5, 64, "mod", 2, 0, 5),
        Parameters(5, 64, "perm", 9, 0, 5),
        Parameters(5, 40, "all", 0, 0, 5),
        Parameters(5, 40, "adaptive", 9, 0, 5),
        Parameters(5, 64, "adaptive", 4, 0, 5),
        Parameters(5, 64, "all", 0, 0, 257),
    ],
)
def test_the_core_refuses_them_too(p: Parameters) -> None:
    with pytest.raises(ValueError, match=f"words: out of range: {p.words}"):
        core_rows([b"a b c"], p, "")


def test_features_have_no_words() -> None:
    features = [f"feature{i}" for i in range(20)]
    made = Sketcher(words=200).sketch_features(features, w=2)
    assert made.parameters.words == made.words == 0
    assert (
        made.fingerprints.tolist()
        == Sketcher(w=2).sketch_features(features, w=2).fingerprints.tolist()
    )


# --- measures ------------------------------------------------------------------------------------


texts = st.lists(st.sampled_from("abcdefgh"), max_size=14).map(" ".join)


def sets(text: str, w: int, most: int) -> tuple[set[tuple[str, ...]], set[str]]:
    """Shingles, and all words if there are few tokens."""
    tokens = text.split()
    assert 2 * len(tokens) <= most
    shingles = {tuple(tokens[i : i + w]) for i in range(len(tokens) - w + 1)}
    if tokens and not shingles:
        shingles = {tuple(tokens)}
    return shingles, set(tokens)


@given(texts, texts, st.integers(1, 6), st.sampled_from(("all", "adaptive:28", "adaptive:200")))
def test_measures_count_what_they_should(a: str, b: str, w: int, select: str) -> None:
    """Resemblance shingles and words; containment shingles. Everything that measures agrees."""
    (one, one_words), (two, two_words) = sets(a, w, 28), sets(b, w, 28)
    near = Fraction(1)
    if one or two:
        common = len(one & two) + len(one_words & two_words)
        near = Fraction(common, len(one | two) + len(one_words | two_words))
    inside = Fraction(len(one & two), len(one)) if one else None
    sketcher = Sketcher(w, select, words=28)
    first, second = sketcher.sketch(a, "text"), sketcher.sketch(b, "text")
    assert (first.size, first.words) == (len(one), len(one_words))
    assert len(first) == len(one) + len(one_words)
    measured = first.resemblance(second)
    assert measured.value == measured.low == measured.high == float(near)
    assert second.resemblance(first) == measured
    assert roughly.resemblance(a, b, w, "text", words=28) == float(near)
    compared = roughly.compare(a, b, content_type="text", sketcher=sketcher)
    assert compared.resemblance == compared.estimate.resemblance.value == float(near)
    assert (compared.w, compared.words) == (w, 28)
    assert (compared.a.shingles, compared.b.shingles) == (len(one), len(two))
    assert compared.union == len(one | two) + len(one_words | two_words)
    if inside is not None:
        contained = first.containment(second)
        assert contained.value == contained.low == contained.high == float(inside)
        assert roughly.containment(a, b, w, "text") == float(inside)
        assert compared.containment_ab == float(inside)
        assert compared.estimate.containment_ab is not None
        assert compared.estimate.containment_ab.value == float(inside)
    # Without words nothing is as before but the shingles.
    bare = sketcher.without_words().sketch(a, "text")
    assert bare.fingerprints.tolist() != first.fingerprints.tolist() or not one
    assert sorted(int(f) % MARK for f in bare.fingerprints) == [
        int(f) for f in first.fingerprints if f < MARK
    ]


def at_level(sketch: Sketch, level: int, with_words: bool) -> set[int]:
    return {
        int(f) for f in sketch.fingerprints if f % (1 << level) == 0 and (with_words or f < MARK)
    }


@given(st.randoms(use_true_random=False), st.sampled_from((8, 30)))
def test_measures_of_documents_of_any_length(rng: random.Random, most: int) -> None:
    """From sets of elements, reduced to the coarser level; the reference estimates the same."""
    p = Parameters(2, 64, "adaptive", most, 3, most)
    sketcher = Sketcher(2, f"adaptive:{most}", 3, words=most)
    vocabulary = [f"w{i}" for i in range(rng.choice((12, 60)))]
    base = [rng.choice(vocabulary) for _ in range(rng.choice((5, 20, 70, 300)))]
    other = base[: rng.randrange(len(base) + 1)]
    other += [rng.choice(vocabulary) for _ in range(rng.choice((0, 3, 40)))]
    a, b = " ".join(base), " ".join(other)
    first, second = sketcher.sketch(a, "text"), sketcher.sketch(b, "text")
    level = max(first.level, second.level)
    one, two = (at_level(each, level, True) for each in (first, second))
    if one | two:
        assert first.resemblance(second).value == len(one & two) / len(one | two)
    one, two = (at_level(each, level, False) for each in (first, second))
    if one:
        assert first.containment(second).value == len(one & two) / len(one)
    assert reference.sketch(a.encode(), p).values == first.fingerprints.tolist()
    # Sketches that have left nothing out tell the truth; which words a document of middle length
    # has depends on the seed.
    if level == 0:
        compared = roughly.compare(a, b, content_type="text", sketcher=sketcher)
        assert first.resemblance(second).value == compared.resemblance


def test_sketches_with_and_without_words_do_not_compare() -> None:
    one, two = Sketcher(5, words=200).sketch("a b c d"), Sketcher(5).sketch("a b c d")
    for measure in (one.resemblance, one.containment):
        with pytest.raises(roughly.MismatchError):
            measure(two)
    other = Sketcher(5, words=100).sketch("a b c d")
    with pytest.raises(roughly.MismatchError):
        one.resemblance(other)


def test_by_hand() -> None:
    """Two headlines of five words, one of them changed: their shingles differ, four of six words
    are common."""
    a, b = "rain in the north today", "rain in the south today"
    assert roughly.resemblance(a, b) == 4 / (2 + 6)
    assert roughly.resemblance(a, b, w=5) == 0.0
    assert roughly.containment(a, b) == 0.0
    assert Sketcher().sketch(a).resemblance(Sketcher().sketch(b)).value == 0.5
    # From 200 shingles or words on there are none.
    text = " ".join(f"w{i}" for i in range(200))
    assert Sketcher().sketch(text).words == 0
    assert Sketcher().sketch(text.rsplit(" ", 1)[0]).words <= 199
    assert Sketcher().sketch(" ".join(text.split()[:100])).words == 100


def test_repetition_does_not_make_a_text_long() -> None:
    """It has the same set of shingles and words, or nearly."""
    text = " ".join(f"w{i}" for i in range(80))
    again = " ".join([text] * 30)
    loud = text + " buy" * 500
    assert Sketcher().sketch(text).words == Sketcher().sketch(again).words == 80
    assert Sketcher().sketch(loud).words == 81
    # 76 of the 80 shingles, and those of five that go across from the end to the beginning
    assert roughly.resemblance(text, again) == (76 + 80) / (76 + 80 + 4)
    assert roughly.resemblance(text, loud) == (76 + 80) / (76 + 80 + 5 + 1)


def test_wide_shingles_do_not_make_a_text_short() -> None:
    """Fewer than W shingles, but as many words: the set stays below 2 W, and a byte counts them."""
    tokens = [f"w{i}" for i in range(600)]
    for length, wanted in ((99, 99), (100, 100), (200, 0), (400, 0), (600, 0)):
        made = Sketcher(w=500, words=200).sketch(" ".join(tokens[:length]))
        assert made.words == wanted
        assert made.size == max(length - 499, 1)


def test_tokens_not_bytes_decide_who_is_short() -> None:
    """Ideographs are tokens each."""
    data = "\u706f\u5854\u770b\u5b88\u4eba".encode()
    assert len(words(data, "text")) == 5
    made = Sketcher(words=6).sketch("\u706f\u5854\u770b\u5b88\u4eba")
    assert made.words > 0 and made.tokens == 5
    assert Sketcher(words=5).sketch("\u706f\u5854\u770b\u5b88\u4eba").words == 0
