"""Text to simhashes: MB/s of `Simhasher.simhash_batch` on Arrow batches, beside gaoya and simhash.

AVX2 on one core is the figure that counts. Both peers start from raw text: gaoya cuts words at
spaces and hashes them in Rust, one document or a batch at a time; `simhash` is given the words that
roughly finds with their counts, as fast as Python can. Four characters at each position, which is
what `simhash` does unless told otherwise, are other features; both are timed with them as well. All
have 64 bits and weigh features by their counts.

Checked: every SIMD level and number of threads gives the simhashes of plain on one thread; plain
Python, and the package `simhash` where it is installed, find the same from the same hashes of
terms; peers' simhashes tell near copies from other texts as well as ours do.
"""

import importlib
import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import pairwise
from typing import Any

import pyarrow as pa

import roughly
from bench.corpus import Corpus, arrow_batches
from bench.measure import Scale, Task, cores, level_that_counts, measure, simd
from bench.report import Check, Result, Section, merged
from bench.shingle import words_fastest
from bench.text import edited, english_texts
from roughly import Simhasher, _core

SPEED_WANTED = 1000.0  # MB/s on one core
RATIO_WANTED = 40.0  # of the fastest peer

EQUAL = "every SIMD level, on one thread and on several, gives the simhashes of plain on one"


@dataclass(frozen=True)
class Peer:
    """One way to use a peer."""

    name: str
    package: str
    of: str  # words or characters
    simhashes: Callable[[Sequence[str]], list[int]]


def _module(name: str) -> Any | None:
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def _gaoya_peers(gaoya: Any) -> Iterator[Peer]:
    index = gaoya.SimHashStringIndex
    words = index(hash_size=64, analyzer="word", lowercase=True).index
    characters = index(hash_size=64, analyzer="char", lowercase=True, ngram_range=(4, 4)).index

    def each(texts: Sequence[str]) -> list[int]:
        return [words.doc2signature(text) for text in texts]

    def bulk(texts: Sequence[str]) -> list[int]:
        return list(words.par_bulk_doc2signatures(list(texts)))

    def of_characters(texts: Sequence[str]) -> list[int]:
        return [characters.doc2signature(text) for text in texts]

    yield Peer("gaoya, words, a document at a time", "gaoya", "words", each)
    yield Peer("gaoya, words, a batch on one thread", "gaoya", "words", bulk)
    yield Peer("gaoya, four characters", "gaoya", "characters", of_characters)


def _simhash_peers(package: Any) -> Iterator[Peer]:
    def of_words(texts: Sequence[str]) -> list[int]:
        return [package.Simhash(Counter(words_fastest(text))).value for text in texts]

    def of_characters(texts: Sequence[str]) -> list[int]:
        return [package.Simhash(text).value for text in texts]

    yield Peer("simhash, words and counts", "simhash", "words", of_words)
    yield Peer("simhash, four characters", "simhash", "characters", of_characters)


def installed_peers() -> list[Peer]:
    """Those that are there; the tests' environment has none."""
    # gaoya would use every core, and one core is what is compared.
    os.environ.setdefault("RAYON_NUM_THREADS", "1")
    makers = {"gaoya.simhash": _gaoya_peers, "simhash": _simhash_peers}
    return [
        peer
        for name, make in makers.items()
        if (module := _module(name)) is not None
        for peer in make(module)
    ]


def simhash_all(
    simhasher: Simhasher, batches: Sequence[pa.Array], threads: int, level: str
) -> list[int | None]:
    """What is timed: every batch in turn."""
    found: list[Any] = []
    with simd(level):
        for batch in batches:
            found.append(simhasher.simhash_batch(batch, "text", threads=threads))
    return found


