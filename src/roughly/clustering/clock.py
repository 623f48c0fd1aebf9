"""What the phases of a run take."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(slots=True)
class Phase:
    """One phase, which may come in pieces."""

    name: str
    wall_seconds: float = 0.0
    cpu_seconds: float = 0.0
    bytes_written: int = 0
    rows: int = 0


class Clock:
    """Phases by name, in the order in which they first came."""

    def __init__(self) -> None:
        self._phases: dict[str, Phase] = {}

    @contextlib.contextmanager
    def __call__(self, name: str) -> Iterator[Phase]:
        """Adds the time until the end of a `with` to a phase."""
        phase = self._phases.setdefault(name, Phase(name))
        wall, cpu = time.perf_counter(), time.process_time()
        try:
            yield phase
        finally:
            phase.wall_seconds += time.perf_counter() - wall
            phase.cpu_seconds += time.process_time() - cpu

    @property
    def phases(self) -> list[Phase]:
        return list(self._phases.values())
