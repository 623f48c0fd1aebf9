"""Finds documents that are roughly the same, or roughly contained in one another."""

from roughly.compare import compare, containment, resemblance
from roughly.errors import DocumentError, MismatchError, ParameterError, RoughlyError
from roughly.estimate import Estimate
from roughly.sketch import Parameters, Sketch, SketchBatch, Sketcher, preset

__all__ = [
    "DocumentError",
    "Estimate",
    "MismatchError",
    "ParameterError",
    "Parameters",
    "RoughlyError",
    "Sketch",
    "SketchBatch",
    "Sketcher",
    "__version__",
    "compare",
    "containment",
    "preset",
    "resemblance",
]


def __getattr__(name: str) -> str:
    # Asking the installed package costs more than the whole import, so it waits until needed.
    if name == "__version__":
        from importlib.metadata import version

        return version("roughly")
    raise AttributeError(f"module 'roughly' has no attribute {name!r}")
