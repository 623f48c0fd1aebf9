"""Documents without near duplicates: who goes, who stays, why; and the input without those that go.

    result = dedup("crawl.jsonl", threshold=0.7)
    result.write("clean.jsonl")                     # and clean.jsonl.removals.jsonl
    dedup("new.jsonl", against="crawl.roughly")     # without what the corpus has, too

`rule` has the rule, `decision` applies it, `output` writes the input back.
"""

from __future__ import annotations

import os
from typing import Any

from roughly.clustering.workplace import Workplace
from roughly.corpus import Corpus
from roughly.deduplication.against import check_text, leave_out, sketcher_of_corpus
from roughly.deduplication.result import Deduplicated
from roughly.deduplication.rule import Threshold, make_rule
from roughly.deduplication.run import deduplicate
from roughly.documents import Documents, open_documents
from roughly.errors import ParameterError
from roughly.parameters import memory_or_half, threads_or_all
from roughly.sketcher import Sketcher

__all__ = ["Deduplicated", "dedup"]


def dedup(
    documents: Any,
    threshold: Threshold = 0.7,
    *,
    keep: str | None = None,
    containment: Threshold | None = None,
    estimate: bool = False,
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
    it resembles it at `threshold` or more, or contains it at `containment` or more (then the
    longest come first unless `keep` says otherwise). Resemblance and containment are exact unless
    `estimate` leaves them to the sketches.

    `against` is a corpus: its documents come before all others and stay, so what it has already
    goes, too. It fixes the sketcher, and remains as it is.

    `documents`: a path, glob or directory; a list of texts or of Paths; a table, frame, dataset, or
    iterable of dicts. `memory` bounds what is used of it ("2G", or bytes; half of the
    machine's unless given).
    """
    if not (sketcher is None or isinstance(sketcher, Sketcher)):
        raise ParameterError(f"sketcher: wrong type: {type(sketcher).__name__}, wanted a Sketcher")
    if isinstance(against, str | os.PathLike):
        against = Corpus(os.fspath(against))
    if against is None:
        sketcher = Sketcher() if sketcher is None else sketcher
    else:
        sketcher = sketcher_of_corpus(against, sketcher)
        check_text(against, estimate)
    rule = make_rule(threshold, containment, keep, estimate, sketcher)
    root = os.fspath(documents) if isinstance(documents, str | os.PathLike) else None
    if not isinstance(documents, Documents):
        documents = open_documents(
            documents,
            text_field=text_field,
            id_field=id_field,
            date_field=date_field,
            format=format,
            content_type=content_type,
            strict=strict,
        )
    if against is not None:
        leave_out(documents, against)
    workplace = Workplace()
    return deduplicate(
        documents,
        rule,
        sketcher,
        workplace.path,
        against=against,
        threads=threads_or_all(threads),
        memory_bytes=memory_or_half(memory),
        root=root,
        owner=workplace,
    )
