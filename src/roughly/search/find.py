"""Documents like a given one: neighbours by their sketches, settled by the text where that is asked
for or needed, named and ranked.

Best first: what is equivalent; then what resembles, by resemblance; then what contains the query or
is contained in it, by containment times how much is in common - else a notice of ten words that is
wholly in the query would come before the page it was copied from. Ties go to the lower row.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from roughly.errors import ParameterError
from roughly.estimate import Estimate, containment_interval, resemblance_interval
from roughly.search.exact import FEW, blind_rows, count_exactly
from roughly.search.match import Found, Kind, Match, Promise
from roughly.search.query import Query
from roughly.search.recall import BELIEVED, COUNTED, SCANNED, Recall
from roughly.search.restriction import Restriction
from roughly.search.rule import DEFAULT_THRESHOLD, Rule
from roughly.search.searcher import Searcher, Threshold, ratio
from roughly.sketch import EQUIVALENT_SAMPLES

if TYPE_CHECKING:
    from roughly.storage.collection import Collection

Numbers = npt.NDArray[np.int64]
Progress = Callable[[str, int | None, str], Callable[[int], None]]

# Documents whose text is read to settle them, the best by their estimates, unless more or all are
# to be shown.
_MOST_SETTLED = 100
# Of files of documents no more stays in memory after a search.
MOST_HELD = 1 << 24
# Equal sketches whose canonical forms are compared, to tell lexical from shingle equivalence.
_MOST_EQUAL = 4096

# Matches that are named one by one.
_FEW_ROWS = 64
# Kinds that are known by a hash of the whole document, not by samples.
_SAME_SHINGLES = ("identical", "lexical")


def _no_progress(name: str, total: int | None, unit: str) -> Callable[[int], None]:
    return lambda done: None


@dataclass(slots=True)
class Counts:
    """Of some rows what they have in common with the query: from sketches, or from the text."""

    rows: Numbers
    common: Numbers
    sampled: Numbers  # of both
    of_query: Numbers  # words not counted, nor in the next two
    of_found: Numbers
    inside: Numbers  # of both of these
    exact: npt.NDArray[np.bool_]

    @classmethod
    def of(cls, rows: Numbers, columns: Numbers, exact: bool) -> Counts:
        """With the five counts as columns."""
        common, sampled, of_query, of_found, inside = columns.T
        every = np.full(len(rows), exact)
        return cls(rows, common, sampled, of_query, of_found, inside, every)

    def take(self, chosen: npt.NDArray[np.generic]) -> Counts:
        names = self.__dataclass_fields__
        return Counts(*(getattr(self, name)[chosen] for name in names))

    def same(self) -> npt.NDArray[np.bool_]:
        """Which have all in common."""
        shingles = (self.inside == self.of_query) & (self.inside == self.of_found)
        found: npt.NDArray[np.bool_] = shingles & (self.common == self.sampled)
        return found

    def __len__(self) -> int:
        return len(self.rows)


def find(
    collection: Collection,
    searcher: Searcher,
    query: Query,
    rule: Rule,
    *,
    limit: int | None = 10,
    exact: bool | None = None,
    threads: int = 1,
    progress: Progress = _no_progress,
    restriction: Restriction | None = None,
) -> Found:
    """What is like the query, and comparable with it if there is a restriction. `exact`: True
    counts by the stored text, and searches all text that the sketches say too little of; False
    believes the estimates; None has only what rests on few samples counted."""
    has_text = collection.has_text and query.text is not None
    if exact and not has_text:
        raise ParameterError(
            "exact: not to be had: the corpus was made without text"
            if query.text is not None or not collection.has_text
            else "exact: not to be had: the document's text is not known",
            hint="leave out --exact, or make the corpus anew without --no-text",
        )
    settle = exact is None and has_text
    recall = Recall(searcher, query, rule, SCANNED if exact else COUNTED if settle else BELIEVED)
    scanned = uncounted = 0
    if len(query.columns.values):
        counts = _by_sketch(searcher, query, recall, threads)
    else:
        counts = _without_sketch(collection, searcher, query)
    counts = _comparable(collection, restriction, counts)
    if query.row is not None:
        counts = counts.take(counts.rows != query.row)
    beyond = counts.take(np.zeros(0, np.intp))
    if exact and query.size:
        counts, scanned = _by_text(
            collection, searcher, query, rule, recall, counts, threads, progress
        )
        counts = _comparable(collection, restriction, counts)
    elif settle and query.size:
        most = len(counts) if limit is None else max(limit, _MOST_SETTLED)
        counts, beyond, uncounted = _settled(collection, query, rule, counts, threads, most)
    order, identical = _ranked(collection, searcher, query, rule, counts)
    total = len(order) + len(beyond)
    chosen = order if limit is None else order[:limit]
    matches = named(collection, searcher, query, rule, counts.take(chosen), identical)
    if limit is not None and len(matches) < limit and len(beyond):
        some = beyond.take(np.arange(min(limit - len(matches), len(beyond))))
        matches += named(collection, searcher, query, rule, some, {})
    if restriction is not None and restriction.condition.simhash is not None:
        rows = np.array([match.row for match in matches], np.int64)
        bits = restriction.distances(collection, rows).tolist()
        matches = [replace(m, distance=b) for m, b in zip(matches, bits, strict=True)]
    collection.release_beyond(MOST_HELD)
    promise = recall.promise()
    if exact and query.size:
        promise = Promise(1.0, promise.documents, 0, 1.0)  # what may be missed was searched
    return Found(matches, total, promise, scanned, query.size, uncounted)


def _comparable(collection: Collection, restriction: Restriction | None, counts: Counts) -> Counts:
    if restriction is None:
        return counts
    return counts.take(restriction.comparable(collection, counts.rows))


def _by_sketch(searcher: Searcher, query: Query, recall: Recall, threads: int) -> Counts:
    """Whose samples go through the sieve."""
    table = searcher.neighbours_from(
        query.columns,
        recall.floors(),
        least_contained=recall.sieve.least,
        threads=threads,
    ).astype(np.int64)
    counts = Counts.of(table[:, 1], table[:, 2:], exact=False)
    if not recall.sieve.slack:
        return counts
    return counts.take(
        recall.through(
            resembles=(counts.common, counts.sampled),
            contained=(counts.inside, counts.of_query),
            contains=(counts.inside, counts.of_found),
        )
    )


def _without_sketch(collection: Collection, searcher: Searcher, query: Query) -> Counts:
    """A query without a single element, for it is empty or none of its few shingles was kept: only
    documents of the same canonical form can be known."""
    found = []
    for shelf in searcher.shelves:
        records = shelf.index.all_records()
        rows = np.flatnonzero((records["kept"] == 0) & (records["size"] == query.size))
        if shelf.removed is not None:
            gone = np.unpackbits(shelf.removed, count=len(records), bitorder="little")
            rows = rows[gone[rows] == 0]
        found.append(rows + shelf.first_row)
    rows = np.concatenate([np.zeros(0, np.int64), *found])
    same = _hex(collection, "canonical", rows) == query.canonical_hash
    rows = rows[same]
    whole = np.full(len(rows), query.size, np.int64)
    return Counts.of(rows, np.column_stack([whole] * 5), exact=True)


def _by_text(
    collection: Collection,
    searcher: Searcher,
    query: Query,
    rule: Rule,
    recall: Recall,
    counts: Counts,
    threads: int,
    progress: Progress,
) -> tuple[Counts, int]:
    """Candidates, and what sketches may miss, counted exactly; and how many of the latter there
    were."""
    blind = blind_rows(searcher, query, rule.least_size(query), recall)
    if query.row is not None:
        blind = blind[blind != query.row]
    rows = np.union1d(counts.rows, blind)
    advance = progress("text", len(rows), "documents")
    exactly = _counted(collection, query, rows, threads, advance)
    return exactly.take(_reaching(exactly, rule)), len(blind)


def _settled(
    collection: Collection, query: Query, rule: Rule, counts: Counts, threads: int, most: int
) -> tuple[Counts, Counts, int]:
    """Who was found by few samples only, or by slightly fewer than are wanted, is counted exactly:
    at most so many, the best. Of the others those that reach by their estimates, best first; and
    how many others there are."""
    complete = counts.of_query == query.size
    reached = _reaching(counts, rule)
    sure = reached & (complete | (np.minimum(counts.of_query, counts.of_found) >= FEW))
    doubtful = np.flatnonzero(~complete & ~sure)
    certain = counts.take(sure)
    if not len(doubtful):
        return certain, counts.take(doubtful), 0
    by_likeness = doubtful[np.argsort(-_likeness(counts.take(doubtful), rule), kind="stable")]
    exactly = _counted(collection, query, np.sort(counts.rows[by_likeness[:most]]), threads)
    exactly = exactly.take(_reaching(exactly, rule))
    beyond = by_likeness[most:]
    names = Counts.__dataclass_fields__
    together = Counts(*(np.concatenate((getattr(certain, n), getattr(exactly, n))) for n in names))
    return together, counts.take(beyond[reached[beyond]]), len(beyond)


def _counted(
    collection: Collection,
    query: Query,
    rows: Numbers,
    threads: int,
    advance: Callable[[int], None] = lambda done: None,
) -> Counts:
    inside, sizes, common_words, words = count_exactly(collection, query, rows, threads, advance).T
    own = np.full(len(rows), query.size, np.int64)
    common = inside + common_words
    sampled = own + query.words + sizes + words - common
    return Counts(rows, common, sampled, own, sizes, inside, np.ones(len(rows), bool))


def _reaching(counts: Counts, rule: Rule) -> npt.NDArray[np.bool_]:
    """Which of them reach a threshold."""

    def reach(part: Numbers, whole: Numbers, threshold: Threshold) -> npt.NDArray[np.bool_]:
        numerator, denominator = ratio("threshold", threshold)
        enough: npt.NDArray[np.bool_] = part * denominator >= numerator * whole
        return enough & (whole > 0)

    found = np.zeros(len(counts), bool)
    if rule.threshold is not None:
        found |= reach(counts.common, counts.sampled, rule.threshold)
    if rule.containment is not None and rule.contained:
        found |= reach(counts.inside, counts.of_query, rule.containment)
    if rule.containment is not None and rule.contains:
        found |= reach(counts.inside, counts.of_found, rule.containment)
    return found


def share_of(part: Numbers, whole: Numbers) -> npt.NDArray[np.float64]:
    return part / np.maximum(whole, 1)


def _likeness(counts: Counts, rule: Rule) -> npt.NDArray[np.float64]:
    """What containments are ranked by: containment times how much is in common, which is in
    proportion to the share of the query. Of documents inside the query their own containment
    counts, of others the query's."""
    of_query = share_of(counts.inside, counts.of_query)
    of_found = share_of(counts.inside, counts.of_found)
    likeness: npt.NDArray[np.float64] = of_query * (of_query if not rule.contains else of_found)
    return likeness


