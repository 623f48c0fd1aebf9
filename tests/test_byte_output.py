"""A file without some of its bytes, against the same taken out of the bytes in memory."""

import errno
import math
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from roughly.deduplication import byte_output
from roughly.deduplication.byte_output import copy_kept
from roughly.deduplication.removed_range import RemovedRanges, removed_ranges
from roughly.documents.source import Source
from roughly.errors import DocumentError

SIZE = 3_000_000
MIB = 1 << 20
FLAG = 0x80


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
    monkeypatch.setattr(
        os, "pwritev", lambda f, p, at, *flags: pwritev(f, [p[0][:1000]], at, *flags)
    )
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


class Disk:
    """Notes how a large output is written, on a system that knows the flag or refuses it."""

    def __init__(
        self,
        monkeypatch: pytest.MonkeyPatch,
        *,
        slow: bool | None = False,
        refuses: Exception | None = None,
        failure: int = 0,
        late_failure: int = 0,
    ) -> None:
        self.past_cache: list[int] = []
        self.cached: list[int] = []
        self.waited: list[int] = []
        self.synced = False
        self._refuses, self._failure, self._pwritev = refuses, failure, os.pwritev
        monkeypatch.setattr(byte_output, "_past_cache", lambda: FLAG)
        monkeypatch.setattr(byte_output, "_PAST_CACHE_BYTES", SIZE - 1000)
        monkeypatch.setattr(byte_output, "_STRETCH_BYTES", MIB)
        self._seconds = {False: 0.0, True: 1.0, None: math.inf}[slow]
        monkeypatch.setattr(byte_output, "_COPYING", 1)
        monkeypatch.setattr(byte_output._core, "wait_until_written", self._wait)
        monkeypatch.setattr(os, "pwritev", self._write)
        monkeypatch.setattr(os, "fdatasync", self._sync)
        self._late_failure = late_failure

    def _write(self, file: int, pieces: list[memoryview], at: int, flags: int = 0) -> int:
        if flags and self._refuses is not None:
            raise self._refuses
        assert flags in (0, FLAG)
        (self.past_cache if flags else self.cached).append(at)
        return self._pwritev(file, pieces, at)  # the file system here may not know the flag

    def _wait(self, file: int, size: int) -> float:
        self.waited.append(size)
        if self._failure:
            raise OSError(self._failure, "failed")
        return self._seconds

    def _sync(self, file: int) -> None:
        self.synced = True
        if self._late_failure:
            raise OSError(self._late_failure, "failed late")


