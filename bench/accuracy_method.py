"""The methods of `bench.accuracy`: what each says of pairs of documents, at every level.

- exact: resemblance (or the larger containment) of complete sets of shingles, the ceiling of what
  any sketch of them can say.
- estimate: what two sketches say; verified: pairs whose estimates reach the floor of a clustering,
  counted again on complete sets, as `cluster --exact` and `dedup` do.
- simhash: bits that differ; both: near simhashes and resemblance by sketches.
- words: short documents have single words beside their shingles; as they ship unless it is said.
- peers: datasketch's MinHash where it is installed; and MinHash in bands without a second look, as
  text-dedup and others have it, all on the same words and shingles as ours.
"""

import hashlib
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt

from bench.accuracy_score import Floats, Levels
from bench.accuracy_set import Flags, Integers, PairSet
from bench.exact import words
from bench.shingle import shingles
from roughly import Simhasher, Sketcher
from roughly.clustering.sketches import Sketches

W = 5
SELECT = "adaptive:200"
WORDS = Sketcher().words
CLUSTER, DEDUP, NEAR_BITS = 0.5, 0.7, 3  # what ships
# What estimates and verified answers are held against.
CEILING = f"exact shingles, w={W}, and words of short documents"
MARGIN = 0.1  # a verified clustering joins at threshold - MARGIN, at half of it at least
PERMUTATIONS = 128
BAND_PERMUTATIONS = 256  # text-dedup's own number
BAND_LEVELS = tuple(round(0.05 * step, 2) for step in range(1, 20))

# Half a hundredth is where w=5 hardly sees what is left of a paraphrase.
_LEAST = (0.005, *(number / 100 for number in range(1, 101)))
_STEP = 1 << 20  # pairs at a time


class Documents:
    """The documents of a set, and what was computed of them, once."""

    def __init__(self, pairs: PairSet, content_type: str = "text") -> None:
        self.pairs = pairs
        self.content_type = content_type
        self._kept: dict[Any, Any] = {}

    def tokens(self) -> Integers:
        """How many each document has."""
        found: Integers = self._sketches(W, "all", 0).columns.tokens.astype(np.int64)
        return found

    def resemblance(self, w: int = W, select: str = "all", words: int = 0) -> Floats:
        """Of every pair: exact where all is kept."""
        by = "agreement" if select.startswith("perm") else "resemblance"
        return self._measured(w, select, by, swapped=False, words=words)

    def containment(self, w: int = W, select: str = "all") -> Floats:
        """Of every pair the larger one of two."""
        inside, around = (self._measured(w, select, "contained", each) for each in (False, True))
        return np.maximum(inside, around)

    def distance(self, simhasher: Simhasher) -> Integers:
        """Of every pair the bits in which simhashes differ; 65 where one has none."""
        key = "simhash", repr(simhasher.parameters)
        if key not in self._kept:
            self._kept[key] = simhasher.simhash_batch(self.pairs.texts, self.content_type)
        batch = self._kept[key]
        a, b = self.pairs.a, self.pairs.b
        bits = np.bitwise_count(batch.simhashes[a] ^ batch.simhashes[b]).astype(np.int64)
        bits[batch.empty[a] | batch.empty[b]] = 65
        return bits

    def words(self) -> list[list[str]]:
        """Canonical tokens, for the peers."""
        if "words" not in self._kept:
            found = words([text.encode("utf-8", "replace") for text in self.pairs.texts])
            self._kept["words"] = [[word.decode() for word in each] for each in found]
        return self._kept["words"]  # type: ignore[no-any-return]

    def shingles(self, w: int) -> list[list[bytes]]:
        """All words of a shorter document are one shingle, as with us."""
        return [
            [each.encode() for each in shingles(own, min(w, len(own)))] if own else []
            for own in self.words()
        ]

    def _sketches(self, w: int, select: str, words: int) -> Any:
        if (w, select, words) not in self._kept:
            sketcher = Sketcher(w=w, select=select, words=words)
            made = sketcher.sketch_batch(self.pairs.texts, self.content_type)
            self._kept[w, select, words] = made
        return self._kept[w, select, words]

    def _measured(self, w: int, select: str, by: str, swapped: bool, words: int = 0) -> Floats:
        key = w, select, by, swapped, words
        if key not in self._kept:
            batch = self._sketches(w, select, words)
            rows = np.arange(len(batch), dtype=np.uint32)
            some = Sketches.of_batch(batch).taking_part(rows)
            one, two = self.pairs.a, self.pairs.b
            if swapped:
                one, two = two, one
            found = np.zeros(len(one))
            for begin in range(0, len(one), _STEP):
                step = slice(begin, begin + _STEP)
                table = np.zeros((len(one[step]), 4), dtype=np.uint32)
                table[:, 0], table[:, 1] = one[step], two[step]
                counted = some.measure(by, table, 1).astype(np.int64)
                found[step] = counted[:, 2] / np.maximum(counted[:, 3], 1)
            size = batch.columns.size
            found[(size[one] == 0) & (size[two] == 0)] = 1.0
            self._kept[key] = found
        return self._kept[key]  # type: ignore[no-any-return]


