"""A Hamming index as a file: what it is, in JSON, and then its arrays, for mapping.

    8 bytes   RGHLYHAM
    4 bytes   format version, 1
    4 bytes   bytes of the JSON that follows
    JSON      {"bits", "k", "count", "design", "coding",
               "tables": [{"leading" (hex), "radius", "coding", "head", "extra", "pointer",
                           "entries", "arrays": [[offset, words], ...]}],
               "positions": [offset, words], "rows": [offset, words] or null}
    arrays    64-bit words, little-endian, each from a multiple of 64 bytes on

Beside it stand the checksums of storage/checked.py. Opening checks all of them: after that nothing
is checked again, however it is read.
"""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from roughly.documents.file import printable
from roughly.errors import DamageError, DocumentError
from roughly.storage.checked import CheckedMap, checked_writer, sidecar

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Words = npt.NDArray[np.uint64]

_MAGIC = b"RGHLYHAM"
_VERSION = 1
_HEADER = struct.Struct("<8sII")
_ALIGNED = 64

CODINGS = ("plain", "xor-block", "elias-fano", "pointer")
_NUMBERS = ("radius", "head", "extra", "pointer", "entries")
Shape = tuple[int, int, int, int, int, int, int]


@dataclass(frozen=True, slots=True)
class Parts:
    """Everything an index consists of."""

    bits: int
    k: int
    count: int
    design: str
    coding: str
    shapes: list[Shape]  # leading bits, radius, coding, head, extra, pointer, entries
    arrays: list[list[Words]]  # those of each table
    positions: Words  # of the first table's values; the values themselves where there is no table
    rows: npt.NDArray[np.int64] | None  # where each stood, if some were missing

    @property
    def nbytes(self) -> int:
        rows = 0 if self.rows is None else self.rows.nbytes
        return rows + self.positions.nbytes + sum(a.nbytes for table in self.arrays for a in table)


def write_parts(path: Path, parts: Parts) -> None:
    """Writes an index and its checksums; there is all of it, or nothing."""
    flat: list[npt.NDArray[Any]] = [array for table in parts.arrays for array in table]
    flat.append(parts.positions)
    if parts.rows is not None:
        flat.append(parts.rows)
    head = _encode(parts, [0] * len(flat))
    # Offsets are as many digits as in the longest case, so that they do not move what they tell.
    begin = _aligned(_HEADER.size + len(head) + 20 * len(flat))
    offsets, place = [], begin
    for array in flat:
        offsets.append(place)
        place = _aligned(place + array.nbytes)
    head = _encode(parts, offsets)
    with checked_writer(path) as file:
        file.write(_HEADER.pack(_MAGIC, _VERSION, len(head)) + head)
        for array, offset in zip(flat, offsets, strict=True):
            file.write(bytes(offset - file.tell()))
            file.write(array.data)


def read_parts(path: Path, threads: int | None = None) -> tuple[Parts, CheckedMap]:
    """The parts of an index in a file, mapped and checked."""
    if path.is_dir():
        raise _foreign(path, "it is a directory, not a Hamming index")
    if path.is_file() and not sidecar(path).exists():
        # A file of something else is told apart from one of ours that lost its checksums.
        with path.open("rb") as file:
            if file.read(len(_MAGIC)) != _MAGIC:
                raise _foreign(path)
    if not path.exists():
        raise DocumentError(f"{printable(str(path))}: cannot read: no such file")
    mapped = CheckedMap(path)
    mapped.verify(threads)
    if mapped.size < _HEADER.size:
        raise _foreign(path)
    magic, version, size = _HEADER.unpack(mapped.view(0, _HEADER.size))
    if magic != _MAGIC:
        raise _foreign(path)
    if version != _VERSION:
        raise DamageError(
            f"{printable(str(path))}: cannot read: its format has version {version}, wanted"
            f" {_VERSION}",
            hint="build it again with this version of roughly",
        )
    try:
        head = json.loads(bytes(mapped.view(_HEADER.size, _HEADER.size + size)))
        return _decode(head, mapped), mapped
    except (KeyError, TypeError, ValueError) as error:
        raise DamageError(
            f"{printable(str(path))}: damaged: its description makes no sense: {error}",
            hint="build it again",
        ) from error


def _encode(parts: Parts, offsets: list[int]) -> bytes:
    left = iter(offsets)
    tables: list[dict[str, Any]] = []
    for shape, arrays in zip(parts.shapes, parts.arrays, strict=True):
        leading, radius, coding, *others = shape
        table = {"leading": f"{leading:016x}", "radius": radius, "coding": CODINGS[coding]}
        table |= dict(zip(_NUMBERS[1:], others, strict=True))
        table["arrays"] = [[next(left), len(array)] for array in arrays]
        tables.append(table)
    whole = {
        "bits": parts.bits,
        "k": parts.k,
        "count": parts.count,
        "design": parts.design,
        "coding": parts.coding,
        "tables": tables,
        "positions": [next(left), len(parts.positions)],
        "rows": None if parts.rows is None else [next(left), len(parts.rows)],
    }
    return json.dumps(whole).encode()


def _decode(head: dict[str, Any], mapped: CheckedMap) -> Parts:
    shapes: list[Shape] = []
    arrays = []
    for table in head["tables"]:
        radius, *others = (int(table[name]) for name in _NUMBERS)
        coding = CODINGS.index(table["coding"])
        leading = int(table["leading"], 16)
        shapes.append((leading, radius, coding, others[0], others[1], others[2], others[3]))
        arrays.append([mapped.array("<u8", *place) for place in table["arrays"]])
    return Parts(
        head["bits"],
        head["k"],
        head["count"],
        head["design"],
        head["coding"],
        shapes,
        arrays,
        mapped.array("<u8", *head["positions"]),
        None if head["rows"] is None else mapped.array("<i8", *head["rows"]),
    )


def _aligned(place: int) -> int:
    return -(-place // _ALIGNED) * _ALIGNED


def _foreign(path: Path, why: str = "it is not a Hamming index") -> DamageError:
    return DamageError(
        f"{printable(str(path))}: cannot read: {why}",
        hint="make one with roughly hamming build",
    )
