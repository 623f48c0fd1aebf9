"""Pairs that are counted on their texts, and those that come along, against sets made here."""

from collections.abc import Iterator
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from roughly import Sketcher
from roughly.documents.selection import SELECTED
from roughly.verification import window
from roughly.verification.exact import Verifier

WORDS = ["a", "b", "c"]


class Held:
    """Texts in memory; says which were read."""

    def __init__(self, texts: list[str]) -> None:
        self._texts = texts
        self.read_rows: list[list[int]] = []

    def prepare(self, rows: Any) -> None: ...

    def close(self) -> None: ...

    def read(self, rows: Any) -> Iterator[pa.RecordBatch]:
        self.read_rows.append(rows.tolist())
        columns = [[self._texts[row] for row in rows], [False for _ in rows]]
        yield pa.record_batch(columns, schema=SELECTED)


def shingles(text: str) -> set[tuple[str, ...]]:
    words = text.split()
    return {tuple(words[i : i + 2]) for i in range(max(1, len(words) - 1))}


@given(
    st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=6), min_size=2, max_size=7),
    st.data(),
    st.sampled_from([1, 12, 1 << 20]),
    st.sampled_from([1, 2]),
)
def test_pairs_come_along_where_their_texts_are(
    words: list[list[str]], data: st.DataObject, window_bytes: int, threads: int
) -> None:
    texts = [" ".join(some) for some in words]
    numbers = st.integers(0, len(texts) - 1)
    pairs = st.lists(st.tuples(numbers, numbers).filter(lambda p: p[0] < p[1]), max_size=8)
    wanted, along = data.draw(pairs), data.draw(pairs)
    a, b = (np.array([pair[side] for pair in wanted + along], np.int64) for side in (0, 1))
    held = Held(texts)
    sizes = np.array([len(text) for text in texts], np.int64)
    sketcher = Sketcher(w=2, select="all").without_words()
    told: list[int] = []
    with patch.object(window, "WINDOW_BYTES", window_bytes):
        verifier = Verifier(None, held, sketcher, threads, sizes)  # type: ignore[arg-type]
        found = verifier.count(a, b, told.append, shingles_only=True, along=len(along))
    assert sum(told) == len(wanted)
    sets = [shingles(text) for text in texts]
    for number, pair in enumerate(wanted + along):
        counts = tuple(int(column[number]) for column in found)
        one, two = (sets[row] for row in pair)
        together = any(set(pair) <= set(rows) for rows in held.read_rows)
        if number < len(wanted) or counts != (0, 0, 0):
            assert together and counts == (len(one & two), len(one), len(two))
        elif window_bytes == 1 << 20:
            # All is in one window, so whoever is not there hangs together with nobody.
            assert not connected(wanted, *pair)
    asked = {row for pair in wanted for row in pair}
    assert {row for rows in held.read_rows for row in rows} == asked, "nothing is read for others"


def connected(pairs: list[tuple[int, int]], one: int, two: int) -> bool:
    """Whether pairs lead from one to the other."""
    known = {one}
    for _ in pairs:
        known |= {row for pair in pairs if known & set(pair) for row in pair}
    return two in known and len(known) > 1
