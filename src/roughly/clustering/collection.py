"""Documents as they are clustered: ids, dates and sketches in document order, without their text.

Document order is (date, id as bytes), undated first. It does not depend on how the documents were
read, so neither does anything that is made of a collection.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from roughly import _core
from roughly.parameters import Parameters
from roughly.sketcher import Sketcher

if TYPE_CHECKING:
    from fractions import Fraction

PairTable = npt.NDArray[np.uint32]  # columns a, b, common, sampled


@dataclass(frozen=True, slots=True)
class Sketches:
    """Columns of set sketches, as the core's join wants them."""

    parameters: Parameters
    values: npt.NDArray[np.uint64]
    offsets: npt.NDArray[np.int64]
    size: npt.NDArray[np.uint32]
    level: npt.NDArray[np.uint8]

    def __len__(self) -> int:
        return len(self.size)

    @property
    def smallest(self) -> int:
        """The K of min:K sketches, else 0."""
        name, number = self.parameters.selection
        return number if name == "min" else 0

    def take(self, rows: npt.NDArray[np.int64]) -> Sketches:
        lists = pa.LargeListArray.from_arrays(self.offsets, self.values).take(pa.array(rows))
        return Sketches(
            self.parameters,
            lists.flatten().to_numpy(),
            lists.offsets.to_numpy() - lists.offsets[0].as_py(),
            self.size[rows],
            self.level[rows],
        )

    def join(self, floor: Fraction, threads: int) -> PairTable:
        """All pairs whose estimate reaches the floor, ascending."""
        ratio = floor.numerator, floor.denominator
        columns = self.values, self.offsets, self.size, self.level
        return _core.join(*columns, *ratio, self.smallest, threads)

    def measure(self, pairs: PairTable, threads: int) -> PairTable:
        """The same pairs, counted."""
        columns = self.values, self.offsets, self.size, self.level
        return _core.measure_pairs(*columns, pairs, self.smallest, threads)


@dataclass(frozen=True, slots=True)
class Collection:
    """Documents in document order."""

    ids: pa.Array  # large_string
    dates: pa.Array  # large_string, nullable
    sketches: Sketches
    content: npt.NDArray[np.uint64]  # equivalence hashes, two columns each
    canonical: npt.NDArray[np.uint64]
    sketch: npt.NDArray[np.uint64]

    def __len__(self) -> int:
        return len(self.ids)


def collect(
    batches: Iterable[pa.RecordBatch], sketcher: Sketcher, threads: int | None
) -> Collection:
    """Sketches every batch of documents and puts them in document order."""
    ids: list[pa.Array] = []
    dates: list[pa.Array] = []
    parts: list[_core.SketchColumns] = []
    for batch in batches:
        ids.append(batch["id"].cast(pa.large_string()))
        dates.append(batch["date"].cast(pa.large_string()))
        parts.append(sketcher.sketch_documents(batch, threads).columns)
    if not parts:
        ids, dates = [pa.array([], pa.large_string())], [pa.array([], pa.large_string())]
        parts = [sketcher.sketch_batch([], threads=1).columns]
    all_ids, all_dates = pa.concat_arrays(ids), pa.concat_arrays(dates)
    order = document_order(all_ids, all_dates)
    offsets = [parts[0].offsets]
    for part in parts[1:]:
        offsets.append(part.offsets[1:] + offsets[-1][-1])

    def column(name: str) -> Any:
        return np.concatenate([getattr(part, name) for part in parts])

    sketches = Sketches(
        sketcher.parameters,
        column("values"),
        np.concatenate(offsets),
        column("size"),
        column("level"),
    ).take(order)
    return Collection(
        all_ids.take(pa.array(order)),
        all_dates.take(pa.array(order)),
        sketches,
        column("content")[order],
        column("canonical")[order],
        column("sketch")[order],
    )


def document_order(ids: pa.Array, dates: pa.Array) -> npt.NDArray[np.int64]:
    """The rows in document order. Arrow compares strings by their bytes."""
    import pyarrow.compute as pc

    table = pa.table({"date": pc.fill_null(dates, ""), "id": ids})
    keys = [("date", "ascending"), ("id", "ascending")]
    rows: npt.NDArray[np.int64] = pc.sort_indices(table, sort_keys=keys).to_numpy().astype(np.int64)
    return rows