@pytest.mark.parametrize(
    ("slow", "past_cache", "cached"),
    [(False, [0, MIB, 2 * MIB], []), (True, [0, MIB], [2 * MIB]), (None, [0, MIB], [2 * MIB])],
    ids=["fast", "slow", "nobody can tell"],
)
def test_a_large_output_goes_past_the_cache_of_a_fast_disk(
    source: Source,
    slow: bool | None,
    past_cache: list[int],
    cached: list[int],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert source.path is not None
    disk = Disk(monkeypatch, slow=slow)
    assert copied(source, ranges(), True) == Path(source.path).read_bytes()
    assert (disk.past_cache, disk.cached, disk.waited) == (past_cache, cached, [MIB])
    assert disk.synced


@pytest.mark.parametrize(
    "refuses",
    [OSError(errno.EOPNOTSUPP, "not supported"), NotImplementedError("no pwritev2 here")],
    ids=["file system", "Python"],
)
def test_where_the_cache_cannot_be_passed(
    source: Source, refuses: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert source.path is not None
    disk = Disk(monkeypatch, refuses=refuses)
    assert copied(source, ranges(), True) == Path(source.path).read_bytes()
    assert (disk.past_cache, disk.cached, disk.waited) == ([], [0, MIB, 2 * MIB], [])
    assert not disk.synced


@pytest.mark.parametrize(
    "how",
    [
        {"failure": errno.EIO},
        {"late_failure": errno.EIO},
        {"late_failure": errno.ENOSPC, "slow": True},
        {"refuses": OSError(errno.EIO, "failed")},
    ],
    ids=["between", "at the end", "passed at first", "in a write"],
)
def test_a_disk_that_fails_behind_the_cache_is_an_error(
    source: Source, how: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    Disk(monkeypatch, **how)
    with pytest.raises(OSError, match="failed"):
        copied(source, ranges(), True)


def test_a_wait_for_the_disk_is_timed_and_tells_what_cannot_be_written(tmp_path: Path) -> None:
    with open(tmp_path / "file", "wb") as file:
        file.write(bytes(1 << 20))
        file.flush()
        assert 0 <= byte_output._core.wait_until_written(file.fileno(), 1 << 20) < 60
    read, write = os.pipe()  # which no disk has
    assert byte_output._core.wait_until_written(write, 1 << 20) == math.inf
    os.close(read)
    os.close(write)


# In place of the system's call, whatever it is asked.
FAILING = """
#include <cerrno>
#include <cstdlib>
extern "C" int sync_file_range(int, long long, long long, unsigned) {
    errno = std::atoi(std::getenv("FAILURE"));
    return -1;
}
"""
ASK = """
import os, sys
from roughly import _core
with open(sys.argv[1], "rb") as file:
    try:
        print(_core.wait_until_written(file.fileno(), 1))
    except OSError as error:
        print(error.errno)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the system has no such call")
def test_whatever_a_disk_fails_with_is_an_error(tmp_path: Path) -> None:
    """A medium, a link, a device behind a network: each has its own number, and tells it once."""
    compiler = os.environ.get("CXX", "c++")
    source, library = tmp_path / "failing.cpp", tmp_path / "failing.so"
    source.write_text(FAILING)
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, source], check=True)
    preload = f"{os.environ.get('LD_PRELOAD', '')} {library}".strip()

    def told(failure: int) -> str:
        environment = os.environ | {"LD_PRELOAD": preload, "FAILURE": str(failure)}
        command = [sys.executable, "-c", ASK, str(source)]
        run = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        return run.stdout.strip()

    failures = (
        errno.EIO,
        errno.ENOSPC,
        errno.ENODATA,
        errno.ENOLINK,
        errno.EREMOTEIO,
        errno.ESTALE,
    )
    assert [told(failure) for failure in failures] == [str(failure) for failure in failures]
    assert [told(failure) for failure in (errno.ENOSYS, errno.EINVAL)] == ["inf", "inf"]


@pytest.mark.parametrize(
    ("platform", "release", "flag"),
    [
        ("linux", "6.16.0-rc1", FLAG),
        ("linux", "7.0", FLAG),
        ("linux", "6.15.9-generic", 0),
        ("linux", "strange", 0),
        ("darwin", "25.0.0", 0),
    ],
)
def test_systems_that_pass_the_cache(
    platform: str, release: str, flag: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(byte_output.sys, "platform", platform)
    monkeypatch.setattr(os, "uname", lambda: SimpleNamespace(release=release))
    assert byte_output._past_cache() == flag


def test_a_smaller_output_stays_in_the_cache(
    source: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert source.path is not None
    disk = Disk(monkeypatch)
    removed = ranges((1000, 3000))
    assert copied(source, removed, True) == without(Path(source.path).read_bytes(), removed)
    assert not disk.past_cache
    assert disk.cached


def test_the_systems_own_flag_leaves_the_same_bytes(
    source: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By two threads, whose blocks do not end where pages do, some bytes at a time."""
    assert source.path is not None
    flag, pwritev, past_cache = byte_output._past_cache(), os.pwritev, []

    def some(file: int, pieces: list[memoryview], at: int, flags: int = 0) -> int:
        written = pwritev(file, [pieces[0][:100_001]], at, flags)
        past_cache.append(flags)
        return written

    monkeypatch.setattr(os, "pwritev", some)
    monkeypatch.setattr(byte_output, "_PAST_CACHE_BYTES", 1000)
    monkeypatch.setattr(byte_output, "_STRETCH_BYTES", 1 << 18)
    monkeypatch.setattr(byte_output, "_PATIENCE_S", 60.0)
    removed = ranges((10, 2000), (3000, 3001), (2_000_000, 2_000_100))
    assert copied(source, removed, True) == without(Path(source.path).read_bytes(), removed)
    if not flag or 0 in past_cache:
        pytest.skip("this system, or the file system of the tests, cannot pass the cache")
