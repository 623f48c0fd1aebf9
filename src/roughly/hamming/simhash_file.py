"""Files of simhashes: read whole, or passed by in chunks that are independent of one another.

    binary       64-bit whole numbers, little-endian, one after the other: .u64, .bin
    compressed   sorted, in the 2007 paper's blocks (3.2); `write_compressed` makes them
    table        .parquet, .arrow, .feather: a column of 64-bit whole numbers, nulls left out
    text         what `roughly simhash` writes besides: .jsonl, or lines of hexadecimal digits

Tables and text may have the ids of documents, compressed files have them beside (id_file.py).

A chunk is 64 MiB, as in the paper (3.3). A binary or compressed file of any size is read with the
memory of two chunks; tables and text are read whole. A compressed file is checked block by block
as it is read; its layout:

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
import stat
import struct
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

from roughly import _core
from roughly.documents.file import printable, reason
from roughly.errors import DamageError, DocumentError, ParameterError
from roughly.hamming.design import check_bits, check_simhash
from roughly.hamming.id_file import Ids, read_ids
from roughly.parameters import threads_or_all
from roughly.simhashing.parameters import SimhashParameters
from roughly.simhashing.simhash_file import is_simhash_file, parameters_of, read_simhashes
from roughly.storage.checked import CheckedMap, checked_writer

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pyarrow as pa
    import pyarrow.parquet as pq

    Simhashes = npt.NDArray[np.uint64]

CHUNK_BYTES = 64 << 20
BLOCK_BYTES = 1024

_MAGIC = b"RGHLYXOR"
_VERSION = 1
_HEADER = struct.Struct("<8sIIQQ65s31x")
_TABLES = {".parquet": "parquet", ".arrow": "arrow", ".feather": "arrow"}
_BINARY = (".u64", ".bin")


class SimhashFile:
    """A file of simhashes, opened to be read in chunks. With fewer `bits` than a simhash has, its
    low ones are taken."""

    def __init__(
        self, path: str | os.PathLike[str], column: str | None = None, bits: int = 64
    ) -> None:
        import numpy as np

        self.path = Path(path)
        self._column = column
        self._name = printable(os.fspath(path))
        try:
            with self.path.open("rb") as file:
                status = os.fstat(file.fileno())
                begin = file.read(len(_MAGIC)) if stat.S_ISREG(status.st_mode) else b""
        except OSError as error:
            raise DocumentError(f"{self._name}: cannot read: {reason(error)}") from error
        if not stat.S_ISREG(status.st_mode):
            raise DocumentError(
                f"{self._name}: cannot read: it is no file, and is read in chunks",
                hint="write the simhashes to a file first",
            )
        self._size = status.st_size
        self._map: CheckedMap | None = None
        self.bits = check_bits(bits)
        self.parameters: SimhashParameters | None = None  # None if the file does not say
        self.ids: Ids | None = None  # of the documents, by position; None if the file has none
        self._rows: npt.NDArray[np.int64] | None = None
        suffix = self.path.suffix.lower()
        if suffix in _TABLES:
            self.kind = "table"
            self._open_table(_TABLES[suffix])
        elif begin == _MAGIC:
            self.kind = "compressed"
            self._open_compressed()
        elif begin[:5] == _MAGIC[:5]:
            raise DocumentError(
                f"{self._name}: cannot read: it begins with {begin!r}, wanted simhashes",
                hint="give the file that the index was built from",
            )
        elif suffix in _BINARY:
            self.kind = "binary"
            if self._size % 8:
                raise DocumentError(
                    f"{self._name}: cannot read: it has {self._size:,} bytes, wanted a multiple of"
                    " 8: 64-bit whole numbers, little-endian",
                    hint="name Parquet files .parquet and Arrow files .arrow",
                )
            self.count = self._size // 8
        else:
            self.kind = "text"
            if not self._size:
                self._take(np.empty(0, np.uint64), np.empty(0, np.bool_))  # of no documents
                return
            if not is_simhash_file(self.path):
                raise DocumentError(
                    f"{self._name}: no simhashes: its first line has none",
                    hint="roughly simhash makes them of documents; name a file of nothing but"
                    " 64-bit whole numbers .u64",
                )
            found = read_simhashes(self.path)
            self.ids = None if found.ids is None else Ids.of(found.ids)
            self._take(found.simhashes, found.empty)

    def missing(self) -> npt.NDArray[np.int64] | None:
        """The places of those that are there, or None if all are."""
        return self._rows

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

        first, values = self._whole_chunk(number, threads)
        return first, values if self.bits == 64 else values & np.uint64(2**self.bits - 1)

    def _whole_chunk(self, number: int, threads: int | None) -> tuple[int, Simhashes]:
        import numpy as np

        first = number * (CHUNK_BYTES // 8)
        count = min(CHUNK_BYTES // 8, self.count - first)
        if self.kind == "binary":
            try:
                values = np.fromfile(self.path, "<u8", count, offset=first * 8)
            except OSError as error:
                raise DocumentError(f"{self._name}: cannot read: {reason(error)}") from error
            if len(values) != count:
                raise DocumentError(f"{self._name}: cannot read: it became shorter")
            return first, values
        if self.kind == "compressed":
            return self._compressed_chunk(number, threads)
        return first, self._values[first : first + count]

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
        self._own_bits, self.count, self._lengths = bits, count, lengths
        self.bits = min(self.bits, bits)
        self.ids, self.parameters = read_ids(self.path)
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
            values = _core.xor_blocks_decode(
                words, lengths, self._own_bits, threads_or_all(threads)
            )
        except ValueError as error:
            raise DamageError(f"{self._name}: damaged: {error}", hint="make it again") from error
        first = int(self._ranks[begin])
        if first + len(values) != int(self._ranks[end]):
            raise DamageError(f"{self._name}: damaged: blocks without their simhashes")
        self._map.release()
        return first, values

    # --- tables -----------------------------------------------------------------------------------

    def _open_table(self, form: str) -> None:
        import pyarrow as pa

        try:
            if form == "parquet":
                import pyarrow.parquet as pq

                file = pq.ParquetFile(self.path)
                name = self._column_name(file.schema_arrow)
                table = pq.read_table(self.path, columns=[name])
                if "id" in file.schema_arrow.names:
                    self.ids = _parquet_ids(file, self._name)
                self.parameters = parameters_of(file.schema_arrow)
            else:
                import pyarrow.feather as feather

                table = feather.read_table(self.path)
                name = self._column_name(table.schema)
                if "id" in table.column_names:
                    self.ids = Ids.of(table.column("id").cast(pa.large_string()))
                self.parameters = parameters_of(table.schema)
        except (pa.ArrowException, OSError) as error:
            raise DocumentError(
                f"{self._name}: cannot read: {' '.join(str(error).split())[:200]}"
            ) from error
        self._take_column(table.column(name))

    def _column_name(self, schema: Any) -> str:
        """The column of simhashes: the one named, or `simhash`, or the only one of numbers."""
        import pyarrow as pa

        whole = [field.name for field in schema if pa.types.is_integer(field.type)]
        name = self._column
        if name is None:
            name = "simhash" if "simhash" in whole else whole[0] if len(whole) == 1 else None
        if name is None or name not in whole:
            raise ParameterError(
                f"{self._name}: no column of simhashes: wanted {name or 'simhash'}, of 64-bit whole"
                f" numbers; it has {', '.join(schema.names) or 'none'}",
                hint="name one with --column",
            )
        return name

    def _take_column(self, column: Any) -> None:
        import numpy as np
        import pyarrow as pa

        empty = np.asarray(column.is_null())
        column = column.fill_null(0)
        # Many programs have signed numbers only: the same 64 bits.
        wide = column.cast(pa.int64()) if pa.types.is_signed_integer(column.type) else column
        values = wide.to_numpy()
        self._take(values.astype(np.uint64, casting="unsafe", copy=False), empty)

    def _take(self, values: Simhashes, empty: npt.NDArray[np.bool_]) -> None:
        import numpy as np

        if empty.any():
            self._rows = np.flatnonzero(~empty)
            values = values[self._rows]
        self._values = values
        self.count = len(values)


def _parquet_ids(file: pq.ParquetFile, name: str) -> Ids:
    """Read by row groups: all ids may take more memory than all simhashes."""
    import pyarrow as pa

    def load(group: int) -> pa.Array:
        try:
            column = file.read_row_group(group, ["id"])["id"].cast(pa.large_string())
        except (pa.ArrowException, OSError) as error:
            why = " ".join(str(error).split())[:200]
            raise DocumentError(f"{name}: cannot read its ids: {why}") from error
        return column.combine_chunks()

    sizes = [file.metadata.row_group(group).num_rows for group in range(file.num_row_groups)]
    return Ids(sizes, load)


def write_compressed(path: str | os.PathLike[str], simhashes: Simhashes, bits: int = 64) -> None:
    """Writes simhashes, sorted, in the paper's blocks. Their positions are those in the order."""
    import numpy as np

    bits = check_bits(bits)
    ordered = np.sort(simhashes)
    if len(ordered):
        check_simhash(int(ordered[-1]), bits)
    blocks, _, ranks, lengths = _core.xor_blocks_encode(ordered, bits)
    header = _HEADER.pack(_MAGIC, _VERSION, bits, len(ordered), len(ranks) - 1, lengths.tobytes())
    with checked_writer(Path(path)) as file:
        file.write(header)
        file.write(blocks.data)
        file.write(ranks.data)
