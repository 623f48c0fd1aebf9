"""A corpus that documents are held against: how they must be sketched, and which of its documents
can matter.

A document of the corpus can matter only if it has an element of its sketch, or its canonical form,
in common with one of the input; where simhashes decide, one of each simhash will do. The others
take no part, so that a small input costs one look at the sketches of a large corpus, and no join.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from roughly.condition import check_stored
from roughly.deduplication.equivalence import form_keys
from roughly.deduplication.rule import keep_order
from roughly.documents.file import printable
from roughly.errors import MismatchError, ParameterError
from roughly.simhashing.parameters import SimhashParameters
from roughly.sketcher import Sketcher

if TYPE_CHECKING:
    from roughly.condition import Attributes, Condition
    from roughly.corpus import Corpus
    from roughly.deduplication.pool import Pool
    from roughly.deduplication.rule import Keep
    from roughly.documents import Documents
    from roughly.storage.collection import Stored

Rows = npt.NDArray[np.int64]

# An odd number: its product's upper bits are spread evenly, whatever elements look like.
_MIX = np.uint64(0x9E3779B97F4A7C15)
# A byte for each sixteenth of an element, at most 128 MiB: what is marked by mistake costs a look.
_LEAST_BITS, _MOST_BITS = 16, 27


def sketcher_of_corpus(corpus: Corpus, wanted: Sketcher | None = None) -> Sketcher:
    """The sketcher that a corpus was made with, which must be the one that is wanted, if any."""
    made = corpus.manifest.parameters
    own = Sketcher.of(made)
    shown = printable(str(corpus.path))
    if own.parameters != made:
        raise MismatchError(
            f"{shown}: cannot be compared with: its sketches are of {made}, ours of"
            f" {own.parameters}",
            hint="cluster its documents again",
        )
    if wanted is not None and wanted != own:
        differing = [
            (name, getattr(wanted, name), getattr(own, name))
            for name in ("w", "words", "select", "seed", "bits")
            if getattr(wanted, name) != getattr(own, name)
        ]
        name, given, there = differing[0]
        raise MismatchError(
            f"{name}: differs from the corpus: {given}, wanted {there} as in {shown}",
            hint=f"leave out what says {name}: the corpus fixes it",
        )
    return own


def simhash_of_corpus(corpus: Corpus) -> SimhashParameters | None:
    """What the simhashes of a corpus were made with, if it has any."""
    made = corpus.segment.attributes.get("simhash")
    return None if made is None else SimhashParameters(**made)


def check_corpus(corpus: Corpus, condition: Condition, estimate: bool) -> None:
    """A corpus must have what the condition looks at; if it keeps no text it is good for estimates
    and for simhashes only."""
    check_stored(corpus.segment, condition)
    if not (estimate or condition.method == "simhash" or corpus.segment.has_text):
        raise ParameterError(
            f"{printable(str(corpus.path))}: cannot count exactly: the corpus keeps no text",
            hint="let sketches decide (--estimate), or make the corpus without --no-text",
        )


def leave_out(documents: Documents, corpus: Corpus) -> None:
    """A directory that is read may hold the corpus, whose files are no documents."""
    inside = os.path.join(os.path.realpath(corpus.path), "")
    documents.sources[:] = [
        source
        for source in documents.sources
        if not (source.found and os.path.realpath(source.path or "").startswith(inside))
    ]


def taking_part(pool: Pool, keep: Keep) -> tuple[Rows, int]:
    """The rows of a pool that can matter, in keep order, those of the corpus first; and how many
    these are."""
    own = keep_order(pool.segment, keep, pool.scratch)
    if pool.corpus is None:
        return own, 0
    own += pool.base
    known = keep_order(pool.corpus, keep)
    keys = form_keys(pool)
    can_matter = np.isin(keys[: len(pool.corpus)], keys[pool.base :])
    del keys
    if pool.condition.method == "simhash":
        can_matter[known[_first_of_equal(pool.attributes, known)]] = True
    else:
        can_matter |= _have_common_element(pool.corpus, pool.segment)
    known = known[can_matter[known]]
    return np.concatenate((known, own)), len(known)


def _first_of_equal(attributes: Attributes, rows: Rows) -> Rows:
    """Which of some rows have a simhash, and are the first with it and all else that counts."""
    assert attributes.simhash is not None and attributes.has_simhash is not None
    places = np.flatnonzero(attributes.has_simhash[rows])
    columns: list[npt.NDArray[Any]] = [attributes.simhash[rows[places]]]
    if attributes.condition.size_ratio is not None:
        columns.append(attributes.size[rows[places]])
    if attributes.category is not None:
        columns.append(attributes.category[rows[places]])
    order = np.lexsort(columns)
    starts = np.ones(len(order), dtype=bool)
    starts[1:] = np.any([np.diff(column[order]) != 0 for column in columns], axis=0)
    return places[order[starts]]


def _have_common_element(corpus: Stored, segment: Stored) -> npt.NDArray[np.bool_]:
    """Which documents of the corpus may have an element in common with the segment's."""
    elements = sum(len(segment.chunk(part)[0]) for part in range(segment.parts))
    bits = min(max((16 * elements).bit_length(), _LEAST_BITS), _MOST_BITS)
    shift = np.uint64(64 - bits)
    marked = np.zeros(1 << bits, dtype=bool)
    for part in range(segment.parts):
        marked[segment.chunk(part)[0] * _MIX >> shift] = True
        segment.release()
    found = np.zeros(len(corpus), dtype=bool)
    for part in range(corpus.parts):
        values, offsets = corpus.chunk(part)
        hits = np.concatenate(([0], np.cumsum(marked[values * _MIX >> shift])))
        begin, _ = corpus.rows(part)
        found[begin : begin + len(offsets) - 1] = hits[offsets[1:]] > hits[offsets[:-1]]
        corpus.release()
    return found
