"""What other sketches would cost and tell: bytes, and how wide an interval to expect.

Predicted from the documents' sizes alone. A sketch adaptive:T keeps one shingle in 2^i, by chance,
i so that T to 2T are left; two documents of n shingles that resemble at r have 2n / (1 + r)
different ones, of which as large a part is seen.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from roughly.estimate import resemblance_interval

if TYPE_CHECKING:
    import numpy.typing as npt

TARGETS = (50, 100, 200, 400, 800)
RESEMBLANCE = 0.5  # at which the error is predicted: it is largest near there
_ELEMENT_BYTES = 8
_LOOKED_AT = 500  # documents of all sizes, for the error


@dataclass(frozen=True, slots=True)
class Prediction:
    """One way to sketch."""

    select: str
    bytes: int  # of the sketches of all documents
    error: float  # half of the 95% interval at resemblance RESEMBLANCE, on average

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def predictions(size: npt.NDArray[np.uint32], documents: int) -> list[Prediction]:
    """`size` has the distinct shingles of some documents; `documents` is how many there are."""
    whole = size[size > 0].astype(np.int64)
    if not len(whole):
        return []
    scale = documents / len(size)
    ordered = np.sort(whole)
    some = ordered[np.linspace(0, len(ordered) - 1, min(_LOOKED_AT, len(ordered))).astype(np.int64)]
    result = []
    for target in TARGETS:
        kept = int((whole >> level(whole, target)).sum()) * _ELEMENT_BYTES
        errors = [_error(n, int(i)) for n, i in zip(some, level(some, target), strict=True)]
        result.append(
            Prediction(f"adaptive:{target}", round(kept * scale), sum(errors) / len(errors))
        )
    everything = round(int(whole.sum()) * _ELEMENT_BYTES * scale)
    return [*result, Prediction("all", everything, 0.0)]


def level(size: npt.NDArray[np.int64], target: int) -> npt.NDArray[np.int64]:
    """The smallest i with size < target * 2^(i + 1), docs/algorithm.md."""
    found = np.zeros(len(size), dtype=np.int64)
    while (above := size >= target << (found + 1)).any():
        found += above
    return found


def _error(size: int, level: int) -> float:
    """Half of the interval for two documents of one size."""
    if level == 0:
        return 0.0
    union = round(2 * size / (1 + RESEMBLANCE))
    sampled = max(1, union >> level)
    found = resemblance_interval(round(RESEMBLANCE * sampled), sampled, int(size), int(size))
    return (found.high - found.low) / 2
