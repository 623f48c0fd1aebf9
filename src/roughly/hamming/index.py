"""HammingIndex: all simhashes within k bits of a given one, exactly.

An index is built once and does not change; it lives in memory or in a mapped file. Any thread may
ask it. What is found are positions: those of the simhashes in the array that the index was built
from.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, overload

from roughly import _core
from roughly.errors import DamageError, MismatchError, ParameterError
from roughly.hamming.cost import extra_bits, probes_of, table_coding
from roughly.hamming.design import (
    MOST_PROBES,
    MOST_SIMHASHES,
    Design,
    check_bits,
    check_k,
    check_simhash,
    parse_design,
)
from roughly.hamming.file import CODINGS, Parts, Shape, read_parts, write_parts
from roughly.hamming.plan import choose
from roughly.hamming.simhash_file import SimhashFile
from roughly.parameters import threads_or_all
from roughly.simhashing.simhasher import SimhashBatch

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


class Match(NamedTuple):
    """A stored simhash near the one asked for."""

    position: int
    simhash: int
    distance: int


class HammingIndex:
    """All of `simhashes` (an array of 64-bit whole numbers) within `k` bits of a query.
    Missing ones, nulls of an Arrow array or None, are never found.

    `bits` is how many bits a simhash has; `design` is `auto`, `scan`, `compact:M` or `tables:R`
    (see docs/hamming.md), `coding` is `elias-fano`, `xor-block` or `plain`.
    """

    def __init__(
        self,
        simhashes: Any,
        k: int = 3,
        *,
        bits: int = 64,
        design: str = "auto",
        coding: str = "elias-fano",
        threads: int | None = None,
    ) -> None:
        bits, k = check_bits(bits), check_k(k)
        values, rows = present(simhashes, bits)
        if coding not in CODINGS[:3]:
            raise ParameterError(
                f"coding: unknown: {coding!r}, wanted elias-fano, xor-block or plain"
            )
        if len(values) > MOST_SIMHASHES:
            raise ParameterError(
                f"simhashes: too many: {len(values):,}, wanted at most {MOST_SIMHASHES:,}",
                hint="split them among several indexes",
            )
        chosen = choose(len(values), bits, k) if design == "auto" else parse_design(design, bits, k)
        wanted = _shapes(chosen, coding, len(values))
        tables, positions = _core.hamming_build(values, bits, wanted, threads_or_all(threads))
        self._take(
            Parts(
                bits,
                k,
                len(values),
                chosen.name,
                coding if chosen.tables else "plain",
                [shape for shape, _ in tables],
                [arrays for _, arrays in tables],
                positions,
                rows,
            ),
            load=True,
        )

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str],
        k: int | None = None,
        *,
        bits: int | None = None,
        load: bool = False,
        threads: int | None = None,
    ) -> HammingIndex:
        """An index that was saved, mapped into memory and checked. With `k` or `bits` given, an
        index for others is refused. With `load` it is copied into memory, where it is asked some
        30% faster: files have small pages."""
        parts, _ = read_parts(Path(path), threads)
        for name, wanted, found in (("k", k, parts.k), ("bits", bits, parts.bits)):
            if wanted is not None and wanted != found:
                raise MismatchError(
                    f"{os.fspath(path)}: cannot be used: it was built for {name} = {found},"
                    f" wanted {wanted}",
                    hint=f"build one with {name} = {wanted}, or ask with {name} = {found}",
                )
        made = cls.__new__(cls)
        try:
            made._take(parts, load)
        except ValueError as error:
            raise DamageError(
                f"{os.fspath(path)}: damaged: {error}", hint="build it again"
            ) from error
        return made

    def _take(self, parts: Parts, load: bool) -> None:
        """Where buckets are is asked for with every probe, and it is small: it is in huge pages
        always, the rest with `load`, and then nowhere else."""
        searched = []
        for shape, arrays in zip(parts.shapes, parts.arrays, strict=True):
            directory = 2 if CODINGS[shape[2]] in ("elias-fano", "pointer") else 0
            kept = list(arrays)
            for number, array in enumerate(kept):
                if load or number < directory:
                    kept[number] = _core.in_huge_pages(array)
                    if load:
                        arrays[number] = kept[number]
            searched.append(kept)
        if load:
            parts = replace(parts, positions=_core.in_huge_pages(parts.positions))
        self._parts = parts
        self._tables = _core.HammingTables(
            parts.bits, parts.k, parts.count, parts.shapes, searched, parts.positions
        )
        # Bound here: looking it up costs a tenth of a search.
        self._find = self._tables.find if parts.rows is None else self._find_row
        self._largest = 2**parts.bits - 1

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the index to a file, and its checksums to one beside it."""
        write_parts(Path(path), self._parts)

    @overload
    def find(self, simhash: int, *, threads: int | None = ...) -> npt.NDArray[np.int64]: ...
    @overload
    def find(
        self, simhash: Any, *, threads: int | None = ...
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]: ...
    def find(self, simhash: Any, *, threads: int | None = None) -> Any:
        """Of one simhash: the positions of all stored ones within k bits, ascending. Of an array:
        (offsets, positions), where those of the i-th are positions[offsets[i]:offsets[i + 1]];
        that is the fastest way to ask for many, and takes all cores unless `threads` says how
        many. Nothing is near a missing one."""
        if type(simhash) is int and 0 <= simhash <= self._largest:
            return self._find(simhash)
        if isinstance(simhash, int) or not hasattr(simhash, "__len__"):
            return self._find(check_simhash(simhash, self.bits))
        queries, asked = present(simhash, self.bits)
        offsets, positions = self._tables.find_many(queries, threads_or_all(threads))
        if asked is not None:
            offsets = _spread(offsets, asked, len(simhash))
        return offsets, self._rows(positions)

    def _find_row(self, simhash: int) -> npt.NDArray[np.int64]:
        return self._rows(self._tables.find(simhash))

    def _rows(self, positions: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Where the simhashes that are there stood among all."""
        rows = self._parts.rows
        return positions if rows is None else rows[positions]

    def matches(self, simhash: int) -> list[Match]:
        """All stored simhashes within k bits with their distances, nearest first."""
        found = self._tables.matches(check_simhash(simhash, self.bits))
        rows = self._parts.rows
        return [Match(p if rows is None else int(rows[p]), x, far) for p, x, far in found]

    def nearest(self, simhash: int) -> Match | None:
        """The nearest stored simhash within k bits, of equally near ones the first."""
        found = self._tables.nearest(check_simhash(simhash, self._parts.bits))
        if found is None:
            return None
        position, value, far = found
        rows = self._parts.rows
        return Match(position if rows is None else int(rows[position]), value, far)

    def simhashes(self) -> npt.NDArray[np.uint64]:
        """All stored simhashes by position; missing ones are left out."""
        return self._tables.values()

    def __len__(self) -> int:
        return self._parts.count

    @property
    def bits(self) -> int:
        return self._parts.bits

    @property
    def k(self) -> int:
        return self._parts.k

    @property
    def design(self) -> str:
        return self._parts.design

    @property
    def coding(self) -> str:
        return self._parts.coding

    @property
    def nbytes(self) -> int:
        """Bytes of all tables and positions."""
        return self._parts.nbytes

    def __repr__(self) -> str:
        each = self.nbytes / max(1, len(self))
        return (
            f"HammingIndex({len(self):,} simhashes, bits={self.bits}, k={self.k},"
            f" design={self.design!r}, coding={self.coding!r}, {each:.1f} bytes each)"
        )


def simhash_array(simhashes: Any, bits: int = 64) -> npt.NDArray[np.uint64]:
    """Simhashes from an array, or a sequence, of whole numbers."""
    import numpy as np

    try:
        if isinstance(simhashes, np.ndarray):
            values = simhashes.astype(np.uint64, "C", "same_kind", copy=False)
        else:
            values = np.array([check_simhash(value, bits) for value in simhashes], np.uint64)
    except TypeError as error:
        raise ParameterError(
            f"simhashes: wrong type: {getattr(simhashes, 'dtype', type(simhashes).__name__)},"
            " wanted unsigned 64-bit whole numbers"
        ) from error
    if values.ndim != 1:
        raise ParameterError(f"simhashes: {values.ndim} dimensions, wanted 1")
    if bits < 64 and len(values):
        check_simhash(int(values.max()), bits)
    made: npt.NDArray[np.uint64] = np.ascontiguousarray(values)
    return made


def present(
    simhashes: Any, bits: int = 64
) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.int64] | None]:
    """The simhashes of an array, and the positions of each where some are missing: documents
    without features have none. Arrow arrays mark them as null, lists by None."""
    import numpy as np

    if isinstance(simhashes, SimhashFile):
        return simhash_array(simhashes.read(), bits), simhashes.missing()
    if isinstance(simhashes, SimhashBatch):
        simhashes = simhashes.to_arrow()
    if isinstance(simhashes, (list, tuple)) and None in simhashes:
        rows = np.array([i for i, x in enumerate(simhashes) if x is not None], np.int64)
        return simhash_array([x for x in simhashes if x is not None], bits), rows
    if hasattr(simhashes, "null_count"):  # an Arrow array, chunked or not
        if simhashes.null_count:
            rows = np.flatnonzero(np.asarray(simhashes.is_valid()))
            return simhash_array(simhashes.drop_null().to_numpy(), bits), rows
        simhashes = simhashes.to_numpy()
    elif hasattr(simhashes, "to_numpy"):
        simhashes = simhashes.to_numpy()
    return simhash_array(simhashes, bits), None


def _spread(
    offsets: npt.NDArray[np.int64], rows: npt.NDArray[np.int64], count: int
) -> npt.NDArray[np.int64]:
    """The offsets of `count` answers, of which all but those at `rows` are empty."""
    import numpy as np

    sizes = np.zeros(count + 1, np.int64)
    sizes[rows + 1] = np.diff(offsets)
    return np.cumsum(sizes)


def _shapes(design: Design, coding: str, count: int) -> list[Shape]:
    """What the core is asked to build."""
    made: list[Shape] = []
    extra = extra_bits(count)
    for number, table in enumerate(design.tables):
        if (probes := probes_of(table, coding, count)) > MOST_PROBES:
            raise ParameterError(
                f"design: {design.name} cannot be: {probes:,} probes for k = {design.k}, wanted at"
                f" most {MOST_PROBES:,}",
                hint="take a design of more blocks, or auto",
            )
        name = table_coding(table, number, coding, count)
        made.append((table.leading, table.radius, CODINGS.index(name), 0, extra, 0, 0))
    return made