def by_share(name: str, share: Floats, default: float | None = None) -> Levels:
    """A level is the least share that a pair must have."""
    at = None if default is None else _LEAST.index(default)
    labels = [f"{least:g}" for least in _LEAST]
    return Levels(name, labels, lambda level: share >= _LEAST[level] - 1e-9, at)


def by_distance(name: str, bits: Integers, default: int | None = None) -> Levels:
    """A level is the most bits that may differ."""
    return Levels(name, [f"k={k}" for k in range(33)], lambda level: bits <= level, default)


def by_both(name: str, share: Floats, bits: Integers) -> Levels:
    """A level is a share and a number of bits, and a pair must reach both."""
    shares = [round(0.05 * step, 2) for step in range(1, 20)]
    levels = [(k, least) for k in (3, 6, 8, 10, 12, 14, 16, 20, 24, 28) for least in shares]

    def said(level: int) -> Flags:
        k, least = levels[level]
        found: Flags = (bits <= k) & (share >= least - 1e-9)
        return found

    default = levels.index((NEAR_BITS, CLUSTER))
    return Levels(name, [f"k={k}, {least:.2f}" for k, least in levels], said, default)


def verified(exact: Floats, estimate: Floats) -> Floats:
    """The largest threshold at which a verified clustering has a pair: its exact share reaches the
    threshold t, its estimate the floor, which is t - 0.1 but at least t / 2."""
    found: Floats = np.minimum(exact, np.minimum(estimate + MARGIN, 2 * estimate))
    return found


# --- peers ----------------------------------------------------------------------------------------


def datasketch_resemblance(documents: Documents, w: int) -> Floats | None:
    """What datasketch's MinHash of 128 permutations estimates; None where it is not installed."""
    try:
        datasketch = import_module("datasketch")
    except ImportError:
        return None
    rows = datasketch.MinHash.bulk(documents.shingles(w), num_perm=PERMUTATIONS)
    signatures = np.array([row.hashvalues for row in rows])
    return _agreement(signatures, documents.pairs)


def minhash_signatures(documents: Documents, w: int) -> npt.NDArray[np.uint64]:
    """Minima of 256 random linear functions of 32 bits of every shingle's SHA-1."""
    prime = np.uint64((1 << 32) + 15)
    chance = np.random.default_rng(42)
    scale = chance.integers(1, 1 << 31, BAND_PERMUTATIONS, dtype=np.uint64)[:, None]
    shift = chance.integers(0, 1 << 31, BAND_PERMUTATIONS, dtype=np.uint64)[:, None]
    found = np.full((len(documents.pairs.texts), BAND_PERMUTATIONS), 1 << 33, dtype=np.uint64)
    for row, own in enumerate(documents.shingles(w)):
        if own:
            hashes = {int.from_bytes(hashlib.sha1(each).digest()[:4], "little") for each in own}
            values = np.fromiter(hashes, np.uint64, len(hashes))
            found[row] = ((scale * values + shift) % prime).min(axis=1)
    return found


