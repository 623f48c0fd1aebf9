"""What is known about the sample web because it was made so: pairs and moves.

The expected resemblance of two pages is the resemblance of their *marks*: every word counts as
different from every other unless both pages copied it from the same place. It is known without
looking at a single word. Real words repeat by chance, so a range around it is promised; where the
pages hold the same words in the same order it is exactly 1.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from roughly.sample_web.prose import Mark

RELATIONS = {
    "identical": "the same bytes at another URL (a mirror)",
    "reformatted": "the same words in other markup",
    "republished": "the same article on another site, or as plain text",
    "customized": "a notice with each site's own name and contact in it",
    "edited": "a known share of the words replaced",
    "version": "two editions of a document",
    "excerpt": "an excerpt and its source",
    "combined": "a document and a larger one that was put together from it",
    "split": "a part and the document that was cut up",
    "session": "one page under two URLs with session ids",
    "refetched": "one URL at two dates, with a date, counter or news list that changes",
    "short": "pages of a few words",
    "empty": "pages without words",
    "boilerplate": "unrelated articles on the same site",
    "unrelated": "unrelated articles on different sites",
}

MOVES = {
    "same": "the same bytes at the same URL",
    "edited": "changed at the same URL",
    "moved_within": "moved to another URL of the same host",
    "moved_between": "moved to another host",
    "merged": "now part of a larger page",
    "split": "now several pages",
    "gone": "nowhere any more",
    "born": "new",
}

Range = tuple[float, float]

# How far chance may carry the measured value from the expected one. Words that a page repeats move
# it either way, and weigh more in a short page. Phrases that two texts share by accident move it
# up, by at most a share of what is not copied; that share is large where a shingle is five
# characters. The languages other than English have small vocabularies here.
_SLACK = {"en": 0.03}
_SLACK_ELSEWHERE = 0.06
_SLACK_SHINGLES = 8
_CHANCE = {"en": 0.03, "ja": 0.65}
_CHANCE_ELSEWHERE = 0.10


@dataclass(frozen=True, slots=True)
class Pair:
    """Two documents and what their words have in common. Ranges are for shingles of w words."""

    a: tuple[str, str]  # url, date
    b: tuple[str, str]
    relation: str  # one of RELATIONS
    detail: str  # how the pair was made, e.g. "5% of the words replaced"; may be empty
    w: int
    resemblance: Range
    containment_ab: Range | None  # share of a that is in b; None if a page is empty
    containment_ba: Range | None


@dataclass(frozen=True, slots=True)
class Move:
    """What became of a page between two consecutive sweeps."""

    old: str | None  # URL in the earlier sweep; None if born
    new: tuple[str, ...]  # URLs in the later sweep; none if gone
    kind: str  # one of MOVES
    from_date: str
    to_date: str


def _shingles(marks: Sequence[Mark], w: int) -> set[tuple[Mark, ...]]:
    if not marks:
        return set()
    if len(marks) < w:
        return {tuple(marks)}
    return {tuple(marks[at : at + w]) for at in range(len(marks) - w + 1)}


def _around(common: int, whole: int, language: str) -> Range:
    expected = common / whole
    chance = _CHANCE.get(language, _CHANCE_ELSEWHERE)
    slack = _SLACK.get(language, _SLACK_ELSEWHERE) + _SLACK_SHINGLES / (whole + _SLACK_SHINGLES)
    upper = expected + slack + chance * (1 - expected)
    # Three digits: readable, and far coarser than any rounding error.
    return int(max(0.0, expected - slack) * 1000) / 1000, int(min(1.0, upper) * 1000) / 1000


def expected_ranges(
    a: Sequence[Mark], b: Sequence[Mark], w: int, language: str, exact: bool = False
) -> tuple[Range, Range | None, Range | None]:
    """Ranges of resemblance, containment of a in b, containment of b in a.

    `exact` is for texts in which no word occurs by chance: the ranges then have no width.
    """
    if list(a) == list(b):
        return (1.0, 1.0), ((1.0, 1.0) if a else None), ((1.0, 1.0) if a else None)
    if not a or not b:
        return (0.0, 0.0), None, None
    of_a, of_b = _shingles(a, w), _shingles(b, w)
    common = len(of_a & of_b)
    union = len(of_a) + len(of_b) - common
    if exact:
        values = common / union, common / len(of_a), common / len(of_b)
        return (values[0],) * 2, (values[1],) * 2, (values[2],) * 2
    return (
        _around(common, union, language),
        _around(common, len(of_a), language),
        _around(common, len(of_b), language),
    )
