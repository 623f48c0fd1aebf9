"""Timing: tasks run in turn, round after round, so that a busy moment hits all of them alike.

A figure is the best round; the median and the rate by CPU time stand beside it. Where the best by
the clock is well below the best by CPU time, the machine was busy and the figures are too low.
"""

import gc
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import median

from roughly import _core

# Rounds that are run however long they take: a minimum of fewer says little.
LEAST_ROUNDS = 3


@dataclass(frozen=True)
class Scale:
    """How much is measured."""

    name: str
    texts: int  # documents for roughly, 5 kB each
    pages: int  # HTML pages, 19 kB each
    peer_texts: int  # documents for the peers, which are slower
    script_texts: int  # documents of each non-Latin script
    rounds: int
    seconds: float  # for the rounds of one table; those in progress are finished
    starts: int  # processes started for one start-up figure
    batches: tuple[int, int]  # for the two figures of peak memory
    pairs: int  # on which estimates are checked


FULL = Scale("full", 8192, 1536, 256, 512, 40, 60.0, 40, (10, 100), 60)
QUICK = Scale("quick", 1024, 256, 64, 128, 8, 10.0, 10, (5, 25), 30)
# Seconds in all, for tests: everything runs, the figures mean nothing.
TINY = Scale("tiny", 12, 6, 4, 4, 1, 0.0, 1, (1, 2), 6)


@dataclass(frozen=True)
class Task:
    """Something to time, and the bytes of documents that one run of it takes in."""

    name: str
    run: Callable[[], object]
    size: int


@dataclass(frozen=True)
class Timing:
    """The seconds of every round of a task."""

    name: str
    size: int  # bytes
    wall: tuple[float, ...]
    cpu: tuple[float, ...]  # of all threads together

    @property
    def best(self) -> float:
        """MB/s of the best round."""
        return self.size / min(self.wall) / 1e6

    @property
    def typical(self) -> float:
        """MB/s of the median round."""
        return self.size / median(self.wall) / 1e6

    @property
    def by_cpu(self) -> float:
        """MB per second of CPU time, best round."""
        # A clock too coarse for a tiny task reads 0.
        return self.size / max(min(self.cpu), 1e-9) / 1e6

    @property
    def slowed(self) -> bool:
        """Whether even the best round waited for a processor."""
        return min(self.wall) > 1.1 * min(self.cpu)


def measure(tasks: Sequence[Task], scale: Scale) -> dict[str, Timing]:
    """Each task once to warm up, then all of them in rounds."""
    wall: dict[str, list[float]] = {task.name: [] for task in tasks}
    cpu: dict[str, list[float]] = {task.name: [] for task in tasks}
    for task in tasks:
        task.run()
    collecting = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        begin = time.perf_counter()
        for round_number in range(scale.rounds):
            # Back and forth: what a task leaves behind in memory and caches should not always meet
            # the same next one.
            for task in tasks if round_number % 2 == 0 else reversed(tasks):
                cpu_start, start = time.process_time(), time.perf_counter()
                result = task.run()
                end, cpu_end = time.perf_counter(), time.process_time()
                del result  # freed outside the measured time, as a pipeline reuses its memory
                wall[task.name].append(end - start)
                cpu[task.name].append(cpu_end - cpu_start)
            if round_number + 1 >= LEAST_ROUNDS and time.perf_counter() - begin > scale.seconds:
                break
    finally:
        if collecting:
            gc.enable()
    return {
        task.name: Timing(task.name, task.size, tuple(wall[task.name]), tuple(cpu[task.name]))
        for task in tasks
    }


@contextmanager
def simd(level: str) -> Iterator[None]:
    """With ROUGHLY_SIMD set, as a user would set it; the core reads it at every call."""
    before = os.environ.get("ROUGHLY_SIMD")
    os.environ["ROUGHLY_SIMD"] = level
    try:
        yield
    finally:
        if before is None:
            del os.environ["ROUGHLY_SIMD"]
        else:
            os.environ["ROUGHLY_SIMD"] = before


def level_that_counts() -> str:
    """AVX2, which nearly every x86-64 server has; elsewhere the best there is."""
    levels = _core.simd_levels()
    return "avx2" if "avx2" in levels else levels[-1]


def cores() -> int:
    """Cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