def banded(name: str, signatures: npt.NDArray[np.uint64], pairs: PairSet) -> Levels:
    """A pair is said to be copies if all minima of one band agree; a level is the threshold that
    bands and their rows are made for."""

    # Nothing else can agree in a band.
    near = np.flatnonzero(_agreement(signatures, pairs))
    same = signatures[pairs.a[near]] == signatures[pairs.b[near]]

    @cache
    def said(level: int) -> Flags:
        bands, of_band = band_shape(BAND_LEVELS[level], BAND_PERMUTATIONS)
        whole = same[:, : bands * of_band].reshape(len(near), bands, of_band).all(axis=2)
        found = np.zeros(len(pairs), dtype=bool)
        found[near] = whole.any(axis=1)
        return found

    default = BAND_LEVELS.index(DEDUP)
    return Levels(name, [f"{level:.2f}" for level in BAND_LEVELS], said, default)


@cache
def band_shape(threshold: float, permutations: int) -> tuple[int, int]:
    """Bands and rows for which chance errs least: as often a pair below the threshold is found as
    one above it is not, both over all resemblances alike."""
    share = (np.arange(1000) + 0.5) / 1000
    above = share >= threshold
    best = (np.inf, 1, 1)
    for bands in range(1, permutations + 1):
        for of_band in range(1, permutations // bands + 1):
            missed = (1 - share**of_band) ** bands
            error = float(missed[above].sum() + (1 - missed[~above]).sum())
            best = min(best, (error, bands, of_band))
    return best[1:]


def _agreement(signatures: npt.NDArray[np.uint64], pairs: PairSet) -> Floats:
    found = np.zeros(len(pairs))
    step = _STEP // 16
    for begin in range(0, len(pairs), step):
        some = slice(begin, begin + step)
        found[some] = (signatures[pairs.a[some]] == signatures[pairs.b[some]]).mean(axis=1)
    return found


def methods(documents: Documents, widths: Sequence[int]) -> list[Levels]:
    """All of them on one set, ceilings first."""
    exact = documents.resemblance(words=WORDS)
    estimate = documents.resemblance(select=SELECT, words=WORDS)
    bits = documents.distance(Simhasher())
    found = [by_share(f"exact shingles, w={w}", documents.resemblance(w), CLUSTER) for w in widths]
    found.append(by_share(CEILING, exact, CLUSTER))
    found += [
        by_share(f"exact containment, w={w}", documents.containment(w)) for w in widths if w >= 3
    ]
    found += [
        by_share(f"roughly estimate, {SELECT}", estimate, CLUSTER),
        by_share("roughly verified", verified(exact, estimate), CLUSTER),
        by_share(f"roughly containment, {SELECT}", documents.containment(select=SELECT)),
        by_distance("simhash of terms", bits, NEAR_BITS),
        by_distance("simhash of phrases:2", documents.distance(Simhasher("phrases:2"))),
        by_distance("simhash of shingles:3", documents.distance(Simhasher("shingles:3"))),
        by_both("simhash and estimate", estimate, bits),
    ]
    for w in (3, W):
        shares = datasketch_resemblance(documents, w)
        if shares is not None:
            found.append(by_share(f"datasketch MinHash {PERMUTATIONS}, w={w}", shares, CLUSTER))
    for w in (3, W):
        signatures = minhash_signatures(documents, w)
        found.append(
            banded(f"banded MinHash {BAND_PERMUTATIONS}, w={w}", signatures, documents.pairs)
        )
    return found
