"""Conditions on pairs, against the plain words of docs/methods.md, pair by pair."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from roughly.condition import (
    LARGEST_DISTANCE,
    NO_CONDITION,
    NO_SIMHASH,
    Attributes,
    Condition,
    category_hash,
    make_condition,
)
from roughly.errors import ParameterError
from roughly.simhashing.simhasher import Simhasher

documents = st.lists(
    st.tuples(
        st.integers(0, 40),  # size
        st.sampled_from([None, 0, 1, 3, 7, 15, 31, (1 << 64) - 1]),  # simhash
        st.sampled_from(["", "en", "de"]),
    ),
    min_size=1,
    max_size=8,
)
conditions = st.builds(
    make_condition,
    st.sampled_from(["simhash", "both"]),
    st.integers(0, LARGEST_DISTANCE),
    st.sampled_from([None, "0.5", "1/3", 1]),
    st.sampled_from([None, "language"]),
)


def attributes(rows: list[tuple[int, int | None, str]], condition: Condition) -> Attributes:
    return Attributes(
        condition,
        np.array([size for size, _, _ in rows], np.uint32),
        np.array([simhash or 0 for _, simhash, _ in rows], np.uint64),
        np.array([simhash is not None for _, simhash, _ in rows]),
        np.array([category_hash(name) for _, _, name in rows], np.uint64)
        if condition.within
        else None,
    )


@given(documents, conditions)
def test_a_pair_is_comparable_by_every_condition(
    rows: list[tuple[int, int | None, str]], condition: Condition
) -> None:
    found = attributes(rows, condition)
    a, b = (each.ravel() for each in np.indices((len(rows), len(rows))))
    bits, met = found.distance(a, b), found.comparable(a, b)
    for at, (one, other) in enumerate(zip(a, b, strict=True)):
        (size, simhash, category), (size2, simhash2, category2) = rows[one], rows[other]
        if simhash is None or simhash2 is None:
            expected = NO_SIMHASH
        else:
            expected = (simhash ^ simhash2).bit_count()
        assert bits[at] == expected
        good = True
        if condition.within and category != category2:
            good = False
        ratio = condition.size_ratio
        if ratio is not None and min(size, size2) < ratio * max(size, size2):
            good = False
        if condition.method == "both" and expected > condition.distance:
            good = False
        assert met[at] == good


@given(documents, conditions, st.booleans())
def test_keys_tell_apart_what_cannot_be_equivalent(
    rows: list[tuple[int, int | None, str]], condition: Condition, by_sketch: bool
) -> None:
    found = attributes(rows, condition)
    same = np.full((len(rows), 2), 5, np.uint64)
    keys = found.keyed(same, np.arange(len(rows)), by_sketch).tolist()
    for one, (_, simhash, category) in enumerate(rows):
        for other, (_, simhash2, category2) in enumerate(rows):
            apart = bool(condition.within) and category != category2
            apart |= by_sketch and condition.method == "both" and simhash != simhash2
            assert (keys[one] != keys[other]) == apart
    assert (same == 5).all()


def test_what_is_recorded_comes_back() -> None:
    for condition in (
        NO_CONDITION,
        make_condition("both", 5, 0.25, "host", Simhasher(stop_words="english", stem="english")),
        make_condition("simhash", size_ratio=Fraction(1, 3), within="language"),
    ):
        assert Condition.from_dict(condition.to_dict()) == condition
        simhasher = condition.simhasher
        assert (None if simhasher is None else simhasher.parameters) == condition.simhash


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"method": "minhash"},
            "method: unknown: 'minhash', wanted one of shingles, simhash, both",
        ),
        ({"distance": 3}, "distance: nothing to apply to: simhashes play no part"),
        ({"simhasher": Simhasher()}, "simhasher: nothing to apply to"),
        ({"method": "both", "distance": 11}, "distance: out of range: 11"),
        ({"size_ratio": 0}, "size ratio: out of range: 0"),
        ({"size_ratio": "much"}, "size ratio: out of range: 'much'"),
        ({"size_ratio": 1.5}, "size ratio: out of range: 1.5"),
        (
            {"method": "both", "simhasher": Simhasher(stop_words=["a"])},
            "simhasher: cannot be kept with documents",
        ),
    ],
)
def test_options_that_are_wrong(options: dict[str, object], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        make_condition(**options)  # type: ignore[arg-type]
