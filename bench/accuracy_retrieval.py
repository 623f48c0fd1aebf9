"""Sets whose labels are no pairs: retyped licences, licences in files, pages and their bodies.

- spdx: the same licence typed twice. Licence families make other pairs alike too, so that recall at
  a threshold can be read from it and precision cannot.
- spdx as HTML and as text, html_pages: what the canonical form makes of markup.
- licences: which reference text is in a file; recall among the first results of a containment
  search, the product's own order beside plain ones.
"""

import tempfile
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

import roughly
from bench.accuracy_method import (
    BAND_PERMUTATIONS,
    CEILING,
    CLUSTER,
    PERMUTATIONS,
    SELECT,
    WORDS,
    Documents,
    W,
    banded,
    datasketch_resemblance,
    minhash_signatures,
    verified,
)
from bench.accuracy_score import Floats
from bench.accuracy_set import Flags, Integers, rows, sentence_pairs
from bench.report import Result, Section, Table
from roughly import Simhasher, _core
from roughly.clustering.sketches import Sketches

LEAST = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
FIRST = (1, 3, 10)
KINDS = ("text", "variant", "notice", "multi")


def spdx(folder: Path, widths: Sequence[int]) -> Section:
    """The same licence, typed twice."""
    pairs = rows(folder / "pairs.jsonl.gz")
    section = Section("spdx", f"{len(pairs)} licences, each typed by two projects: recall")
    same = sentence_pairs("spdx", [(row["a"], row["b"], True) for row in pairs])
    documents = Documents(same)
    exact = documents.resemblance(words=WORDS)
    estimate = documents.resemblance(select=SELECT, words=WORDS)
    shares: list[tuple[str, Floats]] = [
        (f"exact shingles, w={w}", documents.resemblance(w)) for w in widths
    ]
    shares += [
        (CEILING, exact),
        (f"exact containment, w={W}", documents.containment()),
        (f"roughly estimate, {SELECT}", estimate),
        ("roughly verified", verified(exact, estimate)),
        (f"roughly containment, {SELECT}", documents.containment(select=SELECT)),
    ]
    found = datasketch_resemblance(documents, W)
    if found is not None:
        shares.append((f"datasketch MinHash {PERMUTATIONS}, w={W}", found))
    table = [(name, *(reaching(share, least) for least in LEAST)) for name, share in shares]
    bands = banded("", minhash_signatures(documents, W), same)
    at = {float(label): level for level, label in enumerate(bands.labels)}
    table.append(
        (
            f"banded MinHash {BAND_PERMUTATIONS}, w={W}",
            *(float(bands.said(at[least]).mean()) for least in LEAST),
        )
    )
    section.tables.append(Table(("recall at resemblance", *map(str, LEAST)), table))
    bits = documents.distance(Simhasher())
    ks = (3, 6, 8, 10, 12, 16)
    section.tables.append(
        Table(
            ("recall within bits", *map(str, ks)),
            [("simhash of terms", *(float((bits <= k).mean()) for k in ks))],
        )
    )
    off = np.abs(estimate - exact)
    section.notes.append(
        f"estimates are off by {off.mean():.4f} on average, by {off.max():.3f} at most"
    )
    for name, share in (
        ("exact", exact),
        ("estimated", estimate),
        ("verified", verified(exact, estimate)),
    ):
        section.results.append(
            Result(
                f"{name}: same licence at {CLUSTER}",
                100 * reaching(share, CLUSTER),
                "%",
                ">=",
                96.5,
            )
        )
    return section


def reaching(share: Floats, least: float) -> float:
    """The share of pairs that have at least so much."""
    return float((share >= least - 1e-9).mean())


def spdx_html(folder: Path) -> Section:
    """A licence as HTML and as text."""
    pairs = rows(folder / "html_pairs.jsonl.gz")
    section = Section("spdx html", f"{len(pairs)} licences as HTML and as text")
    html = tokens([row["html"] for row in pairs], "html")
    text = tokens([row["text"] for row in pairs], "text")
    equal = np.mean([one == two for one, two in zip(html, text, strict=True)])
    alike = np.array(
        [
            roughly.resemblance(b" ".join(one).decode(), b" ".join(two).decode(), W, "text")
            for one, two in zip(html, text, strict=True)
        ]
    )
    section.results += [
        Result("equal token for token", 100 * float(equal), "%", ">=", 84),
        Result("resembling at 0.97 or more", 100 * reaching(alike, 0.97), "%", ">=", 90),
    ]
    return section


def html_pages(folder: Path) -> Section:
    """Pages whose bodies people copied out by hand: is the body in the page's canonical form?"""
    pages = [page for page in rows(folder / "pages.jsonl.gz") if page.get("body")]
    section = Section("html_pages", f"{len(pages)} pages whose bodies were taken out by hand")
    html = tokens([page["html"] for page in pages], "html")
    body = tokens([page["body"] for page in pages], "text")
    found = np.array(
        [
            roughly.containment(b" ".join(one).decode(), b" ".join(two).decode(), W, "text")
            for one, two in zip(body, html, strict=True)
        ]
    )
    section.results += [
        Result("of a body in the page's canonical form, mean", 100 * float(found.mean()), "%"),
        Result("bodies of which nine tenths are there", 100 * reaching(found, 0.9), "%"),
    ]
    return section


