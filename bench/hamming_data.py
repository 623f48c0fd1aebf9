"""Simhashes for the benchmarks of Hamming distances: random ones, with matches planted among them.

Everything follows from a seed. Planted are queries near known stored simhashes, and as many one bit
too far: an index that is exact finds the first and not the second. What is near by chance has a
binomial count; at these sizes that is Poisson's.
"""

import os
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Simhashes = npt.NDArray[np.uint64]
ONES = np.array([bin(byte).count("1") for byte in range(256)], np.uint8)


def random_simhashes(count: int, seed: int) -> Simhashes:
    return np.random.default_rng(seed).integers(0, 2**64, count, np.uint64)


def moved(values: Simhashes, bits: int, seed: int) -> Simhashes:
    """Each with exactly so many bits changed."""
    random = np.random.default_rng(seed)
    made = values.copy()
    places = np.argsort(random.random((len(values), 64)), axis=1)[:, :bits]
    for column in range(bits):
        made ^= np.uint64(1) << places[:, column].astype(np.uint64)
    return made


def near(values: Simhashes, x: int, k: int) -> list[int]:
    """By looking at each."""
    found: list[int] = []
    step = 1 << 22
    for first in range(0, len(values), step):
        bits = (values[first : first + step] ^ np.uint64(x)).view(np.uint8).reshape(-1, 8)
        far = ONES[bits].sum(axis=1)
        found += (np.flatnonzero(far <= k) + first).tolist()
    return found


def expected(stored: int, queries: int, k: int) -> float:
    """Pairs within k bits by chance."""
    return stored * queries * sum(comb(64, ones) for ones in range(k + 1)) / 2.0**64


def by_chance(found: int, wanted: float) -> bool:
    """Whether so many pairs are what chance gives, at six standard deviations and a few more."""
    return abs(found - wanted) <= 6 * wanted**0.5 + 6


def write_stored(path: Path, count: int, queries: Simhashes, k: int, seed: int) -> list[Any]:
    """Writes a file of random simhashes, with a thousand near known queries and a thousand too far.
    Returns (stored, query) of those near."""
    random = np.random.default_rng(seed)
    places = np.sort(random.choice(count, 2000, replace=False))
    chosen = random.choice(len(queries), 2000, replace=False)
    planted = np.where(
        np.arange(2000) % 2 == 0,
        moved(queries[chosen], k, seed + 1),
        moved(queries[chosen], k + 1, seed + 2),
    )
    step = 1 << 23
    with path.open("wb") as file:
        for first in range(0, count, step):
            values = random_simhashes(min(step, count - first), seed + 3 + first // step)
            here = (places >= first) & (places < first + step)
            values[places[here] - first] = planted[here]
            file.write(values.data)
        file.flush()
        os.fsync(file.fileno())
    forget_cached(path)
    return list(zip(places[::2].tolist(), chosen[::2].tolist(), strict=True))


def forget_cached(path: Path) -> None:
    """Lets the system forget what it has of a file in memory: it is then read from the disk."""
    if hasattr(os, "posix_fadvise"):
        descriptor = os.open(path, os.O_RDONLY)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(descriptor)
