"""What a search finds: matches, best first, and what the sketches could promise beforehand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, overload

from roughly.estimate import Estimate

Kind = Literal["identical", "lexical", "shingle", "near", "contains", "contained", "empty"]


@dataclass(frozen=True, slots=True)
class Match:
    """A document that was found. Measures are estimates with 95% intervals; where the text was
    looked at, or is the same, they are exact, and the intervals have no width."""

    row: int  # in the collection
    id: str
    date: str | None
    kind: Kind  # contained: the query is contained in this document
    resemblance: Estimate
    containment_query: Estimate | None  # share of the query that is in this document
    containment_found: Estimate | None  # share of this document that is in the query
    exact: bool  # whether the text was looked at
    distance: int | None = None  # bits in which simhashes differ, if these were compared

    @property
    def url(self) -> str | None:
        """The id, if it is a URL."""
        return self.id if "://" in self.id[:32] else None

    def to_dict(self) -> dict[str, Any]:
        """What `roughly find --json` prints."""

        def value(estimate: Estimate | None) -> float | None:
            return None if estimate is None else estimate.value

        distance = {} if self.distance is None else {"distance": self.distance}
        return {
            # A name that is no text holds lone surrogates, which strict JSON parsers refuse.
            "id": self.id.encode("utf-8", "backslashreplace").decode(),
            "url": self.url,
            "date": self.date,
            "resemblance": self.resemblance.value,
            "low": self.resemblance.low,
            "high": self.resemblance.high,
            "containment_query": value(self.containment_query),
            "containment_found": value(self.containment_found),
            "kind": self.kind,
        } | distance


class Promise(NamedTuple):
    """Which documents the sketches could show to contain the whole query."""

    recall: float  # share of the documents long enough that would be found if they did
    documents: int  # that are long enough
    blind: int  # of these, documents whose sketches say nothing about this query


@dataclass(frozen=True, slots=True)
class Found(Sequence[Match]):
    """The matches, best first."""

    matches: list[Match]
    total: int  # matches, with those beyond the limit
    promise: Promise
    scanned: int  # documents whose whole text was searched, because sketches could not tell
    query_size: int  # distinct shingles

    def __len__(self) -> int:
        return len(self.matches)

    @overload
    def __getitem__(self, index: int) -> Match: ...
    @overload
    def __getitem__(self, index: slice) -> list[Match]: ...
    def __getitem__(self, index: int | slice) -> Match | list[Match]:
        return self.matches[index]
