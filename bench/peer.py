"""From raw text to something that estimates resemblance, beside datasketch and rensa.

Both peers take shingles as strings or bytes, so their users cut text into words and words into
shingles in Python, and that is most of their time. Each gets the fastest way found for it: words by
`str.translate` and `split` where the text is ASCII (up to half as fast again as a regular
expression, the same words) and by a regular expression elsewhere, shingles by
`map(" ".join, zip(...))`, all documents in one call. The words are those that roughly finds, and on
sample pairs every estimate is checked against the exact resemblance of the same shingles.
"""

import importlib
import os
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from math import sqrt
from typing import Any

import roughly
from bench.corpus import Corpus, arrow_batches
from bench.measure import Scale, Task, level_that_counts, measure
from bench.report import Check, Result, Section
from bench.shingle import WORD, W, shingles, words_fastest
from bench.sketch import sketch_all
from bench.text import edited, english_texts

PERMUTATIONS = 128

Words = Callable[[str], list[str]]
Estimates = Callable[[Sequence[str], Sequence[str]], list[float]]


def words_by_expression(text: str) -> list[str]:
    """The same words again, slower."""
    return WORD.findall(text.lower())


def words_by_split(text: str) -> list[str]:
    """Other words: punctuation stays on them, so that a comma makes a shingle another one."""
    return text.lower().split()


@dataclass(frozen=True)
class Peer:
    """One way to use a peer."""

    name: str
    package: str
    signatures: Callable[[Sequence[str]], Any]
    jaccard: Callable[[Any, int, int], float] | None  # of rows of the signatures; None: no estimate
    wanted: float | None = None  # how many times faster roughly should be


def _module(name: str) -> Any | None:
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def _datasketch_peers(datasketch: Any) -> Iterator[Peer]:
    def signatures(texts: Sequence[str], **keywords: Any) -> Any:
        sets = ([s.encode() for s in shingles(words_fastest(text))] for text in texts)
        return datasketch.MinHash.bulk(sets, num_perm=PERMUTATIONS, **keywords)

    def jaccard(rows: Any, a: int, b: int) -> float:
        return float(rows[a].jaccard(rows[b]))

    yield Peer("datasketch MinHash.bulk", "datasketch", signatures, jaccard, 60.0)
    faster = partial(signatures, hashfunc=zlib.crc32)
    yield Peer("datasketch MinHash.bulk, crc32 for SHA-1", "datasketch", faster, jaccard)


def _rensa_peers(rensa: Any) -> Iterator[Peer]:
    def each(texts: Sequence[str]) -> Any:
        rows = []
        for text in texts:
            row = rensa.RMinHash(num_perm=PERMUTATIONS, seed=42)
            row.update(shingles(words_fastest(text)))
            rows.append(row)
        return rows

    def jaccard_each(rows: Any, a: int, b: int) -> float:
        return float(rows[a].jaccard(rows[b]))

    def matrix(words: Words, texts: Sequence[str]) -> Any:
        sets = (shingles(words(text)) for text in texts)
        return rensa.RMinHash.digest_matrix_from_token_sets(sets, PERMUTATIONS, 42)

    def rho(texts: Sequence[str]) -> Any:
        sets = (shingles(words_fastest(text)) for text in texts)
        return rensa.RMinHash.digest_matrix_from_token_sets_rho(sets, PERMUTATIONS, 42)

    def jaccard_matrix(rows: Any, a: int, b: int) -> float:
        listed = rows.to_rows()
        agreeing = sum(one == two for one, two in zip(listed[a], listed[b], strict=True))
        return int(agreeing) / PERMUTATIONS

    yield Peer("rensa RMinHash.update, a document at a time", "rensa", each, jaccard_each, 15.0)
    by_fastest = partial(matrix, words_fastest)
    yield Peer("rensa digest matrix of a batch", "rensa", by_fastest, jaccard_matrix, 15.0)
    by_expression = partial(matrix, words_by_expression)
    yield Peer(
        "rensa digest matrix, words by regular expression", "rensa", by_expression, jaccard_matrix
    )
    by_split = partial(matrix, words_by_split)
    yield Peer("rensa digest matrix, other words (split alone)", "rensa", by_split, None)
    yield Peer("rensa rho matrix (a sample of the shingles)", "rensa", rho, None)


def installed_peers() -> list[Peer]:
    """Those that are there; the tests' environment has none."""
    # rensa would use every core, and one core is what is compared.
    os.environ.setdefault("RAYON_NUM_THREADS", "1")
    makers = {"datasketch": _datasketch_peers, "rensa": _rensa_peers}
    return [
        peer
        for name, make in makers.items()
        if (module := _module(name)) is not None
        for peer in make(module)
    ]