def _ranked(
    collection: Collection, searcher: Searcher, query: Query, rule: Rule, counts: Counts
) -> tuple[npt.NDArray[np.intp], dict[int, Kind]]:
    """The order of the matches, and the kinds of those that are equivalent."""
    equal = counts.same()
    kinds = equivalent(collection, searcher, query, counts.rows[equal], counts.common[equal])
    rank = {"identical": 0, "lexical": 1, "empty": 1, "shingle": 2}
    first = np.full(len(counts), 4, np.int64)
    resembles = share_of(counts.common, counts.sampled)
    likeness = _likeness(counts, rule)
    if rule.threshold is not None:
        near = _reaching(counts, Rule(rule.threshold, None))
        first[near] = 3
        likeness = np.where(near, resembles, likeness)
    if kinds:
        for position in np.flatnonzero(equal).tolist():
            kind = kinds.get(int(counts.rows[position]))
            if kind is not None:
                first[position] = rank[kind]
    order = np.lexsort((counts.rows, -counts.common, -likeness, first))
    return order, kinds


def equivalent(
    collection: Collection, searcher: Searcher, query: Query, rows: Numbers, common: Numbers
) -> dict[int, Kind]:
    """Kinds of documents with the query's sketch. The first ones only, if they are very many; but
    all that are identical."""
    if not len(rows):
        return {}
    found: dict[int, Kind] = {}
    same = np.intersect1d(rows, searcher.rows_of_content(query.content_hash))
    same = same[: max(_MOST_EQUAL, 1)]
    hashes = _hex(collection, "content", same)
    found.update({int(row): "identical" for row in same[hashes == query.content_hash]})
    some = rows[:_MOST_EQUAL]
    forms = _hex(collection, "canonical", some)
    for row, form, samples in zip(some.tolist(), forms, common.tolist(), strict=False):
        if row in found:
            continue
        if form == query.canonical_hash:
            found[row] = "lexical" if query.tokens else "empty"
        elif samples >= EQUIVALENT_SAMPLES:
            found[row] = "shingle"
    return found


