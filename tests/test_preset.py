"""The published systems: how they sketch, when they take two documents for near duplicates; and how
sketches tell that documents are equivalent."""

from math import sqrt

import pytest

import roughly
from roughly import Sketch, Sketcher
from roughly.sketcher import PRESETS


def test_broder97_is_the_paper_s() -> None:
    """Section 3: 10 words, 40 bits, m = 25; section 7: clusters at 50%."""
    assert roughly.preset("broder97") == Sketcher(w=10, select="mod:25", bits=40)
    assert PRESETS["broder97"].threshold == 0.5
    with pytest.raises(roughly.ParameterError, match="preset: unknown: 'manku97'"):
        roughly.preset("manku97")


def resembling(common: int, union: int, seed: int, name: str) -> tuple[Sketch, Sketch]:
    """Two objects of `union` features together, `common` of them in both."""
    sketcher = roughly.preset(name, seed)
    own = (union - common) // 2
    features = [str(number) for number in range(union)]
    return (
        sketcher.sketch_features(features[: common + own]),
        sketcher.sketch_features(features[own:]),
    )


@pytest.mark.parametrize(("common", "low", "high"), [(80, 1.0, 1.0), (20, 0.0, 0.0)])
def test_broder97_judges_by_resemblance(common: int, low: float, high: float) -> None:
    """Far from one half every seed judges alike: a sketch of 4,000 features keeps some 160."""
    together = PRESETS["broder97"].together
    judged = [together(*resembling(40 * common, 4000, seed, "broder97")) for seed in range(30)]
    assert low <= sum(judged) / len(judged) <= high


def test_two_of_six_super_shingles() -> None:
    """A super shingle of 14 minima agrees with probability r^14. At r = 0.9 that is 0.2288, and two
    or more of six agree with 1 - 0.7712^6 - 6 * 0.2288 * 0.7712^5 = 0.415."""
    together = PRESETS["broder97-super"].together
    seeds = 400
    judged = sum(together(*resembling(900, 1000, seed, "broder97-super")) for seed in range(seeds))
    assert abs(judged / seeds - 0.415) < 4 * sqrt(0.415 * 0.585 / seeds)


def test_two_of_six_at_the_ends() -> None:
    """The same document always; at r = 0.5 two of six agree once in 18 million times."""
    preset = PRESETS["broder97-super"]
    for seed in range(20):
        a, b = resembling(500, 1000, seed, "broder97-super")
        assert len(a.super_shingles(preset.super_length)) == 6
        assert preset.together(a, a)
        assert not preset.together(a, b)


RING = [f"r{number}" for number in range(30)]


@pytest.mark.parametrize(
    ("a", "b", "kind"),
    [
        ("Same Text.", "Same Text.", "identical"),
        ("Same Text.", "same, text!", "lexical"),
        ("!!!", "???", "empty"),
        ("", "", "identical"),
        (" ".join([*RING, RING[0]]), " ".join([*RING[9:], *RING[:10]]), "shingle"),
        ("a b c a", "b c a b", None),  # the same three shingles: too few to tell
        ("one two", "two one", None),
    ],
)
def test_equivalence(a: str, b: str, kind: str | None) -> None:
    sketcher = Sketcher(w=2, select="all")
    assert sketcher.sketch(a).equivalence(sketcher.sketch(b)) == kind
    assert sketcher.sketch(b).equivalence(sketcher.sketch(a)) == kind


def test_the_same_page_as_html_and_as_text_is_not_identical() -> None:
    sketcher = Sketcher(w=2)
    page = "<p>one <b>two</b>"
    html, text = sketcher.sketch(page, "html"), sketcher.sketch(page, "text")
    assert html.equivalence(text) is None


def test_features_are_told_apart_by_their_lengths() -> None:
    sketcher = Sketcher(select="all")
    one, two = sketcher.sketch_features([b"a\x01 b"]), sketcher.sketch_features([b"a", b"b"])
    assert one.equivalence(two) is None
    # As a set, order and repeats do not count; as a sequence they do.
    assert sketcher.sketch_features(["b", "a", "b"]).equivalence(two) == "identical"
    ab, ba = sketcher.sketch_features(["a", "b"], w=2), sketcher.sketch_features(["b", "a"], w=2)
    assert ab.equivalence(ba) is None