def sample_pairs(count: int) -> list[tuple[str, str]]:
    """Texts and edited copies, from nearly the same to hardly alike."""
    shares = (0.002, 0.01, 0.03, 0.07, 0.15)
    texts = english_texts(count, seed=7)
    return [
        (text, edited(text, shares[number % len(shares)], number))
        for number, text in enumerate(texts)
    ]


def exact_jaccard(a: str, b: str) -> float:
    """Of the sets of shingles, in plain Python."""
    one, two = (set(shingles(words_fastest(text))) for text in (a, b))
    return len(one & two) / len(one | two)


def check_estimates(name: str, estimates: Sequence[float], exact: Sequence[float]) -> Check:
    """Within five standard errors of 128 samples, and two samples, of the exact value on each pair;
    and off by no more than half a standard error on average, or the estimate is biased."""
    errors = [sqrt(value * (1 - value) / PERMUTATIONS) for value in exact]
    differences = [one - two for one, two in zip(estimates, exact, strict=True)]
    near = all(
        abs(difference) <= 5 * error + 2 / PERMUTATIONS
        for difference, error in zip(differences, errors, strict=True)
    )
    count = max(1, len(exact))
    bias, error = sum(differences) / count, sum(errors) / count
    centred = abs(bias) <= error * max(0.5, 4 / sqrt(count))
    spread = sum(map(abs, differences)) / count
    detail = f"off by {spread:.3f}, bias {bias:+.3f}, on {len(exact)} pairs"
    return Check(f"{name} estimates resemblance", bool(exact) and near and centred, detail)


def check_exact(found: Sequence[float], exact: Sequence[float]) -> Check:
    """roughly's exact resemblance is that of the sets in plain Python."""
    same = all(abs(one - two) < 1e-12 for one, two in zip(found, exact, strict=True))
    lowest, highest = min(exact, default=0), max(exact, default=0)
    detail = f"{len(exact)} pairs, resemblance {lowest:.2f} to {highest:.2f}"
    return Check("roughly.resemblance is that of sets in Python", bool(exact) and same, detail)


def run(corpus: Corpus, scale: Scale) -> Section:
    level = level_that_counts()
    texts = corpus.texts[: scale.peer_texts]
    size = sum(len(text.encode()) for text in texts)
    section = Section("peer", f"raw text -> estimate of resemblance, w={W}, one core, beside peers")
    section.notes.append(f"peers: {len(texts)} of the same texts, {PERMUTATIONS} permutations")

    # roughly has all texts: the peers' share alone would stay in its cache.
    own_size = sum(len(text.encode()) for text in corpus.texts)
    own = Task(
        f"roughly adaptive:200, {level}",
        partial(sketch_all, roughly.Sketcher(), arrow_batches(corpus.texts), 1, level, "auto"),
        own_size,
    )
    minima = Task(
        f"roughly perm:{PERMUTATIONS}, {level}",
        partial(
            sketch_all,
            roughly.Sketcher(select=f"perm:{PERMUTATIONS}"),
            arrow_batches(corpus.texts),
            1,
            level,
            "auto",
        ),
        own_size,
    )
    peers = installed_peers()
    tasks = [Task(peer.name, partial(peer.signatures, texts), size) for peer in peers]
    timings = measure([own, minima, *tasks], scale)
    section.timings = list(timings.values())
    for peer in peers:
        ratio = timings[own.name].best / timings[peer.name].best
        relation = ">=" if peer.wanted else ""
        section.results.append(Result(f"against {peer.name}", ratio, "x", relation, peer.wanted))
    for package in ("datasketch", "rensa"):
        if package not in {peer.package for peer in peers}:
            section.notes.append(f"{package} is not installed: no comparison")

    _check(section, peers, scale)
    return section


def _check(section: Section, peers: Sequence[Peer], scale: Scale) -> None:
    pairs = sample_pairs(scale.pairs)
    exact = [exact_jaccard(a, b) for a, b in pairs]
    section.checks.append(check_exact([roughly.resemblance(a, b, w=W) for a, b in pairs], exact))
    for select in ("adaptive:200", f"perm:{PERMUTATIONS}"):
        sketcher = roughly.Sketcher(select=select)
        found = [sketcher.sketch(a).resemblance(sketcher.sketch(b)).value for a, b in pairs]
        section.checks.append(check_estimates(f"roughly {select}", found, exact))
    flat = [text for pair in pairs for text in pair]
    for peer in peers:
        if peer.jaccard is None:
            continue
        rows = peer.signatures(flat)
        found = [peer.jaccard(rows, 2 * at, 2 * at + 1) for at in range(len(pairs))]
        section.checks.append(check_estimates(peer.name, found, exact))
