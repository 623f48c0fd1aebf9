"""How far a command has come, on a terminal; elsewhere nothing is shown, and nothing is loaded.

A command takes one phase after the other, each with a total that it knows:

    with Progress(quiet=arguments.quiet) as progress:
        advance = progress.phase("reading", total=size_bytes, unit="B")
        for batch in batches:
            advance(batch.nbytes)

The display is on standard error, so it never mixes with data. Any thread may advance.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import rich.progress

Advance = Callable[[int], None]

# What amounts of bytes are counted in; anything else is counted as it is.
_BYTES = "B"


class Progress:
    """The display of one command, to be used in a `with`."""

    def __init__(self, quiet: bool = False) -> None:
        self._display: rich.progress.Progress | None = None
        self._phase: rich.progress.TaskID | None = None
        if not quiet and sys.stderr is not None and sys.stderr.isatty():
            self._display = _display()

    def phase(self, name: str, total: int | None, unit: str = "") -> Advance:
        """Ends the phase before and begins one; returns what counts it forward. A total of None is
        one that cannot be known, of standard input for instance."""
        display = self._display
        if display is None:
            return _ignore
        self._end_phase()
        phase = display.add_task(name, total=total, unit=unit)
        self._phase = phase

        def advance(amount: int) -> None:
            display.advance(phase, amount)

        return advance

    def __enter__(self) -> Progress:
        if self._display is not None:
            self._display.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._display is not None:
            # A phase that an error ended stays where it was.
            if error is None:
                self._end_phase()
            self._display.stop()

    def _end_phase(self) -> None:
        """Fills the bar: a total that was an estimate must not leave it short of the end."""
        if self._display is None or self._phase is None:
            return
        phase = self._display.tasks[self._phase]
        self._display.update(self._phase, total=phase.completed, completed=phase.completed)
        self._display.stop_task(self._phase)
        self._phase = None


def _ignore(amount: int) -> None:
    pass


def _display() -> rich.progress.Progress:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        ProgressColumn,
        Task,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )
    from rich.progress import Progress as Display
    from rich.text import Text

    class Amount(ProgressColumn):
        """Done of total, and the rate."""

        def render(self, task: Task) -> Text:
            unit = task.fields["unit"]
            done = amount(task.completed, unit)
            if task.total is not None and not task.finished:
                so_far = done if unit == _BYTES else amount(task.completed, "")
                done = f"{so_far} of {amount(task.total, unit)}"
            speed = task.finished_speed or task.speed
            rate = "" if speed is None else f", {amount(speed, unit)}/s"
            return Text(f"{done}{rate}", style="progress.data.speed")

    return Display(
        TextColumn("{task.description:<12}"),
        BarColumn(bar_width=24),
        Amount(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        refresh_per_second=5,
    )


def amount(value: float, unit: str) -> str:
    """A number with its unit, as people read it: 1.5 GB, 12,345 documents."""
    if unit != _BYTES:
        return f"{value:,.0f} {unit}".strip()
    if value < 1000:
        return f"{value:.0f} B"
    # A value that would be rounded up to 1000 takes the next unit.
    power = next(power for power in (1, 2, 3, 4) if value < 999.95 * 1000**power or power == 4)
    return f"{value / 1000**power:.1f} {'kMGT'[power - 1]}B"
