"""Checked files and Arrow files: what is written comes back, and no change to it goes unnoticed."""

import errno
import os
import random
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from roughly import _core
from roughly.errors import DamageError, DocumentError
from roughly.storage import checked
from roughly.storage.arrow_file import ArrowFile, arrow_writer
from roughly.storage.checked import BLOCK_BYTES, CheckedMap, checked_writer, sidecar
from roughly.storage.durable import remove_leftovers, temporary
from tests.optional import FULL


def write(path: Path, *pieces: bytes) -> None:
    with checked_writer(path) as file:
        for piece in pieces:
            assert file.write(piece) == len(piece)


def flip(path: Path, at: int, mask: int = 0xFF) -> None:
    with path.open("r+b") as file:
        file.seek(at)
        [byte] = file.read(1)
        file.seek(at)
        file.write(bytes([byte ^ mask]))


def names(directory: Path) -> list[str]:
    return sorted(os.listdir(directory))


# --- checked files --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "size", [0, 1, BLOCK_BYTES - 1, BLOCK_BYTES, BLOCK_BYTES + 1, 3 * BLOCK_BYTES + 17]
)
def test_a_file_and_its_checksums(tmp_path: Path, size: int) -> None:
    """The sidecar as docs/format.md has it, put together by hand."""
    data = random.Random(size).randbytes(size)
    write(tmp_path / "a", data)
    assert names(tmp_path) == ["a", "a.crc32c"]
    assert (tmp_path / "a").read_bytes() == data
    sums = [_core.crc32c(data[i : i + 65536]) for i in range(0, size, 65536)]
    expected = struct.pack(f"<8sIIQ{len(sums)}I", b"RGHLYCRC", 1, 65536, size, *sums)
    expected += struct.pack("<I", _core.crc32c(expected))
    assert (tmp_path / "a.crc32c").read_bytes() == expected
    found = CheckedMap(tmp_path / "a")
    assert found.size == size
    assert bytes(found.view()) == data
    found.verify()


@given(sizes=st.lists(st.sampled_from([0, 1, 100, 65535, 65536, 65537, 200_000]), max_size=6))
def test_pieces_make_no_difference(
    tmp_path_factory: pytest.TempPathFactory, sizes: list[int]
) -> None:
    folder = tmp_path_factory.mktemp("pieces")
    chance = random.Random(sum(sizes))
    pieces = [chance.randbytes(size) for size in sizes]
    with checked_writer(folder / "a") as file:
        for i, piece in enumerate(pieces):
            assert file.tell() == sum(sizes[:i])
            file.write(piece)
    write(folder / "b", b"".join(pieces))
    assert (folder / "a").read_bytes() == b"".join(pieces)
    assert sidecar(folder / "a").read_bytes() == sidecar(folder / "b").read_bytes()
    CheckedMap(folder / "a").verify()


def test_every_flipped_byte_is_found(tmp_path: Path) -> None:
    path = tmp_path / "small"
    data = b"We hold these truths to be self-evident"
    write(path, data)
    for target in (path, sidecar(path)):
        for at in range(target.stat().st_size):
            flip(target, at, mask=1 << at % 8)
            with pytest.raises(DamageError, match=f"^{target}: damaged: "):
                CheckedMap(path).view()
            flip(target, at, mask=1 << at % 8)
    assert bytes(CheckedMap(path).view()) == data


def test_a_damaged_block_is_named_when_it_is_touched(tmp_path: Path) -> None:
    path = tmp_path / "a"
    write(path, random.Random(1).randbytes(5 * BLOCK_BYTES + 10))
    flip(path, 3 * BLOCK_BYTES + 7)
    found = CheckedMap(path)
    found.view(0, 3 * BLOCK_BYTES)
    found.view(4 * BLOCK_BYTES)
    damaged = rf"^{path}: damaged: block at byte 196608 has CRC32C [0-9a-f]{{8}}, wanted [0-9a-f]"
    for begin, end in ((0, None), (3 * BLOCK_BYTES - 1, 3 * BLOCK_BYTES + 1), (200_000, 200_001)):
        with pytest.raises(DamageError, match=damaged):
            found.view(begin, end)
    with pytest.raises(DamageError, match=damaged):
        found.verify()
    # Checked before it was damaged: `verify` looks again, a view need not.
    flip(path, 3 * BLOCK_BYTES + 7)
    found = CheckedMap(path)
    found.view()
    flip(path, 3 * BLOCK_BYTES + 7)
    found.view()
    with pytest.raises(DamageError, match=damaged):
        found.verify()


