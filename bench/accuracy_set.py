"""The labelled sets of `bench.accuracy`: pairs of documents that somebody said are copies, or not.

The folder of labelled data is read, never copied: what it holds belongs to others. A set that is
not there is left out, and said to be. `PairSet` is all that a score needs; sets whose labels say
something else (which licence, which body) are read by `bench.accuracy_retrieval`.
"""

import gzip
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


# Of the texts that are no planted copies, one in so many: each pair of them is one more that must
# not be said, and two hundred thousand of those are enough.
_NEWS = 4


@dataclass(frozen=True)
class PairSet:
    """Documents, and pairs of them with their labels."""

    name: str
    texts: Sequence[str]
    a: Integers  # numbers of documents
    b: Integers
    dup: Flags  # the label of each pair
    unit: Integers  # pairs of one unit are not independent: they stay in one half

    def __len__(self) -> int:
        return len(self.dup)

    @property
    def half(self) -> Integers:
        """0 or 1 for each pair, by its unit; the same on every machine."""
        mixed = self.unit.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        return (mixed >> np.uint64(63)).astype(np.int64)


def truth_folder() -> Path:
    """Where labelled data is unless it is said: ROUGHLY_TRUTH, or beside the checkout."""
    named = os.environ.get("ROUGHLY_TRUTH")
    return Path(named) if named else Path(__file__).parents[2] / "shared" / "truth"


def rows(path: Path) -> list[dict[str, Any]]:
    """A file of gzipped JSON Lines."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def sentence_pairs(name: str, pairs: Sequence[tuple[str, str, bool]]) -> PairSet:
    """Pairs that have their two documents to themselves."""
    number = np.arange(len(pairs))
    texts = [text for one, two, _ in pairs for text in (one, two)]
    dup = np.array([label for _, _, label in pairs], dtype=bool)
    return PairSet(name, texts, 2 * number, 2 * number + 1, dup, number)


def named_pairs(
    name: str, texts: Sequence[tuple[str, str]], pairs: Sequence[tuple[str, str, bool]]
) -> PairSet:
    """Pairs of documents by their ids; all pairs of a first document are one unit."""
    number = {id: at for at, (id, _) in enumerate(texts)}
    a = np.array([number[one] for one, _, _ in pairs], dtype=np.int64)
    b = np.array([number[two] for _, two, _ in pairs], dtype=np.int64)
    dup = np.array([label for _, _, label in pairs], dtype=bool)
    return PairSet(name, [text for _, text in texts], a, b, dup, a)


def all_pairs(
    name: str, texts: Sequence[tuple[str, str]], pairs: Sequence[tuple[str, str]]
) -> PairSet:
    """Every two documents, copies only where a pair says so; each pair is a unit."""
    number = {id: at for at, (id, _) in enumerate(texts)}
    a, b = (each.astype(np.int64) for each in np.triu_indices(len(texts), 1))
    dup = np.zeros(len(a), dtype=bool)
    for one, two in pairs:
        first, second = sorted((number[one], number[two]))
        # The pairs of all documents before the first stand before its own.
        before = first * len(texts) - first * (first + 1) // 2
        dup[before + second - first - 1] = True
    return PairSet(name, [text for _, text in texts], a, b, dup, np.arange(len(a)))


def pair_sets(folder: Path) -> Iterator[PairSet | str]:
    """All sets that are there, and a sentence for each that is not."""
    for name, read in (
        ("plagiarism", _plagiarism),
        ("short_text", _short_text),
        ("news_planted", _news),
    ):
        if (folder / name).is_dir():
            yield from read(folder / name)
        else:
            yield f"{name}: not in the folder, left out"


def _plagiarism(folder: Path) -> Iterator[PairSet]:
    texts = [(row["id"], row["text"]) for row in rows(folder / "docs.jsonl.gz")]
    pairs = rows(folder / "pairs.jsonl.gz")
    yield named_pairs("plagiarism", texts, [(row["a"], row["b"], row["dup"]) for row in pairs])


def _short_text(folder: Path) -> Iterator[PairSet]:
    pairs = rows(folder / "pairs.jsonl.gz")
    for name in sorted({row["set"] for row in pairs}, reverse=True):
        some = [(row["a"], row["b"], row["dup"]) for row in pairs if row["set"] == name]
        yield sentence_pairs(name, some)


def _news(folder: Path) -> Iterator[PairSet]:
    pairs = [(row["a"], row["b"]) for row in rows(folder / "pairs.jsonl.gz")]
    planted = {id for pair in pairs for id in pair}
    texts = [
        (row["id"], row["text"])
        for number, row in enumerate(rows(folder / "docs.jsonl.gz"))
        if row["id"] in planted or number % _NEWS == 0
    ]
    yield all_pairs("news_planted", texts, pairs)