def run(corpus: Corpus, scale: Scale) -> Section:
    level = level_that_counts()
    batches = arrow_batches(corpus.texts)
    size = sum(len(text.encode()) for text in corpus.texts)
    section = Section("simhash", "text -> simhash of 64 bits, one core, beside peers")
    section.notes.append(corpus.description("texts"))
    choices = {
        "terms": Simhasher(),
        "terms, stop words": Simhasher(stop_words="english"),
        "terms, stop words, stems": Simhasher(stop_words="english", stem="english"),
        "terms, once": Simhasher(weights="once"),
        "terms, tf-idf": Simhasher(weights=Simhasher().frequencies(batches[0], "text")),
        "phrases:2": Simhasher("phrases:2"),
        "shingles:3": Simhasher("shingles:3"),
    }
    tasks = [
        Task(f"roughly {name}, {each}", partial(simhash_all, simhasher, batches, 1, each), size)
        for name, simhasher in choices.items()
        for each in (reversed(_core.simd_levels()) if name == "terms" else [level])
    ]
    texts = corpus.texts[: scale.peer_texts]
    peer_size = sum(len(text.encode()) for text in texts)
    peers = installed_peers()
    tasks += [Task(peer.name, partial(peer.simhashes, texts), peer_size) for peer in peers]
    timings = measure(tasks, scale)
    section.timings = list(timings.values())
    section.notes.append(f"peers: {len(texts)} of the same texts")

    own = timings[f"roughly terms, {level}"].best
    section.results.append(Result(f"terms, {level}, one core", own, "MB/s", ">=", SPEED_WANTED))
    for package in ("gaoya", "simhash"):
        if package not in {peer.package for peer in peers}:
            section.notes.append(f"{package} is not installed: no comparison")
            continue
        for features in ("words", "characters"):
            rates = [
                timings[peer.name].best
                for peer in peers
                if (peer.package, peer.of) == (package, features)
            ]
            name = f"against {package} of {features}, its fastest way"
            section.results.append(Result(name, own / max(rates), "x", ">=", RATIO_WANTED))

    section.checks.append(merged(EQUAL, check_levels(choices, batches)))
    section.checks += check_values(texts[:64])
    section.checks += check_copies(peers, scale.pairs)
    return section


def check_levels(choices: dict[str, Simhasher], batches: Sequence[pa.Array]) -> list[Check]:
    checks = []
    for name, simhasher in choices.items():
        values = {
            (level, threads): [
                list(each) for each in simhash_all(simhasher, batches, threads, level)
            ]
            for level in _core.simd_levels()
            for threads in (1, max(2, cores()))
        }
        wanted = values["plain", 1]
        checks += [
            Check(
                f"{name}, {level}, threads={threads}",
                bool(wanted) and found == wanted,
                "other simhashes",
            )
            for (level, threads), found in values.items()
        ]
    return checks


@cache
def term_hash(word: str) -> int:
    """A text of one term is its hash."""
    found = roughly.simhash(word)
    assert found is not None
    return found


def simhash_in_python(text: str) -> int:
    """As section 2 of the paper has it, from the same hashes of terms."""
    v = [0] * 64
    for word, weight in Counter(words_fastest(text)).items():
        for bit in range(64):
            v[bit] += weight if term_hash(word) >> bit & 1 else -weight
    return sum(1 << bit for bit in range(64) if v[bit] > 0)


def check_values(texts: Sequence[str]) -> list[Check]:
    """The same simhashes, found by others."""
    found = list(Simhasher().simhash_batch(list(texts), "text"))
    plain = [simhash_in_python(text) for text in texts]
    checks = [
        Check("plain Python finds the same", bool(found) and found == plain, f"{len(found)} texts")
    ]
    package = _module("simhash")
    if package is not None:
        theirs = [
            package.Simhash(
                Counter(words_fastest(text)), hashfunc=lambda word: term_hash(word.decode())
            ).value
            for text in texts
        ]
        checks.append(
            Check("the package simhash finds the same", found == theirs, f"{len(found)} texts")
        )
    return checks


def distances(simhashes: Sequence[int | None]) -> list[int]:
    """Of every two in turn."""
    pairs = zip(simhashes[::2], simhashes[1::2], strict=True)
    return [((a or 0) ^ (b or 0)).bit_count() for a, b in pairs]


def check_copies(peers: Sequence[Peer], count: int) -> list[Check]:
    """Copies with one word of a hundred changed are nearer than other texts, by anybody's simhash;
    and ours does not tell them apart less well."""
    texts = english_texts(count, seed=11)
    copies = [each for n, text in enumerate(texts) for each in (text, edited(text, 0.01, n))]
    others = [each for a, b in pairwise(texts) for each in (a, b)]
    checks = []
    makers: dict[str, Callable[[Sequence[str]], Sequence[int | None]]] = {
        "roughly": lambda given: list(Simhasher().simhash_batch(list(given), "text"))
    } | {peer.name: peer.simhashes for peer in peers}
    for name, make in makers.items():
        near, far = distances(make(copies)), distances(make(others))
        mean = sum(near) / len(near), sum(far) / len(far)
        detail = f"{mean[0]:.1f} bits on average, other texts {mean[1]:.1f}"
        checks.append(Check(f"{name}: copies are nearer", mean[0] < mean[1] / 2, detail))
    return checks
