"""What the phases leave behind in the folder of a forest, and the files that it is kept in.

Documents are numbered as representatives in document order; a pair is (a, b, common, sampled).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from roughly.clustering.discount import FILE as DISCOUNT
from roughly.clustering.discount import discounted
from roughly.clustering.equivalence import Groups
from roughly.clustering.forest import NO_PAIRS
from roughly.clustering.join import Hubs, Measure
from roughly.clustering.sketches import PairTable, Rows, Sketches
from roughly.storage.arrow_file import ArrowFile, arrow_writer
from roughly.storage.checked import sidecar
from roughly.storage.scratch import IN_MEMORY, Scratch

if TYPE_CHECKING:
    from roughly.storage.collection import Stored

MEASURES: tuple[Measure, ...] = ("resemblance", "containment")

# Of a run that begins with its documents; what is added later has later numbers.
FOREST = "forest/000001"

_DOCUMENTS = pa.schema(
    [
        pa.field("row", pa.uint32(), nullable=False),  # of the collection; in document order
        pa.field("representative", pa.uint32(), nullable=False),  # a position in document order
        pa.field("kind", pa.uint8(), nullable=False),  # index into equivalence.KINDS
    ]
)
# Rows of a table that is read at once, or twice as many: 1 or 2 MiB.
_TABLE_ROWS = 1 << 16

_HUBS = pa.schema([pa.field("hub", pa.uint32(), nullable=False)])  # NO_HUB for none
# Documents are numbered as representatives in document order.
_PAIRS = pa.schema(
    [pa.field(n, pa.uint32(), nullable=False) for n in ("a", "b", "common", "sampled")]
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the phases leave behind."""

    order: Rows  # rows of the collection that are there, in document order
    groups: Groups
    hubs: Hubs
    pair_files: list[tuple[Measure, Path]]
    link_files: dict[Measure, ArrowFile]  # of the forests there are, heaviest links first
    facts: dict[str, int]  # of the expansion: elements, those cut off, pairs; bytes of scratch
    mapped: tuple[ArrowFile, ...] = ()  # what order, groups and hubs lie in
    discount: ArrowFile | None = None  # what of the sketches was joined, if not all

    @classmethod
    def empty(cls) -> Outcome:
        """Of no documents."""
        none: Rows = np.zeros(0, np.uint32)
        groups = Groups(none, np.zeros(0, np.uint8))
        return cls(none, groups, none, [], {}, {})

    @classmethod
    def load(cls, directory: Path, forest: str = FOREST) -> Outcome:
        """What a finished run left in its directory."""
        folder = directory / forest
        # By their checksums: a file that is missing is damage, not a step that was not needed.
        files = sorted(path.with_suffix("") for path in folder.glob("pairs-*.arrow.crc32c"))
        return cls.of_files(folder, [(_measure_of(path), path) for path in files], {})

    @classmethod
    def of_files(
        cls, folder: Path, pair_files: list[tuple[Measure, Path]], facts: dict[str, int]
    ) -> Outcome:
        """What lies in a folder, in place there."""
        documents = ArrowFile(folder / "documents.arrow")
        mapped = [documents]
        hubs: Hubs = np.zeros(0, np.uint32)
        if sidecar(folder / "hubs.arrow").exists():
            mapped.append(ArrowFile(folder / "hubs.arrow"))
            hubs = mapped[-1].batch(0).column("hub").to_numpy()
        order, groups = documents_of(documents)
        links = open_links(folder)
        path = folder / DISCOUNT
        discount = ArrowFile(path) if sidecar(path).exists() else None
        return cls(order, groups, hubs, pair_files, links, facts, tuple(mapped), discount)

    def sketches(self, segment: Stored, scratch: Scratch = IN_MEMORY) -> Sketches:
        """Those by which the pairs were found."""
        if self.discount is None:
            return Sketches.of_segment(segment, scratch)
        return discounted(segment, self.discount, scratch)

    def release(self) -> None:
        """Takes what lies in files out of this process's memory. It stays valid."""
        for file in self.mapped:
            file.release()
        if self.discount is not None:
            self.discount.release()

    @property
    def links(self) -> PairTable:
        """Of the resemblance forest, heaviest first."""
        return np.concatenate([NO_PAIRS, *self.link_tables("resemblance")])

    @property
    def containment_links(self) -> PairTable:
        return np.concatenate([NO_PAIRS, *self.link_tables("containment")])

    def link_tables(self, measure: Measure) -> Iterator[PairTable]:
        """The same in tables."""
        if measure in self.link_files:
            yield from _tables(self.link_files[measure])

    def pairs(self, measure: Measure) -> Iterable[PairTable]:
        """All pairs that were found, in tables."""
        for kind, path in self.pair_files:
            if kind == measure:
                yield from read_pairs(path)


