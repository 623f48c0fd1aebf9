"""Documents without near duplicates: who goes, who stays, why; and the input without those that go.

    result = dedup("crawl.jsonl", threshold=0.7)
    result.write("clean.jsonl")                     # and clean.jsonl.removals.jsonl
    dedup("new.jsonl", against="crawl.roughly")     # without what the corpus has, too

`rule` has the rule, `decision` applies it, `output` writes the input back.
"""

from __future__ import annotations

import os
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from roughly import _core
from roughly.clustering.workplace import Workplace
from roughly.condition import make_condition
from roughly.deduplication.against import (
    check_corpus,
    leave_out,
    simhash_of_corpus,
    sketcher_of_corpus,
)
from roughly.deduplication.result import Deduplicated
from roughly.deduplication.rule import Threshold, make_rule
from roughly.deduplication.run import deduplicate
from roughly.documents import Documents, open_documents
from roughly.errors import ParameterError
from roughly.parameters import memory_or_half, threads_or_all
from roughly.simhashing.simhasher import Simhasher
from roughly.sketcher import Sketcher

if TYPE_CHECKING:
    from roughly.corpus import Corpus

__all__ = ["Deduplicated", "dedup"]


def dedup(
    documents: Any,
    threshold: Threshold | None = None,
    *,
    keep: str | None = None,
    containment: Threshold | None = None,
    estimate: bool = False,
    method: str | None = None,
    distance: int | None = None,
    size_ratio: float | str | Fraction | None = None,
    within: str | None = None,
    simhasher: Simhasher | None = None,
    against: str | os.PathLike[str] | Corpus | None = None,
    sketcher: Sketcher | None = None,
    content_type: str = "auto",
    text_field: str | None = None,
    id_field: str | None = None,
    date_field: str | None = None,
    format: str | None = None,
    strict: bool = False,
    memory: int | str | None = None,
    threads: int | None = None,
) -> Deduplicated:
    """Finds the documents that can go because one much like them stays.

    Documents are taken in the order that `keep` says: "first" (as they come), "longest" (by
    tokens) or "newest" (by date; undated last). One goes if a document that stays and came before
    it resembles it at `threshold` (0.7 unless given) or more, or contains it at `containment` or
    more (then the longest come first unless `keep` says otherwise). Resemblance and containment are
    exact unless `estimate` leaves them to the sketches. Shingles alone count, not words of short
    documents.

    `method` is "shingles", "both" (their simhashes must also differ in at most `distance` bits, 3
    unless given) or "simhash" (these alone decide). `simhasher` makes the simhashes. With
    `size_ratio` a document goes only because of one whose size, its distinct shingles, is not
    further from its own; `within` lets only documents of one category matter to each other: "host",
    that of their URLs, or the name of a field of the input.

    `against` is a corpus: its documents come before all others and stay, so what it has already
    goes, too. It fixes the sketcher and the simhasher, and remains as it is.

    `documents`: a path, glob or directory; a list of texts or of Paths; a table, frame, dataset, or
    iterable of dicts. `memory` bounds what is used of it ("2G", or bytes; half of the
    machine's unless given).
    """
    if not (sketcher is None or isinstance(sketcher, Sketcher)):
        raise ParameterError(f"sketcher: wrong type: {type(sketcher).__name__}, wanted a Sketcher")
    condition = make_condition(method, distance, size_ratio, within, simhasher)
    if isinstance(against, str | os.PathLike):
        from roughly.corpus import Corpus

        against = Corpus(os.fspath(against))
    if against is None:
        sketcher = (Sketcher() if sketcher is None else sketcher).without_words()
    else:
        sketcher = sketcher_of_corpus(against, sketcher)
        stored = simhash_of_corpus(against)
        if simhasher is None and condition.simhash is not None and stored is not None:
            condition = replace(condition, simhash=stored)
        check_corpus(against, condition, estimate)
    rule = make_rule(threshold, containment, keep, estimate, sketcher, condition)
    root = os.fspath(documents) if isinstance(documents, str | os.PathLike) else None
    if not isinstance(documents, Documents):
        documents = open_documents(
            documents,
            text_field=text_field,
            id_field=id_field,
            date_field=date_field,
            category_field=condition.category_field,
            format=format,
            content_type=content_type,
            strict=strict,
        )
    elif documents.category_field != condition.category_field:
        raise ParameterError(
            f"documents: opened with the category field {documents.category_field!r}: wanted"
            f" {condition.category_field!r}",
            hint="give the same name to open_documents as category_field",
        )
    if against is not None:
        leave_out(documents, against)
    workplace = Workplace()
    memory_bytes = memory_or_half(memory)
    with _core.ResidentLimit(memory_bytes):
        return deduplicate(
            documents,
            rule,
            sketcher,
            workplace.path,
            against=against,
            threads=threads_or_all(threads),
            memory_bytes=memory_bytes,
            root=root,
            owner=workplace,
        )