@given(
    ranges=st.lists(st.tuples(st.integers(0, 600_000), st.integers(0, 600_000)), max_size=8),
    damaged=st.integers(0, 599_999),
)
def test_what_is_given_out_was_checked(
    tmp_path_factory: pytest.TempPathFactory, ranges: list[tuple[int, int]], damaged: int
) -> None:
    """In whatever order blocks are touched: the damaged one is noticed exactly when it is."""
    path = tmp_path_factory.mktemp("ranges") / "a"
    data = random.Random(2).randbytes(600_000)
    write(path, data)
    flip(path, damaged)
    found = CheckedMap(path)
    for begin, end in map(sorted, ranges):
        blocks = range(begin // BLOCK_BYTES, -(-end // BLOCK_BYTES) if end > begin else 0)
        if damaged // BLOCK_BYTES in blocks:
            with pytest.raises(DamageError, match=f"byte {damaged // BLOCK_BYTES * BLOCK_BYTES} "):
                found.view(begin, end)
        else:
            assert found.view(begin, end) == data[begin:end]


@given(
    calls=st.lists(
        st.lists(st.tuples(st.integers(0, 600_000), st.integers(0, 600_000)), max_size=5),
        max_size=4,
    ),
    damaged=st.integers(0, 599_999),
)
def test_many_stretches_are_checked_at_once(
    tmp_path_factory: pytest.TempPathFactory,
    calls: list[list[tuple[int, int]]],
    damaged: int,
) -> None:
    path = tmp_path_factory.mktemp("stretches") / "a"
    write(path, random.Random(2).randbytes(600_000))
    flip(path, damaged)
    found = CheckedMap(path)
    for ranges in calls:
        begins = np.array([begin for begin, _ in ranges], np.int64)
        ends = np.array([end for _, end in ranges], np.int64)
        touched = [
            begin // BLOCK_BYTES <= damaged // BLOCK_BYTES <= (end - 1) // BLOCK_BYTES
            for begin, end in ranges
            if begin < end
        ]
        if any(touched):
            with pytest.raises(DamageError, match=f"byte {damaged // BLOCK_BYTES * BLOCK_BYTES} "):
                found.check(begins, ends)
        else:
            found.check(begins, ends)
    with pytest.raises(DamageError, match="bytes 5 to 600,001 are wanted, the file has 600,000"):
        found.check(np.array([5]), np.array([600_001]))


@pytest.mark.parametrize("kept", [0, 1, 1000, BLOCK_BYTES, 2 * BLOCK_BYTES - 1])
def test_truncated(tmp_path: Path, kept: int) -> None:
    path = tmp_path / "a"
    write(path, bytes(2 * BLOCK_BYTES))
    os.truncate(path, kept)
    with pytest.raises(DamageError, match=rf"^{path}: damaged: it has {kept:,} bytes, wanted 131,"):
        CheckedMap(path)


def test_grown_or_missing(tmp_path: Path) -> None:
    path = tmp_path / "a"
    with pytest.raises(DamageError, match=rf"^{path}: damaged: it is missing"):
        CheckedMap(path)
    write(path, b"abc")
    with path.open("ab") as file:
        file.write(b"d")
    with pytest.raises(DamageError, match=rf"^{path}: damaged: it has 4 bytes, wanted 3"):
        CheckedMap(path)
    beside = sidecar(path)
    for kept in range(beside.stat().st_size - 1, -1, -1):
        os.truncate(beside, kept)
        with pytest.raises(DamageError, match=rf"^{beside}: damaged: it does not have its own"):
            CheckedMap(path)
    beside.unlink()
    with pytest.raises(DamageError, match=rf"^{beside}: damaged: it is missing\nhint: "):
        CheckedMap(path)
    write(path, b"abc")
    path.unlink()
    with pytest.raises(DamageError, match=rf"^{path}: damaged: it is missing"):
        CheckedMap(path)


def test_checksums_of_another_kind(tmp_path: Path) -> None:
    """A sidecar that is whole, but not one of ours."""
    path = tmp_path / "a"
    write(path, b"abc")
    for header in (
        struct.pack("<8sIIQI", b"RGHLYCRX", 1, 65536, 3, 0),
        struct.pack("<8sIIQI", b"RGHLYCRC", 2, 65536, 3, 0),
        struct.pack("<8sIIQI", b"RGHLYCRC", 1, 4096, 3, 0),
        struct.pack("<8sIIQ", b"RGHLYCRC", 1, 65536, 3),
    ):
        sidecar(path).write_bytes(header + struct.pack("<I", _core.crc32c(header)))
        with pytest.raises(DamageError, match=rf"^{path}\.crc32c: damaged: it (begins|has 0)"):
            CheckedMap(path)


def test_arrays_are_in_place_and_outlive_everything(tmp_path: Path) -> None:
    path = tmp_path / "a"
    values = np.arange(100_000, dtype=np.uint64)
    write(path, values.tobytes())
    found = CheckedMap(path)
    array = found.array(np.uint64, 800, 1000)
    assert array.tolist() == list(range(100, 1100))
    assert not array.flags.writeable
    assert not array.flags.owndata
    with pytest.raises(DamageError, match="bytes 799,200 to 800,800 are wanted, the file has 800,"):
        found.array(np.uint64, 799_200, 200)
    found.release()
    found.release()
    assert array.tolist() == list(range(100, 1100))
    found.close()
    path.unlink()
    del found
    assert array.tolist() == list(range(100, 1100))


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs Linux to count pages")
def test_release_takes_it_out_of_memory(tmp_path: Path) -> None:
    def shared_bytes() -> int:
        return int(Path("/proc/self/statm").read_text().split()[2]) * os.sysconf("SC_PAGESIZE")

    path = tmp_path / "a"
    write(path, bytes(64 << 20))
    found = CheckedMap(path)
    before = shared_bytes()
    found.verify()
    assert shared_bytes() - before > 60 << 20
    found.release()
    assert shared_bytes() - before < 4 << 20
    # What was checked counts as checked: a view of everything brings nothing back.
    found.view()
    assert shared_bytes() - before < 4 << 20


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs Linux to count descriptors")
def test_a_map_holds_no_descriptor(tmp_path: Path) -> None:
    write(tmp_path / "a", b"abc")
    before = len(os.listdir("/proc/self/fd"))
    maps = [CheckedMap(tmp_path / "a") for _ in range(50)]
    assert len(os.listdir("/proc/self/fd")) == before
    assert all(bytes(each.view()) == b"abc" for each in maps)


# --- writing that fails ---------------------------------------------------------------------------


class OtherError(Exception):
    pass


def test_an_exception_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(OtherError), checked_writer(tmp_path / "a") as file:
        file.write(bytes(100_000))
        raise OtherError
    assert names(tmp_path) == []
    write(tmp_path / "a", b"first")
    with pytest.raises(OtherError), checked_writer(tmp_path / "a") as file:
        file.write(b"second")
        raise OtherError
    assert bytes(CheckedMap(tmp_path / "a").view()) == b"first"
    write(tmp_path / "a", b"third")
    assert bytes(CheckedMap(tmp_path / "a").view()) == b"third"
    assert names(tmp_path) == ["a", "a.crc32c"]


def test_what_others_raise_inside_is_theirs(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), checked_writer(tmp_path / "a"):
        os.stat(tmp_path / "no such file")
    assert names(tmp_path) == []


def test_a_place_that_cannot_be_written_to(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "file" / "a", tmp_path / "no such folder" / "a"):
        with (
            pytest.raises(DocumentError, match=rf"^{path}: cannot write: .*\nhint: choose a place"),
            checked_writer(path) as file,
        ):
            file.write(b"abc")


def test_disk_full_as_the_system_says_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """At each write and each rename in turn."""

    def refuse(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    for owner, name in ((os, "replace"), (Path, "write_bytes"), (checked.io.FileIO, "write")):
        with monkeypatch.context() as patch:
            if owner is checked.io.FileIO:
                patch.setattr(checked.io, "FileIO", type("Full", (owner,), {"write": refuse}))
            else:
                patch.setattr(owner, name, refuse)
            with pytest.raises(DocumentError, match=r"no space left on device\nhint: make room"):
                write(tmp_path / "a", bytes(100_000))
        assert names(tmp_path) == [], name


FULL_DISK = """
import resource, sys
from pathlib import Path
import numpy as np, pyarrow as pa
from roughly.errors import DocumentError
from roughly.storage.arrow_file import arrow_writer
resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))
schema = pa.schema([("a", pa.int64())])
try:
    with arrow_writer(Path(sys.argv[1]), schema) as writer:
        for _ in range(10):
            writer.write(pa.record_batch([np.arange(10_000)], schema=schema))
except DocumentError as error:
    print(error)
"""


def test_disk_full_below_arrow(tmp_path: Path) -> None:
    """A real refusal of the system, in the middle of a record batch."""
    path = tmp_path / "a.arrow"
    run = subprocess.run(
        [sys.executable, "-c", FULL_DISK, str(path)], capture_output=True, text=True, timeout=60
    )
    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout == (
        f"{path}: cannot write: file too large\nhint: make room, or choose another place\n"
    )
    assert names(tmp_path) == []


def test_leftovers_go(tmp_path: Path) -> None:
    write(tmp_path / "a", b"abc")
    temporary(tmp_path / "a").write_bytes(b"")
    temporary(sidecar(tmp_path / "b")).write_bytes(b"")
    (tmp_path / "c.part").write_bytes(b"")
    remove_leftovers(tmp_path)
    remove_leftovers(tmp_path / "not there")
    assert names(tmp_path) == ["a", "a.crc32c", "c.part"]


# --- Arrow files ----------------------------------------------------------------------------------

SCHEMA = pa.schema(
    [
        pa.field("number", pa.int64()),
        pa.field("word", pa.string()),
        pa.field("kind", pa.dictionary(pa.int8(), pa.string())),
        pa.field("list", pa.large_list(pa.uint64())),
    ],
    metadata={"some": "thing"},
)


def batch(rows: int, seed: int) -> pa.RecordBatch:
    chance = random.Random(seed)
    kinds = pa.DictionaryArray.from_arrays(
        pa.array([i % 3 for i in range(rows)], pa.int8()), pa.array(["x", "y", "z"])
    )
    columns = [
        pa.array([chance.choice([None, chance.randrange(1 << 40)]) for _ in range(rows)]),
        pa.array([chance.choice([None, "", "word", "ein langes Wort"]) for _ in range(rows)]),
        kinds,
        pa.array([[chance.randrange(1 << 63)] * chance.randrange(4) for _ in range(rows)]),
    ]
    return pa.RecordBatch.from_arrays(
        [c.cast(f.type) for c, f in zip(columns, SCHEMA, strict=True)], schema=SCHEMA
    )


@pytest.mark.parametrize("compression", [None, "zstd"])
@pytest.mark.parametrize("rows", [[], [0], [1], [5, 0, 20_000, 3]])
def test_batches_come_back(tmp_path: Path, compression: None, rows: list[int]) -> None:
    path = tmp_path / "a.arrow"
    batches = [batch(count, seed) for seed, count in enumerate(rows)]
    with arrow_writer(path, SCHEMA, compression) as writer:
        for each in batches:
            writer.write(each)
    file = ArrowFile(path)
    assert file.schema.equals(SCHEMA, check_metadata=True)
    assert file.num_batches == len(rows)
    assert [file.batch(i) for i in range(len(rows))] == batches
    for i, each in enumerate(batches):
        for name in SCHEMA.names:
            assert ArrowFile(path).column(i, name).equals(each.column(name))
    assert file.table() == pa.Table.from_batches(batches, SCHEMA)
    file.verify()
    # Everybody else reads it too.
    assert pa.ipc.open_file(path).read_all() == pa.Table.from_batches(batches, SCHEMA)


def test_batches_are_in_place_and_outlive_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a.arrow"
    with arrow_writer(path, SCHEMA) as writer:
        writer.write(batch(1000, 1))
        writer.write(batch(2000, 2))
    before = pa.total_allocated_bytes()
    file = ArrowFile(path)
    found, column = file.batch(1), file.column(0, "list")
    assert pa.total_allocated_bytes() - before < 4096
    file.release()
    assert found == batch(2000, 2)
    file.close()
    path.unlink()
    del file
    assert found == batch(2000, 2)
    assert column.equals(batch(1000, 1).column("list"))


def read_batches(file: ArrowFile) -> None:
    for i in range(file.num_batches):
        file.batch(i)


def read_columns(file: ArrowFile) -> None:
    for i in range(file.num_batches):
        for name in SCHEMA.names:
            file.column(i, name)


@pytest.mark.parametrize("compression", [None, "zstd"])
@pytest.mark.parametrize("read", [read_batches, read_columns])
def test_every_flipped_byte_of_an_arrow_file_is_found(
    tmp_path: Path, compression: None, read: Callable[[ArrowFile], None]
) -> None:
    path = tmp_path / "a.arrow"
    with arrow_writer(path, SCHEMA, compression) as writer:
        writer.write(batch(7, 1))
        writer.write(batch(2, 2))
    for target in (path, sidecar(path)):
        for at in range(0, target.stat().st_size, 1 if FULL else 7):
            flip(target, at)
            with pytest.raises(DamageError, match=rf"^{target}: damaged: "):
                read(ArrowFile(path))
            flip(target, at)
    read(ArrowFile(path))


@pytest.mark.parametrize("compression", [None, "zstd"])
def test_damage_is_found_where_it_is_read(tmp_path: Path, compression: None) -> None:
    """In a file of many blocks: a batch, a column, a dictionary, the footer."""
    path = tmp_path / "a.arrow"
    chance = random.Random(3)
    schema = pa.schema([("a", pa.large_binary()), ("b", pa.large_binary())])
    with arrow_writer(path, schema, compression) as writer:
        for _ in range(3):
            columns = [pa.array([chance.randbytes(400_000)], pa.large_binary()) for _ in "ab"]
            writer.write(pa.RecordBatch.from_arrays(columns, schema=schema))
    # Batch 1 has bytes 800,000 to 1,600,000, its column `a` the first half of them.
    flip(path, 1_000_000)
    file = ArrowFile(path)
    file.batch(0)
    file.batch(2)
    with pytest.raises(DamageError, match="block at byte 983040 "):
        file.column(1, "a")
    if compression is None:
        file.column(1, "b")
    with pytest.raises(DamageError, match="block at byte 983040 "):
        file.batch(1)
    with pytest.raises(DamageError, match="block at byte 983040 "):
        file.table()
    flip(path, 1_000_000)
    flip(path, path.stat().st_size - 40)
    with pytest.raises(DamageError, match="block at byte 2359296 "):
        ArrowFile(path)


@pytest.mark.parametrize("data", [b"", b"ARROW1", bytes(100), bytes(90) + b"\x7f\0\0\0ARROW1"])
def test_a_checked_file_that_is_no_arrow_file(tmp_path: Path, data: bytes) -> None:
    write(tmp_path / "a", data)
    with pytest.raises(DamageError, match=r"a: damaged: it is no Arrow file"):
        ArrowFile(tmp_path / "a")


def test_an_exception_leaves_no_arrow_file(tmp_path: Path) -> None:
    with pytest.raises(OtherError), arrow_writer(tmp_path / "a", SCHEMA) as writer:
        writer.write(batch(10, 1))
        raise OtherError
    assert names(tmp_path) == []
