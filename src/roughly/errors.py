"""Every exception that roughly raises on purpose.

    RoughlyError
    +-- ParameterError   a parameter outside its range, or parameters that exclude each other
    +-- MismatchError    sketches made with different parameters
    +-- DocumentError    a document that cannot be read

A message reads `subject: what failed: why`; the hint says what to try.
"""

from __future__ import annotations


class RoughlyError(Exception):
    """Base of all of them; `message` and `hint` are its two lines."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message if hint is None else f"{message}\nhint: {hint}")
        self.message = message
        self.hint = hint


class ParameterError(RoughlyError, ValueError):
    """A parameter outside its range, or parameters that exclude each other."""


class MismatchError(RoughlyError, ValueError):
    """Sketches made with different parameters cannot be compared."""


class DocumentError(RoughlyError):
    """A document that cannot be read."""