def tokens(texts: Sequence[str], content_type: str) -> list[list[bytes]]:
    """The canonical tokens of documents."""
    data, offsets = _core.token_batch(
        [text.encode("utf-8", "replace") for text in texts], content_type, 1
    )
    joined, ends = data.tobytes(), offsets.tolist()
    return [joined[at:end].split() for at, end in pairwise(ends)]


# --- licences -------------------------------------------------------------------------------------


def licences(folder: Path) -> Section:
    """Which reference is in a file."""
    references, queries = (rows(folder / f"{name}.jsonl.gz") for name in ("refs", "queries"))
    queries = [query for query in queries if query["kind"] in KINDS]
    section = Section(
        "licences", f"{len(references):,} references, {len(queries):,} files: is one that is in it"
    )
    section.title += " among the first results"
    names = [reference["id"] for reference in references]
    number = {name: at for at, name in enumerate(names)}
    wanted = [{number[key] for key in query["keys"] if key in number} for query in queries]
    orders: list[tuple[str, list[Sequence[int]]]] = [
        (f"roughly find, {select}", _found(references, queries, number, select))
        for select in (SELECT, "all")
    ]
    orders += _plain_orders(references, queries)
    kinds = np.array([query["kind"] for query in queries])
    table = []
    for name, order in orders:
        row: list[Any] = [name]
        for kind in KINDS:
            row += [
                first_hits(
                    [w for w, k in zip(wanted, kinds, strict=True) if k == kind],
                    [o for o, k in zip(order, kinds, strict=True) if k == kind],
                    first,
                )
                for first in ((1, 3) if kind == "text" else (3,))
            ]
        table.append(row)
    heads = ("order", "text: 1st", "text: first 3", *(f"{kind}: first 3" for kind in KINDS[1:]))
    section.tables.append(Table(heads, table))
    for row in table[:2]:
        section.results.append(
            Result(f"text queries, first three: {row[0]}", 100 * row[2], "%", ">=", 90)
        )
    return section


def first_hits(wanted: Sequence[set[int]], order: Sequence[Sequence[int]], first: int) -> float:
    """The share of queries of which one that is wanted is among the first results."""
    hits = [
        not own.isdisjoint(found[:first]) for own, found in zip(wanted, order, strict=True) if own
    ]
    return sum(hits) / len(hits) if hits else 0.0


def _found(
    references: Iterable[dict[str, Any]],
    queries: Iterable[dict[str, Any]],
    number: dict[str, int],
    select: str,
) -> list[Sequence[int]]:
    """What a containment search of the product says, in its order."""
    with tempfile.TemporaryDirectory() as scratch:
        corpus = roughly.Corpus.create(
            Path(scratch) / "licences.roughly", roughly.Sketcher(select=select)
        )
        corpus.add(
            [{"id": each["id"], "text": each["text"]} for each in references], content_type="text"
        )
        return [
            [
                number[match.id]
                for match in corpus.find(
                    query["text"], containment=0.5, limit=max(FIRST), content_type="text"
                )
            ]
            for query in queries
        ]


def _plain_orders(
    references: Sequence[dict[str, Any]], queries: Sequence[dict[str, Any]]
) -> list[tuple[str, list[Sequence[int]]]]:
    """By exact containment of the reference alone, by that and what is in common, and by
    resemblance, which is what MinHash estimates."""
    texts = [each["text"] for each in (*references, *queries)]
    batch = roughly.Sketcher(w=W, select="all").sketch_batch(texts, "text")
    some = Sketches.of_batch(batch).taking_part(np.arange(len(texts), dtype=np.uint32))
    count = len(references)
    size = batch.columns.size.astype(np.float64)
    orders: dict[str, list[Sequence[int]]] = {
        "exact containment alone": [],
        "exact containment x common": [],
        "exact resemblance": [],
    }
    pairs = np.zeros((count, 4), dtype=np.uint32)
    pairs[:, 0] = np.arange(count)
    for query in range(count, len(texts)):
        pairs[:, 1] = query
        common = some.measure("contained", pairs, 1)[:, 2].astype(np.float64)
        inside = common / np.maximum(size[:count], 1)
        alike = common / np.maximum(size[:count] + size[query] - common, 1)
        for order, by in zip(
            orders.values(), (inside, inside * np.log1p(common), alike), strict=True
        ):
            order.append(_first(by))
    return list(orders.items())


def _first(by: Floats) -> list[int]:
    best: Integers = np.argsort(-by, kind="stable")[: max(FIRST)]
    kept: Flags = by[best] > 0
    return best[kept].tolist()
