"""A million queries and a billion stored simhashes in a file: how many pass by in a second."""

import resource
import time
from pathlib import Path

import numpy as np

from bench.hamming_data import (
    by_chance,
    expected,
    forget_cached,
    near,
    random_simhashes,
    write_stored,
)
from bench.measure import cores
from bench.report import Check, Result, Section, Table
from roughly.hamming import SimhashFile, join, write_compressed

RATE_WANTED = 5.0  # million stored simhashes a second, two cores
MEMORY_WANTED = 8.0  # GiB
PAPER_STORED, PAPER_SECONDS, PAPER_MAPPERS = 8_000_000_000, 100, 200
K = 3
# As many of the stored are joined in compressed form too.
COMPRESSED = 50_000_000
SCANNED = 20


def run_join(query_count: int, stored_count: int, folder: Path) -> Section:
    section = Section(
        "join", f"{query_count:,} queries, {stored_count:,} stored simhashes in a file, k = {K}"
    )
    queries = random_simhashes(query_count, 1)
    path = folder / "stored.u64"
    planted = write_stored(path, stored_count, queries, K, 2)
    rows: list[list[str | float | None]] = []
    seconds, cpu, pairs = timed(queries, path)
    rate = stored_count / seconds / 1e6
    by_cpu = cores() * stored_count / cpu / 1e6
    rows.append(["binary", 8.0, seconds, rate, by_cpu, len(pairs)])
    found = set(pairs)
    chance = expected(stored_count, query_count, K)
    section.checks += [
        Check("planted matches", found.issuperset(planted), f"{len(planted):,} planted"),
        Check("each pair once, sorted", pairs == sorted(found), f"{len(pairs):,} pairs"),
        Check(
            "matches by chance",
            by_chance(len(pairs) - len(planted), chance),
            f"{len(pairs) - len(planted)}, expected {chance:.1f}",
        ),
    ]
    # Some queries in full against the first chunk, and the compressed form of a share.
    first = next(SimhashFile(path).each(0, 1))[1]
    some = sorted({q for s, q in planted if s < len(first)})[:SCANNED]
    wanted = sorted((s, q) for q in some for s in near(first, int(queries[q]), K))
    same = sorted(pair for pair in pairs if pair[1] in some and pair[0] < len(first)) == wanted
    section.checks.append(Check("as looking at each", same, f"{len(some)} queries"))
    share = min(stored_count, COMPRESSED)
    values = np.fromfile(path, np.uint64, share)
    squeezed = folder / "stored.xor"
    write_compressed(squeezed, values)
    forget_cached(squeezed)
    ordered = np.sort(values)
    seconds, cpu, compressed = timed(queries, squeezed)
    size = squeezed.stat().st_size / share
    rate_compressed, cpu_compressed = share / seconds / 1e6, cores() * share / cpu / 1e6
    name = f"xor blocks, {share:,}"
    rows.append([name, size, seconds, rate_compressed, cpu_compressed, len(compressed)])
    there = sorted((int(values[s]), q) for s, q in pairs if s < share)
    section.checks.append(
        Check(
            "the compressed form gives the same",
            sorted((int(ordered[s]), q) for s, q in compressed) == there,
            f"{len(there):,} pairs",
        )
    )
    section.tables.append(
        Table(["", "bytes each", "seconds", "M/s", "M/s by CPU time, all cores", "pairs"], rows)
    )
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 2**30
    section.results += [
        Result("stored simhashes a second", rate, "M/s", ">=", RATE_WANTED),
        Result("the same by CPU time, all cores", by_cpu, "M/s", ">=", RATE_WANTED),
        Result("peak memory", peak, "GiB", "<=", MEMORY_WANTED),
        Result("the paper's 8 billion, this machine", PAPER_STORED / rate / 1e6, "s"),
    ]
    machines = PAPER_STORED / rate / 1e6 / PAPER_SECONDS
    section.notes.append(
        f"The paper (4.3): 8 billion in under {PAPER_SECONDS} seconds on {PAPER_MAPPERS} mappers."
        f" At this rate it takes {machines:.1f} machines like this one for the same. Files are read"
        " from the disk: the system was told to forget them."
    )
    return section


def timed(queries: object, path: Path) -> tuple[float, float, list[tuple[int, int]]]:
    """Seconds, seconds of CPU, and the pairs (stored, query) in the order they came."""
    begin, begin_cpu = time.perf_counter(), time.process_time()
    pairs: list[tuple[int, int]] = []
    for chunk in join(queries, SimhashFile(path), K):
        pairs += zip(chunk.stored.tolist(), chunk.query.tolist(), strict=True)
    return time.perf_counter() - begin, time.process_time() - begin_cpu, pairs