def _hex(collection: Collection, name: str, rows: Numbers) -> npt.NDArray[np.object_]:
    """Hashes as a sketch has them."""
    found = collection.arrays((name,), rows)[0]
    shown = [f"{high:016x}{low:016x}" for high, low in found.tolist()]
    return np.array(shown, dtype=object)


def named(
    collection: Collection,
    searcher: Searcher,
    query: Query,
    rule: Rule,
    counts: Counts,
    kinds: dict[int, Kind],
) -> list[Match]:
    ids, dates = (_strings(collection, name, counts.rows) for name in ("id", "date"))
    sizes = searcher.sizes(counts.rows)
    near = _reaching(counts, Rule(rule.threshold or DEFAULT_THRESHOLD, None))
    matches = []
    words = searcher.words(counts.rows) if query.parameters.words else np.zeros(len(counts))
    for i, row in enumerate(counts.rows.tolist()):
        exactly, kind = bool(counts.exact[i]), kinds.get(row)
        if kind is None:
            # The larger share.
            kind = "contained" if counts.of_found[i] >= counts.of_query[i] else "contains"
            if near[i]:
                kind = "near"
        measures = _estimates(query, counts, i, int(sizes[i]), int(words[i]))
        if kind in _SAME_SHINGLES:
            one = Estimate(1.0, 1.0, 1.0, int(counts.sampled[i]))
            inside = Estimate(1.0, 1.0, 1.0, int(counts.of_query[i]))
            measures = one, measures[1] and inside, measures[2] and inside
        matches.append(Match(row, ids[i], dates[i], kind, *measures, exactly))
    return matches


