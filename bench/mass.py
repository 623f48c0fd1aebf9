"""`python -m bench.mass`: many documents that all resemble one another, beside unrelated ones.

Three corpora of equally many documents, of about 180 shingles each, so that sketches are whole and
every resemblance is the exact one:
- alike: all share 160 shingles of 180, and any two resemble by 160 / 200 = 0.8. One cluster.
- template: all share 108 shingles of 174, and any two resemble by 108 / 240 = 0.45. With a floor of
  0.5 there is no pair at all, though every document shares more than half of itself with all.
- unrelated: no two share a shingle; sizes of 180 and 174 in turn.
Enumerating pairs would take time and space that grow with the square of the documents.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from bench.block_text import GOLDEN, Integers, Keys, names, numbered, record_batch, stamps
from bench.engine import Run, Stream, in_process, measured
from bench.report import Check, Result, Section, Table
from bench.session import Session, add_output_options

MIB = 1024 * 1024
W = 5
THRESHOLD = FLOOR = 0.5
BATCH_ROWS = 2000
_WORD_BYTES = 9


@dataclass(frozen=True)
class Kind:
    """The words that all documents begin with, and how many of its own each has after them, in
    turn. Of c common words come c - 4 shingles, and of each further word one."""

    name: str
    common: int
    own: tuple[int, ...]
    clusters: int
    most: float | None = None  # times what unrelated documents take


ALIKE = Kind("alike", 164, (20,), 1, 3)
TEMPLATE = Kind("template", 112, (66,), 0, 20)
UNRELATED = Kind("unrelated", 0, (184, 178), 0)
KINDS = {kind.name: kind for kind in (ALIKE, TEMPLATE, UNRELATED)}


def words(keys: Keys) -> npt.NDArray[np.uint8]:
    """A word of eight letters and a space for every key, a row each."""
    rows = np.full((len(keys), _WORD_BYTES), ord(" "), dtype=np.uint8)
    rows[:, :8] = stamps(keys).view(np.uint8).reshape(-1, 8)
    return rows


def batch(kind: Kind, first: int, rows: int) -> pa.RecordBatch:
    """`rows` documents from this one on."""
    number = np.arange(first, first + rows)
    own = np.array(kind.own)[number % len(kind.own)]
    count = kind.common + own
    ends = np.cumsum(count)
    at = np.arange(int(ends[-1])) - np.repeat(ends - count, count)
    keys = np.repeat(numbered(100 + len(kind.own), number), count)
    keys += at.astype(np.uint64) * GOLDEN
    if kind.common:
        shared = at < kind.common
        keys[shared] = numbered(99, at[shared])
    content = words(keys).reshape(-1)
    ids: Integers = number
    return record_batch(first, names("########", {"#": ids}), content, ends * _WORD_BYTES)


def batches(kind: Kind, documents: int) -> Iterator[pa.RecordBatch]:
    for first in range(0, documents, BATCH_ROWS):
        yield batch(kind, first, min(BATCH_ROWS, documents - first))


def cluster(folder: Path, kind: str, documents: int) -> Run:
    """Clusters the documents of a kind, by default sketches."""
    stream = Stream(documents, lambda: batches(KINDS[kind], documents))
    return measured(stream, folder, preset=None, threshold=THRESHOLD, floor=FLOOR)


def check_clusters(kind: Kind, run: Run) -> Check:
    """One cluster of all documents, or none."""
    found = run.clustering
    wanted = kind.clusters, kind.clusters * run.documents
    return Check(
        f"{kind.name}: {wanted[0]} clusters of {wanted[1]:,} documents",
        (found.clusters, found.clustered) == wanted,
        f"{found.clusters:,} of {found.clustered:,}",
    )


def run(documents: int, parent: Path) -> Section:
    section = Section("mass", f"{documents:,} documents that all share much, beside unrelated ones")
    runs = {
        name: in_process("bench.mass", {"kind": name, "documents": documents}, parent)
        for name in KINDS
    }
    section.tables.append(
        Table(
            ["", "MB", "seconds", "CPU s", "generated in", "peak MiB", "disk MiB", "clusters"],
            [
                [
                    name,
                    found.bytes / 1e6,
                    found.wall_s,
                    found.processing_cpu_s,
                    found.generation_s,
                    found.peak_bytes / MIB,
                    found.disk_bytes / MIB,
                    found.clustering.clusters,
                ]
                for name, found in runs.items()
            ],
        )
    )
    base = runs[UNRELATED.name]
    for name, kind in KINDS.items():
        section.checks.append(check_clusters(kind, runs[name]))
        if kind.most is None:
            continue
        ratio = runs[name].wall_s / base.wall_s
        section.results.append(Result(f"{name}: time", ratio, "x", "<=", kind.most))
        # What other work on the machine disturbs less; generating the documents is not in it.
        ratio = runs[name].processing_cpu_s / base.processing_cpu_s
        section.results.append(Result(f"{name}: CPU time", ratio, "x"))
        ratio = runs[name].disk_bytes / max(1, base.disk_bytes)
        # No extra disk for pairs that come to nothing; the sketches are of about one size.
        most = kind.most if kind.clusters else 1.05
        section.results.append(Result(f"{name}: temporary disk", ratio, "x", "<=", most))
    return section


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m bench.mass",
        description="Time and disk of clustering documents that all resemble one another.",
        allow_abbrev=False,
    )
    parser.add_argument("--documents", type=int, default=200_000, help="of each kind")
    parser.add_argument(
        "--folder", type=Path, default=Path("build"), help="where temporary files go"
    )
    add_output_options(parser)
    arguments = parser.parse_args(argv)
    arguments.folder.mkdir(parents=True, exist_ok=True)
    session = Session(f"{arguments.documents:,} documents", "mass")
    session.add(run(arguments.documents, arguments.folder.resolve()))
    return session.finish(arguments.json, arguments.record)


if __name__ == "__main__":
    sys.exit(main())
