"""What each threshold would do to a user's own documents, and which one to take.

`tune` clusters once, down to a low floor, and asks that one clustering about every level: `level`
counts what would be merged, `example` picks pairs to look at, `curve` holds levels against labelled
pairs, `prediction` says what other sketches would cost, `advice` names a level and says why. A
large input is answered from a sample of its documents, and everything that depends on it says so.
"""

from __future__ import annotations

from roughly.tuning.advice import Advice
from roughly.tuning.curve import Point, Width
from roughly.tuning.example import Example
from roughly.tuning.level import Level
from roughly.tuning.prediction import Prediction
from roughly.tuning.run import Tuning, tune

__all__ = ["Advice", "Example", "Level", "Point", "Prediction", "Tuning", "Width", "tune"]
