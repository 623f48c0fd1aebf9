"""POST /api/collapse: ranked results, near duplicates under the best-ranked one."""

from __future__ import annotations

from typing import Annotated

import msgspec

from roughly.corpus.collapse import Result
from roughly.errors import ParameterError
from roughly.web.api.endpoint import Answer, Asked, Endpoint
from roughly.web.api.find import Share, ratio
from roughly.web.error import plain
from roughly.web.view import View


class RankedResult(msgspec.Struct, forbid_unknown_fields=True):
    """A result; its text is used if the corpus does not know its URL."""

    url: str = ""
    text: str | None = None


class CollapseRequest(Asked):
    """Results, best first: URLs or ids, or objects with `url` or `text`."""

    results: Annotated[list[str | RankedResult], msgspec.Meta(max_length=10_000)]
    threshold: Share | None = None
    containment: Share | None = None


class Under(msgspec.Struct):
    """A result that says the same as a better one."""

    rank: int
    url: str
    resemblance: float
    containment: float | None = None


class ResultGroup(msgspec.Struct):
    """A result that stands, and those under it. Ranks count from 1."""

    rank: int
    url: str
    known: bool
    others: list[Under]


class CollapseAnswer(Answer):
    """The groups, best first."""

    groups: list[ResultGroup]


def run(view: View, asked: CollapseRequest) -> CollapseAnswer:
    """Groups them."""
    results = [
        Result(rank, each) if isinstance(each, str) else Result(rank, each.url, each.text)
        for rank, each in enumerate(asked.results, 1)
    ]
    for result in results:
        if not result.name and result.text is None:
            raise ParameterError(
                f"results: result {result.rank} is empty: wanted a URL, an id or a text"
            )
    found = view.corpus.collapse(
        results, ratio(asked.threshold), ratio(asked.containment), threads=1
    )
    return CollapseAnswer(
        groups=[
            ResultGroup(
                results[group.best].rank,
                plain(results[group.best].name),
                group.best not in found.unknown,
                [
                    Under(
                        results[position].rank,
                        plain(results[position].name),
                        resemblance,
                        group.contained.get(position),
                    )
                    for position, resemblance in group.others
                ],
            )
            for group in found.groups
        ]
    )


ENDPOINT = Endpoint(
    "POST",
    "/api/collapse",
    CollapseRequest,
    CollapseAnswer,
    run,
    "Ranked results, near duplicates under the best-ranked one",
)
