"""Search results without repetition: each goes under the best-ranked one that says the same.

Results are taken in their order. One that resembles a result that stands, or is contained in it if
that is asked for, goes under the best-ranked such result; any other stands. So nothing disappears
by a chain, and every result is compared with what stands before it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from roughly.clustering.sketches import Sketches
from roughly.corpus.evidence import sketches_of
from roughly.errors import DocumentError
from roughly.parameters import exact_ratio
from roughly.sketcher import Sketcher

if TYPE_CHECKING:
    from roughly.storage.collection import Collection

# (common, sampled) of each of some earlier results with one result
Counts = npt.NDArray[np.int64]
Measure = Callable[[Sequence[int], int], Counts]


@dataclass(frozen=True, slots=True)
class Result:
    """One result as it was given."""

    rank: int  # from 1
    name: str  # URL or id; empty for a text without one
    text: str | None = None  # of a document that need not be in the corpus
    given: Any = None  # what stood there, if it was JSON


@dataclass(slots=True)
class Group:
    """A result that stands, and those that say the same."""

    best: int  # position among the results
    others: list[tuple[int, float]] = field(default_factory=list)  # position, resemblance to best
    # Of each of the others, by its position: how much of it is in the best, if that is asked for.
    contained: dict[int, float] = field(default_factory=dict)


def read_results(data: str, source: str = "standard input") -> list[Result]:
    """Results from text: a JSON array, JSON Lines, or a name a line. Objects have `url` or `id`, or
    a `text`. `source` is what errors name."""
    data = data.lstrip("\ufeff")
    start = data.lstrip()[:1]
    lines = [line.strip() for line in data.splitlines() if line.strip()]
    if start == "[":
        items: list[Any] = _parsed(data, source, "JSON")
    elif start in ("{", '"'):
        items = [_parsed(line, source, f"line {n}") for n, line in enumerate(lines, 1)]
    else:
        return [Result(rank, line) for rank, line in enumerate(lines, 1)]
    return [_result(rank, item, source) for rank, item in enumerate(items, 1)]


def _parsed(text: str, source: str, where: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise DocumentError(
            f"{source}: cannot read {where}: {error}",
            hint="give an array, an object or a string a line, or plain lines",
        ) from None


def _result(rank: int, item: Any, source: str) -> Result:
    if isinstance(item, str):
        return Result(rank, item, None, item)
    if isinstance(item, dict):
        name = next((item[k] for k in ("url", "id", "link") if isinstance(item.get(k), str)), "")
        text = next((item[k] for k in ("text", "content") if isinstance(item.get(k), str)), None)
        if name or text is not None:
            return Result(rank, name, text, item)
    raise DocumentError(
        f"{source}: result {rank}: no document: {json.dumps(item)[:60]}",
        hint='wanted a string, or an object with "url", "id" or "text"',
    )


def collapse(
    count: int,
    resemblance: Measure,
    threshold: Fraction,
    contained: Measure | None = None,
    containment: Fraction | None = None,
) -> list[Group]:
    """Groups of results 0 to `count`, best first. `resemblance` and `contained` measure earlier
    results against one."""
    groups: list[Group] = []
    for item in range(count):
        heads = [group.best for group in groups]
        counts = resemblance(heads, item)
        reached = _reach(counts, threshold)
        inside = None if contained is None else contained(heads, item)
        if inside is not None and containment is not None:
            reached |= _reach(inside, containment)
        first = int(reached.argmax()) if reached.any() else None
        if first is None:
            groups.append(Group(item))
        else:
            groups[first].others.append((item, _rounded(counts[first])))
            if inside is not None:
                groups[first].contained[item] = _rounded(inside[first])
    return groups


def _rounded(counts: Counts) -> float:
    return round(int(counts[0]) / max(1, int(counts[1])), 4)


def _reach(counts: Counts, ratio: Fraction) -> npt.NDArray[np.bool_]:
    """Whole numbers: nothing is rounded. Nothing sampled is no reason."""
    found: npt.NDArray[np.bool_] = (counts[:, 1] > 0) & (
        counts[:, 0] * ratio.denominator >= counts[:, 1] * ratio.numerator
    )
    return found


def collapse_results(
    collection: Collection,
    rows: Sequence[int | None],
    texts: Sequence[str | None],
    threshold: float | str | Fraction,
    containment: float | str | Fraction | None = None,
    threads: int = 1,
) -> list[Group]:
    """Groups of documents that are rows of a collection, texts, or neither: these stand alone."""
    sketches, place = _sketches(collection, rows, texts)
    everyone = sketches.taking_part(np.arange(len(sketches), dtype=np.uint32))

    def measure(kind: str) -> Measure:
        def counted(heads: Sequence[int], item: int) -> Counts:
            found = np.zeros((len(heads), 2), np.int64)
            if place[item] < 0:
                return found
            known = [n for n, head in enumerate(heads) if place[head] >= 0]
            table = np.zeros((len(known), 4), np.uint32)
            # Containment is of the second in the first.
            table[:, 0] = [place[heads[n]] for n in known]
            table[:, 1] = place[item]
            if len(known):
                found[known] = everyone.measure(kind, table, threads)[:, 2:]
            return found

        return counted

    perm = collection.parameters.selection[0] == "perm"
    return collapse(
        len(rows),
        measure("agreement" if perm else "resemblance"),
        exact_ratio("threshold", threshold),
        measure("contained") if containment is not None else None,
        None if containment is None else exact_ratio("containment", containment),
    )


def _sketches(
    collection: Collection, rows: Sequence[int | None], texts: Sequence[str | None]
) -> tuple[Sketches, list[int]]:
    """The sketches of all results that have one, and where each is; -1 for the others."""
    p = collection.parameters
    stored = np.array([row for row in rows if row is not None], np.int64)
    values, offsets = sketches_of(collection, stored)
    written = [
        text for row, text in zip(rows, texts, strict=True) if row is None and text is not None
    ]
    made = Sketcher.of(p).sketch_batch(written).columns
    place: list[int] = []
    numbers = iter(range(len(stored))), iter(range(len(stored), len(stored) + len(written)))
    for row, text in zip(rows, texts, strict=True):
        if row is not None:
            place.append(next(numbers[0]))
        else:
            place.append(-1 if text is None else next(numbers[1]))
    size = np.concatenate([collection.size[stored], made.size])
    chunk = (
        np.concatenate([values, made.values]),
        np.concatenate([offsets[:-1], made.offsets + offsets[-1]]),
    )
    return (
        Sketches(
            p,
            [chunk] if len(size) else [],
            1 << max(len(size) - 1, 0).bit_length(),
            size,
            np.concatenate([collection.level[stored], made.level]),
        ),
        place,
    )
