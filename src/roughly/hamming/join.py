"""The batch version (2007 paper, 3.3): all pairs of a query and a stored simhash within k bits.

Tables are made of the queries, and the stored simhashes pass by once, in chunks of 64 MiB. Pairs
come sorted by stored position, then by query, each once; chunks need nothing of one another, so
that those of one file may be joined on many machines and the answers put one behind the other.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from roughly import _core
from roughly.errors import MismatchError
from roughly.hamming.cost import join_blocks
from roughly.hamming.design import check_bits, check_k
from roughly.hamming.index import present, simhash_array
from roughly.hamming.simhash_file import CHUNK_BYTES, SimhashFile
from roughly.parameters import threads_or_all

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


# Simhashes of an array that are looked up at once among all of it.
_SELF_STEP = 1 << 16


class JoinedChunk(NamedTuple):
    """The pairs of one chunk, as columns."""

    stored: npt.NDArray[np.int64]  # positions
    query: npt.NDArray[np.int64]
    stored_simhash: npt.NDArray[np.uint64]
    query_simhash: npt.NDArray[np.uint64]
    distance: npt.NDArray[np.uint8]
    scanned: int  # stored simhashes in this chunk


def join(
    queries: Any,
    stored: SimhashFile | Any,
    k: int = 3,
    *,
    bits: int = 64,
    threads: int | None = None,
    begin_chunk: int = 0,
    end_chunk: int | None = None,
) -> Iterator[JoinedChunk]:
    """Joins `queries` with `stored`, a SimhashFile or an array, chunk by chunk."""
    bits, k = check_bits(bits), check_k(k)
    asked, asked_rows = present(queries, bits)
    threads = threads_or_all(threads)
    tables = _core.HammingJoin(asked, bits, k, join_blocks(len(asked), bits, k), threads)
    stored_rows = stored.missing() if isinstance(stored, SimhashFile) else None
    if not isinstance(stored, SimhashFile):
        stored, stored_rows = present(stored, bits)
    for first, values in _chunks(stored, bits, begin_chunk, end_chunk, threads):
        rows = tables.probe(values, first, threads)
        where, query = rows[:, 0], rows[:, 1]
        found, wanted = values[(where - first).astype("i8")], asked[query.astype("i8")]
        places, numbers = where.astype("i8"), query.astype("i8")
        yield JoinedChunk(
            places if stored_rows is None else stored_rows[places],
            numbers if asked_rows is None else asked_rows[numbers],
            found,
            wanted,
            _distance(found, wanted),
            len(values),
        )


class NearPairs(NamedTuple):
    """Pairs of one array, as columns; the first of a pair stands before the second."""

    a: npt.NDArray[np.int64]
    b: npt.NDArray[np.int64]
    distance: npt.NDArray[np.uint8]


def pairs_within(
    simhashes: npt.NDArray[np.uint64], k: int = 3, *, threads: int | None = None
) -> Iterator[NearPairs]:
    """All pairs of simhashes of 64 bits within k bits of each other, each once, some at a time."""
    k, threads = check_k(k), threads_or_all(threads)
    tables = _core.HammingJoin(simhashes, 64, k, join_blocks(len(simhashes), 64, k), threads)
    for begin in range(0, len(simhashes), _SELF_STEP):
        found = tables.probe(simhashes[begin : begin + _SELF_STEP], begin, threads)
        later, earlier = found[:, 0].astype("i8"), found[:, 1].astype("i8")
        once = earlier < later
        a, b = earlier[once], later[once]
        if len(a):
            yield NearPairs(a, b, _distance(simhashes[a], simhashes[b]))


def _chunks(
    stored: Any, bits: int, begin: int, end: int | None, threads: int
) -> Iterator[tuple[int, npt.NDArray[np.uint64]]]:
    if isinstance(stored, SimhashFile):
        if stored.kind == "compressed" and stored.bits != bits:
            raise MismatchError(
                f"{stored.path}: cannot be used: its simhashes have {stored.bits} bits, wanted"
                f" {bits}"
            )
        for first, values in stored.each(begin, end, threads):
            yield first, simhash_array(values, bits)
        return
    values = simhash_array(stored, bits)
    step = CHUNK_BYTES // 8
    last = -(-len(values) // step) if end is None else end
    for number in range(begin, min(last, -(-len(values) // step))):
        yield number * step, values[number * step : (number + 1) * step]


def _distance(a: npt.NDArray[np.uint64], b: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint8]:
    import numpy as np

    bytes_of_each = (a ^ b).reshape(-1, 1).view(np.uint8)
    made: npt.NDArray[np.uint8] = np.unpackbits(bytes_of_each, axis=1).sum(axis=1, dtype=np.uint8)
    return made
