"""Files of simhashes: read whole, or passed by in chunks that are independent of one another.

    plain        64-bit whole numbers, little-endian, one after the other
    compressed   sorted, in the 2007 paper's blocks (3.2); `write_compressed` makes them
    Parquet, Arrow (.parquet, .arrow, .feather)    a column of 64-bit whole numbers

A chunk is 64 MiB of the file, as in the paper (3.3): a file of any size is read with the memory of
two. A compressed file is checked block by block as it is read; its layout:

    8 bytes   RGHLYXOR
    4 bytes   format version, 1
    4 bytes   bits of a simhash
    8 bytes   simhashes
    8 bytes   blocks
    65 bytes  lengths of the code's words, then 31 zeros
    blocks    1,024 bytes each
    ranks     8 bytes each: how many simhashes there are before each block, and in all
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

from roughly import _core
from roughly.documents.file import printable, reason
from roughly.errors import DamageError, DocumentError, ParameterError
from roughly.parameters import threads_or_all
from roughly.storage.checked import CheckedMap, checked_writer

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Simhashes = npt.NDArray[np.uint64]

CHUNK_BYTES = 64 << 20
BLOCK_BYTES = 1024

_MAGIC = b"RGHLYXOR"
_VERSION = 1
_HEADER = struct.Struct("<8sIIQQ65s31x")
_TABLES = {".parquet": "parquet", ".arrow": "arrow", ".feather": "arrow"}


class SimhashFile:
    """A file of simhashes, opened to be read in chunks."""

    def __init__(self, path: str | os.PathLike[str], column: str | None = None) -> None:
        self.path = Path(path)
        self._column = column
        self._name = printable(os.fspath(path))
        try:
            with self.path.open("rb") as file:
                begin = file.read(len(_MAGIC))
                self._size = os.fstat(file.fileno()).st_size
        except OSError as error:
            raise DocumentError(f"{self._name}: cannot read: {reason(error)}") from error
        self._map: CheckedMap | None = None
        self.bits = 64
        table = _TABLES.get(self.path.suffix.lower())
        if table:
            self.kind = table
            self._open_table()
        elif begin == _MAGIC:
            self.kind = "compressed"
            self._open_compressed()
        else:
            self.kind = "plain"
            if begin[:5] == _MAGIC[:5]:
                raise DocumentError(
                    f"{self._name}: cannot read: it begins with {begin!r}, wanted simhashes",
                    hint="give the file that the index was built from",
                )
            if self._size % 8:
                raise DocumentError(
                    f"{self._name}: cannot read: it has {self._size:,} bytes, wanted a multiple of"
                    " 8: 64-bit whole numbers, little-endian",
                    hint="name Parquet files .parquet and Arrow files .arrow",
                )
            self.count = self._size // 8

    @property
    def chunks(self) -> int:
        """How many chunks there are."""
        if self.kind == "compressed":
            return -(-(len(self._ranks) - 1) * BLOCK_BYTES // CHUNK_BYTES)
        return -(-self.count * 8 // CHUNK_BYTES)

    def read(self) -> Simhashes:
        """All of them."""
        import numpy as np

        parts = [values for _, values in self.each()]
        made: Simhashes = (
            parts[0] if len(parts) == 1 else np.concatenate([np.empty(0, np.uint64), *parts])
        )
        return made

    def each(
        self, begin: int = 0, end: int | None = None, threads: int | None = None
    ) -> Iterator[tuple[int, Simhashes]]:
        """The position of the first, and all simhashes, of each chunk from `begin` to `end`. The
        next one is read while one is used."""
        end = self.chunks if end is None else min(end, self.chunks)
        with ThreadPoolExecutor(1) as reader:
            ahead = None
            for number in range(begin, end):
                now = ahead or reader.submit(self._chunk, number, threads)
                ahead = (
                    reader.submit(self._chunk, number + 1, threads) if number + 1 < end else None
                )
                yield now.result()

    def _chunk(self, number: int, threads: int | None) -> tuple[int, Simhashes]:
        import numpy as np

        first = number * (CHUNK_BYTES // 8)
        count = min(CHUNK_BYTES // 8, self.count - first)
        if self.kind == "plain":
            try:
                values = np.fromfile(self.path, "<u8", count, offset=first * 8)
            except OSError as error:
                raise DocumentError(f"{self._name}: cannot read: {reason(error)}") from error
            if len(values) != count:
                raise DocumentError(f"{self._name}: cannot read: it became shorter")
            return first, values
        if self.kind == "compressed":
            return self._compressed_chunk(number, threads)
        return first, self._table[first : first + count]

    # --- compressed -------------------------------------------------------------------------------

    def _open_compressed(self) -> None:
        self._map = CheckedMap(self.path)
        if self._map.size < _HEADER.size:
            raise DamageError(f"{self._name}: damaged: it has no header", hint="make it again")
        _, version, bits, count, blocks, lengths = _HEADER.unpack(self._map.view(0, _HEADER.size))
        if version != _VERSION:
            raise DamageError(
                f"{self._name}: cannot read: its format has version {version}, wanted {_VERSION}",
                hint="make it again with this version of roughly",
            )
        self.bits, self.count, self._lengths = bits, count, lengths
        ranks = _HEADER.size + blocks * BLOCK_BYTES
        self._ranks = self._map.array("<u8", ranks, blocks + 1)
        if int(self._ranks[-1]) != count:
            raise DamageError(
                f"{self._name}: damaged: its blocks have {int(self._ranks[-1]):,} simhashes, wanted"
                f" {count:,}",
                hint="make it again",
            )

    def _compressed_chunk(self, number: int, threads: int | None) -> tuple[int, Simhashes]:
        import numpy as np

        assert self._map is not None
        step = CHUNK_BYTES // BLOCK_BYTES
        begin, end = number * step, min((number + 1) * step, len(self._ranks) - 1)
        words = self._map.array(
            "<u8", _HEADER.size + begin * BLOCK_BYTES, (end - begin) * BLOCK_BYTES // 8
        )
        lengths = np.frombuffer(self._lengths, np.uint8)
        try:
            values = _core.xor_blocks_decode(words, lengths, self.bits, threads_or_all(threads))
        except ValueError as error:
            raise DamageError(f"{self._name}: damaged: {error}", hint="make it again") from error
        first = int(self._ranks[begin])
        if first + len(values) != int(self._ranks[end]):
            raise DamageError(f"{self._name}: damaged: blocks without their simhashes")
        self._map.release()
        return first, values

    # --- tables -----------------------------------------------------------------------------------

    def _open_table(self) -> None:
        import pyarrow as pa

        try:
            self._table = _column(self._read_table(), self._column, self._name)
        except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
            raise DocumentError(f"{self._name}: cannot read: {error}") from error
        self.count = len(self._table)

    def _read_table(self) -> Any:
        if self.kind == "parquet":
            import pyarrow.parquet as pq

            wanted = [self._column] if self._column else None
            names = pq.read_schema(self.path).names
            if wanted and wanted[0] not in names:
                wanted = None
            return pq.read_table(self.path, columns=wanted)
        import pyarrow.feather as feather

        return feather.read_table(self.path)


def _column(table: Any, name: str | None, file: str) -> Simhashes:
    """The column of simhashes: the one named, or `simhash`, or the only one of whole numbers."""
    import numpy as np
    import pyarrow as pa

    whole = [field.name for field in table.schema if pa.types.is_integer(field.type)]
    if name is None:
        name = "simhash" if "simhash" in whole else whole[0] if len(whole) == 1 else None
    if name not in whole:
        raise ParameterError(
            f"{file}: no column of simhashes: wanted {name or 'simhash'}, of 64-bit whole numbers;"
            f" it has {', '.join(table.schema.names) or 'none'}",
            hint="name one with --column",
        )
    values = table.column(name).combine_chunks()
    if values.null_count:
        raise ParameterError(f"{file}: column {name}: {values.null_count:,} values are missing")
    if values.type == pa.int64():
        return values.to_numpy().view(np.uint64)  # the same bits
    made: Simhashes = values.cast(pa.uint64()).to_numpy()
    return made


def write_compressed(path: str | os.PathLike[str], simhashes: Simhashes, bits: int = 64) -> None:
    """Writes simhashes, sorted, in the paper's blocks. Their positions are those in the order."""
    import numpy as np

    ordered = np.sort(simhashes)
    blocks, _, ranks, lengths = _core.xor_blocks_encode(ordered, bits)
    header = _HEADER.pack(_MAGIC, _VERSION, bits, len(ordered), len(ranks) - 1, lengths.tobytes())
    with checked_writer(Path(path)) as file:
        file.write(header)
        file.write(blocks.data)
        file.write(ranks.data)
