"""`python -m bench.dedup_peer NAME IN.jsonl OUT.jsonl`: deduplication by a peer, from file to file.

Each is used as its documentation says, the fastest way that was found: threshold 0.7, 128
permutations (gaoya: 25 bands of 5), shingles of five words, the first of a kind stays. JSON is read
by orjson, a thousand lines at a time, and lines that stay are written as they are; so that reading
and writing cost next to nothing, and memory is what the index needs.
- rensa: `RMinHashDeduplicator.add_pairs`, which checks candidates by their signatures; the bulk
  flags of `RMinHashLSH` do not, and remove two to four times as much.
- gaoya: its own words and shingles, in Rust, and candidates are checked. One document after the
  other, or all inserted and then all queried on all cores; both have a row.
- datasketch: `MinHash.bulk` and `MinHashLSH`, crc32 in place of SHA-1. What it finds goes.
- text-dedup: its program, on all cores, xxh3 in place of SHA-1; then its table as JSON Lines. Of a
  cluster, by single linkage, any one document stays. Two marks in a row make an empty word.
"""

import os
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from bench.shingle import W, shingles, words_fastest

THRESHOLD = 0.7
PERMUTATIONS = 128
BANDS, BAND_SIZE = 25, 5
# By itself rensa takes 16, at the same speed, and misses half as many again.
RENSA_BANDS = 32
LINES = 1000

# What stays of some lines, in their order.
Flags = Iterable[bool]


def _lines(source: Path) -> Iterator[list[bytes]]:
    with source.open("rb") as file:
        while lines := list(islice(file, LINES)):
            yield lines


def _texts(lines: list[bytes]) -> list[str]:
    import orjson

    return [orjson.loads(line)["text"] for line in lines]


def _sets(lines: list[bytes]) -> Iterator[list[str]]:
    """The shingles of each line; of a short text all its words, as roughly has it."""
    for text in _texts(lines):
        words = words_fastest(text)
        yield shingles(words) or [" ".join(words)]


def _filtered(source: Path, target: Path, keep: Callable[[list[bytes], int], Flags]) -> None:
    with target.open("wb") as output:
        first = 0
        for lines in _lines(source):
            stays = keep(lines, first)
            output.writelines(line for line, stay in zip(lines, stays, strict=True) if stay)
            first += len(lines)


def rensa(source: Path, target: Path) -> None:
    from rensa import RMinHashDeduplicator

    index = RMinHashDeduplicator(
        threshold=THRESHOLD, num_perm=PERMUTATIONS, use_lsh=True, num_bands=RENSA_BANDS
    )

    def keep(lines: list[bytes], first: int) -> Flags:
        names = map(str, range(first, first + len(lines)))
        flags: Flags = index.add_pairs(zip(names, _sets(lines), strict=True))
        return flags

    _filtered(source, target, keep)


def _gaoya_index() -> Any:
    from gaoya.minhash import MinHashStringIndex

    return MinHashStringIndex(
        hash_size=32,
        jaccard_threshold=THRESHOLD,
        num_bands=BANDS,
        band_size=BAND_SIZE,
        analyzer="word",
        lowercase=True,
        ngram_range=(W, W),
        id_container="smallvec",
    )


def gaoya(source: Path, target: Path) -> None:
    index = _gaoya_index()

    def keep(lines: list[bytes], first: int) -> Flags:
        for number, text in enumerate(_texts(lines), first):
            stays = not index.query(text)
            if stays:
                index.insert_document(number, text)
            yield stays

    _filtered(source, target, keep)


def gaoya_bulk(source: Path, target: Path) -> None:
    index = _gaoya_index()
    count = 0
    for lines in _lines(source):
        index.par_bulk_insert_docs(list(range(count, count + len(lines))), _texts(lines))
        count += len(lines)
    stays = [True] * count

    def keep(lines: list[bytes], first: int) -> Flags:
        for number, found in enumerate(index.par_bulk_query(_texts(lines)), first):
            stays[number] = not any(other < number and stays[other] for other in found)
            yield stays[number]

    _filtered(source, target, keep)


def datasketch(source: Path, target: Path) -> None:
    from datasketch import MinHash, MinHashLSH

    index = MinHashLSH(threshold=THRESHOLD, num_perm=PERMUTATIONS)

    def keep(lines: list[bytes], first: int) -> Flags:
        sets = ([shingle.encode() for shingle in found] for found in _sets(lines))
        signatures = MinHash.bulk(sets, num_perm=PERMUTATIONS, hashfunc=zlib.crc32)
        for number, signature in enumerate(signatures, first):
            stays = not index.query(signature)
            if stays:
                index.insert(number, signature, check_duplication=False)
            yield stays

    _filtered(source, target, keep)


def text_dedup(source: Path, target: Path) -> None:
    from datasets import load_from_disk
    from text_dedup.minhash import main

    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1
    with tempfile.TemporaryDirectory(dir=target.parent) as folder:
        options = {
            "path": "json",
            "data_files": str(source),
            "split": "train",
            "cache_dir": f"{folder}/cache",
            "output": f"{folder}/output",
            "column": "text",
            "batch_size": 10_000,
            "ngram": W,
            "min_length": 1,
            "num_perm": PERMUTATIONS,
            "threshold": THRESHOLD,
            "hash_func": "xxh3",
            "hash_bits": 32,
            "num_proc": cores,
        }
        words = [word for name, value in options.items() for word in (f"--{name}", str(value))]
        main(words, standalone_mode=False)
        load_from_disk(f"{folder}/output").to_json(target, lines=True, force_ascii=False)


@dataclass(frozen=True)
class Peer:
    """A way to deduplicate with a peer."""

    package: str
    run: Callable[[Path, Path], None]
    first_stays: bool = True  # or any one of a cluster


PEERS = {
    "rensa": Peer("rensa", rensa),
    "gaoya": Peer("gaoya", gaoya),
    "gaoya in bulk": Peer("gaoya", gaoya_bulk),
    "datasketch": Peer("datasketch", datasketch),
    "text-dedup": Peer("text_dedup", text_dedup, first_stays=False),
}


if __name__ == "__main__":
    os.environ |= {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1"}
    PEERS[sys.argv[1]].run(Path(sys.argv[2]), Path(sys.argv[3]))