def _strings(collection: Collection, name: str, rows: Numbers) -> list[Any]:
    if len(rows) <= _FEW_ROWS:
        return collection.values(name, rows)
    found: list[Any] = collection.take(name, rows).to_pylist()
    return found


def _estimates(
    query: Query, counts: Counts, i: int, size: int, words: int
) -> tuple[Estimate, Estimate | None, Estimate | None]:
    """The measures of the i-th, which has so many shingles and words."""
    common, sampled = int(counts.common[i]), int(counts.sampled[i])
    of_query, of_found = int(counts.of_query[i]), int(counts.of_found[i])
    inside = int(counts.inside[i])
    if counts.exact[i] and not sampled:  # both are empty
        one = Estimate(1.0, 1.0, 1.0, 0)
        return one, one, one
    if counts.exact[i]:
        return _exact(common, sampled), _exact(inside, of_query), _exact(inside, of_found)
    resemblance = resemblance_interval(common, sampled, query.size + query.words, size + words)
    if query.parameters.selection[0] == "min":
        return resemblance, None, None
    return (
        resemblance,
        containment_interval(inside, of_query, query.size, size),
        containment_interval(inside, of_found, size, query.size),
    )


def _exact(part: int, whole: int) -> Estimate:
    value = part / whole if whole else 0.0
    return Estimate(value, value, value, whole)
