"""What a service answers, as plain data; docs/serve.md and /api/openapi.json say what it means.

Fields have the names that they have in the JSON. A newer service may answer more: what is not known
here is left out.
"""

from __future__ import annotations

import dataclasses
import types
import typing
from dataclasses import dataclass, field
from functools import cache
from typing import Any, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Seen:
    """Whether a page like this was seen, and the nearest that was."""

    seen: bool
    match: int | None = None  # its simhash
    distance: int | None = None
    position: int | None = None
    match_id: str | None = None
    simhash: int | None = None  # of the content that was sent
    k: int = 0  # bits in which simhashes may differ there


@dataclass(frozen=True, slots=True)
class CommonPassage:
    query_start: int
    query_end: int
    found_start: int
    found_end: int
    tokens: int
    text: str


@dataclass(frozen=True, slots=True)
class FoundDocument:
    id: str
    url: str | None
    date: str | None
    kind: str
    resemblance: float
    low: float
    high: float
    containment_query: float | None
    containment_found: float | None
    samples: int
    counted: bool
    distance: int | None = None
    evidence: list[CommonPassage] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Found:
    """Documents like one, best first; `total` counts those beyond the limit too."""

    documents: list[FoundDocument]
    total: int
    scanned: int
    query_size: int
    uncounted: int


@dataclass(frozen=True, slots=True)
class Side:
    id: str
    bytes: int
    tokens: int
    shingles: int
    encoding: str
    html: bool


@dataclass(frozen=True, slots=True)
class SharedPassage:
    a_start: int
    a_end: int
    b_start: int
    b_end: int
    tokens: int


@dataclass(frozen=True, slots=True)
class Compared:
    resemblance: float
    containment_ab: float
    containment_ba: float
    kind: str | None
    common: int
    union: int
    w: int
    a: Side
    b: Side
    passages: list[SharedPassage]


@dataclass(frozen=True, slots=True)
class StoredDocument:
    id: str
    date: str | None
    tokens: int
    shingles: int
    html: bool
    simhash: str | None
    text: str | None


@dataclass(frozen=True, slots=True)
class ClusterSummary:
    cluster: int
    representative: str
    size: int
    weakest_link: float
    smallest_resemblance: float
    mass: bool


@dataclass(frozen=True, slots=True)
class Clusters:
    threshold: float
    containment: float | None
    total: int
    documents: int
    clusters: list[ClusterSummary]


@dataclass(frozen=True, slots=True)
class Member:
    id: str
    date: str | None
    kind: str | None
    resemblance: float


@dataclass(frozen=True, slots=True)
class Cluster:
    threshold: float
    containment: float | None
    cluster: int
    representative: str
    size: int
    members: list[Member]


@dataclass(frozen=True, slots=True)
class Place:
    old: str
    new: str | None
    kind: str
    resemblance: float | None
    containment: float | None
    confidence: float
    reused: bool


@dataclass(frozen=True, slots=True)
class WayStep:
    from_date: str
    to_date: str
    moves: list[Place]
    alternatives: list[Place]


@dataclass(frozen=True, slots=True)
class Lost:
    url: str
    found: bool
    first_seen: str
    last_seen: str
    latest: str
    changed: str | None
    reused_since: str | None
    resemblance_there: float | None
    places: list[Place]
    steps: list[WayStep]


@dataclass(frozen=True, slots=True)
class Interval:
    from_date: str
    to_date: str
    days: int | None
    pages: int
    stayed: int
    changed: int
    born: int
    returned: int
    vanished: int
    moved_within: int
    moved_between: int
    merged: int
    split: int
    gone: int
    arrived: int
    median_resemblance: float | None
    histogram: list[int]


@dataclass(frozen=True, slots=True)
class Changes:
    dates: list[str]
    documents: int
    pages: int
    stayed: int
    changed: int
    days_between_changes: float | None
    days_at_url: float | None
    days_of_life: float | None
    change_counts: dict[str, int]
    histogram: list[int]
    intervals: list[Interval]


@dataclass(frozen=True, slots=True)
class Under:
    rank: int
    url: str
    resemblance: float
    containment: float | None = None


@dataclass(frozen=True, slots=True)
class ResultGroup:
    """A result that stands, and those under it; ranks count from 1."""

    rank: int
    url: str
    known: bool
    others: list[Under]


@dataclass(frozen=True, slots=True)
class Added:
    documents: int
    known: int
    renamed: int
    there: int
    skipped: dict[str, int]


@dataclass(frozen=True, slots=True)
class Health:
    status: str
    documents: int
    version: str


def made(kind: type[T], data: Any) -> T:
    """JSON as one of these, or as a list of them."""
    if typing.get_origin(kind) is list:
        (inner,) = typing.get_args(kind)
        return [made(inner, each) for each in data]  # type: ignore[return-value]
    if not dataclasses.is_dataclass(kind):
        return typing.cast(T, data)
    fields = _fields(kind)
    return kind(**{name: made(fields[name], data[name]) for name in fields if name in data})


@cache
def _fields(kind: type[Any]) -> dict[str, Any]:
    """The types that are made, by field; anything else is taken as it is."""
    hints = typing.get_type_hints(kind)
    return {
        each.name: Any if isinstance(hints[each.name], types.UnionType) else hints[each.name]
        for each in dataclasses.fields(kind)
    }
