"""The ids of documents, by the position of their simhashes: read piece by piece, as they are asked
for; and FILE.ids, the ids beside an index or a compressed file of simhashes.

FILE.ids is a checked Arrow file of one column, `id`: row i is the document at position i. It says
which checksums it belongs to, so that the ids of a file that was since written anew are never taken
for its own.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from roughly import _core
from roughly.documents.file import printable
from roughly.errors import DamageError
from roughly.simhashing.parameters import SimhashParameters
from roughly.storage.checked import sidecar
from roughly.storage.durable import remove

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pyarrow as pa

_KEY = b"roughly.ids"
_BATCH = 1 << 16


class Ids:
    """Ids in pieces, of which `load` gives each; one is kept in memory."""

    def __init__(self, sizes: Iterable[int], load: Callable[[int], pa.Array]) -> None:
        import numpy as np

        self._starts = np.cumsum([0, *sizes], dtype=np.int64)
        self._load = load
        self._held: tuple[int, pa.Array] | None = None

    @staticmethod
    def of(column: pa.ChunkedArray) -> Ids:
        """Those of a column in memory."""
        return Ids([len(chunk) for chunk in column.chunks], column.chunk)

    def sizes(self) -> list[int]:
        return [
            int(end - begin) for begin, end in zip(self._starts, self._starts[1:], strict=False)
        ]

    def piece(self, number: int) -> pa.Array:
        if self._held is None or self._held[0] != number:
            self._held = number, self._load(number)
        return self._held[1]

    def take(self, positions: npt.NDArray[np.int64]) -> list[str | None]:
        """The ids at these positions; each piece is read once."""
        import numpy as np
        import pyarrow as pa

        found: list[str | None] = [None] * len(positions)
        order = np.argsort(positions, kind="stable")
        numbers = np.searchsorted(self._starts, positions[order], "right") - 1
        for part in np.split(order, np.flatnonzero(np.diff(numbers)) + 1):
            if not len(part):
                continue
            number = int(np.searchsorted(self._starts, positions[part[0]], "right")) - 1
            inside = pa.array(positions[part] - self._starts[number])
            ids = self.piece(number).take(inside).to_pylist()
            for place, id in zip(part.tolist(), ids, strict=True):
                found[place] = id
        return found


def ids_path(path: Path) -> Path:
    """Where the ids of a file are."""
    return path.with_name(f"{path.name}.ids")


def remove_ids(path: Path) -> None:
    """Takes away the ids of a file that is to be written anew."""
    remove(ids_path(path))
    remove(sidecar(ids_path(path)))


def write_ids(path: Path, ids: Ids, parameters: SimhashParameters | None) -> None:
    """Writes the ids of a file, which is there, with the parameters of its simhashes."""
    import pyarrow as pa

    from roughly.storage.arrow_file import arrow_writer

    cuts = [[min(_BATCH, size - begin) for begin in range(0, size, _BATCH)] for size in ids.sizes()]
    about = {
        "belongs_to": _digest(path),
        "sizes": [size for piece in cuts for size in piece],  # of the batches
        "parameters": None if parameters is None else asdict(parameters),
    }
    schema = pa.schema(
        [pa.field("id", pa.large_string())], metadata={_KEY: json.dumps(about).encode()}
    )
    with arrow_writer(ids_path(path), schema) as writer:
        for number, sizes in enumerate(cuts):
            piece = ids.piece(number)
            for place, size in enumerate(sizes):
                some = piece.slice(place * _BATCH, size).cast(pa.large_string())
                writer.write(pa.record_batch([some], schema=schema))


def read_ids(path: Path) -> tuple[Ids | None, SimhashParameters | None]:
    """The ids beside a file and the parameters of its simhashes, if there are any."""
    if not ids_path(path).exists():
        return None, None
    from roughly.storage.arrow_file import ArrowFile

    file = ArrowFile(ids_path(path))
    metadata = (file.schema.metadata or {}).get(_KEY)
    about = {} if metadata is None else json.loads(metadata)
    if about.get("belongs_to") != _digest(path):
        raise DamageError(
            f"{printable(str(ids_path(path)))}: cannot be used: its ids are not those of"
            f" {printable(path.name)} as it is now",
            hint="build both again, or remove the ids",
        )
    found = about["parameters"]
    parameters = None if found is None else SimhashParameters(**found)
    return Ids(about["sizes"], lambda number: file.batch(number).column("id")), parameters


def _digest(path: Path) -> str:
    """Stands for the content of a checked file, by its checksums."""
    return _core.content_hash(sidecar(path).read_bytes())[:16]