def write_documents(folder: Path, order: Rows, groups: Groups) -> tuple[Path, int]:
    """Document order and equivalents; where they are, and how many bytes."""
    path = folder / "documents.arrow"
    arrays: list[npt.NDArray[Any]] = [order, groups.representative, groups.kind]
    return path, _write(path, _DOCUMENTS, [arrays])


def write_hubs(folder: Path, hubs: Hubs) -> Path:
    """The hubs of all representatives."""
    path = folder / "hubs.arrow"
    _write(path, _HUBS, [[hubs]])
    return path


def write_pairs(path: Path, tables: Iterable[PairTable]) -> int:
    """Pairs, a record batch a table; the bytes of the file."""
    return _write(path, _PAIRS, (table.T for table in tables))


def documents_of(file: ArrowFile) -> tuple[Rows, Groups]:
    """Document order and equivalents, in place in the file."""
    batch = file.batch(0)
    order, representative, kind = (batch.column(name).to_numpy() for name in _DOCUMENTS.names)
    return order, Groups(representative, kind)


def link_file(folder: Path, measure: Measure) -> Path:
    return folder / f"links-{measure}.arrow"


def open_links(folder: Path) -> dict[Measure, ArrowFile]:
    """The forests of a folder."""
    paths = {measure: link_file(folder, measure) for measure in MEASURES}
    return {m: ArrowFile(path) for m, path in paths.items() if sidecar(path).exists()}


def _measure_of(path: Path) -> Measure:
    return "containment" if path.name.startswith("pairs-containment") else "resemblance"


def reaching(pairs: PairTable, threshold: Fraction) -> npt.NDArray[np.bool_]:
    """Which of them reach a threshold."""
    # Both sides are below 2^64, for a ratio's parts are below 2^32.
    p, q = np.uint64(threshold.numerator), np.uint64(threshold.denominator)
    wide = pairs.astype(np.uint64)
    reached: npt.NDArray[np.bool_] = wide[:, 2] * q >= p * wide[:, 3]
    return reached


def read_pairs(path: Path) -> Iterator[PairTable]:
    """The pairs of a file, in tables."""
    yield from _tables(ArrowFile(path))


def _tables(file: ArrowFile) -> Iterator[PairTable]:
    """Short batches together: looking up the names of a few takes nearly as long as of many, and
    a Parquet file holds on to something for every table that is written to it."""
    waiting, rows = [], 0
    for number in range(file.num_batches):
        batch = file.batch(number)
        for begin in range(0, max(len(batch), 1), _TABLE_ROWS):
            some = batch.slice(begin, _TABLE_ROWS)
            waiting.append(np.stack([column.to_numpy() for column in some.columns], axis=1))
            rows += len(some)
            if rows >= _TABLE_ROWS:
                file.release()
                yield np.concatenate(waiting)
                waiting, rows = [], 0
    file.release()
    if waiting:
        yield np.concatenate(waiting)


def _write(path: Path, schema: pa.Schema, tables: Iterable[Iterable[npt.NDArray[Any]]]) -> int:
    """Writes columns, a record batch a table; returns the bytes of the file."""
    with arrow_writer(path, schema) as writer:
        for columns in tables:
            arrays = [pa.array(np.ascontiguousarray(column)) for column in columns]
            writer.write(pa.record_batch(arrays, schema=schema))
    return path.stat().st_size
