"""Files in memory, and the limit on how much of them is there: nothing is lost when it goes."""

import threading
import time
from pathlib import Path

import numpy as np
import pytest

from roughly import _core

MIB = 1 << 20
STATM = Path("/proc/self/statm")

needs_proc = pytest.mark.skipif(not STATM.exists(), reason="no /proc here")


def of_files() -> int:
    """Bytes of mapped files, libraries among them, that this process has in memory."""
    return int(STATM.read_text().split()[2]) * 4096


def resident() -> int:
    return int(STATM.read_text().split()[1]) * 4096


def scratch(path: Path, size: int) -> np.ndarray:
    with path.open("w+b") as file:
        file.truncate(size)
        return _core.map_scratch(file.fileno(), size)


def test_what_is_written_is_in_the_file(tmp_path: Path) -> None:
    made = scratch(tmp_path / "a", 10_000)
    made[:] = np.arange(10_000) % 251
    _core.release_pages(made)
    assert (made == np.arange(10_000) % 251).all()
    assert (tmp_path / "a").read_bytes() == bytes(i % 251 for i in range(10_000))
    with (tmp_path / "a").open("rb") as file:
        seen = _core.map_file(file.fileno(), 5_000)
    assert seen.tobytes() == made[:5_000].tobytes()
    assert not seen.flags.writeable
    made[7] = 255
    assert seen[7] == 255


def test_nothing_of_nothing(tmp_path: Path) -> None:
    made = scratch(tmp_path / "a", 0)
    assert made.shape == (0,)
    _core.release_pages(made)
    with _core.ResidentLimit(0):
        assert made.tobytes() == b""


def test_what_cannot_be_mapped(tmp_path: Path) -> None:
    with (tmp_path / "a").open("wb") as file, pytest.raises(OSError):
        _core.map_file(file.fileno(), 10)  # not open for reading


@needs_proc
def test_a_part_of_a_map_is_let_go(tmp_path: Path) -> None:
    """That part alone, in any place of it; what is in memory only is left alone."""
    made = scratch(tmp_path / "a", 64 * MIB)
    made[:] = 7
    before = of_files()
    _core.release_buffer(made[16 * MIB + 5 : 48 * MIB + 9])
    # Where the system has large pages, those at the ends go whole.
    assert before - 38 * MIB < of_files() < before - 30 * MIB
    assert (made == 7).all()
    plain = np.full(4 * MIB, 7, np.uint8)
    _core.release_buffer(plain)
    _core.release_buffer(plain[:0])
    assert (plain == 7).all()
    with pytest.raises(TypeError):
        _core.release_buffer(3)


@needs_proc
def test_all_maps_are_let_go(tmp_path: Path) -> None:
    every = [scratch(tmp_path / name, 16 * MIB) for name in "abc"]
    for number, made in enumerate(every):
        made[:] = number
    before = of_files()
    _core.release_all_pages()
    assert of_files() < before - 44 * MIB
    assert all((made == number).all() for number, made in enumerate(every))


@needs_proc
def test_a_limit_begins_a_little_below(tmp_path: Path) -> None:
    """There is room left for what comes while it looks and lets go."""
    made = scratch(tmp_path / "a", 32 * MIB)
    made[:] = 7
    before, now = of_files(), resident()
    with _core.ResidentLimit(now + now // 32):
        for _ in range(1000):
            if of_files() < before - 24 * MIB:
                break
            time.sleep(0.01)
        else:
            pytest.fail("they stayed")
    assert (made == 7).all()


@needs_proc
def test_a_limit_holds_and_costs_nothing_of_what_was_written(tmp_path: Path) -> None:
    made = scratch(tmp_path / "a", 160 * MIB)
    numbers = made.view(np.uint64)
    before = of_files()
    limit = resident() + 48 * MIB
    most = 0
    with _core.ResidentLimit(limit):
        for begin in range(0, len(numbers), MIB // 8):
            numbers[begin : begin + MIB // 8] = begin
            time.sleep(0.001)
            most = max(most, of_files())
    assert before < most < before + 120 * MIB  # 48, and what is touched until it is looked at
    assert (numbers[:: MIB // 8] == np.arange(0, len(numbers), MIB // 8)).all()
    numbers[:] = 7
    assert of_files() >= before + 150 * MIB, "without a limit they stay"


@needs_proc
def test_a_limit_that_begins_too_late(tmp_path: Path) -> None:
    """What is there already goes as well."""
    made = scratch(tmp_path / "a", 64 * MIB)
    made[:] = 7
    before = of_files()
    with _core.ResidentLimit(resident() - 16 * MIB):
        for _ in range(1000):
            if of_files() < before - 48 * MIB:
                break
            time.sleep(0.01)
        else:
            pytest.fail("they stayed")
    assert (made == 7).all()


@needs_proc
def test_maps_that_come_and_go_meanwhile(tmp_path: Path) -> None:
    """A limit that everything is above, and threads that map, write, read and let go."""
    wrong: list[int] = []

    def work(number: int) -> None:
        for turn in range(60):
            made = scratch(tmp_path / f"{number}-{turn % 3}", 3 * MIB)
            made[:] = number + turn
            if not (made == number + turn).all():
                wrong.append(number)

    with _core.ResidentLimit(0) as first, _core.ResidentLimit(1) as second:
        threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert first is not second
    assert not wrong


def test_a_limit_ends_once() -> None:
    limit = _core.ResidentLimit(1 << 40)
    limit.close()
    limit.close()
    with pytest.raises(ZeroDivisionError), limit:
        raise ZeroDivisionError
