"""Documents like a given one: neighbours by their sketches, settled by the text where that is asked
for or needed, named and ranked.

Best first: what is equivalent; then what resembles, by resemblance; then what contains the query or
is contained in it, by containment times how much is in common - else a notice of ten words that is
wholly in the query would come before the page it was copied from. Ties go to the lower row.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from roughly.errors import ParameterError
from roughly.estimate import Estimate, containment_interval, resemblance_interval
from roughly.search.exact import FEW, blind_rows, count_exactly
from roughly.search.match import Found, Kind, Match
from roughly.search.query import Query
from roughly.search.searcher import (
    LEAST_CONTAINED,
    Direction,
    Searcher,
    Threshold,
    check_searchable,
    ratio,
)
from roughly.sketch import EQUIVALENT_SAMPLES
from roughly.storage.segment_index import Level

if TYPE_CHECKING:
    from roughly.storage.collection import Collection

Numbers = npt.NDArray[np.int64]
Progress = Callable[[str, int | None, str], Callable[[int], None]]

# Where neither is asked for: as `roughly compare` calls two documents near, or one contained.
DEFAULT_THRESHOLD = "0.5"
DEFAULT_CONTAINMENT = "0.8"

# How far below its threshold an estimate may be of what is then counted exactly.
_RESEMBLANCE_MARGIN = 0.15
_CONTAINMENT_MARGIN = 0.3
# Documents whose text is read to settle them, the best by their estimates.
_MOST_COUNTED = 2000
_MOST_SETTLED = 100
# Of files of documents no more stays in memory after a search.
_MOST_HELD = 1 << 24
# Equal sketches whose canonical forms are compared, to tell lexical from shingle equivalence.
_MOST_EQUAL = 4096

# Matches that are named one by one.
_FEW_ROWS = 64
# Kinds that are known by a hash of the whole document, not by samples.
_SAME_SHINGLES = ("identical", "lexical")


def _no_progress(name: str, total: int | None, unit: str) -> Callable[[int], None]:
    return lambda done: None


@dataclass(frozen=True, slots=True)
class Rule:
    """What counts as found. None: not asked for."""

    threshold: Threshold | None
    containment: Threshold | None
    direction: Direction = "both"

    @classmethod
    def of(
        cls,
        query: Query,
        threshold: Threshold | None,
        containment: Threshold | None,
        direction: Direction = "both",
    ) -> Rule:
        """The defaults, if nothing is asked for. Raises what these sketches cannot tell."""
        check_searchable(query.parameters, containment is not None)
        if threshold is None and containment is None:
            can_contain = query.parameters.selection[0] != "min"
            containment = DEFAULT_CONTAINMENT if can_contain else None
            threshold = DEFAULT_THRESHOLD
        for name, value in (("threshold", threshold), ("containment", containment)):
            if value is not None:
                ratio(name, value)
        return cls(threshold, containment, direction)

    @property
    def contained(self) -> bool:
        return self.containment is not None and self.direction != "contains"

    @property
    def contains(self) -> bool:
        return self.containment is not None and self.direction != "contained"

    def lowered(self) -> tuple[float | None, float | None]:
        """Floors for what is counted exactly afterwards."""

        def lower(value: Threshold | None, margin: float) -> float | None:
            if value is None:
                return None
            numerator, denominator = ratio("threshold", value)
            return max(numerator / denominator - margin, 0.05)

        return (
            lower(self.threshold, _RESEMBLANCE_MARGIN),
            lower(self.containment, _CONTAINMENT_MARGIN),
        )

    def least_size(self, query: Query) -> float:
        """Shingles without which a document neither resembles nor contains the query."""
        shares = [ratio("", each) for each in (self.threshold, self.containment) if each]
        return min(n / d for n, d in shares) * query.size


@dataclass(slots=True)
class _Counts:
    """Of some rows what they have in common with the query: from sketches, or from the text."""

    rows: Numbers
    common: Numbers
    sampled: Numbers  # of both
    of_query: Numbers
    of_found: Numbers
    exact: npt.NDArray[np.bool_]

    def take(self, chosen: npt.NDArray[np.generic]) -> _Counts:
        names = self.__dataclass_fields__
        return _Counts(*(getattr(self, name)[chosen] for name in names))

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
) -> Found:
    """What is like the query. `exact`: True counts by the stored text, and searches all text that
    the sketches say too little of; False believes the estimates; None has only what rests on few
    samples counted."""
    has_text = collection.has_text and query.text is not None
    if exact and not has_text:
        raise ParameterError(
            "exact: not to be had: the corpus was made without text"
            if query.text is not None or not collection.has_text
            else "exact: not to be had: the document's text is not known",
            hint="leave out --exact, or make the corpus anew without --no-text",
        )
    settle = exact is None and has_text
    least = 1 if exact or settle else LEAST_CONTAINED
    scanned = 0
    if len(query.columns.values):
        counts = _by_sketch(searcher, query, rule, least, bool(exact), threads)
    else:
        counts = _without_sketch(collection, searcher, query)
    if exact and query.size:
        counts, scanned = _by_text(collection, searcher, query, rule, counts, threads, progress)
    elif settle and query.size:
        counts = _settled(collection, query, rule, counts, threads)
    if query.row is not None:
        counts = counts.take(counts.rows != query.row)
    order, identical = _ranked(collection, searcher, query, rule, counts)
    total = len(order)
    chosen = order if limit is None else order[:limit]
    matches = _named(collection, searcher, query, rule, counts.take(chosen), identical)
    collection.release_beyond(_MOST_HELD)
    promise = query.promise(levels_of(searcher), least)
    return Found(matches, total, promise, scanned, query.size)


def levels_of(searcher: Searcher) -> list[Level]:
    """The documents of all segments by level."""
    return [level for shelf in searcher.shelves for level in shelf.index.facts.levels]


def _by_sketch(
    searcher: Searcher, query: Query, rule: Rule, least: int, lowered: bool, threads: int
) -> _Counts:
    floors: tuple[Threshold | None, Threshold | None] = (rule.threshold, rule.containment)
    if lowered:
        floors = rule.lowered()
    table = searcher.neighbours(
        query.columns,
        *floors,
        direction=rule.direction,
        least_contained=least,
        threads=threads,
    ).astype(np.int64)
    rows, common, sampled, of_query, of_found = (table[:, i] for i in range(1, 6))
    return _Counts(rows, common, sampled, of_query, of_found, np.zeros(len(table), bool))


def _without_sketch(collection: Collection, searcher: Searcher, query: Query) -> _Counts:
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
    return _Counts(rows, whole, whole, whole, whole, np.ones(len(rows), bool))


def _by_text(
    collection: Collection,
    searcher: Searcher,
    query: Query,
    rule: Rule,
    counts: _Counts,
    threads: int,
    progress: Progress,
) -> tuple[_Counts, int]:
    """Candidates, and what sketches say too little of, counted exactly; and how many of the latter
    there were."""
    best = np.argsort(-_likeness(counts, rule), kind="stable")[:_MOST_COUNTED]
    blind = blind_rows(
        searcher,
        query,
        rule.least_size(query),
        rule.contained or rule.threshold is not None,
        rule.contains or rule.threshold is not None,
    )
    rows = np.union1d(counts.rows[best], blind)
    advance = progress("text", len(rows), "documents")
    exactly = _counted(collection, query, rows, threads, advance)
    return exactly.take(_reaching(exactly, rule)), len(blind)


def _settled(
    collection: Collection, query: Query, rule: Rule, counts: _Counts, threads: int
) -> _Counts:
    """Who was found by few samples only is counted exactly, or, beyond the best of them, left out:
    one sample in common says next to nothing."""
    complete = (counts.of_query == query.size) | (counts.common == counts.sampled)
    doubtful = ~complete & (np.minimum(counts.of_query, counts.of_found) < FEW)
    if not doubtful.any():
        return counts
    sure, few = counts.take(~doubtful), counts.take(doubtful)
    best = np.argsort(-_likeness(few, rule), kind="stable")[:_MOST_SETTLED]
    exactly = _counted(collection, query, np.sort(few.rows[best]), threads)
    exactly = exactly.take(_reaching(exactly, rule))
    names = _Counts.__dataclass_fields__
    return _Counts(*(np.concatenate((getattr(sure, n), getattr(exactly, n))) for n in names))


def _counted(
    collection: Collection,
    query: Query,
    rows: Numbers,
    threads: int,
    advance: Callable[[int], None] = lambda done: None,
) -> _Counts:
    common, sizes = count_exactly(collection, query, rows, threads, advance)
    own = np.full(len(rows), query.size, np.int64)
    return _Counts(rows, common, own + sizes - common, own, sizes, np.ones(len(rows), bool))


def _reaching(counts: _Counts, rule: Rule) -> npt.NDArray[np.bool_]:
    """Which of them reach a threshold."""

    def reach(whole: Numbers, threshold: Threshold) -> npt.NDArray[np.bool_]:
        numerator, denominator = ratio("threshold", threshold)
        enough: npt.NDArray[np.bool_] = counts.common * denominator >= numerator * whole
        return enough & (whole > 0)

    found = np.zeros(len(counts), bool)
    if rule.threshold is not None:
        found |= reach(counts.sampled, rule.threshold)
    if rule.containment is not None and rule.contained:
        found |= reach(counts.of_query, rule.containment)
    if rule.containment is not None and rule.contains:
        found |= reach(counts.of_found, rule.containment)
    return found


def _share(part: Numbers, whole: Numbers) -> npt.NDArray[np.float64]:
    return part / np.maximum(whole, 1)


def _likeness(counts: _Counts, rule: Rule) -> npt.NDArray[np.float64]:
    """What containments are ranked by: containment times how much is in common, which is in
    proportion to the share of the query. Of documents inside the query their own containment
    counts, of others the query's."""
    of_query = _share(counts.common, counts.of_query)
    of_found = _share(counts.common, counts.of_found)
    likeness: npt.NDArray[np.float64] = of_query * (of_query if not rule.contains else of_found)
    return likeness


