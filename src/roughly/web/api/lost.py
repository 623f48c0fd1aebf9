"""GET /api/lost: where a page is now that is not at its URL any more."""

from __future__ import annotations

import msgspec

from roughly.corpus.lost import Move, Trace
from roughly.corpus.sweeps import Period
from roughly.errors import NotFoundError
from roughly.web.api.endpoint import Answer, Asked, Endpoint
from roughly.web.error import plain
from roughly.web.view import View


class LostRequest(Asked):
    """A URL in any spelling."""

    url: str
    by: Period = "day"
    exact: bool = False


class Place(msgspec.Struct):
    """Where a page went: same, moved, merged, split or gone."""

    old: str
    new: str | None
    kind: str
    resemblance: float | None
    containment: float | None
    confidence: float
    reused: bool


class WayStep(msgspec.Struct):
    """From one sweep to another."""

    from_date: str
    to_date: str
    moves: list[Place]
    alternatives: list[Place]


class LostAnswer(Answer):
    """The places where it is now, and the way there."""

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


def run(view: View, asked: LostRequest) -> LostAnswer:
    """Follows it."""
    trace: Trace | None = view.corpus.lost(asked.url, asked.by, exact=asked.exact, threads=1)
    if trace is None:
        raise NotFoundError(
            f"{plain(asked.url)}: not known: no sweep of this corpus has it",
            hint="look for its text with POST /api/find",
        )
    return LostAnswer(
        url=plain(trace.url),
        found=trace.found,
        first_seen=trace.first_seen,
        last_seen=trace.last_seen,
        latest=trace.latest,
        changed=trace.changed,
        reused_since=trace.reused,
        resemblance_there=trace.resemblance_there,
        places=_places(trace.moves),
        steps=[
            WayStep(step.from_date, step.to_date, _places(step.moves), _places(step.alternatives))
            for step in trace.steps
        ],
    )


def _places(moves: list[Move]) -> list[Place]:
    return [
        Place(
            plain(move.old),
            None if move.new is None else plain(move.new),
            move.kind,
            move.resemblance,
            move.containment,
            move.confidence,
            move.reused,
        )
        for move in moves
    ]


ENDPOINT = Endpoint(
    "GET", "/api/lost", LostRequest, LostAnswer, run, "Where a page is now, with evidence"
)
