"""What was not read, and why: counted by reason, the first ones by name, never lost silently.

Two things are kept apart. A document that should have been read and could not be is *skipped*
(under `strict` it raises DocumentError at once). A thing that is no document at all, as a picture
in a web archive, is *ignored*: counted, and never an error.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple

from roughly.errors import DocumentError

# Names kept; beyond them a number says more.
NAMES = 100

# Reasons that more than one format has.
NO_TEXT = "no text"
DAMAGED_COMPRESSION = "damaged compression"
DAMAGED_ROWS = "damaged rows"
DAMAGED_BATCHES = "damaged batches of rows"
UNREADABLE = "cannot be read"
NOT_OPENED = "cannot be opened"
# What of these has no bytes that could be written anew.
DAMAGED = (DAMAGED_COMPRESSION, DAMAGED_ROWS, DAMAGED_BATCHES)


class Unread(NamedTuple):
    """One document that could not be read."""

    name: str  # where it stands, as `crawl.jsonl, line 12`
    reason: str  # the kind of reason, as in `Skipped.reasons`
    detail: str  # what exactly was seen; may be empty

    def __str__(self) -> str:
        return f"{self.name}: {self.reason}" + (f": {self.detail}" if self.detail else "")


@dataclass(slots=True)
class Skipped:
    """The record of one reading."""

    strict: bool = False
    reasons: Counter[str] = field(default_factory=Counter)  # reason -> documents skipped
    first: list[Unread] = field(default_factory=list)  # at most NAMES of them
    ignored: Counter[str] = field(default_factory=Counter)  # what it was -> how often
    repeated_ids: int = 0  # documents whose id became `id#2`, `id#3`, ...
    unread_dates: int = 0  # documents whose date was no date, read without one
    unread_categories: int = 0  # documents whose category was a list or the like, read without

    @property
    def count(self) -> int:
        """Documents skipped."""
        return self.reasons.total()

    def add(self, name: str, reason: str, detail: str = "", hint: str | None = None) -> None:
        """Counts a document that cannot be read; raises it under `strict`."""
        unread = Unread(name, reason, detail)
        if self.strict:
            raise DocumentError(
                f"{name}: cannot read: {reason}" + (f": {detail}" if detail else ""),
                hint or "without strict (--strict) it is counted and skipped",
            )
        self.reasons[reason] += 1
        if len(self.first) < NAMES:
            self.first.append(unread)

    def add_more(self, reason: str, count: int) -> None:
        """Counts documents that are not named, because enough have been."""
        if count > 0:
            self.reasons[reason] += count

    @property
    def room(self) -> int:
        """How many more names will be kept: one need not make more than that, or than the first."""
        return NAMES - len(self.first)

    def __bool__(self) -> bool:
        return bool(self.reasons)

    def __str__(self) -> str:
        parts = [f"{count:,} {reason}" for reason, count in self.reasons.most_common()]
        return f"{self.count:,} skipped" + (f" ({', '.join(parts)})" if parts else "")
