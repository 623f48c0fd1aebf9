"""Resemblance and containment: the paper's estimators by hand, and package = reference.

The reference knows values only; where it has none (0/0), the package must say that nothing was
seen. Intervals are tested with tests of their own.
"""

from fractions import Fraction

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import roughly
from tests.reference import measure, sketch
from tests.reference.shingle import hexadecimal, shingles
from tests.reference.sketch import Parameters, Select, Sketch
from tests.reference.token import words
from tests.strategy import parameters, widths


def made(select: Select, parameter: int, values: list[int], size: int, level: int = 0) -> Sketch:
    p = Parameters(5, 64, select, parameter, 0)
    return Sketch(p, values, size, size + 4, level, (0, 0), (0, 0))


def chosen(select: Select, parameter: int, found: set[int]) -> list[int]:
    return sketch.selected(found, Parameters(5, 64, select, parameter, 0))


def test_first_estimator() -> None:
    """The report's example of MIN_3, with letters as numbers: {m, r, t} and {e, m, r}."""
    a = made("min", 3, [ord("m"), ord("r"), ord("t")], 4)
    b = made("min", 3, [ord("e"), ord("m"), ord("r")], 4)
    assert measure.estimate_resemblance(a, b) == Fraction(2, 3)
    with pytest.raises(ValueError, match="min"):
        measure.estimate_containment(a, b)
    # Sketches that left nothing out give the exact value: 2 of 4, not 2 of the smallest 3.
    a, b = a._replace(size=3), b._replace(size=3)
    assert measure.estimate_resemblance(a, b) == Fraction(2, 4)


def test_second_and_third_estimator() -> None:
    a, b = made("mod", 25, [25, 50, 75], 80), made("mod", 25, [50, 75, 100, 125], 90)
    assert measure.estimate_resemblance(a, b) == Fraction(2, 5)
    assert measure.estimate_containment(a, b) == Fraction(2, 3)
    assert measure.estimate_containment(b, a) == Fraction(2, 4)
    nothing = made("mod", 25, [], 3)
    assert measure.estimate_resemblance(nothing, nothing) is None
    assert measure.estimate_containment(nothing, a) is None


def test_levels_are_reduced_to_the_coarser() -> None:
    """Levels 0 and 2: of {3, 4, 8, 10} only 4 and 8 count."""
    a = made("adaptive", 4, [3, 4, 8, 10], 4, level=0)
    b = made("adaptive", 4, [8, 12], 17, level=2)
    assert measure.estimate_resemblance(a, b) == Fraction(1, 3)
    assert measure.estimate_containment(a, b) == Fraction(1, 2)
    assert measure.estimate_containment(b, a) == Fraction(1, 2)


def test_empty_documents() -> None:
    empty, other = made("all", 0, [], 0), made("all", 0, [1], 1)
    assert measure.estimate_resemblance(empty, empty) == 1
    assert measure.estimate_resemblance(empty, other) == 0
    assert measure.resemblance(set(), set()) == 1
    assert measure.resemblance(set(), {1}) == 0


@given(st.sets(st.integers(0, 99)), st.sets(st.integers(0, 99)), st.integers(1, 9))
def test_theorem_on_sets_kept_whole(a: set[int], b: set[int], t: int) -> None:
    """Sketches that keep everything estimate exactly; reduced levels only what is common."""
    x, y = made("all", 0, sorted(a), len(a)), made("all", 0, sorted(b), len(b))
    assert measure.estimate_resemblance(x, y) == measure.resemblance(a, b)
    assert measure.estimate_containment(x, y) == measure.containment(a, b)
    level_a, level_b = sketch.adaptive_level(len(a), t), sketch.adaptive_level(len(b), t)
    x = made("adaptive", t, chosen("adaptive", t, a), len(a), level_a)
    y = made("adaptive", t, chosen("adaptive", t, b), len(b), level_b)
    modulus = 2 ** max(level_a, level_b)
    assert measure.common_level(x, y) == (
        {f for f in a if f % modulus == 0},
        {f for f in b if f % modulus == 0},
    )


# Few words, so that documents share shingles; runs of them, so that levels differ.
likes = st.lists(st.sampled_from("abcdefgh"), max_size=25).map(" ".join)

# The package bounds M, K and T from above, the algorithm does not.
bounded = parameters().filter(lambda p: p.parameter <= 1000)


def sketched(text: str, p: Parameters) -> roughly.Sketch:
    select = p.select if p.select == "all" else f"{p.select}:{p.parameter}"
    sketcher = roughly.Sketcher(w=p.w, select=select, seed=p.seed, bits=p.bits)
    return sketcher.sketch(text, content_type="text")


@pytest.mark.core
@given(likes, bounded)
def test_sketch_is_reference(text: str, p: Parameters) -> None:
    expected, found = sketch.sketch(text.encode(), p), sketched(text, p)
    assert list(found.fingerprints) == expected.values
    assert (found.size, found.tokens, found.level) == (
        expected.size,
        expected.tokens,
        expected.level,
    )
    assert found.content_hash == hexadecimal(expected.content)
    assert found.canonical_hash == hexadecimal(expected.canonical)
    groups = sketch.super_shingles(expected.values, 3, p.select == "perm", p.seed)
    assert list(found.super_shingles(3)) == groups


@pytest.mark.core
@given(likes, likes, bounded)
def test_estimates_are_reference(a: str, b: str, p: Parameters) -> None:
    x, y = sketch.sketch(a.encode(), p), sketch.sketch(b.encode(), p)
    expected = measure.estimate_resemblance(x, y)
    found = sketched(a, p).resemblance(sketched(b, p))
    assert found.low <= found.value <= found.high
    if expected is None:
        assert (found.low, found.high, found.samples) == (0, 1, 0)
    else:
        assert found.value == float(expected)


@pytest.mark.core
@given(likes, likes, bounded)
def test_containment_is_reference(a: str, b: str, p: Parameters) -> None:
    assume(p.select not in ("min", "perm"))
    x, y = sketch.sketch(a.encode(), p), sketch.sketch(b.encode(), p)
    expected = measure.estimate_containment(x, y)
    found = sketched(a, p).containment(sketched(b, p))
    assert found.low <= found.value <= found.high
    if expected is not None:
        assert found.value == float(expected)
    else:
        assert found.samples == 0


@pytest.mark.core
@given(likes, likes, widths)
def test_exact_measures_are_reference(a: str, b: str, w: int) -> None:
    x, y = (set(shingles(words(text.encode(), "text"), w)) for text in (a, b))
    assert roughly.resemblance(a, b, w=w) == float(measure.resemblance(x, y))
    expected = measure.containment(x, y)
    if expected is not None:
        assert roughly.containment(a, b, w=w) == float(expected)
