"""Reading and computing at the same time: a thread reads ahead while the caller works, or several
read in turns what each of them works on.

The reading thread parses and decodes in the core or in Arrow, without the interpreter's lock, so
the two share the cores. At most READ_AHEAD items wait, and an error of the reader is raised where
its item would have come. Whoever stops early stops the reader too.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from roughly.parameters import threads_or_all

if TYPE_CHECKING:
    import pyarrow as pa

    from roughly import _core
    from roughly.sketcher import Sketcher

Item = TypeVar("Item")
Result = TypeVar("Result")

# A result to come, or the error instead of it; this one behind the last.
_Promised = queue.SimpleQueue[tuple[Result | None, BaseException | None]]
_NONE_LEFT = Exception()

# Enough that neither side waits for the other's odd moment; each is a batch of some megabytes.
READ_AHEAD = 2
# Batches that are sketched at the same time; more threads than that share a batch.
_WORKERS = 4


def read_ahead(items: Iterable[Item], ahead: int = READ_AHEAD) -> Iterator[Item]:
    """The same items in the same order, made by another thread."""
    ready: queue.Queue[tuple[Item | None, BaseException | None]] = queue.Queue(ahead)
    stopped = threading.Event()

    def put(item: Item | None, error: BaseException | None) -> None:
        while not stopped.is_set():
            try:
                return ready.put((item, error), timeout=0.1)
            except queue.Full:
                continue

    def read() -> None:
        try:
            for item in items:
                put(item, None)
                if stopped.is_set():
                    return
            put(None, StopIteration())
        except BaseException as error:
            put(None, error)

    thread = threading.Thread(target=read, name="roughly-read", daemon=True)
    thread.start()
    try:
        while True:
            item, error = ready.get()
            if isinstance(error, StopIteration):
                return
            if error is not None:
                raise error
            yield item  # type: ignore[misc]  # an item that is None is one of the caller's
    finally:
        stopped.set()
        thread.join()


def share(items: Iterable[Item], work: Callable[[Item], None], workers: int) -> None:
    """Does the work of every item, of so many at a time; items are made one after the other."""
    waiting = iter(items)
    lock = threading.Lock()
    errors: list[BaseException] = []

    def take() -> None:
        try:
            while not errors:
                with lock:
                    item = next(waiting, None)
                if item is None:
                    return
                work(item)
        except BaseException as error:
            errors.append(error)

    threads = [
        threading.Thread(target=take, name="roughly-share", daemon=True) for _ in range(workers - 1)
    ]
    for thread in threads:
        thread.start()
    take()
    try:
        for thread in threads:
            thread.join()
    except BaseException as error:  # an interruption: what they work with may soon be gone
        errors.append(error)
        for thread in threads:
            thread.join()
    if errors:
        raise errors[0]


def in_turns(
    items: Iterable[Item], work: Callable[[Item], Result], workers: int
) -> Iterator[Result]:
    """What the work makes of every item, in their order, of so many at a time. Whoever is free
    makes the next item and works on it; as many results as there are workers may wait."""
    waiting = iter(items)
    lock = threading.Lock()
    stopped = threading.Event()
    made: queue.Queue[_Promised[Result]] = queue.Queue(workers)

    def put(promised: _Promised[Result]) -> None:
        while not stopped.is_set():
            try:
                return made.put(promised, timeout=0.1)
            except queue.Full:
                continue

    def take() -> None:
        while True:
            promised: _Promised[Result] = queue.SimpleQueue()
            try:
                with lock:
                    put(promised)
                    if stopped.is_set():
                        return
                    try:
                        item = next(waiting)
                    except StopIteration:
                        stopped.set()
                        return promised.put((None, _NONE_LEFT))
                promised.put((work(item), None))
                del item
            except BaseException as error:
                stopped.set()
                return promised.put((None, error))

    threads = [
        threading.Thread(target=take, name="roughly-turn", daemon=True) for _ in range(workers)
    ]
    try:
        for thread in threads:
            thread.start()
        while True:
            result, error = made.get().get()
            if error is _NONE_LEFT:
                return
            if error is not None:
                raise error
            yield result  # type: ignore[misc]  # a result that is None is the caller's
            del result
    finally:
        stopped.set()
        for thread in threads:
            if thread.ident is not None:
                thread.join()


class Simhashing(Protocol):
    """What gives simhashes; `Simhasher.simhash_documents`, which is of a higher layer, is one."""

    def __call__(self, batch: pa.RecordBatch, threads: int | None = None) -> Any: ...


def sketched(
    documents: Iterable[pa.RecordBatch],
    sketcher: Sketcher,
    taken: Callable[[pa.RecordBatch, _core.SketchColumns], Result],
    threads: int | None = None,
    simhashing: Simhashing | None = None,
) -> Iterator[Result]:
    """What is taken of every batch of documents and its sketches; with simhashes as one more column
    of the batch if these are wanted. A batch stays with the thread that has read it, whose cache it
    is in, and what is not taken goes there too."""
    threads = threads_or_all(threads)
    workers = min(threads, _WORKERS)
    shares: queue.SimpleQueue[int] = queue.SimpleQueue()
    for worker in range(workers):
        shares.put((threads + worker) // workers)

    def work(batch: pa.RecordBatch) -> Result:
        share = shares.get()
        try:
            if simhashing is not None:
                simhashes = simhashing(batch, share).to_arrow()
                batch = batch.append_column("simhash", simhashes)
            return taken(batch, sketcher.sketch_documents(batch, share).columns)
        finally:
            shares.put(share)

    return in_turns(documents, work, workers)


def give_back_memory() -> None:
    """Returns what a phase has freed to the system, which allocators do not do by themselves;
    unless the process has little, compared to what it had, and would only ask for it again."""
    import pyarrow as pa

    from roughly import _core

    if not _core.is_near_its_peak():
        return
    pa.default_memory_pool().release_unused()
    _core.give_back_memory()
