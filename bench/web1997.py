"""`python -m bench.web1997 --documents N ...`: the 1997 paper's own workload, beside its own table.

The documents of `bench/web.py` are generated in memory, batch by batch, and never stored; what that
takes is counted apart. Each number of documents is a process of its own. Clusters are checked by
what was put in: estimates from sketches of some 30 elements err, and a pair that was meant to
resemble by 0.6 may come out below 0.5, so that a few in a hundred may be missing, and no more.
"""

import argparse
import sys
from collections.abc import Sequence
from math import log
from pathlib import Path

import numpy as np

import roughly
from bench import web
from bench.block_text import Keys
from bench.engine import Run, Stream, in_process, measured
from bench.report import Check, Result, Section, Table
from bench.session import Session, add_output_options

MIB, GIB = 1024**2, 1024**3
# Section 7: CPU-days for 30,000,000 documents of 150 GB. Its total is given as "~10.5".
PAPER_DOCUMENTS = 30_000_000
PAPER_DAYS = {
    "Sketching": 4.6,
    "Duplicate elimination": 0.3,
    "Shingle merging": 1.7,
    "ID-ID pair formation": 0.7,
    "ID-ID merging": 2.6,
    "Cluster formation": 0.5,
    "Total": 10.5,
}
DAY_S = 86_400
# How many clusters, and documents in them, may be missing.
MISSING = 0.03
# documents -> seconds, memory and disk that are enough; two cores
TARGETS = {1_000_000: (60.0, 2 * GIB, None), 30_000_000: (None, 12 * GIB, 30 * GIB)}
LARGEST_EXPONENT = 1.1
EXPANSION = 3.0
SAMPLE = 20_000


def cluster(folder: Path, documents: int, seed: int, html: bool, memory: str | None) -> Run:
    """Clusters by the paper's preset."""
    kind = web.HTML if html else web.TEXT
    stream = Stream(documents, lambda: web.batches(documents, seed, kind=kind))
    return measured(stream, folder, preset="broder97", threshold=0.5, html=html, memory=memory)


def expansion(documents: int, seed: int, kind: web.Kind) -> tuple[float, float]:
    """Sketch elements a document, and pairs that the full expansion of distinct documents makes of
    one element, counting all documents' elements."""
    sketcher = roughly.preset("broder97")
    contents = web.places(documents, 0, documents).content
    distinct = np.zeros(documents, dtype=bool)
    distinct[np.unique(contents, return_index=True)[1]] = True
    kept: list[Keys] = []
    elements = first = 0
    for batch in web.batches(documents, seed, kind=kind):
        columns = sketcher.sketch_documents(batch).columns
        rows = np.repeat(distinct[first : first + len(batch)], np.diff(columns.offsets))
        kept.append(columns.values[rows])
        elements += len(columns.values)
        first += len(batch)
    return elements / documents, web.expansion(np.concatenate(kept)) / elements


def check_clusters(run: Run) -> Check:
    """As many documents in clusters as were put in, or a few less, and about as many clusters: one
    that loses a link in its middle becomes two."""
    per_unit = len(web.IDENTICAL) + len(web.MIXED), sum(web.IDENTICAL) + sum(web.MIXED)
    wanted = [round(run.documents * part / web.DOCUMENTS) for part in per_unit]
    found = [run.clustering.clusters, run.clustering.clustered]
    most = (1 + MISSING) * wanted[0], wanted[1]
    near = all(
        (1 - MISSING) * want - 50 <= have <= high + 50
        for have, want, high in zip(found, wanted, most, strict=True)
    )
    return Check(
        f"{run.documents:,} documents: the clusters that were put in",
        near,
        f"{found[0]:,} of {found[1]:,} documents; put in: {wanted[0]:,} of {wanted[1]:,}",
    )


