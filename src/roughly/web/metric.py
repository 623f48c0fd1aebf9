"""What the service counts, for Prometheus: requests by route and status, how long they took, what
`seen` answered, restarts.

Counters lie in a file that all processes of a service map, a row for each of them, so any worker
tells the sum, and what a killed process counted is kept. A process writes to its own row alone; no
lock is needed. Names are fixed when the service starts.
"""

from __future__ import annotations

import mmap
from bisect import bisect_left
from pathlib import Path

# Upper bounds in seconds; `find` takes milliseconds, `add` may take a minute.
BUCKETS = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.05, 0.25, 1.0, 5.0, 30.0)
# 499: the client went away before its answer. A status that is missing here counts as 500.
STATUSES = (200, 303, 304, 400, 401, 403, 404, 405, 408, 413, 415, 421, 429, 431, 499, 500, 503)
# Everything that is not a route of its own.
PAGES, OTHER = "pages", "other"

_TOTALS = (
    ("roughly_seen_simhashes_total", "Simhashes asked for."),
    ("roughly_seen_new_total", "Simhashes that were new, and were added."),
    ("roughly_documents_added_total", "Documents added to the corpus."),
    ("roughly_writer_lost_total", "Times that a worker lost the writer."),
)
_GAUGES = (("roughly_requests_in_flight", "Requests being answered."),)
SEEN, NEW, ADDED, LOST = range(len(_TOTALS))


class Metrics:
    """The counters of one process, and the sums of all."""

    def __init__(self, routes: tuple[str, ...], file: Path | None = None, rows: int = 1) -> None:
        self.routes = {route: number for number, route in enumerate((*routes, PAGES, OTHER))}
        self._statuses = {status: number for number, status in enumerate(STATUSES)}
        self._fault = self._statuses[500]
        # of a route: by status, by bucket and beyond, microseconds
        self._width = len(STATUSES) + len(BUCKETS) + 1 + 1
        self._totals = len(self.routes) * self._width
        self._gauges = self._totals + len(_TOTALS)
        self._row_items = self._gauges + len(_GAUGES)
        size = rows * self._row_items * 8
        if file is None:
            memory = mmap.mmap(-1, size)
        else:
            with file.open("a+b") as opened:
                opened.truncate(size)
                memory = mmap.mmap(opened.fileno(), size)
        self._rows = rows
        self._all = memoryview(memory).cast("Q")
        # Until `use_row` says another; the first row may be in use, so nothing is changed in it.
        self._own = self._all[: self._row_items]

    def use_row(self, row: int) -> None:
        """Counts in this row from now on; whoever had it before in flight is not any more."""
        begin = row * self._row_items
        self._own = self._all[begin : begin + self._row_items]
        self._own[self._gauges] = 0

    def begin(self) -> None:
        """A request came."""
        self._own[self._gauges] += 1

    def end(self, route: int, status: int, seconds: float) -> None:
        """It was answered."""
        own, place = self._own, route * self._width
        own[self._gauges] -= 1
        own[place + self._statuses.get(status, self._fault)] += 1
        place += len(STATUSES)
        own[place + bisect_left(BUCKETS, seconds)] += 1
        own[place + len(BUCKETS) + 1] += int(seconds * 1e6)

    def add(self, total: int, count: int) -> None:
        """Adds to SEEN, NEW, ADDED or LOST."""
        self._own[self._totals + total] += count

    def text(self) -> str:
        """All of it, as Prometheus reads it."""
        items = self._row_items
        sums = [sum(self._all[item : self._rows * items : items]) for item in range(items)]
        lines = [
            "# HELP roughly_requests_total Requests answered.",
            "# TYPE roughly_requests_total counter",
        ]
        for route, number in self.routes.items():
            for status, place in self._statuses.items():
                if count := sums[number * self._width + place]:
                    labels = f'route="{route}",status="{status}"'
                    lines.append(f"roughly_requests_total{{{labels}}} {count}")
        lines += [
            "# HELP roughly_request_seconds Time from a request's headers to its answer.",
            "# TYPE roughly_request_seconds histogram",
        ]
        for route, number in self.routes.items():
            begin = number * self._width + len(STATUSES)
            counts = sums[begin : begin + len(BUCKETS) + 1]
            if not any(counts):
                continue
            below = 0
            for bound, count in zip((*map(str, BUCKETS), "+Inf"), counts, strict=True):
                below += count
                labels = f'route="{route}",le="{bound}"'
                lines.append(f"roughly_request_seconds_bucket{{{labels}}} {below}")
            seconds = sums[begin + len(BUCKETS) + 1] / 1e6
            lines.append(f'roughly_request_seconds_sum{{route="{route}"}} {seconds}')
            lines.append(f'roughly_request_seconds_count{{route="{route}"}} {below}')
        for kind, begin, named in (
            ("counter", self._totals, _TOTALS),
            ("gauge", self._gauges, _GAUGES),
        ):
            for offset, (name, told) in enumerate(named):
                lines += [f"# HELP {name} {told}", f"# TYPE {name} {kind}"]
                lines.append(f"{name} {sums[begin + offset]}")
        return "\n".join(lines) + "\n"
