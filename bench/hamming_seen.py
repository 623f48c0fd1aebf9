"""The growing index with many simhashes in it: calls of `seen`, one at a time and in batches."""

import time
from pathlib import Path

import numpy as np

from bench.hamming_data import moved, random_simhashes
from bench.report import Check, Result, Section, Table
from roughly import SeenIndex

RATE_WANTED = 200_000.0  # a second, one core, 100 million stored
K = 3


def run_seen(stored_count: int, folder: Path) -> Section:
    section = Section("seen", f"{stored_count:,} simhashes seen before, k = {K}, one core")
    stored = random_simhashes(stored_count, 1)
    rows: list[list[str | float | None]] = []
    with SeenIndex(folder / "seen", K) as index:
        begin = time.perf_counter()
        index.add(stored)
        rows.append(["add, all at once", stored_count / (time.perf_counter() - begin), None])
        index.wait()
        index.seen(random_simhashes(100_000, 6))  # touches every part once
        best = best_by_cpu = 0.0
        for number, batch in enumerate((1, 100, 1000, 10_000)):
            count = 20_000 if batch == 1 else 200_000
            asked = random_simhashes(count, 10 + number)
            old = np.arange(0, count, 2)
            places = np.random.default_rng(number).choice(stored_count, len(old), replace=False)
            asked[old] = moved(stored[places], 2, 20 + number)
            before = len(index)
            begin, begin_cpu = time.perf_counter(), time.thread_time()
            if batch == 1:
                answers = [index.seen(x) for x in asked.tolist()]
                found = np.array([-1 if a is None else a.position for a in answers])
            else:
                pieces = [asked[i : i + batch] for i in range(0, count, batch)]
                found = np.concatenate([index.seen(piece) for piece in pieces])
            rate = count / (time.perf_counter() - begin)
            by_cpu = count / (time.thread_time() - begin_cpu)
            best, best_by_cpu = max(best, rate), max(best_by_cpu, by_cpu)
            rows.append([f"seen, {batch:,} at a time", rate, by_cpu])
            right = bool((found[old] == places).all() and (found[1::2] == -1).all())
            section.checks += [
                Check(f"seen, {batch:,} at a time: half known, half new", right),
                Check(
                    f"{batch:,} at a time: the new ones are added",
                    len(index) == before + count // 2,
                ),
                Check(
                    f"{batch:,} at a time: and known afterwards",
                    bool((index.seen(asked[1:2001:2]) == before + np.arange(1000)).all()),
                ),
            ]
        index.sync()
        kept = len(index)
    with SeenIndex(folder / "seen", K) as index:
        section.checks.append(Check("all there when opened again", len(index) == kept))
    section.tables.append(Table(["", "a second", "a CPU second"], rows))
    section.results += [
        Result("seen, the best batch", best, "/s", ">=", RATE_WANTED),
        Result("seen, the best batch, by CPU time", best_by_cpu, "/s", ">=", RATE_WANTED),
    ]
    section.notes.append("Every call has written down what it added before it returns.")
    return section
