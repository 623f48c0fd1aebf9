"""Every exception that roughly raises on purpose.

    RoughlyError
    +-- ParameterError   a parameter outside its range, or parameters that exclude each other
    +-- MismatchError    sketches, or runs, made with different parameters
    +-- DocumentError    a document that cannot be read, or a file that cannot be written
    +-- NotFoundError    a document, a cluster, a job that was asked for and is not there
    +-- DamageError      a file of ours that is not as it was written
    +-- BusyError        a directory that another process is writing to
    +-- ServiceError     what a service answered to `roughly.client`, or that it did not answer
        +-- MissingError     what was asked for is not there; also a NotFoundError

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
    """What was made with different parameters cannot be compared, or continued."""


class DocumentError(RoughlyError):
    """A document that cannot be read, or a file that cannot be written."""


class NotFoundError(RoughlyError, LookupError):
    """A document, a cluster, a job that was asked for and is not there."""


class DamageError(RoughlyError):
    """A file of ours that is missing, cut short or changed since it was written."""


class BusyError(RoughlyError):
    """A directory that another process is writing to."""


class ServiceError(RoughlyError):
    """A service refused, failed or did not answer. `code` is its word for that (docs/serve.md), or
    `unreachable`, or `not_understood`; `status` is that of HTTP, if there was an answer."""

    def __init__(
        self, message: str, hint: str | None = None, *, code: str, status: int | None = None
    ) -> None:
        super().__init__(message, hint)
        self.code = code
        self.status = status


class MissingError(ServiceError, NotFoundError):
    """A service does not have what was asked for."""
