"""The exact answer of the deduplication benchmark, against a double loop over Python sets."""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from bench import exact

WORDS = [b"a", b"b", b"c", b"d"]


def naive_set(words: Sequence[bytes], w: int) -> set[tuple[bytes, ...]]:
    if not words:
        return set()
    return {tuple(words[at : at + w]) for at in range(max(1, len(words) - w + 1))}


def naive_near(
    documents: Sequence[Sequence[bytes]], w: int, threshold: Fraction
) -> list[list[int]]:
    sets = [naive_set(document, w) for document in documents]
    return [
        [
            other
            for other in range(row)
            if sets[row]
            and sets[other]
            and Fraction(len(sets[row] & sets[other]), len(sets[row] | sets[other])) >= threshold
        ]
        for row in range(len(sets))
    ]


@given(
    st.lists(st.lists(st.sampled_from(WORDS), max_size=12), max_size=12),
    st.integers(1, 6),
    st.sampled_from([Fraction(7, 10), Fraction(1, 2), Fraction(1), Fraction(1, 100)]),
)
@example([], 5, Fraction(1))
@example([[]], 5, Fraction(1))
@example([[b"a"], [b"a"]], 5, Fraction(1))
def test_near_is_that_of_a_double_loop(
    documents: list[list[bytes]], w: int, threshold: Fraction
) -> None:
    found = exact.near_before(exact.shingle_sets(documents, w), threshold)
    assert [near.tolist() for near in found] == naive_near(documents, w, threshold)


def test_by_hand() -> None:
    """12 words have 8 shingles. One word more at the end makes one more: 8 / 9. Another last word:
    7 / 9, and with the longer one 7 / 10. Three other words for the last two: 6 / 11."""
    words = "one two three four five six seven eight nine ten eleven twelve"
    texts = [
        words,
        f"{words} more",
        words.replace("twelve", "dozen").upper(),
        words.replace("eleven twelve", "and so on"),
        "...",
        "?",
        "...",
        "One, two",
        "one two!",
        words,
    ]
    answer = exact.answer([text.encode() for text in texts])
    assert [near.tolist() for near in answer.near] == [
        [],
        [0],
        [0, 1],
        [],
        [],
        [],
        [4],
        [],
        [7],
        [0, 1, 2],
    ]
    assert answer.stays.tolist() == [1, 0, 0, 1, 1, 1, 0, 1, 0, 0]
    assert answer.removals == 5


def test_nothing_goes_by_a_chain() -> None:
    near = [np.array(rows, dtype=np.int64) for rows in ([], [0], [1], [2])]
    assert exact.greedy(near).tolist() == [True, False, True, False]


def flags(text: str) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    return np.array([letter == "s" for letter in text])


def test_wrong_and_missed() -> None:
    """0 and 1 are near, 2 and 3 are near, 4 is alone."""
    near = [np.array(rows, dtype=np.int64) for rows in ([], [0], [], [2], [])]
    answer = exact.Answer(near, exact.greedy(near))
    right = flags("sgsgs")
    assert (answer.wrong(right), answer.missed(right)) == (0, 0)
    assert (answer.wrong(flags("sgsgg")), answer.missed(flags("sgsgg"))) == (1, 0)
    assert (answer.wrong(flags("sssgs")), answer.missed(flags("sssgs"))) == (0, 1)
    # The later of two stays: its partner went with nothing before it, and it should have gone.
    later = flags("gssgs")
    assert (answer.wrong(later), answer.missed(later)) == (1, 1)
    assert (answer.wrong_in_any_order(later), answer.missed_in_any_order(later)) == (0, 0)
    none = flags("ggsss")
    assert (answer.wrong_in_any_order(none), answer.missed_in_any_order(none)) == (2, 1)
