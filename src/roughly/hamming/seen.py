"""SeenIndex: the crawler's question, answered and remembered: was a page with such a simhash seen?

A growing Hamming index in a directory. What is new goes into memory and, before a call returns,
into a log; a full memory part becomes a sealed segment, and segments are merged so that there are
few of them, both in the background. So a killed process loses no call that returned, and a power
loss none before `sync`; of a call in flight a beginning may be kept.

Positions count the simhashes added, from 0. Any thread may call; calls take turns, and each is one
step for all others. One process at a time has an index open.
"""

from __future__ import annotations

import os
import threading
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, overload

from roughly import _core
from roughly.documents.file import printable
from roughly.errors import MismatchError, ParameterError
from roughly.hamming.cost import memory_blocks
from roughly.hamming.design import check_bits, check_k, check_simhash
from roughly.hamming.index import HammingIndex, Match, present
from roughly.hamming.seen_log import SeenLog, begin_log, read_log
from roughly.hamming.seen_manifest import (
    NAME,
    Manifest,
    read_manifest,
    refuse_others,
    remove_unnamed,
)
from roughly.hamming.seen_segment import (
    nearest_sealed,
    open_segment,
    segments_to_merge,
    write_segment,
)
from roughly.parameters import check_integer
from roughly.storage.durable import remove
from roughly.storage.lock import WriterLock

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from roughly.hamming.seen_segment import Matches

    Simhashes = npt.NDArray[np.uint64]

# Simhashes in memory before they are sealed: their tables stay within the processor's caches.
MEMORY_SIMHASHES = 1 << 18
# The most that is decided, and logged, in one piece.
_PIECE = 1 << 16
_MISSING = -2  # the answer for what is no simhash


