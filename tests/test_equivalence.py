"""Who is equivalent to whom, against looking at every earlier document."""

import random

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from roughly.clustering import equivalence
from roughly.clustering.equivalence import (
    KINDS,
    Pieces,
    equivalents,
    first_of_equal,
    first_of_pieces,
    whole,
)
from roughly.sketch import EQUIVALENT_SAMPLES

# Few values, so that hashes agree in one half, in both, or in neither.
halves = st.sampled_from([0, 1, 2, (1 << 64) - 1])
hashes = st.tuples(halves, halves)


def array(rows: list[tuple[int, int]]) -> npt.NDArray[np.uint64]:
    return np.array(rows, np.uint64).reshape(-1, 2)


@given(st.lists(st.tuples(hashes, st.integers(0, 2))), st.booleans())
def test_the_first_of_equal_rows(rows: list[tuple[tuple[int, int], int]], numbered: bool) -> None:
    numbers = np.array([number for _, number in rows], np.uint32)
    found = first_of_equal(array([both for both, _ in rows]), numbers if numbered else None)
    keys = [row if numbered else row[0] for row in rows]
    assert found.tolist() == [keys.index(key) for key in keys]


@given(
    st.lists(st.tuples(hashes, st.integers(0, 1), st.booleans()), max_size=20),
    st.randoms(use_true_random=False),
    st.integers(1, 5),
    st.sampled_from([1, 200, 1 << 20]),
)
def test_the_first_of_equal_rows_in_pieces(
    rows: list[tuple[tuple[int, int], int, bool]], rng: random.Random, piece: int, room: int
) -> None:
    """Pieces come in any order and of any length, and room for one row means many passes."""
    shuffled = list(range(len(rows)))
    rng.shuffle(shuffled)
    order = np.array(shuffled, np.uint32)
    values = array([row[0] for row in rows])

    def pieces() -> Pieces:
        for begin in range(0, len(order), piece):
            some = order[begin : begin + piece]
            yield some, values[some]

    numbers = np.array([row[1] for row in rows], np.uint32)
    only = np.array([row[2] for row in rows], bool)
    found = first_of_pieces(pieces, len(rows), room, only, numbers)
    assert found.tolist() == [
        next(n for n, other in enumerate(rows) if other == row) if row[2] else number
        for number, row in enumerate(rows)
    ]
    found = first_of_pieces(pieces, len(rows), room)
    assert found.tolist() == [[row[0] for row in rows].index(row[0]) for row in rows]


# A document is its canonical form and how that is written; forms from 10 on have no token.
documents = st.lists(st.tuples(st.integers(0, 12), st.integers(0, 2)), max_size=12)


@given(documents, st.data())
def test_kinds_and_representatives(texts: list[tuple[int, int]], data: st.DataObject) -> None:
    forms = [min(form, 10) for form, _ in texts]
    # Of every form its sketch, the shingles behind that, and the elements it has.
    sketch_of = {
        form: (
            data.draw(hashes, label=f"sketch {form}"),
            0 if form == 10 else data.draw(st.integers(1, 2), label=f"size {form}"),
            0
            if form == 10
            else data.draw(
                st.sampled_from([EQUIVALENT_SAMPLES - 1, EQUIVALENT_SAMPLES]), label=f"kept {form}"
            ),
        )
        for form in sorted(set(forms))
    }
    content = array([(form, written) for form, written in texts])
    canonical = array([(form, 7) for form in forms])
    sketch = array([sketch_of[form][0] for form in forms])
    size = np.array([sketch_of[form][1] for form in forms], np.uint32)
    kept = np.array([sketch_of[form][2] for form in forms], np.uint32)
    groups = equivalents(
        whole(lambda: content), whole(lambda: canonical), whole(lambda: sketch), size, kept
    )

    for number, form in enumerate(forms):
        first = forms.index(form)
        for earlier in range(first):
            both = sketch_of[form], sketch_of[forms[earlier]]
            if both[0] == both[1] and both[0][2] >= EQUIVALENT_SAMPLES:
                first = forms.index(forms[earlier])
                break
        kind = None
        if first != number:
            kind = "shingle"
            if forms[first] == form:
                kind = "identical" if texts[first] == texts[number] else "lexical"
                if kind == "lexical" and form == 10:
                    kind = "empty"
        assert (groups.representative[number], KINDS[groups.kind[number]]) == (first, kind)
    own = [n for n, first in enumerate(groups.representative) if n == first]
    assert groups.representatives.tolist() == own


def test_no_documents() -> None:
    none, hashes_of_none = np.zeros(0, np.uint32), np.zeros((0, 2), np.uint64)
    groups = equivalents(*3 * [whole(lambda: hashes_of_none)], none, none)
    assert len(groups.representative) == len(groups.representatives) == len(groups.kind) == 0


def test_identical_to_another_than_the_representative() -> None:
    """b and c have the same bytes, a only the same form: both are lexical to a."""
    groups = equivalents(
        whole(lambda: array([(1, 0), (2, 0), (2, 0)])),
        whole(lambda: array([(5, 5)] * 3)),
        whole(lambda: array([(9, 9)] * 3)),
        np.full(3, 30, np.uint32),
        np.full(3, 30, np.uint32),
    )
    assert groups.representative.tolist() == [0, 0, 0]
    assert [KINDS[kind] for kind in groups.kind] == [None, "lexical", "lexical"]


def test_no_more_hashes_are_compared_at_once_than_there_is_room_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Halves of hashes have 61 bits: by these as numbers of 64 most passes would have nothing."""
    rng = np.random.default_rng(3)
    values = rng.integers(0, (1 << 61) - 1, (1 << 14, 2), np.uint64)
    at_once = []

    def seen(hashes: npt.NDArray[np.uint64], number: None = None) -> npt.NDArray[np.uint32]:
        at_once.append(len(hashes))
        return first_of_equal(hashes, number)

    monkeypatch.setattr(equivalence, "first_of_equal", seen)

    def pieces() -> Pieces:
        for begin in range(0, len(values), 256):
            yield np.arange(begin, begin + 256, dtype=np.uint32), values[begin : begin + 256]

    found = first_of_pieces(pieces, len(values), 128 * len(values) // 16)
    assert np.array_equal(found, np.arange(len(values)))
    # A sixteenth of them, and by chance some more.
    assert max(at_once) < len(values) // 16 * 5 // 4
