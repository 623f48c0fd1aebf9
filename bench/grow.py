"""`python -m bench.grow`: what it takes to add documents to a corpus, beside clustering it.

The documents are those of `bench/web.py`, 5 kB each, shingled by ten words as in the 1997 paper.
All but the last 10,000 are a corpus, made by one addition. The others are then added with a later
date, and once more without one, so that they come before all others. Of fewer documents a corpus
that grew is compared with one that was made at once: clusters must be the same. `--corpus FOLDER`
keeps the large corpus for another run.
"""

import argparse
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa

import roughly
from bench import web
from bench.report import Check, Result, Section, Table
from bench.session import Session, add_output_options
from roughly.documents.batch import SCHEMA

W = 10
ADDED = 10_000
BATCH_ROWS = 1000
# Documents in the corpus -> seconds for ADDED more.
TARGETS = {1_000_000: 3.0}
# Of how many the clusters are compared with those of a corpus made at once.
COMPARED = 50_000


def documents(total: int, first: int, count: int) -> Iterator[pa.RecordBatch]:
    for begin in range(first, first + count, BATCH_ROWS):
        yield web.batch(total, begin, min(BATCH_ROWS, first + count - begin))


def table(total: int, first: int, count: int) -> pa.Table:
    return pa.Table.from_batches(list(documents(total, first, count)), SCHEMA)


def make(path: Path, total: int, count: int, date: str | None) -> tuple[roughly.Corpus, float]:
    """A corpus of the first documents, and the seconds it took."""
    reader = pa.RecordBatchReader.from_batches(SCHEMA, documents(total, 0, count))
    begin = time.perf_counter()
    corpus = roughly.Corpus.create(path, roughly.Sketcher(w=W))
    corpus.add(reader, date, text_field="content", content_type="text")
    return corpus, time.perf_counter() - begin


def add(corpus: roughly.Corpus, more: pa.Table, date: str | None) -> tuple[float, float]:
    """Wall and CPU seconds."""
    begin, cpu = time.perf_counter(), time.process_time()
    corpus.add(more, date, text_field="content", content_type="text")
    return time.perf_counter() - begin, time.process_time() - cpu


def linked(path: Path, to: Path) -> roughly.Corpus:
    """A corpus that shares its files, none of which is ever written to, with another one."""
    shutil.copytree(path, to, copy_function=lambda a, b: Path(b).hardlink_to(a))
    (to / "lock").unlink()
    return roughly.Corpus(to)


def check_clusters(folder: Path, count: int) -> Check:
    """Grown in two steps, and made at once."""
    grown, _ = make(folder / "grown", count, count - count // 10, None)
    add(grown, table(count, count - count // 10, count // 10), None)
    at_once, _ = make(folder / "once", count, count, None)
    same = list(grown.clusters()) == list(at_once.clusters())
    clean = grown.verify() == []
    return Check(
        f"{count:,} documents: clusters grown and made at once are the same",
        same and clean,
        f"{len(grown.clusters()):,} clusters",
    )


def run(count: int, parent: Path, kept: Path | None, compared: int = COMPARED) -> Section:
    section = Section("grow", f"adding {ADDED:,} documents to {count:,}")
    with tempfile.TemporaryDirectory(dir=parent) as name:
        folder = Path(name)
        path, total, made_in = kept or folder / "large", count + ADDED, 0.0
        if not path.exists():
            made_in = make(path, total, count, "2026-01-01")[1]
        more = table(total, count, ADDED)
        rows: list[list[str | float | None]] = [["the corpus itself", made_in or None, None]]
        dated = linked(path, folder / "dated")
        wall, cpu = add(dated, more, "2026-02-01")
        rows.append(["10,000 of a later date", wall, cpu])
        undated = linked(path, folder / "undated")
        rows.append(["10,000 that come before all others", *add(undated, more, None)])
        section.tables.append(Table(["", "seconds", "CPU s"], rows))
        wanted = TARGETS.get(count)
        relation = "" if wanted is None else "<="
        section.results.append(Result("adding, with the clusters", wall, "s", relation, wanted))
        for corpus, what in ((dated, "later"), (undated, "earlier")):
            problems = corpus.verify()
            section.checks.append(Check(f"verify: {what}", not problems, "; ".join(problems[:3])))
            found = len(corpus) == total
            section.checks.append(Check(f"documents: {what}", found, f"{len(corpus):,}"))
        section.checks.append(check_clusters(folder, compared))
    return section


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m bench.grow",
        description="What it takes to add documents to a corpus.",
        allow_abbrev=False,
    )
    parser.add_argument("--documents", type=int, default=1_000_000, help="in the corpus before")
    parser.add_argument(
        "--folder", type=Path, default=Path("build"), help="where temporary files go"
    )
    parser.add_argument("--corpus", type=Path, help="the large corpus: made if it is not there")
    add_output_options(parser)
    arguments = parser.parse_args(argv)
    arguments.folder.mkdir(parents=True, exist_ok=True)
    session = Session(f"{arguments.documents:,} documents", "grow")
    session.add(run(arguments.documents, arguments.folder.resolve(), arguments.corpus))
    return session.finish(arguments.json, arguments.record)


if __name__ == "__main__":
    sys.exit(main())