def _ranked(
    collection: Collection, searcher: Searcher, query: Query, rule: Rule, counts: _Counts
) -> tuple[npt.NDArray[np.intp], dict[int, Kind]]:
    """The order of the matches, and the kinds of those that are equivalent."""
    equal = (counts.common == counts.of_query) & (counts.common == counts.of_found)
    kinds = _equivalent(collection, searcher, query, counts.rows[equal], counts.common[equal])
    rank = {"identical": 0, "lexical": 1, "empty": 1, "shingle": 2}
    first = np.full(len(counts), 4, np.int64)
    resembles = _share(counts.common, counts.sampled)
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


def _equivalent(
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


def _named(
    collection: Collection,
    searcher: Searcher,
    query: Query,
    rule: Rule,
    counts: _Counts,
    kinds: dict[int, Kind],
) -> list[Match]:
    ids, dates = (_strings(collection, name, counts.rows) for name in ("id", "date"))
    sizes = searcher.sizes(counts.rows)
    near = _reaching(counts, Rule(rule.threshold or DEFAULT_THRESHOLD, None))
    matches = []
    for i, row in enumerate(counts.rows.tolist()):
        common, sampled = int(counts.common[i]), int(counts.sampled[i])
        of_query, of_found = int(counts.of_query[i]), int(counts.of_found[i])
        size, exactly = int(sizes[i]), bool(counts.exact[i])
        kind = kinds.get(row)
        if kind is None:
            kind = "contained" if of_found >= of_query else "contains"  # the larger share
            if near[i]:
                kind = "near"
        measures = _estimates(query, common, sampled, of_query, of_found, size, exactly)
        if kind in _SAME_SHINGLES:
            one = Estimate(1.0, 1.0, 1.0, sampled)
            measures = one, measures[1] and one, measures[2] and one
        matches.append(Match(row, ids[i], dates[i], kind, *measures, exactly))
    return matches


def _strings(collection: Collection, name: str, rows: Numbers) -> list[Any]:
    if len(rows) <= _FEW_ROWS:
        return collection.values(name, rows)
    found: list[Any] = collection.take(name, rows).to_pylist()
    return found


def _estimates(
    query: Query,
    common: int,
    sampled: int,
    of_query: int,
    of_found: int,
    size: int,
    exactly: bool,
) -> tuple[Estimate, Estimate | None, Estimate | None]:
    if exactly and not sampled:  # both are empty
        one = Estimate(1.0, 1.0, 1.0, 0)
        return one, one, one
    if exactly:
        return (
            _exact(common, sampled),
            _exact(common, of_query),
            _exact(common, of_found),
        )
    resemblance = resemblance_interval(common, sampled, query.size, size)
    if query.parameters.selection[0] == "min":
        return resemblance, None, None
    return (
        resemblance,
        containment_interval(common, of_query, query.size, size),
        containment_interval(common, of_found, size, query.size),
    )


def _exact(part: int, whole: int) -> Estimate:
    value = part / whole if whole else 0.0
    return Estimate(value, value, value, whole)
