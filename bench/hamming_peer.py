"""faiss beside the index: its flat, hash and multi-hash indexes of binary vectors, in the same run.

All are set so that nothing within 3 bits is missed, as ours; recall is measured. faiss gives
positions too. Memory is what the process grows by while an index is built.
"""

import gc
import importlib.util
import os
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any

import numpy as np

from bench.hamming import check_index, latencies
from bench.hamming_data import Simhashes, moved, random_simhashes
from bench.report import Check, Result, Section, Table
from roughly import HammingIndex

SPEED_WANTED = 10.0  # times faster than the best of faiss
MEMORY_WANTED = 0.25  # of its memory
K = 3


def resident() -> int:
    """Bytes of this process in memory."""
    gc.collect()
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


# Name -> class of faiss, what it is made with, and how many bits of a hash may be flipped.
PEERS: dict[str, tuple[str, tuple[int, ...], int]] = {
    "faiss flat": ("IndexBinaryFlat", (64,), 0),
    # Within 3 of 64 bits is within 3 of the 24 that are hashed.
    "faiss hash 24, 3 flips": ("IndexBinaryHash", (64, 24), 3),
    # Of 4 hashes of 16 bits one is the same; of 2 of 32 bits one differs in one bit.
    "faiss multi-hash 4x16": ("IndexBinaryMultiHash", (64, 4, 16), 0),
    "faiss multi-hash 2x32, 1 flip": ("IndexBinaryMultiHash", (64, 2, 32), 1),
}


def asked_for(stored: Simhashes) -> Simhashes:
    queries = random_simhashes(2000, 2)
    queries[::2] = moved(stored[:1000], 2, 3)
    return queries


def measure_ours(stored_count: int) -> tuple[float, float, list[list[int]], list[Check]]:
    """Median microseconds, bytes, the answers, and whether they are right."""
    stored = random_simhashes(stored_count, 1)
    index = HammingIndex(stored, K)
    queries = asked_for(stored).tolist()
    latencies(index.find, random_simhashes(2000, 5).tolist())
    median = float(np.median(latencies(index.find, queries)))
    checks = check_index("roughly", lambda x: index.find(x).tolist(), stored, K, 200)
    return median, float(index.nbytes), [index.find(x).tolist() for x in queries], checks


def measure_peer(
    name: str, stored_count: int, wanted: list[list[int]]
) -> tuple[float, float, float]:
    """Median microseconds, bytes, and the share of true matches found."""
    faiss: Any = importlib.import_module("faiss")
    faiss.omp_set_num_threads(1)
    kind, arguments, flips = PEERS[name]
    stored = random_simhashes(stored_count, 1)
    vectors = stored.view(np.uint8).reshape(-1, 8)
    before = resident()
    index = getattr(faiss, kind)(*arguments)
    if flips:
        index.nflip = flips
    step = 1 << 20
    for first in range(0, len(vectors), step):
        index.add(vectors[first : first + step])
    grown = resident() - before

    def find(number: int) -> Any:
        # faiss finds what is nearer than a radius.
        return index.range_search(asked[number], K + 1)[2]

    # As with ours, others are asked for first.
    asked = random_simhashes(2000, 5).view(np.uint8).reshape(-1, 1, 8)
    slow = float(np.median(latencies(find, range(10)))) > 2000
    latencies(find, range(10 if slow else 2000))
    asked = asked_for(stored).view(np.uint8).reshape(-1, 1, 8)
    count = 100 if slow else len(asked)
    median = float(np.median(latencies(find, range(count))))
    hits = total = 0
    for number in range(count):
        total += len(wanted[number])
        hits += len(set(find(number).tolist()) & set(wanted[number]))
    return median, float(grown), hits / max(1, total)


def alone(work: Callable[..., Any], *arguments: Any) -> Any:
    """In a process of its own, so that memory is that of the one index."""
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        return pool.submit(work, *arguments).result()


def run_peers(stored_count: int) -> Section:
    section = Section("peers", f"{stored_count:,} random simhashes, k = 3, beside faiss")
    ours, size, wanted, checks = alone(measure_ours, stored_count)
    section.checks += checks
    rows: list[list[str | float | None]] = [["roughly", size / stored_count, ours, 1.0]]
    section.tables.append(Table(["", "bytes each", "median us", "recall"], rows))
    section.notes.append("One query a call from Python, on one thread, half of them with a match.")
    if importlib.util.find_spec("faiss") is None:
        section.notes.append("faiss is not installed here: nothing to compare with.")
        return section
    times: dict[str, float] = {}
    memory: dict[str, float] = {}
    for name in PEERS:
        median, grown, recall = alone(measure_peer, name, stored_count, wanted)
        times[name], memory[name] = median, grown
        rows.append([name, grown / stored_count, median, recall])
        section.checks.append(Check(f"{name}: recall", recall == 1.0, f"{recall:.4f}"))
    best = min(times, key=lambda name: times[name])
    section.results += [
        Result(f"times faster than {best}", times[best] / ours, "x", ">=", SPEED_WANTED),
        Result(f"of the memory of {best}", size / memory[best], "x", "<=", MEMORY_WANTED),
        Result(
            "times faster than faiss multi-hash 4x16", times["faiss multi-hash 4x16"] / ours, "x"
        ),
    ]
    return section
