"""One clustering with a low floor, and everything that is asked of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from roughly.clustering import Clusters, cluster_documents
from roughly.clustering.settings import settings_for
from roughly.clustering.sketches import Sketches
from roughly.clustering.sketching import Progress, no_progress
from roughly.clustering.workplace import Workplace
from roughly.errors import ParameterError
from roughly.parameters import memory_or_half, threads_or_all
from roughly.sketcher import Sketcher
from roughly.tuning.advice import Advice, by_gap, by_labels
from roughly.tuning.curve import Point, Width, curve, widths
from roughly.tuning.example import Example, examples
from roughly.tuning.level import Level, levels, thresholds
from roughly.tuning.prediction import Prediction, predictions

if TYPE_CHECKING:
    from roughly.clustering.clock import Phase
    from roughly.documents import Documents
    from roughly.documents.skipped import Skipped
    from roughly.simhashing.evaluation import LabelledPair

FLOOR = "0.2"
MOST_DOCUMENTS = 100_000


@dataclass(frozen=True, slots=True)
class Tuning:
    """What was found out."""

    documents: int  # that were looked at
    of: int  # in the input
    equivalent: int  # documents that are identical or equal to another in canonical form
    select: str
    w: int
    sketch_bytes: int  # of the documents that were looked at
    floor: float
    levels: list[Level]
    examples: list[Example]  # highest level first
    points: list[Point]  # empty without labels
    widths: list[Width]  # what labels say of other shingle widths; empty without
    predictions: list[Prediction]
    advice: Advice
    phases: Sequence[Phase]
    skipped: Skipped

    @property
    def sampled(self) -> bool:
        """Whether the input was larger than what was looked at."""
        return self.documents < self.of

    @property
    def pair_scale(self) -> float:
        """Pairs of the input for each pair of the sample, if documents were drawn by chance."""
        return (self.of / self.documents) ** 2 if self.documents else 1.0

    def to_dict(self) -> dict[str, Any]:
        """What `roughly tune --json` prints."""
        return {
            "documents": self.documents,
            "of": self.of,
            "equivalent": self.equivalent,
            "select": self.select,
            "w": self.w,
            "sketch_bytes": self.sketch_bytes,
            "floor": self.floor,
            "levels": [each.to_dict() for each in self.levels],
            "examples": [each.to_dict() for each in self.examples],
            "points": [each.to_dict() for each in self.points],
            "widths": [each.to_dict() for each in self.widths],
            "predictions": [each.to_dict() for each in self.predictions],
            "advice": self.advice.to_dict(),
            "phases": [
                {"name": each.name, "seconds": each.wall_seconds, "cpu_seconds": each.cpu_seconds}
                for each in self.phases
            ],
        }


def tune(
    documents: Documents,
    *,
    labels: Sequence[LabelledPair] = (),
    sketcher: Sketcher | None = None,
    floor: str = FLOOR,
    most: int = MOST_DOCUMENTS,
    each: int = 1,
    draw: int = 0,
    memory: int | str | None = None,
    threads: int | None = None,
    progress: Progress = no_progress,
) -> Tuning:
    """Looks at all documents, or at `most` of them drawn by chance and those that labels name."""
    sketcher = Sketcher() if sketcher is None else sketcher
    if sketcher.parameters.selection[0] == "perm":
        raise ParameterError(
            f"select: cannot be tuned: {sketcher.select}, wanted all, mod:M, min:K or adaptive:T"
        )
    settings = settings_for(sketcher.parameters, floor, floor)
    total = _choose(documents, most, {id for pair in labels for id in (pair.a, pair.b)}, draw)
    workplace = Workplace()
    found = cluster_documents(
        documents,
        sketcher,
        settings,
        workplace.path,
        text=True,
        memory_bytes=memory_or_half(memory),
        threads=threads_or_all(threads),
        durable=False,
        progress=progress,
        owner=workplace,
    )
    counted = levels(found)
    measured = curve(found, labels) if labels else []
    by_width = widths(found, labels, sketcher) if labels else []
    groups = found.outcome.groups
    return Tuning(
        len(found.segment),
        total,
        len(groups.representative) - len(groups.representatives),
        sketcher.select,
        sketcher.w,
        _sketch_bytes(found),
        float(Fraction(floor)),
        counted,
        examples(found, sketcher, thresholds(found.floor), each, draw),
        measured,
        by_width,
        predictions(found.segment.size, total),
        by_labels(measured, by_width) if measured else by_gap(counted),
        found.phases,
        found.skipped,
    )


def _sketch_bytes(found: Clusters) -> int:
    return 8 * int(Sketches.of_segment(found.segment).kept().sum())


def _choose(documents: Documents, most: int, wanted: set[str], draw: int) -> int:
    """How many documents there are; where they are more than `most`, only a sample of them is
    read from now on."""
    total = sum(map(len, documents))
    if total <= most:
        return total
    chance = np.random.default_rng(draw)
    drawn = np.zeros(total, dtype=bool)
    drawn[chance.choice(total, most, replace=False)] = True
    named = pa.array(sorted(wanted), pa.string())

    def chosen(batch: pa.RecordBatch, first: int) -> pa.BooleanArray:
        import pyarrow.compute as pc

        by_chance = pa.array(drawn[first : first + len(batch)])
        return pc.or_(by_chance, pc.is_in(batch["id"], value_set=named))

    documents.chosen = chosen
    return total
