"""Documents in memory that can be read like a collection on disk, for tests of what uses one."""

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import pyarrow as pa

from roughly import Sketcher
from roughly.storage.collection import Collection


class MemoryCollection:
    """(id, date, text), in parts of a few rows."""

    def __init__(
        self,
        documents: Sequence[tuple[str, str | None, str | bytes]],
        select: str = "adaptive:200",
        part_rows: int = 4,
        **options: Any,
    ) -> None:
        sketcher = Sketcher(select=select, **options)
        batch = sketcher.sketch_batch([content for _, _, content in documents])
        self.parameters = batch.parameters
        self.columns = batch.columns
        self.part_rows = part_rows
        self.documents = documents
        self.size, self.level, self.tokens = (
            batch.columns.size,
            batch.columns.level,
            batch.columns.tokens,
        )
        self.live_rows = np.arange(len(documents), dtype=np.uint32)

    def __len__(self) -> int:
        return len(self.documents)

    @property
    def parts(self) -> int:
        return -(-len(self) // self.part_rows)

    def rows(self, part: int) -> tuple[int, int]:
        return part * self.part_rows, min(len(self), (part + 1) * self.part_rows)

    def chunk(self, part: int) -> tuple[Any, Any]:
        begin, end = self.rows(part)
        offsets = self.columns.offsets[begin : end + 1]
        return self.columns.values[offsets[0] : offsets[-1]], offsets - offsets[0]

    def sketch_elements(self, rows: Any) -> tuple[Any, Any]:
        values, offsets = self.columns.values, self.columns.offsets
        found = [values[offsets[row] : offsets[row + 1]] for row in np.asarray(rows).tolist()]
        ends = np.cumsum([0, *map(len, found)])
        return np.concatenate([np.zeros(0, np.uint64), *found]), ends

    def hashes(self, name: str) -> Any:
        return getattr(self.columns, name)

    def take(self, name: str, rows: Any) -> pa.Array:
        if name in ("id", "date"):
            column = [document[("id", "date").index(name)] for document in self.documents]
            return pa.array([column[row] for row in np.asarray(rows).tolist()], pa.string())
        hashes = [bytes(pair.tobytes()) for pair in self.hashes(name)]
        return pa.array([hashes[row] for row in np.asarray(rows).tolist()])

    def values(self, name: str, rows: Any) -> list[Any]:
        found: list[Any] = self.take(name, rows).to_pylist()
        return found

    def release(self) -> None:
        pass

    def release_part(self, part: int) -> None:
        pass


def collection(
    documents: Sequence[tuple[str, str | None, str | bytes]], **options: Any
) -> Collection:
    """As the type that everything asks for."""
    return cast(Collection, MemoryCollection(documents, **options))
