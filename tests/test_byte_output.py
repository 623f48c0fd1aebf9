"""A file without some of its bytes, against the same taken out of the bytes in memory."""

import errno
import os
from pathlib import Path

import numpy as np
import pytest

from roughly.deduplication import byte_output
from roughly.deduplication.byte_output import copy_kept
from roughly.deduplication.removed_range import RemovedRanges, removed_ranges
from roughly.documents.source import Source
from roughly.errors import DocumentError

SIZE = 3_000_000


def ranges(*pairs: tuple[int, int]) -> RemovedRanges:
    begin, end = np.array(pairs, np.int64).reshape(-1, 2).T
    return removed_ranges(begin.copy(), end.copy())


def without(data: bytes, removed: RemovedRanges) -> bytes:
    kept = bytearray(data)
    for begin, end in reversed(
        list(zip(removed.begin.tolist(), removed.end.tolist(), strict=True))
    ):
        del kept[begin:end]
    return bytes(kept)


@pytest.fixture
def source(tmp_path: Path) -> Source:
    path = tmp_path / "a.jsonl"
    path.write_bytes(np.random.default_rng(1).bytes(SIZE))
    return Source("a.jsonl", str(path))


def copied(source: Source, removed: RemovedRanges, own: bool) -> bytes:
    assert source.path is not None
    target = Path(source.path).with_name("b.jsonl")
    told: list[int] = []
    with open(target, "wb") as file:
        copy_kept(source, removed, file, "", 2, told.append, own)
    assert sum(told) >= os.path.getsize(source.path)  # more where some is read twice
    return target.read_bytes()


@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize(
    "removed",
    [
        ranges(),
        ranges((0, 1)),
        ranges((SIZE - 1, SIZE)),
        ranges((0, SIZE)),
        ranges((5, 2_500_000)),  # a block of which nothing is left
        ranges((1 << 20, 1 << 21)),
        ranges(*((n, n + 7) for n in range(3, SIZE - 10, 30))),  # more than one call takes
    ],
    ids=["none", "first", "last", "all", "middle", "block", "many"],
)
def test_what_is_removed_is_gone(source: Source, removed: RemovedRanges, own: bool) -> None:
    assert source.path is not None
    assert copied(source, removed, own) == without(Path(source.path).read_bytes(), removed)


def test_a_system_that_takes_little_at_a_time(
    source: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As it may after a signal."""
    pwritev, preadv = os.pwritev, os.preadv
    monkeypatch.setattr(os, "pwritev", lambda f, p, at: pwritev(f, [p[0][:1000]], at))
    monkeypatch.setattr(os, "preadv", lambda f, p, at: preadv(f, [p[0][:5000]], at))
    removed = ranges((10, 2000), (3000, 3001), (2_000_000, 2_000_100))
    assert source.path is not None
    assert copied(source, removed, True) == without(Path(source.path).read_bytes(), removed)


@pytest.mark.parametrize("size", [0, 1000, 2_500_000])
def test_a_source_that_became_shorter(
    source: Source, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before the copying, and meanwhile."""
    assert source.path is not None
    if size < 2_000_000:
        os.truncate(source.path, size)
    else:
        path = source.path
        monkeypatch.setattr(byte_output._core, "allocate", lambda *_: os.truncate(path, size))
    with pytest.raises(DocumentError, match="was changed while it was being read"):
        copied(source, ranges((10, 20), (1_000_000, 1_000_100)), True)


def test_a_source_that_cannot_be_read_to_its_end(
    source: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then it is read in order, as far as it goes: the reading has told."""
    preadv = os.preadv

    def fail(file: int, buffers: list[memoryview], at: int) -> int:
        if at > 1_500_000:
            raise OSError(errno.EIO, "damaged")
        return preadv(file, buffers, at)

    monkeypatch.setattr(os, "preadv", fail)
    removed = ranges((100, 200), (2_000_000, 2_000_100))
    assert source.path is not None
    assert copied(source, removed, True) == without(Path(source.path).read_bytes(), removed)


def test_a_full_disk_is_the_writers_error(source: Source, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr(os, "pwritev", full)
    with pytest.raises(OSError, match="full"):
        copied(source, ranges((10, 20)), True)
