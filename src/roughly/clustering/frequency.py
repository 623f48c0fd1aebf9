"""How many documents have each element of some sketches, in a scratch file, a byte an element."""

from __future__ import annotations

import tempfile
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt

from roughly import _core
from roughly.clustering.sketches import Sketches, steps
from roughly.storage.durable import reserve

Frequencies = npt.NDArray[np.uint8]

# Counters for a hundred thousand documents; more of them are taken in several passes, at most eight
# if the budget allows it.
_TABLE_BYTES = 1 << 26


def count_frequencies(
    sketches: Sketches,
    taking_part: _core.SketchSet,
    *,
    documents: int,
    table_bytes: int,
    threads: int,
    step: int,
    scratch: Path | None,
    sparing: bool = False,
) -> Frequencies:
    """For every element of all sketches no fewer than the documents taking part that have it, 255
    standing for more too; 0 for sketches that do not. In a scratch file that has no name."""
    total = sum(len(values) for values, _ in sketches.chunks)
    with tempfile.TemporaryFile(dir=scratch) as file:
        reserve(file.fileno(), max(total, 1), scratch or Path(tempfile.gettempdir()))
        frequencies = _core.map_scratch(file.fileno(), max(total, 1))
    chunks = by_chunk(sketches, frequencies)

    def release(begin: int, end: int) -> None:
        if taking_part.reads_files:
            taking_part.release(begin, end)
        else:
            sketches.release()
            _core.release_pages(frequencies)

    taking_part.use_frequencies(chunks)
    size = min(max(4 * total // 8, _TABLE_BYTES), max(table_bytes, 1))
    table = _core.FrequencyTable(taking_part.elements() // (4 if sparing else 1), size)
    for number in range(table.passes):
        table.clear(number)
        for begin, end in steps(documents, step):
            table.count(taking_part, begin, end, threads)
            release(begin, end)
        for begin, end in steps(documents, step):
            table.write(taking_part, begin, end, threads, chunks)
            release(begin, end)
    return frequencies


def by_chunk(sketches: Sketches, of_elements: Frequencies) -> list[npt.NDArray[np.uint8]]:
    """What there is for every element, an array for each chunk."""
    ends = np.cumsum([0, *(len(values) for values, _ in sketches.chunks)])
    return [of_elements[a:b] for a, b in pairwise(ends)]
