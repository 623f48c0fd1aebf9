"""The Web of 1996 as the 1997 paper found it, generated: the same documents in every run.

The paper (section 7): 30 million documents of 5 kB; 2.1 million clusters of identical documents
alone hold 5.3 million of them, 1.5 million clusters of a mixture of identical and similar ones hold
7 million. UNIT has these proportions exactly, in 300 documents, and the corpus is units one after
the other, shuffled by a step that is prime to their number, so that copies lie far apart.

What is distinct are *contents*, 250 in a unit. A content has, in blocks of ten words:
- one of four notices that a quarter of all have each: the shingles that the paper ignores
  as too common (in more than 1,000 documents);
- the boilerplate of its site, shared by 1 to 540 contents (SITES). It makes most of the pairs that
  the paper's expansion yields: they say nothing, and a sketch element of it costs the more the
  larger the site is;
- its own text, 79 blocks on average, half to one and a half of it. A similar content has that of
  its cluster's first, but for one run of up to a twelfth of the blocks.
All else is unique, so that unrelated documents share a shingle by chance only. What is shared comes
first: a block begins with its unique word, so no shingle goes from shared text into other text.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from math import gcd

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from bench.block_text import GOLDEN, Integers, Keys, blocks, names, numbered, record_batch

# Documents in each cluster of a unit.
IDENTICAL = [2] * 15 + [3] * 3 + [4] * 2 + [6]  # 21 clusters, 53 documents
MIXED = [2, 2, 3, 5, 7, 9] * 2 + [2, 3, 9]  # 15 clusters, 70 documents
DOCUMENTS = 300
# Of a mixed cluster's documents a third is identical to another one.
DISTINCT = [-(-2 * size // 3) for size in MIXED]
SINGLE = DOCUMENTS - sum(IDENTICAL) - sum(MIXED)
CONTENTS = SINGLE + len(IDENTICAL) + sum(DISTINCT)

# Contents of the sites among 2,500 of them. A document's site has 287 on average, and so a
# sketch element of its boilerplate makes 143 pairs for each document that has it.
SITES = [540, 400, 300, 250, 200, 160, 120, 100, 80, 70, 60]
SITES += [50, 45, 40, 30, 20, 15, 10, 4, 3, 2, 1]
NOTICES = 4
NOTICE_BLOCKS = 2
MOST_CHANGED = 12  # a twelfth of the blocks

# 60 bytes, as the paper's were on average.
_URL = "http://www.server-########.com/archive/1996/d@@@@@@@@@@.html"
# Families of keys.
_TEXT, _CHANGE, _SITE, _NOTICE, _LENGTH = range(1, 6)


@dataclass(frozen=True)
class Kind:
    """How documents of 5 kB are filled."""

    html: bool
    block_bytes: int
    own_blocks: int  # on average
    site_blocks: int


# 84 blocks of 60 bytes, or 50 of 100: with markup there are 20 sketch elements a document, as the
# paper has it. Less boilerplate then makes as many pairs an element.
TEXT = Kind(False, 60, 79, 3)
HTML = Kind(True, 100, 46, 2)


@cache
def unit() -> npt.NDArray[np.int64]:
    """For every document of a unit: its content, the content it is a change of, and which."""
    rows: list[tuple[int, int, int]] = [(content, content, 0) for content in range(SINGLE)]
    content = SINGLE
    for size in IDENTICAL:
        rows += [(content, content, 0)] * size
        content += 1
    for size, distinct in zip(MIXED, DISTINCT, strict=True):
        rows += [(content + of % distinct, content, of % distinct) for of in range(size)]
        content += distinct
    assert len(rows) == DOCUMENTS and content == CONTENTS
    return np.array(rows, dtype=np.int64)


@cache
def _site_of_place() -> npt.NDArray[np.int64]:
    return np.repeat(np.arange(len(SITES)), SITES)


def _step(count: int) -> int:
    """A number prime to `count`, near its golden section: multiples of it lie evenly."""
    step = max(1, round(count * 0.6180339887))
    while gcd(step, count) > 1:
        step += 1
    return step


@dataclass(frozen=True)
class Places:
    """What documents are, a column each; documents with equal `content` are identical."""

    content: Integers
    original: Integers  # the content whose text it has, its own if that was not changed
    change: Integers  # 0: not changed
    site: Integers


def places(documents: int, first: int, rows: int) -> Places:
    """What the documents from this one on are, of so many in all."""
    slot = (np.arange(first, first + rows) * _step(documents)) % documents
    number, row = np.divmod(slot, DOCUMENTS)
    content, original, change = unit()[row].T + np.stack([number * CONTENTS] * 2 + [number * 0])
    # Contents of one cluster are on different sites: the place within a region is shuffled too.
    region, place = np.divmod(content, sum(SITES))
    place = place * _step(sum(SITES)) % sum(SITES)
    site = region * len(SITES) + _site_of_place()[place]
    return Places(content, original, change, site)


def block_keys(
    documents: int, first: int, rows: int, seed: int = 0, kind: Kind = TEXT
) -> tuple[Places, Keys, Integers]:
    """What `rows` documents from this one on are, the keys of their blocks, and where each ends."""
    found = places(documents, first, rows)
    text = numbered(16 * seed + _TEXT, found.original)
    change = numbered(16 * seed + _CHANGE, found.content)
    site = numbered(16 * seed + _SITE, found.site)
    notice = numbered(16 * seed + _NOTICE, found.original % NOTICES)
    length = numbered(16 * seed + _LENGTH, found.original)
    own = kind.own_blocks // 2 + (length % np.uint64(kind.own_blocks + 1)).astype(np.int64)
    count = NOTICE_BLOCKS + kind.site_blocks + own
    ends = np.cumsum(count)
    begins = ends - count
    # Key n of a document is its own plus n times GOLDEN.
    keys = np.repeat(text - begins.astype(np.uint64) * GOLDEN, count)
    keys += np.arange(len(keys), dtype=np.uint64) * GOLDEN
    _write(keys, begins, np.full(rows, NOTICE_BLOCKS), notice)
    _write(keys, begins + NOTICE_BLOCKS, np.full(rows, kind.site_blocks), site)
    changed = np.flatnonzero(found.change)
    largest = np.maximum(own[changed] // MOST_CHANGED, 1)
    run = 1 + (change[changed] % largest.astype(np.uint64)).astype(np.int64)
    room = (own[changed] - run + 1).astype(np.uint64)
    at = ((change[changed] >> np.uint64(32)) % room).astype(np.int64)
    _write(keys, (ends - own)[changed] + at, run, change[changed])
    return found, keys, ends


def urls(found: Places, first: int) -> pa.Array:
    """Their addresses."""
    return names(_URL, {"#": found.site, "@": np.arange(first, first + len(found.content))})


def batch(
    documents: int, first: int, rows: int, seed: int = 0, kind: Kind = TEXT
) -> pa.RecordBatch:
    """`rows` documents from this one on."""
    found, keys, ends = block_keys(documents, first, rows, seed, kind)
    text = blocks(keys, kind.html)
    return record_batch(first, urls(found, first), text, ends * kind.block_bytes, kind.html)


def batches(
    documents: int, seed: int = 0, batch_rows: int = 1000, kind: Kind = TEXT
) -> Iterator[pa.RecordBatch]:
    """All documents, in the schema of `roughly.documents`."""
    for first in range(0, documents, batch_rows):
        yield batch(documents, first, min(batch_rows, documents - first), seed, kind)


def expansion(sketches: npt.NDArray[np.uint64], most: int = 1000) -> int:
    """Pairs that the paper's third phase expands these sketch elements of distinct documents into,
    leaving out those in more than `most` documents."""
    counts = np.unique(sketches, return_counts=True)[1].astype(np.int64)
    counts = counts[counts <= most]
    return int((counts * (counts - 1) // 2).sum())


def _write(keys: Keys, begin: Integers, count: Integers, key: Keys) -> None:
    """Other keys for runs of blocks."""
    number = np.arange(int(count.sum())) - np.repeat(np.cumsum(count) - count, count)
    keys[np.repeat(begin, count) + number] = (
        np.repeat(key, count) + number.astype(np.uint64) * GOLDEN
    )
