"""`python -m bench.find`: one document against a corpus on disk, beside datasketch in memory.

The documents are those of `bench/shingled_web.py`, 5 kB each; a query is one of them with every
fortieth word changed, and must find the document it was made of. Each program is a process of its
own. datasketch holds its MinHashLSH (128 permutations, threshold 0.5) in memory, of MinHashes made
as its users make them; its queries are made in the same way, from text, and give the ids that it
holds for candidates. Latencies are of `Corpus.find`, one query at a time on one thread, after the
first hundred of the process, which stand apart; queries a second are of a batch on one thread, from
text to ids too, but of those alone that reach the threshold. `Corpus.find`, which asks for
containment as well and gives intervals, stands beside it.
"""

import argparse
import json
import multiprocessing
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import numpy.typing as npt

import roughly
from bench import shingled_web
from bench.engine import Stream
from bench.report import Check, Result, Section, Table
from bench.session import Session, add_output_options
from bench.shingle import shingles, words_fastest
from bench.web import DOCUMENTS as UNIT
from roughly.clustering.settings import settings_for
from roughly.corpus import create_corpus
from roughly.documents import open_documents
from roughly.parameters import memory_or_half, threads_or_all

MIB = 1024 * 1024
W = 5
PERMUTATIONS = 128
THRESHOLD = 0.5
CHANGED = 40  # every so many words
PEER_ROWS = 1000  # documents that are made ready for datasketch at once
# Queries, of others than are counted, with which a process begins: they open the files and check
# what they are the first to read. They are shown apart.
FIRST = 100
# How much of what was put in may be missed: estimates err.
MISSED = 0.01


def make_corpus(documents: int, path: Path) -> None:
    """The corpus of the first so many documents, clustered as any other."""
    stream = Stream(documents, lambda: shingled_web.batches(documents, 1))
    sketcher = roughly.Sketcher()
    create_corpus(
        open_documents(stream, text_field="content", content_type="text"),
        sketcher,
        settings_for(sketcher.parameters, THRESHOLD),
        path,
        memory_bytes=memory_or_half(None),
        threads=threads_or_all(None),
    )


