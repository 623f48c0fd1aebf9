"""An equal number of pairs at each distance, drawn by chance, for people to label (section 4.1 of
the 2007 paper). The same simhashes and seed give the same pairs, on any machine.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from roughly import _core
from roughly.errors import ParameterError
from roughly.parameters import check_integer, threads_or_all

if TYPE_CHECKING:
    from roughly.simhashing.simhash_file import SimhashTable

# All pairs of so many are compared in about half a minute on one core.
MOST_DOCUMENTS = 200_000


@dataclass(frozen=True, slots=True)
class PairSample:
    """Pairs of rows by distance, and how many there are of each."""

    documents: int  # that were compared with one another
    of: int  # documents with a simhash
    counts: dict[int, int]  # pairs at each distance among those compared
    pairs: list[tuple[int, int, int]]  # distance and two rows, by distance

    def rows(self, table: SimhashTable) -> list[dict[str, Any]]:
        """What is to be labelled, as JSON has it: `label` is for true, false or unknown, `pairs`
        says for how many pairs of this distance the sample speaks."""
        return [
            {
                "distance": distance,
                "a": table.id(a),
                "b": table.id(b),
                "label": None,
                "simhash_a": f"{int(table.simhashes[a]):016x}",
                "simhash_b": f"{int(table.simhashes[b]):016x}",
                "pairs": self.counts[distance],
            }
            for distance, a, b in self.pairs
        ]


def sample_pairs(
    table: SimhashTable,
    least: int = 1,
    most: int = 10,
    each: int = 50,
    seed: int = 0,
    documents: int = MOST_DOCUMENTS,
    threads: int | None = None,
) -> PairSample:
    """`each` pairs at every distance from `least` to `most`, or all where there are fewer. Of a
    larger collection `documents` are taken by chance and compared with one another."""
    least = check_integer("least", least, 0, 64)
    most = check_integer("most", most, 0, 64)
    if least > most:
        raise ParameterError(f"least: out of range: {least}, wanted at most {most}, the largest")
    each = check_integer("each", each, 1, 1 << 20)
    documents = check_integer("documents", documents, 2, 1 << 31)
    rows = np.flatnonzero(~table.empty)
    of = len(rows)
    if of > documents:
        rows = rows[sorted(random.Random(seed).sample(range(of), documents))]
    simhashes = np.ascontiguousarray(table.simhashes[rows])
    counts, drawn = _core.sample_distances(
        simhashes, least, most, each, seed, threads_or_all(threads)
    )
    pairs = [(d, int(rows[a]), int(rows[b])) for a, b, d in drawn.tolist()]
    found = {d: int(counts[d]) for d in range(least, most + 1)}
    return PairSample(len(rows), of, found, pairs)
