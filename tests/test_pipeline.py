"""Reading ahead and sharing work among threads: every item once, errors where they belong."""

from __future__ import annotations

import threading
import time
from collections.abc import Generator, Iterator

import pytest

from roughly.pipeline import in_turns, read_ahead, share


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


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_turns_keep_the_order(workers: int) -> None:
    def work(item: int) -> int:
        time.sleep(0.001 * (item % 3))  # later ones are often done before
        return item * item

    assert list(in_turns(iter(range(60)), work, workers)) == [i * i for i in range(60)]
    assert list(in_turns(iter(()), work, workers)) == []


def test_turns_are_taken_at_the_same_time() -> None:
    both = threading.Barrier(2, timeout=30)

    def work(item: int) -> int:
        both.wait()
        return item

    assert list(in_turns(range(4), work, 2)) == [0, 1, 2, 3]


@pytest.mark.parametrize("workers", [1, 3])
def test_errors_come_where_the_result_would_have(workers: int) -> None:
    def work(item: int) -> int:
        if item == 5:
            raise StopIteration  # any error of the work is one, this one too
        return item

    found = []
    with pytest.raises((StopIteration, RuntimeError)):
        for result in in_turns(range(1000), work, workers):
            found.append(result)  # what came before the error counts
    assert found == [0, 1, 2, 3, 4]

    def items() -> Iterator[int]:
        yield from range(3)
        raise OSError("gone")

    found = []
    with pytest.raises(OSError, match="gone"):
        for result in in_turns(items(), lambda item: item, workers):
            found.append(result)
    assert found == [0, 1, 2]


def test_whoever_stops_early_stops_the_workers() -> None:
    made: list[int] = []

    def items() -> Iterator[int]:
        for item in range(1000):
            made.append(item)
            yield item

    turns = in_turns(items(), lambda item: item, 2)
    assert next(turns) == 0
    assert isinstance(turns, Generator)
    # Two results wait, and one was made before the first was taken: then nobody goes on.
    while len(made) < 3:
        time.sleep(0.001)
    time.sleep(0.3)
    before = list(made)
    turns.close()
    assert made == before and len(made) < 10
    assert not [t for t in threading.enumerate() if t.name == "roughly-turn"]
