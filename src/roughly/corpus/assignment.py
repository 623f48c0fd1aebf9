"""Which new page a lost page became: rules over evidence, without a corpus.

The strength of a pair is what the old page left in the new one, by weight of rare text: the mean
of resemblance and containment, so that a page which grew is still found. Pairs are taken strongest
first and each new page is given once: a page that has a better claimant is not a second page's new
place, unless it contains both. A page that stood beside the lost one already did not come from it;
it may only have taken the lost one's text in.

Kinds: `same` (the same canonical form), `moved`, `merged` (into a page that was there already or
holds other lost pages too), `split` (over several pages, each made mostly of the old one), `gone`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from roughly.corpus.evidence import Evidence

Kind = Literal["same", "moved", "merged", "split", "gone"]

# Shingles that any two pages might share by accident: a match of fewer counts for little.
_ACCIDENT = 10
# Strength at which a claim is as likely wrong as right. Little depends on it: on either half of
# the labelled moves every value from 0.05 to 0.4 keeps precision and recall above 0.97
# (bench/lost.py).
EVEN = 0.15
# The odds grow with the square of the strength, and by this much where the last name of both paths
# is the same.
_NAME_ODDS = 3.0
# The same text: all but certain.
_COPY_ODDS = 400.0
# A page that was there already must hold most of the lost one's text.
_TAKEN_IN = 0.6
# What makes a new page part of an old one, or an old page part of a new one: more than half.
_PART = 0.5
# A page that keeps so much of itself in one place was not split.
_WHOLE = 0.6
# What a second part must add to count as one.
_SECOND_PART = 0.15


@dataclass(frozen=True, slots=True)
class Claim:
    """What became of one lost page, or one of its parts."""

    old: int
    new: int | None  # None if gone
    kind: Kind
    confidence: float  # that it is so, 0 to 1
    pair: int | None  # of the evidence


@dataclass(frozen=True, slots=True)
class Strengths:
    """What each pair of the evidence amounts to."""

    strength: npt.NDArray[np.float64]
    contained: npt.NDArray[np.float64]  # share of the old page that is in the new one, by weight
    made_of: npt.NDArray[np.float64]  # share of the new page that is of the old one, by weight


def strengths(evidence: Evidence, there_already: npt.NDArray[np.bool_]) -> Strengths:
    """Shares by weight, with a little weight added to both pages that is not shared. Of a new
    page, `there_already` tells whether its URL was in the old sweep too."""
    accident = _ACCIDENT / evidence.scale
    common = evidence.common
    contained = common / (evidence.old_mass + accident)
    made_of = common / (evidence.new_mass + accident)
    alike = common / (evidence.old_mass + evidence.new_mass - common + accident)
    strength = (alike + contained) / 2
    taken_in = np.where(contained >= _TAKEN_IN, contained * _TAKEN_IN, 0.0)
    strength = np.where(there_already[evidence.new], taken_in, strength)
    return Strengths(np.where(evidence.identical, 1.0, strength), contained, made_of)


def assign(
    evidence: Evidence,
    lost: int,
    there_already: npt.NDArray[np.bool_],
    same_name: npt.NDArray[np.bool_],
    nearness: npt.NDArray[np.float64],
    even: float = EVEN,
) -> list[Claim]:
    """What became of the pages 0 to `lost`, in their order; a split page has a claim for each part,
    the largest first. Of each pair, `same_name` tells whether the last names of the paths agree,
    and `nearness` how alike the URLs are, which decides between equals."""
    found = strengths(evidence, there_already)
    strength = found.strength
    odds = _odds(evidence, found, same_name, even)
    order = np.lexsort((evidence.new, evidence.old, -nearness, same_name * -1, -strength))
    order = order[strength[order] > 0]
    holder: dict[int, int] = {}  # new page -> pair
    given: dict[int, int] = {}  # old page -> pair
    for pair in order.tolist():
        old, new = int(evidence.old[pair]), int(evidence.new[pair])
        if old not in given and new not in holder and odds[pair] >= 1:
            given[old], holder[new] = pair, pair
    joined = _join(evidence, found, order, given)
    by_old: dict[int, list[int]] = defaultdict(list)
    by_new: dict[int, list[int]] = defaultdict(list)
    for pair in order.tolist():
        by_old[int(evidence.old[pair])].append(pair)
        by_new[int(evidence.new[pair])].append(pair)
    together = set(joined.values())
    claims: list[Claim] = []
    for old in range(lost):
        pair = joined.get(old, given.get(old))
        parts = _parts(evidence, found, by_old[old], pair, holder, there_already)
        if len(parts) > 1:
            covered = min(1.0, float(found.contained[parts].sum()))
            sure = _probability((covered / even) ** 2)
            claims += [Claim(old, int(evidence.new[p]), "split", sure, p) for p in parts]
        elif pair is None:
            best = max(
                (_probability(odds[p]) for p in by_old[old] if _free(p, holder, evidence)),
                default=0.0,
            )
            claims.append(Claim(old, None, "gone", round(1 - best, 3), None))
        else:
            new = int(evidence.new[pair])
            rivals = [p for p in by_old[old] if p != pair and _free(p, holder, evidence)]
            if old in given and old not in joined:
                rivals += [
                    p for p in by_new[new] if p != pair and int(evidence.old[p]) not in given
                ]
            sure = _confidence(pair, rivals, odds, strength, same_name, nearness)
            others = [p for p in by_new[new] if p != pair and p in together]
            kind = _kind(pair, others, evidence, found, there_already, old in joined)
            claims.append(Claim(old, new, kind, sure, pair))
    return claims


def _free(pair: int, holder: dict[int, int], evidence: Evidence) -> bool:
    """Whether the new page of a pair was given to nobody."""
    return int(evidence.new[pair]) not in holder


def _join(
    evidence: Evidence, found: Strengths, order: npt.NDArray[np.int64], given: dict[int, int]
) -> dict[int, int]:
    """Lost pages whose best page was given to another, and that it contains all the same."""
    joined: dict[int, int] = {}
    for pair in order.tolist():
        old = int(evidence.old[pair])
        if old in given or old in joined:
            continue
        if evidence.identical[pair] or found.contained[pair] >= _TAKEN_IN:
            joined[old] = pair
    return joined


def _parts(
    evidence: Evidence,
    found: Strengths,
    pairs: Sequence[int],
    pair: int | None,
    holder: dict[int, int],
    there_already: npt.NDArray[np.bool_],
) -> list[int]:
    """The pairs of a split page with its parts, the largest first; fewer than two if it was not. A
    page that has another holder is no part of it."""
    if pair is not None and (evidence.identical[pair] or found.contained[pair] >= _WHOLE):
        return []
    parts = [
        p
        for p in pairs
        if found.made_of[p] >= _PART
        and found.contained[p] >= _SECOND_PART
        and holder.get(int(evidence.new[p]), pair) == pair
        and not there_already[evidence.new[p]]
    ]
    return sorted(parts, key=lambda p: (-found.contained[p], int(evidence.new[p])))


def _kind(
    pair: int,
    others: Sequence[int],
    evidence: Evidence,
    found: Strengths,
    there_already: npt.NDArray[np.bool_],
    joined: bool,
) -> Kind:
    """`others` are pairs of lost pages that are in the same new page too."""
    if evidence.identical[pair]:
        return "same"
    if joined or there_already[evidence.new[pair]]:
        return "merged"
    # Another page's share beside this one's, not the same text twice.
    beside = [p for p in others if found.made_of[p] >= _SECOND_PART]
    apart = [p for p in beside if found.made_of[p] + found.made_of[pair] <= 1]
    return "merged" if apart else "moved"


def chances(
    evidence: Evidence,
    old: int,
    there_already: npt.NDArray[np.bool_],
    same_name: npt.NDArray[np.bool_],
) -> list[Claim]:
    """All places where one lost page could be if there were no others, likeliest first."""
    found = strengths(evidence, there_already)
    odds = _odds(evidence, found, same_name)
    pairs = np.flatnonzero((evidence.old == old) & (found.strength > 0)).tolist()
    claims = []
    for pair in sorted(pairs, key=lambda p: (-odds[p], int(evidence.new[p]))):
        kind = _kind(pair, [], evidence, found, there_already, False)
        new = int(evidence.new[pair])
        claims.append(Claim(old, new, kind, _probability(odds[pair]), pair))
    return claims


def _odds(
    evidence: Evidence,
    found: Strengths,
    same_name: npt.NDArray[np.bool_],
    even: float = EVEN,
) -> npt.NDArray[np.float64]:
    odds = (found.strength / even) ** 2 * np.where(same_name, _NAME_ODDS, 1.0)
    return np.where(evidence.identical, _COPY_ODDS, odds)


def _confidence(
    pair: int,
    rivals: Sequence[int],
    odds: npt.NDArray[np.float64],
    strength: npt.NDArray[np.float64],
    same_name: npt.NDArray[np.bool_],
    nearness: npt.NDArray[np.float64],
) -> float:
    """Less where another page would do nearly as well and neither name nor address decides."""
    own = float(odds[pair])
    close = [
        p
        for p in rivals
        if strength[p] > strength[pair] / 2 and (same_name[p], nearness[p]) >= (same_name[pair], 0)
    ]
    against = sum(float(strength[p] / strength[pair]) ** 4 for p in close)
    return _probability(own / (1 + against))


def _probability(odds: float) -> float:
    return round(float(odds / (1 + odds)), 3)
