"""What a search finds: matches, best first, and what the sketches could promise beforehand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, overload

from roughly.estimate import Estimate
from roughly.url import host_of_url, page_of, server_of

Kind = Literal["identical", "lexical", "shingle", "near", "contains", "contained", "empty"]

# From here on a holder has all of a text, but for a fifth.
WHOLE = 0.8


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

        def containment(name: str, estimate: Estimate | None) -> dict[str, Any]:
            return {
                f"{name}_low": estimate and estimate.low,
                f"{name}_high": estimate and estimate.high,
                f"{name}_samples": estimate and estimate.samples,
            }

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
            "samples": self.resemblance.samples,
            **containment("containment_query", self.containment_query),
            **containment("containment_found", self.containment_found),
            "counted": self.exact,
        } | distance


@dataclass(frozen=True, slots=True)
class Holder:
    """A page that holds the query, whole or in part."""

    match: Match  # the best of its documents
    dates: list[str]  # of all its documents that do, ascending; none if they have none

    @property
    def held(self) -> Estimate:
        """How much of the query it holds."""
        return self.match.containment_query or self.match.resemblance

    @property
    def whole(self) -> bool:
        return self.held.value >= WHOLE

    @property
    def host(self) -> str | None:
        """Whom to ask about it."""
        return server_of(self.match.id) or None

    def to_dict(self) -> dict[str, Any]:
        """What `roughly find --urls --json` prints."""
        more = {"dates": self.dates, "host": self.host, "holds": "whole" if self.whole else "part"}
        return self.match.to_dict() | more


class Promise(NamedTuple):
    """How many of the documents that just reach what is asked for are found: of the ways to be
    found (to resemble, to contain, to be contained) the one of which the sketches show least."""

    recall: float  # share that is found, if what contains the query has it at any place
    documents: int  # that are of the right size
    blind: int  # of these, documents whose sketches say nothing about this query
    least: float  # the recall among those whose sketches say least, mostly the longest


@dataclass(frozen=True, slots=True)
class Found(Sequence[Match]):
    """The matches, best first."""

    matches: list[Match]
    total: int  # matches, with those beyond the limit
    promise: Promise
    scanned: int  # documents whose whole text was searched, because sketches could not tell
    query_size: int  # distinct shingles
    # Documents that rest on few samples and were not counted by the text, for there are very many;
    # those of them whose estimates reach what is asked for are in `total`.
    uncounted: int = 0
    host: str | None = None  # of the query, if it was a URL

    def same_site(self, match: Match) -> bool | None:
        """Whether a match is of the query's site; None unless both are URLs."""
        host = host_of_url(match.id)
        return None if self.host is None or host is None else host == self.host

    @property
    def site_matches(self) -> tuple[int, int]:
        """Matches on the query's own site, and on others."""
        sites = [self.same_site(match) for match in self.matches]
        return sites.count(True), sites.count(False)

    def holders(self) -> list[Holder]:
        """Every page once, in the order of its best document."""
        pages: dict[str, list[Match]] = {}
        for match in self.matches:
            pages.setdefault(page_of(match.id), []).append(match)
        return [
            Holder(some[0], sorted({match.date for match in some if match.date is not None}))
            for some in pages.values()
        ]

    def __len__(self) -> int:
        return len(self.matches)

    @overload
    def __getitem__(self, index: int) -> Match: ...
    @overload
    def __getitem__(self, index: slice) -> list[Match]: ...
    def __getitem__(self, index: int | slice) -> Match | list[Match]:
        return self.matches[index]
