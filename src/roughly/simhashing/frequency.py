"""How many documents of a collection have each feature, and the tf-idf weights that follow.

A table knows which features it counts: it weighs simhashes of the same features only. Weights are
whole numbers of 1/1024, found with integers alone (docs/simhash.md), so that every machine finds
the same. On disk a table is an Arrow file that notices damage.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from roughly import _core
from roughly.documents.file import printable
from roughly.errors import DamageError, DocumentError, ParameterError
from roughly.parameters import check_integer
from roughly.simhashing.parameters import SimhashParameters

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

_KEY = b"roughly.frequencies"
_FRACTION_BITS = 10  # of a weight
_HINT = "make it with: roughly simhash INPUT... --count-frequencies FILE"


class DocumentFrequencies:
    """How many of `documents` documents have each feature."""

    def __init__(
        self,
        parameters: SimhashParameters,
        features: npt.NDArray[np.uint64],
        counts: npt.NDArray[np.uint32],
        documents: int,
    ) -> None:
        self.parameters = parameters
        """Of simhashes that weigh every feature by its count; the same features are meant."""
        self.features = features
        """Hashes of the features, ascending."""
        self.counts = counts
        """How many documents have each."""
        self.documents = documents

    def __len__(self) -> int:
        return len(self.features)

    def __repr__(self) -> str:
        return f"DocumentFrequencies({len(self)} features of {self.documents} documents)"

    @cached_property
    def digest(self) -> str:
        """16 digits that stand for the whole table."""
        parts = (self.features, self.counts)
        data = b"".join(part.tobytes() for part in parts) + self.documents.to_bytes(8, "little")
        return _core.content_hash(data)[:16]

    def at_least(self, documents: int) -> DocumentFrequencies:
        """The table without features that fewer documents have; they weigh as unknown ones do.
        Most features of a collection are in one document only."""
        documents = check_integer("documents", documents, 1, 1 << 32)
        kept = self.counts >= documents
        return DocumentFrequencies(
            self.parameters, self.features[kept], self.counts[kept], self.documents
        )

    def weights(self) -> _core.FeatureWeights:
        """What an occurrence of each feature weighs, for the core."""
        import numpy as np

        others = idf_weights(np.zeros(1, np.uint32), self.documents)
        return _core.FeatureWeights(
            self.features, idf_weights(self.counts, self.documents), int(others[0])
        )

    def save(self, path: str | Path, force: bool = False) -> None:
        """Writes the table, and its checksums beside it."""
        import pyarrow as pa

        from roughly.storage.arrow_file import arrow_writer

        path = Path(path)
        if path.exists() and not path.is_file():
            raise DocumentError(
                f"{printable(str(path))}: cannot write: it is no file, and checksums go beside it",
                hint="name a file",
            )
        if not force and path.exists():
            raise DocumentError(
                f"{printable(str(path))}: will not write: the file exists",
                hint="choose another name, or overwrite it",
            )
        about = {"documents": self.documents, "parameters": asdict(self.parameters)}
        schema = pa.schema(
            [pa.field("feature", pa.uint64()), pa.field("documents", pa.uint32())],
            metadata={_KEY: json.dumps(about).encode()},
        )
        batch = pa.RecordBatch.from_arrays(
            [pa.array(self.features, pa.uint64()), pa.array(self.counts, pa.uint32())],
            schema=schema,
        )
        with arrow_writer(path, schema) as writer:
            writer.write(batch)

    @classmethod
    def load(cls, path: str | Path) -> DocumentFrequencies:
        """The table of a file."""
        from roughly.storage.arrow_file import ArrowFile

        if not Path(path).exists():
            raise DocumentError(
                f"{printable(str(path))}: cannot read: no such file",
                hint=_HINT,
            )
        if not _is_arrow(Path(path)):
            raise DamageError(
                f"{printable(str(path))}: no frequencies: it is no Arrow file", hint=_HINT
            )
        file = ArrowFile(Path(path))
        metadata = (file.schema.metadata or {}).get(_KEY)
        if metadata is None:
            raise DamageError(
                f"{printable(str(path))}: no frequencies: it is another kind of Arrow file",
                hint=_HINT,
            )
        about = json.loads(metadata)
        table = file.table().combine_chunks()
        return cls(
            SimhashParameters(**about["parameters"]),
            table["feature"].to_numpy(),
            table["documents"].to_numpy(),
            about["documents"],
        )


def _is_arrow(path: Path) -> bool:
    """Whether a file was meant as an Arrow file, whatever became of it; with checksums beside it
    is one of ours, and these say what is wrong."""
    from roughly.storage.checked import sidecar

    if path.is_dir():
        return False
    if sidecar(path).exists():
        return True
    try:
        with path.open("rb") as file:
            return file.read(6) == b"ARROW1"
    except OSError:
        return True  # reading it will say why not


def idf_weights(counts: npt.NDArray[np.uint32], documents: int) -> npt.NDArray[np.uint32]:
    """1 + log2((documents + 1) / (count + 1)) in units of 1/1024, rounded down, digit by digit:
    squaring a number doubles its logarithm, whose next digit is whether it reaches 2."""
    import numpy as np

    if not 0 <= documents < 1 << 32:
        raise ParameterError(f"documents: out of range: {documents}, wanted less than 2^32")
    a = np.uint64(documents + 1)
    b = np.minimum(counts.astype(np.uint64), np.uint64(documents)) + np.uint64(1)
    # The whole part: the largest e for which b 2^e does not exceed a.
    e = _bit_lengths(np.full(1, a)) - _bit_lengths(b)
    e -= (b << e) > a
    y = (a << np.uint64(31)) // (b << e)  # what is left, from 2^31 to 2^32
    weight = np.uint64(1) + e
    for _ in range(_FRACTION_BITS):
        y = (y * y) >> np.uint64(31)
        digit = y >> np.uint64(32)
        y >>= digit
        weight = np.uint64(2) * weight + digit
    return weight.astype(np.uint32)


def _bit_lengths(numbers: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Of numbers that a double holds exactly."""
    import numpy as np

    return np.frexp(numbers.astype(np.float64))[1].astype(np.uint64)
