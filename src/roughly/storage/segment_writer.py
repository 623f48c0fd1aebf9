"""Writes a segment: parts, one after the other, by a thread of its own.

A part is recorded as a step of the run when it is complete, so a run that was killed goes on behind
the last such part; `finish` makes the segment.
"""

from __future__ import annotations

import json
import queue
import threading
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import pyarrow as pa

from roughly.parameters import Parameters
from roughly.storage.checked import checked_writer
from roughly.storage.durable import make_directory, remove_leftovers
from roughly.storage.segment import FORMAT, MANIFEST, PART_ROWS, Segment
from roughly.storage.segment_part import READ, PartWriter, Piece, ValueBuffer, text_offsets
from roughly.storage.sketch_table import Sketched
from roughly.storage.steps import Steps

_STEP = "segment"
# Pieces that may wait for the writer: batches of the reader, some megabytes of text each.
_WAITING = 4


class SegmentWriter:
    """Writes a segment, or goes on with one. `add` from one thread, then `finish`; a `with` around
    both stops the writer if there is an error in between."""

    def __init__(
        self,
        directory: Path,
        parameters: Parameters,
        *,
        text: bool,
        steps: Steps,
        part_rows: int = PART_ROWS,
        attributes: Mapping[str, Any] | None = None,
    ) -> None:
        """`attributes`: which columns beside the usual ones the batches have, and where each comes
        from: parameters of simhashes, the name of a field."""
        self._attributes = dict(attributes or {})
        self._directory = directory
        self._parameters = parameters
        self._keeps_text = text
        self._steps = steps
        self._part_rows = part_rows
        make_directory(directory)
        remove_leftovers(directory)
        part = 0
        # A short part ended an input that may have grown since: it is written anew.
        while self._has_full_part(part):
            part += 1
        self._first_part = part
        self._rows_done = part * part_rows
        self._rows = self._rows_done
        self._failure: BaseException | None = None
        # At the end comes whether to complete what is there, or to drop it.
        self._queue: queue.Queue[Piece | bool] = queue.Queue(_WAITING)
        self._thread: threading.Thread | None = None

    @property
    def rows_done(self) -> int:
        """Documents in parts that an earlier run completed: the caller leaves out as many."""
        return self._rows_done

    def add(self, batch: pa.RecordBatch, columns: Sketched) -> None:
        """Documents as `roughly.documents` reads them, and their sketches. Raises what has gone
        wrong in the writer's thread since the last call."""
        self.put(self.taken(batch, columns))

    def taken(self, batch: pa.RecordBatch, columns: Sketched) -> Piece:
        """What is written of these, for `put`; from any thread."""
        content = batch.column("content")
        if not isinstance(content, pa.LargeBinaryArray):
            content = content.cast(pa.large_binary())
        return Piece(
            [batch.column(name) for name in READ],
            [batch.column(name) for name in self._attributes],
            np.diff(text_offsets(content)).astype(np.uint32),
            content if self._keeps_text else None,
            columns,
            0,
            len(batch),
        )

    def put(self, taken: Piece) -> None:
        """Writes these documents behind those before; as `add`."""
        begin = 0
        while begin < taken.end:
            left = self._part_rows - self._rows % self._part_rows
            end = min(begin + left, taken.end)
            self._put(taken.part(begin, end))
            self._rows += end - begin
            begin = end

    def finish(self, sources: Sequence[str], skipped: Mapping[str, Any]) -> Segment:
        """Waits for the writer and makes the segment. `sources` are the names that the column
        `source` counts; `skipped` is what was not read. The step is called `segment`."""
        self._stop(complete=True)
        self._raise_failure()
        manifest = {
            "format": FORMAT,
            "parameters": asdict(self._parameters),
            "rows": self._rows,
            "part_rows": self._part_rows,
            "text": self._keeps_text,
            **({"attributes": self._attributes} if self._attributes else {}),
            "sources": list(sources),
            "skipped": dict(skipped),
        }
        path = self._directory / MANIFEST
        self._steps.forget(_STEP)
        with checked_writer(path) as file:
            file.write(json.dumps(manifest, indent=1).encode() + b"\n")
        self._steps.record(_STEP, [path], {"rows": self._rows})
        return Segment(self._directory)

    def close(self) -> None:
        """Stops the writer; a part that is not complete is gone."""
        self._stop(complete=False)

    def __enter__(self) -> SegmentWriter:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _has_full_part(self, part: int) -> bool:
        step = _part_step(part)
        return self._steps.done(step) and self._steps.facts(step).get("rows") == self._part_rows

    def _put(self, piece: Piece) -> None:
        self._raise_failure()
        if self._thread is None:
            # A daemon: a process that ends without `finish` does not wait for it.
            self._thread = threading.Thread(target=self._work, name="roughly-segment", daemon=True)
            self._thread.start()
        self._queue.put(piece)

    def _stop(self, complete: bool) -> None:
        if self._thread is not None:
            self._queue.put(complete)
            self._thread.join()
            self._thread = None

    def _raise_failure(self) -> None:
        if self._failure is not None:
            self.close()
            raise self._failure

    def _work(self) -> None:
        """In the thread."""
        part, rows, writer = self._first_part, 0, None
        values = ValueBuffer()
        item: Piece | bool = False
        try:
            while not isinstance(item := self._queue.get(), bool):
                if writer is None:
                    self._steps.forget(_part_step(part))
                    writer = PartWriter(
                        self._directory,
                        part,
                        self._parameters,
                        self._keeps_text,
                        list(self._attributes),
                        values,
                    )
                writer.add(item)
                rows += item.rows
                if rows == self._part_rows:
                    self._complete(writer, part, rows)
                    part, rows, writer = part + 1, 0, None
            if writer is not None and item:
                self._complete(writer, part, rows)
                writer = None
        except BaseException as error:
            self._failure = error
        if writer is not None:
            writer.abort()
        # Whoever waits for room in the queue must not wait for ever.
        while not isinstance(item, bool):
            item = self._queue.get()

    def _complete(self, writer: PartWriter, part: int, rows: int) -> None:
        self._steps.record(_part_step(part), writer.finish(), {"rows": rows})


def _part_step(part: int) -> str:
    return f"part-{part:05}"
