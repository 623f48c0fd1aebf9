"""The exact answer to a deduplication, by brute force, and how far another answer is from it.

The definition that all are judged by: the words of a text are its canonical tokens (markup left
where it is), S is the set of its shingles of five words, all its words where there are fewer, and
two texts are near if |S1 & S2| / |S1 | S2| >= 0.7. Texts without a word are near if they are equal.
In the order of the file a text goes if one that stays is near, and stays otherwise.

Shingles are numbered one by one, not hashed; every two texts that share one are counted. 20,000
texts of 5 kB take a minute and 2.5 GB.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import count, pairwise

import numpy as np
import numpy.typing as npt

from bench.shingle import W
from roughly import _core

Integers = npt.NDArray[np.int64]

THRESHOLD = Fraction(7, 10)
_BATCH = 1000


def words(texts: Sequence[bytes]) -> list[list[bytes]]:
    """The canonical tokens of texts."""
    found: list[list[bytes]] = []
    for first in range(0, len(texts), _BATCH):
        data, offsets = _core.token_batch(list(texts[first : first + _BATCH]), "text", 1)
        joined, ends = data.tobytes(), offsets.tolist()
        found += [joined[begin:end].split() for begin, end in pairwise(ends)]
    return found


def _paired(a: Integers, b: Integers) -> Integers:
    """A number for every different pair of numbers."""
    inverse: Integers = np.unique(a * (b.max(initial=0) + 1) + b, return_inverse=True)[1]
    return inverse.astype(np.int64)


@dataclass(frozen=True)
class Sets:
    """The sets of shingles of texts: numbers of shingles, ascending, text after text."""

    numbers: Integers
    offsets: Integers  # one more than texts

    def __len__(self) -> int:
        return len(self.offsets) - 1


def shingle_sets(documents: Sequence[Sequence[bytes]], w: int = W) -> Sets:
    """The set of each document, given as words."""
    known: defaultdict[bytes, int] = defaultdict(count().__next__)
    length = np.array([len(document) for document in documents], dtype=np.int64)
    total = int(length.sum())
    token = np.fromiter((known[word] for words in documents for word in words), np.int64, total)
    document = np.repeat(np.arange(len(documents)), length)
    number = token
    for further in range(1, w):
        number = _paired(number[:-1], token[further:])
    # Shingles that begin in one document and end in another are none.
    whole = document[: len(number)] == document[len(token) - len(number) :]
    number, owner = number[whole], document[: len(number)][whole]
    # Below w words: one shingle, of all of them.
    short: defaultdict[tuple[bytes, ...], int] = defaultdict(
        count(int(number.max(initial=-1)) + 1).__next__
    )
    rows = np.flatnonzero((length > 0) & (length < w)).tolist()
    number = np.append(number, [short[tuple(documents[row])] for row in rows]).astype(np.int64)
    owner = np.append(owner, rows).astype(np.int64)
    most = int(number.max(initial=0)) + 1
    unique = np.unique(owner * most + number)
    offsets = np.searchsorted(unique, np.arange(len(documents) + 1) * most)
    return Sets(unique % most, offsets)


def near_before(sets: Sets, threshold: Fraction = THRESHOLD) -> list[Integers]:
    """For each text those before it that are near."""
    size = np.diff(sets.offsets)
    # In how many texts a shingle is, and in which.
    shared = np.bincount(sets.numbers)
    order = np.argsort(sets.numbers, kind="stable")
    texts = np.repeat(np.arange(len(sets)), size)[order]
    begin = np.cumsum(shared) - shared
    found: list[Integers] = []
    for text in range(len(sets)):
        numbers = sets.numbers[sets.offsets[text] : sets.offsets[text + 1]]
        numbers = numbers[shared[numbers] > 1]
        counts = shared[numbers]
        places = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
        others = texts[np.repeat(begin[numbers], counts) + places]
        common = np.bincount(others[others < text], minlength=1)
        candidates = np.flatnonzero(common)
        union = size[text] + size[candidates] - common[candidates]
        enough = common[candidates] * threshold.denominator >= threshold.numerator * union
        found.append(candidates[enough])
    return found


def wordless_near(texts: Sequence[bytes], sets: Sets, near: list[Integers]) -> None:
    """Adds to `near` what holds for texts without a word."""
    seen: dict[bytes, list[int]] = defaultdict(list)
    for row in np.flatnonzero(np.diff(sets.offsets) == 0).tolist():
        near[row] = np.array(seen[texts[row]], dtype=np.int64)
        seen[texts[row]].append(row)


def greedy(near: Sequence[Integers]) -> npt.NDArray[np.bool_]:
    """Which stay, in the order of the file."""
    stays = np.ones(len(near), dtype=bool)
    for row, before in enumerate(near):
        stays[row] = not stays[before].any()
    return stays


@dataclass(frozen=True)
class Answer:
    """The exact answer."""

    near: list[Integers]
    stays: npt.NDArray[np.bool_]

    @property
    def removals(self) -> int:
        return int((~self.stays).sum())

    def wrong(self, stays: npt.NDArray[np.bool_]) -> int:
        """Texts that went although none near them that stayed stands before them."""
        return sum(not stays[self.near[row]].any() for row in np.flatnonzero(~stays).tolist())

    def missed(self, stays: npt.NDArray[np.bool_]) -> int:
        """Texts that should have gone and stayed."""
        return int((stays & ~self.stays).sum())

    def wrong_in_any_order(self, stays: npt.NDArray[np.bool_]) -> int:
        """Texts that went although none near them stayed, wherever it stands."""
        has_near = np.zeros(len(stays), dtype=bool)
        for row, before in enumerate(self.near):
            has_near[row] |= stays[before].any()
            has_near[before] |= stays[row]
        return int((~stays & ~has_near).sum())

    def missed_in_any_order(self, stays: npt.NDArray[np.bool_]) -> int:
        """Texts that stayed although one near them that stayed stands before them."""
        return sum(bool(stays[self.near[row]].any()) for row in np.flatnonzero(stays).tolist())


def answer(texts: Sequence[bytes]) -> Answer:
    """The exact answer for texts in UTF-8."""
    sets = shingle_sets(words(texts))
    near = near_before(sets)
    wordless_near(texts, sets, near)
    return Answer(near, greedy(near))