class SeenIndex:
    """Simhashes seen so far, with those within `k` bits of any. Makes the directory where there is
    none; `k` and `bits` of one that is there must be the same."""

    def __init__(
        self,
        directory: str | os.PathLike[str],
        k: int = 3,
        *,
        bits: int = 64,
        memory_simhashes: int = MEMORY_SIMHASHES,
    ) -> None:
        self._bits, self._k = check_bits(bits), check_k(k)
        self._capacity = check_integer("memory_simhashes", memory_simhashes, 1, 1 << 28)
        self._directory = Path(directory)
        self._guard = threading.RLock()
        self._work = threading.Condition(self._guard)
        self._closed = False
        self._failure: BaseException | None = None
        refuse_others(self._directory)
        self._writer = WriterLock(self._directory)
        self._writer.__enter__()
        try:
            self._open()
        except BaseException:
            self._writer.__exit__(None, None, None)
            raise
        self._worker = threading.Thread(target=self._run, name="roughly-seen", daemon=True)
        self._worker.start()

    def _open(self) -> None:
        import numpy as np

        if (self._directory / NAME).exists():
            self._manifest = read_manifest(self._directory)
            for name, wanted, found in (
                ("k", self._k, self._manifest.k),
                ("bits", self._bits, self._manifest.bits),
            ):
                if wanted != found:
                    raise MismatchError(
                        f"{printable(str(self._directory))}: cannot be used: it was made for"
                        f" {name} = {found}, wanted {wanted}",
                        hint=f"open it with {name} = {found}",
                    )
        else:
            refuse_others(self._directory)
            self._manifest = Manifest(self._bits, self._k)
            self._manifest.write(self._directory)
        remove_unnamed(self._directory, self._manifest)
        self._segments = [
            open_segment(self._directory / name, count, self._bits, self._k)
            for name, count in self._manifest.segments
        ]
        synced = self._manifest.synced
        frames = [
            frame
            for log in self._manifest.logs
            for frame in read_log(self._directory / log, synced.get(log, 0))
        ]
        values = np.concatenate(frames) if frames else np.empty(0, np.uint64)
        # Whatever was wrong at the end of a log is behind us: a new one takes over.
        old = self._manifest.logs
        self._memory = self._new_memory()
        self._memory.add(values)
        self._frozen: _core.HammingMemory | None = None
        self._log = self._begin_log(values)
        self._manifest.logs = [self._log.path.name]
        self._note_synced()
        self._manifest.write(self._directory)
        for log in old:
            remove(self._directory / log)

    def _new_memory(self) -> _core.HammingMemory:
        blocks = memory_blocks(self._capacity, self._bits, self._k)
        return _core.HammingMemory(self._bits, self._k, blocks, self._capacity)

    def _begin_log(self, values: Simhashes) -> SeenLog:
        return begin_log(self._directory / self._manifest.new_name("log"), values)

    def _note_synced(self) -> None:
        """For the next manifest: how much of the log is on the disk."""
        self._manifest.synced[self._log.path.name] = self._log.synced_size

    # --- asking -----------------------------------------------------------------------------------

    @overload
    def seen(self, simhash: int | None) -> Match | None: ...
    @overload
    def seen(self, simhash: Any) -> npt.NDArray[np.int64]: ...
    def seen(self, simhash: Any) -> Match | npt.NDArray[np.int64] | None:
        """Of one simhash: the nearest of those added before within k bits (of equally near ones the
        first), or None, and then it is added. Of an array: the position of the match for each, -1
        where it was added; as if they were asked one after the other. Missing ones, of documents
        without features, are like no other and are not added: None, in an array -2."""
        if simhash is None:
            return None
        if isinstance(simhash, int) or not hasattr(simhash, "__len__"):
            return self._decide_one(check_simhash(simhash, self._bits))
        import numpy as np

        asked, rows = present(simhash, self._bits)
        answers = self.match_or_add(asked)[0]
        if rows is None:
            return answers
        found = np.full(len(simhash), _MISSING, np.int64)
        found[rows] = answers
        return found

    def match_or_add(self, simhashes: Any) -> Matches:
        """The same as `seen` of an array none of which is missing, with all that is known of the
        matches: their positions, -1 where a simhash was added, their simhashes and distances, of no
        meaning where there is none."""
        import numpy as np

        asked, rows = present(simhashes, self._bits)
        if rows is not None:
            raise ParameterError("simhashes: some are missing: wanted all")
        if len(asked) <= _PIECE:
            return self._decide(asked)
        pieces = [asked[i : i + _PIECE] for i in range(0, len(asked), _PIECE)]
        with self._guard:
            found = [self._decide(piece) for piece in pieces]
        positions, values, distances = (
            np.concatenate(column) for column in zip(*found, strict=True)
        )
        return positions, values, distances

    def find(self, simhash: int) -> npt.NDArray[np.int64]:
        """The positions of all within k bits, ascending."""
        import numpy as np

        x = check_simhash(simhash, self._bits)
        with self._guard:
            self._check_open()
            found, first = [], 0
            for part in self._parts():
                found.append(part.find(x) + first)
                first += len(part)
        return np.concatenate(found)

    def __len__(self) -> int:
        with self._guard:
            return self._sealed_count() + len(self._memory)

    @property
    def bits(self) -> int:
        return self._bits

    @property
    def k(self) -> int:
        return self._k

    def __repr__(self) -> str:
        closed = ", closed" if self._closed else ""
        return (
            f"SeenIndex({str(self._directory)!r}, {len(self):,} simhashes, bits={self._bits},"
            f" k={self._k}{closed})"
        )

    def simhashes(self) -> Simhashes:
        """All simhashes by position."""
        import numpy as np

        with self._guard:
            self._check_open()
            parts = [segment.simhashes() for segment in self._segments]
            parts += [m.values() for m in (self._frozen, self._memory) if m is not None]
        return np.concatenate(parts)

    # --- adding -----------------------------------------------------------------------------------

    def add(self, simhashes: Any) -> None:
        """Adds all of them, whatever was seen; for filling an index. Missing ones are left out.
        Very many are sealed at once."""
        values, _ = present(simhashes, self._bits)
        with self._guard:
            self._check_open()
            if len(values) < self._capacity:
                self._make_room()
                self._log.append(values)
                self._memory.add(values)
                return
            # Others may add while this waits.
            while len(self._memory) or self._frozen is not None:
                self._make_room_now()
            name = self._manifest.new_name("segment")
            index = self._write(name, values)
            self._segments.append(index)
            self._manifest.segments.append((name, len(index)))
            self._manifest.write(self._directory)
            self._work.notify_all()

    def sync(self) -> None:
        """Waits until everything that was added is on the disk: a power loss takes none of it."""
        with self._guard:
            self._check_open()
            self._sync()

    def close(self) -> None:
        """Ends the work in the background and lets go of the directory; everything is kept."""
        with self._guard:
            if self._closed:
                return
            self._closed = True
            self._work.notify_all()
        self._worker.join()
        try:
            self._sync()
            self._log.close()
        finally:
            self._writer.__exit__(None, None, None)

    def _sync(self) -> None:
        """Everything on the disk, and written down that it is."""
        self._log.sync()
        if self._manifest.synced.get(self._log.path.name) != self._log.synced_size:
            self._note_synced()
            self._manifest.write(self._directory)

    def __enter__(self) -> SeenIndex:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def wait(self) -> None:
        """Waits until nothing is being sealed or merged."""
        with self._guard:
            self._check_open()
            self._wait_idle()

    def _decide(self, asked: Simhashes) -> Matches:
        """Matches for each in order; those without one are logged and added."""
        with self._guard:
            self._check_open()
            self._make_room()
            first = self._sealed_count()
            known = nearest_sealed(self._segments, self._frozen, asked)
            before = len(self._memory)
            matches = self._memory.seen(asked, *known, first)
            try:
                if added := len(self._memory) - before:
                    self._log.append(asked if added == len(asked) else asked[matches[0] < 0])
            except BaseException:
                self._memory.forget(len(self._memory) - before)
                raise
            return matches

    def _decide_one(self, x: int) -> Match | None:
        """The same for one, without arrays."""
        with self._guard:
            self._check_open()
            self._make_room()
            best: Match | None = None
            first = 0
            for part in self._parts():
                found = part.nearest(x)
                # Of equally near ones the first part's is the oldest.
                if found is not None and (best is None or found[2] < best.distance):
                    best = Match(found[0] + first, found[1], found[2])
                first += len(part)
            if best is None:
                self._log.append_one(x)
                self._memory.add_one(x)
            return best

    def _parts(self) -> list[Any]:
        """Everything that is searched, oldest first; each has nearest(x) and a length."""
        parts: list[Any] = [*self._segments]
        if self._frozen is not None:
            parts.append(self._frozen)
        parts.append(self._memory)
        return parts

    def _sealed_count(self) -> int:
        frozen = 0 if self._frozen is None else len(self._frozen)
        return sum(map(len, self._segments)) + frozen

    def _make_room(self) -> None:
        if len(self._memory) >= self._capacity:
            self._make_room_now()

    def _make_room_now(self) -> None:
        while self._frozen is not None and self._failure is None:
            self._work.wait()
        self._check_open()
        self._freeze()

    # --- in the background ------------------------------------------------------------------------

    def _freeze(self) -> None:
        """Hands the memory part over to be sealed, and begins a new one with a log of its own."""
        import numpy as np

        if not len(self._memory):
            return
        # A sync after this is one of the new log alone.
        self._log.sync()
        self._note_synced()
        log = self._begin_log(np.empty(0, np.uint64))
        self._manifest.logs.append(log.path.name)
        self._manifest.synced[log.path.name] = log.synced_size
        self._manifest.write(self._directory)
        self._log.close()
        self._log = log
        self._frozen, self._memory = self._memory, self._new_memory()
        self._work.notify_all()

    def _run(self) -> None:
        """The worker: seals and merges until the index is closed."""
        while True:
            with self._guard:
                while not self._closed and self._frozen is None and self._to_merge() is None:
                    self._work.wait()
                if self._closed:
                    return
                frozen, merge = self._frozen, self._to_merge()
            try:
                if frozen is not None:
                    self._seal(frozen)
                elif merge is not None:
                    self._merge(merge)
            except BaseException as error:
                with self._guard:
                    self._failure = error
                    self._work.notify_all()
                return

    def _seal(self, frozen: _core.HammingMemory) -> None:
        with self._guard:
            name = self._manifest.new_name("segment")
        index = self._write(name, frozen.values())
        with self._guard:
            self._segments.append(index)
            self._frozen = None
            self._manifest.segments.append((name, len(index)))
            old, self._manifest.logs = self._manifest.logs[:-1], self._manifest.logs[-1:]
            self._note_synced()
            self._manifest.write(self._directory)
            for log in old:
                remove(self._directory / log)
            self._work.notify_all()

    def _to_merge(self) -> int | None:
        return segments_to_merge([count for _, count in self._manifest.segments])

    def _write(self, name: str, values: Simhashes) -> HammingIndex:
        return write_segment(self._directory / name, values, self._bits, self._k)

    def _merge(self, merged: int) -> None:
        import numpy as np

        with self._guard:
            name = self._manifest.new_name("segment")
            parts = self._segments[-merged:]
        index = self._write(name, np.concatenate([part.simhashes() for part in parts]))
        with self._guard:
            # Nothing else takes segments away, but others may have come behind.
            place = self._segments.index(parts[0])
            old = self._manifest.segments[place : place + merged]
            self._segments[place : place + merged] = [index]
            self._manifest.segments[place : place + merged] = [(name, len(index))]
            self._manifest.write(self._directory)
            for segment, _ in old:
                remove(self._directory / segment)
                remove(self._directory / f"{segment}.crc32c")
            self._work.notify_all()

    def _wait_idle(self) -> None:
        while (self._frozen is not None or self._to_merge() is not None) and not self._failure:
            self._work.wait()
        self._check_open()

    def _check_open(self) -> None:
        if self._failure is not None:
            raise self._failure
        if self._closed:
            raise ParameterError(f"{printable(str(self._directory))}: cannot be used: it is closed")
