"""Arrays in files that have no name: as those in memory are, and not in memory."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from roughly.storage import scratch
from roughly.storage.ordering import in_order
from roughly.storage.scratch import Scratch, stretches

MIB = 1 << 20


@pytest.mark.parametrize("least", [1, 1 << 40], ids=["in files", "in memory"])
def test_arrays(least: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scratch, "_STEP", 3)
    made = Scratch(tmp_path, least)
    assert made.zeros(5, np.uint8).tolist() == [0] * 5
    assert made.zeros(0, np.uint8).tolist() == []
    assert made.full(4, 7, np.uint32).tolist() == [7] * 4
    assert made.arange(8, np.uint32).tolist() == list(range(8))
    values = made.copy(np.array([5, 3, 9, 1], np.uint16), np.int64)
    assert (values.dtype, values.tolist()) == (np.int64, [5, 3, 9, 1])
    assert made.take(values, np.array([3, 0, 0, 2, 1])).tolist() == [1, 5, 5, 9, 3]
    marks = np.array([False, True, True, False, False, True, True])
    assert made.flatnonzero(marks).tolist() == [1, 2, 5, 6]
    values[1] = 4
    made.release()
    assert values.tolist() == [5, 4, 9, 1]
    assert list(tmp_path.iterdir()) == []


def test_stretches() -> None:
    assert list(stretches(7, 3)) == [(0, 3), (3, 6), (6, 7)]
    assert list(stretches(0, 3)) == []


USE = """
import re, sys
import numpy as np
from roughly.storage.scratch import Scratch
from pathlib import Path

def anonymous():
    status = Path("/proc/self/status").read_text()
    return int(re.search(r"RssAnon:\\s+(\\d+)", status)[1]) >> 10

made = Scratch(Path(sys.argv[1]))
before = anonymous()
values = made.arange(16 << 20, np.uint32)
taken = made.take(values, made.arange(16 << 20, np.int64))
assert taken[-1] == (16 << 20) - 1
print(anonymous() - before)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks at /proc")
def test_they_are_not_in_memory(tmp_path: Path) -> None:
    """256 MiB of arrays, and what is worked on at once."""
    run = subprocess.run(
        [sys.executable, "-c", USE, str(tmp_path)], capture_output=True, text=True, check=True
    )
    assert int(re.sub(r"\s", "", run.stdout)) < 24


# Few values, close together and far apart, so that some have many bits in common.
keys = st.sampled_from([0, 1, 2, 1 << 20, (1 << 61) - 1, 1 << 63, (1 << 64) - 1])


@given(st.lists(st.tuples(keys, keys), max_size=30), st.integers(1, 8), st.integers(1, 7))
def test_rows_in_order(rows: list[tuple[int, int]], most: int, step: int) -> None:
    """All of them by their keys, which come with them, and then as they stand, never more than
    there is room for."""
    columns = [np.array([row[n] for row in rows], np.uint64) for n in range(2)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scratch, "_STEP", step)
        found = list(in_order(columns, most))
    wanted = sorted(range(len(rows)), key=lambda n: rows[n])
    assert [row for piece, _ in found for row in piece.tolist()] == wanted
    assert all(0 < len(piece) <= most for piece, _ in found)
    for piece, own in found:
        assert [key.tolist() for key in own] == [column[piece].tolist() for column in columns]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks at /proc")
def test_keys_that_were_looked_at_are_not_in_memory(tmp_path: Path) -> None:
    """Not even where rows in order are all over the keys."""
    folder = Scratch(tmp_path, 1)
    columns = [folder.zeros(4 << 20, np.uint64) for _ in range(2)]
    columns[0][:] = np.arange(4 << 20, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    folder.release()
    before = _of_files()
    for piece, _ in in_order(columns, 1 << 20):
        assert len(piece)
        assert _of_files() < before + (8 << 20)


def _of_files() -> int:
    """Bytes of mapped files, libraries among them, that this process has in memory."""
    return int(Path("/proc/self/statm").read_text().split()[2]) * 4096
