"""faiss beside the index: its flat, hash and multi-hash indexes of binary vectors, in the same run.

All are set so that nothing within 3 bits is missed, as ours; recall is measured. faiss gives
positions too. Memory is what the process grows by while an index is built.
"""

import gc
import importlib.util
import os
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
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


@dataclass
class Measured:
    """Microseconds of a query at the median of one a call, and in a batch by the clock and by CPU
    time; bytes of the index."""

    single: float
    batch: float
    batch_cpu: float
    size: float


QUERIES = 20_000
SINGLE = 2000  # of them one a call


def asked_for(stored: Simhashes) -> Simhashes:
    queries = random_simhashes(QUERIES, 2)
    queries[::2] = moved(stored[: QUERIES // 2], 2, 3)
    return queries


def batched(find: Callable[[Simhashes], Any], queries: Simhashes, rounds: int) -> Any:
    """The shortest times of a batch, by the clock and by CPU time, and its answer. Between rounds
    others are asked for, so that the answers are not in the caches."""
    others = random_simhashes(len(queries), 5)
    best = best_cpu = float("inf")
    for _ in range(rounds):
        find(others)
        begin, begin_cpu = time.perf_counter(), time.thread_time()
        answer = find(queries)
        best_cpu = min(best_cpu, time.thread_time() - begin_cpu)
        best = min(best, time.perf_counter() - begin)
    return best / len(queries) * 1e6, best_cpu / len(queries) * 1e6, answer


def measure_ours(stored_count: int) -> tuple[Measured, list[list[int]], list[Check]]:
    """Times and bytes, the answers, and whether they are right."""
    stored = random_simhashes(stored_count, 1)
    index = HammingIndex(stored, K)
    queries = asked_for(stored)
    latencies(index.find, random_simhashes(SINGLE, 6).tolist())
    median = float(np.median(latencies(index.find, queries[:SINGLE].tolist())))
    batch, cpu, (offsets, positions) = batched(lambda x: index.find(x, threads=1), queries, 7)
    answers = [found.tolist() for found in np.split(positions, offsets[1:-1])]
    checks = check_index("roughly", lambda x: index.find(x).tolist(), stored, K, 200)
    same = sum(index.find(x).tolist() == a for x, a in zip(queries.tolist(), answers, strict=True))
    checks.append(Check("roughly: a batch is its queries", same == QUERIES, f"{same:,} queries"))
    there = sum(i in answers[2 * i] for i in range(QUERIES // 2))
    checks.append(Check("roughly: planted, in a batch", there == QUERIES // 2, f"{there:,}"))
    return Measured(median, batch, cpu, float(index.nbytes)), answers, checks


def measure_peer(name: str, stored_count: int, wanted: list[list[int]]) -> tuple[Measured, float]:
    """Times and bytes, and the share of true matches found."""
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

    def find(simhashes: Simhashes) -> Any:
        # faiss finds what is nearer than a radius.
        return index.range_search(simhashes.view(np.uint8).reshape(-1, 8), K + 1)

    queries, others = asked_for(stored), random_simhashes(SINGLE, 6)
    each = [queries[i : i + 1] for i in range(SINGLE)]
    slow = float(np.median(latencies(find, each[:10]))) > 2000
    count = 100 if slow else SINGLE
    latencies(find, [others[i : i + 1] for i in range(count)])
    median = float(np.median(latencies(find, each[:count])))
    asked = queries[: 100 if slow else QUERIES]
    batch, cpu, (limits, _, positions) = batched(find, asked, 1 if slow else 5)
    hits = total = 0
    for number in range(len(asked)):
        found = positions[limits[number] : limits[number + 1]]
        total += len(wanted[number])
        hits += len(set(found.tolist()) & set(wanted[number]))
    return Measured(median, batch, cpu, float(grown)), hits / max(1, total)


def alone(work: Callable[..., Any], *arguments: Any) -> Any:
    """In a process of its own, so that memory is that of the one index."""
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        return pool.submit(work, *arguments).result()


def run_peers(stored_count: int) -> Section:
    section = Section("peers", f"{stored_count:,} random simhashes, k = 3, beside faiss")
    ours, wanted, checks = alone(measure_ours, stored_count)
    section.checks += checks
    rows: list[list[str | float | None]] = []

    def add_row(name: str, found: Measured, recall: float) -> None:
        each = found.size / stored_count
        rows.append([name, each, found.single, found.batch, found.batch_cpu, recall])

    add_row("roughly", ours, 1.0)
    columns = ["", "bytes each", "median us", "batch us", "batch CPU us", "recall"]
    section.tables.append(Table(columns, rows))
    section.notes.append(
        f"One thread, from Python, half of the queries with a match: one a call, and {QUERIES:,}"
        " in a batch (100 where one takes milliseconds), microseconds of each."
    )
    if importlib.util.find_spec("faiss") is None:
        section.notes.append("faiss is not installed here: nothing to compare with.")
        return section
    peers: dict[str, Measured] = {}
    for name in PEERS:
        peers[name], recall = alone(measure_peer, name, stored_count, wanted)
        add_row(name, peers[name], recall)
        section.checks.append(Check(f"{name}: recall", recall == 1.0, f"{recall:.4f}"))
    best = min(peers, key=lambda name: peers[name].batch)
    found, issue = peers[best], peers["faiss multi-hash 4x16"]
    section.results += [
        Result(f"times faster than {best}", found.batch / ours.batch, "x", ">=", SPEED_WANTED),
        Result("the same by CPU time", found.batch_cpu / ours.batch_cpu, "x", ">=", SPEED_WANTED),
        Result("the same, one query a call", found.single / ours.single, "x"),
        Result(f"of the memory of {best}", ours.size / found.size, "x", "<=", MEMORY_WANTED),
        Result("times faster than faiss multi-hash 4x16", issue.batch / ours.batch, "x"),
    ]
    return section
