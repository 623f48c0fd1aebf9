"""Text to sketches: MB/s of `Sketcher.sketch_batch` on Arrow batches, for every SIMD level.

AVX2 on one core is the figure that counts. The sketches of every level and of every number of
threads are compared with those of `plain` on one thread.
"""

import hashlib
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from bench.corpus import Corpus, arrow_batches
from bench.fresh import measure_fresh
from bench.measure import Scale, Task, Timing, cores, level_that_counts, measure, simd
from bench.report import Check, Result, Section, merged
from roughly import Sketcher, _core, preset

COLUMNS = ("values", "offsets", "size", "tokens", "level", "content", "canonical")

# What is measured: the default at two widths, the 1997 paper's preset, and the other selections.
SKETCHERS = {
    "adaptive:200 w=5": Sketcher(),
    "adaptive:200 w=10": Sketcher(w=10),
    "mod:25 w=10, 40 bits (broder97)": preset("broder97"),
    "mod:25 w=5": Sketcher(select="mod:25"),
    "min:200 w=5": Sketcher(select="min:200"),
    "all w=5": Sketcher(select="all"),
    "perm:84 w=5": Sketcher(select="perm:84"),
}
JUDGED = ("adaptive:200 w=5", "adaptive:200 w=10")


def sketch_all(
    sketcher: Sketcher, batches: Sequence[pa.Array], threads: int, level: str, content_type: str
) -> None:
    """What is timed: every batch in turn, its sketches dropped as soon as they are there."""
    with simd(level):
        for batch in batches:
            sketcher.sketch_batch(batch, content_type, threads=threads)


def digest(columns: Any) -> str:
    """Equal digests, equal columns."""
    hasher = hashlib.blake2b(digest_size=16)
    for name in COLUMNS:
        values = np.ascontiguousarray(getattr(columns, name))
        hasher.update(f"{name} {values.dtype} {values.shape} ".encode())
        hasher.update(values.tobytes())
    return hasher.hexdigest()


def digests(
    sketcher: Sketcher, batches: Sequence[pa.Array], threads: int, level: str, content_type: str
) -> list[str]:
    """The sketches of every batch, as digests."""
    with simd(level):
        return [
            digest(sketcher.sketch_batch(batch, content_type, threads=threads).columns)
            for batch in batches
        ]


def check_equal(name: str, wanted: Sequence[str], found: Sequence[str]) -> Check:
    """Whether the digests are those that are wanted, at least one of them."""
    return Check(name, bool(wanted) and list(found) == list(wanted), "other sketches")


def check_levels(
    name: str, sketcher: Sketcher, batches: Sequence[pa.Array], content_type: str
) -> list[Check]:
    """Every level, and every level on several threads, against `plain` on one."""
    make = partial(digests, sketcher, batches, content_type=content_type)
    wanted = make(threads=1, level="plain")
    many = max(2, cores())
    return [
        check_equal(f"{name}, {level}, threads={threads}", wanted, make(threads, level))
        for level in _core.simd_levels()
        for threads in (1, many)
    ]


EQUAL = "every SIMD level, on one thread and on several, gives the sketches of plain on one"


def thread_tasks(
    label: str, sketcher: Sketcher, batches: Sequence[pa.Array], size: int, content_type: str
) -> list[Task]:
    """One thread, two, and all cores, at the level that counts."""
    level = level_that_counts()
    counts = sorted({1, *(count for count in (2, cores()) if count <= cores())})
    return [
        Task(
            f"{label}, {level}, {count} thread{'s' * (count > 1)}",
            partial(sketch_all, sketcher, batches, count, level, content_type),
            size,
        )
        for count in counts
    ]


def thread_results(label: str, timings: dict[str, Timing], wanted: float | None) -> list[Result]:
    """How many times faster it is on two cores, and on all."""
    level = level_that_counts()
    one = timings[f"{label}, {level}, 1 thread"]
    results = []
    for count in sorted({2, cores()} if cores() > 1 else ()):
        many = timings[f"{label}, {level}, {count} threads"]
        target = wanted if count == 2 else None
        relation = ">=" if target else ""
        name = f"{label}: {count} cores against one"
        results.append(Result(name, many.best / one.best, "x", relation, target))
    return results


def run(corpus: Corpus, scale: Scale) -> Section:
    documents = corpus.texts
    batches = arrow_batches(documents)
    size = sum(len(document.encode()) for document in documents)
    section = Section("sketch", "text -> sketch, Arrow batches of 4,096 documents")
    section.notes.append(corpus.description("texts"))

    tasks = [
        Task(f"{label}, {level}", partial(sketch_all, sketcher, batches, 1, level, "auto"), size)
        for label, sketcher in SKETCHERS.items()
        for level in reversed(_core.simd_levels())
    ]
    timings = measure(tasks, scale)
    counting = level_that_counts()
    for label in JUDGED:
        best = timings[f"{label}, {counting}"].best
        section.results.append(Result(f"{label}, {counting}, one core", best, "MB/s", ">=", 500.0))
    for level in _core.simd_levels()[1:]:
        ratio = timings[f"{JUDGED[0]}, {level}"].best / timings[f"{JUDGED[0]}, plain"].best
        section.results.append(Result(f"{JUDGED[0]}: {level} against plain", ratio, "x"))

    fresh = measure_fresh(f"{JUDGED[0]}, {counting}, fresh process", batches, size, counting, scale)
    timings[fresh.name] = fresh
    section.results.insert(1, Result(fresh.name, fresh.best, "MB/s", ">=", 500.0))

    for label in JUDGED:
        threaded = measure(thread_tasks(label, SKETCHERS[label], batches, size, "auto"), scale)
        section.results += thread_results(label, threaded, 1.8)
        timings |= threaded
    section.timings = list(timings.values())

    checks = [
        check
        for label, sketcher in SKETCHERS.items()
        for check in check_levels(label, sketcher, batches, "auto")
    ]
    section.checks.append(merged(EQUAL, checks))
    return section