def queries(documents: int, count: int) -> list[tuple[str, str]]:
    """Ids of documents, and their texts with some words changed."""
    chance, found = Random(7), []
    for _ in range(count):
        row = chance.randrange(documents)
        batch = shingled_web.batch(documents, row, 1, 1)
        words = batch["content"][0].as_py().decode().split()
        for _ in range(len(words) // CHANGED):
            words[chance.randrange(len(words))] = f"changed{chance.randrange(1000)}"
        found.append((batch["id"][0].as_py(), " ".join(words)))
    return found


def resident_bytes() -> int:
    """Of this process, files that it has mapped included."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def run_own(documents: int, path: Path, count: int) -> dict[str, Any]:
    """What a process that searches a corpus says of it."""
    roughly.Corpus(path).find("something that loads everything")
    asked = queries(documents, count)
    before = resident_bytes()
    begin = time.perf_counter()
    corpus = roughly.Corpus(path)
    corpus.find("nothing like it")
    opened = time.perf_counter() - begin
    first_ms = []
    for _, text in queries(documents, count + FIRST)[count:]:
        begin = time.perf_counter()
        corpus.find(text, content_type="text")
        first_ms.append(1e3 * (time.perf_counter() - begin))
    wall, cpu, right = [], [], 0
    for id, text in asked:
        begin, cpu_begin = time.perf_counter(), time.thread_time()
        found = corpus.find(text, content_type="text")
        cpu.append(time.thread_time() - cpu_begin)
        wall.append(time.perf_counter() - begin)
        right += any(match.id == id for match in found)
    sketcher = roughly.Sketcher()
    begin, cpu_begin = time.perf_counter(), time.process_time()
    batch = sketcher.sketch_batch([text for _, text in asked], "text", threads=1)
    table = corpus.searcher.neighbours(batch.columns, THRESHOLD, threads=1)
    ids = corpus.collection.take("id", table[:, 1].astype(np.int64)).to_pylist()
    seconds = time.perf_counter() - begin, time.process_time() - cpu_begin
    resident = resident_bytes()
    pairs = set(zip(table[:, 0].tolist(), ids, strict=True))
    in_batch = sum((i, id) in pairs for i, (id, _) in enumerate(asked))
    return {
        "open_ms": opened * 1e3,
        "first_ms": first_ms,
        "wall_ms": [1e3 * each for each in wall],
        "cpu_ms": [1e3 * each for each in cpu],
        "recall": right / count,
        "batch_recall": in_batch / count,
        "seconds": seconds[0],
        "cpu_seconds": seconds[1],
        "resident": resident,
        "grown": resident - before,
    }


def peer_minhash(text: str) -> Any:
    """As users of datasketch make it of a text: the same in its index and in its queries."""
    from datasketch import MinHash

    minhash = MinHash(num_perm=PERMUTATIONS)
    minhash.update_batch([each.encode() for each in shingles(words_fastest(text), W)])
    return minhash


def peer_values(documents: int, first: int) -> tuple[list[str], npt.NDArray[np.generic]]:
    """Ids and MinHash values of a batch of documents."""
    batch = shingled_web.batch(documents, first, min(PEER_ROWS, documents - first), 1)
    values = [peer_minhash(text.decode()).hashvalues for text in batch["content"].to_pylist()]
    return batch["id"].to_pylist(), np.array(values)


def run_peer(documents: int, path: Path, count: int) -> dict[str, Any]:
    """The same of datasketch. Its index is made by processes of their own: it takes minutes."""
    from datasketch import MinHash, MinHashLSH

    lsh = MinHashLSH(threshold=THRESHOLD, num_perm=PERMUTATIONS)
    scheme = peer_minhash("").scheme
    with multiprocessing.Pool(threads_or_all(None)) as pool:
        first = range(0, documents, PEER_ROWS)
        for ids, values in pool.imap(partial(peer_values, documents), first):
            for id, each in zip(ids, values, strict=True):
                lsh.insert(id, MinHash(hashvalues=each, scheme=scheme))

    asked = queries(documents, count)
    resident = resident_bytes()
    right, seconds, cpu_seconds, looked_up = 0, 0.0, 0.0, 0.0
    for id, text in asked:
        begin, cpu_begin = time.perf_counter(), time.process_time()
        minhash = peer_minhash(text)
        begin_look = time.process_time()
        found = lsh.query(minhash)
        looked_up += time.process_time() - begin_look
        seconds += time.perf_counter() - begin
        cpu_seconds += time.process_time() - cpu_begin
        right += id in found
    return {
        "recall": right / count,
        "seconds": seconds,
        "cpu_seconds": cpu_seconds,
        "look_up_seconds": looked_up,
        "resident": resident,
    }


PROGRAMS: dict[str, Callable[[int, Path, int], dict[str, Any]]] = {
    "roughly": run_own,
    "datasketch": run_peer,
}


def in_process(program: str, documents: int, path: Path, count: int) -> dict[str, Any]:
    """What a program says, in a process of its own."""
    arguments = [program, str(documents), str(path), str(count)]
    done = subprocess.run(
        [sys.executable, "-m", "bench.find", "--program", *arguments],
        stdout=subprocess.PIPE,
        cwd=Path(__file__).parents[1],
        check=True,
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def run(documents: int, beside: int, count: int, folder: Path) -> list[Section]:
    """The corpus of all, and one beside datasketch."""
    paths = {size: folder / f"find-{size}.roughly" for size in (documents, beside)}
    for size, path in paths.items():
        if not path.exists():
            print(f"bench: making a corpus of {size:,} documents", file=sys.stderr, flush=True)
            make_corpus(size, path)
    own = {size: in_process("roughly", size, path, count) for size, path in paths.items()}
    section = Section("find", f"a document of 5 kB against {documents:,}, {count:,} times")
    section.tables.append(
        Table(
            [
                *("documents", "open ms", f"first {FIRST} ms", "99% of them"),
                *("median ms", "99% ms", "median CPU", "99% CPU", "MiB more"),
            ],
            [
                [
                    f"{size:,}",
                    found["open_ms"],
                    *np.quantile(found["first_ms"], (0.5, 0.99)).tolist(),
                    *np.quantile(found["wall_ms"], (0.5, 0.99)).tolist(),
                    *np.quantile(found["cpu_ms"], (0.5, 0.99)).tolist(),
                    found["grown"] / MIB,
                ]
                for size, found in own.items()
            ],
        )
    )
    large = own[documents]
    median, most = np.quantile(large["wall_ms"], (0.5, 0.99)).tolist()
    section.results += [
        Result("open", large["open_ms"], "ms", "<", 50),
        Result("find, median", median, "ms", "<", 5),
        Result("find, 99 of 100", most, "ms", "<", 20),
    ]
    for size, found in own.items():
        for name in ("recall", "batch_recall"):
            section.checks.append(
                Check(f"{name} of {size:,}", found[name] >= 1 - MISSED, f"{found[name]:.4f}")
            )
    sections = [section]
    if find_spec("datasketch") is None:
        return sections
    peer, same = in_process("datasketch", beside, paths[beside], count), own[beside]
    section = Section("beside", f"{beside:,} documents, datasketch's MinHashLSH in memory")
    single = same | {
        "seconds": sum(same["wall_ms"]) / 1e3,
        "cpu_seconds": sum(same["cpu_ms"]) / 1e3,
    }
    batch = same | {"recall": same["batch_recall"]}
    section.tables.append(
        Table(
            ["", "queries/s", "by CPU", "recall", "resident MiB"],
            [
                [
                    name,
                    count / found["seconds"],
                    count / found["cpu_seconds"],
                    found["recall"],
                    found["resident"] / MIB,
                ]
                for name, found in (
                    ("roughly, a batch", batch),
                    ("roughly, Corpus.find", single),
                    ("datasketch", peer),
                )
            ],
        )
    )
    faster = peer["cpu_seconds"] / same["cpu_seconds"]
    section.results += [
        Result("queries a second, by CPU", faster, "x", ">=", 3),
        Result("resident memory", same["resident"] / peer["resident"], "x", "<=", 0.1),
        Result("datasketch, looking up alone", count / peer["look_up_seconds"], "queries/s"),
    ]
    section.checks.append(
        Check(
            "as much is found",
            same["batch_recall"] >= peer["recall"] - MISSED,
            f"{same['batch_recall']:.4f} against {peer['recall']:.4f}",
        )
    )
    return [*sections, section]


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m bench.find",
        description="Finds documents in a corpus on disk, beside datasketch in memory.",
        allow_abbrev=False,
    )
    parser.add_argument("--documents", type=int, default=3333 * UNIT, help="in the corpus")
    parser.add_argument("--beside", type=int, default=1000 * UNIT, help="beside datasketch")
    parser.add_argument("--queries", type=int, default=1000)
    parser.add_argument("--folder", type=Path, help="where corpora are made, and stay")
    parser.add_argument("--program", nargs=4, help=argparse.SUPPRESS)
    add_output_options(parser)
    arguments = parser.parse_args(argv)
    if arguments.program:
        name, documents, path, count = arguments.program
        print(json.dumps(PROGRAMS[name](int(documents), Path(path), int(count))))
        return 0
    session = Session(f"{arguments.documents:,} documents", "find")
    with tempfile.TemporaryDirectory() as temporary:
        folder = (arguments.folder or Path(temporary)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        for section in run(arguments.documents, arguments.beside, arguments.queries, folder):
            session.add(section)
    return session.finish(arguments.json, arguments.record)


if __name__ == "__main__":
    sys.exit(main())
