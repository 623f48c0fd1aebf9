"""What every format reader is given: how to read, and where to report."""

from __future__ import annotations

from dataclasses import dataclass, field

from roughly.documents.field import Wanted
from roughly.documents.skipped import Skipped
from roughly.documents.stream import Stream


@dataclass(slots=True)
class Reading:
    """One pass over all sources."""

    wanted: Wanted
    content_type: str
    batch_bytes: int
    skipped: Skipped
    bytes_done: int = 0  # of the sources that are finished, as they lie on disk
    stream: Stream | None = field(default=None, repr=False)  # the one being read

    @property
    def bytes_read(self) -> int:
        """Bytes taken from disk so far."""
        stream = self.stream  # another thread may be done with it in a moment
        return self.bytes_done + (stream.file_offset if stream is not None else 0)