def phase_table(run: Run) -> Table:
    """The paper's table and ours: CPU time, and what it would be for the paper's documents."""
    ours = {**run.clustering.phases, "Total": run.processing_cpu_s}
    scale = PAPER_DOCUMENTS / run.documents
    rows: list[list[str | float | None]] = []
    for name in dict.fromkeys([*PAPER_DAYS, *ours]):
        days, seconds = PAPER_DAYS.get(name), ours.get(name)
        full = None if seconds is None else seconds * scale / DAY_S
        ratio = days / full if days is not None and full else None
        rows.append([name, days, seconds, full, ratio])
    # New phases stand before the total.
    rows.sort(key=lambda row: row[0] == "Total")
    heads = [
        f"CPU time, {run.documents:,} documents",
        "paper, days",
        "ours, s",
        "as 30 M, days",
        "times faster",
    ]
    return Table(heads, rows)


def exponent(runs: Sequence[Run]) -> float:
    """Of the growth of time, fitted by least squares."""
    x = np.array([log(run.documents) for run in runs])
    y = np.array([log(run.wall_s) for run in runs])
    return float(np.polyfit(x, y, 1)[0])


def run_all(
    counts: Sequence[int], seed: int, html: bool, memory: str | None, parent: Path
) -> Section:
    kind = web.HTML if html else web.TEXT
    section = Section("web1997", "the 1997 paper's workload, preset broder97")
    elements, pairs = expansion(SAMPLE, seed, kind)
    section.notes.append(
        f"{'HTML' if html else 'text'} of 5 kB, {elements:.1f} sketch elements a document;"
        " seconds: all of it, generating the documents included, which goes on beside the rest;"
        " CPU s: without that"
    )
    section.results.append(
        Result(f"pairs expanded from an element, {SAMPLE:,} documents", pairs, "x", ">=", EXPANSION)
    )
    runs: list[Run] = []
    rows: list[list[str | float | None]] = []
    for count in counts:
        options = {"documents": count, "seed": seed, "html": html, "memory": memory}
        found = in_process("bench.web1997", options, parent)
        runs.append(found)
        rows.append(
            [
                f"{count:,}",
                found.bytes / 1e6,
                found.generation_s,
                found.wall_s,
                found.processing_cpu_s,
                found.bytes / 1e6 / found.wall_s,
                found.peak_bytes / MIB,
                found.disk_bytes / MIB,
            ]
        )
        section.checks.append(check_clusters(found))
        section.results += _targets(found)
    heads = ["documents", "MB", "generated", "seconds", "CPU s", "MB/s", "peak MiB", "disk MiB"]
    section.tables = [Table(heads, rows), *(phase_table(found) for found in runs)]
    if len(runs) > 1:
        section.results.append(
            Result("growth of time, exponent", exponent(runs), "", "<=", LARGEST_EXPONENT)
        )
    return section


def _targets(run: Run) -> list[Result]:
    seconds, memory, disk = TARGETS.get(run.documents, (None, None, None))
    name = f"{run.documents:,} documents"
    results = [Result(f"{name}: time", run.wall_s, "s", "<", seconds)] if seconds else []
    if memory:
        results.append(
            Result(f"{name}: peak memory", run.peak_bytes / MIB, "MiB", "<=", memory / MIB)
        )
    if disk:
        results.append(Result(f"{name}: disk", run.disk_bytes / MIB, "MiB", "<=", disk / MIB))
    return results


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m bench.web1997",
        description="Clusters as many generated documents as the 1997 paper had, or fewer.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "--documents", type=int, nargs="+", default=[100_000], help="one number or several"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--html", action="store_true", help="half of the bytes are markup")
    parser.add_argument("--memory", help="the engine's limit, for instance 2GiB")
    parser.add_argument(
        "--folder", type=Path, default=Path("build"), help="where temporary files go"
    )
    add_output_options(parser)
    arguments = parser.parse_args(argv)
    arguments.folder.mkdir(parents=True, exist_ok=True)
    size = ", ".join(f"{count:,}" for count in arguments.documents)
    session = Session(f"{size} documents", "web1997")
    options = arguments.seed, arguments.html, arguments.memory, arguments.folder.resolve()
    session.add(run_all(arguments.documents, *options))
    return session.finish(arguments.json, arguments.record)


if __name__ == "__main__":
    sys.exit(main())
