"""Pairs to look at: some of every level, drawn by chance and compared exactly."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from roughly import _core
from roughly.comparison import Comparison, compare
from roughly.documents.file import Document
from roughly.tuning.level import by_level

if TYPE_CHECKING:
    import numpy.typing as npt

    from roughly.clustering import Clusters
    from roughly.sketcher import Sketcher

# Longer texts are not compared for an example, of which a few lines are shown.
_LONGEST_BYTES = 4 << 20
_TRIES = 3  # drawn for each pair that is wanted, for some are too long
_EXCERPT = 300
_LOOKED_AT_BYTES = 8000  # of a passage, markup included


class _Drawn(NamedTuple):
    chance: float
    a: int  # numbers of representatives
    b: int
    resemblance: float


@dataclass(frozen=True, slots=True)
class Example:
    """A pair of one level."""

    threshold: float  # the level's
    estimate: float  # by which it was found
    a: Document
    b: Document
    comparison: Comparison  # exact

    @property
    def shared(self) -> str:
        """The longest passage of both, as it stands in A, its end left out where it is long."""
        passages = self.comparison.passages
        if not passages:
            return ""
        longest = max(passages, key=lambda each: each.tokens)
        raw = self.a.text_utf8[longest.a_start : longest.a_end][:_LOOKED_AT_BYTES]
        if self.a.html:
            raw = _core.html_text(raw)
        text = " ".join(raw.decode("utf-8", "ignore").split())
        return text if len(text) <= _EXCERPT else text[:_EXCERPT] + "…"

    def to_dict(self) -> dict[str, Any]:
        return {
            "threshold": self.threshold,
            "estimate": self.estimate,
            "a": self.a.id,
            "b": self.b.id,
            "resemblance": self.comparison.resemblance,
            "containment_ab": self.comparison.containment_ab,
            "containment_ba": self.comparison.containment_ba,
            "passages": len(self.comparison.passages),
            "shared": self.shared,
        }


def examples(
    found: Clusters, sketcher: Sketcher, asked: list[Fraction], each: int, draw: int
) -> list[Example]:
    """At most `each` of every level, highest level first; `draw` is the seed of the drawing."""
    drawn: list[list[_Drawn]] = [[] for _ in asked]
    stream = np.random.default_rng(draw)
    for table in found.outcome.pairs("resemblance"):
        for number, some in enumerate(by_level(table, asked)):
            chances: npt.NDArray[np.float64] = stream.random(len(some))
            for at in np.argsort(chances, kind="stable")[: each * _TRIES].tolist():
                a, b, common, sampled = some[at].tolist()
                drawn[number].append(_Drawn(float(chances[at]), a, b, common / max(sampled, 1)))
            drawn[number] = sorted(drawn[number])[: each * _TRIES]
    result = []
    for threshold, candidates in reversed(list(zip(asked, drawn, strict=True))):
        left = each
        for pair in candidates:
            texts = [_document(found, number) for number in (pair.a, pair.b)]
            if left and texts[0] is not None and texts[1] is not None:
                compared = compare(texts[0], texts[1], sketcher=sketcher)
                result.append(
                    Example(float(threshold), pair.resemblance, texts[0], texts[1], compared)
                )
                left -= 1
    return result


def _document(found: Clusters, number: int) -> Document | None:
    """The text of a representative; None if it is too long to show."""
    row = int(found.outcome.order[found.outcome.groups.representatives[number]])
    rows = np.array([row])
    text: bytes = found.segment.text(rows)[0].as_py()
    if len(text) > _LONGEST_BYTES:
        return None
    id, html = (found.segment.column(name)[row].as_py() for name in ("id", "html"))
    return Document(id, text, text, bool(html), "utf-8", "utf-8")
