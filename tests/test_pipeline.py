"""Reading ahead and sharing work among threads: every item once, errors where they belong."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from roughly.pipeline import read_ahead, share


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_every_item_is_worked_on_once(workers: int) -> None:
    done: list[int] = []
    share(range(100), done.append, workers)
    assert sorted(done) == list(range(100))


def test_several_are_worked_on_at_a_time() -> None:
    # Neither goes on before the other is there.
    both = threading.Barrier(2, timeout=30)
    done: list[int] = []

    def work(item: int) -> None:
        both.wait()
        done.append(item)

    # A generator that two asked at once would be an error.
    share((item for item in range(2)), work, 2)
    assert sorted(done) == [0, 1]


@pytest.mark.parametrize("workers", [1, 2])
def test_an_error_of_the_work_is_raised_and_ends_it(workers: int) -> None:
    begun: list[int] = []

    def work(item: int) -> None:
        begun.append(item)
        raise ValueError(f"item {item}")

    with pytest.raises(ValueError, match="item"):
        share(range(1000), work, workers)
    assert len(begun) <= workers


def test_an_error_of_the_making_is_raised() -> None:
    def items() -> Iterator[int]:
        yield 1
        raise OSError("gone")

    done: list[int] = []
    with pytest.raises(OSError, match="gone"):
        share(items(), done.append, 2)
    assert done == [1]


def test_reading_ahead_keeps_the_order() -> None:
    assert list(read_ahead(range(50), 1)) == list(range(50))
